// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bursts of writes and reads are found with their bytes and times, those of two servers apart, and that
 * steady traffic is none. */
#include "unit.h"
#include "limits/episodes.h"
#include "snapshot.h"

#define MB UINT64_C(1000000)
#define CALL UINT64_C(1048576)

static struct episodes episodes;
static const char *const *owners; /* of the streams; NULL: not known */
static const char *failing; /* the owner whose calls all fail; NULL: nobody's */

AFTER_EACH()
{
	episodes_free(&episodes);
	episodes = (struct episodes){};
	owners = NULL;
	failing = NULL;
}

/* Traffic between two moments, in seconds from the begin, at a rate in bytes per second. */
struct stream {
	const char *server, *op;
	double from, to, rate;
	double at_once; /* calls */
};

static double overlap(const struct stream *s, double from, double to)
{
	double begin = s->from > from ? s->from : from, finish = s->to < to ? s->to : to;

	return finish > begin ? finish - begin : 0;
}

static void transfer(const struct stream *s, double from, double to)
{
	double seconds = overlap(s, from, to);
	uint64_t bytes = (uint64_t)(s->rate * seconds), ns = (uint64_t)(s->at_once * seconds * 1e9);
	struct rpc_op *op;

	if (to <= s->from) /* a server is known from its first call on */
		return;
	op = not_null(snapshot_op(&now.calls, s->server, s->op));
	*(strcmp(s->op, "READ") ? &op->sent_bytes : &op->received_bytes) += bytes;
	op->total.sum_ns += ns;
	op->total.bucket[50] += bytes / CALL;
	op->phase[RPC_PHASE_RTT].sum_ns += ns;
	assert_non_null(snapshot_server(&now.calls, s->server));
}

static void transfer_by(const struct stream *s, double from, double to, const char *owner)
{
	bool write = !strcmp(s->op, "WRITE");
	struct rpc_sums *sums = &snapshot_owner_calls(&now.calls, s->server, owner)->sums;

	*(write ? &sums->sent_bytes[RPC_KIND_WRITE] : &sums->received_bytes[RPC_KIND_READ]) +=
		(uint64_t)(s->rate * overlap(s, from, to));
	sums->calls[write ? RPC_KIND_WRITE : RPC_KIND_READ]++;
	if (!failing || strcmp(owner, failing) != 0)
		return;
	sums->errors[write ? RPC_KIND_WRITE : RPC_KIND_READ]++;
	snapshot_error(&now.calls, s->server, s->op, "ENOSPC")->count +=
		(uint64_t)(s->rate * overlap(s, from, to)) / CALL;
}

/* Intervals of @interval seconds until @seconds; the first begins at 100 s. */
static void observe(const struct stream *streams, size_t count, double interval, double seconds)
{
	before.time_ns = now.time_ns = 100 * SECOND;
	for (double t = 0; t < seconds; t += interval) {
		for (size_t i = 0; i < count; i++) {
			transfer(&streams[i], t, t + interval);
			if (owners && owners[i])
				transfer_by(&streams[i], t, t + interval, owners[i]);
		}
		now.time_ns += (uint64_t)(interval * 1e9);
		episodes_add(&episodes, subtract());
		assert_int_equal(snapshot_copy(&before, &now), 0);
	}
	episodes_end(&episodes);
	for (size_t i = 0; i < episodes.count; i++) {
		const struct episode *e = &episodes.list[i];

		print_message("# %s %s at %.2f s for %.2f s: %.1f MB, %.1f MB/s, peak %.1f, %s\n",
			      e->server, episode_kind_names[e->kind],
			      (double)(e->start_ns - 100 * SECOND) / 1e9, e->seconds,
			      (double)e->bytes / 1e6, e->mean_rate / 1e6, e->peak_rate / 1e6,
			      bound_names[e->bound_by]);
	}
}

#define OBSERVE(streams, interval, seconds) observe(streams, COUNT(streams), interval, seconds)

