// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each fault is counted once, by one authority at a time, in floods, at boundaries and in gaps; that text of
 * others never counts where callers are known; and what lines that are no faults do. */
#include "fault_world.h"
#include "golden.h"

#define XID_79 "NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=py, GPU has fallen off the bus."
#define XID_31 "NVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 00000008, MMU Fault"
#define SXID_20034 "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48"
#define GPU_LINE "NVRM: GPU at PCI:0000:c1:00: GPU-11111111-2222-3333-4444-555555555555"
#define NO_START "NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x24:0x72:1568)"
#define TMPFS(text) "tmpfs: Unknown parameter '" text "'"
#define LOADING "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14"

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

/* No boundary is near. */
static void elapse(void)
{
	pass(10 * SECOND);
}

/* The hook is the authority from now on. */
static void know_callers(void)
{
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, w->now);
	elapse();
}

/* The driver's tracepoint is. */
static void watch_driver(void)
{
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
	elapse();
}

/* It may have lost reports until now. */
static void lose_some(enum fault_authority_kind kind)
{
	fault_authority_gap(&w->authority, kind, w->now);
}

static void driver_at(uint64_t time_ns, unsigned int code, const char *device)
{
	struct driver_report r = { .code = code, .time_ns = time_ns };

	snprintf(r.device, sizeof(r.device), "%s", device);
	fault_authority_report(&w->authority, &r);
}

static void driver(unsigned int code, const char *device)
{
	driver_at(w->now, code, device);
}

static void driver_79(void)
{
	driver(79, "0000:c1:00.0");
}

/* ---- what comes out ---- */

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
static const char *state_of_counts(void)
{
	uint64_t unverified = 0, faults = 0;

	*state = 0;
	for (int i = AUTHORITIES; i--;) {
		say(fault_authority_names[i], w->counted[i]);
		faults += w->counted[i];
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
	return state;
}

static void assert_state(const char *expected)
{
	assert_string_equal(state_of_counts(), expected);
}

/* When nothing waits. */
static void settle(const char *expected)
{
	elapse();
	assert_state(expected);
}

/* ---- one fault, several reports ---- */

static const char *counted_by(const char *script)
{
	fresh();
	for (const char *c = script; *c; c++) {
		w->now += MS;
		switch (*c) {
		case 'h':
			know_callers();
			break;
		case 'w':
			watch_driver();
			break;
		case 'm':
			message(XID_79);
			break;
		case 'o':
			other_message(XID_79);
			break;
		case 'r':
			record(XID_79);
			break;
		case 'd':
			driver_79();
			break;
		default:
			message_of(PRINTK_ORIGIN_PROCESS, XID_79);
			forged_record(XID_79);
		}
	}
	elapse();
	return state_of_counts();
}

/* Whatever comes of one fault, it is one fault. */
TEST(one_fault_is_counted_once_however_it_is_reported)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "one fault, however it is reported", counted_by);
}

/* No fault waits for what may not come. */
TEST(the_authority_counts_at_once)
{
	know_callers();
	message(XID_79);
	assert_state("hook 1");
	message(SXID_20034);
	message(NO_START);
	assert_state("hook 2, rm_init_adapter_failed 1");
	fresh();
	watch_driver();
	record(XID_79);
	driver_79();
	assert_state("driver 1");
	record(SXID_20034);
	record(NO_START);
	assert_state("driver 1, log 1, rm_init_adapter_failed 1");
}

/* The text says how grave it is. */
TEST(a_report_that_is_read_before_its_text_has_the_severity_of_the_text)
{
	static const char text[] =
		"NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 13 (0x1 0x2)";

	watch_driver();
	driver(149, "0000:c1:00.0");
	assert_state("");
	fault_authority_expire(&w->authority,
			       w->now + SECOND - MS); /* the log is not read as far */
	record(text);
	assert_state("driver 1");
	assert_string_equal(counts->faults[0].severity, "warning");
	/* It is the same when the driver has gone meanwhile. */
	driver(149, "0000:c1:00.0");
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, false, w->now);
	record(text);
	settle("driver 2");
	assert_int_equal(counts->faults[0].count, 2);
	/* The log has no text: all of it has been read. */
	watch_driver();
	driver(149, "0000:c1:00.0");
	w->now++;
	pass(0);
	assert_state("driver 3");
	record(text); /* of a line that has only now ended */
	settle("driver 3");
	assert_int_equal(counts->fault_count, 2);
	/* The log has no end. */
	driver(149, "0000:c1:00.0");
	fault_authority_expire(&w->authority, w->now + SECOND);
	assert_state("driver 4");
	/* The state is not saved between the two. */
	elapse();
	record(text);
	assert_false(fault_authority_settled(&w->authority));
	driver(149, "0000:c1:00.0");
	assert_true(fault_authority_settled(&w->authority));
}

static void drain_message(void)
{
	w->drain = NULL;
	message(XID_79);
}

static void drain_report(void)
{
	w->drain = NULL;
	driver_79();
}

/* A record may be read before the hook's buffer, and that of the trace. */
TEST(the_authority_is_asked_before_a_record_is_judged)
{
	know_callers();
	w->drain = drain_message;
	record(XID_79);
	assert_state("hook 1");
	fresh();
	watch_driver();
	w->drain = drain_report;
	record(XID_79);
	for (unsigned int i = 0; i < MAX_PARTS; i++) /* there is no room for more */
		record(formatted("NVRM: Xid (PCI:0000:c3:00): %u, x", i));
	settle(formatted("driver 1, unverified %d", MAX_PARTS));
	/* In a gap at once. */
	lose_some(AUTHORITY_DRIVER);
	w->drain = drain_report;
	record(XID_79);
	assert_state(formatted("driver 2, unverified %d", MAX_PARTS));
}

