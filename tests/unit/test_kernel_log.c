// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that records of /dev/kmsg are read as the kernel writes them, and a malformed header is refused. That a log is read
 * once and in order, continued and its gaps counted is proved in guests: scenarios faults and fault-history. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Each read() returns one record, as that of /dev/kmsg does. */
TEST(records_are_read_once_and_gaps_are_counted)
{
	static const char *const records[] = { "4,7,1,-;old\n", "4,8,1,-;next\n", "torn",
					       "4,11,1,-;behind a gap\n" };
	static struct kernel_log log = { .next = 8, .begun = true };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	log.fd = ends[0];
	for (size_t i = 0; i < COUNT(records); i++)
		assert_true(write(ends[1], records[i], strlen(records[i])) > 0);
	assert_int_equal(kernel_log_read(&log), 1);
	assert_printed("8 9 0 next", "%lu %lu %lu %.4s", log.record.sequence, log.next, log.lost,
		       log.text);
	assert_int_equal(kernel_log_read(&log), 1);
	assert_printed("11 12 2", "%lu %lu %lu", log.record.sequence, log.next, log.lost);
	assert_int_equal(kernel_log_read(&log), 0);
	close(ends[1]);
	assert_int_equal(kernel_log_read(&log), -EIO);
	kernel_log_close(&log);
	assert_int_equal(log.fd, -1);
	/* Without a first number none is lost. */
	log = (struct kernel_log){};
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	log.fd = ends[0];
	assert_true(write(ends[1], records[3], strlen(records[3])) > 0);
	assert_int_equal(kernel_log_read(&log), 1);
	assert_printed("12 0 1", "%lu %lu %d", log.next, log.lost, log.begun);
	kernel_log_close(&log);
	close(ends[1]);
}
