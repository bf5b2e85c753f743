/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What limits the calls to a server, what to change and what that gains: pure functions of sums over intervals. verdict.c
 * explains the order of the rules; docs/VERDICT.md has the thresholds, the formulas and their sources. */
#pragma once

#include "snapshot/calls.h"
#include "snapshot/delta.h"

/* What limits the calls. */
enum bound {
#define TABLE_ROW(BOUND, name) BOUND_##BOUND,
#include "bounds.inc"
	BOUNDS,
};

/* "session", "client_cpu", ...: the names in rpc_limit, JSON and documents. */
extern const char *const bound_names[BOUNDS];

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH, CONFIDENCES };

extern const char *const confidence_names[CONFIDENCES]; /* "low", "medium", "high" */

/* A range of calls in flight per transport, and how long replies took in it. */
struct verdict_load {
	uint64_t calls; /* 0: the load was never in this range */
	double in_flight; /* mean per transport, as calls end */
	double rtt_ns; /* mean */
};

/* The figures on which a verdict rests: verdict_numbers.tsv has those that are one number. Times are nanoseconds unless the
 * name says seconds. */
struct verdict_numbers {
#define TABLE_ROW(name, type, member, ...) type member;
#include "verdict_numbers.inc"
	double share[RPC_PHASES]; /* of the calls' time, 0 to 1 */
	double saturated_share[RPC_LIMITS]; /* of the active time; the worst transport */
	struct verdict_load low, high; /* at half the slots or fewer; at nearly all */
};

#define VERDICT_SETTING_SIZE 48
#define VERDICT_VALUE_SIZE 24
#define VERDICT_SENTENCE_SIZE 640

struct verdict {
	char server[LABEL_SIZE];
	enum bound bound_by;
	enum confidence confidence;
	/* A sysctl, module parameter or mount option to change; "": there is none. */
	char setting[VERDICT_SETTING_SIZE];
	char value[VERDICT_VALUE_SIZE]; /* its new value; "": there is none */
	char mountpoint[LABEL_SIZE]; /* to which the setting belongs; "": to no single one */
	bool remount; /* the setting takes effect with the next mount */
	/* Factors by which the change raises the throughput while calls run. 1: not at all; 0: not known. The expected gain
	 * supposes that the server can serve more concurrent calls. */
	double gain_expected;
	double gain_at_most;
	char sentence[VERDICT_SENTENCE_SIZE]; /* one line; sinks escape names from outside */
	size_t failures_len; /* its first bytes, that say which calls fail, if they do not decide */
	size_t closings_len; /* the next ones, that say which connection is closed repeatedly */
	struct verdict_numbers numbers;
};

struct server_sums; /* of one server */

/* The sums of all servers over one interval or many. Initialise with {}. */
struct limit_sums {
	uint64_t ns; /* of all intervals, also those before a server was used */
	struct server_sums *servers;
	size_t count;
};

void limit_sums_free(struct limit_sums *h);

/* Adds an interval. */
void limit_sums_add(struct limit_sums *h, const struct delta *d);

/* For a caller that judges each interval by itself: clears all sums, but keeps the looks at links at their rate, OPENs that
 * wait, and stalls. */
void limit_sums_next(struct limit_sums *h);

/* Whether the phases of calls are not @unknown: as of struct calls. Otherwise each verdict is none. */
bool verdict_is_possible(uint64_t unknown);

/* How long calls to the server have waited or timed out without an answer, ns; 0: less than HUNG_NS. */
uint64_t server_hangs(const struct limit_sums *h, const char *server);

/* The verdict on one server; none if it has no sums. */
struct verdict verdict_of(const struct limit_sums *h, const char *server);

/* ---- failures.c: NFS calls that end with an error, and what the error means. It has the table. ---- */

