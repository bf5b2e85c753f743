// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the tables of bpf/rpc.bpf.c hold what they hold, whatever comes beyond them or at the same moment: no
 * two transports share an entry, no call counts for an earlier server, and what does not fit is counted as dropped. */
#include "bpf_natively.h"
#include "rpc.bpf.c"
#include "unit.h"

#define TRANSPORTS 10000
#define SERVERS 20

static struct net net;
static struct rpc_xprt kernel_xprt[TRANSPORTS];
static char server_names[SERVERS][16];

/* The kernel makes the transport number @i, to server number @server. */
static struct rpc_xprt *connect_to(unsigned int i, unsigned int server)
{
	struct rpc_xprt *xprt = &kernel_xprt[i];

	memset(xprt, 0, sizeof(*xprt));
	snprintf(server_names[server], sizeof(server_names[server]), "nas-%u", server);
	xprt->servername = server_names[server];
	xprt->xprt_net = &net;
	xprt->address_strings[RPC_DISPLAY_PROTO] = "tcp";
	xprt->address_strings[RPC_DISPLAY_ADDR] = xprt->address_strings[RPC_DISPLAY_PORT] = "";
	return xprt;
}

BEFORE_EACH()
{
	maps_clear();
	rpc_server_count = rpc_transport_count = rpc_xprt_count = 0;
	rpc_series_count = 1;
	rpc_waiters_in_use.count = 0;
	memset(rpc_xprt_cache, 0, sizeof(rpc_xprt_cache));
	memset(rpc_dropped, 0, sizeof(rpc_dropped));
	meanwhile_at = 0;
}

static struct rpc_transport *entry(__u32 index)
{
	return bpf_map_lookup_elem(&transports, &index);
}

/* A server that found no number looks for one again once one is free. */
TEST(a_server_without_a_number_gets_one_when_it_is_free)
{
	__u64 args[3] = {};
	__u32 number = 5;

	rpc_server_count = RPC_MAX_SERVERS;
	args[0] = xprt_get(connect_to(0, 0))->transport;
	args[1] = (__u64)&kernel_xprt[0];
	assert_int_equal(xprt_get(&kernel_xprt[0])->server, RPC_MAX_SERVERS);
	rpc_probe(args);
	assert_int_equal(xprt_get(&kernel_xprt[0])->server, RPC_MAX_SERVERS);
	bpf_map_push_elem(&free_servers, &number, BPF_ANY);
	rpc_probe(args);
	assert_int_equal(xprt_get(&kernel_xprt[0])->server, 5);
}

/* ---- calls ---- */

static const struct rpc_procinfo read_op = { .p_statidx = 6, .p_name = "READ" };

struct call {
	struct rpc_clnt client;
	struct rpc_rqst rqst;
	struct rpc_task task;
};

static void call_prepare(struct call *c, struct rpc_xprt *xprt, const struct rpc_procinfo *proc)
{
	*c = (struct call){
		.client = { .cl_xprt = xprt, .cl_prog = RPC_NFS_PROGRAM, .cl_vers = 3 },
		.rqst = { .rq_xprt = xprt, .rq_task = &c->task, .rq_reply_bytes_recvd = 100 },
		.task = { .tk_msg = { proc },
			  .tk_client = &c->client,
			  .tk_xprt = xprt,
			  .tk_rqstp = &c->rqst,
			  .tk_start = 1000 },
	};
	c->rqst.rq_xtime = 3000;
}

/* A call that takes 10,000 ns ends, with that status. */
static void call_op(struct rpc_xprt *xprt, const struct rpc_procinfo *proc, int status)
{
	struct call c;

	call_prepare(&c, xprt, proc);
	c.task.tk_status = status;
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
}

/* The calls that count for a server. */
static __u64 calls_of(const char *name)
{
	struct rpc_series_info *info;
	struct rpc_server *server;
	struct rpc_series *s;
	__u64 calls = 0;

	for (__u32 i = 1; i < rpc_series_count && i < RPC_OP_SERIES; i++) {
		info = bpf_map_lookup_elem(&series_info, &i);
		server = bpf_map_lookup_elem(&servers, &info->key.server);
		s = bpf_map_lookup_elem(&series, &i);
		if (server && !strcmp(server->name, name))
			calls += s->finished;
	}
	return calls;
}

static __u64 calls_of_other(void)
{
	__u32 other = 0;
	struct rpc_series *s = bpf_map_lookup_elem(&series, &other);

	return s->finished;
}

TEST(transports_beyond_the_tables_change_no_entry)
{
	static struct rpc_transport before[RPC_MAX_TRANSPORTS];
	const struct rpc_xprt_ref *ref;
	__u64 beyond = 0;

	for (unsigned int i = 0; i < TRANSPORTS; i++) {
		ref = xprt_get(connect_to(i, i % SERVERS));
		assert_int_equal(ref->transport, i < RPC_MAX_TRANSPORTS ? i : RPC_MAX_TRANSPORTS);
		assert_int_equal(ref->server, i < RPC_MAX_XPRTS ? i % SERVERS : RPC_MAX_SERVERS);
		if (i == RPC_MAX_TRANSPORTS)
			memcpy(before, entry(0), sizeof(before));
	}
	/* More calls than a 16-bit number has values. */
	for (beyond = 0; beyond < 70000; beyond++) {
		steps = 0;
		assert_ptr_equal(xprt_get(&kernel_xprt[TRANSPORTS - 1]), &rpc_xprt_beyond);
		assert_true(steps < 4);
	}
	assert_memory_equal(before, entry(0), sizeof(before));
	assert_int_equal(rpc_transport_count, RPC_MAX_TRANSPORTS);
	assert_int_equal(rpc_xprt_count, RPC_MAX_XPRTS);
	assert_int_equal(rpc_server_count, SERVERS);
	assert_int_equal(rpc_dropped[RPC_DROP_TRANSPORT], RPC_MAX_XPRTS - RPC_MAX_TRANSPORTS);
	assert_int_equal(rpc_dropped[RPC_DROP_SERVER], TRANSPORTS - RPC_MAX_XPRTS + beyond);
	for (unsigned int i = 0; i < RPC_MAX_XPRTS; i++)
		assert_int_equal(xprt_get(&kernel_xprt[i])->server, i % SERVERS);
}

