/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `xidscope trace`: a one-shot session with a report on standard output. */
#ifndef XIDSCOPE_TRACE_H
#define XIDSCOPE_TRACE_H

#include "commands/options.h"

/* Runs for the duration, or until stopped. Returns the program's exit code. */
int trace(const struct options *options);

#endif
