// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sink that writes a snapshot as a metrics file. */
#include "sinks/openmetrics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/fault_group.h"
#include "sinks/metrics.h"
#include "version.h"

/* Which powers of two (ns) the file shows; all are bounds of kernel buckets.
 * Phases, of which there are eight, show every other one. */
#define TIME_FIRST 12 /* 4.1 us */
#define TIME_LAST 36 /* 69 s */

#define DEPTH_LAST 17 /* 131,072 tasks */

/* Room for a sample: its name and number, and labels, each byte of their values
 * escaped. */
#define LABELS_MAX 4
#define LINE_SIZE (256 + LABELS_MAX * (32 + 2 * LABEL_SIZE))

struct writer {
	FILE *out;
	enum metrics_format format;
	enum metric_id metric; /* the family that is being written */
	bool begun; /* its metadata are out */
	/* Bounds as text, each made once: of counts [0] and of times [1]. */
	char bounds[2][TIME_LAST + 1][NUMBER_SIZE];
	char line[LINE_SIZE]; /* the sample that is being written */
};

struct label {
	const char *name;
	const char *value;
};

static void family(struct writer *w, enum metric_id metric)
{
	w->metric = metric;
	w->begun = false;
}

static const char *suffix_of_counter(const struct writer *w)
{
	return w->format == FORMAT_PROMETHEUS && metrics[w->metric].type == METRIC_COUNTER ?
		       "_total" :
		       "";
}

/* Metadata come with the first sample: a family without any is left out. */
static void begin(struct writer *w)
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
 * Returns the line's end. Of tens of thousands of lines in a file, those of a
 * histogram differ by their last label only: they begin once.
 */
static char *begin_line(struct writer *w, const char *suffix, const struct label *labels,
			size_t count)
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

/* Ends the line, which is there up to @end, and writes it. */
static void end_line(struct writer *w, char *end, const char *value)
{
	end = stpcpy(end, value);
	*end++ = '\n';
	fwrite_unlocked(w->line, 1, (size_t)(end - w->line), w->out);
}

static void sample(struct writer *w, const char *suffix, const struct label *labels, size_t count,
		   const char *value)
{
	char *end = begin_line(w, suffix, labels, count);

	end_line(w, stpcpy(end, count ? "} " : " "), value);
}

#define COUNT(labels) (sizeof(labels) / sizeof((labels)[0]))

/* A counter's or a gauge's sample. */
#define SAMPLE(w, value, ...)                                                                   \
	do {                                                                                    \
		const struct label labels_[] = { __VA_ARGS__ };                                 \
		_Static_assert(COUNT(labels_) <= LABELS_MAX, "LINE_SIZE");                      \
		sample(w, metrics[(w)->metric].type == METRIC_COUNTER ? "_total" : "", labels_, \
		       COUNT(labels_), value);                                                  \
	} while (0)

