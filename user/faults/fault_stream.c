// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes one event of each fault, whichever and however many ways it is reported on. */
#include "faults/fault_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/kernel_line.h"
#include "base/label.h"
#include "xid/xid_catalog.h"
#include "xid/xid_details.h"
#include "xid/xid_line.h"

/* While records are forged, what only the printk hook saw may be, too. */
#define FORGED_NEARBY_NS (10 * 1000000000ull)

/* Records stand in the log in the order of their times, but for those that are
 * printed at the same time. */
#define PRINTK_ORDER_NS 100000000ull

/* The line "fallen off the bus" tells of the Xid 79 just before it again. */
#define FOLLOWS_SECONDS 60.0

/* A driver that is loaded tells of no recovery if a fault came just before. */
#define LOADED_WELL_SECONDS 5.0

/* Where and when a text was printed. */
struct origin {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const struct printk_event *printk; /* NULL: the hook did not see it */
};

static double wall(const struct fault_stream *s, uint64_t time_ns)
{
	double time = s->wall_offset + (double)time_ns / 1e9;

	/* The clock may be set to a time before that of the boot. */
	return time > 0 ? time : 0;
}

/* From the log's clock; where the two differ, what was printed as the kernel
 * started may seem to be from before that. */
static uint64_t from_log(const struct fault_stream *s, uint64_t log_ns)
{
	int64_t time_ns = (int64_t)log_ns + s->log_offset_ns;

	return time_ns > 0 ? (uint64_t)time_ns : 0;
}

static void no_memory(const struct fault_stream *s)
{
	log_error(s->log, "no memory to count a fault");
}

static void set(char *to, size_t size, const char *from)
{
	label_from_bytes(to, size, from, strlen(from));
}

#define SET(to, from) set(to, sizeof(to), from)

static struct event new_event(const struct fault_stream *s, const char *kind, uint64_t time_ns)
{
	return (struct event){ .kind = kind,
			       .pid = -1,
			       .replayed = time_ns < s->started_ns,
			       .time = wall(s, time_ns),
			       .monotonic_ns = time_ns,
			       .members = "",
			       .text = "" };
}

static void add_identity(struct fault_stream *s, struct event *event)
{
	const struct snapshot *known = &s->faults->counts;

	for (size_t i = 0; i < known->gpu_count; i++)
		if (!strcmp(known->gpus[i].gpu, event->device))
			SET(event->uuid, known->gpus[i].uuid);
}

/* Counts one fault and tells of it; the paths are counted elsewhere. */
static void count_fault(struct fault_stream *s, const struct xid_line *line,
			const struct origin *origin, const char *path, const char *text, size_t len)
{
	bool nvswitch = line->kind == XID_LINE_SXID;
	struct xid_verdict verdict = xid_policy_verdict(s->policy, line);
	struct event event = new_event(s, nvswitch ? "sxid" : "xid", origin->time_ns);
	struct fault like = { .code = line->code, .nvswitch = nvswitch };
	char *members = NULL, related[1024] = "";
	size_t size = 0;
	FILE *out;

	SET(like.device, line->pci);
	SET(like.severity, verdict.severity);
	SET(like.action, verdict.action);
	if (faults_add(s->faults, &like, event.time))
		no_memory(s);
	if (!nvswitch && line->code == XID_RECOVERY_ACTION && !strcmp(line->recovery, "None") &&
	    faults_recovered(s->faults, like.device, "action_none", event.time))
		no_memory(s);

	event.code = line->code;
	SET(event.device, like.device);
	SET(event.severity, like.severity);
	SET(event.action, like.action);
	event.text = text;
	event.text_len = len;
	event.path = path;
	event.pid = line->pid;
	SET(event.comm, line->process);
	if (origin->printk)
		SET(event.printed_by, origin->printk->comm);
	if (!nvswitch) {
		SET(event.name, xid_catalog_find(line->code)->mnemonic);
		add_identity(s, &event);
		pcie_relatives_add(&s->relatives, like.device, line->code, origin->time_ns, related,
				   sizeof(related));
	}
	out = open_memstream(&members, &size);
	if (out) {
		xid_details_write(out, line);
		fputs(related, out);
		if (!fclose(out))
			event.members = members;
	}
	event_log_add(s->events, &event);
	free(members);
}

