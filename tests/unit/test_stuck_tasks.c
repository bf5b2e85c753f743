// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which tasks hang in the NFS client, since when, where, and whether an outstanding call explains it; and which wait for
 * a file's lock; from texts as bpf/stuck_tasks.bpf.c writes them. */
#include "unit.h"
#include "nfs/stuck_tasks.c"
#include "snapshot.h"

static struct stuck_tasks t;
static struct stuck_task told[8];
static struct span told_stack;
static char told_mountpoint[8][LABEL_SIZE];
static enum stuck_cause told_cause[8];
static size_t told_count;

BEFORE_EACH()
{
	told_count = 0;
	now.calls.source = RPC_SOURCE_BTF;
	snapshot_server(&now.calls, "nas");
	snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas",
							.export = "/x",
							.mountpoint = "/data",
							.version = "3",
							.device = 52 });
}

AFTER_EACH()
{
	stuck_tasks_free(&t);
}

static void on_stuck(void *context, const struct stuck_task *task, struct span stack,
		     const char *mountpoint, enum stuck_cause cause)
{
	(void)context;
	assert_true(told_count < COUNT(told));
	told[told_count] = *task;
	told_stack = stack;
	told_cause[told_count] = cause;
	strcpy(told_mountpoint[told_count++], mountpoint);
}

/* A look at @seconds, without the kernel. */
static void look(uint64_t seconds, const char *text)
{
	now.time_ns = seconds * SECOND;
	now.calls.stuck_count = 0;
	stuck_tasks_watch(&t, &now);
	if (text) {
		t.handle = on_stuck;
		stuck_tasks_begin(&t);
		stuck_tasks_take(&t, &now, span_of(text));
	}
	stuck_tasks_count(&t, &now);
}

static void assert_stuck(const char *mountpoint, bool rpc, uint32_t tasks, uint64_t seconds)
{
	for (size_t i = 0; i < now.calls.stuck_count; i++) {
		const struct stuck_state *state = &now.calls.stuck[i];
		bool this = state->rpc == rpc && !strcmp(state->mountpoint, mountpoint);

		assert_int_equal(state->tasks, this ? tasks : 0);
		assert_int_equal(state->oldest_ns / SECOND, this ? seconds : 0);
		if (this)
			return;
	}
	fail_msg("there is no state %s %d", mountpoint, rpc);
}

static void assert_none(void)
{
	assert_int_equal(now.calls.stuck_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(now.calls.stuck[i].tasks, 0);
}

#define NUMBERS(asleep) "41 40 1000 7 " asleep "000000000 52 9 0 0\n"
#define LOCK                                       \
	" rwsem_down_write_slowpath+0x2f0/0x500\n" \
	" nfs_start_io_write+0x1a/0x40 [nfs]\n"    \
	" nfs_file_write+0x8f/0x2c0 [nfs]\n"       \
	" vfs_write+0x2a1/0x3b0\n"                 \
	" entry_SYSCALL_64_after_hwframe+0x6e/0xd8\n"
#define CALL                                          \
	" rpc_wait_bit_killable+0x1e/0xb0 [sunrpc]\n" \
	" __rpc_execute+0xf5/0x400 [sunrpc]\n"        \
	" nfs3_proc_getattr+0x5e/0xb0 [nfsv3]\n"

TEST(a_task_that_waits_for_a_lock_is_told_once_with_function_age_and_mount)
{
	look(1000, NUMBERS("59") LOCK);
	assert_none();
	assert_int_equal(told_count, 0);
	look(1002, NUMBERS("61") LOCK);
	assert_stuck("/data", false, 1, 61);
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].pid, 41);
	assert_int_equal(told[0].process, 40);
	assert_int_equal(told[0].since_ns / SECOND, 941);
	assert_string_equal(told[0].function, "nfs_start_io_write");
	assert_string_equal(told_mountpoint[0], "/data");
	assert_int_equal(told_cause[0], STUCK_NO_RPC);
	assert_int_equal(span_left(told_stack), strlen(LOCK));
	look(1100, NUMBERS("159") LOCK);
	assert_stuck("/data", false, 1, 159);
	assert_int_equal(told_count, 1);
	/* Between looks it grows older. */
	look(1110, NULL);
	assert_stuck("/data", false, 1, 169);
	look(1120, "");
	assert_none();
}

