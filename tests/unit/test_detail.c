// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves of the two levels of detail: how many samples a file has at most, that the coarse histograms are exact sums
 * of the fine ones, and that whatever is in a file with less detail is in the one with more, with the same value. */
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

static void add_server(const char *name, unsigned int transports)
{
	static uint64_t seed = 3;
	struct nfs_mount mount = {};

	for (int o = 0; o < OPS; o++) {
		struct rpc_op *op = snapshot_op(&now.calls, name, op_names[o]);

		assert_non_null(op);
		for (int n = 0; n < 200; n++)
			add_random_call(op, &seed);
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
	assert_non_null(snapshot_storage(&now.calls, name));
}

/* @now is a node with all that it has without a fault: as many hooks and drops as there is room for. */
static void add_node(unsigned int servers, unsigned int transports)
{
	now.calls.source = RPC_SOURCE_BTF;
	now.faults.gpu_watched = true;
	for (unsigned int v = 0; v < servers; v++)
		add_server(formatted("nas-%u.example.com", v), transports);
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

/* Fails if a node with these servers has more than @most samples: a tenth above what was there when it was set. */
static void assert_at_most(unsigned int servers, unsigned int transports, size_t most)
{
	size_t samples;

	add_node(servers, transports);
	write_text(DETAIL_NODE);
	samples = count_samples();
	print_message("# %u servers with %u transports: %zu samples, %zu bytes; ", servers,
		      transports, samples, text_len);
	write_text(DETAIL_OP);
	print_message("with --detail op %zu, %zu\n", count_samples(), text_len);
	if (samples < 300 || samples > most)
		fail_msg(
			"%zu samples, not 300 to %zu: leave out what no alert, rule, panel or documented query reads, "
			"or move it to another --detail; or raise the limit here, correct the documents' figure, "
			"and give the reason in the commit",
			samples, most);
}

TEST(a_server_with_19_ops_has_at_most_600_samples)
{
	assert_at_most(1, 1, 600);
}

TEST(eight_servers_with_16_transports_each_have_at_most_5500_samples)
{
	assert_at_most(8, 16, 5500);
}

TEST(a_level_has_these_bounds)
{
	static const struct {
		enum metric_id metric;
		int bounds[METRIC_DETAILS]; /* without +Inf */
		int first, last; /* powers of two, at the level with the most */
	} cases[] = {
		{ METRIC_RPC_SECONDS, { 16, 16 }, 16, 34 },
		{ METRIC_RPC_PHASE_SECONDS, { 10, 10 }, 14, 32 },
		{ METRIC_RPC_OP_DURATION_SECONDS, { 0, 25 }, 12, 36 },
		{ METRIC_RPC_OP_PHASE_DURATION_SECONDS, { 0, 13 }, 12, 36 },
		{ METRIC_RPC_QUEUE_DEPTH, { 0, 18 }, 0, 17 },
		{ METRIC_CHECKPOINT_EPISODE_SECONDS, { 0, 9 }, 30, 38 },
		{ METRIC_CHECKPOINT_EPISODE_BYTES, { 0, 14 }, 26, 39 },
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
		assert_int_equal(!m->bounds[DETAIL_NODE], strstr(m->help, "--detail op") != NULL);
	}
}

/* Also the sums and counts by op. */
TEST(what_node_shows_op_shows_with_the_same_value)
{
	size_t lines = 0;
	char *coarse;

	add_node(2, 2);
	write_text(DETAIL_NODE);
	coarse = strdup(text);
	assert_non_null(coarse);
	write_text(DETAIL_OP);
	for (const char *line = strtok(coarse, "\n"); line; line = strtok(NULL, "\n"), lines++)
		if (!strstr(text, line))
			fail_msg("with --detail op there is no line %s", line);
	free(coarse);
	assert_true(lines > 500);
	assert_true(value_of("rpc_op_calls_total{server=\"nas-0.example.com\",op=\"LINK\"}") ==
		    200);
	assert_lacks(text, "kind=\"other\"");
}

/* The sum of a family over the ops of a kind, or all for NULL, below @le. */
static double sum_over_ops(const char *family, const char *kind, const char *more, const char *le)
{
	double sum = 0;

	for (int o = 0; o < OPS; o++) {
		const char *its = o ? o < 3 ? "write" : "metadata" : "read";
		double value;

		if (kind && strcmp(its, kind) != 0)
			continue;
		value = value_of(formatted("%s_bucket{server=\"nas-0.example.com\",op=\"%s\"%s%s",
					   family, op_names[o], more, le));
		assert_true(value >= 0);
		sum += value;
	}
	return sum;
}

/* At each bound of the coarse histograms, and that is also one of the fine ones. */
TEST(coarse_histograms_are_sums_of_fine_ones)
{
	char kind[16], phase[16], le[32];
	size_t seen = 0;

	add_node(1, 1);
	write_text(DETAIL_OP);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		double value;

		if (sscanf(line,
			   METRIC_PREFIX "rpc_seconds_bucket{server=\"nas-0.example.com\","
					 "kind=\"%15[a-z]\"%31[^ ] %lf",
			   kind, le, &value) == 3) {
			assert_true(value == sum_over_ops("rpc_op_duration_seconds", kind, "", le));
			seen++;
		}
		if (sscanf(line,
			   METRIC_PREFIX "rpc_phase_seconds_bucket{server=\"nas-0.example.com\","
					 "phase=\"%15[a-z]\"%31[^ ] %lf",
			   phase, le, &value) == 3) {
			assert_true(value == sum_over_ops("rpc_op_phase_duration_seconds", NULL,
							  formatted(",phase=\"%s\"", phase), le));
			seen++;
		}
	}
	assert_int_equal(seen, 3 * (16 + 1) + RPC_PHASES * (10 + 1));
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
		struct rpc_op *op = snapshot_op(&now.calls, "nas", cases[i].op);

		assert_non_null(op);
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

	add_server("nas", 3);
	now.calls.transports[2].saturated_ns[RPC_LIMIT_SESSION] = 1500000000;
	write_text(DETAIL_NODE);
	for (int i = 0; i < 3; i++) {
		assert_true(value_of(formatted("%s%d\",limit=\"session\"}", begin, i)) ==
			    (i ? i == 1 ? -1 : 1.5 : 0));
		assert_true(value_of(formatted("%s%d\",limit=\"slot\"}", begin, i)) == 0);
	}
}