/* A report without a twin: the text is counted already, the driver's is not. */
static void stand_alone(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code,
				 .gpu_instance = -1,
				 .compute_instance = -1,
				 .pid = -1 };
	struct origin origin = { .time_ns = report->time_ns };
	size_t len = strlen(report->message);

	if (!report->by_driver) {
		s->faults->counts.fault_paths[FAULT_PATH_TEXT] += 1 + report->more;
		return;
	}
	snprintf(line.pci, sizeof(line.pci), "%s", report->device);
	xid_line_read_message(&line, report->message, len);
	s->faults->counts.fault_paths[FAULT_PATH_DRIVER] += 1 + report->more;
	for (uint64_t i = 0; i <= report->more; i++)
		count_fault(s, &line, &origin, "driver", report->message, len);
}

/* Looks for the report's twin, or lets it wait; where too many wait, the oldest
 * stands alone. */
static void pair(struct fault_stream *s, const struct fault_report *report)
{
	struct fault_report oldest;
	int found = fault_pairs_add(&s->pairs, report);

	if (found == -ENOSPC && fault_pairs_expire(&s->pairs, 0, true, &oldest)) {
		stand_alone(s, &oldest);
		found = fault_pairs_add(&s->pairs, report);
	}
	if (found > 0)
		s->faults->counts.fault_paths[FAULT_PATH_BOTH]++;
	else if (found < 0)
		stand_alone(s, report);
}

static void pair_text(struct fault_stream *s, const struct xid_line *line,
		      const struct origin *origin, uint64_t now_ns)
{
	struct fault_report report = { .nvswitch = line->kind == XID_LINE_SXID,
				       .code = line->code,
				       .arrived_ns = now_ns };
	uint64_t since = s->hook_since_ns[report.nvswitch ? SIGNAL_SXID : SIGNAL_XID];

	SET(report.device, line->pci);
	if (origin->time_ns >= since)
		pair(s, &report);
	/* It need not be waited for, but may be there: the driver may have been
	 * unloaded since. */
	else if (fault_pairs_take(&s->pairs, &report))
		s->faults->counts.fault_paths[FAULT_PATH_BOTH]++;
	else
		stand_alone(s, &report);
}

/* Counts what a text tells; returns how many faults there were. */
static int count_faults(struct fault_stream *s, const struct origin *origin, const char *text,
			size_t len, uint64_t now_ns)
{
	struct xid_line line;
	size_t offset = 0;
	int count = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		if (line.kind == XID_LINE_SXID_DETAIL)
			continue;
		count_fault(s, &line, origin, "text", text, len);
		pair_text(s, &line, origin, now_ns);
		count++;
	}
	return count;
}

/* ---- other lines ---- */

static void add_signal(struct fault_stream *s, bool gpu_driver, const struct signal_report *signal)
{
	struct event event =
		new_event(s, gpu_driver ? "gpu_driver_error" : "kernel_event", signal->time_ns);
	char related[1024];

	if (faults_add_kernel_event(s->faults, gpu_driver, signal->kind, signal->device,
				    event.time))
		no_memory(s);
	SET(event.name, signal->kind);
	SET(event.device, signal->device);
	SET(event.severity, signal->severity ? signal->severity : "");
	event.pid = signal->pid;
	SET(event.comm, signal->comm ? signal->comm : "");
	event.text = signal->text ? signal->text : "";
	event.text_len = signal->text_len;
	if (gpu_driver)
		add_identity(s, &event);
	if (!strcmp(signal->kind, "pcie_aer")) {
		pcie_relatives_add(&s->relatives, signal->device, 0, signal->time_ns, related,
				   sizeof(related));
		event.members = related;
	}
	event_log_add(s->events, &event);
}

static const struct {
	const char *kind;
	enum watched_signal signal;
} with_tracepoint[] = {
	{ "pcie_aer", SIGNAL_PCIE_AER },
	{ "mce", SIGNAL_MCE },
	{ "oom_kill", SIGNAL_OOM_KILL },
	{ "hung_task", SIGNAL_HUNG_TASK },
};

/* Whether the event's tracepoint was watched when it was printed. */
static bool traced(const struct fault_stream *s, const char *kind, uint64_t time_ns)
{
	for (size_t i = 0; i < sizeof(with_tracepoint) / sizeof(*with_tracepoint); i++)
		if (!strcmp(kind, with_tracepoint[i].kind))
			return time_ns >= s->hook_since_ns[with_tracepoint[i].signal];
	return false;
}

