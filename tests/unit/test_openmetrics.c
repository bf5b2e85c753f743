// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the metrics file is exact to the nanosecond, and has the snapshot's figures and no others; of the levels of detail:
 * how many samples a file has at most, and that whatever is in a file with less detail is in the one with more, with the same
 * value. Its form (metadata, names, units and labels as in the table of metrics.c, all families, no sample twice, one end, bounds,
 * buckets up to infinity, phases that add up, labels that read back) is proved by real readers: tests/readers/check.sh; that
 * figures by kind are sums of those by op, in guests: check_histograms() of tests/vm/judge/checks.py. */
#include <math.h>

#include "printed.h"
#include "health/health.h"
#include "limits/episodes.h"
#include "sinks/metrics.h"
#include "snapshot.h"
#include "version.h"

/* ---- snapshots ---- */

static void add_kernel_events(void)
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
			&now.faults, events[i].gpu_driver, events[i].kind, events[i].device));

		e->count = i + 31;
		e->last = 1700000100.5 + (double)i;
	}
	snapshot_unverified(&now.faults, "0000:c1:00.0", 79)->count = 41;
	snapshot_recovery(&now.faults, "0000:c1:00.0", "action_none")->time = 1700000200.5;
	snapshot_recovery(&now.faults, "0000:c1:00.0", "device_probed")->time = 1700000201.5;
	gpu = not_null(snapshot_gpu(&now.faults, "0000:c1:00.0"));
	strcpy(gpu->uuid, "GPU-11111111-2222-3333-4444-555555555555");
	strcpy(gpu->serial, "1234567890123");
	gpu->rate_limited = true;
	gpu->past_failures = 51;
}

/* @now has every kind of entry, twice. */
static void fill(void)
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
	struct episode episode = {
		.server = "nas-1", .kind = EPISODE_SAVE, .seconds = 20, .bytes = 1 << 30
	};
	uint64_t seed = 9;

	now = (struct snapshot){ .calls.source = RPC_SOURCE_TRACEPOINTS,
				 .self.resident_bytes = 3000000,
				 .self.map_bytes = 8000000,
				 .self.program_bytes = 90000,
				 .self.other_bytes = 910000,
				 .self.export_seconds = 0.00125,
				 .self.export_errors = 4,
				 .faults.gpu_watched = true,
				 .faults.authority = AUTHORITY_DRIVER,
				 .faults.log_lost = 14 };
	snapshot_program(&now.self, "rpc_task_sleep", 7, 1000000042);
	for (size_t v = 0; v < COUNT(servers); v++) {
		struct rpc_transport_state *t;
		struct rpc_server_state *server;
		uint64_t n = 0;

		for (size_t i = 0; i < COUNT(ops); i++) {
			struct rpc_op *op = snapshot_op(&now.calls, servers[v], ops[i]);
			struct rpc_error *error =
				snapshot_error(&now.calls, servers[v], ops[i], "EIO");

			assert_true(op && error);
			for (int n = 0; n < 500; n++)
				add_random_call(op, &seed);
			op->sent_bytes = 1000 + i;
			op->received_bytes = UINT64_C(1) << 60;
			error->count = i;
		}
		t = snapshot_transport(&now.calls, servers[v], "tcp/0");
		server = snapshot_server(&now.calls, servers[v]);
		assert_true(t && server);
		t->alive = true;
#define COUNT_OF(name, ...) t->name = ++n;
		TRANSPORT_COUNTS(COUNT_OF)
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
		server->slowest_rtt_ns = 1000000011;
		server->draining_ns = 1000000012;
		n = 11;
#define SERVER_COUNT(name, ...) server->name = ++n;
		RPC_SERVER_COUNTS(SERVER_COUNT, SERVER_COUNT)
		strcpy(server->oldest_op, "READ");
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
		struct fault *f = not_null(snapshot_fault(&now.faults, &faults[i]));

		f->count = i + 1;
		f->boots = f->nvswitch ? 0 : 2;
		f->first = 1600000000.125 + (double)i;
		f->last = 1700000000.125 + (double)i;
	}
	add_kernel_events();
	snapshot_mount(&now.calls, &(struct nfs_mount){ .server = "nas-1",
							.export = "/x",
							.mountpoint = "/a \"b\"",
							.version = "4.2" });
	snapshot_mount_calls(&now.calls, "nas-1", "/x", "/a \"b\"")->sums =
		(struct rpc_sums){ .calls = { [RPC_KIND_READ] = 61 },
				   .total_ns = { [RPC_KIND_WRITE] = 62 },
				   .sent_bytes = { [RPC_KIND_METADATA] = 63 },
				   .received_bytes = { [RPC_KIND_OTHER] = 64 },
				   .errors = { [RPC_KIND_READ] = 65 },
				   .phase_ns = { [RPC_PHASE_SLOT] = 66 } };
	*snapshot_owner_calls(&now.calls, "nas-1", "slurm:7") = (struct calls_by){
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
		snprintf(now.calls.mounts[0].options[o], NFS_OPTION_SIZE, "%d", o);
	now.calls.mounts[0].readahead_known = true;
	now.calls.mounts[0].readahead_bytes = 131072;
	now.calls.slots_wanted[SLOTS_SESSION] = 64;
	*snapshot_module(&now.calls, "sunrpc") =
		(struct client_module){ "sunrpc", "0a1b", "in-tree" };
	snapshot_stuck(&now.calls, "", false);
	*snapshot_stuck(&now.calls, "/a \"b\"", true) = (struct stuck_state){
		.mountpoint = "/a \"b\"", .rpc = true, .tasks = 71, .oldest_ns = 72
	};
	strcpy(snapshot_storage(&now.calls, "nas-1")->storage, "scratch");
	snapshot_server(&now.calls, "nas-1")->bound_by = "slot";
	episode_count_in(&now.calls, &episode);
	snapshot_health(&now.self, "xid_fatal", 2);
	snapshot_health(&now.self, "nfs_waiter", 0);
	for (int i = 0; i < 2; i++)
		snapshot_finding(&now.self, "xid_fatal", "0000:c1:00.0", "79");
	snapshot_hook(&now.self, "xprt_transmit", true);
	snapshot_hook(&now.self, "printk", false);
	snapshot_drop(&now.self, "rpc_waiter", 0);
	now.calls.left_out_entries = 5;
}