/* The driver's report may come a moment after its text, and not later. */
TEST(a_text_that_the_driver_does_not_report_is_unverified)
{
	watch_driver();
	record(XID_79);
	pass(50 * MS);
	assert_state("");
	pass(60 * MS);
	assert_state("unverified 1");
	/* A flood of those is judged before its time: there is room for a few. */
	for (unsigned int i = 0; i < 1000; i++)
		record(formatted("NVRM: Xid (PCI:0000:c3:00): %u, x", i));
	driver_79();
	settle("driver 1, unverified 1001");
}

/* What the log has counted in a gap, for want of a report, takes no later report away. */
TEST(a_report_after_a_gap_counts)
{
	watch_driver();
	lose_some(AUTHORITY_DRIVER);
	w->now += 90 * MS;
	record(XID_79);
	assert_state("log 1");
	w->now += 20 * MS;
	driver_79();
	record(XID_79);
	settle("driver 1, log 1");
}

TEST(a_header_without_end_hides_no_fault)
{
	watch_driver();
	record(formatted("NVRM: Xid (PCI:0000:c1:00 %0300d): 79, pid=1, name=a", 0));
	driver_79();
	settle("driver 1");
}

/* ---- boundaries ---- */

TEST(the_hook_begins)
{
	w->first_message = 2;
	w->first_certain = 7;
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, w->now - 9 * SECOND);
	/* Printed before it was attached, and read after. */
	record(XID_79);
	record(XID_31);
	assert_state("log 2");
	/* Printed while it was attached: the hook has had it, or not. */
	record(XID_79);
	print(XID_79);
	record(SXID_20034);
	record(NO_START);
	other_print(XID_31);
	settle("hook 1, log 4, unverified 1, rm_init_adapter_failed 1");
	/* That is over. */
	record(XID_79);
	record(NO_START);
	settle("hook 1, log 4, unverified 2, rm_init_adapter_failed 1");
}

/* Faults of one text, two before an agent's start and one after it; the log's clock is ahead. */
TEST(what_was_printed_before_the_start_counts_by_the_log)
{
	for (int known = 0; known < 2; known++) {
		fresh();
		w->events.started_ns = w->now;
		w->first_record = w->first_message = 2;
		if (known)
			fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, w->now);
		else
			fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
		w->now += SECOND / 20;
		if (known)
			message(XID_79);
		else
			driver_79();
		record_of(0, w->now + 45 * SECOND, XID_79);
		record_of(0, w->now + 50 * SECOND, XID_79);
		record_of(0, w->now + 60 * SECOND, XID_79);
		settle(known ? "hook 1, log 2" : "driver 1, log 2");
	}
}

/* Its report comes after the driver is watched. */
TEST(what_was_printed_as_the_driver_began_counts_once)
{
	record(XID_79);
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
	driver_79();
	settle("log 1");
}

/* The driver is loaded, reports, is unloaded, and is loaded again. */
TEST(the_driver_begins_and_ends)
{
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
	record(XID_79); /* printed before its tracepoint was enabled */
	assert_state("log 1");
	record(XID_31);
	driver(31, "0000:c2:00.0");
	assert_state("log 2");
	driver(31, "0000:c2:00.0");
	record(XID_31);
	elapse();
	record(XID_79);
	driver_79();
	assert_state("driver 2, log 2");
	/* It was not reported before the driver was unloaded. */
	record(XID_31);
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, false, w->now - MS);
	pass(100 * MS);
	assert_state("driver 2, log 3");
	record(XID_31);
	assert_state("driver 2, log 4");
	driver(31, "0000:c2:00.0");
	elapse();
	record(XID_79);
	watch_driver();
	record(XID_79);
	driver_79();
	settle("driver 3, log 5");
}

/* Addresses may be hidden while the agent runs. */
TEST(the_hook_ends)
{
	know_callers();
	print(XID_79);
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, false, w->now);
	record(XID_79);
	record(TMPFS(XID_79));
	settle("hook 1, log 1, unverified 1");
	/* The driver takes its place. */
	know_callers();
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, false, w->now);
	elapse();
	record(XID_79);
	driver_79();
	settle("hook 1, driver 1, log 1, unverified 1");
}

/* The kernel gives no stack for a call: its record decides. */
TEST(a_call_of_unknown_origin)
{
	know_callers();
	message_of(PRINTK_ORIGIN_UNKNOWN, XID_79);
	record(XID_79);
	message_of(PRINTK_ORIGIN_UNKNOWN, TMPFS(XID_79));
	record(TMPFS(XID_79));
	settle("log 1, unverified 1");
}

/* ---- gaps and storms ---- */

static uint64_t seed;

static unsigned int chance(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % n;
}

/* A storm of the driver's: of each @texts lines in turn one is alike. The authority loses some reports while its buffer
 * is full, the log loses one record in @lose_record (0: none). Reports and records are read in turn. Returns how many
 * records were read. */
