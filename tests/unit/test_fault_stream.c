// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each fault is counted once, in whatever order and mix the kernel log, the printk hook and the driver's
 * hook report it; that what a process wrote into the log never counts; and what lines that are no faults do. */
#include "fault_world.h"

#define XID_79 "NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=py, GPU has fallen off the bus."
#define XID_31 "NVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 00000008, MMU Fault"
#define GPU_LINE "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555"

/* ---- what comes in ---- */

static void record(const char *text)
{
	record_of(0, w->now, text);
}

static void forged_record(const char *text)
{
	record_of(1, w->now, text);
}

static void message(const char *text)
{
	printk_at(w->now, text);
}

/* A message of that origin, unlike those that follow. */
static void message_of(enum printk_origin origin, const char *text)
{
	enum printk_origin saved = w->origin;

	w->origin = origin;
	message(text);
	w->origin = saved;
}

static void other_message(const char *text)
{
	message_of(PRINTK_ORIGIN_OTHER, text);
}

/* A message and its record. */
static void print(const char *text)
{
	message(text);
	record(text);
}

static void other_print(const char *text)
{
	other_message(text);
	record(text);
}

static void repeat(size_t times, void (*print)(const char *text), const char *text)
{
	for (size_t i = 0; i < times; i++)
		print(text);
}

/* The hook knows from now on who prints; what follows is a second later. */
static void know_origins(void)
{
	w->stream->origins_ns = w->now - SECOND;
	record("something else");
	w->now += SECOND;
}

static void driver(bool nvswitch, unsigned int code, const char *device, const char *text)
{
	struct fault_report r = {
		.nvswitch = nvswitch, .code = code, .arrived_ns = w->now, .time_ns = w->now
	};

	snprintf(r.device, sizeof(r.device), "%s", device);
	snprintf(r.message, sizeof(r.message), "%s", text);
	fault_stream_report(w->stream, &r);
}

static void driver_79(void)
{
	driver(false, 79, "0000:c1:00.0", "GPU has fallen off the bus.");
}

static void watch_driver(void)
{
	fault_stream_reports_expected(w->stream, true);
	w->events.enabled_ns[SIGNAL_XID] = 0;
	w->events.enabled_ns[SIGNAL_SXID] = 0;
}

/* ---- what comes out ---- */

static bool waits(void)
{
	return w->stream->printk.count || w->stream->pairs.count;
}

static uint64_t total(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counts->fault_count; i++)
		sum += counts->faults[i].count;
	return sum;
}

static uint64_t events(const char *kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counts->kernel_event_count; i++)
		if (!strcmp(counts->kernel_events[i].kind, kind))
			sum += counts->kernel_events[i].count;
	return sum;
}

static char state[256];

static void say(const char *name, uint64_t count)
{
	if (count)
		append_text(state, "%s%s %lu", *state ? ", " : "", name, count);
}

/* All that counts and is not 0: faults by who reported them, kernel events by kind. */
static void assert_state(const char *expected)
{
	uint64_t unverified = 0, faults = 0;

	*state = 0;
	for (int p = 0; p < FAULT_PATHS; p++) {
		say(fault_path_names[p], counts->fault_paths[p]);
		faults += counts->fault_paths[p];
	}
	assert_int_equal(total(), faults);
	for (size_t i = 0; i < counts->unverified_count; i++)
		unverified += counts->unverified[i].count;
	say("unverified", unverified);
	for (size_t i = 0; i < counts->kernel_event_count; i++)
		if (!strstr(state, counts->kernel_events[i].kind))
			say(counts->kernel_events[i].kind, events(counts->kernel_events[i].kind));
	say("recovered", counts->recovery_count);
	say("gpus", counts->gpu_count);
	say("crowded", w->stream->crowded);
	assert_string_equal(state, expected);
}

/* When nothing waits. */
static void settle(const char *expected)
{
	pass(10 * SECOND);
	assert_state(expected);
}

static void assert_one_79(const char *expected)
{
	settle(expected);
	assert_false(waits());
	assert_int_equal(counts->fault_count, 1);
	assert_printed("79 0000:c1:00.0 fatal 1", "%u %s %s %" PRIu64, counts->faults[0].code,
		       counts->faults[0].device, counts->faults[0].severity,
		       counts->faults[0].count);
}

/* ---- one fault, several ways ---- */

