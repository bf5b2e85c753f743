// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

#include <ctype.h>
#include <math.h>

#include "base/safe_text.h"
#include "base/time_text.h"
#include "sinks/report.h"
#include "snapshot/table.h"

#define NAME_SIZE (4 * (3 * LABEL_SIZE))
#define NAME_TEXT 60 /* columns of a name in text */
#define NAME_LEAST 11 /* in a narrow terminal, which cuts the last columns */
#define TIME_TEXT 9 /* columns of the time in the live view */
#define NAME_LIVE 24 /* and at most of a name */
#define AROUND 6 /* lines: three of the header, title, head, keys */

#define REVERSE "\x1b[7m"

static const char *const row_names[TOP_BYS] = { "mounts", "owners",  "both",
						"ops",    "servers", "connections" };
static const char *const column_names[TOP_COLUMNS] = { "call/s", "rMB/s", "wMB/s",   "mean",
						       "flight", "wait",  "phase %", "oldest" };
static const int widths[TOP_COLUMNS] = { 6, 5, 5, 7, 6, 5, -11, 7 };

struct top_row {
	char name[NAME_SIZE]; /* safe text */
	double value[TOP_COLUMNS]; /* NAN: not known, or none */
	enum rpc_phase phase;
};

struct top_rows {
	struct top_row *list;
	size_t count;
	const struct top_view *view;
	const struct session *session;
};

/* ---- rows ---- */

static double known_if(bool known, double value)
{
	return known ? value : NAN;
}

/* Adds a row with what happened, unless the filter hides it. */
static void __attribute__((format(printf, 3, 4)))
add_row(struct top_rows *r, const struct session_point *p, const char *format, ...)
{
	const struct calls *c = &r->session->last.calls;
	bool connection = r->view->by == TOP_CONNECTIONS;
	bool depth = r->view->by >= TOP_SERVERS && snapshot_knows(c, RPC_FACT_SLOTS_IN_FLIGHT);
	double seconds = r->session->latest.ns ? (double)r->session->latest.ns / 1e9 : 1;
	uint64_t waits = p->phase_ns[RPC_PHASE_SESSION] + p->phase_ns[RPC_PHASE_SLOT] +
			 p->phase_ns[RPC_PHASE_SEND];
	uint64_t total = p->total.sum_ns;
	enum rpc_phase largest[RPC_PHASES] = {};
	bool phases = session_largest_phases(p->phase_ns, largest);
	struct top_row row = { .phase = largest[0] };
	va_list args;

	va_start(args, format);
	safe_vformat(row.name, sizeof(row.name), format, args);
	va_end(args);
	if (*r->view->filter && !strcasestr(row.name, r->view->filter))
		return;
	row.value[TOP_CALLS] = (double)p->calls / seconds;
	/* No call is without bytes. */
	row.value[TOP_IN] =
		known_if(p->received_bytes || !p->calls, (double)p->received_bytes / 1e6 / seconds);
	row.value[TOP_OUT] =
		known_if(p->sent_bytes || !p->calls, (double)p->sent_bytes / 1e6 / seconds);
	row.value[TOP_MEAN] = known_if(p->calls, (double)total / (double)p->calls);
	row.value[TOP_FLIGHT] =
		depth ? p->in_flight :
			known_if(p->calls || !p->oldest_ns, (double)total / 1e9 / seconds);
	row.value[TOP_WAITING] =
		known_if(!connection && snapshot_knows(c, RPC_FACT_PHASE + RPC_PHASE_SLOT),
			 (double)waits / 1e9 / seconds);
	row.value[TOP_PHASE] = known_if(phases, percent_of(p->phase_ns[row.phase], total));
	row.value[TOP_OLDEST] = known_if(p->oldest_ns, (double)p->oldest_ns);
	*ARRAY_APPEND(r->list, r->count) = row;
}

