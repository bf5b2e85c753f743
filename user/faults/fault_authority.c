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
 * The driver's report has no text, which may say how grave the fault is. It is counted with the text, which is printed
 * before it, or once the log has been read as far, or after a second: in a flood the log has no end.
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
#define AT_ONCE_NS 10000000ull /* mostly so soon, even if a console is slow */
#define TEXT_WAIT_NS 1000000000ull /* until the log is read */

/* Messages of others that are kept: each record is compared with all. Those beyond it count by their records. */
#define MAX_OF_OTHERS 64

/* ---- parts of what may come in several ---- */

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

/* Its text becomes the caller's. */
static struct part remove_part(struct fault_authority *a, struct part *p)
{
	struct part removed = *p;

	a->part_count--;
	memmove(p, p + 1, (size_t)(a->parts + a->part_count - p) * sizeof(*p));
	return removed;
}

static bool take_part(struct fault_authority *a, uint32_t line, enum part_kind kind, uint64_t from,
		      struct part *taken)
{
	struct part *p = ARRAY_FIND(x, a->parts, a->part_count,
				    x->line == line && x->kind == kind && x->time_ns >= from);

	if (p)
		*taken = remove_part(a, p);
	return p;
}

/* Whether the log decides about what was printed then and is not noted. */
static bool log_decides(const struct fault_authority *a, uint64_t time_ns)
{
	return a->in_force == AUTHORITY_LOG || time_ns < a->sure_ns + BOUNDARY_NS;
}

static struct part part_of(uint32_t line, enum part_kind kind, bool fits, uint64_t time_ns)
{
	return (struct part){ .line = line, .kind = kind, .fits = fits, .time_ns = time_ns };
}

/* Counts @p with @text, which is not NULL but where memory has failed. */
static void count_part(struct fault_authority *a, const struct part *p, const char *text,
		       bool proved)
{
	bool report = p->kind == PART_REPORT;
	const struct fault_report from = {
		.text = text,
		.len = strlen(text ?: ""),
		.time_ns = p->time_ns,
		.authority = fault_authority_names[report ? AUTHORITY_DRIVER : AUTHORITY_LOG]
	};
	struct xid_line line;
	size_t offset = 0;

	if (xid_line_next(from.text, from.len, &offset, &line))
		fault_events_add_fault(a->events, &line, &from, proved);
}

/* Decides about one to which nothing else has come, but may after all. */
static void judge_part(struct fault_authority *a, struct part *part)
{
	struct part p = remove_part(a, part), text;
	bool report = p.kind == PART_REPORT;
	bool proved = report || (p.fits && log_decides(a, p.time_ns));
	/* Its text came just before a boundary. */
	bool counted = report && take_part(a, p.line, PART_BY_LOG, p.time_ns - AT_ONCE_NS, &text);

	if (!counted && (report || (p.kind == PART_TEXT && proved)))
		*ARRAY_APPEND(a->parts, a->part_count) =
			part_of(p.line, report ? PART_COUNTED : PART_BY_LOG, report, p.time_ns);
	if (!counted && p.text)
		count_part(a, &p, p.text, proved);
	free(p.text);
}

static void keep_part(struct fault_authority *a, struct part part)
{
	while (a->part_count >= MAX_PARTS) /* a report is kept once more */
		judge_part(a, a->parts);
	*ARRAY_APPEND(a->parts, a->part_count) = part;
}

/* Whether what else may come of it has had its time. The log has been read, about, to @log_ns. */
static bool is_over(const struct fault_authority *a, const struct part *p, uint64_t log_ns,
		    uint64_t now_ns)
{
	if (now_ns == UINT64_MAX)
		return true;
	if (p->kind == PART_TEXT)
		return now_ns >= p->read_ns + REPORT_WAIT_NS || log_decides(a, p->time_ns);
	if (p->kind == PART_REPORT)
		return p->time_ns < a->all_read_ns || now_ns >= p->time_ns + TEXT_WAIT_NS;
	return p->time_ns + CLOCK_ERROR_NS < log_ns;
}

/* The next part that is over; NULL: none. Reports are first: the text of one may be over as well. */
static struct part *next_over(struct fault_authority *a, uint64_t log_ns, uint64_t now_ns)
{
	struct part *report = ARRAY_FIND(x, a->parts, a->part_count,
					 x->kind == PART_REPORT && is_over(a, x, log_ns, now_ns));

	return report ?: ARRAY_FIND(x, a->parts, a->part_count, is_over(a, x, log_ns, now_ns));
}

static void judge_parts(struct fault_authority *a, uint64_t log_ns, uint64_t now_ns)
{
	struct part *p;

	while ((p = next_over(a, log_ns, now_ns)))
		judge_part(a, p);
}

void fault_authority_expire(struct fault_authority *a, uint64_t now_ns)
{
	kernel_report_expire(a->events, now_ns);
	judge_parts(a, 0, now_ns);
}

/* ---- intervals ---- */

void fault_authority_gap(struct fault_authority *a, enum fault_authority_kind kind, uint64_t end_ns)
{
	if (kind != a->in_force)
		return;
	RAISE(a->sure_ns, end_ns);
	judge_parts(a, 0, 0); /* before a later report is taken for one that was lost */
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
}

/* ---- the driver: a report and a text, in whichever order they are read ---- */

