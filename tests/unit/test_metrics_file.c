// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that what a verdict needs survives the way through the file in both
 * formats, and that a file that is cut or damaged is refused, not half believed.
 */
#include <errno.h>

#include "unit.h"
#include "health/metrics_file.h"
#include "sinks/metrics.h"

static const enum metrics_format formats[] = { FORMAT_OPENMETRICS, FORMAT_PROMETHEUS };
static char error[160];

static struct fault *add_fault(struct snapshot *s, const char *device, unsigned int code,
			       bool nvswitch, const char *severity, const char *action)
{
	struct fault like = { .code = code, .nvswitch = nvswitch }, *f;

	snprintf(like.device, sizeof(like.device), "%s", device);
	snprintf(like.severity, sizeof(like.severity), "%s", severity);
	snprintf(like.action, sizeof(like.action), "%s", action);
	f = snapshot_fault(&s->faults, &like);
	assert_non_null(f);
	return f;
}

/* All that is read, and some that is not. */
static struct snapshot full_snapshot(void)
{
	struct snapshot s = { .calls.source = RPC_SOURCE_BTF, .faults.gpu_watched = true };
	struct fault *f;

	for (int q = 0; q < RPC_QUEUES; q++) {
		snapshot_server(&s.calls, "nas-1")->oldest_ns[q] =
			1000000001u * (unsigned int)(q + 1);
		snapshot_server(&s.calls, "q\"uo\\te\\x0aline \xc3\xa9 {}")->oldest_ns[q] =
			UINT64_MAX;
	}
	f = add_fault(&s, "0000:c1:00.0", 79, false, "fatal", "restart_bm");
	f->count = 2;
	f->incidents = 1;
	f->last = 1700000000.125;
	f = add_fault(&s, "0000:c1:00.0", 154, false, "fatal", "xid_154");
	f->count = 3;
	f->incidents = 2;
	f->last = 1700000010.5;
	f = add_fault(&s, "0000:c1:00.0", 154, false, "info", "xid_154");
	f->count = 1;
	f->incidents = 1;
	f->last = 1700000020.5;
	f = add_fault(&s, "0000:05:00.0", 20034, true, "fatal", "");
	f->count = UINT64_MAX;
	f->last = 1700000030.25;
	snapshot_kernel_event(&s.faults, true, "fallen_off_bus", "0000:c1:00.0")->count = 4;
	snapshot_kernel_event(&s.faults, true, "fallen_off_bus", "0000:c1:00.0")->last =
		1700000040.75;
	snapshot_kernel_event(&s.faults, false, "oom_kill", "")->count = 5;
	snapshot_recovery(&s.faults, "all", "driver_loaded")->time = 1700000050.5;
	snapshot_recovery(&s.faults, "0000:c1:00.0", "action_none")->time = 1700000020.5;
	snapshot_gpu(&s.faults, "0000:c1:00.0")->rate_limited = true;
	snapshot_gpu(&s.faults, "0000:c2:00.0")->rate_limited = false;
	snapshot_hook(&s.self, "printk", true);
	snapshot_health(&s.self, "xid_fatal", 2);
	return s;
}

/* Caller frees. */
static char *write_text(const struct snapshot *s, enum metrics_format format, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	assert_non_null(out);
	openmetrics_write(out, s, format, DETAIL_NODE);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int parse(struct snapshot *s, const char *text, size_t len)
{
	*s = (struct snapshot){};
	error[0] = 0;
	return metrics_file_parse(s, text, len, error, sizeof(error));
}

TEST(what_a_verdict_needs_survives)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct snapshot from = full_snapshot(), to;
		size_t len;
		char *text = write_text(&from, formats[i], &len);

		if (parse(&to, text, len))
			fail_msg("%s", error);
		assert_int_equal(to.calls.server_count, 2);
		for (size_t v = 0; v < to.calls.server_count; v++) {
			assert_string_equal(to.calls.servers[v].server,
					    from.calls.servers[v].server);
			for (int q = 0; q < RPC_QUEUES; q++)
				assert_int_equal(to.calls.servers[v].oldest_ns[q],
						 q == RPC_QUEUE_XMIT ?
							 0 :
							 from.calls.servers[v].oldest_ns[q]);
		}
		assert_int_equal(to.faults.fault_count, from.faults.fault_count);
		for (size_t f = 0; f < to.faults.fault_count; f++) {
			assert_string_equal(to.faults.faults[f].device,
					    from.faults.faults[f].device);
			assert_string_equal(to.faults.faults[f].severity,
					    from.faults.faults[f].severity);
			assert_string_equal(to.faults.faults[f].action,
					    from.faults.faults[f].action);
			assert_int_equal(to.faults.faults[f].code, from.faults.faults[f].code);
			assert_int_equal(to.faults.faults[f].nvswitch,
					 from.faults.faults[f].nvswitch);
			assert_int_equal(to.faults.faults[f].count, from.faults.faults[f].count);
		}
		assert_true(to.faults.faults[0].last == 1700000000.125);
		assert_int_equal(to.faults.faults[0].incidents, 1);
		/* one time and one number for both severities of 154 */
		assert_true(to.faults.faults[1].last == 1700000020.5 &&
			    to.faults.faults[2].last == 1700000020.5);
		assert_int_equal(to.faults.faults[1].incidents, 3);
		assert_int_equal(to.faults.faults[2].incidents, 0);
		assert_true(to.faults.faults[3].last == 1700000030.25);
		assert_int_equal(to.faults.kernel_event_count, 2);
		assert_true(to.faults.kernel_events[0].gpu_driver);
		assert_string_equal(to.faults.kernel_events[0].kind, "fallen_off_bus");
		assert_string_equal(to.faults.kernel_events[0].device, "0000:c1:00.0");
		assert_int_equal(to.faults.kernel_events[0].count, 4);
		assert_true(to.faults.kernel_events[0].last == 1700000040.75);
		assert_false(to.faults.kernel_events[1].gpu_driver);
		assert_string_equal(to.faults.kernel_events[1].kind, "oom_kill");
		assert_string_equal(to.faults.kernel_events[1].device, "");
		assert_int_equal(to.faults.kernel_events[1].count, 5);
		assert_int_equal(to.faults.recovery_count, 2);
		assert_string_equal(to.faults.recoveries[0].gpu, "all");
		assert_string_equal(to.faults.recoveries[0].evidence, "driver_loaded");
		assert_true(to.faults.recoveries[0].time == 1700000050.5);
		assert_true(to.faults.recoveries[1].time == 1700000020.5);
		assert_int_equal(to.faults.gpu_count, 2);
		assert_true(to.faults.gpus[0].rate_limited);
		assert_false(to.faults.gpus[1].rate_limited);
		snapshot_free(&to);
		snapshot_free(&from);
		free(text);
	}
}