static uint64_t storm(enum fault_authority_kind kind, unsigned int lines, unsigned int texts,
		      unsigned int lose_record)
{
	unsigned int reported = 0, read = 0, full = 0;
	uint64_t records = 0;

	while (read < lines) {
		bool lost = false;

		for (unsigned int ahead = chance(600); ahead && reported < lines;
		     ahead--, reported++) {
			w->now += MS / 10;
			full = full ? full - 1 : !chance(50) ? chance(300) : 0;
			lost |= full;
			if (full)
				continue;
			if (kind == AUTHORITY_HOOK)
				message(formatted("NVRM: Xid (PCI:0000:c1:00): 31, pid=%u, name=a",
						  reported % texts));
			else
				driver(31, "0000:c1:00.0");
		}
		if (lost)
			lose_some(kind);
		for (unsigned int ahead = chance(700); ahead && read < reported; ahead--, read++) {
			if (lose_record && !chance(lose_record)) {
				w->sequence++;
				continue;
			}
			record(formatted("NVRM: Xid (PCI:0000:c1:00): 31, pid=%u, name=a",
					 read % texts));
			records++;
		}
		if (read == reported)
			fault_authority_all_read(&w->authority, w->now);
		fault_authority_expire(&w->authority, w->now);
	}
	elapse();
	return records;
}

TEST(each_line_of_a_storm_counts_once)
{
	static const unsigned int texts[] = { 1, 7, 100000 };

	for (unsigned int i = 0; i < 12; i++) {
		enum fault_authority_kind kind = i % 2 ? AUTHORITY_HOOK : AUTHORITY_DRIVER;
		uint64_t records;

		fresh();
		seed = i;
		if (kind == AUTHORITY_HOOK)
			know_callers();
		else
			watch_driver();
		records = storm(kind, 3000, texts[i % 3], i % 4 < 2 ? 0 : 7);
		if (total() > 3000 || total() < records)
			fail_msg("seed %u: %d counted of 3000, %d records", i, (int)total(),
				 (int)records);
		assert_int_equal(counts->unverified_count, 0);
		if (!w->counted[kind] || w->counted[AUTHORITY_LOG] < 100)
			fail_msg("seed %u: %d and %d", i, (int)w->counted[kind],
				 (int)w->counted[AUTHORITY_LOG]);
	}
}

/* A line every 2 ms. */
static struct {
	uint64_t begin_ns;
	unsigned int lines, reported;
} steady;

static uint64_t steady_time(unsigned int line)
{
	return steady.begin_ns + line * 2 * MS;
}

static void report_steady(void)
{
	for (; steady.reported < steady.lines && steady_time(steady.reported) <= w->now;
	     steady.reported++)
		driver_at(steady_time(steady.reported), 31, "0000:c2:00.0");
}

/* Equal lines from before the driver is watched are read after it is, and so are later ones. Of the former the last may have
 * its report. */
TEST(a_start_within_a_storm)
{
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int before, read = 0;

		fresh();
		seed = i;
		before = 5 + chance(100);
		steady = (typeof(steady)){ w->now, 1000, before - i % 2 };
		w->now = steady_time(before) - MS;
		fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
		w->first_certain = before;
		w->drain = report_steady;
		while (read < steady.lines) {
			w->now += chance(300) * MS;
			if (chance(2))
				report_steady();
			for (unsigned int ahead = chance(300);
			     ahead && read < steady.lines && steady_time(read) <= w->now;
			     ahead--, read++)
				record_of(0, steady_time(read), XID_31);
			if (read == steady.lines || steady_time(read) > w->now)
				fault_authority_all_read(&w->authority, w->now);
			report_steady();
			fault_authority_expire(&w->authority, w->now);
		}
		elapse();
		if (total() != steady.lines || counts->unverified_count)
			fail_msg("seed %u, %u before: %d counted, %d unverified", i, before,
				 (int)total(), (int)counts->unverified_count);
	}
}

/* The text still counts by the log. A slow console delays the report. */
TEST(a_report_behind_a_boundary_is_that_of_the_text_before_it)
{
	for (unsigned int equal = 0; equal < 2; equal++) {
		fresh();
		fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
		w->now += 99 * MS;
		record(XID_79);
		w->now += 2 * MS;
		driver_79();
		if (equal) {
			w->now += MS;
			record(XID_79);
			driver_79();
		}
		settle(equal ? "driver 1, log 1" : "log 1");
	}
}

/* Nothing of it has been read when it is over: the buffer holds a part, the log has all. */
TEST(a_storm_read_at_once)
{
	know_callers();
	repeat(650, message, XID_79);
	w->now += 60 * MS;
	lose_some(AUTHORITY_HOOK);
	repeat(400, message, XID_79);
	repeat(3000, record, XID_79);
	settle("hook 1050, log 1950");
	/* The gap is over. */
	record(XID_79);
	settle("hook 1050, log 1950, unverified 1");
}

/* A gap that is found while an earlier one is still read. */
TEST(gaps_that_follow_each_other)
{
	know_callers();
	lose_some(AUTHORITY_HOOK);
	record(XID_79);
	w->now += 5 * SECOND;
	lose_some(AUTHORITY_HOOK);
	record_of(0, w->now - 5 * SECOND, XID_79);
	record(XID_79);
	settle("log 3");
	/* After it the hook decides, whatever the driver's tracepoint has lost. */
	elapse();
	lose_some(AUTHORITY_DRIVER);
	record(XID_79);
	settle("log 3, unverified 1");
}

static void drain_first_message(void)
{
	w->drain = NULL;
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, w->now - SECOND);
	message(XID_79);
}

