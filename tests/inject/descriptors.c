// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts the open files of an agent and of its processes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

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
		if (len < 0)
			continue; /* closed meanwhile */
		target[len] = 0;
		d->of[begins(target, "/memfd:") ? DESCRIPTORS_OF_MEMORY :
		      begins(target, a->dir)    ? DESCRIPTORS_OF_FILES :
						  OTHER_DESCRIPTORS]++;
	}
	if (dir)
		closedir(dir);
}

/* How many there are, less @base; NULL: of none. */
static struct descriptors count(const struct agent *a, const struct descriptors *base)
{
	struct descriptors d = {};
	pid_t pids[MOST_WRITERS];
	size_t n = agent_writers(a, pids, MOST_WRITERS);

	add_those_of(a, a->calls.pid, &d);
	for (size_t i = 0; i < n && i < MOST_WRITERS; i++)
		add_those_of(a, pids[i], &d);
	for (int k = 0; base && k < DESCRIPTOR_KINDS; k++)
		d.of[k] -= base->of[k];
	return d;
}

/* Each kind becomes what it is now, if that is nearer to 0. */
static void approach(struct descriptors *d, struct descriptors now)
{
	for (int k = 0; k < DESCRIPTOR_KINDS; k++)
		if (labs(now.of[k]) < labs(d->of[k]))
			d->of[k] = now.of[k];
}

long descriptors_sum(const struct descriptors *d)
{
	long sum = 0;

	for (int k = 0; k < DESCRIPTOR_KINDS; k++)
		sum += d->of[k];
	return sum;
}

struct descriptors descriptors_idle(struct agent *a)
{
	unsigned int versions = a->file.versions + 4;
	struct descriptors least = count(a, NULL);

	for (int ms = SETTLE_MS; ms > 0 && !a->calls.ended && a->file.versions < versions;
	     ms -= 10) {
		agent_serve(a, 10);
		approach(&least, count(a, NULL));
	}
	return least;
}

static bool is_fine(const struct descriptors *more, long allowed)
{
	for (int k = 0; k < DESCRIPTOR_KINDS; k++)
		if (more->of[k] < 0)
			return false;
	return descriptors_sum(more) <= allowed;
}

void descriptors_judge(struct agent *a, const struct descriptors *idle, long allowed)
{
	struct descriptors more = count(a, idle);

	for (int ms = SETTLE_MS; ms > 0 && !a->calls.ended && !is_fine(&more, allowed); ms -= 10) {
		agent_serve(a, 10);
		approach(&more, count(a, idle));
	}
	if (!a->calls.ended && !is_fine(&more, allowed))
		wrong(a, "descriptors: %+ld of memory, %+ld files, %+ld others",
		      more.of[DESCRIPTORS_OF_MEMORY], more.of[DESCRIPTORS_OF_FILES],
		      more.of[OTHER_DESCRIPTORS]);
}