/* Whatever comes of one fault, it is one fault; and how it was reported. */
TEST(one_fault_is_counted_once_however_it_is_reported)
{
	/* m: message, r: record, d: driver; w: the driver is watched, u: no longer; 0, 1: so many are counted by now; -: and
	 * nothing waits; (: the log may still have the record of a message, ): it has lost it; p: no twin comes any more */
	static const char *const cases[][2] = {
		{ "r1-", "text 1" },
		{ "m0r1-", "text 1" },
		/* The message stands in for its record, but not before it is clear that none comes. */
		{ "m(0)1", "text 1" },
		{ "wmrd", "both 1" },
		{ "wmdr", "both 1" },
		{ "wdmr", "both 1" },
		{ "wrd", "both 1" },
		{ "wdr", "both 1" },
		{ "wmd()1", "both 1" },
		{ "wdm()1", "both 1" },
		{ "wd0p1", "driver 1" },
		{ "wmr1p", "text 1" },
		/* The driver has reported and was unloaded before its text was read. */
		{ "wdur", "both 1" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		fresh();
		print_message("# %s\n", cases[i][0]);
		for (const char *c = cases[i][0]; *c; c++) {
			if (*c == 'm')
				message(XID_79);
			else if (*c == 'r')
				record(XID_79);
			else if (*c == 'd')
				driver_79();
			else if (*c == 'w')
				watch_driver();
			else if (*c == 'u')
				w->events.enabled_ns[SIGNAL_XID] = UINT64_MAX;
			else if (*c == '-')
				assert_false(waits());
			else if (*c == '0' || *c == '1')
				assert_int_equal(total(), *c - '0');
			else
				pass(*c == '(' ? PRINTK_WAIT_NS - 1 :
				     *c == ')' ? 1 :
						 FAULT_PAIR_WAIT_NS);
		}
		assert_one_79(cases[i][1]);
	}
}

/* Whoever had it printed, a text of which no copy can be kept takes no report away. */
TEST(a_header_without_end_hides_no_fault)
{
	watch_driver();
	record(formatted("NVRM: Xid (PCI:0000:c1:00 %0300d): 79, pid=1, name=a", 0));
	driver_79();
	assert_one_79("driver 1");
}

/* What was printed before the driver was watched waits for nothing. */
TEST(a_hook_attached_later)
{
	w->events.enabled_ns[SIGNAL_XID] = w->now - SECOND;
	record_of(0, w->now - 2 * SECOND, XID_79);
	assert_false(waits());
	assert_state("text 1");
	record(XID_79);
	assert_true(waits());
	driver_79();
	assert_false(waits());
	assert_state("both 1, text 1");
	/* A hook on SXids is another. */
	record("nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48");
	assert_state("both 1, text 2");
}

/* ---- records and messages ---- */

TEST(a_record_made_of_several_messages)
{
	message(XID_79);
	message(XID_31);
	record("unfinished: " XID_79 XID_31);
	assert_false(waits());
	assert_state("text 2");
	repeat(2, message, XID_79);
	message(XID_31);
	record(XID_79 XID_79);
	assert_int_equal(w->stream->printk.count, 1);
	settle("text 5");
}

/* Before Linux 5.19: what goes to consoles. */
TEST(messages_with_a_time_stamp)
{
	w->origin = PRINTK_ORIGIN_UNKNOWN; /* of what a console shows */
	message("[   12.345678] " XID_79 "\n");
	message("[   12.345678][ T1234] unfinished: " XID_31 "\n");
	message("[   12.345678] one\n[   12.345678] " XID_79 "\n");
	message(XID_79 "\n");
	record(XID_79);
	record("unfinished: " XID_31);
	record("one\n" XID_79);
	record(XID_79);
	assert_false(waits());
	assert_state("text 2, unverified 2");
}

/* A record that ends with a newline of its own: the console shows an empty line. */
TEST(messages_with_a_newline_too_many)
{
	w->origin = PRINTK_ORIGIN_UNKNOWN;
	message("[   12.345678] " XID_79 "\n[   12.345678] \n");
	message(XID_31 "\n\n");
	message("[   12.345678] " XID_79 "\n[   12.345678] " XID_31 "\n");
	record(XID_79 "\n");
	record(XID_31 "\n");
	assert_int_equal(w->stream->printk.count, 1); /* of another record */
	record(XID_79 "\n" XID_31);
	assert_false(waits());
	settle("text 3, unverified 1"); /* each once */
}

TEST(a_console_is_late_and_has_no_time)
{
	printk_at(w->now, "[    1.000000] " XID_79 "\n");
	record_of(0, w->now - 9 * SECOND, XID_79);
	assert_int_equal(w->stream->log_offset_ns, 0);
	assert_true(counts->faults[0].last == 991);
	/* A bare message does. */
	printk_at(w->now, XID_79);
	record_of(0, w->now - 3 * SECOND, XID_79);
	assert_int_equal(w->stream->log_offset_ns, 3 * SECOND);
	assert_true(counts->faults[0].last == 1000);
	/* Not so one that went on in a record from before. */
	printk_at(w->now, XID_79);
	record_of(0, w->now - 20 * SECOND, "unfinished: " XID_79);
	assert_int_equal(w->stream->log_offset_ns, 3 * SECOND);
}

/* A record that only happens to be found in a message is not its record. */
TEST(a_short_record_takes_no_message)
{
	message(XID_79);
	record("7");
	record("");
	record("NVRM");
	record("NVRM: Xid");
	forged_record("the bus.");
	assert_int_equal(w->stream->printk.count, 1);
	assert_one_79("text 1");
}

TEST(the_first_moments_of_a_kernel_are_long_ago)
{
	fault_stream_log_offset(w->stream, -(int64_t)(5 * SECOND));
	w->events.enabled_ns[SIGNAL_XID] = SECOND;
	record_of(0, 2 * SECOND, XID_79);
	w->events.enabled_ns[SIGNAL_XID] = UINT64_MAX;
	assert_false(waits());
	assert_true(counts->faults[0].last == 0);
	/* Nor is anything from the future. */
	fault_stream_log_offset(w->stream, (int64_t)(5 * SECOND));
	record(XID_79);
	assert_true(counts->faults[0].last == 1000);
}

/* A run that could not read the log. Lines that no hook shows are left to the record. */
TEST(what_the_hooks_of_an_earlier_run_have_counted_counts_once)
{
	w->now = 2000 * SECOND;
	w->events.started_ns = w->now;
	w->events.hooks = (struct fault_period){ 1000.5, 1002 };
	w->first_record = 100;
	for (uint64_t at = 1000; at < 1004; at++) {
		record_of(0, at * SECOND, XID_79);
		record_of(0, at * SECOND, "INFO: task x:1 blocked for more than 120 seconds.");
		record_of(0, at * SECOND,
			  "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:1]");
	}
	settle("text 2, hung_task 2, soft_lockup 4");
}

/* At the end a message may be ahead of the log: the next run reads its record. */
TEST(the_end_leaves_what_is_not_yet_read)
{
	record("something else");
	printk_at(w->now - SECOND, XID_31);
	printk_at(w->now, XID_79);
	fault_stream_expire(w->stream, w->now, true);
	assert_state("text 1");
	assert_int_equal(counts->faults[0].code, 31);
}

TEST(without_a_log_the_end_counts_all)
{
	message(XID_79);
	watch_driver();
	driver(false, 31, "0000:c2:00.0", "MMU Fault");
	fault_stream_expire(w->stream, w->now, true);
	assert_state("text 1, driver 1");
}

/* ---- storms ---- */

static uint64_t seed;

static unsigned int chance(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

/* @lines faults, all alike. The log loses one in @lose_record, the printk hook one in @lose_message, the driver's one
 * in @lose_report (0: none). How far each is read at a time is random; messages are before their record. */
static void storm(int lines, unsigned int lose_record, unsigned int lose_message,
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
				printk_at(w->now, XID_79);
		}
		for (ahead = (int)chance(600); ahead && records < messages; ahead--, records++) {
			if (lose_record && !chance(lose_record))
				lost[1]++, w->sequence++;
			else
				record_of(0, w->now, XID_79);
		}
		for (ahead = (int)chance(600);
		     ahead && reports < messages && reports < records + 300; ahead--, reports++) {
			if (lose_report && !chance(lose_report))
				lost[2]++, fault_stream_reports_lost(w->stream, w->now);
			else
				driver_79();
		}
		if (chance(2))
			fault_stream_expire(w->stream, w->now, false);
	}
	pass(10 * SECOND);
	pass(10 * SECOND);
	assert_false(waits());
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

		seed = i;
		fresh();
		watch_driver();
		storm(3000, lose[0], lose[1], lose[2]);
		if (total() != 3000)
			fail_msg("seed %u: %d of 3000", i, (int)total());
		paths = counts->fault_paths;
		assert_int_equal(paths[0] + paths[1] + paths[2], 3000);
		assert_int_equal(paths[FAULT_PATH_DRIVER], 0);
		if (!lose[0] && !lose[2])
			assert_int_equal(paths[FAULT_PATH_BOTH], 3000);
	}
}