static void count_line(struct fault_stream *s, const struct kernel_line *line,
		       const struct origin *origin)
{
	const struct signal_report signal = { .kind = line->name,
					      .device = line->device,
					      .severity = line->severity,
					      .time_ns = origin->time_ns,
					      .pid = -1,
					      .text = line->text,
					      .text_len = line->text_len };
	double time = wall(s, origin->time_ns);
	struct gpu_info *info;
	const char *gpu;

	switch (line->kind) {
	case KERNEL_LINE_NONE:
		break;
	case KERNEL_LINE_GPU_UUID:
		SET(s->last_gpu, line->device);
		info = faults_gpu(s->faults, line->device);
		if (info)
			SET(info->uuid, line->uuid);
		break;
	case KERNEL_LINE_GPU_SERIAL:
		gpu = line->device[0] ? line->device : s->last_gpu;
		info = *gpu ? faults_gpu(s->faults, gpu) : NULL;
		if (info)
			SET(info->serial, line->serial);
		break;
	case KERNEL_LINE_GPU_RATE_LIMITED:
		info = faults_gpu(s->faults, line->device);
		if (info)
			info->rate_limited = true;
		break;
	case KERNEL_LINE_RECOVERY:
		/* A driver that fails as it is loaded says so before it says
		 * that it is loaded. */
		if (!line->device[0] && time - faults_last_of_all(s->faults) < LOADED_WELL_SECONDS)
			break;
		if (faults_recovered(s->faults, line->device[0] ? line->device : "all", line->name,
				     time))
			no_memory(s);
		break;
	case KERNEL_LINE_GPU_DRIVER:
		if (line->follows_xid &&
		    time - faults_last(s->faults, line->device, line->follows_xid) <
			    FOLLOWS_SECONDS)
			break;
		add_signal(s, true, &signal);
		break;
	case KERNEL_LINE_EVENT:
		if (!traced(s, line->name, origin->time_ns))
			add_signal(s, false, &signal);
		break;
	}
}

static void count_lines(struct fault_stream *s, const struct origin *origin, const char *text,
			size_t len)
{
	struct kernel_line line;
	size_t offset = 0;

	while (kernel_line_next(text, len, &offset, &line))
		count_line(s, &line, origin);
}

/* ---- the printk hook's messages ---- */

/* The first @count messages have no record in the log: they count by
 * themselves. */
static void expire_printk(struct fault_stream *s, size_t count, uint64_t now_ns)
{
	for (size_t i = 0; i < count; i++) {
		struct printk_event *e = s->printk[i].event;
		struct origin origin = { e->time, e };

		if (s->forged_ns && !s->accept_user_kmsg &&
		    s->printk[i].arrived_ns < s->forged_ns + FORGED_NEARBY_NS)
			s->unverified++;
		else
			count_faults(s, &origin, e->text, e->len, now_ns);
		free(e);
	}
	s->printk_count -= count;
	memmove(s->printk, s->printk + count, s->printk_count * sizeof(*s->printk));
}

/* Whether the log, as far as it was read, cannot have the message's record. */
static bool is_unread(const struct fault_stream *s, const struct printk_event *e)
{
	return s->read_to_ns && e->time + PRINTK_ORDER_NS >= s->read_to_ns;
}

static void give_up_printk(struct fault_stream *s)
{
	s->unverified++;
	free(s->printk[0].event);
	s->printk_count--;
	memmove(s->printk, s->printk + 1, s->printk_count * sizeof(*s->printk));
}

void fault_stream_printk(struct fault_stream *s, const struct printk_event *event, uint64_t now_ns)
{
	size_t size = sizeof(*event) + event->len;
	struct printk_event *copy;

	if (!s->printk) {
		s->printk = calloc(MAX_PRINTK_WAITING, sizeof(*s->printk));
		s->printk_count = 0;
	}
	if (!s->printk)
		return;
	/* The oldest gives way. If the log is read beyond it, it has no record;
	 * else it may have one that is still to be read. */
	if (s->printk_count == MAX_PRINTK_WAITING) {
		if (is_unread(s, s->printk[0].event))
			give_up_printk(s);
		else
			expire_printk(s, 1, now_ns);
	}
	copy = malloc(size);
	if (!copy)
		return;
	memcpy(copy, event, size);
	s->printk[s->printk_count].arrived_ns = now_ns;
	s->printk[s->printk_count++].event = copy;
}

bool fault_stream_marked(const char *text, size_t len)
{
	return memmem(text, len, "NVRM", 4) || memmem(text, len, "SXid", 4);
}

/*
 * Before Linux 5.19 the hook has what is written to consoles: the whole record,
 * with a time stamp before each of its lines, and a newline at the end.
 */
static bool is_on_console(const struct printk_event *e, const char *text, size_t len)
{
	const char *at = e->text, *end = e->text + e->len;

	if (e->len <= len)
		return false;
	for (;;) {
		const char *newline = memchr(text, '\n', len);
		size_t size = newline ? (size_t)(newline - text) : len;

		at = memmem(at, (size_t)(end - at), text, size);
		if (!at)
			return false;
		at += size;
		if (!newline)
			break;
		text += size + 1;
		len -= size + 1;
	}
	return at == end || (end - at == 1 && *at == '\n');
}

