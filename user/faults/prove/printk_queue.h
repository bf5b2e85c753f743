/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of the printk hook that wait for their record in the kernel log.
 * Begin with an empty struct.
 */
#ifndef XIDSCOPE_PRINTK_QUEUE_H
#define XIDSCOPE_PRINTK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/prove/printk_origin.h"
#include "printk.h"

#define MAX_PRINTK_WAITING 2048 /* twice what the hook's buffer holds */
#define MAX_OTHERS_WAITING 64 /* of those, messages that are not the driver's */

struct printk_queue {
	struct printk_waiting {
		uint64_t arrived_ns; /* CLOCK_MONOTONIC */
		enum printk_origin origin;
		struct printk_event *event;
	} * list; /* the oldest first */
	size_t count;
};

/* Whether a text has one of the marks that the printk hook looks for. */
bool printk_marked(const char *text, size_t len);

/* Appends a copy of @event. False: no memory. The caller keeps the count within
 * MAX_PRINTK_WAITING. */
bool printk_queue_add(struct printk_queue *q, const struct printk_event *event,
		      enum printk_origin origin, uint64_t now_ns);

#define MAX_PRINTK_PIECES 16

/* The parts of a record's text that are known to be one printk call each. Messages beyond their
 * number stay in the queue. */
struct printk_pieces {
	struct printk_piece {
		size_t at, len; /* in the record's text */
		enum printk_origin origin;
	} list[MAX_PRINTK_PIECES];
	size_t count;
};

/*
 * Removes the messages that make up a record's text: one that is all of it, else
 * several in their order where it was continued. None of them is the driver's if
 * the record was written @by_process. Returns the first, which the
 * caller frees, and what each made up in @pieces; NULL: there is none.
 */
struct printk_event *printk_queue_take(struct printk_queue *q, const char *text, size_t len,
				       bool by_process, struct printk_pieces *pieces);

/* Removes one message, or the oldest @n. */
void printk_queue_remove(struct printk_queue *q, size_t i);
void printk_queue_drop(struct printk_queue *q, size_t n);

void printk_queue_free(struct printk_queue *q);

#endif