/* What an error means, the gravest first. */
enum failure {
	FAILURE_DATA, /* data were not written, or cannot be read */
	FAILURE_STALE, /* a file that is open or known is gone */
	FAILURE_TICKET, /* a user's Kerberos ticket has expired */
	FAILURE_REFUSED, /* the server refuses the credentials */
	FAILURE_LOCKS, /* calls to the server's lock manager fail */
	FAILURE_STATE, /* the server does not know the client's session, locks or open files */
	FAILURE_GRACE, /* the server has restarted; it counts if that lasts */
	FAILURE_NONE, /* ordinary (ENOENT, EEXIST), or a wait that is counted elsewhere (NFS4ERR_DELAY) */
};

extern const char *const failure_names[FAILURE_NONE]; /* "data", "stale", "ticket", ... */

/* The calls of one op to one mount that ended with one error. */
struct failed_calls {
	char op[RPC_OP_LEN];
	char status[RPC_STATUS_LEN];
	char mountpoint[LABEL_SIZE]; /* "": not known */
	char owner[LABEL_SIZE]; /* one or more, with spaces; "": not known */
	double since, until; /* the first interval with one begins, the last ends; 0: not known */
	uint64_t lasted_ns, quiet_ns; /* between these times; since then */
	bool over; /* for a while there was none */
	uint64_t count;
	/* Of how many calls up to the last failed one these failed: the least of the server's calls of the op, and the mount's and the owners' of the
	 * kind. */
	uint64_t among;
	uint64_t since_last; /* such calls after the last failed one, which are not in it yet */
	uint64_t last_count; /* of the last interval that was added */
	bool kerberos; /* the mount has sec=krb5* */
	bool soft; /* the mount is soft, and the server did not answer */
	bool again; /* the client makes the calls again elsewhere (pNFS) */
	bool hard; /* the mount is known to be hard */
};

/* One server's. If there are more than fit, the gravest are kept. Initialise with {}. */
#define FAILURES 16
struct failures {
	struct failed_calls list[FAILURES];
	int count;
};

/* Beside other reasons of a refusal, with Kerberos: rpc.gssd then answers EACCES. */
#define NO_TICKET ", or the user has no Kerberos ticket (kinit)"

/* Whether the client calls @op for itself: to keep its lease and its session. Such calls also time out on hard mounts. */
bool is_clients_own(const char *op);

enum failure failure_of(const char *op, const char *status);

/* Adds the errors of an interval. @mountpoint: only of calls to this mount; NULL: to any. @meaning: only these; FAILURE_NONE: all. */
void failures_add(struct failures *f, const struct delta *d, const char *server,
		  const char *mountpoint, enum failure meaning);

/* The gravest that is worth a sentence; NULL: there is none. One lost write is enough; other errors need enough calls to rule
 * out a user's mistake. */
const struct failed_calls *failures_worst(const struct failures *f);

bool failures_last(const struct failures *f); /* whether calls failed in the last interval */

/* Adds those whose calls fail to @owners, of LABEL_SIZE bytes. Returns whether there are more, or data were not written for the
 * first time, which *@unwritten remembers. */
bool failures_grow(const struct failures *f, bool *unwritten, char *owners);

uint64_t failures_of_state(const struct failures *f); /* calls that ended with such an error */

/* Whether data were not written or not read: a READ, WRITE or COMMIT that failed. A MKDIR beyond a quota loses none. */
bool failure_loses_data(const struct failed_calls *f);
bool failure_is_final(const struct failed_calls *f); /* or a lock was not given back */

/* Whether so many fail, of all @calls to the server, or of its READs, WRITEs or COMMITs (@data) if they lose data, that their
 * times and bytes show no limit. */
enum { DATA_READS, DATA_WRITES, DATA_COMMITS, DATA_CALLS };
bool failures_are_common(const struct failures *f, uint64_t calls, const uint64_t *data);

/* Part of failures_text() if data were lost. */
#define DATA_WERE_LOST "data were not "

/* "252 of 252 WRITEs to /mnt/v4 end with ENOSPC, data were not written (slurm:71, since 14:03:22): no space is left on the server."
 * If calls to another mount, or with another error, fail as well: " Also 9 of 9 READs to /mnt/v3 end with ESTALE (slurm:72, since
 * ...)." There must be a failures_worst(). Returns @text. */
#define FAILURE_TEXT_SIZE VICTIMS_TEXT
const char *failures_text(char *text, const struct failures *f);
