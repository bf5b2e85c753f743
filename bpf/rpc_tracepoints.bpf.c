// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sunrpc's client by its trace events alone, for kernels that have no BTF of it: the programs read the records of
 * classic tracepoints; user space sets the field offsets.
 *
 * Bookkeeping and arithmetic are those of bpf/rpc.bpf.c. The events round down to microseconds; a raw tracepoint has
 * the same figures, exact, as its plain arguments. Must load on 5.10. */
#include "rpc_clients.bpf.h"
#include "rpc_owners.bpf.h"
#include "rpc_tracepoints.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile struct rpc_event_fields fields = {};

/* ---- tables ---- */

BPF_MAPPED_ARRAY(clients, RPC_MAX_CLIENTS, struct rpc_event_client);
BPF_HASH(server_index, RPC_MAX_SERVERS, struct rpc_event_server_key, __u32);

/* The last one is "other". */
BPF_MAPPED_ARRAY(servers, RPC_MAX_SERVERS + 1, struct rpc_event_server);
BPF_HASH(series_index, RPC_OP_SERIES, struct rpc_event_series_key, __u32);
BPF_MAPPED_ARRAY(series_info, RPC_OP_SERIES, struct rpc_event_series_key);

/* Index: series * shards + shard. Mapped, because programs miss events on a CPU that is in a system call for a look-up. */
BPF_MAPPED_ARRAY(series, RPC_SERIES_ENTRIES, struct rpc_series);

/* The raw tracepoint's figures, kept until the event itself comes. Other programs on the tracepoint may run in between. */
struct exact {
	__u64 now;
	__u64 backlog;
	__u64 rtt;
	__u64 execute;
	__u64 pending; /* the event has not come yet */
};

BPF_TABLE(exact_figures, BPF_MAP_TYPE_PERCPU_ARRAY, 1, __type(key, __u32);
	  __type(value, struct exact););

/* Calls whose event was missed since rpc_counted_since (CLOCK_MONOTONIC, ns; 0: not yet), when tp_exact and tp_latency had been
 * attached. */
__u64 rpc_lost = 0;
volatile __u64 rpc_counted_since = 0;

/* RPC_MADE() of each task. A call's end leaves it, because the task may begin another call. */
volatile __u64 rpc_task_owner[RPC_TASK_OWNERS] = {};

/* ---- reading a record ---- */

/* The fixed part of a record, copied at once: each read costs 50 instructions. */
struct record {
	__u64 words[RPC_EVENT_BYTES / sizeof(__u64)];
};

static __always_inline void read_record(struct record *r, void *ctx)
{
	bpf_probe_read_kernel(r, sizeof(*r), ctx);
}

/* A field of @r, at an offset of @fields. */
#define VALUE(type, r, field) (*(type *)((char *)(r) + fields.field))

/* The key of the task that the event is about. */
static __always_inline __u64 task_key(const struct record *r)
{
	return 1 + ((__u64)VALUE(__u32, r, client) << 32 | VALUE(__u32, r, task));
}

/* The text of a dynamic field: it is in the record @ctx itself, at the offset in the lower half of @r's field (__data_loc). */
#define TEXT(ctx, r, field) ((ctx) + (VALUE(__u32, r, field) & 0xffff))

/* The first eight bytes of @text, see NAME(). */
static __always_inline __u64 read_name(const void *text)
{
	__u64 name = 0;

	bpf_probe_read_kernel(&name, sizeof(name), text);
	return name;
}

/* Whether @text is "nfs", and not "nfsacl". */
static __always_inline bool is_nfs(const void *text)
{
	return (__u32)read_name(text) == (__u32)NAME("nfs\0    ");
}

/* ---- clients and series ---- */

