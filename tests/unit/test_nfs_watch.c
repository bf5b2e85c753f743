// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that stalls, recoveries that do not end and saturated limits are reported once when they begin and once when they end. */
#include "unit.h"
#include "limits/nfs_watch.h"
#include "snapshot.h"

static struct nfs_span spans[64];
static size_t span_count;
static struct nfs_watch w;

BEFORE_EACH()
{
	span_count = 0;
}

AFTER_EACH()
{
	free(w.entries);
	w = (struct nfs_watch){};
}

static void on_span(void *context, const struct nfs_span *span)
{
	(void)context;
	assert_true(span_count < COUNT(spans));
	spans[span_count++] = *span;
}

/* A snapshot at @seconds of one server. */
static void add(uint64_t seconds, double oldest, double saturated, uint64_t unknown)
{
	now.time_ns = seconds * SECOND;
	now.calls.unknown = unknown;
	snapshot_server(&now.calls, "nfs1")->oldest_ns[RPC_QUEUE_PENDING] =
		(uint64_t)(oldest * 1e9);
	snapshot_transport(&now.calls, "nfs1", "tcp/0")->saturated_ns[RPC_LIMIT_SLOT] =
		(uint64_t)(saturated * 1e9);
	nfs_watch_add(&w, subtract(), on_span, NULL);
	assert_int_equal(snapshot_copy(&before, &now), 0);
}

static void assert_span(size_t n, const char *expected)
{
	assert_int_equal(span_count, n + 1);
	assert_printed(expected, "%s %s %s %lu %lu", event_kinds[spans[n].kind].name, spans[n].name,
		       spans[n].server, spans[n].begin_ns / SECOND, spans[n].end_ns / SECOND);
}

TEST(stalls_and_limits_that_are_reached_again_and_again_are_reported_twice)
{
	static const struct {
		uint64_t seconds;
		double oldest, saturated;
		const char *span; /* the one that it reports; NULL: none */
	} rows[] = {
		{ 100, 9.9, 50, NULL }, /* what was before the first snapshot counts for nothing */
		{ 110, 19.9, 54, "nfs_stall pending nfs1 90 0" },
		{ 120, 29.9, 60, "nfs_saturation slot nfs1 110 0" },
		{ 130, 2, 61, "nfs_stall pending nfs1 90 130" },
		{ 170, 2, 75, NULL },
		{ 180, 2, 75, NULL },
		{ 229, 2, 75, NULL },
		{ 231, 2, 75, "nfs_saturation slot nfs1 110 170" },
	};
	size_t spans = 0;

	ARRAY_EACH(row, rows, COUNT(rows)) {
		add(row->seconds, row->oldest, row->saturated, 0);
		if (row->span)
			assert_span(spans++, row->span);
		assert_int_equal(span_count, spans);
	}
}

TEST(a_grace_period_that_lasts_is_reported)
{
	for (uint64_t i = 100; i < 500; i += 10) {
		snapshot_op(&now.calls, "nfs1", "OPEN")->total.bucket[9]++;
		snapshot_error(&now.calls, "nfs1", "OPEN", "NFS4ERR_GRACE")->count += i < 400;
		add(i, 0, 0, 0);
		if (i < 300)
			assert_int_equal(span_count, 0);
	}
	assert_int_equal(span_count, 2);
	assert_printed("nfs_errors grace 100 0", "%s %s %lu %lu", event_kinds[spans[0].kind].name,
		       spans[0].name, spans[0].begin_ns / SECOND, spans[0].end_ns / SECOND);
	assert_has(spans[0].text, "OPENs end with NFS4ERR_GRACE (");
	assert_int_equal(spans[1].end_ns / SECOND, 390);
}

