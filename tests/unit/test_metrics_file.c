// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that what the rules need survives the way through the file in both formats, and that a file that is cut or
 * damaged is refused, not half believed. */

#include "printed.h"
#include "health/metrics_file.h"
#include "sinks/metrics.h"
#include "snapshot.h"

static const enum metrics_format formats[] = { FORMAT_OPENMETRICS, FORMAT_PROMETHEUS };
static char error[160];

static void add_fault(const char *device, unsigned int code, const char *severity,
		      const char *action, uint64_t count, uint64_t incidents, double last)
{
	struct fault like = { .code = code, .nvswitch = code > 20000 }, *f;

	strcpy(like.device, device);
	strcpy(like.severity, severity);
	strcpy(like.action, action);
	f = snapshot_fault(&before.faults, &like);
	assert_non_null(f);
	f->count = count;
	f->incidents = incidents;
	f->last = last;
}

/* @before has all that is read, and some that is not. */
static void fill(void)
{
	before.calls.source = RPC_SOURCE_BTF;
	before.faults.gpu_watched = true;
	for (int q = 0; q < RPC_QUEUES; q++) {
		snapshot_server(&before.calls, "nas-1")->oldest_ns[q] =
			1000000001u * (unsigned int)(q + 1);
		snapshot_server(&before.calls, "q\"uo\\te\\x0aline \xc3\xa9 {}")->oldest_ns[q] =
			UINT64_MAX;
	}
	add_fault("0000:c1:00.0", 79, "fatal", "restart_bm", 2, 1, 1700000000.125);
	add_fault("0000:c1:00.0", 154, "fatal", "xid_154", 3, 2, 1700000010.5);
	add_fault("0000:c1:00.0", 154, "info", "xid_154", 1, 1, 1700000020.5);
	add_fault("0000:05:00.0", 20034, "fatal", "", UINT64_MAX, 0, 1700000030.25);
	*snapshot_kernel_event(&before.faults, true, "fallen_off_bus", "0000:c1:00.0") =
		(struct kernel_event){ true, "fallen_off_bus", "0000:c1:00.0", 4, 1700000040.75 };
	snapshot_kernel_event(&before.faults, false, "oom_kill", "")->count = 5;
	snapshot_recovery(&before.faults, "all", "driver_loaded")->time = 1700000050.5;
	snapshot_recovery(&before.faults, "0000:c1:00.0", "action_none")->time = 1700000020.5;
	snapshot_gpu(&before.faults, "0000:c1:00.0")->rate_limited = true;
	snapshot_gpu(&before.faults, "0000:c2:00.0")->rate_limited = false;
	snapshot_stuck(&before.calls, "", true);
	*snapshot_stuck(&before.calls, "/data", false) =
		(struct stuck_state){ .mountpoint = "/data", .tasks = 2, .oldest_ns = 61000000001 };
	snapshot_hook(&before.self, "printk", true);
	snapshot_health(&before.self, "xid_fatal", 2);
}

/* Writes @before as @text. */
static void write_text(enum metrics_format format)
{
	FILE *out = text_begin();

	openmetrics_write(out, &before, format, DETAIL_NODE);
	text_end(out);
}

/* Reads @now. */
static int parse(const char *bytes, size_t len)
{
	snapshot_free(&now);
	error[0] = 0;
	return metrics_file_parse(&now, bytes, len, error, sizeof(error));
}

/* Reads @now from what @before is in a file. */
static void write_and_parse(enum metrics_format format)
{
	write_text(format);
	if (parse(text, text_len))
		fail_msg("%s", error);
}

