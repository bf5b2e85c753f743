// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that each fault is counted once, in whatever order and mix the kernel
 * log, the printk hook and the driver's hook report it; that what a process
 * wrote into the log never counts; and what lines that are no faults do.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "unit.h"
#include "faults/prove/parts.h"
#include "sinks/event_log.h"

#define SECOND 1000000000ull
#define MS 1000000ull
#define XID_79 "NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=py, GPU has fallen off the bus."
#define XID_31 "NVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 00000008, MMU Fault"

static const struct log quiet;
static const struct xid_policy no_policy;

struct world {
	struct faults faults;
	struct fault_events events;
	struct fault_stream *stream;
	uint64_t first_record, first_message; /* after the start, after the hook was attached */
	struct event_log *log;
	uint64_t now;
	uint64_t sequence;
	enum printk_origin origin; /* of the messages that follow */
	const char *device; /* of the records that follow, as in their field DEVICE */
};

static void on_event(void *context, const struct event *event)
{
	struct world *w = context;

	event_log_add(w->log, event);
}

static int enter(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->now = 1000 * SECOND;
	w->origin = PRINTK_ORIGIN_DRIVER;
	w->device = "";
	w->log = event_log_new(NULL);
	w->events = (struct fault_events){
		.faults = &w->faults,
		.handle = on_event,
		.context = w,
		.policy = &no_policy,
		.log = &quiet,
		.clocks = { .boot_to_wall = 1700000000 },
		.uevents_ns = UINT64_MAX,
	};
	for (int i = 0; i < SIGNALS; i++)
		w->events.enabled_ns[i] = UINT64_MAX;
	w->stream = fault_stream_new(&w->events, false);
	*state = w;
	return w->stream ? 0 : -1;
}

static int leave(void **state)
{
	struct world *w = *state;

	fault_stream_free(w->stream);
	faults_free(&w->faults);
	event_log_free(w->log);
	free(w);
	return 0;
}

/* ---- what comes in ---- */

static void record_of(struct world *w, unsigned int facility, uint64_t time_ns, const char *text)
{
	struct kmsg_record record = { .facility = facility,
				      .sequence = w->sequence++,
				      .time_us = time_ns / 1000,
				      .continued = !strncmp(text, "NVRM", 4),
				      .text_len = strlen(text) };

	snprintf(record.device, sizeof(record.device), "%s", w->device);
	fault_stream_record(w->stream, &record, text,
			    record.sequence < w->first_record  ? RECORD_BEFORE_START :
			    record.sequence < w->first_message ? RECORD_BEFORE_HOOK :
								 RECORD_NEW,
			    w->now);
}

static void record(struct world *w, const char *text)
{
	record_of(w, 0, w->now, text);
}

static void printk_at(struct world *w, uint64_t time_ns, const char *text)
{
	size_t len = strlen(text);
	struct printk_event *e = malloc(sizeof(*e) + len);

	assert_non_null(e);
	*e = (struct printk_event){
		.time = time_ns, .pid = 77, .comm = "writer", .len = (uint32_t)len
	};
	memcpy(e->text, text, len);
	fault_stream_message(w->stream, e, w->origin, w->now);
	free(e);
}

static void message(struct world *w, const char *text)
{
	printk_at(w, w->now, text);
}

static void driver(struct world *w, bool nvswitch, unsigned int code, const char *device,
		   const char *text)
{
	struct fault_report r = {
		.nvswitch = nvswitch, .code = code, .arrived_ns = w->now, .time_ns = w->now
	};

	snprintf(r.device, sizeof(r.device), "%s", device);
	snprintf(r.message, sizeof(r.message), "%s", text);
	fault_stream_report(w->stream, &r);
}

static void driver_79(struct world *w)
{
	driver(w, false, 79, "0000:c1:00.0", "GPU has fallen off the bus.");
}

static void watch_driver(struct world *w)
{
	fault_stream_reports_expected(w->stream, true);
	w->events.enabled_ns[SIGNAL_XID] = 0;
	w->events.enabled_ns[SIGNAL_SXID] = 0;
}

static void pass(struct world *w, uint64_t ns)
{
	w->now += ns;
	fault_stream_expire(w->stream, w->now, false);
}

/* ---- what comes out ---- */

static bool waits(const struct world *w)
{
	return w->stream->printk.count || w->stream->pairs.count;
}

static uint64_t total(const struct world *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->faults.counts.fault_count; i++)
		sum += w->faults.counts.faults[i].count;
	return sum;
}

static uint64_t events(const struct world *w, const char *kind)
{
	const struct fault_counts *s = &w->faults.counts;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->kernel_event_count; i++)
		if (!strcmp(s->kernel_events[i].kind, kind))
			sum += s->kernel_events[i].count;
	return sum;
}

static uint64_t unverified(const struct world *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->faults.counts.unverified_count; i++)
		sum += w->faults.counts.unverified[i].count;
	return sum;
}

static void assert_paths(const struct world *w, uint64_t both, uint64_t text, uint64_t by_driver)
{
	const uint64_t *paths = w->faults.counts.fault_paths;

	assert_int_equal(paths[FAULT_PATH_BOTH], both);
	assert_int_equal(paths[FAULT_PATH_TEXT], text);
	assert_int_equal(paths[FAULT_PATH_DRIVER], by_driver);
}

static void assert_one_79(struct world *w)
{
	pass(w, 10 * SECOND);
	assert_false(waits(w));
	assert_int_equal(w->faults.counts.fault_count, 1);
	assert_int_equal(w->faults.counts.faults[0].code, 79);
	assert_string_equal(w->faults.counts.faults[0].device, "0000:c1:00.0");
	assert_string_equal(w->faults.counts.faults[0].severity, "fatal");
	assert_int_equal(w->faults.counts.faults[0].count, 1);
	assert_int_equal(w->stream->crowded, 0);
}

/* ---- one fault, several ways ---- */

TEST_WITH(the_record_alone, enter, leave)
{
	struct world *w = *state;

	record(w, XID_79);
	assert_false(waits(w));
	assert_one_79(w);
	assert_paths(w, 0, 1, 0);
}

TEST_WITH(message_and_record, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	assert_int_equal(total(w), 0);
	record(w, XID_79);
	assert_int_equal(total(w), 1);
	assert_false(waits(w));
	assert_one_79(w);
}

/* The log has lost the record: the message stands in for it, but not before it
 * is clear that no record comes. */
TEST_WITH(the_message_alone, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	pass(w, PRINTK_WAIT_NS - 1);
	assert_int_equal(total(w), 0);
	pass(w, 1);
	assert_int_equal(total(w), 1);
	assert_one_79(w);
}

TEST(every_order_with_the_driver)
{
	/* m: message, r: record, d: driver */
	static const char *const orders[] = { "mrd", "mdr", "dmr", "rd", "dr", "md", "dm" };
	struct world *w;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		void *fresh;

		assert_int_equal(enter(&fresh), 0);
		w = fresh;
		watch_driver(w);
		for (const char *c = orders[i]; *c; c++) {
			if (*c == 'm')
				message(w, XID_79);
			else if (*c == 'r')
				record(w, XID_79);
			else
				driver_79(w);
		}
		/* The message has no record: it counts in time to be paired. */
		if (!strchr(orders[i], 'r')) {
			pass(w, PRINTK_WAIT_NS);
			if (total(w) != 1)
				fail_msg("%s: %d", orders[i], (int)total(w));
		}
		assert_one_79(w);
		assert_paths(w, 1, 0, 0);
		leave(&fresh);
	}
}

