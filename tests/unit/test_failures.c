// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that calls which fail are told from users' mistakes and from waits, that the gravest is named with its mount and
 * owner, and that limits and gains are not made of them. */
#include "golden.h"
#include "limits/verdict.h"

static const char *meaning_of(const char *call)
{
	char op[RPC_OP_LEN], status[RPC_STATUS_LEN] = "";
	enum failure failure;

	assert_true(sscanf(call, "%23s %39s", op, status) > 0);
	failure = failure_of(op, status);
	return failure == FAILURE_NONE ? "none" : failure_names[failure];
}

TEST(errors_have_a_meaning)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "what calls that end with an error mean",
			 meaning_of);
}

static double begin; /* of the last interval */
/* The mount of the calls that fail, and what it and the owner call beside them. */
static struct nfs_mount mount = { .server = "nas-1", .mountpoint = "/mnt/ckpt" };
static uint64_t others, timeouts;
/* The mount and the owner that the source names. */
static const char *named, *owner;
/* Calls of another mount and of another owner that failed as well. */
static uint64_t elsewhere, of_another;
static uint64_t mistakes; /* other calls of the kind that failed */
static struct calls_by written; /* since the agent has started */
static struct failures f;

/* Adds an interval in which @failed of @calls calls of @op end with @status. */
static void add_failed(struct failures *f, const char *op, const char *status, uint64_t failed,
		       uint64_t calls)
{
	struct snapshot s = { .calls = { .mounts = &mount,
					 .mount_count = 1,
					 .mount_calls = &written,
					 .mount_call_count = 1 } };
	struct rpc_op o = { .server = "nas-1", .total.bucket = { calls } };
	struct rpc_error e = { .server = "nas-1", .count = failed };
	struct rpc_transport_state t = { .server = "nas-1", .timeouts = timeouts };
	struct calls_by mounts[] = { { .server = "nas-1", .mountpoint = "/mnt/ckpt" },
				     { .server = "nas-1", .mountpoint = "/mnt/other" } };
	struct calls_by owners[] = { { .server = "nas-1", .owner = "slurm:71" },
				     { .server = "nas-1", .owner = "slurm:7" } };
	struct calls_by both[] = { { "nas-1", "", "/mnt/ckpt", "slurm:71", {}, 0, 0 },
				   { "nas-1", "", "/mnt/ckpt", "slurm:7", {}, 0, 0 },
				   { "nas-1", "", "/mnt/other", "slurm:7", {}, 0, 0 } };
	enum rpc_kind kind = rpc_kind_of(op);
	struct delta d = { .end = &s,
			   .begin = ++begin,
			   .calls = { .ops = &o,
				      .op_count = 1,
				      .errors = &e,
				      .error_count = failed != 0,
				      .transports = &t,
				      .transport_count = 1,
				      .mount_calls = mounts,
				      .mount_call_count = 2,
				      .owner_calls = owners,
				      .owner_call_count = 2,
				      .owner_mounts = both,
				      .owner_mount_count = 3 } };

	strcpy(o.op, op);
	strcpy(e.op, op);
	strcpy(e.status, status);
	strcpy(e.mountpoint, named);
	strcpy(e.owner, owner);
	mounts[0].sums.errors[kind] = failed - elsewhere + mistakes;
	mounts[0].sums.calls[kind] = failed - elsewhere + others;
	mounts[1].sums.errors[kind] = mounts[1].sums.calls[kind] = elsewhere;
	owners[0].sums.calls[kind] = calls;
	owners[1].sums.calls[kind] = of_another;
	both[0].sums.errors[kind] = failed - of_another;
	both[1].sums.errors[kind] = elsewhere ? 0 : of_another;
	both[2].sums.errors[kind] = elsewhere;
	failures_add(f, &d, "nas-1", NULL, FAILURE_NONE);
	failures_add(f, &d, "nas-2", NULL, FAILURE_NONE); /* has none */
}

BEFORE_EACH()
{
	begin = 0;
	others = 1000000;
	timeouts = elsewhere = of_another = mistakes = 0;
	named = "/mnt/ckpt";
	owner = "slurm:71";
	mount.options[NFS_RECOVERY][0] = 0;
	written = (struct calls_by){};
	f = (struct failures){};
}

/* Whether the failed ones are common among so many calls, READs and WRITEs to the server. */
static bool are_common(const struct failures *f, uint64_t calls, uint64_t reads, uint64_t writes)
{
	return failures_are_common(f, calls, (uint64_t[]){ reads, writes, writes });
}

