// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the metrics file has metadata in their order and one end, that it is exact to the nanosecond, and that it
 * holds the families of the table in metrics.c, all of them and no others. What real readers demand besides (names, units
 * and labels as in that table, canonical bounds, cumulative buckets up to infinity, phases that add up, labels that read
 * back) tests/readers/check.sh has them prove. */
#include "unit.h"
#include "limits/episodes.h"
#include "sinks/metrics.h"
#include "snapshot.h"
#include "version.h"

static const enum metrics_format formats[] = { FORMAT_OPENMETRICS, FORMAT_PROMETHEUS };

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
		struct kernel_event *e = snapshot_kernel_event(&s->faults, events[i].gpu_driver,
							       events[i].kind, events[i].device);

		assert_non_null(e);
		e->count = i + 31;
		e->last = 1700000100.5 + (double)i;
	}
	snapshot_unverified(&s->faults, "0000:c1:00.0", 79)->count = 41;
	snapshot_recovery(&s->faults, "0000:c1:00.0", "action_none")->time = 1700000200.5;
	snapshot_recovery(&s->faults, "0000:c1:00.0", "device_probed")->time = 1700000201.5;
	gpu = snapshot_gpu(&s->faults, "0000:c1:00.0");
	assert_non_null(gpu);
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
		struct fault *f = snapshot_fault(&s.faults, &faults[i]);

		assert_non_null(f);
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
	*snapshot_owner_calls(&s.calls, "nas-1", "slurm:7") = (struct owner_calls){
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

struct sample {
	const char *line; /* as it is in the file */
	char name[80]; /* without the prefix */
	const char *value; /* all that follows the labels and one blank */
};

struct text {
	char *all;
	size_t size;
	char **lines; /* without their newlines */
	size_t line_count;
	struct sample *samples;
	size_t sample_count;
};

static bool is_sample(const char *line)
{
	return line[0] != '#';
}

static struct sample read_sample(const char *line)
{
	const char *labels_end = strrchr(line, '}');
	struct sample s = { .line = line };
	size_t name;

	if (strncmp(line, METRIC_PREFIX, strlen(METRIC_PREFIX)))
		fail_msg("no prefix: %s", line);
	line += strlen(METRIC_PREFIX);
	name = strcspn(line, "{ ");
	assert_true(name && name < sizeof(s.name));
	memcpy(s.name, line, name);
	s.value = (labels_end ? labels_end + 1 : line + name) + 1;
	assert_int_equal(s.value[-1], ' ');
	return s;
}

/* With all histograms. Fails unless every line ends with a newline. Free it with free_text(). */
static struct text text_of(const struct snapshot *s, enum metrics_format format)
{
	struct text t = {};
	FILE *out = open_memstream(&t.all, &t.size);
	char *copy;

	assert_non_null(out);
	openmetrics_write(out, s, format, DETAIL_OP);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(t.all), t.size);
	assert_int_equal(t.all[t.size - 1], '\n');
	copy = strdup(t.all);
	t.lines = calloc(t.size, sizeof(*t.lines));
	assert_true(copy && t.lines);
	for (char *line = copy, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		t.lines[t.line_count++] = line;
	}
	t.samples = calloc(t.line_count, sizeof(*t.samples));
	assert_non_null(t.samples);
	for (size_t i = 0; i < t.line_count; i++)
		if (is_sample(t.lines[i]))
			t.samples[t.sample_count++] = read_sample(t.lines[i]);
	return t;
}

static void free_text(struct text *t)
{
	if (t->lines)
		free(t->lines[0]);
	free(t->lines);
	free(t->samples);
	free(t->all);
	*t = (struct text){};
}

/* A full snapshot and its texts, and a test's own snapshot and its text. */
static struct snapshot full, s;
static struct text texts[COUNT(formats)], t;

BEFORE_EACH()
{
	full = full_snapshot();
	for (size_t f = 0; f < COUNT(formats); f++)
		texts[formats[f]] = text_of(&full, formats[f]);
}

AFTER_EACH()
{
	for (size_t f = 0; f < COUNT(formats); f++)
		free_text(&texts[f]);
	free_text(&t);
	snapshot_free(&full);
	snapshot_free(&s);
}

