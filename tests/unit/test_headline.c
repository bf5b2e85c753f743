// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the first sentence is the gravest thing: GPU, silent server, failing calls, limit, all is well; in the report,
 * in JSON and in the order of the servers. */
#include "health/health.h"
#include "limits/sums.h"
#include "printed.h"
#include "sinks/report.h"
#include "snapshot.h"

static struct session t;

BEFORE_EACH()
{
	t = (struct session){ .keep_intervals = true };
	now.time_ns = 1;
	now.wall = 1e9;
	now.faults.gpu_watched = true;
}

AFTER_EACH()
{
	session_free(&t);
}

/* The calls of a second: a snapshot of @now is added to the session. */
static void end_second(void)
{
	struct snapshot copy = {};

	assert_int_equal(snapshot_copy(&copy, &now), 0);
	assert_int_equal(session_add(&t, &copy), 0);
	now.time_ns += 1000 * MS;
	now.wall += 1;
}

static void call(const char *server, uint64_t calls)
{
	struct rpc_transport_state *c;

	if (!calls)
		return;
	add_calls_of_4_ms(&now, server, "READ", calls, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	c = snapshot_transport(&now.calls, server, "tcp/0");
	c->alive = true;
	c->replies += calls;
	snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas-2",
							.export = "/ckpt",
							.mountpoint = "/mnt/ckpt" });
}

/* For so many seconds nas-1 has a burst and nas-2 a few calls. */
static void serve(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		call("nas-1", 2000);
		call("nas-2", 300);
		end_second();
	}
}

/* For so many seconds one call to nas-2 has no answer; the number of the others in each second. */
static void leave_one_call(int seconds, uint64_t others)
{
	for (int i = 1; i <= seconds; i++) {
		call("nas-1", 2000);
		call("nas-2", others);
		snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] =
			(uint64_t)i * 1000 * MS;
		end_second();
	}
}

static void silence(int seconds)
{
	leave_one_call(seconds, 0);
}

static void answer(void)
{
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	serve(4);
}

static void end_with_error(const char *status, uint64_t calls)
{
	call("nas-1", 1000);
	add_calls_of_4_ms(&now, "nas-2", "WRITE", calls, RPC_PHASE_RTT, RPC_PHASE_SLOT);
	snapshot_error(&now.calls, "nas-2", "WRITE", status)->count += calls;
	end_second();
}

static void lose_gpu(unsigned int code, const char *severity)
{
	struct fault *f = snapshot_fault(&now.faults,
					 &(struct fault){ .device = "0000:c1:00.0", .code = code });

	strcpy(f->severity, severity);
	f->count = 1;
	f->first = f->last = now.wall;
}

/* Ends the session. The first line of the report and JSON's headline are the same, and this. */
static void ends_with(const char *first)
{
	struct health_options rules;
	struct headline h;
	char line[sizeof(h.items[0].text)];

	assert_int_equal(session_end(&t), 0);
	health_defaults(&rules);
	t.faults = health_list(&t.last, &rules, t.last.wall, &t.fault_count);
	session_headline(&t, &h);
	assert_has(h.items[0].text, first);
	snprintf(line, sizeof(line), "%s", h.items[0].text);
	FILE *out = text_begin();
	report_session(out, &t, 0);
	text_end(out);
	assert_has(text, formatted("\nSummary\n- %s\n", line));
	out = text_begin();
	session_json_write(out, &t);
	text_end(out);
	assert_has(text, formatted("\"headline\":\"%s\"", line));
}

TEST(a_lost_gpu_comes_before_an_outage_and_a_burst)
{
	serve(5);
	silence(9);
	answer();
	lose_gpu(79, "fatal");
	serve(3);
	ends_with("Xid 79 on GPU 0000:c1:00.0: open, fatal, ");
	assert_true(strstr(text, "nas-2 (/mnt/ckpt) did not answer for 9") <
		    strstr(text, "nas-1: bound by"));
	assert_has(
		text,
		"\"kind\":\"silent\",\"subject\":\"nas-2\",\"text\":\"nas-2 (/mnt/ckpt) did not answer for ");
	/* The sick server comes first. */
	assert_true(strstr(text, "\"name\":\"nas-2\"") < strstr(text, "\"name\":\"nas-1\""));
}