/* Others wait while all GPUs start. */
TEST(a_task_that_hangs_in_the_gpu_driver_is_told_at_each_look)
{
	static const char stack[] = " rwsem_down_read_slowpath+0x2f0/0x500\n"
				    " os_acquire_rwlock_read+0x1a/0x40 [nvidia]\n"
				    " uvm_ioctl+0x8f/0x2c0 [nvidia_uvm]\n";

	t.due_ns = 2000 * SECOND;
	look(1000, formatted("41 40 1000 7 119000000000 0 9 0 0\n%s", stack));
	assert_int_equal(told_count, 0);
	assert_int_equal(t.due_ns / SECOND, 1001);
	look(1001, formatted("41 40 1000 7 120000000000 0 9 0 0\n%s", stack));
	look(1040, formatted("41 40 1000 7 159000000000 0 9 0 0\n%s", stack));
	assert_int_equal(told_count, 2);
	assert_false(told[0].told);
	assert_true(told[1].told);
	assert_string_equal(told[1].function, "os_acquire_rwlock_read");
	assert_string_equal(told[1].module, "nvidia");
	assert_int_equal(told[1].since_ns / SECOND, 881);
	assert_none();
	/* GPUDirect Storage: NFS decides. */
	look(1000, formatted("41 40 1000 8 100000000000 52 9 0 0\n%s%s",
			     " nvfs_x+0x1/0x2 [nvidia_fs]\n", LOCK));
	assert_stuck("/data", false, 1, 100);
	assert_string_equal(told[2].function, "nfs_start_io_write");
}

TEST(each_sleep_counts_from_its_own_begin)
{
	look(1000, NUMBERS("100") LOCK);
	assert_int_equal(told_count, 1);
	look(1060, "41 40 1000 8 20000000000 52 9 0 0\n" LOCK);
	assert_none();
	look(1100, "41 40 1000 8 60000000000 52 9 0 0\n" LOCK);
	assert_int_equal(told_count, 2);
}

/* Where the kernel does not show when a task fell asleep. */
TEST(without_a_time_it_is_since_the_first_look)
{
	look(1000, NUMBERS("") LOCK);
	look(1059, NUMBERS("") LOCK);
	assert_none();
	look(1060, NUMBERS("") LOCK);
	assert_stuck("/data", false, 1, 60);
}

TEST(the_next_look_is_when_a_task_may_be_stuck)
{
	t.due_ns = 2000 * SECOND;
	look(1000, NUMBERS("20") LOCK);
	assert_int_equal(t.due_ns / SECOND, 1040);
	t.due_ns = 2000 * SECOND;
	look(1041, NUMBERS("61") LOCK);
	assert_int_equal(t.due_ns / SECOND, 2000);
}

TEST(who_waits_for_a_call_of_his_own_is_explained)
{
	look(1000, NUMBERS("70") CALL);
	assert_stuck("/data", true, 1, 70);
	assert_int_equal(told_cause[0], STUCK_RPC);
	assert_string_equal(told[0].function, "rpc_wait_bit_killable");
}

/* Another's call, which has the lock. */
TEST(a_dead_server_explains_those_who_wait_for_a_lock)
{
	snapshot_server(&now.calls, "nas")->oldest_ns[RPC_QUEUE_PENDING] = 70 * SECOND;
	look(1000, NUMBERS("69") LOCK);
	assert_stuck("/data", true, 1, 69);
	/* It answers again, and the task hangs still: that counts from now on. */
	now.calls.servers[0].oldest_ns[RPC_QUEUE_PENDING] = 0;
	look(1015, NUMBERS("84") LOCK);
	assert_stuck("/data", false, 1, 15);
}