TEST_WITH(the_driver_alone, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	driver_79(w);
	assert_int_equal(total(w), 0);
	pass(w, FAULT_PAIR_WAIT_NS);
	assert_one_79(w);
	assert_paths(w, 0, 0, 1);
}

/* Whoever had it printed, a text of which no copy can be kept takes no report away. */
TEST_WITH(a_header_without_end_hides_no_fault, enter, leave)
{
	struct world *w = *state;
	char text[400];

	watch_driver(w);
	snprintf(text, sizeof(text), "NVRM: Xid (PCI:0000:c1:00 %0300d): 79, pid=1, name=a", 0);
	record(w, text);
	driver_79(w);
	assert_one_79(w);
	assert_paths(w, 0, 0, 1);
}

TEST_WITH(the_text_alone_though_the_driver_is_watched, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	message(w, XID_79);
	record(w, XID_79);
	assert_int_equal(total(w), 1);
	assert_paths(w, 0, 0, 0);
	pass(w, FAULT_PAIR_WAIT_NS);
	assert_paths(w, 0, 1, 0);
	assert_one_79(w);
}

/* What was printed before the driver was watched waits for nothing. */
TEST_WITH(a_hook_attached_later, enter, leave)
{
	struct world *w = *state;

	w->events.enabled_ns[SIGNAL_XID] = w->now - SECOND;
	record_of(w, 0, w->now - 2 * SECOND, XID_79);
	assert_false(waits(w));
	assert_paths(w, 0, 1, 0);
	record(w, XID_79);
	assert_true(waits(w));
	driver_79(w);
	assert_false(waits(w));
	assert_paths(w, 1, 1, 0);
	assert_int_equal(total(w), 2);
	/* A hook on SXids is another. */
	record(w, "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48");
	assert_paths(w, 1, 2, 0);
}

/* The driver has reported and was unloaded before its text was read. */
TEST_WITH(a_driver_that_has_gone, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	driver_79(w);
	w->events.enabled_ns[SIGNAL_XID] = UINT64_MAX;
	record(w, XID_79);
	assert_one_79(w);
	assert_paths(w, 1, 0, 0);
}

/* ---- records and messages ---- */

TEST_WITH(a_record_made_of_several_messages, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	message(w, XID_31);
	record(w, "unfinished: " XID_79 XID_31);
	assert_false(waits(w));
	assert_int_equal(total(w), 2);
	message(w, XID_79);
	message(w, XID_79);
	message(w, XID_31);
	record(w, XID_79 XID_79);
	assert_int_equal(w->stream->printk.count, 1);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 5);
}

/* Before Linux 5.19: what goes to consoles. */
TEST_WITH(messages_with_a_time_stamp, enter, leave)
{
	struct world *w = *state;

	w->origin = PRINTK_ORIGIN_UNKNOWN; /* of what a console shows */
	message(w, "[   12.345678] " XID_79 "\n");
	message(w, "[   12.345678][ T1234] unfinished: " XID_31 "\n");
	message(w, "[   12.345678] one\n[   12.345678] " XID_79 "\n");
	message(w, XID_79 "\n");
	record(w, XID_79);
	record(w, "unfinished: " XID_31);
	record(w, "one\n" XID_79);
	record(w, XID_79);
	assert_false(waits(w));
	assert_int_equal(total(w), 2);
	assert_int_equal(unverified(w), 2);
}

TEST_WITH(a_console_is_late_and_has_no_time, enter, leave)
{
	struct world *w = *state;

	printk_at(w, w->now, "[    1.000000] " XID_79 "\n");
	record_of(w, 0, w->now - 9 * SECOND, XID_79);
	assert_int_equal(w->stream->log_offset_ns, 0);
	assert_true(w->faults.counts.faults[0].last == 991);
	/* A bare message does. */
	printk_at(w, w->now, XID_79);
	record_of(w, 0, w->now - 3 * SECOND, XID_79);
	assert_int_equal(w->stream->log_offset_ns, 3 * SECOND);
	assert_true(w->faults.counts.faults[0].last == 1000);
	/* Not so one that went on in a record from before. */
	printk_at(w, w->now, XID_79);
	record_of(w, 0, w->now - 20 * SECOND, "unfinished: " XID_79);
	assert_int_equal(w->stream->log_offset_ns, 3 * SECOND);
}

/* A record that only happens to be found in a message is not its record. */
TEST_WITH(a_short_record_takes_no_message, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	record(w, "7");
	record(w, "");
	record(w, "NVRM");
	record(w, "NVRM: Xid");
	record_of(w, 1, w->now, "the bus.");
	assert_int_equal(w->stream->printk.count, 1);
	assert_one_79(w);
}

TEST_WITH(the_first_moments_of_a_kernel_are_long_ago, enter, leave)
{
	struct world *w = *state;

	fault_stream_log_offset(w->stream, -(int64_t)(5 * SECOND));
	w->events.enabled_ns[SIGNAL_XID] = SECOND;
	record_of(w, 0, 2 * SECOND, XID_79);
	w->events.enabled_ns[SIGNAL_XID] = UINT64_MAX;
	assert_false(waits(w));
	assert_true(w->faults.counts.faults[0].last == 0);
	/* Nor is anything from the future. */
	fault_stream_log_offset(w->stream, (int64_t)(5 * SECOND));
	record(w, XID_79);
	assert_true(w->faults.counts.faults[0].last == 1000);
}

/* At the end a message may be ahead of the log: the next run reads its record. */
TEST_WITH(the_end_leaves_what_is_not_yet_read, enter, leave)
{
	struct world *w = *state;

	record(w, "something else");
	printk_at(w, w->now - SECOND, XID_31);
	printk_at(w, w->now, XID_79);
	fault_stream_expire(w->stream, w->now, true);
	assert_int_equal(total(w), 1);
	assert_int_equal(w->faults.counts.faults[0].code, 31);
}

TEST_WITH(without_a_log_the_end_counts_all, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	watch_driver(w);
	driver(w, false, 31, "0000:c2:00.0", "MMU Fault");
	fault_stream_expire(w->stream, w->now, true);
	assert_int_equal(total(w), 2);
}

/* ---- storms ---- */

static uint64_t seed;