/* The driver may ask for a reset again right after it has asked for none. */
TEST(what_came_within_a_millisecond_keeps_its_order)
{
	const struct fault like = {
		.device = "0000:c1:00.0", .code = 154, .severity = "fatal", .action = "reset_gpu"
	};

	for (size_t i = 0; i < COUNT(formats); i++) {
		struct snapshot from = {}, to;
		struct fault *f = snapshot_fault(&from.faults, &like);
		size_t len;
		char *text;

		f->count = 1;
		f->last = 1700000050.000015;
		snapshot_recovery(&from.faults, like.device, "action_none")->time =
			1700000050.000010;
		text = write_text(&from, formats[i], &len);
		assert_int_equal(parse(&to, text, len), 0);
		assert_true(to.faults.faults[0].last > to.faults.recoveries[0].time);
		snapshot_free(&from);
		snapshot_free(&to);
		free(text);
	}
}

TEST(an_empty_snapshot_is_a_whole_file)
{
	const struct snapshot empty = {};

	for (size_t i = 0; i < COUNT(formats); i++) {
		struct snapshot s;
		size_t len;
		char *text = write_text(&empty, formats[i], &len);

		assert_int_equal(parse(&s, text, len), 0);
		assert_int_equal(s.faults.fault_count + s.calls.server_count, 0);
		free(text);
	}
}

TEST(a_file_that_is_cut_anywhere_is_refused)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct snapshot s = full_snapshot(), cut;
		size_t len;
		char *text = write_text(&s, formats[i], &len);

		for (size_t n = 0; n < len; n++) {
			char *exact = malloc(n ? n : 1); /* for the sanitizers */

			assert_non_null(exact);
			memcpy(exact, text, n);
			assert_int_equal(parse(&cut, exact, n), -EINVAL);
			assert_string_equal(
				error,
				"the end is missing: it is cut, or not a metrics file of xidscope");
			assert_null(cut.faults.faults);
			free(exact);
		}
		snapshot_free(&s);
		free(text);
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
		"xidscope_gpu_driver_error_last_timestamp_seconds{" GPU "} 1",
		"xidscope_kernel_events_total{kind=\"a kind of more than thirty-one bytes\",device=\"\"} 1",
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[1024];
		struct snapshot s;

		snprintf(text, sizeof(text), "# TYPE x counter\n%s1\n%s\n# EOF\n", FAULT, lines[i]);
		if (!parse(&s, text, strlen(text)))
			fail_msg("read: %s", lines[i]);
		assert_string_equal(error, "line 3 is damaged");
		assert_null(s.faults.faults);
	}
}

TEST(unknown_families_are_skipped)
{
	static const char text[] =
		"# TYPE xidscope_new counter\n"
		"xidscope_new_total{x=\"} # nonsense\n"
		"xidscope_gpu_xid_errors{gpu=\"no _total\"} x\n"
		"other 1\n"
		"\n"
		"xidscope_gpu_gsp_rate_limited{new=\"a\",gpu=\"0000:c1:00.0\"} 1\n"
		"xidscope_rpc_oldest_waiter_seconds{server=\"a\",queue=\"new\"} 5.000000000\n"
		"# EOF\n";
	struct snapshot s;

	assert_int_equal(parse(&s, text, sizeof(text) - 1), 0);
	assert_int_equal(s.faults.fault_count, 0);
	assert_int_equal(s.faults.gpu_count, 1);
	assert_true(s.faults.gpus[0].rate_limited);
	snapshot_free(&s);
}

TEST(a_file_cannot_ask_for_any_amount_of_work)
{
	char *text = NULL;
	struct snapshot s;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (unsigned int i = 0; i <= 4096; i++)
		fprintf(out, "xidscope_gpu_gsp_rate_limited{gpu=\"%u\"} 1\n", i);
	fprintf(out, "# EOF\n");
	fclose(out);
	assert_int_equal(parse(&s, text, len), -EINVAL);
	assert_string_equal(error, "line 4097 is damaged");
	free(text);
}
