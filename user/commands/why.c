// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope why`: what happened on this node in a window, from the event log. */
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "health/health_file.h"
#include "limits/headline.h"
#include "limits/verdict.h"
#include "past/history.h"
#include "sinks/report.h"
#include "snapshot/calls.h"
#include "snapshot/fault_counts.h"
#include "version.h"

/* What is known about the window. */
struct past {
	const struct options *o;
	double since, until;
	struct history history; /* hidden: outside of the window, or only the agent's life */
	struct event_files files;
	struct health_file health; /* empty unless an agent runs */
	FILE *out; /* where lines are printed, */
	const char *item; /* and what stands before each: "- " in Markdown */
	const char *origin; /* host and version, in Markdown */
	size_t most; /* events shown, the last ones; 0: all */
};

/* ---- what an event was, in words ---- */

static const char *decode_text(char text[EVENT_TEXT + 1], struct span inside)
{
	json_decode(inside, text, EVENT_TEXT + 1);
	return text;
}
#define DECODED(inside) decode_text((char[EVENT_TEXT + 1]){ 0 }, inside) /* valid in its block */

static void put_text(FILE *out, const char *before, struct span inside)
{
	if (span_left(inside))
		fprintf(out, "%s%s", before, DECODED(inside));
}

static void put_owners(FILE *out, const struct past_event *e)
{
	const char *begin = span_left(e->held_by) ? "; GPU held by" : "; of";
	bool jobs = false, any = false; /* it names some job or pod: the groups say no more */
	FREED struct past_owner *owners = NULL;
	size_t count = past_owners(e, &owners);

	for (size_t i = 0; i < count; i++)
		jobs |= strcmp(owners[i].what, "cgroup") != 0;
	for (size_t i = 0; i < count; i++) {
		if (jobs && !strcmp(owners[i].what, "cgroup"))
			continue;
		fprintf(out, "%s %s", any ? "," : begin, owners[i].what);
		put_text(out, " ", owners[i].name);
		any = true;
	}
	if (any && e->holders_unsure)
		fputs(", and perhaps others", out);
}

static void put_process(FILE *out, const struct past_event *e)
{
	if (!span_left(e->comm) && e->pid < 0)
		return;
	fputs(", process", out);
	put_text(out, " ", e->comm);
	if (e->pid >= 0)
		fprintf(out, " (%d)", e->pid);
}

/* A fault of the driver or an event of the kernel. */
static void put_fault(FILE *out, const struct past_event *e)
{
	const char *number = event_kinds[e->kind].number;
	bool numbered = e->code && number;

	if (numbered)
		fprintf(out, "%s %u", number, e->code);
	else if (e->kind != EVENT_KIND_KERNEL)
		put_text(out, "", e->kind_name);
	if (!numbered || !span_left(e->text)) /* a message says it in words */
		put_text(out, numbered ? " " : e->kind == EVENT_KIND_KERNEL ? "" : ": ", e->name);
	if (e->kind == EVENT_KIND_KERNEL)
		fputs(kernel_event_meaning(e->name), out);
	put_text(out, e->kind == EVENT_KIND_KERNEL ? ", device " : " on ", e->device);
	put_process(out, e);
}

/* How long it took. */
static void put_length(FILE *out, const struct past_event *e)
{
	if (isinf(e->end))
		fputs(", and this lasts", out);
	else if (e->cut)
		fprintf(out, ", for at least %.1f s, then the agent ended", e->end - e->time);
	else if (e->least > 0 && e->end - e->time >= e->least + 2)
		fprintf(out, ", for %.0f to %.0f s", e->least, e->end - e->time);
	else if (e->end > e->time)
		fprintf(out, ", for %.1f s", e->end - e->time);
}

