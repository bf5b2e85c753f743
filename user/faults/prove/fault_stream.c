// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one event of each fault, whichever and however many ways it is reported on. */
#include "faults/prove/parts.h"

#include "xid/xid_line.h"

/* The log has its records in the order of their times, except for those that are printed at the same time. */
#define PRINTK_ORDER_NS 100000000ull

/* ---- the text and the driver's report of one fault ---- */

/* Counts what a pending text has, as a fault if @proved. */
static void count_pending(struct fault_stream *s, const struct fault_report *report, bool proved)
{
	struct fault_origin origin = { .time_ns = report->time_ns, .path = "text" };
	size_t len = strlen(report->message), offset = 0;
	struct xid_line line;

	if (!xid_line_next(report->message, len, &offset, &line))
		return;
	if (proved)
		fault_events_add_fault(s->events, &line, &origin, report->message, len);
	else
		fault_events_add_unverified(s->events, &line, &origin, report->message, len);
}

/* A text without the driver's report, of @count that are equal. */
static void count_text_alone(struct fault_stream *s, const struct fault_report *report,
			     uint64_t count)
{
	bool lost =
		s->reports_lost_ns && s->reports_lost_ns + FAULT_PAIR_WAIT_NS >= report->arrived_ns;
	bool proved = report->likely && (lost || !s->reports_expected);

	if (!report->pending || proved)
		s->events->faults->counts.fault_paths[FAULT_PATH_TEXT] += count;
	for (uint64_t i = 0; report->pending && i < count; i++)
		count_pending(s, report, proved);
}

/* Counts the fault that the driver reported. */
static void count_report(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code,
				 .gpu_instance = -1,
				 .compute_instance = -1,
				 .pid = -1 };
	struct fault_origin origin = { .time_ns = report->time_ns, .path = "driver" };
	size_t len = strlen(report->message);

	snprintf(line.pci, sizeof(line.pci), "%s", report->device);
	xid_line_read_message(&line, report->message, len);
	fault_events_add_fault(s->events, &line, &origin, report->message, len);
}

/* Both reports of a fault: @report, and the one that has waited. */
static void count_both(struct fault_stream *s, const struct fault_report *report)
{
	const struct fault_report *other = &s->pairs.taken;
	const struct fault_report *text = report->by_driver ? other : report;

	s->events->faults->counts.fault_paths[FAULT_PATH_BOTH]++;
	if (!text->pending)
		return;
	/* Unproven text must not set severity or recovery. */
	if (text->likely)
		count_pending(s, text, true);
	else
		count_report(s, report->by_driver ? report : other);
}

/* Counts a report that has waited in vain: the fault of a proved text is counted already, the driver's is not. */
static void count_alone(struct fault_stream *s, const struct fault_report *report)
{
	uint64_t count = 1 + report->more;

	while (count && fault_pairs_take(&s->pairs, report, true)) {
		count_both(s, report);
		count--;
	}
	if (!count)
		return;
	if (!report->by_driver) {
		count_text_alone(s, report, count);
		return;
	}
	s->events->faults->counts.fault_paths[FAULT_PATH_DRIVER] += count;
	for (uint64_t i = 0; i < count; i++)
		count_report(s, report);
}

/* Where too many wait, the oldest ends its wait: an unproven one, or else
 * in a storm, where the driver's report may be behind what was read so far. */
static void make_room(struct fault_stream *s, uint64_t now_ns)
{
	struct fault_report oldest;

	if (!fault_pairs_take_doubtful(&s->pairs, &oldest)) {
		fault_pairs_expire(&s->pairs, 0, true, &oldest);
		s->reports_lost_ns = now_ns;
	}
	count_alone(s, &oldest);
}