TEST(what_a_verdict_needs_survives)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		const struct fault_counts *to = &now.faults, *from = &before.faults;
		const struct fault *f;

		fresh();
		fill();
		write_and_parse(formats[i]);
		assert_int_equal(now.calls.server_count, 2);
		for (size_t v = 0; v < now.calls.server_count; v++) {
			assert_string_equal(now.calls.servers[v].server,
					    before.calls.servers[v].server);
			for (int q = 0; q < RPC_QUEUES; q++)
				assert_int_equal(now.calls.servers[v].oldest_ns[q],
						 q == RPC_QUEUE_XMIT ?
							 0 :
							 before.calls.servers[v].oldest_ns[q]);
		}
		assert_int_equal(now.calls.stuck_count, 2);
		assert_memory_equal(now.calls.stuck, before.calls.stuck,
				    2 * sizeof(*now.calls.stuck));
		assert_int_equal(to->fault_count, from->fault_count);
		f = to->faults;
		for (size_t n = 0; n < to->fault_count; n++) {
			assert_string_equal(f[n].device, from->faults[n].device);
			assert_string_equal(f[n].severity, from->faults[n].severity);
			assert_string_equal(f[n].action, from->faults[n].action);
			assert_int_equal(f[n].code, from->faults[n].code);
			assert_int_equal(f[n].nvswitch, from->faults[n].nvswitch);
			assert_int_equal(f[n].count, from->faults[n].count);
		}
		assert_true(f[0].last == 1700000000.125);
		assert_int_equal(f[0].incidents, 1);
		/* one time and one number for both severities of 154 */
		assert_true(f[1].last == 1700000020.5 && f[2].last == 1700000020.5);
		assert_int_equal(f[1].incidents, 3);
		assert_int_equal(f[2].incidents, 0);
		assert_true(f[3].last == 1700000030.25);
		assert_int_equal(to->kernel_event_count, 2);
		assert_true(to->kernel_events[0].gpu_driver);
		assert_string_equal(to->kernel_events[0].kind, "fallen_off_bus");
		assert_string_equal(to->kernel_events[0].device, "0000:c1:00.0");
		assert_int_equal(to->kernel_events[0].count, 4);
		assert_true(to->kernel_events[0].last == 1700000040.75);
		assert_false(to->kernel_events[1].gpu_driver);
		assert_string_equal(to->kernel_events[1].kind, "oom_kill");
		assert_string_equal(to->kernel_events[1].device, "");
		assert_int_equal(to->kernel_events[1].count, 5);
		assert_int_equal(to->recovery_count, 2);
		assert_string_equal(to->recoveries[0].gpu, "all");
		assert_string_equal(to->recoveries[0].evidence, "driver_loaded");
		assert_true(to->recoveries[0].time == 1700000050.5);
		assert_true(to->recoveries[1].time == 1700000020.5);
		assert_int_equal(to->gpu_count, 2);
		assert_true(to->gpus[0].rate_limited);
		assert_false(to->gpus[1].rate_limited);
	}
}

/* The driver may ask for a reset again right after it has asked for none. */
TEST(what_came_within_a_millisecond_keeps_its_order)
{
	add_fault("0000:c1:00.0", 154, "fatal", "reset_gpu", 1, 0, 1700000050.000015);
	snapshot_recovery(&before.faults, "0000:c1:00.0", "action_none")->time = 1700000050.000010;
	for (size_t i = 0; i < COUNT(formats); i++) {
		write_and_parse(formats[i]);
		assert_true(now.faults.faults[0].last > now.faults.recoveries[0].time);
	}
}

TEST(an_empty_snapshot_is_a_whole_file)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		write_and_parse(formats[i]);
		assert_int_equal(now.faults.fault_count + now.calls.server_count, 0);
	}
}

TEST(a_file_that_is_cut_anywhere_is_refused)
{
	fill();
	for (size_t i = 0; i < COUNT(formats); i++) {
		write_text(formats[i]);
		for (size_t n = 0; n < text_len; n++) {
			char *exact = exact_copy(text, n);

			assert_int_equal(parse(exact, n), -EINVAL);
			assert_true(
				!strcmp(error, "the end is missing: it is cut") ||
				(n < 40 && !strcmp(error, "it is no metrics file of xidscope")));
			assert_null(now.faults.faults);
			free(exact);
		}
	}
}