/* @by NULL: nothing happened. */
static struct session_point point_of(const struct calls_by *by, uint64_t oldest_ns)
{
	const struct rpc_sums *sums = by ? &by->sums : &(const struct rpc_sums){};
	struct session_point p = { .calls = rpc_kinds_sum(sums->calls),
				   .total.sum_ns = rpc_kinds_sum(sums->total_ns),
				   .sent_bytes = rpc_kinds_sum(sums->sent_bytes),
				   .received_bytes = rpc_kinds_sum(sums->received_bytes),
				   .oldest_ns = oldest_ns };

	for (int i = 0; i < RPC_PHASES; i++)
		p.phase_ns[i] = sums->phase_ns[i];
	return p;
}

/* A row for each of a list: what it has grown by. The oldest call of a mount is that of its server. */
static void add_calls_by(struct top_rows *r, const struct calls_by *list, size_t count,
			 enum table_id id)
{
	const struct session *t = r->session;
	bool owner = id != TABLE_MOUNT_CALLS, mount = id != TABLE_OWNER_CALLS;

	ARRAY_EACH(b, list, count) {
		const struct rpc_server_state *v =
			CALLS_FIND(x, &t->last.calls, server, b->server, !owner);
		struct session_point p =
			point_of(table_like(&tables[id], &t->interval.calls, b, 0),
				 v ? v->oldest_ns[server_oldest(v)] : b->oldest_ns);

		if (session_wants_server(t, b->server) &&
		    (!mount || session_wants_mount(t, b->mountpoint)))
			add_row(r, &p, "%s%s%s%s%s%s%s", owner ? b->owner : "", owner ? " " : "",
				mount ? mount_name(b->mountpoint) : "", mount ? " " : "", b->server,
				mount ? ":" : "", mount ? b->export : "");
	}
}

/* Those that have made no call. */
static void add_idle_mounts(struct top_rows *r, const struct calls *c)
{
	ARRAY_EACH(m, c->mounts, c->mount_count) {
		struct calls_by idle = {};

		memcpy(idle.server, m->server, sizeof(idle.server));
		memcpy(idle.export, m->export, sizeof(idle.export));
		memcpy(idle.mountpoint, m->mountpoint, sizeof(idle.mountpoint));
		if (!table_like(&tables[TABLE_MOUNT_CALLS], c, &idle, 0))
			add_calls_by(r, &idle, 1, TABLE_MOUNT_CALLS);
	}
}

static void add_ops(struct top_rows *r, const struct delta *d)
{
	const struct calls *end = &d->end->calls;

	ARRAY_EACH(o, d->calls.ops, d->calls.op_count) {
		const struct rpc_server_state *v =
			CALLS_FIND(x, end, server, o->server, !strcmp(x->oldest_op, o->op));
		struct session_point p = { .oldest_ns = v ? v->oldest_ns[RPC_QUEUE_PENDING] : 0 };

		session_add_op(&p, o);
		if ((p.calls || p.oldest_ns) && session_wants_server(r->session, o->server))
			add_row(r, &p, "%s %s", o->op, o->server);
	}
	/* No call of the op that hangs may have ended. */
	ARRAY_EACH(v, end->servers, end->server_count)
		if (*v->oldest_op && session_wants_server(r->session, v->server) &&
		    !CALLS_FIND(o, &d->calls, op, v->server, !strcmp(o->op, v->oldest_op)))
			add_row(r,
				&(struct session_point){ .oldest_ns =
								 v->oldest_ns[RPC_QUEUE_PENDING] },
				"%s %s", v->oldest_op, v->server);
}

static void add_connections(struct top_rows *r, const struct delta *d)
{
	ARRAY_EACH(c, d->calls.transports, d->calls.transport_count) {
		struct session_point p = { .total.sum_ns = c->rtt_ns,
					   .calls = c->replies,
					   .phase_ns[RPC_PHASE_RTT] = c->rtt_ns,
					   .received_bytes = c->received_bytes,
					   .in_flight = c->slots_in_flight,
					   .oldest_ns = c->oldest_ns };

		if (session_wants_server(r->session, c->server) && *c->remote.address)
			add_row(r, &p, "%s %s %s", c->name, c->server, ENDPOINT(&c->remote));
	}
}