/* The number of a server; a new server gets one. */
static __noinline __u32 server_get(struct rpc_event_server_key *key)
{
	__u32 *known = bpf_map_lookup_elem(&server_index, key), index;
	struct rpc_event_server *s;

	if (known)
		return *known;
	if (bpf_map_pop_elem(&free_servers, &index)) {
		drop(RPC_DROP_SERVER);
		return RPC_MAX_SERVERS;
	}
	if (!bpf_map_update_elem(&server_index, key, &index, BPF_NOEXIST)) {
		s = bpf_map_lookup_elem(&servers, &index);
		if (s)
			s->key = *key;
		return index;
	}
	/* Another CPU was faster. */
	bpf_map_push_elem(&free_servers, &index, BPF_ANY);
	known = bpf_map_lookup_elem(&server_index, key);
	return known ? *known : RPC_MAX_SERVERS;
}

static __always_inline struct rpc_event_client *client_of(__u32 client)
{
	return bpf_map_lookup_elem(&clients, &client);
}

static __always_inline __u32 client_server(struct rpc_event_client *c, __u32 client)
{
	struct rpc_event_server_key key = {};

	if (!c)
		return RPC_MAX_SERVERS;
	if (!c->server) {
		key.client = 1 + client;
		c->server = 1 + server_get(&key);
	}
	return c->server - 1;
}

static __noinline __u32 series_make(struct rpc_event_series_key *key)
{
	struct rpc_event_series_key *info;
	__u32 index, *known;

	if (bpf_map_pop_elem(&free_series, &index))
		return rest_series(key->server);
	series_set_kind(index, key->op);
	/* Before anybody can count under this number. */
	info = bpf_map_lookup_elem(&series_info, &index);
	if (info)
		*info = *key;
	if (bpf_map_update_elem(&series_index, key, &index, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_series, &index, BPF_ANY);
		known = bpf_map_lookup_elem(&series_index, key);
		return known ? *known : rest_series(key->server);
	}
	return index;
}

/* ---- tasks ---- */

static __always_inline __u32 task_bucket_of(__u64 key)
{
	return ((__u32)key + (__u32)(key >> 32) * 0x9e3779b1u) & (RPC_TASK_BUCKETS - 1);
}

/* Kernels before 5.12 have no compare-and-swap. If two CPUs claim a way at the same moment, one of
 * the two tasks is not found when it wakes or ends; that is counted. */
static __always_inline bool task_claim(__u64 *way, __u64 key)
{
	*way = key;
	return true;
}

static __always_inline void task_release(__u64 *way, __u64 key)
{
	*way = 0;
}

static __always_inline void tasks_count(__u64 change)
{
}

#define TASK_ENTRY struct rpc_event_task
#include "tasks.bpf.h"

/* The task's entry, an existing or a new one; NULL if the bucket is full. */
static __always_inline struct rpc_event_task *task_get(__u64 key, __u32 server)
{
	bool found;
	struct rpc_event_task *t = task_find_or_add(key, &found);

	if (!t)
		drop(RPC_DROP_WAITER);
	/* A new entry, or that of a task that has ended: its number is in use again. */
	if (t && (!found || t->waits.booked))
		*t = (struct rpc_event_task){ .server = server };
	return t;
}

/* The entry of a task that may be an NFS call; NULL if it is no NFS call or there is no
 * room. Replies to a server's own calls have no client. */
static __always_inline struct rpc_event_task *task_of(__u64 key)
{
	__u32 client = (key - 1) >> 32;
	struct rpc_event_client *c = client_of(client);

	if (!c || c->program == RPC_PROGRAM_OTHER)
		return NULL;
	return task_get(key, client_server(c, client));
}

/* ---- owners ---- */

static __always_inline volatile __u64 *task_owner(__u64 key)
{
	return &rpc_task_owner[key & (RPC_TASK_OWNERS - 1)];
}

/* In the context of the process that makes the task. */
SEC("tp/sunrpc/rpc_task_begin")
int tp_begin(void *ctx)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	struct record r;

	read_record(&r, ctx);
	*task_owner(task_key(&r)) =
		RPC_MADE(VALUE(__u32, &r, client), process, owner_of(process, OWNER_NOW));
	return 0;
}

