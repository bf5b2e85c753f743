// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts, watches and ends an agent for the tests that disturb it. */
#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 180000
#define CATCH_UP_MS 60000
#define SETTLE_MS 60000
#define STOP_MS 5000

void wrong(struct agent *a, const char *format, ...)
{
	size_t used = strlen(a->wrong);
	va_list args;

	if (used)
		used += (size_t)snprintf(a->wrong + used, sizeof(a->wrong) - used, "; ");
	if (used >= sizeof(a->wrong))
		return;
	va_start(args, format);
	vsnprintf(a->wrong + used, sizeof(a->wrong) - used, format, args);
	va_end(args);
}

/* The folder's path with @rest behind it. */
static char *in_dir(const struct agent *a, const char *rest)
{
	char *path;

	if (asprintf(&path, "%s%s", a->dir, rest) < 0)
		error(1, 0, "no memory");
	return path;
}

void agent_start(struct agent *a)
{
	char *argv[32] = { a->command[0], "run",
			   "--output",    in_dir(a, "/x.prom"),
			   "--state",     in_dir(a, "/state"),
			   "--events",    in_dir(a, "/events.json"),
			   "--interval",  "0.2",
			   "--keep",      "--log",
			   "json",        "--accept-user-kmsg" };
	char *log = in_dir(a, ".log");
	size_t n = 14;

	for (char **more = a->command + 1; *more && n < 31; more++)
		argv[n++] = *more;
	intercept_start(&a->calls, log, argv, a->intercepted);
	watch_end(&a->file); /* another run's counters may begin anew */
	free((char *)a->file.path);
	watch_begin(&a->file, argv[3]);
	free(argv[5]);
	free(argv[7]);
	free(log);
}

void agent_serve(struct agent *a, int ms)
{
	for (; ms > 0 && !a->calls.ended; ms -= 10) {
		intercept_serve(&a->calls, ms < 10 ? ms : 10);
		watch_look(&a->file);
	}
}

long agent_counted(const struct agent *a)
{
	double sum = watch_sum(&a->file, "xidscope_gpu_xid_errors_total{", a->device);

	return sum < 0 ? 0 : (long)sum;
}

/* What the file has whose path ends so, up to 8 MiB of it; free() it. */
static char *text_of(const struct agent *a, const char *rest)
{
	const size_t size = 8 << 20;
	char *path = in_dir(a, rest), *text = malloc(size + 1);
	FILE *file = fopen(path, "re");

	if (!text)
		error(1, 0, "no memory");
	text[file ? fread(text, 1, size, file) : 0] = 0;
	if (file)
		fclose(file);
	free(path);
	return text;
}

size_t agent_messages(const struct agent *a)
{
	char *text = text_of(a, ".log");
	size_t lines = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	return lines;
}

/* Where the last line of @text begins that has both. */
static const char *last_line(const char *text, const char *one, const char *other)
{
	const char *last = NULL, *end;

	for (; (end = strchr(text, '\n')); text = end + 1)
		if (memmem(text, (size_t)(end - text), one, strlen(one)) &&
		    memmem(text, (size_t)(end - text), other, strlen(other)))
			last = text;
	return last;
}

static const char *unwritten(const struct agent *a)
{
	static const char *const files[] = { "/x.prom", "/state", "/events.json" };
	char *text = text_of(a, ".log");
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !found; i++) {
		const char *failed = last_line(text, "\"cannot write ", files[i]);

		if (failed && last_line(text, " is written again\"", files[i]) < failed)
			found = files[i];
	}
	free(text);
	return found;
}

const char *agent_unwritten(struct agent *a)
{
	for (int ms = SETTLE_MS; ms > 0 && unwritten(a); ms -= 100)
		agent_serve(a, 100);
	return unwritten(a);
}

/* Whether the log file has the message with which the agent has begun. */
static bool has_begun(const struct agent *a)
{
	char *text = text_of(a, ".log");
	bool begun = strstr(text, "\"started in ");

	free(text);
	return begun;
}

/* A line of the log about one that is not in the event log: that line, in place. */
static const char *line_within(char *line)
{
	char *from = strstr(line, ": {"), *to = from;

	if (!strstr(line, "not in ") || !from)
		return NULL;
	for (from += 2, to = from, line = from; *from; from++)
		if (*from != '\\' || *++from)
			*to++ = *from;
	to[to - line >= 2 ? -2 : 0] = 0; /* the message's own end */
	return line;
}

/* The faults of this agent's device for which a line stands. */
static long line_counts(const struct agent *a, const char *line)
{
	const char *repeats = strstr(line, "\"repeats\":");

	if (!strstr(line, a->device) || !repeats)
		return 0;
	return 1 + strtol(repeats + strlen("\"repeats\":"), NULL, 10);
}

long agent_events(const struct agent *a)
{
	char *events = text_of(a, "/events.json"), *log = text_of(a, ".log"), *line, *rest;
	char *kept = strdup(events);
	const char *within;
	long sum = 0;

	for (rest = events; (line = strsep(&rest, "\n"));)
		sum += line_counts(a, line);
	for (rest = log; (line = strsep(&rest, "\n"));) {
		within = line_within(line);
		if (within && !strstr(kept, within))
			sum += line_counts(a, within);
	}
	free(events);
	free(kept);
	free(log);
	return sum;
}

