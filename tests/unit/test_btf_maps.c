// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves how a task that is asleep is counted for its server: at the limit where it waits, as an outstanding call, or as one that
 * waits for credentials. And how the programs' figures of a transport become those of the snapshot. The tables are made up. */
#include "unit.h"
#include <bpf/bpf.h>
#include "rpc/btf/btf.h"
#include "rpc.skel.h"

static struct rpc_bpf__bss programs;
static struct rpc_transport kernels[4];
static struct rpc_probe answer;
static int probes;

static void read_entry(const struct bpf_map *map, uint32_t index, void *value)
{
	(void)map;
	memcpy(value, &kernels[index], sizeof(kernels[0]));
}

static int probe(int program, struct bpf_test_run_opts *opts)
{
	const uint64_t *args = opts->ctx_in;

	(void)program;
	assert_int_equal(args[1], kernels[args[0]].xprt);
	programs.rpc_probe_result = answer;
	probes++;
	return 0;
}

#define bpf_array_read read_entry
#define bpf_program__fd(program) 0
#define bpf_prog_test_run_opts probe
#include "rpc/btf/btf_maps.c"
#include "snapshot.h"

static struct btf_maps m = { .transports = { [1] = { .number = 2 } } };
static char servers[][LABEL_SIZE] = { "nas-1", "nas-2" };
static struct rpc_transport transports[] = { { .xprt = 10, .server = 0 },
					     { .xprt = 20, .server = 1, .proto = "tcp" } };
static struct reading r = { .m = &m,
			    .s = &now,
			    .servers = servers,
			    .server_count = 2,
			    .transports = transports,
			    .transport_count = 2 };

BEFORE_EACH()
{
	now.time_ns = 100 * SECOND;
}

/* A task of nas-2 that began to wait 8 s ago, and whose call is 20 s old. */
static const struct rpc_server_state *wait_in(enum rpc_phase phase, bool was_sent)
{
	struct rpc_waiter w = {
		.start = 80 * SECOND,
		.xprt = 20,
		.waits = { .since = 92 * SECOND,
			   .first = was_sent ? 81 * SECOND : 0,
			   .asleep = (uint8_t)(1 + phase) },
	};

	add_waiter(&r, &w);
	w.xprt = 30;
	w.waits.since = SECOND;
	add_waiter(&r, &w); /* its transport is not in the table */
	assert_int_equal(now.calls.server_count, 1);
	return snapshot_server(&now.calls, "nas-2");
}

TEST(a_task_waits_at_its_limit)
{
	for (enum rpc_phase phase = 0; phase < RPC_PHASES; phase++) {
		uint32_t limit = limit_of(phase);

		if (limit < RPC_LIMITS)
			assert_int_equal(wait_in(phase, false)->oldest_ns[limit], 8 * SECOND);
	}
	assert_int_equal(now.calls.servers[0].oldest_ns[RPC_QUEUE_PENDING], 0);
}

TEST(a_delayed_task_is_outstanding_once_it_was_sent)
{
	const struct rpc_transport_state *t;

	assert_int_equal(wait_in(RPC_PHASE_DELAY, false)->oldest_ns[RPC_QUEUE_PENDING], 0);
	assert_int_equal(wait_in(RPC_PHASE_DELAY, true)->oldest_ns[RPC_QUEUE_PENDING], 20 * SECOND);
	assert_int_equal(now.calls.transport_count, 1);
	t = snapshot_transport(&now.calls, "nas-2", "tcp/1");
	assert_int_equal(now.calls.transport_count, 1);
	assert_int_equal(t->slots_in_flight, 1);
	assert_int_equal(t->oldest_ns, 20 * SECOND);
}

TEST(a_task_waits_for_credentials)
{
	const struct rpc_server_state *s = wait_in(RPC_PHASE_SETUP, false);

	assert_int_equal(s->credentials_ns, 8 * SECOND);
	assert_int_equal(s->upcall_ns, 8 * SECOND);
}

/* Reads the table of transports at @seconds into an empty snapshot. */
static void read_table(struct btf_maps *maps, struct rpc_replies *replies, uint64_t seconds)
{
	struct reading reading = {
		.m = maps, .s = &now, .servers = servers, .server_count = 2, .replies = replies
	};

	snapshot_free(&now);
	now = (struct snapshot){ .time_ns = seconds * SECOND };
	read_transports(&reading, COUNT(kernels), 7);
	free(reading.transports);
}

