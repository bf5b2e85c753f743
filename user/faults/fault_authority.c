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
 * The invariant: no fault waits for a second report of itself. What the authority reports is counted, and its line is
 * noted until its record has been read: that record is the same fault. So is the n-th record of n equal lines. Before
 * a record that is not noted is judged, the authority is asked for all that it has: the driver prints after its hook
 * ran and, in a moment, before its tracepoint.
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
 * With the driver it is kept for a moment, as its report may come after it; then it is unverified.
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

/* Beyond these the oldest leaves. More texts are owed a report than the buffer of reports has room for: else one would be taken
 * before its text is read, which says how grave it is. */
#define MAX_NOTED 2048
#define MAX_OWED 320

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

static uint32_t fault_hash(const struct fault_authority *a, const struct xid_line *line)
{
	if (a->in_force == AUTHORITY_DRIVER)
		return xid_hash(line->pci, line->code);
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
	fault_authority_expire(a, UINT64_MAX);
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
		note_line(a, (struct noted){ fault_hash(a, &line), false, !driver, e->time });
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

/* ---- the driver ---- */

/* The text of this Xid, if it has been read before its report. */
static bool take_owed(struct fault_authority *a, uint32_t line, struct owed *owed)
{
	struct owed *o = ARRAY_FIND(x, a->owed, a->owed_count, x->line == line);

	if (!o)
		return false;
	*owed = *o;
	a->owed_count--;
	memmove(o, o + 1, (size_t)(a->owed + a->owed_count - o) * sizeof(*o));
	return true;
}

void fault_authority_report(struct fault_authority *a, const struct driver_report *r)
{
	struct fault_report from = { .time_ns = r->time_ns,
				     .authority = fault_authority_names[AUTHORITY_DRIVER] };
	uint32_t hash = xid_hash(r->device, r->code);
	struct owed owed = {};
	struct xid_line line;
	size_t offset = 0;

	if (a->in_force != AUTHORITY_DRIVER ||
	    (log_decides(a, r->time_ns) && take_noted(a, hash, true)))
		return;
	if (!take_owed(a, hash, &owed))
		note_line(a, (struct noted){ hash, .time_ns = r->time_ns });
	/* The report has no text, and an unproven one decides nothing. */
	if (!owed.fits)
		snprintf(owed.text, sizeof(owed.text), "NVRM: Xid (PCI:%s): %u", r->device,
			 r->code);
	from.text = owed.text;
	from.len = strlen(owed.text);
	if (xid_line_next(from.text, from.len, &offset, &line))
		fault_events_add_fault(a->events, &line, &from, true);
}

/* Decides about the oldest text that the driver has not reported. */
static void judge_owed(struct fault_authority *a)
{
	struct owed o = a->owed[0];
	const struct fault_report from = { .text = o.text,
					   .len = strlen(o.text),
					   .time_ns = o.time_ns,
					   .authority = fault_authority_names[AUTHORITY_LOG] };
	struct xid_line line;
	size_t offset = 0;

	take_owed(a, o.line, &o);
	if (xid_line_next(from.text, from.len, &offset, &line))
		fault_events_add_fault(a->events, &line, &from,
				       o.fits && log_decides(a, o.time_ns));
}

static void owe_text(struct fault_authority *a, const struct text *t, const struct xid_line *line,
		     bool fits)
{
	struct owed *o;

	if (a->owed_count == MAX_OWED)
		a->drain(a->context);
	if (a->owed_count == MAX_OWED)
		judge_owed(a);
	o = ARRAY_APPEND(a->owed, a->owed_count);
	*o = (struct owed){ fault_hash(a, line), fits, t->from.time_ns, t->read_ns, "" };
	snprintf(o->text, sizeof(o->text), "%.*s",
		 (int)(line->message + line->message_len - line->header), line->header);
}

void fault_authority_expire(struct fault_authority *a, uint64_t now_ns)
{
	kernel_report_expire(a->events, now_ns);
	while (a->owed_count && now_ns >= a->owed[0].read_ns + REPORT_WAIT_NS)
		judge_owed(a);
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
	uint32_t hash = fault_hash(a, line);
	struct owed owed;

	if (take_noted(a, hash, false))
		return;
	owe_text(a, t, line, fits);
	if (!log_decides(a, t->from.time_ns))
		return;
	a->drain(a->context);
	if (!take_owed(a, hash, &owed))
		return;
	if (fits)
		note_line(a, (struct noted){ hash, true, false, t->from.time_ns });
	fault_events_add_fault(a->events, line, &t->from, fits);
}

static void add_fault_of_record(struct fault_authority *a, const struct text *t,
				const struct xid_line *line)
{
	bool fits = t->record->facility || form_of_fault(t->record, t->from.text, line);

	if (t->record->facility || t->age < RECORD_AT_HOOK || a->in_force == AUTHORITY_LOG ||
	    (a->in_force == AUTHORITY_DRIVER && line->kind != XID_LINE_XID))
		fault_events_add_fault(a->events, line, &t->from, fits);
	else if (a->in_force == AUTHORITY_HOOK && !is_counted(a, fault_hash(a, line)))
		fault_events_add_fault(
			a->events, line, &t->from,
			fits && (t->age == RECORD_AT_HOOK || log_decides(a, t->from.time_ns)));
	else if (a->in_force == AUTHORITY_DRIVER)
		add_reported_xid(a, t, line, fits);
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
	return !ARRAY_FIND(n, a->noted, a->noted_count, !n->by_log && !n->of_others);
}

void fault_authority_free(struct fault_authority *a)
{
	free(a->noted);
	free(a->owed);
}
