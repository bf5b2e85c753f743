// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one event of each fault, whichever and however many ways it is reported on. */
#include "faults/fault_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xid/xid_line.h"

/* While records are forged, messages without a record may be forged, too. */
#define FORGED_NEARBY_NS (10 * 1000000000ull)

/* The log has its records in the order of their times, except for those that
 * are printed at the same time. */
#define PRINTK_ORDER_NS 100000000ull

/* ---- the text and the driver's report of one fault ---- */

/* Counts a report that has no other one: the fault of a text is counted already,
 * the driver's is not. */
static void count_alone(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code,
				 .gpu_instance = -1,
				 .compute_instance = -1,
				 .pid = -1 };
	struct fault_origin origin = { .time_ns = report->time_ns, .path = "driver" };
	uint64_t *paths = s->events.faults->counts.fault_paths;
	size_t len = strlen(report->message);

	if (!report->by_driver) {
		paths[FAULT_PATH_TEXT] += 1 + report->more;
		return;
	}
	snprintf(line.pci, sizeof(line.pci), "%s", report->device);
	xid_line_read_message(&line, report->message, len);
	paths[FAULT_PATH_DRIVER] += 1 + report->more;
	for (uint64_t i = 0; i <= report->more; i++)
		fault_events_add_fault(&s->events, &line, &origin, report->message, len);
}

/* Pairs the report with its other one, or makes it wait; where too many wait, the
 * oldest counts alone. */
static void pair(struct fault_stream *s, const struct fault_report *report)
{
	struct fault_report oldest;
	int found = fault_pairs_add(&s->pairs, report);

	if (found == -ENOSPC && fault_pairs_expire(&s->pairs, 0, true, &oldest)) {
		count_alone(s, &oldest);
		found = fault_pairs_add(&s->pairs, report);
	}
	if (found > 0)
		s->events.faults->counts.fault_paths[FAULT_PATH_BOTH]++;
	else if (found < 0)
		count_alone(s, report);
}

static void pair_text(struct fault_stream *s, const struct xid_line *line, uint64_t time_ns,
		      uint64_t now_ns)
{
	struct fault_report report = { .nvswitch = line->kind == XID_LINE_SXID,
				       .code = line->code,
				       .arrived_ns = now_ns };
	uint64_t enabled = s->events.enabled_ns[report.nvswitch ? SIGNAL_SXID : SIGNAL_XID];

	snprintf(report.device, sizeof(report.device), "%s", line->pci);
	if (time_ns >= enabled)
		pair(s, &report);
	/* No report will come, but one may have come: the driver may have been
	 * unloaded since. */
	else if (fault_pairs_take(&s->pairs, &report))
		s->events.faults->counts.fault_paths[FAULT_PATH_BOTH]++;
	else
		count_alone(s, &report);
}

/* Counts the faults of a text; returns how many there were. */
static int count_faults(struct fault_stream *s, const struct fault_origin *origin, const char *text,
			size_t len, uint64_t now_ns)
{
	struct xid_line line;
	size_t offset = 0;
	int count = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		if (line.kind == XID_LINE_SXID_DETAIL)
			continue;
		fault_events_add_fault(&s->events, &line, origin, text, len);
		pair_text(s, &line, origin->time_ns, now_ns);
		count++;
	}
	return count;
}

void fault_stream_driver(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code };
	struct fault_report driver = *report;

	/* A detail has the code of its fault, but is none: it must not be paired
	 * with the text of the next fault. */
	xid_line_read_message(&line, report->message, strlen(report->message));
	if (line.kind == XID_LINE_SXID_DETAIL)
		return;
	driver.by_driver = true;
	driver.more = 0;
	pair(s, &driver);
}

/* ---- the printk hook's messages and the log's records ---- */

/* The oldest @count messages have no record in the log: they count without. */
static void count_messages(struct fault_stream *s, size_t count, uint64_t now_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct printk_waiting *w = &s->printk.list[i];
		struct fault_origin origin = { w->event->time, "text", w->event->comm };

		if (s->forged_ns && !s->accept_user_kmsg &&
		    w->arrived_ns < s->forged_ns + FORGED_NEARBY_NS)
			s->unverified++;
		else
			count_faults(s, &origin, w->event->text, w->event->len, now_ns);
	}
	printk_queue_drop(&s->printk, count);
}

/* Whether the message's record may be in the part of the log that was not read yet. */
static bool is_unread(const struct fault_stream *s, const struct printk_event *e)
{
	return s->read_to_ns && e->time + PRINTK_ORDER_NS >= s->read_to_ns;
}

void fault_stream_printk(struct fault_stream *s, const struct printk_event *event, uint64_t now_ns)
{
	/* Where there is no room, the oldest leaves. */
	if (s->printk.count == MAX_PRINTK_WAITING) {
		if (is_unread(s, s->printk.list[0].event)) {
			s->unverified++;
			printk_queue_drop(&s->printk, 1);
		} else {
			count_messages(s, 1, now_ns);
		}
	}
	printk_queue_add(&s->printk, event, now_ns);
}

/* @pid is of the task @origin->printed_by. */
static void count_forged(struct fault_stream *s, const struct fault_origin *origin, int pid,
			 const char *text, size_t len, uint64_t now_ns)
{
	struct xid_line line;
	size_t offset = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		struct fault_signal_report signal = { .kind = "forged_xid",
						      .device = line.pci,
						      .time_ns = origin->time_ns,
						      .pid = pid,
						      .comm = origin->printed_by,
						      .text = text,
						      .text_len = len };

		s->forged_ns = now_ns;
		if (line.kind != XID_LINE_SXID_DETAIL)
			fault_events_add_signal(&s->events, &signal);
	}
}

void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 uint64_t now_ns)
{
	size_t len = record->text_len;
	struct printk_event *printk = printk_queue_take(&s->printk, text, len);
	uint64_t log_ns = record->time_us * 1000;
	int64_t time_ns = (int64_t)log_ns + s->log_offset_ns;
	/* Where the clocks differ, the first records may seem to be from before the boot. */
	struct fault_origin origin = { time_ns > 0 ? (uint64_t)time_ns : 0, "text",
				       printk ? printk->comm : NULL };

	/* Both clocks at one moment; but a console's is the moment of its output,
	 * which may be much later, as may a continuation be. */
	if (printk && printk->len <= len && !memcmp(printk->text, text, printk->len)) {
		origin.time_ns = printk->time;
		s->log_offset_ns = (int64_t)(printk->time - log_ns);
	}
	if (origin.time_ns > now_ns)
		origin.time_ns = now_ns;
	s->read_to_ns = origin.time_ns;
	if (record->facility && !s->accept_user_kmsg)
		count_forged(s, &origin, printk ? (int)printk->pid : -1, text, len, now_ns);
	else if (!count_faults(s, &origin, text, len, now_ns))
		fault_events_add_lines(&s->events, origin.time_ns, text, len);
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
	count_messages(s, old, now_ns);
	while (fault_pairs_expire(&s->pairs, now_ns, all, &report))
		count_alone(s, &report);
}

void fault_stream_free(struct fault_stream *s)
{
	printk_queue_free(&s->printk);
	fault_pairs_free(&s->pairs);
}
