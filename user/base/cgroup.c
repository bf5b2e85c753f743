// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cgroup.h"

#include <ctype.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/process.h"
#include "base/safe_text.h"

/* Slurm 26.05 without CgroupJobIdPaths=yes: "s1JHM889NVM300". */
static bool is_sluid(struct span s)
{
	return span_left(s) == SLUID_LEN && span_take(&s, "s") &&
	       span_left(span_take_run(&s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) ==
		       SLUID_LEN - 1;
}

/* The names above a job's group, and what is before its number. Users can make groups of any name, but only below their own. */
static const struct job_form {
	const char *scheduler, *above[2], *before;
} job_forms[] = {
	{ "slurm", { "slurm*", "uid_*" }, "job_" }, /* v1; with several daemons "slurm_NODE" */
	{ "slurm", { "*.slice", "*slurmstepd.scope" }, "job_" }, /* v2; CgroupSlice of 25.11 */
	{ "lsf", { "lsf", "*" }, "job." }, /* "/lsf/CLUSTER/job.4711.2026.1695" */
	/* "jobid/4711.server" in v1, "jobs/" in v2; cgroup_prefix is "pbs_jobs" or "pbspro" */
	{ "pbs", { "pbs*.service", "job*" }, "" },
	/* Before, the hook pbs_cgroups made them below one name. */
	{ "pbs", { "pbspro.slice" }, "pbspro-" },
	{ "pbs", { "pbspro" }, "" },
	{ "pbs", { "torque" }, "" }, /* Torque 6 */
};

/* Takes "/NAME". */
static struct span take_name(struct span *path)
{
	span_take(path, "/");
	return span_take_until(path, "/");
}

static bool matches_form(const struct job_form *f, const struct span above[2])
{
	for (int i = 0; i < 2 && f->above[i]; i++)
		if (fnmatch(f->above[i], PATHF("%.*s", (int)span_left(above[i]), above[i].at), 0))
			return false;
	return true;
}

/* Finds a job whose form begins at @path, a part of c->path. */
static bool take_job(struct cgroup *c, const char *path)
{
	struct span rest = span_of(path), above[2], job, number;
	const struct job_form *form;
	char name[CGROUP_PATH];

	above[0] = take_name(&rest);
	above[1] = take_name(&rest);
	form = ARRAY_FIND(f, job_forms, COUNT(job_forms), matches_form(f, above));
	if (!form)
		return false;
	job = form->above[1] ? take_name(&rest) : above[1];
	c->scheduler = form->scheduler;
	if (is_sluid(job)) {
		c->unnamed_job = (size_t)(job.end - c->path);
		return true;
	}
	unit_unescape(job, name, sizeof(name));
	job = span_of(name);
	if (!span_take(&job, form->before))
		return false;
	number = span_take_run(&job, "0123456789[]");
	return span_left(number) && *number.at != '[' &&
	       (!span_left(job) || span_starts_with(job, ".")) &&
	       span_copy(number, c->job, sizeof(c->job));
}

/* Takes a pod's UID from "podUID", "kubepods-podUID.slice" or "kubepods-podUID.slice:cri-containerd:ID". systemd makes '_' of '-'. */
static bool take_uid(struct cgroup *c, struct span name)
{
	struct span uid;
	bool bare = span_take(&name, "pod"), found = bare;

	while (!bare && span_take_through(&name, "-pod"))
		found = true;
	uid = span_take_run(&name, "0123456789abcdef-_");
	if (!found || span_left(uid) < 32 ||
	    (span_left(name) &&
	     (bare || (!span_is(name, ".slice") && !span_starts_with(name, ".slice:")))) ||
	    !span_copy(uid, c->pod, sizeof(c->pod)))
		return false;
	for (char *p = c->pod; (p = strchr(p, '_'));)
		*p = '-';
	return true;
}

static bool matches_one(const char *name, const char *const *patterns)
{
	while (*patterns && fnmatch(*patterns, name, 0))
		patterns++;
	return *patterns;
}

/* Finds kubelet's group of a pod. It lies in no group below which others than root may make groups of any name: services with a
 * user of their own, and containers of LXC, systemd-nspawn and podman. A container of docker or nerdctl may be a node (kind,
 * k3d). @kubelet: there is one above the path. Returns the rest of the path; NULL: there is none. */
static const char *find_pod(struct cgroup *c, const char *path, bool kubelet)
{
	static const char *const kubelets[] = { "kubepods*", "*-kubepods*", NULL };
	static const char *const others[] = { "lxc*", "libpod*", "*.service", "*.scope", NULL };
	/* The runtime may be a part of the node's service: runc makes "SLICE:cri-containerd:ID" below its own group. */
	static const char *const roots[] = {
		"docker-*.scope", "nerdctl-*.scope",     "containerd.service",
		"crio.service",   "k3s*.service",        "rke2-*.service",
		"k0s*.service",   "snap.*k8s.*.service", NULL
	};
	struct span rest = span_of(path), part;
	const char *name;

	while (span_left(rest)) {
		part = take_name(&rest);
		name = PATHF("%.*s", (int)span_left(part), part.at);
		kubelet |= matches_one(name, kubelets);
		if (kubelet && take_uid(c, part))
			return rest.at;
		if (matches_one(name, others) && !matches_one(name, roots))
			break;
	}
	return NULL;
}

/* @below: the path begins at an unknown group. */
static void find_owner(struct cgroup *c, bool below)
{
	/* Groups of sessions, also by pam_cgfs of LXC in v1, and of a job's user by HTCondor. */
	static const char *const users_own[] = { "/user.slice/*", "/user/*", "/htcondor/*",
						 "/system.slice/htcondor/*", NULL };
	const char *path = c->path, *inside;

	c->outer = strlen(path);
	if (matches_one(path, users_own) || take_job(c, path))
		return;
	inside = find_pod(c, path, below) ?: container_find(path, c->container, c->name);
	if (inside)
		c->outer = (size_t)(inside - path);
	while (inside && (inside = strchr(inside, '/')) && !take_job(c, inside))
		inside++;
}

void cgroup_read(struct cgroup *c, const char *text)
{
	struct span rest = span_of(text), line;
	int depth, deepest = -1;

	*c = (struct cgroup){};
	while (span_next_line(&rest, &line)) {
		struct cgroup one = {};
		bool below = false, named;

		/* "HIERARCHY:CONTROLLERS:PATH" */
		if (!span_take_through(&line, ":"))
			continue;
		named = span_starts_with(line, "name="); /* BPF sees those with controllers */
		if (!span_take_through(&line, ":"))
			continue;
		/* The agent is in a group namespace of its own. */
		for (; span_starts_with(line, "/../"); below = true)
			line.at += strlen("/..");
		if (!span_copy(span_cut(line, sizeof(one.path) - 1), one.path, sizeof(one.path)) ||
		    *one.path != '/')
			continue;
		find_owner(&one, below);
		depth = *one.job || one.unnamed_job || *one.pod || *one.container ? INT_MAX : 0;
		for (const char *at = one.path; !named && depth < INT_MAX && *at; at++)
			depth += *at == '/' && at[1];
		if (depth <= deepest)
			continue;
		*c = one;
		deepest = depth;
	}
}

void cgroup_of_path(struct cgroup *c, const char *path)
{
	*c = (struct cgroup){};
	snprintf(c->path, sizeof(c->path), "%s", path);
	find_owner(c, false);
}

/* ---- names that are not in the path ---- */

/* A user's own variable could name anything; a scheduler has named the others. */
static bool may_have_variable(const struct cgroup *c)
{
	return !*c->job && !c->unnamed_job && !*c->pod && c->path[1] &&
	       fnmatch("/user[./]*", c->path, 0) != 0;
}

/* Whether a thread sleeps uninterruptibly: perhaps for a silent server, with the lock of the process's memory. */
static bool may_hold_memory(const char *root, const char *pid)
{
	OPEN_FOLDER *tasks = opendir(PATHF("%s/proc/%s/task", root, pid));
	const char *task, *state;
	char stat[1024];

	while ((task = folder_next(tasks))) {
		file_first_line(PATHF("%s/proc/%s/task/%s/stat", root, pid, task), stat,
				sizeof(stat));
		state = strrchr(stat, ')');
		if (state && !strncmp(state, ") D", 3))
			return true;
	}
	return false;
}

/* Whether the process is root's, also while it acts as another user. The owner of its files in proc proves nothing: for a process
 * that is not dumpable that is always root. */
static bool is_roots(const char *root, const char *pid)
{
	FILE_TEXT status = {};
	unsigned int saved;

	file_text_read(&status, PATHF("%s/proc/%s/status", root, pid), 65536);
	return sscanf(strstr(status.bytes ?: "", "\nUid:\t") ?: "", " Uid: 0 %*u %u", &saved) ==
		       1 &&
	       !saved;
}

/* Writes "JOB GROUP" if the process has the title "slurmstepd: [4711.0]", "? GROUP" to ask again. */
static void write_step(const char *root, const char *pid, const struct cgroup *c, FILE *out)
{
	char line[64] = "";
	struct span title;
	uint64_t job;

	if (may_hold_memory(root, pid))
		fprintf(out, "? %.*s\n", (int)c->unnamed_job, c->path);
	else
		file_first_line(PATHF("%s/proc/%s/cmdline", root, pid), line, sizeof(line));
	title = span_of(line);
	if (span_take(&title, "slurmstepd: [") &&
	    span_number(span_take_until(&title, "."), UINT32_MAX, &job))
		fprintf(out, "%u %.*s\n", (unsigned int)job, (int)c->unnamed_job, c->path);
}

/* The oldest process, no zombie, of each container, or group outside; in a Slurm job root's: others can take slurmstepd's title. */
struct oldest {
	char path[CGROUP_PATH], pid[16];
	uint64_t ticks; /* when it began */
};
struct groups {
	struct oldest *list;
	size_t count;
};
#define GROUPS_MAX 2048
#define AGAIN_NS 600000000000ull /* how long to ask again about a process that could not be read */

static void note_oldest(struct groups *g, const char *root, const char *pid, const struct cgroup *c)
{
	char stat[1024];
	struct oldest o, *found;

	if (!file_first_line(PATHF("%s/proc/%s/stat", root, pid), stat, sizeof(stat)) ||
	    !process_start_ticks(stat, &o.ticks) || !strncmp(strrchr(stat, ')'), ") Z", 3))
		return;
	snprintf(o.path, sizeof(o.path), "%.*s", (int)c->outer, c->path);
	snprintf(o.pid, sizeof(o.pid), "%s", pid);
	found = ARRAY_FIND(x, g->list, g->count, !strcmp(x->path, o.path));
	if (!found && g->count < GROUPS_MAX)
		*ARRAY_APPEND(g->list, g->count) = o;
	else if (found && o.ticks < found->ticks)
		*found = o;
}

/* Finds the first of @names that is set, as "NAME=VALUE". Blanks and control characters are escaped. */
static void find_variable(const struct file_text *environment, const char *names,
			  char to[CGROUP_VARIABLE])
{
	struct span list = span_of(names), name;
	const char *at, *end = environment->bytes + environment->len;
	char value[CONTAINER_NAME];
	size_t len;

	while (span_left(list)) {
		name = span_take_field(&list, ",");
		len = span_left(name);
		for (at = environment->bytes; at < end; at += strlen(at) + 1)
			if (!strncmp(at, name.at, len) && at[len] == '=' && at[len + 1])
				break;
		if (at >= end)
			continue;
		at += len + 1;
		label_from_bytes(value, sizeof(value), at, strlen(at));
		text_join_words(value);
		snprintf(to, CGROUP_VARIABLE, "%.*s=%s", (int)len, name.at, value);
		return;
	}
}

/* Writes "~TICKS VARIABLE GROUP": "-" if the process has none of @names, "?" to ask again, as for 30 s, while it may still be the
 * container's runtime. The kernel gives a program 6 MB at most (bprm_stack_limits() in fs/exec.c). */
static void write_variable(const char *root, const char *names, const struct oldest *o, FILE *out)
{
	uint64_t tick = (uint64_t)sysconf(_SC_CLK_TCK);
	char variable[CGROUP_VARIABLE] = "-";
	FILE_TEXT environment = {};
	struct timespec now;
	bool read =
		!may_hold_memory(root, o->pid) &&
		!file_text_read(&environment, PATHF("%s/proc/%s/environ", root, o->pid), 6 << 20);

	clock_gettime(CLOCK_BOOTTIME, &now);
	if (read)
		find_variable(&environment, names, variable);
	if (*variable == '-' && (!read || o->ticks / tick + 30 > (uint64_t)now.tv_sec))
		*variable = '?';
	fprintf(out, "~%" PRIu64 " %s %s\n", o->ticks, variable, o->path);
}

/* Writes what processes say about their groups. One that is held hides those after it: each look begins with another one. */
static void write_groups(const char *root, const char *names, const struct groups *g, FILE *out)
{
	uint64_t first = monotonic_ns();
	struct cgroup c;

	for (size_t i = 0; i < g->count; i++) {
		const struct oldest *o = &g->list[(first + i) % g->count];

		cgroup_of_path(&c, o->path);
		if (c.unnamed_job)
			write_step(root, o->pid, &c, out);
		else
			write_variable(root, names, o, out);
		fflush(out); /* the next one may wait */
	}
}

/* kubelet has a folder for each pod's logs: NAMESPACE_NAME_UID. No part contains a '_'. */
static void write_node(const char *root, FILE *out)
{
	OPEN_FOLDER *logs = opendir(PATHF("%s/var/log/pods", root));
	const char *log;

	while ((log = folder_next(logs)))
		fprintf(out, "%s\n", log);
	container_write_names(root, out);
	fflush(out); /* what follows may wait */
}

void cgroup_write_names(const char *root, const char *names, FILE *out)
{
	OPEN_FOLDER *proc = opendir(PATHF("%s/proc", root));
	const char *first = PATHF("%s/proc/1/root", root), *pid;
	struct stat here, there;
	struct groups groups = {};
	struct cgroup c;

	write_node(root, out);
	/* Without CAP_SYS_CHROOT absolute links there lead into this root. */
	if (stat(PATHF("%s/", root), &here) || stat(PATHF("%s/", first), &there) ||
	    here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		write_node(chroot(first) ? first : "", out);
	while ((pid = folder_next(proc))) {
		FILE_TEXT group = {};

		if (!isdigit((unsigned char)*pid))
			continue;
		file_text_read(&group, PATHF("%s/proc/%s/cgroup", root, pid), 65536);
		cgroup_read(&c, group.bytes ?: "");
		if (c.unnamed_job ? is_roots(root, pid) : names && may_have_variable(&c))
			note_oldest(&groups, root, pid, &c);
	}
	write_groups(root, names, &groups, out);
	free(groups.list);
}

/* Takes "NAMESPACE_NAME_UID" if it is the pod's. */
static void take_pod(struct cgroup *c, struct span log)
{
	struct span space = span_take_field(&log, "_"), pod = span_take_until(&log, "_");

	if (span_take(&log, "_") && span_is(log, c->pod))
		snprintf(c->name, sizeof(c->name), "%.*s/%.*s", (int)span_left(space), space.at,
			 (int)span_left(pod), pod.at);
}

/* Takes a line of write_variable() about this container or group, or a group below it, if it is the oldest of these so far. */
static void take_variable(struct cgroup *c, struct span line, uint64_t *oldest)
{
	uint64_t ticks;
	struct span variable;

	if (!span_take_number(&line, 10, UINT64_MAX, &ticks) || ticks >= *oldest)
		return;
	span_take(&line, " ");
	variable = span_take_field(&line, " ");
	if (span_left(line) < c->outer || memcmp(line.at, c->path, c->outer) != 0 ||
	    (span_left(line) > c->outer && line.at[c->outer] != '/'))
		return;
	*oldest = ticks;
	span_copy(variable, c->variable, sizeof(c->variable));
}

bool cgroup_find_names(struct cgroup *c, const char *text)
{
	const char *end = strrchr(text, '\n');
	struct span rest = { text, end ?: text }, line, of; /* the last line may be a part of one */
	uint64_t oldest = UINT64_MAX;

	*c->variable = 0;
	while (span_next_line(&rest, &line)) {
		if (span_take(&line, "~")) {
			if (may_have_variable(c))
				take_variable(c, line, &oldest);
			continue;
		}
		if (*c->pod && !*c->name)
			take_pod(c, line);
		of = span_take_field(&line, " ");
		if (c->unnamed_job && span_left(line) == c->unnamed_job &&
		    !memcmp(line.at, c->path, c->unnamed_job))
			span_copy(of, *of.at == '?' ? c->variable : c->job, sizeof(c->job));
		if (*c->container && !*c->name && span_is(of, c->container))
			span_copy(line, c->name, sizeof(c->name));
	}
	if (c->unnamed_job && *c->job)
		*c->variable = 0;
	return (!c->unnamed_job || *c->job) && ((!*c->pod && !*c->container) || *c->name);
}

static void send_names(const void *names, FILE *out)
{
	cgroup_write_names("", names, out);
}

/* Whether a later look at the group, which was there at @since, can find no more. An answer that is not whole, because a process
 * is held, is one about the names in it. */
static bool has_names(struct cgroup *c, const struct helper *h, bool variable, uint64_t since)
{
	bool named = cgroup_find_names(c, h->text ?: ""), fresh = h->begun_ns >= since;

	return ((named && !variable) || (fresh && (h->whole || (variable && *c->variable)))) &&
	       (*c->variable != '?' || monotonic_ns() > since + AGAIN_NS);
}

bool cgroup_ask_names(struct cgroup *c, struct helper *h, const char *names, uint64_t since)
{
	bool variable = names && may_have_variable(c), known;

	helper_collect(h, 0);
	known = has_names(c, h, variable, since);
	if (!known) {
		/* What it has found before is no answer about a group that is new. */
		if (!h->running && h->begun_ns < since)
			h->begun_ns = 0;
		helper_ask(h, "xidscope-names", send_names, names);
		known = has_names(c, h, variable, since);
	}
	if (!strchr(c->variable, '='))
		*c->variable = 0;
	return known;
}