/* The owner of a task that began at @start; 0 also if another task has taken its cell, or if it began before the attach. */
static __always_inline __u32 owner_of_task(__u64 key, __u64 start)
{
	__u64 made = *task_owner(key);

	if (!rpc_owners)
		return 0;
	if (RPC_MADE_FOR(made, key))
		return made & (RPC_MAX_OWNERS - 1);
	if (rpc_attached && start > rpc_attached)
		drop(RPC_DROP_OWNER_GONE);
	return 0;
}

/* ---- waits ---- */

/* What a task waits for on the queue with this name. */
static __always_inline __u32 wait_of(__u64 name)
{
	if (name == NAME("xprt_bac"))
		return RPC_PHASE_SLOT;
	if (name == NAME("xprt_sen"))
		return RPC_PHASE_SEND;
	if (name == NAME_SESSION || name == NAME_SESSION_4_0)
		return RPC_PHASE_SESSION;
	if (IS_DELAY(name))
		return RPC_PHASE_DELAY;
	return RPC_WAITS;
}

static __always_inline void limit_enter(__u32 server, __u32 limit, __u64 now)
{
	__u32 index = shard_index(server, shard());
	struct rpc_server_stats *stats;
	struct rpc_event_server *s;
	__u64 depth;

	s = limit < RPC_LIMITS ? bpf_map_lookup_elem(&servers, &server) : NULL;
	if (!s)
		return;
	counter_add(&s->waiting[limit], 1);
	depth = s->waiting[limit];
	if (depth == 1 || !s->saturated_since[limit])
		s->saturated_since[limit] = now;
	peak_raise(&s->peak[limit], rpc_epoch, depth);
	stats = bpf_map_lookup_elem(&server_stats, &index);
	if (stats)
		depth_record(stats, limit, depth);
}

static __always_inline void limit_leave(__u32 server, __u32 limit, __u64 now)
{
	struct rpc_event_server *s =
		limit < RPC_LIMITS ? bpf_map_lookup_elem(&servers, &server) : NULL;
	__u64 since;

	if (!s)
		return;
	counter_add(&s->waiting[limit], -1);
	since = s->saturated_since[limit];
	if (s->waiting[limit] || !since)
		return;
	/* In this order, as in bpf/rpc.bpf.c. On arm64 another CPU may see the reverse for a moment, because
	 * kernels before 5.12 have no ordered atomics. A reader then counts the period twice, and reports
	 * that value until the real one has reached it. */
	s->saturated_since[limit] = 0;
	barrier();
	if (now > since)
		counter_add(&s->saturated_ns[limit], now - since);
}

SEC("tp/sunrpc/rpc_task_sleep")
int tp_sleep(void *ctx)
{
	struct rpc_event_task *t;
	struct record r;
	__u32 wait;
	__u64 now;

	read_record(&r, ctx);
	wait = wait_of(read_name(TEXT(ctx, &r, sleep_queue)));
	if (wait >= RPC_WAITS)
		return 0;
	now = bpf_ktime_get_ns(); /* before all that takes time */
	t = task_of(task_key(&r));
	if (!t)
		return 0;
	if (!t->begun)
		t->begun = now;
	limit_enter(t->server, limit_of(wait), now);
	waits_begin(&t->waits, wait, now);
	return 0;
}

/* A task wakes that was not seen to fall asleep: it has slept since before the attach, or the event was missed. Its call's
 * start will show which. */
static __always_inline void slept_before(__u64 key, __u32 wait, __u64 now)
{
	struct rpc_event_task *t = task_of(key);

	if (!t)
		return;
	t->waits.unseen = 1 + wait;
	waits_begin(&t->waits, wait, unseen_since(now));
	waits_end(&t->waits, now);
}

