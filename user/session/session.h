/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session of `xidscope trace`: all that its sinks show comes from its snapshots. A replay of recorded snapshots therefore
 * shows the same. */
#pragma once

#include "limits/episodes.h"
#include "limits/headline.h"
#include "snapshot/delta.h"

/* Shell patterns: fnmatch(3). NULL: all. */
struct session_filter {
	const char *server;
	const char *mount; /* a mount point: its server, with the calls of that mount */
	double slower; /* slow calls take at least this many seconds; 0: none are kept */
};

/* The most intervals that are kept. With more, each two become one. */
#define SESSION_INTERVALS 600
#define SESSION_SLOW_CALLS 100 /* the slowest calls that are kept */
#define SESSION_SLOW_SHOWN 10 /* slow calls in the report */
#define SESSION_EVENTS 1000 /* the first events that are kept */

/* The live view reports calls that wait this long. */
#define SESSION_OLD_NS UINT64_C(5000000000)

/* What happened on one server in an interval. */
struct session_point {
	/* Sums: 64-bit counters up to .in_flight. */
	struct time_histogram total;
	uint64_t calls; /* that ended */
	uint64_t phase_ns[RPC_PHASES];
	uint64_t sent_bytes, received_bytes;
	uint64_t saturated_ns; /* of the transport and the limit with the most */
#define MEMBER_OF(name, ...) uint64_t name;
	TRANSPORT_COUNTS(MEMBER_OF)
#undef MEMBER_OF
	uint64_t errors; /* except those that programs expect, such as ENOENT */
	/* At the end of the interval; in merged intervals the largest value. */
	uint32_t in_flight, slots; /* of all transports; slots 0: not known, or no limit */
	uint64_t oldest_ns; /* age of the oldest call */
};

struct session_interval {
	double time; /* its begin, seconds since the epoch */
	uint64_t ns; /* its length */
	struct session_point *points; /* by the number of the server */
	size_t count; /* servers known then */
};

enum session_event_kind {
	SESSION_FAULT,
	SESSION_KERNEL_EVENT,
	SESSION_HUNG,
	SESSION_ANSWERS, /* it answers again after it hung */
	SESSION_DISCONNECT,
	SESSION_SOURCE, /* the source of NFS calls has changed; its counts begin at 0 */
	SESSION_EVENT_KINDS,
};

extern const char *const session_event_names[SESSION_EVENT_KINDS];

struct session_event {
	enum session_event_kind kind;
	double time; /* seconds since the epoch */
	char name[LABEL_SIZE]; /* server, device, or source */
	char what[40]; /* of a kernel event its kind; of a fault its severity */
	uint64_t hung_ns; /* SESSION_ANSWERS: for how long it hung */
	unsigned int code; /* of a fault */
	bool nvswitch; /* a fault: it is an SXid */
	uint64_t count;
};

struct session_server {
	char name[LABEL_SIZE];
	size_t number, rank; /* from session_end() on: of its points, and its place */
	uint64_t hung_ns; /* time without an answer; 0: it answers */
	char *remedy; /* lines that change the verdict's setting on this machine; NULL: none */
	struct session_point sums; /* of all intervals */
};

/* The machine and the program of a session. Texts from a recording may be any bytes. */
struct session_origin {
	char host[65], kernel[65];
	char version[24]; /* the program's */
	int utc_offset; /* of the host's local time: seconds east */
};

struct session {
	struct session_origin origin;
	struct known_fault *faults; /* at the end, all; open ones first, then by gravity */
	size_t fault_count;
	struct session_filter filter;
	bool keep_intervals; /* JSON and page need them; set it before the first snapshot */
	bool recent; /* what matters is judged by the last one to two minutes, not by the whole session */
	struct snapshot first, last;
	struct delta interval; /* the latest, which ends with the last snapshot */
	struct delta total; /* of all of the session, from session_end() on */

	struct session_server *servers;
	size_t server_count;
	struct session_interval latest;
	struct session_interval *intervals;
	size_t interval_count;
	size_t merged; /* how many original intervals each of them has */
	size_t pending; /* how many the last of them has */

	struct session_event *events;
	size_t event_count;
	uint64_t source_number; /* at the last snapshot */
	uint64_t events_left_out;
	struct slow_call *slow; /* the slowest first */
	size_t slow_count;
	uint64_t slow_calls; /* all, also those that are not kept */
	struct limit_sums limits; /* of all intervals; .recent: those after judged_wall */
	struct limit_sums next; /* .recent: take the place of .limits after a minute */
	double judged_wall, next_wall; /* their begin */
	struct episodes episodes;
};

