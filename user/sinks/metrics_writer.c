// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sinks/metrics.h"

#include "histogram.h"

const char *const metric_type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

/* Which bounds a histogram has: those of 2^first to 2^last, and +Inf. */
#define NONE 0
#define INFINITY_ALONE METRIC_INFINITY
#define POWERS(first, last) (METRIC_INFINITY | ((UINT64_C(2) << (last)) - (UINT64_C(1) << (first))))
#define EVEN_POWERS (METRIC_INFINITY | UINT64_C(0x5555555555555555))
/* 66 us to 17 s in steps of 4, and of 2 from 262 us to 17 ms, where storage answers. */
#define CALL_BOUNDS (POWERS(18, 24) | (POWERS(16, 34) & EVEN_POWERS))

const struct metric metrics[METRICS] = {
#define TABLE_ROW(id, name, type, unit, labels, detail, bounds, op_bounds, help) \
	{ name, METRIC_##type, unit, labels, help, DETAIL_##detail, { bounds, bounds, op_bounds } },
#include "metrics.inc"
};

void write_family(struct metrics_writer *w, enum metric_id metric)
{
	w->metric = metric;
	w->begun = false;
	w->name_end = stpcpy(stpcpy(w->name, METRIC_PREFIX), metrics[metric].name);
}

/* Adds the rest to the line, which ends at @end so far, and writes it. */
static void end_line(struct metrics_writer *w, char *end, const char *value)
{
	end = stpcpy(end, value);
	*end++ = '\n';
	fwrite_unlocked(w->line, 1, (size_t)(end - w->line), w->out);
}

/* Writes a line about the family. */
static void write_about(struct metrics_writer *w, const char *what, const char *text)
{
	bool total = w->format == FORMAT_PROMETHEUS && metrics[w->metric].type == METRIC_COUNTER;
	char *end = stpcpy(stpcpy(w->line, what), w->name);

	end_line(w, stpcpy(end, total ? "_total " : " "), text);
}

static void begin_metadata(struct metrics_writer *w)
{
	const struct metric *m = &metrics[w->metric];

	if (w->begun)
		return;
	w->begun = true;
	write_about(w, "# TYPE ", metric_type_names[m->type]);
	if (*m->unit && w->format == FORMAT_OPENMETRICS)
		write_about(w, "# UNIT ", m->unit);
	write_about(w, "# HELP ", m->help);
}

/* Begins a sample's line: its name, and labels up to the last value's quote. Returns the line's end. Most lines of a file
 * belong to histograms and differ only in their last label: their beginning is made once. */
static char *begin_line(struct metrics_writer *w, const char *suffix,
			const struct metric_label *labels, size_t count)
{
	char *end;

	begin_metadata(w);
	end = mempcpy(w->line, w->name, (size_t)(w->name_end - w->name));
	end = stpcpy(end, suffix);
	for (size_t i = 0; i < count; i++) {
		*end++ = i ? ',' : '{';
		end = stpcpy(end, labels[i].name);
		*end++ = '=';
		*end++ = '"';
		end = label_escape(end, labels[i].value);
		*end++ = '"';
	}
	return end;
}

void write_sample(struct metrics_writer *w, const char *suffix, const struct metric_label *labels,
		  size_t count, const char *value)
{
	char *end;

	if (w->detail < metrics[w->metric].least)
		return;
	end = begin_line(w, suffix, labels, count);
	end_line(w, stpcpy(end, count ? "} " : " "), value);
}

/* Writes @value, of at least @width digits, before @end, two digits at a time. Returns its first digit. */
static char *digits_before(char *end, uint64_t value, int width)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; value > 9 || width > 1; value /= 100, width -= 2)
		end = memcpy(end - 2, pairs + value % 100 * 2, 2);
	if (value || width > 0)
		*--end = (char)('0' + value);
	return end;
}

/* Formatted by hand: these are most of a file's text. */
const char *format_integer(char *text, uint64_t value)
{
	char digits[NUMBER_SIZE], *end = digits + sizeof(digits);
	const char *first = digits_before(end, value, 1);

	*(char *)mempcpy(text, first, (size_t)(end - first)) = 0;
	return text;
}

const char *format_nanoseconds(char *text, uint64_t ns)
{
	char digits[NUMBER_SIZE], *end = digits + sizeof(digits);
	char *first = digits_before(end, ns % 1000000000, 9);

	*--first = '.';
	first = digits_before(first, ns / 1000000000, 1);
	*(char *)mempcpy(text, first, (size_t)(end - first)) = 0;
	return text;
}

const char *format_timestamp(char *text, double seconds)
{
	snprintf(text, NUMBER_SIZE, "%.6f", seconds);
	return text;
}

/* Removes zeros at the end of the mantissa, and the point if nothing follows it. */
static void shorten_mantissa(char *text)
{
	char *exponent = strchr(text, 'e'), *end = exponent;

	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	memmove(end, exponent, strlen(exponent) + 1);
}

/* Writes an `le`: the shortest decimal that reads back as the same double, which 15 digits of all METRIC_BOUNDS do; with a
 * point, or from a million on an exponent (OpenMetrics 1.0, "Considerations: Canonical Numbers"). */
static void format_bound(char *text, double value)
{
	snprintf(text, NUMBER_SIZE, value < 1e6 ? "%.15g" : "%.14e", value);
	if (value >= 1e6)
		shorten_mantissa(text);
	else if (!strpbrk(text, ".e"))
		snprintf(text + strlen(text), NUMBER_SIZE - strlen(text), ".0");
}

/* The bound 2^@e: of times in nanoseconds, or of counts. Made once, as it takes 3,000 instructions. */
static const char *bound_of(bool times, int e)
{
	static char bounds[2][METRIC_BOUNDS][NUMBER_SIZE];
	char *bound = bounds[times][e];

	if (!*bound)
		format_bound(bound, (double)(UINT64_C(1) << e) / (times ? 1e9 : 1));
	return bound;
}

void write_histogram(struct metrics_writer *w, const struct metric_label *labels, size_t count,
		     const struct metric_buckets *h)
{
	uint64_t bounds = metrics[w->metric].bounds[w->detail] & w->bounds_known, below = 0;
	char value[NUMBER_SIZE], *le;
	uint32_t i = 0;

	if (w->detail < metrics[w->metric].least)
		return;
	le = stpcpy(begin_line(w, "_bucket", labels, count), ",le=\"");
	for (bounds &= ~METRIC_INFINITY; bounds; bounds &= bounds - 1) {
		int e = __builtin_ctzll(bounds);

		while (i < h->overflow && histogram_bound(i, h->shift) <= (uint64_t)1 << e)
			below += h->bucket[i++];
		end_line(w, stpcpy(stpcpy(le, bound_of(h->shift == TIME_SHIFT, e)), "\"} "),
			 format_integer(value, below));
	}
	while (i <= h->overflow)
		below += h->bucket[i++];
	end_line(w, stpcpy(le, "+Inf\"} "), format_integer(value, below));
	write_sample(w, "_count", labels, count, value);
	write_sample(w, "_sum", labels, count, h->sum);
}
