// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who says that a fault happened.
 *
 * One fault may be reported three times: as a message that the printk hook sees, as a record of the kernel log, and by
 * the driver's tracepoint. To count it once, one of them is the authority at a time, and the others are only checked
 * against it:
 *
 *	hook	printk's callers are known. Each message that a module of the driver prints counts at once. The same
 *		text that others print counts as unverified.
 *	driver	otherwise, if the driver has its tracepoint. Xids count from it alone, SXids and other lines by the log.
 *	log	otherwise: a record counts if it has the form of the driver's (recognise/kernel_line.c).
 *
 * Lines that are not the driver's, such as a PCIe error, always count by the log.
 *
 * What the hook reports is counted at once, and its line is noted until its record has been read: that record is the same
 * fault. So is the n-th record of n equal lines. Before a record that is not noted is judged, the authority is asked for
 * all that it has.
 *
 * The driver's report has no text, which may say how grave the fault is. The text is printed before it: the report is
 * counted with the text if that has been read, or else once the log has been read up to the report's time. So nothing
 * waits for what may not come.
 *
 * An authority does not see everything. What it may not have seen was printed before it began (a begin is not a moment:
 * a message may be printed while the hook is attached), or in a gap, in which its buffer was full. There the log decides
 * by form, and a noted line still counts once. An example: 3000 equal Xids come in 60 ms, the hook's buffer holds 520,
 * and 400 more are read while it fills. 920 messages count and are noted; of the 3000 records 920 are these, and the
 * other 2080 count by their form. If the log has lost 500 of its records, 2500 - 920 count by form, and "lost" says 500.
 *
 * What an authority has lost is known before the next record is judged. Records that were passed over had their
 * message, and only those to come up to the gap's end are in question: no record is read again.
 *
 * Outside of this a record that is not noted is nobody's. With the hook it counts as unverified: no driver printed it.
 * With the driver it is kept for a moment, in which its report comes; then it is unverified.
 *
 * The log has a clock of its own, which drifts. Each record lies between the last time that all of the log was read
 * and now, mostly less than a second. What was printed before the hook was attached is known by sequence numbers. */
#include "faults/fault_authority.h"

#include <zlib.h>

/* A report and a record of one text on both sides of a boundary are one fault if they are closer together than this. */
#define BOUNDARY_NS 100000000ull

/* The log's clock may be wrong by this much. */
#define CLOCK_ERROR_NS 1000000000ull

/* The driver reports an Xid within this time after it has printed it. */
#define REPORT_WAIT_NS 100000000ull

/* Beyond these the oldest leaves. */
#define MAX_NOTED 2048
#define MAX_HALVES 512

/* Messages of others that are noted: each record is compared with all. Those beyond it count by their records. */
#define MAX_NOTED_OTHERS 64

/* ---- what is noted ---- */

static uint32_t text_hash(const char *text, size_t len)
{
	return (uint32_t)crc32(0, (const Bytef *)text, (uInt)len);
}

/* The driver's report has no text. */
static uint32_t xid_hash(const char *device, unsigned int code)
{
	return text_hash(device, strlen(device)) + code;
}

static uint32_t fault_hash(const struct xid_line *line)
{
	return text_hash(line->header, (size_t)(line->message + line->message_len - line->header));
}

static void remove_noted(struct fault_authority *a, size_t i)
{
	a->noted_others -= a->noted[i].of_others;
	a->noted_count--;
	memmove(&a->noted[i], &a->noted[i + 1], (a->noted_count - i) * sizeof(*a->noted));
}

/* What was to come until then has come. */
static void forget_noted(struct fault_authority *a, uint64_t until_ns)
{
	while (a->noted_count && a->noted[0].time_ns + CLOCK_ERROR_NS < until_ns)
		remove_noted(a, 0);
}

static void note_line(struct fault_authority *a, struct noted line)
{
	struct noted *n;

	if (a->noted_count == MAX_NOTED)
		remove_noted(a, 0);
	n = ARRAY_APPEND(a->noted, a->noted_count);
	*n = line;
	a->noted_others += line.of_others;
}

