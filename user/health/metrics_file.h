/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads back what openmetrics_write() wrote, in either format, as far as the rules need it. Pure: no I/O. */
#pragma once

#include "snapshot/snapshot.h"

/* A longer file is not read. */
#define METRICS_FILE_MAX_BYTES (64 << 20)

/* Whether this may be a metrics file of xidscope, perhaps cut. */
bool metrics_file_is(const char *text, size_t len);

/* Fills @s, which must be all zero, from @len bytes of @text (no NUL needed): the servers' oldest_ns, faults, kernel
 * events, recoveries, and of GPUs identity and rate limit. The file has two times and one number of incidents per
 * device and code: all such faults get the times, the first gets the incidents. Unknown families are skipped.
 *
 * Returns 0, or -EINVAL or -ENOMEM with the reason in @error, one line; @s is then empty. A file without its end is
 * damaged. */
int metrics_file_parse(struct snapshot *s, const char *text, size_t len, char *error,
		       size_t error_size);
