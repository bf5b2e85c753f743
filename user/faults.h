/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The faults seen so far: from lines of the kernel log to counts per device and
 * code.
 */
#ifndef XIDSCOPE_FAULTS_H
#define XIDSCOPE_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"
#include "snapshot.h"

struct faults {
	struct fault *list;
	size_t count;
};

/* Who printed a line, and when. */
struct fault_source {
	double time; /* seconds since the epoch */
	uint32_t cpu;
	uint32_t pid;
	const char *comm;
};

/* Counts every fault in @text (@len bytes, no NUL needed), and says each one
 * in the log. Returns how many there were, or -ENOMEM. */
int faults_add_text(struct faults *f, const struct log *log,
		    const struct fault_source *source, const char *text,
		    size_t len);

/* Copies the counts into @s. Returns 0 or -ENOMEM. */
int faults_snapshot(const struct faults *f, struct snapshot *s);

void faults_free(struct faults *f);

#endif
