// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the agent's file says what limited the last interval, not an earlier one, and counts episodes, of which
 * it also writes an event each; and that these are bounded. */
#include "printed.h"
#include "commands/agent.h"
#include "sinks/metrics.h"
#include "snapshot.h"

#define SERVER "nas"
#define LIMITED_BY(limit) "xidscope_rpc_limit{server=\"" SERVER "\",limit=\"" limit "\"} 1\n"

/* @now has the counters as a source has them. */
static struct agent_limits limits;
static struct event_log *events;
static char event_lines[8192];

static bool take_line(void *context, const char *line, size_t len)
{
	(void)context;
	strncat(event_lines, line, len);
	return true;
}

static const struct event_sink sink = { .write = take_line };

BEFORE_EACH()
{
	*event_lines = 0;
	now.time_ns = 1000 * SECOND;
	events = not_null(event_log_new(&sink));
}

AFTER_EACH()
{
	agent_limits_free(&limits);
	limits = (struct agent_limits){};
	event_log_free(events);
}

/* The agent writes its file, @seconds after the last one. */
static void write_file(uint64_t seconds)
{
	struct snapshot s = {};
	FILE *out;

	now.time_ns += seconds * SECOND;
	now.wall += (double)seconds;
	assert_int_equal(snapshot_copy(&s, &now), 0);
	delta_free(&d);
	delta_make(&d, &before, &s);
	agent_limits_add(&limits, &s, &before.calls, &d, events);
	out = text_begin();
	openmetrics_write(out, &s, FORMAT_OPENMETRICS, DETAIL_NODE);
	text_end(out);
	snapshot_free(&before);
	before = s;
}

/* @calls of 100 ms, most of it in @phase. */
static void add_calls(const char *server, const char *op, enum rpc_phase phase, unsigned int calls,
		      uint64_t bytes)
{
	struct rpc_op *o = not_null(snapshot_op(&now.calls, server, op));

	assert_non_null(snapshot_server(&now.calls, server));
	o->total.bucket[80] += calls;
	o->total.sum_ns += calls * 100 * MS;
	o->phase[phase].sum_ns += calls * 90 * MS;
	o->phase[RPC_PHASE_RTT].sum_ns += calls * 10 * MS;
	o->sent_bytes += calls * bytes;
}

TEST(the_limit_is_that_of_the_last_interval)
{
	add_calls(SERVER, "WRITE", RPC_PHASE_SEND, 1000, 0);
	write_file(15);
	assert_lacks(text, "rpc_limit"); /* nothing is known of the time before */
	add_calls(SERVER, "WRITE", RPC_PHASE_DELAY, 100, 0);
	write_file(15);
	assert_has(text, LIMITED_BY("delay"));
	add_calls(SERVER, "WRITE", RPC_PHASE_RESEND, 100, 0);
	write_file(15);
	assert_has(text, LIMITED_BY("resend"));
	assert_lacks(text, "limit=\"delay\"}");
	write_file(15);
	assert_has(text, LIMITED_BY("none"));
}

static void add_replies(const char *transport, uint64_t replies, uint64_t seconds)
{
	struct rpc_transport_state *t = not_null(snapshot_transport(&now.calls, SERVER, transport));

	assert_non_null(snapshot_server(&now.calls, SERVER));
	t->replies += replies;
	t->rtt_ns += seconds * SECOND;
	t->saturated_ns[RPC_LIMIT_SLOT] += seconds * SECOND;
}

/* In each interval another one may be the worst. */
TEST(a_servers_worst_transport_counts)
{
	add_replies("tcp/0", 1, 9);
	write_file(15);
	assert_has(
		text,
		"rpc_saturated_seconds_total{server=\"nas\",transport=\"\",limit=\"slot\"} 0.000000000\n");
	assert_lacks(text, "rpc_slowest_rtt_seconds{");
	add_replies("tcp/0", 4, 8);
	add_replies("tcp/1", 1, 3);
	write_file(15);
	assert_has(text, "limit=\"slot\"} 8.000000000\n");
	assert_has(text, "rpc_slowest_rtt_seconds{server=\"nas\"} 3.000000000\n");
	add_replies("tcp/0", 0, 1);
	add_replies("tcp/1", 0, 5);
	write_file(15);
	assert_has(text, "limit=\"slot\"} 13.000000000\n");
	assert_lacks(text, "rpc_slowest_rtt_seconds{");
}

