// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for all that comes in about faults, in any order: records of the kernel log, messages of the printk
 * hook, the driver's reports. Counts only grow, what is counted adds up, and each event is a line of JSON. */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "faults/fault_authority.h"
#include "kernel/kernel_log.h"
#include "sinks/event_log.h"

#define SECOND 1000000000ull

struct world {
	struct faults faults;
	struct fault_events fault_events;
	struct fault_authority authority;
	struct event_log *events;
	struct kernel_log log;
	int to_log; /* what is sent here is read from the log */
	uint64_t now, handed_out;
};

static uint64_t counted(const struct fault_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->fault_count; i++) {
		require(c->faults[i].incidents <= c->faults[i].count);
		sum += c->faults[i].count;
	}
	return sum;
}

static void read_records(struct world *w)
{
	while (kernel_log_read(&w->log) > 0) {
		require(w->log.next == w->log.record.sequence + 1);
		fault_authority_record(&w->authority, &w->log.record, w->log.text, RECORD_NEW,
				       w->now);
	}
}

/* It begins, ends, or has a gap. */
static void change_authority(struct world *w, unsigned int how)
{
	switch (how % 4) {
	case 0:
		fault_authority_offer(&w->authority, AUTHORITY_HOOK, how / 4 % 2, w->now);
		break;
	case 1:
		fault_authority_offer(&w->authority, AUTHORITY_DRIVER, how / 4 % 2, w->now);
		break;
	case 2:
		fault_authority_gap(&w->authority, w->authority.in_force, w->now);
		break;
	default:
		break;
	}
}

static void drain_nothing(void *context)
{
	(void)context;
}

/* The parts of the input: a byte for what it is, the text, a newline. */
static void feed(struct world *w, const char *part, size_t len)
{
	struct driver_report report = { .code = 79, .time_ns = w->now };
	struct printk_event *event;

	unsigned char more = (unsigned char)*part / 8;

	switch (*part++ % 8) {
	case 0: /* as it stands in /dev/kmsg */
	case 1:
		if (--len && send(w->to_log, part, len, 0) == (ssize_t)len)
			read_records(w);
		return;
	case 2:
	case 3:
		event = calloc(1, sizeof(*event) + len);
		require(event != NULL);
		event->time = w->now;
		event->len = (uint32_t)len - 1;
		memcpy(event->comm, "python", 7);
		memcpy(event->text, part, len - 1);
		fault_authority_message(&w->authority, event, more % 4);
		free(event);
		return;
	case 4:
	case 5:
		snprintf(report.device, sizeof(report.device), "0000:c%x:00.0", more % 16);
		fault_authority_report(&w->authority, &report);
		return;
	default:
		change_authority(w, more);
		w->now += len * SECOND / 8;
		fault_authority_all_read(&w->authority, w->now);
		fault_authority_expire(&w->authority, w->now);
	}
}

static bool require_event(void *context, const char *line, size_t size)
{
	(void)context;
	require(memchr(line, '\n', size) == line + size - 1 && json_valid(line, size - 1));
	return true;
}

static void on_event(void *context, const struct event *event)
{
	struct world *w = context;

	w->handed_out += event->kind == EVENT_KIND_XID || event->kind == EVENT_KIND_SXID;
	event_log_add(w->events, event);
}

static void begin(struct world *w, bool accept)
{
	static const struct log quiet = { .quiet = true };
	static const struct event_sink sink = { .write = require_event };
	static const struct xid_policy no_policy;
	int ends[2];

	*w = (struct world){ .now = 1000 * SECOND };
	w->events = event_log_new(&sink);
	w->fault_events = (struct fault_events){
		.faults = &w->faults,
		.handle = on_event,
		.context = w,
		.policy = &no_policy,
		.log = &quiet,
		.started_ns = w->now,
		.clocks = { .boot_to_wall = 1700000000 },
	};
	w->authority = (struct fault_authority){ .events = &w->fault_events,
						 .accept_user_kmsg = accept,
						 .drain = drain_nothing };
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, 0);
	require(w->events != NULL);
	require(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
	w->log.fd = ends[0];
	w->to_log = ends[1];
}

static void end(struct world *w)
{
	fault_authority_expire(&w->authority, UINT64_MAX);
	require(w->handed_out == counted(&w->faults.counts));
	event_log_free(w->events);
	fault_authority_free(&w->authority);
	faults_free(&w->faults);
	close(w->to_log);
	kernel_log_close(&w->log);
}

/* The first byte: whether what users write counts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data + 1, *newline;
	struct world w;
	uint64_t before = 0;

	if (size < 2)
		return 0;
	begin(&w, data[0] & 1);
	for (size--; size; size -= (size_t)(newline - at), at = newline) {
		newline = memchr(at, '\n', size);
		newline = newline ? newline + 1 : at + size;
		feed(&w, at, (size_t)(newline - at));
		require(counted(&w.faults.counts) >= before);
		before = counted(&w.faults.counts);
	}
	end(&w);
	return 0;
}
