// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The live view. */
#include "sinks/report.h"

#include <ctype.h>
#include <unistd.h>

#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"

#define INDENT 9 /* of lines that belong to the interval above: the width of the time */
#define SERVER 9 /* width of a server's name in 80 columns */
#define SERVER_MAX 24 /* its width in wider terminals */

#define HANGS " hangs" /* ends the name of that state */

struct live live_begin(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	bool terminal = isatty(STDOUT_FILENO);

	return (struct live){
		.out = stdout,
		.terminal = terminal ? STDOUT_FILENO : -1,
		.colour = terminal && (!no_colour || !*no_colour) && term &&
			  strcmp(term, "dumb") != 0,
		.size.columns = TERMINAL_COLUMNS,
	};
}

static const char *colour(const struct live *v, const char *code)
{
	return v->colour ? code : "";
}

/* ---- lines ---- */

/* Writes a line below the interval's, in red. */
static void __attribute__((format(printf, 2, 3))) note(struct live *v, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	safe_vformat(text, sizeof(text), format, args);
	va_end(args);
	fputs(colour(v, RED), v->out);
	v->lines += terminal_wrap(v->out, text, v->size.columns, INDENT, INDENT);
	fprintf(v->out, "%s\n", colour(v, PLAIN));
}

/* ---- the table ---- */

static size_t server_width(const struct live *v)
{
	size_t more = v->size.columns > TERMINAL_COLUMNS ? v->size.columns - TERMINAL_COLUMNS : 0;

	return SERVER + (more < SERVER_MAX - SERVER ? more : SERVER_MAX - SERVER);
}

static void write_head(struct live *v)
{
	fprintf(v->out, "%s%-8s %-*s %6s %5s %5s %7s %7s %-20s %4s%s\n", colour(v, BOLD), "time",
		(int)server_width(v), "server", "call/s", "rMB/s", "wMB/s", "mean", "flight",
		"most time in, %", "sat%", colour(v, PLAIN));
	v->lines = 1;
	v->head_width = server_width(v);
}

void short_name(char *to, size_t size, const char *name, size_t width)
{
	size_t len, cut;
	char *at;

	safe_format(to, size, "%s", name);
	len = strlen(to);
	if (terminal_columns(to, len) <= width)
		return;
	at = strrchr(to, '@');
	if (at && at[1] && !at[1 + strspn(at + 1, "0123456789")]) {
		at[1] = 0;
		len = (size_t)(at + 1 - to);
		if (terminal_columns(to, len) <= width)
			return;
	}
	if (isdigit((unsigned char)*to) && terminal_columns(to, len) == len) {
		cut = len - (width - 1);
		memmove(to + 1, to + cut, width);
		to[0] = '~';
		return;
	}
	memcpy(to + terminal_fit(to, len, width - 1), "~", 2);
}

void format_count(char *text, size_t size, double count)
{
	if (count < 999999.5)
		snprintf(text, size, "%.0f", count);
	else
		snprintf(text, size, "%.0f%c", count / (count < 1e9 ? 1e3 : 1e6),
			 count < 1e9 ? 'k' : 'M');
}

void format_rate(char *text, size_t size, double megabytes)
{
	if (megabytes < 99999.5)
		snprintf(text, size, "%.*f", megabytes < 999.95 ? 1 : 0, megabytes);
	else
		snprintf(text, size, "%.0fk", megabytes / 1e3);
}

static unsigned int share_percent(uint64_t part, uint64_t whole)
{
	double share = percent_of(part, whole);

	return share > 100 ? 100 : (unsigned int)(share + 0.5);
}

/* "12/128", or "1500/2k". */
static void format_flight(char *text, size_t size, const struct session_point *p)
{
	if (p->slots >= 1000)
		snprintf(text, size, "%" PRIu32 "/%" PRIu32 "k", p->in_flight, p->slots / 1000);
	else if (p->slots)
		snprintf(text, size, "%" PRIu32 "/%" PRIu32, p->in_flight, p->slots);
	else
		snprintf(text, size, "%" PRIu32, p->in_flight);
}

