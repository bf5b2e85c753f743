/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What limits the calls to a server, what to change and what that gains: pure functions of the sums over the
 * intervals between snapshots. docs/VERDICT.md has the rules, the formulas and their sources. */
#pragma once

#include "snapshot/calls.h"
#include "snapshot/delta.h"

/* What bounds the calls. */
enum bound {
	BOUND_SESSION, /* slots of the NFSv4 session */
	BOUND_SLOT, /* RPC slots */
	BOUND_SEND, /* the connection does not take data faster */
	BOUND_DELAY, /* the server asks to try again later */
	BOUND_RESEND, /* calls, or their segments, are lost */
	BOUND_CREDENTIALS, /* upcalls for credentials */
	BOUND_NETWORK, /* TCP's window, or the link */
	BOUND_SERVER, /* the server, and a network without a limit of its own */
	BOUND_CLIENT_CPU, /* the client's own work */
	BOUND_APPLICATION, /* too few calls at once */
	BOUND_READAHEAD, /* too little is read ahead */
	BOUND_WRITEBACK, /* dirty pages are at their limit, or are synced one file after the other */
	BOUND_METADATA, /* attributes are asked for */
	BOUND_HUNG, /* no call is answered */
	BOUND_NONE, /* nothing, or it cannot be decided */
	BOUNDS,
};

/* "session", "client_cpu", ...: as in rpc_limit, in JSON and in the docs. */
extern const char *const bound_names[BOUNDS];

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH, CONFIDENCES };

extern const char *const confidence_names[CONFIDENCES]; /* "low", "medium", "high" */

/* A range of the calls in flight per transport, and the times of the calls in it. */
struct verdict_load {
	uint64_t calls; /* 0: the session saw none */
	double in_flight; /* mean per transport, as calls end */
	double rtt_ns; /* mean */
};

/* What a verdict rests on. Times are nanoseconds. */
struct verdict_numbers {
	double seconds; /* observed */
	double stall_seconds; /* of the last time without answers, if there was one; in no other figure */
	double active_seconds; /* of the intervals in which calls ended or waited */
	uint64_t calls; /* that ended */
	double concurrency; /* calls that existed at once while active, by Little's law */
	double in_flight; /* mean per transport as calls end, that call included; 0: unknown */
	uint32_t slots; /* of the limit that fills first, for one transport; 0: unknown */
	uint32_t transports;
	double hold_ns; /* mean time for which a call holds its slot */
	double rtt_ns; /* mean */
	double share[RPC_PHASES]; /* of the calls' time, 0 to 1 */
	double credentials_share; /* upcalls, a part of setup */
	double earlier_share; /* of all their time: before the observation, without their waits; in no other figure */
	double saturated_share[RPC_LIMITS]; /* of the active time, of the worst transport */
	double lost_share; /* of TCP's segments, 0 to 1 */
	/* Of the connections, as long as data came; 0: not known. */
	double window_bytes; /* the receiver's window */
	double window_share; /* of it, under way at a time, at least */
	double carrying_share; /* of the looks at them, data were on the way */
	double min_rtt_ns, srtt_ns; /* round trip: the shortest, and with the time in queues */
	double cpu_waiting_share; /* of the active time: a task waited for a CPU; 0: none, or unknown */
	uint64_t oldest_ns; /* age of the oldest call without an answer */
	uint64_t retransmits, timeouts, disconnects, connects;
	struct verdict_load low, high; /* at half the slots or fewer; at nearly all */
};

#define VERDICT_SETTING_SIZE 48
#define VERDICT_VALUE_SIZE 24
#define VERDICT_SENTENCE_SIZE 512

struct verdict {
	char server[LABEL_SIZE];
	enum bound bound_by;
	enum confidence confidence;
	/* A sysctl, module parameter or mount option to change; "": there is none. */
	char setting[VERDICT_SETTING_SIZE];
	char value[VERDICT_VALUE_SIZE]; /* to set; "": there is none */
	char mountpoint[LABEL_SIZE]; /* of the mount that it is of; "": of no single one */
	bool remount; /* it holds from the next mount on */
	/* By how much the change raises the throughput while calls run, as a factor: 1 is nothing, 0: not known. What is
	 * expected supposes that the server serves more at once than the slots let it. */
	double gain_expected;
	double gain_at_most;
	char sentence
		[VERDICT_SENTENCE_SIZE]; /* one line; what comes from outside is escaped in sinks */
	struct verdict_numbers numbers;
};

struct server_sums; /* of one server */

/* Sums over one interval or many, in the same room. Initialise with {}. */
struct limit_sums {
	struct server_sums *servers;
	size_t count;
};

void limit_sums_free(struct limit_sums *h);

/* Adds an interval. Returns 0 or -ENOMEM: then a part is not added. */
int limit_sums_add(struct limit_sums *h, const struct delta *d);

/* Of intervals that are judged one by one: forgets all of this one but the looks at links at their rate. */
void limit_sums_next(struct limit_sums *h);

/* Whether the source measures the phases of calls; without them the verdict is none. */
bool verdict_is_possible(const struct calls *c);

/* For how long calls to the server have waited or timed out, and none was answered; 0: for less than HUNG_NS. */
uint64_t server_hangs(const struct limit_sums *h, const char *server);

/* The verdict on one server; of one without sums: none. */
struct verdict verdict_of(const struct limit_sums *h, const char *server);