TEST(a_transports_entry_is_for_the_next_one_of_its_server)
{
	for (unsigned int i = 0; i < RPC_MAX_TRANSPORTS; i++)
		xprt_get(connect_to(i, i % SERVERS));
	entry(25)->session_slots = 64;
	xprt_destroy(&kernel_xprt[25]);
	assert_int_equal(entry(25)->session_slots, 0); /* the session has ended with it */
	assert_int_equal(xprt_get(connect_to(2000, 6))->transport, RPC_MAX_TRANSPORTS);
	assert_int_equal(xprt_get(connect_to(2001, 5))->transport, 25);
	assert_int_equal(entry(25)->xprt, (__u64)&kernel_xprt[2001]);
	assert_int_equal(xprt_get(connect_to(2002, 5))->transport, RPC_MAX_TRANSPORTS);
}

static const struct rpc_xprt_ref *other_ref;

/* Lets this happen at the @moment of what follows, counted from 1. */
static void happens_at(unsigned int moment, void (*what)(void))
{
	other_ref = NULL;
	steps = 0;
	meanwhile_at = moment;
	meanwhile = what;
}

static void another_cpu(void)
{
	other_ref = xprt_get(&kernel_xprt[1]);
}

/* At each moment of it. */
TEST(two_transports_that_come_at_once_have_an_entry_each)
{
	unsigned int shared = 0;

	for (unsigned int k = 1;; k++) {
		const struct rpc_xprt_ref *ref;

		fresh();
		for (unsigned int i = 0; i < 3; i++)
			xprt_get(connect_to(i, 0));
		xprt_destroy(&kernel_xprt[0]);
		xprt_destroy(&kernel_xprt[1]);
		happens_at(k, another_cpu);
		ref = xprt_get(&kernel_xprt[0]);
		if (!other_ref)
			break;
		shared += ref->transport == other_ref->transport;
		assert_int_equal(entry(ref->transport)->xprt, (__u64)&kernel_xprt[0]);
		assert_int_equal(entry(other_ref->transport)->xprt, (__u64)&kernel_xprt[1]);
	}
	assert_int_equal(shared, 0);
}

static void the_same_on_another_cpu(void)
{
	other_ref = xprt_get(&kernel_xprt[0]);
}

TEST(a_transport_that_two_cpus_find_has_one_entry)
{
	for (unsigned int k = 1;; k++) {
		const struct rpc_xprt_ref *ref;

		fresh();
		connect_to(0, 0);
		happens_at(k, the_same_on_another_cpu);
		ref = xprt_get(&kernel_xprt[0]);
		if (!other_ref)
			break;
		assert_int_equal(ref->transport, other_ref->transport);
		assert_int_equal(entry(ref->transport)->xprt, (__u64)&kernel_xprt[0]);
		assert_int_equal(entry(1 - ref->transport)->xprt, 0);
		assert_int_equal(rpc_xprt_count, 1);
	}
}

/* The number of a server that is met for the first time. */
static __u32 server_met(unsigned int i)
{
	static char names[RPC_MAX_SERVERS + 1][16];
	struct rpc_xprt *xprt = connect_to(1 + i, 0);

	snprintf(names[i], sizeof(names[i]), "filer-%u", i);
	xprt->servername = names[i];
	return xprt_get(xprt)->server;
}

TEST(a_server_that_two_cpus_find_takes_one_number)
{
	for (unsigned int k = 1;; k++) {
		__u32 server;

		fresh();
		connect_to(0, 0);
		connect_to(1, 0);
		happens_at(k, another_cpu);
		server = xprt_get(&kernel_xprt[0])->server;
		if (!other_ref)
			break;
		assert_int_equal(server, other_ref->server);
		/* All numbers but that one are left. */
		for (unsigned int i = 1; i < RPC_MAX_SERVERS; i++)
			assert_true(server_met(i) < RPC_MAX_SERVERS);
		assert_int_equal(rpc_dropped[RPC_DROP_SERVER], 0);
	}
}

static bool other_called;

static void the_same_call_on_another_cpu(void)
{
	other_called = true;
	call_op(&kernel_xprt[0], &read_op, 0);
}

TEST(an_op_that_two_cpus_find_takes_one_number)
{
	struct rpc_procinfo proc = { .p_name = "OP" };
	struct rpc_xprt *xprt;

	for (unsigned int k = 1;; k++) {
		fresh();
		xprt = connect_to(0, 0);
		other_called = false;
		happens_at(k, the_same_call_on_another_cpu);
		call_op(xprt, &read_op, 0);
		if (!other_called)
			break;
		for (unsigned int i = 2; i < RPC_OP_SERIES; i++) {
			xprt = connect_to(1 + i % (SERVERS - 1), 1 + i % (SERVERS - 1));
			proc.p_statidx = 10 + i / (SERVERS - 1);
			call_op(xprt, &proc, 0);
		}
		assert_int_equal(calls_of("nas-0"), 2);
		assert_int_equal(calls_of_other(), 0);
		assert_int_equal(rpc_dropped[RPC_DROP_SERIES], 0);
	}
}

TEST(an_address_that_is_used_again_has_its_new_server)
{
	struct rpc_xprt *xprt = connect_to(0, 0);

	call_op(xprt, &read_op, 0);
	call_op(xprt, &read_op, 0);
	xprt_destroy(xprt);
	connect_to(0, 1);
	call_op(xprt, &read_op, 0);
	assert_int_equal(calls_of("nas-0"), 2);
	assert_int_equal(calls_of("nas-1"), 1);
}

