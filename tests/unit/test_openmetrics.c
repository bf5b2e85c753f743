// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the metrics file is exact to the nanosecond, and has the snapshot's figures and no others. Its form (metadata,
 * names, units and labels as in the table of metrics.c, all families, no sample twice, one end, bounds, buckets up to
 * infinity, phases that add up, labels that read back) is proved by real readers: tests/readers/check.sh. */
#include "printed.h"
#include "limits/episodes.h"
#include "sinks/metrics.h"
#include "snapshot.h"
#include "version.h"

/* ---- snapshots ---- */

static void add_kernel_events(struct snapshot *s)
{
	static const struct {
		bool gpu_driver;
		const char *kind, *device;
	} events[] = {
		{ true, "fallen_off_bus", "0000:c1:00.0" },
		{ true, "assert_failed", "0000:c1:00.0" },
		{ false, "oom_kill", "" },
		{ false, "pcie_aer", "0000:05:00.0" },
	};
	struct gpu_info *gpu;

	for (size_t i = 0; i < COUNT(events); i++) {
		struct kernel_event *e = not_null(snapshot_kernel_event(
			&s->faults, events[i].gpu_driver, events[i].kind, events[i].device));

		e->count = i + 31;
		e->last = 1700000100.5 + (double)i;
	}
	snapshot_unverified(&s->faults, "0000:c1:00.0", 79)->count = 41;
	snapshot_recovery(&s->faults, "0000:c1:00.0", "action_none")->time = 1700000200.5;
	snapshot_recovery(&s->faults, "0000:c1:00.0", "device_probed")->time = 1700000201.5;
	gpu = not_null(snapshot_gpu(&s->faults, "0000:c1:00.0"));
	strcpy(gpu->uuid, "GPU-11111111-2222-3333-4444-555555555555");
	strcpy(gpu->serial, "1234567890123");
	gpu->rate_limited = true;
	gpu->past_failures = 51;
}

/* Every kind of entry, twice. */
static struct snapshot full_snapshot(void)
{
	static const char *const servers[] = { "nas-1",
					       "a\"quoted\\back\\x0anew line caf\xc3\xa9" };
	static const char *const ops[] = { "READ", "WRITE" };
	static const struct fault faults[] = {
		{ .device = "0000:c1:00.0",
		  .code = 79,
		  .severity = "fatal",
		  .action = "restart_bm" },
		{ .device = "0000:c1:00.0",
		  .code = 31,
		  .severity = "warning",
		  .action = "restart_app" },
		{ .device = "0000:05:00.0", .code = 20034, .nvswitch = true, .severity = "fatal" },
		{ .device = "0000:06:00.0", .code = 20034, .nvswitch = true, .severity = "unknown" }
	};
	struct snapshot s = { .calls.source = RPC_SOURCE_TRACEPOINTS,
			      .self.resident_bytes = 3000000,
			      .self.map_bytes = 8000000,
			      .self.program_bytes = 90000,
			      .self.export_seconds = 0.00125,
			      .self.export_errors = 4,
			      .faults.gpu_watched = true,
			      .faults.authority = AUTHORITY_DRIVER,
			      .faults.log_lost = 14 };
	struct episode episode = {
		.server = "nas-1", .kind = EPISODE_SAVE, .seconds = 20, .bytes = 1 << 30
	};
	uint64_t seed = 9;