SEC("tp/sunrpc/rpc_task_wakeup")
int tp_wakeup(void *ctx)
{
	struct rpc_event_task *t;
	__u64 name, key, now;
	struct record r;
	bool pending;
	__u32 wait;

	read_record(&r, ctx);
	name = read_name(TEXT(ctx, &r, wakeup_queue));
	pending = name == NAME("xprt_pen");
	wait = wait_of(name);
	if (pending ? VALUE(__s32, &r, wakeup_status) >= 0 : wait >= RPC_WAITS)
		return 0;
	now = bpf_ktime_get_ns();
	key = task_key(&r);
	t = task_find(key).entry;
	if (pending) {
		/* It was transmitted, and an error wakes it: it may be sent again. */
		if (t && t->sent && !t->waits.first)
			waits_first_transmit(&t->waits, t->sent);
	} else if (!t || !t->waits.since) {
		/* Another task may have transmitted its request. */
		slept_before(key, wait, now);
	} else if (t->waits.asleep) {
		limit_leave(t->server, limit_of(wait), now);
		waits_end(&t->waits, now);
	}
	return 0;
}

SEC("tp/sunrpc/xprt_transmit")
int tp_transmit(void *ctx)
{
	struct rpc_event_task *t;
	struct record r;

	read_record(&r, ctx);
	if (VALUE(__u32, &r, transmit_status))
		return 0; /* transmitted in part, or not at all */
	t = task_of(task_key(&r));
	if (!t)
		return 0;
	t->sent = bpf_ktime_get_ns();
	if (!t->transmits++)
		t->begun = t->sent;
	return 0;
}

/* ---- the end of a call ---- */

/* This event comes right before rpc_stats_latency. If the task has no request, the latter
 * does not come: then user space frees the entry. */
SEC("tp/sunrpc/rpc_task_end")
int tp_end(void *ctx)
{
	struct rpc_event_task *t;
	struct record r;
	__s32 status;
	__u64 key;

	read_record(&r, ctx);
	status = VALUE(__s32, &r, end_status);
	key = task_key(&r);
	t = task_find(key).entry;
	if (!t && status < 0)
		t = task_of(key);
	if (!t)
		return 0;
	t->waits.booked = 1;
	t->waits.status = status;
	t->ended = bpf_ktime_get_ns();
	return 0;
}

/* Needs no BTF: it reads only arguments that are numbers. */
SEC("raw_tp/rpc_stats_latency")
int tp_exact(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns(); /* before all that takes time */
	__u32 zero = 0;
	struct exact *e = bpf_map_lookup_elem(&exact_figures, &zero);

	if (!e)
		return 0;
	if (e->pending && e->now > rpc_counted_since - 1) /* 0 - 1: never */
		counter_add(&rpc_lost, 1);
	*e = (struct exact){ now, ctx[1], ctx[2], ctx[3], .pending = 1 };
	return 0;
}

/* The call's figures in ns: those of the raw tracepoint, or the event's own if those are of another call. */
static __always_inline void figures(const struct record *r, struct exact *f)
{
	__u32 zero = 0;
	struct exact *e = bpf_map_lookup_elem(&exact_figures, &zero);

	f->now = bpf_ktime_get_ns();
	f->backlog = VALUE(__u64, r, backlog);
	f->rtt = VALUE(__u64, r, rtt);
	f->execute = VALUE(__u64, r, execute);
	if (e && e->pending && e->backlog / 1000 == f->backlog && e->rtt / 1000 == f->rtt &&
	    e->execute / 1000 == f->execute) {
		*f = *e;
	} else {
		f->backlog *= 1000;
		f->rtt *= 1000;
		f->execute *= 1000;
	}
	if (e)
		e->pending = 0;
}

/* Where nothing was transmitted, both are 0; with a clock of jiffies, backlog alone may be. */
static __always_inline bool is_transmitted(const struct exact *f)
{
	return f->backlog || f->rtt;
}