TEST(a_mkdir_beyond_a_quota_loses_no_data_and_hides_no_limit)
{
	serve(3);
	add_calls_of_4_ms(&now, "nas-1", "MKDIR", 1, RPC_PHASE_RTT, RPC_PHASE_SLOT);
	snapshot_error(&now.calls, "nas-1", "MKDIR", "NFS4ERR_DQUOT")->count++;
	serve(3);
	ends_with("1 of 1 MKDIR ends with ");
	assert_has(text, "\"level\":\"warning\",\"kind\":\"errors\"");
	assert_null(strstr(text, "\"bound_by\":\"errors\""));
}

static void note_event(const char *kind, const char *device)
{
	struct kernel_event *v = snapshot_kernel_event(&now.faults, false, kind, device);

	v->count = 1;
	v->last = now.wall;
}

TEST(trouble_of_the_kernel_is_not_all_is_well)
{
	static const struct {
		const char *kind, *device, *said, *level;
	} rows[] = {
		{ "pcie_dpc", "0000:c1:00.0", " of 0000:c1:00.0. Drain the node", "critical" },
		{ "apei_fatal", "", " that the firmware reports). See the kernel log.", "warning" },
		{ "kernel_corruption", "slab", "_corruption of slab. Drain the node", "warning" },
		{ "rcu_stall", "cpu3", " of cpu3. See the kernel log.", "warning" },
		{ "nfs_not_responding", "nas-1", " of nas-1. See the kernel log.", "warning" },
		{ "lockd_not_responding", "nas-1", " of nas-1. See the kernel log.", "warning" },
		{ "rpc_callback_failed", "", "callback_failed. See the kernel log.", "warning" },
		{ "kernel_oops", "xfs", "kernel_oops of xfs. Drain the node", "warning" },
		{ "kernel_oops", "nfs", "kernel_oops of nfs. Drain the node and restart it.",
		  "critical" },
		{ "nfs_state_lost", "nas-1", "nas-1: open files or locks were lost.", "critical" },
		/* What shows in the calls, and what is no trouble. */
		{ "nfs_ok", "nas-1", "All is well", "ok" },
		{ "edac_corrected", "mc0", "All is well", "ok" },
		{ "link_up", "eth0", "All is well", "ok" },
	};

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		end_second();
		note_event(row->kind, row->device);
		end_second();
		ends_with(row->said);
		assert_has(text, formatted("[\n{\"level\":\"%s\"", row->level));
	}
}

/* The servers' items say it better, and a server that answers again is no trouble. */
TEST(a_line_about_a_server_is_left_out_if_it_adds_nothing)
{
	end_second();
	note_event("nfs_not_responding", "nas-1");
	note_event("lockd_not_responding", "nas-3");
	now.wall++;
	note_event("nfs_ok", "nas-1");
	note_event("nfs_not_responding", "nas-2");
	silence(9);
	ends_with("nas-2 does not answer for ");
	assert_lacks(text, "nfs_not_responding of ");
	assert_has(text, "lockd_not_responding of nas-3. See the kernel log.");
}

/* Others' calls went on. */
TEST(waits_of_tasks_that_are_over_are_named)
{
	for (int what = 0; what < 2; what++) {
		fresh();
		for (int i = 1; i <= 200; i++) {
			struct rpc_server_state *v = snapshot_server(&now.calls, "nas-2");

			call("nas-2", 3);
			if (what)
				v->draining_ns += i <= 41 ? SECOND : 0;
			else
				v->upcall_ns = i <= 40 ? (uint64_t)i * SECOND : 0;
			end_second();
		}
		ends_with(what ? "nas-2: calls waited for 40 s until the client had recovered its "
				 "state" :
				 "nas-2: A task waited for 40 s for credentials, ");
		assert_has(text, "\"level\":\"warning\"");
	}
}