/* Pairs the report with its other one, or makes it wait. */
static void pair(struct fault_stream *s, const struct fault_report *report)
{
	int found = fault_pairs_add(&s->pairs, report);

	if (found == -ENOSPC) {
		make_room(s, report->arrived_ns);
		found = fault_pairs_add(&s->pairs, report);
	}
	if (found > 0)
		count_both(s, report);
	else if (found < 0)
		count_alone(s, report);
}

/* A text whose fault is counted, or pending: @report has what pair() needs. */
static void pair_text(struct fault_stream *s, const struct fault_report *report, uint64_t time_ns)
{
	if (time_ns >= s->events->enabled_ns[report->nvswitch ? SIGNAL_SXID : SIGNAL_XID])
		pair(s, report);
	/* No report will come, but since the start one may have come: the driver may have been unloaded since. */
	else if (time_ns >= s->events->started_ns && fault_pairs_take(&s->pairs, report, true))
		count_both(s, report);
	else if (report->pending && report->likely) {
		s->events->faults->counts.fault_paths[FAULT_PATH_TEXT]++;
		count_pending(s, report, true);
	} else
		count_alone(s, report);
}

static void set_pending(struct fault_report *report, const struct xid_line *line, bool likely)
{
	const char *end = line->message + line->message_len;

	report->pending = true;
	report->likely = likely;
	snprintf(report->message, sizeof(report->message), "%.*s", (int)(end - line->header),
		 line->header);
}

/* Counts what one header in a text stands for. */
static void count_header(struct fault_stream *s, const struct fault_origin *origin,
			 const struct xid_line *line, const struct provenance *p, uint64_t now_ns)
{
	struct fault_report report = { .nvswitch = line->kind == XID_LINE_SXID,
				       .code = line->code,
				       .arrived_ns = now_ns,
				       .time_ns = origin->time_ns };

	snprintf(report.device, sizeof(report.device), "%s", line->pci);
	switch (provenance_origin(p, line->header, line->header_len)) {
	case PRINTK_ORIGIN_DRIVER:
		if (provenance_begins_call(p, line->header)) {
			fault_events_add_fault(s->events, line, origin, p->text, p->len);
			break;
		}
		/* The driver prints each Xid by a call of its own, as far as is known. */
		set_pending(&report, line, true);
		break;
	case PRINTK_ORIGIN_OTHER:
		fault_events_add_unverified(s->events, line, origin, p->text, p->len);
		return;
	case PRINTK_ORIGIN_UNKNOWN:
		set_pending(&report, line, provenance_likely(p, line->header, report.nvswitch));
		break;
	}
	pair_text(s, &report, origin->time_ns);
}

/* Counts the lines of a text's part that are no faults. */
static void count_lines(struct fault_stream *s, const struct fault_origin *origin,
			const struct provenance *p, size_t begin, size_t end)
{
	struct kernel_line line;

	while (kernel_line_next(p->text, end, &begin, &line))
		/* It repeats an Xid, which may be still to be confirmed. */
		if (!(line.follows_xid &&
		      fault_pairs_pending(&s->pairs, line.device, line.follows_xid)) &&
		    ((p->record && p->record->facility) || provenance_accepts(p, &line)))
			fault_events_add_line(s->events, origin->time_ns, &line);
}

/* Counts the faults of a text, and what else it has. */
static void count_text(struct fault_stream *s, const struct fault_origin *origin,
		       const struct provenance *p, uint64_t now_ns)
{
	size_t begin = 0, end, offset = 0;
	struct xid_line line;

	while (xid_line_next(p->text, p->len, &offset, &line))
		if (line.kind != XID_LINE_SXID_DETAIL)
			count_header(s, origin, &line, p, now_ns);
	/* A line ends with the driver's call: the text after it is unproven. */
	for (; begin < p->len; begin = end) {
		end = provenance_next_call(p, begin);
		count_lines(s, origin, p, begin, end);
	}
}