TEST(the_figures_of_a_transport)
{
	static struct rpc_bpf bpf = { .bss = &programs };
	static struct btf_maps maps = { .bpf = &bpf, .reader.shards = 2 };
	static struct rpc_replies replies[2];
	const struct rpc_transport_state *t;
	const struct rpc_server_state *server;

	kernels[0] = (struct rpc_transport){ .xprt = 4096, .server = 1, .proto = "tcp" };
	kernels[1] = (struct rpc_transport){ .xprt = RPC_XPRT_FILLED, .server = 1 };
	kernels[2] = (struct rpc_transport){
		.server = 1,
		.proto = "tls",
		.retransmits = 3,
		.timeouts = 4,
		.disconnects = 5,
		.connects = 6,
		.saturated_ns = { SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND },
		.saturated_since = { 90 * SECOND, 0, 101 * SECOND, 95 * SECOND },
		.peak = { { { 0, 7ull << 32 | 31 } }, { { 0, 6ull << 32 | 32 } } },
		.credentials_ns = 8,
		.session_slots = 64,
	};
	kernels[3] = (struct rpc_transport){
		.xprt = 8192,
		.server = 1,
		.proto = "tcp",
		.connects = 1,
		.session_slots = 16,
		.connect_failed = 99 * SECOND,
		.connect_error = ECONNREFUSED,
	};
	answer = (struct rpc_probe){
		.connects = 2,
		.oldest_start = 98 * SECOND,
		.oldest_op = "WRITE",
		.oldest_pid = 4711,
		.max_slots = 65536,
		.slots = 20,
		.pending = 17,
		.queued = { 13, 0, 14 },
		.tcp = { .segments = 100,
			 .segments_lost = 3,
			 .unsent = 1,
			 .timeouts = 3,
			 .unacked = 3000,
			 .unacked_segments = 2,
			 .rcv_wnd = 5,
			 .min_rtt = 6,
			 .srtt = 7 },
		.local = { .family = AF_INET, .port = 801, .bytes = { 10, 0, 0, 9 } },
		.address = "10.0.0.1",
		.port = "2049",
	};
	replies[0].of[2].count = 20;
	replies[1].of[2].count = 22;
	replies[1].of[2].rtt_ns = 33;
	read_table(&maps, replies, 100);
	assert_int_equal(probes, 2);
	assert_int_equal(now.calls.transport_count, 3);
	t = snapshot_transport(&now.calls, "nas-2", "tls/0");
	assert_printed("tls 3 4 5 6 42 33 0", "%s %lu %lu %lu %lu %lu %lu %d", t->protocol,
		       t->retransmits, t->timeouts, t->disconnects, t->connects, t->replies,
		       t->rtt_ns, t->alive);
	assert_printed("11 2 3", "%lu %lu %lu", t->saturated_ns[0] / SECOND,
		       t->saturated_ns[1] / SECOND, t->saturated_ns[2] / SECOND);
	t = snapshot_transport(&now.calls, "nas-2", "tcp/1");
	assert_printed("1 10.0.0.1:2049 10.0.0.9:801", "%d %s:%u %s:%u", t->alive,
		       t->remote.address, t->remote.port, t->local.address, t->local.port);
	assert_printed("3 65536 20 17 111 2", "%lu %u %u %u %u %lu", t->connects, t->slots_max,
		       t->slots_allocated, t->slots_in_flight, t->connect_error,
		       t->oldest_ns / SECOND);
	assert_printed("100 3 1 1500 5 6000 7000", "%lu %lu %d %u %u %lu %lu", t->segments,
		       t->segments_lost, t->carries, t->unacked, t->rcv_wnd, t->min_rtt_ns,
		       t->srtt_ns);
	server = snapshot_server(&now.calls, "nas-2");
	assert_int_equal(now.calls.server_count, 1);
	assert_printed("9 5 8 64", "%lu %lu %lu %u", server->draining_ns / SECOND,
		       server->draining_now_ns / SECOND, server->credentials_ns,
		       server->session_slots);
	assert_printed("31 0 14 17", "%u %u %u %u", server->depth_max[0], server->depth_max[1],
		       server->depth_max[2], server->depth_max[RPC_QUEUE_PENDING]);

	/* The sum of the waits does not fall when a period is found to have ended. The number stays. */
	kernels[2].saturated_since[0] = 0;
	kernels[2].saturated_ns[0] = 10 * SECOND;
	answer.oldest_start = answer.pending = answer.queued[2] = 0;
	read_table(&maps, replies, 110);
	t = snapshot_transport(&now.calls, "nas-2", "tls/0");
	assert_printed("11 2 12", "%lu %lu %lu", t->saturated_ns[0] / SECOND,
		       t->saturated_ns[1] / SECOND, t->saturated_ns[2] / SECOND);
	t = snapshot_transport(&now.calls, "nas-2", "tcp/1");
	assert_printed("0 0 0", "%u %u %lu", t->connect_error, t->slots_in_flight, t->oldest_ns);
	assert_int_equal(now.calls.transport_count, 3);
}
