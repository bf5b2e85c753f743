// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/cpu_pressure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"

/* "some avg10=0.00 avg60=0.12 avg300=0.50 total=12345": the total in microseconds. */
uint64_t cpu_pressure_waiting_ns(const char *root)
{
	const char *member = " total=", *total;
	char path[PATH_MAX], line[160];

	snprintf(path, sizeof(path), "%s/proc/pressure/cpu", root);
	if (!file_first_line(path, line, sizeof(line)) || strncmp(line, "some ", 5) != 0)
		return 0;
	total = strstr(line, member);
	return total ? strtoull(total + strlen(member), NULL, 10) * 1000 : 0;
}