/* Until then it is not known whether the kernel shows who prints. */
TEST(the_first_message_makes_the_hook_the_authority)
{
	w->drain = drain_first_message;
	record("something else");
	assert_int_equal(w->authority.in_force, AUTHORITY_LOG);
	record(XID_79);
	settle("hook 1");
}

/* Of a flood of users a part is noted, and counts with who printed it; the rest counts by its records. It is the same again
 * when the log has passed them. */
TEST(a_flood_of_users_counts_by_the_log)
{
	know_callers();
	for (uint64_t flood = 1; flood <= 2; flood++) {
		repeat(1000, other_message, XID_79);
		assert_int_equal(counts->unverified[0].count, flood * 1000 - 936);
		repeat(1000, record, XID_79);
		assert_int_equal(counts->unverified[0].count, flood * 1000);
		repeat(64, other_message, XID_31); /* the log has lost these */
		assert_int_equal(counts->unverified[1].count, flood * 64);
		w->now += 2 * SECOND;
		record("something else");
	}
}

/* Users' messages that the hook drops are no gap: where its buffer overflows no text becomes the driver's. */
TEST(a_flood_of_users_hides_no_fault_and_forges_none)
{
	know_callers();
	message(XID_31);
	repeat(5000, other_message, XID_79);
	message(NO_START);
	record(XID_31);
	repeat(9000, record, XID_79);
	record(NO_START);
	assert_int_equal(total(), 1);
	assert_int_equal(events("rm_init_adapter_failed"), 1);
}

/* The log cannot be read at all. */
TEST(messages_count_without_a_log)
{
	know_callers();
	repeat(1000, message, XID_79);
	assert_false(fault_authority_crowded(&w->authority));
	repeat(9000, message, XID_79);
	assert_true(fault_authority_crowded(&w->authority));
	settle("hook 10000");
	assert_false(fault_authority_crowded(&w->authority));
}

/* The state is saved when the log has been read as far. What others print is not waited for. */
TEST(the_log_is_behind_the_hook)
{
	know_callers();
	assert_true(fault_authority_settled(&w->authority));
	message(XID_79);
	other_message(XID_31);
	w->now += MS;
	message(NO_START);
	assert_false(fault_authority_settled(&w->authority));
	record(XID_79);
	assert_false(fault_authority_settled(&w->authority));
	record(NO_START);
	assert_true(fault_authority_settled(&w->authority));
	record(XID_31);
	/* The log has lost it. */
	message(XID_79);
	elapse();
	assert_true(fault_authority_settled(&w->authority));
	/* The log is ahead. */
	fault_authority_offer(&w->authority, AUTHORITY_HOOK, false, w->now);
	fault_authority_offer(&w->authority, AUTHORITY_DRIVER, true, w->now);
	record(XID_79);
	assert_state("hook 2, log 1, unverified 1, rm_init_adapter_failed 1");
	assert_true(fault_authority_settled(&w->authority));
}

/* ---- records ---- */

TEST(a_record_made_of_several_messages)
{
	know_callers();
	message(XID_79);
	message(XID_31);
	record("unfinished: " XID_79 XID_31);
	repeat(2, message, XID_79);
	message(XID_31);
	record(XID_79 XID_79);
	record(XID_31);
	settle("hook 5");
}

TEST(the_first_moments_of_a_kernel_are_long_ago)
{
	w->authority.log_offset_ns = -(int64_t)(5 * SECOND);
	record_of(0, 2 * SECOND, XID_79);
	assert_true(counts->faults[0].last == 0);
	/* Nor is anything from the future. */
	w->authority.log_offset_ns = (int64_t)(5 * SECOND);
	record(XID_79);
	assert_true(counts->faults[0].last == 1000);
}

/* ---- forged ---- */

TEST(a_process_forges_no_fault)
{
	for (int known = 0; known < 2; known++) {
		fresh();
		if (known)
			know_callers();
		message_of(PRINTK_ORIGIN_PROCESS, XID_79);
		forged_record(XID_79);
		forged_record(XID_31 "\n" XID_31);
		record_of(3, w->now, GPU_LINE);
		forged_record(LOADING);
		forged_record("Out of memory: Killed process 1 (x)");
		settle("forged_xid 3");
	}
}

TEST(drills_count_if_wanted)
{
	for (int known = 0; known < 2; known++) {
		fresh();
		w->authority.accept_user_kmsg = true;
		if (known)
			know_callers();
		message_of(PRINTK_ORIGIN_PROCESS, XID_79);
		forged_record(XID_79);
		forged_record(NO_START);
		settle("log 1, rm_init_adapter_failed 1");
	}
}

TEST(what_others_print_is_no_fault)
{
	static const char *const texts[] = { TMPFS(XID_79), TMPFS("x\n" XID_79), XID_79,
					     "x[7]: segfault at 0 in a\n" XID_79 "[1+2]" };

	know_callers();
	for (size_t i = 0; i < COUNT(texts); i++)
		other_print(texts[i]);
	other_message(XID_79); /* its record was lost */
	settle("unverified 5");
	/* Nor is it evidence, or a failure, or the name of a GPU. */
	print(XID_79);
	elapse();
	other_print(TMPFS("x\n" LOADING));
	other_print(LOADING);
	other_print("NVRM: RmInitAdapter failed!");
	other_print(GPU_LINE);
	other_message("mce: [Hardware Error]: Machine check events logged NVRM");
	message("mce: [Hardware Error]: Machine check events logged NVRM"); /* its record counts */
	record(TMPFS("x\nwatchdog: BUG: soft lockup - CPU#1 stuck for 23s!"));
	assert_state("hook 1, unverified 5");
}