/* The log is read in one go before the driver's reports, as after a pause. */
TEST(a_storm_read_at_once)
{
	watch_driver();
	for (int i = 0; i < 20000; i++)
		record(i % 3 ? XID_79 : XID_31);
	for (int i = 0; i < 1500; i++)
		driver_79();
	fault_stream_reports_lost(w->stream, w->now);
	settle("both 1500, text 18500");
}

/* Nothing of it has been read when it is over: the log has all. */
TEST(more_messages_than_may_wait)
{
	record("something else");
	repeat(3 * MAX_PRINTK_WAITING, message, XID_79);
	repeat(3 * MAX_PRINTK_WAITING, record, XID_79);
	settle(formatted("text %d, crowded %d", 3 * MAX_PRINTK_WAITING, 2 * MAX_PRINTK_WAITING));
}

/* A storm of the driver's fills the queue: a user's message takes the place of none. */
TEST(messages_of_others_crowd_none_of_the_driver)
{
	know_origins();
	repeat(MAX_PRINTK_WAITING, message, XID_79);
	repeat(MAX_PRINTK_WAITING, other_message, XID_31);
	assert_int_equal(w->stream->others_crowded, MAX_PRINTK_WAITING);
	assert_int_equal(w->stream->gap_ns, 0);
	/* All records are lost. */
	settle(formatted("text %d", MAX_PRINTK_WAITING));
}

/* The log cannot be read at all. */
TEST(more_messages_than_may_wait_without_a_log)
{
	repeat(3 * MAX_PRINTK_WAITING, message, XID_79);
	settle(formatted("text %d", 3 * MAX_PRINTK_WAITING));
}

/* ---- forged ---- */

TEST(a_process_forges_no_fault)
{
	other_message(XID_79);
	forged_record(XID_79);
	forged_record(XID_31 "\n" XID_31);
	record_of(3, w->now, GPU_LINE);
	forged_record("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14");
	forged_record("Out of memory: Killed process 1 (x)");
	pass(60 * SECOND);
	assert_state("forged_xid 3");
}

TEST(a_forged_storm_that_the_log_has_lost)
{
	repeat(MAX_OTHERS_WAITING, other_message, XID_79);
	repeat(20, forged_record, XID_79);
	/* Among them a real one, whose record is lost, too. */
	message(XID_31);
	settle(formatted("text 1, unverified %d, forged_xid 20", MAX_OTHERS_WAITING - 20));
}

TEST(what_the_driver_reports_cannot_be_forged)
{
	watch_driver();
	forged_record(XID_79);
	driver_79();
	settle("driver 1, forged_xid 1");
}

TEST(drills_count_if_wanted)
{
	w->stream->accept_user_kmsg = true;
	message(XID_79);
	forged_record(XID_79);
	assert_one_79("text 1");
}

/* ---- text that users choose ---- */

#define TMPFS(text) "tmpfs: Unknown parameter '" text "'"
#define LOADING "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14"

TEST(what_others_print_is_no_fault)
{
	static const char *const texts[] = { TMPFS(XID_79), TMPFS("x\n" XID_79), XID_79,
					     "x[7]: segfault at 0 in a\n" XID_79 "[1+2]" };

	for (size_t i = 0; i < COUNT(texts); i++)
		other_print(texts[i]);
	other_message(XID_79); /* its record was lost */
	settle("unverified 5");
	/* Nor is it evidence, or a failure, or the name of a GPU. */
	print(XID_79);
	pass(10 * SECOND);
	other_print(TMPFS("x\n" LOADING));
	other_print(LOADING);
	other_print("NVRM: RmInitAdapter failed!");
	other_print(GPU_LINE);
	record(TMPFS("x\nwatchdog: BUG: soft lockup - CPU#1 stuck for 23s!"));
	assert_state("text 1, unverified 5");
}

TEST(the_drivers_calls_count_wherever_they_stand)
{
	message("one\n" XID_79);
	record("usb 1-1: one\n" XID_79);
	message(XID_31);
	record(TMPFS(XID_79) XID_31);
	/* What stands before it has no known origin. */
	assert_state("text 2, unverified 1");
	/* A header is one call's, or nobody's. */
	message("NVRM: Xid (PCI:0000:c1:00");
	record("NVRM: Xid (PCI:0000:c1:00): 79");
	w->stream->origins_ns = 0;
	message("NVRM: Xid (PCI:0000:c1:00");
	record("NVRM: Xid (PCI:0000:c1:00): 79");
	settle("text 3, unverified 2");
}

/* Of two texts that are alike, each finds its own message. */
TEST(a_text_that_holds_another)
{
	message(XID_79);
	other_print(TMPFS(XID_79));
	assert_int_equal(total(), 0);
	record(XID_79);
	assert_one_79("text 1, unverified 1");
}

/* Without a stack and without the driver's report. */
TEST(text_alone_counts_if_it_looks_right)
{
	static const char sxid[] =
		"nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48";
	struct kmsg_record plain = { .time_us = w->now / 1000, .text_len = strlen(XID_79) };

	record(XID_79);
	record(sxid);
	assert_state("text 2");
	fault_stream_record(w->stream, &plain, XID_79, RECORD_NEW, w->now); /* no continuation */
	record(TMPFS(XID_79));
	record("NVRM: \n" XID_79);
	record(TMPFS("x\n") " nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48");
	w->origin = PRINTK_ORIGIN_UNKNOWN;
	message(XID_79); /* the log has lost it */
	settle("text 2, unverified 5");
}

