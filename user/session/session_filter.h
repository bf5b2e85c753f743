/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session shows, of all that it has seen. */
#ifndef XIDSCOPE_SESSION_FILTER_H
#define XIDSCOPE_SESSION_FILTER_H

/* Shell patterns: fnmatch(3). NULL: all. Verdicts and episodes are always of all ops. */
struct session_filter {
	const char *server;
	const char *op;
	const char *mount; /* a mount point: its server, and of slow calls those of the mount */
	double slower; /* slow calls take at least so long, seconds; 0: an observer keeps none */
};

#endif
