// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source tracepoints: BPF programs on sunrpc's trace events (bpf/rpc_tracepoints.bpf.c), which do not need its types.
 * Finds the events' fields, loads, attaches, reads. */
#include "rpc/rpc_observer.h"

#include "base/clock.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "kernel/trace.h"
#include "rpc/btf/btf.h"
#include "rpc/polled/polled.h"
#include "rpc/tracepoints/tracepoints.h"
#include "rpc_tracepoints.skel.h"

enum hook {
#define TABLE_ROW(hook, ...) HOOK_##hook,
#include "event_hooks.inc"
	HOOKS,
};

#define FORMAT_BYTES (64 << 10) /* more than an event's `format` file has */

#define BIT(hook) (1u << (hook))
#define OWNER_HOOKS (BIT(HOOK_OWNER_EXITS) | BIT(HOOK_OWNER_MOVES) | BIT(HOOK_BEGIN))

struct tracepoints_state {
	struct bpf_hooks hooks;
	struct rpc_tracepoints_bpf *bpf; /* the skeleton in @hooks */
	struct tracepoint_maps maps;
	struct mountstats *rest; /* what the events do not show */
	struct rpc_event_fields fields;
	struct module_types no_types; /* while the programs are loaded */
};

static const struct bpf_hook table[HOOKS] = {
#define TABLE_ROW(hook, name, ...) BPF_HOOK(name, rpc_tracepoints_bpf, __VA_ARGS__),
#include "event_hooks.inc"
};