/* Writes the test's own snapshot. */
static void write_own(void)
{
	free_text(&t);
	t = text_of(&s, FORMAT_OPENMETRICS);
}

/* A label whose value needs no escapes. */
static const char *label_of(const struct sample *s, const char *name)
{
	static char value[LABEL_SIZE];
	const char *at = strstr(s->line, formatted("%s=\"", name));

	*value = 0;
	if (at)
		sscanf(at + strlen(name) + 2, "%191[^\"]", value);
	return value;
}

/* The family that has a sample of this name. */
static enum metric_id metric_of(const char *name)
{
	static const char *const suffixes[][4] = {
		[METRIC_COUNTER] = { "_total" },
		[METRIC_GAUGE] = { "" },
		[METRIC_HISTOGRAM] = { "_bucket", "_count", "_sum" },
	};

	for (int m = 0; m < METRICS; m++) {
		size_t len = strlen(metrics[m].name);

		if (strncmp(name, metrics[m].name, len))
			continue;
		for (const char *const *suffix = suffixes[metrics[m].type]; *suffix; suffix++)
			if (!strcmp(name + len, *suffix))
				return m;
	}
	fail_msg("%s is in no family of the table", name);
	return METRICS;
}

/* @sample, without the prefix of its name, has this value in the test's own text. */
static void assert_value(const char *sample, const char *value)
{
	char begin[400];
	size_t len = (size_t)snprintf(begin, sizeof(begin), METRIC_PREFIX "%s ", sample);

	for (size_t i = 0; i < t.sample_count; i++)
		if (!strncmp(t.samples[i].line, begin, len)) {
			assert_string_equal(t.samples[i].line + len, value);
			return;
		}
	fail_msg("no sample %s in:\n%s", begin, t.all);
}

static bool has(const char *part)
{
	return strstr(t.all, part) != NULL;
}

/* ---- the file's form ---- */

/* A family is its metadata, in the order TYPE, UNIT, HELP, then its samples; and
 * as its metadata come once, nothing of it is elsewhere. */
TEST(metadata_come_once_in_order_before_all_samples_of_a_family)
{
	for (size_t f = 0; f < COUNT(formats); f++) {
		struct text t = texts[formats[f]];
		bool openmetrics = formats[f] == FORMAT_OPENMETRICS, seen[METRICS] = {};
		size_t i = 0, end = t.line_count - openmetrics;

		while (i < end) {
			enum metric_id id = METRICS;
			size_t samples = 0;

			/* its first sample shows which one */
			for (size_t j = i; j < end && id == METRICS; j++)
				if (is_sample(t.lines[j]))
					id = metric_of(read_sample(t.lines[j]).name);
			assert_in_range(id, 0, METRICS - 1);
			assert_false(seen[id]);
			seen[id] = true;
			const struct metric *m = &metrics[id];
			const char *suffix =
				!openmetrics && m->type == METRIC_COUNTER ? "_total" : "";

			assert_string_equal(t.lines[i++],
					    formatted("# TYPE xidscope_%s%s %s", m->name, suffix,
						      metric_type_names[m->type]));
			if (openmetrics && m->unit[0]) {
				assert_string_equal(t.lines[i++], formatted("# UNIT xidscope_%s %s",
									    m->name, m->unit));
			}
			assert_string_equal(t.lines[i++], formatted("# HELP xidscope_%s%s %s",
								    m->name, suffix, m->help));
			for (; i < end && is_sample(t.lines[i]); i++, samples++)
				assert_int_equal(metric_of(read_sample(t.lines[i]).name), id);
			assert_true(samples > 0);
		}
		for (int m = 0; m < METRICS; m++)
			if (!seen[m])
				fail_msg("%s is not in the file", metrics[m].name);
	}
}

TEST(no_two_samples_have_the_same_name_and_labels)
{
	const struct sample *samples = texts[FORMAT_OPENMETRICS].samples;

	for (size_t i = 0; i < texts[FORMAT_OPENMETRICS].sample_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strncmp(samples[i].line, samples[j].line,
				     (size_t)(strrchr(samples[i].line, ' ') - samples[i].line) + 1))
				fail_msg("twice: %s", samples[i].line);
}

