/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live view: a line for each interval and server, lines between them for what is wrong.
 */
#ifndef XIDSCOPE_LIVE_H
#define XIDSCOPE_LIVE_H

#include <stdbool.h>
#include <stdio.h>

#include "session/session.h"

struct live {
	FILE *out;
	int terminal; /* descriptor whose size is asked for before each interval; -1: none */
	bool colour;
	unsigned int width, height; /* height 0: the head is not repeated */
	unsigned int lines; /* since the head */
	size_t events; /* of the session, that have been shown */
};

/* For standard output: colour and more than 80 columns only on a terminal. */
struct live live_begin(void);

/* Shows the session's latest interval. */
void live_interval(struct live *v, const struct session *t);

#endif
