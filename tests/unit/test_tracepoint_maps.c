// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the source tracepoints ends a period of waiting whose last wake-up was missed, and no other one. */
#include "unit.h"
#include "rpc/tracepoints/tracepoint_maps.c"

#define SEND RPC_LIMIT_SEND

static struct rpc_event_server servers[RPC_MAX_SERVERS + 1];
static struct tracepoint_maps maps;

BEFORE_EACH()
{
	memset(servers, 0, sizeof(servers));
	maps = (struct tracepoint_maps){ .servers = servers };
}

/* The kernel side has @count tasks of one server waiting, since then; the table shows so many. */
static void reads(uint64_t count, uint64_t since, uint32_t shown)
{
	struct waiting w = { .m = &maps };

	servers[3].waiting[SEND] = count;
	servers[3].saturated_since[SEND] = since;
	w.count[3][SEND] = shown;
	reconcile(&w);
}

static void expect(uint64_t count, uint64_t since)
{
	assert_int_equal(servers[3].waiting[SEND], count);
	assert_int_equal(servers[3].saturated_since[SEND], since);
}

TEST(a_wait_whose_end_was_missed_ends)
{
	reads(2, 1000, 0);
	expect(2, 1000);
	reads(2, 1000, 0);
	expect(0, 0);
	/* or more ends than begins were counted */
	reads(UINT64_MAX, 5000, 0);
	reads(UINT64_MAX, 5000, 0);
	expect(0, 0);
}

/* The table is looked at before the count: a wait may begin in between, each time another one. */
TEST(short_waits_end_by_themselves)
{
	for (uint64_t since = 1000; since < 20000; since += 1000) {
		reads(1, since, 0);
		expect(1, since);
	}
	reads(1, 20000, 1);
	reads(1, 20000, 0);
	expect(1, 20000);
}