/* The kernel has dropped the event of the former one's end. */
TEST(a_snapshot_notices_that_an_address_has_another_server)
{
	struct rpc_xprt *xprt = connect_to(0, 0);
	__u64 args[3] = { 0, (__u64)xprt, RPC_LOCAL_UNKNOWN };

	call_op(xprt, &read_op, 0);
	rpc_probe(args);
	assert_int_equal(entry(0)->xprt, (__u64)xprt);
	connect_to(0, 1);
	rpc_probe(args);
	assert_int_equal(entry(0)->xprt, 0);
	call_op(xprt, &read_op, 0);
	assert_int_equal(calls_of("nas-0"), 1);
	assert_int_equal(calls_of("nas-1"), 1);
}

/* ---- the oldest request ---- */

static struct call oldest;
static struct rpc_task another_task;

/* The former one's memory is something else's, and may happen to look as before. */
static int happening;

static void the_request_changes(void)
{
	oldest.task.tk_start = 7;
	if (happening == 0) /* the task has ended */
		oldest.task.tk_rqstp = NULL;
	else if (happening == 1)
		oldest.rqst.rq_task = &another_task;
	else
		oldest.rqst.rq_xprt = &kernel_xprt[1];
}

/* Whatever happens at each moment of the probe. */
TEST(the_oldest_request_is_that_of_a_task_that_still_owns_it)
{
	struct rpc_xprt *xprt;
	__u64 args[3] = { 0, 0, RPC_LOCAL_UNKNOWN };

	for (happening = 0; happening < 3; happening++) {
		for (unsigned int k = 1;; k++) {
			fresh();
			xprt = connect_to(0, 0);
			connect_to(1, 0);
			xprt_get(xprt);
			call_prepare(&oldest, xprt, &read_op);
			oldest.rqst.rq_xid = 40;
			oldest.task.tk_start = 500;
			another_task =
				(struct rpc_task){ .tk_start = 900, .tk_rqstp = &oldest.rqst };
			xprt->recv_queue.rb_node = &oldest.rqst.rq_recv;
			xprt->xid = 50;
			args[1] = (__u64)xprt;
			happens_at(k, the_request_changes);
			rpc_probe(args);
			if (steps < k)
				break;
			if (rpc_probe_result.oldest_start != 500 &&
			    rpc_probe_result.oldest_start != 900)
				assert_int_equal(rpc_probe_result.oldest_start, 0);
		}
		assert_int_equal(rpc_probe_result.oldest_start, 500);
		assert_string_equal(rpc_probe_result.oldest_op, "READ");
		assert_int_equal(rpc_probe_result.oldest_pid, oldest.task.tk_owner);
	}
}

/* ---- calls that began before ---- */

static void join(struct list_head *list, struct list_head *entry)
{
	entry->prev = list->prev ?: list;
	entry->next = list;
	entry->prev->next = list->prev = entry;
	list->next = list->next ?: entry;
}

/* Network namespaces in a ring. */
static struct net spaces[3];
static void *parts[3][NETNS_PARTS];
static struct sunrpc_net sunrpc_part[3];

static void make_spaces(void)
{
	static struct nsproxy proxy = { .net_ns = &spaces[1] };
	static const struct task_struct self = { .nsproxy = &proxy };

	self_now = &self;
	memset(&rpc_walk, 0, sizeof(rpc_walk));
	memset(spaces, 0, sizeof(spaces));
	for (int i = 0; i < 3; i++) {
		spaces[i].gen = (void *)parts[i];
		for (int p = 0; p < NETNS_PARTS; p++)
			parts[i][p] = parts[2]; /* whatever else */
		parts[i][40] = &sunrpc_part[i];
		sunrpc_part[i].all_clients = (struct list_head){ &sunrpc_part[i].all_clients,
								 &sunrpc_part[i].all_clients };
		spaces[i].list =
			(struct list_head){ &spaces[(i + 1) % 3].list, &spaces[(i + 2) % 3].list };
	}
}

/* A client in namespace @space with a call to a server by transport @i. */
static void add_client(struct call *c, unsigned int space, unsigned int i, __u32 program)
{
	struct rpc_xprt *xprt = connect_to(i, i);

	xprt->xprt_net = &spaces[space];
	call_prepare(c, xprt, &read_op);
	c->client.cl_prog = program;
	c->client.cl_tasks = (struct list_head){ &c->client.cl_tasks, &c->client.cl_tasks };
	join(&c->client.cl_tasks, &c->task.tk_task);
	join(&sunrpc_part[space].all_clients, &c->client.cl_clients);
}

TEST(calls_that_began_before_show_their_transports)
{
	static struct call calls[4];
	__u64 none = 0;

	make_spaces();
	add_client(&calls[0], 0, 0, RPC_NFS_PROGRAM);
	add_client(&calls[1], 0, 1, RPC_NFS_PROGRAM + 5); /* of lockd, or its like */
	add_client(&calls[2], 2, 2, RPC_NFS_PROGRAM);
	add_client(&calls[3], 2, 3, RPC_NFS_PROGRAM);
	calls[3].task.tk_xprt = NULL; /* it has none yet */
	for (int i = 0; rpc_find(&none); i++)
		assert_true(i < 20);
	assert_true(transport_of(&kernel_xprt[0]) && transport_of(&kernel_xprt[2]));
	assert_int_equal(rpc_transport_count, 2);
}

/* ---- what does not fit ---- */

TEST(servers_that_do_not_fit_are_counted)
{
	for (unsigned int i = 0; i <= RPC_MAX_SERVERS; i++) {
		assert_int_equal(server_met(i), i);
		assert_int_equal(rpc_dropped[RPC_DROP_SERVER], i == RPC_MAX_SERVERS);
	}
}

/* All entries are taken, at the same moment. */
TEST(calls_of_a_transport_that_found_no_entry_are_counted)
{
	__u64 key = 1;

	for (; key <= RPC_MAX_XPRTS; key++)
		bpf_map_update_elem(&xprts, &key, &rpc_xprt_beyond, BPF_ANY);
	assert_ptr_equal(xprt_get(connect_to(0, 0)), &rpc_xprt_beyond);
	assert_int_equal(rpc_dropped[RPC_DROP_SERVER], 1);
	assert_int_equal(entry(0)->xprt, 0);
}

