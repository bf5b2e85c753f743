/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sinks of a session: live view, report, JSON and page. */
#pragma once

#include "base/terminal.h"
#include "session/session.h"

/* ---- live.c: a line for each interval and server, and lines between them for trouble ---- */

struct live {
	FILE *out;
	int terminal; /* descriptor whose size is asked for before each interval: it may be resized; -1: none */
	bool colour;
	struct terminal_size size; /* rows 0: the head is not repeated */
	size_t lines; /* since the head */
	size_t events; /* of the session, that have been shown */
	struct live_state *states; /* that last, see live.c */
	size_t state_count;
	bool begun, without_server; /* that is said */
};

/* For standard output: colour and more than 80 columns only on a terminal. */
struct live live_begin(void);

/* Shows the session's latest interval. */
void live_interval(struct live *v, const struct session *t);

void live_end(struct live *v);

/* ---- report.c: sentences and tables ---- */

/* Writes a session that has ended: what limits each server, then tables. Lines longer than @columns are wrapped; 0: none. */
void report_session(FILE *out, const struct session *t, size_t columns);

/* Room for the text of session_event_text(). */
#define SESSION_EVENT_TEXT 512

/* What happened, in @text of SESSION_EVENT_TEXT bytes, which it returns; not escaped. */
const char *session_event_text(char *text, const struct session_event *e);

/* Room for the text of format_duration(). */
#define DURATION_SIZE 16

/* Three digits and a unit: "42 ns", "1.05 us", "12.3 ms", "4.10 s"; ">275 s" for UINT64_MAX. */
void format_duration(char *text, uint64_t ns);

/* 0 of nothing. */
double percent_of(uint64_t part, uint64_t whole);

/* Writes the command for a shell of root that changes the verdict's setting; nothing for a mount option. */
void report_command(FILE *out, const struct verdict *v);

/* ---- report_tables.c ---- */

/* The ops of each server, the costliest first. */
void report_ops(FILE *out, const struct session *t);

/* Whose calls: of a mount, or of an owner. */
enum share_by { SHARE_BY_MOUNT, SHARE_BY_OWNER, SHARE_BYS };

/* The part of a mount or an owner of a session's calls to a server, ns. */
struct calls_share {
	const char *name; /* mount point, "": none; or owner */
	const char *export; /* of a mount */
	const struct rpc_sums *sums;
	uint64_t calls, total_ns, sent_bytes, received_bytes, errors;
	uint64_t waited_ns; /* for a session slot, an RPC slot, and to send */
	uint64_t held_ns; /* an RPC slot: from when it was there to the end of the call */
};

/* Those with calls of @server that are wanted, the one with the most time first; @sum: of all. Returns how many; free
 * *@shares. Without memory none, and where it is not known whose a call is. */
size_t session_shares(const struct session *t, const char *server, enum share_by by,
		      struct calls_share **shares, struct calls_share *sum);

/* The mounts and the owners of each server: how much of its time each held slots, and waited. */
void report_shares(FILE *out, const struct session *t);

/* A line of the summary: whose calls hold the slots of @server, and whose wait. */
void summarise_shares(FILE *out, const struct session *t, const char *server, enum share_by by);

void report_episodes(FILE *out, const struct session *t);
void report_slow_calls(FILE *out, const struct session *t);
void report_events(FILE *out, const struct session *t);

/* The ops with calls that are wanted, of @server: the one with the largest sum of time first.
 * Returns how many; free *@ops. Without memory none. */
size_t session_ops(const struct session *t, const char *server, const struct op_delta ***ops);

/* ---- report_connections.c: which connection is slow or stuck, by its addresses ---- */

#define BAD_CONNECTIONS 4

struct bad_connection {
	char which[LABEL_SIZE + 2 * ENDPOINT_SIZE + 64]; /* the same while it is slow, or stuck */
	char how[192];
	double seconds; /* so long it is stuck; slow: 0 */
};

/* Those to @server that are slow or stuck in the time of @d, the slowest first. Returns how many there are; at most
 * BAD_CONNECTIONS are in @list, as safe text. */
size_t report_bad_connections(struct bad_connection *list, const struct delta *d,
			      const char *server);

/* Lines of the summary: how unequal the load of @server's connections was in the time of
 * @d, and which of them are slow or stuck. */
void report_connections(FILE *out, const struct delta *d, const char *server);

/* ---- session_json.c: as docs/trace.schema.json describes it ---- */

/* Raised when a member changes its meaning or goes; new members leave it. */
#define SESSION_JSON_VERSION 1

/* Writes a session that has ended, and a newline. It must have kept its intervals. */
void session_json_write(FILE *out, const struct session *t);

/* ---- page.c: one file for a browser that needs no network: the template of user/sinks/page/ with the session's JSON in it ---- */

/* Puts @size bytes of JSON into the template. A name in it cannot end the element it is in: each '<' is escaped. */
void page_write(FILE *out, const char *json, size_t size);