static void count_both(struct fault_authority *a, struct part *report, struct part *text)
{
	count_part(a, report, text->text, true);
	free(report->text);
	free(text->text);
}

/* As take_part(), for a text and a report. Near a boundary and in a gap a text may have no report: it does not take a later
 * one, whose text comes. */
static bool take_pair(struct fault_authority *a, const struct part *p, enum part_kind kind,
		      struct part *taken)
{
	bool near = log_decides(a, p->time_ns);
	struct part *q = NULL;

	/* The first, but of reports the first after the text. */
	ARRAY_EACH(x, a->parts, a->part_count)
		if (x->line == p->line && x->kind == kind && (x->fits || kind != PART_TEXT) &&
		    (log_decides(a, x->time_ns) == near || (p->kind == PART_TEXT) != near) &&
		    (!q ||
		     (p->kind == PART_TEXT && q->time_ns < p->time_ns && x->time_ns >= p->time_ns)))
			q = x;
	if (q)
		*taken = remove_part(a, q);
	return q;
}

void fault_authority_report(struct fault_authority *a, const struct driver_report *r)
{
	struct part report = part_of(xid_hash(r->device, r->code), PART_REPORT, false, r->time_ns),
		    other;
	char text[64];

	if (a->in_force != AUTHORITY_DRIVER ||
	    (log_decides(a, r->time_ns) && take_part(a, report.line, PART_BY_LOG, 0, &other)))
		return;
	snprintf(text, sizeof(text), "NVRM: Xid (PCI:%s): %u", r->device, r->code);
	report.text = strdup(text);
	if (take_pair(a, &report, PART_TEXT, &other))
		count_both(a, &report, &other);
	else
		keep_part(a, report);
}

/* ---- the hook ---- */

/* Messages that the hook saw and another than the driver printed, whose records have not been read. */
static size_t count_of_others(const struct fault_authority *a)
{
	size_t n = 0;

	ARRAY_EACH(p, a->parts, a->part_count)
		n += p->kind == PART_COUNTED && !p->fits;
	return n;
}

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
	if (!driver && count_of_others(a) >= MAX_OF_OTHERS)
		return;
	while (xid_line_next(r.text, r.len, &offset, &line)) {
		keep_part(a, part_of(fault_hash(&line), PART_COUNTED, driver, e->time));
		fault_events_add_fault(a->events, &line, &r,
				       driver && form_of_call(r.text, r.len, line.header));
	}
	for (offset = 0; kernel_line_next(r.text, r.len, &offset, &other);) {
		if (other.proof != KERNEL_LINE_BY_DRIVER)
			continue;
		keep_part(a, part_of(text_hash(other.text, other.text_len), PART_COUNTED, driver,
				     e->time));
		if (driver && form_of_call(r.text, r.len, other.text))
			fault_events_add_line(a->events, e->time, &other);
	}
}

/* ---- the log ---- */

struct text {
	struct fault_report from;
	const struct kmsg_record *record;
	enum record_age age;
	uint64_t read_ns;
};

/* Whether the hook has counted that line. */
static bool is_counted(struct fault_authority *a, uint32_t line)
{
	struct part counted;

	if (take_part(a, line, PART_COUNTED, 0, &counted))
		return true;
	a->drain(a->context);
	return take_part(a, line, PART_COUNTED, 0, &counted);
}

/* The driver's report may have come, or come in a moment. Near a boundary and in a gap the text does not wait for it. */
static void add_reported_xid(struct fault_authority *a, const struct text *t,
			     const struct xid_line *line, bool fits)
{
	struct part text = part_of(xid_hash(line->pci, line->code), PART_TEXT, fits,
				   t->from.time_ns),
		    other;

	if (a->part_count >= MAX_PARTS)
		a->drain(a->context);
	if (take_pair(a, &text, PART_COUNTED, &other))
		return;
	text.read_ns = t->read_ns;
	text.text =
		strndup(line->header, (size_t)(line->message + line->message_len - line->header));
	if (fits && take_pair(a, &text, PART_REPORT, &other)) {
		count_both(a, &other, &text);
		return;
	}
	keep_part(a, text);
	if (!log_decides(a, t->from.time_ns))
		return;
	a->drain(a->context);
	judge_parts(a, 0, 0);
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
	uint64_t time_ns = record_time(a, record, age == RECORD_BEFORE_START, now_ns);
	const struct text t = {
		.from = { text, record->text_len, time_ns, fault_authority_names[AUTHORITY_LOG],
			  NULL, 0 },
		.record = record,
		.age = age,
		.read_ns = now_ns,
	};
	struct kernel_line other;
	struct xid_line line;
	size_t offset = 0;

	if (record->facility && !a->accept_user_kmsg) {
		count_forged(a, &t.from);
		return;
	}
	if (a->part_count && is_over(a, a->parts, t.from.time_ns, 0))
		judge_parts(a, t.from.time_ns, 0);
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
	judge_parts(a, ns, 0);
}

/* ---- its state ---- */

bool fault_authority_crowded(const struct fault_authority *a)
{
	return a->part_count >= MAX_PARTS / 2;
}

bool fault_authority_settled(const struct fault_authority *a)
{
	return !a->events->report.kind && !ARRAY_FIND(p, a->parts, a->part_count, p->fits);
}

void fault_authority_free(struct fault_authority *a)
{
	ARRAY_EACH(p, a->parts, a->part_count)
		free(p->text);
	free(a->parts);
}