/* Digits, then a point and more digits perhaps: a value and nothing after it, neither a timestamp nor an exemplar. */
TEST(a_value_is_a_plain_number_and_ends_its_line)
{
	for (size_t i = 0; i < texts[FORMAT_OPENMETRICS].sample_count; i++) {
		const char *value = texts[FORMAT_OPENMETRICS].samples[i].value;
		size_t n = strspn(value, "0123456789");

		assert_true(n > 0);
		if (value[n] == '.')
			n += 1 + strspn(value + n + 1, "0123456789");
		assert_int_equal(value[n], 0);
	}
}

TEST(openmetrics_alone_ends_with_eof_once)
{
	for (int empty = 0; empty <= 1; empty++) {
		t = text_of(empty ? &s : &full, FORMAT_OPENMETRICS);
		assert_string_equal(t.all + t.size - strlen("\n# EOF\n"), "\n# EOF\n");
		assert_ptr_equal(strstr(t.all, "# EOF"), t.all + t.size - strlen("# EOF\n"));
		free_text(&t);
		t = text_of(empty ? &s : &full, FORMAT_PROMETHEUS);
		assert_false(has("EOF"));
		free_text(&t);
	}
}

/* Turns the one into the other. */
TEST(the_formats_differ_in_metadata_only)
{
	struct text a = texts[FORMAT_OPENMETRICS], b = texts[FORMAT_PROMETHEUS];
	size_t j = 0;

	for (size_t i = 0; i < a.line_count; i++) {
		char line[512], name[100];

		snprintf(line, sizeof(line), "%s", a.lines[i]);
		if (!strncmp(line, "# UNIT ", 7) || !strcmp(line, "# EOF"))
			continue;
		if (line[0] == '#') {
			assert_int_equal(sscanf(line, "# %*4[A-Z] xidscope_%99s", name), 1);
			for (int m = 0; m < METRICS; m++)
				if (!strcmp(metrics[m].name, name) &&
				    metrics[m].type == METRIC_COUNTER)
					snprintf(line, sizeof(line), "%.*s_total%s",
						 (int)(strstr(a.lines[i], name) - a.lines[i] +
						       (long)strlen(name)),
						 a.lines[i],
						 strstr(a.lines[i], name) + strlen(name));
		}
		assert_true(j < b.line_count);
		assert_string_equal(b.lines[j++], line);
	}
	assert_int_equal(j, b.line_count);
}

TEST(a_family_without_samples_is_left_out)
{
	static const enum metric_id always[] = { METRIC_RPC_SOURCE,     METRIC_LEFT_OUT_ENTRIES,
						 METRIC_EXPORT_SECONDS, METRIC_EXPORT_ERRORS,
						 METRIC_MEMORY_BYTES,   METRIC_BUILD_INFO };
	size_t families = 0;

	s.calls.source = RPC_SOURCE_NONE;
	write_own();
	for (size_t i = 0; i < t.line_count; i++)
		families += !strncmp(t.lines[i], "# TYPE ", 7);
	assert_int_equal(families, COUNT(always));
	for (size_t i = 0; i < COUNT(always); i++)
		assert_true(has(metrics[always[i]].name));
	free_text(&t);
}

/* ---- numbers ---- */

/* Fails unless a @value that is alone in histograms is counted under every `le` that is not below it, and no other. */
static void assert_counted(double value, const char *label, const char *of)
{
	write_own();
	for (size_t i = 0; i < t.sample_count; i++) {
		const struct sample *sample = &t.samples[i];

		if (strstr(sample->name, "_bucket") &&
		    (!of || !strcmp(label_of(sample, label), of)))
			assert_string_equal(sample->value,
					    value <= strtod(label_of(sample, "le"), NULL) ? "1" :
											    "0");
	}
	snapshot_free(&s);
}

