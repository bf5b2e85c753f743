/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Durations in the kernel side's buckets (include/histogram.h).
 */
#ifndef XIDSCOPE_TIME_HISTOGRAM_H
#define XIDSCOPE_TIME_HISTOGRAM_H

#include <stdint.h>

#include "rpc.h"

struct time_histogram {
	uint64_t sum_ns;
	uint64_t bucket[TIME_BUCKETS];
};

uint64_t time_histogram_count(const struct time_histogram *h);
void time_histogram_add(struct time_histogram *to, const struct time_histogram *from);
/* Subtracts *@from, an earlier state of the same histogram, from *@to. */
void time_histogram_subtract(struct time_histogram *to, const struct time_histogram *from);
/* Upper bound in ns of the bucket that holds the @q-quantile (0..1): from 1 us on the
 * true value is at most a fifth lower. 0 if empty; UINT64_MAX if above all bounds. */
uint64_t time_histogram_quantile(const struct time_histogram *h, double q);

#endif
