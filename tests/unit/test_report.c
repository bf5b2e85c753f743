// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the report shows what happened: durations in three digits, the phase that took most of the time, the
 * GPU that failed, and what is missing. */
#include "health/health.h"
#include "printed.h"
#include "sinks/report.h"
#include "snapshot.h"

TEST(durations_have_three_digits_and_a_unit)
{
	/* In nanoseconds, and as they are shown. */
	const char *at = "0 0 ns, 1 1 ns, 42 42 ns, 999 999 ns, 1000 1.00 us, 1050 1.05 us, "
			 "9994 9.99 us, 9996 10.0 us, 12345 12.3 us, 99940 99.9 us, 99960 100 us, "
			 "999499 999 us, 999500 1.00 ms, 12300000 12.3 ms, 999499999 999 ms, "
			 "999500000 1.00 s, 4100000000 4.10 s, 274877906944 275 s, "
			 "1234567890123 1235 s, 18446744073709551614 18446744074 s, "
			 "18446744073709551615 >275 s";
	char text[DURATION_SIZE], expected[32];
	int len, rows = 0;
	uint64_t ns;

	for (; sscanf(at, "%lu %31[^,]%n", &ns, expected, &len) == 2; rows++) {
		format_duration(text, ns);
		assert_string_equal(text, expected);
		at += len + (at[len] == ',');
	}
	assert_int_equal(rows, 21);
}

static struct session t;
static struct session_filter filter;

static void end_session(void)
{
	t.first = t.last = (struct snapshot){}; /* the arrays are those of @before and @now */
	session_free(&t);
	t = (struct session){};
}

AFTER_EACH()
{
	end_session();
	filter = (struct session_filter){};
}

/* Reports a session of ten seconds from @before to @now, which stay the owners of their arrays. */
static void session(void)
{
	struct snapshot begin = before, last;
	struct health_options rules;
	FILE *out;

	end_session();
	begin.time_ns = 1;
	begin.wall = 1e9;
	now.time_ns = 1 + 10000 * MS;
	now.wall = 1e9 + 10;
	last = now;
	t.filter = filter;
	t.origin = (struct session_origin){ "node-1", "6.1", "0.3.0", 0 };
	assert_int_equal(session_add(&t, &begin), 0);
	assert_int_equal(session_add(&t, &last), 0);
	assert_int_equal(session_end(&t), 0);
	health_defaults(&rules);
	t.faults = health_list(&t.last, &rules, t.last.wall, &t.fault_count);
	out = text_begin();
	report_session(out, &t, 0);
	text_end(out);
}

static const char *summary(void)
{
	return not_null(strstr(text, "\nSummary\n"));
}

/* The source mountstats measures one phase, and no distribution. */
TEST(what_is_unknown_is_not_reported)
{
	struct rpc_op *o = snapshot_op(&now.calls, "nas-1", "READ");

	now.calls.source = RPC_SOURCE_MOUNTSTATS;
	now.calls.unknown = RPC_ALL_FACTS & ~RPC_FACT_BIT(RPC_FACT_PHASE + RPC_PHASE_RTT);
	assert_non_null(o);
	assert_non_null(snapshot_server(&now.calls, "nas-1"));
	o->total.bucket[TIME_OVERFLOW] = o->phase[RPC_PHASE_RTT].bucket[TIME_OVERFLOW] = 1000;
	o->total.sum_ns = 4000 * MS;
	o->phase[RPC_PHASE_RTT].sum_ns = 1000 * MS;
	session();
	assert_has(text, "READ            1000     0.0 4.00 ms       -       -       - rtt 25\n");
	assert_has(summary(), "- Time by phase of nas-1: 25 % rtt.\n");
	assert_lacks(text, "upper bounds of buckets");
	assert_lacks(text, ">275");
}

