/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bucket geometry of every histogram, the same in the kernel and in user space.
 *
 * Buckets are log-linear: four per octave. A value v belongs to the first bucket whose upper bound is >= v. The bounds are
 * inclusive, as Prometheus' `le` is. A bound that the file shows is a bucket's bound and splits no bucket. (Indexing by
 * floor(log2(v)) and publishing 2^i as `le` would put every exact power of two one bucket too high.)
 *
 * Let w = (v - 1) >> shift. The values 0 to 3 of w have a bucket each; from 4 on, each octave [2^e, 2^(e+1)) of w has
 * four. `shift` is the log2 of the finest resolution: 8 for times (256 ns), 0 for counts. */
#pragma once

#ifdef __bpf__
#define HISTOGRAM_INLINE static __always_inline
#else
#include <linux/types.h>
#define HISTOGRAM_INLINE static inline
#endif

/* Times in nanoseconds: 256 ns .. 2^38 ns (275 s), and one bucket above. */
#define TIME_SHIFT 8
#define TIME_OVERFLOW 116
#define TIME_BUCKETS (TIME_OVERFLOW + 1)

/* Counts of tasks: 1 .. 2^20, and one bucket above. */
#define DEPTH_SHIFT 0
#define DEPTH_OVERFLOW 76
#define DEPTH_BUCKETS (DEPTH_OVERFLOW + 1)

/* The bucket of each w below 256, behind one for the value 0; see above. The verifier and the compiler need it as a constant. */
#define HISTOGRAM_OCTAVE(w) (31 - __builtin_clz((w) | 4))
#define HISTOGRAM_1(w) \
	((w) < 4 ? (w) : 4 * (HISTOGRAM_OCTAVE(w) - 1) + (((w) >> (HISTOGRAM_OCTAVE(w) - 2)) & 3))
#define HISTOGRAM_4(w) \
	HISTOGRAM_1(w), HISTOGRAM_1((w) + 1), HISTOGRAM_1((w) + 2), HISTOGRAM_1((w) + 3)
#define HISTOGRAM_16(w) \
	HISTOGRAM_4(w), HISTOGRAM_4((w) + 4), HISTOGRAM_4((w) + 8), HISTOGRAM_4((w) + 12)
#define HISTOGRAM_64(w) \
	HISTOGRAM_16(w), HISTOGRAM_16((w) + 16), HISTOGRAM_16((w) + 32), HISTOGRAM_16((w) + 48)

static const __u8 histogram_small[1 + 256] = { 0, HISTOGRAM_64(0), HISTOGRAM_64(64),
					       HISTOGRAM_64(128), HISTOGRAM_64(192) };

/* 1 + w, or 0 for @v = 0. Without a branch on @v: the verifier would follow each of its sides through all that comes after. */
HISTOGRAM_INLINE __u64 histogram_place(__u64 v, __u32 shift)
{
	v = (v + ((__u64)1 << shift) - 1) >> shift;
#ifdef __bpf__
	asm volatile(
		""
		: "+r"(v)); /* otherwise the compiler compares what was not shifted, and the verifier knows no bound */
#endif
	return v;
}

/* The lowest byte of @w, masked so that the verifier accepts it as an index. */
HISTOGRAM_INLINE __u32 histogram_byte(__u64 w)
{
#ifdef __bpf__
	asm volatile("" : "+r"(w)); /* otherwise the compiler omits the mask */
#endif
	return w & 255;
}

/* The bucket of @place, at most 2^8. It is below 28, which the verifier does not know of an array's value. */
HISTOGRAM_INLINE __u32 histogram_small_bucket(__u64 place)
{
	return histogram_small[place] & 31;
}

/* The bucket of @v, which is below 2^63; @overflow if it is above the last bound.
 *
 * A bucket depends only on the position of w's highest bit and the two bits below it. If w is shifted right and at least
 * three bits are left, the bucket is lower by four for each bit shifted out. Therefore a table of 256 is enough for all w.
 * It takes a third of the instructions of a logarithm (BPF has none, and shifts by a variable are slow). */
HISTOGRAM_INLINE __u32 histogram_index(__u64 v, __u32 shift, __u32 overflow)
{
	__u64 place = histogram_place(v, shift), w = place - 1;
	__u32 i;

	if (place <= 1 << 8)
		return histogram_small_bucket(place);
	if (w < 1 << 14)
		return 4 * 6 + histogram_small_bucket(1 + (w >> 6));
	if (w < 1 << 20)
		i = 4 * 12 + histogram_small[1 + (w >> 12)];
	else if (w < 1 << 26)
		i = 4 * 18 + histogram_small[1 + (w >> 18)];
	else if (w < (__u64)1 << 32)
		i = 4 * 24 + histogram_small[1 + histogram_byte(w >> 24)];
	else
		return overflow;
	return i < overflow ? i : overflow;
}

/* Phases of calls have one bucket for two octaves, with the bounds 2^10, 2^12, ... 2^38 ns, and one bucket above.
 * No output shows other bounds of a phase. */
#define PHASE_SHIFT 10
#define PHASE_BUCKETS 16

static const __u8 phase_small[1 + 256] = {
	[2 ... 4] = 1, [5 ... 16] = 2, [17 ... 64] = 3, [65 ... 256] = 4
};

/* The bucket of a phase that took @ns, as in histogram_index(). */
HISTOGRAM_INLINE __u32 phase_index(__u64 ns)
{
	__u64 place = histogram_place(ns, PHASE_SHIFT), w = place - 1;

	if (place <= 1 << 8)
		return phase_small[place];
	if (w < 1 << 16)
		return 4 + phase_small[1 + (w >> 8)];
	if (w < 1 << 24)
		return 8 + phase_small[1 + (w >> 16)];
	return w < 1 << 28 ? 12 + phase_small[1 + (w >> 24)] : PHASE_BUCKETS - 1;
}

/* The bucket of a time histogram to which the calls of a phase's bucket @i are added: the last one within its bounds. For
 * bucket 0, up to 1 us, it is the first one, because a histogram with a sum of 0 has all its calls there. */
HISTOGRAM_INLINE __u32 phase_bucket_as_time(__u32 i)
{
	return !i ? 0 : i < PHASE_BUCKETS - 1 ? 8 * i + 3 : TIME_OVERFLOW;
}

/* Largest value that belongs to bucket @i; @i < overflow. */
HISTOGRAM_INLINE __u64 histogram_bound(__u32 i, __u32 shift)
{
	__u64 w = i < 4 ? i + 1 : (__u64)(5 + (i & 3)) << ((i >> 2) - 1);

	return w << shift;
}
