// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves of the levels of detail: how many samples a file has at most, that figures by server and kind are exact sums of those
 * by op, and that whatever is in a file with less detail is in the one with more, with the same value. */
#include <math.h>

#include "printed.h"
#include "snapshot.h"
#include "health/health.h"
#include "limits/episodes.h"
#include "sinks/metrics.h"

#define OPS 19 /* of NFSv3, that a shell can cause */

static const char *const op_names[OPS] = {
	"READ",   "WRITE",   "COMMIT",      "GETATTR", "SETATTR",  "LOOKUP", "ACCESS",
	"CREATE", "MKDIR",   "SYMLINK",     "MKNOD",   "REMOVE",   "RMDIR",  "RENAME",
	"LINK",   "READDIR", "READDIRPLUS", "FSSTAT",  "READLINK",
};

/* All figures of a mount and of an owner but errors, which are rare. */
static void add_sums(struct rpc_sums *sums)
{
	for (int k = 0; k < RPC_KIND_OTHER; k++)
		sums->calls[k] = sums->total_ns[k] = sums->wait_ns[k] = sums->sent_bytes[k] =
			sums->received_bytes[k] = 1;
	for (int p = 0; p < RPC_PHASES; p++)
		sums->phase_ns[p] = 1;
}

/* A server with a mount and an owner. */
static void add_server(const char *name, unsigned int transports, int ops)
{
	static uint64_t seed = 3;
	struct nfs_mount mount = { .mountpoint = "/mnt" };

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
		assert_int_equal(episode_count_in(&now.calls, &episode), 0);
	}
	assert_non_null(snapshot_mount(&now.calls, &mount));
	add_sums(&snapshot_mount_calls(&now.calls, name, "", mount.mountpoint)->sums);
	add_sums(&snapshot_owner_calls(&now.calls, name, "slurm:7")->sums);
	assert_non_null(snapshot_storage(&now.calls, name));
}

/* @now is a node with all that it has without a fault: as many hooks and drops as there is room for. */
static void add_node(unsigned int servers, unsigned int transports, int ops)
{
	now.calls.source = RPC_SOURCE_BTF;
	now.faults.gpu_watched = true;
	for (unsigned int v = 0; v < servers; v++)
		add_server(formatted("nas-%u.example.com", v), transports, ops);
	for (size_t i = 0; i < COUNT(now.self.hooks); i++)
		snapshot_hook(&now.self, op_names[i % OPS], true);
	for (size_t i = 0; i < COUNT(now.self.drops); i++)
		snapshot_drop(&now.self, op_names[i], 0);
	for (int r = 0; r < HEALTH_RULES; r++)
		if (health_rules[r].level != HEALTH_OK)
			snapshot_health(&now.self, health_rules[r].name, 0);
}

/* Writes @now as @text. */
static void write_text(enum metric_detail detail)
{
	FILE *out = text_begin();

	openmetrics_write(out, &now, FORMAT_OPENMETRICS, detail);
	text_end(out);
}

static size_t count_samples(void)
{
	size_t samples = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		samples += *at != '#';
	return samples;
}

/* The value of a sample, whose name has no prefix; -1: there is none. */
static double value_of(const char *sample)
{
	const char *begin = formatted("\n" METRIC_PREFIX "%s ", sample), *at = strstr(text, begin);

	return at ? strtod(at + strlen(begin), NULL) : -1;
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
		write_text(DETAIL_NODE);
		samples = count_samples();
		print_message("# %u servers with %u transports: %zu samples, %zu bytes; ",
			      c->servers, c->transports, samples, text_len);
		write_text(DETAIL_OP);
		print_message("with --detail op %zu, %zu\n", count_samples(), text_len);
		if (samples > c->most)
			fail_msg(
				"%zu samples, at most %zu: leave out what no alert, rule, panel or "
				"documented query reads, or move it to another --detail",
				samples, c->most);
		snapshot_free(&now);
	}
}

TEST(a_level_has_these_bounds)
{
	static const struct {
		enum metric_id metric;
		int bounds[METRIC_DETAILS]; /* without +Inf */
		int first, last; /* powers of two, at the level with the most */
	} cases[] = {
		{ METRIC_RPC_SECONDS, { 13, 13, 13 }, 16, 34 },
		{ METRIC_RPC_OP_DURATION_SECONDS, { 0, 0, 25 }, 12, 36 },
		{ METRIC_RPC_OP_PHASE_DURATION_SECONDS, { 0, 0, 13 }, 12, 36 },
		{ METRIC_RPC_QUEUE_DEPTH, { 0, 0, 18 }, 0, 17 },
		{ METRIC_CHECKPOINT_EPISODE_SECONDS, { 0, 0, 9 }, 30, 38 },
		{ METRIC_CHECKPOINT_EPISODE_BYTES, { 0, 0, 14 }, 26, 39 },
	};
	size_t histograms = 0;

	for (int m = 0; m < METRICS; m++)
		histograms += metrics[m].type == METRIC_HISTOGRAM;
	assert_int_equal(histograms, COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct metric *m = &metrics[cases[i].metric];
		uint64_t most = m->bounds[DETAIL_OP] & ~BOUND_INFINITY;

		for (int d = 0; d < METRIC_DETAILS; d++)
			assert_int_equal(__builtin_popcountll(m->bounds[d] & ~BOUND_INFINITY),
					 cases[i].bounds[d]);
		assert_int_equal(__builtin_ctzll(most), cases[i].first);
		assert_int_equal(63 - __builtin_clzll(most), cases[i].last);
	}
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
	assert_lacks(text, "kind=\"other\"");
}