void fault_stream_report(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code };
	struct fault_report driver = *report;

	/* A detail has the code of its fault, but is none: it must not be paired with the text of the next fault. */
	xid_line_read_message(&line, report->message, strlen(report->message));
	if (line.kind == XID_LINE_SXID_DETAIL)
		return;
	driver.by_driver = true;
	driver.more = 0;
	pair(s, &driver);
}

/* ---- the printk hook's messages and the log's records ---- */

/* A message that has no record in the log counts without. */
static void count_message(struct fault_stream *s, const struct printk_waiting *w, uint64_t now_ns)
{
	struct fault_origin origin = { w->event->time, "text", w->event->comm, (int)w->event->pid };
	const struct printk_pieces whole = { { { 0, w->event->len, w->origin } }, 1 };
	const struct provenance p = { .text = w->event->text,
				      .len = w->event->len,
				      .pieces = &whole };

	count_text(s, &origin, &p, now_ns);
}

/* Whether the message's record may be in the part of the log that was not read yet. */
static bool is_unread(const struct fault_stream *s, const struct printk_event *e)
{
	return s->read_to_ns && e->time + PRINTK_ORDER_NS >= s->read_to_ns;
}

/* Where there is no room, the oldest message leaves; first those of others, whose
 * records are known by having none. Of these few wait, because each record is compared with all.
 * False: there is no room for it, as only the driver's wait and it is not the driver's. */
static bool make_room_for_message(struct fault_stream *s, enum printk_origin origin,
				  uint64_t now_ns)
{
	bool full = s->printk.count == MAX_PRINTK_WAITING;
	const struct printk_waiting *oldest;
	size_t i = s->printk.count, others = 0;

	if (!full && origin != PRINTK_ORIGIN_OTHER)
		return true;
	while (i--)
		others += s->printk.list[i].origin == PRINTK_ORIGIN_OTHER;
	if (!full && others < MAX_OTHERS_WAITING)
		return true;
	for (i = 0; others && s->printk.list[i].origin != PRINTK_ORIGIN_OTHER;)
		i++;
	oldest = &s->printk.list[i];
	if (!is_unread(s, oldest->event)) {
		count_message(s, oldest, now_ns);
	} else if (!others && origin == PRINTK_ORIGIN_OTHER) {
		s->others_crowded++;
		return false;
	} else if (oldest->origin == PRINTK_ORIGIN_OTHER) {
		s->others_crowded++;
	} else {
		s->crowded++;
		RAISE(s->gap_ns, oldest->event->time);
	}
	printk_queue_remove(&s->printk, i);
	return true;
}

void fault_stream_message(struct fault_stream *s, const struct printk_event *event,
			  enum printk_origin origin, uint64_t now_ns)
{
	if (!make_room_for_message(s, origin, now_ns) ||
	    printk_queue_add(&s->printk, event, origin, now_ns))
		return;
	s->crowded++;
	RAISE(s->gap_ns, event->time);
}

static void count_forged(struct fault_stream *s, const struct fault_origin *origin,
			 const char *text, size_t len)
{
	struct xid_line line;
	size_t offset = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		struct fault_signal_report signal = { .kind = "forged_xid",
						      .device = "",
						      .time_ns = origin->time_ns,
						      .pid = origin->printed_pid,
						      .comm = origin->printed_by,
						      .text = text,
						      .text_len = len };

		if (line.kind != XID_LINE_SXID_DETAIL)
			fault_events_add_signal(s->events, &signal);
	}
}

