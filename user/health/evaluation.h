/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a health rule works on: health.c makes it, the rules add their findings.
 */
#ifndef XIDSCOPE_EVALUATION_H
#define XIDSCOPE_EVALUATION_H

#include "health/health.h"

struct health_evaluation {
	const struct snapshot *s;
	const struct health_options *o;
	double now; /* seconds since the epoch */
	struct health_report *report;
};

#endif