static void assert_worst(const char *expected)
{
	char text[FAILURE_TEXT_SIZE];

	assert_string_equal(failures_worst(&f) ? failures_text(text, &f) : "", expected);
}

TEST(the_gravest_is_named_with_its_mount_and_owner)
{
	begin = 0;
	add_failed(&f, "GETATTR", "ESTALE", 4, 10);
	assert_worst("");
	add_failed(&f, "GETATTR", "ESTALE", 4, 10);
	assert_worst(
		"8 of 20 GETATTRs to /mnt/ckpt end with ESTALE (slurm:71, since 00:00:01): the file or the "
		"export is gone from the server.");
	add_failed(&f, "WRITE", "ENOSPC", 1, 5000);
	assert_worst(
		"1 of 5000 WRITEs to /mnt/ckpt end with ENOSPC, data were not written (slurm:71, "
		"since 00:00:03): no space is left on the server. Also 8 of 20 GETATTRs to /mnt/ckpt "
		"end with ESTALE (slurm:71, since 00:00:01): the file or the export is gone from the server.");
	assert_false(are_common(&f, 5000, 0, 5000));
	add_failed(&f, "WRITE", "ENOSPC", 1000, 1000);
	assert_true(failures_worst(&f)->since == 3);
	assert_true(are_common(&f, 200000, 0, 100100));
	assert_false(are_common(&f, 200000, 0, 100101)); /* of the session */
	/* Calls go on without errors. */
	add_failed(&f, "WRITE", "", 0, 10);
	assert_false(failures_last(&f));
	assert_non_null(failures_worst(&f));
}

/* @count of @calls are no failure; with @more of @more_calls they are. */
static void assert_few(const char *op, const char *status, uint64_t count, uint64_t calls,
		       uint64_t more, uint64_t more_calls, const char *worst)
{
	add_failed(&f, op, status, count, calls);
	assert_worst("");
	add_failed(&f, op, status, more, more_calls);
	assert_worst(worst);
}

TEST(a_few_of_many_are_no_failure)
{
	assert_few("GETATTR", "ESTALE", 300, 1000, 120, 200,
		   "420 of 1200 GETATTRs to /mnt/ckpt end with ESTALE (slurm:71, since "
		   "00:00:01): the file or the export is gone from the server.");
}

TEST(writes_of_several_mounts_are_told_apart)
{
	elsewhere = 12;
	of_another = 12;
	add_failed(&f, "WRITE", "ENOSPC", 32, 1000);
	assert_worst(
		"20 of 1000 WRITEs to /mnt/ckpt end with ENOSPC, data were not written (slurm:71, since "
		"00:00:01): no space is left on the server. Also 12 of 12 WRITEs to /mnt/other end with "
		"ENOSPC, data were not written (slurm:7, since 00:00:01).");
	elsewhere = 0;
	f = (struct failures){};
	add_failed(&f, "WRITE", "EFBIG", 15, 15);
	assert_worst(
		"15 of 15 WRITEs to /mnt/ckpt end with EFBIG, data were not written (slurm:71 slurm:7, "
		"since 00:00:02): the file is larger than the server allows.");
}

/* After a restart of the server, each call of each mount ends with an error of state. */
TEST(the_gravest_find_room)
{
	for (int i = 0; i < 2 * FAILURES; i++)
		add_failed(&f, formatted("OP%d", i), "NFS4ERR_STALE_CLIENTID", 1, 1);
	assert_int_equal(f.count, FAILURES);
	for (int i = 0; i < FAILURES; i++) {
		named = formatted("/mnt/%d", i);
		mistakes = 1;
		add_failed(&f, "GETATTR", "EIO", 1, 1);
	}
	add_failed(&f, "WRITE", "EDQUOT", 1, 1);
	assert_string_equal(failures_worst(&f)->status, "EDQUOT");
}

TEST(a_call_for_metadata_loses_no_data)
{
	add_failed(&f, "MKDIR", "EDQUOT", 9, 9);
	assert_false(failure_loses_data(failures_worst(&f)));
	assert_false(are_common(&f, 101, 0, 0));
	add_failed(&f, "READ", "EIO", 1, 1000);
	assert_string_equal(failures_worst(&f)->op, "READ");
	assert_true(failure_loses_data(failures_worst(&f)));
}

TEST(a_lock_that_is_not_given_back_is_named_before_what_recovers)
{
	add_failed(&f, "READ", "NFS4ERR_BADSESSION", 90, 90);
	add_failed(&f, "LOCK", "NFS4ERR_RECLAIM_BAD", 1, 100);
	assert_string_equal(failures_worst(&f)->status, "NFS4ERR_RECLAIM_BAD");
}