TEST(a_call_that_waits_now_comes_before_what_was_lost_before)
{
	for (int i = 0; i < 5; i++)
		end_with_error("ENOSPC", 100);
	serve(60);
	leave_one_call(70, 100);
	ends_with("nas-2 (/mnt/ckpt) answers other calls, but the oldest has waited for 70 s");
	assert_has(text, "\"level\":\"critical\",\"kind\":\"silent\"");
}

TEST(a_silence_names_the_mount_of_the_oldest_call)
{
	struct calls_by *o;

	snapshot_mount(
		&now.calls,
		&(struct nfs_mount){ .server = "nas-2", .export = "/home", .mountpoint = "/home" });
	call("nas-2", 3);
	o = snapshot_owner_calls(&now.calls, "nas-2", "slurm:3");
	o->oldest_ns = 9;
	table_get(TABLE_OWNER_MOUNTS, &now.calls,
		  (const void *[]){ "nas-2", "/ckpt", "/mnt/ckpt", "slurm:3" });
	silence(7);
	assert_has(calls_victims((char[VICTIMS_TEXT]){}, &now.calls, "nas-2", false),
		   " (/mnt/ckpt and 1 more; oldest call of slurm:3)");
}

TEST(a_server_whose_tasks_wait_although_no_call_is_made_is_not_well)
{
	for (int what = 0; what < 3; what++) {
		fresh();
		for (int i = 1; i <= 20; i++) {
			struct rpc_server_state *v = snapshot_server(&now.calls, "nas-2");

			*(what == 0 ? &v->upcall_ns :
			  what == 1 ? &v->lock_wait_ns :
				      &v->draining_now_ns) = (uint64_t)i * SECOND;
			end_second();
		}
		ends_with(what == 0 ?
				  "nas-2: bound by credentials, confidence high. A task waited" :
			  what == 1 ? "nas-2: A task waited for 20 s for the server's lock" :
				      "nas-2: bound by state_recovery, ");
	}
}

TEST(an_idle_server_is_not_fine_beside_its_outage)
{
	for (int i = 0; i < 60; i++) {
		call("nas-2", 2);
		end_second();
	}
	silence(9);
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	for (int i = 0; i < 60; i++) {
		call("nas-2", 2);
		end_second();
	}
	ends_with("nas-2 (/mnt/ckpt) did not answer for 10");
	assert_lacks(text, "\"text\":\"nas-2: idle");
	assert_has(text, "\"Apart from that, idle 9");
}

TEST(lost_locks_come_before_the_outage_in_which_they_were_lost)
{
	serve(5);
	silence(9);
	answer();
	note_event("nfs_state_lost", "nas-2");
	serve(1);
	ends_with("nas-2: open files or locks were lost. Jobs that use them may have wrong data");
	assert_has(text, "nas-2 (/mnt/ckpt) did not answer for 10");
	fresh();
	serve(5);
	silence(9);
	answer();
	add_calls_of_4_ms(&now, "nas-2", "LOCK", 1, RPC_PHASE_RTT, RPC_PHASE_SLOT);
	snapshot_error(&now.calls, "nas-2", "LOCK", "NFS4ERR_RECLAIM_CONFLICT")->count++;
	serve(3);
	ends_with("nas-2: 1 of 1 LOCK ends with NFS4ERR_RECLAIM_CONFLICT (since ");
	assert_has(text, "nas-2 (/mnt/ckpt) did not answer for 10");
}

static void unmount(void)
{
	calls_remove_server(&now.calls, "nas-2");
	for (int i = 0; i < 40; i++) {
		call("nas-1", 20);
		end_second();
	}
}

TEST(what_failed_before_its_mount_was_unmounted_is_over)
{
	serve(3);
	end_with_error("EIO", 9);
	serve(1);
	unmount();
	ends_with("nas-2: 9 of 9 WRITEs ended with EIO, data were not written (from ");
}

TEST(a_silence_ends_when_the_mount_is_unmounted)
{
	silence(12);
	unmount();
	ends_with("nas-2 (/mnt/ckpt) did not answer for 13.0 s, from ");
	assert_lacks(text, "nas-2 answers again");
	assert_lacks(text, "nas-2 does not answer");
}