TEST(a_damaged_line_is_named)
{
#define GPU "gpu=\"0000:c1:00.0\""
#define FAULT "xidscope_gpu_xid_errors_total{" GPU ",xid=\"79\",severity=\"fatal\",action=\"x\"} "
	static const char *const lines[] = {
		FAULT "2.5",
		FAULT "-1",
		FAULT "",
		FAULT "18446744073709551616",
		FAULT "1 1700000000",
		FAULT " 1",
		FAULT "NaN",
		"xidscope_gpu_xid_errors_total 1",
		"xidscope_gpu_xid_errors_total{} 1",
		"xidscope_gpu_xid_errors_total{" GPU ",xid=\"79\",severity=\"fatal\"} 1",
		"xidscope_gpu_xid_errors_total{" GPU ",xid=\"\",severity=\"fatal\",action=\"x\"} 1",
		"xidscope_gpu_xid_errors_total{" GPU
		",xid=\"4294967296\",severity=\"fatal\",action=\"x\"} 1",
		"xidscope_gpu_xid_errors_total{" GPU
		",xid=\"79\",severity=\"more than 15 bytes\",action=\"x\"} 1",
		"xidscope_gpu_xid_errors_total{" GPU
		",xid=\"79\",severity=\"fatal\",action=\"\\x\"} 1",
		"xidscope_gpu_xid_errors_total{" GPU ",xid=\"79\",severity=\"fatal\",action=\"x} 1",
		"xidscope_gpu_xid_errors_total{" GPU
		",xid=\"79\",severity=\"fatal\",action=\"x\" 1",
		"xidscope_gpu_xid_incidents_total{" GPU ",xid=\"78\"} 1",
		"xidscope_gpu_xid_last_timestamp_seconds{" GPU ",xid=\"78\"} 1",
		"xidscope_gpu_recovered_timestamp_seconds{gpu=\"all\",evidence=\"x\"} 1.2.3",
		"xidscope_gpu_recovered_timestamp_seconds{gpu=\"all\",evidence=\"x\"} 100000000000",
		"xidscope_gpu_gsp_rate_limited{" GPU "} 2",
		"xidscope_gpu_past_failures{" GPU "} x",
		"xidscope_gpu_xid_boots{" GPU ",xid=\"78\"} 2",
		"xidscope_gpu_xid_first_timestamp_seconds{" GPU ",xid=\"78\"} 1",
		"xidscope_gpu_info{" GPU "} 1",
		"xidscope_rpc_oldest_waiter_seconds{server=\"a\",queue=\"slot\"} 1.5",
		"xidscope_rpc_oldest_waiter_seconds{server=\"a\",queue=\"slot\"} 18446744073.709551616",
		"xidscope_rpc_oldest_waiter_seconds{queue=\"slot\"} 1.000000000",
		"xidscope_nfs_stuck_tasks{mountpoint=\"/a\",state=\"rpc\"} 4294967296",
		"xidscope_nfs_stuck_tasks{mountpoint=\"/a\"} 1",
		"xidscope_nfs_oldest_stuck_task_seconds{mountpoint=\"/a\",state=\"rpc\"} 1",
		"xidscope_gpu_driver_error_last_timestamp_seconds{" GPU "} 1",
		"xidscope_kernel_events_total{kind=\"a kind of more than thirty-one bytes\",device=\"\"} 1",
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *file = formatted("# TYPE x counter\n%s1\n%s\n# EOF\n", FAULT, lines[i]);

		if (!parse(file, strlen(file)))
			fail_msg("read: %s", lines[i]);
		assert_string_equal(error, "line 3 is damaged");
		assert_null(now.faults.faults);
	}
}

TEST(unknown_families_are_skipped)
{
	static const char file[] =
		"# TYPE xidscope_new counter\n"
		"xidscope_new_total{x=\"} # nonsense\n"
		"xidscope_gpu_xid_errors{gpu=\"no _total\"} x\n"
		"other 1\n"
		"\n"
		"xidscope_gpu_gsp_rate_limited{new=\"a\",gpu=\"0000:c1:00.0\"} 1\n"
		"xidscope_rpc_oldest_waiter_seconds{server=\"a\",queue=\"new\"} 5.000000000\n"
		"# EOF\n";

	assert_int_equal(parse(file, sizeof(file) - 1), 0);
	assert_int_equal(now.faults.fault_count, 0);
	assert_int_equal(now.faults.gpu_count, 1);
	assert_true(now.faults.gpus[0].rate_limited);
}

TEST(a_file_cannot_ask_for_any_amount_of_work)
{
	FILE *out = text_begin();

	for (unsigned int i = 0; i <= 4096; i++)
		fprintf(out, "xidscope_gpu_gsp_rate_limited{gpu=\"%u\"} 1\n", i);
	fprintf(out, "# EOF\n");
	text_end(out);
	assert_int_equal(parse(text, text_len), -EINVAL);
	assert_string_equal(error, "line 4097 is damaged");
}
