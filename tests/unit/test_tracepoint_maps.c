// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that clients at one address have one server, which gets its name as given at mount, else its address, and its protocol;
 * and which age a waiting task gives its server. The clients and the maps are made up. */
#include "unit.h"
#include <bpf/bpf.h>
#include "rpc/tracepoints/tracepoints.h"
#include "snapshot.h"

enum { SERVERS, SERVER_INDEX, FREE_SERVERS };

static const struct client_transport clients[] = {
	{ 3, "tcp", "10.0.0.1", 2049 },  { 4, "tcp6", "fd00::1", 3049 },
	{ 5, "local", "/run/x", 2049 },  { 6, "tcp", "10.0.0.1", 2049 },
	{ 7, "rdma", "10.0.0.2", 2049 },
};
static struct rpc_event_server servers[RPC_MAX_SERVERS + 1];
static struct rpc_event_server_key index_keys[8];
static uint32_t index_values[8], index_count, others_ended;

static bool list_clients(struct client_transport **list, size_t *count)
{
	*list = memcpy(not_null(malloc(sizeof(clients))), clients, sizeof(clients));
	*count = COUNT(clients);
	return true;
}

static bool name_of(char *name, size_t size, const char *address, uint32_t port)
{
	(void)port;
	if (strcmp(address, "10.0.0.1") != 0)
		return false;
	snprintf(name, size, "nas-1");
	return true;
}

static int no_tasks(struct file_text *tasks, uint32_t client)
{
	(void)tasks;
	(void)client;
	return -ENOENT;
}

static int number_of(const struct bpf_map *map)
{
	return (int)(uintptr_t)map;
}

static int find_value(int map, const void *key, void *value)
{
	assert_int_equal(map, SERVER_INDEX);
	for (uint32_t i = 0; i < index_count; i++)
		if (!memcmp(&index_keys[i], key, sizeof(index_keys[0]))) {
			memcpy(value, &index_values[i], sizeof(uint32_t));
			return 0;
		}
	return -1;
}

static int take_number(int map, const void *key, void *value)
{
	uint32_t number = 5 + index_count;

	assert_int_equal(map, FREE_SERVERS);
	assert_null(key);
	memcpy(value, &number, sizeof(number));
	return 0;
}

static int set_value(int map, const void *key, const void *value, __u64 flags)
{
	(void)flags;
	if (map == SERVERS) {
		memcpy(&servers[*(const uint32_t *)key], value, sizeof(servers[0]));
	} else {
		memcpy(&index_keys[index_count], key, sizeof(index_keys[0]));
		memcpy(&index_values[index_count++], value, sizeof(uint32_t));
	}
	return 0;
}

#define clients_list list_clients
#define clients_server_name name_of
#define clients_read_tasks no_tasks
#define bpf_map__fd number_of
#define bpf_map_lookup_elem find_value
#define bpf_map_lookup_and_delete_elem take_number
#define bpf_map_update_elem set_value
#define server_numbers_free(numbers, servers) (void)(servers)
#define shares_end_server(shares, server) (void)(others_ended += (server) == RPC_MAX_SERVERS)
#include "rpc/tracepoints/tracepoint_maps.c"

static struct rpc_tracepoints_bpf bpf = {
	.maps = { .servers = (void *)SERVERS,
		  .server_index = (void *)SERVER_INDEX,
		  .free_servers = (void *)FREE_SERVERS },
};
static struct rpc_event_client known[RPC_MAX_CLIENTS];
static struct rpc_event_task tasks[1];
static struct tracepoint_maps m = {
	.bpf = &bpf, .clients = known, .servers = servers, .tasks = tasks
};

TEST(clients_at_one_address_have_one_server_with_its_name)
{
	static const uint32_t numbered[] = { 6, 7, 0, 6, 8 };
	static const struct {
		const char *name, *protocol;
	} expected[] = { { "nas-1", "tcp" }, { "[fd00::1]:3049", "tcp" }, { "10.0.0.2", "rdma" } };

	tracepoint_maps_find_clients(&m);
	tracepoint_maps_find_clients(&m);
	assert_int_equal(index_count, 3);
	name_servers(&m);
	for (uint32_t i = 0; i < COUNT(expected); i++) {
		assert_string_equal(m.labels[5 + i].server, expected[i].name);
		assert_string_equal(m.labels[5 + i].transport, expected[i].protocol);
	}
	for (uint32_t i = 0; i < COUNT(clients); i++)
		assert_int_equal(known[clients[i].client].server, numbered[i]);
	assert_string_equal(tracepoint_maps_label(&m, "fd00::1", 3049), expected[1].name);
	assert_null(tracepoint_maps_label(&m, "fd00::1", 2049));
	/* One that found no number gets one later. */
	known[7].server = 1 + RPC_MAX_SERVERS;
	free_servers(&m, &now);
	assert_int_equal(known[7].server, 8);
	assert_int_equal(others_ended, 1);
}

TEST(a_waiting_task_is_as_old_as_its_wait)
{
	static struct waiting w = { .m = &m, .s = &now };
	const struct rpc_server_state *server;

	strcpy(m.labels[1].server, "nas");
	now.time_ns = 100 * SECOND;
	tasks[0] = (struct rpc_event_task){ .waits = { .since = 92 * SECOND,
						       .asleep = 1 + RPC_PHASE_SLOT },
					    .begun = 80 * SECOND,
					    .server = 1 };
	look_at_task(&w, 0, 77);
	server = snapshot_server(&now.calls, "nas");
	assert_int_equal(server->oldest_ns[RPC_LIMIT_SLOT], 8 * SECOND);
	assert_int_equal(server->oldest_ns[RPC_QUEUE_PENDING], 0);
	assert_int_equal(w.count[1][RPC_LIMIT_SLOT], 1);
	tasks[0].waits.asleep = RPC_ASLEEP_NO;
	tasks[0].transmits = 1;
	look_at_task(&w, 0, 77);
	assert_int_equal(server->oldest_ns[RPC_QUEUE_PENDING], 20 * SECOND);
	assert_int_equal(w.oldest[1].key, 77);
	assert_int_equal(w.count[1][RPC_LIMIT_SLOT], 1);
}