static void put_event(FILE *out, const struct past_event *e)
{
	if (e->kind == EVENT_KIND_NFS_STALL || e->kind == EVENT_KIND_NFS_ERRORS ||
	    e->kind == EVENT_KIND_NFS_SATURATION)
		put_text(out, "NFS server ", e->device);
	if (e->kind == EVENT_KIND_NFS_STALL) {
		put_text(out, "", e->text);
		if (span_is(e->name, "pending"))
			fputs(": a call was not answered", out);
		else
			fprintf(out, ": a call waited %s", rpc_queue_wait(e->name));
	} else if (e->kind == EVENT_KIND_NFS_SATURATION) {
		fprintf(out, ": calls waited %s", rpc_queue_wait(e->name));
	} else if (e->kind == EVENT_KIND_AGENT) {
		put_text(out, "the agent: ", e->name);
		put_text(out, ", version ", e->version);
	} else if (e->kind == EVENT_KIND_CLOCK) {
		fprintf(out, "the clock was set by %+.1f s, or the node was suspended", e->seconds);
	} else if (e->kind != EVENT_KIND_NFS_ERRORS) {
		put_fault(out, e);
		if (e->bytes >= 0)
			fprintf(out, ", %.1f MB", e->bytes / 1e6);
	}
	if (e->count > 1)
		fprintf(out, ", %" PRIu64 " times", e->count);
	put_length(out, e);
	if (e->standing)
		fprintf(out, ", now %s", e->standing);
	if (e->followers)
		fprintf(out, ", and %" PRIu64 " reports of it by other GPUs", e->followers);
	put_owners(out, e);
	if (e->kind == EVENT_KIND_NFS_STALL)
		return;
	if (e->kind != EVENT_KIND_NFS_ERRORS) /* its text has the owner */
		put_text(out, ", owner ", e->owner);
	put_text(out, ": ", e->text);
}

/* Returns its text, which the caller frees; NULL: no memory. */
static char *describe_event(const struct past_event *e)
{
	size_t size;

	return TEXT_OF(size, out, put_event(out, e));
}

/* ---- what matters ---- */

/* The rank of an event; false: it is no trouble. An open fault is graver than one that is over. */
static bool rank_event(const struct past_event *e, struct headline_rank *rank)
{
	const char *grade = past_grade(e), *standing = e->standing ? e->standing : "open";
	double seconds = e->end - e->time; /* INFINITY: it lasts */
	struct span text = e->text;
	bool shown;

	*rank = HEADLINE_RANK(HEADLINE_WARN, HEADLINE_GPU, -e->time);
	switch (e->kind) {
	case EVENT_KIND_XID:
	case EVENT_KIND_SXID:
	case EVENT_KIND_DRIVER_ERROR:
		if (!strcmp(grade, "info") || !strcmp(standing, "harmless"))
			return false;
		if (!strcmp(standing, "acknowledged") || !strcmp(standing, "snoozed"))
			rank->level = HEADLINE_GOOD;
		else if (!strcmp(grade, "fatal") && !strcmp(standing, "open"))
			rank->level = HEADLINE_FAIL;
		return true;
	case EVENT_KIND_KERNEL:
		shown = headline_rank_kernel(rank, e->name, DECODED(e->device), grade);
		rank->weight = -e->time;
		return shown;
	case EVENT_KIND_NFS_STALL:
		if (!span_is(e->name, "pending")) { /* a burst, no silence of the server */
			*rank = HEADLINE_RANK(HEADLINE_WARN, HEADLINE_LIMIT, seconds);
			return true;
		}
		/* fall through */
	case EVENT_KIND_NFS_STUCK:
		*rank = HEADLINE_RANK(isinf(seconds) ? HEADLINE_FAIL : HEADLINE_WARN,
				      HEADLINE_SILENT, seconds);
		return true;
	case EVENT_KIND_NFS_ERRORS:
		rank->kind = HEADLINE_ERRORS;
		if (span_take_through(&text, DATA_WERE_LOST))
			rank->level = HEADLINE_FAIL;
		return true;
	case EVENT_KIND_NFS_SATURATION:
		*rank = HEADLINE_RANK(HEADLINE_GOOD, HEADLINE_LIMIT, seconds);
		return true;
	default:
		return false;
	}
}

static double unwatched_seconds(const struct past *p)
{
	double seconds = 0;

	ARRAY_EACH(g, p->history.gaps, p->history.gap_count)
		seconds += g->to - g->from;
	return seconds;
}