static void write_server(struct live *v, const struct session *t, size_t number, const char *clock)
{
	const struct session_point *p = &t->latest.points[number];
	double seconds = t->latest.ns ? (double)t->latest.ns / 1e9 : 1;
	char name[4 * LABEL_SIZE], calls[16], in[16], out[16], flight[32];
	unsigned int saturated = share_percent(session_most_saturated(p), t->latest.ns);
	const char *plain = colour(v, PLAIN);

	short_name(name, sizeof(name), t->servers[number].name, server_width(v));
	fprintf(v->out, "%s %s%*s ", clock, name,
		(int)(server_width(v) - terminal_columns(name, strlen(name))), "");
	v->lines++;
	if (t->servers[number].hung_ns) {
		const char *hung = DURATION(t->servers[number].hung_ns);

		fprintf(v->out, "%sHUNG %s, ", colour(v, RED), hung);
		if (p->oldest_ns)
			fprintf(v->out, "%" PRIu32 " call%s unanswered%s\n", p->in_flight,
				p->in_flight == 1 ? "" : "s", plain);
		else /* calls of a soft mount */
			fprintf(v->out, "its calls time out%s\n", plain);
		return;
	}
	format_count(calls, sizeof(calls), (double)p->calls / seconds);
	format_rate(in, sizeof(in), (double)p->received_bytes / 1e6 / seconds);
	format_rate(out, sizeof(out), (double)p->sent_bytes / 1e6 / seconds);
	format_flight(flight, sizeof(flight), p);
	fprintf(v->out, "%6s %5s %5s %7s %7s %-20s %s%3u%%%s\n", calls, in, out,
		p->calls ? DURATION(p->total.sum_ns / p->calls) : "-", flight,
		PHASES(p->phase_ns, p->total.sum_ns), saturated >= 50 ? colour(v, RED) : "",
		saturated, saturated >= 50 ? plain : "");
}

/* ---- states: a line when one begins, and one when it ends ---- */

#define MOST_STATES 64

struct live_state {
	char text[sizeof(((struct bad_connection *)0)->which)];
	double since; /* seconds since the epoch */
	bool lasts; /* it was found in this interval */
};

/* The state @text, which is safe text, has lasted for @age seconds; @how has details. */
static void is_in_state(struct live *v, const struct session *t, double age, const char *text,
			const char *how)
{
	struct live_state *s = ARRAY_FIND(x, v->states, v->state_count, !strcmp(x->text, text));

	if (s)
		s->lasts = true;
	if (s || v->state_count == MOST_STATES || !(s = ARRAY_APPEND(v->states, v->state_count)))
		return;
	*s = (struct live_state){ .since = t->last.wall - age, .lasts = true };
	snprintf(s->text, sizeof(s->text), "%s", text);
	note(v, "%s: %s", text, how);
}

static void end_states(struct live *v, const struct session *t)
{
	const char *time;
	double seconds;
	size_t kept = 0;

	for (size_t i = 0; i < v->state_count; i++) {
		struct live_state s = v->states[i];

		if (s.lasts) {
			s.lasts = false;
			v->states[kept++] = s;
			continue;
		}
		/* The clock may have been set back. */
		seconds = t->last.wall > s.since ? t->last.wall - s.since : 0;
		time = DURATION((uint64_t)(seconds * 1e9));
		size_t len = strlen(s.text), end = strlen(HANGS);

		if (len > end && !strcmp(s.text + len - end, HANGS))
			note(v, "%.*s answers again after %s", (int)(len - end), s.text, time);
		else
			note(v, "Over after %s: %s", time, s.text);
	}
	v->state_count = kept;
}

/* ---- what is wrong ---- */

/* Adds ", 3 retransmits" unless there are none. */
static void add_count(char *text, size_t size, uint64_t count, const char *what)
{
	size_t len = strlen(text);

	if (count)
		snprintf(text + len, size - len, "%s%" PRIu64 " %s%s", len ? ", " : "", count, what,
			 count == 1 ? "" : "s");
}

