/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outputs of a session: live view, report, JSON and page. */
#pragma once

#include "base/std.h"
#include "base/terminal.h"
#include "session/session.h"

/* Of a terminal. */
#define BOLD "\x1b[1m"
#define RED "\x1b[31m"
#define PLAIN "\x1b[0m"

/* ---- live.c: a line for each interval and server, and lines between them for trouble ---- */

struct live {
	FILE *out;
	int terminal; /* descriptor that is asked for its size before each interval; -1: none */
	bool colour;
	struct terminal_size size; /* rows 0: the head is not repeated */
	size_t lines; /* since the head */
	size_t head_columns; /* of the terminal then: it may have changed since */
	size_t events; /* of the session: already shown */
	bool begun, without_server; /* the line about it has been written */
};

/* For standard output: colour and more than 80 columns only on a terminal. */
struct live live_begin(void);

/* Shows the session's latest interval. */
void live_interval(struct live *v, const struct session *t);

/* ---- report.c: sentences and tables ---- */

/* Writes a session that has ended: what limits each server, then tables. Lines longer than @columns are wrapped; 0: none. */
void report_session(FILE *out, const struct session *t, size_t columns);

/* The same as Markdown, at most MARKDOWN_LINES lines. */
void report_markdown(FILE *out, const struct session *t);

/* Writes what to change, and what that gains: "set SETTING to 64, then mount again. ..."; "": nothing. Returns @text. */
#define ADVICE_SIZE (VERDICT_SETTING_SIZE + VERDICT_VALUE_SIZE + LABEL_SIZE + 192)
const char *advice_text(char *text, const struct verdict *v);

/* Lists what a filter that matches nothing could have named. */
void report_choice(FILE *out, const struct session *t);

#define SESSION_EVENT_TEXT 512

/* Writes what happened to @text, of SESSION_EVENT_TEXT bytes, and returns it. It is not escaped. */
const char *session_event_text(char *text, const struct session_event *e);
#define EVENT_OF_SESSION(e) session_event_text((char[SESSION_EVENT_TEXT]){ 0 }, e)

/* Room for the text of format_duration(). */
#define DURATION_SIZE 16

/* Three digits and a unit: "42 ns", "1.05 us", "12.3 ms", "4.10 s"; ">275 s" for UINT64_MAX. */
const char *format_duration(char *text, uint64_t ns);
#define DURATION(ns) format_duration((char[DURATION_SIZE]){ 0 }, ns) /* valid in its block */

/* 0 if @whole is 0. */
double percent_of(uint64_t part, uint64_t whole);

/* The phases with the most of @total_ns, in percent: "slot 75 rtt 25". At most two, with at least 1 %. Returns @text. */
#define PHASES_SIZE 48
const char *format_phases(char text[PHASES_SIZE], const uint64_t *phase_ns, uint64_t total_ns);
#define PHASES(phase_ns, total_ns) format_phases((char[PHASES_SIZE]){ 0 }, phase_ns, total_ns)

/* ---- report_tables.c ---- */

/* The ops of each server, the costliest first. */
void report_ops(FILE *out, const struct session *t);

/* "no mount" for calls of no mount. */
const char *mount_name(const char *mountpoint);

/* The division of a server's calls: by mount, by owner, by both. */
enum share_by { SHARE_BY_MOUNT, SHARE_BY_OWNER, SHARE_BY_BOTH, SHARE_BYS };

/* The part of a mount or an owner, or of an owner on a mount, in a session's calls to a server. Times are ns. */
struct calls_share {
	const char *name; /* mount point, "": none; by owner: the owner */
	const struct calls_by *of;
	uint64_t calls, total_ns, sent_bytes, received_bytes, errors;
	uint64_t waited_ns; /* waits for a session slot, for an RPC slot, and to send */
	uint64_t held_ns; /* RPC slots held: from getting one to the end of the call */
};