TEST(the_drivers_calls_count_wherever_they_stand)
{
	know_callers();
	message("one\n" XID_79);
	record("usb 1-1: one\n" XID_79);
	message(XID_31);
	record("usb 1-1: " XID_31);
	/* A header is one call's, or nobody's. */
	message("NVRM: Xid (PCI:0000:c1:00");
	settle("hook 2");
}

/* What the driver prints in the context of who wrote an unfinished line goes on in that. */
TEST(a_process_that_leaves_a_line_unfinished_hides_no_fault)
{
	know_callers();
	message(XID_31);
	forged_record("x" XID_31);
	message(NO_START);
	forged_record("x" NO_START);
	settle("hook 1, forged_xid 1, rm_init_adapter_failed 1");
}

/* A user who guesses the driver's text prints it within messages of his own; of those the hook drops some. */
TEST(a_failure_of_the_driver_within_a_text_of_a_user)
{
	know_callers();
	repeat(100, other_message, TMPFS(NO_START));
	message(NO_START);
	repeat(200, record, TMPFS(NO_START));
	record(NO_START);
	settle("rm_init_adapter_failed 1");
	message(XID_31);
	message(NO_START);
	record(TMPFS(XID_31 NO_START));
	record(XID_31);
	record(NO_START);
	assert_int_equal(total(), 1);
	assert_int_equal(events("rm_init_adapter_failed"), 2);
}

/* Without a stack and without the driver's report. */
TEST(text_alone_counts_if_it_looks_right)
{
	struct kmsg_record plain = { .time_us = w->now / 1000, .text_len = strlen(XID_79) };

	record(XID_79);
	record(SXID_20034);
	assert_state("log 2");
	fault_authority_record(&w->authority, &plain, XID_79, RECORD_NEW,
			       w->now); /* no continuation */
	record(TMPFS(XID_79));
	record("NVRM: \n" XID_79);
	record(TMPFS("x\n") " " SXID_20034);
	settle("log 2, unverified 4");
}

/* A record as nv_printf() of the driver's kernel interface prints it, and one of the packet filter with a prefix. */
TEST(a_line_with_a_level_is_the_drivers_but_for_the_packet_filters)
{
	static const char *const texts[] = { LOADING " IN=lo OUT= MAC=", LOADING "\nIN= OUT=lo",
					     LOADING "ARP HTYPE=1", LOADING };
	static const char failed[] = "NVRM: The NVIDIA probe routine failed for 2 device(s).";
	struct kmsg_record plain = { .time_us = w->now / 1000, .text_len = sizeof(failed) - 1 };

	w->events.started_ns = w->now + 1;
	fault_authority_record(&w->authority, &plain, failed, RECORD_BEFORE_START, w->now);
	assert_int_equal(events("probes_failed"), 1);
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(counts->recovery_count, 0);
		plain.text_len = strlen(texts[i]);
		fault_authority_record(&w->authority, &plain, texts[i], RECORD_BEFORE_START,
				       w->now);
	}
	assert_int_equal(counts->recovery_count, 1);
}

/* A prefix of the packet filter begins a record as well. */
TEST(what_reads_like_the_driver_of_a_switch_counts_if_it_printed_it)
{
	static const char failed[] = "nvidia-nvswitch0: Failed to initialize device : -5";

	record(failed); /* of that kernel no more is known */
	assert_state("nvswitch_failed 1");
	know_callers();
	record(failed);
	other_print(failed);
	assert_state("nvswitch_failed 1");
	print(failed);
	assert_state("nvswitch_failed 2");
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
	faults_outlive(&boot, &w->faults, 0);
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
	fault_events_add_recovery(&w->events, "all", "driver_loaded", w->now);
	look_at_bus(gpus, 2);
	assert_int_equal(events("gpu_gone"), 2);
	look_at_bus(moved, 3); /* as many as before, one in another place */
	look_at_bus(gpus, 3);
	look_at_bus(gpus, 3);
	assert_int_equal(events("gpu_gone"), 2);
}

#define XID_154 "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from "

#define MISMATCH(version)                                                            \
	"NVRM: API mismatch: the client 'x' (pid 7)\nNVRM: has the version " version \
	", but this kernel module has\nNVRM: the version 575.57.08.  Please make sure that this"

#define SWITCH_MISMATCH(version) \
	"nvidia-nvswitch: Version mismatch, kernel version 575.57.08 user version " version

/* It prints texts that a process gave it. */
TEST(what_the_driver_quotes_is_no_fault)
{
	know_callers();
	print(MISMATCH("\n" XID_79));
	print(MISMATCH("\nNVRM: RmInitAdapter failed!"));
	print("NVRM: anything " XID_79);
	settle("unverified 2, api_mismatch 2");
	/* Also of switches. */
	print(SWITCH_MISMATCH("\nNVRM: RmInitAdapter failed!"));
	print(SWITCH_MISMATCH("\nnvidia-nvswitch0: Failed to x : -1"));
	print(SWITCH_MISMATCH("\n" SXID_20034));
	settle("unverified 3, api_mismatch 2");
}