void agent_begin(struct agent *a, const char *dir, char **command, bool intercepted)
{
	unsigned int settled;
	int ms = START_MS;

	*a = (struct agent){ .dir = dir, .command = command, .intercepted = intercepted };
	snprintf(a->device, sizeof(a->device), "%04x:c1:00", (unsigned int)getpid());
	if (mkdir(dir, 0755) && errno != EEXIST)
		error(1, errno, "cannot make %s", dir);
	agent_start(a);
	for (; ms > 0 && !a->calls.ended && (!has_begun(a) || !a->file.versions); ms -= 20)
		agent_serve(a, 20);
	/* Faults that wait for a twin are counted two seconds later. */
	settled = a->file.versions + 12;
	for (; ms > 0 && !a->calls.ended && a->file.versions < settled; ms -= 20)
		agent_serve(a, 20);
	if (a->calls.ended || ms <= 0)
		error(1, 0, "the agent did not start: see %s.log", dir);
	a->faults = agent_counted(a);
}

void agent_fault(struct agent *a)
{
	/* In turn, for more lines in the event log. Not more of them: all cases' faults that the
	 * kernel log holds must fit into the agent's table. */
	static const int codes[] = { 79, 48 };
	/* Opened anew each time: the kernel limits the rate of each descriptor. */
	FILE *kmsg = fopen("/dev/kmsg", "we");

	if (!kmsg || fprintf(kmsg, "<3>NVRM: Xid (PCI:%s): %d, pid=1, name=inject, number %ld\n",
			     a->device, codes[a->faults % 2], a->faults) < 0)
		error(1, errno, "cannot write to /dev/kmsg");
	if (fclose(kmsg))
		error(1, errno, "cannot write to /dev/kmsg");
	a->faults++;
}

bool agent_catch_up(struct agent *a)
{
	for (int ms = CATCH_UP_MS; ms > 0 && !a->calls.ended && agent_counted(a) != a->faults;
	     ms -= 20)
		agent_serve(a, 20);
	return agent_counted(a) == a->faults;
}

size_t agent_writers(const struct agent *a, pid_t *pids, size_t most)
{
	char path[64];
	FILE *list;
	size_t count = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", a->calls.pid, a->calls.pid);
	list = fopen(path, "re");
	for (; list && fscanf(list, "%d", &pid) == 1; count++)
		if (count < most)
			pids[count] = pid;
	if (list)
		fclose(list);
	return count;
}

long agent_resident_kb(const struct agent *a)
{
	long pages = 0;
	char path[64];
	FILE *statm;

	snprintf(path, sizeof(path), "/proc/%d/statm", a->calls.pid);
	statm = fopen(path, "re");
	if (!statm)
		return 0;
	if (fscanf(statm, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(statm);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void judge_end(struct agent *a)
{
	int status = a->calls.status;

	if (WIFSIGNALED(status))
		wrong(a, "killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		wrong(a, "exit status %d", WEXITSTATUS(status));
}

void agent_stop(struct agent *a)
{
	if (a->calls.ended) {
		wrong(a, "ended by itself");
		judge_end(a);
		return;
	}
	kill(a->calls.pid, SIGTERM);
	agent_serve(a, STOP_MS);
	if (a->calls.ended) {
		judge_end(a);
		return;
	}
	wrong(a, "did not end on SIGTERM");
	kill(a->calls.pid, SIGKILL);
	agent_serve(a, STOP_MS);
}

/* What an agent may leave that has not waited longer for a busy machine, and has said so. */
static bool was_in_haste(const struct agent *a, const char *name)
{
	char *text = text_of(a, ".log");
	bool late = strstr(text, "does not answer");

	free(text);
	return late && *name == '.' && (strstr(name, ".lock") || strstr(name, ".tmp"));
}

/* All but the files that stay. */
static void judge_folder(struct agent *a)
{
	static const char *const fine[] = { ".", "..", "x.prom", "state", "events.json" };
	struct dirent *entry;
	DIR *dir = opendir(a->dir);
	size_t i;

	while (dir && (entry = readdir(dir))) {
		for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
			if (!strcmp(entry->d_name, fine[i]))
				break;
		if (i == sizeof(fine) / sizeof(fine[0]) && !was_in_haste(a, entry->d_name))
			wrong(a, "%s is left", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void agent_verify(struct agent *a)
{
	char *kept = in_dir(a, ".prom");

	if (a->file.complaint[0])
		wrong(a, "%s", a->file.complaint);
	/* For the other readers. A copy of the text, for the folder may be a file system of this process alone. */
	if (a->file.text) {
		FILE *copy = fopen(kept, "we");

		if (!copy || fputs(a->file.text, copy) < 0 || fclose(copy))
			error(1, errno, "cannot write %s", kept);
	}
	free(kept);
	agent_start(a);
	if (!agent_catch_up(a))
		wrong(a, "the next run has %ld faults, not %ld", agent_counted(a), a->faults);
	agent_stop(a);
	if (a->file.complaint[0])
		wrong(a, "%s", a->file.complaint);
	judge_folder(a);
	watch_end(&a->file);
	free((char *)a->file.path);
	a->file.path = NULL;
}
