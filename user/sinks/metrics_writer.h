/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two text formats of metrics: metadata, samples, histograms, numbers. */
#pragma once

#include "base/label.h"
#include "sinks/metrics.h"

/* Room for a number as text. */
#define NUMBER_SIZE 32

/* Bounds of histograms are powers of two below 2^METRIC_BOUNDS. */
#define METRIC_BOUNDS 40

/* Room for a family's name, with the prefix. */
#define NAME_SIZE 80

/* Room for a sample: name, number, and labels with each byte of their values escaped. nfs_mount_info has most labels. */
#define LABELS_MAX (4 + NFS_OPTIONS)
#define LINE_SIZE (256 + LABELS_MAX * (32 + LABEL_ESCAPE_MAX * LABEL_SIZE))

/* Begin with { .out, .format, .detail, .bounds_known }. */
struct metrics_writer {
	FILE *out;
	enum metrics_format format;
	enum metric_detail detail;
	uint64_t bounds_known; /* bounds that histograms may have: METRIC_INFINITY alone, or all */
	enum metric_id metric; /* the family that is being written */
	bool begun; /* its metadata are written */
	char name[NAME_SIZE], *name_end; /* the family's, with the prefix */
	char line[LINE_SIZE]; /* the sample that is being written */
};

struct metric_label {
	const char *name;
	const char *value;
};

/* Begins a family. Its first sample writes the metadata: a family without samples is omitted. */
void write_family(struct metrics_writer *w, enum metric_id metric);

/* Writes one sample. @suffix belongs to the family's type: "_total", "_bucket", ... */
void write_sample(struct metrics_writer *w, const char *suffix, const struct metric_label *labels,
		  size_t count, const char *value);

/* Writes a sample of a counter or a gauge. */
#define SAMPLE(w, value, ...)                                                                \
	do {                                                                                 \
		const struct metric_label labels_[] = { __VA_ARGS__ };                       \
		_Static_assert(COUNT(labels_) <= LABELS_MAX, "LABELS_MAX");                  \
		write_sample(w, metrics[(w)->metric].type == METRIC_COUNTER ? "_total" : "", \
			     labels_, COUNT(labels_), value);                                \
	} while (0)

/* Writes a family with a sample for each of the @count entries @e of @list for which @known is true. */
#define EACH_OF(metric, list, count, known, value, ...)        \
	do {                                                   \
		write_family(w, metric);                       \
		ARRAY_EACH(e, list, count)                     \
			if (known)                             \
				SAMPLE(w, value, __VA_ARGS__); \
	} while (0)
#define EACH(NAME, ...) EACH_OF(METRIC_##NAME, __VA_ARGS__)

/* The kernel's buckets of a histogram (include/histogram.h). */
struct metric_buckets {
	const uint64_t *bucket;
	uint32_t overflow; /* number of the last bucket */
	uint32_t shift; /* TIME_SHIFT: of nanoseconds, otherwise of counts */
	const char *sum;
};

/* Writes one histogram: cumulative counts at the family's bounds. If this level of detail has no bounds, it writes nothing.
 * @labels holds @count labels, at most one less than a line has room for. */
void write_histogram(struct metrics_writer *w, const struct metric_label *labels, size_t count,
		     const struct metric_buckets *h);

#define HISTOGRAM_SAMPLE(w, bucket, overflow, shift, sum, ...)                     \
	do {                                                                       \
		const struct metric_label labels_[] = { __VA_ARGS__ };             \
		const struct metric_buckets h_ = { bucket, overflow, shift, sum }; \
		write_histogram(w, labels_, COUNT(labels_), &h_);                  \
	} while (0)

/* Write a number to @text, of NUMBER_SIZE bytes, and return it. Nanoseconds become seconds with all digits: sums still add up. The macros have
 * a text of their own, valid in the block in which they stand. */
const char *format_integer(char *text, uint64_t value);
const char *format_nanoseconds(char *text, uint64_t ns);
const char *format_timestamp(char *text, double seconds);
#define INTEGER(value) format_integer((char[NUMBER_SIZE]){ 0 }, value)
#define SECONDS(ns) format_nanoseconds((char[NUMBER_SIZE]){ 0 }, ns)
#define TIMESTAMP(seconds) format_timestamp((char[NUMBER_SIZE]){ 0 }, seconds)

/* call_metrics.c: writes the families about calls, their bytes and errors, with the writer's level of detail. */
void call_metrics_write(struct metrics_writer *w, const struct snapshot *s);