TEST(a_recovery_that_makes_no_call_is_reported)
{
	add(100, 0, 0, 0);
	snapshot_server(&now.calls, "nfs1")->draining_now_ns = 9 * SECOND;
	add(110, 0, 0, 0);
	snapshot_server(&now.calls, "nfs1")->draining_now_ns = 20 * SECOND;
	add(120, 1, 0, 0); /* a call waits for the server */
	histogram_record(&snapshot_op(&now.calls, "nfs1", "OPEN")->total, 1, SECOND);
	add(130, 0, 0, 0); /* a call has ended */
	assert_int_equal(span_count, 0);
	snapshot_server(&now.calls, "nfs1")->draining_now_ns = 40 * SECOND;
	snapshot_mount(&now.calls,
		       &(struct nfs_mount){ .server = "nfs1", .mountpoint = "/mnt/vol" });
	add(140, 0, 0, 0);
	assert_span(0, "nfs_errors draining nfs1 130 0");
	assert_non_null(strstr(spans[0].text, "calls (/mnt/vol) have waited for 40 s"));
	snapshot_server(&now.calls, "nfs1")->draining_now_ns = 0;
	add(201, 0, 0, 0);
	assert_span(1, "nfs_errors draining nfs1 130 140");
}

TEST(a_long_wait_for_credentials_is_reported)
{
	struct rpc_server_state *v;

	add(100, 0, 0, 0);
	v = snapshot_server(&now.calls, "nfs1");
	strcpy(v->upcall_by, "sh (1033)");
	v->upcall_ns = 9 * SECOND;
	add(110, 0, 0, 0);
	assert_int_equal(span_count, 0);
	v->upcall_ns = 19 * SECOND;
	add(120, 0, 0, 0);
	assert_span(0, "nfs_errors credentials nfs1 110 0");
	assert_has(spans[0].text, "sh (1033) waited for 19 s for credentials, which rpc.gssd");
	v->upcall_ns = 0;
	add(181, 0, 0, 0);
	assert_span(1, "nfs_errors credentials nfs1 110 120");
}

/* While the client connects in vain, all calls but one wait to be sent. */
TEST(calls_that_wait_for_a_connection_saturate_nothing)
{
	uint64_t *send;

	add(100, 0, 0, 0);
	send = &snapshot_transport(&now.calls, "nfs1", "tcp/0")->saturated_ns[RPC_LIMIT_SEND];
	*send = 9 * SECOND;
	add(110, 0, 0, 0);
	assert_int_equal(span_count, 0);
	*send = 18 * SECOND;
	snapshot_transport(&now.calls, "nfs1", "tcp/0")->replies = 1;
	add(120, 0, 0, 0);
	assert_span(0, "nfs_saturation send nfs1 110 0");
}

TEST(a_connection_that_is_closed_again_and_again_is_reported)
{
	struct rpc_transport_state *t;

	add(100, 0, 0, 0);
	t = snapshot_transport(&now.calls, "nfs1", "tcp/3");
	t->local = (struct endpoint){ .address = "10.0.0.7", .port = 871 };
	t->disconnects = 9;
	add(110, 0, 0, 0); /* no call ends */
	for (uint64_t i = 1; i <= 7; i++) {
		histogram_record(&snapshot_op(&now.calls, "nfs1", "READ")->total, 1, SECOND);
		t->disconnects++;
		add(i < 3 ? 110 + 70 * i : 320 + i, 0, 0, 0);
		if (i < 3)
			add(171 + 70 * i, 0, 0, 0); /* an idle one is closed now and then */
		assert_int_equal(span_count, i == 7);
	}
	assert_span(0, "nfs_errors connection nfs1 311 0");
	assert_has(spans[0].text, "closed tcp/3 from 10.0.0.7:871 5 times");
	add(400, 0, 0, 0);
	assert_span(1, "nfs_errors connection nfs1 311 327");
}

/* An interval of 20 s, the @i-th after 100 s, with a call, in which these of the server's connections are closed: bit N is tcp/N. */
static void add_closings(uint64_t i, unsigned int connections, unsigned int closed)
{
	histogram_record(&snapshot_op(&now.calls, "nfs1", "READ")->total, 1, SECOND);
	for (unsigned int c = 0; c < connections; c++)
		snapshot_transport(&now.calls, "nfs1", formatted("tcp/%u", c))->disconnects +=
			closed >> c & 1;
	add(100 + 20 * i, 0, 0, 0);
}

