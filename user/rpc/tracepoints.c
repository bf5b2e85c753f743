// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source tracepoints: finds the events' fields, loads bpf/rpc_events.bpf.c, attaches it. */
#include "rpc/tracepoints.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bpf_support.h"
#include "base/file_text.h"
#include "rpc/tracepoint_maps.h"
#include "rpc_events.skel.h"
#include "kernel/trace_format.h"

#define FORMAT_BYTES (64 << 10)

/*
 * In order of attachment: whatever takes something out of the tables comes
 * before what puts it in. The exact figures come before the event that they
 * belong to, for the kernel calls in the order of attachment.
 */
enum hook {
	HOOK_CLIENT,
	HOOK_EXACT,
	HOOK_LATENCY,
	HOOK_END,
	HOOK_DISCONNECT,
	HOOK_WAKEUP,
	HOOK_TRANSMIT,
	HOOK_SLEEP,
	HOOKS,
};

struct rpc_events {
	const struct log *log;
	struct rpc_events_bpf *bpf;
	struct rpc_event_maps maps;
	char missing[HOOKS][96]; /* why a hook cannot be had, in words; or "" */
	unsigned int refused; /* hooks whose programs the kernel does not take */
	struct bpf_memory memory;
};

/* By the names of their events, save the raw tracepoint, which has no format. */
static const struct bpf_hook hooks[HOOKS] = {
#define HOOK(name, function) BPF_HOOK(name, rpc_events_bpf, function)
	[HOOK_CLIENT] = HOOK("rpc_clnt_new", events_client),
	[HOOK_EXACT] = HOOK("rpc_stats_latency_raw", events_exact),
	[HOOK_LATENCY] = HOOK("rpc_stats_latency", events_latency),
	[HOOK_END] = HOOK("rpc_task_end", events_end),
	[HOOK_DISCONNECT] = HOOK("xprt_disconnect_done", events_disconnect),
	[HOOK_WAKEUP] = HOOK("rpc_task_wakeup", events_wakeup),
	[HOOK_TRANSMIT] = HOOK("xprt_transmit", events_transmit),
	[HOOK_SLEEP] = HOOK("rpc_task_sleep", events_sleep),
};

/* The fields that are read of each event. Numbers have one size or another;
 * texts are dynamic. */
static const struct field_row {
	const char *name;
	size_t place; /* offset into struct rpc_event_fields */
	enum hook hook;
	uint32_t size; /* bytes; 0: a text */
} rows[] = {
#define FIELD(hook, name, size, field)                                     \
	{                                                                  \
		name, offsetof(struct rpc_event_fields, field), hook, size \
	}
	FIELD(HOOK_LATENCY, "task_id", 4, task),
	FIELD(HOOK_LATENCY, "client_id", 4, client),
	FIELD(HOOK_LATENCY, "version", 4, version),
	FIELD(HOOK_LATENCY, "progname", 0, program),
	FIELD(HOOK_LATENCY, "procname", 0, procedure),
	FIELD(HOOK_LATENCY, "backlog", 8, backlog),
	FIELD(HOOK_LATENCY, "rtt", 8, rtt),
	FIELD(HOOK_LATENCY, "execute", 8, execute),
	FIELD(HOOK_END, "task_id", 4, task),
	FIELD(HOOK_END, "client_id", 4, client),
	FIELD(HOOK_END, "status", 4, end_status),
	FIELD(HOOK_WAKEUP, "task_id", 4, task),
	FIELD(HOOK_WAKEUP, "client_id", 4, client),
	FIELD(HOOK_WAKEUP, "status", 4, wakeup_status),
	FIELD(HOOK_WAKEUP, "q_name", 0, wakeup_queue),
	FIELD(HOOK_SLEEP, "task_id", 4, task),
	FIELD(HOOK_SLEEP, "client_id", 4, client),
	FIELD(HOOK_SLEEP, "q_name", 0, sleep_queue),
	FIELD(HOOK_TRANSMIT, "task_id", 4, task),
	FIELD(HOOK_TRANSMIT, "client_id", 4, client),
	FIELD(HOOK_TRANSMIT, "status", 4, transmit_status),
	FIELD(HOOK_CLIENT, "client_id", 4, new_client),
	FIELD(HOOK_CLIENT, "addr", 0, new_address),
	FIELD(HOOK_CLIENT, "program", 0, new_program),
	FIELD(HOOK_CLIENT, "server", 0, new_server),
	FIELD(HOOK_DISCONNECT, "addr", 0, disconnect_address),
};