/* A record as nv_printf() of the driver's kernel interface prints it, and one of the packet filter with a prefix. */
TEST(a_line_with_a_level_is_the_drivers_but_for_the_packet_filters)
{
	static const char *const texts[] = { LOADING " IN=lo OUT= MAC=", LOADING "\nIN= OUT=lo",
					     LOADING "ARP HTYPE=1", LOADING };
	static const char failed[] = "NVRM: The NVIDIA probe routine failed for 2 device(s).";
	struct kmsg_record plain = { .time_us = w->now / 1000, .text_len = sizeof(failed) - 1 };

	w->events.started_ns = w->now + 1;
	fault_stream_record(w->stream, &plain, failed, RECORD_BEFORE_START, w->now);
	assert_int_equal(events("probes_failed"), 1);
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(counts->recovery_count, 0);
		plain.text_len = strlen(texts[i]);
		fault_stream_record(w->stream, &plain, texts[i], RECORD_BEFORE_START, w->now);
	}
	assert_int_equal(counts->recovery_count, 1);
}

/* A prefix of the packet filter begins a record, too. */
TEST(what_reads_like_the_driver_of_a_switch_counts_if_it_printed_it)
{
	static const char failed[] = "nvidia-nvswitch0: Failed to initialize device : -5";

	record(failed); /* of that kernel no more is known */
	assert_state("nvswitch_failed 1");
	w->stream->origins_ns = w->now - SECOND;
	record(failed);
	other_print(failed);
	assert_state("nvswitch_failed 1");
	print(failed);
	assert_state("nvswitch_failed 2");
}

TEST(the_driver_confirms_a_text_of_unknown_origin)
{
	watch_driver();
	/* In either order, and wherever it stands. */
	record("usb 1-1: " XID_79);
	assert_int_equal(total(), 0);
	driver_79();
	driver_79();
	record(XID_79);
	settle("both 2");
	assert_false(waits());
	/* What the driver prints after an Xid repeats it, then too. */
	record(XID_79);
	record("NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.");
	driver_79();
	assert_state("both 3");
	/* Without it the text counts only if the driver's reports were lost. */
	record(XID_79);
	record(XID_79 "\n" XID_31);
	settle("both 3, unverified 3");
	record(XID_79 "\n" XID_31);
	fault_stream_reports_lost(w->stream, w->now);
	settle("both 3, text 1, unverified 4");
	/* This driver reports nothing: it has no function to probe. */
	fault_stream_reports_expected(w->stream, false);
	w->now += 10 * SECOND;
	record(XID_79 "\n" XID_31);
	settle("both 3, text 2, unverified 5");
	fault_stream_reports_expected(w->stream, true);
	/* It needs no text that is believed. */
	other_print(XID_79);
	driver_79();
	settle("both 3, text 2, driver 1, unverified 6");
}

/* Where all calls are known, a record without one is not the driver's; a flood may have crowded it out. */
TEST(a_record_whose_call_is_missing)
{
	w->stream->origins_ns = w->now - SECOND;
	record(XID_79);
	assert_state("unverified 1");
	w->stream->gap_ns = w->now;
	record(XID_79);
	record(TMPFS(XID_79));
	assert_state("text 1, unverified 2");
	/* From before. */
	record_of(0, w->now - 10 * SECOND, XID_79);
	assert_state("text 2, unverified 2");
	/* There was no room for it. */
	w->now += 10 * SECOND;
	record("something else");
	message(XID_31);
	repeat(MAX_PRINTK_WAITING, message, "NVRM");
	record(XID_31);
	assert_state("text 3, unverified 2, crowded 1");
}

/* Of those, a user's messages leave first, and open no gap: where the hook's buffer
 * and the queue overflow, too, no text becomes the driver's. */
TEST(a_flood_hides_no_fault_and_forges_none)
{
	know_origins();
	message(XID_31);
	repeat(3 * MAX_PRINTK_WAITING, other_message, XID_79);
	/* Each record is compared with all that wait. */
	assert_int_equal(w->stream->printk.count, 1 + MAX_OTHERS_WAITING);
	assert_true(MAX_OTHERS_WAITING <= 64);
	assert_int_equal(w->stream->others_crowded, 3 * MAX_PRINTK_WAITING - MAX_OTHERS_WAITING);
	record(XID_31);
	assert_state("text 1");
	repeat(3 * MAX_PRINTK_WAITING, record, XID_79);
	settle(formatted("text 1, unverified %d", 3 * MAX_PRINTK_WAITING));
}

#define NO_START "NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x24:0x72:1568)"

/* Who may write to /dev/kmsg can guess the text of a fault. What is crowded out, or was printed by another
 * CPU a moment before, leaves records without a message of their own before that of the driver. */
TEST(a_flood_of_a_process_takes_no_message_of_the_driver)
{
	know_origins();
	repeat(2 * MAX_OTHERS_WAITING, other_message, XID_79);
	message(XID_79);
	repeat(2 * MAX_OTHERS_WAITING, forged_record, XID_79);
	record(XID_79);
	assert_one_79(formatted("text 1, forged_xid %d", 2 * MAX_OTHERS_WAITING));
	/* In the order of the hook, not in that of the log. */
	message(XID_31);
	other_message(XID_31);
	forged_record(XID_31);
	record(XID_31);
	settle(formatted("text 2, forged_xid %d", 2 * MAX_OTHERS_WAITING + 1));
	/* What the driver prints in the context of who wrote an unfinished line goes on in that. */
	message(XID_31);
	forged_record("x" XID_31);
	message(NO_START);
	forged_record("x" NO_START);
	settle(formatted("text 3, forged_xid %d, rm_init_adapter_failed 1",
			 2 * MAX_OTHERS_WAITING + 2));
}

/* A flood has pushed its record out of the log before that was read. */
TEST(a_failure_of_the_driver_that_the_log_has_lost)
{
	message(NO_START);
	message(GPU_LINE);
	other_message(NO_START);
	other_message("mce: [Hardware Error]: Machine check events logged NVRM");
	message_of(PRINTK_ORIGIN_UNKNOWN, NO_START);
	settle("rm_init_adapter_failed 1, gpus 1");
}

/* A user who guesses its text prints it within messages of his own, more than may wait. The record of one
 * takes the driver's message, which counts for what it is. */
