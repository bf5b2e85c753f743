// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the number of a server without a client is freed after an hour, or when room is needed, only when nothing leads to
 * it any more, and with all of its series. The maps are made up. */
#include "unit.h"
#include <bpf/bpf.h>
#include "rpc/rpc_series.h"

enum { SERVERS, SERVER_INDEX, SERIES_INFO, SERIES_INDEX, FREE_SERVERS, FREE_SERIES, OTHERS };

static struct rpc_server names[RPC_MAX_SERVERS];
static bool listed[RPC_MAX_SERVERS];
static struct rpc_series_info series[RPC_OP_SERIES];
static bool series_listed[RPC_OP_SERIES];
static unsigned int freed[OTHERS], cleared[RPC_MAX_SERIES], forgotten;
static uint32_t last_freed;
static bool has_shares;
static uint32_t without_client;

static int number_of(const struct bpf_map *map)
{
	return (int)(uintptr_t)map;
}

static int find_value(int map, const void *key, void *value)
{
	uint32_t i;

	if (map == SERVERS && *(const uint32_t *)key >= RPC_MAX_SERVERS)
		return -1;
	if (map == SERVERS)
		memcpy(value, &names[*(const uint32_t *)key], sizeof(names[0]));
	if (map == SERIES_INFO)
		memcpy(value, &series[*(const uint32_t *)key], sizeof(series[0]));
	if (map == SERVERS || map == SERIES_INFO)
		return 0;
	for (i = 0; map == SERVER_INDEX && i < RPC_MAX_SERVERS; i++)
		if (listed[i] && !memcmp(key, &names[i], sizeof(names[i]))) {
			memcpy(value, &i, sizeof(i));
			return 0;
		}
	for (i = 0; map == SERIES_INDEX && i < RPC_OP_SERIES; i++)
		if (series_listed[i] && !memcmp(key, &series[i].key, sizeof(series[i].key))) {
			memcpy(value, &i, sizeof(i));
			return 0;
		}
	return -1;
}

static int delete_value(int map, const void *key)
{
	uint32_t i;

	assert_int_equal(find_value(map, key, &i), 0);
	*(map == SERVER_INDEX ? &listed[i] : &series_listed[i]) = false;
	return 0;
}

static int set_value(int map, const void *key, const void *value, __u64 flags)
{
	(void)flags;
	if (map == SERVERS)
		memcpy(&names[*(const uint32_t *)key], value, sizeof(names[0]));
	if (map != FREE_SERVERS && map != FREE_SERIES)
		return 0;
	memcpy(&last_freed, value, sizeof(last_freed));
	freed[map]++;
	return 0;
}

static void clear_series(struct rpc_series_reader *r, uint32_t number)
{
	(void)r;
	cleared[number]++;
}

static bool end_shares(struct share_reader *r, uint32_t server)
{
	(void)r;
	(void)server;
	return has_shares;
}

static struct rpc_server_stats stats[RPC_MAX_SERVERS + 1];

static void *stats_in_place(const struct bpf_map *map, int protection)
{
	(void)protection;
	assert_int_equal(number_of(map), OTHERS);
	return stats;
}

#define bpf_map__fd number_of
#define bpf_map_lookup_elem find_value
#define bpf_map_delete_elem delete_value
#define bpf_map_update_elem set_value
#define rpc_series_clear clear_series
#define shares_end_server end_shares
#define bpf_values_map stats_in_place
#define bpf_values_unmap(map, values) (void)(values)
#include "rpc/server_numbers.c"

static struct server_numbers numbers;
static struct rpc_series_reader reader = {
	.maps = { (void *)SERVERS, (void *)SERVER_INDEX, (void *)OTHERS, (void *)FREE_SERVERS,
		  (void *)SERIES_INFO, (void *)SERIES_INDEX, (void *)OTHERS, (void *)FREE_SERIES,
		  (void *)OTHERS },
	.shards = 1,
};
static uint64_t now_ns;

static void forget(void *context, uint32_t server)
{
	(void)context;
	(void)server;
	forgotten++;
}

BEFORE_EACH()
{
	numbers = (struct server_numbers){};
	memset(listed, 0, sizeof(listed));
	memset(series_listed, 0, sizeof(series_listed));
	memset(freed, 0, sizeof(freed));
	memset(cleared, 0, sizeof(cleared));
	forgotten = 0;
	has_shares = false;
	stats[0].series[0][5] = stats[RPC_MAX_SERVERS].series[1][7] = 1 + rest_series(0);
	stats[0].series[0][6] = stats[RPC_MAX_SERVERS].series[1][6] =
		1 + rest_series(RPC_MAX_SERVERS);
	stats[0].series[1][5] = RPC_OP_SERIES;
	without_client = 1;
	now_ns = SECOND;
}

