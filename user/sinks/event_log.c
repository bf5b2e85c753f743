// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event log: JSON lines; a burst is written as few lines. It also says when nothing was watching, as a log without faults
 * looks the same whether nothing happened or nobody watched: by a line at the start, every five minutes and at the stop. Rejected:
 * asking systemd's journal, which containers lack; a single line at the end, which a crash loses. */
#include "sinks/event_log.h"

#include <limits.h>

#include "base/cgroup.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/process.h"

/* An event belongs to a burst if the same event came less than GAP before. The repeats of a long burst are written every REPEATS. */
#define GAP_NS (5 * 1000000000ull)
#define REPEATS_NS (60 * 1000000000ull)

/* The most bursts that are open at a time. */
#define BURSTS 64

/* A line has at most PIPE_BUF bytes without its members. On standard output, which may be a pipe, members that make it longer are left out. */
#define MEMBERS_IN_PIPE (PIPE_BUF / 2)

struct burst {
	bool used;
	uint64_t incident; /* number of the burst, the same on all its lines */
	uint64_t folded; /* events since its last line */
	uint64_t first_folded_ns;
	struct event last;
	char text[EVENT_TEXT];
};

struct event_log {
	const struct event_sink *sink;
	uint64_t lost;
	uint64_t incidents;
	struct helper names; /* see cgroup_ask_names() */
	struct burst bursts[BURSTS];
};

struct event_log *event_log_new(const struct event_sink *sink)
{
	struct event_log *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->sink = sink; /* the rest is not touched: 100 kB that few nodes need */
	return e;
}

uint64_t event_log_lost(const struct event_log *e)
{
	return e->lost;
}

/* Where the process runs. */
static void write_cgroup(struct event_log *e, struct json *j, const struct event *event)
{
	char text[4096];
	struct cgroup c;

	if (event->replayed ||
	    !process_text(event->pid, event->monotonic_ns, "cgroup", text, sizeof(text)))
		return;
	cgroup_read(&c, text);
	/* A second earlier: events of one moment share an answer. */
	cgroup_ask_names(&c, &e->names, NULL, event->monotonic_ns - 1000000000);
	json_known(j, "cgroup", c.path);
	json_known(j, "job", c.job);
	json_known(j, "pod", c.pod);
	if (*c.pod)
		json_known(j, "pod_name", c.name);
	else
		json_known(j, "container", c.name);
}

static void write_object(FILE *out, struct event_log *e, const struct event *event,
			 uint64_t incident, uint64_t repeats)
{
	const struct event_kind_row *kind = &event_kinds[event->kind];
	struct json j = { .out = out };

	json_object(&j, NULL);
	json_time(&j, "time", event->time);
	json_nanoseconds(&j, "monotonic_seconds", event->monotonic_ns);
	json_text(&j, "kind", kind->name);
	json_known(&j, kind->device, event->device);
	json_known(&j, "uuid", event->uuid);
	if (event->code)
		json_unsigned(&j, kind->name, event->code);
	json_known(&j, "name", event->name);
	json_known(&j, "severity", event->severity);
	json_known(&j, "action", event->action);
	if (event->pid >= 0)
		json_signed(&j, "pid", event->pid);
	json_known(&j, "comm", event->comm);
	write_cgroup(e, &j, event);
	json_known(&j, "printed_by", event->printed_by);
	if (event->authority)
		json_text(&j, "seen_by", event->authority);
	if (event->replayed)
		json_bool(&j, "replayed", true);
	json_members(&j, event->members);
	json_unsigned(&j, "incident", incident);
	json_unsigned(&j, "repeats", repeats);
	json_bytes(&j, "text", event->text, event->text_len);
	json_end(&j);
}

