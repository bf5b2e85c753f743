// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/clock.h"

#include <sys/stat.h>
#include <time.h>

#include "base/file_text.h"

/* A measurement that takes longer was interrupted, and is repeated. */
#define EXACT_NS 10000000
#define TRIES 10

int64_t clock_shift_ns(clockid_t clock)
{
	static long s[CLOCK_BOOTTIME + 1], ns[CLOCK_BOOTTIME + 1];
	static bool known;
	struct stat own, childrens;
	char text[256];

	/* The file has the offsets of the namespace that children will be in, mostly the same. */
	if (!known && !stat("/proc/self/ns/time", &own) &&
	    !stat("/proc/self/ns/time_for_children", &childrens) &&
	    own.st_ino == childrens.st_ino &&
	    file_read_and_close(open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC), text,
				sizeof(text)) > 0)
		sscanf(text, "monotonic %ld %ld boottime %ld %ld", &s[CLOCK_MONOTONIC],
		       &ns[CLOCK_MONOTONIC], &s[CLOCK_BOOTTIME], &ns[CLOCK_BOOTTIME]);
	known = true;
	return s[clock] * 1000000000 + ns[clock];
}

/* If a clock cannot be read, it keeps its last value. */
static int64_t read_ns(clockid_t clock)
{
	static int64_t last[CLOCK_BOOTTIME + 1];
	struct timespec now;

	if (!clock_gettime(clock, &now))
		last[clock] =
			(int64_t)now.tv_sec * 1000000000 + now.tv_nsec - clock_shift_ns(clock);
	return last[clock];
}

uint64_t monotonic_ns(void)
{
	return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

uint64_t thread_cpu_ns(void)
{
	return (uint64_t)read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t apart_ns(uint64_t begin, uint64_t times, uint64_t least, uint64_t most)
{
	uint64_t apart = (thread_cpu_ns() - begin) * times;

	LOWER(apart, most);
	return RAISE(apart, least);
}

struct waited wait_begin(void)
{
	uint64_t now = monotonic_ns();

	return (struct waited){ .begin_ns = now, .last_ns = now };
}

void wait_turn(struct waited *w, uint64_t turn_ns)
{
	uint64_t last = w->last_ns;

	w->last_ns = monotonic_ns();
	w->sum_ns += w->last_ns - last < turn_ns ? w->last_ns - last : turn_ns;
}

double wall_seconds(void)
{
	return (double)read_ns(CLOCK_REALTIME) / 1e9;
}

bool clock_offsets_read(struct clock_offsets *o)
{
	for (int i = 0; i < TRIES; i++) {
		int64_t monotonic = read_ns(CLOCK_MONOTONIC), boot = read_ns(CLOCK_BOOTTIME);

		o->boot_to_wall = (double)(read_ns(CLOCK_REALTIME) - boot) / 1e9;
		o->monotonic_to_boot = boot - monotonic;
		if (read_ns(CLOCK_MONOTONIC) - monotonic < EXACT_NS)
			return true;
	}
	return false;
}

double boot_seconds(const struct clock_offsets *o, uint64_t monotonic_ns)
{
	return ((double)monotonic_ns + (double)o->monotonic_to_boot) / 1e9;
}

const char *boot_id(void)
{
	static char boot[BOOT_ID_SIZE];

	if (!*boot)
		file_first_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	return boot;
}
