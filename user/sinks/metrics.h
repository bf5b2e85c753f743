/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every metric family that the program exports: the one table of names, types, units, labels and help.
 * docs/METRICS.md is checked against it. */
#pragma once

#include "base/safe_text.h"
#include "snapshot/snapshot.h"

#define METRIC_PREFIX "xidscope_"

/* metrics.tsv has a row for each. */
enum metric_id {
#define TABLE_ROW(id, ...) METRIC_##id,
#include "metrics.inc"
	METRICS,
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* How much the file shows about calls. The lowest level has what alerts, rules, dashboards and documented queries read. Rejected:
 * relabelling in Prometheus, where node and agent still pay; a list of families for each site. */
enum metric_detail {
	DETAIL_NODE, /* sums by kind of call and server; of ops only calls and seconds */
	DETAIL_TRANSPORT, /* each transport */
	DETAIL_OP, /* also phases, bytes and distributions by op */
	METRIC_DETAILS,
};

struct metric {
	const char *name; /* without prefix, without the counter's _total */
	enum metric_type type;
	const char *unit; /* "seconds", "bytes", or "" */
	const char *labels; /* names, separated by ", " */
	const char *help;
	enum metric_detail least; /* the level of detail from which on it is shown */
	/* Bounds of a histogram at each level of detail: bit e is the bound 2^e (ns, tasks or bytes), the highest bit is +Inf. All
	 * are bounds of kernel buckets. */
	uint64_t bounds[METRIC_DETAILS];
};

#define METRIC_INFINITY (UINT64_C(1) << 63)

enum metrics_format {
	FORMAT_OPENMETRICS, /* OpenMetrics 1.0 text */
	FORMAT_PROMETHEUS, /* Prometheus text 0.0.4 */
};

extern const struct metric metrics[METRICS];
extern const char *const metric_type_names[];

/* Writes all of @s to @out. The formats differ in three things: the name of a counter in its metadata (OpenMetrics: "x"; Prometheus:
 * "x_total"), the UNIT lines, and the final "# EOF". The levels of detail differ in the bounds of histograms (metrics.tsv). */
void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format,
		       enum metric_detail detail);

/* ---- metrics_writer.c: the two text formats: metadata, samples, histograms, numbers ---- */

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
