// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source btf: loads bpf/rpc.bpf.c, which reads sunrpc's types, attaches it, reads it. */
#include "rpc/rpc_observer.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "rpc/btf/btf.h"
#include "rpc.skel.h"
#include "rpc_probed.skel.h"

#define MAX_FINDS \
	10000 /* runs of rpc_find: one for each client of sunrpc and each network namespace */

enum hook {
#define TABLE_ROW(hook, ...) HOOK_##hook,
#include "btf_hooks.inc"
	HOOKS,
};

struct btf_state {
	struct source_setup setup; /* .types_file: only whether it is NULL */
	struct bpf_hooks hooks;
	struct module_types types; /* while the programs are loaded */
	int tracepoints[HOOKS]; /* their arguments' types in the BTF of sunrpc, or -errno */
	int sunrpc_btf; /* its descriptor while the programs are loaded; 0: the kernel's own */
	struct rpc_bpf *bpf; /* the skeleton in @hooks */
	struct btf_maps maps;
	unsigned int late_known; /* bits: of late_modules, whose types have been looked for */
	bool record_at_release; /* see rpc_record_at_release in bpf/rpc.bpf.c */
};

#define BIT(hook) (1u << (hook))
#define RELEASE_HOOKS (BIT(HOOK_XPRT_RELEASE_XPRT) | BIT(HOOK_XPRT_RELEASE_CONG))
#define RECORD_AT_RELEASE_HOOKS (RELEASE_HOOKS | BIT(HOOK_RPC_STATS_LATENCY_AGAIN))
/* They share the tracepoint of HOOK_RPC_STATS_LATENCY. */
#define SHARING_HOOKS (BIT(HOOK_RPC_STATS_LATENCY_AGAIN) | BIT(HOOK_RPC_STATS_LATENCY_SLOW))
/* Without xprt_destroy, calls of a transport that has the memory of an earlier one would count for that one's server. */
#define ESSENTIAL_HOOKS (BIT(HOOK_RPC_STATS_LATENCY) | BIT(HOOK_XPRT_DESTROY))
/* On tracepoints of the kernel. Without one of them a process' number may be another's by now. */
#define OWNER_HOOKS (BIT(HOOK_OWNER_EXITS) | BIT(HOOK_OWNER_MOVES))
#define WAIT_HOOKS (BIT(HOOK_RPC_TASK_WAKEUP) | BIT(HOOK_RPC_TASK_SLEEP))

static const struct bpf_hook table[HOOKS] = {
#define TABLE_ROW(hook, function, ...) BPF_HOOK(#function, rpc_bpf, function, __VA_ARGS__),
#include "btf_hooks.inc"
};

/* Opens bpf/rpc.bpf.c, or bpf/rpc_probed.bpf.c, which has the same programs and maps. */
static struct rpc_bpf *open_object(const struct btf_state *b)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = b->types.path);
	struct rpc_bpf *bpf;
	int err;

	if (!b->setup.types_file)
		return rpc_bpf__open_opts(&opts);
	bpf = calloc(1, sizeof(*bpf));
	err = bpf ? rpc_bpf__create_skeleton(bpf) : -ENOMEM;
	if (!err) {
		bpf->skeleton->data = (void *)rpc_probed_bpf__elf_bytes(&bpf->skeleton->data_sz);
		err = bpf_object__open_skeleton(bpf->skeleton, &opts);
	}
	if (!err)
		return bpf;
	rpc_bpf__destroy(bpf);
	errno = -err;
	return NULL;
}

/* The types of a loaded or built-in module, from @file if it is not NULL, for free_types(). NULL with a reason if they cannot be read. */
static struct btf *read_types(const char *module, const char *file, char *reason, size_t size)
{
	struct btf *types = NULL;
	char place[PATH_MAX];

	switch (file ? TYPES_FILE : types_place_find("", module)) {
	case TYPES_FILE:
		if (!file)
			types_file_place(place, sizeof(place), "", module);
		return types_file_read(file ?: place, "", module, reason, size);
	case TYPES_MODULE:
		types = kernel_module_types(module);
		break;
	case TYPES_KERNEL:
		types = kernel_types();
		break;
	case TYPES_NOWHERE:
		errno = ENOENT;
		break;
	}
	if (!types)
		snprintf(reason, size, "%s", strerror(errno));
	return types;
}

static void free_types(struct btf *types)
{
	/* To ask for the kernel's types may read them. */
	if (types && types != kernel_types())
		btf__free(types);
}

/* ---- the types of tracepoints ----
 * libbpf would look for that of each program among all types of the kernel, and again for each module before sunrpc: 26 ms for
 * each program with 10 modules. And it would read the kernel's types once more. */