/* A text that the driver has not reported decides nothing about what it has. */
TEST(a_text_decides_nothing_about_a_fault_of_the_driver)
{
	watch_driver();
	record(TMPFS(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)"));
	driver(154, "0000:c1:00.0");
	record(TMPFS("NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x1)"));
	driver(149, "0000:c1:00.0");
	settle("driver 2, unverified 2");
	assert_int_equal(counts->faults[1].code, 149);
	assert_string_not_equal(counts->faults[1].severity, "fatal");
}

/* Nor does it take the place of the driver's own, before or after it. */
TEST(a_text_hides_no_severity)
{
	for (int report = 0; report < 3; report++) {
		fresh();
		watch_driver();
		if (report == 0)
			driver(149, "0000:c1:00.0");
		record(TMPFS("NVRM: Xid (PCI:0000:c1:00): 149, x"));
		if (report == 1)
			driver(149, "0000:c1:00.0");
		record("NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x1)");
		if (report == 2)
			driver(149, "0000:c1:00.0");
		settle("driver 1, unverified 1");
		assert_string_equal(counts->faults[0].severity, "fatal");
	}
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
	assert_state("log 1");
	record("mlx5_core 0000:53:00.0 eth0: Link down");
	w->device = "c241:0";
	record("nvme nvme0: I/O 5 QID 7 timeout, reset controller");
	assert_state("log 1, link_down 1, nvme_timeout 1");
	w->device = "+pci:0000:c1:00.0";
	record(probed);
	assert_state("log 1, link_down 1, nvme_timeout 1, recovered 1");
	w->device = "";
	record(LOADING);
	assert_int_equal(counts->recovery_count, 2);
}

/* Where no message shows when a record was printed, the log's clock may be behind by a minute, after a month or two. */
TEST(a_fault_after_a_recovery_stays_open_whatever_the_logs_clock_says)
{
	record(XID_79);
	pass(100 * SECOND);
	fault_events_add_recovery(&w->events, "all", "driver_loaded", w->now - SECOND);
	assert_int_equal(counts->recovery_count, 1);
	assert_true(counts->faults[0].last < counts->recoveries[0].time);
	fault_authority_all_read(&w->authority, w->now);
	w->now += SECOND;
	record_of(0, w->now - 60 * SECOND, XID_79);
	assert_true(counts->faults[0].last > counts->recoveries[0].time);
	assert_true(counts->faults[0].last == 1100);
	/* So does one after the end of another's, if both are read at once. */
	fault_authority_all_read(&w->authority, w->now);
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
}

/* A message has the true time. */
TEST(a_message_has_the_time_of_its_call)
{
	know_callers();
	printk_at(w->now - 10 * SECOND, XID_31);
	record_of(0, w->now - 60 * SECOND, XID_31);
	assert_true(counts->faults[0].last == 1000);
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
#define PART(text) "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, " text
	static const char *const parts[] = {
		PART("Fatal, Link 48 LTSSM Fault Up"),
		PART("Severity 1 Engine instance 48 Sub-engine instance 00"),
		PART("Data {0x00000001, 0x00000002}"),
	};

	for (size_t i = 0; i < 3 * COUNT(parts); i++)
		record(parts[i % COUNT(parts)]);
	assert_state("log 3");
	know_callers();
	for (size_t i = 0; i < 3 * COUNT(parts); i++)
		print(parts[i % COUNT(parts)]);
	settle("hook 3, log 3");
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
	assert_state("log 1, fallen_off_bus 1");
	record("NVRM: GPU 0000:c2:00.0: GPU has fallen off the bus.");
	assert_state("log 1, fallen_off_bus 2");
	/* The Xid is over: it has fallen again. */
	fault_events_add_recovery(&w->events, "all", "driver_loaded", w->now);
	record(line);
	assert_state("log 1, fallen_off_bus 3, recovered 1");
	pass(100 * SECOND);
	record(line);
	assert_state("log 1, fallen_off_bus 4, recovered 1");
}

/* Reads the report line by line, of which "@T4711 " may begin each. Returns "kind device: about" of each event. */
static const char *report_of(const char *text)
{
	struct span rest = span_of(text);
	static char all[1000];
	size_t len = 0;

	fresh();
	while (span_left(rest)) {
		struct span line = span_take_line(&rest), caller = { line.at, line.at };

		if (span_take(&line, "@"))
			caller = span_take_field(&line, " ");
		snprintf(w->caller, sizeof(w->caller), "%.*s", (int)span_left(caller), caller.at);
		record(formatted("%.*s", (int)span_left(line), line.at));
	}
	pass(2 * SECOND);
	*all = 0;
	for (size_t i = 0; i < counts->kernel_event_count; i++) {
		const struct kernel_event *v = &counts->kernel_events[i];

		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s %s: %s", i ? "; " : "",
					v->kind, v->device, v->about);
		assert_int_equal(v->count, 1);
	}
	return all;
}

TEST(a_report_of_many_lines_is_one_event_with_its_module)
{
	assert_golden(TEST_DATA "/kernel_reports.txt", report_of);
}

static void count_event(void *context, const struct event *event)
{
	(void)event;
	++*(int *)context;
}

/* Later looks say who hangs and when. */
TEST(a_task_that_hangs_counts_once)
{
	double first = 0;
	int events = 0;

	w->events.handle = count_event;
	w->events.context = &events;
	for (int i = 0; i < 3; i++) {
		fault_events_add_task(&w->events, "nvidia", getpid(), "f", 0, i);
		first = first ?: counts->kernel_events[0].last;
	}
	assert_int_equal(counts->kernel_events[0].count, 1);
	assert_true(counts->kernel_events[0].last > first);
	assert_int_equal(events, 1);
}

