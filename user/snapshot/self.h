/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program itself at one moment: hooks, drops and cost. Also the results of its health rules. */
#pragma once

#include "base/label.h"
#include "snapshot/fields.h"
#include "snapshot/self_fields.h"

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
	uint64_t trace_bytes; /* kernel memory of the trace buffers; not recorded */
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
