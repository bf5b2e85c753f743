/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of everything observed at one moment, in plain structs.
 *
 * Hooks fill it from maps and the kernel; sinks read it and use neither maps nor the kernel. */
#pragma once

#include "snapshot/calls.h"
#include "snapshot/fault_counts.h"
#include "snapshot/fields.h"
#include "snapshot/self_fields.h"

/* The program itself: hooks, drops and cost; and the results of its health rules. */
#define SELF_HOOKS 32
#define SELF_DROPS 19
#define SELF_FINDINGS 32

struct self {
	struct hook_state hooks[SELF_HOOKS];
	size_t hook_count;
	size_t rpc_hook_count; /* the first ones, which are sunrpc's */
	struct drop_count drops[SELF_DROPS];
	size_t drop_count;
	struct health_state health[32];
	size_t health_count;
	struct finding_state findings[SELF_FINDINGS];
	size_t finding_count;
	struct program_run programs[32];
	size_t program_count;

	uint64_t resident_bytes, map_bytes, program_bytes; /* not recorded */
	uint64_t trace_bytes; /* of the kernel: trace buffers; not recorded */
	uint64_t other_bytes; /* what else the control group is charged; not recorded */
	double export_seconds; /* how long the last write took; not recorded */
	uint64_t export_errors; /* not recorded */
};

/* Add an entry to an array of fixed size. One without room is left out: make the array larger. A drop or a
 * program is added to the entry of the same name. */
void snapshot_hook(struct self *s, const char *name, bool attached);
void snapshot_drop(struct self *s, const char *reason, uint64_t count);
/* @self is a struct self, as a handler of bpf_hooks_count() gets it. */
void snapshot_program(void *self, const char *name, uint64_t runs, uint64_t ns);
void snapshot_health(struct self *s, const char *check, int level);
/* Findings with the same check, device and code count as one. */
void snapshot_finding(struct self *s, const char *check, const char *device, const char *code);

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	double wall; /* the same in seconds since the epoch; 0: not known */
	struct calls calls;
	struct fault_counts faults;
	struct self self;
	bool files_wanted; /* set by the caller: calls.files, see --files; not recorded */
};

/* The snapshot owns its arrays; initialise with {}. */
void snapshot_free(struct snapshot *s);

/* By how much a count has grown; 0 if it has fallen. */
static inline uint64_t counted_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* All faults of one device and code. In a snapshot they are separate entries if severity or action differ. Series,
 * findings and times belong to the whole group. */
struct fault_group {
	uint64_t count;
	uint64_t recent;
	unsigned int boots; /* in which it occurred; 0: it is no fatal Xid */
	double first; /* 0: not known */
	double last; /* 0: not known */
};

/* The first fault from @f on with the device and code of @like; NULL: none. @f points to a fault of the snapshot or to their end. */
struct fault *fault_group_next(const struct snapshot *s, struct fault *f, const struct fault *like);

/* Sums up the group of the snapshot's fault @f. Returns whether @f is the first of its group. */
bool fault_group_sum(const struct snapshot *s, const struct fault *f, struct fault_group *g);