TEST(a_task_that_has_ended_has_the_owner_of_its_last_group)
{
	enum { PID = 99999999 };
	static const struct dead_task dead[DEAD_TASKS] = {
		[PID % DEAD_TASKS] = { PID,
				       { "step_0", "job_71", "slurmstepd.scope", "system.slice" } },
	};
	char owner[64];

	task_owner(owner, sizeof(owner), PID, w->now, dead);
	assert_string_equal(owner, " of job 71");
	/* Another one had the place. */
	task_owner(owner, sizeof(owner), PID + DEAD_TASKS, w->now, dead);
	assert_string_equal(owner, "");
	task_owner(owner, sizeof(owner), PID, w->now, NULL);
	assert_string_equal(owner, "");
}

TEST(a_failed_start_of_two_lines_counts_once)
{
	const char *second =
		"NVRM: GPU 0000:c1:00.0: rm_init_adapter failed, device minor number 0";

	record("NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x25:0x65:1457)");
	record(second);
	assert_state("rm_init_adapter_failed 1");
	pass(100 * SECOND);
	record(second);
	assert_state("rm_init_adapter_failed 2");
}

TEST(a_virtual_function_that_the_driver_ignores_is_no_failure)
{
	for (int i = 0; i < 128; i++) {
		char line[80];

		sprintf(line, "NVRM: Ignoring probe for VF 0000:41:%02x.%d ", i / 8, i % 8);
		record(line);
		sprintf(line, "nvidia: probe of 0000:41:%02x.%d failed with error -1", i / 8,
			i % 8);
		record(line);
	}
	assert_state("");
	record("nvidia: probe of 0000:42:00.0 failed with error -1");
	assert_state("probe_failed 1");
}

/* The GPUs below it may be healthy, and there may be none. */
TEST(a_pcie_error_from_which_no_gpu_recovers_is_the_ports)
{
	for (int gpus = 0; gpus < 2; gpus++) {
		w->device = "+pci:0000:c1:00.0";
		if (gpus)
			record("nvidia 0000:c1:00.0: AER: can't recover (no error_detected callback)");
		/* The reset waits so long for a GPU that does not come back. */
		w->now += 66 * SECOND;
		w->device = "+pci:0000:c0:01.0";
		record("pcieport 0000:c0:01.0: AER: device recovery failed");
		w->device = "";
		assert_state(gpus ? "pcie_unrecovered 1" : "");
	}
	assert_string_equal(counts->kernel_events[0].device, "0000:c0:01.0");
}

/* The status says that the GPU is lost, as the Xid 79 before it did. */
TEST(lost_lines_after_an_xid_79_are_not_counted)
{
	know_callers();
	print(XID_79);
	print("NVRM: rpcSend: rpcSendMessage failed with status 0x0000000f for fn 76!");
	settle("hook 1");
	elapse();
	pass(60 * SECOND);
	print("NVRM: rpcSend: rpcSendMessage failed with status 0x0000000f for fn 76!");
	settle("hook 1, gpu_lost 1");
}

/* Laptops print two every few minutes, and their GPUs work. */
TEST(a_gsp_that_misses_heartbeats_for_minutes_has_stopped)
{
	static const char heartbeat[] = "NVRM: GPU0 _kgspRpcRecvPoll: GSP RM heartbeat timed out";

	for (int i = 0; i < 100; i++) {
		record(heartbeat);
		pass(i % 2 ? 8 * SECOND : 200 * SECOND);
	}
	/* of any GPU; and of release 615, which prints it once until the GPU goes on */
	for (int i = 0; i < 50; i++) {
		record("NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out");
		record("NVRM: GPU1 _kgspIsHeartbeatTimedOut: GSP-RM heartbeat timed out");
		record("NVRM: GPU2 _kgspIsHeartbeatTimedOut: LibOS heartbeat timed out, diff 4");
		pass(7 * SECOND);
	}
	assert_state("gsp_heartbeat_timeout 250");
	for (int i = 0; i < 51; i++) {
		record(heartbeat);
		pass(6 * SECOND);
	}
	assert_state("gsp_heartbeat_timeout 301, gsp_stopped 1");
}

TEST(recovery_to_none_is_evidence)
{
	record(XID_154 "0x0 (None) to 0x1 (GPU Reset Required)");
	assert_state("log 1");
	pass(SECOND);
	record(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_state("log 2, recovered 1");
	assert_printed("0000:c1:00.0 action_none 1001", "%s %s %.9g", counts->recoveries[0].gpu,
		       counts->recoveries[0].evidence, counts->recoveries[0].time);
	/* Forged it is none. */
	pass(SECOND);
	forged_record(XID_154 "0x1 (GPU Reset Required) to 0x0 (None)");
	assert_true(counts->recoveries[0].time == 1001);
}

#define SXID "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "

/* How many faults are open after these lines, so far apart. */
static int open_after(const char *lines, uint64_t apart_ns)
{
	struct span rest = span_of(lines);
	double recovered;
	int open = 0;

	fresh();
	while (span_left(rest)) {
		struct span line = span_take_line(&rest);

		record(formatted("%.*s", (int)span_left(line), line.at));
		pass(apart_ns);
	}
	pass(3 * SECOND);
	assert_int_equal(counts->recovery_count, 1);
	recovered = counts->recoveries[0].time;
	for (size_t n = 0; n < counts->fault_count; n++)
		open += counts->faults[n].last > recovered;
	for (size_t n = 0; n < counts->kernel_event_count; n++)
		open += counts->kernel_events[n].last > recovered;
	return open;
}

static const char *open_faults(const char *lines)
{
	static const uint64_t apart[] = { 4 * SECOND, 7 * SECOND, 25 * SECOND };
	int open = open_after(lines, SECOND / 2);

	ARRAY_EACH(ns, apart, COUNT(apart))
		assert_int_equal(open_after(lines, *ns), open);
	return formatted("%d", open);
}

/* The driver says at the end of its load that it is loaded: what came since the load began is not over, however long ago. */
TEST(a_load_is_evidence_about_what_was_before_it)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "loads of the driver", open_faults);
}