TEST(a_server_that_is_silent_comes_first_with_its_mounts)
{
	serve(5);
	lose_gpu(31, "info");
	silence(12);
	ends_with("nas-2 does not answer for 12 s, since ");
	assert_has(text, " (/mnt/ckpt)");
	assert_lacks(text, "nas-2: bound by");
}

TEST(a_silence_names_the_oldest_call)
{
	static const struct {
		const char *op, *comm, *owner;
		uint32_t process;
		const char *said;
	} rows[] = {
		{ "ACCESS", "ls", "slurm:4712", 812,
		  "(/mnt/ckpt; oldest call: ACCESS of ls 812, slurm:4712). Look" },
		{ "ACCESS", "", "", 812, "(/mnt/ckpt; oldest call: ACCESS of process 812). Look" },
		{ "", "", "slurm:4712", 812, "(/mnt/ckpt; oldest call of slurm:4712). Look" },
		{ "ACCESS", "", "slurm:4712", 0,
		  "(/mnt/ckpt; oldest call: ACCESS of slurm:4712). Look" },
		{ "ACCESS", "", "", 0, "(/mnt/ckpt; oldest call: ACCESS). Look" },
	};

	ARRAY_EACH(row, rows, COUNT(rows)) {
		struct rpc_server_state *v;

		fresh();
		call("nas-2", 300);
		v = snapshot_server(&now.calls, "nas-2");
		strcpy(v->oldest_op, row->op);
		strcpy(v->oldest_comm, row->comm);
		v->oldest_pid = row->process;
		if (*row->owner)
			snapshot_owner_calls(&now.calls, "nas-2", row->owner)->oldest_ns = 9;
		silence(12);
		ends_with("nas-2 does not answer for 12 s, since ");
		assert_has(text, row->said);
	}
}

TEST(the_longest_of_several_outages_is_named)
{
	serve(5);
	silence(20);
	answer();
	silence(7);
	answer();
	ends_with("nas-2 (/mnt/ckpt) did not answer for 21.0 s, from ");
	assert_has(text, ", the longest of 2 such times. ");
}

TEST(locks_that_are_not_given_are_named_though_no_call_fails)
{
	end_second();
	snapshot_server(&now.calls, "nas-2")->lock_calls = 9;
	snapshot_server(&now.calls, "nas-2")->lock_errors = 9;
	end_second();
	ends_with("nas-2: 9 of 9 lock calls end with an error (since ");
}

/* Has nas-2 wait for so long, nas-1 for less, and nas-3 answer after more. */
TEST(the_longest_of_the_outages_that_last_comes_first)
{
	static const char *const servers[] = { "nas-1", "nas-2", "nas-3" };
	static const int seconds[] = { 8, 15, 25 };

	serve(3);
	for (int i = 1; i <= 30; i++) {
		for (int v = 0; v < 3; v++) {
			int since = i - (v < 2 ? 30 - seconds[v] : 0);

			snapshot_server(&now.calls, servers[v])->oldest_ns[RPC_QUEUE_PENDING] =
				since > 0 && (v < 2 || i <= 25) ? (uint64_t)since * SECOND : 0;
			if (since <= 0 || (v == 2 && i > 25))
				call(servers[v], 100);
		}
		end_second();
	}
	ends_with("nas-2 does not answer for 15 s, ");
	assert_true(strstr(text, "nas-1 does not answer for 8 s") < strstr(text, "nas-3 "));
}

