// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel log, record by record (kernel: Documentation/ABI/testing/dev-kmsg). */
#include "kernel/kernel_log.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"

int kernel_log_device(const char *root, int flags)
{
	int fd = open(PATHF("%s/dev/kmsg", root), flags | O_CLOEXEC);
	struct stat device;
	bool other = fd >= 0 && !fstat(fd, &device) && S_ISCHR(device.st_mode) &&
		     device.st_rdev != makedev(1, 11);

	fd = file_unless(fd, other ? -1 : 0);
	errno = other ? ENODEV : errno;
	return fd;
}

/* Returns a descriptor, or -1 with errno. */
static int open_at(int whence)
{
	int fd = kernel_log_device("", O_RDONLY | O_NONBLOCK);

	return file_unless(fd, fd >= 0 && lseek(fd, 0, whence) < 0 ? -1 : 0);
}

int kernel_log_open(struct kernel_log *l, bool all)
{
	l->fd = open_at(all ? SEEK_SET : SEEK_END);
	return l->fd < 0 ? -errno : 0;
}

void kernel_log_close(struct kernel_log *l)
{
	file_close(&l->fd);
	l->fd = -1;
}

int kernel_log_read(struct kernel_log *l)
{
	ssize_t n;

	for (;;) {
		n = read(l->fd, l->raw, sizeof(l->raw));
		if (n < 0 && errno == EAGAIN)
			return 0;
		/* EPIPE: the record was overwritten; the next read continues after the gap. EINVAL: the record is
		 * longer than the buffer, and the next read continues after it. */
		if (n < 0 && (errno == EPIPE || errno == EINTR || errno == EINVAL))
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		if (!kmsg_record_parse(l->raw, (size_t)n, &l->record, l->text, sizeof(l->text)))
			continue;
		/* It has been read before. */
		if (l->begun && l->record.sequence < l->next)
			continue;
		if (l->begun)
			l->lost += l->record.sequence - l->next;
		l->begun = true;
		l->next = l->record.sequence + 1;
		return 1;
	}
}

void kernel_log_mark(struct kernel_log_mark *m)
{
	kernel_log_mark_free(m);
	m->fd = open_at(SEEK_END);
}

void kernel_log_mark_free(struct kernel_log_mark *m)
{
	file_close(&m->fd);
	*m = (struct kernel_log_mark){ .fd = -1 };
}

uint64_t kernel_log_after(struct kernel_log_mark *m)
{
	char raw[KERNEL_LOG_RECORD], text[1];
	struct kmsg_record record;
	ssize_t n;

	if (m->fd < 0)
		return m->next;
	do
		n = read(m->fd, raw, sizeof(raw));
	while (n < 0 && (errno == EPIPE || errno == EINTR));
	if (n < 0 && errno == EAGAIN)
		return UINT64_MAX;
	kernel_log_mark_free(m);
	if (n > 0 && kmsg_record_parse(raw, (size_t)n, &record, text, sizeof(text)))
		m->next = record.sequence;
	return m->next;
}

/* perf's clock is the log's, local_clock(). It is in the record of an event, and a process that is given a name is one. */
bool kernel_log_offset(int64_t *ns)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = sizeof(attr),
					.sample_type = PERF_SAMPLE_TIME,
					.sample_id_all = 1,
					.exclude_kernel = 1,
					.comm = 1 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	OPEN_FILE fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *head = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	const struct perf_event_header *record = (const void *)((const char *)head + page);
	uint64_t before, after, time = 0;
	char name[16] = "";

	if (head == MAP_FAILED)
		return false;
	prctl(PR_GET_NAME, name);
	before = monotonic_ns();
	prctl(PR_SET_NAME, name);
	after = monotonic_ns();
	/* The time is the record's end. */
	if (head->data_head && record->type == PERF_RECORD_COMM)
		memcpy(&time, (const char *)record + record->size - sizeof(time), sizeof(time));
	munmap(head, 2 * page);
	if (time)
		*ns = (int64_t)(before / 2 + after / 2 - time);
	return time;
}

/* Parser of a record of /dev/kmsg:
 *
 * 	4,1339,5140900,c,caller=T77;NVRM: loading\x0a\n SUBSYSTEM=pci\n ... */

static bool take_number(struct span *s, uint64_t max, uint64_t *value)
{
	return span_take_number(s, 10, max, value) && span_take(s, ",");
}

static bool take_header(struct span *s, struct kmsg_record *out)
{
	uint64_t priority;
	struct span flags;

	if (!take_number(s, UINT_MAX, &priority) || !take_number(s, UINT64_MAX, &out->sequence) ||
	    !take_number(s, UINT64_MAX, &out->time_us))
		return false;
	out->facility = (unsigned int)(priority >> 3);
	/* One flag, then fields such as the caller. */
	flags = span_take_until(s, ";\n");
	if (!span_take(s, ";") || !span_left(flags) || *flags.at == ',' ||
	    (span_left(flags) > 1 && flags.at[1] != ','))
		return false;
	out->continued = *flags.at == 'c' || *flags.at == '+';
	if (span_take_through(&flags, ",caller="))
		span_copy(span_take_until(&flags, ","), out->caller, sizeof(out->caller));
	return true;
}

bool kmsg_record_parse(const char *record, size_t len, struct kmsg_record *out, char *text,
		       size_t size)
{
	struct span rest = { record, record + len }, s;

	*out = (struct kmsg_record){};
	if (!take_header(&rest, out)) {
		*out = (struct kmsg_record){};
		return false;
	}
	s = span_take_line(&rest);
	while (span_left(s) && out->text_len < size)
		text[out->text_len++] = span_take_byte(&s, "\\x", 16, 2);
	while (span_next_line(&rest, &s))
		if (span_take(&s, " DEVICE="))
			span_copy(s, out->device, sizeof(out->device));
	return true;
}