TEST(a_server_that_always_has_calls_explains_it_and_calls_now_and_then_do_not)
{
	struct rpc_transport_state *x = snapshot_transport(&now.calls, "nas", "tcp/0");

	look(1000, NULL); /* idle once */
	x->slots_in_flight = 1;
	for (int i = 1; i <= 3; i++) {
		look(1000 + 15 * i, NUMBERS("61") LOCK);
		assert_stuck("/data", false, 1, i == 1 ? 61 : 61 + 15 * (i - 1));
	}
	look(1060, NULL);
	assert_stuck("/data", true, 1, 106);
	x->slots_in_flight = 0;
	look(1075, NULL);
	assert_stuck("/data", false, 1, 15);
	x->slots_in_flight = 1;
	look(1090, NULL);
	assert_stuck("/data", false, 1, 30);
}

/* Such a call is in no queue. */
TEST(calls_that_wait_for_credentials_explain_it)
{
	for (int i = 0; i < 5; i++) {
		snapshot_server(&now.calls, "nas")->credentials_ns += SECOND;
		look(1000 + 15 * i, i == 4 ? NUMBERS("61") LOCK : NULL);
	}
	assert_stuck("/data", true, 1, 61);
	/* So may calls of which nothing is known. */
	fresh();
	now.calls.unknown = RPC_ALL_FACTS;
	look(1000, NUMBERS("61") LOCK);
	assert_stuck("/data", true, 1, 61);
}

TEST(only_calls_to_its_own_server_explain_it)
{
	snapshot_server(&now.calls, "other")->oldest_ns[RPC_QUEUE_PENDING] = 70 * SECOND;
	snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "other",
							.export = "/x",
							.mountpoint = "/home",
							.device = 53 });
	look(1000, NUMBERS("61") LOCK);
	assert_stuck("/data", false, 1, 61);
	/* Of a task whose mount is not known, any may. */
	look(1001, "41 40 1000 7 61000000000 0 9 0 0\n" LOCK);
	assert_stuck("", true, 1, 62);
}

/* It is a pod's, which has mounts that the node does not see. */
TEST(a_server_that_is_gone_is_forgotten)
{
	snapshot_server(&now.calls, "gone");
	look(10, NULL);
	assert_int_equal(t.server_count, now.calls.server_count);
	calls_remove_server(&now.calls, "gone");
	look(20, NULL);
	assert_int_equal(t.server_count, now.calls.server_count);
}

TEST(the_only_mount_of_the_node_is_not_taken_for_another_tasks)
{
	look(1000, "41 40 1000 7 61000000000 77 9 0 0\n" LOCK);
	assert_stuck("", false, 1, 61);
	look(1001, "42 42 1000 7 61000000000 0 9 0 0\n" CALL);
	assert_stuck("", true, 1, 61);
	assert_string_equal(told_mountpoint[0], "");
	assert_string_equal(told_mountpoint[1], "");
}

TEST(a_server_that_long_answers_try_later_explains_it)
{
	static const char *const delays[] = { "EJUKEBOX", "NFS4ERR_DELAY", "NFS4ERR_GRACE" };

	for (size_t d = 0; d < COUNT(delays); d++) {
		struct rpc_error *e = snapshot_error(&now.calls, "nas", "WRITE", delays[d]);

		stuck_tasks_free(&t);
		told_count = 0;
		e->count = 7;
		look(1000, NULL); /* before */
		for (int i = 1; i <= 4; i++) {
			e->count += 3;
			look(1000 + 15 * i, i == 4 ? NUMBERS("61") LOCK : NULL);
		}
		assert_stuck("/data", true, 1, 61);
		assert_int_equal(told_cause[0], STUCK_DELAYED);
		assert_int_equal(now.calls.stuck[1].cause + now.calls.stuck[2].cause,
				 STUCK_DELAYED);
		/* It answers otherwise now, and the task hangs still. */
		look(1081, NUMBERS("82") LOCK);
		assert_stuck("/data", false, 1, 21);
	}
}

