/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics file of a running agent, under watch: each version whole, no counter ever back. */
#pragma once

#include <sys/types.h>

#define COMPLAINT 200

struct watch {
	const char *path;
	ino_t inode;
	long modified_ns;
	unsigned int versions;
	char *text; /* the last version that was whole */
	char complaint[COMPLAINT]; /* the first; "": none */
};

/* What is there now is another run's, and not looked at. */
void watch_begin(struct watch *w, const char *path);

/* Reads the file if it is another than last time. */
void watch_look(struct watch *w);

/* Sum of all samples whose line begins with @name and holds @label; -1: there is none. */
double watch_sum(const struct watch *w, const char *name, const char *label);

void watch_end(struct watch *w);
