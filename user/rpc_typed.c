// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tier A: loads bpf/rpc.bpf.c, attaches it, reads it. */
#include "rpc_typed.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_support.h"
#include "kernel_types.h"
#include "rpc.skel.h"
#include "rpc_maps.h"
#include "tier.h"

#define MODULE_BTF "/sys/kernel/btf/sunrpc"
#define SESSION_BTF "/sys/kernel/btf/nfsv4"

struct rpc_typed {
	const struct log *log;
	struct rpc_bpf *bpf;
	struct rpc_maps maps;
	bool session_known;
	unsigned int unused; /* hooks that are not for this kernel */
	bool record_at_release; /* see rpc_record_at_release in bpf/rpc.bpf.c */
	unsigned int refused; /* hooks whose programs the kernel does not take */
	struct bpf_memory memory;
};

/*
 * In order of attachment: whatever takes something out of the tables comes
 * before what puts it in, so that nothing is put in that nobody takes out.
 * Where that order is broken by a hook that cannot be had, `needs` holds.
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

static const struct {
	const char *name; /* of the program, and of its tracepoint */
	size_t program; /* offsets into struct rpc_bpf */
	size_t link;
	unsigned int needs; /* bits of enum hook */
} hooks[HOOKS] = {
#define HOOK(hook, needs)                                                     \
	{ #hook, offsetof(struct rpc_bpf, progs.hook),                        \
	  offsetof(struct rpc_bpf, links.hook), needs }
	[HOOK_XPRT_DESTROY] = HOOK(xprt_destroy, 0),
	[HOOK_XPRT_DISCONNECT_DONE] = HOOK(xprt_disconnect_done, 0),
	[HOOK_XPRT_RELEASE_XPRT] = HOOK(xprt_release_xprt, 0),
	[HOOK_XPRT_RELEASE_CONG] = HOOK(xprt_release_cong, 0),
	[HOOK_RPC_STATS_LATENCY] = HOOK(rpc_stats_latency, 0),
	[HOOK_RPC_STATS_LATENCY_AGAIN] = HOOK(rpc_stats_latency_again, 0),
	[HOOK_RPC_TASK_WAKEUP] = HOOK(rpc_task_wakeup,
				      1u << HOOK_RPC_STATS_LATENCY),
	[HOOK_RPC_TASK_SLEEP] = HOOK(rpc_task_sleep,
				     1u << HOOK_RPC_TASK_WAKEUP),
};

#define RELEASE_HOOKS \
	(1u << HOOK_XPRT_RELEASE_XPRT | 1u << HOOK_XPRT_RELEASE_CONG)

static struct bpf_program *hook_program(struct rpc_bpf *bpf, size_t i)
{
	return *(struct bpf_program **)((char *)bpf + hooks[i].program);
}

static struct bpf_link **hook_link(struct rpc_bpf *bpf, size_t i)
{
	return (struct bpf_link **)((char *)bpf + hooks[i].link);
}

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
	for (size_t i = 0; i < HOOKS; i++)
		if ((h->unused | h->refused) & 1u << i)
			bpf_program__set_autoload(hook_program(h->bpf, i), false);
	h->bpf->rodata->rpc_shard_mask = shards - 1;
	h->bpf->rodata->rpc_record_at_release = h->record_at_release;
	bpf_map__set_max_entries(h->bpf->maps.series, RPC_MAX_SERIES * shards);
	bpf_map__set_max_entries(h->bpf->maps.server_stats,
				 (RPC_MAX_SERVERS + 1) * shards);
	err = rpc_bpf__load(h->bpf);
	if (err) {
		rpc_bpf__destroy(h->bpf);
		h->bpf = NULL;
	}
	return err;
}

/* Which hook the kernel has just refused; HOOKS: none of ours. */
static size_t refused_hook(void)
{
	size_t i;

	for (i = 0; i < HOOKS; i++)
		if (!strcmp(bpf_refused_program(), hooks[i].name))
			break;
	return i;
}

/* Loads what the kernel accepts: a program that it refuses is left out. */
static int load(struct rpc_typed *h)
{
	uint32_t shards = bpf_shards(RPC_MAX_SHARDS);
	size_t hook;
	int err;

	while ((err = try_load(h, shards))) {
		hook = refused_hook();
		if (hook == HOOKS || hook == HOOK_RPC_STATS_LATENCY ||
		    h->refused & 1u << hook)
			return err;
		h->refused |= 1u << hook;
		log_warn(h->log,
			 "the kernel refuses the program for tracepoint %s: %s; "
			 "what it tells will be missing\n%s",
			 hooks[hook].name, strerror(-err), bpf_last_words());
	}
	err = rpc_maps_open(&h->maps, h->bpf, shards);
	if (err)
		return err;
	bpf_object_memory(h->bpf->obj, &h->memory);
	return 0;
}

/* Attaches what can be attached. Returns whether calls will be recorded. */
static bool attach(struct rpc_typed *h)
{
	unsigned int attached = 0, needs;
	struct bpf_link *link;

	for (size_t i = 0; i < HOOKS; i++) {
		if ((h->unused | h->refused) & 1u << i)
			continue;
		needs = hooks[i].needs;
		if (i == HOOK_RPC_STATS_LATENCY && h->record_at_release)
			needs |= RELEASE_HOOKS;
		if ((attached & needs) != needs) {
			log_warn(h->log,
				 "tracepoint %s is left out: it is of no use "
				 "without another that is missing",
				 hooks[i].name);
			continue;
		}
		link = bpf_program__attach(hook_program(h->bpf, i));
		if (!link) {
			log_warn(h->log,
				 "cannot attach to tracepoint %s: %s; what it "
				 "tells will be missing",
				 hooks[i].name, strerror(errno));
			continue;
		}
		*hook_link(h->bpf, i) = link;
		attached |= 1u << i;
	}
	return attached & 1u << HOOK_RPC_STATS_LATENCY;
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

struct rpc_typed *rpc_typed_new(const struct log *log)
{
	struct rpc_typed *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return NULL;
	h->log = log;
	if (!tracepoints_preemptible())
		h->unused = RELEASE_HOOKS | 1u << HOOK_RPC_STATS_LATENCY_AGAIN;
	err = -load(h);
	if (err) {
		log_error(log, "cannot load the sunrpc programs: %s\n%sxidscope: %s",
			  strerror(err), bpf_last_words(), bpf_advice(err));
	} else if (!attach(h)) {
		err = ENOENT;
		log_error(log, "the sunrpc hook that records calls could not "
			       "be attached: %s",
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
		if (*hook_link(h->bpf, i) &&
		    (!h->record_at_release ||
		     (i != HOOK_RPC_STATS_LATENCY &&
		      i != HOOK_RPC_STATS_LATENCY_AGAIN)))
			lost += bpf_program_misses(hook_program(h->bpf, i));
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

int rpc_typed_snapshot(struct rpc_typed *h, struct snapshot *s)
{
	if (!h->session_known && !access(SESSION_BTF, F_OK))
		learn_session(h);
	for (size_t i = 0; i < HOOKS; i++)
		if (!(h->unused & 1u << i))
			snapshot_hook(s, hooks[i].name, *hook_link(h->bpf, i));
	snapshot_drop(s, "rpc_recursion", lost_to_recursion(h));
	bpf_object_snapshot(h->bpf->obj, &h->memory, s);
	return rpc_maps_read(&h->maps, s);
}
