/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The job of Slurm or the pod of Kubernetes to which a process belongs, by the path of its control group in cgroup v1 or v2. */
#pragma once

#include "base/std.h"

#define CGROUP_PATH 512

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

/* Finds the number of a job whose group has none (from Slurm 26.05 on) by looking for its slurmstepd among all processes in proc
 * below @root ("": this system). */
void cgroup_find_job(struct cgroup *c, const char *root);

/* Writes "NAMESPACE/NAME" of the pod to @name, by the folder of its logs on this node. False: not known. */
bool cgroup_pod_name(const struct cgroup *c, char *name, size_t size);