/* Others are of other mounts, and have other calls; after a stall a few calls make the difference, and so does a long one. */
TEST(a_slow_connection_of_several_comes_before_the_limit)
{
	static const struct {
		const char *nconnect;
		uint64_t slow_ms;
		uint64_t long_ms; /* of one call to it; 0: there is none */
		bool stall, said;
	} rows[] = { { "4", 21, 0, false, true },     { "4", 20, 0, false, false },
		     { "8", 90, 0, false, false },    { "4", 90, 0, true, false },
		     { "4", 4, 12000, false, false }, { "4", 90, 12000, false, true } };

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		for (int i = 0; i < 6; i++) {
			call("nas-2", 400);
			for (int c = 0; c < 4; c++) {
				struct rpc_transport_state *t = snapshot_transport(
					&now.calls, "nas-2", formatted("tcp/%d", c));

				strcpy(t->remote.address, "10.0.0.1");
				t->alive = true;
				t->replies += c ? 100 : 0;
				t->rtt_ns += c == 3 ? 100 * row->slow_ms * MS : 400 * MS;
			}
			if (row->long_ms && i == 2) {
				snapshot_transport(&now.calls, "nas-2", "tcp/3")->rtt_ns +=
					row->long_ms * MS;
				histogram_record(&snapshot_op(&now.calls, "nas-2", "COMMIT")->total,
						 1, row->long_ms * MS);
			}
			strcpy(now.calls.mounts[0].options[NFS_NCONNECT], row->nconnect);
			end_second();
			if (row->stall && i == 2) {
				silence(9);
				answer();
			}
		}
		assert_int_equal(session_end(&t), 0);
		FILE *out = text_begin();
		report_session(out, &t, 0);
		text_end(out);
		assert_int_equal(
			!!strstr(text, "Summary\n- nas-2: tcp/3, one of 4 connections, is slow: "),
			row->said);
	}
}

/* It would hide what is wrong now. */
TEST(what_is_over_for_minutes_is_not_first_in_the_view_of_the_present)
{
	struct headline h;

	t.recent = true;
	serve(5);
	silence(20);
	answer();
	session_headline(&t, &h);
	assert_int_equal(h.items[0].rank.kind, HEADLINE_SILENT);
	serve(130);
	session_headline(&t, &h);
	assert_int_not_equal(h.items[0].rank.kind, HEADLINE_SILENT);
	silence(9); /* across the begin of a minute or not */
	session_headline(&t, &h);
	assert_int_equal(h.items[0].rank.level, HEADLINE_FAIL);
}

/* Another mount's job may wait as well. */
TEST(the_mount_of_one_call_is_named_only_if_it_is_known)
{
	static const char *const said[] = {
		"nas-2 (one of 2 mounts) answers other calls, but ",
		"nas-2 (one of 2 mounts; oldest call of slurm:3) answers",
		"nas-2 (/home; oldest call of slurm:3) answers"
	};

	for (size_t known = 0; known < COUNT(said); known++) {
		fresh();
		snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas-2",
								.export = "/home",
								.mountpoint = "/home" });
		if (known)
			snapshot_owner_calls(&now.calls, "nas-2", "slurm:3")->oldest_ns = 9;
		if (known == 2)
			table_get(TABLE_OWNER_MOUNTS, &now.calls,
				  (const void *[]){ "nas-2", "/home", "/home", "slurm:3" });
		leave_one_call(29, 100);
		ends_with(said[known]);
	}
}

/* In an interval of 15 s calls ended, perhaps all of them before the oldest one was sent. */
TEST(calls_before_the_oldest_one_prove_no_answer)
{
	for (int i = 0; i < 3; i++) {
		call("nas-2", 300);
		snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] =
			i == 2 ? 11 * SECOND : 0;
		now.time_ns += 14 * SECOND;
		now.wall += 14;
		end_second();
	}
	ends_with("nas-2 (/mnt/ckpt) has left one call unanswered for 11 s.");
}

TEST(a_clock_that_is_set_changes_no_outage)
{
	static const double steps[] = { -3600, 86400 };

	ARRAY_EACH(step, steps, COUNT(steps)) {
		fresh();
		serve(5);
		silence(9);
		now.wall += *step;
		answer();
		ends_with("nas-2 (/mnt/ckpt) did not answer for 10.0 s, from ");
	}
}

TEST(what_fails_now_comes_before_an_outage_that_is_over)
{
	serve(5);
	silence(9);
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	serve(1);
	for (int i = 0; i < 20; i++) {
		add_calls_of_4_ms(&now, "nas-2", "GETATTR", 500, RPC_PHASE_RTT, RPC_PHASE_SLOT);
		snapshot_error(&now.calls, "nas-2", "GETATTR", "ESTALE")->count += 500;
		end_second();
	}
	ends_with("nas-2: 10000 of 10000 GETATTRs end with ESTALE (since ");
	assert_true(strstr(text, "end with ESTALE") < strstr(text, " did not answer for "));
	assert_has(text, "\"kind\":\"silent\",\"subject\":\"nas-2\"");
}

