/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report's part on connections: which one is slow or stuck, by its addresses.
 */
#ifndef XIDSCOPE_REPORT_CONNECTIONS_H
#define XIDSCOPE_REPORT_CONNECTIONS_H

#include <stdio.h>

#include "snapshot/snapshot.h"

/* Lines below that of an interval, only if a connection is slow or stuck. */
void report_connections_interval(FILE *out, const struct snapshot *before,
				 const struct snapshot *now);

/* Lines of the summary: how unequal the load of @server's connections was in the time that
 * @s counts, and which of them are slow or stuck. */
void report_connections(FILE *out, const struct snapshot *s, const char *server);

#endif