static unsigned int chance(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

/*
 * @lines faults, all alike. The log loses one in @lose_record, the printk hook
 * one in @lose_message, the driver's one in @lose_report (0: none). How far
 * each is read at a time is random; messages are before their record.
 */
static void storm(struct world *w, int lines, unsigned int lose_record, unsigned int lose_message,
		  unsigned int lose_report)
{
	int messages = 0, records = 0, reports = 0, lost[3] = {};

	while (records < lines || reports < lines) {
		int ahead = (int)chance(600);

		w->now += chance(20) * MS;
		for (; ahead && messages < lines && messages < records + 1500;
		     ahead--, messages++) {
			if (lose_message && !chance(lose_message))
				lost[0]++;
			else
				printk_at(w, w->now, XID_79);
		}
		for (ahead = (int)chance(600); ahead && records < messages; ahead--, records++) {
			if (lose_record && !chance(lose_record))
				lost[1]++, w->sequence++;
			else
				record_of(w, 0, w->now, XID_79);
		}
		for (ahead = (int)chance(600);
		     ahead && reports < messages && reports < records + 300; ahead--, reports++) {
			if (lose_report && !chance(lose_report))
				lost[2]++, fault_stream_reports_lost(w->stream, w->now);
			else
				driver_79(w);
		}
		if (chance(2))
			fault_stream_expire(w->stream, w->now, false);
	}
	pass(w, 10 * SECOND);
	pass(w, 10 * SECOND);
	assert_false(waits(w));
	assert_true(!lose_message == !lost[0] && !lose_record == !lost[1] &&
		    !lose_report == !lost[2]);
}

TEST(each_line_of_a_storm_counts_once)
{
	static const unsigned int losses[][3] = { { 0, 0, 0 }, { 7, 0, 0 }, { 0, 7, 0 },
						  { 0, 0, 7 }, { 7, 0, 7 }, { 0, 7, 7 } };

	for (unsigned int i = 0; i < 20 * 6; i++) {
		const unsigned int *lose = losses[i % 6];
		const uint64_t *paths;
		struct world *w;
		void *fresh;

		seed = i;
		assert_int_equal(enter(&fresh), 0);
		w = fresh;
		watch_driver(w);
		storm(w, 3000, lose[0], lose[1], lose[2]);
		if (total(w) != 3000)
			fail_msg("seed %u: %d of 3000", i, (int)total(w));
		paths = w->faults.counts.fault_paths;
		assert_int_equal(paths[0] + paths[1] + paths[2], 3000);
		assert_int_equal(paths[FAULT_PATH_DRIVER], 0);
		if (!lose[0] && !lose[2])
			assert_int_equal(paths[FAULT_PATH_BOTH], 3000);
		leave(&fresh);
	}
}

/* The log is read in one go before the driver's reports, as after a pause. */
TEST_WITH(a_storm_read_at_once, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	for (int i = 0; i < 20000; i++)
		record(w, i % 3 ? XID_79 : XID_31);
	for (int i = 0; i < 1500; i++)
		driver_79(w);
	fault_stream_reports_lost(w->stream, w->now);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 20000);
	assert_paths(w, 1500, 18500, 0);
}

/* Nothing of it has been read when it is over: the log has all. */
TEST_WITH(more_messages_than_may_wait, enter, leave)
{
	struct world *w = *state;

	record(w, "something else");
	for (int i = 0; i < 3 * MAX_PRINTK_WAITING; i++)
		message(w, XID_79);
	for (int i = 0; i < 3 * MAX_PRINTK_WAITING; i++)
		record(w, XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3 * MAX_PRINTK_WAITING);
	assert_int_equal(w->stream->crowded, 2 * MAX_PRINTK_WAITING);
}

/* A storm of the driver's fills the queue: a user's message takes the place of none. */
TEST_WITH(messages_of_others_crowd_none_of_the_driver, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	record(w, "something else");
	w->now += SECOND;
	for (int i = 0; i < MAX_PRINTK_WAITING; i++)
		message(w, XID_79);
	w->origin = PRINTK_ORIGIN_OTHER;
	for (int i = 0; i < MAX_PRINTK_WAITING; i++)
		message(w, XID_31);
	assert_int_equal(w->stream->crowded, 0);
	assert_int_equal(w->stream->others_crowded, MAX_PRINTK_WAITING);
	assert_int_equal(w->stream->gap_ns, 0);
	/* All records are lost. */
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), MAX_PRINTK_WAITING);
}

/* The log cannot be read at all. */
TEST_WITH(more_messages_than_may_wait_without_a_log, enter, leave)
{
	struct world *w = *state;

	for (int i = 0; i < 3 * MAX_PRINTK_WAITING; i++)
		message(w, XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3 * MAX_PRINTK_WAITING);
	assert_int_equal(w->stream->crowded, 0);
}

/* ---- forged ---- */

TEST_WITH(a_process_forges_no_fault, enter, leave)
{
	struct world *w = *state;

	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, XID_79);
	record_of(w, 1, w->now, XID_79);
	record_of(w, 1, w->now, XID_31 "\n" XID_31);
	record_of(w, 3, w->now,
		  "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	record_of(w, 1, w->now, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14");
	record_of(w, 1, w->now, "Out of memory: Killed process 1 (x)");
	pass(w, 60 * SECOND);
	assert_int_equal(total(w), 0);
	assert_int_equal(events(w, "forged_xid"), 3);
	assert_int_equal(events(w, "oom_kill"), 0);
	assert_int_equal(w->stream->crowded, 0);
	assert_int_equal(w->faults.counts.gpu_count, 0);
	assert_int_equal(w->faults.counts.recovery_count, 0);
	assert_paths(w, 0, 0, 0);
}

TEST_WITH(a_forged_storm_that_the_log_has_lost, enter, leave)
{
	struct world *w = *state;

	w->origin = PRINTK_ORIGIN_OTHER;
	for (int i = 0; i < MAX_OTHERS_WAITING; i++)
		message(w, XID_79);
	for (int i = 0; i < 20; i++)
		record_of(w, 1, w->now, XID_79);
	/* Among them a real one, whose record is lost, too. */
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, XID_31);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_int_equal(events(w, "forged_xid"), 20);
	assert_int_equal(unverified(w), MAX_OTHERS_WAITING - 20);
}

TEST_WITH(what_the_driver_reports_cannot_be_forged, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	record_of(w, 1, w->now, XID_79);
	driver_79(w);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_paths(w, 0, 0, 1);
}

TEST_WITH(drills_count_if_wanted, enter, leave)
{
	struct world *w = *state;

	w->stream->accept_user_kmsg = true;
	message(w, XID_79);
	record_of(w, 1, w->now, XID_79);
	assert_one_79(w);
	assert_int_equal(events(w, "forged_xid"), 0);
}

/* ---- text that users choose ---- */

#define TMPFS(text) "tmpfs: Unknown parameter '" text "'"
#define LOADING "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14"

TEST_WITH(what_others_print_is_no_fault, enter, leave)
{
	static const char *const texts[] = {
		TMPFS(XID_79),
		TMPFS("x\n" XID_79),
		XID_79,
		"x[7]: segfault at 0 in a\n" XID_79 "[1+2]",
	};
	struct world *w = *state;

	w->origin = PRINTK_ORIGIN_OTHER;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		message(w, texts[i]);
		record(w, texts[i]);
	}
	message(w, XID_79); /* its record was lost */
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 0);
	assert_int_equal(unverified(w), 5);
	assert_paths(w, 0, 0, 0);
	/* Nor is it evidence, or a failure, or the name of a GPU. */
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, XID_79);
	record(w, XID_79);
	pass(w, 10 * SECOND);
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, TMPFS("x\n" LOADING));
	record(w, TMPFS("x\n" LOADING));
	message(w, LOADING);
	record(w, LOADING);
	message(w, "NVRM: RmInitAdapter failed!");
	record(w, "NVRM: RmInitAdapter failed!");
	message(w, "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	record(w, "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	record(w, TMPFS("x\nwatchdog: BUG: soft lockup - CPU#1 stuck for 23s!"));
	assert_int_equal(w->faults.counts.recovery_count, 0);
	assert_int_equal(w->faults.counts.gpu_count, 0);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 0);
	assert_int_equal(events(w, "soft_lockup"), 0);
	assert_int_equal(events(w, "unverified_xid"), 0);
}

