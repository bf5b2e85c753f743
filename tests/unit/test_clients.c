// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Of the source tracepoints: proves that clients, servers and tasks are found in the kernel's files as it writes them, and
 * nothing in damaged ones; that a period of waiting whose last wake-up was missed ends, and no other one. */
#include "unit.h"
#include "rpc/tracepoints/tracepoints.h"
#include "rpc/tracepoints/tracepoint_maps.c"

TEST(a_transport_has_its_protocol_and_address)
{
	static const struct {
		const char *text, *read; /* NULL: it is refused */
	} cases[] = {
		/* 5.10, 7.2, and over IPv6 */
		{ "netid: tcp\naddr:  127.0.0.1\nport:  2049\nstate: 0x12\n", "tcp 127.0.0.1" },
		{ "netid: rdma6\naddr:  fd00::1%eth0\nport:  20049\nstate: 0x12\nnetns: 4026531833\n"
		  "saddr: 127.0.0.1\n",
		  "rdma6 fd00::1%eth0" },
		{ "netid: tcp\naddr: 1.2.3.4", "tcp 1.2.3.4" },
		{ "", NULL },
		{ "netid: tcp\n", NULL },
		{ "addr:  127.0.0.1\n", NULL },
		{ "netid: \naddr:  127.0.0.1\n", NULL },
		{ "netid: tcp\naddr:", NULL },
		{ " netid: tcp\n addr:  127.0.0.1\n", NULL },
	};
	struct client_transport info;
	char text[128];

	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("# %s\n", cases[i].text);
		assert_int_equal(clients_parse_transport(&info, cases[i].text),
				 cases[i].read != NULL);
		if (cases[i].read)
			assert_printed(cases[i].read, "%s %s", info.netid, info.address);
	}
	memset(text, 'x', sizeof(text));
	memcpy(text, "netid: tcp\naddr:  ", 18);
	text[sizeof(text) - 1] = 0;
	assert_false(clients_parse_transport(&info, text));
}

static const char servers[] = "NV SERVER   PORT USE HOSTNAME\n"
			      "v3 7f000001  801   1 127.0.0.1\n"
			      "v4 0a000102  801   3 nas one\n"
			      "v4 fd000000000000000000000000000001  801   1 six\n"
			      "v4 0a0001 801 1 short\n"
			      "v4 0a000104\n"
			      "v4 0a000105  801   1 \n";

TEST(a_server_is_found_by_its_address)
{
	static const struct {
		const char *address, *name; /* NULL: it is not found */
	} cases[] = { { "127.0.0.1", "127.0.0.1" },
		      { "10.0.1.2", "nas one" },
		      { "fd00::1", "six" },
		      { "fd00::1%eth0", "six" },
		      { "10.0.1.3", NULL },
		      { "10.0.1.4", NULL },
		      { "10.0.1.5", NULL },
		      { "nas", NULL },
		      { "", NULL },
		      { "/var/run/rpcbind.sock", NULL } };
	char name[16];

	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("# %s\n", cases[i].address);
		assert_int_equal(clients_parse_server(name, sizeof(name), servers, strlen(servers),
						      cases[i].address, NFS_PORT),
				 cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
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
