/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts of faults and of what comes with them, from the start of the
 * observation or, with a state file, from the node's boot.
 */
#ifndef XIDSCOPE_FAULTS_H
#define XIDSCOPE_FAULTS_H

#include "model/snapshot.h"

/* Reports of the same Xid on the same GPU that are less apart are one burst. */
#define FAULT_BURST_SECONDS 5.0

/* Bounds on distinct entries: what is beyond counts as device "other". */
#define MAX_FAULTS 1024
#define MAX_KERNEL_EVENTS 512
#define MAX_GPUS 256
#define MAX_RECOVERIES 512

struct faults {
	struct snapshot counts; /* only what concerns faults is used */
};

/* Times are seconds since the epoch. All return 0 or -ENOMEM. */

/* Counts one fault; its labels are those of @like. */
int faults_add(struct faults *f, const struct fault *like, double time);
/* Counts another failure or event. */
int faults_add_kernel_event(struct faults *f, bool gpu_driver, const char *kind, const char *device,
			    double time);
/* Evidence that the faults of @gpu ("all": of all) until @time are over; beyond
 * MAX_RECOVERIES it is not kept. */
int faults_recovered(struct faults *f, const char *gpu, const char *evidence, double time);

/* The wall clock was set: all times were that much too low. */
void faults_shift(struct faults *f, double seconds);

/* What is known of a GPU, added if need be; NULL beyond MAX_GPUS. */
struct gpu_info *faults_gpu(struct faults *f, const char *gpu);

/* When the last fault @code of @device was; 0: never. */
double faults_last(const struct faults *f, const char *device, unsigned int code);

/* When the last fault or failure of any GPU was; 0: never. */
double faults_last_of_all(const struct faults *f);

/* Adds the counts to @s. */
int faults_snapshot(const struct faults *f, struct snapshot *s);

void faults_free(struct faults *f);

#endif