TEST_WITH(the_drivers_calls_count_wherever_they_stand, enter, leave)
{
	struct world *w = *state;

	message(w, "one\n" XID_79);
	record(w, "usb 1-1: one\n" XID_79);
	message(w, XID_31);
	record(w, TMPFS(XID_79) XID_31);
	assert_int_equal(total(w), 2);
	/* What stands before it has no known origin. */
	assert_int_equal(unverified(w), 1);
	/* A header is one call's, or nobody's. */
	message(w, "NVRM: Xid (PCI:0000:c1:00");
	record(w, "NVRM: Xid (PCI:0000:c1:00): 79");
	fault_stream_origins(w->stream, 0);
	message(w, "NVRM: Xid (PCI:0000:c1:00");
	record(w, "NVRM: Xid (PCI:0000:c1:00): 79");
	pass(w, 10 * SECOND);
	assert_int_equal(unverified(w), 2);
}

/* Of two texts that are alike, each finds its own message. */
TEST_WITH(a_text_that_holds_another, enter, leave)
{
	struct world *w = *state;

	message(w, XID_79);
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, TMPFS(XID_79));
	record(w, TMPFS(XID_79));
	assert_int_equal(total(w), 0);
	record(w, XID_79);
	assert_one_79(w);
	assert_int_equal(unverified(w), 1);
}

/* Without a stack and without the driver's report. */
TEST_WITH(text_alone_counts_if_it_looks_right, enter, leave)
{
	static const char sxid[] =
		"nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48";
	struct world *w = *state;
	struct kmsg_record plain = { .time_us = w->now / 1000, .text_len = strlen(XID_79) };

	record(w, XID_79);
	record(w, sxid);
	assert_int_equal(total(w), 2);
	fault_stream_record(w->stream, &plain, XID_79, RECORD_NEW, w->now); /* no continuation */
	record(w, TMPFS(XID_79));
	record(w, "NVRM: \n" XID_79);
	record(w, TMPFS("x\n") " nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48");
	w->origin = PRINTK_ORIGIN_UNKNOWN;
	message(w, XID_79); /* the log has lost it */
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 2);
	assert_int_equal(unverified(w), 5);
}

/* A prefix of the packet filter begins a record, too. */
TEST_WITH(what_reads_like_the_driver_of_a_switch_counts_if_it_printed_it, enter, leave)
{
	static const char failed[] = "nvidia-nvswitch0: Failed to initialize";
	struct world *w = *state;

	record(w, failed); /* of that kernel no more is known */
	assert_int_equal(events(w, "nvswitch_failed"), 1);
	fault_stream_origins(w->stream, w->now - SECOND);
	record(w, failed);
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, failed);
	record(w, failed);
	assert_int_equal(events(w, "nvswitch_failed"), 1);
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, failed);
	record(w, failed);
	assert_int_equal(events(w, "nvswitch_failed"), 2);
}

TEST_WITH(the_driver_confirms_a_text_of_unknown_origin, enter, leave)
{
	struct world *w = *state;

	w->origin = PRINTK_ORIGIN_UNKNOWN;
	watch_driver(w);
	/* In either order, and wherever it stands. */
	record(w, "usb 1-1: " XID_79);
	assert_int_equal(total(w), 0);
	driver_79(w);
	driver_79(w);
	record(w, XID_79);
	pass(w, 10 * SECOND);
	assert_false(waits(w));
	assert_int_equal(total(w), 2);
	assert_int_equal(unverified(w), 0);
	assert_paths(w, 2, 0, 0);
	/* What the driver prints after an Xid repeats it, then too. */
	record(w, XID_79);
	record(w, "NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.");
	driver_79(w);
	assert_int_equal(total(w), 3);
	assert_paths(w, 3, 0, 0);
	assert_int_equal(events(w, "fallen_off_bus"), 0);
	/* Without it the text counts only if the driver's reports were lost. */
	record(w, XID_79);
	record(w, XID_79 "\n" XID_31);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3);
	assert_int_equal(unverified(w), 3);
	record(w, XID_79 "\n" XID_31);
	fault_stream_reports_lost(w->stream, w->now);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 4);
	assert_int_equal(unverified(w), 4);
	assert_paths(w, 3, 1, 0);
	/* This driver reports nothing: it has no function to probe. */
	fault_stream_reports_expected(w->stream, false);
	w->now += 10 * SECOND;
	record(w, XID_79 "\n" XID_31);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 5);
	assert_int_equal(unverified(w), 5);
	assert_paths(w, 3, 2, 0);
	fault_stream_reports_expected(w->stream, true);
	/* It needs no text that is believed. */
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, XID_79);
	record(w, XID_79);
	driver_79(w);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 6);
	assert_paths(w, 3, 2, 1);
}

/* Where all calls are known, a record without one is not the driver's; a flood may
 * have crowded it out. */
TEST_WITH(a_record_whose_call_is_missing, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	record(w, XID_79);
	assert_int_equal(total(w), 0);
	assert_int_equal(unverified(w), 1);
	fault_stream_gap(w->stream, w->now);
	record(w, XID_79);
	record(w, TMPFS(XID_79));
	assert_int_equal(total(w), 1);
	assert_int_equal(unverified(w), 2);
	/* From before. */
	record_of(w, 0, w->now - 10 * SECOND, XID_79);
	assert_int_equal(total(w), 2);
	/* There was no room for it. */
	w->now += 10 * SECOND;
	record(w, "something else");
	message(w, XID_31);
	for (int i = 0; i < MAX_PRINTK_WAITING; i++)
		message(w, "NVRM");
	record(w, XID_31);
	assert_int_equal(w->stream->crowded, 1);
	assert_int_equal(total(w), 3);
}

/* Of those, a user's messages leave first, and open no gap: where the hook's buffer
 * and the queue overflow, too, no text becomes the driver's. */
TEST_WITH(a_flood_hides_no_fault_and_forges_none, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	record(w, "something else");
	w->now += SECOND;
	message(w, XID_31);
	w->origin = PRINTK_ORIGIN_OTHER;
	for (int i = 0; i < 3 * MAX_PRINTK_WAITING; i++)
		message(w, XID_79);
	assert_int_equal(w->stream->crowded, 0);
	/* Each record is compared with all that wait. */
	assert_int_equal(w->stream->printk.count, 1 + MAX_OTHERS_WAITING);
	assert_true(MAX_OTHERS_WAITING <= 64);
	assert_int_equal(w->stream->others_crowded, 3 * MAX_PRINTK_WAITING - MAX_OTHERS_WAITING);
	record(w, XID_31);
	assert_int_equal(total(w), 1);
	for (int i = 0; i < 3 * MAX_PRINTK_WAITING; i++)
		record(w, XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_int_equal(unverified(w), 3 * MAX_PRINTK_WAITING);
}

#define NO_START "NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x24:0x72:1568)"

/* Who may write to /dev/kmsg can guess the text of a fault. What is crowded out, or was printed by another
 * CPU a moment before, leaves records without a message of their own before that of the driver. */
TEST_WITH(a_flood_of_a_process_takes_no_message_of_the_driver, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	record(w, "something else");
	w->now += SECOND;
	w->origin = PRINTK_ORIGIN_OTHER;
	for (int i = 0; i < 2 * MAX_OTHERS_WAITING; i++)
		message(w, XID_79);
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, XID_79);
	for (int i = 0; i < 2 * MAX_OTHERS_WAITING; i++)
		record_of(w, 1, w->now, XID_79);
	record(w, XID_79);
	assert_one_79(w);
	assert_int_equal(unverified(w), 0);
	/* In the order of the hook, not in that of the log. */
	message(w, XID_31);
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, XID_31);
	record_of(w, 1, w->now, XID_31);
	record(w, XID_31);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 2);
	assert_int_equal(unverified(w), 0);
	/* What the driver prints in the context of who wrote an unfinished line goes on in that. */
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, XID_31);
	record_of(w, 1, w->now, "x" XID_31);
	message(w, NO_START);
	record_of(w, 1, w->now, "x" NO_START);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 1);
}