static void add_rows(struct top_rows *r)
{
	const struct session *t = r->session;
	const struct calls *c = &t->last.calls;

	switch (r->view->by) {
	case TOP_MOUNTS:
		add_calls_by(r, c->mount_calls, c->mount_call_count, TABLE_MOUNT_CALLS);
		return add_idle_mounts(r, c);
	case TOP_OWNERS:
		return add_calls_by(r, c->owner_calls, c->owner_call_count, TABLE_OWNER_CALLS);
	case TOP_BOTH:
		return add_calls_by(r, c->owner_mounts, c->owner_mount_count, TABLE_OWNER_MOUNTS);
	case TOP_OPS:
		return add_ops(r, &t->interval);
	case TOP_CONNECTIONS:
		return add_connections(r, &t->interval);
	default:
		for (size_t i = 0; i < t->latest.count; i++)
			add_row(r, &t->latest.points[i], "%s", t->servers[i].name);
	}
}

/* ---- their order ---- */

static bool waits_long(const struct top_row *row)
{
	return row->value[TOP_OLDEST] >= (double)SESSION_OLD_NS; /* false for NAN */
}

static int compare_rows(const void *left, const void *right, void *view)
{
	const struct top_row *a = left, *b = right;
	enum top_column by = ((const struct top_view *)view)->sort;
	double x = a->value[by], y = b->value[by];

	return ORDER(waits_long(b), waits_long(a))                     ?:
		       ORDER(isnan(x), isnan(y))                       ?:
		       ORDER(y, x)                                     ?:
		       ORDER(b->value[TOP_CALLS], a->value[TOP_CALLS]) ?:
									 strcmp(a->name, b->name);
}

/* ---- lines ---- */

/* Writes at most @width characters of a name, made safe. If a name is too long, the number of its network namespace is cut
 * first ("10.0.7.1@4026532213" becomes "10.0.7.1@"), then the begin of an address or the end of another name. */
static void short_name(char *to, size_t size, const char *name, size_t width)
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

/* At most six characters: "999999", "1234k". */
static void format_count(char *text, size_t size, double count)
{
	if (count < 999999.5)
		snprintf(text, size, "%.0f", count);
	else
		snprintf(text, size, "%.0f%c", count / (count < 1e9 ? 1e3 : 1e6),
			 count < 1e9 ? 'k' : 'M');
}

/* At most five characters. */
static void format_rate(char *text, size_t size, double megabytes)
{
	if (megabytes < 99999.5)
		snprintf(text, size, "%.*f", megabytes < 999.95 ? 1 : 0, megabytes);
	else
		snprintf(text, size, "%.0fk", megabytes / 1e3);
}

static void format_cell(char *text, size_t size, const struct top_row *row, int column)
{
	double value = row->value[column];

	if (isnan(value))
		snprintf(text, size, "-");
	else if (column == TOP_CALLS)
		format_count(text, size, value);
	else if (column == TOP_IN || column == TOP_OUT)
		format_rate(text, size, value);
	else if (column == TOP_PHASE)
		snprintf(text, size, "%s %.0f", rpc_phase_names[row->phase], value);
	else if (column == TOP_FLIGHT || column == TOP_WAITING)
		snprintf(text, size, "%.*f", value < 99.95 ? 1 : 0, value);
	else
		format_duration(text, (uint64_t)value);
}