TEST(calls_of_an_op_that_does_not_fit_lose_their_op_alone)
{
	struct rpc_procinfo proc = { .p_name = "OP" };
	struct rpc_xprt *xprt;
	struct rpc_series *s;
	__u32 rest;

	for (unsigned int i = 1; i < RPC_OP_SERIES + 3; i++) {
		xprt = connect_to(i % SERVERS, i % SERVERS);
		proc.p_statidx = i / SERVERS;
		call_op(xprt, &proc, 0);
		if (i < RPC_OP_SERIES)
			continue;
		rest = rest_series(xprt_get(xprt)->server);
		s = bpf_map_lookup_elem(&series, &rest);
		assert_int_equal(s->finished, 1);
		assert_int_equal(kind_of_series(rest), RPC_KIND_OTHER);
	}
	assert_int_equal(rpc_dropped[RPC_DROP_SERIES], 3);
	assert_int_equal(calls_of_other(), 0);
	assert_int_equal(rpc_series_count, RPC_OP_SERIES);
}

TEST(errors_that_do_not_fit_are_counted)
{
	struct rpc_xprt *xprt = connect_to(0, 0);

	for (int i = 1; i <= RPC_MAX_ERRORS + 2; i++)
		call_op(xprt, &read_op, -i);
	assert_int_equal(rpc_dropped[RPC_DROP_ERROR], 2);
	assert_int_equal(calls_of("nas-0"), RPC_MAX_ERRORS + 2);
}

/* Until a bucket has more tasks than ways. */
TEST(calls_to_a_lock_manager_count_for_its_server_and_for_nothing_else)
{
	struct rpc_xprt *lockd = connect_to(1, 0);
	struct rpc_server_stats *s;
	struct call c;
	__u32 index;

	call_prepare(&c, lockd, &read_op);
	c.client.cl_prog = RPC_NLM_PROGRAM;
	rpc_stats_latency(&c.task, 2000, 7000, 10000); /* the server is not known yet */
	call_op(connect_to(0, 0), &read_op, 0);
	lockd->address_strings[RPC_DISPLAY_PORT] = "32803";
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
	c.task.tk_status = -ETIMEDOUT;
	rpc_stats_latency(&c.task, 2000, 7000, 30000);
	c.client.cl_prog = 100024;
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
	index = shard_index(xprt_get(&kernel_xprt[0])->server, shard());
	s = bpf_map_lookup_elem(&server_stats, &index);
	assert_int_equal(s->lock_calls, 2);
	assert_int_equal(s->lock_errors, 1);
	assert_int_equal(s->lock_ns, 40000);
	assert_int_equal(calls_of("nas-0"), 1);
	assert_int_equal(rpc_server_count, 1);
}

TEST(waits_that_do_not_fit_are_counted)
{
	static struct call waiting[RPC_MAX_TASKS + RPC_TASK_BUCKETS];
	struct rpc_xprt *xprt = connect_to(0, 0);
	__u64 found = 0;

	for (unsigned int i = 0; i < COUNT(waiting); i++) {
		call_prepare(&waiting[i], xprt, &read_op);
		rpc_task_sleep(&waiting[i].task, &xprt->backlog);
		found += !!waiter_find(&waiting[i].task).entry;
	}
	assert_true(rpc_dropped[RPC_DROP_WAITER] >= RPC_TASK_BUCKETS);
	assert_int_equal(found + rpc_dropped[RPC_DROP_WAITER], COUNT(waiting));
}

TEST(a_wait_that_is_too_long_is_cut_and_counted)
{
	struct rpc_xprt *xprt = connect_to(0, 0);
	struct call c;

	call_prepare(&c, xprt, &read_op);
	now_ns = 500;
	rpc_task_sleep(&c.task, &xprt->backlog);
	now_ns = 2999;
	xprt->backlog.qlen = 1;
	rpc_task_wakeup(&c.task, &xprt->backlog);
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
	assert_int_equal(rpc_dropped[RPC_DROP_CLIPPED], 1);
}

/* A call is answered at @when, in units of gaps, which waited on @q before if that is not NULL. */
static void answered(struct rpc_xprt *xprt, struct rpc_wait_queue *q, __u64 when)
{
	__u64 ns = when << RPC_GAP_SHIFT;
	struct call c;

	call_prepare(&c, xprt, &read_op);
	c.task.tk_start = ns - 9000;
	c.rqst.rq_xtime = ns - 3000;
	if (q) {
		now_ns = ns - 8000;
		rpc_task_sleep(&c.task, q);
		now_ns = ns - 4000;
		q->qlen = 1;
		rpc_task_wakeup(&c.task, q);
	}
	rpc_stats_latency(&c.task, 6000, 3000, 10000);
}

TEST(replies_to_calls_that_waited_for_slots_have_gaps)
{
	struct rpc_xprt *xprt = connect_to(0, 0);
	struct rpc_wait_queue session = { .name = "ForeChannel Slot table" };
	const struct {
		struct rpc_wait_queue *q;
		__u64 when, count, sum, squares; /* then */
	} replies[] = {
		{ &xprt->backlog, 1000000, 0, 0, 0 }, /* the first one */
		{ &xprt->backlog, 1005000, 1, 5000, 25000000 },
		{ NULL, 1006000, 1, 5000, 25000000 },
		{ &xprt->sending, 1007000, 1, 5000, 25000000 },
		{ &session, 1008000, 2, 8000, 34000000 },
		{ &xprt->backlog, 1007500, 2, 8000, 34000000 }, /* recorded too late */
		{ &xprt->backlog, 90000000, 3, 8000 + MAX_GAP,
		  34000000 + (__u64)MAX_GAP * MAX_GAP },
	};
	struct rpc_server_stats *s;
	__u32 first = 0;

	for (size_t i = 0; i < COUNT(replies); i++) {
		answered(xprt, replies[i].q, replies[i].when);
		s = bpf_map_lookup_elem(&server_stats, &first);
		assert_int_equal(s->gaps.count, replies[i].count);
		assert_int_equal(s->gaps.sum, replies[i].sum);
		assert_int_equal(s->gaps.squares, replies[i].squares);
	}
}