/* A firewall forgets them all: one event, not sixteen. */
TEST(connections_that_are_all_closed_are_reported_once)
{
	add(100, 0, 0, 0);
	for (uint64_t i = 1; i <= 7; i++) {
		add_closings(i, 16, i < 5 ? 0xffff : 0x7fff);
		assert_int_equal(span_count, i >= 5);
	}
	assert_span(0, "nfs_errors connection nfs1 100 0");
	assert_has(spans[0].text, "closed tcp/0, one of 15 such connections, 5 times; calls");
	add(400, 0, 0, 0);
	assert_span(1, "nfs_errors connection nfs1 100 240");
	assert_has(spans[1].text, "closed tcp/0, one of 15 such connections, 7 times; calls");
}

/* Otherwise the end would be that of one connection alone. */
TEST(closings_that_go_on_with_one_connection_are_the_same)
{
	add(100, 0, 0, 0);
	for (uint64_t i = 1; i <= 20; i++) {
		add_closings(i, 3, i <= 6 ? 7 : 2);
		assert_int_equal(span_count, i >= 5);
	}
	add(700, 0, 0, 0);
	assert_span(1, "nfs_errors connection nfs1 100 500");
	assert_has(spans[1].text, "closed tcp/1, one of 3 such connections, 20 times; calls");
}

/* Six of thousands of calls fail each time; one restart of the server looks as its first time. The session is the server's, not
 * of one of the mounts whose calls fail. */
TEST(a_session_that_is_lost_again_and_again_is_reported_once)
{
	static const char *const ops[] = { "READ", "WRITE", "SEQUENCE" };
	static const char *const mounts[] = { "/mnt/a", "/mnt/b", "" };

	add(100, 0, 0, 0);
	for (uint64_t i = 1; i <= 12; i++) {
		/* Those of /mnt/a end first. */
		for (size_t o = i < 7 ? 0 : 1; o < COUNT(ops); o++) {
			struct rpc_error *e =
				snapshot_error(&now.calls, "nfs1", ops[o], "NFS4ERR_BADSESSION");

			e->count += 6;
			strcpy(e->mountpoint, mounts[o]);
			histogram_record(&snapshot_op(&now.calls, "nfs1", ops[o])->total, 4000, MS);
		}
		histogram_record(&snapshot_op(&now.calls, "nfs1", "CREATE_SESSION")->total, 1, MS);
		add(100 + 15 * i, 0, 0, 0);
		assert_int_equal(span_count, i >= 5);
	}
	assert_span(0, "nfs_errors state nfs1 100 0");
	assert_has(spans[0].text,
		   "This client created its session, or registered, again 5 times: another client");
	add(400, 0, 0, 0);
	assert_span(1, "nfs_errors state nfs1 100 280");
	assert_has(spans[1].text, "again 12 times: ");
}

TEST(what_is_not_measured_is_not_saturated)
{
	add(100, 0, 0, RPC_ALL_FACTS);
	add(110, 0, 10, RPC_ALL_FACTS);
	assert_int_equal(span_count, 0);
	/* The counts of another source begin again: what it has counted is of this interval. */
	add(120, 0, 4.9, 0);
	assert_int_equal(span_count, 0);
	add(130, 0, 0, 0);
	add(140, 0, 20, 0);
	add(150, 0, 5, 0);
	assert_int_equal(span_count, 1);
}

TEST(the_owner_is_of_the_oldest_call_or_who_waited_most)
{
	static const char *const owners[] = { "slurm:1", "slurm:2", "kernel" };

	add(100, 0, 0, 0);
	for (uint64_t i = 0; i < COUNT(owners); i++) {
		struct calls_by *o = snapshot_owner_calls(&now.calls, "nfs1", owners[i]);

		o->oldest_ns = i == 1 ? 20 * SECOND : 0;
		o->sums.wait_ns[i] = (3 - i) * SECOND;
		o->sums.calls[0] = 1;
	}
	add(110, 20, 9, 0);
	assert_printed("2 nfs_stall slurm:2 nfs_saturation slurm:1", "%zu %s %s %s %s", span_count,
		       event_kinds[spans[0].kind].name, spans[0].owner,
		       event_kinds[spans[1].kind].name, spans[1].owner);
}