/* ---- reading the text ---- */

/* @text becomes the file of @now. */
static void write_text(enum metric_detail detail)
{
	FILE *out = text_begin();

	openmetrics_write(out, &now, FORMAT_OPENMETRICS, detail);
	text_end(out);
}

/* The same with all histograms. */
static void write_file(void)
{
	write_text(DETAIL_OP);
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

	now.calls.source = RPC_SOURCE_NONE;
	write_file();
	assert_int_equal(lines_with("# TYPE "), COUNT(always));
	for (size_t i = 0; i < COUNT(always); i++)
		assert_has(text, metrics[always[i]].name);
}

TEST(each_family_is_written_at_its_level_of_detail)
{
	fill();
	for (int m = 0; m < METRICS; m++) {
		write_text(metrics[m].least);
		if (!strstr(text, formatted("# TYPE " METRIC_PREFIX "%s ", metrics[m].name)))
			fail_msg(
				"nobody writes %s: do so in openmetrics.c, and give fill() a value of it",
				metrics[m].name);
	}
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
	snapshot_free(&now);
}

/* The shown bounds are those of kernel buckets. */
TEST(a_value_is_counted_where_it_is_at_most_le)
{
	for (int e = 9; e <= 38; e++)
		for (int off = -1; off <= 1; off++) {
			uint64_t ns = ((uint64_t)1 << e) + (uint64_t)off;
			struct rpc_op *op = not_null(snapshot_op(&now.calls, "nas", "READ"));

			histogram_record(&op->total, 1, ns);
			for (int p = 0; p < RPC_PHASES; p++)
				histogram_record(&op->phase[p], 1, ns);
			assert_counted((double)ns / 1e9, "_bucket{");
		}
	for (uint32_t depth = 0; depth < 300; depth++) {
		struct rpc_server_state *server = not_null(snapshot_server(&now.calls, "nas"));

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
		"rpc_phase_seconds_total{server=\"nas\",phase=\"rtt\"}",
		"rpc_op_seconds_total{server=\"nas\",op=\"READ\"}",
		"rpc_op_phase_seconds_total{server=\"nas\",op=\"READ\",phase=\"rtt\"}",
		"rpc_op_duration_seconds_sum{server=\"nas\",op=\"READ\"}",
		"rpc_saturated_seconds_total{server=\"nas\",transport=\"tcp/0\",limit=\"send\"}",
		"rpc_oldest_waiter_seconds{server=\"nas\",queue=\"pending\"}",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rpc_op *op = snapshot_op(&now.calls, "nas", "READ");
		struct rpc_transport_state *tr = snapshot_transport(&now.calls, "nas", "tcp/0");
		struct rpc_server_state *server = snapshot_server(&now.calls, "nas");

		assert_true(op && tr && server);
		op->total.sum_ns = cases[i].ns;
		op->phase[RPC_PHASE_RTT].sum_ns = cases[i].ns;
		tr->saturated_ns[RPC_LIMIT_SEND] = cases[i].ns;
		server->oldest_ns[RPC_QUEUE_PENDING] = cases[i].ns;
		write_file();
		for (size_t n = 0; n < COUNT(samples); n++)
			assert_value(samples[n], cases[i].text);
		snapshot_free(&now);
	}
}