static void assert_near(double value, double expected, double most)
{
	if (value < expected - most || value > expected + most)
		fail_msg("%f is not %f +- %f", value, expected, most);
}

/* The episode is the stream: bytes within 1 %, times within a second. */
static void assert_episode(size_t index, const struct stream *s)
{
	const struct episode *e = &episodes.list[index];
	double bytes = s->rate * (s->to - s->from);

	assert_true(index < episodes.count);
	assert_string_equal(e->server, s->server);
	assert_string_equal(episode_kind_names[e->kind], strcmp(s->op, "READ") ? "save" : "load");
	assert_near((double)e->bytes, bytes, bytes / 100);
	assert_near((double)(e->start_ns - 100 * SECOND) / 1e9, s->from, 1);
	assert_near(e->seconds, s->to - s->from, 1);
	assert_near(e->mean_rate * e->seconds, (double)e->bytes, 1);
}

static const struct stream saves_and_loads[] = {
	{ "nas", "WRITE", 3.3, 6.1, 80e6, 4 },    { "nas", "WRITE", 9.95, 12.02, 80e6, 4 },
	{ "nas", "WRITE", 15.5, 17.49, 80e6, 1 }, { "nas", "WRITE", 20, 24, 80e6, 1 },
	{ "nas", "WRITE", 27.2, 27.9, 80e6, 1 },  { "nas", "READ", 31.4, 33.6, 120e6, 8 },
	{ "nas", "READ", 36.7, 38.7, 120e6, 8 },  { "nas", "READ", 41.01, 43.99, 120e6, 8 },
};

TEST(five_saves_and_three_loads_are_eight_episodes_alone_and_above_steady_traffic)
{
	struct stream streams[COUNT(saves_and_loads) + 1];

	memcpy(streams, saves_and_loads, sizeof(saves_and_loads));
	streams[8] = (struct stream){ "nas", "WRITE", 0, 60, 2e6, 0.1 };
	for (size_t count = 8; count <= 9; count++) {
		fresh();
		observe(streams, count, 1, 50);
		assert_int_equal(episodes.count, 8);
		for (size_t i = 0; i < 8; i++)
			assert_episode(i, &saves_and_loads[i]);
		if (count == 9)
			break;
		assert_near(episodes.list[3].peak_rate, 80e6, 1e6);
		assert_near(episodes.list[0].share[RPC_PHASE_RTT], 1, 0.001);
	}
}

TEST(the_intervals_of_the_agent_find_long_ones)
{
	static const struct stream streams[] = {
		{ "nas", "WRITE", 70, 160, 2e9, 64 },
		{ "nas", "READ", 400, 500, 3e9, 64 },
	};

	OBSERVE(streams, 15, 600);
	assert_int_equal(episodes.count, 2);
	assert_near((double)episodes.list[0].bytes, 180e9, 1e9);
	assert_near(episodes.list[0].seconds, 90, 1);
	assert_near((double)episodes.list[1].bytes, 300e9, 1e9);
}