static void note_trouble(struct live *v, const struct session *t, size_t number)
{
	const struct session_point *p = &t->latest.points[number];
	const char *server = t->servers[number].name;
	uint64_t hung_ns = t->servers[number].hung_ns, age_ns = hung_ns ? hung_ns : p->oldest_ns;
	char counts[160] = "", text[LABEL_SIZE + 16];
	char how[VICTIMS_TEXT + 80];

	add_count(counts, sizeof(counts), p->retransmits, "retransmit");
	add_count(counts, sizeof(counts), p->timeouts, "timeout");
	add_count(counts, sizeof(counts), p->disconnects, "disconnect");
	if (*counts) /* a mount connects as well */
		add_count(counts, sizeof(counts), p->connects, "connect");
	add_count(counts, sizeof(counts), p->errors, "error");
	if (age_ns >= SESSION_OLD_NS) {
		const char *oldest =
			DURATION(p->oldest_ns >= SESSION_OLD_NS ? p->oldest_ns : age_ns);

		safe_format(text, sizeof(text), "%s%s", server, hung_ns ? HANGS : " is slow");
		if (p->oldest_ns >= SESSION_OLD_NS)
			safe_format(how, sizeof(how),
				    "the oldest call waits for %s, %" PRIu32 " outstanding%s",
				    oldest, p->in_flight, VICTIMS(&t->last.calls, server));
		else
			snprintf(how, sizeof(how), "its calls time out, for %s", oldest);
		is_in_state(v, t, (double)age_ns / 1e9, text, how);
	}
	if (*counts)
		note(v, "%s: %s", server, counts);
}

static void note_events(struct live *v, const struct session *t)
{
	for (; v->events < t->event_count; v->events++) {
		const struct session_event *e = &t->events[v->events];

		/* The lines above show the others. */
		if (e->kind == SESSION_FAULT || e->kind == SESSION_KERNEL_EVENT)
			note(v, "%s", EVENT_OF_SESSION(e));
	}
}

/* If the server hangs, all of its connections are stuck: they are left out. */
static void note_connections(struct live *v, const struct session *t, size_t number)
{
	struct bad_connection bad[BAD_CONNECTIONS];
	size_t count = report_bad_connections(bad, &t->interval, t->servers[number].name);

	for (size_t i = 0; i < count && i < BAD_CONNECTIONS && !t->servers[number].hung_ns; i++)
		is_in_state(v, t, bad[i].seconds > 0 ? bad[i].seconds : (double)t->latest.ns / 1e9,
			    bad[i].which, bad[i].how);
}

static void write_without_server(struct live *v, const struct session *t, const char *clock)
{
	bool matches = t->last.calls.server_count || t->last.calls.op_count;

	if (!v->without_server) {
		fprintf(v->out, "%s no NFS server%s yet\n", clock, matches ? " matches" : "");
		v->lines++;
	}
	v->without_server = true;
}

void live_interval(struct live *v, const struct session *t)
{
	const char *clock = CLOCK_TIME(t->last.wall);

	terminal_ask(v->terminal, &v->size);
	/* The lines below have local times without a date. */
	if (!v->begun)
		fprintf(v->out, "From %s\n", LOCAL_TIME(t->first.wall));
	v->begun = true;
	if (!v->lines || v->head_width != server_width(v) ||
	    (v->size.rows > 2 && v->lines + t->latest.count > v->size.rows - 1))
		write_head(v);
	if (!t->latest.count)
		write_without_server(v, t, clock);
	for (size_t i = 0; i < t->latest.count; i++) {
		write_server(v, t, i, clock);
		note_trouble(v, t, i);
		note_connections(v, t, i);
	}
	end_states(v, t);
	note_events(v, t);
	fflush(v->out);
}

void live_end(struct live *v)
{
	free(v->states);
	*v = (struct live){};
}
