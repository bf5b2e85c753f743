// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bpf/rpc_tracepoints.bpf.c counts each call once and for its server when the kernel uses numbers of
 * clients and of tasks again, and that what does not fit is counted as dropped. */
#include "bpf_natively.h"
/* A test sets what user space sets before it loads the programs. */
#define const
#include "rpc_tracepoints.bpf.c"
#undef const
#include "unit.h"

/* The record of any event: each one's fields are some of these. */
static struct event {
	__u32 common[2];
	__u32 task, client;
	__u32 number; /* a status or a version */
	__u32 texts[3]; /* where they are */
	__u64 backlog, rtt, execute; /* us */
	__u64 rest[8];
	char text[3][RPC_NAME_LEN];
} event;

BEFORE_EACH()
{
	__u32 i;

	maps_clear();
	for (i = 0; i < RPC_MAX_SERVERS; i++)
		bpf_map_push_elem(&free_servers, &i, BPF_ANY);
	for (i = 1; i < RPC_OP_SERIES; i++)
		bpf_map_push_elem(&free_series, &i, BPF_ANY);
	memset(rpc_dropped, 0, sizeof(rpc_dropped));
	rpc_lost = 0;
	rpc_counted_since = 1;
	memset((void *)&fields, 0, sizeof(fields));
#define AT(field, member) fields.field = offsetof(struct event, member)
	AT(task, task);
	AT(client, client);
	AT(new_client, client);
	AT(wakeup_status, number);
	AT(end_status, number);
	AT(transmit_status, number);
	AT(version, number);
	AT(sleep_queue, texts[0]);
	AT(wakeup_queue, texts[0]);
	AT(program, texts[0]);
	AT(procedure, texts[1]);
	AT(new_program, texts[0]);
	AT(new_address, texts[1]);
	AT(new_server, texts[2]);
	AT(backlog, backlog);
	AT(rtt, rtt);
	AT(execute, execute);
}

static void happens(int (*program)(void *), __u32 client, __u32 task, __u32 number,
		    const char *first, const char *second, const char *third)
{
	const char *texts[] = { first, second, third };

	event.client = client;
	event.task = task;
	event.number = number;
	for (int i = 0; i < 3; i++) {
		event.texts[i] = (__u32)offsetof(struct event, text[i]);
		snprintf(event.text[i], sizeof(event.text[i]), "%s", texts[i]);
	}
	program(&event);
}

static void mounted(__u32 client, const char *address)
{
	happens(tp_client, client, 0, 0, "nfs", address, address);
}

static void transmitted(__u32 client, __u32 task)
{
	happens(tp_transmit, client, task, 0, "", "", "");
}

/* It has taken @us, all but 1 us of them after its transmit. */
static void ended(__u32 client, __u32 task, __u64 us, const char *op)
{
	happens(tp_end, client, task, 0, "", "", "");
	event.backlog = 1;
	event.rtt = us - 2;
	event.execute = us;
	happens(tp_latency, client, task, 3, "nfs", op, "");
}

static void called(__u32 client, __u32 task)
{
	transmitted(client, task);
	ended(client, task, 100, "READ");
}

/* What counts for a server, or with NULL as "other". */
static struct rpc_series counted_for(const char *address)
{
	struct rpc_series sum = {};
	struct rpc_event_series_key *key;
	struct rpc_event_server *server;
	struct rpc_series *s;

	for (__u32 i = 0; i < RPC_OP_SERIES; i++) {
		key = bpf_map_lookup_elem(&series_info, &i);
		server = bpf_map_lookup_elem(&servers, &key->server);
		s = bpf_map_lookup_elem(&series, &i);
		if (address ? !i || strcmp(server->key.address, address) != 0 : i != 0)
			continue;
		sum.finished += s->finished;
		sum.total_ns += s->total_ns;
		for (int p = 0; p < RPC_PHASES; p++)
			sum.phase_ns[p] += s->phase_ns[p];
	}
	return sum;
}

static struct rpc_event_server *server_of(__u32 client)
{
	__u32 server = client_server(client_of(client), client);

	return bpf_map_lookup_elem(&servers, &server);
}

TEST(a_clients_number_that_is_used_again_has_its_new_server)
{
	mounted(5, "10.0.0.1");
	called(5, 1);
	called(5, 2);
	mounted(5, "10.0.0.2");
	called(5, 3);
	mounted(6, "10.0.0.1");
	called(6, 3);
	assert_int_equal(counted_for("10.0.0.1").finished, 3);
	assert_int_equal(counted_for("10.0.0.2").finished, 1);
}

/* A call hangs while 65,536 others of its client come and go. */
TEST(a_tasks_number_that_is_used_again_counts_each_call_once)
{
	struct rpc_series sum;
	__u64 phases = 0;

	mounted(5, "10.0.0.1");
	now_ns = 1000;
	happens(tp_sleep, 5, 77, 0, "xprt_backlog", "", "");
	now_ns = 2000;
	happens(tp_wakeup, 5, 77, 0, "xprt_backlog", "", "");
	transmitted(5, 77);
	for (__u32 i = 0; i < 65536; i++) {
		now_ns += 1000000;
		called(5, (78 + i) & 0xffff);
	}
	now_ns += 1000000;
	ended(5, 77, 65537000, "READ");
	sum = counted_for("10.0.0.1");
	for (int p = 0; p < RPC_PHASES; p++)
		phases += sum.phase_ns[p];
	assert_int_equal(sum.finished, 65537);
	assert_int_equal(sum.total_ns, 65536ull * 100000 + 65537000000);
	assert_int_equal(phases, sum.total_ns);
	assert_int_equal(sum.phase_ns[RPC_PHASE_SLOT], 1000);
	assert_true(server_of(5)->retransmits <= 1);
	assert_int_equal(server_of(5)->waiting[RPC_LIMIT_SLOT], 0);
	now_ns = 1000;
}

