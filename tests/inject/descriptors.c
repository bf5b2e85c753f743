// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLE_MS 60000
#define MOST_WRITERS 16

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void add_those_of(const struct agent *a, pid_t pid, struct descriptors *d)
{
	char path[64], target[512];
	struct dirent *entry;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = 0;
		if (begins(target, "/memfd:"))
			d->memory++;
		else if (begins(target, a->dir))
			d->files++;
		else if (len >= 0) /* not closed meanwhile */
			d->others++;
	}
	if (dir)
		closedir(dir);
}

static struct descriptors count(const struct agent *a)
{
	struct descriptors d = {};
	pid_t pids[MOST_WRITERS];
	size_t n = agent_writers(a, pids, MOST_WRITERS);

	add_those_of(a, a->calls.pid, &d);
	for (size_t i = 0; i < n && i < MOST_WRITERS; i++)
		add_those_of(a, pids[i], &d);
	return d;
}

static long smaller(long one, long other)
{
	return one < other ? one : other;
}

static long nearer_to_0(long one, long other)
{
	return labs(one) < labs(other) ? one : other;
}

long descriptors_sum(const struct descriptors *d)
{
	return d->memory + d->files + d->others;
}

struct descriptors descriptors_idle(struct agent *a)
{
	unsigned int versions = a->file.versions + 4;
	struct descriptors least = count(a), now;

	for (int ms = SETTLE_MS; ms > 0 && !a->calls.ended && a->file.versions < versions;
	     ms -= 10) {
		agent_serve(a, 10);
		now = count(a);
		least = (struct descriptors){ smaller(least.memory, now.memory),
					      smaller(least.files, now.files),
					      smaller(least.others, now.others) };
	}
	return least;
}

static struct descriptors difference(const struct agent *a, const struct descriptors *idle)
{
	struct descriptors now = count(a);

	return (struct descriptors){ now.memory - idle->memory, now.files - idle->files,
				     now.others - idle->others };
}

static bool is_fine(const struct descriptors *more, long allowed)
{
	return more->memory >= 0 && more->files >= 0 && more->others >= 0 &&
	       descriptors_sum(more) <= allowed;
}

void descriptors_judge(struct agent *a, const struct descriptors *idle, long allowed)
{
	struct descriptors more = difference(a, idle), now;

	for (int ms = SETTLE_MS; ms > 0 && !a->calls.ended && !is_fine(&more, allowed); ms -= 10) {
		agent_serve(a, 10);
		now = difference(a, idle);
		more = (struct descriptors){ nearer_to_0(more.memory, now.memory),
					     nearer_to_0(more.files, now.files),
					     nearer_to_0(more.others, now.others) };
	}
	if (!a->calls.ended && !is_fine(&more, allowed))
		wrong(a, "descriptors: %+ld of memory, %+ld files, %+ld others", more.memory,
		      more.files, more.others);
}
