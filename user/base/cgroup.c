// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The job and the pod in the path of a control group. */
#include "base/cgroup.h"

#include <ctype.h>

#include "base/file_text.h"
#include "base/span.h"

/* The path without leading "/..", which it has if the agent runs in a control group namespace of its own. */
static const char *from_root(const struct cgroup *c)
{
	const char *path = c->path;

	while (!strncmp(path, "/../", 4))
		path += 3;
	return path;
}

/* Slurm 26.05 without CgroupJobIdPaths=yes: "s1JHM889NVM300". */
static bool is_sluid(struct span s)
{
	return span_left(s) == SLUID_LEN && span_take(&s, "s") &&
	       span_left(span_take_run(&s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) ==
		       SLUID_LEN - 1;
}

/* Slurm in v1: "/slurm/uid_1000/job_7/step_0"; with several daemons the first name is "slurm_NODE". In v2:
 * "/system.slice/slurmstepd.scope/job_7/step_0", or "NODE_slurmstepd.scope". Other places do not count, because a user can make
 * a group of any name below their own. */
static void find_job(struct cgroup *c)
{
	const char *path = from_root(c);
	struct span rest = span_of(path), first, second, job;
	uint64_t number;

	if (!span_take(&rest, "/"))
		return;
	first = span_take_until(&rest, "/");
	span_take(&rest, "/");
	second = span_take_until(&rest, "/");
	span_take(&rest, "/");
	job = span_take_until(&rest, "/");
	if (!(span_starts_with(first, "slurm") && span_starts_with(second, "uid_")) &&
	    !(span_is(first, "system.slice") && span_ends_with(second, "slurmstepd.scope")))
		return;
	if (is_sluid(job))
		c->unnamed_job = (size_t)(job.end - c->path);
	else if (span_take(&job, "job_") && span_number(job, UINT32_MAX, &number))
		snprintf(c->job, sizeof(c->job), "%u", (unsigned int)number);
}

/* The UID follows "pod"; if systemd made the group, it has '_' for '-'. Groups below user.slice are users' own. */
static void find_pod(struct cgroup *c)
{
	const char *path = from_root(c), *pod;
	size_t len = 0;

	if (!strncmp(path, "/user.slice/", strlen("/user.slice/")))
		return;
	for (pod = strstr(path, "pod"); pod; pod = strstr(pod + 3, "pod")) {
		len = strspn(pod + 3, "0123456789abcdef-_");
		if (len >= 32 && len < sizeof(c->pod))
			break;
	}
	for (size_t i = 0; pod && i < len; i++)
		c->pod[i] = (char)(pod[3 + i] == '_' ? '-' : pod[3 + i]);
}

void cgroup_read(struct cgroup *c, const char *text)
{
	struct span rest = span_of(text), line;
	bool unified = false;

	*c = (struct cgroup){};
	while (span_next_line(&rest, &line)) {
		bool v2 = span_take(&line, "0::");
		struct cgroup one = {};

		if (!v2 && !span_take_through(&line, ":")) /* the hierarchy's number */
			continue;
		if (!v2 && !span_take_through(&line, ":")) /* its controllers */
			continue;
		if (!span_copy(span_cut(line, sizeof(one.path) - 1), one.path, sizeof(one.path)) ||
		    *one.path != '/')
			continue;
		find_job(&one);
		find_pod(&one);
		if (!*c->path || *one.job || *one.pod || one.unnamed_job || (v2 && !unified))
			*c = one;
		if (*one.job || *one.pod || one.unnamed_job)
			return;
		unified |= v2;
	}
}

void cgroup_of_path(struct cgroup *c, const char *path)
{
	*c = (struct cgroup){};
	snprintf(c->path, sizeof(c->path), "%s", path);
	find_job(c);
	find_pod(c);
}

/* ---- names that are not in the path ---- */

/* Writes "JOB GROUP" if the process is a slurmstepd with the title "slurmstepd: [4711.0]". Any process can take this title: it
 * must be root's, in the job's group. The title is in the process's memory, and is read last. */
static void write_step(const char *root, const char *pid, FILE *out)
{
	FILE_TEXT group = {}, status = {};
	char line[64];
	struct cgroup c;
	struct span title;
	uint64_t job;

	file_text_read(&group, PATHF("%s/proc/%s/cgroup", root, pid), 65536);
	cgroup_read(&c, group.bytes ?: "");
	if (!c.unnamed_job)
		return;
	file_text_read(&status, PATHF("%s/proc/%s/status", root, pid), 65536);
	/* The owner of its files in proc proves nothing: for a process that is not dumpable that is always root. */
	if (!status.bytes || !strstr(status.bytes, "\nUid:\t0\t0\t0\t0\n") ||
	    !file_first_line(PATHF("%s/proc/%s/cmdline", root, pid), line, sizeof(line)))
		return;
	title = span_of(line);
	if (span_take(&title, "slurmstepd: [") &&
	    span_number(span_take_until(&title, "."), UINT32_MAX, &job))
		fprintf(out, "%u %.*s\n", (unsigned int)job, (int)c.unnamed_job, c.path);
}

/* kubelet has a folder for each pod's logs: NAMESPACE_NAME_UID. No part contains a '_'. */
static void write_pods(const char *root, FILE *out)
{
	OPEN_FOLDER *logs = opendir(PATHF("%s/var/log/pods", root));
	const char *log;

	while ((log = folder_next(logs)))
		fprintf(out, "%s\n", log);
}

void cgroup_write_names(const char *root, FILE *out)
{
	OPEN_FOLDER *proc = opendir(PATHF("%s/proc", root));
	const char *pid;

	write_pods(root, out);
	write_pods(PATHF("%s/proc/1/root", root), out);
	while ((pid = folder_next(proc)))
		if (isdigit((unsigned char)*pid))
			write_step(root, pid, out);
}

/* Takes "NAMESPACE_NAME_UID" if it is the pod's. */
static void take_pod(struct cgroup *c, struct span log)
{
	struct span space = span_take_until(&log, "_"), pod;

	span_take(&log, "_");
	pod = span_take_until(&log, "_");
	if (span_take(&log, "_") && span_is(log, c->pod))
		snprintf(c->pod_name, sizeof(c->pod_name), "%.*s/%.*s", (int)span_left(space),
			 space.at, (int)span_left(pod), pod.at);
}

bool cgroup_find_names(struct cgroup *c, const char *names)
{
	struct span rest = span_of(names), line, job;

	while (span_next_line(&rest, &line)) {
		if (*c->pod && !*c->pod_name)
			take_pod(c, line);
		job = span_take_until(&line, " ");
		if (c->unnamed_job && span_left(line) == c->unnamed_job + 1 &&
		    !memcmp(line.at + 1, c->path, c->unnamed_job))
			span_copy(job, c->job, sizeof(c->job));
	}
	return (!c->unnamed_job || *c->job) && (!*c->pod || *c->pod_name);
}

static void send_names(const void *root, FILE *out)
{
	cgroup_write_names(root, out);
}

bool cgroup_ask_names(struct cgroup *c, struct helper *h)
{
	if (cgroup_find_names(c, h->text ?: ""))
		return true;
	if (!helper_ask(h, "xidscope-names", send_names, ""))
		return false;
	cgroup_find_names(c, h->text ?: "");
	return true;
}