/* It is silent for seconds whenever another client takes its identity; no restart of the server explains that. */
TEST(a_client_that_registers_again_and_again_comes_before_its_silence)
{
	serve(5);
	silence(9);
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	for (int i = 0; i < 240; i++) {
		call("nas-2", 100);
		if (i % 12 == 11) {
			add_calls_of_4_ms(&now, "nas-2", "EXCHANGE_ID", 1, RPC_PHASE_RTT, 0);
			snapshot_error(&now.calls, "nas-2", "READ", "NFS4ERR_BADSESSION")->count +=
				30;
		}
		end_second();
	}
	ends_with("nas-2: bound by state_recovery, confidence high. This client registered again ");
	assert_has(text, "nas-2 (/mnt/ckpt) did not answer for 10");
}

TEST(what_failed_and_is_over_is_told_so)
{
	serve(5);
	for (int i = 0; i < 5; i++)
		end_with_error("ENOSPC", 400);
	for (int i = 0; i < 31; i++)
		end_with_error("ENOSPC", 0);
	ends_with("nas-2: 2000 of 2000 WRITEs ended with ENOSPC, data were not written (from ");
	assert_has(text, " until ");
	assert_lacks(text, "bound by errors, confidence high");
}

/* For so many seconds an OPEN is answered so every 5 s, while other calls go on. */
static void be_in_grace(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		call("nas-2", 30);
		if (i % 5 == 0) {
			add_calls_of_4_ms(&now, "nas-2", "OPEN", 1, RPC_PHASE_RTT, RPC_PHASE_SLOT);
			snapshot_error(&now.calls, "nas-2", "OPEN", "NFS4ERR_GRACE")->count++;
		}
		end_second();
	}
}

TEST(a_grace_period_of_minutes_is_named)
{
	be_in_grace(190);
	ends_with("nas-2: bound by delay, confidence medium. The server has restarted: calls for ");
	assert_lacks(text, "end with");
	fresh();
	be_in_grace(90);
	serve(70);
	be_in_grace(190); /* after another restart */
	assert_int_equal(session_end(&t), 0);
	assert_null(failures_worst(&server_sums_of(&t.limits, "nas-2")->failures));
	fresh();
	serve(5);
	silence(9);
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
	be_in_grace(250);
	ends_with("nas-2: 50 of 50 OPENs end with NFS4ERR_GRACE (since ");
	assert_has(text, "nas-2 (/mnt/ckpt) did not answer for 1");
	assert_has(text, "nas-2: 50 of 50 OPENs end with NFS4ERR_GRACE (since ");
	assert_has(text, "opens and locks wait; so long a grace period");
	assert_has(text, "\"level\":\"warning\",\"kind\":\"errors\"");
}

TEST(a_limit_of_an_idle_server_is_no_warning)
{
	for (int i = 0; i < 60; i++) {
		if (i % 10 < 3)
			add_calls_of_4_ms(&now, "nas-2", "GETATTR", 300, RPC_PHASE_RTT,
					  RPC_PHASE_FINISH);
		end_second();
	}
	ends_with("nas-2: bound by metadata, confidence low. ");
	assert_has(text, "\"level\":\"ok\",\"kind\":\"limit\"");
	assert_lacks(text, "\"level\":\"warning\"");
}

/* Three connections: a call waits on the second for @oldest seconds, on each other one for @others. */
static void wait_on_connections(uint64_t oldest, uint64_t others)
{
	for (int i = 0; i < 3; i++) {
		struct rpc_transport_state *c =
			snapshot_transport(&now.calls, "nas-2", formatted("tcp/%d", i));

		c->alive = true;
		c->oldest_ns = (i == 1 ? oldest : others) * SECOND;
		c->local = (struct endpoint){ .address = "10.0.0.7", .port = (uint16_t)(870 + i) };
	}
}

