// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the process may do. */
#include "kernel/capabilities.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"

#define STATUS_MAX (1 << 20)

/* proc(5): "CapEff:\t000001ffffffffff". */
uint64_t effective_capabilities(const char *root)
{
	const char *field = "\nCapEff:";
	struct file_text status;
	char path[PATH_MAX], *at;
	uint64_t set = 0;

	snprintf(path, sizeof(path), "%s/proc/self/status", root);
	if (file_text_read(&status, path, STATUS_MAX))
		return 0;
	at = strstr(status.bytes, field);
	if (at)
		set = strtoull(at + strlen(field), NULL, 16);
	file_text_free(&status);
	return set;
}
