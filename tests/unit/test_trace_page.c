// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that all records of a page of the trace buffer are found, with their
 * times, whatever stands between them, and that a page whose lengths lie ends
 * where it is.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "kernel/trace_page.h"

#define PADDING 29u
#define EXTEND 30u
#define STAMP 31u
#define MISSED (1ull << 31)
#define STORED (1ull << 30)

/* A page in the making. */
struct page {
	unsigned char bytes[4096];
	size_t len;
};

static void put32(struct page *p, uint32_t value)
{
	memcpy(p->bytes + p->len, &value, 4);
	p->len += 4;
}

static void head(struct page *p, uint32_t type, uint32_t delta)
{
	put32(p, delta << 5 | type);
}

static struct page new_page(uint64_t time)
{
	struct page p = { .len = 16 };

	memcpy(p.bytes, &time, 8);
	return p;
}

/* A record of @words words, at least two. */
static void data(struct page *p, uint32_t type, int32_t pid, size_t words)
{
	put32(p, type);
	put32(p, (uint32_t)pid);
	for (size_t i = 2; i < words; i++)
		put32(p, 0x5a5a5a5a);
}

static void small(struct page *p, uint32_t delta, uint32_t type, size_t words)
{
	head(p, (uint32_t)words, delta);
	data(p, type, -7, words);
}

/* @bytes of data behind the word that has their length. */
static void large(struct page *p, uint32_t head_type, uint32_t delta, uint32_t type, uint32_t bytes)
{
	head(p, head_type, delta);
	put32(p, bytes + 4);
	data(p, type, 42, (bytes + 3) / 4);
}

static struct trace_page open_page(struct page *p, uint64_t flags)
{
	uint64_t commit = (p->len - 16) | flags;
	struct trace_page page;

	memcpy(p->bytes + 8, &commit, 8);
	assert_true(trace_page_open(&page, p->bytes, sizeof(p->bytes)));
	return page;
}

static void assert_next(struct trace_page *page, uint16_t type, uint64_t time, size_t len)
{
	struct trace_record r;

	assert_true(trace_page_next(page, &r));
	assert_int_equal(r.type, type);
	assert_true(r.time == time);
	assert_int_equal(r.len, len);
}

static void assert_end(struct trace_page *page)
{
	struct trace_record r;

	assert_false(trace_page_next(page, &r));
	assert_false(trace_page_next(page, &r));
}

TEST(records_follow_each_other)
{
	struct page p = new_page(1000);
	struct trace_record r;
	struct trace_page page;

	small(&p, 5, 100, 2);
	small(&p, 0, 101, 28);
	large(&p, 0, (1u << 27) - 1, 102, 200);
	small(&p, 1, 103, 3);
	page = open_page(&p, 0);
	assert_int_equal(page.missed, 0);
	assert_true(trace_page_next(&page, &r));
	assert_int_equal(r.type, 100);
	assert_int_equal(r.pid, -7);
	assert_true(r.time == 1005 && r.len == 8 && r.data == p.bytes + 20);
	assert_next(&page, 101, 1005, 112);
	assert_next(&page, 102, 1005 + (1u << 27) - 1, 200);
	assert_next(&page, 103, 1005 + (1u << 27), 12);
	assert_end(&page);
}

TEST(lengths_are_rounded_up)
{
	struct page p = new_page(0);
	struct trace_page page;

	large(&p, 0, 1, 100, 13);
	small(&p, 1, 101, 2);
	page = open_page(&p, 0);
	assert_next(&page, 100, 1, 16);
	assert_next(&page, 101, 2, 8);
	assert_end(&page);
}

TEST(times_are_extended_and_stamped)
{
	struct page p = new_page((3ull << 59) + 10);
	struct trace_page page;

	head(&p, EXTEND, 7);
	put32(&p, 3);
	small(&p, 0, 100, 2);
	/* An absolute one, without the upper five bits. */
	head(&p, STAMP, 77);
	put32(&p, 1000);
	small(&p, 2, 101, 2);
	page = open_page(&p, 0);
	assert_next(&page, 100, (3ull << 59) + 10 + 7 + (3ull << 27), 8);
	assert_next(&page, 101, (3ull << 59) + 77 + (1000ull << 27) + 2, 8);
	assert_end(&page);
}

TEST(what_was_discarded_is_skipped)
{
	struct page p = new_page(0);
	struct trace_page page;

	small(&p, 3, 100, 2);
	large(&p, PADDING, 1, 101, 40);
	small(&p, 3, 102, 2);
	head(&p, PADDING, 0); /* the rest of the page */
	small(&p, 3, 103, 2);
	page = open_page(&p, 0);
	assert_next(&page, 100, 3, 8);
	assert_next(&page, 102, 7, 8);
	assert_end(&page);
}

/* Too short for the number of its event. */
TEST(a_record_without_a_head_is_skipped)
{
	struct page p = new_page(0);
	struct trace_page page;

	head(&p, 1, 3);
	put32(&p, 100);
	head(&p, 0, 3);
	put32(&p, 8);
	put32(&p, 100);
	small(&p, 1, 101, 2);
	page = open_page(&p, 0);
	assert_next(&page, 101, 7, 8);
	assert_end(&page);
}

TEST(missed_events_are_counted)
{
	struct page p = new_page(0);
	struct trace_page page;
	uint64_t count = 4711;

	small(&p, 3, 100, 2);
	memcpy(p.bytes + p.len, &count, sizeof(count));
	page = open_page(&p, MISSED | STORED);
	assert_true(page.missed == 4711);
	assert_next(&page, 100, 3, 8);
	assert_end(&page);
	/* Not how many, but that there were some. */
	page = open_page(&p, MISSED);
	assert_true(page.missed == 1);
	/* No room for the number. */
	assert_true(trace_page_open(&page, p.bytes, p.len + 7));
	assert_true(page.missed == 1);
	/* A number without the flag is none. */
	page = open_page(&p, STORED);
	assert_true(page.missed == 0);
}

TEST(what_is_too_short_is_no_page)
{
	struct page p = new_page(9);
	struct trace_page page;

	for (size_t len = 0; len < 16; len++)
		assert_false(trace_page_open(&page, p.bytes, len));
	assert_true(trace_page_open(&page, p.bytes, 16));
	assert_end(&page);
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
		struct page p = new_page(0);
		struct trace_page page;

		small(&p, 3, 100, 2);
		head(&p, lies[i].type, lies[i].delta);
		put32(&p, lies[i].length);
		small(&p, 3, 101, 2);
		page = open_page(&p, 0);
		assert_next(&page, 100, 3, 8);
		assert_end(&page);
	}
}

/* As after a read() that returned fewer bytes than the page's header states. */
TEST(a_torn_page_ends_where_it_was_torn)
{
	struct page p = new_page(0);
	uint64_t commit;

	small(&p, 3, 100, 2);
	head(&p, EXTEND, 7);
	put32(&p, 3);
	large(&p, 0, 1, 101, 120);
	commit = p.len - 16;
	memcpy(p.bytes + 8, &commit, 8);
	for (size_t len = 16; len <= p.len; len++) {
		unsigned char *exact = malloc(len); /* for ASan */
		struct trace_page page;
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