void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 enum record_age age, uint64_t now_ns)
{
	size_t len = record->text_len;
	bool before_start = age == RECORD_BEFORE_START;
	struct printk_pieces calls = {};
	/* Where such records count, they are taken for the driver's. */
	bool by_process = record->facility && !s->accept_user_kmsg;
	/* A message of the same text is that of a later record. */
	struct printk_event *printk =
		age == RECORD_NEW ? printk_queue_take(&s->printk, text, len, by_process, &calls) :
				    NULL;
	struct provenance p = { .text = text, .len = len, .record = record, .pieces = &calls };
	uint64_t log_ns = record->time_us * 1000;
	int64_t time_ns = (int64_t)log_ns + s->log_offset_ns;
	/* Where the clocks differ, the first records may seem to be from before the boot. */
	struct fault_origin origin = { time_ns > 0 ? (uint64_t)time_ns : 0, "text",
				       printk ? printk->comm : NULL,
				       printk ? (int)printk->pid : -1 };

	/* Both clocks at one moment; but a console's is the moment of its output, which may be much later, as may a
	 * continuation be. A user's may be that of another record of the same text. */
	if (printk && printk->len <= len && !memcmp(printk->text, text, printk->len)) {
		origin.time_ns = printk->time;
		if (calls.list[0].origin != PRINTK_ORIGIN_OTHER)
			s->log_offset_ns = (int64_t)(printk->time - log_ns);
	} else if (!before_start && origin.time_ns < s->all_read_ns) {
		/* The clocks drift apart, by up to seconds a day. Records keep their order. */
		s->log_offset_ns += (int64_t)(s->all_read_ns - origin.time_ns);
		origin.time_ns = s->all_read_ns;
	} else if (!before_start && origin.time_ns > now_ns) {
		s->log_offset_ns -= (int64_t)(origin.time_ns - now_ns);
	}
	LOWER(origin.time_ns, now_ns);
	if (before_start && origin.time_ns >= s->events->started_ns)
		origin.time_ns = s->events->started_ns - 1;
	s->read_to_ns = origin.time_ns;
	if (before_start && printk_marked(text, len) &&
	    fault_events_counted(s->events, origin.time_ns))
		return;
	p.all_known = age == RECORD_NEW && s->origins_ns != UINT64_MAX &&
		      origin.time_ns >= s->origins_ns + PRINTK_ORDER_NS &&
		      (!s->gap_ns || origin.time_ns > s->gap_ns + PRINTK_ORDER_NS);
	if (by_process)
		count_forged(s, &origin, text, len);
	else
		count_text(s, &origin, &p, now_ns);
	free(printk);
}

/* ---- what has waited ---- */

void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all)
{
	struct fault_report report;
	size_t old = 0;

	while (old < s->printk.count &&
	       (all || now_ns >= s->printk.list[old].arrived_ns + PRINTK_WAIT_NS))
		old++;
	while (old && all && is_unread(s, s->printk.list[old - 1].event))
		old--;
	for (; old; old--) {
		count_message(s, &s->printk.list[0], now_ns);
		printk_queue_remove(&s->printk, 0);
	}
	while (fault_pairs_expire(&s->pairs, now_ns, all, &report))
		count_alone(s, &report);
}

/* ---- its state ---- */

struct fault_stream *fault_stream_new(struct fault_events *events, bool accept_user_kmsg)
{
	struct fault_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->events = events;
	s->accept_user_kmsg = accept_user_kmsg;
	s->origins_ns = UINT64_MAX;
	return s;
}

void fault_stream_all_read(struct fault_stream *s, uint64_t ns)
{
	s->all_read_ns = ns;
}

void fault_stream_log_closed(struct fault_stream *s)
{
	s->read_to_ns = 0;
}

void fault_stream_log_offset(struct fault_stream *s, int64_t ns)
{
	s->log_offset_ns = ns;
}

void fault_stream_reports_expected(struct fault_stream *s, bool expected)
{
	s->reports_expected = expected;
}

void fault_stream_reports_lost(struct fault_stream *s, uint64_t ns)
{
	s->reports_lost_ns = ns;
}

void fault_stream_snapshot(const struct fault_stream *s, struct self *self)
{
	snapshot_drop(self, "printk_crowded", s->crowded);
}

void fault_stream_free(struct fault_stream *s)
{
	if (!s)
		return;
	printk_queue_free(&s->printk);
	fault_pairs_free(&s->pairs);
	free(s);
}