/*
 * Takes out the messages that make up the record: one, or several where it was
 * continued. The hook has the text as it was handed to printk, the record the
 * same without escapes.
 */
static struct printk_event *take_printk(struct fault_stream *s, const char *text, size_t len)
{
	struct printk_event *first = NULL;
	size_t at = 0, kept = 0, i;

	/* A short text without one may be found in any message. */
	if (!s->printk_count || !fault_stream_marked(text, len))
		return NULL;
	for (i = 0; i < s->printk_count && at < len; i++) {
		struct printk_event *e = s->printk[i].event;
		const char *found = NULL;

		if (e->len && e->len <= len - at)
			found = memmem(text + at, len - at, e->text, e->len);
		if (found) {
			at = (size_t)(found - text) + e->len;
		} else if (!at && is_on_console(e, text, len)) {
			at = len;
		} else {
			s->printk[kept++] = s->printk[i];
			continue;
		}
		if (first)
			free(e);
		else
			first = e;
	}
	if (kept < i) {
		memmove(&s->printk[kept], &s->printk[i],
			(s->printk_count - i) * sizeof(*s->printk));
		s->printk_count -= i - kept;
	}
	return first;
}

/* ---- the four ways in and out ---- */

static void count_forged(struct fault_stream *s, const struct origin *origin, const char *text,
			 size_t len, uint64_t now_ns)
{
	struct xid_line line;
	size_t offset = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		struct signal_report signal = { .kind = "forged_xid",
						.device = line.pci,
						.time_ns = origin->time_ns,
						.pid = -1,
						.text = text,
						.text_len = len };

		s->forged_ns = now_ns;
		if (line.kind == XID_LINE_SXID_DETAIL)
			continue;
		if (origin->printk) {
			signal.pid = (int)origin->printk->pid;
			signal.comm = origin->printk->comm;
		}
		add_signal(s, false, &signal);
	}
}

void fault_stream_record(struct fault_stream *s, const struct kmsg_record *record, const char *text,
			 uint64_t now_ns)
{
	size_t len = record->text_len;
	struct printk_event *printk = take_printk(s, text, len);
	uint64_t log_ns = record->time_us * 1000;
	struct origin origin = { from_log(s, log_ns), printk };

	/* Both clocks' word on one moment; but a console's is that of its
	 * output, which may be much later, as may a continuation be. */
	if (printk && printk->len <= len && !memcmp(printk->text, text, printk->len)) {
		origin.time_ns = printk->time;
		s->log_offset_ns = (int64_t)(printk->time - log_ns);
	}
	if (origin.time_ns > now_ns)
		origin.time_ns = now_ns;
	s->read_to_ns = origin.time_ns;
	if (record->facility && !s->accept_user_kmsg)
		count_forged(s, &origin, text, len, now_ns);
	else if (!count_faults(s, &origin, text, len, now_ns))
		count_lines(s, &origin, text, len);
	free(printk);
}

void fault_stream_driver(struct fault_stream *s, const struct fault_report *report)
{
	struct xid_line line = { .kind = report->nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				 .code = report->code };
	struct fault_report driver = *report;

	/* A detail has the number of its fault, but is none: it must not be
	 * taken for the twin of the next one's text. */
	xid_line_read_message(&line, report->message, strlen(report->message));
	if (line.kind == XID_LINE_SXID_DETAIL)
		return;
	driver.by_driver = true;
	driver.more = 0;
	pair(s, &driver);
}

void fault_stream_signal(struct fault_stream *s, const struct signal_report *report)
{
	add_signal(s, false, report);
}

void fault_stream_expire(struct fault_stream *s, uint64_t now_ns, bool all)
{
	struct fault_report report;
	size_t old = 0;

	while (old < s->printk_count &&
	       (all || now_ns >= s->printk[old].arrived_ns + PRINTK_WAIT_NS))
		old++;
	while (old && all && is_unread(s, s->printk[old - 1].event))
		old--;
	if (old)
		expire_printk(s, old, now_ns);
	while (fault_pairs_expire(&s->pairs, now_ns, all, &report))
		stand_alone(s, &report);
}

bool fault_stream_waits(const struct fault_stream *s)
{
	return s->printk_count || s->pairs.count;
}

void fault_stream_free(struct fault_stream *s)
{
	for (size_t i = 0; i < s->printk_count; i++)
		free(s->printk[i].event);
	free(s->printk);
	fault_pairs_free(&s->pairs);
	s->printk = NULL;
	s->printk_count = 0;
}
