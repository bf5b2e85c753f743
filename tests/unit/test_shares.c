// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which numbers of clients and owners are freed, and when, and what errors and the oldest calls say about their owner. The
 * maps are made up. */
#include "unit.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "owners/mount_calls.h"

enum { FREE_CLIENTS = 1, FREE_SHARES, FREE_OWNERS, OWNER_INDEX, OWNERS, BSS };

static struct rpc_owner owners[RPC_MAX_OWNERS];
static struct rpc_owner_cell cells[RPC_OWNER_CELLS];
static unsigned int freed[BSS], unlisted;
static uint32_t last_freed;

static int number_of(const struct bpf_map *map)
{
	return (int)(uintptr_t)map;
}

static int put_free(int map, const void *key, const void *value, __u64 flags)
{
	(void)flags;
	assert_null(key);
	freed[map]++;
	memcpy(&last_freed, value, sizeof(last_freed));
	return 0;
}

static int unlist(int map, const void *key)
{
	assert_int_equal(map, OWNER_INDEX);
	assert_ptr_equal(key, &owners[((const struct rpc_owner_key *)key)->id].key);
	unlisted++;
	return 0;
}

#define bpf_map__fd number_of
#define bpf_map_update_elem put_free
#define bpf_map_delete_elem unlist
#define bpf_map__initial_value(map, size) ((void)(map), (void)(size), cells)
#define bpf_values_map(map, protection) (number_of(map) == OWNERS ? (void *)owners : NULL)
#define bpf_values_unmap(map, values) (void)(values)
#include "owners/shares.c"

static __u16 entries[RPC_MAX_CLIENTS], places[RPC_CLIENT_ENTRIES * RPC_MAX_OWNERS];
static struct rpc_client_info client_list[RPC_CLIENT_ENTRIES];
static struct rpc_share_info info[RPC_MAX_SHARES];
static struct rpc_share_stats stats[RPC_MAX_SHARES * 2];
static struct share_reader r;
static struct client_list list;

static const char *name_server(const void *context, uint32_t server)
{
	(void)context;
	return server ? "" : "nas";
}

/* Reads all, after the owner of @calling has called. Returns how many rows there are. */
static size_t read_all(uint32_t calling)
{
	if (calling)
		stats[calling * 2 + 1].sums.calls[0]++;
	list.count = 0;
	shares_read(&r, &list, name_server, NULL);
	return list.count;
}

/* The owner @number, whose share is @share, of client number 5, which has entry 1. */
static void add_owner(uint32_t number, uint32_t share)
{
	owners[number].key = (struct rpc_owner_key){ .root = 1, .id = number };
	snprintf(r.label[number], LABEL_SIZE, "slurm:%u", number);
	r.asked[number] = SHARE_NAMED;
	info[share] = (struct rpc_share_info){ .entry = 1, .owner = number };
	places[RPC_MAX_OWNERS + number] = (__u16)share;
	stats[share * 2].started = stats[share * 2].finished = 1;
	stats[share * 2 + 1].started = stats[share * 2 + 1].finished = 1;
	stats[share * 2].sums.calls[0] = 2;
	stats[share * 2].sums.total_ns[0] = 90;
	stats[share * 2].sums.phase_ns[0] = 30;
}

BEFORE_EACH()
{
	memset(&r, 0, sizeof(r));
	memset(owners, 0, sizeof(owners));
	memset(cells, 0, sizeof(cells));
	memset(freed, 0, sizeof(freed));
	memset(places, 0, sizeof(places));
	memset(info, 0, sizeof(info));
	memset(stats, 0, sizeof(stats));
	unlisted = 0;
	r.maps = (struct share_maps){ .client = entries,
				      .share = places,
				      .client_info = client_list,
				      .info = info,
				      .cell = cells,
				      .owners = (void *)OWNERS,
				      .owner_index = (void *)OWNER_INDEX,
				      .free_clients = (void *)FREE_CLIENTS,
				      .free_shares = (void *)FREE_SHARES,
				      .free_owners = (void *)FREE_OWNERS,
				      .bss = (void *)BSS };
	r.stats = stats;
	r.shards = 2;
	r.share_count = RPC_MAX_SHARES;
	r.misses_ends = true;
	entries[5] = 1;
	client_list[1] = (struct rpc_client_info){ .client = 1 + 5 };
}

AFTER_EACH()
{
	free(list.list);
	list = (struct client_list){};
}

