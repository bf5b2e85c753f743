// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that records of /dev/kmsg are read as the kernel writes them, and a malformed header is refused. That a log is read
 * once and in order, continued and its gaps counted is proved in guests: scenarios faults and fault-history. */
#include "golden.h"
#include "kernel/kernel_log.h"

static char text[256];

/* Runs on a copy of just len bytes, so that a sanitizer detects a read past the end. */
static bool parse(const char *record, size_t len, size_t size, struct kmsg_record *out)
{
	char *copy = exact_copy(record, len), *room = malloc(size ? size : 1);
	bool ok;

	assert_true(room && size <= sizeof(text));
	memset(out, 0x55, sizeof(*out));
	ok = kmsg_record_parse(copy, len, out, room, size);
	assert_true(out->text_len <= size);
	memcpy(text, room, out->text_len);
	free(copy);
	free(room);
	return ok;
}

static void assert_text(const struct kmsg_record *r, const char *expected, size_t len)
{
	assert_int_equal(r->text_len, len);
	assert_memory_equal(text, expected, len);
}

/* Facility, sequence, time, what else is stated, and the text with its length. */
static const char *record_of(const char *record)
{
	static char d[400];
	struct kmsg_record r;

	if (!parse(record, strlen(record), sizeof(text), &r)) {
		assert_int_equal(r.sequence + r.text_len, 0);
		return "refused";
	}
	snprintf(d, sizeof(d), "%u %lu %lu", r.facility, r.sequence, r.time_us);
	if (r.continued)
		append_text(d, " continued");
	if (*r.caller)
		append_text(d, " by %s", r.caller);
	if (*r.device)
		append_text(d, " for %s", r.device);
	append_text(d, ", %zu: %.*s", r.text_len, (int)r.text_len, text);
	return d;
}

TEST(records_are_read_or_refused)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "records of the kernel log", record_of);
}

TEST(long_text_is_cut_to_fit)
{
	static const char record[] = "4,1,2,-;ab\\x0acd\n";
	struct kmsg_record r;

	for (size_t size = 0; size <= 6; size++) {
		assert_true(parse(record, sizeof(record) - 1, size, &r));
		assert_text(&r, "ab\ncd", size < 5 ? size : 5);
	}
}

TEST(torn_record_is_refused_or_keeps_its_beginning)
{
	static const char record[] = "4,1,2,c,caller=T1;ab\\x0acd\n K=v\n";
	const size_t header = 18;
	struct kmsg_record r;

	for (size_t len = 0; len < sizeof(record); len++) {
		assert_int_equal(parse(record, len, sizeof(text), &r), len >= header);
		if (len >= header + 2)
			assert_memory_equal(text, "ab", 2);
	}
}
