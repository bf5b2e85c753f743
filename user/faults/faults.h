/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts of faults and of what comes with them, since the start of the
 * observation or, with a state file, since the node's boot.
 */
#ifndef XIDSCOPE_FAULTS_H
#define XIDSCOPE_FAULTS_H

#include "model/snapshot.h"

/* Equal faults with a gap below this are one burst. */
#define FAULT_BURST_SECONDS 5.0

/* Limits of distinct entries: the rest counts as device "other". */
#define MAX_FAULTS 1024
#define MAX_KERNEL_EVENTS 512
#define MAX_GPUS 256
#define MAX_RECOVERIES 512
#define MAX_UNVERIFIED 64 /* and one for all others: device "other", code 0 */

struct faults {
	struct snapshot counts; /* only the members about faults are used */
};

/* Times are seconds since the epoch. All return 0 or -ENOMEM. */

/* Counts one fault; its labels are those of @like. */
int faults_add(struct faults *f, const struct fault *like, double time);
/* Counts another failure or event. */
int faults_add_kernel_event(struct faults *f, bool gpu_driver, const char *kind, const char *device,
			    double time);
/* Counts a text that reads like a fault but may be anybody's. */
int faults_add_unverified(struct faults *f, const char *gpu, unsigned int code);
/* Records evidence that the faults of @gpu ("all": of all) until @time are over,
 * except beyond MAX_RECOVERIES. */
int faults_recovered(struct faults *f, const char *gpu, const char *evidence, double time);

/* Adds @seconds to all times, when the wall clock was set. */
void faults_shift(struct faults *f, double seconds);

/* What is known of a GPU, added if it is new; NULL: no memory, or beyond MAX_GPUS. */
struct gpu_info *faults_gpu(struct faults *f, const char *gpu);

/* When the last fault @code of @device was; 0: never. */
double faults_last(const struct faults *f, const char *device, unsigned int code);

/* When the last fault or failure of any GPU was; 0: never. */
double faults_last_of_all(const struct faults *f);

/* Copies the counts to @s, which has none of faults yet. */
int faults_snapshot(const struct faults *f, struct snapshot *s);

void faults_free(struct faults *f);

#endif