/* Takes over the next snapshot; *@s is then empty. The second and each later one end an interval, which is then in .interval
 * and .latest. Returns 0, or -ENOMEM after adding a part. */
int session_add(struct session *t, struct snapshot *s);

/* Call it after the last snapshot. Makes .total, sorts the events by time and the servers, sick ones first, and ends the episodes.
 * Returns 0 or -ENOMEM. */
int session_end(struct session *t);

/* Initialise with {}, and set .filter, .keep_intervals and .recent. */
void session_free(struct session *t);

/* What matters most, for the filter's servers: after the last snapshot, or at any moment between two. */
void session_headline(const struct session *t, struct headline *h);

size_t session_open_before(const struct session *t); /* open faults, reported before the session */
double session_seconds(const struct session *t); /* from the first to the last snapshot */
double session_wall(const struct session *t, uint64_t monotonic_ns); /* since the epoch */

/* Whether the filter accepts it. */
bool session_wants_server(const struct session *t, const char *server);
bool session_wants_mount(const struct session *t, const char *mountpoint);

bool session_wants_file(const struct session *t, const struct file_calls *f, bool directory);

/* Whether nothing matches the filter by name at the end, although NFS was observed. */
bool session_lacks_choice(const struct session *t);

/* Calls that are not in .files: all calls of the servers (files: READ, WRITE and COMMIT), less those of .files. With --mount
 * it is not known which of them are wanted. */
struct file_calls session_files_rest(const struct session *t, bool directory);

/* Adds the calls of an op in a delta. */
void session_add_op(struct session_point *p, const struct rpc_op *o);

/* Sorts the phases that took time into @largest, the largest first. Returns their number. */
size_t session_largest_phases(const uint64_t *phase_ns, enum rpc_phase *largest);

/* ---- connections.c: compares the connections of a server ---- */

struct connection {
	const struct rpc_transport_state *transport;
	double share; /* of the server's replies, 0 to 1 */
	uint64_t mean_ns; /* from transmit to reply; 0: without replies */
	bool slow; /* mean_ns is more than twice that of the median connection */
	bool stuck; /* a call has been unanswered for 5 s */
};

struct connections {
	struct connection *list; /* free with free() */
	size_t count;
	uint64_t median_ns; /* of their mean_ns; 0: none had replies */
};

/* Judges the connections that @server has at the end of @d by what they did in that time. The client gives a slow connection
 * fewer calls, therefore few replies prove a connection slow only if it has less than half of the median connection's
 * replies. Without memory the list is empty. */
struct connections connections_of(const struct delta *d, const char *server);

/* ---- recording.c ----
 *
 * Snapshots in a file, to report on them later and elsewhere: a gzip file of lines of JSON, which docs/WHY.md describes.
 * A recording is read whole or not at all. */

struct recorder;

/* Writes the head to @fd, which recorder_end() closes. NULL: no memory; @fd stays open. */
struct recorder *recorder_new(int fd, const struct session_origin *origin);

/* Writes one snapshot, all of it. Returns 0 or -errno; -E2BIG: the snapshot has more entries than a recording may have.
 * After an error nothing more is written. */
int recorder_add(struct recorder *r, const struct snapshot *s);

/* Writes the end, closes, and frees. Returns 0 or -errno. NULL is ignored. */
int recorder_end(struct recorder *r);

struct recording;

/* @fd: closed by recording_free(). NULL: no memory; @fd stays open. */
struct recording *recording_new(int fd);
void recording_free(struct recording *r);

/* Reads the next snapshot into @s, which must be empty; texts that are pointers are valid until recording_check() or
 * recording_free(). Returns 1; 0 at the end; or
 * -EBADMSG it is no recording, or damaged from here on;
 * -EILSEQ it is damaged somewhere: its checksum is wrong;
 * -EPROTO its histograms have other buckets;
 * -ENODATA it was cut here;
 * -EIO, -ENOMEM and other errors of reading. */
int recording_next(struct recording *r, struct snapshot *s);

/* Reads the whole recording, then goes back to its begin. Returns 0; -ENOMSG if it has no snapshot; or an error of
 * recording_next(), after which nothing can be read. */
int recording_check(struct recording *r);

/* Where it was made; known after recording_check(). */
const struct session_origin *recording_origin(const struct recording *r);

/* Describes @err, an error of recording_check(), and up to where the recording is whole. The text continues "the recording
 * ...: ". Returns @text, of RECORDING_PROBLEM_SIZE bytes. */
#define RECORDING_PROBLEM_SIZE 160
const char *recording_problem(const struct recording *r, int err, char *text);