/* A flood has pushed its record out of the log before that was read. */
TEST_WITH(a_failure_of_the_driver_that_the_log_has_lost, enter, leave)
{
	struct world *w = *state;

	message(w, NO_START);
	message(w, "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, NO_START);
	message(w, "mce: [Hardware Error]: Machine check events logged NVRM");
	w->origin = PRINTK_ORIGIN_UNKNOWN;
	message(w, NO_START);
	pass(w, 10 * SECOND);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 1);
	assert_int_equal(events(w, "mce"), 0);
	assert_int_equal(w->faults.counts.gpu_count, 1);
	assert_int_equal(total(w), 0);
}

/* A user who guesses its text prints it within messages of his own, more than may wait. The record of one
 * takes the driver's message, which counts for what it is. */
TEST_WITH(a_failure_of_the_driver_within_a_text_of_a_user, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	w->now += SECOND;
	w->origin = PRINTK_ORIGIN_OTHER;
	for (int i = 0; i < 2 * MAX_OTHERS_WAITING; i++)
		message(w, TMPFS(NO_START));
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, NO_START);
	for (int i = 0; i < 2 * MAX_OTHERS_WAITING; i++)
		record(w, TMPFS(NO_START));
	record(w, NO_START);
	pass(w, 10 * SECOND);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 1);
	/* A fault before it does not hide it. */
	message(w, XID_31);
	message(w, NO_START);
	record(w, TMPFS(XID_31 NO_START));
	record(w, XID_31);
	record(w, NO_START);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 2);
	/* Only what it says: the rest is the user's. */
	message(w, "NVRM: GPU 0000:c1:00.0: ");
	record(w, TMPFS("NVRM: GPU 0000:c1:00.0: RmInitAdapter failed!"));
	pass(w, 10 * SECOND);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 2);
}

/* A record may hold the texts of more messages than the parts of one that are known. */
TEST_WITH(a_fault_within_a_text_of_many_messages, enter, leave)
{
	char text[1024] = "";
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - SECOND);
	w->now += SECOND;
	w->origin = PRINTK_ORIGIN_OTHER;
	for (size_t i = 0; i < MAX_PRINTK_PIECES; i++) {
		message(w, TMPFS("NVRM"));
		strcat(text, TMPFS("NVRM"));
	}
	w->origin = PRINTK_ORIGIN_DRIVER;
	message(w, XID_79);
	record(w, strcat(text, XID_79));
	record(w, XID_79);
	pass(w, 10 * SECOND);
	assert_one_79(w);
}

/* Nor does a flood of texts that the driver does not confirm. */
TEST_WITH(a_flood_without_calls_forges_none, enter, leave)
{
	struct world *w = *state;
	char text[128];

	watch_driver(w);
	driver_79(w);
	record(w, XID_31); /* as if a user had cut it out of another message */
	for (unsigned int i = 0; i < 10 * MAX_WAITING; i++) {
		snprintf(text, sizeof(text), TMPFS("NVRM: Xid (PCI:0000:c3:00): %u, x"), i);
		record(w, text);
	}
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_paths(w, 0, 0, 1);
	assert_int_equal(unverified(w), 10 * MAX_WAITING + 1);
}

#define XID_154 "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from "
#define XID_149 "NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT "

/* The driver's report proves device and code; a text that may be anybody's adds
 * nothing to them. */
TEST_WITH(a_text_decides_nothing_about_a_fault_of_the_driver, enter, leave)
{
	struct world *w = *state;

	watch_driver(w);
	record(w, XID_79);
	driver_79(w);
	pass(w, 10 * SECOND);
	/* Before the driver's own text, or without that. */
	record(w, TMPFS(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)"));
	record(w, XID_154 "0x0 (None) to 0x1 (GPU Reset Required)");
	driver(w, false, 154, "0000:c1:00.0", "");
	record(w, TMPFS(XID_149 "Fatal XC0 i0 Link 00 (0x1)"));
	driver(w, false, 149, "0000:c1:00.0", "");
	pass(w, 10 * SECOND);
	assert_int_equal(w->faults.counts.recovery_count, 0);
	assert_int_equal(total(w), 3);
	assert_paths(w, 3, 0, 0);
	assert_int_equal(unverified(w), 1);
	assert_int_equal(w->faults.counts.faults[2].code, 149);
	assert_string_not_equal(w->faults.counts.faults[2].severity, "fatal");
	/* Nor does it silence another line of the driver. */
	record(w, TMPFS("NVRM: Xid (PCI:0000:c2:00): 79, x"));
	record(w, "NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.");
	assert_int_equal(events(w, "fallen_off_bus"), 1);
}

#define MISMATCH(version)                                                            \
	"NVRM: API mismatch: the client 'x' (pid 7)\nNVRM: has the version " version \
	", but this kernel module has\nNVRM: the version 575.57.08.  Please make sure that this"

#define SWITCH_MISMATCH(version) \
	"nvidia-nvswitch: Version mismatch, kernel version 575.57.08 user version " version

/* It prints texts that a process gave it. */
TEST_WITH(what_the_driver_quotes_is_no_fault, enter, leave)
{
	struct world *w = *state;

	message(w, MISMATCH("\n" XID_79));
	record(w, MISMATCH("\n" XID_79));
	message(w, MISMATCH("\nNVRM: RmInitAdapter failed!"));
	record(w, MISMATCH("\nNVRM: RmInitAdapter failed!"));
	message(w, "NVRM: anything " XID_79);
	record(w, "NVRM: anything " XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 0);
	assert_int_equal(unverified(w), 2);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 0);
	/* Of switches, too. */
	message(w, SWITCH_MISMATCH("\nNVRM: RmInitAdapter failed!"));
	record(w, SWITCH_MISMATCH("\nNVRM: RmInitAdapter failed!"));
	message(w, SWITCH_MISMATCH("\nnvidia-nvswitch0: Failed to x"));
	record(w, SWITCH_MISMATCH("\nnvidia-nvswitch0: Failed to x"));
	message(w, SWITCH_MISMATCH("\nnvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal"));
	record(w, SWITCH_MISMATCH("\nnvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal"));
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 0);
	assert_int_equal(unverified(w), 3);
	assert_int_equal(events(w, "rm_init_adapter_failed"), 0);
	assert_int_equal(events(w, "nvswitch_failed"), 0);
	/* A second line in a call counts, if the driver reports it, where it reports all. */
	message(w, "NVRM: x\n" XID_79);
	record(w, "NVRM: x\n" XID_79);
	assert_int_equal(total(w), 1);
	watch_driver(w);
	message(w, "NVRM: x\n" XID_79);
	record(w, "NVRM: x\n" XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 1);
	assert_int_equal(unverified(w), 4);
	message(w, "NVRM: x\n" XID_79);
	record(w, "NVRM: x\n" XID_79);
	driver_79(w);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 2);
	assert_int_equal(unverified(w), 4);
}