TEST(a_failure_of_the_driver_within_a_text_of_a_user)
{
	w->stream->origins_ns = w->now - SECOND;
	w->now += SECOND;
	repeat(2 * MAX_OTHERS_WAITING, other_message, TMPFS(NO_START));
	message(NO_START);
	repeat(2 * MAX_OTHERS_WAITING, record, TMPFS(NO_START));
	record(NO_START);
	settle("rm_init_adapter_failed 1");
	/* A fault before it does not hide it. */
	message(XID_31);
	message(NO_START);
	record(TMPFS(XID_31 NO_START));
	record(XID_31);
	record(NO_START);
	settle("text 1, unverified 1, rm_init_adapter_failed 2");
	/* Only what it says: the rest is the user's. */
	message("NVRM: GPU 0000:c1:00.0: ");
	record(TMPFS("NVRM: GPU 0000:c1:00.0: RmInitAdapter failed!"));
	settle("text 1, unverified 1, rm_init_adapter_failed 2");
}

/* A record may hold the texts of more messages than the parts of one that are known. */
TEST(a_fault_within_a_text_of_many_messages)
{
	char text[1024] = "";
	w->stream->origins_ns = w->now - SECOND;
	w->now += SECOND;
	for (size_t i = 0; i < MAX_PRINTK_PIECES; i++) {
		other_message(TMPFS("NVRM"));
		strcat(text, TMPFS("NVRM"));
	}
	message(XID_79);
	record(strcat(text, XID_79));
	record(XID_79);
	assert_one_79("text 1, unverified 1");
}

/* Nor does a flood of texts that the driver does not confirm. */
TEST(a_flood_without_calls_forges_none)
{
	watch_driver();
	driver_79();
	record(XID_31); /* as if a user had cut it out of another message */
	for (unsigned int i = 0; i < 10 * MAX_WAITING; i++)
		record(formatted(TMPFS("NVRM: Xid (PCI:0000:c3:00): %u, x"), i));
	settle(formatted("driver 1, unverified %d", 10 * MAX_WAITING + 1));
}

static void look_at_bus(const char (*gpus)[PCI_ADDRESS_SIZE], size_t count)
{
	pass(60 * SECOND);
	fault_events_add_gpus(&w->events, gpus, count, w->now);
}

TEST(a_gpu_of_the_last_boot_that_is_gone_is_a_failure)
{
	static const char gpus[][PCI_ADDRESS_SIZE] = { "0000:19:00.0", "0000:3b:00.0",
						       "0000:5d:00.0" };
	static const char moved[][PCI_ADDRESS_SIZE] = { "0000:19:00.0", "0000:3c:00.0",
							"0000:5d:00.0" };
	struct faults boot = {};

	look_at_bus(gpus, 3);
	look_at_bus(gpus, 2);
	look_at_bus(gpus, 3); /* it was taken out for a moment */
	assert_int_equal(events("gpu_gone"), 0);
	/* The next boot. */
	assert_int_equal(faults_outlive(&boot, &w->faults, 0), 0);
	faults_free(&w->faults);
	w->faults = boot;
	look_at_bus(gpus, 2);
	assert_int_equal(events("gpu_gone"), 0);
	for (int i = 0; i < 3; i++)
		look_at_bus(gpus, 2);
	assert_int_equal(events("gpu_gone"), 1);
	assert_string_equal(counts->kernel_events[0].device, "0000:5d:00.0");
	assert_true(counts->kernel_events[0].gpu_driver);
	/* The driver is loaded without it: that clears nothing. */
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now, w->now);
	look_at_bus(gpus, 2);
	assert_int_equal(events("gpu_gone"), 2);
	look_at_bus(moved, 3); /* as many as before, one in another place */
	look_at_bus(gpus, 3);
	look_at_bus(gpus, 3);
	assert_int_equal(events("gpu_gone"), 2);
}

#define XID_154 "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from "
#define XID_149 "NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT "

/* The driver's report proves device and code; a text that may be anybody's adds nothing to them. */
TEST(a_text_decides_nothing_about_a_fault_of_the_driver)
{
	watch_driver();
	record(XID_79);
	driver_79();
	pass(10 * SECOND);
	/* Before the driver's own text, or without that. */
	record(TMPFS(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)"));
	record(XID_154 "0x0 (None) to 0x1 (GPU Reset Required)");
	driver(false, 154, "0000:c1:00.0", "");
	record(TMPFS(XID_149 "Fatal XC0 i0 Link 00 (0x1)"));
	driver(false, 149, "0000:c1:00.0", "");
	settle("both 3, unverified 1");
	assert_int_equal(counts->faults[2].code, 149);
	assert_string_not_equal(counts->faults[2].severity, "fatal");
	/* Nor does it silence another line of the driver. */
	record(TMPFS("NVRM: Xid (PCI:0000:c2:00): 79, x"));
	record("NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.");
	assert_int_equal(events("fallen_off_bus"), 1);
}

#define MISMATCH(version)                                                            \
	"NVRM: API mismatch: the client 'x' (pid 7)\nNVRM: has the version " version \
	", but this kernel module has\nNVRM: the version 575.57.08.  Please make sure that this"

#define SWITCH_MISMATCH(version) \
	"nvidia-nvswitch: Version mismatch, kernel version 575.57.08 user version " version

/* It prints texts that a process gave it. */
TEST(what_the_driver_quotes_is_no_fault)
{
	print(MISMATCH("\n" XID_79));
	print(MISMATCH("\nNVRM: RmInitAdapter failed!"));
	print("NVRM: anything " XID_79);
	settle("unverified 2");
	/* Of switches, too. */
	print(SWITCH_MISMATCH("\nNVRM: RmInitAdapter failed!"));
	print(SWITCH_MISMATCH("\nnvidia-nvswitch0: Failed to x : -1"));
	print(SWITCH_MISMATCH("\nnvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal"));
	settle("unverified 3");
	/* A second line in a call counts, if the driver reports it, where it reports all. */
	print("NVRM: x\n" XID_79);
	assert_state("text 1, unverified 3");
	watch_driver();
	print("NVRM: x\n" XID_79);
	settle("text 1, unverified 4");
	print("NVRM: x\n" XID_79);
	driver_79();
	settle("both 1, text 1, unverified 4");
}

TEST(a_devices_line_is_printed_for_it)
{
	static const char probed[] = "pci 0000:c1:00.0: [10de:2330] type 00 class 0x030200";

	record(XID_79);
	pass(10 * SECOND);
	record(probed);
	record("mlx5_core 0000:53:00.0 eth0: Link down");
	record("nvme nvme0: I/O 5 QID 7 timeout, reset controller");
	w->device = "+pci:0000:54:00.0";
	record(probed);
	record("mlx5_core 0000:53:00.0 eth0: Link down");
	w->device = "+pci:0000:53:00.0";
	record("x\nmlx5_core 0000:53:00.0 eth0: Link down");
	assert_state("text 1");
	record("mlx5_core 0000:53:00.0 eth0: Link down");
	w->device = "c241:0";
	record("nvme nvme0: I/O 5 QID 7 timeout, reset controller");
	assert_state("text 1, link_down 1, nvme_timeout 1");
	w->device = "+pci:0000:c1:00.0";
	record(probed);
	assert_state("text 1, link_down 1, nvme_timeout 1, recovered 1");
	/* While uevents report it, no text does. */
	w->events.uevents_ns = w->now;
	w->device = "";
	record(LOADING);
	assert_int_equal(counts->recovery_count, 1);
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now, w->now);
	assert_int_equal(counts->recovery_count, 2);
}

