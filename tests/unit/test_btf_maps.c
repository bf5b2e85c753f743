// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves how a task that is asleep is counted for its server: at the limit where it waits, as an outstanding call, or as one that
 * waits for credentials. The table of transports is made up. */
#include "unit.h"
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
