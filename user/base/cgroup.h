/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The job, pod or container to which a process belongs, by the path of its control group in cgroup v1 or v2. */
#pragma once

#include "base/helper.h"
#include "base/span.h"

#define CONTAINER_ID 65 /* 64 hexadecimal digits and the NUL */
#define CONTAINER_NAME 65 /* of a runtime's file; a longer one ends in "..." and a checksum */
#define CGROUP_PATH 512
#define CGROUP_VARIABLE 160
#define SLUID_LEN 14 /* of "s1JHM889NVM300", which names a job's group instead of its number */

/* "": unknown, or none. */
struct cgroup {
	char path[CGROUP_PATH]; /* from the root of its hierarchy; cut at this size */
	const char *scheduler; /* of the job: "slurm", "lsf" or "pbs" */
	char job[24]; /* its number, with the index in an array: "4711[3]"; also of a job within a pod or container */
	char pod[40]; /* UID */
	char container[CONTAINER_ID]; /* outside of jobs and pods; see container_find() */
	char variable[CGROUP_VARIABLE]; /* "NAME=VALUE" of its oldest process; "": none */
	char name[512]; /* of the pod, "NAMESPACE/NAME", or of the container */
	size_t outer; /* length of the path up to its pod or container; without one, of the path */
	size_t unnamed_job; /* length of the path up to the group of a job without a number; 0: none */
};

/* Reads the text of /proc/PID/cgroup. Uses the first group with a job, pod or container, else the deepest, as BPF does. */
void cgroup_read(struct cgroup *c, const char *text);

/* The same for the group with this path from the root of its hierarchy. */
void cgroup_of_path(struct cgroup *c, const char *path);

/* Finds what only files say that may block, by the process @h: the number of a job whose group has none (from Slurm 26.05 on),
 * in the title of its slurmstepd; the pod's name, in the folders of logs; the container's, in its runtime's files; and the first
 * of the variables @names ("NAME,NAME"; NULL: none) in the environment of the group's oldest process, unless the group is a
 * job's, a pod's or a user's. @since: when the group was there (CLOCK_MONOTONIC, ns). False: not yet known, ask again. */
bool cgroup_ask_names(struct cgroup *c, struct helper *h, const char *names, uint64_t since);

/* For cgroup_ask_names(): writes lines about each slurmstepd, pod, container and oldest process of the system below @root,
 * which may never return; and finds a group's names in these lines. Returns whether it has all names. */
void cgroup_write_names(const char *root, const char *names, FILE *out);
bool cgroup_find_names(struct cgroup *c, const char *text);

/* ---- container.c: containers outside of Kubernetes, in the path of a group; their names in the files of their runtimes ---- */

/* Copies the name of a unit of systemd without its escapes, such as "\x2d". */
void unit_unescape(struct span from, char *to, size_t size);

/* Finds the outermost container in the path of a control group. Sets its ID, or, if the group has no ID, "-" and its @name, of
 * 512 bytes. Returns the rest of the path; NULL: there is none. */
const char *container_find(const char *path, char id[CONTAINER_ID], char *name);

/* Writes "ID NAME" for each container of the system below @root, which may never return. */
void container_write_names(const char *root, FILE *out);

/* Its part: the same for the text of one file. @id: of the container whose file it is; podman's has many. */
void container_read_names(struct span text, const char *id, FILE *out);
