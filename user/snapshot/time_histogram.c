// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Durations in the kernel side's buckets. */
#include "snapshot/time_histogram.h"

#include <stdbool.h>

/* Whether nothing lies between the first bucket, of 0 ns, and the last one, where the source
 * mountstats counts: most phases of most calls, and a file has a thousand histograms. */
static bool is_empty_between(const struct time_histogram *h)
{
	return !h->sum_ns;
}

uint64_t time_histogram_count(const struct time_histogram *h)
{
	uint64_t count = 0;

	if (is_empty_between(h))
		return h->bucket[0] + h->bucket[TIME_OVERFLOW];
	for (int i = 0; i < TIME_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

void time_histogram_add(struct time_histogram *to, const struct time_histogram *from)
{
	if (is_empty_between(from)) {
		to->bucket[0] += from->bucket[0];
		to->bucket[TIME_OVERFLOW] += from->bucket[TIME_OVERFLOW];
		return;
	}
	to->sum_ns += from->sum_ns;
	for (int i = 0; i < TIME_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

void time_histogram_subtract(struct time_histogram *to, const struct time_histogram *from)
{
	to->sum_ns -= from->sum_ns;
	for (int i = 0; i < TIME_BUCKETS; i++)
		to->bucket[i] -= from->bucket[i];
}

uint64_t time_histogram_quantile(const struct time_histogram *h, double q)
{
	uint64_t count = time_histogram_count(h), below = 0;
	double rank = q * (double)count;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < TIME_OVERFLOW; i++) {
		below += h->bucket[i];
		if (below && (double)below >= rank)
			return histogram_bound(i, TIME_SHIFT);
	}
	return UINT64_MAX;
}
