/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The job of Slurm or the pod of Kubernetes to which a process belongs, by the path of its control group in cgroup v1 or v2. */
#pragma once

#include "base/helper.h"

#define CGROUP_PATH 512
#define SLUID_LEN 14 /* of "s1JHM889NVM300", the group of a job without its number */

/* "": unknown, or none. */
struct cgroup {
	char path[CGROUP_PATH]; /* cut at this size */
	char job[16]; /* Slurm's number of the job */
	char pod[40]; /* UID */
	size_t unnamed_job; /* length of the path up to the group of a job without a number; 0: none */
};

/* Reads the text of /proc/PID/cgroup. In v1 a process has a group in each hierarchy: the first with a job or a pod counts,
 * otherwise that of v2, otherwise the first. */
void cgroup_read(struct cgroup *c, const char *text);

/* The same for the group with this path from the root of its hierarchy. */
void cgroup_of_path(struct cgroup *c, const char *path);

/* What only other files know: the numbers of jobs whose groups have none (from Slurm 26.05 on), in the titles of their
 * slurmstepd; and the names of pods, in the folders of their logs. Other processes read them. Initialise with
 * CGROUP_NAMES_NONE. */
struct cgroup_names {
	struct helper jobs, pods;
};
#define CGROUP_NAMES_NONE          \
	{                          \
		{ .pipe = -1 },    \
		{                  \
			.pipe = -1 \
		}                  \
	}
void cgroup_names_free(struct cgroup_names *n);

/* Sets the job of a group without its number. Waits for HELPER_WAIT_NS at most. False: not yet known, ask again. */
bool cgroup_ask_job(struct cgroup *c, struct cgroup_names *n);

/* Writes "NAMESPACE/NAME" of the pod to @name; "": there is none, or it is not known. Waits and returns as above. */
bool cgroup_ask_pod(const struct cgroup *c, struct cgroup_names *n, char *name, size_t size);

/* What the process does: writes a line for each slurmstepd in proc below @root. It may wait for ever. */
void cgroup_write_jobs(const char *root, FILE *out);

/* Sets the job of a group without its number, from these lines. */
void cgroup_find_job(struct cgroup *c, const char *jobs);
