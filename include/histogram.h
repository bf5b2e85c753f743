/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bucket geometry of every histogram, the same in the kernel and in user
 * space.
 *
 * Buckets are log-linear: four per octave. A value v belongs to the first
 * bucket whose upper bound is >= v, that is the bounds are inclusive, as
 * Prometheus' `le` is, and therefore a bound that the file shows never has to
 * split a bucket. (Indexing by floor(log2(v)) and publishing 2^i as `le` would
 * put every exact power of two one bucket too high.)
 *
 * With w = (v - 1) >> shift, the four values 0..3 have a bucket each, and from
 * there an octave [2^e, 2^(e+1)) of w is cut into four. `shift` is the log2 of
 * the finest resolution: 8 for times (256 ns), 0 for counts.
 */
#ifndef XIDSCOPE_HISTOGRAM_H
#define XIDSCOPE_HISTOGRAM_H

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

/* floor(log2(v)) for v > 0, by halving: loop-free, and cheaper in BPF
 * instructions than what clang makes of __builtin_clzll. */
HISTOGRAM_INLINE __u32 log2_floor(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (__u32)(v >> 1);
}

/* Bucket of @v; what lies above the last bound is in bucket @overflow. */
HISTOGRAM_INLINE __u32 histogram_index(__u64 v, __u32 shift, __u32 overflow)
{
	__u64 w = v ? (v - 1) >> shift : 0;
	__u32 e, i;

	if (w < 4)
		return (__u32)w;
	e = log2_floor(w);
	i = 4 * (e - 1) + ((w >> (e - 2)) & 3);
	return i < overflow ? i : overflow;
}

/* Largest value that belongs to bucket @i; @i < overflow. */
HISTOGRAM_INLINE __u64 histogram_bound(__u32 i, __u32 shift)
{
	__u64 w = i < 4 ? i + 1 : (__u64)(5 + (i & 3)) << ((i >> 2) - 1);

	return w << shift;
}

#endif
