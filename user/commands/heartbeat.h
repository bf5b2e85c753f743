/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that shows when the agent last worked, for liveness probes. It does not depend on
 * the metrics file: a full disk or a node with faults is no reason to restart the agent.
 */
#ifndef XIDSCOPE_HEARTBEAT_H
#define XIDSCOPE_HEARTBEAT_H

#include <stdint.h>

struct heartbeat {
	const char *path; /* NULL: not wanted */
	int fd;
	uint64_t due_ns;
};

/* Opens @path, which must outlive it (NULL: none), a regular file with one link, or new.
 * Returns 0, or an error of output_open(). */
int heartbeat_open(struct heartbeat *h, const char *path);

/* Writes @now_ns into the file, every five seconds. Returns 0 or -errno. */
int heartbeat_write(struct heartbeat *h, uint64_t now_ns);

/* Removes the file. */
void heartbeat_close(struct heartbeat *h);

/* Sets *@age to the seconds since the last write to @path, by the monotonic clock: setting
 * the time changes nothing. Returns 0, or an error of file_text_read_no_link(), or -ENODATA if the
 * file has no time of this boot. */
int heartbeat_age(const char *path, double *age);

#endif