TEST(slow_calls_without_room_are_counted)
{
	struct rpc_xprt *xprt = connect_to(0, 0);
	struct call c;

	call_prepare(&c, xprt, &read_op);
	rpc_slow_lost = 0;
	rpc_slower_ns = 10000;
	rpc_stats_latency_slow(&c.task, 2000, 7000, 9999);
	rpc_stats_latency_slow(&c.task, 2000, 7000, 10000);
	assert_int_equal(ring_submitted, 1);
	ring_room = 0;
	rpc_stats_latency_slow(&c.task, 2000, 7000, 10000);
	assert_int_equal(ring_submitted, 1);
	assert_int_equal(rpc_slow_lost, 1);
	ring_room = sizeof(ring_record);
}

/* ---- the calls of each client ---- */

static const struct rpc_procinfo write_op = { .p_statidx = 7, .p_name = "WRITE" },
				 commit_op = { .p_statidx = 21, .p_name = "COMMIT" },
				 getattr_op = { .p_statidx = 1, .p_name = "GETATTR" };

/* Fills the queue of free entries as user space does. */
static void free_entries(__u32 count)
{
	memset((void *)rpc_client_entry, 0, sizeof(rpc_client_entry));
	memset((void *)rpc_share, 0, sizeof(rpc_share));
	for (__u32 i = count; i; i--) { /* the test's queue gives the last one first */
		bpf_map_push_elem(&free_clients, &i, BPF_ANY);
		if (i % 2)
			bpf_map_push_elem(&free_shares, &i, BPF_ANY);
	}
}

static void client_calls(__u32 client, const struct rpc_procinfo *proc, int status)
{
	struct call c;

	call_prepare(&c, &kernel_xprt[0], proc);
	c.client.cl_clid = client;
	c.task.tk_status = status;
	c.rqst.rq_xmit_bytes_sent = 10;
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
}

static struct rpc_share_stats *stats_of(__u32 index)
{
	return bpf_map_lookup_elem(&share_stats, &index);
}

TEST(the_calls_of_a_client_are_counted_by_kind)
{
	const struct rpc_sums *sums;
	__u64 phases = 0;

	connect_to(0, 0);
	free_entries(3);
	client_calls(17, &read_op, 0);
	client_calls(17, &read_op, -5);
	client_calls(17, &write_op, 0);
	client_calls(17, &commit_op, 0);
	client_calls(17, &getattr_op, 0);
	client_calls(18, &read_op, 0);
	assert_printed("1 2", "%u %u", rpc_client_entry[17], rpc_client_entry[18]);
	sums = &stats_of(2)->sums;
	assert_printed("2 2 1", "%llu %llu %llu", sums->calls[RPC_KIND_READ],
		       sums->calls[RPC_KIND_WRITE], sums->calls[RPC_KIND_METADATA]);
	assert_printed("1 20000 20 100", "%llu %llu %llu %llu", sums->errors[RPC_KIND_READ],
		       sums->total_ns[RPC_KIND_WRITE], sums->sent_bytes[RPC_KIND_WRITE],
		       sums->received_bytes[RPC_KIND_METADATA]);
	for (int p = 0; p < RPC_PHASES; p++)
		phases += sums->phase_ns[p];
	assert_int_equal(phases, 15000); /* without the time to the reply */
	assert_printed("5 5, 1", "%llu %llu, %llu", stats_of(2)->started, stats_of(2)->finished,
		       stats_of(4)->sums.calls[RPC_KIND_READ]);
}

TEST(a_clients_number_that_is_used_again_has_another_entry)
{
	const struct rpc_clnt again = { .cl_clid = 17 };

	connect_to(0, 0);
	free_entries(3);
	client_calls(17, &read_op, 0);
	rpc_clnt_new(&again);
	client_calls(17, &read_op, 0);
	assert_int_equal(rpc_client_entry[17], 2);
	assert_int_equal(stats_of(2)->finished, 1);
	assert_int_equal(stats_of(4)->finished, 1);
}

TEST(calls_of_clients_that_do_not_fit_are_counted)
{
	connect_to(0, 0);
	free_entries(1);
	client_calls(17, &read_op, 0);
	client_calls(18, &read_op, 0);
	client_calls(RPC_MAX_CLIENTS, &read_op, 0);
	client_calls(~0u, &read_op, 0);
	assert_int_equal(rpc_dropped[RPC_DROP_CLIENT], 3);
	assert_int_equal(stats_of(0)->finished, 3);
	assert_int_equal(calls_of("nas-0"), 4);
}

static void another_cpu_calls(void)
{
	client_calls(17, &read_op, 0);
}

/* At each moment of the first call of a client, another CPU has its first one. */
TEST(two_first_calls_of_a_client_both_count)
{
	for (unsigned int moment = 1;; moment++) {
		__u64 calls = 0;

		fresh();
		connect_to(0, 0);
		free_entries(3);
		happens_at(moment, another_cpu_calls);
		client_calls(17, &read_op, 0);
		if (steps < moment)
			break;
		meanwhile_at = 0;
		for (__u32 entry = 1; entry <= 3; entry++)
			calls += stats_of(RPC_KERNEL_SHARE(entry))->sums.calls[RPC_KIND_READ];
		assert_int_equal(calls, 2);
	}
}

/* ---- whose calls they are ---- */

#define GROUPS 300

static struct kernfs_node root_node, slice_node, group_node[GROUPS], step_node;
static struct cgroup group[GROUPS], step_group;
static struct cgroup_subsys_state css[GROUPS];
static struct css_set sets[GROUPS];
static struct pid pids[64];
static struct xa_node numbers;
static struct pid_namespace first_space;
static struct task_struct processes[64], worker;
static char group_name[GROUPS][16];

int mprotect(void *address, unsigned long size,
	     int protection); /* the header has types of its own */

/* The program's constant, which user space sets before it loads it. */
static void want_owners(void)
{
	const __u64 page = (__u64)&rpc_owners & ~4095ull;

	mprotect((void *)page, 4096, 3);
	*(bool *)&rpc_owners = true;
}