/* Faults of one text, two before an agent's start and one after it; the log's clock is ahead. */
TEST(what_was_printed_before_the_start_takes_no_message_or_report_of_later)
{
	for (int known = 0; known < 2; known++) {
		fresh();
		w->events.started_ns = w->now;
		w->first_record = 2;
		watch_driver();
		w->events.enabled_ns[SIGNAL_XID] = w->now;
		if (known)
			w->stream->origins_ns = w->now;
		else
			w->origin = PRINTK_ORIGIN_UNKNOWN;
		w->now += SECOND;
		message(XID_79);
		driver_79();
		record_of(0, w->now + 45 * SECOND, XID_79);
		record_of(0, w->now + 50 * SECOND, XID_79);
		record_of(0, w->now + 60 * SECOND, XID_79);
		settle("both 1, text 2");
	}
}

/* Two while an agent starts, when the driver's reports come already; one after it. */
TEST(what_was_printed_while_the_hook_was_loaded_takes_no_message)
{
	w->events.started_ns = w->now - 9 * SECOND;
	w->first_message = 2;
	watch_driver();
	w->stream->origins_ns = w->now;
	for (int i = 0; i < 3; i++)
		driver_79();
	w->now += SECOND;
	message(XID_79);
	record_of(0, w->now - 9 * SECOND, XID_79);
	record_of(0, w->now - 5 * SECOND, XID_79);
	record(XID_79);
	settle("both 3");
	assert_int_equal(w->stream->log_offset_ns, 0);
}

/* An agent that was stopped reads uevents long after a later fault was printed. */
TEST(a_fault_after_a_recovery_stays_open)
{
	uint64_t before;

	record(XID_79);
	pass(10 * SECOND);
	before = w->now;
	pass(20 * SECOND);
	record("NVRM: Xid (PCI:0000:c2:00): 79, pid=1234, name=python, GPU has fallen off the bus.");
	pass(20 * SECOND);
	fault_events_add_recovery(&w->events, "", "driver_loaded", before, w->now);
	assert_int_equal(counts->recovery_count, 1);
	assert_int_equal(counts->fault_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct fault *f = &counts->faults[i];

		assert_int_equal(f->last > counts->recoveries[0].time,
				 !strcmp(f->device, "0000:c2:00.0"));
	}
}

/* A user prints one text again and again, of which the hook and the log lose many: what is left of both is not of one
 * moment. The driver's message was lost, too, half a second before that was noticed. */
TEST(a_user_does_not_set_the_logs_clock)
{
	w->stream->origins_ns = w->now - 100 * SECOND;
	other_message(TMPFS(XID_31));
	w->stream->gap_ns = w->now;
	w->now += SECOND;
	record_of(0, w->now - 2 * SECOND, TMPFS(XID_31));
	record_of(0, w->now - SECOND - SECOND / 2, XID_79);
	assert_one_79("text 1, unverified 1");
}

/* Where no message shows when a record was printed, the log's clock may be behind by a minute, after a month or two. */
TEST(a_fault_after_a_recovery_stays_open_whatever_the_logs_clock_says)
{
	record(XID_79);
	pass(100 * SECOND);
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now - SECOND, w->now);
	assert_int_equal(counts->recovery_count, 1);
	assert_true(counts->faults[0].last < counts->recoveries[0].time);
	fault_stream_all_read(w->stream, w->now);
	w->now += SECOND;
	record_of(0, w->now - 60 * SECOND, XID_79);
	assert_true(counts->faults[0].last > counts->recoveries[0].time);
	assert_true(counts->faults[0].last == 1100);
	/* So does one after the end of another's, if both are read at once. */
	fault_stream_all_read(w->stream, w->now);
	w->now += SECOND;
	record_of(0, w->now - 70 * SECOND, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	record_of(0, w->now - 70 * SECOND + MS, XID_79);
	assert_true(counts->faults[0].last > counts->recoveries[1].time);
	assert_true(counts->faults[0].last == 1101.001);
	/* Or if the log's clock is ahead. */
	record_of(0, w->now + 70 * SECOND, XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	w->now += MS;
	record_of(0, w->now + 70 * SECOND, XID_79);
	assert_true(counts->faults[0].last > counts->recoveries[1].time);
	/* Nor is a driver that fails while it is loaded taken for one that loads well. */
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now + SECOND,
				  w->now + 2 * SECOND);
	assert_true(counts->faults[0].last > counts->recoveries[0].time);
	/* A message has the true time. */
	printk_at(w->now - 10 * SECOND, XID_31);
	record_of(0, w->now - 60 * SECOND, XID_31);
	assert_int_equal(counts->faults[2].code, 31);
	assert_true(counts->faults[2].last == 1092.001);
}