/* The interval ends with a look at the connection: data queue on their way, or not. The file says @limit then. */
static void assert_look(bool queued, const char *limit)
{
	struct rpc_transport_state *t = snapshot_transport(&now.calls, SERVER, "tcp/0");

	add_calls(SERVER, "WRITE", RPC_PHASE_RTT, 100, 0);
	t->received_bytes += 10000;
	t->rtt_ns += 10 * SECOND;
	t->replies += 100;
	t->rcv_wnd = 1 << 20;
	t->min_rtt_ns = 5 * MS;
	t->srtt_ns = queued ? 90 * MS : 5 * MS;
	t->carries = queued;
	write_file(15);
	assert_has(text, limit);
}

TEST(a_link_at_its_rate_shows_at_three_looks_in_a_row)
{
	assert_look(false, ""); /* nothing is known of the time before */
	for (int turn = 0; turn < 2; turn++) {
		assert_look(true, LIMITED_BY("server"));
		assert_look(true, LIMITED_BY("server"));
		assert_look(true, LIMITED_BY("network"));
		assert_look(true, LIMITED_BY("network"));
		assert_look(false, LIMITED_BY("server"));
	}
	assert_look(true, LIMITED_BY("server"));
	assert_look(true, LIMITED_BY("server"));
	write_file(15); /* nothing came */
	assert_look(true, LIMITED_BY("server"));
}

TEST(an_open_that_is_tried_again_once_in_each_interval_is_delay)
{
	for (uint64_t i = 0; i < 4; i++) {
		add_calls(SERVER, "OPEN", RPC_PHASE_RTT, 1, 0);
		snapshot_error(&now.calls, SERVER, "OPEN", "NFS4ERR_DELAY")->count++;
		write_file(15);
		assert_int_equal(!!strstr(text, LIMITED_BY("delay")), i > 1);
	}
}

/* The calls that have waited end in the interval after it: they made the server seem slow. */
TEST(a_stall_is_no_limit_of_the_interval_in_which_it_ends)
{
	struct rpc_server_state *v;
	struct rpc_transport_state *t;

	add_calls(SERVER, "READ", RPC_PHASE_RTT, 100, 0);
	add_replies("tcp/0", 1, 0);
	t = snapshot_transport(&now.calls, SERVER, "tcp/0");
	t->alive = true;
	strcpy(t->remote.address, "10.0.0.1");
	write_file(15);
	add_calls(SERVER, "READ", RPC_PHASE_RTT, 100, 0);
	add_replies("tcp/0", 1, 0);
	write_file(15);
	for (uint64_t i = 1; i <= 2; i++) {
		v = snapshot_server(&now.calls, SERVER);
		v->oldest_ns[RPC_QUEUE_PENDING] = i * 15 * SECOND;
		write_file(15);
		assert_has(text, LIMITED_BY("hung"));
	}
	v->oldest_ns[RPC_QUEUE_PENDING] = 0;
	strcpy(t->remote.address, "10.0.0.2");
	for (int i = 0; i < 8; i++) {
		add_calls(SERVER, "READ", RPC_PHASE_RTT, 200, 0);
		add_replies("tcp/0", 200, 0);
		write_file(15);
		assert_has(text, i < 2 ? LIMITED_BY("none") : LIMITED_BY("server"));
		if (i == 7)
			continue;
		assert_int_equal(limits.headline.count, i < 2 ? 1 : 2);
		assert_string_equal(
			limits.headline.items[0].text, SERVER
			" did not answer for 30 to 45 s, from 00:00:30 to 00:01:15 at the latest, until the "
			"client had connected to 10.0.0.2. Its own log may say why.");
	}
}

