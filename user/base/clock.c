// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The time, in the two forms that the program uses. */
#include "base/clock.h"

#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double wall_seconds(void)
{
	return seconds(CLOCK_REALTIME);
}

bool wall_clock_origin(double *origin)
{
	double before = seconds(CLOCK_BOOTTIME);

	*origin = wall_seconds() - before;
	return seconds(CLOCK_BOOTTIME) - before < 0.01;
}