/* Adds an interval in which WRITEs of these jobs to these mounts end with this error. */
static void add_failed_writes(const char *mountpoint, const char *job, const char *status)
{
	struct rpc_error *e = snapshot_error(&now.calls, "nfs1", "WRITE", status);

	e->count += 9;
	strcpy(e->mountpoint, mountpoint);
	strcpy(e->owner, job);
	histogram_record(&snapshot_op(&now.calls, "nfs1", "WRITE")->total, 9, SECOND);
}

static void fail_writes(uint64_t seconds, const char *mountpoint, const char *job,
			const char *status)
{
	add_failed_writes(mountpoint, job, status);
	add(seconds, 0, 0, 0);
}

/* Otherwise, while one lasts, nobody learns of the other. */
TEST(what_fails_on_each_mount_is_reported)
{
	add(100, 0, 0, 0);
	fail_writes(110, "/mnt/a", "slurm:1", "EDQUOT");
	assert_span(0, "nfs_errors data nfs1 100 0");
	fail_writes(120, "/mnt/b", "slurm:2", "EFBIG");
	assert_span(1, "nfs_errors data nfs1 110 0");
	assert_string_equal(spans[1].owner, "slurm:2");
	assert_non_null(strstr(spans[1].text, "/mnt/b end with EFBIG"));
	fail_writes(175, "/mnt/b", "slurm:2", "EFBIG");
	assert_span(2, "nfs_errors data nfs1 100 110");
	assert_null(strstr(spans[2].text, "/mnt/b"));
	assert_non_null(strstr(spans[2].text, "9 of"));
}

/* Some calls to the lock manager of nfs1, of which these failed. */
static void lock_files(uint64_t seconds, uint64_t calls, uint64_t failed)
{
	struct rpc_server_state *v = snapshot_server(&now.calls, "nfs1");

	v->lock_calls += calls;
	v->lock_errors += failed;
	add(seconds, 0, 0, 0);
}

TEST(a_lock_manager_whose_calls_fail_is_reported)
{
	add(100, 0, 0, 0);
	lock_files(110, 100, 4);
	assert_int_equal(span_count, 0);
	lock_files(120, 20, 20);
	assert_span(0, "nfs_errors locks nfs1 100 0");
	assert_non_null(strstr(spans[0].text, "24 of 120 lock calls end with an error (since "));
	assert_non_null(strstr(spans[0].text, "check lockd on the server"));
	lock_files(190, 1, 0);
	assert_span(1, "nfs_errors locks nfs1 100 120");
}

TEST(more_mounts_than_a_list_of_failures_has_are_reported)
{
	add(100, 0, 0, 0);
	for (unsigned int i = 0; i <= FAILURES; i++) {
		const char *mountpoint = formatted("/mnt/%u", i);
		struct rpc_sums *m =
			&snapshot_mount_calls(&now.calls, "nfs1", "/x", mountpoint)->sums;

		m->calls[RPC_KIND_WRITE] = m->errors[RPC_KIND_WRITE] = 9;
		add_failed_writes(mountpoint, "slurm:1", "EDQUOT");
	}
	add(110, 0, 0, 0);
	assert_int_equal(span_count, FAILURES + 1);
}

/* The text of the first span of errors, or "". */
static const char *first_error(void)
{
	size_t i = 0;
	const struct nfs_span *span = nfs_watch_errors(&w, &i);

	return span ? span->text : "";
}

/* Nobody may have looked within the minute in which a checkpoint was lost. */
TEST(data_that_were_not_written_are_named_for_an_hour)
{
	add(100, 0, 0, 0);
	fail_writes(110, "/mnt/a", "slurm:1", "ENOSPC");
	add(140, 0, 0, 0);
	add(171, 0, 0, 0);
	assert_span(1, "nfs_errors data nfs1 100 110");
	assert_has(first_error(),
		   "9 of 9 WRITEs to /mnt/a ended with ENOSPC, data were not written ");
	add(1000, 0, 0, 0);
	fail_writes(1010, "/mnt/a", "slurm:1", "ENOSPC");
	assert_span(2, "nfs_errors data nfs1 1000 0");
	assert_has(spans[2].text, "9 of 9 WRITEs to /mnt/a end with ENOSPC");
	add(1071, 0, 0, 0);
	assert_span(3, "nfs_errors data nfs1 1000 1010");
	add(1010 + 3599, 0, 0, 0);
	assert_has(first_error(), "9 of 9 ");
	add(1010 + 3600, 0, 0, 0);
	assert_string_equal(first_error(), "");
	assert_int_equal(span_count, 4);
}

