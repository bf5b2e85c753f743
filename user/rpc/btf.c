// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source btf: loads bpf/rpc.bpf.c, attaches it, reads it. */
#include "rpc/btf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "rpc.skel.h"
#include "rpc/btf_maps.h"
#include "rpc/choice.h"

#define MODULE_BTF "/sys/kernel/btf/sunrpc"
#define SESSION_BTF "/sys/kernel/btf/nfsv4"

struct rpc_typed {
	const struct log *log;
	struct rpc_bpf *bpf;
	struct rpc_maps maps;
	bool session_known;
	unsigned int essential; /* hooks without which another source is better */
	unsigned int unused; /* hooks that are not for this kernel */
	bool record_at_release; /* see rpc_record_at_release in bpf/rpc.bpf.c */
	unsigned int refused; /* hooks whose programs the kernel does not take */
	struct bpf_memory memory;
};

/*
 * In order of attachment: whatever takes something out of the tables comes
 * before what puts it in, so that nothing is put in that nobody takes out.
 * Where that order is broken by a hook that cannot be had, needs_of() holds.
 */
enum hook {
	HOOK_XPRT_DESTROY,
	HOOK_XPRT_DISCONNECT_DONE,
	HOOK_XPRT_RELEASE_XPRT,
	HOOK_XPRT_RELEASE_CONG,
	HOOK_RPC_STATS_LATENCY,
	HOOK_RPC_STATS_LATENCY_AGAIN,
	HOOK_RPC_TASK_WAKEUP,
	HOOK_RPC_TASK_SLEEP,
	HOOKS,
};

static const struct bpf_hook hooks[HOOKS] = {
#define HOOK(name) BPF_HOOK(#name, rpc_bpf, name)
	[HOOK_XPRT_DESTROY] = HOOK(xprt_destroy),
	[HOOK_XPRT_DISCONNECT_DONE] = HOOK(xprt_disconnect_done),
	[HOOK_XPRT_RELEASE_XPRT] = HOOK(xprt_release_xprt),
	[HOOK_XPRT_RELEASE_CONG] = HOOK(xprt_release_cong),
	[HOOK_RPC_STATS_LATENCY] = HOOK(rpc_stats_latency),
	[HOOK_RPC_STATS_LATENCY_AGAIN] = HOOK(rpc_stats_latency_again),
	[HOOK_RPC_TASK_WAKEUP] = HOOK(rpc_task_wakeup),
	[HOOK_RPC_TASK_SLEEP] = HOOK(rpc_task_sleep),
};

#define RELEASE_HOOKS (1u << HOOK_XPRT_RELEASE_XPRT | 1u << HOOK_XPRT_RELEASE_CONG)
#define WAIT_HOOKS (1u << HOOK_RPC_TASK_WAKEUP | 1u << HOOK_RPC_TASK_SLEEP)

/* Whether a tracepoint's programs can be preempted: see rpc_record_at_release.
 * The guard that took the place of disabled preemption has a type. */
static bool tracepoints_preemptible(void)
{
	return kernel_has_type("", "class_srcu_fast_notrace_t");
}

/* Loads all programs but those in @h->refused. */
static int try_load(struct rpc_typed *h, uint32_t shards)
{
	int err;

	/* Without the hooks that record, the booking hook does, and alone. */
	h->record_at_release = !((h->unused | h->refused) & RELEASE_HOOKS);
	if (!h->record_at_release)
		h->unused |= 1u << HOOK_RPC_STATS_LATENCY_AGAIN;
	bpf_messages_forget();
	h->bpf = rpc_bpf__open();
	if (!h->bpf)
		return -errno;
	bpf_hooks_leave_out(h->bpf, hooks, HOOKS, h->unused | h->refused);
	h->bpf->rodata->rpc_shard_mask = shards - 1;
	h->bpf->rodata->rpc_record_at_release = h->record_at_release;
	bpf_map__set_max_entries(h->bpf->maps.series, RPC_MAX_SERIES * shards);
	bpf_map__set_max_entries(h->bpf->maps.server_stats, (RPC_MAX_SERVERS + 1) * shards);
	err = rpc_bpf__load(h->bpf);
	if (err) {
		rpc_bpf__destroy(h->bpf);
		h->bpf = NULL;
	}
	return err;
}

/* Loads what the kernel accepts: a program that it refuses is left out, if the
 * others are worth it. */
static int load(struct rpc_typed *h)
{
	uint32_t shards = bpf_shards(RPC_MAX_SHARDS);
	size_t hook;
	int err;

	while ((err = try_load(h, shards))) {
		hook = bpf_hooks_refused(hooks, HOOKS, err);
		if (hook == HOOKS || (h->essential | h->refused) & 1u << hook)
			return err;
		h->refused |= 1u << hook;
		bpf_hook_warn_refused(h->log, "tracepoint", &hooks[hook], err);
	}
	err = rpc_maps_open(&h->maps, h->bpf, shards);
	if (err)
		return err;
	bpf_object_memory(h->bpf->obj, &h->memory);
	return 0;
}

