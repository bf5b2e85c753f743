// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bounds are inclusive and leave no gap, that every power of two is a bound, that the buckets of phases
 * have all bounds that are shown, and that a quantile is never under the true value nor far above it. */
#include "unit.h"
#include "../calls.h"
#include "histogram.h"
#include "sinks/metrics.h"

static const struct geometry {
	uint32_t shift;
	uint32_t overflow;
	int last; /* log2 of the last bound */
} geometries[] = { { TIME_SHIFT, TIME_OVERFLOW, 38 }, { DEPTH_SHIFT, DEPTH_OVERFLOW, 20 } };

/* Every geometry in turn as g. */
#define FOR_EACH(g) \
	for (const struct geometry *g = geometries; g < geometries + COUNT(geometries); g++)

static uint32_t index_of(const struct geometry *g, uint64_t v)
{
	return histogram_index(v, g->shift, g->overflow);
}

/* The same sequence in each run. */
static uint64_t pseudo_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

TEST(a_bound_belongs_to_its_bucket_and_the_next_value_does_not)
{
	FOR_EACH(g)
	for (uint32_t i = 0; i < g->overflow; i++) {
		uint64_t bound = histogram_bound(i, g->shift);

		assert_int_equal(index_of(g, bound), i);
		assert_int_equal(index_of(g, bound + 1), i + 1);
	}
}

/* The bucket in which a snapshot has a call that spent @ns in a phase. */
static uint32_t phase_index_of(uint64_t ns)
{
	assert_true(phase_index(ns) < PHASE_BUCKETS);
	return phase_bucket_as_time(phase_index(ns));
}

TEST(no_bound_that_is_shown_of_a_phase_splits_a_bucket)
{
	unsigned int shown = 0;

	for (int e = 0; e < 63; e++) {
		uint64_t bound = UINT64_C(1) << e;

		if (!(metrics[METRIC_RPC_OP_PHASE_DURATION_SECONDS].bounds[DETAIL_OP] & bound))
			continue;
		assert_true(histogram_bound(phase_index_of(bound), TIME_SHIFT) <= bound);
		assert_true(histogram_bound(phase_index_of(bound + 1), TIME_SHIFT) > bound);
		shown++;
	}
	assert_int_equal(shown, 13);
	assert_int_equal(phase_index_of(INT64_MAX), TIME_OVERFLOW);
	assert_int_equal(phase_index_of(0), 0);
}

/* The definition: an octave of w is cut into four. */
static uint32_t index_by_logarithm(uint64_t v, uint32_t shift, uint32_t overflow)
{
	uint64_t w = v ? (v - 1) >> shift : 0, i;
	uint32_t e;

	if (w < 4)
		return (uint32_t)w;
	e = 63 - (uint32_t)__builtin_clzll(w);
	i = 4 * (e - 1) + ((w >> (e - 2)) & 3);
	return i < overflow ? (uint32_t)i : overflow;
}

TEST(the_table_agrees_with_the_logarithm)
{
	uint64_t seed = 1, v;

	FOR_EACH(g)
	{
		for (v = 0; v < 100000; v++)
			assert_int_equal(index_of(g, v),
					 index_by_logarithm(v, g->shift, g->overflow));
		for (int e = 0; e < 64; e++)
			for (int off = -2; off <= 2; off++) {
				v = (((uint64_t)1 << e) + (uint64_t)off) & INT64_MAX;
				assert_int_equal(index_of(g, v),
						 index_by_logarithm(v, g->shift, g->overflow));
			}
		for (int i = 0; i < 1000000; i++) {
			v = pseudo_random(&seed) >> (1 + i % 63);
			assert_int_equal(index_of(g, v),
					 index_by_logarithm(v, g->shift, g->overflow));
		}
	}
}

TEST(a_quantile_of_few_values_is_exact_to_the_bucket)
{
	struct time_histogram h = {};

	histogram_record(&h, 1, 1024);
	for (double q = 0; q <= 1; q += 0.25)
		assert_true(time_histogram_quantile(&h, q) == 1024);
	histogram_record(&h, 1, 1025);
	assert_true(time_histogram_quantile(&h, 0.5) == 1024);
	assert_true(time_histogram_quantile(&h, 0.51) == 1280);
	histogram_record(&h, 1, 1 << 20);
	assert_true(time_histogram_quantile(&h, 0.5) == 1280);
	assert_true(time_histogram_quantile(&h, 1) == 1 << 20);
	/* Of nothing it is 0, above all the maximum. */
	h = (struct time_histogram){};
	assert_true(time_histogram_quantile(&h, 0.5) == 0);
	histogram_record(&h, 1, INT64_MAX);
	assert_true(time_histogram_quantile(&h, 0.5) == UINT64_MAX);
	histogram_record(&h, 1, 256);
	assert_true(time_histogram_quantile(&h, 0.5) == 256);
	assert_true(time_histogram_quantile(&h, 0.6) == UINT64_MAX);
}

TEST(histograms_add_up)
{
	struct time_histogram a = {}, b = {}, sum;

	for (uint64_t v = 1; v < (uint64_t)1 << 40; v *= 3) {
		histogram_record(&a, 1, v);
		histogram_record(&b, 1, v / 2 + 1);
		histogram_record(&b, 1, v * 2);
	}
	sum = a;
	time_histogram_add(&sum, &b);
	assert_true(time_histogram_count(&sum) == 3 * time_histogram_count(&a));
	assert_true(sum.sum_ns == a.sum_ns + b.sum_ns);
}