	snapshot_program(&s.self, "rpc_task_sleep", 7, 1000000042);
	for (size_t v = 0; v < COUNT(servers); v++) {
		struct rpc_transport_state *t;
		struct rpc_server_state *server;

		for (size_t i = 0; i < COUNT(ops); i++) {
			struct rpc_op *op = snapshot_op(&s.calls, servers[v], ops[i]);
			struct rpc_error *error =
				snapshot_error(&s.calls, servers[v], ops[i], "EIO");

			assert_true(op && error);
			for (int n = 0; n < 500; n++)
				add_random_call(op, &seed);
			op->sent_bytes = 1000 + i;
			op->received_bytes = UINT64_C(1) << 60;
			error->count = i;
		}
		t = snapshot_transport(&s.calls, servers[v], "tcp/0");
		server = snapshot_server(&s.calls, servers[v]);
		assert_true(t && server);
		t->alive = true;
		t->retransmits = 1;
		t->timeouts = 2;
		t->disconnects = 3;
		t->connects = 4;
		t->replies = 5;
		t->rtt_ns = 6500000001;
		strcpy(t->protocol, "tcp");
		t->remote = (struct endpoint){ "fd00::1", 2049 };
		t->local = (struct endpoint){ "fd00::2", 801 };
		for (unsigned int l = 0; l < RPC_LIMITS; l++)
			t->saturated_ns[l] = 1000000007 * (l + 1);
		t->slots_max = 65536;
		t->slots_allocated = 64;
		t->slots_in_flight = 7;
		for (unsigned int q = 0; q < RPC_QUEUES; q++) {
			for (unsigned int n = 1; n < 300000; n += n) {
				server->depth[q]
					.bucket[histogram_index(n, DEPTH_SHIFT, DEPTH_OVERFLOW)]++;
				server->depth[q].sum += n;
			}
			server->depth_max[q] = q;
			server->oldest_ns[q] = 1500000000 + q;
		}
	}
	for (size_t i = 0; i < COUNT(faults); i++) {
		struct fault *f = not_null(snapshot_fault(&s.faults, &faults[i]));

		f->count = i + 1;
		f->incidents = i + 21;
		f->boots = f->nvswitch ? 0 : 2;
		f->first = 1600000000.125 + (double)i;
		f->last = 1700000000.125 + (double)i;
	}
	add_kernel_events(&s);
	snapshot_mount(&s.calls, &(struct nfs_mount){ .server = "nas-1",
						      .export = "/x",
						      .mountpoint = "/a \"b\"",
						      .version = "4.2" });
	snapshot_mount_calls(&s.calls, "nas-1", "/x", "/a \"b\"")->sums =
		(struct rpc_sums){ .calls = { [RPC_KIND_READ] = 61 },
				   .total_ns = { [RPC_KIND_WRITE] = 62 },
				   .sent_bytes = { [RPC_KIND_METADATA] = 63 },
				   .received_bytes = { [RPC_KIND_OTHER] = 64 },
				   .errors = { [RPC_KIND_READ] = 65 },
				   .phase_ns = { [RPC_PHASE_SLOT] = 66 } };
	*snapshot_owner_calls(&s.calls, "nas-1", "slurm:7") = (struct calls_by){
		.server = "nas-1",
		.owner = "slurm:7",
		.sums = { .calls = { [RPC_KIND_READ] = 71 },
			  .total_ns = { [RPC_KIND_WRITE] = 72 },
			  .sent_bytes = { [RPC_KIND_METADATA] = 73 },
			  .received_bytes = { [RPC_KIND_OTHER] = 74 },
			  .wait_ns = { [RPC_KIND_READ] = 75 } },
		.oldest_ns = 76,
	};
	for (int o = 0; o < NFS_OPTIONS; o++)
		snprintf(s.calls.mounts[0].options[o], NFS_OPTION_SIZE, "%d", o);
	s.calls.mounts[0].readahead_known = true;
	s.calls.mounts[0].readahead_bytes = 131072;
	s.calls.slots_wanted[SLOTS_SESSION] = 64;
	*snapshot_module(&s.calls, "sunrpc") =
		(struct client_module){ "sunrpc", "0a1b", "in-tree" };
	snapshot_stuck(&s.calls, "", false);
	*snapshot_stuck(&s.calls, "/a \"b\"", true) = (struct stuck_state){
		.mountpoint = "/a \"b\"", .rpc = true, .tasks = 71, .oldest_ns = 72
	};
	strcpy(snapshot_storage(&s.calls, "nas-1")->storage, "scratch");
	snapshot_server(&s.calls, "nas-1")->bound_by = "slot";
	assert_int_equal(episode_count_in(&s.calls, &episode), 0);
	snapshot_health(&s.self, "xid_fatal", 2);
	snapshot_health(&s.self, "nfs_waiter", 0);
	for (int i = 0; i < 2; i++)
		snapshot_finding(&s.self,
				 &(struct finding_state){ "xid_fatal", "0000:c1:00.0", "79" });
	snapshot_hook(&s.self, "xprt_transmit", true);
	snapshot_hook(&s.self, "printk", false);
	snapshot_drop(&s.self, "rpc_waiter", 0);
	s.calls.left_out_entries = 5;
	return s;
}