/* A client that has it makes the LOOKUP again. */
TEST(a_flavour_that_the_client_does_not_have_is_a_failure)
{
	assert_few("LOOKUP", "NFS4ERR_WRONGSEC", 50, 100, 60, 60,
		   "110 of 160 LOOKUPs to /mnt/ckpt end with NFS4ERR_WRONGSEC (slurm:71, since "
		   "00:00:01): the export wants another security flavour (sec=).");
}

/* Calls to other mounts of the server, or of other ops, go on. */
TEST(all_calls_to_one_mount_of_many_are_a_failure)
{
	others = 20;
	add_failed(&f, "GETATTR", "ESTALE", 10, 10);
	assert_non_null(failures_worst(&f));
	assert_false(are_common(&f, 101, 0, 0));
	assert_true(are_common(&f, 100, 0, 0));
}

/* One graver error of another call hides nothing: not what many calls end with, nor that they do. */
TEST(what_most_calls_end_with_is_named)
{
	add_failed(&f, "GETATTR", "ESTALE", 60000, 60000);
	add_failed(&f, "MKDIR", "EDQUOT", 1, 1);
	assert_worst(
		"60000 of 60000 GETATTRs to /mnt/ckpt end with ESTALE (slurm:71, since 00:00:01): the "
		"file or the export is gone from the server. Also 1 of 1 MKDIR to /mnt/ckpt ends with "
		"EDQUOT (slurm:71, since 00:00:02): a quota on the server is used up.");
	add_failed(&f, "READ", "EIO", 1, 15000);
	assert_string_equal(failures_worst(&f)->op, "READ");
	assert_true(are_common(&f, 90000, 15000, 0));
}

/* Once, the client makes the call again. */
TEST(calls_that_all_end_with_an_error_of_state_show_no_limit)
{
	add_failed(&f, "WRITE", "NFS4ERR_BAD_STATEID", 50, 50);
	assert_true(are_common(&f, 100, 0, 50));
	assert_false(are_common(&f, 101, 0, 50));
}

TEST(a_rare_error_of_few_calls_is_none)
{
	add_failed(&f, "WRITE", "EBADF", 4, 4);
	assert_worst("");
	add_failed(&f, "WRITE", "EBADF", 1, 1);
	assert_worst(
		"5 of 5 WRITEs to /mnt/ckpt end with EBADF, data were not written (slurm:71, since "
		"00:00:01): such an error is rare.");
	named = "/mnt/full";
	mistakes = 1;
	add_failed(&f, "WRITE", ANY_RPC_STATUS, 9, 9);
	assert_worst(
		"5 of 5 WRITEs to /mnt/ckpt end with EBADF, data were not written (slurm:71, since "
		"00:00:01): such an error is rare. Also 9 of 9 WRITEs to /mnt/full end with an error "
		"(slurm:71, since 00:00:03): this source does not see which error: perhaps data were lost.");
}

/* It may be EJUKEBOX, or an error of state: then the WRITE is made again. */
TEST(writes_with_an_error_that_is_not_seen_are_perhaps_lost)
{
	add_failed(&f, "READ", ANY_RPC_STATUS, 9, 5000);
	add_failed(&f, "WRITE", ANY_RPC_STATUS, 4, 5000);
	assert_worst("");
	add_failed(&f, "WRITE", ANY_RPC_STATUS, 1, 5000);
	assert_worst("5 of 10000 WRITEs to /mnt/ckpt end with an error (slurm:71, since "
		     "00:00:02): this source does not see which error: perhaps data were lost.");
	assert_false(failure_loses_data(failures_worst(&f)));
}