static bool read_format(struct trace_format *format, const char *tracefs, const char *event)
{
	char path[PATH_MAX];
	struct file_text file;
	bool good;

	snprintf(path, sizeof(path), "%s/events/sunrpc/%s/format", tracefs, event);
	if (file_text_read(&file, path, FORMAT_BYTES))
		return false;
	good = trace_format_parse(format, file.bytes, file.len);
	file_text_free(&file);
	return good;
}

/* Notes where @row lies in its event; false if it does not lie there as it
 * should. Fields that events share must lie in one place in all. */
static bool place_field(struct rpc_event_fields *fields, const struct field_row *row,
			const struct trace_format *format)
{
	uint16_t *place = (uint16_t *)((char *)fields + row->place);
	const struct trace_field *field = trace_field_find(format, row->name);

	if (!field || field->relative || field->offset >= RPC_NO_FIELD ||
	    field->dynamic != !row->size || (row->size && field->size != row->size) ||
	    (*place && *place != field->offset))
		return false;
	*place = (uint16_t)field->offset;
	return true;
}

static void __attribute__((format(printf, 3, 4)))
miss(struct rpc_events *h, size_t hook, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(h->missing[hook], sizeof(h->missing[hook]), format, args);
	va_end(args);
}

/* Fills @fields, and notes in @h which events are missing. */
static void find_fields(struct rpc_events *h, const char *tracefs, struct rpc_event_fields *fields)
{
	struct trace_format format;

	for (size_t i = 0; i < HOOKS; i++) {
		if (i == HOOK_EXACT)
			continue;
		if (!read_format(&format, tracefs, hooks[i].name)) {
			miss(h, i, "tracefs does not describe it");
			continue;
		}
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
			if (rows[r].hook == i && !place_field(fields, &rows[r], &format))
				miss(h, i,
				     "its field %s is missing, or has "
				     "another form",
				     rows[r].name);
	}
}

/* Loads the programs of all hooks but those (bits) in @out. */
static int try_load(struct rpc_events *h, const struct rpc_event_fields *fields, uint32_t shards,
		    unsigned int out)
{
	int err;

	bpf_messages_forget();
	h->bpf = rpc_events_bpf__open();
	if (!h->bpf)
		return -errno;
	bpf_hooks_leave_out(h->bpf, hooks, HOOKS, out);
	memcpy((void *)&h->bpf->rodata->fields, fields, sizeof(*fields));
	h->bpf->rodata->rpc_shard_mask = shards - 1;
	bpf_map__set_max_entries(h->bpf->maps.series, RPC_MAX_SERIES * shards);
	bpf_map__set_max_entries(h->bpf->maps.server_stats, (RPC_MAX_SERVERS + 1) * shards);
	err = rpc_events_bpf__load(h->bpf);
	if (err) {
		rpc_events_bpf__destroy(h->bpf);
		h->bpf = NULL;
	}
	return err;
}

/* Loads what the kernel accepts, if that includes the program that records. */
static int load(struct rpc_events *h, const char *tracefs)
{
	uint32_t shards = bpf_shards(RPC_MAX_SHARDS);
	struct rpc_event_fields fields = {};
	unsigned int missing = 0;
	size_t hook;
	int err;

	find_fields(h, tracefs, &fields);
	bpf_messages_forget();
	if (*h->missing[HOOK_LATENCY])
		return -ENOENT;
	for (size_t i = 0; i < HOOKS; i++)
		missing |= *h->missing[i] ? 1u << i : 0;
	while ((err = try_load(h, &fields, shards, missing | h->refused))) {
		hook = bpf_hooks_refused(hooks, HOOKS, err);
		if (hook == HOOKS || hook == HOOK_LATENCY || h->refused & 1u << hook)
			return err;
		h->refused |= 1u << hook;
		bpf_hook_warn_refused(h->log, "event", &hooks[hook], err);
	}
	err = rpc_event_maps_open(&h->maps, h->bpf, shards);
	bpf_object_memory(h->bpf->obj, &h->memory);
	return err;
}

/* Attaches what can be attached. Returns 0, or -errno if calls would not be
 * recorded. */
static int attach(struct rpc_events *h)
{
	int err;

	for (size_t i = 0; i < HOOKS; i++) {
		if (i == HOOK_SLEEP && !bpf_hook_attached(h->bpf, &hooks[HOOK_WAKEUP]))
			miss(h, i, "it is of no use without %s", hooks[HOOK_WAKEUP].name);
		err = *h->missing[i] || h->refused & 1u << i ? -ENOENT :
							       bpf_hook_attach(h->bpf, &hooks[i]);
		if (err && i == HOOK_LATENCY)
			return err;
		if (err && !(h->refused & 1u << i))
			log_warn(h->log,
				 "cannot attach to sunrpc's event %s: %s; what "
				 "it tells will be missing",
				 hooks[i].name, *h->missing[i] ? h->missing[i] : bpf_reason(-err));
		/* From here on the kernel tells of new ones. */
		if (i == HOOK_CLIENT)
			rpc_event_maps_learn(&h->maps);
	}
	return 0;
}