/* Estimates when the kernel read its clock for the figures of a task that ended: it was after rpc_task_end, before
 * rpc_stats_latency, and not so late that the last transmit would come after its event. Returns the middle of that
 * time; *@late (ns) is by how much that may be too late for the task's waits. */
static __always_inline __u64 looked_at_clock(const struct rpc_event_task *t, const struct exact *f,
					     __u64 *late)
{
	__u64 first = t->ended, last = f->now;
	__u64 sent = t->sent - f->backlog + f->execute;

	if (is_transmitted(f) && sent >= first && sent < last)
		last = sent;
	/* The event's own figures are rounded down to microseconds. */
	*late = (last - first) / 2 + 1000;
	/* The task may have been restarted in its sleep (rpc_delay, then
	 * rpc_restart_call): then its clock began within that wait. */
	if (t->waits.wait_ns[RPC_PHASE_DELAY])
		*late = ~(__u64)0;
	return first + (last - first) / 2;
}

/* The number of the series of the call that @ctx, copied to @r, records. */
static __always_inline __u32 series_get(void *ctx, const struct record *r, __u32 server)
{
	struct rpc_event_series_key key = {};
	__u32 *known;

	key.server = server;
	key.version = VALUE(__u32, r, version);
	bpf_probe_read_kernel_str(key.op, sizeof(key.op), TEXT(ctx, r, procedure));
	known = bpf_map_lookup_elem(&series_index, &key);
	return known ? *known : series_make(&key);
}

/* If the task of a call from before the attach has waited since then, that limit was saturated until it woke. */
static __always_inline void earlier_wait(__u64 start, const struct rpc_event_task *t)
{
	__u32 wait = t->waits.unseen - 1, limit = limit_of(wait);
	struct rpc_event_server *s;

	if (start >= rpc_attached || wait >= RPC_WAITS || limit >= RPC_LIMITS)
		return;
	s = bpf_map_lookup_elem(&servers, &t->server);
	if (s && s->saturated_ns[limit] < t->waits.wait_ns[wait])
		s->saturated_ns[limit] = t->waits.wait_ns[wait];
}

/* Adds a call of @c to @s, the series with this number. @t: the entry of its task, or NULL. */
static __always_inline void call_record(struct rpc_series *s, struct rpc_share_stats *c,
					__u32 index, __u32 of_server, const struct exact *f,
					struct rpc_event_task *t)
{
	bool transmitted = is_transmitted(f);
	struct call_times call = {
		.kind = kind_of_series(index),
		.total = f->execute,
		.before = transmitted ? f->backlog : f->execute,
		.rtt = f->rtt ?: RPC_NO_REPLY,
	};
	struct rpc_event_server *server;
	__u64 now = f->now, setup;

	if (t && t->waits.booked)
		now = looked_at_clock(t, f, &call.late);
	call.xtime = transmitted ? now - f->execute + f->backlog : 0;
	/* On arm64 a reader may accept a copy that has parts of a call, because kernels before 5.12 have no
	 * ordered atomics. */
	counter_add(&s->started, 1);
	counter_add(&c->started, 1);
	client_record(c, call.kind, f->execute, 0, 0);
	setup = reply_phases_record(s, c, &call);
	if (t)
		setup = waits_record(s, c, &call, &t->waits, setup);
	phase_record(s, c, RPC_PHASE_SETUP, setup);
	counter_add(&c->finished, 1);
	counter_add(&s->finished, 1);
	if (f->execute > rpc_age)
		earlier_record(of_server, now - f->execute, setup);
	if (!t)
		return;
	earlier_wait(now - f->execute, t);
	if (t->waits.asleep) {
		/* Its wake-up was missed: the wait counts as `setup`. */
		drop(RPC_DROP_WAITER);
		limit_leave(t->server, limit_of(t->waits.last), now);
	}
	if (t->transmits > 1) {
		server = bpf_map_lookup_elem(&servers, &t->server);
		if (server)
			counter_add(&server->retransmits, t->transmits - 1);
	}
	if (f->rtt)
		gap_record(of_server, &t->waits, call.xtime + f->rtt);
}