static void make_group(unsigned int i)
{
	snprintf(group_name[i], sizeof(group_name[i]), "job_%u", i);
	group_node[i] = (struct kernfs_node){
		.id = 100 + i, .name = group_name[i], .parent = &slice_node, .priv = &group[i]
	};
	group[i] = (struct cgroup){ .level = 2, .kn = &group_node[i] };
	css[i].cgroup = &group[i];
	sets[i] = (struct css_set){ .dfl_cgrp = &group[i] };
}

/* Processes 1 to 63, process i in group i; a worker of the kernel runs. */
static void make_processes(void)
{
	want_owners();
	root_node = (struct kernfs_node){ .id = 1, .name = "" };
	slice_node = (struct kernfs_node){ .id = 2, .name = "system.slice", .parent = &root_node };
	for (unsigned int i = 0; i < GROUPS; i++)
		make_group(i);
	for (int i = 1; i < 64; i++) {
		processes[i] = (struct task_struct){ .tgid = i,
						     .group_leader = &processes[i],
						     .cgroups = &sets[i] };
		pids[i].tasks[0].first = &processes[i].pid_links[0];
		numbers.slots[i] = &pids[i];
	}
	first_space.idr.idr_rt.xa_head = (char *)&numbers + 2;
	pids[0].numbers[0].ns = &first_space;
	worker = (struct task_struct){
		.tgid = 5000, .group_leader = &worker, .flags = PF_KTHREAD, .thread_pid = &pids[0]
	};
	self_now = &worker;
	memset((void *)rpc_owner_cell, 0, sizeof(rpc_owner_cell));
	memset((void *)rpc_nfs_write, 0, sizeof(rpc_nfs_write));
	memset((void *)rpc_client_entry, 0, sizeof(rpc_client_entry));
	memset((void *)rpc_share, 0, sizeof(rpc_share));
	for (__u32 i = RPC_MAX_OWNERS - 1; i; i--)
		bpf_map_push_elem(&free_owners, &i, BPF_ANY);
	for (__u32 i = RPC_MAX_SHARES + 1; (i -= 2) < RPC_MAX_SHARES;)
		bpf_map_push_elem(&free_shares, &i, BPF_ANY);
	for (__u32 i = RPC_CLIENT_ENTRIES - 1; i; i--)
		bpf_map_push_elem(&free_clients, &i, BPF_ANY);
	connect_to(0, 0);
}

static void owner_called(int tgid, const struct rpc_procinfo *proc, void *data, __u64 start)
{
	struct call c;

	call_prepare(&c, &kernel_xprt[0], proc);
	c.task.tk_start = (ktime_t)start;
	c.task.tk_owner = tgid;
	c.task.tk_calldata = data ? (char *)&c.task - 64 : NULL;
	rpc_stats_latency(&c.task, 2000, 7000, 10000);
}

static void owner_calls(int tgid, const struct rpc_procinfo *proc, void *data)
{
	owner_called(tgid, proc, data, 1000);
}

/* The calls of the owner whose group has this name; "": of the kernel. */
static __u64 calls_by(const char *name)
{
	__u64 calls = 0;

	for (__u32 i = 1; i < RPC_MAX_SHARES; i++) {
		const volatile struct rpc_share_info *info = &rpc_share_info[i];
		__u32 number = info->owner;
		struct rpc_owner *owner = bpf_map_lookup_elem(&owners, &number);

		if (info->entry && !strcmp(number ? owner->path[0] : "", name))
			calls += stats_of(i)->finished;
	}
	return calls;
}

/* Slurm has a group for each step and task. */
TEST(all_steps_of_a_job_are_one_owner)
{
	struct kernfs_node step = { .id = 201, .name = "step_0", .parent = &group_node[7] };
	struct kernfs_node tasks[2] = { { .id = 202, .name = "task_0", .parent = &step },
					{ .id = 203, .name = "step_x", .parent = &tasks[0] } };
	__u32 second = 2;
	struct cgroup groups[2] = { { .level = 4, .kn = &tasks[0] },
				    { .level = 5, .kn = &tasks[1] } };

	make_processes();
	owner_calls(7, &read_op, NULL);
	for (int i = 0; i < 2; i++) {
		sets[8 + i].dfl_cgrp = &groups[i];
		owner_calls(8 + i, &read_op, NULL);
	}
	assert_int_equal(calls_by("job_7"), 3);
	assert_int_equal(((struct rpc_owner *)bpf_map_lookup_elem(&owners, &second))->key.root, 0);
}

TEST(a_client_has_a_share_for_the_kernel_when_owners_have_all_others)
{
	__u32 share;

	make_processes();
	while (!bpf_map_pop_elem(&free_shares, &share))
		;
	owner_calls(7, &read_op, NULL);
	owner_calls(5000, &read_op, NULL);
	assert_int_equal(calls_by(""), 2);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER], 1);
	assert_int_equal(rpc_dropped[RPC_DROP_CLIENT], 0);
}

/* Docker makes no group in the unified hierarchy beside v1. */
TEST(of_groups_of_one_depth_that_of_v1_is_the_owner)
{
	make_processes();
	sets[7].dfl_cgrp = &group[9];
	sets[7].subsys[1] = &css[7];
	owner_calls(7, &read_op, NULL);
	assert_int_equal(calls_by("job_7"), 1);
}

TEST(a_call_counts_for_the_group_of_its_process)
{
	struct rpc_owner *owner;
	__u32 first = 1;

	make_processes();
	for (int i = 0; i < 3; i++)
		owner_calls(7, &read_op, NULL);
	owner_calls(8, &getattr_op, NULL);
	owner_calls(5000, &getattr_op, NULL); /* the worker itself */
	assert_int_equal(calls_by("job_7"), 3);
	assert_int_equal(calls_by("job_8"), 1);
	assert_int_equal(calls_by(""), 1);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER], 0);
	owner = bpf_map_lookup_elem(&owners, &first);
	assert_string_equal(owner->path[1], "system.slice");
	assert_string_equal(owner->path[2], "");
	assert_int_equal(owner->key.id, 107);
	assert_true(owner->key.root == (__u64)&root_node);
	/* A second call costs one look-up: nothing of the process is read. */
	steps = 0;
	assert_int_equal(owner_of(7, 1000), 1);
	assert_int_equal(steps, 0);
}

