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
		const struct fault_counts *c = &now.faults;
		FILE *out;

		fresh();
		fill();
		write_and_parse(formats[i]);
		assert_int_equal(now.calls.server_count, 2);
		for (size_t v = 0; v < now.calls.server_count; v++) {
			const struct rpc_server_state *from = &before.calls.servers[v];

			assert_string_equal(now.calls.servers[v].server, from->server);
			for (int q = 0; q < RPC_QUEUES; q++)
				assert_int_equal(now.calls.servers[v].oldest_ns[q],
						 q == RPC_QUEUE_XMIT ? 0 : from->oldest_ns[q]);
		}
		assert_int_equal(now.calls.stuck_count, 2);
		assert_memory_equal(now.calls.stuck, before.calls.stuck,
				    2 * sizeof(*now.calls.stuck));
		out = text_begin();
		for (const struct fault *f = c->faults; f < c->faults + c->fault_count; f++)
			fprintf(out, "%s %u %d %s %s %" PRIu64 " %" PRIu64 " %.3f\n", f->device,
				f->code, f->nvswitch, f->severity, f->action, f->count,
				f->incidents, f->last);
		for (size_t n = 0; n < c->kernel_event_count; n++)
			fprintf(out, "%d %s '%s' %" PRIu64 " %.3f\n",
				c->kernel_events[n].gpu_driver, c->kernel_events[n].kind,
				c->kernel_events[n].device, c->kernel_events[n].count,
				c->kernel_events[n].last);
		for (size_t n = 0; n < c->recovery_count; n++)
			fprintf(out, "%s %s %.3f\n", c->recoveries[n].gpu,
				c->recoveries[n].evidence, c->recoveries[n].time);
		for (size_t n = 0; n < c->gpu_count; n++)
			fprintf(out, "%s %d\n", c->gpus[n].gpu, c->gpus[n].rate_limited);
		text_end(out);
		/* one time and one number for both severities of 154 */
		assert_string_equal(text, "0000:c1:00.0 79 0 fatal restart_bm 2 1 1700000000.125\n"
					  "0000:c1:00.0 154 0 fatal xid_154 3 3 1700000020.500\n"
					  "0000:c1:00.0 154 0 info xid_154 1 0 1700000020.500\n"
					  "0000:05:00.0 20034 1 fatal  18446744073709551615 0 "
					  "1700000030.250\n"
					  "1 fallen_off_bus '0000:c1:00.0' 4 1700000040.750\n"
					  "0 oom_kill '' 5 0.000\n"
					  "all driver_loaded 1700000050.500\n"
					  "0000:c1:00.0 action_none 1700000020.500\n"
					  "0000:c1:00.0 1\n0000:c2:00.0 0\n");
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
	FILE *lines = fopen(TEST_DATA "/damaged_metrics.txt", "re");
	char line[200];
	int count = 0;

	assert_non_null(lines);
	for (; fgets(line, sizeof(line), lines); count++) {
		const char *file =
			formatted("# TYPE x counter\n"
				  "xidscope_gpu_xid_errors_total{gpu=\"0000:c1:00.0\",xid=\"79\","
				  "severity=\"fatal\",action=\"x\"} 1\n%s# EOF\n",
				  line);

		if (!parse(file, strlen(file)))
			fail_msg("read: %s", line);
		assert_string_equal(error, "line 3 is damaged");
		assert_null(now.faults.faults);
	}
	fclose(lines);
	assert_int_equal(count, 33);
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