TEST(a_row_has_the_figures_of_all_shards)
{
	const struct client_calls *c;

	add_owner(7, 9);
	add_owner(8, 11);
	info[11].entry = 2; /* its server is newer than the reading */
	client_list[2] = (struct rpc_client_info){ .client = 1 + 6, .server = 1 };
	entries[6] = 2;
	places[2 * RPC_MAX_OWNERS + 8] = 11;
	assert_int_equal(read_all(9), 1);
	c = list.list;
	assert_printed("nas slurm:7 5 3 90 60", "%s %s %u %llu %llu %llu", c->server, c->owner,
		       c->client, c->sums.calls[0], c->sums.total_ns[0],
		       c->sums.phase_ns[RPC_PHASE_RTT]);
	assert_int_equal(c->id, r.id[9]);
	assert_int_equal(c->client_id, r.client_id[1]);
	/* The time until replies does not fall. */
	stats[18].sums.phase_ns[0] = 50;
	read_all(0);
	assert_int_equal(list.list[0].sums.phase_ns[RPC_PHASE_RTT], 60);
	client_list[2] = (struct rpc_client_info){};
}

/* The one that calls keeps its number. */
TEST(idle_owners_end_if_more_than_half_have_a_number)
{
	const uint32_t half = RPC_MAX_OWNERS / 2;

	for (uint32_t i = 1; i <= half; i++)
		add_owner(i, 2 * i - 1);
	read_all(0);
	read_all(0);
	read_all(0);
	assert_int_equal(unlisted, 0);
	add_owner(half + 1, 2 * half + 1);
	cells[3].process = 77ull << 32 | 2;
	assert_int_equal(read_all(3),
			 half + 1); /* the new one is seen for the first time, owner 2 calls */
	assert_int_equal(unlisted, half - 1);
	assert_int_equal(places[RPC_MAX_OWNERS + 2], 3);
	assert_int_equal(places[RPC_MAX_OWNERS + 4], 0);
	assert_int_equal(freed[FREE_OWNERS] + freed[FREE_SHARES], 0);
	read_all(3); /* finds that the shares have ended */
	assert_int_equal(freed[FREE_OWNERS], 0);
	while (!freed[FREE_OWNERS])
		read_all(3);
	assert_int_equal(freed[FREE_SHARES], half - 1);
	assert_int_equal(freed[FREE_OWNERS], half - 1);
	assert_true(owners[2].key.root && owners[half + 1].key.root && !owners[4].key.root);
	assert_int_equal(read_all(3), 2);
}

TEST(a_client_without_a_share_is_freed_once_it_has_ended)
{
	add_owner(7, 9);
	read_all(9);
	entries[5] = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(client_list[1].client, 6);
		read_all(0); /* the share ends first */
	}
	assert_int_equal(freed[FREE_SHARES], 1);
	assert_int_equal(last_freed, 9);
	assert_int_equal(freed[FREE_CLIENTS], 0);
	for (int i = 0; !freed[FREE_CLIENTS] && i < 3; i++)
		read_all(0);
	assert_int_equal(last_freed, 1);
	assert_int_equal(client_list[1].client + r.client_id[1], 0);
}

TEST(the_clients_of_a_server_end_with_it)
{
	client_list[2] = (struct rpc_client_info){ .client = 1 + 6, .server = 3 };
	entries[6] = 9; /* another entry by now */
	assert_true(shares_end_server(&r, 0));
	assert_int_equal(entries[5], 0);
	assert_true(shares_end_server(&r, 3));
	assert_int_equal(entries[6], 9);
	client_list[2] = (struct rpc_client_info){};
	assert_false(shares_end_server(&r, 3));
}

TEST(an_error_and_the_oldest_call_have_their_owner)
{
	struct rpc_error errors[] = { { .share = 9 }, { .share = 13 } };
	struct calls calls = { .errors = errors, .error_count = 2 };

	add_owner(7, 9);
	shares_name_errors(&r, &calls);
	assert_printed("slurm:7 6,  0", "%s %u, %s %u", errors[0].owner, errors[0].client,
		       errors[1].owner, errors[1].client);
	shares_show_oldest(&r, &list, "nas", 7, 20);
	assert_printed("1 nas slurm:7 20", "%zu %s %s %lu", list.count, list.list[0].server,
		       list.list[0].owner, list.list[0].oldest_ns);
	assert_string_equal(shares_owner_of_group(&r, 7, 7), "slurm:7");
	assert_string_equal(shares_owner_of_group(&r, 7, 8), "");
}