/* ---- the values of the samples ---- */

/* Those of the full snapshot, without the prefix of their names. */
TEST(counters_and_gauges_show_the_snapshots_figures)
{
	FILE *file = fopen(TEST_DATA "/openmetrics.txt", "re");
	char line[600];

	assert_non_null(file);
	fill();
	write_file();
	while (fgets(line, sizeof(line), file))
		assert_has(text, formatted("\n" METRIC_PREFIX "%s", line));
	fclose(file);
	assert_value("build_info{version=\"" XIDSCOPE_VERSION "\"}", "1");
}

TEST(switches_are_no_gpus)
{
	size_t gpus;

	fill();
	write_file();
	gpus = lines_with("{gpu=");
	assert_true(gpus > 0);
	assert_int_equal(lines_with("{gpu=\"0000:c1:00.0\""), gpus);
	assert_lacks(text, "{device=\"0000:c1:00.0\"");
}

static void add_xid_154(const char *device, const char *severity, double last)
{
	struct fault like = { .code = 154, .action = "a" };

	strcpy(like.device, device);
	strcpy(like.severity, severity);
	not_null(snapshot_fault(&now.faults, &like))->last = last;
}

/* Severity is no label of the timestamp: one sample, of the latest. */
TEST(an_xid_with_two_severities_has_one_timestamp)
{
	for (int latest = 0; latest < 2; latest++) {
		add_xid_154("0000:c1:00.0", "warning", latest ? 10.5 : 20.5);
		add_xid_154("0000:c1:00.0", "info", latest ? 20.5 : 10.5);
		add_xid_154("0000:c2:00.0", "info", 30.5);
		write_file();
		assert_int_equal(lines_with("gpu_xid_last_timestamp_seconds{"), 2);
		assert_value("gpu_xid_last_timestamp_seconds{gpu=\"0000:c1:00.0\",xid=\"154\"}",
			     "20.500000");
		assert_value("gpu_xid_last_timestamp_seconds{gpu=\"0000:c2:00.0\",xid=\"154\"}",
			     "30.500000");
		snapshot_free(&now);
	}
}

/* Only a later one of the same place, server and export covers it. */
TEST(a_mount_over_another_has_one_readahead)
{
	static const struct nfs_mount mounts[] = {
		{ .server = "nas", .export = "/x", .mountpoint = "/a", .version = "3" },
		{ .server = "nas", .export = "/x", .mountpoint = "/a", .version = "4" },
		{ .server = "nas", .export = "/x", .mountpoint = "/b" },
		{ .server = "nas", .export = "/y", .mountpoint = "/a" },
		{ .server = "other", .export = "/x", .mountpoint = "/a" },
	};

	ARRAY_EACH(m, mounts, COUNT(mounts)) {
		struct nfs_mount *added = not_null(snapshot_mount(&now.calls, m));

		added->readahead_known = true;
		added->readahead_bytes = strtoull(m->version, NULL, 10);
	}
	write_file();
	assert_int_equal(lines_with("nfs_mount_readahead_bytes{"), 4);
	assert_value("nfs_mount_readahead_bytes{server=\"nas\",export=\"/x\",mountpoint=\"/a\"}",
		     "4");
}

/* Without the log its families are missing, not 0. */
TEST(what_is_not_watched_has_no_samples)
{
	snapshot_gpu(&now.faults, "0000:c1:00.0");
	write_file();
	assert_lacks(text, "gpu_fault_authority");
	assert_lacks(text, "kernel_log_lost_records");
	/* a GPU whose identity was not reported */
	assert_lacks(text, "gpu_info");
}