/* Lists the mounts, owners or both with calls to @server that the filter accepts, the one with the most time first. @sum: of all, also those
 * that the filter does not accept. Returns their number; free *@shares. It is 0 without memory, and if the source does not know
 * mounts or owners. */
size_t session_shares(const struct session *t, const char *server, enum share_by by,
		      struct calls_share **shares, struct calls_share *sum);

/* Writes the mounts and owners of each server: for how much of the time each held slots, and waited. */
void report_shares(FILE *out, const struct session *t);

/* Writes a line of the summary: whose calls hold the slots of @server, and whose calls wait. */
void summarise_shares(FILE *out, const struct session *t, const char *server, enum share_by by);

void report_episodes(FILE *out, const struct session *t);
void report_slow_calls(FILE *out, const struct session *t);
void report_files(FILE *out, const struct session *t);
void report_events(FILE *out, const struct session *t);

/* Lists the ops with calls to @server, the one with the most time first. Returns their number, 0 without memory; free *@ops. */
size_t session_ops(const struct session *t, const char *server, const struct rpc_op ***ops);

/* ---- report_tables.c: slow and stuck connections, with their addresses ---- */

/* Writes lines of the summary: how unequal the load of @server's connections was in @d, and which are slow or stuck. */
void report_connections(FILE *out, const struct delta *d, const char *server);

/* ---- session_json.c: as docs/trace.schema.json describes it ---- */

/* Increased when a member changes its meaning or is removed, not for new members. */
#define SESSION_JSON_VERSION 1

/* Writes a session that has ended, with .keep_intervals, and a newline. */
void session_json_write(FILE *out, const struct session *t);

/* ---- a page that needs no network: the template of user/sinks/page/ with the session's JSON ---- */

/* Puts @size bytes of JSON into the template. Each '<' is escaped: no name can end the element that holds the JSON. */
void page_write(FILE *out, const char *json, size_t size);

/* ---- top.c: a row for each mount, owner, both, op, server or connection, with its figures of the latest interval ---- */

enum top_by { TOP_MOUNTS, TOP_OWNERS, TOP_BOTH, TOP_OPS, TOP_SERVERS, TOP_CONNECTIONS, TOP_BYS };

enum top_column {
	TOP_CALLS, /* that ended, each second; of a connection replies */
	TOP_IN, /* MB/s */
	TOP_OUT,
	TOP_MEAN, /* ns; of a connection from transmit to reply */
	TOP_FLIGHT, /* calls of a server or connection at the interval's end; of others the mean number in flight */
	TOP_WAITING, /* mean number of calls that waited for a slot, or to send */
	TOP_PHASE, /* with the most time; its share of the time in percent */
	TOP_OLDEST, /* ns that the oldest unanswered call has waited; of a mount that of its server */
	TOP_COLUMNS,
};

struct top_view {
	enum top_by by;
	enum top_column sort; /* the largest first, below rows that have waited for 5 s */
	char filter[32]; /* a part of the names that are shown; "": all */
	bool typing, frozen;
	bool colour;
	size_t columns, rows; /* of the screen; rows 0: text without a limit and without keys */
};

/* Writes rows as lines of a log: each with the @time before it. @head: what is above the times; NULL: no head. */
void top_lines(FILE *out, const struct top_view *v, const struct session *t, const char *head,
	       const char *time);

/* Writes the latest interval, below @header, lines of safe text. */
void top_write(FILE *out, const struct top_view *v, const struct session *t, const char *header);

/* ---- a report as Markdown (CommonMark), for a ticket ---- */

#define MARKDOWN_LINES 60

/* Writes a report of safe text as at most MARKDOWN_LINES lines. Its lines are items ("- TEXT", the headline first), commands that
 * belong to the item before (behind four blanks), and tables (all others, behind an empty line). Lines before the first item are
 * left out. No name in the report can begin markup. */
void markdown_write(FILE *out, const char *report);