TEST(a_server_that_answers_other_calls_is_not_down)
{
	wait_on_connections(29, 6);
	snapshot_transport(&now.calls, "nas-2", "tcp/1")->unacked = 150;
	leave_one_call(29, 100);
	ends_with("on tcp/1 from 10.0.0.7:871: nothing that is sent on it is acknowledged: "
		  "a firewall drops it, or a part of the network is down.");
}

/* Beside it another connection carries replies. */
TEST(the_connection_that_other_calls_passed_by_is_named_afterwards)
{
	wait_on_connections(14, 0);
	for (uint64_t i = 1; i <= 14; i++) {
		call("nas-2", 30);
		snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = i * SECOND;
		end_second();
	}
	wait_on_connections(0, 0);
	answer();
	ends_with("nas-2 (/mnt/ckpt) answered other calls, but one waited for 14 s on tcp/1 from "
		  "10.0.0.7:871, which carried no reply: look at its path through the network.");
}

/* A session in which one connection of three, and @others, have no answer. */
static void be_silent_on(uint64_t others)
{
	serve(5);
	wait_on_connections(9, others);
	snapshot_transport(&now.calls, "nas-2", "tcp/1")->unacked = 150;
	silence(9);
}

TEST(a_silence_on_one_connection_may_be_that_of_the_connection_alone)
{
	be_silent_on(0);
	ends_with(": all calls wait on tcp/1 from 10.0.0.7:871, one of 3 connections: nothing "
		  "that is sent on it is acknowledged: a firewall drops it, or the host or the "
		  "network is down. Look at ");
}

TEST(the_one_connection_of_a_silence_is_named_afterwards)
{
	be_silent_on(0);
	wait_on_connections(0, 0);
	answer();
	ends_with(": all calls waited on tcp/1 from 10.0.0.7:871, one of 3 connections. Look at "
		  "the network to it, and at its log");
}

TEST(a_silence_on_several_connections_is_that_of_the_host)
{
	be_silent_on(8);
	ends_with(
		": nothing that is sent is acknowledged: the host or the network is down. Look at");
}

TEST(the_connection_that_is_closed_again_and_again_comes_before_a_limit)
{
	for (int i = 0; i < 6; i++) {
		snapshot_transport(&now.calls, "nas-2", "tcp/7")->disconnects++;
		serve(3);
	}
	ends_with("nas-2: The server, or a device on the network, closed tcp/7 5 times; "
		  "calls wait until it is reconnected.");
	assert_null(strstr(text, "confidence medium. The server, or a device"));
}

/* One of them took seconds. A long silence has another cause. */
TEST(a_connection_that_is_closed_again_and_again_comes_before_a_short_silence)
{
	for (int seconds = 3; seconds <= 6; seconds += 3) {
		snapshot_transport(&now.calls, "nas-2", "tcp/7");
		serve(3);
		silence(seconds);
		snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 0;
		for (int i = 0; i < 12; i++) {
			snapshot_transport(&now.calls, "nas-2", "tcp/7")->disconnects++;
			snapshot_transport(&now.calls, "nas-2", "tcp/7")->connects++;
			serve(5);
		}
		ends_with(seconds == 3 ? "nas-2: The server, or a device on the network, closed " :
					 "nas-2 (/mnt/ckpt) did not answer for ");
		assert_has(text, "nas-2 (/mnt/ckpt) did not answer for ");
		session_free(&t);
		t = (struct session){ .keep_intervals = true };
	}
}

TEST(one_call_on_a_connection_that_was_lost_is_named_afterwards)
{
	leave_one_call(14, 100);
	snapshot_transport(&now.calls, "nas-2", "tcp/0")->disconnects++;
	answer();
	ends_with("nas-2 (/mnt/ckpt) answered other calls, but one waited for 14 s on a connection "
		  "that was lost: look at the network to the server.");
}

TEST(one_call_that_waited_for_half_a_minute_is_named_afterwards)
{
	leave_one_call(40, 100);
	answer();
	ends_with("nas-2 (/mnt/ckpt) answered other calls, but one waited for 40 s: its own log");
}

