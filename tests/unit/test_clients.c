// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that clients, servers and tasks are found in the kernel's files as it writes them, and nothing in damaged ones. */
#include "unit.h"
#include "rpc/tracepoints/tracepoints.h"

static bool parse(struct client_transport *info, const char *text)
{
	return clients_parse_transport(info, text, strlen(text));
}

TEST(a_transport_has_its_protocol_and_address)
{
	struct client_transport info;

	/* 5.10, 7.2, and over IPv6 */
	assert_true(parse(&info, "netid: tcp\naddr:  127.0.0.1\nport:  2049\n"
				 "state: 0x12\n"));
	assert_string_equal(info.netid, "tcp");
	assert_string_equal(info.address, "127.0.0.1");
	assert_true(parse(&info, "netid: rdma6\naddr:  fd00::1%eth0\nport:  20049\n"
				 "state: 0x12\nnetns: 4026531833\n"
				 "saddr: 127.0.0.1\n"));
	assert_string_equal(info.netid, "rdma6");
	assert_string_equal(info.address, "fd00::1%eth0");
	assert_true(parse(&info, "netid: tcp\naddr: 1.2.3.4"));
	assert_string_equal(info.address, "1.2.3.4");
}

TEST(a_damaged_transport_is_refused)
{
	struct client_transport info;
	char text[128];

	assert_false(parse(&info, ""));
	assert_false(parse(&info, "netid: tcp\n"));
	assert_false(parse(&info, "addr:  127.0.0.1\n"));
	assert_false(parse(&info, "netid: \naddr:  127.0.0.1\n"));
	assert_false(parse(&info, "netid: tcp\naddr:"));
	assert_false(parse(&info, " netid: tcp\n addr:  127.0.0.1\n"));
	memset(text, 'x', sizeof(text));
	memcpy(text, "netid: tcp\naddr:  ", 18);
	assert_false(clients_parse_transport(&info, text, sizeof(text)));
	assert_false(clients_parse_transport(&info, "netid: tcp\naddr: 1\0002\n", 20));
}

static const char servers[] = "NV SERVER   PORT USE HOSTNAME\n"
			      "v3 7f000001  801   1 127.0.0.1\n"
			      "v4 0a000102  801   3 nas one\n"
			      "v4 fd000000000000000000000000000001  801   1 six\n"
			      "v4 0a0001 801 1 short\n"
			      "v4 0a000104\n"
			      "v4 0a000105  801   1 \n";

static bool find(char *name, size_t size, const char *address)
{
	return clients_parse_server(name, size, servers, strlen(servers), address, NFS_PORT);
}

TEST(a_server_is_found_by_its_address)
{
	char name[16];

	assert_true(find(name, sizeof(name), "127.0.0.1"));
	assert_string_equal(name, "127.0.0.1");
	assert_true(find(name, sizeof(name), "10.0.1.2"));
	assert_string_equal(name, "nas one");
	assert_true(find(name, sizeof(name), "fd00::1"));
	assert_string_equal(name, "six");
	assert_true(find(name, sizeof(name), "fd00::1%eth0"));
	assert_true(find(name, 4, "10.0.1.2"));
	assert_string_equal(name, "nas");
}

TEST(an_unknown_server_is_not_found)
{
	char name[16];

	assert_false(find(name, sizeof(name), "10.0.1.3"));
	assert_false(find(name, sizeof(name), "10.0.1.4"));
	assert_false(find(name, sizeof(name), "10.0.1.5"));
	assert_false(find(name, sizeof(name), "nas"));
	assert_false(find(name, sizeof(name), ""));
	assert_false(find(name, sizeof(name), "/var/run/rpcbind.sock"));
}

static bool has(const char *text, uint32_t task)
{
	return clients_has_task(text, strlen(text), task);
}

TEST(a_task_is_found_by_its_number)
{
	static const char tasks[] =
		"   12 0001      0 0x1 0x9a  15000 nfs_pgio_common_ops nfsv3 READ a:call_status q:xprt_pending\n"
		"65535 0880    -11 0x1 0x9a      0 nfs_pgio_common_ops nfsv3 READ a:call_status q:none\n";

	struct span rest = { tasks, tasks + strlen(tasks) };

	assert_true(has(tasks, 12));
	assert_true(has(tasks, 65535));
	assert_false(has(tasks, 1));
	assert_false(has(tasks, 2));
	assert_false(has(tasks, 0));
	assert_false(has("", 0));
	assert_false(has("-pid- flgs\n", 0));
	assert_true(has("7", 7));
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

	assert_int_equal(clients_waiting_task(&rest), 4);
	assert_int_equal(clients_waiting_task(&rest), 6);
	assert_int_equal(clients_waiting_task(&rest), 7);
	assert_int_equal(clients_waiting_task(&rest), 0);
}
