/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the agent and a process that writes one of its files send to each other.
 */
#ifndef XIDSCOPE_WRITER_CHANNEL_H
#define XIDSCOPE_WRITER_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

enum work {
	WORK_NONE,
	WORK_OPEN, /* check the path and take the lock; gives the lock's descriptor */
	WORK_READ, /* gives a descriptor of memory with the file's content */
	WORK_WRITE, /* replace the file, or append; may give a lock's descriptor */
	WORK_CLOSE, /* remove the lock, and the file unless @keep */
};

/* With the descriptor of a text to write. */
struct work_request {
	enum work work;
	int keep;
	uint64_t from, size; /* of the text: the bytes to write */
	char aside[16]; /* the old file gets this suffix before it is replaced; "": it goes */
};

struct work_answer {
	int error; /* an errno, or 0 */
	unsigned int part; /* enum output_part */
	uint64_t done; /* bytes of the lines that were appended */
	char network[128]; /* what is mounted there, if a server or a process must answer */
};

/* Sends a message, with a copy of @fd unless it is negative. Returns 0 or -errno. */
int channel_send(int socket, const void *message, size_t size, int fd);

/* Receives one, with a descriptor in @fd, or -1. @flags as for recvmsg(). Returns 0;
 * -EAGAIN: none is there, or, 20 ms later, no memory to receive it; -EPIPE: the other side has ended. */
int channel_receive(int socket, void *message, size_t size, int *fd, int flags);

#endif
