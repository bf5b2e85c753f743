/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which source of RPC calls is available, and what is missing for a better one.
 */
#ifndef XIDSCOPE_CHOICE_H
#define XIDSCOPE_CHOICE_H

#include <stddef.h>

#include "snapshot/snapshot.h"
#include "rpc/facts.h"

/* Sets of sources. */
#define RPC_SOURCE_BIT(source) (1u << (source))
#define RPC_SOURCES_BPF (RPC_SOURCE_BIT(RPC_SOURCE_BTF) | RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS))
#define RPC_SOURCES_ALL (RPC_SOURCES_BPF | RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS))

enum source_verdict {
	SOURCE_CHECK_OK,
	SOURCE_CHECK_MISSING,
	SOURCE_CHECK_UNKNOWN, /* until sunrpc is loaded */
};

/* One thing that some sources need. Text is static, or part of the facts. */
struct source_check {
	const char *name;
	unsigned int sources; /* those that need it; 0: it only improves one */
	enum source_verdict verdict;
	const char *text; /* what was found */
	const char *fix; /* what to do; NULL if nothing is missing */
};

struct source_choice {
	enum rpc_source source; /* RPC_SOURCE_NONE: none is available now */
	enum rpc_source best; /* the likely choice once sunrpc is loaded */
	struct source_check checks[12];
	size_t check_count;
};

/*
 * Chooses the best of the sources @allowed, from the facts alone: none if sunrpc is
 * not loaded. source_check_is_reason() shows why it is not a better one. After the
 * kernel has refused a source, leave it out of @allowed to get the next one.
 */
void source_choose(struct source_choice *c, const struct rpc_facts *f, unsigned int allowed);

/* Whether @check is a reason why no better source than @source is chosen. */
bool source_check_is_reason(const struct source_check *check, enum rpc_source source);

#endif