TEST(slow_calls_show_whose_they_were)
{
	struct slow_call *c, slow = { .server = "nas-1",
				      .op = "READ",
				      .mount = "/data",
				      .owner = "slurm:4711",
				      .comm = "train",
				      .pid = 42,
				      .time = 1e9 + 3,
				      .total_ns = 2000 * MS };

	slow.phase_ns[RPC_PHASE_RTT] = 1500 * MS;
	slow.phase_ns[RPC_PHASE_SLOT] = 500 * MS;
	add_calls_of_4_ms(&now, "nas-1", "READ", 1000, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	*ARRAY_APPEND(now.calls.slow, now.calls.slow_count) = slow;
	c = ARRAY_APPEND(now.calls.slow, now.calls.slow_count);
	*c = slow;
	c->total_ns = 4000 * MS;
	strcpy(c->op, "WRITE");
	*c->comm = 0;
	session();
	assert_has(text, "\nSlowest calls: 2 of 2\n");
	assert_has(text, " 2.00 s READ         train 42                 rtt 75 slot 25\n"
			 "         nas-1, /data, slurm:4711\n");
	assert_has(text, " 4.00 s WRITE        (ended) 42               rtt");
	assert_true(strstr(text, " 4.00 s WRITE") < strstr(text, " 2.00 s READ"));
	strcpy(c->mount, "/other");
	snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas-1",
							.export = "/export",
							.mountpoint = "/data" });
	filter = (struct session_filter){ .mount = "/data" };
	session();
	assert_int_equal(t.slow_count, 1);
	filter = (struct session_filter){ .slower = 2.5 };
	session();
	assert_int_equal(t.slow_count, 1);
}