static const struct field_row {
	const char *name;
	size_t target; /* offset into struct rpc_event_fields */
	enum hook hook;
	uint32_t size; /* bytes; 0: a text */
} rows[] = {
#define TABLE_ROW(hook, name, size, field) \
	{ name, offsetof(struct rpc_event_fields, field), HOOK_##hook, size },
#include "event_fields.inc"
};

/* Stores the field's offset; false if it is missing, or has a form that the programs cannot read. A
 * field that events share must have the same offset in each of them. */
static bool find_field(struct rpc_event_fields *fields, const struct field_row *row,
		       struct span format)
{
	uint16_t *offset = (uint16_t *)((char *)fields + row->target);
	struct trace_field field;
	uint32_t size = row->size ?: sizeof(uint32_t); /* where the text is */

	if (!trace_field_find(format, row->name, &field) || field.offset % size ||
	    field.offset > RPC_EVENT_BYTES - size || field.dynamic != !row->size ||
	    (row->size && field.size != row->size) || (*offset && *offset != field.offset))
		return false;
	*offset = (uint16_t)field.offset;
	return true;
}

/* Finds the fields of one event; a field that is not as expected makes the hook missing. */
static void find_fields(struct tracepoints_state *t, const char *tracefs, size_t hook)
{
	FILE_TEXT format = {};
	char reason[96];

	if (file_text_read(&format, PATHF("%s/events/sunrpc/%s/format", tracefs, table[hook].name),
			   FORMAT_BYTES)) {
		bpf_hooks_miss(&t->hooks, hook, "tracefs does not describe it", ENOENT);
		return;
	}
	for (size_t r = 0; r < COUNT(rows); r++)
		if (rows[r].hook == hook &&
		    !find_field(&t->fields, &rows[r], file_text_span(&format))) {
			snprintf(reason, sizeof(reason),
				 "its field %s is missing or has another form", rows[r].name);
			bpf_hooks_miss(&t->hooks, hook, reason, ENOENT);
			return;
		}
}

static void *open_programs(void *state)
{
	struct tracepoints_state *t = state;
	uint32_t shards = bpf_shards(RPC_MAX_SHARDS);

	/* libbpf reads the kernel's types also for programs that it does not load, and fails where there are none. */
	LIBBPF_OPTS(bpf_object_open_opts, opts,
		    .btf_custom_path = t->hooks.unused ? t->no_types.path : NULL);

	t->bpf = rpc_tracepoints_bpf__open_opts(&opts);
	if (!t->bpf)
		return NULL;
	t->bpf->rodata->rpc_owners = !((t->hooks.unused | t->hooks.missing) & OWNER_HOOKS);
	memcpy((void *)&t->bpf->rodata->fields, &t->fields, sizeof(t->fields));
	t->bpf->rodata->rpc_shard_mask = shards - 1;
	bpf_map__set_max_entries(t->bpf->maps.series, RPC_MAX_SERIES * shards);
	bpf_map__set_max_entries(t->bpf->maps.share_stats, RPC_MAX_SHARES * shards);
	bpf_map__set_max_entries(t->bpf->maps.server_stats, (RPC_MAX_SERVERS + 1) * shards);
	return t->bpf;
}

static void detach_tracepoints(void *state)
{
	struct tracepoints_state *t = state;

	mountstats_close(t->rest);
	tracepoint_maps_close(&t->maps);
	bpf_hooks_close(&t->hooks);
	free(t);
}

static int attach_hooks(struct tracepoints_state *t)
{
	int err = bpf_hooks_attach(&t->hooks, 0, HOOK_CLIENT + 1);

	/* From now on the event reports new clients; find those that exist already. */
	tracepoint_maps_find_clients(&t->maps);
	if (!err)
		err = bpf_hooks_attach(&t->hooks, HOOK_CLIENT + 1, HOOK_LATENCY + 1);
	t->bpf->bss->rpc_counted_since = monotonic_ns();
	if (!err)
		err = bpf_hooks_attach(&t->hooks, HOOK_LATENCY + 1, HOOKS);
	t->bpf->bss->rpc_attached = monotonic_ns();
	return err;
}

static void *try_tracepoints(const struct source_setup *setup)
{
	struct tracepoints_state *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return NULL;
	t->no_types.fd = -1;
	t->hooks = (struct bpf_hooks){
		.log = setup->log,
		.user = "source tracepoints",
		.table = table,
		.count = HOOKS,
		/* Without rpc_clnt_new, calls of a client that has the number of an earlier one would count for that one's server. */
		.essential = BIT(HOOK_LATENCY) | BIT(HOOK_CLIENT),
		/* After an event that the kernel missed, a task would have the owner of an earlier one. */
		.unused = setup->owners && !kernel_misses_events() ? 0 : OWNER_HOOKS,
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!i || rows[i].hook != rows[i - 1].hook)
			find_fields(t, setup->tracefs, rows[i].hook);
	err = t->hooks.unused ? module_types_write(&t->no_types, btf__new_empty()) : 0;
	if (!err)
		err = bpf_hooks_load(&t->hooks, open_programs, t);
	module_types_close(&t->no_types);
	if (!err) {
		err = tracepoint_maps_open(&t->maps, t->bpf);
		t->maps.calls.variables = setup->options->owner_env;
		if (err)
			log_error(setup->log, "cannot use %s: cannot open its maps: %s",
				  t->hooks.user, strerror(-err));
	}
	if (!err) {
		t->rest = mountstats_open(setup->root, tracepoint_maps_label, &t->maps);
		err = t->rest ? attach_hooks(t) : -ENOMEM;
	}
	if (!err)
		return t;
	detach_tracepoints(t);
	errno = -err;
	return NULL;
}

static int read_state(void *state, struct snapshot *s, struct client_list *clients)
{
	struct tracepoints_state *t = state;
	/* tp_exact counts in rpc_lost the calls that tp_latency missed: count them once. */
	unsigned int except = bpf_hook_attached(&t->hooks, HOOK_EXACT) ? BIT(HOOK_LATENCY) : 0;
	int err;

	for (size_t i = 0; i < HOOKS; i++)
		if (!(t->hooks.unused & BIT(i)))
			snapshot_hook(&s->self, table[i].name, bpf_hook_attached(&t->hooks, i));
	snapshot_drop(&s->self, "rpc_recursion",
		      t->bpf->bss->rpc_lost + rpc_hooks_add(s, &t->hooks, except));
	s->self.trace_bytes = bpf_event_memory();
	s->calls.unknown |= rpc_facts(FACTS_NO_EVENT);
	err = tracepoint_maps_read(&t->maps, s, clients);
	if (!err)
		mountstats_add_rest(t->rest, s, clients);
	return err;
}

const struct source_ops tracepoints_source = { .try = try_tracepoints,
					       .read = read_state,
					       .detach = detach_tracepoints };