TEST(a_number_that_another_process_has_counts_for_that_one)
{
	__u64 exits[] = { (__u64)&processes[7] }, moves[] = { 0, 0, (__u64)&processes[8] };

	make_processes();
	owner_calls(7, &read_op, NULL);
	owner_calls(8, &read_op, NULL);
	now_ns = 900;
	owner_exits(exits);
	processes[7].cgroups = &sets[9];
	processes[8].cgroups = &sets[10];
	owner_moves(moves);
	owner_calls(7, &read_op, NULL);
	owner_calls(8, &read_op, NULL);
	for (int i = 7; i <= 10; i++)
		assert_int_equal(calls_by(group_name[i]), 1);
	/* Two whose cells are the same. */
	owner_calls(7 + RPC_OWNER_CELLS, &read_op, NULL);
	assert_int_equal(calls_by(""), 1);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER_GONE], 1);
	owner_calls(7, &read_op, NULL);
	assert_int_equal(calls_by("job_9"), 2);
}

/* Calls in flight outlive their process, and its number is used again. */
TEST(a_call_counts_for_the_process_that_lived_as_it_began)
{
	__u64 exits[] = { (__u64)&processes[7] }, moves[] = { 0, 0, (__u64)&processes[7] };

	make_processes();
	owner_called(7, &read_op, NULL, 1000);
	now_ns = 1500;
	owner_exits(exits);
	processes[7].start_time = now_ns = 2000;
	processes[7].cgroups = &sets[9];
	owner_moves(moves);
	owner_called(7, &read_op, NULL, 1400);
	assert_int_equal(calls_by("job_7"), 2);
	owner_called(7, &read_op, NULL, 2500);
	assert_int_equal(calls_by("job_9"), 1);
	/* Nobody knows any more who that was. */
	owner_called(7, &read_op, NULL, 1400);
	assert_int_equal(calls_by(""), 1);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER_GONE], 1);
	assert_int_equal(calls_by("job_9"), 1);
	/* One that calls while it ends. */
	processes[8].flags = PF_EXITING;
	owner_called(8, &read_op, NULL, 1000);
	processes[8] = (struct task_struct){
		.tgid = 8, .group_leader = &processes[8], .start_time = 3000, .cgroups = &sets[10]
	};
	owner_called(8, &read_op, NULL, 3500);
	assert_int_equal(calls_by("job_8"), 1);
	assert_int_equal(calls_by("job_10"), 1);
	/* The thread that runs began later than its process. */
	processes[20] = processes[8];
	processes[20].start_time = 9000;
	processes[20].thread_pid = &pids[0];
	rpc_owner_cell[8].process = 0;
	self_now = &processes[20];
	owner_called(8, &read_op, NULL, 3600);
	assert_int_equal(calls_by("job_10"), 2);
}

TEST(a_process_that_is_gone_is_not_guessed)
{
	make_processes();
	numbers.slots[7] = NULL;
	owner_calls(7, &read_op, NULL);
	pids[9].tasks[0].first = &processes[8].pid_links[0]; /* of another number */
	owner_calls(9, &read_op, NULL);
	assert_int_equal(calls_by(""), 2);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER_GONE], 2);
}

TEST(groups_below_one_count_for_it_where_users_make_them)
{
	static struct kernfs_node deep[44];
	static struct cgroup deep_group;
	static struct css_set deep_set = { .dfl_cgrp = &deep_group };

	make_processes();
	processes[7].cgroups = &deep_set;
	for (int i = 0; i < 44; i++)
		deep[i] = (struct kernfs_node){ .id = 500 + (__u64)i,
						.name = i == 9 ? "step" : "deep",
						.parent = i ? &deep[i - 1] : &root_node };
	/* Deeper than a path is kept. */
	deep_group = (struct cgroup){ .level = 20, .kn = &deep[19] };
	owner_calls(7, &read_op, NULL);
	assert_int_equal(calls_by("deep"), 1);
	/* Of a user: all of his groups are one. */
	deep[0].name = "user.slice";
	deep[1].name = "user-1000.slice";
	for (int i = 3; i < 12; i++) {
		deep_group = (struct cgroup){ .level = i, .kn = &deep[i - 1] };
		rpc_owner_cell[7].process = 0;
		owner_calls(7, &read_op, NULL);
	}
	assert_int_equal(calls_by("user-1000.slice"), 9);
	/* Too deep to be followed. */
	deep_group = (struct cgroup){ .level = 45, .kn = &deep[43] };
	rpc_owner_cell[7].process = 0;
	owner_calls(7, &read_op, NULL);
	assert_int_equal(calls_by(""), 1);
}

TEST(in_v1_the_deepest_group_counts)
{
	make_processes();
	step_node = (struct kernfs_node){ .id = 300, .name = "step_0", .parent = &group_node[12] };
	step_group = (struct cgroup){ .level = 3, .kn = &step_node };
	css[0].cgroup = &step_group;
	sets[7].subsys[2] = &css[0];
	sets[7].subsys[3] = &css[9];
	owner_calls(7, &read_op, NULL);
	assert_int_equal(calls_by("job_12"), 1);
}

