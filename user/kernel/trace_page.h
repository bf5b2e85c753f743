/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the records out of a page that was read from a `trace_pipe_raw` file
 * of tracefs. Pure functions.
 */
#ifndef XIDSCOPE_TRACE_PAGE_H
#define XIDSCOPE_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_page {
	const unsigned char *at; /* next event */
	const unsigned char *end;
	uint64_t time; /* of the event before it, ns of the trace clock */
	/* Records that were overwritten before this page; 1 if the kernel reports
	 * that there were some, but not how many. */
	uint64_t missed;
};

struct trace_record {
	uint64_t time; /* ns of the trace clock */
	const void *data;
	size_t len; /* bytes, with the padding to a multiple of four */
	uint16_t type; /* the event's ID */
	int32_t pid; /* of the task in whose context the event happened */
};

/* @data stays the caller's. False if it is too short to be a page. */
bool trace_page_open(struct trace_page *p, const void *data, size_t len);

/* The next record; false at the end. */
bool trace_page_next(struct trace_page *p, struct trace_record *record);

#endif