/* @more: how many further events the line stands for; 0: it is the first. */
static void log_event(const struct event_log *e, const struct event *event, uint64_t more)
{
	const char *number = event_kinds[event->kind].number;
	char code[32] = "", times[32] = "";

	if (!e->sink || !e->sink->log || !strcmp(event->severity, "info") ||
	    (!number && event->kind != EVENT_KIND_DRIVER_ERROR))
		return;
	if (number)
		snprintf(code, sizeof(code), "%s %u (%s)%s", number, event->code, event->severity,
			 *event->name ? " " : "");
	if (more)
		snprintf(times, sizeof(times), ", %" PRIu64 " more", more);
	log_warn(e->sink->log, "%s: %s%s%s: %.*s", *event->device ? event->device : "GPU driver",
		 code, event->name, times, (int)event->text_len, event->text);
}

/* Writes one line, for its event and @repeats more. */
static void write_line(struct event_log *e, struct event event, uint64_t incident, uint64_t repeats)
{
	size_t members_len = strlen(event.members), limit = PIPE_BUF, size = 0;
	FREED char *text = NULL;

	if (!e->sink)
		return;
	if (!e->sink->pipe)
		limit += members_len;
	else if (members_len > MEMBERS_IN_PIPE)
		event.members = "";
	text = TEXT_OF(size, out, write_object(out, e, &event, incident, repeats));
	/* Escapes can make a text several times as long in JSON, and a cgroup's name. */
	while (text && size > limit && (event.text_len || *event.members)) {
		free(text);
		if (!event.text_len)
			event.members = "";
		event.text_len /= 2;
		text = TEXT_OF(size, out, write_object(out, e, &event, incident, repeats));
	}
	if (!text || !e->sink->write(e->sink->context, text, size))
		e->lost++;
}

static void write_repeats(struct event_log *e, struct burst *b)
{
	if (b->folded) {
		log_event(e, &b->last, b->folded);
		write_line(e, b->last, b->incident, b->folded - 1);
	}
	b->folded = 0;
}

static void set_last(struct burst *b, const struct event *event)
{
	b->last = *event;
	b->last.members = "";
	LOWER(b->last.text_len, sizeof(b->text));
	memcpy(b->text, event->text, b->last.text_len);
	b->last.text = b->text;
}

static bool same_burst(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->code == b->code && !strcmp(a->name, b->name) &&
	       !strcmp(a->device, b->device) && !strcmp(a->severity, b->severity) &&
	       (a->anybodys || (a->pid == b->pid && !strcmp(a->comm, b->comm)));
}

/* The event's burst; without one, a free entry or the oldest. */
static struct burst *find_burst(struct event_log *e, const struct event *event)
{
	struct burst *found = e->bursts;

	ARRAY_EACH(b, e->bursts, BURSTS) {
		if (b->used && same_burst(&b->last, event))
			return b;
		if (found->used && (!b->used || b->last.monotonic_ns < found->last.monotonic_ns))
			found = b;
	}
	write_repeats(e, found);
	found->used = false;
	return found;
}

void event_log_add(struct event_log *e, const struct event *event)
{
	struct burst *b;

	if (event->alone) {
		log_event(e, event, 0);
		write_line(e, *event, ++e->incidents, 0);
		return;
	}
	b = find_burst(e, event);
	if (b->used && event->monotonic_ns < b->last.monotonic_ns + GAP_NS) {
		if (!b->folded++)
			b->first_folded_ns = event->monotonic_ns;
		set_last(b, event);
		if (event->monotonic_ns >= b->first_folded_ns + REPEATS_NS)
			write_repeats(e, b);
		return;
	}
	write_repeats(e, b);
	b->used = true;
	b->incident = ++e->incidents;
	log_event(e, event, 0);
	write_line(e, *event, b->incident, 0);
	set_last(b, event);
}

void event_log_flush(struct event_log *e, uint64_t now_ns, bool all)
{
	ARRAY_EACH(b, e->bursts, BURSTS) {
		if (!b->used || (!all && now_ns <= b->last.monotonic_ns + GAP_NS))
			continue;
		write_repeats(e, b);
		b->used = false;
	}
}

void event_log_free(struct event_log *e)
{
	if (!e)
		return;
	event_log_flush(e, 0, true);
	helper_free(&e->names);
	free(e);
}
