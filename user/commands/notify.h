/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to the service manager: sd_notify(3), by its protocol alone.
 */
#ifndef XIDSCOPE_NOTIFY_H
#define XIDSCOPE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"

struct notify {
	const struct log *log;
	int fd; /* negative: nobody wants messages */
	struct sockaddr_un address;
	socklen_t address_size;
	uint64_t alive_every_ns; /* 0: no watchdog */
	uint64_t alive_due_ns;
	bool failed; /* the last message; logged when it changes */
};

/* Takes the manager's address from the environment, and removes it there. Call
 * notify_close() in any case. */
void notify_open(struct notify *n, const struct log *log);
void notify_close(struct notify *n);

/* Sends @format as for printf: at most 400 bytes. If that fails, it is logged once. */
void notify_send(struct notify *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells the watchdog at @now_ns that the program works, twice as often as it demands. */
void notify_alive(struct notify *n, uint64_t now_ns);

#endif