static bool take_noted(struct fault_authority *a, uint32_t line, bool by_log)
{
	struct noted *n =
		ARRAY_FIND(x, a->noted, a->noted_count, x->line == line && x->by_log == by_log);

	if (n)
		remove_noted(a, (size_t)(n - a->noted));
	return n;
}

/* ---- intervals ---- */

/* Whether the log decides about what was printed then and is not noted. */
static bool log_decides(const struct fault_authority *a, uint64_t time_ns)
{
	return a->in_force == AUTHORITY_LOG || time_ns < a->sure_ns + BOUNDARY_NS;
}

/* ---- the driver: a report and a text, in whichever order they are read ---- */

static bool take_half(struct fault_authority *a, uint32_t line, bool report, struct half *half)
{
	struct half *h =
		ARRAY_FIND(x, a->halves, a->half_count, x->line == line && x->report == report);

	if (!h)
		return false;
	*half = *h;
	a->half_count--;
	memmove(h, h + 1, (size_t)(a->halves + a->half_count - h) * sizeof(*h));
	return true;
}

static void count_half(struct fault_authority *a, const struct half *h, bool proved)
{
	const struct fault_report from = {
		.text = h->text,
		.len = strlen(h->text),
		.time_ns = h->time_ns,
		.authority = fault_authority_names[h->report ? AUTHORITY_DRIVER : AUTHORITY_LOG]
	};
	struct xid_line line;
	size_t offset = 0;

	if (xid_line_next(from.text, from.len, &offset, &line))
		fault_events_add_fault(a->events, &line, &from, proved);
}

/* An unproven text decides nothing. */
static void count_both(struct fault_authority *a, struct half *report, const struct half *text)
{
	if (text->fits)
		memcpy(report->text, text->text, sizeof(report->text));
	count_half(a, report, true);
}

/* Decides about one whose other half has not come. */
static void judge_half(struct fault_authority *a, const struct half *half)
{
	struct half h = *half;

	take_half(a, h.line, h.report, &h);
	if (h.report) /* its text may be part of a line that has not ended */
		note_line(a, (struct noted){ h.line, .time_ns = h.time_ns });
	count_half(a, &h, h.report || (h.fits && log_decides(a, h.time_ns)));
}

/* Decides about texts that were read, and reports that were made, long enough before these times. */
static void judge_halves(struct fault_authority *a, uint64_t texts_ns, uint64_t reports_ns)
{
	struct half *h;

	while ((h = ARRAY_FIND(x, a->halves, a->half_count,
			       x->report ? x->time_ns < reports_ns :
					   texts_ns >= x->read_ns + REPORT_WAIT_NS)))
		judge_half(a, h);
}

static void keep_half(struct fault_authority *a, const struct half *half)
{
	if (a->half_count == MAX_HALVES && !half->report)
		a->drain(a->context);
	if (a->half_count == MAX_HALVES)
		judge_half(a, &a->halves[0]);
	*ARRAY_APPEND(a->halves, a->half_count) = *half;
}

void fault_authority_report(struct fault_authority *a, const struct driver_report *r)
{
	struct half report = { xid_hash(r->device, r->code), .report = true,
			       .time_ns = r->time_ns },
		    text;

	snprintf(report.text, sizeof(report.text), "NVRM: Xid (PCI:%s): %u", r->device, r->code);
	if (a->in_force != AUTHORITY_DRIVER ||
	    (log_decides(a, r->time_ns) && take_noted(a, report.line, true)))
		return;
	if (take_half(a, report.line, false, &text))
		count_both(a, &report, &text);
	else
		keep_half(a, &report);
}

void fault_authority_expire(struct fault_authority *a, uint64_t now_ns)
{
	kernel_report_expire(a->events, now_ns);
	judge_halves(a, now_ns, now_ns == UINT64_MAX ? now_ns : a->all_read_ns);
}

/* ---- which authority ---- */

void fault_authority_gap(struct fault_authority *a, enum fault_authority_kind kind, uint64_t end_ns)
{
	if (kind == a->in_force)
		RAISE(a->sure_ns, end_ns);
}