/* Finds what matters most in the window. */
static const char *past_headline(struct headline *h, const struct past *p)
{
	double seconds = unwatched_seconds(p);
	struct headline_rank rank;

	*h = (struct headline){};
	ARRAY_EACH(e, p->history.events, p->history.count) {
		FREED char *text = NULL;
		int len;

		if (e->hidden || !rank_event(e, &rank))
			continue;
		text = describe_event(e);
		len = text ? (int)strlen(text) : 0;
		len -= len && text[len - 1] == '.';
		headline_add(h, rank, "", "%.*s, %s", len, text ?: "", LOCAL_TIME(e->time));
	}
	if (!h->count && seconds >= 1)
		headline_add(h, (struct headline_rank){ .kind = HEADLINE_WELL }, "",
			     "Nothing was watching for %.0f s of the window.", seconds);
	if (h->count)
		return h->items[0].text;
	return ARRAY_FIND(e, p->history.events, p->history.count, !e->hidden) ?
		       "No trouble is in the log; this happened:" :
		       "The log has no event.";
}

/* Whether @e is a report of @f, within the time of the reports that are known. */
static bool is_report_of(const struct past_event *e, const struct health_item *f)
{
	const char *number = strchr(f->what, ':');

	return span_is(e->kind_name, f->kind) && span_is(e->device, f->device) &&
	       !(e->time <= f->first - 1) && e->time < f->last + 1 &&
	       (e->code ? strtoul(number ? number + 1 : f->what, NULL, 10) == e->code :
			  span_is(e->name, f->what));
}

/* ---- lines ---- */

#define INDENT 36 /* of texts: behind time and grade */

/* Prints the gaps that begin before @time, from the @next-th on: what begins one stands in front of it. */
static size_t print_gaps(const struct past *p, size_t next, double time)
{
	const struct past_gap *g = p->history.gaps + next;

	for (; next < p->history.gap_count && g->from < time; next++, g++)
		terminal_line(p->out, INDENT, "%s%s  %-8s nothing was watching until %s: %s",
			      p->item, LOCAL_TIME(g->from), "unknown", LOCAL_TIME(g->to),
			      g->reason);
	return next;
}

static void print_event(const struct past *p, const struct past_event *e)
{
	FREED char *text = describe_event(e);

	if (text)
		terminal_line(p->out, INDENT, "%s%s  %-8s %s", p->item, LOCAL_TIME(e->time),
			      past_grade(e), text);
}

#define OPEN_SHOWN 10 /* in Markdown */

static void print_lines(const struct past *p)
{
	const struct history *h = &p->history;
	struct headline headline;
	size_t gap = 0, earlier = 0, open = 0;

	terminal_line(p->out, 2, "%s%s", p->item, past_headline(&headline, p));
	/* What to do about the faults of the window that are open. */
	ARRAY_EACH(f, p->health.faults.items, p->health.faults.count)
		if (!strcmp(f->state, "open") && *f->advice &&
		    ARRAY_FIND(e, h->events, h->count, !e->hidden && is_report_of(e, f)) &&
		    (!p->most || open++ < OPEN_SHOWN))
			terminal_line(p->out, 2, "%sOpen: %s%s%s. %s", p->item,
				      FAULT_NAME(f->kind, f->what), *f->device ? " on " : "",
				      f->device, f->advice);
	if (open > OPEN_SHOWN)
		fprintf(p->out, "%sOpen: %zu more.\n", p->item, open - OPEN_SHOWN);
	fprintf(p->out, "%sFrom %s until %s%s:\n", p->item, LOCAL_TIME(p->since),
		LOCAL_TIME(p->until), p->origin);
	ARRAY_EACH(e, h->events, p->most ? h->count : 0)
		earlier += !e->hidden;
	earlier = earlier > p->most ? earlier - p->most : 0;
	if (earlier)
		fprintf(p->out, "%sEarlier: %zu events, shown without --markdown.\n", p->item,
			earlier);
	ARRAY_EACH(e, h->events, h->count) {
		if (e->hidden || (earlier && earlier--))
			continue;
		gap = print_gaps(p, gap, e->time);
		print_event(p, e);
	}
	print_gaps(p, gap, INFINITY);
	if (h->skipped)
		fprintf(p->out, "%sLeft out %" PRIu64 " line%s.\n", p->item, h->skipped,
			h->skipped == 1 ? " that is no event" : "s that are no events");
}