TEST_WITH(a_devices_line_is_printed_for_it, enter, leave)
{
	static const char probed[] = "pci 0000:c1:00.0: [10de:2330] type 00 class 0x030200";
	struct world *w = *state;

	record(w, XID_79);
	pass(w, 10 * SECOND);
	record(w, probed);
	record(w, "mlx5_core 0000:53:00.0 eth0: Link down");
	record(w, "nvme nvme0: I/O 5 QID 7 timeout, reset controller");
	w->device = "+pci:0000:54:00.0";
	record(w, probed);
	record(w, "mlx5_core 0000:53:00.0 eth0: Link down");
	w->device = "+pci:0000:53:00.0";
	record(w, "x\nmlx5_core 0000:53:00.0 eth0: Link down");
	assert_int_equal(w->faults.counts.kernel_event_count, 0);
	assert_int_equal(w->faults.counts.recovery_count, 0);
	record(w, "mlx5_core 0000:53:00.0 eth0: Link down");
	assert_int_equal(events(w, "link_down"), 1);
	w->device = "c241:0";
	record(w, "nvme nvme0: I/O 5 QID 7 timeout, reset controller");
	assert_int_equal(events(w, "nvme_timeout"), 1);
	w->device = "+pci:0000:c1:00.0";
	record(w, probed);
	assert_int_equal(w->faults.counts.recovery_count, 1);
	/* While uevents report it, no text does. */
	w->events.uevents_ns = w->now;
	w->device = "";
	record(w, LOADING);
	assert_int_equal(w->faults.counts.recovery_count, 1);
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now, w->now);
	assert_int_equal(w->faults.counts.recovery_count, 2);
}

/* Faults of one text, two before an agent's start and one after it; the log's clock is ahead. */
static void count_across_start(struct world *w, enum printk_origin origin)
{
	w->events.started_ns = w->now;
	w->first_record = 2;
	watch_driver(w);
	w->events.enabled_ns[SIGNAL_XID] = w->now;
	if (origin != PRINTK_ORIGIN_UNKNOWN)
		fault_stream_origins(w->stream, w->now);
	w->origin = origin;
	w->now += SECOND;
	message(w, XID_79);
	driver_79(w);
	record_of(w, 0, w->now + 45 * SECOND, XID_79);
	record_of(w, 0, w->now + 50 * SECOND, XID_79);
	record_of(w, 0, w->now + 60 * SECOND, XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3);
	assert_int_equal(unverified(w), 0);
	assert_paths(w, 1, 2, 0);
}

TEST_WITH(what_was_printed_before_the_start_takes_no_message_of_later, enter, leave)
{
	count_across_start(*state, PRINTK_ORIGIN_DRIVER);
}

TEST_WITH(what_was_printed_before_the_start_takes_no_report_of_later, enter, leave)
{
	count_across_start(*state, PRINTK_ORIGIN_UNKNOWN);
}

/* Two while an agent starts, when the driver's reports come already; one after it. */
TEST_WITH(what_was_printed_while_the_hook_was_loaded_takes_no_message, enter, leave)
{
	struct world *w = *state;

	w->events.started_ns = w->now - 9 * SECOND;
	w->first_message = 2;
	watch_driver(w);
	fault_stream_origins(w->stream, w->now);
	for (int i = 0; i < 3; i++)
		driver_79(w);
	w->now += SECOND;
	message(w, XID_79);
	record_of(w, 0, w->now - 9 * SECOND, XID_79);
	record_of(w, 0, w->now - 5 * SECOND, XID_79);
	record(w, XID_79);
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 3);
	assert_int_equal(unverified(w), 0);
	assert_paths(w, 3, 0, 0);
	assert_int_equal(w->stream->log_offset_ns, 0);
}

/* An agent that was stopped reads uevents long after a later fault was printed. */
TEST_WITH(a_fault_after_a_recovery_stays_open, enter, leave)
{
	struct world *w = *state;
	uint64_t before;

	record(w, XID_79);
	pass(w, 10 * SECOND);
	before = w->now;
	pass(w, 20 * SECOND);
	record(w,
	       "NVRM: Xid (PCI:0000:c2:00): 79, pid=1234, name=python, GPU has fallen off the bus.");
	pass(w, 20 * SECOND);
	fault_events_add_recovery(&w->events, "", "driver_loaded", before, w->now);
	assert_int_equal(w->faults.counts.recovery_count, 1);
	assert_int_equal(w->faults.counts.fault_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct fault *f = &w->faults.counts.faults[i];

		assert_int_equal(f->last > w->faults.counts.recoveries[0].time,
				 !strcmp(f->device, "0000:c2:00.0"));
	}
}

/* A user prints one text again and again, of which the hook and the log lose many: what is left of both is not of one
 * moment. The driver's message was lost, too, half a second before that was noticed. */
TEST_WITH(a_user_does_not_set_the_logs_clock, enter, leave)
{
	struct world *w = *state;

	fault_stream_origins(w->stream, w->now - 100 * SECOND);
	w->origin = PRINTK_ORIGIN_OTHER;
	message(w, TMPFS(XID_31));
	fault_stream_gap(w->stream, w->now);
	w->now += SECOND;
	record_of(w, 0, w->now - 2 * SECOND, TMPFS(XID_31));
	record_of(w, 0, w->now - SECOND - SECOND / 2, XID_79);
	pass(w, 10 * SECOND);
	assert_one_79(w);
}

/* Where no message shows when a record was printed, the log's clock may be behind by a minute, after
 * a month or two. */
TEST_WITH(a_fault_after_a_recovery_stays_open_whatever_the_logs_clock_says, enter, leave)
{
	const struct faults *f;
	struct world *w = *state;

	f = &w->faults;
	record(w, XID_79);
	pass(w, 100 * SECOND);
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now - SECOND, w->now);
	assert_int_equal(f->counts.recovery_count, 1);
	assert_true(f->counts.faults[0].last < f->counts.recoveries[0].time);
	fault_stream_all_read(w->stream, w->now);
	w->now += SECOND;
	record_of(w, 0, w->now - 60 * SECOND, XID_79);
	assert_true(f->counts.faults[0].last > f->counts.recoveries[0].time);
	assert_true(f->counts.faults[0].last == 1100);
	/* So does one after the end of another's, if both are read at once. */
	fault_stream_all_read(w->stream, w->now);
	w->now += SECOND;
	record_of(w, 0, w->now - 70 * SECOND, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	record_of(w, 0, w->now - 70 * SECOND + MS, XID_79);
	assert_true(f->counts.faults[0].last > f->counts.recoveries[1].time);
	assert_true(f->counts.faults[0].last == 1101.001);
	/* Or if the log's clock is ahead. */
	record_of(w, 0, w->now + 70 * SECOND, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	w->now += MS;
	record_of(w, 0, w->now + 70 * SECOND, XID_79);
	assert_true(f->counts.faults[0].last > f->counts.recoveries[1].time);
	/* Nor is a driver that fails while it is loaded taken for one that loads well. */
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now + SECOND,
				  w->now + 2 * SECOND);
	assert_true(f->counts.faults[0].last > f->counts.recoveries[0].time);
	/* A message has the true time. */
	printk_at(w, w->now - 10 * SECOND, XID_31);
	record_of(w, 0, w->now - 60 * SECOND, XID_31);
	assert_int_equal(f->counts.faults[2].code, 31);
	assert_true(f->counts.faults[2].last == 1092.001);
}