/* It was killed before it had a request, so its call does not count. */
TEST(the_waits_of_a_task_that_has_ended_are_not_the_next_ones)
{
	mounted(5, "10.0.0.1");
	happens(tp_sleep, 5, 1, 0, "xprt_backlog", "", "");
	now_ns += 500;
	happens(tp_wakeup, 5, 1, 0, "xprt_backlog", "", "");
	happens(tp_end, 5, 1, (__u32)-4, "", "", "");
	called(5, 1);
	assert_int_equal(counted_for("10.0.0.1").finished, 1);
	assert_int_equal(counted_for("10.0.0.1").phase_ns[RPC_PHASE_SLOT], 0);
}

/* A call is answered at @when, in units of gaps, which waited for a slot before if @waits. */
static void answered(__u32 task, bool waits, __u64 when)
{
	now_ns = (when << RPC_GAP_SHIFT) - 90000;
	if (waits)
		happens(tp_sleep, 5, task, 0, "xprt_backlog", "", "");
	now_ns += 50000;
	if (waits)
		happens(tp_wakeup, 5, task, 0, "xprt_backlog", "", "");
	now_ns += 10000;
	transmitted(5, task);
	now_ns += 40000;
	happens(tp_end, 5, task, 0, "", "", "");
	event.backlog = 60;
	event.rtt = 30;
	event.execute = 100;
	happens(tp_latency, 5, task, 3, "nfs", "READ", "");
}

TEST(replies_to_calls_that_waited_for_slots_have_gaps)
{
	struct rpc_server_stats *s;
	__u32 server;

	mounted(5, "10.0.0.1");
	answered(1, true, 1000000);
	answered(2, true, 1005000);
	answered(3, false, 1006000);
	answered(4, true, 1007000);
	server = client_server(client_of(5), 5);
	s = bpf_map_lookup_elem(&server_stats, &server);
	assert_printed("2 7000 29000000", "%llu %llu %llu", s->gaps.count, s->gaps.sum,
		       s->gaps.squares);
	now_ns = 1000;
}

TEST(servers_that_do_not_fit_are_counted)
{
	for (__u32 i = 0; i < RPC_MAX_SERVERS + 2; i++) {
		mounted(i, formatted("10.0.0.%u", i));
		called(i, 1);
	}
	assert_int_equal(rpc_dropped[RPC_DROP_SERVER], 2);
	assert_int_equal(counted_for("10.0.0.0").finished, 1);
}

TEST(calls_of_clients_beyond_the_table_are_counted)
{
	mounted(RPC_MAX_CLIENTS, "10.0.0.1");
	called(RPC_MAX_CLIENTS, 1);
	called(RPC_MAX_CLIENTS, 2);
	assert_int_equal(rpc_dropped[RPC_DROP_SERVER], 2);
}

TEST(calls_of_an_op_that_does_not_fit_lose_their_op_alone)
{
	struct rpc_series *rest;
	char op[RPC_OP_LEN];
	__u32 number;

	mounted(5, "10.0.0.1");
	for (unsigned int i = 1; i < RPC_OP_SERIES + 3; i++) {
		snprintf(op, sizeof(op), "OP%u", i);
		transmitted(5, i);
		ended(5, i, 100, op);
	}
	assert_int_equal(rpc_dropped[RPC_DROP_SERIES], 3);
	number = rest_series(client_of(5)->server - 1);
	rest = bpf_map_lookup_elem(&series, &number);
	assert_int_equal(rest->finished, 3);
	assert_int_equal(counted_for(NULL).finished, 0);
	assert_int_equal(counted_for("10.0.0.1").finished, RPC_OP_SERIES - 1);
}

TEST(tasks_that_do_not_fit_are_counted)
{
	__u32 tasks = RPC_MAX_TASKS + 100;

	mounted(5, "10.0.0.1");
	for (__u32 i = 0; i < tasks; i++)
		happens(tp_sleep, 5, i, 0, "xprt_backlog", "", "");
	assert_int_equal(rpc_dropped[RPC_DROP_WAITER], 100);
}

TEST(a_wait_whose_end_was_missed_is_counted)
{
	mounted(5, "10.0.0.1");
	happens(tp_sleep, 5, 1, 0, "xprt_sending", "", "");
	ended(5, 1, 100, "READ");
	assert_int_equal(rpc_dropped[RPC_DROP_WAITER], 1);
	assert_int_equal(counted_for("10.0.0.1").finished, 1);
	assert_int_equal(server_of(5)->waiting[RPC_LIMIT_SEND], 0);
}

TEST(a_call_whose_event_was_missed_is_counted)
{
	__u64 exact[4] = { 0, 1000, 98000, 100000 };

	mounted(5, "10.0.0.1");
	tp_exact(exact);
	transmitted(5, 1);
	ended(5, 1, 100, "READ");
	assert_int_equal(rpc_lost, 0);
	tp_exact(exact);
	tp_exact(exact);
	assert_int_equal(rpc_lost, 1);
}

/* Their counts had not begun. */
TEST(calls_between_the_attachments_of_both_programs_are_not_missed)
{
	__u64 exact[4] = { 0, 1000, 98000, 100000 };

	rpc_counted_since = 0;
	tp_exact(exact);
	tp_exact(exact);
	rpc_counted_since = bpf_ktime_get_ns() + 1;
	tp_exact(exact);
	assert_int_equal(rpc_lost, 0);
}
