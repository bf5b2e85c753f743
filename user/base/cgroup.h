/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose process it is, by its control group: the job of Slurm and the pod of kubelet, by the paths that they give to
 * groups in cgroup v1 and v2. */
#pragma once

#include "base/std.h"

#define CGROUP_PATH 512

/* "" is unknown, or none. */
struct cgroup {
	char path[CGROUP_PATH]; /* cut */
	char job[16]; /* Slurm's number of the job */
	char pod[40]; /* UID */
	size_t unnamed_job; /* bytes of the path up to a job's group that has no number; 0: none */
};

/* Reads the text of /proc/PID/cgroup. In v1 a process has a group in each hierarchy: the one counts that has a job or
 * a pod, then that of v2, then the first. */
void cgroup_read(struct cgroup *c, const char *text);

/* The same of the group with this path from the root of its hierarchy. */
void cgroup_of_path(struct cgroup *c, const char *path);

/* Finds the number of a job whose group has none, as from Slurm 26.05 on, by its slurmstepd among
 * all processes in proc below @root ("": this system). */
void cgroup_find_job(struct cgroup *c, const char *root);

/* Writes "NAMESPACE/NAME" of the pod, which kubelet keeps logs of on this node, to @name. False: not known. */
bool cgroup_pod_name(const struct cgroup *c, char *name, size_t size);