TEST(what_is_not_verified_is_bounded)
{
	for (unsigned int i = 0; i < 1000; i++)
		record(formatted("x NVRM: Xid (PCI:0000:c1:00): %u, x", i));
	assert_state("unverified 1000");
	assert_int_equal(counts->unverified_count, MAX_UNVERIFIED + 1);
	assert_string_equal(counts->unverified[MAX_UNVERIFIED].gpu, "other");
	/* Forged records are one series. */
	for (unsigned int i = 0; i < 1000; i++)
		forged_record(formatted("NVRM: Xid (PCI:%04x:c1:00): 79, x", i));
	assert_state("unverified 1000, forged_xid 1000");
	assert_int_equal(counts->kernel_event_count, 1);
}

/* ---- what a text states ---- */

TEST(an_sxid_has_details)
{
#define SXID_20034 "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, "
	static const char *const parts[] = { "Fatal, Link 48 LTSSM Fault Up",
					     "Severity 1 Engine instance 48 Sub-engine instance 00",
					     "Data {0x00000001, 0x00000002}" };

	watch_driver();
	for (size_t i = 0; i < 3 * COUNT(parts); i++)
		record(formatted(SXID_20034 "%s", parts[i % COUNT(parts)]));
	assert_int_equal(total(), 0);
	/* The driver's hook has them, too. */
	for (size_t i = 0; i < 3 * COUNT(parts); i++)
		driver(true, 20034, "0000:c3:00.0", parts[i % COUNT(parts)]);
	assert_false(waits());
	assert_state("both 3");
	/* A detail that comes before the text of the next fault is not its twin. */
	driver(true, 20034, "0000:c3:00.0", parts[1]);
	record(formatted(SXID_20034 "%s", parts[0]));
	driver(true, 20034, "0000:c3:00.0", parts[0]);
	settle("both 4");
	assert_true(counts->faults[0].nvswitch);
}

TEST(fallen_off_the_bus_is_printed_twice)
{
	static const char line[] = "NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.";

	record(line);
	assert_state("fallen_off_bus 1");
	pass(100 * SECOND);
	record(XID_79);
	record(line);
	assert_state("text 1, fallen_off_bus 1");
	record("NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.");
	assert_state("text 1, fallen_off_bus 2");
	pass(100 * SECOND);
	record(line);
	assert_state("text 1, fallen_off_bus 3");
}

TEST(recovery_to_none_is_evidence)
{
	record(XID_154 "0x0 (None) to 0x1 (GPU Reset Required)");
	assert_state("text 1");
	pass(SECOND);
	record(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_state("text 2, recovered 1");
	assert_printed("0000:c1:00.0 action_none 1001", "%s %s %.9g", counts->recoveries[0].gpu,
		       counts->recoveries[0].evidence, counts->recoveries[0].time);
	/* Forged it is none. */
	pass(SECOND);
	forged_record(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_true(counts->recoveries[0].time == 1001);
}

/* The driver says at the end of its load that it is loaded: what came since the load began is not over, however long ago. */
TEST(a_load_is_evidence_about_what_was_before_it)
{
#define BEGINS "nvidia-nvlink: Nvlink Core is being initialized, major device number 239"
#define UNLOADED "nvidia-nvlink: Unregistered Nvlink Core, major device number 239"
#define SXID "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "
#define XID_45 "NVRM: Xid (PCI:0000:c2:00): 45, pid=1234, name=python, Ch 00000008"
	static const struct {
		const char *name, *lines[8]; /* some seconds apart */
		int open; /* devices with open faults */
	} cases[] = {
		{ "a switch fails in the first load",
		  { SXID "20034, Fatal, Link 28", LOADING },
		  1 },
		{ "a switch fails in the first load, whose begin is there",
		  { BEGINS, SXID "20034, Fatal, Link 28", LOADING },
		  1 },
		{ "a switch does not start",
		  { "nvidia-nvswitch3: Failed to initialize device : -5", LOADING },
		  1 },
		{ "a GPU is not there", { "NVRM: The NVIDIA GPU 0000:c1:00.0", LOADING }, 1 },
		{ "loaded again", { XID_79, LOADING }, 0 },
		{ "loaded again, with lines that are no faults",
		  { XID_79, UNLOADED, BEGINS, SXID "22013, Minion", XID_45,
		    "NVRM: nvCheckFailedNoLog: Check failed: x", LOADING },
		  3 },
		{ "loaded again with lines that are no faults, without the load's begin",
		  { XID_79, SXID "22013, Minion", LOADING },
		  1 },
		{ "an Xid before the line", { XID_79, XID_45, LOADING }, 0 },
		{ "an Xid in a load hides no fault",
		  { BEGINS, SXID "20034, Fatal", XID_45, LOADING },
		  2 },
		{ "a later begin hides no fault",
		  { BEGINS, SXID "20034, Fatal", BEGINS, LOADING },
		  1 },
		{ "a switch fails in the second load",
		  { LOADING, XID_79, UNLOADED, BEGINS, SXID "20034, Fatal", LOADING },
		  1 },
		{ "the third load is good",
		  { BEGINS, SXID "20034, Fatal", LOADING, UNLOADED, BEGINS, LOADING },
		  0 },
		{ "a switch fails while in use",
		  { BEGINS, LOADING, SXID "20034, Fatal", UNLOADED, BEGINS, LOADING },
		  0 },
	};
	static const uint64_t apart[] = { SECOND / 2, 4 * SECOND, 7 * SECOND, 25 * SECOND };

	for (size_t i = 0; i < COUNT(cases) * COUNT(apart); i++) {
		const char *const *lines = cases[i / COUNT(apart)].lines;
		int open = 0;
		double recovered;

		fresh();
		for (int l = 0; l < 8 && lines[l]; l++) {
			record(lines[l]);
			pass(apart[i % COUNT(apart)]);
		}
		pass(3 * SECOND);
		assert_int_equal(counts->recovery_count, 1);
		recovered = counts->recoveries[0].time;
		for (size_t n = 0; n < counts->fault_count; n++)
			open += counts->faults[n].last > recovered;
		for (size_t n = 0; n < counts->kernel_event_count; n++)
			open += counts->kernel_events[n].last > recovered;
		if (open != cases[i / COUNT(apart)].open)
			fail_msg("%s, %.1f s apart: %d open, not %d", cases[i / COUNT(apart)].name,
				 (double)apart[i % COUNT(apart)] / (double)SECOND, open,
				 cases[i / COUNT(apart)].open);
	}
}

/* The kernel's own word, which comes with the tracepoint. */
TEST(the_kernel_tells_when_a_load_begins)
{
	record(XID_79);
	pass(SECOND);
	fault_events_unloaded(&w->events);
	fault_events_load_begins(&w->events, w->now);
	pass(SECOND);
	record(SXID "20034, Fatal, Link 28");
	pass(20 * SECOND);
	fault_events_add_recovery(&w->events, "", "driver_loaded", w->now - SECOND / 10, w->now);
	assert_int_equal(counts->recovery_count, 1);
	for (size_t i = 0; i < counts->fault_count; i++)
		assert_int_equal(counts->faults[i].last > counts->recoveries[0].time,
				 counts->faults[i].nvswitch);
}

TEST(identity_lines_are_remembered)
{
	const struct gpu_info *gpu;

	record(GPU_LINE);
	record("NVRM: GPU Board Serial Number: 1321020001234");
	record("NVRM: GPU at PCI:0000:c2:00: GPU-99999999-2222-3333-4444-555555555555");
	assert_state("gpus 2");
	gpu = counts->gpus;
	assert_printed("0000:c1:00.0 GPU-11111111-2222-3333-4444-555555555555 1321020001234",
		       "%s %s %s", gpu->gpu, gpu->uuid, gpu->serial);
	assert_string_equal(gpu[1].serial, "");
}

/* A text counts if its tracepoint was not yet enabled; then the tracepoint does. */
TEST(a_signal_counts_by_text_or_tracepoint)
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

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct fault_signal_report report = { .kind = cases[i].kind,
							    .device = "",
							    .pid = -1 };
		uint64_t before = events(cases[i].kind), enabled = w->now - SECOND;
		bool traced = cases[i].signal != SIGNALS;

		w->device = "+pci:0000:c1:00.0";
		record(cases[i].text);
		assert_int_equal(events(cases[i].kind), before + 1);
		if (traced)
			w->events.enabled_ns[cases[i].signal] = enabled;
		record_of(0, enabled - SECOND, cases[i].text);
		assert_int_equal(events(cases[i].kind), before + 2);
		record(cases[i].text);
		assert_int_equal(events(cases[i].kind), before + 2 + !traced);
		fault_events_add_signal(&w->events, &report);
		assert_int_equal(events(cases[i].kind), before + 3 + !traced);
		if (traced)
			w->events.enabled_ns[cases[i].signal] = UINT64_MAX;
	}
}

