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

/* The kernel's list of a client's tasks; NULL: it has none. */
static const char *lists[10];

static int list_tasks(struct file_text *tasks, uint32_t client)
{
	*tasks = (struct file_text){};
	if (!lists[client])
		return -ENOENT;
	tasks->bytes = strdup(lists[client]);
	tasks->len = strlen(lists[client]);
	return 0;
}

static uint32_t shown_owner;
static uint64_t shown_age;

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
#define clients_read_tasks list_tasks
#define bpf_map__fd number_of
#define bpf_map_lookup_elem find_value
#define bpf_map_lookup_and_delete_elem take_number
#define bpf_map_update_elem set_value
#define server_numbers_free(numbers, servers) (void)(servers)
#define rpc_stats_read(reader, number, epoch, server) (void)(server)
static void show_oldest(uint32_t owner, uint64_t age)
{
	shown_owner = owner;
	shown_age = age;
}

#define shares_show_oldest(shares, clients, server, owner, age) \
	((void)(clients), show_oldest(owner, age))
#define shares_end_server(shares, server) (void)(others_ended += (server) == RPC_MAX_SERVERS)
#include "rpc/tracepoints/tracepoint_maps.c"

static struct rpc_tracepoints_bpf__bss bss;
static struct rpc_tracepoints_bpf bpf = {
	.bss = &bss,
	.maps = { .servers = (void *)SERVERS,
		  .server_index = (void *)SERVER_INDEX,
		  .free_servers = (void *)FREE_SERVERS },
};
static struct rpc_event_client known[RPC_MAX_CLIENTS];
static struct rpc_event_task tasks[RPC_MAX_TASKS];
static struct rpc_task_bucket keys[RPC_MAX_TASKS / RPC_TASK_WAYS];
static struct tracepoint_maps m = {
	.bpf = &bpf, .clients = known, .servers = servers, .tasks = tasks, .keys = keys
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

#define KEY(client, task) (((uint64_t)(client) << 32 | (task)) + 1)

static __u64 *key_of(uint32_t i)
{
	return &keys[i / RPC_TASK_WAYS].task[i % RPC_TASK_WAYS];
}

/* A task that waits for its reply. */
static void add_task(uint32_t i, uint64_t key, uint64_t begun)
{
	*key_of(i) = key;
	tasks[i] = (struct rpc_event_task){
		.begun = begun * SECOND, .sent = begun * SECOND, .transmits = 1, .server = 1
	};
}

static void fresh_tasks(void)
{
	memset(keys, 0, sizeof(keys));
	memset(tasks, 0, sizeof(tasks));
	memset(&servers[1], 0, sizeof(servers[1]));
	memset(&m.labels[1], 0, sizeof(m.labels[1]));
	strcpy(m.labels[1].server, "nas");
	strcpy(m.labels[1].transport, "tcp");
	now.time_ns = 100 * SECOND;
	lists[3] =
		" 12 0001 0 0x1 0x9a 15000 ops [nfs] nfsv3 READ a:call_status [sunrpc] q:xprt_pending\n";
}

TEST(a_call_that_the_kernel_no_longer_lists_is_forgotten)
{
	struct client_list list = {};
	const struct rpc_server_state *server;
	uint64_t oldest = KEY(3, 12);

	fresh_tasks();
	bss.rpc_task_owner[oldest & (RPC_TASK_OWNERS - 1)] = 4ull << 30 | 4711 << 8 | 7;
	add_task(3, oldest, 40);
	add_task(9, KEY(3, 13), 41); /* not listed */
	add_task(8, KEY(3, 14), 99); /* nor this one, which is young */
	add_task(500, KEY(4, 12), 42); /* its client has no list */
	add_task(17, KEY(3, 15), 43); /* not listed, and asleep since not long ago */
	tasks[17].waits = (struct rpc_waits){ .asleep = 1 + RPC_PHASE_SLOT, .since = 80 * SECOND };
	add_task(20, KEY(3, 16), 44); /* booked */
	add_task(21, KEY(3, 16), 44);
	tasks[20].waits.booked = tasks[21].waits.booked = 1;
	tasks[20].ended = 97 * SECOND;
	tasks[21].ended = 99 * SECOND;
	read_tasks(&m, &now, &list);
	assert_true(*key_of(3) && *key_of(8) && *key_of(500) && *key_of(17) && *key_of(21));
	assert_false(*key_of(9) || *key_of(20));
	server = snapshot_server(&now.calls, "nas");
	assert_printed("60 READ 4711 20", "%lu %s %u %lu",
		       server->oldest_ns[RPC_QUEUE_PENDING] / SECOND, server->oldest_op,
		       server->oldest_pid, server->oldest_ns[RPC_LIMIT_SLOT] / SECOND);
	assert_printed("7 60", "%u %lu", shown_owner, shown_age / SECOND);
	/* Another task has the entry of who made it. */
	bss.rpc_task_owner[oldest & (RPC_TASK_OWNERS - 1)] = 5ull << 30 | 4711 << 8 | 7;
	snapshot_server(&now.calls, "nas")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	read_tasks(&m, &now, &list);
	assert_int_equal(shown_owner, 0);
}

TEST(waiters_whose_wake_up_was_missed_are_not_counted_for_ever)
{
	struct client_list list = {};
	struct rpc_event_server *v = &servers[1];

	fresh_tasks();
	v->waiting[RPC_LIMIT_SLOT] = 2;
	v->saturated_since[RPC_LIMIT_SLOT] = 50;
	add_task(1, KEY(3, 12), 90);
	tasks[1].waits = (struct rpc_waits){ .asleep = 1 + RPC_PHASE_SLOT, .since = 90 * SECOND };
	for (int i = 0; i < 3; i++)
		read_tasks(&m, &now, &list);
	assert_int_equal(v->waiting[RPC_LIMIT_SLOT], 2);
	*key_of(1) = 0;
	read_tasks(&m, &now, &list);
	v->saturated_since[RPC_LIMIT_SLOT] = 60; /* another period */
	read_tasks(&m, &now, &list);
	assert_int_equal(v->waiting[RPC_LIMIT_SLOT], 2);
	read_tasks(&m, &now, &list);
	assert_int_equal(v->waiting[RPC_LIMIT_SLOT], 0);
	assert_int_equal(v->saturated_since[RPC_LIMIT_SLOT], 0);
}

TEST(earlier_calls_are_as_old_as_the_source_while_they_wait)
{
	const struct rpc_server_state *server;

	fresh_tasks();
	bss.rpc_attached = 70 * SECOND;
	known[3].server = 1 + 1;
	m.earlier_count = 0;
	note_earlier(&m, 3);
	note_earlier(&m, 4);
	assert_int_equal(m.earlier_count, 1);
	*ARRAY_APPEND(m.earlier, m.earlier_count) = (struct earlier_call){ 3, 13 };
	look_at_earlier(&m, &now);
	assert_int_equal(m.earlier_count, 1);
	assert_int_equal(m.earlier[0].task, 12);
	server = snapshot_server(&now.calls, "nas");
	assert_printed("30 READ 0", "%lu %s %u", server->oldest_ns[RPC_QUEUE_PENDING] / SECOND,
		       server->oldest_op, server->oldest_pid);
	lists[3] = NULL;
	look_at_earlier(&m, &now);
	assert_int_equal(m.earlier_count, 0);
	free(m.earlier);
	m.earlier = NULL;
}

TEST(the_figures_of_a_server)
{
	const struct rpc_transport_state *t;

	fresh_tasks();
	servers[1] = (struct rpc_event_server){ .retransmits = 3,
						.disconnects = 4,
						.saturated_ns = { 5 * SECOND, 6 * SECOND },
						.saturated_since = { 90 * SECOND, 101 * SECOND },
						.peak = { { { 8ull << 32 | 9 } } } };
	read_server(&m, &now, 1, 8);
	t = snapshot_transport(&now.calls, "nas", "tcp");
	assert_printed("3 4 15 6", "%lu %lu %lu %lu", t->retransmits, t->disconnects,
		       t->saturated_ns[0] / SECOND, t->saturated_ns[1] / SECOND);
	assert_int_equal(snapshot_server(&now.calls, "nas")->depth_max[0], 9);
	assert_int_equal(now.calls.transport_count, 1);
}
