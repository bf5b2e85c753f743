// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sink for people: snapshots as lines, tables and sentences. */
#include "sinks/report.h"

#include <ctype.h>

#include "base/file_text.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "base/time_text.h"
#include "snapshot/fault_counts.h"
#include "xid/xid_line.h"

#define INDENT "    " /* of lines that are not wrapped */

const char *format_duration(char *text, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	int unit = 0;

	if (ns == UINT64_MAX)
		return strcpy(text, ">275 s");
	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, DURATION_SIZE, "%.*f %s",
		 !unit || value >= 99.95 ? 0 :
		 value >= 9.995          ? 1 :
					   2,
		 value, units[unit]);
	return text;
}

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void summarise_phases(FILE *out, const struct session *t, const struct session_server *v)
{
	const uint64_t *phase_ns = v->sums.phase_ns, total_ns = v->sums.total.sum_ns;
	enum rpc_phase largest[RPC_PHASES] = {};
	size_t count = session_largest_phases(phase_ns, largest);
	const struct rpc_server_state *d = CALLS_FIND(x, &t->total.calls, server, v->name, true);
	char second[PHASES_SIZE] = "";

	if (count > 1)
		snprintf(second, sizeof(second), ", %.0f %% %s",
			 percent_of(phase_ns[largest[1]], total_ns), rpc_phase_names[largest[1]]);
	safe_line(out, "- Time by phase of %s: %.0f %% %s%s.", v->name,
		  percent_of(phase_ns[largest[0]], total_ns), rpc_phase_names[largest[0]], second);
	if (d && d->earlier_ns > total_ns / 100)
		fprintf(out,
			"- Calls began before the session: %.0f %% of the time, shown as setup, was before it; "
			"where they waited then is not known.\n",
			percent_of(d->earlier_ns, total_ns));
}

static void summarise_server(FILE *out, const struct session *t, const struct session_server *v,
			     double seconds)
{
	uint64_t calls = v->sums.calls, total_ns = v->sums.total.sum_ns;

	if (calls) { /* otherwise all may be stuck */
		safe_line(out,
			  "- %s: %" PRIu64 " NFS call%s in %.0f s (%.*f/s), mean %s, on "
			  "average %.1f concurrent calls.",
			  v->name, calls, calls == 1 ? "" : "s", seconds,
			  (double)calls < 10 * seconds ? 2 : 0, (double)calls / seconds,
			  DURATION(total_ns / calls), (double)total_ns / 1e9 / seconds);
		summarise_phases(out, t, v);
	}
	report_connections(out, &t->total, v->name);
}

static bool is_of_session(const struct session *t, const struct known_fault *f)
{
	return f->last >= t->first.wall;
}

/* Faults of the session that are not open. The open ones are in the headline. */
static void report_faults(FILE *out, const struct session *t)
{
	char text[KNOWN_FAULT_TEXT];

	if (!t->last.faults.gpu_watched)
		fputs("- GPU faults not observed.\n", out);
	else if (!ARRAY_FIND(f, t->faults, t->fault_count, is_of_session(t, f)))
		fprintf(out,
			"- No GPU reported a fault during this session; %zu open since boot (from the kernel log).\n",
			session_open_before(t));
	ARRAY_EACH(f, t->faults, t->fault_count)
		if (is_of_session(t, f) && f->standing != STANDING_OPEN)
			safe_line(out, "- %s", known_fault_text(text, f));
}

/* Without a BPF source all hooks on sunrpc are missing: they are left out, because another line has the reason. */
static void report_losses(FILE *out, const struct snapshot *s)
{
	bool hooked =
		s->calls.source == RPC_SOURCE_BTF || s->calls.source == RPC_SOURCE_TRACEPOINTS;

	ARRAY_EACH(d, s->self.drops, s->self.drop_count)
		if (d->count)
			safe_line(out, "- Incomplete: %" PRIu64 " records lost (%s).", d->count,
				  d->reason);
	for (size_t i = hooked ? 0 : s->self.rpc_hook_count; i < s->self.hook_count; i++)
		if (!s->self.hooks[i].attached)
			safe_line(out, "- Not observed: hook %s is not attached.",
				  s->self.hooks[i].name);
}

/* Each line alone, so that a shell takes them as they are. */
static void report_remedy(FILE *out, const struct session *t, const char *server)
{
	const struct session_server *v =
		ARRAY_FIND(x, t->servers, t->server_count, !strcmp(x->name, server));
	struct span lines = span_of(v && v->remedy ? v->remedy : ""), line;

	while (span_next_line(&lines, &line))
		safe_line(out, INDENT "%.*s", (int)span_left(line), line.at);
}

