/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one event loop: ticks, kernel messages, signals. */
#pragma once

#include "commands/observer.h"

enum loop_state {
	LOOP_ALIVE, /* all that was due has been done; reported about once a second */
	LOOP_RELOADING, /* a SIGHUP has come ... */
	LOOP_RELOADED, /* ... and been handled */
	LOOP_STOPPING,
};

struct loop_handler {
	/* Called every @interval seconds, and on SIGHUP. */
	void (*tick)(void *context);
	/* Called when @fd is readable, and every second; NULL with @fd -1: never. */
	void (*serve)(void *context);
	int fd;
	/* NULL: nobody wants to know. */
	void (*report)(void *context, enum loop_state state);
	void *context;
};

/* Blocks the signals that loop_run() handles (SIGTERM, SIGINT, SIGHUP). Call it before
 * anything that takes time, so that no signal is lost. */
void loop_block_signals(void);

/* Whether SIGTERM and SIGINT end the process at once, which is right only where nothing has to be
 * undone: a start with little CPU takes long. Otherwise they are blocked. */
void loop_end_at_once(bool at_once);

/* Runs until @duration seconds have passed (0: for ever) or SIGTERM or SIGINT comes. Times in seconds. Returns 0 or
 * -errno. */
int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler);