TEST(files_show_whose_they_were_and_the_rest)
{
	struct file_calls file = { .server = "nas-1",
				   .mount = "/data",
				   .path = "/a\n/b",
				   .op = "READ",
				   .owner = "slurm:4711",
				   .comm = "train",
				   .pid = 42,
				   .files = 1,
				   .calls = 700,
				   .bytes = 3500000,
				   .total_ns = 2800 * MS };

	add_calls_of_4_ms(&now, "nas-1", "READ", 1000, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	add_calls_of_4_ms(&now, "nas-1", "GETATTR", 10, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	session();
	assert_lacks(text, "Files");
	*ARRAY_APPEND(now.calls.files, now.calls.file_count) = file;
	file.directory = true;
	file.files = 12;
	*file.path = 0;
	*ARRAY_APPEND(now.calls.files, now.calls.file_count) = file;
	session();
	assert_has_all(
		text, "\nFiles\n",
		"\nREAD              700       3.5  2.80 s train 42, slurm:4711\n    /data/a\\x0a/b\n"
		"others            300    1046.1  1.20 s",
		"\nDirectories\n",
		"\nREAD              700       3.5  2.80 s 12 files, train 42, slurm:4711\n"
		"    /data, no name\nothers            310    1056.6  1.24 s");
	strcpy(now.calls.files[1].path, ".../b");
	session();
	assert_has_all(text, "\n    /data:.../b\n");
	filter = (struct session_filter){ .mount = "/other" };
	session();
	assert_lacks(text, "Directories");
}

/* With one owner, or one mount, the table of both would repeat another. */
TEST(owners_by_mount_are_shown_if_there_are_two_of_each)
{
	static const char *const pairs[][2] = { { "slurm:1", "/a" },
						{ "slurm:1", "/b" },
						{ "slurm:2", "/b" } };

	add_calls_of_4_ms(&now, "nas-1", "READ", 10, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct calls_by *c =
			ARRAY_APPEND(now.calls.owner_mounts, now.calls.owner_mount_count);

		*c = (struct calls_by){ .server = "nas-1", .sums.calls[RPC_KIND_READ] = 3 };
		strcpy(c->owner, pairs[i][0]);
		strcpy(c->mountpoint, pairs[i][1]);
		session();
		if (i < 2)
			assert_lacks(text, "\nCalls of each owner on each mount of nas-1");
		else
			assert_has_all(text, "\nCalls of each owner on each mount of nas-1",
				       "\nslurm:2, /b ");
	}
}

/* The names of all that comes from outside are one line each. */
TEST(names_are_escaped)
{
	struct rpc_transport_state *t;

	add_calls_of_4_ms(&now, "nas\n- fine\x1b[2J", "READ\xc2\x9b", 10, RPC_PHASE_RTT,
			  RPC_PHASE_SLOT);
	t = snapshot_transport(&now.calls, "nas\n- fine\x1b[2J", "tcp\x7f\xe2\x80\xae");
	t->oldest_ns = 9000 * MS; /* it is stuck */
	strcpy(t->remote.address, "10.0.0.1");
	session();
	assert_has_all(text, "\nCalls to nas\\x0a- fine\\x1b[2J, ", "\nREAD\\xc2\\x9b ",
		       "\n- nas\\x0a- fine\\x1b[2J: 10 NFS calls",
		       " connection to nas\\x0a- fine\\x1b[2J: tcp\\x7f\\xe2\\x80\\xae, ");
}

/* Servers with nothing to say would hide what follows. */
TEST(idle_servers_beyond_three_are_counted)
{
	for (int v = 0; v < 8; v++)
		add_calls_of_4_ms(&now, formatted("nas-%d", v), "READ", 1, RPC_PHASE_RTT,
				  RPC_PHASE_SLOT);
	session();
	assert_has_all(summary(), "- nas-2: idle 100 % of the time; NFS does not limit.\n",
		       "\n- and servers that NFS does not limit: 5\n",
		       "- nas-7: 1 NFS call in 10 s (0.10/s), mean 4.00 ms");
	assert_lacks(summary(), "- nas-3: idle");
}

TEST(what_may_not_help_is_named_without_a_value)
{
	struct rpc_transport_state *t;

	add_calls_of_4_ms(&now, "nas-1", "READ", 20000, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	t = not_null(snapshot_transport(&now.calls, "nas-1", "tcp/0"));
	t->alive = true;
	t->slots_max = 2;
	session();
	assert_has(summary(), "- nas-1: bound by slot, confidence low. ");
	assert_has(
		summary(),
		"- nas-1: whether a larger sunrpc.tcp_max_slot_table_entries helps is not known: "
		"measure longer first. Throughput: at most 4.0 times.\n");
	assert_lacks(summary(), ": set ");
}

static struct rpc_transport_state *add_connection(const char *name, uint32_t port, uint64_t replies,
						  uint64_t each_ms)
{
	struct rpc_transport_state *t = not_null(snapshot_transport(&now.calls, "nas-1", name));

	t->remote = (struct endpoint){ "10.0.0.1", 2049 };
	t->local = (struct endpoint){ "10.0.0.2", port };
	t->replies = replies;
	t->rtt_ns = replies * each_ms * MS;
	return t;
}

TEST(the_summary_names_slow_and_stuck_connections)
{
	struct rpc_transport_state *stuck;

	add_calls_of_4_ms(&now, "nas-1", "READ", 2020, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	add_connection("tcp/0", 801, 1000, 40);
	session();
	assert_lacks(text, "connection");
	add_connection("tcp/1", 802, 990, 41);
	add_connection("tcp/2", 803, 20, 2000);
	session();
	assert_lacks(summary(), "equal parts"); /* they may be of several mounts */
	strcpy(snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas-1" })
		       ->options[NFS_NCONNECT],
	       "3");
	session();
	assert_has_all(summary(),
		       "- nas-1 has 3 connections: each had 1.0 % to 49.8 % of its calls, "
		       "where equal parts are 33.3 %.\n",
		       "- Slow connection to nas-1: tcp/2, 10.0.0.2:803 to 10.0.0.1:2049: "
		       "2.00 s to a reply, on the median connection 41.0 ms; 1.0 % of "
		       "the server's calls.\n");
	assert_lacks(summary(), "802");
	stuck = add_connection("tcp/3", 0, 0, 0);
	stuck->local.address[0] = 0;
	stuck->oldest_ns = 12000 * MS;
	stuck->slots_in_flight = 7;
	session();
	assert_has(summary(), "- Stuck connection to nas-1: tcp/3, not connected to 10.0.0.1:2049: "
			      "7 calls unanswered, the oldest for 12.0 s.\n");
}

/* A server that has stopped: each of its connections is stuck. */
TEST(many_bad_connections_are_summed_up)
{
	add_calls_of_4_ms(&now, "nas-1", "READ", 0, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	for (uint32_t i = 0; i < 16; i++)
		add_connection(formatted("tcp/%u", i), 800 + i, 0, 0)->oldest_ns = 9000 * MS;
	session();
	assert_has(summary(), "- Stuck connection to nas-1: tcp/");
	assert_has(summary(), "- 12 more of its 16 connections are slow or stuck.\n");
	assert_lacks(summary(), "equal parts");
}

#define BEGIN 1e9 /* of the session */

static void add_fault(struct snapshot *to, const struct fault *like, double time, uint64_t count)
{
	struct fault *f = not_null(snapshot_fault(&to->faults, like));

	f->count += count;
	f->first = f->first > 0 ? f->first : time;
	f->last = time;
}

TEST(the_summary_names_the_failed_gpu_and_what_to_do)
{
	const struct fault xid = {
		.device = "0000:c1:00.0", .code = 79, .severity = "fatal", .action = "restart_bm"
	};
	const struct fault sxid = {
		.device = "0000:05:00.0", .code = 20034, .nvswitch = true, .severity = "fatal"
	};
	struct kernel_event *error;

	now.faults.gpu_watched = true;
	add_fault(&now, &xid, BEGIN + 2, 1);
	add_fault(&now, &sxid, BEGIN + 1, 2);
	error = snapshot_kernel_event(&now.faults, true, "none_initialized", "");
	error->count = 1;
	error->last = BEGIN + 3;
	session();
	assert_has(
		summary(),
		"- none_initialized on the driver: open, 1 report, last 2001-09-09 01:46:43 +0000: "
		"the driver takes no GPU. Drain the node and restart it; if the error returns, replace the GPU.\n"
		"- Xid 79 on GPU 0000:c1:00.0: open, fatal, 1 report, last 2001-09-09 01:46:42 +0000: GPU no "
		"longer answers on the PCIe bus. Drain the node and restart it; if the error returns, replace the GPU.\n"
		"- SXid 20034 on NVSwitch 0000:05:00.0: open, fatal, 2 reports, last 2001-09-09 01:46:41 +0000: "
		"HW_DLPL_LTSSM_FAULT_UP. Drain the node and reset the GPU.\n- No NFS call ended.\n");
	assert_has(text, ": SXid 20034 (fatal) HW_DLPL_LTSSM_FAULT_UP, 2 times\n");
	assert_lacks(text, "No GPU");
}

TEST(an_empty_session_is_reported_as_such)
{
	now.faults.gpu_watched = true;
	session();
	assert_string_equal(
		text, "\nSummary\n- All is well: no open fault of a GPU, and no NFS call ended.\n"
		      "- No NFS call ended.\n"
		      "- From 2001-09-09 01:46:40 +0000, for 10 s, on node-1: Linux 6.1, "
		      "xidscope 0.3.0.\n"
		      "- No GPU reported a fault during this session; 0 open since "
		      "boot (from the kernel log).\n");
	now.faults.gpu_watched = false;
	session();
	assert_has_all(
		text,
		"\nSummary\n- Nothing is known to be wrong, but faults of GPUs were not observed; "
		"no NFS call ended.\n- No NFS call ended.\n- From ",
		".\n- GPU faults not observed.\n");
}

/* A ticket has a part of each: of many faults and servers none fills it. */
TEST(markdown_has_room_for_each)
{
	struct fault xid = { .code = 79, .severity = "fatal" };
	size_t lines = 0;
	FILE *out;

	now.faults.gpu_watched = true;
	for (int i = 0; i < 100; i++) {
		snprintf(xid.device, sizeof(xid.device), "0000:%02x:00.0", i);
		add_fault(&now, &xid, BEGIN + 2, 1);
	}
	for (int i = 0; i < 30; i++) {
		const char *server = formatted(i ? "nas-%d" : "%d. $a$ <b>", i);

		add_calls_of_4_ms(&now, server, "READ", 20000, RPC_PHASE_SLOT, RPC_PHASE_RTT);
		snapshot_transport(&now.calls, server, "tcp/0")->slots_max = 2;
		snapshot_transport(&now.calls, server, "tcp/0")->alive = true;
	}
	session();
	out = text_begin();
	report_markdown(out, &t);
	text_end(out);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_in_range(lines, 40, MARKDOWN_LINES);
	assert_has_all(text, "**Xid 79 on GPU 0000:", "\n- nas-1: bound by slot, confidence low. ",
		       "\n- and 111 more\n- From 2001-09-09 ",
		       " on node-1: Linux 6.1, xidscope 0.3.0.\n", "\n- 0\\. \\$a\\$ \\<b\\>: ");
}

TEST(what_came_before_is_not_of_the_session)
{
	const struct fault old = { .device = "0000:c1:00.0", .code = 79, .severity = "fatal" };
	const struct fault both = { .device = "0000:c1:00.0", .code = 31, .severity = "info" };
	const struct fault new = { .device = "0000:c2:00.0", .code = 31, .severity = "info" };

	now.faults.gpu_watched = true;
	for (size_t i = 0; i < 2; i++) {
		struct snapshot *to = i ? &now : &before;

		add_fault(to, &old, BEGIN - 9, 2);
		add_fault(to, &both, BEGIN - 9, 3);
		add_calls_of_4_ms(to, "nas-1", "READ", 1000, RPC_PHASE_SLOT, RPC_PHASE_RTT);
		snapshot_transport(&to->calls, "nas-1", "tcp/0")->saturated_ns[0] = 7000 * MS;
	}
	session();
	assert_has(
		text,
		"\nSummary\n- Xid 79 on GPU 0000:c1:00.0: open, fatal, 2 reports, last 2001-09-09 01:46:31 +0000: ");
	assert_has_all(
		text, "\n- No NFS call ended.\n",
		"\n- No GPU reported a fault during this session; 1 open since boot (from the kernel log).\n");
	assert_lacks(text, "Xid 31");
	add_fault(&now, &both, BEGIN + 1, 2);
	add_fault(&now, &new, BEGIN + 2, 1);
	add_calls_of_4_ms(&now, "nas-1", "READ", 50, RPC_PHASE_RTT, RPC_PHASE_SLOT);
	session();
	assert_has_all(text, "\nREAD              50 ",
		       "- Time by phase of nas-1: 75 % rtt, 25 % slot.\n",
		       "- Xid 31 on GPU 0000:c1:00.0: harmless, info, 5 reports, ",
		       "- Xid 31 on GPU 0000:c2:00.0: harmless, info, 1 report, ", "- Xid 79 ");
	assert_lacks(text, "Transport");
	assert_lacks(text, "No GPU");
}

TEST(one_line_has_why_nfs_is_not_observed)
{
	strcpy(now.calls.rpc_missing, "sunrpc is not loaded");
	now.faults.gpu_watched = true;
	snapshot_hook(&now.self, "xprt_transmit", false);
	snapshot_hook(&now.self, "rpc_exit_task", false);
	now.self.rpc_hook_count = now.self.hook_count;
	snapshot_hook(&now.self, "printk_console", false);
	session();
	assert_has(
		text,
		"\nSummary\n- Nothing is known to be wrong: no open fault of a GPU, but NFS was not "
		"observed.\n- NFS not observed: sunrpc is not loaded.\n- From ");
	assert_lacks(text, "rpc_exit_task");
	assert_has(summary(), "- Not observed: hook printk_console is not attached.\n");
	add_calls_of_4_ms(&now, "nas-1", "READ", 1000, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	session();
	assert_has(text, "- NFS not observed at the end of the session: sunrpc is not loaded.\n");
}

TEST(an_event_says_what_it_is)
{
	snapshot_kernel_event(&now.faults, false, "forged_xid", "")->count = 1;
	snapshot_kernel_event(&now.faults, false, "link_down", "0000:5d:00.0")->count = 1;
	session();
	assert_has_all(text,
		       " forged_xid (a process wrote an Xid to the kernel log; not counted)\n",
		       " link_down 0000:5d:00.0\n");
}

TEST(losses_and_missing_hooks_are_reported)
{
	now.calls.source = RPC_SOURCE_BTF;
	snapshot_drop(&now.self, "rpc_waiter", 0);
	snapshot_drop(&now.self, "rpc_series", 7);
	snapshot_hook(&now.self, "xprt_transmit", true);
	snapshot_hook(&now.self, "rpc_exit_task", false);
	now.self.rpc_hook_count = now.self.hook_count;
	session();
	assert_has(summary(), "- Incomplete: 7 records lost (rpc_series).\n");
	assert_lacks(text, "rpc_waiter");
	assert_has(summary(), "- Not observed: hook rpc_exit_task is not attached.\n");
	assert_lacks(text, "xprt_transmit");
}