/* ---- reading the text ---- */

static struct snapshot s; /* a test's own */

AFTER_EACH()
{
	snapshot_free(&s);
}

/* @text becomes the file of @s with all histograms. */
static void write_file(void)
{
	FILE *out = text_begin();

	openmetrics_write(out, &s, FORMAT_OPENMETRICS, DETAIL_OP);
	text_end(out);
}

/* Each line of @text that has @part in turn. */
static const char *next_line(const char *line, const char *part)
{
	size_t len;

	for (line = line ? strchr(line, '\n') + 1 : text; *line; line += len + 1) {
		len = strcspn(line, "\n");
		if (memmem(line, len, part, strlen(part)))
			return line;
	}
	return NULL;
}

#define FOR_LINES(line, part) for (const char *line = NULL; (line = next_line(line, part));)

static size_t lines_with(const char *part)
{
	size_t lines = 0;

	FOR_LINES(line, part)
	lines++;
	return lines;
}

/* @sample of the file, without the prefix of its name, has this value. */
static void assert_value(const char *sample, const char *value)
{
	assert_has(text, formatted("\n" METRIC_PREFIX "%s %s\n", sample, value));
}

/* ---- the file's form ---- */

TEST(a_family_without_samples_is_left_out)
{
	static const enum metric_id always[] = { METRIC_RPC_SOURCE,     METRIC_LEFT_OUT_ENTRIES,
						 METRIC_EXPORT_SECONDS, METRIC_EXPORT_ERRORS,
						 METRIC_MEMORY_BYTES,   METRIC_BUILD_INFO };

	s.calls.source = RPC_SOURCE_NONE;
	write_file();
	assert_int_equal(lines_with("# TYPE "), COUNT(always));
	for (size_t i = 0; i < COUNT(always); i++)
		assert_has(text, metrics[always[i]].name);
}

/* ---- numbers ---- */

/* Fails unless a @value that is alone in histograms is counted under every `le` that is not below it, and no other. */
static void assert_counted(double value, const char *part)
{
	write_file();
	FOR_LINES(line, part)
	{
		const char *le = strstr(line, "le=\"") + 4;

		assert_int_equal(strchr(le, ' ')[1], value <= strtod(le, NULL) ? '1' : '0');
	}
	snapshot_free(&s);
}

/* The shown bounds are those of kernel buckets. */
TEST(a_value_is_counted_where_it_is_at_most_le)
{
	for (int e = 9; e <= 38; e++)
		for (int off = -1; off <= 1; off++) {
			uint64_t ns = ((uint64_t)1 << e) + (uint64_t)off;
			struct rpc_op *op = not_null(snapshot_op(&s.calls, "nas", "READ"));

			histogram_record(&op->total, 1, ns);
			for (int p = 0; p < RPC_PHASES; p++)
				histogram_record(&op->phase[p], 1, ns);
			assert_counted((double)ns / 1e9, "_bucket{");
		}
	for (uint32_t depth = 0; depth < 300; depth++) {
		struct rpc_server_state *server = not_null(snapshot_server(&s.calls, "nas"));

		server->depth[0].bucket[histogram_index(depth, DEPTH_SHIFT, DEPTH_OVERFLOW)]++;
		assert_counted(depth, formatted("queue=\"%s\",le=", rpc_queue_names[0]));
	}
}