static void find_tracepoints(struct btf_state *b, const struct btf *types)
{
	char name[64];

	for (size_t i = 0; i < HOOKS; i++) {
		snprintf(name, sizeof(name), "btf_trace_%s", table[i].name);
		if (!((SHARING_HOOKS | OWNER_HOOKS) & BIT(i)))
			b->tracepoints[i] = kernel_type_find(types, name, BTF_KIND_TYPEDEF);
	}
}

/* Returns a descriptor of the BTF of the loaded module sunrpc, or -errno. */
static int open_sunrpc_btf(void)
{
	__u32 id = 0;
	int fd;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[16] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		__u32 size = sizeof(info);

		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf &&
		    !strcmp(name, "sunrpc"))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int set_tracepoint(struct bpf_program *program, struct bpf_prog_load_opts *opts, long state)
{
	const struct btf_state *b = (const void *)state;
	const char *name = strchr(bpf_program__section_name(program), '/') + 1;

	for (size_t i = 0; i < HOOKS; i++)
		if (!strcmp(table[i].name, name))
			opts->attach_btf_id = (__u32)b->tracepoints[i];
	opts->attach_btf_obj_fd = (__u32)b->sunrpc_btf;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

static void *open_programs(void *state);

/* Loads the programs. Returns 0; or -errno after logging the reason. */
static int load_programs(struct btf_state *b)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)b,
		    .prog_prepare_load_fn = set_tracepoint);
	static int kept;
	bool known = !b->setup.types_file;
	int handler = 0, err;

	/* libbpf 1.1 frees its list of handlers with the last one, and uses it again: one stays. */
	if (kept <= 0)
		kept = libbpf_register_prog_handler("unused", BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
						    NULL);
	for (size_t i = 0; i < HOOKS; i++)
		known &= b->tracepoints[i] >= 0;
	b->sunrpc_btf =
		known && types_place_find("", "sunrpc") == TYPES_MODULE ? open_sunrpc_btf() : 0;
	if (known && kept > 0 && b->sunrpc_btf >= 0)
		handler = libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_RAW_TRACEPOINT,
						       BPF_TRACE_RAW_TP, &opts);
	err = bpf_hooks_load(&b->hooks, open_programs, b);
	if (handler > 0)
		libbpf_unregister_prog_handler(handler);
	if (b->sunrpc_btf > 0)
		close(b->sunrpc_btf);
	return err;
}

/* Copies the types that the programs need. Returns 0; or -errno after logging the reason. */
static int copy_types(struct btf_state *b, const char *file)
{
	struct rpc_bpf *bpf = open_object(b);
	char reason[200] = "";
	struct btf *types = NULL;
	int err = -errno;

	if (bpf) {
		types = read_types("sunrpc", file, reason, sizeof(reason));
		err = types ? module_types_write(&b->types, module_types_select(types, bpf->obj)) :
			      -ENOENT;
		if (types)
			find_tracepoints(b, types);
	}
	rpc_bpf__destroy(bpf);
	free_types(types);
	if (err)
		log_error(b->setup.log,
			  "cannot use %s: cannot copy the types of the loaded sunrpc: %s",
			  b->hooks.user, *reason ? reason : strerror(-err));
	return err;
}

/* Bytes from slot_tbl_waitq to @member in nfsv4's nfs4_slot_table; 0 if they are not known. */
static int session_offset(const struct btf *types, const char *member)
{
	int queue = kernel_types_offset(types, "nfs4_slot_table", "slot_tbl_waitq");
	int at = kernel_types_offset(types, "nfs4_slot_table", member);

	return queue < 0 || at < 0 ? 0 : at - queue;
}

/* Until then a wait while the session is drained counts as a session wait. */
static void find_session_state(struct btf_state *b, const struct btf *types)
{
	b->bpf->bss->rpc_session_state_offset = session_offset(types, "slot_tbl_state");
	b->bpf->bss->rpc_session_slots_offset = session_offset(types, "max_slotid");
	log_debug(b->setup.log,
		  "nfsv4: slot_tbl_state is %lld bytes from its queue, max_slotid %lld",
		  (long long)b->bpf->bss->rpc_session_state_offset,
		  (long long)b->bpf->bss->rpc_session_slots_offset);
}

/* Until then, pages that the kernel writes back count as the kernel's. */
static void find_write_request(struct btf_state *b, const struct btf *types)
{
	const char *const header = "nfs_pgio_header";
	int task = kernel_types_offset(types, header, "task");
	int request = kernel_types_offset(types, header, "req");
	int page = kernel_types_offset(types, "nfs_page", "wb_page");

	if (task >= 0 && request >= 0 && page >= 0) {
		b->bpf->bss->rpc_nfs_write[2] = (uint64_t)page;
		b->bpf->bss->rpc_nfs_write[0] = (uint64_t)task;
		b->bpf->bss->rpc_nfs_write[1] = (uint64_t)request;
	}
	log_debug(b->setup.log, "nfs: task, request and page of a write are at %d, %d, %d", task,
		  request, page);
}

