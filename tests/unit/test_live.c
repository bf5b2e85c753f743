// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the live view fits 80 columns whatever it shows, that a server which hangs and faults are in view, and
 * that a terminal gets its head again, colours and longer names. */
#include "printed.h"
#include "sinks/report.h"
#include "snapshot.h"

static struct session t;
static struct live view;

BEFORE_EACH()
{
	before = (struct snapshot){ .time_ns = 5000 * MS, .wall = 1e9 };
	now = (struct snapshot){ .time_ns = 7000 * MS, .wall = 1e9 + 2 };
	view = (struct live){ .terminal = -1, .size.columns = 80 };
}

AFTER_EACH()
{
	session_free(&t);
}

static struct rpc_transport_state *add_transport(struct snapshot *to, const char *server)
{
	struct rpc_transport_state *c = not_null(snapshot_transport(&to->calls, server, "tcp/0"));

	c->alive = true;
	c->slots_max = 128;
	return c;
}

/* Shows the interval that ends with @s, whose arrays are the session's then. */
static void show_next(struct snapshot *s)
{
	view.out = text_begin();
	assert_int_equal(session_add(&t, s), 0);
	live_interval(&view, &t);
	text_end(view.out);
}

/* Shows that from @before to @now. */
static void show(void)
{
	assert_int_equal(session_add(&t, &before), 0);
	show_next(&now);
}

/* A session that begins with an empty snapshot. */
static void begin(void)
{
	before = (struct snapshot){ .time_ns = 1000 * MS, .wall = 1e9 };
	assert_int_equal(session_add(&t, &before), 0);
}

/* A second after the last snapshot. */
static struct snapshot a_second_later(void)
{
	return (struct snapshot){ .time_ns = t.last.time_ns + 1000 * MS, .wall = t.last.wall + 1 };
}

static void assert_fits(size_t width)
{
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t columns = 0;

		for (const char *c = line; *c != '\n'; c++)
			columns += (*c & 0xc0) != 0x80;
		if (columns > width)
			fail_msg("%zu columns: %.*s", columns, (int)strcspn(line, "\n"), line);
	}
}