const char *advice_text(char *text, const struct verdict *v)
{
	const char *of = *v->mountpoint ? " of " : "";
	int len;

	*text = 0;
	if (!*v->setting)
		return text;
	if (v->confidence == CONFIDENCE_LOW)
		len = snprintf(text, ADVICE_SIZE,
			       "whether a larger %s%s%s helps is not known: measure longer first.",
			       v->setting, of, v->mountpoint);
	else
		len = snprintf(text, ADVICE_SIZE, "set %s%s%s to %s%s.", v->setting, of,
			       v->mountpoint, v->value, v->remount ? ", then mount again" : "");
	if (v->gain_expected > 0)
		snprintf(
			text + len, ADVICE_SIZE - (size_t)len,
			" Expected throughput: %.1f times if the server serves more at once, 1.0 if not; at most %.1f.",
			v->gain_expected, v->gain_at_most);
	else if (v->gain_at_most > 0)
		snprintf(text + len, ADVICE_SIZE - (size_t)len, " Throughput: at most %.1f times.",
			 v->gain_at_most);
	return text;
}

static void report_advice(FILE *out, const struct session *t, const char *server)
{
	struct verdict v = verdict_of(&t->limits, server);
	char text[ADVICE_SIZE];

	if (*advice_text(text, &v))
		safe_line(out, "- %s: %s", server, text);
	report_remedy(out, t, server);
}

#define SHOWN \
	3 /* idle servers; in Markdown items of each kind but GPUs: more would hide what follows */

static void report_headline(FILE *out, const struct session *t, bool markdown)
{
	struct headline h;
	size_t well = 0, shown[HEADLINE_KINDS] = {};

	session_headline(t, &h);
	ARRAY_EACH(item, h.items, h.count) {
		if (item->rank.kind == HEADLINE_WELL && *item->subject && ++well > SHOWN)
			continue;
		if (markdown &&
		    ++shown[item->rank.kind] >
			    (item->rank.kind == HEADLINE_GPU ? HEADLINE_ITEMS / 2 : SHOWN)) {
			h.left_out++;
			continue;
		}
		fprintf(out, "- %s\n", item->text);
		if (item->rank.kind == HEADLINE_LIMIT)
			report_advice(out, t, item->subject);
	}
	if (well > SHOWN)
		fprintf(out, "- and servers that NFS does not limit: %zu\n", well - SHOWN);
	if (h.left_out)
		fprintf(out, "- and %zu more\n", h.left_out);
}

void report_choice(FILE *out, const struct session *t)
{
	const struct calls *c = &t->last.calls;

	fputs(c->server_count || c->mount_count ? "There are:\n" : "No NFS is mounted.\n", out);
	ARRAY_EACH(v, c->servers, c->server_count)
		safe_line(out, INDENT "server %s", v->server);
	ARRAY_EACH(m, c->mounts, c->mount_count)
		safe_line(out, INDENT "mount %s of %s", m->mountpoint, m->server);
}

static void write_session(FILE *out, const struct session *t, bool markdown)
{
	const struct snapshot *s = &t->last;
	bool calls = ARRAY_FIND(o, t->total.calls.ops, t->total.calls.op_count,
				time_histogram_count(&o->total));
	double seconds = session_seconds(t);

	fputs("\nSummary\n", out);
	report_headline(out, t, markdown);
	if (*s->calls.rpc_missing) {
		safe_line(out, "- NFS not observed%s: %s.",
			  calls ? " at the end of the session" : "", s->calls.rpc_missing);
	} else if (session_lacks_choice(t)) {
		fputs("- ", out);
		report_choice(out, t);
	} else if (!calls) {
		fputs("- No NFS call ended.\n", out);
	}
	safe_line(out, "- From %s, for %.0f s, on %s: Linux %s, xidscope %s.",
		  LOCAL_TIME(t->first.wall), seconds, t->origin.host, t->origin.kernel,
		  t->origin.version);
	ARRAY_EACH(v, t->servers, t->server_count)
		for (int by = 0; by < SHARE_BY_BOTH; by++)
			summarise_shares(out, t, v->name, (enum share_by)by);
	ARRAY_EACH(v, t->servers, t->server_count)
		summarise_server(out, t, v, seconds);
	report_faults(out, t);
	report_losses(out, s);
	report_ops(out, t);
	report_shares(out, t);
	report_episodes(out, t);
	report_events(out, t);
	report_slow_calls(out, t);
	report_files(out, t);
}

void report_markdown(FILE *out, const struct session *t)
{
	size_t size;
	FREED char *text = TEXT_OF(size, all, write_session(all, t, true));

	markdown_write(out, text ? text : "");
}

void report_session(FILE *out, const struct session *t, size_t columns)
{
	size_t size;
	FREED char *text = columns ? TEXT_OF(size, all, write_session(all, t, false)) : NULL;
	char *line, *end;

	if (!text)
		write_session(out, t, false);
	for (line = text; line && (end = strchr(line, '\n')); line = end + 1) {
		/* Blanks before the continuation of a line that does not fit, to align it with the text. */
		size_t indent = *line == '-'                  ? 2 :
				isdigit((unsigned char)*line) ? sizeof("10:00:00") :
								4;

		*end = 0;
		/* A command that is cut in two is none. */
		if (strncmp(line, INDENT, strlen(INDENT)) != 0 &&
		    terminal_columns(line, (size_t)(end - line)) > columns)
			terminal_wrap(out, line, columns, 0, indent);
		else
			fputs(line, out);
		fputc('\n', out);
	}
}