static const char *integer(char *text, uint64_t value)
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
static const char *nanoseconds(char *text, uint64_t ns)
{
	snprintf(text, NUMBER_SIZE, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
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
static const char *bound_of(struct writer *w, bool times, int e)
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
static void histogram(struct writer *w, const struct label *labels, size_t count,
		      const uint64_t *bucket, uint32_t overflow, uint32_t shift, int first,
		      int last, int step, const char *sum)
{
	char value[NUMBER_SIZE], *le;
	uint64_t below = 0;
	uint32_t i = 0;

	le = stpcpy(begin_line(w, "_bucket", labels, count), ",le=\"");
	for (int e = first; e <= last; e += step) {
		while (i < overflow && histogram_bound(i, shift) <= (uint64_t)1 << e)
			below += bucket[i++];
		end_line(w, stpcpy(stpcpy(le, bound_of(w, shift, e)), "\"} "),
			 integer(value, below));
	}
	while (i <= overflow)
		below += bucket[i++];
	end_line(w, stpcpy(le, "+Inf\"} "), integer(value, below));
	sample(w, "_count", labels, count, value);
	sample(w, "_sum", labels, count, sum);
}

static void write_ops(struct writer *w, const struct snapshot *s)
{
	const struct rpc_op *end = s->ops + s->op_count;
	const int last = snapshot_knows(s, RPC_FACT_DISTRIBUTION) ? TIME_LAST : -1;
	char number[NUMBER_SIZE];

	family(w, METRIC_RPC_SECONDS);
	for (const struct rpc_op *o = s->ops; o < end; o++) {
		const struct label labels[] = { { "server", o->server }, { "op", o->op } };

		histogram(w, labels, COUNT(labels), o->total.bucket, TIME_OVERFLOW, TIME_SHIFT,
			  TIME_FIRST, last, 1, nanoseconds(number, o->total.sum_ns));
	}
	family(w, METRIC_RPC_PHASE_SECONDS);
	for (const struct rpc_op *o = s->ops; o < end; o++)
		for (int p = 0; p < RPC_PHASES; p++) {
			const struct label labels[] = { { "server", o->server },
							{ "op", o->op },
							{ "phase", rpc_phase_names[p] } };

			if (!snapshot_knows(s, RPC_FACT_PHASE + p))
				continue;
			histogram(w, labels, COUNT(labels), o->phase[p].bucket, TIME_OVERFLOW,
				  TIME_SHIFT, TIME_FIRST, last, 2,
				  nanoseconds(number, o->phase[p].sum_ns));
		}
	family(w, METRIC_RPC_SENT_BYTES);
	for (const struct rpc_op *o = s->ops; o < end; o++)
		if (snapshot_knows(s, RPC_FACT_SENT_BYTES))
			SAMPLE(w, integer(number, o->sent_bytes), { "server", o->server },
			       { "op", o->op });
	family(w, METRIC_RPC_RECEIVED_BYTES);
	for (const struct rpc_op *o = s->ops; o < end; o++)
		if (snapshot_knows(s, RPC_FACT_RECEIVED_BYTES))
			SAMPLE(w, integer(number, o->received_bytes), { "server", o->server },
			       { "op", o->op });
	family(w, METRIC_RPC_ERRORS);
	for (size_t i = 0; i < s->error_count; i++)
		SAMPLE(w, integer(number, s->errors[i].count), { "server", s->errors[i].server },
		       { "op", s->errors[i].op }, { "status", s->errors[i].status });
}

static void write_transport_counter(struct writer *w, const struct snapshot *s,
				    enum metric_id metric, enum rpc_fact fact, size_t offset)
{
	char number[NUMBER_SIZE];

	family(w, metric);
	for (size_t i = 0; i < s->transport_count && snapshot_knows(s, fact); i++) {
		const struct rpc_transport_state *t = &s->transports[i];
		uint64_t value;

		memcpy(&value, (const char *)t + offset, sizeof(value));
		SAMPLE(w, integer(number, value), { "server", t->server },
		       { "transport", t->name });
	}
}

static void write_transports(struct writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

#define COUNTER(NAME, field)                                              \
	write_transport_counter(w, s, METRIC_RPC_##NAME, RPC_FACT_##NAME, \
				offsetof(struct rpc_transport_state, field))
	COUNTER(RETRANSMITS, retransmits);
	COUNTER(TIMEOUTS, timeouts);
	COUNTER(DISCONNECTS, disconnects);
	COUNTER(CONNECTS, connects);
#undef COUNTER

	family(w, METRIC_RPC_SATURATED_SECONDS);
	for (size_t i = 0; i < s->transport_count; i++) {
		const struct rpc_transport_state *t = &s->transports[i];

		for (int l = 0; l < RPC_LIMITS; l++)
			if (snapshot_knows(s, RPC_FACT_SATURATED + l))
				SAMPLE(w, nanoseconds(number, t->saturated_ns[l]),
				       { "server", t->server }, { "transport", t->name },
				       { "limit", rpc_limit_names[l] });
	}
	family(w, METRIC_RPC_SLOTS);
	for (size_t i = 0; i < s->transport_count; i++) {
		const struct rpc_transport_state *t = &s->transports[i];
		const struct {
			const char *name;
			enum rpc_fact fact;
			uint32_t value;
		} kinds[] = {
			{ "max", RPC_FACT_SLOTS_MAX, t->slots_max },
			{ "allocated", RPC_FACT_SLOTS_ALLOCATED, t->slots_allocated },
			{ "in_flight", RPC_FACT_SLOTS_IN_FLIGHT, t->slots_in_flight },
		};

		for (size_t k = 0; t->alive && k < COUNT(kinds); k++)
			if (snapshot_knows(s, kinds[k].fact))
				SAMPLE(w, integer(number, kinds[k].value), { "server", t->server },
				       { "transport", t->name }, { "kind", kinds[k].name });
	}
}

static void write_servers(struct writer *w, const struct snapshot *s)
{
	const struct rpc_server_state *end = s->servers + s->server_count;
	char number[NUMBER_SIZE];

	family(w, METRIC_RPC_QUEUE_DEPTH);
	for (const struct rpc_server_state *v = s->servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++) {
			const struct label labels[] = { { "server", v->server },
							{ "queue", rpc_queue_names[q] } };

			if (!snapshot_knows(s, RPC_FACT_DEPTH + q))
				continue;
			histogram(w, labels, COUNT(labels), v->depth[q].bucket, DEPTH_OVERFLOW,
				  DEPTH_SHIFT, 0, DEPTH_LAST, 1, integer(number, v->depth[q].sum));
		}
	family(w, METRIC_RPC_QUEUE_DEPTH_MAX);
	for (const struct rpc_server_state *v = s->servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (snapshot_knows(s, RPC_FACT_DEPTH_MAX + q))
				SAMPLE(w, integer(number, v->depth_max[q]), { "server", v->server },
				       { "queue", rpc_queue_names[q] });
	family(w, METRIC_RPC_OLDEST_WAITER_SECONDS);
	for (const struct rpc_server_state *v = s->servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (q != RPC_QUEUE_XMIT && snapshot_knows(s, RPC_FACT_OLDEST + q))
				SAMPLE(w, nanoseconds(number, v->oldest_ns[q]),
				       { "server", v->server }, { "queue", rpc_queue_names[q] });
}

static const char *timestamp(char *text, double seconds)
{
	snprintf(text, NUMBER_SIZE, "%.3f", seconds);
	return text;
}

static void write_faults(struct writer *w, const struct snapshot *s)
{
	const struct fault *end = s->faults + s->fault_count;
	char number[NUMBER_SIZE], code[16];
	struct fault_group group;
	const struct fault *f;

#define EACH(is_nvswitch)                 \
	for (f = s->faults; f < end; f++) \
		if (f->nvswitch == (is_nvswitch) && snprintf(code, sizeof(code), "%u", f->code) > 0)

	family(w, METRIC_GPU_XID_ERRORS);
	EACH(false)
	SAMPLE(w, integer(number, f->count), { "gpu", f->device }, { "xid", code },
	       { "severity", f->severity }, { "action", f->action });
	family(w, METRIC_GPU_XID_INCIDENTS);
	EACH(false)
	if (fault_group_sum(s, f, &group) && group.last > 0)
		SAMPLE(w, integer(number, group.incidents), { "gpu", f->device }, { "xid", code });
	family(w, METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS);
	EACH(false)
	if (fault_group_sum(s, f, &group) && group.last > 0)
		SAMPLE(w, timestamp(number, group.last), { "gpu", f->device }, { "xid", code });
	family(w, METRIC_NVSWITCH_SXID_ERRORS);
	EACH(true)
	SAMPLE(w, integer(number, f->count), { "device", f->device }, { "sxid", code },
	       { "severity", f->severity });
	family(w, METRIC_NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS);
	EACH(true)
	if (fault_group_sum(s, f, &group) && group.last > 0)
		SAMPLE(w, timestamp(number, group.last), { "device", f->device }, { "sxid", code });
#undef EACH
	family(w, METRIC_GPU_FAULT_REPORTS);
	for (int p = 0; p < FAULT_PATHS && s->gpu_watched; p++)
		SAMPLE(w, integer(number, s->fault_paths[p]), { "path", fault_path_names[p] });
}

static void write_kernel_events(struct writer *w, const struct snapshot *s)
{
	const struct kernel_event *end = s->kernel_events + s->kernel_event_count;
	char number[NUMBER_SIZE];
	const struct kernel_event *e;

	family(w, METRIC_GPU_DRIVER_ERRORS);
	for (e = s->kernel_events; e < end; e++)
		if (e->gpu_driver)
			SAMPLE(w, integer(number, e->count), { "gpu", e->device },
			       { "kind", e->kind });
	family(w, METRIC_GPU_DRIVER_ERROR_LAST_TIMESTAMP_SECONDS);
	for (e = s->kernel_events; e < end; e++)
		if (e->gpu_driver)
			SAMPLE(w, timestamp(number, e->last), { "gpu", e->device },
			       { "kind", e->kind });
	family(w, METRIC_GPU_RECOVERED_TIMESTAMP_SECONDS);
	for (size_t i = 0; i < s->recovery_count; i++)
		SAMPLE(w, timestamp(number, s->recoveries[i].time), { "gpu", s->recoveries[i].gpu },
		       { "evidence", s->recoveries[i].evidence });
	family(w, METRIC_GPU_GSP_RATE_LIMITED);
	for (size_t i = 0; i < s->gpu_count; i++)
		SAMPLE(w, s->gpus[i].rate_limited ? "1" : "0", { "gpu", s->gpus[i].gpu });
	family(w, METRIC_GPU_INFO);
	for (size_t i = 0; i < s->gpu_count; i++)
		if (*s->gpus[i].uuid || *s->gpus[i].serial)
			SAMPLE(w, "1", { "gpu", s->gpus[i].gpu }, { "uuid", s->gpus[i].uuid },
			       { "serial", s->gpus[i].serial });
	family(w, METRIC_KERNEL_EVENTS);
	for (e = s->kernel_events; e < end; e++)
		if (!e->gpu_driver)
			SAMPLE(w, integer(number, e->count), { "kind", e->kind },
			       { "device", e->device });
	family(w, METRIC_KERNEL_LOG_LOST_RECORDS);
	if (s->gpu_watched)
		sample(w, "_total", NULL, 0, integer(number, s->log_lost));
}

static void write_health(struct writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	family(w, METRIC_NODE_HEALTH);
	for (size_t i = 0; i < s->health_count; i++)
		SAMPLE(w, integer(number, (uint64_t)s->health[i].level),
		       { "check", s->health[i].check });
}

static void write_self(struct writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	family(w, METRIC_HOOK_ATTACHED);
	for (size_t i = 0; i < s->hook_count; i++)
		SAMPLE(w, s->hooks[i].attached ? "1" : "0", { "hook", s->hooks[i].name });
	family(w, METRIC_RPC_SOURCE);
	for (int i = RPC_SOURCE_NONE + 1; i < RPC_SOURCES; i++)
		SAMPLE(w, (int)s->source == i ? "1" : "0", { "source", rpc_source_names[i] });
	family(w, METRIC_EVENTS_DROPPED);
	for (size_t i = 0; i < s->drop_count; i++)
		SAMPLE(w, integer(number, s->drops[i].count), { "reason", s->drops[i].reason });
	family(w, METRIC_EXPORT_SECONDS);
	snprintf(number, sizeof(number), "%.6f", s->export_seconds);
	sample(w, "", NULL, 0, number);
	family(w, METRIC_EXPORT_ERRORS);
	sample(w, "_total", NULL, 0, integer(number, s->export_errors));
	family(w, METRIC_MEMORY_BYTES);
	SAMPLE(w, integer(number, s->resident_bytes), { "kind", "resident" });
	SAMPLE(w, integer(number, s->map_bytes), { "kind", "maps" });
	SAMPLE(w, integer(number, s->trace_bytes), { "kind", "trace" });
	SAMPLE(w, integer(number, s->program_bytes), { "kind", "programs" });
	family(w, METRIC_PROGRAM_RUN_SECONDS);
	for (size_t i = 0; i < s->program_count; i++)
		SAMPLE(w, nanoseconds(number, s->programs[i].ns),
		       { "program", s->programs[i].name });
	family(w, METRIC_PROGRAM_RUNS);
	for (size_t i = 0; i < s->program_count; i++)
		SAMPLE(w, integer(number, s->programs[i].runs), { "program", s->programs[i].name });
	family(w, METRIC_BUILD_INFO);
	SAMPLE(w, "1", { "version", XIDSCOPE_VERSION });
}

void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format)
{
	struct writer w = { .out = out, .format = format };

	write_ops(&w, s);
	write_transports(&w, s);
	write_servers(&w, s);
	write_faults(&w, s);
	write_kernel_events(&w, s);
	write_health(&w, s);
	write_self(&w, s);
	if (format == FORMAT_OPENMETRICS)
		fputs("# EOF\n", out);
}