/* Sets where rpcrdma keeps the local address of a connection; leaves it unknown if a type has another form. */
static void find_rdma_address(struct btf_state *b, const struct btf *types)
{
	static const struct {
		const char *type, *member;
		size_t step;
	} members[] = {
		{ "rpcrdma_xprt", "rx_ep", 0 }, { "rpcrdma_ep", "re_id", 1 },
		{ "rdma_cm_id", "route", 2 },   { "rdma_route", "addr", 2 },
		{ "rdma_addr", "src_addr", 2 },
	};
	volatile __s64 *offsets = b->bpf->bss->rpc_rdma_local;
	int offset = kernel_types_offset(types, "rpcrdma_xprt", "rx_xprt");
	__s64 found[3] = { -offset };

	for (size_t i = 0; i < COUNT(members) && offset >= 0; i++) {
		offset = kernel_types_offset(types, members[i].type, members[i].member);
		found[members[i].step] += offset;
	}
	for (int i = 0; i < 3 && offset >= 0; i++)
		offsets[i] = found[i];
	log_debug(b->setup.log, "rpcrdma: the local address is %s",
		  offset < 0 ? "not known" : "known");
}

/* What is wanted of a module. */
#define FOR_OWNERS 1
#define FOR_FILES 2

static const struct {
	const char *module;
	void (*find)(struct btf_state *b, const struct btf *types); /* or NULL */
	unsigned int needed; /* for these alone; 0: in any case */
} late_modules[] = {
	{ "nfsv4", find_session_state, 0 },
	{ "rpcrdma", find_rdma_address, 0 },
	{ "nfs", find_write_request, FOR_OWNERS | FOR_FILES },
	{ "nfsv3", NULL, FOR_FILES },
};

/* Reads what is known once these modules are loaded, which may be much later than sunrpc. @first: those that are built in
 * are found then. Returns whether it read types. */
static bool find_late_types(struct btf_state *b, bool first)
{
	char reason[200] = "";
	unsigned int wanted =
		(b->setup.owners ? FOR_OWNERS : 0) | (b->setup.options->files ? FOR_FILES : 0);
	bool read = false;

	for (size_t i = 0; i < COUNT(late_modules); i++) {
		const char *module = late_modules[i].module;
		struct btf *types;
		bool loaded;

		if (b->late_known & BIT(i) ||
		    (late_modules[i].needed && !(late_modules[i].needed & wanted)))
			continue;
		loaded = module_is_loaded("", module);
		if (!loaded && !first)
			continue;
		types = read_types(module, NULL, reason, sizeof(reason));
		if (types && late_modules[i].find)
			late_modules[i].find(b, types);
		if (types && b->setup.options->files)
			file_calls_types(types, b->bpf->bss->rpc_file_ops,
					 &b->bpf->bss->rpc_nfs_inode);
		free_types(types);
		if (types || loaded)
			b->late_known |= BIT(i);
		read = true;
	}
	return read;
}

static void *open_programs(void *state)
{
	struct btf_state *b = state;
	uint32_t shards = bpf_shards(RPC_MAX_SHARDS);

	/* If a hook that records at release is missing, rpc_stats_latency alone records. */
	b->record_at_release = !((b->hooks.unused | b->hooks.missing) & RELEASE_HOOKS);
	if (!b->record_at_release)
		b->hooks.unused |= RECORD_AT_RELEASE_HOOKS;
	b->bpf = open_object(b);
	if (!b->bpf)
		return NULL;
	b->bpf->rodata->rpc_shard_mask = shards - 1;
	b->bpf->rodata->rpc_record_at_release = b->record_at_release;
	b->bpf->bss->rpc_waiters_in_use.count = b->record_at_release;
	b->bpf->rodata->rpc_owners = b->setup.owners && !(b->hooks.missing & OWNER_HOOKS);
	b->bpf->bss->rpc_slower_ns = b->setup.options->slower_ns;
	b->bpf->rodata->rpc_files = b->setup.options->files > 0;
	file_calls_ops(b->bpf->bss->rpc_file_ops);
	if (!b->setup.options->files)
		bpf_map__set_autocreate(b->bpf->maps.files, false);
	if (b->setup.types_file) {
		/* Programs that are not of type tracing: Linux 5.7 to 6.0 warns of memory that is taken as files are met. */
		bpf_map__set_map_flags(b->bpf->maps.files, 0);
		bpf_map__set_max_entries(b->bpf->maps.files, RPC_MAX_FILES / 4);
	}
	if (!b->setup.options->slower_ns)
		bpf_map__set_autocreate(b->bpf->maps.slow_calls, false);
	bpf_map__set_max_entries(b->bpf->maps.replies, shards);
	bpf_map__set_max_entries(b->bpf->maps.series, RPC_MAX_SERIES * shards);
	bpf_map__set_max_entries(b->bpf->maps.share_stats, RPC_MAX_SHARES * shards);
	bpf_map__set_max_entries(b->bpf->maps.server_stats, (RPC_MAX_SERVERS + 1) * shards);
	b->late_known = 0;
	find_late_types(b, true);
	/* libbpf reads them again: not both at a time. */
	kernel_types_forget();
	return b->bpf;
}