/* Of pNFS: the metadata server has the layouts. A server that answers GETATTRs is no data server. */
TEST(a_write_that_fails_at_a_data_server_is_perhaps_not_lost)
{
	for (size_t ops = 1; ops <= 3; ops++) {
		struct rpc_op op[] = {
			{ .server = "10.0.0.7", .op = "WRITE", .total.bucket = { 300 } },
			{ .server = "mds", .op = "LAYOUTGET" },
			{ .server = "10.0.0.7", .op = "GETATTR" }
		};
		struct rpc_error e = {
			.server = "10.0.0.7", .op = "WRITE", .status = "EIO", .count = 60
		};
		struct snapshot s = { .calls = { .ops = op, .op_count = ops } };
		struct delta d = {
			.end = &s,
			.begin = 1,
			.calls = { .ops = op, .op_count = ops, .errors = &e, .error_count = 1 }
		};

		f = (struct failures){};
		failures_add(&f, &d, "10.0.0.7", NULL, FAILURE_NONE);
		assert_int_equal(failure_loses_data(failures_worst(&f)), ops != 2);
		assert_worst(
			ops != 2 ?
				"60 of 300 WRITEs end with EIO, data were not written (since 00:00:01): an "
				"input or output error of the server, or a soft mount gave up." :
				"60 of 300 WRITEs end with EIO (since 00:00:01): an input or output error of "
				"the server; the client tries again through the metadata server if the layout allows it.");
		/* With FF_FLAGS_NO_IO_THRU_MDS the WRITE may be lost. */
		e.count = 1;
		f = (struct failures){};
		failures_add(&f, &d, "10.0.0.7", NULL, FAILURE_NONE);
		assert_non_null(failures_worst(&f));
	}
}

/* One COMMIT may be for a thousand WRITEs, which then are lost. */
TEST(commits_that_fail_are_no_few_among_writes)
{
	strcpy(mount.options[NFS_RECOVERY], "hard");
	add_failed(&f, "COMMIT", "EIO", 29, 29);
	assert_worst("29 of 29 COMMITs to /mnt/ckpt end with EIO, data were not written "
		     "(slurm:71, since 00:00:01): an input or output error of the server, or "
		     "umount -f.");
	assert_true(failures_are_common(&f, 20000, (uint64_t[]){ 0, 17700, 2900 }));
	assert_false(failures_are_common(&f, 20000, (uint64_t[]){ 0, 17700, 2901 }));
}

TEST(the_longest_names_are_cut)
{
	char room[FAILURE_TEXT_SIZE + 8];
	struct failures f = { .list = { { "WRITE", "EIO", .count = 9 } }, .count = 1 };

	memset(f.list[0].mountpoint, 'm', LABEL_SIZE - 1);
	memset(f.list[0].owner, 'o', LABEL_SIZE - 1);
	memset(room, '#', sizeof(room));
	failures_text(room, &f);
	assert_int_equal(strlen(room), FAILURE_TEXT_SIZE - 1);
	assert_has(room, DATA_WERE_LOST "written");
	assert_memory_equal(room + FAILURE_TEXT_SIZE, "########", 8);
}

/* Who is not named must not seem to be unharmed: `why --job` takes the list as whole. */
TEST(owners_for_which_there_is_no_room_are_others)
{
	for (int i = 0; i < 30; i++) {
		owner = formatted("slurm:%d", 4711 + i);
		mistakes = 1; /* only the last one is known */
		add_failed(&f, "WRITE", "ENOSPC", 3, 100);
	}
	assert_has(failures_worst(&f)->owner, " slurm:4718 other");
	assert_true(strlen(failures_worst(&f)->owner) < LABEL_SIZE / 2 + 6);
}

/* The source names the last call's owner alone where other calls of the kind failed, too. */
TEST(others_whose_calls_failed_do_not_seem_unharmed)
{
	mistakes = 1;
	of_another = 25;
	add_failed(&f, "GETATTR", "ESTALE", 50, 50);
	assert_string_equal(failures_worst(&f)->owner, "slurm:71 other");
	assert_worst("50 of 50 GETATTRs to /mnt/ckpt end with ESTALE (slurm:71 and others, since "
		     "00:00:01): the file or the export is gone from the server.");
}

/* The kernel gives up what it was to write, whatever the error. */
TEST(a_write_that_is_not_made_again_is_lost)
{
	static const char *const errors[] = { "ESTALE", "EACCES", "EKEYEXPIRED" };

	ARRAY_EACH(error, errors, COUNT(errors)) {
		struct failures f = {};

		add_failed(&f, "GETATTR", "ESTALE", 900, 900);
		add_failed(&f, "WRITE", *error, 1, 5000);
		assert_string_equal(failures_worst(&f)->op, "WRITE");
		assert_true(failure_loses_data(failures_worst(&f)));
	}
}