/* If there are too many events for the page, only those that are trouble are told, and of these the last. */
static void print_markdown(struct past *p)
{
	struct history *h = &p->history;
	char host[HOST_NAME_MAX + 1] = "", origin[sizeof(host) + 64];
	FREED char *text = NULL;
	struct headline_rank rank;
	size_t size, shown = 0;

	ARRAY_EACH(e, h->events, h->count)
		shown += !e->hidden;
	ARRAY_EACH(e, h->events, shown > MARKDOWN_LINES / 2 ? h->count : 0)
		e->hidden |= !rank_event(e, &rank);
	gethostname(host, sizeof(host) - 1);
	safe_format(origin, sizeof(origin), ", read on %s by xidscope %s", host, XIDSCOPE_VERSION);
	p->origin = origin;
	p->item = "- ";
	p->most = MARKDOWN_LINES / 2;
	text = TEXT_OF(size, out, {
		p->out = out;
		print_lines(p);
	});
	markdown_write(stdout, text ? text : "");
}

/* One line, for the comment of a job. Then the job's other events. */
static void print_cause(const struct past *p)
{
	const char *cause;
	const struct past_event *of =
		history_cause(&p->history, p->o->job, p->since, p->until, &cause);
	FREED char *text = of ? describe_event(of) : NULL;
	double seconds = unwatched_seconds(p);
	char rest[80] = "";

	if (seconds >= 1)
		snprintf(rest, sizeof(rest), " (nothing was watching for %.0f s of the window)",
			 seconds);
	if (of)
		safe_line(stdout, "%s: %s, %s, %s%s", cause, UTC_TIME(of->time), past_grade(of),
			  text ?: "", rest);
	else
		safe_line(stdout, "%s: no fault in the window%s", cause, rest);
	ARRAY_EACH(e, p->history.events, p->history.count)
		if (!e->hidden && e != of && past_is_of_job(e, p->o->job))
			print_event(p, e);
}

/* ---- JSON ---- */

static void write_owners(struct json *j, const struct past_event *e, const char *name,
			 const char *what)
{
	FREED struct past_owner *owners = NULL;
	size_t count = past_owners(e, &owners);

	json_array(j, name);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(owners[i].what, what))
			json_known(j, NULL, DECODED(owners[i].name));
	json_array_end(j);
}

static void write_event(struct json *j, const struct past_event *e)
{
	FREED char *text = describe_event(e);

	json_time(j, "time", e->time);
	if (isinf(e->end))
		json_bool(j, "lasts", true);
	else if (e->end > e->time)
		json_time(j, "end", e->end);
	if (e->cut)
		json_bool(j, "cut", true);
	json_text(j, "grade", past_grade(e));
	json_known(j, "kind", DECODED(e->kind_name));
	json_known(j, "name", DECODED(e->name));
	if (e->code)
		json_unsigned(j, "code", e->code);
	json_known(j, "device", DECODED(e->device));
	if (e->pid >= 0)
		json_signed(j, "pid", e->pid);
	json_known(j, "comm", DECODED(e->comm));
	json_unsigned(j, "count", e->count);
	if (e->standing)
		json_text(j, "state", e->standing);
	if (e->followers)
		json_unsigned(j, "followers", e->followers);
	json_known(j, "owner", DECODED(e->owner));
	write_owners(j, e, "jobs", "job");
	write_owners(j, e, "pods", "pod");
	write_owners(j, e, "cgroups", "cgroup");
	if (e->replayed)
		json_bool(j, "replayed", true);
	json_text(j, "line", text ? text : "");
}

