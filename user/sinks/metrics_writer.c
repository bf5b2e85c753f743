// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The two text formats of metrics. */
#include "sinks/metrics_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

void write_family(struct metrics_writer *w, enum metric_id metric)
{
	w->metric = metric;
	w->begun = false;
}

static const char *suffix_of_counter(const struct metrics_writer *w)
{
	return w->format == FORMAT_PROMETHEUS && metrics[w->metric].type == METRIC_COUNTER ?
		       "_total" :
		       "";
}

/* The first sample writes the metadata: a family without samples is left out. */
static void begin(struct metrics_writer *w)
{
	const struct metric *m = &metrics[w->metric];
	const char *suffix = suffix_of_counter(w);

	if (w->begun)
		return;
	w->begun = true;
	fprintf(w->out, "# TYPE " METRIC_PREFIX "%s%s %s\n", m->name, suffix,
		metric_type_names[m->type]);
	if (*m->unit && w->format == FORMAT_OPENMETRICS)
		fprintf(w->out, "# UNIT " METRIC_PREFIX "%s %s\n", m->name, m->unit);
	fprintf(w->out, "# HELP " METRIC_PREFIX "%s%s %s\n", m->name, suffix, m->help);
}

/*
 * Begins a sample's line: its name, and labels up to the last value's quote.
 * Returns the line's end. The lines of a histogram, most of a file's tens of thousands,
 * differ only in their last label: their beginning is made once.
 */
static char *begin_line(struct metrics_writer *w, const char *suffix,
			const struct metric_label *labels, size_t count)
{
	char *end = w->line;

	begin(w);
	end = stpcpy(end, METRIC_PREFIX);
	end = stpcpy(end, metrics[w->metric].name);
	end = stpcpy(end, suffix);
	for (size_t i = 0; i < count; i++) {
		end = stpcpy(end, i ? "," : "{");
		end = stpcpy(end, labels[i].name);
		end = stpcpy(end, "=\"");
		end = label_escape(end, labels[i].value);
		end = stpcpy(end, "\"");
	}
	return end;
}

/* Adds the rest to the line, which ends at @end so far, and writes it. */
static void end_line(struct metrics_writer *w, char *end, const char *value)
{
	end = stpcpy(end, value);
	*end++ = '\n';
	fwrite_unlocked(w->line, 1, (size_t)(end - w->line), w->out);
}

void write_sample(struct metrics_writer *w, const char *suffix, const struct metric_label *labels,
		  size_t count, const char *value)
{
	char *end = begin_line(w, suffix, labels, count);

	end_line(w, stpcpy(end, count ? "} " : " "), value);
}

const char *format_integer(char *text, uint64_t value)
{
	char digits[NUMBER_SIZE], *first = digits + sizeof(digits);

	*--first = 0;
	do {
		*--first = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return memcpy(text, first, (size_t)(digits + sizeof(digits) - first));
}

/* Nanoseconds as seconds, to the last digit: sums still add up when read. */
const char *format_nanoseconds(char *text, uint64_t ns)
{
	snprintf(text, NUMBER_SIZE, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	return text;
}

const char *format_timestamp(char *text, double seconds)
{
	snprintf(text, NUMBER_SIZE, "%.3f", seconds);
	return text;
}

void format_bound(char *text, uint64_t units, int decimals)
{
	double value = (double)units;

	if (decimals)
		value /= 1e9;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (!strpbrk(text, ".e"))
		snprintf(text + strlen(text), NUMBER_SIZE - strlen(text), ".0");
}

/* The bound 2^@e: of times in nanoseconds, or of counts. */
static const char *bound_of(struct metrics_writer *w, bool times, int e)
{
	char *bound = w->bounds[times][e];

	if (!*bound)
		format_bound(bound, (uint64_t)1 << e, times ? 9 : 0);
	return bound;
}

/*
 * One histogram: cumulative counts at the powers of two from 2^@first to
 * 2^@last, every @step-th, or none if @last is below @first. @labels holds
 * @count labels, one less than a line has room for.
 */
void write_histogram(struct metrics_writer *w, const struct metric_label *labels, size_t count,
		     const uint64_t *bucket, uint32_t overflow, uint32_t shift, int first, int last,
		     int step, const char *sum)
{
	char value[NUMBER_SIZE], *le;
	uint64_t below = 0;
	uint32_t i = 0;

	le = stpcpy(begin_line(w, "_bucket", labels, count), ",le=\"");
	for (int e = first; e <= last; e += step) {
		while (i < overflow && histogram_bound(i, shift) <= (uint64_t)1 << e)
			below += bucket[i++];
		end_line(w, stpcpy(stpcpy(le, bound_of(w, shift, e)), "\"} "),
			 format_integer(value, below));
	}
	while (i <= overflow)
		below += bucket[i++];
	end_line(w, stpcpy(le, "+Inf\"} "), format_integer(value, below));
	write_sample(w, "_count", labels, count, value);
	write_sample(w, "_sum", labels, count, sum);
}
