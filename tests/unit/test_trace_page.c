// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that all records of a page of the trace buffer are found, with their times, whatever stands between them,
 * and that a page whose lengths lie ends where it is; and that the buffers' memory is in bytes. */
#include "made_up_tree.h"
#include "kernel/trace.h"

#define PADDING 29u
#define EXTEND 30u
#define STAMP 31u
#define MISSED (1ull << 31)
#define STORED (1ull << 30)

/* A page in the making, empty and of time 0 at each test's begin; and what reads it. */
static struct {
	unsigned char bytes[4096];
	size_t len;
} p;
static struct trace_page page;

static void put32(uint32_t value)
{
	memcpy(p.bytes + p.len, &value, 4);
	p.len += 4;
}

static void head(uint32_t type, uint32_t delta)
{
	put32(delta << 5 | type);
}

BEFORE_EACH()
{
	memset(&p, 0, sizeof(p));
	p.len = 16;
}

static void set_time(uint64_t time)
{
	memcpy(p.bytes, &time, 8);
}

/* A record of @words words, at least two. */
static void data(uint32_t type, int32_t pid, size_t words)
{
	put32(type);
	put32((uint32_t)pid);
	for (size_t i = 2; i < words; i++)
		put32(0x5a5a5a5a);
}

static void small(uint32_t delta, uint32_t type, size_t words)
{
	head((uint32_t)words, delta);
	data(type, -7, words);
}

/* @bytes of data behind the word that has their length. */
static void large(uint32_t head_type, uint32_t delta, uint32_t type, uint32_t bytes)
{
	head(head_type, delta);
	put32(bytes + 4);
	data(type, 42, (bytes + 3) / 4);
}

static void open_page(uint64_t flags)
{
	uint64_t commit = (p.len - 16) | flags;

	memcpy(p.bytes + 8, &commit, 8);
	assert_true(trace_page_open(&page, p.bytes, sizeof(p.bytes)));
}

static void assert_next(uint16_t type, uint64_t time, size_t len)
{
	struct trace_record r;

	assert_true(trace_page_next(&page, &r));
	assert_int_equal(r.type, type);
	assert_true(r.time == time);
	assert_int_equal(r.len, len);
}

static void assert_end(void)
{
	struct trace_record r;

	assert_false(trace_page_next(&page, &r));
	assert_false(trace_page_next(&page, &r));
}

TEST(records_follow_each_other)
{
	struct trace_record r;

	set_time(1000);
	small(5, 100, 2);
	small(0, 101, 28);
	large(0, (1u << 27) - 1, 102, 200);
	small(1, 103, 3);
	open_page(0);
	assert_int_equal(page.missed, 0);
	assert_true(trace_page_next(&page, &r));
	assert_int_equal(r.type, 100);
	assert_true(r.time == 1005 && r.len == 8 && r.data == p.bytes + 20);
	assert_next(101, 1005, 112);
	assert_next(102, 1005 + (1u << 27) - 1, 200);
	assert_next(103, 1005 + (1u << 27), 12);
	assert_end();
	/* Lengths are rounded up. */
	fresh();
	large(0, 1, 100, 13);
	small(1, 101, 2);
	open_page(0);
	assert_next(100, 1, 16);
	assert_next(101, 2, 8);
	assert_end();
}

TEST(times_are_extended_and_stamped)
{
	set_time((3ull << 59) + 10);
	head(EXTEND, 7);
	put32(3);
	small(0, 100, 2);
	/* An absolute one, without the upper five bits. */
	head(STAMP, 77);
	put32(1000);
	small(2, 101, 2);
	open_page(0);
	assert_next(100, (3ull << 59) + 10 + 7 + (3ull << 27), 8);
	assert_next(101, (3ull << 59) + 77 + (1000ull << 27) + 2, 8);
	assert_end();
}

TEST(what_was_discarded_is_skipped)
{
	small(3, 100, 2);
	large(PADDING, 1, 101, 40);
	small(3, 102, 2);
	head(PADDING, 0); /* the rest of the page */
	small(3, 103, 2);
	open_page(0);
	assert_next(100, 3, 8);
	assert_next(102, 7, 8);
	assert_end();
}

/* Too short for the number of its event. */
TEST(a_record_without_a_head_is_skipped)
{
	head(1, 3);
	put32(100);
	head(0, 3);
	put32(8);
	put32(100);
	small(1, 101, 2);
	open_page(0);
	assert_next(101, 7, 8);
	assert_end();
}

TEST(missed_events_are_counted)
{
	uint64_t count = 4711;

	small(3, 100, 2);
	memcpy(p.bytes + p.len, &count, sizeof(count));
	open_page(MISSED | STORED);
	assert_true(page.missed == 4711);
	assert_next(100, 3, 8);
	assert_end();
	/* Not how many, but that there were some. */
	open_page(MISSED);
	assert_true(page.missed == 1);
	/* No room for the number. */
	assert_true(trace_page_open(&page, p.bytes, p.len + 7));
	assert_true(page.missed == 1);
	/* A number without the flag is none. */
	open_page(STORED);
	assert_true(page.missed == 0);
}

TEST(what_is_too_short_is_no_page)
{
	set_time(9);
	for (size_t len = 0; len < 16; len++)
		assert_false(trace_page_open(&page, p.bytes, len));
	assert_true(trace_page_open(&page, p.bytes, 16));
	assert_end();
}

TEST(lengths_that_lie_end_the_page)
{
	static const struct {
		uint32_t type, delta, length;
	} lies[] = { { 28, 0, 0 },
		     { 0, 1, 0 },
		     { 0, 1, 3 },
		     { 0, 1, 4096 },
		     { 0, 1, UINT32_MAX },
		     { PADDING, 1, 0 },
		     { PADDING, 1, UINT32_MAX } };

	for (size_t i = 0; i < COUNT(lies); i++) {
		fresh();
		small(3, 100, 2);
		head(lies[i].type, lies[i].delta);
		put32(lies[i].length);
		small(3, 101, 2);
		open_page(0);
		assert_next(100, 3, 8);
		assert_end();
	}
}

/* As after a read() that returned fewer bytes than the page's header states. */
TEST(a_torn_page_ends_where_it_was_torn)
{
	uint64_t commit;

	small(3, 100, 2);
	head(EXTEND, 7);
	put32(3);
	large(0, 1, 101, 120);
	commit = p.len - 16;
	memcpy(p.bytes + 8, &commit, 8);
	for (size_t len = 16; len <= p.len; len++) {
		unsigned char *exact = malloc(len); /* for ASan */
		struct trace_record r;
		size_t records = 0;

		memcpy(exact, p.bytes, len);
		assert_true(trace_page_open(&page, exact, len));
		while (trace_page_next(&page, &r)) {
			assert_true((const unsigned char *)r.data + r.len <= exact + len);
			records++;
		}
		assert_int_equal(records, (len >= 28) + (len == p.len));
		free(exact);
	}
}

TEST(an_instances_memory_is_in_bytes)
{
	struct trace_instance t = { .name = "xidscope_2" };

	snprintf(t.tracefs, sizeof(t.tracefs), "%s", root);
	put("/instances/xidscope_2/buffer_total_size_kb", "70\n");
	assert_int_equal(trace_instance_memory(&t), 71680);
}
