// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that events are read from the lines of a trace pipe, that no other line is taken for one, that what the kernel has
 * lost is counted, and that the driver's event is a report of it. */
#include <fcntl.h>
#include <unistd.h>

#include "golden.h"
#include "made_up_tree.h"
#include "faults/trace_events.c" /* for the form of the driver's event */

#define LINE(rest) "           <...>-4711    [003] d..1.  1000.000042: nvidia_dev_xid: " rest

/* What the test has read, "TIME TEXT; " of each event. */
static char events[8000];

static bool take_event(void *context, uint64_t time_ns, struct span text)
{
	(void)context;
	append_text(events, "%lu %.*s; ", time_ns, (int)span_left(text), text.at);
	return !span_is(text, "odd");
}

static uint64_t missed;

/* All that the pipe has. */
static void consume(const char *lines)
{
	struct trace_instance t = { .event = "nvidia_dev_xid" };
	int ends[2];

	*events = 0;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], lines, strlen(lines)), strlen(lines));
	t.pipe = ends[0];
	trace_instance_consume(&t, take_event, NULL);
	missed = t.missed;
	close(ends[0]);
	close(ends[1]);
}

static const char *events_of(const char *lines)
{
	consume(formatted("%s\n", lines));
	return formatted("%smissed %lu", events, missed);
}

TEST(events_are_read_from_lines)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "lines of a trace pipe", events_of);
}

/* Reads end anywhere. */
TEST(no_line_is_cut)
{
	char lines[40000] = "";

	for (int i = 0; i < 300; i++)
		append_text(lines, LINE("odd") "\n%0*d\n", 1 + i % 50, 7);
	consume(lines);
	assert_int_equal(missed, 300);
	/* Nor is one that is too long for any read. */
	consume(formatted("%010000d\n" LINE("x") "\n", 0));
	assert_string_equal(events, "1000000042000 x; ");
}

TEST(an_instances_memory_is_in_bytes)
{
	struct trace_instance t = { .name = "xidscope_2" };
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	snprintf(t.tracefs, sizeof(t.tracefs), "%s", root);
	put("/instances/xidscope_2/buffer_total_size_kb", "7000\n");
	put("/instances/xidscope_2/buffer_size_kb", "35\n");
	assert_int_equal(trace_instance_memory(&t), cpus * (35840 + page));
	put("/instances/xidscope_2/snapshot", "");
	assert_int_equal(trace_instance_memory(&t), cpus * (35840 + 4 * page));
}

static void note_event(void *context, const struct event *event)
{
	char *text = context;

	sprintf(text + strlen(text), "%u %s %lu %.*s; ", event->code, event->device,
		event->monotonic_ns, (int)event->text_len, event->text);
}

TEST(the_drivers_event_is_its_report)
{
	static const struct xid_policy no_policy;
	static const struct log quiet = { .quiet = true };
	struct faults faults = {};
	struct fault_events counted = { .faults = &faults,
					.handle = note_event,
					.context = events,
					.policy = &no_policy,
					.log = &quiet };
	struct fault_authority authority = { .events = &counted };
	struct trace_events t = { .authority = &authority };

	*events = 0;
	fault_authority_offer(&authority, AUTHORITY_DRIVER, true, 0);
	assert_true(on_driver(&t, 7, span_of("Xid (PCI:0000:c1:00.0): 79, GPU (x): 1, gone")));
	NONE_ACCEPTED(text, on_driver(&t, 8, span_of(text)), "", "Xid (PCI:0000:c1:00.0",
		      "Xid (PCI:0000:c1:00.0): ", "Xid (PCI:0000:c1:00.0): x, y",
		      "Xid (PCI:0000:c1:00.0): 79", "NVRM: Xid (PCI:0000:c1:00.0): 79, x");
	assert_string_equal(events, "79 0000:c1:00.0 7 GPU (x): 1, gone; ");
	fault_authority_free(&authority);
	faults_free(&faults);
}
