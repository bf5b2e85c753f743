// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The live view: the rows of top for each interval, and lines between them for trouble. */
#include "sinks/report.h"

#include <unistd.h>

#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"

#define INDENT 9 /* of lines that belong to the interval above: the width of the time */

struct live live_begin(void)
{
	bool terminal = isatty(STDOUT_FILENO);

	return (struct live){
		.out = stdout,
		.terminal = terminal ? STDOUT_FILENO : -1,
		.colour = terminal && terminal_has_colours(),
		.size.columns = TERMINAL_COLUMNS,
	};
}

/* Writes a line below the interval's, in red. */
static void __attribute__((format(printf, 2, 3))) note(struct live *v, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	safe_vformat(text, sizeof(text), format, args);
	va_end(args);
	fputs(v->colour ? RED : "", v->out);
	v->lines += terminal_wrap(v->out, text, v->size.columns, INDENT, INDENT);
	fprintf(v->out, "%s\n", v->colour ? PLAIN : "");
}

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
	char counts[160] = "";

	add_count(counts, sizeof(counts), p->retransmits, "retransmit");
	add_count(counts, sizeof(counts), p->timeouts, "timeout");
	add_count(counts, sizeof(counts), p->disconnects, "disconnect");
	if (*counts) /* a mount connects as well */
		add_count(counts, sizeof(counts), p->connects, "connect");
	add_count(counts, sizeof(counts), p->errors, "error");
	if (*counts)
		note(v, "%s: %s", t->servers[number].name, counts);
}

static void note_events(struct live *v, const struct session *t)
{
	for (; v->events < t->event_count; v->events++) {
		const struct session_event *e = &t->events[v->events];

		if (e->kind != SESSION_DISCONNECT) /* which is counted above */
			note(v, "%s%s", EVENT_OF_SESSION(e),
			     e->kind == SESSION_HUNG ? VICTIMS(&t->last.calls, e->name, false) :
						       "");
	}
}

void live_interval(struct live *v, const struct session *t)
{
	const char *clock = CLOCK_TIME(t->last.wall);
	bool matches = t->last.calls.server_count || t->last.calls.op_count;

	terminal_ask(v->terminal, &v->size);
	/* The lines below have local times without a date. */
	if (!v->begun)
		fprintf(v->out, "From %s\n", LOCAL_TIME(t->first.wall));
	v->begun = true;
	if (v->head_columns != v->size.columns ||
	    (v->size.rows > 2 && v->lines + t->latest.count > v->size.rows - 1))
		v->lines = 0;
	top_lines(v->out,
		  &(struct top_view){
			  .by = TOP_SERVERS, .colour = v->colour, .columns = v->size.columns },
		  t, v->lines ? NULL : "time", clock);
	v->lines += !v->lines + t->latest.count;
	v->head_columns = v->size.columns;
	if (!t->latest.count && !v->without_server) {
		fprintf(v->out, "%s no NFS server%s yet\n", clock, matches ? " matches" : "");
		v->lines++;
		v->without_server = true;
	}
	for (size_t i = 0; i < t->latest.count; i++)
		note_trouble(v, t, i);
	note_events(v, t);
	fflush(v->out);
}
