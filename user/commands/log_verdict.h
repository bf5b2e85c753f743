/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verdict on a kernel log that was saved as text: see log_verdict.c. */
#pragma once

#include "xid/xid_policy.h"

struct log_verdict;

/* @policy must outlive it. NULL: no memory. */
struct log_verdict *log_verdict_new(const struct xid_policy *policy);
void log_verdict_free(struct log_verdict *v);

/* The next line. It may end with a newline. */
void log_verdict_add(struct log_verdict *v, const char *line);

/* Prints the health that the lines lead to, and each finding. Returns false, and prints nothing, if no line counted. */
bool log_verdict_print(struct log_verdict *v, bool as_json);
