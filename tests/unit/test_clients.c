// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Of the source tracepoints: proves that clients, servers and tasks are found in the kernel's files as it writes them, and
 * nothing in damaged ones; that a period of waiting whose last wake-up was missed ends, and no other one. */
#include "golden.h"
#include "rpc/tracepoints/tracepoints.h"
#include "rpc/tracepoints/tracepoint_maps.c"

static const char *transport_of(const char *text)
{
	struct client_transport info;

	if (!clients_parse_transport(&info, text))
		return "refused";
	return formatted("%s %s", info.netid, info.address);
}

TEST(a_transport_has_its_protocol_and_address)
{
	char text[128];

	assert_golden_in(TEST_DATA "/texts.tsv", "files of transports", transport_of);
	memset(text, 'x', sizeof(text));
	memcpy(text, "netid: tcp\naddr:  ", 18);
	text[sizeof(text) - 1] = 0;
	assert_string_equal(transport_of(text), "refused");
}

static const char servers[] = "NV SERVER   PORT USE HOSTNAME\n"
			      "v3 7f000001  801   1 127.0.0.1\n"
			      "v4 0a000102  801   3 nas one\n"
			      "v4 fd000000000000000000000000000001  801   1 six\n"
			      "v4 0a0001 801 1 short\n"
			      "v4 0a000104\n"
			      "v4 0a000105  801   1 \n";

static const char *server_at(const char *address)
{
	char name[16];

	if (!clients_parse_server(name, sizeof(name), servers, strlen(servers), address, NFS_PORT))
		return "none";
	return formatted("%s", name);
}

TEST(a_server_is_found_by_its_address)
{
	char name[4];

	assert_golden_in(TEST_DATA "/texts.tsv", "servers by their addresses", server_at);
	assert_true(clients_parse_server(name, 4, servers, strlen(servers), "10.0.1.2", NFS_PORT));
	assert_string_equal(name, "nas");
}

static char op[RPC_OP_LEN];

static bool has(const char *text, uint32_t task)
{
	return clients_has_task(text, strlen(text), task, op);
}

TEST(a_task_is_found_by_its_number)
{
	static const char tasks[] =
		"   12 0001      0 0x1 0x9a  15000 nfs_pgio_common_ops nfsv3 READ a:call_status q:xprt_pending\n"
		"65535 0880    -11 0x1 0x9a      0 nfs_pgio_common_ops nfsv3 READ a:call_status q:none\n";

	struct span rest = { tasks, tasks + strlen(tasks) };

	assert_true(has(tasks, 12));
	assert_string_equal(op, "READ");
	assert_true(has(tasks, 65535));
	assert_false(has(tasks, 1));
	assert_false(has(tasks, 2));
	assert_false(has(tasks, 0));
	assert_false(has("", 0));
	assert_false(has("-pid- flgs\n", 0));
	assert_true(has("7", 7));
	assert_string_equal(op, "");
	assert_false(has("18446744073709551623 x\n", 7));
	assert_false(has("4294967303 x\n", 7));
	assert_int_equal(clients_waiting_task(&rest), 12);
	assert_int_equal(clients_waiting_task(&rest), 0);
}

TEST(calls_that_wait_for_replies_are_found)
{
	static const char tasks[] =
		"-pid- flgs status -client- --rqstp- -timeout ---ops--\n"
		"    3 0001      0 0x1 0x9a  15000 rpc_default_ops [sunrpc] lockdv4 LOCK a:call_status [sunrpc] q:xprt_pending\n"
		"    4 0001      0 0x1 0x9a  15000 nfs_commit_ops [nfs] nfsv4 COMMIT a:call_status [sunrpc] q:xprt_pending\n"
		"    5 0001      0 0x1 0x9a  15000 nfs_commit_ops [nfs] nfsv4 COMMIT a:call_reserveresult [sunrpc] q:xprt_backlog\n"
		"    6 0001      0 0x1 0x9a  15000 nfs_commit_ops [nfs] nfsv4 COMMIT a:call_transmit [sunrpc] q:xprt_sending\n"
		"    7 0001      0 0x1 0x9a  15000 nfs_commit_ops [nfs] nfsv4 COMMIT a:call_bind [sunrpc] q:delayq\n";
	struct span rest = { tasks, tasks + strlen(tasks) };

	assert_true(has(tasks, 4));
	assert_string_equal(op, "COMMIT");
	assert_true(has(tasks, 3));
	assert_string_equal(op, "");
	assert_int_equal(clients_waiting_task(&rest), 4);
	assert_int_equal(clients_waiting_task(&rest), 6);
	assert_int_equal(clients_waiting_task(&rest), 7);
	assert_int_equal(clients_waiting_task(&rest), 0);
}

#define SEND RPC_LIMIT_SEND

static struct rpc_event_server states[RPC_MAX_SERVERS + 1];
static struct tracepoint_maps maps;

BEFORE_EACH()
{
	memset(states, 0, sizeof(states));
	maps = (struct tracepoint_maps){ .servers = states };
}

/* The kernel side has @count tasks of one server waiting, since then; the table shows so many. */
static void reads(uint64_t count, uint64_t since, uint32_t shown)
{
	struct waiting w = { .m = &maps };

	states[3].waiting[SEND] = count;
	states[3].saturated_since[SEND] = since;
	w.count[3][SEND] = shown;
	reconcile_waiters(&w);
}

static void expect(uint64_t count, uint64_t since)
{
	assert_int_equal(states[3].waiting[SEND], count);
	assert_int_equal(states[3].saturated_since[SEND], since);
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