/* Server @number has two series. */
static void add_server(uint32_t number)
{
	snprintf(names[number].name, sizeof(names[number].name), "nas-%u", number);
	listed[number] = true;
	for (uint32_t i = 1 + 2 * number; i < 3 + 2 * number; i++) {
		series[i].key = (struct rpc_series_key){ number, 3, (uint16_t)i };
		series_listed[i] = true;
	}
}

/* A reading with so many servers, of which this one has no client. */
static void read_with(uint32_t count, bool in_use, size_t ops)
{
	struct server_reading r = {
		.series = &reader,
		.now_ns = now_ns += 15 * SECOND,
		.ops = ops,
		.forget = forget,
	};

	for (uint32_t i = 0; i < count; i++)
		r.use[i] = i == without_client && !in_use ? SERVER_WITHOUT_CLIENT : SERVER_IN_USE;
	server_numbers_free(&numbers, &r);
}

static void expect_freed(bool is_freed)
{
	assert_int_equal(freed[FREE_SERVERS], is_freed);
	assert_int_equal(freed[FREE_SERIES], 2 * is_freed);
	assert_int_equal(forgotten, is_freed);
	assert_int_equal(cleared[3] + cleared[4] + cleared[rest_series(1)], 3 * is_freed);
	assert_int_equal(series_listed[3] + series_listed[4], 2 * !is_freed);
	assert_true(listed[0] && series_listed[1] && !cleared[1]);
	/* Ops that found no room look again, in the rest of each server too. */
	assert_int_equal(stats[0].series[0][6] + stats[RPC_MAX_SERVERS].series[1][6] == 0,
			 is_freed);
	assert_int_equal(stats[0].series[0][5] + stats[RPC_MAX_SERVERS].series[1][7] == 0,
			 is_freed);
	assert_int_equal(stats[0].series[1][5], RPC_OP_SERIES);
}

TEST(a_server_without_a_client_is_freed_after_an_hour)
{
	add_server(0);
	add_server(1);
	for (unsigned int i = 0; i <= 3600 / 15; i++) {
		assert_true(listed[1]);
		read_with(2, false, 4);
	}
	assert_false(listed[1]);
	expect_freed(false);
	read_with(2, false, 4);
	expect_freed(true);
	assert_int_equal(names[1].name[0], 0);
}

/* Whoever reads the file each minute has seen its last calls. */
TEST(if_a_table_is_half_full_it_is_freed_after_a_minute)
{
	for (int by_series = 0; by_series < 2; by_series++) {
		fresh();
		add_server(0);
		add_server(1);
		for (int i = 0; i < 6; i++) {
			expect_freed(false);
			assert_int_equal(series_listed[3] && listed[1], i < 5);
			read_with(by_series ? 2 : 33, false, by_series ? RPC_OP_SERIES / 2 + 1 : 4);
		}
		expect_freed(true);
	}
}

/* Number 64, of all that found none: once none of them has a client, it ends without being given out. */
TEST(the_number_of_servers_without_one_ends)
{
	series[9].key = (struct rpc_series_key){ RPC_MAX_SERVERS, 3, 9 };
	series_listed[9] = true;
	without_client = RPC_MAX_SERVERS;
	for (int i = 0; i < 6; i++) {
		assert_true(series_listed[9]);
		read_with(RPC_MAX_SERVERS + 1, false, 4);
	}
	assert_false(series_listed[9]);
	assert_int_equal(freed[FREE_SERIES] + forgotten, 2);
	assert_int_equal(freed[FREE_SERVERS] + cleared[0], 0);
	assert_int_equal(cleared[9], 1);
}

TEST(a_server_that_a_share_or_a_transport_has_is_not_freed)
{
	add_server(0);
	add_server(1);
	has_shares = true;
	for (int i = 0; i < 10; i++)
		read_with(33, false, 4);
	assert_false(listed[1]);
	expect_freed(false);
	read_with(33, true, 4);
	has_shares = false;
	for (int i = 0; i < 6; i++) {
		expect_freed(false);
		read_with(33, false, 4);
	}
	expect_freed(true);
}
