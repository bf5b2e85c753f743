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
#undef TABLE_ROW
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
#undef TABLE_ROW
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
