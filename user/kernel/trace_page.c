// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The binary form of the kernel's trace buffer: a page begins with a time stamp and a length (`events/header_page`);
 * each event begins with a word of 5 bits for type or length and 27 bits for time (`events/header_event`; kernel:
 * include/linux/ring_buffer.h). */
#include "kernel/trace.h"

enum {
	TYPE_LENGTH_FOLLOWS = 0,
	TYPE_DATA_MAX = 28, /* 1 to 28: length in words of four bytes */
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
};

/* Flags in the page's length (kernel: kernel/trace/ring_buffer.c). */
#define MISSED_EVENTS (1ul << 31)
#define MISSED_STORED (1ul << 30)
#define LENGTH_MASK (MISSED_STORED - 1)

/* Beginning of every record: u16 type, u8 flags, u8 preempt count, s32 pid. */
#define RECORD_HEAD 8

static uint32_t read_word(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static size_t bytes_left(const struct trace_page *p)
{
	return (size_t)(p->end - p->at);
}

bool trace_page_open(struct trace_page *p, const void *data, size_t len)
{
	const unsigned char *at = data;
	size_t head = sizeof(uint64_t) + sizeof(unsigned long), size;
	unsigned long commit;

	*p = (struct trace_page){};
	if (len < head)
		return false;
	memcpy(&p->time, at, sizeof(p->time));
	memcpy(&commit, at + sizeof(uint64_t), sizeof(commit));
	size = commit & LENGTH_MASK;
	LOWER(size, len - head);
	p->at = at + head;
	p->end = p->at + size;
	if (commit & MISSED_EVENTS) {
		unsigned long count = 0;

		if (commit & MISSED_STORED && len - head - size >= sizeof(count))
			memcpy(&count, p->end, sizeof(count));
		p->missed = count ? count : 1;
	}
	return true;
}

bool trace_page_next(struct trace_page *p, struct trace_record *record)
{
	while (bytes_left(p) >= 4) {
		uint32_t head = read_word(p->at), type = head & 31;
		uint64_t delta = head >> 5;
		size_t size = type * sizeof(head); /* bytes after the head */

		p->at += sizeof(head);
		if (type == TYPE_PADDING && !delta)
			break; /* the rest of the page is empty */
		if (type >= TYPE_PADDING || type == TYPE_LENGTH_FOLLOWS) {
			if (bytes_left(p) < sizeof(head))
				break;
			size = read_word(p->at);
			p->at += sizeof(head);
			if (type == TYPE_TIME_EXTEND) {
				p->time += delta + ((uint64_t)size << 27);
				continue;
			}
			if (type == TYPE_TIME_STAMP) {
				/* Its upper five bits are those of the page's time. */
				p->time = (p->time & ~((1ull << 59) - 1)) | delta |
					  (uint64_t)size << 27;
				continue;
			}
			/* The length includes its own word; the rest of a record's last word may be missing. */
			if (size < sizeof(head) || size - sizeof(head) > bytes_left(p))
				break;
			size = ((size + 3) & ~(size_t)3) - sizeof(head);
			LOWER(size, bytes_left(p));
		}
		if (size > bytes_left(p))
			break;
		p->time += delta;
		record->data = p->at;
		record->len = size;
		p->at += size;
		if (type == TYPE_PADDING || record->len < RECORD_HEAD)
			continue;
		record->time = p->time;
		memcpy(&record->type, record->data, sizeof(record->type));
		return true;
	}
	p->at = p->end;
	return false;
}
