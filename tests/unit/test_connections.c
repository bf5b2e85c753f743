// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that of a server's connections the slow and the stuck one are found, and no other one, and that the shares
 * are of that server and of that time. */
#include "unit.h"
#include "session/session.h"
#include "snapshot.h"

static struct connections c;

AFTER_EACH()
{
	free(c.list);
	c = (struct connections){};
}

/* A connection with @replies, each after @us microseconds. */
static struct rpc_transport_state *add(struct snapshot *to, const char *server, const char *name,
				       uint64_t replies, uint64_t us)
{
	struct rpc_transport_state *t = not_null(snapshot_transport(&to->calls, server, name));

	strcpy(t->remote.address, "10.0.0.1");
	t->replies = replies;
	t->rtt_ns = replies * us * 1000;
	return t;
}

static const struct connection *find(const char *name)
{
	for (size_t i = 0; i < c.count; i++)
		if (!strcmp(c.list[i].transport->name, name))
			return &c.list[i];
	fail_msg("no connection %s", name);
	return NULL;
}

static size_t count_bad(void)
{
	size_t bad = 0;

	for (size_t i = 0; i < c.count; i++)
		bad += c.list[i].slow || c.list[i].stuck;
	return bad;
}

static void judge(void)
{
	free(c.list);
	before.time_ns = now.time_ns = 1;
	c = connections_of(subtract(), "nas");
}

/* Seven have a thousand replies each, after 40 ms. */
static void add_eight(uint64_t slow_replies, uint64_t slow_us)
{
	for (int i = 0; i < 8; i++)
		add(&now, "nas", formatted("tcp/%d", i), i == 3 ? slow_replies : 1000,
		    i == 3 ? slow_us : 40000);
	add(&now, "other", "tcp/0", 100000, 1);
}

TEST(a_slow_connection_of_eight_is_found)
{
	static const struct {
		uint64_t replies, us; /* of it; the others have 1000, after 40 ms each */
		bool slow;
	} cases[] = {
		{ 100, 400000, true },
		{ 1000, 90000, true }, /* one call at a time, which goes to each in turn */
		{ 1000, 40000, false },
		{ 520, 80000, false }, /* not more than twice the time */
		{ 0, 0, false }, /* idle */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("# %lu replies\n", cases[i].replies);
		fresh();
		add_eight(cases[i].replies, cases[i].us);
		judge();
		assert_int_equal(c.count, 8);
		assert_int_equal(find("tcp/3")->slow, cases[i].slow);
		assert_int_equal(count_bad(), cases[i].slow);
		assert_int_equal(find("tcp/3")->mean_ns, cases[i].us * 1000);
		assert_int_equal(c.median_ns, 40 * MS);
		if (!i)
			assert_printed("0.0141 0.1408", "%.4f %.4f", find("tcp/3")->share,
				       find("tcp/0")->share);
	}
}

TEST(few_replies_prove_a_connection_slow_only_beside_many)
{
	static const struct {
		uint64_t replies, others;
		bool slow;
	} cases[] = {
		{ 4, 1000, false }, { 5, 12, true },  { 5, 11, false },
		{ 19, 38, false },  { 19, 40, true }, { 20, 20, true },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		for (int other = 0; other < 3; other++)
			add(&now, "nas", formatted("tcp/%d", other), cases[i].others, 10);
		add(&now, "nas", "slow", cases[i].replies, 1000);
		judge();
		assert_int_equal(find("slow")->slow, cases[i].slow);
		fresh();
	}
}

TEST(of_two_the_slower_one_is_found)
{
	add(&now, "nas", "tcp/0", 1000, 40);
	judge();
	assert_int_equal(c.count, 1);
	assert_int_equal(count_bad(), 0); /* a single one is never slow */
	add(&now, "nas", "tcp/1", 100, 400);
	judge();
	assert_false(find("tcp/0")->slow);
	assert_true(find("tcp/1")->slow);
}

TEST(an_unanswered_call_makes_a_connection_stuck)
{
	add_eight(0, 0);
	now.calls.transports[3].oldest_ns = 4999999999;
	now.calls.transports[2].oldest_ns = 5000000000;
	judge();
	assert_false(find("tcp/3")->stuck);
	assert_true(find("tcp/2")->stuck);
}

TEST(only_what_was_done_since_counts)
{
	add(&before, "nas", "tcp/0", 100000, 400);
	add(&before, "nas", "tcp/1", 1000, 4);
	add(&now, "nas", "tcp/0", 100000, 400);
	add(&now, "nas", "tcp/1", 4000, 4);
	add(&now, "nas", "tcp/2", 1000, 12); /* new */
	judge();
	assert_int_equal(find("tcp/0")->transport->replies, 0);
	assert_int_equal(find("tcp/1")->transport->replies, 3000);
	assert_true(find("tcp/1")->share == 0.75 && find("tcp/2")->share == 0.25);
	assert_true(find("tcp/2")->slow);
}

TEST(a_transport_that_has_ended_is_no_connection)
{
	add_eight(1000, 40000);
	now.calls.transports[0].remote.address[0] = 0;
	judge();
	assert_int_equal(c.count, 7);
	c = (free(c.list), connections_of(&d, "nobody"));
	assert_int_equal(c.count, 0);
}