static bool write_line(void *context, const char *line, size_t size)
{
	(void)context;
	w->lines[w->line_count++] = strndup(line, size);
	return true;
}

/* From now on the world's events are lines. */
static void keep_lines(void)
{
	static const struct event_sink sink = { .write = write_line };

	event_log_free(w->log);
	w->log = event_log_new(&sink);
}

/* Valid until the end of the test. */
static const char *next_line(void)
{
	assert_true(w->lines_read < w->line_count);
	return w->lines[w->lines_read++];
}

static void pcie_error(const char *severity)
{
	const struct fault_signal_report report = { .kind = "pcie_aer",
						    .device = "0000:c1:00.0",
						    .severity = severity,
						    .time_ns = w->now,
						    .pid = -1 };

	fault_events_add_signal(&w->events, &report);
}

TEST(a_grave_pcie_error_stands_out_of_a_burst)
{
	keep_lines();
	for (int i = 0; i < 3; i++)
		pcie_error("info");
	pcie_error("fatal");
	w->device = "+pci:0000:c1:00.0";
	record("pcieport 0000:c1:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=x");
	assert_int_equal(events("pcie_aer"), 5);
	assert_has(next_line(), "\"severity\":\"info\"");
	assert_has(next_line(), "\"severity\":\"fatal\"");
	assert_has(next_line(), "\"severity\":\"warning\"");
}

TEST(an_event_has_how_it_was_reported)
{
	const char *line;

	keep_lines();
	w->events.started_ns = w->now;
	record(GPU_LINE);
	pcie_error(NULL);
	w->now += SECOND;
	print(XID_79);
	record_of(0, w->now - 100 * SECOND, XID_31);
	next_line();
	line = next_line();
	assert_has_all(
		line,
		"\"gpu\":\"0000:c1:00.0\",\"uuid\":\"GPU-11111111-2222-3333-4444-555555555555\"",
		"\"pid\":7,\"comm\":\"py\"", "\"printed_by\":\"writer\",\"seen_by\":\"text\"",
		"\"pcie_errors\":[{\"device\":\"0000:c1:00.0\",\"seconds_before\":1.000}]");
	assert_lacks(line, "replayed");
	assert_has(next_line(), "\"replayed\":true");
}

/* Each member that a text or a relative adds, in its order and spelling. */
TEST(details_and_relatives_follow_in_order)
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
	keep_lines();
	pcie_error(NULL);
	next_line();
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *members;

		w->now += SECOND;
		record(cases[i].text);
		members = strstr(next_line(), "\"seen_by\":\"text\"");
		assert_non_null(members);
		members += strlen("\"seen_by\":\"text\"");
		*strstr(members, ",\"incident\"") = 0;
		assert_string_equal(members, cases[i].members);
	}
}

/* More Xids came before a PCIe error than fit the 1,024 bytes that once were their room. */
TEST(all_relatives_are_listed)
{
	const unsigned int count = PCIE_RELATIVES - 1;
	unsigned int listed = 0;
	const char *line;
	char text[128];

	keep_lines();
	w->device = "+pci:0000:c1:00.0";
	for (unsigned int i = 1; i <= count; i++) {
		snprintf(text, sizeof(text), "NVRM: Xid (PCI:0000:c1:00): %u, x", 1000 + i);
		record(text);
		next_line();
	}
	w->now += SECOND;
	record("pcieport 0000:c1:00.0: AER: PCIe Bus Error: severity=Corrected, type=x");
	line = next_line();
	for (const char *at = line; (at = strstr(at, "\"xid\":")); at++)
		listed++;
	assert_int_equal(listed, count);
	assert_has(line, ",\"xids\":[{\"device\":\"0000:c1:00.0\",\"xid\":1001,"
			 "\"seconds_before\":1.000},{");
	/* Nor is the text cut for it. */
	assert_has(line, "\"text\":\"pcieport 0000:c1:00.0: AER: PCIe Bus Error: "
			 "severity=Corrected, type=x\"}\n");
}