TEST_WITH(what_is_not_verified_is_bounded, enter, leave)
{
	struct world *w = *state;
	char text[128];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "x NVRM: Xid (PCI:0000:c1:00): %u, x", i);
		record(w, text);
	}
	assert_int_equal(unverified(w), 1000);
	assert_int_equal(w->faults.counts.unverified_count, MAX_UNVERIFIED + 1);
	assert_string_equal(w->faults.counts.unverified[MAX_UNVERIFIED].gpu, "other");
	/* Forged records are one series. */
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "NVRM: Xid (PCI:%04x:c1:00): 79, x", i);
		record_of(w, 1, w->now, text);
	}
	assert_int_equal(events(w, "forged_xid"), 1000);
	assert_int_equal(w->faults.counts.kernel_event_count, 1);
}

/* ---- what a text states ---- */

TEST_WITH(an_sxid_has_details, enter, leave)
{
	static const char head[] = "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, ";
	static const char *const details[] = {
		"Severity 1 Engine instance 48 Sub-engine instance 00",
		"Data {0x00000001, 0x00000002}"
	};
	struct world *w = *state;
	char text[256];

	watch_driver(w);
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%sFatal, Link 48 LTSSM Fault Up", head);
		record(w, text);
		for (int d = 0; d < 2; d++) {
			snprintf(text, sizeof(text), "%s%s", head, details[d]);
			record(w, text);
		}
	}
	assert_int_equal(total(w), 0);
	/* The driver's hook has them, too. */
	for (int i = 0; i < 3; i++) {
		driver(w, true, 20034, "0000:c3:00.0", "Fatal, Link 48 LTSSM Fault Up");
		for (int d = 0; d < 2; d++)
			driver(w, true, 20034, "0000:c3:00.0", details[d]);
	}
	assert_false(waits(w));
	assert_paths(w, 3, 0, 0);
	/* A detail that comes before the text of the next fault is not its twin. */
	driver(w, true, 20034, "0000:c3:00.0", details[0]);
	snprintf(text, sizeof(text), "%sFatal, Link 48 LTSSM Fault Up", head);
	record(w, text);
	driver(w, true, 20034, "0000:c3:00.0", "Fatal, Link 48 LTSSM Fault Up");
	pass(w, 10 * SECOND);
	assert_int_equal(total(w), 4);
	assert_paths(w, 4, 0, 0);
	assert_true(w->faults.counts.faults[0].nvswitch);
}

TEST_WITH(fallen_off_the_bus_is_printed_twice, enter, leave)
{
	static const char line[] = "NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.";
	struct world *w = *state;

	record(w, line);
	assert_int_equal(events(w, "fallen_off_bus"), 1);
	pass(w, 100 * SECOND);
	record(w, XID_79);
	record(w, line);
	assert_int_equal(events(w, "fallen_off_bus"), 1);
	record(w, "NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.");
	assert_int_equal(events(w, "fallen_off_bus"), 2);
	pass(w, 100 * SECOND);
	record(w, line);
	assert_int_equal(events(w, "fallen_off_bus"), 3);
	assert_int_equal(total(w), 1);
}

#define XID_154 "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from "

TEST_WITH(recovery_to_none_is_evidence, enter, leave)
{
	const struct fault_counts *s = &((struct world *)*state)->faults.counts;
	struct world *w = *state;

	record(w, XID_154 "0x0 (None) to 0x1 (GPU Reset Required)");
	assert_int_equal(s->recovery_count, 0);
	pass(w, SECOND);
	record(w, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_int_equal(s->recovery_count, 1);
	assert_string_equal(s->recoveries[0].gpu, "0000:c1:00.0");
	assert_string_equal(s->recoveries[0].evidence, "action_none");
	assert_true(s->recoveries[0].time == 1001);
	/* Forged it is none. */
	pass(w, SECOND);
	record_of(w, 1, w->now, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_true(s->recoveries[0].time == 1001);
}

TEST_WITH(a_driver_that_loads_well_is_evidence, enter, leave)
{
	static const char loading[] =
		"NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024";
	const struct fault_counts *s = &((struct world *)*state)->faults.counts;
	struct world *w = *state;

	record(w, XID_79);
	pass(w, SECOND);
	record(w, loading);
	assert_int_equal(s->recovery_count, 0);
	pass(w, 10 * SECOND);
	record(w, loading);
	assert_int_equal(s->recovery_count, 1);
	assert_string_equal(s->recoveries[0].gpu, "all");
}

TEST_WITH(identity_lines_are_remembered, enter, leave)
{
	const struct fault_counts *s = &((struct world *)*state)->faults.counts;
	struct world *w = *state;

	record(w, "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	record(w, "NVRM: GPU Board Serial Number: 1321020001234");
	record(w, "NVRM: GPU at PCI:0000:c2:00: GPU-99999999-2222-3333-4444-555555555555");
	assert_int_equal(s->gpu_count, 2);
	assert_string_equal(s->gpus[0].gpu, "0000:c1:00.0");
	assert_string_equal(s->gpus[0].uuid, "GPU-11111111-2222-3333-4444-555555555555");
	assert_string_equal(s->gpus[0].serial, "1321020001234");
	assert_string_equal(s->gpus[1].serial, "");
	assert_int_equal(total(w), 0);
}

/* A text counts if its tracepoint was not yet enabled; then the tracepoint does. */
TEST_WITH(a_signal_counts_by_text_or_tracepoint, enter, leave)
{
	static const struct {
		const char *kind, *text;
		enum fault_signal signal;
	} cases[] = {
		{ "pcie_aer", "nvidia 0000:c1:00.0: PCIe Bus Error: severity=Corrected, x",
		  SIGNAL_PCIE_AER },
		{ "pcie_aer", "nvidia 0000:c1:00.0: AER: aer_status: 0x1, aer_mask: 0x0",
		  SIGNAL_PCIE_AER },
		{ "mce", "mce: [Hardware Error]: Machine check events logged", SIGNAL_MCE },
		{ "hung_task", "INFO: task a:1 blocked for more than 120 seconds.",
		  SIGNAL_HUNG_TASK },
		{ "oom_kill", "Out of memory: Killed process 1 (a)", SIGNAL_OOM_KILL },
		{ "oom_kill", "Memory cgroup out of memory: Killed process 1 (a)",
		  SIGNAL_OOM_KILL },
		/* These have no tracepoint. */
		{ "nfs_not_responding", "nfs: server a not responding, still trying", SIGNALS },
		{ "soft_lockup", "watchdog: BUG: soft lockup - CPU#1 stuck for 23s!", SIGNALS },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct fault_signal_report report = { .kind = cases[i].kind,
							    .device = "",
							    .pid = -1 };
		uint64_t before = events(w, cases[i].kind), enabled = w->now - SECOND;
		bool traced = cases[i].signal != SIGNALS;

		w->device = "+pci:0000:c1:00.0";
		record(w, cases[i].text);
		assert_int_equal(events(w, cases[i].kind), before + 1);
		if (traced)
			w->events.enabled_ns[cases[i].signal] = enabled;
		record_of(w, 0, enabled - SECOND, cases[i].text);
		assert_int_equal(events(w, cases[i].kind), before + 2);
		record(w, cases[i].text);
		assert_int_equal(events(w, cases[i].kind), before + 2 + !traced);
		fault_events_add_signal(&w->events, &report);
		assert_int_equal(events(w, cases[i].kind), before + 3 + !traced);
		if (traced)
			w->events.enabled_ns[cases[i].signal] = UINT64_MAX;
	}
}

static bool write_line(void *fd, const char *line, size_t size)
{
	return write(*(int *)fd, line, size) == (ssize_t)size;
}

/* From now on the world's events go to a file, which is returned. */
static FILE *log_to_file(struct world *w)
{
	static int writable = -1;
	static struct event_sink sink = { .write = write_line, .context = &writable };
	char path[] = "/tmp/test_fault_stream.XXXXXX";
	FILE *file;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	if (writable >= 0)
		close(writable);
	writable = open(path, O_WRONLY | O_APPEND);
	event_log_free(w->log);
	w->log = event_log_new(&sink);
	file = fdopen(fd, "r");
	assert_non_null(file);
	unlink(path);
	return file;
}

TEST_WITH(a_grave_pcie_error_stands_out_of_a_burst, enter, leave)
{
	struct fault_signal_report report = {
		.kind = "pcie_aer", .device = "0000:c1:00.0", .severity = "info", .pid = -1
	};
	struct world *w = *state;
	FILE *file = log_to_file(w);
	char line[1024] = "";

	report.time_ns = w->now;
	for (int i = 0; i < 3; i++)
		fault_events_add_signal(&w->events, &report);
	report.severity = "fatal";
	fault_events_add_signal(&w->events, &report);
	w->device = "+pci:0000:c1:00.0";
	record(w,
	       "pcieport 0000:c1:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=x");
	assert_int_equal(events(w, "pcie_aer"), 5);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "\"severity\":\"info\""));
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "\"severity\":\"fatal\""));
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "\"severity\":\"warning\""));
	fclose(file);
}