TEST(sums_are_exact_decimals_of_nanoseconds)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0.000000000" },
		{ 1, "0.000000001" },
		{ 999999999, "0.999999999" },
		{ 1000000000, "1.000000000" },
		{ 123456789012345678, "123456789.012345678" },
		{ UINT64_MAX, "18446744073.709551615" },
	};
	static const char *const samples[] = {
		"rpc_seconds_sum{server=\"nas\",kind=\"read\"}",
		"rpc_phase_seconds_total{server=\"nas\",kind=\"read\",phase=\"rtt\"}",
		"rpc_op_seconds_total{server=\"nas\",op=\"READ\"}",
		"rpc_op_phase_seconds_total{server=\"nas\",op=\"READ\",phase=\"rtt\"}",
		"rpc_op_duration_seconds_sum{server=\"nas\",op=\"READ\"}",
		"rpc_saturated_seconds_total{server=\"nas\",transport=\"tcp/0\",limit=\"send\"}",
		"rpc_oldest_waiter_seconds{server=\"nas\",queue=\"pending\"}",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rpc_op *op = snapshot_op(&s.calls, "nas", "READ");
		struct rpc_transport_state *tr = snapshot_transport(&s.calls, "nas", "tcp/0");
		struct rpc_server_state *server = snapshot_server(&s.calls, "nas");

		assert_true(op && tr && server);
		op->total.sum_ns = cases[i].ns;
		op->phase[RPC_PHASE_RTT].sum_ns = cases[i].ns;
		tr->saturated_ns[RPC_LIMIT_SEND] = cases[i].ns;
		server->oldest_ns[RPC_QUEUE_PENDING] = cases[i].ns;
		write_file();
		for (size_t n = 0; n < COUNT(samples); n++)
			assert_value(samples[n], cases[i].text);
		snapshot_free(&s);
	}
}

/* ---- the values of the samples ---- */

/* Those of the full snapshot, without the prefix of their names. */
TEST(counters_and_gauges_show_the_snapshots_figures)
{
	FILE *file = fopen(TEST_DATA "/openmetrics.txt", "re");
	char line[600];

	assert_non_null(file);
	s = full_snapshot();
	write_file();
	while (fgets(line, sizeof(line), file))
		assert_has(text, formatted("\n" METRIC_PREFIX "%s", line));
	fclose(file);
	assert_value("build_info{version=\"" XIDSCOPE_VERSION "\"}", "1");
}

TEST(switches_are_no_gpus)
{
	size_t gpus;

	s = full_snapshot();
	write_file();
	gpus = lines_with("{gpu=");
	assert_true(gpus > 0);
	assert_int_equal(lines_with("{gpu=\"0000:c1:00.0\""), gpus);
	assert_lacks(text, "{device=\"0000:c1:00.0\"");
}

static struct fault *xid_154(const char *device, const char *severity, double last)
{
	struct fault like = { .code = 154, .action = "a" }, *f;

	strcpy(like.device, device);
	strcpy(like.severity, severity);
	f = not_null(snapshot_fault(&s.faults, &like));
	f->last = last;
	return f;
}

/* Severity is no label of timestamp and incidents: one sample, of the latest and of their sum. */
TEST(an_xid_with_two_severities_has_one_timestamp_and_its_incidents)
{
	for (int latest = 0; latest < 2; latest++) {
		xid_154("0000:c1:00.0", "warning", latest ? 10.5 : 20.5)->incidents = 5;
		xid_154("0000:c1:00.0", "info", latest ? 20.5 : 10.5)->incidents = 6;
		xid_154("0000:c2:00.0", "info", 30.5);
		write_file();
		assert_int_equal(lines_with("gpu_xid_last_timestamp_seconds{"), 2);
		assert_value("gpu_xid_last_timestamp_seconds{gpu=\"0000:c1:00.0\",xid=\"154\"}",
			     "20.500000");
		assert_value("gpu_xid_last_timestamp_seconds{gpu=\"0000:c2:00.0\",xid=\"154\"}",
			     "30.500000");
		assert_value("gpu_xid_incidents_total{gpu=\"0000:c1:00.0\",xid=\"154\"}", "11");
		snapshot_free(&s);
	}
}

/* Without the log its families are missing, not 0. */
TEST(what_is_not_watched_has_no_samples)
{
	snapshot_gpu(&s.faults, "0000:c1:00.0");
	write_file();
	assert_lacks(text, "gpu_fault_authority");
	assert_lacks(text, "kernel_log_lost_records");
	/* a GPU whose identity was not reported */
	assert_lacks(text, "gpu_info");
}

/* Writes @s as if its source did not know the facts @unknown. */
static void write_without(uint64_t unknown)
{
	s.calls.unknown = unknown;
	write_file();
}