const char *session_event_text(char *text, const struct session_event *e)
{
	const char *meaning = xid_meaning(e->nvswitch, e->code);

	switch (e->kind) {
	case SESSION_FAULT:
		snprintf(text, SESSION_EVENT_TEXT, "%s %s: %s %u (%s)%s%s",
			 e->nvswitch ? "NVSwitch" : "GPU", e->name, e->nvswitch ? "SXid" : "Xid",
			 e->code, e->what, *meaning ? " " : "", meaning);
		break;
	case SESSION_KERNEL_EVENT:
		snprintf(text, SESSION_EVENT_TEXT, "%s%s%s%s", e->what, *e->name ? " " : "",
			 e->name, kernel_event_meaning(span_of(e->what)));
		break;
	case SESSION_HUNG:
		snprintf(text, SESSION_EVENT_TEXT, "%s hangs: a call is not answered", e->name);
		break;
	case SESSION_ANSWERS:
		snprintf(text, SESSION_EVENT_TEXT, "%s answers again after %s", e->name,
			 DURATION(e->hung_ns));
		break;
	case SESSION_SOURCE:
		snprintf(text, SESSION_EVENT_TEXT,
			 "NFS calls are counted from 0 again, by the source %s: tables begin here",
			 e->name);
		break;
	default:
		snprintf(text, SESSION_EVENT_TEXT, "%s: disconnected", e->name);
		break;
	}
	if (e->count > 1) {
		size_t len = strlen(text);

		snprintf(text + len, SESSION_EVENT_TEXT - len, ", %" PRIu64 " times", e->count);
	}
	return text;
}

#define COMMAND "    "
#define FENCE "```"
#define ENDING 3 /* lines behind the last one of the report */

enum part { PART_ITEM, PART_COMMAND, PART_TABLE };

struct markdown {
	FILE *out;
	enum part part; /* of the line before */
	size_t lines;
};

static void put_line(struct markdown *m, const char *before, struct span line)
{
	fprintf(m->out, "%s%.*s\n", before, (int)span_left(line), line.at);
	m->lines++;
}

/* Puts a backslash before each character that could begin markup; at the beginning, a number with a point is that of a list. */
static void put_item(struct markdown *m, struct span text)
{
	const char *mark = m->lines ? "" : "**", *begin = text.at;
	const char *number = begin + strspn(begin, "0123456789");

	fprintf(m->out, "%s%s", m->lines ? "- " : "", mark);
	for (; span_left(text); text.at++) {
		bool escape = strchr("\\`*_[]<>|~&$", *text.at) ||
			      (text.at == begin && strchr("#+-=", *text.at)) ||
			      (text.at == number && text.at[1] == ' ' && strchr(".)", *text.at));

		fprintf(m->out, "%s%c", escape ? "\\" : "", *text.at);
	}
	fprintf(m->out, "%s\n%s", mark, *mark ? "\n" : "");
	m->lines += *mark ? 2 : 1;
}

/* Ends one part and begins the next. Commands stand in the list, tables behind it. */
static void begin_part(struct markdown *m, enum part part)
{
	const struct span fence = span_of(FENCE);

	if (m->part == part)
		return;
	if (m->part != PART_ITEM)
		put_line(m, m->part == PART_COMMAND ? "  " : "", fence);
	if (part == PART_TABLE)
		put_line(m, "", span_of(""));
	if (part != PART_ITEM)
		put_line(m, part == PART_COMMAND ? "  " : "", fence);
	m->part = part;
}

static void write_line(struct markdown *m, struct span line)
{
	const size_t command = strlen(COMMAND);
	bool item = span_left(line) > 2 && !strncmp(line.at, "- ", 2);

	if (item) {
		begin_part(m, PART_ITEM);
		line.at += 2;
		put_item(m, line);
	} else if (m->part != PART_TABLE && span_left(line) > command &&
		   !strncmp(line.at, COMMAND, command)) {
		begin_part(m, PART_COMMAND);
		line.at += command;
		put_line(m, "  ", line);
	} else if (m->part == PART_TABLE || span_left(line)) {
		begin_part(m, PART_TABLE);
		/* A line of backticks would end the table. */
		put_line(m, span_left(line) && *line.at == '`' ? COMMAND : "", line);
	}
}

void markdown_write(FILE *out, const char *report)
{
	struct markdown m = { .out = out };
	struct span text = span_of(report), line;
	size_t more = 0;

	while (span_next_line(&text, &line)) {
		if (!m.lines && (span_left(line) <= 2 || strncmp(line.at, "- ", 2) != 0))
			continue;
		/* A new part needs up to three lines more, a table a title, a heading and a row. */
		if (m.lines + ENDING + (span_left(line) ? 3 : 6) < MARKDOWN_LINES && !more)
			write_line(&m, line);
		else
			more++;
	}
	begin_part(&m, PART_ITEM);
	if (more)
		fprintf(out, "\nand %zu more lines without --markdown\n", more);
}
