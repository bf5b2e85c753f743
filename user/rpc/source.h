/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ways to observe sunrpc, each behind the same operations. A new source needs its operations here, a row of the
 * table in rpc_observer.c, and checks in source_checks.tsv of what it requires of the kernel. */
#pragma once

#include "base/log.h"
#include "owners/mount_calls.h"
#include "rpc/rpc_observer.h"
#include "snapshot/snapshot.h"

struct source_setup {
	const struct log *log; /* must outlive the source */
	const char *root; /* before the paths of proc and sysfs: "", or a folder of a test, which
			   * must outlive the source */
	const char *tracefs; /* where tracefs is mounted */
	const char *types_file; /* with the types of the loaded sunrpc; NULL: the kernel has them */
	const struct rpc_options *options; /* must outlive the source; some are for btf only */
	bool owners; /* count the calls of each owner as well, if the source can */
	bool accept_no_waits; /* accept it even if it cannot observe waits */
};

struct source_ops {
	/* Loads what the source needs in the kernel. Returns its state; or NULL with errno
	 * set, after logging the reason unless memory is short. */
	void *(*try)(const struct source_setup *setup);
	/* Begins to count. Returns 0; or -errno, after logging the reason, if calls
	 * cannot be counted: then call detach(). NULL: try() has begun already. */
	int (*attach)(void *state);
	/* Adds to @s what was counted and the state of the hooks, to @s->unknown the facts that
	 * cannot be observed, and to @clients the calls of each. Returns 0 or -errno. */
	int (*read)(void *state, struct snapshot *s, struct client_list *clients);
	/* Ends the observation and frees @state. */
	void (*detach)(void *state);
	/* Adds the source's hooks to @s as missing. NULL: it has none. */
	void (*missing)(struct snapshot *s);
};

extern const struct source_ops btf_source; /* BPF programs that read sunrpc's types */
extern const struct source_ops tracepoints_source; /* BPF programs on trace events */
extern const struct source_ops mountstats_source; /* the kernel's own statistics, polled */