TEST(steady_traffic_and_metadata_are_none)
{
	static const struct {
		const char *name;
		struct stream streams[3];
		double seconds;
	} cases[] = {
		{ "all the time",
		  { { "nas", "WRITE", 0, 100, 50e6, 2 }, { "nas", "READ", 0, 100, 3e6, 0.2 } },
		  90 },
		{ "that nobody waits for, also where it begins and ends",
		  { { "nas", "WRITE", 5.5, 40.5, 5e6, 0.2 }, { "nas", "READ", 8, 300, 5e6, 0.1 } },
		  60 },
		{ "metadata",
		  { { "nas", "READDIR", 5, 9, 20e6, 1 },
		    { "nas", "READDIRPLUS", 5, 9, 20e6, 1 },
		    { "nas", "READLINK", 5, 9, 20e6, 1 } },
		  20 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("# %s\n", cases[i].name);
		fresh();
		observe(cases[i].streams, cases[i].streams[2].server ? 3 : 2, 1, cases[i].seconds);
		assert_int_equal(episodes.count, 0);
	}
}

TEST(a_burst_to_a_new_server_may_begin_at_the_end_of_an_interval)
{
	static const struct stream streams[] = {
		{ "nas-a", "WRITE", 0, 20, 1e6, 0.1 },
		{ "nas-b", "WRITE", 3.95, 6.5, 8e6, 4 },
	};

	OBSERVE(streams, 1, 20);
	assert_int_equal(episodes.count, 1);
	assert_episode(0, &streams[1]);
}

TEST(two_servers_at_once_are_told_apart)
{
	static const struct stream streams[] = {
		{ "nas-b", "WRITE", 3.5, 8, 20e6, 1 },
		{ "nas-a", "WRITE", 3.5, 9.5, 70e6, 1 },
		{ "nas-b", "READ", 9.5, 14, 40e6, 1 },
	};

	OBSERVE(streams, 1, 20);
	assert_int_equal(episodes.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_episode(i, &streams[i]);
}

TEST(a_server_that_has_ended_is_forgotten)
{
	struct snapshot end = { .time_ns = SECOND };
	struct rpc_server_state server = {};
	struct delta d = { .end = &end,
			   .ns = SECOND,
			   .calls = { .servers = &server, .server_count = 1 } };

	for (unsigned int i = 0; i < 500; i++) {
		snprintf(server.server, sizeof(server.server), "nas-%u", i);
		episodes_add(&episodes, &d);
		assert_int_equal(episodes.watch_count, EPISODE_KINDS);
	}
}

TEST(a_burst_that_goes_on_at_the_end_ends_there)
{
	static const struct stream streams[] = { { "nas", "WRITE", 5, 100, 20e6, 1 } };
	static const struct stream seen = { "nas", "WRITE", 5, 20, 20e6, 1 };

	OBSERVE(streams, 1, 20);
	assert_int_equal(episodes.count, 1);
	assert_episode(0, &seen);
}

TEST(an_episode_names_who_moved_most_of_it)
{
	static const struct stream streams[] = {
		{ "nas", "WRITE", 0, 40, 2e3, .01 },  { "nas", "WRITE", 5, 15, 20e6, 1 },
		{ "nas", "WRITE", 5, 15, 10e6, 1 },   { "nas", "READ", 5, 15, 90e6, 1 },
		{ "other", "WRITE", 5, 15, 90e6, 1 }, { "other", "WRITE", 25, 30, 90e6, 1 },
	};
	static const char *const names[] = { "unit:log.service", "slurm:7", "slurm:8",
					     "slurm:9",          "slurm:9", NULL };

	owners = names;
	OBSERVE(streams, 1, 40);
	assert_int_equal(episodes.count, 4);
	for (size_t i = 0; i < episodes.count; i++) {
		const struct episode *e = &episodes.list[i];
		bool save = e->kind == EPISODE_SAVE && !strcmp(e->server, "nas");

		assert_string_equal(e->owner, e->start_ns > 120 * SECOND ? "" :
					      save                       ? "slurm:7" :
									   "slurm:9");
	}
}

/* Of two jobs that write at the same rate, one has no space. */
TEST(bytes_of_calls_that_fail_are_nobodys)
{
	static const struct stream streams[] = {
		{ "nas", "WRITE", 5, 15, 80e6, 4 },
		{ "nas", "WRITE", 5, 15, 79e6, 4 },
	};
	static const char *const names[] = { "slurm:1", "slurm:2" };

	owners = names;
	failing = "slurm:1";
	OBSERVE(streams, 1, 30);
	assert_int_equal(episodes.count, 1);
	assert_near((double)episodes.list[0].bytes, 790e6, 20e6);
	assert_string_equal(episodes.list[0].owner, "slurm:2");
}