/* The shown bounds are those of kernel buckets. */
TEST(a_value_is_counted_where_it_is_at_most_le)
{
	for (int e = 9; e <= 38; e++)
		for (int off = -1; off <= 1; off++) {
			uint64_t ns = ((uint64_t)1 << e) + (uint64_t)off;
			struct rpc_op *op = snapshot_op(&s.calls, "nas", "READ");

			assert_non_null(op);
			histogram_record(&op->total, 1, ns);
			for (int p = 0; p < RPC_PHASES; p++)
				histogram_record(&op->phase[p], 1, ns);
			assert_counted((double)ns / 1e9, NULL, NULL);
		}
	for (uint32_t depth = 0; depth < 300; depth++) {
		struct rpc_server_state *server = snapshot_server(&s.calls, "nas");

		assert_non_null(server);
		server->depth[0].bucket[histogram_index(depth, DEPTH_SHIFT, DEPTH_OVERFLOW)]++;
		assert_counted(depth, "queue", rpc_queue_names[0]);
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
		"rpc_phase_seconds_sum{server=\"nas\",phase=\"rtt\"}",
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
		write_own();
		for (size_t n = 0; n < COUNT(samples); n++)
			assert_value(samples[n], cases[i].text);
		snapshot_free(&s);
	}
}

/* ---- the values of the samples ---- */

/* Of a source that knows the addresses of each connection, but its counts only by protocol. */
TEST(a_connection_without_counts_has_its_addresses_only)
{
	struct rpc_transport_state *tr = snapshot_transport(&s.calls, "nas", "tcp/0");

	assert_non_null(tr);
	s.calls.source = RPC_SOURCE_MOUNTSTATS;
	tr->named_only = true;
	tr->remote = (struct endpoint){ "10.0.0.1", 2049 };
	write_own();
	assert_value("rpc_transport_info{server=\"nas\",transport=\"tcp/0\",protocol=\"\","
		     "local=\"\",remote=\"10.0.0.1:2049\"}",
		     "1");
	assert_false(has("xidscope_rpc_connects_total{"));
	assert_false(has("xidscope_rpc_saturated_seconds_total{"));
	assert_false(has("xidscope_rpc_slots{"));
}

/* Those of the full snapshot, without the prefix of their names. */
TEST(counters_and_gauges_show_the_snapshots_figures)
{
	FILE *file = fopen(TEST_DATA "/openmetrics.txt", "re");
	char line[600];

	assert_non_null(file);
	t = text_of(&full, FORMAT_OPENMETRICS);
	while (fgets(line, sizeof(line), file))
		assert_has(t.all, formatted("\n" METRIC_PREFIX "%s", line));
	fclose(file);
	assert_value("build_info{version=\"" XIDSCOPE_VERSION "\"}", "1");
}

TEST(switches_are_no_gpus)
{
	const struct text *in = &texts[FORMAT_OPENMETRICS];

	for (size_t i = 0; i < in->sample_count; i++) {
		bool ours = strstr(in->samples[i].line, "0000:c1:00.0");

		assert_true(ours || !strstr(in->samples[i].line, "{gpu="));
		assert_false(ours && strstr(in->samples[i].line, "{device="));
	}
}

static struct fault *xid_154(const char *device, const char *severity, double last)
{
	struct fault like = { .code = 154, .action = "a" }, *f;

	strcpy(like.device, device);
	strcpy(like.severity, severity);
	f = snapshot_fault(&s.faults, &like);
	assert_non_null(f);
	f->last = last;
	return f;
}