void fault_authority_offer(struct fault_authority *a, enum fault_authority_kind kind,
			   bool available, uint64_t ns)
{
	enum fault_authority_kind best = AUTHORITY_HOOK;

	a->available[kind] = available;
	while (best != AUTHORITY_LOG && !a->available[best])
		best--;
	if (best == a->in_force)
		return;
	a->in_force = best;
	a->sure_ns = ns;
	a->events->faults->counts.authority = best;
	log_info(a->events->log, "the authority for faults is now %s", fault_authority_names[best]);
	judge_halves(a, UINT64_MAX, best == AUTHORITY_HOOK ? UINT64_MAX : a->all_read_ns);
}

/* ---- a text counts ---- */

/* A call of printk, or a record. */
struct text {
	struct fault_report from;
	const struct kmsg_record *record; /* NULL: a call */
	enum record_age age;
	uint64_t read_ns;
};

/* ---- the hook ---- */

void fault_authority_message(struct fault_authority *a, const struct printk_event *e,
			     enum printk_origin origin)
{
	const struct fault_report r = { e->text, e->len,
					e->time, fault_authority_names[AUTHORITY_HOOK],
					e->comm, (int)e->pid };
	bool driver = origin == PRINTK_ORIGIN_DRIVER;
	struct kernel_line other;
	struct xid_line line;
	size_t offset = 0;

	/* The record says that a process wrote it. */
	if (a->in_force != AUTHORITY_HOOK || origin == PRINTK_ORIGIN_PROCESS)
		return;
	if (origin == PRINTK_ORIGIN_UNKNOWN) {
		fault_authority_gap(a, AUTHORITY_HOOK, e->time);
		return;
	}
	if (!driver && a->noted_others >= MAX_NOTED_OTHERS)
		return;
	while (xid_line_next(r.text, r.len, &offset, &line)) {
		note_line(a, (struct noted){ fault_hash(&line), false, !driver, e->time });
		fault_events_add_fault(a->events, &line, &r,
				       driver && form_of_call(r.text, r.len, line.header));
	}
	for (offset = 0; kernel_line_next(r.text, r.len, &offset, &other);) {
		if (other.proof != KERNEL_LINE_BY_DRIVER)
			continue;
		note_line(a, (struct noted){ text_hash(other.text, other.text_len), false, !driver,
					     e->time });
		if (driver && form_of_call(r.text, r.len, other.text))
			fault_events_add_line(a->events, e->time, &other);
	}
}

/* ---- the log ---- */

/* Whether the hook has counted that line. */
static bool is_counted(struct fault_authority *a, uint32_t line)
{
	if (take_noted(a, line, false))
		return true;
	a->drain(a->context);
	return take_noted(a, line, false);
}

/* The driver's report may have come, or come in a moment. Near a boundary and in a gap the text does not wait for it. */
static void add_reported_xid(struct fault_authority *a, const struct text *t,
			     const struct xid_line *line, bool fits)
{
	struct half text = { xid_hash(line->pci, line->code), .fits = fits,
			     .time_ns = t->from.time_ns, .read_ns = t->read_ns },
		    report;

	snprintf(text.text, sizeof(text.text), "%.*s",
		 (int)(line->message + line->message_len - line->header), line->header);
	if (take_noted(a, text.line, false))
		return;
	if (take_half(a, text.line, true, &report)) {
		count_both(a, &report, &text);
		return;
	}
	keep_half(a, &text);
	if (!log_decides(a, t->from.time_ns))
		return;
	a->drain(a->context);
	if (!take_half(a, text.line, false, &text))
		return;
	if (fits && a->in_force == AUTHORITY_DRIVER)
		note_line(a, (struct noted){ text.line, true, false, t->from.time_ns });
	fault_events_add_fault(a->events, line, &t->from, fits);
}

static void add_fault_of_record(struct fault_authority *a, const struct text *t,
				const struct xid_line *line)
{
	bool fits = t->record->facility || form_of_fault(t->record, t->from.text, line);

	if (t->record->facility || t->age < RECORD_AT_HOOK ||
	    (a->in_force != AUTHORITY_HOOK && line->kind != XID_LINE_XID))
		fault_events_add_fault(a->events, line, &t->from, fits);
	else if (a->in_force != AUTHORITY_HOOK)
		add_reported_xid(a, t, line, fits);
	else if (!is_counted(a, fault_hash(line)))
		fault_events_add_fault(
			a->events, line, &t->from,
			fits && (t->age == RECORD_AT_HOOK || log_decides(a, t->from.time_ns)));
}