TEST(a_server_that_answers_try_later_now_and_then_explains_nothing)
{
	struct rpc_error *e = snapshot_error(&now.calls, "nas", "OPEN", "NFS4ERR_DELAY");

	for (int i = 0; i < 20; i++) {
		e->count += i % 2 ? 0 : 5;
		look(1000 + 15 * i, i == 19 ? NUMBERS("61") LOCK : NULL);
	}
	assert_stuck("/data", false, 1, 61);
}

#define WOKE(switches, call_switches, since) \
	"41 40 1000 " switches " 2000000000 52 9 " call_switches " " since "000000000\n"
#define LOCKD                                         \
	" rpc_wait_bit_killable+0x1e/0xb0 [sunrpc]\n" \
	" __rpc_execute+0xf5/0x400 [sunrpc]\n"        \
	" rpc_call_sync+0x5e/0xb0 [sunrpc]\n"         \
	" nlmclnt_call+0x5e/0xb0 [lockd]\n"           \
	" nlmclnt_proc+0x5e/0xb0 [lockd]\n"           \
	" nfs_lock+0x1/0x2 [nfs]\n"

/* A call to a dead server wakes its task at each timeout. */
TEST(a_task_that_wakes_in_one_call_counts_since_its_begin)
{
	uint64_t *oldest = &snapshot_server(&now.calls, "nas")->oldest_ns[RPC_QUEUE_PENDING];

	*oldest = 70 * SECOND;
	look(1000, WOKE("20", "7", "939") CALL);
	assert_stuck("/data", true, 1, 61);
	*oldest = 100 * SECOND;
	look(1030, WOKE("31", "7", "939") CALL);
	assert_stuck("/data", true, 1, 91);
	assert_int_equal(told_count, 1);
	/* No call is as old: the task makes one after the other. */
	stuck_tasks_free(&t);
	*oldest = 30 * SECOND;
	look(1060, WOKE("42", "7", "939") CALL);
	assert_none();
	/* A lock is taken by others meanwhile. */
	*oldest = 200 * SECOND;
	look(1060, WOKE("42", "7", "939") LOCK);
	assert_none();
}

TEST(a_task_that_waits_for_the_servers_lock_manager_hangs)
{
	look(1000, WOKE("20", "7", "939") LOCKD);
	assert_stuck("/data", true, 1, 61);
	assert_int_equal(told_cause[0], STUCK_LOCKD);
	/* The lock manager answers: the task takes one lock after the other. */
	snapshot_server(&now.calls, "nas")->lock_calls = 8;
	look(1030, WOKE("31", "7", "939") LOCKD);
	assert_none();
	snapshot_server(&now.calls, "nas")->lock_errors = 3; /* not so an error */
	snapshot_server(&now.calls, "nas")->lock_calls = 11;
	look(1120, WOKE("52", "7", "1031") LOCKD);
	assert_stuck("/data", true, 1, 89);
	/* The server's own lockd is none. */
	stuck_tasks_free(&t);
	look(1000, WOKE("20", "7",
			"939") " nlmsvc_lock+0x1/0x2 [lockd]\n svc_process+0x1/0x2 [sunrpc]\n");
	assert_none();
}

/* The call began after the last answer, which came before the look that finds it. */
TEST(a_call_that_began_between_two_looks_counts_though_answers_came_in_between)
{
	struct rpc_server_state *nas = snapshot_server(&now.calls, "nas");

	nas->lock_calls = 8; /* before the first look: not known when */
	look(1000, NULL);
	nas->lock_calls += 3;
	look(1015, NULL);
	look(1200, WOKE("20", "7", "1001") LOCKD);
	assert_stuck("/data", true, 1, 199);
	/* A later answer may be this call's. */
	nas->lock_calls++;
	look(1215, WOKE("21", "7", "1001") LOCKD);
	assert_none();
}