SEC("tp/sunrpc/rpc_stats_latency")
int tp_latency(void *ctx)
{
	struct rpc_share_stats *stats;
	struct rpc_event_client *c;
	struct rpc_event_task *t;
	struct rpc_series *s;
	__u32 client, server, index, copy, owner, share;
	struct task_place place;
	struct record r;
	struct exact f;
	__u64 task;
	bool nfs;

	read_record(&r, ctx);
	figures(&r, &f);
	client = VALUE(__u32, &r, client);
	nfs = is_nfs(TEXT(ctx, &r, program));
	c = client_of(client);
	if (c && c->program == RPC_PROGRAM_UNKNOWN)
		c->program = nfs ? RPC_PROGRAM_NFS : RPC_PROGRAM_OTHER;
	task = task_key(&r);
	place = task_find(task);
	t = place.entry;
	if (nfs) {
		if (!c)
			drop(RPC_DROP_SERVER);
		server = client_server(c, client);
		index = series_get(ctx, &r, server);
		if (kind_of_series(index) == RPC_KIND_OTHER)
			drop(RPC_DROP_SERIES);
		copy = shard_index(index, shard());
		s = bpf_map_lookup_elem(&series, &copy);
		owner = owner_of_task(task, f.now - f.execute);
		stats = share_get(client, server, owner & (RPC_MAX_OWNERS - 1), shard(), &share);
		if (s && stats)
			call_record(s, stats, index, server, &f, t);
		if (s && stats && t && t->waits.booked && t->waits.status < 0)
			call_failed(stats, share, kind_of_series(index), index, t->waits.status);
	}
	if (t)
		task_drop(place, task);
	return 0;
}

/* ---- clients and their servers ---- */

SEC("tp/sunrpc/rpc_clnt_new")
int tp_client(void *ctx)
{
	struct rpc_event_server_key key = {};
	struct rpc_event_server *s;
	struct rpc_event_client *c;
	struct record r;
	__u32 server;

	read_record(&r, ctx);
	client_begins(VALUE(__u32, &r, new_client));
	c = client_of(VALUE(__u32, &r, new_client));
	if (!c)
		return 0;
	c->program = is_nfs(TEXT(ctx, &r, new_program)) ? RPC_PROGRAM_NFS : RPC_PROGRAM_OTHER;
	bpf_probe_read_kernel_str(key.address, sizeof(key.address), TEXT(ctx, &r, new_address));
	key.port = port_of(TEXT(ctx, &r, new_port));
	if (c->program != RPC_PROGRAM_NFS || !key.address[0]) {
		c->server = 0;
		return 0;
	}
	server = server_get(&key);
	c->server = 1 + server;
	s = bpf_map_lookup_elem(&servers, &server);
	if (s && !s->name[0] && read_name(TEXT(ctx, &r, new_server)) != NAME("(null)\0\0"))
		bpf_probe_read_kernel_str(s->name, sizeof(s->name), TEXT(ctx, &r, new_server));
	return 0;
}

SEC("tp/sunrpc/xprt_disconnect_done")
int tp_disconnect(void *ctx)
{
	struct rpc_event_server_key key = {};
	struct rpc_event_server *s;
	struct record r;
	__u32 *known;

	read_record(&r, ctx);
	bpf_probe_read_kernel_str(key.address, sizeof(key.address),
				  TEXT(ctx, &r, disconnect_address));
	key.port = port_of(TEXT(ctx, &r, disconnect_port));
	known = bpf_map_lookup_elem(&server_index, &key);
	s = known ? bpf_map_lookup_elem(&servers, known) : NULL;
	if (s)
		counter_add(&s->disconnects, 1);
	return 0;
}