TEST(a_few_lost_data_are_one_item)
{
	serve(5);
	add_calls_of_4_ms(&now, "nas-2", "WRITE", 999, RPC_PHASE_RTT, RPC_PHASE_SLOT);
	end_with_error("ENOSPC", 1);
	ends_with("nas-2: 1 of 1000 WRITEs end with ENOSPC");
	assert_has(text, "\"subject\":\"nas-2\",\"text\":\"nas-2: bound by ");
	assert_lacks(strstr(text, "\"kind\":\"errors\"") + 1, "\"kind\":\"errors\"");
}

TEST(a_warning_of_a_gpu_comes_after_a_server_that_is_silent)
{
	serve(5);
	lose_gpu(48, "error");
	silence(9);
	ends_with("nas-2 does not answer for 9 s, since ");
}

TEST(all_is_well_only_where_all_was_looked_at)
{
	end_second();
	now.calls.op_count = 0;
	end_second();
	ends_with("All is well: no open fault of a GPU, and no NFS call ended.");
	fresh();
	now.faults.gpu_watched = false;
	end_second();
	end_second();
	ends_with(
		"Nothing is known to be wrong, but faults of GPUs were not observed; no NFS call ended.");
	fresh();
	strcpy(now.calls.rpc_missing, "sunrpc is not loaded");
	end_second();
	end_second();
	ends_with(
		"Nothing is known to be wrong: no open fault of a GPU, but NFS was not observed.");
}

TEST(one_snapshot_knows_that_gpus_are_watched)
{
	struct headline h;

	end_second();
	session_headline(&t, &h);
	assert_has(h.items[0].text, "All is well: no open fault of a GPU");
}

TEST(all_is_well_names_what_is_acknowledged)
{
	struct known_fault faults[] = {
		{ STANDING_ACKNOWLEDGED, 2, "xid", "79", "0000:c1:00.0", "", "", "", "", 1, 0, 0 },
		{ STANDING_SNOOZED, 2, "sxid", "sxid:20034", "0000:c2:00.0", "", "", "", "", 1, 0,
		  0 },
		{ STANDING_HARMLESS, 0, "xid", "31", "0000:c3:00.0", "", "", "", "", 1, 0, 0 },
	};
	struct headline h = {};

	headline_add_faults(&h, faults, COUNT(faults));
	headline_end(&h, true, &now.calls, true);
	assert_string_equal(h.items[0].text,
			    "All is well: no open fault of a GPU (acknowledged: Xid 79 on "
			    "0000:c1:00.0 and 1 more), and each server that had calls answered.");
	faults[0].standing = STANDING_OPEN;
	h = (struct headline){};
	headline_add_faults(&h, faults, COUNT(faults));
	headline_end(&h, true, &now.calls, true);
	assert_lacks(h.items[0].text, "acknowledged");
}

TEST(a_source_that_sees_no_waits_knows_of_no_silence)
{
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_OLDEST + RPC_QUEUE_PENDING);
	for (int i = 0; i < 2; i++) {
		call("nas-2", 3);
		end_second();
	}
	ends_with(
		"Nothing is known to be wrong: no open fault of a GPU, but this source does not see "
		"calls that wait.");
}

TEST(a_call_that_waits_in_all_of_a_short_session_is_named)
{
	now.time_ns = 1;
	snapshot_server(&now.calls, "nas-2");
	end_second();
	snapshot_server(&now.calls, "nas-2")->oldest_ns[RPC_QUEUE_PENDING] = 4900 * MS;
	end_second();
	ends_with("nas-2: No call ended; the oldest has waited for 5 s at least.");
}

/* More than fit: the gravest stay, and none is lost without a word. */
TEST(what_has_no_room_is_counted)
{
	static struct headline h;

	for (int i = 0; i < 100; i++)
		headline_add(&h, (struct headline_rank){ HEADLINE_WARN, HEADLINE_SILENT, i % 50 },
			     "nas", "%d", i);
	assert_int_equal(h.count, HEADLINE_ITEMS);
	assert_int_equal(h.left_out, 100 - HEADLINE_ITEMS);
	assert_string_equal(h.items[0].text, "49");
	assert_string_equal(h.items[HEADLINE_ITEMS - 1].text, "84");
}