/* Otherwise the job of a harmless error would be told of data that another one has lost. */
TEST(what_fails_after_data_were_lost_is_judged_by_itself)
{
	struct rpc_error *e;

	add(100, 0, 0, 0);
	fail_writes(110, "/mnt/a", "slurm:1", "ENOSPC");
	add(171, 0, 0, 0);
	assert_span(1, "nfs_errors data nfs1 100 110");
	add(1000, 0, 0, 0);
	snapshot_op(&now.calls, "nfs1", "SETATTR")->total.bucket[9] += 1000;
	e = snapshot_error(&now.calls, "nfs1", "SETATTR", "NFS4ERR_SERVERFAULT");
	e->count++;
	strcpy(e->mountpoint, "/mnt/a");
	strcpy(e->owner, "slurm:9");
	add(1010, 0, 0, 0);
	add(1080, 0, 0, 0);
	assert_int_equal(span_count, 2);
	fail_writes(1090, "/mnt/a", "slurm:2", "ENOSPC");
	assert_span(2, "nfs_errors data nfs1 1080 0");
	assert_string_equal(spans[2].owner, "slurm:2");
	assert_has(spans[2].text, "9 of 9 WRITEs");
	add(1160, 0, 0, 0);
	assert_has(first_error(), "(slurm:1");
}

/* Otherwise the end of one would be taken for the end of the other. */
TEST(errors_that_begin_together_are_told_apart)
{
	add(100, 0, 0, 0);
	add_failed_writes("/mnt/a", "slurm:1", "EROFS");
	fail_writes(110, "/mnt/b", "slurm:2", "EFBIG");
	assert_int_equal(span_count, 2);
	assert_true(spans[0].begin_ns != spans[1].begin_ns);
}

/* Otherwise a recovery would hide that data are lost, and nobody knew from whom else. */
TEST(errors_of_another_meaning_and_of_another_job_are_reported)
{
	add(100, 0, 0, 0);
	fail_writes(110, "/mnt/a", "slurm:1", "NFS4ERR_BADSESSION");
	assert_span(0, "nfs_errors state nfs1 100 0");
	fail_writes(120, "/mnt/a", "slurm:1", "EIO");
	assert_span(1, "nfs_errors data nfs1 110 0");
	fail_writes(130, "/mnt/a", "slurm:2", "NFS4ERR_BADSESSION");
	fail_writes(140, "/mnt/a", "slurm:2", "EIO");
	assert_int_equal(span_count, 4);
	assert_string_equal(spans[2].owner, "slurm:1");
	assert_true(spans[2].end_ns == 120 * SECOND);
	assert_span(3, "nfs_errors data nfs1 130 0");
	assert_string_equal(spans[3].owner, "slurm:1 slurm:2");
}

static size_t begun;

static void count_begin(void *context, const struct nfs_span *span)
{
	(void)context;
	begun += !span->end_ns;
}

/* Two of them answer at last, and then there is room for two others. */
TEST(a_stall_without_room_is_counted_and_reported_later)
{
	for (uint64_t seconds = 100; seconds <= 130; seconds += 10) {
		calls_free(&now.calls);
		now.time_ns = seconds * SECOND;
		for (size_t i = seconds < 120 ? 0 : 2; i < NFS_WATCH_SPANS + 2; i++)
			not_null(snapshot_server(&now.calls, formatted("nfs%zu", i)))
				->oldest_ns[RPC_QUEUE_PENDING] = 20 * SECOND;
		nfs_watch_add(&w, subtract(), count_begin, NULL);
	}
	assert_int_equal(w.no_room, 2 + 2 + 2);
	assert_int_equal(begun, NFS_WATCH_SPANS + 2);
}