/* The kernel's own word, which comes with the tracepoint. */
TEST(the_kernel_tells_when_a_load_begins)
{
	record(XID_79);
	pass(SECOND);
	w->events.load_begin_ns = 0;
	fault_events_load_begins(&w->events, w->now);
	pass(SECOND);
	record(SXID "20034, Fatal, Link 28");
	pass(20 * SECOND);
	fault_events_loaded(&w->events);
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
		int event;
	} cases[] = {
		{ "pcie_aer", "nvidia 0000:c1:00.0: PCIe Bus Error: severity=Corrected, x",
		  EVENT_AER },
		{ "pcie_aer", "nvidia 0000:c1:00.0: AER: aer_status: 0x1, aer_mask: 0x0",
		  EVENT_AER },
		{ "mce", "mce: [Hardware Error]: Machine check events logged", EVENT_MCE },
		{ "hung_task", "INFO: task a:1 blocked for more than 120 seconds.", EVENT_HANG },
		{ "oom_kill", "Out of memory: Killed process 1 (a)", EVENT_OOM },
		{ "oom_kill", "Memory cgroup out of memory: Killed process 1 (a)", EVENT_OOM },
		/* These have no tracepoint. */
		{ "nfs_not_responding", "nfs: server a not responding, still trying",
		  KERNEL_EVENTS },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct fault_signal_report report = { .kind = cases[i].kind,
							    .device = "",
							    .pid = -1 };
		uint64_t before = events(cases[i].kind), enabled = w->now - SECOND;
		bool traced = cases[i].event != KERNEL_EVENTS;

		w->device = "+pci:0000:c1:00.0";
		record(cases[i].text);
		kernel_report_end(&w->events);
		assert_int_equal(events(cases[i].kind), before + 1);
		if (traced)
			w->events.enabled_ns[cases[i].event] = enabled;
		record_of(0, enabled - SECOND, cases[i].text);
		kernel_report_end(&w->events);
		assert_int_equal(events(cases[i].kind), before + 2);
		record(cases[i].text);
		kernel_report_end(&w->events);
		assert_int_equal(events(cases[i].kind), before + 2 + !traced);
		fault_events_add_signal(&w->events, &report);
		assert_int_equal(events(cases[i].kind), before + 3 + !traced);
		if (traced)
			w->events.enabled_ns[cases[i].event] = 0;
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

/* The driver's report has no process, but its text has. A text that may be anybody's adds nothing. */
TEST(the_drivers_report_takes_the_process_from_its_text)
{
	const char *line;

	keep_lines();
	watch_driver();
	for (int i = 0; i < 2; i++) {
		record(XID_31);
		record(XID_79);
	}
	for (int i = 0; i < 2; i++) {
		driver(31, "0000:c2:00.0");
		driver_79();
	}
	assert_state("driver 4");
	line = next_line();
	assert_has_all(line, "\"pid\":8,\"comm\":\"a b\"", "\"seen_by\":\"driver\"");
	line = next_line();
	assert_has_all(line, "\"pid\":7,\"comm\":\"py\"", "\"seen_by\":\"driver\"");
	w->now += 10 * SECOND;
	record(TMPFS(XID_79));
	driver_79();
	settle("driver 5, unverified 1");
	do
		line = next_line();
	while (!strstr(line, "\"seen_by\":\"driver\""));
	assert_lacks(line, "\"pid\"");
}

TEST(an_event_has_how_it_was_reported)
{
	const char *line;

	keep_lines();
	know_callers();
	w->events.started_ns = w->now;
	print(GPU_LINE);
	w->now += SECOND;
	print(XID_79);
	w->first_record = w->sequence + 1;
	record_of(0, w->now - 100 * SECOND, XID_31);
	line = next_line();
	assert_has_all(
		line,
		"\"gpu\":\"0000:c1:00.0\",\"uuid\":\"GPU-11111111-2222-3333-4444-555555555555\"",
		"\"pid\":7,\"comm\":\"py\"", "\"printed_by\":\"writer\",\"seen_by\":\"hook\"");
	assert_lacks(line, "replayed");
	assert_has(next_line(), "\"replayed\":true");
}

static const char *details_of(const char *text)
{
	char *members;

	w->now += SECOND;
	record(text);
	members = not_null(strstr(next_line(), "\"seen_by\":\"log\""));
	members += strlen("\"seen_by\":\"log\"");
	*strstr(members, ",\"incident\"") = 0;
	return members;
}

/* Each member that a text adds. */
TEST(details_follow_in_order)
{
	keep_lines();
	assert_golden_in(TEST_DATA "/texts.tsv", "details of faults", details_of);
}