struct rpc_events *rpc_events_new(const struct log *log, const char *tracefs)
{
	struct rpc_events *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return NULL;
	h->log = log;
	err = -(load(h, tracefs) ?: attach(h));
	if (*h->missing[HOOK_LATENCY])
		log_error(log,
			  "sunrpc cannot be observed by its tracepoints: its event %s: "
			  "%s\nxidscope: %s",
			  hooks[HOOK_LATENCY].name, h->missing[HOOK_LATENCY], bpf_advice(err));
	else if (err)
		log_error(log,
			  "sunrpc cannot be observed by its tracepoints: %s\n%s"
			  "xidscope: %s",
			  bpf_reason(err), bpf_last_words(), bpf_advice(err));
	malloc_trim(0);
	if (err) {
		rpc_events_free(h);
		errno = err;
		return NULL;
	}
	return h;
}

void rpc_events_free(struct rpc_events *h)
{
	if (!h)
		return;
	rpc_event_maps_close(&h->maps);
	rpc_events_bpf__destroy(h->bpf);
	free(h);
}

/* Events that the kernel kept from the programs because something else was
 * running on the same CPU, as far as it counts them. */
static uint64_t lost_events(const struct rpc_events *h)
{
	uint64_t lost = h->bpf->bss->rpc_lost;
	bool exact = bpf_hook_attached(h->bpf, &hooks[HOOK_EXACT]);

	/* Ends of calls that were lost the exact figures' program tells. */
	for (size_t i = 0; i < HOOKS; i++)
		if (bpf_hook_attached(h->bpf, &hooks[i]) && !(i == HOOK_LATENCY && exact))
			lost += bpf_program_misses(bpf_hook_program(h->bpf, &hooks[i]));
	return lost;
}

/* What these events do not tell. */
static uint64_t unknown_facts(const struct rpc_events *h)
{
	uint64_t unknown = RPC_FACT_BIT(RPC_FACT_SENT_BYTES) |
			   RPC_FACT_BIT(RPC_FACT_RECEIVED_BYTES) | RPC_FACT_BIT(RPC_FACT_TIMEOUTS) |
			   RPC_FACT_BIT(RPC_FACT_CONNECTS) | RPC_FACT_BIT(RPC_FACT_SLOTS_MAX) |
			   RPC_FACT_BIT(RPC_FACT_SLOTS_ALLOCATED) |
			   RPC_FACT_BIT(RPC_FACT_SLOTS_IN_FLIGHT) |
			   RPC_FACT_BIT(RPC_FACT_DEPTH + RPC_QUEUE_XMIT) |
			   RPC_FACT_BIT(RPC_FACT_DEPTH + RPC_QUEUE_PENDING) |
			   RPC_FACT_BIT(RPC_FACT_DEPTH_MAX + RPC_QUEUE_XMIT) |
			   RPC_FACT_BIT(RPC_FACT_DEPTH_MAX + RPC_QUEUE_PENDING);

	if (!bpf_hook_attached(h->bpf, &hooks[HOOK_SLEEP]))
		unknown |= snapshot_facts_of_waits();
	if (!bpf_hook_attached(h->bpf, &hooks[HOOK_TRANSMIT]))
		unknown |= RPC_FACT_BIT(RPC_FACT_RETRANSMITS) |
			   RPC_FACT_BIT(RPC_FACT_OLDEST + RPC_QUEUE_PENDING);
	if (!bpf_hook_attached(h->bpf, &hooks[HOOK_DISCONNECT]))
		unknown |= RPC_FACT_BIT(RPC_FACT_DISCONNECTS);
	return unknown;
}

int rpc_events_snapshot(struct rpc_events *h, struct snapshot *s)
{
	for (size_t i = 0; i < HOOKS; i++)
		snapshot_hook(s, hooks[i].name, bpf_hook_attached(h->bpf, &hooks[i]));
	snapshot_drop(s, "rpc_recursion", lost_events(h));
	s->unknown |= unknown_facts(h);
	bpf_object_snapshot(h->bpf->obj, &h->memory, s);
	return rpc_event_maps_read(&h->maps, s);
}