/* The hooks (bits) without which this one is of no use. */
static unsigned int needs_of(const struct rpc_typed *h, enum hook hook)
{
	switch (hook) {
	case HOOK_RPC_STATS_LATENCY:
		return h->record_at_release ? RELEASE_HOOKS : 0;
	case HOOK_RPC_TASK_WAKEUP:
		return 1u << HOOK_RPC_STATS_LATENCY;
	case HOOK_RPC_TASK_SLEEP:
		return 1u << HOOK_RPC_TASK_WAKEUP;
	default:
		return 0;
	}
}

/* Attaches what can be attached. Returns whether that is worth it. */
static bool attach(struct rpc_typed *h)
{
	unsigned int attached = 0, needs;
	int err;

	for (size_t i = 0; i < HOOKS; i++) {
		if ((h->unused | h->refused) & 1u << i)
			continue;
		needs = needs_of(h, i);
		if ((attached & needs) != needs) {
			log_warn(h->log,
				 "tracepoint %s is left out: it is of no use "
				 "without another that is missing",
				 hooks[i].name);
			continue;
		}
		err = -bpf_hook_attach(h->bpf, &hooks[i]);
		if (err)
			log_warn(h->log,
				 "cannot attach to tracepoint %s: %s; what it "
				 "tells will be missing",
				 hooks[i].name, bpf_reason(err));
		else
			attached |= 1u << i;
	}
	return (attached & h->essential) == h->essential;
}

/* The module may come much later than sunrpc, so each snapshot looks for it;
 * until then a drained session counts as a session wait. */
static void learn_session(struct rpc_typed *h)
{
	h->session_known = true;
	h->bpf->bss->rpc_session_state_offset = session_state_offset();
	kernel_types_forget();
	log_debug(h->log, "nfsv4: slot_tbl_state is %lld bytes from its queue",
		  (long long)h->bpf->bss->rpc_session_state_offset);
}

struct rpc_typed *rpc_typed_new(const struct log *log, bool without_waits)
{
	struct rpc_typed *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return NULL;
	h->log = log;
	h->essential = 1u << HOOK_RPC_STATS_LATENCY;
	if (!without_waits)
		h->essential |= WAIT_HOOKS;
	if (!tracepoints_preemptible())
		h->unused = RELEASE_HOOKS | 1u << HOOK_RPC_STATS_LATENCY_AGAIN;
	err = -load(h);
	if (err) {
		log_error(log, "sunrpc cannot be observed by its types: %s\n%sxidscope: %s",
			  bpf_reason(err), bpf_last_words(), bpf_advice(err));
	} else if (!attach(h)) {
		err = ENOENT;
		log_error(log,
			  "sunrpc cannot be observed by its types: a hook "
			  "that it needs could not be attached; %s",
			  bpf_advice(err));
	}
	if (err) {
		rpc_typed_free(h);
		errno = err;
		return NULL;
	}
	return h;
}

void rpc_typed_free(struct rpc_typed *h)
{
	if (!h)
		return;
	rpc_maps_close(&h->maps);
	rpc_bpf__destroy(h->bpf);
	free(h);
}

/* Events that the kernel kept from the programs because another task of the
 * same CPU was within the same program. Where calls are recorded at their
 * release, an end that was not noted is no loss. */
static uint64_t lost_to_recursion(const struct rpc_typed *h)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < HOOKS; i++)
		if (bpf_hook_attached(h->bpf, &hooks[i]) &&
		    (!h->record_at_release ||
		     (i != HOOK_RPC_STATS_LATENCY && i != HOOK_RPC_STATS_LATENCY_AGAIN)))
			lost += bpf_program_misses(bpf_hook_program(h->bpf, &hooks[i]));
	return lost;
}

const char *rpc_typed_tracepoint(size_t number)
{
	/* Two programs have the same one. */
	if (number >= HOOK_RPC_STATS_LATENCY_AGAIN)
		number++;
	return number < HOOKS ? hooks[number].name : NULL;
}

void rpc_typed_absent(struct snapshot *s)
{
	for (size_t i = 0; i < HOOKS; i++)
		if (!(1u << i & (RELEASE_HOOKS | 1u << HOOK_RPC_STATS_LATENCY_AGAIN)))
			snapshot_hook(s, hooks[i].name, false);
}

/* What only hooks tell that are missing. */
static uint64_t unknown_facts(const struct rpc_typed *h)
{
	uint64_t unknown = 0;

	if (!bpf_hook_attached(h->bpf, &hooks[HOOK_RPC_TASK_SLEEP]))
		unknown |= snapshot_facts_of_waits();
	if (!bpf_hook_attached(h->bpf, &hooks[HOOK_XPRT_DISCONNECT_DONE]))
		unknown |= RPC_FACT_BIT(RPC_FACT_DISCONNECTS);
	return unknown;
}

int rpc_typed_snapshot(struct rpc_typed *h, struct snapshot *s)
{
	if (!h->session_known && !access(SESSION_BTF, F_OK))
		learn_session(h);
	for (size_t i = 0; i < HOOKS; i++)
		if (!(h->unused & 1u << i))
			snapshot_hook(s, hooks[i].name, bpf_hook_attached(h->bpf, &hooks[i]));
	snapshot_drop(s, "rpc_recursion", lost_to_recursion(h));
	s->unknown |= unknown_facts(h);
	bpf_object_snapshot(h->bpf->obj, &h->memory, s);
	return rpc_maps_read(&h->maps, s);
}
