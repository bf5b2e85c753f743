// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of the printk hook that wait for their record in the kernel log. */
#include "faults/prove/parts.h"

#include "base/array.h"

bool printk_marked(const char *text, size_t len)
{
	return memmem(text, len, "NVRM", 4) || memmem(text, len, "SXid", 4) ||
	       memmem(text, len, "nvsw", 4);
}

bool printk_queue_add(struct printk_queue *q, const struct printk_event *event,
		      enum printk_origin origin, uint64_t now_ns)
{
	size_t size = sizeof(*event) + event->len;
	struct printk_event *own = malloc(size);
	struct printk_waiting *new = NULL;

	if (own)
		new = ARRAY_APPEND(q->list, q->count);
	if (!new) {
		free(own);
		return false;
	}
	memcpy(own, event, size);
	new->arrived_ns = now_ns;
	new->origin = origin;
	new->event = own;
	return true;
}

/* The end of console output: a newline; behind a record's own newline an empty line, with or without a time stamp. */
static bool is_console_end(const char *at, const char *end, bool own_newline)
{
	size_t left = (size_t)(end - at);

	if (!left || (left == 1 && *at == '\n'))
		return true;
	if (!own_newline || *at != '\n' || memchr(at + 1, '\n', left - 1) != end - 1)
		return false;
	return left == 2 || (left < 64 && !memcmp(end - 3, "] \n", 3));
}

/* Before Linux 5.19 the hook reads what is written to consoles: the whole record, with a time stamp before each of
 * its lines, and a newline at the end. */
static bool is_console_output(const struct printk_event *e, const char *text, size_t len)
{
	const char *at = e->text, *end = e->text + e->len;

	if (e->len <= len)
		return false;
	for (;;) {
		const char *newline = memchr(text, '\n', len);
		size_t size = newline ? (size_t)(newline - text) : len;

		at = memmem(at, (size_t)(end - at), text, size);
		if (!at)
			return false;
		at += size;
		if (!newline)
			break;
		text += size + 1;
		len -= size + 1;
	}
	return is_console_end(at, end, !len);
}

static void add_piece(struct printk_pieces *pieces, size_t at, size_t len,
		      enum printk_origin origin)
{
	pieces->list[pieces->count++] = (struct printk_piece){ at, len, origin };
}

static void remove_at(struct printk_queue *q, size_t i)
{
	q->count--;
	memmove(&q->list[i], &q->list[i + 1], (q->count - i) * sizeof(*q->list));
}

/* Whether it is the driver's, and so not that of a record which a process wrote. */
static bool is_anothers(const struct printk_waiting *w, bool by_process)
{
	return by_process && w->origin == PRINTK_ORIGIN_DRIVER;
}

/* The oldest message that is all of the text. */
static struct printk_event *take_whole(struct printk_queue *q, const char *text, size_t len,
				       bool by_process, struct printk_pieces *pieces)
{
	for (size_t i = 0; i < q->count; i++) {
		struct printk_event *e = q->list[i].event;

		if (e->len != len || memcmp(e->text, text, len) != 0 ||
		    is_anothers(&q->list[i], by_process))
			continue;
		add_piece(pieces, 0, len, q->list[i].origin);
		remove_at(q, i);
		return e;
	}
	return NULL;
}

/* The hook has the text as it was passed to printk; @text is the record's without escapes. */
struct printk_event *printk_queue_take(struct printk_queue *q, const char *text, size_t len,
				       bool by_process, struct printk_pieces *pieces)
{
	struct printk_event *first = NULL;
	size_t at = 0, i = 0;

	pieces->count = 0;
	/* A short text without a mark may be part of any message. */
	if (!q->count || !printk_marked(text, len))
		return NULL;
	first = take_whole(q, text, len, by_process, pieces);
	if (first)
		return first;
	while (i < q->count && at < len && pieces->count < MAX_PRINTK_PIECES) {
		struct printk_event *e = q->list[i].event;
		const char *found = NULL;

		if (e->len && e->len <= len - at && !is_anothers(&q->list[i], by_process))
			found = memmem(text + at, len - at, e->text, e->len);
		if (found) {
			add_piece(pieces, (size_t)(found - text), e->len, q->list[i].origin);
			at = (size_t)(found - text) + e->len;
		} else if (!at && q->list[i].origin == PRINTK_ORIGIN_UNKNOWN &&
			   is_console_output(e, text, len)) {
			add_piece(pieces, 0, len, q->list[i].origin);
			at = len;
		} else {
			i++;
			continue;
		}
		remove_at(q, i);
		if (first)
			free(e);
		else
			first = e;
	}
	return first;
}

void printk_queue_remove(struct printk_queue *q, size_t i)
{
	free(q->list[i].event);
	remove_at(q, i);
}

void printk_queue_free(struct printk_queue *q)
{
	while (q->count)
		printk_queue_remove(q, q->count - 1);
	free(q->list);
	*q = (struct printk_queue){};
}