/* Writes @now as if its source did not know the facts @unknown. */
static void write_without(uint64_t unknown)
{
	now.calls.unknown = unknown;
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

	fill();
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
	struct rpc_op *op = not_null(snapshot_op(&now.calls, "nas", "READ"));

	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_DISTRIBUTION);
	op->total.bucket[TIME_OVERFLOW] = 5;
	op->total.sum_ns = 1000000000;
	write_file();
	assert_value("rpc_seconds_bucket{server=\"nas\",kind=\"read\",le=\"+Inf\"}", "5");
	assert_value("rpc_seconds_count{server=\"nas\",kind=\"read\"}", "5");
	assert_value("rpc_seconds_sum{server=\"nas\",kind=\"read\"}", "1.000000000");
	assert_value("rpc_op_calls_total{server=\"nas\",op=\"READ\"}", "5");
	assert_int_equal(lines_with("_bucket{"), lines_with(",le=\"+Inf\""));
}

/* ---- levels of detail ---- */

#define OPS 19 /* of NFSv3, that a shell can cause */

static const char *const op_names[OPS] = {
	"READ",   "WRITE",   "COMMIT",      "GETATTR", "SETATTR",  "LOOKUP", "ACCESS",
	"CREATE", "MKDIR",   "SYMLINK",     "MKNOD",   "REMOVE",   "RMDIR",  "RENAME",
	"LINK",   "READDIR", "READDIRPLUS", "FSSTAT",  "READLINK",
};

/* All figures of a mount and of an owner by the kinds from @first on, but errors, which are rare. */
static void add_sums(struct rpc_sums *sums, int first)
{
	for (int k = first; k < (first == RPC_KIND_OTHER ? RPC_KINDS : RPC_KIND_OTHER); k++)
		sums->calls[k] = sums->total_ns[k] = sums->wait_ns[k] = sums->sent_bytes[k] =
			sums->received_bytes[k] = 1;
	for (int p = 0; p < RPC_PHASES; p++)
		sums->phase_ns[p] = 1;
}

/* A server with a mount and an owner. */
static void add_server(const char *name, unsigned int transports, int ops)
{
	static uint64_t seed = 3;
	struct nfs_mount mount = { .mountpoint = "/mnt", .readahead_known = true };

	for (int o = 0; o < ops; o++) {
		struct rpc_op *op = not_null(snapshot_op(&now.calls, name, op_names[o]));

		for (int n = 0; n < 200; n++)
			add_random_call(op, &seed);
		op->sent_bytes = op->received_bytes = 1;
	}
	for (unsigned int t = 0; t < transports; t++) {
		struct rpc_transport_state *state;

		state = snapshot_transport(&now.calls, name, formatted("tcp/%u", t));
		state->alive = true;
		strcpy(state->remote.address, "10.0.0.1");
	}
	strcpy(mount.server, name);
	assert_non_null(snapshot_server(&now.calls, name));
	snapshot_server(&now.calls, name)->bound_by = "slot";
	for (int kind = 0; kind < EPISODE_KINDS; kind++) {
		struct episode episode = { .kind = (enum episode_kind)kind,
					   .seconds = 20,
					   .bytes = 1 << 30 };

		strcpy(episode.server, name);
		episode_count_in(&now.calls, &episode);
	}
	assert_non_null(snapshot_mount(&now.calls, &mount));
	add_sums(&snapshot_mount_calls(&now.calls, name, "", mount.mountpoint)->sums, 0);
	add_sums(&snapshot_owner_calls(&now.calls, name, "slurm:7")->sums, 0);
	assert_non_null(snapshot_storage(&now.calls, name));
}

/* @now is a node with all that it has without a fault: as many hooks and drops as there is room for. */
static void add_node(unsigned int servers, unsigned int transports, int ops)
{
	now.calls.source = RPC_SOURCE_BTF;
	now.faults.gpu_watched = true;
	now.self.other_bytes = 1;
	for (unsigned int v = 0; v < servers; v++)
		add_server(formatted("nas-%u.example.com", v), transports, ops);
	for (size_t i = 0; i <= COUNT(now.self.hooks); i++)
		snapshot_hook(&now.self, op_names[i % OPS], true);
	assert_int_equal(now.self.hook_count, COUNT(now.self.hooks));
	for (size_t i = 0; i < COUNT(now.self.drops); i++)
		snapshot_drop(&now.self, op_names[i], 0);
	for (int r = 0; r < HEALTH_RULES; r++)
		if (health_rules[r].level != HEALTH_OK)
			snapshot_health(&now.self, health_rules[r].name, 0);
	for (int rpc = 0; rpc < 2; rpc++)
		assert_non_null(snapshot_stuck(&now.calls, "", rpc));
	for (int m = 0; m < 3; m++)
		assert_non_null(snapshot_module(&now.calls, op_names[m]));
}