TEST(a_line_shows_what_happened_to_a_server_in_an_interval)
{
	struct rpc_transport_state *c;

	add_calls_of_4_ms(&before, "10.0.0.1", "READ", 1000, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	add_transport(&before, "10.0.0.1");
	add_calls_of_4_ms(&now, "10.0.0.1", "READ", 1000, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	add_calls_of_4_ms(&now, "10.0.0.1", "READ", 500, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	add_calls_of_4_ms(&now, "nas-2", "READ", 8, RPC_PHASE_RTT, RPC_PHASE_SETUP);
	c = add_transport(&now, "10.0.0.1");
	c->slots_in_flight = 127;
	c->saturated_ns[RPC_LIMIT_SLOT] = 1500 * MS;
	show();
	assert_has_all(
		text,
		"time     servers     call/s rMB/s wMB/s    mean flight  wait phase %      oldest\n",
		" 10.0.0.1       250 262.1   0.2 4.00 ms    127   0.8 slot 75           -\n",
		" nas-2            4   4.2   0.0 4.00 ms    0.0   0.0 rtt 75            -\n");
	assert_fits(80);
}

TEST(nothing_makes_a_line_longer_than_80_columns)
{
	static const char *const names[] = {
		"192.168.100.200", "storage-of-a-long-name.example.com",
		"h\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6st", "a b\x1b[2J"
	};
	struct fault xid = { .device = "0000:c1:00.0", .code = 79, .severity = "fatal" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct rpc_transport_state *c;

		add_calls_of_4_ms(&now, names[i], "READ", 9000000, RPC_PHASE_SESSION,
				  RPC_PHASE_RESEND);
		c = add_transport(&now, names[i]);
		c->slots_max = 2048;
		c->slots_in_flight = 1999;
		c->retransmits = c->timeouts = c->disconnects = c->connects = 123456789;
		c->oldest_ns = 123456 * MS;
		c->saturated_ns[0] = 9000 * MS;
		c->remote = (struct endpoint){ "fd00:1111:2222:3333:4444:5555:6666:7777", 2049 };
	}
	snapshot_fault(&now.faults, &xid)->count = 2;
	strcpy(snapshot_kernel_event(&now.faults, false, "nfs_not_responding", names[1])->device,
	       names[1]);
	now.faults.kernel_events[0].count = 3;
	show();
	assert_fits(80);
	assert_has_all(text, "~68.100.200 ", "storage-of~ ", " 4500k ",
		       "   1999 13500 session 75    123 s\n", "Xid 79 (fatal)");
	view.size.columns = 140;
	before = (struct snapshot){};
	now = (struct snapshot){ .time_ns = 9000 * MS };
	add_calls_of_4_ms(&now, names[1], "READ", 1, RPC_PHASE_SESSION, RPC_PHASE_RESEND);
	before = now;
	now = (struct snapshot){ .time_ns = 10000 * MS };
	show();
	assert_fits(140);
}

/* All calls wait, so none ends. */
TEST(a_server_that_hangs_is_in_view)
{
	struct rpc_transport_state *c;

	add_transport(&before, "nas-1");
	assert_non_null(snapshot_server(&before.calls, "nas-1"));
	c = add_transport(&now, "nas-1");
	snapshot_server(&now.calls, "nas-1")->oldest_ns[RPC_QUEUE_PENDING] = 12300 * MS;
	c->slots_in_flight = 32;
	c->oldest_ns = 12300 * MS;
	c->retransmits = 2;
	c->timeouts = 1;
	c->connects = 1;
	snapshot_error(&now.calls, "nas-1", "READ", "EIO")->count = 3;
	snapshot_error(&now.calls, "nas-1", "LOOKUP", "ENOENT")->count = 900;
	show();
	assert_has(text,
		   " nas-1            0   0.0   0.0       -   32.0   0.0 -            12.3 s\n"
		   "         nas-1: 2 retransmits, 1 timeout, 1 connect, 3 errors\n"
		   "         nas-1 hangs: a call is not answered\n");
	assert_fits(80);
	assert_int_equal(t.event_count, 1);
	assert_int_equal(t.events[0].kind, SESSION_HUNG);
}

/* Shows what @by divides the interval by. */
static void show_top(enum top_by by)
{
	struct top_view top = { .by = by };
	FILE *out = text_begin();

	top_write(out, &top, &t, "");
	text_end(out);
}

TEST(an_op_that_hangs_has_a_row_in_top)
{
	struct rpc_server_state *v = snapshot_server(&now.calls, "nas-1");

	add_calls_of_4_ms(&now, "nas-1", "READ", 500, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	strcpy(v->oldest_op, "WRITE");
	v->oldest_ns[RPC_QUEUE_PENDING] = 12000 * MS;
	show();
	show_top(TOP_OPS);
	assert_has_all(text, "2 of 2 rows", "\nREAD nas-1 ", "\nWRITE nas-1 ", " 12.0 s\n");
	now = a_second_later();
	add_calls_of_4_ms(&now, "nas-1", "WRITE", 500, RPC_PHASE_SLOT, RPC_PHASE_RTT);
	v = snapshot_server(&now.calls, "nas-1");
	strcpy(v->oldest_op, "WRITE");
	v->oldest_ns[RPC_QUEUE_PENDING] = 13000 * MS;
	show_next(&now);
	show_top(TOP_OPS);
	assert_has_all(text, "1 of 1 rows", "\nWRITE nas-1 ", " 13.0 s\n");
}

/* With a call that has waited for so long on the one server. */
static void next(uint64_t oldest_ms, uint64_t replies)
{
	struct snapshot s = a_second_later();
	struct rpc_transport_state *c = add_transport(&s, "10.0.7.1@4026532213");

	c->oldest_ns = oldest_ms * MS;
	c->replies = replies;
	c->slots_in_flight = oldest_ms ? 1 : 0;
	snapshot_server(&s.calls, "10.0.7.1@4026532213")->oldest_ns[RPC_QUEUE_PENDING] =
		oldest_ms * MS;
	show_next(&s);
}

TEST(a_hang_has_a_line_at_its_begin_and_at_its_end)
{
	begin();
	next(0, 0);
	for (uint64_t age = 1000; age <= 5000; age += 1000)
		next(age, 0);
	assert_has_all(text, " 10.0.7.1@ ", " 5.00 s\n         10.0.7.1@4026532213 hangs: ");
	next(6000, 0);
	assert_has(text, " 6.00 s\n");
	assert_lacks(text, "hangs");
	next(0, 1);
	assert_has(text, "10.0.7.1@4026532213 answers again after 7.00 s");
	next(0, 2);
	assert_lacks(text, "answers");
}

/* A soft mount's calls end by timing out: none waits for long. */
TEST(a_soft_mount_that_hangs_has_an_age)
{
	begin();
	for (uint64_t second = 0; second <= 7; second++) {
		struct snapshot s = a_second_later();
		struct rpc_transport_state *c = add_transport(&s, "nas-1");

		c->replies = 1 + second / 7;
		c->timeouts = second;
		c->slots_in_flight = second == 5;
		c->oldest_ns = second == 5 ? 900 * MS : 0; /* the next one has begun */
		assert_non_null(snapshot_server(&s.calls, "nas-1"));
		show_next(&s);
		if (second == 5)
			assert_has(text, "         nas-1 hangs: ");
	}
	assert_has(text, "nas-1 answers again after 7.00 s");
}

TEST(without_a_server_one_line_says_it)
{
	begin();
	for (int i = 0; i < 3; i++) {
		now = a_second_later();
		show_next(&now);
		if (i)
			assert_string_equal(text, "");
		else
			assert_has(text, "no NFS server yet\n");
	}
}

TEST(the_head_is_repeated_where_the_terminal_ends)
{
	add_calls_of_4_ms(&before, "nas-1", "READ", 1, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	add_calls_of_4_ms(&now, "nas-1", "READ", 2, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	show();
	for (unsigned int height = 0; height <= 10; height += 10) {
		unsigned int heads = 0;

		view = (struct live){ text_begin(), .terminal = -1, .size = { 80, height } };
		for (int i = 0; i < 24; i++)
			live_interval(&view, &t);
		text_end(view.out);
		for (const char *at = text; (at = strstr(at, "call/s")); at++)
			heads++;
		/* 8 lines with the head in 10, as one shows the cursor. */
		assert_int_equal(heads, height ? 3 : 1);
	}
}

TEST(a_terminal_that_changes_its_width_gets_a_head_for_it)
{
	static const size_t widths[] = { 80, 80, 140, 140, 90 };
	static const bool heads[] = { true, false, true, false, true };

	add_calls_of_4_ms(&now, "nas-1", "READ", 2, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	show();
	view = (struct live){ .terminal = -1 };
	for (size_t i = 0; i < COUNT(widths); i++) {
		view.out = text_begin();
		view.size.columns = widths[i];
		live_interval(&view, &t);
		text_end(view.out);
		assert_int_equal(!!strstr(text, "call/s"), heads[i]);
	}
}

TEST(only_a_terminal_has_colours)
{
	add_calls_of_4_ms(&now, "nas-1", "READ", 2, RPC_PHASE_SESSION, RPC_PHASE_FINISH);
	add_transport(&now, "nas-1")->oldest_ns = 9000 * MS;
	view.colour = true;
	show();
	assert_has(text, "\x1b[31m");
	view = live_begin();
	assert_false(view.colour && !getenv("TERM"));
}