TEST_WITH(an_event_has_how_it_was_reported, enter, leave)
{
	struct world *w = *state;
	FILE *file = log_to_file(w);
	char line[1024] = "";

	w->events.started_ns = w->now;
	record(w, "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555");
	fault_events_add_signal(&w->events, &(struct fault_signal_report){ .kind = "pcie_aer",
									   .device = "0000:c1:00.0",
									   .time_ns = w->now,
									   .pid = -1 });
	w->now += SECOND;
	message(w, XID_79);
	record(w, XID_79);
	record_of(w, 0, w->now - 100 * SECOND, XID_31);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(
		line,
		"\"gpu\":\"0000:c1:00.0\",\"uuid\":\"GPU-11111111-2222-3333-4444-555555555555\""));
	assert_non_null(strstr(line, "\"pid\":7,\"comm\":\"py\""));
	assert_non_null(strstr(line, "\"printed_by\":\"writer\",\"seen_by\":\"text\""));
	assert_non_null(strstr(
		line, "\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":1.000}]"));
	assert_null(strstr(line, "replayed"));
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "\"replayed\":true"));
	fclose(file);
}

/* Each member that a text or a relative adds, in its order and spelling. */
TEST_WITH(details_and_relatives_follow_in_order, enter, leave)
{
	static const struct {
		const char *text, *members;
	} cases[] = {
		{ "NVRM: Xid (PCI:0000:c1:00): 144, pid=1, name=p, RLW_RXPIPE Nonfatal XC0 i0 Link 13 "
		  "(0x0409a0c2 0x00000008)",
		  ",\"fatality\":\"nonfatal\",\"nvlink\":{\"unit\":\"RLW_RXPIPE\",\"xc\":0,\"instance\":0,\"link\":13,\"words\":[\"0x0409a0c2\",\"0x00000008\"]},\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":1.000}]" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-I:02 GPU-CI:01): 45, pid=1, name=p, Ch 1, caused by previous Xid 31",
		  ",\"mig\":{\"gpu_instance\":2,\"compute_instance\":1},\"caused_by\":31,\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":2.000}]" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-I:02): 13, Graphics Exception",
		  ",\"mig\":{\"gpu_instance\":2},\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":3.000}]" },
		{ "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x1 (GPU Reset "
		  "Required) to 0x0 (None)",
		  ",\"recovery\":{\"from\":\"GPU Reset Required\",\"to\":\"None\"},\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":4.000}]" },
		{ "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48",
		  ",\"fatality\":\"fatal\"" },
		{ XID_79,
		  ",\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":6.000}]" },
	};
	struct world *w = *state;
	FILE *file = log_to_file(w);
	char line[1024];

	fault_events_add_signal(&w->events, &(struct fault_signal_report){ .kind = "pcie_aer",
									   .device = "0000:c1:00.0",
									   .time_ns = w->now,
									   .pid = -1 });
	assert_non_null(fgets(line, sizeof(line), file));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *members;

		w->now += SECOND;
		record(w, cases[i].text);
		assert_non_null(fgets(line, sizeof(line), file));
		members = strstr(line, "\"seen_by\":\"text\"");
		assert_non_null(members);
		members += strlen("\"seen_by\":\"text\"");
		*strstr(members, ",\"incident\"") = 0;
		assert_string_equal(members, cases[i].members);
	}
	fclose(file);
}

/* More Xids came before a PCIe error than fit the 1,024 bytes that once were their room. */
TEST_WITH(all_relatives_are_listed, enter, leave)
{
	const unsigned int count = PCIE_RELATIVES - 1;
	struct world *w = *state;
	FILE *file = log_to_file(w);
	char line[2 * 4096] = "", text[128];
	unsigned int listed = 0;

	w->device = "+pci:0000:c1:00.0";
	for (unsigned int i = 1; i <= count; i++) {
		snprintf(text, sizeof(text), "NVRM: Xid (PCI:0000:c1:00): %u, x", 1000 + i);
		record(w, text);
		assert_non_null(fgets(line, sizeof(line), file));
	}
	w->now += SECOND;
	record(w, "pcieport 0000:c1:00.0: AER: PCIe Bus Error: severity=Corrected, type=x");
	assert_non_null(fgets(line, sizeof(line), file));
	for (const char *at = line; (at = strstr(at, "\"xid\":")); at++)
		listed++;
	assert_int_equal(listed, count);
	assert_non_null(strstr(line, ",\"xids\":[{\"device\":\"0000:c1:00.0\",\"xid\":1001,"
				     "\"seconds_before\":1.000},{"));
	/* Nor is the text cut for it. */
	assert_non_null(strstr(line, "\"text\":\"pcieport 0000:c1:00.0: AER: PCIe Bus Error: "
				     "severity=Corrected, type=x\"}\n"));
	fclose(file);
}