/* The sum of a family over the ops of a kind; @more: labels behind the op's. */
static double sum_over_ops(const char *sample, const char *kind, const char *more)
{
	double sum = 0;

	for (int o = 0; o < OPS; o++) {
		const char *its = o ? o < 3 ? "write" : "metadata" : "read";
		double value;

		if (strcmp(its, kind) != 0)
			continue;
		value = value_of(formatted("%s{server=\"nas-0.example.com\",op=\"%s\"%s}", sample,
					   op_names[o], more));
		assert_true(value >= 0);
		sum += value;
	}
	return sum;
}

/* Each bound of a histogram by kind is one of those by op. */
TEST(figures_by_kind_are_sums_of_those_by_op)
{
	static const struct {
		const char *by_kind, *by_op;
		size_t count;
	} families[] = {
		{ "rpc_seconds_bucket", "rpc_op_duration_seconds_bucket", 3 * (13 + 1) },
		{ "rpc_phase_seconds_total", "rpc_op_phase_seconds_total", 3 * RPC_PHASES },
		{ "rpc_sent_bytes_total", "rpc_op_sent_bytes_total", 3 },
		{ "rpc_received_bytes_total", "rpc_op_received_bytes_total", 3 },
	};
	char kind[16], more[48];
	double value;

	add_node(1, 1, OPS);
	write_text(DETAIL_OP);
	ARRAY_EACH(f, families, COUNT(families)) {
		char begin[128];
		size_t seen = 0;

		snprintf(begin, sizeof(begin),
			 "\n" METRIC_PREFIX "%s{server=\"nas-0.example.com\",kind=\"", f->by_kind);
		for (const char *at = text; (at = strstr(at, begin)); seen++) {
			at += strlen(begin);
			*more = 0;
			if (sscanf(at, "%15[a-z]\"} %lf", kind, &value) != 2)
				assert_int_equal(
					sscanf(at, "%15[a-z]\"%47[^}]} %lf", kind, more, &value),
					3);
			assert_true(fabs(value - sum_over_ops(f->by_op, kind, more)) < 1e-6);
		}
		assert_int_equal(seen, f->count);
	}
}

TEST(an_op_belongs_to_one_kind)
{
	static const struct {
		const char *op, *kind;
	} cases[] = {
		{ "READ", "read" },          { "READ_PLUS", "read" },   { "WRITE", "write" },
		{ "COMMIT", "write" },       { "READDIR", "metadata" }, { "READLINK", "metadata" },
		{ "LAYOUTGET", "metadata" }, { "other", "other" },
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
	snapshot_health(&now.self, "xid_fatal", 2);
	snapshot_health(&now.self, "nfs_waiter", 0);
	snapshot_hook(&now.self, "rpc_task_sleep", true);
	snapshot_hook(&now.self, "rpc_task_wakeup", false);
	snapshot_hook(&now.self, "printk_console", true);
	snapshot_drop(&now.self, "rpc_waiter", 0); /* XidscopeEventsDropped must see it at 0 */
	snapshot_drop(&now.self, "printk_others", 0);
	snapshot_drop(&now.self, "rpc_owner_gone", 3);
	write_text(DETAIL_NODE);
	assert_true(value_of("node_health{check=\"xid_fatal\"}") == 2);
	assert_true(value_of("node_health{check=\"nfs_waiter\"}") == -1);
	assert_true(value_of("node_health{check=\"other\"}") == 0);
	assert_true(value_of("hook_attached{hook=\"rpc_task_sleep\"}") == -1);
	assert_true(value_of("hook_attached{hook=\"rpc_task_wakeup\"}") == 0);
	assert_true(value_of("hook_attached{hook=\"printk_console\"}") == 1);
	assert_true(value_of("hook_attached{hook=\"other\"}") == 1);
	assert_true(value_of("events_dropped_total{reason=\"rpc_waiter\"}") == 0);
	assert_true(value_of("events_dropped_total{reason=\"printk_others\"}") == -1);
	assert_true(value_of("events_dropped_total{reason=\"rpc_owner_gone\"}") == 3);
	write_text(DETAIL_TRANSPORT);
	assert_true(value_of("node_health{check=\"nfs_waiter\"}") == 0);
	assert_true(value_of("hook_attached{hook=\"rpc_task_sleep\"}") == 1);
	assert_true(value_of("events_dropped_total{reason=\"printk_others\"}") == 0);
	assert_lacks(text, "=\"other\"}");
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