/* Else users try to change what is read-only, such as Python in a folder of modules. */
TEST(a_mount_that_was_written_to_and_is_read_only_now_is_a_failure)
{
	for (uint64_t errors = 0; errors <= 2; errors++) {
		f = (struct failures){};
		strcpy(written.server, "nas-1");
		strcpy(written.mountpoint, errors == 1 ? "/mnt/b" : "/mnt/ckpt");
		written.sums.calls[RPC_KIND_WRITE] = 2;
		written.sums.errors[RPC_KIND_WRITE] = errors;
		add_failed(&f, "OPEN", "EROFS", 4, 12);
		assert_worst("");
		add_failed(&f, "OPEN", "EROFS", 1, 9);
		assert_worst(errors ? "" :
				      "5 of 21 OPENs to /mnt/ckpt end with EROFS (slurm:71, since "
				      "00:00:01): the server's file system is read-only.");
		begin = 0;
	}
}

/* The source may not name the mount of the last call. */
TEST(a_server_whose_mounts_are_all_hard_gave_nothing_up)
{
	static const char *const recoveries[] = { "soft", "", "hard" };
	char text[FAILURE_TEXT_SIZE];

	ARRAY_EACH(recovery, recoveries, COUNT(recoveries)) {
		struct failures f = {};

		strcpy(mount.options[NFS_RECOVERY], *recovery);
		named = "";
		mistakes = 1;
		add_failed(&f, "WRITE", "EIO", 2, 50);
		assert_non_null(failures_worst(&f));
		failures_text(text, &f);
		assert_int_equal(!strstr(text, ", or a soft mount"), !strcmp(*recovery, "hard"));
	}
}

TEST(calls_after_the_last_failure_do_not_hide_it)
{
	add_failed(&f, "GETATTR", "ESTALE", 39, 39);
	add_failed(&f, "GETATTR", "", 0, 10);
	add_failed(&f, "GETATTR", "ESTALE", 39, 39);
	add_failed(&f, "GETATTR", "", 0, 6000);
	assert_non_null(failures_worst(&f));
	assert_has(failures_text((char[FAILURE_TEXT_SIZE]){}, &f), "78 of 88 GETATTRs ");
}

TEST(a_lock_that_is_wanted_back_too_late_is_lost)
{
	add_failed(&f, "OPEN", "NFS4ERR_NO_GRACE", 3, 40); /* is opened again */
	assert_worst("");
	add_failed(&f, "LOCK", "NFS4ERR_NO_GRACE", 1, 40);
	assert_non_null(failures_worst(&f));
	assert_string_equal(failures_worst(&f)->op, "LOCK");
}

/* Of all of its folders, not of one. */
TEST(folders_that_the_server_cannot_read_are_a_failure)
{
	add_failed(&f, "READDIR", "NFS4ERR_SERVERFAULT", 4, 4);
	assert_worst("");
	add_failed(&f, "READDIR", "NFS4ERR_SERVERFAULT", 56, 56);
	assert_non_null(failures_worst(&f));
	assert_string_equal(failures_worst(&f)->op, "READDIR");
	assert_false(failure_loses_data(failures_worst(&f)));
}

TEST(an_expired_ticket_is_named_among_other_users_calls)
{
	add_failed(&f, "ACCESS", "EKEYEXPIRED", 43, 100000);
	assert_worst("43 of 100000 ACCESSes to /mnt/ckpt end with EKEYEXPIRED (slurm:71, since "
		     "00:00:01): the user's Kerberos ticket has expired: renew the ticket, the "
		     "server is not the cause.");
}

TEST(a_user_without_a_ticket_is_a_reason_with_kerberos)
{
	char text[FAILURE_TEXT_SIZE];

	mount.kerberos = true;
	add_failed(&f, "GETATTR", "EACCES", 9, 9);
	assert_has(failures_text(text, &f), ", or the user has no Kerberos ticket (kinit).");
	add_failed(&f, "ACCESS", "ENOKEY", 99, 99);
	mount.kerberos = false;
	assert_has(failures_text(text, &f), "): the user has no Kerberos ticket. Also 9 of 9 ");
}

TEST(a_soft_mount_that_gives_up_is_named)
{
	strcpy(mount.options[NFS_RECOVERY], "soft");
	/* The server has answered so. */
	add_failed(&f, "WRITE", "EIO", 5, 5);
	assert_worst(
		"5 of 5 WRITEs to /mnt/ckpt end with EIO, data were not written (slurm:71, since "
		"00:00:01): an input or output error of the server, or a soft mount gave up.");
	timeouts = 26;
	add_failed(&f, "WRITE", "EIO", 26, 26);
	assert_worst(
		"/mnt/ckpt (soft) gave EIO to 31 of 31 WRITEs, data were not written (slurm:71, since "
		"00:00:01): the server did not answer in time.");
	add_failed(&f, "GETATTR", "EIO", 100, 100);
	assert_string_equal(failures_worst(&f)->op, "WRITE");
}