static void detach_btf(void *state)
{
	struct btf_state *b = state;

	btf_maps_close(&b->maps);
	bpf_hooks_close(&b->hooks);
	free(b);
}

static int open_maps(struct btf_state *b)
{
	int err = btf_maps_open(&b->maps, b->bpf);

	b->maps.shares.variables = b->setup.options->owner_env;
	b->maps.files = b->setup.options->files;
	if (!err && b->setup.options->slower_ns)
		err = slow_calls_open(&b->maps.slow, bpf_map__fd(b->bpf->maps.slow_calls),
				      &b->bpf->bss->rpc_slower_ns);
	if (err)
		log_error(b->setup.log, "cannot use %s: cannot open its maps: %s", b->hooks.user,
			  strerror(-err));
	return err;
}

static int attach_hooks(struct btf_state *b)
{
	int err = bpf_hooks_attach(&b->hooks, 0, HOOKS);

	b->bpf->bss->rpc_attached = monotonic_ns();
	bpf_values_drop(b->bpf->bss->rpc_xprt_cache, sizeof(b->bpf->bss->rpc_xprt_cache));
	/* Finds the transports of the calls that had begun before. */
	for (int run = 0; !err && run < MAX_FINDS && bpf_run(b->bpf->progs.rpc_find, NULL, 0);
	     run++)
		;
	return err;
}

static void *try_btf(const struct source_setup *setup)
{
	struct btf_state *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return NULL;
	b->setup = *setup;
	b->types.fd = -1;
	b->hooks = (struct bpf_hooks){
		.log = setup->log,
		.user = "source btf",
		.table = table,
		.count = HOOKS,
		.essential = ESSENTIAL_HOOKS | (setup->accept_no_waits ? 0 : WAIT_HOOKS),
		.unused = kernel_misses_events() ? 0 : RECORD_AT_RELEASE_HOOKS,
	};
	if (!setup->options->slower_ns)
		b->hooks.unused |= BIT(HOOK_RPC_STATS_LATENCY_SLOW);
	if (!setup->owners)
		b->hooks.unused |= OWNER_HOOKS;
	err = copy_types(b, setup->types_file) ?: load_programs(b);
	module_types_close(&b->types);
	err = err ?: open_maps(b) ?: attach_hooks(b);
	if (!err)
		return b;
	detach_btf(b);
	errno = -err;
	return NULL;
}

void btf_hooks_missing(struct snapshot *s)
{
	for (size_t i = 0; i < HOOKS; i++)
		if (!((RELEASE_HOOKS | SHARING_HOOKS | OWNER_HOOKS) & BIT(i)))
			snapshot_hook(&s->self, table[i].name, false);
}

static int read_state(void *state, struct snapshot *s, struct client_list *clients)
{
	struct btf_state *b = state;
	unsigned int except = 0;

	if (find_late_types(b, false))
		kernel_types_forget();
	for (size_t i = 0; i < HOOKS; i++)
		if (!(b->hooks.unused & ~b->hooks.missing & BIT(i)))
			snapshot_hook(&s->self, table[i].name, bpf_hook_attached(&b->hooks, i));
	/* A call is recorded at its release even if the programs missed its end, and all owners are forgotten at each
	 * snapshot, see shares_read(). */
	if (b->record_at_release)
		except = BIT(HOOK_RPC_STATS_LATENCY) | BIT(HOOK_RPC_STATS_LATENCY_AGAIN) |
			 BIT(HOOK_OWNER_EXITS);
	snapshot_drop(&s->self, "rpc_recursion", rpc_hooks_add(s, &b->hooks, except));
	if (!b->bpf->bss->rpc_session_state_offset)
		s->calls.unknown |= RPC_FACT_BIT(RPC_FACT_DRAINING);
	return btf_maps_read(&b->maps, s, clients);
}

const struct source_ops btf_source = {
	.try = try_btf,
	.read = read_state,
	.detach = detach_btf,
};