/* Severity is no label of timestamp and incidents: one sample, of the latest and of their sum. */
TEST(an_xid_with_two_severities_has_one_timestamp_and_its_incidents)
{
	for (int latest = 0; latest < 2; latest++) {
		size_t samples = 0;

		xid_154("0000:c1:00.0", "warning", latest ? 10.5 : 20.5)->incidents = 5;
		xid_154("0000:c1:00.0", "info", latest ? 20.5 : 10.5)->incidents = 6;
		xid_154("0000:c2:00.0", "info", 30.5);
		write_own();
		for (size_t i = 0; i < t.sample_count; i++)
			samples += !strcmp(t.samples[i].name, "gpu_xid_last_timestamp_seconds");
		assert_int_equal(samples, 2);
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
	write_own();
	assert_false(has("gpu_fault_authority"));
	assert_false(has("kernel_log_lost_records"));
	/* a GPU whose identity was not reported */
	assert_false(has("gpu_info"));
}

/* Writes the full snapshot as if its source did not know the facts @unknown. */
static void write_without(uint64_t unknown)
{
	free_text(&t);
	full.calls.unknown = unknown;
	t = text_of(&full, FORMAT_OPENMETRICS);
}

/* What a source does not measure is left out, and only that. */
TEST(an_unknown_fact_has_no_samples)
{
	static const struct {
		int fact;
		const char *gone; /* each of its lines has that */
	} cases[] = {
		{ RPC_FACT_SENT_BYTES, "xidscope_rpc_sent_bytes" },
		{ RPC_FACT_RECEIVED_BYTES, "xidscope_rpc_received_bytes" },
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
	static const char *const gone_with_all[] = { "rpc_sent", METRIC_PREFIX "rpc_slots",
						     "rpc_phase_seconds", "rpc_op_phase",
						     "rpc_queue_depth" };
	const struct text all = texts[FORMAT_OPENMETRICS];

	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t lines = 0;

		for (size_t l = 0; l < all.line_count; l++)
			lines += strstr(all.lines[l], cases[i].gone) != NULL;
		assert_true(lines > 0);
		write_without(RPC_FACT_BIT(cases[i].fact));
		assert_false(has(cases[i].gone));
		assert_int_equal(t.line_count, all.line_count - lines);
	}
	for (int q = 0; q < RPC_QUEUES; q++) {
		char name[64];

		write_without(RPC_FACT_BIT(RPC_FACT_DEPTH + q) |
			      RPC_FACT_BIT(RPC_FACT_DEPTH_MAX + q) |
			      RPC_FACT_BIT(RPC_FACT_OLDEST + q));
		snprintf(name, sizeof(name), "queue=\"%s\"", rpc_queue_names[q]);
		assert_has(all.all, name);
		assert_false(has(name));
	}
	write_without(RPC_ALL_FACTS);
	for (size_t i = 0; i < COUNT(gone_with_all); i++)
		assert_false(has(gone_with_all[i]));
}

/* A histogram without a distribution has its sum and count, and no bound that might seem to be known. */
TEST(an_unknown_distribution_shows_infinity_only)
{
	struct rpc_op *op = snapshot_op(&s.calls, "nas", "READ");

	assert_non_null(op);
	s.calls.unknown = RPC_FACT_BIT(RPC_FACT_DISTRIBUTION);
	op->total.bucket[TIME_OVERFLOW] = 5;
	op->total.sum_ns = 1000000000;
	write_own();
	assert_value("rpc_seconds_bucket{server=\"nas\",kind=\"read\",le=\"+Inf\"}", "5");
	assert_value("rpc_seconds_count{server=\"nas\",kind=\"read\"}", "5");
	assert_value("rpc_seconds_sum{server=\"nas\",kind=\"read\"}", "1.000000000");
	assert_value("rpc_op_calls_total{server=\"nas\",op=\"READ\"}", "5");
	for (size_t i = 0; i < t.sample_count; i++)
		assert_true(!strstr(t.samples[i].name, "_bucket") ||
			    !strcmp(label_of(&t.samples[i], "le"), "+Inf"));
}

TEST(a_transport_that_is_gone_keeps_its_counters_and_has_no_slots)
{
	struct rpc_transport_state *tr = snapshot_transport(&s.calls, "nas", "tcp/0");

	assert_non_null(tr);
	tr->connects = 9;
	write_own();
	assert_value("rpc_connects_total{server=\"nas\",transport=\"tcp/0\"}", "9");
	assert_false(has("rpc_slots"));
}

TEST(the_source_in_force_is_the_one_that_is_1)
{
	for (int source = RPC_SOURCE_NONE; source < RPC_SOURCES; source++) {
		s.calls.source = source;
		write_own();
		for (int each = RPC_SOURCE_BTF; each < RPC_SOURCES; each++) {
			assert_value(formatted("rpc_source{source=\"%s\"}", rpc_source_names[each]),
				     each == source ? "1" : "0");
		}
	}
}