/* The value of a sample, whose name has no prefix; -1: there is none. */
static double value_of(const char *sample)
{
	const char *begin = formatted("\n" METRIC_PREFIX "%s ", sample), *at = strstr(text, begin);

	return at ? strtod(at + strlen(begin), NULL) : -1;
}

/* The calls for an NFSv4.1 lease are of no mount, and the kernel's. */
static void add_lease(const char *server)
{
	add_sums(&snapshot_mount_calls(&now.calls, server, "", "")->sums, RPC_KIND_METADATA);
	add_sums(&snapshot_owner_calls(&now.calls, server, "kernel")->sums, RPC_KIND_METADATA);
}

/* Ops that found no room in the table. */
static void add_rest(const char *server)
{
	struct rpc_op *op = not_null(snapshot_op(&now.calls, server, "other"));

	histogram_record(&op->total, 1, 1000);
	op->sent_bytes = op->received_bytes = 1;
	for (size_t i = 0; i < now.calls.mount_call_count; i++)
		if (!strcmp(now.calls.mount_calls[i].server, server))
			add_sums(&now.calls.mount_calls[i].sums, RPC_KIND_OTHER);
	for (size_t i = 0; i < now.calls.owner_call_count; i++)
		if (!strcmp(now.calls.owner_calls[i].server, server))
			add_sums(&now.calls.owner_calls[i].sums, RPC_KIND_OTHER);
}

TEST(a_node_has_at_most_so_many_samples)
{
	static const struct {
		unsigned int servers, transports;
		int ops; /* of each server; the kernel side has room for RPC_OP_SERIES in all */
		size_t most;
	} cases[] = {
		{ 1, 1, OPS, 300 },
		{ 8, 16, OPS, 1500 },
		{ 32, 1, (RPC_OP_SERIES - 1) / 32, 4500 },
	};

	ARRAY_EACH(c, cases, COUNT(cases)) {
		size_t samples;

		add_node(c->servers, c->transports, c->ops);
		for (size_t v = 0; v < now.calls.server_count; v++)
			add_lease(now.calls.servers[v].server);
		if (c->ops < OPS) /* the table is full */
			for (size_t v = 0; v < now.calls.server_count; v++)
				add_rest(now.calls.servers[v].server);
		write_text(DETAIL_NODE);
		samples = lines_with("") - lines_with("# ");
		print_message("# %u servers with %u transports: %zu samples, %zu bytes; ",
			      c->servers, c->transports, samples, text_len);
		write_text(DETAIL_OP);
		print_message("with --detail op %zu, %zu\n", lines_with("") - lines_with("# "),
			      text_len);
		if (samples > c->most)
			fail_msg(
				"%zu samples, at most %zu: leave out what no alert, rule, panel or "
				"documented query reads, or move it to another --detail",
				samples, c->most);
		snapshot_free(&now);
	}
}

TEST(the_help_names_the_level_that_a_family_needs)
{
	for (const struct metric *m = metrics; m < metrics + METRICS; m++)
		assert_int_equal(m->least, strstr(m->help, "--detail op") ? DETAIL_OP :
					   strstr(m->help, "--detail transport") ?
									    DETAIL_TRANSPORT :
									    DETAIL_NODE);
}

/* Also the sums and counts by op; but sums of transports become single ones. */
TEST(what_node_shows_op_shows_with_the_same_value)
{
	size_t lines = 0;
	char *coarse;

	add_node(2, 2, OPS);
	write_text(DETAIL_NODE);
	coarse = not_null(strdup(text));
	write_text(DETAIL_OP);
	for (const char *line = strtok(coarse, "\n"); line; line = strtok(NULL, "\n"), lines++)
		if (!strstr(text, line) && !strstr(line, "transport=\"\"") &&
		    !strstr(line, "=\"other\"}"))
			fail_msg("with --detail op there is no line %s", line);
	free(coarse);
	assert_true(lines > 300);
	assert_true(value_of("rpc_op_calls_total{server=\"nas-0.example.com\",op=\"LINK\"}") ==
		    200);
	assert_lacks(text, ",kind=\"other\"");
}