/* @time: "", or of the live view. */
static void write_row(FILE *out, const struct top_view *v, const struct top_row *row, size_t width,
		      const char *time)
{
	char name[NAME_SIZE], cell[32];
	bool red = v->colour && waits_long(row);

	short_name(name, sizeof(name), row->name, width);
	fprintf(out, "%s%s%s%s%*s", red ? RED : "", time, *time ? " " : "", name,
		(int)(width - terminal_columns(name, strlen(name))), "");
	for (int c = 0; c < TOP_COLUMNS; c++) {
		format_cell(cell, sizeof(cell), row, c);
		fprintf(out, " %*s", widths[c], cell);
	}
	fputs(red ? PLAIN "\n" : "\n", out);
}

static void write_head(FILE *out, const struct top_view *v, size_t width, const char *time)
{
	fprintf(out, "%s%-*s%-*s", v->colour ? BOLD : "", *time ? TIME_TEXT : 0, time, (int)width,
		row_names[v->by]);
	for (int c = 0; c < TOP_COLUMNS; c++)
		if (v->colour && !*time && c == (int)v->sort)
			fprintf(out, " " REVERSE "%*s" PLAIN BOLD, widths[c], column_names[c]);
		else
			fprintf(out, " %*s", widths[c], column_names[c]);
	fputs(v->colour ? PLAIN "\n" : "\n", out);
}

static size_t name_width(const struct top_view *v, const char *time)
{
	size_t rest = *time ? TIME_TEXT : 0;

	for (int c = 0; c < TOP_COLUMNS; c++)
		rest += 1 + (size_t)abs(widths[c]);
	return v->columns > rest + NAME_LEAST ? v->columns - rest : NAME_LEAST;
}

void top_lines(FILE *out, const struct top_view *v, const struct session *t, const char *head,
	       const char *time)
{
	struct top_rows r = { .view = v, .session = t };
	size_t width = name_width(v, time);

	LOWER(width, NAME_LIVE);
	if (head)
		write_head(out, v, width, head);
	add_rows(&r);
	ARRAY_EACH(row, r.list, r.count)
		write_row(out, v, row, width, time);
	free(r.list);
}

/* Writes what the columns show; also the text @header, whose lines have their ends. */
static void write_text(FILE *out, const struct top_view *v, const char *text)
{
	for (size_t len; *text; text += len + !!text[len]) {
		len = strcspn(text, "\n");
		fprintf(out, "%.*s\n", (int)(v->rows ? terminal_fit(text, len, v->columns) : len),
			text);
	}
}

void top_write(FILE *out, const struct top_view *v, const struct session *t, const char *header)
{
	struct top_rows r = { .view = v, .session = t };
	char line[512];
	size_t width = v->rows ? name_width(v, "") : NAME_TEXT, shown;

	add_rows(&r);
	if (r.count)
		qsort_r(r.list, r.count, sizeof(*r.list), compare_rows, (void *)v);
	shown = !v->rows || r.count + AROUND <= v->rows ? r.count :
		v->rows > AROUND                        ? v->rows - AROUND :
							  0;
	write_text(out, v, header);
	safe_format(line, sizeof(line),
		    "%s, the last %.3g s until %s, source %s, %zu of %zu rows%s%s%s",
		    t->origin.host, (double)t->latest.ns / 1e9, CLOCK_TIME(t->last.wall),
		    rpc_source_names[t->last.calls.source], shown, r.count,
		    v->frozen ? ", frozen" : "", *v->filter ? ", only " : "", v->filter);
	write_text(out, v, line);
	write_head(out, v, width, "");
	for (size_t i = 0; i < shown; i++)
		write_row(out, v, &r.list[i], width, "");
	if (*t->last.calls.rpc_missing)
		safe_line(out, "%s", t->last.calls.rpc_missing);
	if (session_lacks_choice(t))
		report_choice(out, t);
	if (v->typing)
		safe_line(out, "show names with: %s_", v->filter);
	else if (v->rows)
		write_text(out, v,
			   "m mount o owner b both p op s server c connection <> sort / find f "
			   "freeze q quit"); /* 80 columns */
	free(r.list);
}