/* For 30 s at a time, if another holds the lock. */
TEST(a_task_that_waits_for_the_holder_of_a_lock_does_not_wait_for_lockd)
{
	static const char *const stacks[] = {
		NUMBERS("61") LOCKD, NUMBERS("61") " nlmclnt_block+0x1/0x2 [lockd]\n" LOCKD,
		NUMBERS("61") " nlmclnt_wait+0x1/0x2 [lockd]\n" LOCKD
	};

	ARRAY_EACH(stack, stacks, COUNT(stacks)) {
		stuck_tasks_free(&t);
		told_count = 0;
		look(1000, *stack);
		assert_int_equal(told_count, 1);
		assert_int_equal(told_cause[0] == STUCK_LOCKD, stack == stacks);
	}
}

#define GSSD(asleep, device)                                  \
	"42 40 1000 7 " asleep "000000000 " device " 9 0 0\n" \
	" gss_cred_init+0x1a0/0x350 [auth_rpcgss]\n nfs4_init+0x1/0x2 [nfsv4]\n"

static void add_at(uint64_t seconds, const char *text)
{
	look(seconds, text);
	t.looked_ns = now.time_ns;
	add_upcalls(&t, &now);
}

/* The wait of the server of the mount's file, or of the first mount with Kerberos. */
TEST(a_server_has_the_longest_waits_for_credentials_and_for_lockd)
{
	struct rpc_server_state *nas = snapshot_server(&now.calls, "nas");

	add_at(1000, GSSD("3", "52") GSSD("2", "52"));
	assert_printed("3 0", "%lu %lu", nas->upcall_ns / SECOND, nas->lock_wait_ns / SECOND);
	nas->upcall_ns = 0;
	add_at(1001, GSSD("4", "53"));
	assert_int_equal(nas->upcall_ns, 0);
	snapshot_server(&now.calls, "nas-k");
	snapshot_mount(
		&now.calls,
		&(struct nfs_mount){ .server = "nas-k", .mountpoint = "/k", .kerberos = true });
	add_at(1002, GSSD("5", "53"));
	assert_printed("0 5", "%lu %lu", snapshot_server(&now.calls, "nas")->upcall_ns / SECOND,
		       snapshot_server(&now.calls, "nas-k")->upcall_ns / SECOND);
	add_at(1003, NUMBERS("4") LOCKD);
	nas = snapshot_server(&now.calls, "nas");
	assert_int_equal(nas->lock_wait_ns, 0);
	add_at(1004, NUMBERS("5") LOCKD);
	assert_printed("0 5", "%lu %lu", nas->upcall_ns / SECOND, nas->lock_wait_ns / SECOND);
}

TEST(tasks_elsewhere_are_none)
{
	look(1000,
	     "1 1 1 1 99000000000 0 9 0 0\n kernel_clone+0x1/0x2\n __do_sys_vfork+0x1/0x2\n"
	     "2 2 1 1 99000000000 0 9 0 0\n jbd2_log_wait_commit+0x1/0x2 [jbd2]\n"
	     /* the server, whose threads use sunrpc */
	     "3 3 1 1 99000000000 0 9 0 0\n nfsd_write+0x1/0x2 [nfsd]\n svc_process+0x1/0x2 [sunrpc]\n"
	     "4 4 1 1 99000000000 0 9 0 0\n rpc_wait_bit_killable+0x1/0x2 [sunrpc]\n"
	     " nfsd4_run_cb_work+0x1/0x2 [nfsd]\n"
	     "5 5 1 1 99000000000 0 9 0 0\n");
	assert_none();
	assert_int_equal(told_count, 0);
}

TEST(a_kernel_with_nfs_built_in_and_waits_without_a_function_of_it_are_found)
{
	look(1000,
	     "1 1 1 1 99000000000 52 9 0 0\n nfs_wb_all+0x1/0x2\n"
	     "2 2 1 1 99000000000 52 9 0 0\n do_truncate+0x1/0x2\n _nfs4_do_setattr+0x1/0x2 [nfsv4]\n"
	     /* behind the lock of a file's position: known by the file */
	     "3 3 1 1 99000000000 52 9 0 0\n fdget_pos+0x1/0x2\n ksys_read+0x1/0x2\n");
	assert_stuck("/data", false, 3, 99);
	assert_string_equal(told[1].function, "_nfs4_do_setattr");
	assert_string_equal(told[2].function, "fdget_pos");
	/* Damaged text is skipped. */
	fresh();
	look(1000, "41 40\n" LOCK "x\n" NUMBERS("61") LOCK "\n 1 2");
	assert_stuck("/data", false, 1, 61);
}