TEST(an_op_belongs_to_one_kind)
{
	static const struct {
		const char *op, *kind;
	} cases[] = {
		{ "READ", "read" },          { "READ_PLUS", "read" },   { "WRITE", "write" },
		{ "COMMIT", "write" },       { "READDIR", "metadata" }, { "READLINK", "metadata" },
		{ "LAYOUTGET", "metadata" }, { "other", "metadata" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rpc_op *op = not_null(snapshot_op(&now.calls, "nas", cases[i].op));

		histogram_record(&op->total, 1, 1000);
		write_text(DETAIL_NODE);
		assert_true(value_of(formatted("rpc_seconds_count{server=\"nas\",kind=\"%s\"}",
					       cases[i].kind)) == 1);
		snapshot_free(&now);
	}
}

/* The source adds its waits to the first transport of a client. */
TEST(a_session_has_a_sample_for_the_first_transport_or_where_it_waited)
{
	static const char begin[] = "rpc_saturated_seconds_total{server=\"nas\",transport=\"tcp/";

	add_server("nas", 3, 1);
	now.calls.transports[2].saturated_ns[RPC_LIMIT_SESSION] = 1500000000;
	write_text(DETAIL_TRANSPORT);
	for (int i = 0; i < 3; i++) {
		assert_true(value_of(formatted("%s%d\",limit=\"session\"}", begin, i)) ==
			    (i ? i == 1 ? -1 : 1.5 : 0));
		assert_true(value_of(formatted("%s%d\",limit=\"slot\"}", begin, i)) == 0);
	}
}

TEST(what_is_well_has_one_sample)
{
	static const struct {
		const char *sample;
		double value[2]; /* without and with --detail transport; -1: none */
	} samples[] = {
		{ "node_health{check=\"xid_fatal\"}", { 2, 2 } },
		{ "node_health{check=\"nfs_waiter\"}", { -1, 0 } },
		{ "node_health{check=\"other\"}", { 0, -1 } },
		{ "hook_attached{hook=\"rpc_task_sleep\"}", { -1, 1 } },
		{ "hook_attached{hook=\"rpc_task_wakeup\"}", { 0, 0 } },
		{ "hook_attached{hook=\"printk_console\"}", { 1, 1 } },
		{ "hook_attached{hook=\"other\"}", { 1, -1 } },
		/* XidscopeEventsDropped must see it at 0 */
		{ "events_dropped_total{reason=\"rpc_waiter\"}", { 0, 0 } },
		{ "events_dropped_total{reason=\"printk_others\"}", { -1, 0 } },
		{ "events_dropped_total{reason=\"rpc_owner_gone\"}", { 3, 3 } },
	};

	snapshot_health(&now.self, "xid_fatal", 2);
	snapshot_health(&now.self, "nfs_waiter", 0);
	snapshot_hook(&now.self, "rpc_task_sleep", true);
	snapshot_hook(&now.self, "rpc_task_wakeup", false);
	snapshot_hook(&now.self, "printk_console", true);
	snapshot_drop(&now.self, "rpc_waiter", 0);
	snapshot_drop(&now.self, "printk_others", 0);
	snapshot_drop(&now.self, "rpc_owner_gone", 3);
	for (int more = 0; more < 2; more++) {
		write_text(more ? DETAIL_TRANSPORT : DETAIL_NODE);
		ARRAY_EACH(x, samples, COUNT(samples))
			assert_true(value_of(x->sample) == x->value[more]);
	}
}

TEST(a_node_has_sums_of_transports)
{
	static const char *const samples[] = {
		"rpc_retransmits_total{server=\"nas\",transport=\"\"}",
		"rpc_timeouts_total{server=\"nas\",transport=\"\"}",
		"rpc_disconnects_total{server=\"nas\",transport=\"\"}",
		"rpc_connects_total{server=\"nas\",transport=\"\"}",
		"rpc_slots{server=\"nas\",transport=\"\",kind=\"max\"}",
		"rpc_slots{server=\"nas\",transport=\"\",kind=\"in_flight\"}",
	};
	size_t i = 0;

	add_server("nas", 3, 1);
	add_server("other", 1, 1);
	ARRAY_EACH(t, now.calls.transports, now.calls.transport_count) {
		t->retransmits = 1 << i;
		t->timeouts = 10 << i;
		t->disconnects = 100 << i;
		t->connects = 1000 << i;
		t->slots_max = 10000 << i;
		t->slots_in_flight = 100000 << i++;
	}
	now.calls.transports[0].alive = false; /* has counters and no slots */
	write_text(DETAIL_NODE);
	for (i = 0; i < COUNT(samples); i++)
		assert_true(value_of(samples[i]) == pow(10, (double)i) * (i < 4 ? 7 : 6));
	assert_lacks(text, "transport=\"tcp");
	assert_lacks(text, "rpc_replies");
	assert_lacks(text, "rpc_transport_info");
}