/* What a source does not measure is left out, and only that. */
TEST(an_unknown_fact_has_no_samples)
{
	static const struct {
		int fact;
		const char *gone; /* each of its lines has that */
	} cases[] = {
		{ RPC_FACT_RETRANSMITS, "xidscope_rpc_retransmits" },
		{ RPC_FACT_TIMEOUTS, "xidscope_rpc_timeouts" },
		{ RPC_FACT_DISCONNECTS, "xidscope_rpc_disconnects" },
		{ RPC_FACT_CONNECTS, "xidscope_rpc_connects" },
		{ RPC_FACT_SLOTS_MAX, "kind=\"max\"" },
		{ RPC_FACT_SLOTS_ALLOCATED, "kind=\"allocated\"" },
		{ RPC_FACT_SLOTS_IN_FLIGHT, "kind=\"in_flight\"" },
		{ RPC_FACT_PHASE + RPC_PHASE_SETUP, "phase=\"setup\"" },
		{ RPC_FACT_SATURATED + RPC_LIMIT_SEND, "limit=\"send\"" },
	};
	static const char *const gone_with_all[] = { METRIC_PREFIX "rpc_slots", "rpc_phase_seconds",
						     "rpc_op_phase", "rpc_queue_depth" };
	size_t all;

	s = full_snapshot();
	write_file();
	all = lines_with("");
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t lines;

		write_without(0);
		lines = lines_with(cases[i].gone);
		assert_true(lines > 0);
		write_without(RPC_FACT_BIT(cases[i].fact));
		assert_lacks(text, cases[i].gone);
		assert_int_equal(lines_with(""), all - lines);
	}
	for (int q = 0; q < RPC_QUEUES; q++) {
		const char *name = formatted("queue=\"%s\"", rpc_queue_names[q]);

		write_without(0);
		assert_has(text, name);
		write_without(RPC_FACT_BIT(RPC_FACT_DEPTH + q) |
			      RPC_FACT_BIT(RPC_FACT_DEPTH_MAX + q) |
			      RPC_FACT_BIT(RPC_FACT_OLDEST + q));
		assert_lacks(text, name);
	}
	write_without(RPC_ALL_FACTS);
	for (size_t i = 0; i < COUNT(gone_with_all); i++)
		assert_lacks(text, gone_with_all[i]);
}

/* A histogram without a distribution has its sum and count, and no bound that might seem to be known. */
TEST(an_unknown_distribution_shows_infinity_only)
{
	struct rpc_op *op = not_null(snapshot_op(&s.calls, "nas", "READ"));

	s.calls.unknown = RPC_FACT_BIT(RPC_FACT_DISTRIBUTION);
	op->total.bucket[TIME_OVERFLOW] = 5;
	op->total.sum_ns = 1000000000;
	write_file();
	assert_value("rpc_seconds_bucket{server=\"nas\",kind=\"read\",le=\"+Inf\"}", "5");
	assert_value("rpc_seconds_count{server=\"nas\",kind=\"read\"}", "5");
	assert_value("rpc_seconds_sum{server=\"nas\",kind=\"read\"}", "1.000000000");
	assert_value("rpc_op_calls_total{server=\"nas\",op=\"READ\"}", "5");
	assert_int_equal(lines_with("_bucket{"), lines_with(",le=\"+Inf\""));
}

TEST(a_transport_that_is_gone_keeps_its_counters_and_has_no_slots)
{
	struct rpc_transport_state *tr = not_null(snapshot_transport(&s.calls, "nas", "tcp/0"));

	tr->connects = 9;
	write_file();
	assert_value("rpc_connects_total{server=\"nas\",transport=\"tcp/0\"}", "9");
	assert_lacks(text, "rpc_slots");
}

TEST(the_source_in_force_is_the_one_that_is_1)
{
	for (int source = RPC_SOURCE_NONE; source < RPC_SOURCES; source++) {
		s.calls.source = source;
		write_file();
		for (int each = RPC_SOURCE_BTF; each < RPC_SOURCES; each++) {
			assert_value(formatted("rpc_source{source=\"%s\"}", rpc_source_names[each]),
				     each == source ? "1" : "0");
		}
	}
}
