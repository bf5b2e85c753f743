// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that kills, full, read-only and vanished folders, clocks that are set and CPUs that go leave the
 * metrics file whole and each fault counted once. A clock and CPUs are the whole machine's: those are for guests. */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

static void must(int result, const char *what)
{
	if (result < 0)
		error(1, errno, "%s", what);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must((int)write(fd, text, strlen(text)), path);
	close(fd);
}

/* A fault now and then, for @ms. */
static void some_faults(struct agent *a, int ms)
{
	for (; ms > 0; ms -= 300) {
		agent_fault(a);
		agent_serve(a, 300);
	}
}

/* ---- killed: at random instants, its start among them ---- */

static void killed(struct agent *a, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		agent_serve(a, (int)(random() % 150));
		agent_fault(a);
		intercept_serve(&a->calls, (int)(random() % 200));
		kill(a->calls.pid, SIGKILL);
		agent_serve(a, 5000);
		agent_fault(a);
		if (a->file.complaint[0])
			wrong(a, "%s", a->file.complaint);
		agent_start(a);
	}
}

/* ---- the folder that it writes to ---- */

static void full(struct agent *a, unsigned int times)
{
	static char block[4096];
	char path[256];

	snprintf(path, sizeof(path), "%s/fill", a->dir);
	for (unsigned int i = 0; i < times; i++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		must(fd, path);
		while (write(fd, block, sizeof(block)) > 0)
			;
		some_faults(a, 1000);
		close(fd);
		must(unlink(path), path);
		some_faults(a, 600);
	}
}

static void read_only(struct agent *a, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		must(mount(NULL, a->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), "remount");
		some_faults(a, 1000);
		must(mount(NULL, a->dir, NULL, MS_REMOUNT, NULL), "remount");
		some_faults(a, 600);
	}
}

static void vanished(struct agent *a, unsigned int times)
{
	char away[256];

	snprintf(away, sizeof(away), "%s.away", a->dir);
	for (unsigned int i = 0; i < times; i++) {
		must(rename(a->dir, away), away);
		some_faults(a, 1000);
		must(rename(away, a->dir), a->dir);
		some_faults(a, 600);
	}
}

/* ---- the machine ---- */

static void step_clock(double seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += (time_t)seconds;
	must(clock_settime(CLOCK_REALTIME, &t), "clock_settime");
}

static void clock_set(struct agent *a, unsigned int times)
{
	const double step = 5 * 3600;

	for (unsigned int i = 0; i < times; i++) {
		step_clock(step);
		some_faults(a, 900);
		step_clock(-2 * step);
		some_faults(a, 900);
		step_clock(step);
		some_faults(a, 600);
	}
}

static void cpu_offline(struct agent *a, unsigned int times)
{
	const char *cpu = "/sys/devices/system/cpu/cpu1/online";

	for (unsigned int i = 0; i < times; i++) {
		write_text(cpu, "0");
		some_faults(a, 900);
		write_text(cpu, "1");
		some_faults(a, 600);
	}
}

static time_t monotonic_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Watched for as many seconds, and while there is DIR.busy: other programs do the rest. */
static void watched(struct agent *a, unsigned int times)
{
	time_t end = monotonic_seconds() + (time_t)times;
	char busy[256];

	snprintf(busy, sizeof(busy), "%s.busy", a->dir);
	/* On a slow machine, to look at the file takes longer than to wait for it. */
	while ((monotonic_seconds() < end || !access(busy, F_OK)) && !a->calls.ended) {
		agent_fault(a);
		agent_serve(a, 1000);
	}
	printf("# watched: %u versions of the file, %ld faults\n", a->file.versions, a->faults);
}

static const struct {
	const char *name;
	void (*run)(struct agent *a, unsigned int times);
	bool on_tmpfs;
	bool watched; /* no call is intercepted; the number of series grows, and memory with it */
	const char *option, *value;
} disturbances[] = {
	{ "killed", killed, false, false, NULL, NULL },
	{ "full", full, true, false, NULL, NULL },
	/* An event log that is open for writing forbids the remount. */
	{ "read-only", read_only, true, false, "--events", "none" },
	{ "vanished", vanished, false, false, NULL, NULL },
	{ "clock", clock_set, false, false, NULL, NULL },
	{ "cpu-offline", cpu_offline, false, false, NULL, NULL },
	{ "watched", watched, false, true, "--interval", "0.1" },
};

/* A small file system for this process and its children alone. */
static void mount_tmpfs(const char *dir)
{
	if (mkdir(dir, 0755) && errno != EEXIST)
		error(1, errno, "cannot make %s", dir);
	must(unshare(CLONE_NEWNS), "unshare");
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
	must(mount("tmpfs", dir, "tmpfs", 0, "size=8m"), "mount");
}

int disturb(const char *dir, const char *name, unsigned int times, char **command)
{
	char *with_option[32] = {};
	struct descriptors descriptors;
	long resident, resident_after;
	struct agent a;
	size_t d = 0, n = 0;

	while (d < sizeof(disturbances) / sizeof(disturbances[0]) &&
	       strcmp(disturbances[d].name, name) != 0)
		d++;
	if (d == sizeof(disturbances) / sizeof(disturbances[0]))
		error(2, 0, "no disturbance %s", name);
	for (; command[n] && n < 28; n++)
		with_option[n] = command[n];
	with_option[n] = (char *)disturbances[d].option;
	with_option[n + 1] = (char *)disturbances[d].value;
	if (disturbances[d].on_tmpfs)
		mount_tmpfs(dir);
	agent_begin(&a, dir, with_option, !disturbances[d].watched);
	descriptors = descriptors_idle(&a);
	resident = agent_resident_kb(&a);
	disturbances[d].run(&a, times);
	agent_fault(&a);
	if (!agent_catch_up(&a) && !a.calls.ended)
		wrong(&a, "%ld faults, not %ld", agent_counted(&a), a.faults);
	descriptors_judge(&a, &descriptors, 0);
	resident_after = agent_resident_kb(&a);
	if (!disturbances[d].watched && resident_after > resident + 1024)
		wrong(&a, "%ld kB of memory more", resident_after - resident);
	agent_stop(&a);
	agent_verify(&a);
	printf("%s\t%u\t%s\t%ld kB, %ld descriptors\n", name, times, *a.wrong ? a.wrong : "ok",
	       resident_after, descriptors_sum(&descriptors));
	return *a.wrong != 0;
}