#define IN_LOCK(caller)                                                                            \
	" rwsem_down_read_slowpath+0x2f0/0x500\n down_read+0x4/0x9\n " caller "+0x1a/0x40 [nfs]\n" \
	" vfs_write+0x2a1/0x3b0\n"

TEST(who_waits_for_the_lock_of_a_file_is_told_from_others)
{
	static const struct {
		const char *stack;
		bool waits;
	} rows[] = {
		{ LOCK, true },
		{ IN_LOCK("nfs_start_io_read"), true },
		{ IN_LOCK("nfs_start_io_direct"), true },
		{ " nfs_start_io_write+0x15/0x40 [nfs]\n nfs_file_write+0xad/0x290 [nfs]\n", true },
		{ " rwbase_write_lock+0x1/0x2\n down_write+0x1/0x2\n nfs_start_io_write+0x1/0x2\n",
		  true },
		{ IN_LOCK("nfs_rmdir"), false }, /* another lock */
		{ " inode_dio_wait+0x1/0x2\n nfs_start_io_write+0x1/0x2 [nfs]\n", false },
		{ " rwsem_down_read_slowpath+0x1/0x2\n do_user_addr_fault+0x1/0x2\n nfs_file_write+0x1/0x2\n",
		  false },
		{ " down_write+0x1/0x2\n path_openat+0x1/0x2\n", false },
		{ CALL LOCK, false },
		{ LOCK " nfsd_write+0x1/0x2 [nfsd]\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];
		int len = snprintf(text, sizeof(text), "1 1 1 1 0 52 9 0 0\n%s", rows[i].stack);

		stuck_tasks_begin(&t);
		stuck_tasks_take(&t, &now, (struct span){ text, text + len });
		assert_int_equal(t.tasks[0].waits_for_lock, rows[i].waits);
	}
}

/* In two parts, as the kernel gives a look. */
TEST(tasks_elsewhere_take_no_place_and_those_without_one_are_counted)
{
	static const char elsewhere[] = " wait_for_vfork_done+0x1/0x2\n kernel_clone+0x1/0x2\n";
	char *text = NULL;
	size_t len;
	FILE *out;

	now.time_ns = 1000 * SECOND;
	stuck_tasks_begin(&t);
	for (int part = 0; part < 2; part++) {
		out = open_memstream(&text, &len);
		for (int i = 0; i < 300; i++)
			fprintf(out, "%d %d 1 1 61000000000 0 9 0 0\n%s", i, i,
				part ? LOCK : elsewhere);
		fclose(out);
		stuck_tasks_take(&t, &now, (struct span){ text, text + len });
		free(text);
		assert_int_equal(t.count, part ? 256 : 0);
		assert_int_equal(t.no_room, part ? 44 : 0);
	}
}

TEST(the_first_task_that_is_left_out_is_told)
{
	static const uint64_t no_room[] = { 0, 44, 44, 50 };
	const struct log log = {};

	for (size_t i = 0; i < COUNT(no_room); i++) {
		FILE *file = not_null(tmpfile());
		int saved = redirect(STDERR_FILENO, fileno(file));

		now.self = (struct self){};
		t.no_room = no_room[i];
		stuck_tasks_drop(&t, &log, &now);
		restore(STDERR_FILENO, saved);
		assert_int_equal(lseek(fileno(file), 0, SEEK_END) > 0, i == 1);
		fclose(file);
		assert_string_equal(now.self.drops[0].reason, "stuck_task");
		assert_int_equal(now.self.drops[0].count, no_room[i]);
	}
}
