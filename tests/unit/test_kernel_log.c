// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that records of /dev/kmsg are read as the kernel writes them, and a malformed header is refused. That a log is read
 * once and in order, continued and its gaps counted is proved in guests: scenarios faults and fault-history. */
#include "unit.h"
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

static struct kmsg_record read_record(const char *record)
{
	struct kmsg_record out;

	assert_true(parse(record, strlen(record), sizeof(text), &out));
	return out;
}

static void assert_text(const struct kmsg_record *r, const char *expected, size_t len)
{
	assert_int_equal(r->text_len, len);
	assert_memory_equal(text, expected, len);
}

TEST(header_is_read)
{
	struct kmsg_record r;

	r = read_record("6,339,5140900,-;NET: Registered protocol family 10\n");
	assert_printed("0 339 5140900 0", "%u %lu %lu %d", r.facility, r.sequence, r.time_us,
		       r.continued);
	assert_text(&r, "NET: Registered protocol family 10", 34);
	r = read_record("12,18446744073709551615,18446744073709551615,-;x\n");
	assert_int_equal(r.facility, 1);
	assert_true(r.sequence == UINT64_MAX && r.time_us == UINT64_MAX);
	assert_int_equal(read_record("4294967295,0,0,-;x\n").facility, 0x1fffffff);
}

TEST(fragments_are_marked)
{
	assert_true(read_record("4,1,2,c;x\n").continued);
	assert_true(read_record("4,1,2,+;x\n").continued);
	assert_true(read_record("4,1,2,c,caller=C3;x\n").continued);
	assert_false(read_record("4,1,2,-,caller=c;x\n").continued);
}

TEST(later_fields_are_skipped_and_the_device_is_read)
{
	struct kmsg_record r;

	r = read_record(
		"4,1,2,-,caller=T1234,new=a\\b;a, b; c\n SUBSYSTEM=pci\n DEVICE=+pci:0000:c1:00.0\n");
	assert_text(&r, "a, b; c", 7);
	assert_string_equal(r.device, "+pci:0000:c1:00.0");
	assert_string_equal(r.caller, "T1234");
	r = read_record("4,1,2,-;\n SUBSYSTEM=pci\n");
	assert_text(&r, "", 0);
	assert_string_equal(r.device, "");
	/* What the text holds is no property: its newlines are escaped. */
	r = read_record("4,1,2,-;x\\x0a DEVICE=+pci:0000:c1:00.0\n");
	assert_string_equal(r.device, "");
	r = read_record("4,1,2,-; starts with a space\n");
	assert_text(&r, " starts with a space", 20);
}

TEST(escapes_are_undone)
{
	static const struct {
		const char *escaped;
		const char *text;
		size_t len;
	} cases[] = {
		{ "a\\x0ab", "a\nb", 3 },
		{ "\\x00", "\0", 1 },
		{ "\\x5cx41", "\\x41", 4 },
		{ "\\xc3\\xa9\\x7f\\xff", "\xc3\xa9\x7f\xff", 4 },
		/* not escapes of the kernel: kept */
		{ "\\", "\\", 1 },
		{ "\\x", "\\x", 2 },
		{ "\\x4", "\\x4", 3 },
		{ "\\x4g", "\\x4g", 4 },
		{ "\\y41", "\\y41", 4 },
		{ "\\\\x41", "\\A", 2 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char record[80] = "4,1,2,-;";
		struct kmsg_record r;

		strcat(record, cases[i].escaped);
		r = read_record(record);
		assert_text(&r, cases[i].text, cases[i].len);
		strcat(record, "\n");
		r = read_record(record);
		assert_text(&r, cases[i].text, cases[i].len);
	}
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

TEST(malformed_header_is_refused)
{
	struct kmsg_record r;

	NONE_ACCEPTED(
		record, parse(record, strlen(record), sizeof(text), &r) || r.sequence || r.text_len,
		"", ";", "x", "4", "4,1,2", "4,1,2,", "4,1,2,-", "4,1,2,-,", "4,1,2,-,caller=T1",
		"4,1,2,;text\n", "4,1,2,,;text\n", "4,1,2,--;text\n", "4,1,2;text\n", "4,1,;text\n",
		"4,,2,-;text\n", ",1,2,-;text\n", "-4,1,2,-;text\n", " 4,1,2,-;text\n",
		"4, 1,2,-;text\n", "4x,1,2,-;text\n", "4,1,2,-\n;text\n", "4,1,2,-,a\n;text\n",
		"4,1,2,\n;text\n", "4294967296,1,2,-;text\n", "4,18446744073709551616,2,-;text\n",
		"4,1,18446744073709551616,-;text\n", "4,1,99999999999999999999999,-;text\n");
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
