/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NFS calls that end with an error, and what the error means. failures.c has the table. */
#pragma once

#include "snapshot/delta.h"

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

/* Whether so many fail, of all @calls to the server, or of its READs, WRITEs or COMMITs (@data) if they lose data, that their
 * times and bytes show no limit. */
enum { DATA_READS, DATA_WRITES, DATA_COMMITS, DATA_CALLS };
bool failures_are_common(const struct failures *f, uint64_t calls, const uint64_t *data);

/* Part of failures_text() if data were lost. */
#define DATA_WERE_LOST "data were not "

/* "252 of 252 WRITEs to /mnt/v4 end with ENOSPC, data were not written (slurm:71, since 14:03:22): no space is left on the server."
 * If calls to another mount, or with another error, fail as well: " Also 9 of 9 READs to /mnt/v3 end with ESTALE (slurm:72, since
 * ...)." There must be a failures_worst(). Returns @text. */
#define FAILURE_TEXT_SIZE 320
const char *failures_text(char *text, const struct failures *f);