static void add_line_of_record(struct fault_authority *a, const struct text *t,
			       const struct kernel_line *line)
{
	bool by_hook = line->proof == KERNEL_LINE_BY_DRIVER && !t->record->facility &&
		       t->age >= RECORD_AT_HOOK && a->in_force == AUTHORITY_HOOK;

	if (by_hook && (is_counted(a, text_hash(line->text, line->text_len)) ||
			(t->age != RECORD_AT_HOOK && !log_decides(a, t->from.time_ns))))
		return;
	if (t->record->facility || form_of_line(t->record, t->from.text, line))
		fault_events_add_line(a->events, t->from.time_ns, line);
}

/* Judges a text that a process wrote. */
static void count_forged(struct fault_authority *a, const struct fault_report *r)
{
	struct xid_line line;
	size_t offset = 0;

	while (xid_line_next(r->text, r->len, &offset, &line)) {
		struct fault_signal_report signal = { .kind = "forged_xid",
						      .time_ns = r->time_ns,
						      .pid = -1,
						      .text = r->text,
						      .text_len = r->len };

		fault_events_add_signal(a->events, &signal);
	}
}

/* When it was printed, by CLOCK_MONOTONIC. The clocks drift apart, by up to seconds a day; records keep their order.
 * Where they differ, the first records may seem to be from before the boot. */
static uint64_t record_time(struct fault_authority *a, const struct kmsg_record *record,
			    bool before_start, uint64_t now_ns)
{
	int64_t signed_ns = (int64_t)(record->time_us * 1000) + a->log_offset_ns;
	uint64_t ns = signed_ns > 0 ? (uint64_t)signed_ns : 0;

	if (before_start) {
		LOWER(ns, now_ns);
		return ns < a->events->started_ns ? ns : a->events->started_ns - 1;
	}
	if (ns < a->all_read_ns) {
		a->log_offset_ns += (int64_t)(a->all_read_ns - ns);
		return a->all_read_ns;
	}
	if (ns > now_ns) {
		a->log_offset_ns -= (int64_t)(ns - now_ns);
		return now_ns;
	}
	return ns;
}

void fault_authority_record(struct fault_authority *a, const struct kmsg_record *record,
			    const char *text, enum record_age age, uint64_t now_ns)
{
	const struct text t = { .from = { .text = text,
					  .len = record->text_len,
					  .time_ns = record_time(
						  a, record, age == RECORD_BEFORE_START, now_ns),
					  .authority = fault_authority_names[AUTHORITY_LOG] },
				.record = record,
				.age = age,
				.read_ns = now_ns };
	struct kernel_line other;
	struct xid_line line;
	size_t offset = 0;

	if (record->facility && !a->accept_user_kmsg) {
		count_forged(a, &t.from);
		return;
	}
	forget_noted(a, t.from.time_ns);
	kernel_report_expire(a->events, t.from.time_ns);
	/* The first message of the hook makes it the authority. */
	if (age >= RECORD_AT_HOOK && a->in_force == AUTHORITY_LOG &&
	    printk_marked(text, t.from.len))
		a->drain(a->context);
	while (xid_line_next(text, t.from.len, &offset, &line))
		add_fault_of_record(a, &t, &line);
	for (offset = 0; kernel_line_next(text, t.from.len, &offset, &other);) {
		other.caller = *record->caller ? record->caller : NULL;
		add_line_of_record(a, &t, &other);
	}
}

void fault_authority_all_read(struct fault_authority *a, uint64_t ns)
{
	a->all_read_ns = ns;
	forget_noted(a, ns);
}

/* ---- its state ---- */

bool fault_authority_crowded(const struct fault_authority *a)
{
	return a->noted_count >= MAX_NOTED / 2;
}

bool fault_authority_settled(const struct fault_authority *a)
{
	return !ARRAY_FIND(n, a->noted, a->noted_count, !n->by_log && !n->of_others) &&
	       !ARRAY_FIND(h, a->halves, a->half_count, h->fits);
}

void fault_authority_free(struct fault_authority *a)
{
	free(a->noted);
	free(a->halves);
}
