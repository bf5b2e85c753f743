// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves, on this machine's own log, that its records are read once and in order, that reading continues where it
 * stopped, and that missing records are counted. Skipped where the log cannot be read, and in part where it cannot be
 * written. */
#include <fcntl.h>
#include <unistd.h>

#include "unit.h"
#include "kernel/kernel_log.h"

static struct kernel_log l;

static void open_or_skip(enum kernel_log_start start)
{
	int err = kernel_log_open(&l, start);

	if (err == -EPERM || err == -EACCES || err == -ENOENT)
		skip();
	assert_int_equal(err, 0);
}

/* At the level of debugging, which no console shows. False if we may not. */
static bool write_record(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	char record[80];
	int len = snprintf(record, sizeof(record), "<7>%s\n", text);
	bool written = fd >= 0 && write(fd, record, (size_t)len) == len;

	if (fd >= 0)
		close(fd);
	return written;
}

TEST(all_records_come_in_order)
{
	uint64_t last = 0, first = 0, count = 0;
	int n;

	open_or_skip(KERNEL_LOG_ALL);
	while ((n = kernel_log_read(&l)) > 0) {
		if (!count++)
			first = l.record.sequence;
		else
			assert_true(l.record.sequence > last);
		last = l.record.sequence;
		assert_true(l.next == last + 1);
	}
	assert_int_equal(n, 0);
	if (count)
		assert_int_equal(count + l.lost, last + 1 - first);
	kernel_log_close(&l);
	assert_int_equal(l.fd, -1);
	kernel_log_close(&l);
}

TEST(only_what_is_new_if_wanted)
{
	char text[64];

	open_or_skip(KERNEL_LOG_NEW);
	while (kernel_log_read(&l) > 0)
		;
	snprintf(text, sizeof(text), "test_kernel_log %d", getpid());
	if (!write_record(text)) {
		kernel_log_close(&l);
		skip();
	}
	do
		if (kernel_log_read(&l) != 1) {
			/* The kernel takes ten lines in five seconds. */
			kernel_log_close(&l);
			skip();
		}
	while (l.record.text_len != strlen(text) || memcmp(l.text, text, strlen(text)) != 0);
	/* A process wrote it. */
	assert_int_not_equal(l.record.facility, 0);
	assert_int_equal(l.lost, 0);
	kernel_log_close(&l);
}

TEST(reading_continues_where_it_stopped)
{
	uint64_t last = 0;

	open_or_skip(KERNEL_LOG_ALL);
	if (!write_record("test_kernel_log") || !write_record("test_kernel_log")) {
		kernel_log_close(&l);
		skip();
	}
	while (kernel_log_read(&l) > 0)
		last = l.record.sequence;
	kernel_log_close(&l);
	open_or_skip(KERNEL_LOG_ALL);
	kernel_log_resume(&l, last);
	assert_int_equal(kernel_log_read(&l), 1);
	assert_true(l.record.sequence == last && l.lost == 0);
	kernel_log_close(&l);
}

/* The log gives a later record than was to be read next. */
TEST(a_gap_is_counted)
{
	uint64_t next = 0;

	open_or_skip(KERNEL_LOG_ALL);
	for (int i = 0; i < 5; i++)
		if (kernel_log_read(&l) != 1) {
			kernel_log_close(&l);
			skip();
		}
	assert_int_equal(l.lost, 0);
	next = l.next;
	kernel_log_resume(&l, next - 3);
	if (kernel_log_read(&l) == 1)
		assert_true(l.lost == l.record.sequence - (next - 3));
	kernel_log_close(&l);
}