TEST(pages_that_the_kernel_writes_back_are_of_who_was_charged)
{
	static struct mem_cgroup memory[8] = { { .css.cgroup = &group[20] } };
	static struct obj_cgroup object = { .memcg = memory };
	static struct folio folio;
	static struct page page = { .compound_head = (unsigned long)&folio + 1 };
	static struct {
		void *before[3], *request; /* its first: the request's */
		struct call call;
	} header;
	static void *request[] = { NULL, NULL, &page };
	const unsigned long charged[] = { (unsigned long)memory, (unsigned long)&object | 1 };

	make_processes();
	call_prepare(&header.call, &kernel_xprt[0], &write_op);
	header.call.task.tk_owner = 5000;
	header.call.task.tk_calldata = &header;
	header.request = request;
	folio.memcg_data = charged[0];
	rpc_stats_latency(&header.call.task, 2000, 7000, 10000);
	assert_int_equal(calls_by(""), 1); /* the types of nfs are not known */
	rpc_nfs_write[0] = (__u64)&header.call.task - (__u64)&header;
	rpc_nfs_write[1] = (__u64)&header.request - (__u64)&header;
	rpc_nfs_write[2] = 2 * sizeof(void *);
	for (int i = 0; i < 2; i++) {
		folio.memcg_data = charged[i];
		rpc_stats_latency(&header.call.task, 2000, 7000, 10000);
	}
	assert_int_equal(calls_by("job_20"), 2);
	/* A request of a process is its own; so is what is no header. */
	header.call.task.tk_owner = 7;
	rpc_stats_latency(&header.call.task, 2000, 7000, 10000);
	assert_int_equal(calls_by("job_7"), 1);
	header.call.task.tk_owner = 5000;
	header.call.task.tk_calldata = &header.request;
	rpc_stats_latency(&header.call.task, 2000, 7000, 10000);
	header.call.task.tk_calldata = &header;
	folio.memcg_data = 0;
	rpc_stats_latency(&header.call.task, 2000, 7000, 10000);
	assert_int_equal(calls_by(""), 3);
}

TEST(more_groups_than_numbers_are_the_kernels_and_counted)
{
	make_processes();
	for (unsigned int i = 0; i < GROUPS; i++) {
		processes[7].cgroups = &sets[i];
		rpc_owner_cell[7].process = 0;
		owner_calls(7, &read_op, NULL);
	}
	assert_int_equal(calls_by("job_0"), 1);
	assert_int_equal(calls_by("job_254"), 1);
	assert_int_equal(calls_by("job_255"), 0);
	assert_int_equal(calls_by(""), GROUPS - RPC_MAX_OWNERS + 1);
	assert_int_equal(rpc_dropped[RPC_DROP_OWNER], GROUPS - RPC_MAX_OWNERS + 1);
	assert_int_equal(calls_of("nas-0"), GROUPS);
}

/* At each moment of the first call of an owner, another CPU has its first one. */
static void another_cpus_owner_calls(void)
{
	rpc_owner_cell[7].process = 0;
	owner_calls(7, &read_op, NULL);
}

TEST(two_first_calls_of_an_owner_both_count)
{
	for (unsigned int moment = 1;; moment++) {
		fresh();
		make_processes();
		happens_at(moment, another_cpus_owner_calls);
		owner_calls(7, &read_op, NULL);
		if (steps < moment)
			break;
		meanwhile_at = 0;
		assert_int_equal(calls_by("job_7"), 2);
	}
}

/* The names of a file with so many directories above it, in the root of a mount. */
static void names_of(struct rpc_file *f, unsigned int above, const char *root)
{
	static struct dentry dentries[20];

	*f = (struct rpc_file){};
	for (unsigned int i = 0; i <= above; i++)
		dentries[i] =
			(struct dentry){ .d_parent = &dentries[i + 1], .d_name.name = "name" };
	dentries[above + 1] =
		(struct dentry){ .d_parent = &dentries[above + 1], .d_fsdata = (void *)root };
	names_copy(f, dentries);
}

TEST(the_names_of_a_file_end_with_the_place_of_the_root_on_the_server)
{
	struct rpc_file f;

	for (unsigned int above = 0; above < 12; above++) {
		names_of(&f, above, "nas:/x");
		assert_true(f.whole);
		assert_string_equal(f.names + 5 * (above + 1), "nas:/x");
	}
	names_of(&f, 12, "nas:/x");
	assert_false(f.whole);
	assert_string_equal(f.names + sizeof("name") * 12, "name");
	/* A directory whose parent is not known. */
	names_of(&f, 0, NULL);
	assert_false(f.whole);
	assert_string_equal(f.names, "name");
}

/* What a call of an op on data has beside its arguments. */
struct data_args {
	__u64 before;
	const void *handle;
};
struct data_call {
	const struct inode *inode;
	__u64 between;
	struct data_args args;
};

TEST(a_call_leads_to_its_file_if_its_arguments_stand_alone_as_well)
{
	struct super_block nfs = { .s_magic = NFS_SUPER_MAGIC };
	struct {
		struct {
			__u16 size;
			char bytes[6];
		} handle;
		struct inode inode;
	} file = { .handle = { 6, "file" }, .inode = { .i_sb = &nfs } }, other = file;
	struct data_call call = { &file.inode, 0, { 0, &file.handle } };
	const struct rpc_procinfo commit = { .p_name = "COMMIT" };
	struct rpc_clnt client = { .cl_vers = 4 };
	struct rpc_task task = { .tk_msg = { &commit, &call.args },
				 .tk_calldata = &call,
				 .tk_client = &client };
	struct rpc_file_key key = {};
	const struct dentry *name;

	rpc_nfs_inode = offsetof(typeof(file), inode);
	rpc_file_ops[3] =
		(struct rpc_file_op){ .handle = { 0, 1 + offsetof(struct data_args, handle) },
				      .args = offsetof(struct data_call, args) };
	copy((void *)&rpc_file_ops[3].name, "COMMIT", 6);
	assert_true(file_of(&task, &key, &name));
	assert_int_equal(key.op, 3);
	assert_true(key.handle == handle_hash((__u64)&file.handle));
	/* A data server's handle. */
	other.inode.i_sb = NULL;
	call.args.handle = &other.handle;
	assert_true(file_of(&task, &key, &name));
	assert_true(key.handle == handle_hash((__u64)&file.handle));
	/* A server's copy: another inode is where that of a call would be. */
	other.handle.bytes[0] = 'x';
	other.inode.i_sb = &nfs;
	task.tk_calldata = &task;
	assert_true(file_of(&task, &key, &name));
	assert_true(key.handle == handle_hash((__u64)&other.handle));
	rpc_nfs_inode = 0;
}
