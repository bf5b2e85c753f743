/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of what is counted of records of the kernel log, messages of the printk hook and the driver's reports. */
#pragma once

#include "unit.h"
#include "faults/fault_authority.h"
#include "sinks/event_log.h"

static const struct log quiet = { .quiet = true };
static const struct xid_policy no_policy;

/* Of the test that runs, anew for each. */
static struct world {
	struct faults faults;
	struct fault_events events;
	struct fault_authority authority;
	/* After the start, as the hook begins to be attached, and when it is. */
	uint64_t first_record, first_message, first_certain;
	struct event_log *log;
	uint64_t now;
	uint64_t sequence;
	enum printk_origin origin; /* of the messages that follow */
	uint64_t counted[AUTHORITIES]; /* faults, by who reported them */
	char *lines[100]; /* of events */
	size_t line_count, lines_read;
	const char *device; /* of the records that follow, as in their field DEVICE */
	char caller[16]; /* the same */
	void (*drain)(void); /* what has been reported by now; NULL: nothing more */
} * w;
static struct fault_counts *counts; /* its */

static void on_event(void *context, const struct event *event)
{
	(void)context;
	if (event->kind == EVENT_KIND_XID || event->kind == EVENT_KIND_SXID)
		for (int i = 0; i < AUTHORITIES; i++)
			w->counted[i] += !strcmp(event->authority, fault_authority_names[i]);
	event_log_add(w->log, event);
}

static void drain_reports(void *context)
{
	(void)context;
	if (w->drain)
		w->drain();
}

BEFORE_EACH()
{
	w = not_null(calloc(1, sizeof(*w)));
	counts = &w->faults.counts;
	w->now = 1000 * SECOND;
	w->origin = PRINTK_ORIGIN_DRIVER;
	w->device = "";
	w->log = event_log_new(NULL);
	w->events = (struct fault_events){
		.faults = &w->faults,
		.handle = on_event,
		.policy = &no_policy,
		.log = &quiet,
		.clocks = { .boot_to_wall = 1700000000 },
	};
	w->authority = (struct fault_authority){ .events = &w->events, .drain = drain_reports };
}

AFTER_EACH()
{
	fault_authority_free(&w->authority);
	faults_free(&w->faults);
	event_log_free(w->log);
	for (size_t i = 0; i < w->line_count; i++)
		free(w->lines[i]);
	free(w);
}

static inline void record_of(unsigned int facility, uint64_t time_ns, const char *text)
{
	struct kmsg_record record = { .facility = facility,
				      .sequence = w->sequence++,
				      .time_us = time_ns / 1000,
				      .continued = !strncmp(text, "NVRM", 4),
				      .text_len = strlen(text) };

	snprintf(record.device, sizeof(record.device), "%s", w->device);
	strcpy(record.caller, w->caller);
	fault_authority_record(&w->authority, &record, text,
			       record.sequence < w->first_record  ? RECORD_BEFORE_START :
			       record.sequence < w->first_message ? RECORD_BEFORE_HOOK :
			       record.sequence < w->first_certain ? RECORD_AT_HOOK :
								    RECORD_NEW,
			       w->now);
}

static inline void printk_at(uint64_t time_ns, const char *text)
{
	size_t len = strlen(text);
	struct printk_event *e = not_null(malloc(sizeof(*e) + len));

	*e = (struct printk_event){
		.time = time_ns, .pid = 77, .comm = "writer", .len = (uint32_t)len
	};
	memcpy(e->text, text, len);
	fault_authority_message(&w->authority, e, w->origin);
	free(e);
}

/* All that the log had is read. */
static inline void pass(uint64_t ns)
{
	w->now += ns;
	fault_authority_all_read(&w->authority, w->now);
	fault_authority_expire(&w->authority, w->now);
}
