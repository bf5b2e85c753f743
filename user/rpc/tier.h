/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tier of observation is possible, and what stands in the way of a
 * better one.
 */
#ifndef XIDSCOPE_TIER_H
#define XIDSCOPE_TIER_H

#include <stddef.h>

#include "rpc/tier_facts.h"

/* Sets of tiers. */
#define TIER_A 1u /* BPF programs that know sunrpc's types */
#define TIER_B 2u /* BPF programs on classic tracepoints */
#define TIER_C 4u /* the kernel's own statistics, polled */
#define TIERS_ALL (TIER_A | TIER_B | TIER_C)

enum tier_verdict {
	TIER_CHECK_OK,
	TIER_CHECK_MISSING,
	TIER_CHECK_OPEN, /* known only when sunrpc is there */
};

/* One thing that some tiers need. All text is static. */
struct tier_check {
	const char *name;
	unsigned int tiers; /* that need it; 0: it is only of help */
	enum tier_verdict verdict;
	const char *text; /* what was found */
	const char *mend; /* what to do about it; NULL if nothing is missing */
};

struct tier_choice {
	char tier; /* 'A', 'B', 'C', or '-': none is possible now */
	char best; /* the same, when sunrpc is there: if it is not, as far as
		    * can be told */
	struct tier_check checks[12];
	size_t check_count;
};

/*
 * Chooses the best of the tiers @allowed, from the facts alone. Without sunrpc
 * there is none. The reasons for that are those checks that are missing and
 * needed by a better tier. Leave a tier out of @allowed to go on to the next
 * where the kernel has refused it nonetheless.
 */
void tier_choose(struct tier_choice *c, const struct tier_facts *f, unsigned int allowed);

/* The set that holds one tier, of its letter; 0 if there is none such. */
unsigned int tier_set(char tier);

/* Whether @check is a reason why no better tier than @tier is in force. */
bool tier_check_is_reason(const struct tier_check *check, char tier);

#endif