static void print_json(const struct past *p)
{
	const struct history *h = &p->history;
	struct json j = { .out = stdout };
	const struct past_event *event;
	struct headline headline;
	const char *cause;

	json_object(&j, NULL);
	json_text(&j, "headline", past_headline(&headline, p));
	json_time(&j, "since", p->since);
	json_time(&j, "until", p->until);
	if (p->o->job) {
		event = history_cause(h, p->o->job, p->since, p->until, &cause);
		json_text(&j, "job", p->o->job);
		json_text(&j, "cause", cause);
		if (event) {
			json_object(&j, "cause_event");
			write_event(&j, event);
			json_object_end(&j);
		}
	}
	JSON_ROWS(&j, "events", e, h->events, h->count, !e->hidden)
		write_event(&j, e);
	JSON_ROWS(&j, "unwatched", g, h->gaps, h->gap_count, true) {
		json_time(&j, "from", g->from);
		json_time(&j, "to", g->to);
		json_fraction(&j, "seconds", g->to - g->from, 3);
		json_text(&j, "reason", g->reason);
	}
	json_unsigned(&j, "skipped_lines", h->skipped);
	json_array(&j, "files");
	for (size_t i = p->files.count; i-- > 0;)
		json_text(&j, NULL, p->files.files[i].path);
	json_array_end(&j);
	json_end(&j);
}

/* ---- the command ---- */

/* Returns 0, or an exit code after a message. */
static int read_log(struct past *p, double now)
{
	const struct history_now clocks = { now, (double)monotonic_ns() / 1e9, boot_id() };
	struct history *h = &p->history;
	uint64_t failed = memory_failed();
	char wrong[4096];
	int err = event_files_read(&p->files, p->o->past_events, wrong, sizeof(wrong));

	if (err)
		return trouble(
			"cannot read the event log %s: %s%s by --events", wrong,
			file_text_error(err),
			err == -ENOENT ?
				": no agent has run here with these --events; name the file of 'xidscope run --events FILE'" :
				"; name the file that 'xidscope run --events FILE' writes");
	for (size_t i = p->files.count; i-- > 0;)
		event_reader_add(h, p->files.files[i].text, p->files.files[i].len);
	history_digest(h, &clocks);
	if (memory_error(failed))
		return trouble("no memory for the event log");
	return h->count || !h->skipped ?
		       0 :
		       trouble("%s is no event log: none of its %" PRIu64 " lines is an event",
			       p->files.files[0].path, h->skipped);
}

/* Hides what is not in the window, and cuts the gaps to it. */
static void narrow_history(struct past *p)
{
	struct history *h = &p->history;
	size_t kept = 0;

	ARRAY_EACH(e, h->events, h->count)
		e->hidden |= !past_in_window(e, p->since, p->until) ||
			     (e->kind == EVENT_KIND_AGENT && span_is(e->name, "alive"));
	ARRAY_EACH(g, h->gaps, h->gap_count) {
		RAISE(g->from, p->since);
		LOWER(g->to, p->until);
		if (g->from < g->to)
			h->gaps[kept++] = *g;
	}
	h->gap_count = kept;
}

/* Finds which faults of this boot are open, if an agent runs. The history refers to the file's texts. */
static void add_standings(struct past *p)
{
	if (!health_file_read(&p->health, p->o->health_file, p->o->max_age, true))
		return;
	ARRAY_EACH(e, p->history.events, p->history.count)
		ARRAY_EACH(f, p->health.faults.items, p->health.faults.count)
			if (is_report_of(e, f))
				e->standing = f->state;
}

/* Returns 0, or an exit code after a message. */
static int read_past(struct past *p)
{
	double now = wall_seconds();
	int code = read_log(p, now);

	if (code)
		return code;
	p->since = p->o->past_since;
	p->until = p->o->past_until > 0 ? p->o->past_until : now;
	if (!(p->since > 0))
		p->since = p->until > 3600 ? p->until - 3600 : 0;
	if (p->since > now) /* not even its being quiet is known */
		return trouble("the window begins in the future, at %s", UTC_TIME(p->since));
	LOWER(p->until, now); /* nothing is known about the future */
	narrow_history(p);
	add_standings(p);
	return 0;
}

int cmd_why(const struct options *o)
{
	struct past p = { .o = o, .out = stdout, .item = "", .origin = "" };
	int code = read_past(&p);

	if (!code && o->json)
		print_json(&p);
	else if (!code && o->job)
		print_cause(&p);
	else if (!code && o->markdown)
		print_markdown(&p);
	else if (!code)
		print_lines(&p);
	history_free(&p.history);
	health_file_free(&p.health);
	event_files_free(&p.files);
	return code;
}