TEST(a_recovery_after_a_stall_is_a_part_of_it)
{
	add_calls(SERVER, "READ", RPC_PHASE_RTT, 100, 0);
	write_file(60);
	snapshot_server(&now.calls, SERVER)->oldest_ns[RPC_QUEUE_PENDING] = 60 * SECOND;
	write_file(60);
	snapshot_server(&now.calls, SERVER)->oldest_ns[RPC_QUEUE_PENDING] = 0;
	for (int i = 0; i < 2; i++) {
		snapshot_server(&now.calls, SERVER)->draining_ns += i * 12 * SECOND;
		add_calls(SERVER, "READ", RPC_PHASE_RTT, 200, 0);
		add_replies("tcp/0", 200, 0);
		write_file(60);
		ARRAY_EACH(item, limits.headline.items, limits.headline.count)
			assert_lacks(item->text, "until the client had recovered its state");
		assert_has(limits.headline.items[0].text,
			   SERVER " did not answer for 60 to 120 s, ");
	}
}

TEST(without_phases_there_is_no_limit)
{
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_PHASE + RPC_PHASE_SLOT);
	add_calls(SERVER, "WRITE", RPC_PHASE_SEND, 1000, 0);
	write_file(15);
	add_calls(SERVER, "WRITE", RPC_PHASE_SEND, 1000, 0);
	write_file(15);
	assert_lacks(text, "rpc_limit");
}

/* Bursts of @calls of 1 MiB, with a pause behind. */
static void save(const char *server, unsigned int calls)
{
	add_calls(server, "WRITE", RPC_PHASE_SEND, calls, 1 << 20);
	write_file(15);
	write_file(15);
}

TEST(an_episode_is_counted_and_logged_once)
{
	add_calls(SERVER, "GETATTR", RPC_PHASE_RTT, 1, 0);
	write_file(15);
	write_file(15);
	assert_lacks(text, "checkpoint_episode");
	save(SERVER, 1024);
	assert_has_all(
		text,
		"xidscope_checkpoint_episode_seconds_bucket{server=\"nas\",kind=\"save\",le=\"+Inf\"} 1\n",
		"xidscope_checkpoint_episode_seconds_sum{server=\"nas\",kind=\"save\"} 15.000000000\n",
		"xidscope_checkpoint_episode_bytes_sum{server=\"nas\",kind=\"save\"} 1073741824\n");
	write_file(15);
	assert_has(text,
		   "xidscope_checkpoint_episode_bytes_count{server=\"nas\",kind=\"save\"} 1\n");
	save(SERVER, 2048);
	assert_has(text,
		   "xidscope_checkpoint_episode_bytes_count{server=\"nas\",kind=\"save\"} 2\n");
	assert_has_all(event_lines, "\"kind\":\"checkpoint_episode\"", "\"device\":\"nas\"",
		       "\"name\":\"save\"", "\"bytes\":1073741824", "\"bytes\":2147483648",
		       "\"bound_by\":\"send\"");
}

TEST(episodes_of_many_servers_count_under_other)
{
	char server[16];

	add_calls(SERVER, "GETATTR", RPC_PHASE_RTT, 1, 0);
	write_file(15);
	for (unsigned int i = 0; i < EPISODE_SETS + 3; i++) {
		snprintf(server, sizeof(server), "nas-%u", i);
		add_calls(server, "WRITE", RPC_PHASE_RTT, 1, 0);
		write_file(15);
		save(server, 1000);
	}
	assert_has_all(
		text, "xidscope_checkpoint_episode_bytes_count{server=\"nas-0\",kind=\"save\"} 1\n",
		"xidscope_checkpoint_episode_bytes_count{server=\"other\",kind=\"save\"} 3\n");
	save("nas-1", 1000);
	assert_has(text,
		   "xidscope_checkpoint_episode_bytes_count{server=\"nas-1\",kind=\"save\"} 2\n");
	save("nas-7", 1000);
	assert_has(text,
		   "xidscope_checkpoint_episode_bytes_count{server=\"other\",kind=\"save\"} 4\n");
}
