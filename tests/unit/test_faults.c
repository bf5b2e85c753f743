// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the counts of faults neither grow without bound nor lose a count, and that bursts, recoveries and a
 * clock that is set come out right. */
#include <math.h>

#include "unit.h"
#include "faults/faults.h"

static struct faults f; /* of the test that runs */

AFTER_EACH()
{
	faults_free(&f);
}

static void report(const struct fault *like, double time)
{
	faults_add(&f, like, time);
}

static void add(unsigned int code, const char *device, double time)
{
	struct fault like = { .code = code, .severity = "fatal", .action = "RESET_GPU" };

	snprintf(like.device, sizeof(like.device), "%s", device);
	report(&like, time);
}

/* "count incidents first last" of a fault. */
static void assert_fault(size_t n, const char *expected)
{
	const struct fault *fault = &f.counts.faults[n];

	assert_printed(expected, "%lu %lu %g %g", fault->count, fault->incidents, fault->first,
		       fault->last);
}

TEST(repeats_within_five_seconds_are_one_incident)
{
	for (int i = 0; i < 16; i++)
		add(13, "a", 100 + i * 4.5);
	assert_fault(0, "16 1 100 167.5");
	add(13, "a", 100 + 15 * 4.5 + 5);
	assert_fault(0, "17 2 100 172.5");
	/* What comes late is of a burst before. */
	add(13, "a", 150);
	assert_fault(0, "18 2 100 172.5");
}

TEST(one_cause_has_one_incident)
{
	struct fault like = { .code = 13, .device = "a", .causes = { 7 } };

	for (int i = 0; i < 10; i++)
		report(&like, 100 + 10 * i);
	assert_fault(0, "10 1 100 190");
	like.causes[0] = 8;
	report(&like, 300);
	assert_fault(0, "11 2 100 300");
	like.causes[0] = 7;
	report(&like, 400);
	assert_fault(0, "12 2 100 400");
	/* An unknown one may be another each time. */
	like.causes[0] = 0;
	for (int i = 0; i < 3; i++)
		report(&like, 500 + 10 * i);
	assert_fault(0, "15 5 100 520");
}

/* The same whatever the clock is set to. */
static uint64_t recent(double now)
{
	static const double clocks[] = { 1700000000, 1700000500, -250 };
	uint64_t counts[COUNT(clocks)];

	for (size_t i = 0; i < COUNT(clocks); i++) {
		struct fault_counts s = {};

		faults_snapshot(&f, &(struct fault_clock){ clocks[i], now }, &s);
		counts[i] = s.faults[0].recent;
		assert_int_equal(counts[i], counts[0]);
		fault_counts_free(&s);
	}
	return counts[0];
}

TEST(a_loop_of_failures_repeats_once_and_a_day_later_it_is_forgotten)
{
	struct fault like = { .device = "a", .code = 94, .severity = "warning" };

	/* a job that fails each minute */
	for (int i = 0; i < 60; i++)
		report(&like, 1000 + 60 * i);
	assert_int_equal(f.counts.faults[0].incidents, 60);
	assert_int_equal(recent(5000), 1);
	/* the last was at 4540 */
	report(&like, 4540 + 179.9);
	assert_int_equal(recent(5000), 1);
	report(&like, 4719.9 + 180);
	assert_int_equal(recent(5000), 2);
	assert_int_equal(recent(1000 + 86399), 2);
	assert_int_equal(recent(1000 + 86400), 1);
	assert_int_equal(recent(4900 + 86400), 0);
	for (int i = 0; i < 20; i++)
		report(&like, 10000 + 200 * i);
	assert_int_equal(recent(20000), FAULT_REPEATS);
	/* one job that goes on and on is one */
	like.code = 31;
	like.causes[0] = 7;
	for (int i = 0; i < 20; i++)
		report(&like, 10000 + 200 * i);
	assert_int_equal(f.counts.faults[1].repeats.count, 1);
}

TEST(an_exception_repeats_at_its_place_only)
{
	struct fault like = { .device = "a", .code = 13, .severity = "warning" };

	/* each time at other places, and lines without one */
	for (unsigned int i = 0; i < 5; i++) {
		like.place = 100 + i;
		like.causes[0] = i + 1;
		report(&like, 1000 + 200 * i);
		like.place = 0;
		report(&like, 1000 + 200 * i);
	}
	assert_int_equal(f.counts.faults[0].incidents, 5);
	assert_int_equal(recent(3000), 1);
	/* the same place: of the same job it is one */
	like.place = 102;
	like.causes[0] = 3;
	report(&like, 1600);
	assert_int_equal(recent(3000), 1);
	like.causes[0] = 9;
	report(&like, 1800);
	report(&like, 1801);
	assert_int_equal(recent(3000), 2);
	/* on another GPU it is another place */
	strcpy(like.device, "b");
	like.causes[0] = 10;
	report(&like, 2100);
	assert_int_equal(recent(3000), 2);
	assert_int_equal(recent(1800 + 86399), 1);
	assert_int_equal(recent(1800 + 86400), 0);
	/* bounded: the oldest goes first */
	for (unsigned int i = 0; i < 2 * MAX_PLACES; i++) {
		like.place = 1000 + i;
		report(&like, 10000 + i);
	}
	assert_int_equal(f.place_count, MAX_PLACES);
}

TEST(labels_that_differ_are_counted_apart)
{
	static const struct fault faults[] = {
		{ .device = "a", .code = 13, .severity = "fatal" },
		{ .device = "a", .code = 13, .severity = "fatal", .nvswitch = true },
		{ .device = "a", .code = 14, .severity = "fatal", .nvswitch = true },
		{ .device = "a", .code = 14, .severity = "warning", .nvswitch = true },
		{ "a", .code = 14, .severity = "warning", .action = "X", .nvswitch = true },
		{ "b", .code = 14, .severity = "warning", .action = "X", .nvswitch = true },
		{ "b", .code = 14, .severity = "warning", .action = "X", .nvswitch = true },
	};

	for (size_t i = 0; i < COUNT(faults); i++)
		report(&faults[i], 1);
	assert_int_equal(f.counts.fault_count, 6);
	assert_int_equal(f.counts.faults[5].count, 2);
}

/* Faults of as many devices, or of as many codes, as one cares to make. */
static void flood(bool nvswitch, unsigned int count)
{
	struct fault like = { .nvswitch = nvswitch, .severity = "unknown" };

	strcpy(like.action, nvswitch ? "" : "none_given");
	for (unsigned int i = 0; i < count; i++) {
		snprintf(like.device, sizeof(like.device), "flood %u", i);
		like.code = 10000 + i;
		report(&like, i);
	}
}

/* The entry with that device and code; NULL: none. */
static const struct fault *find(const char *device, unsigned int code, const char *severity)
{
	for (size_t i = 0; i < f.counts.fault_count; i++) {
		const struct fault *fault = &f.counts.faults[i];

		if (fault->code == code && !strcmp(fault->device, device) &&
		    !strcmp(fault->severity, severity))
			return fault;
	}
	return NULL;
}

static uint64_t count_all(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < f.counts.fault_count; i++)
		count += f.counts.faults[i].count;
	return count;
}

TEST(too_many_faults_are_of_another_device)
{
	const struct fault *other;

	for (unsigned int i = 0; i < MAX_FAULTS + 3000; i++)
		add(i % 4, formatted("%u", i), i);
	/* Those that are known count on. */
	add(1, "5", 9000);
	assert_int_equal(f.counts.fault_count, MAX_FAULTS + 4);
	assert_int_equal(f.counts.faults[5].count, 2);
	other = not_null(find("other", 2, "fatal"));
	assert_string_equal(other->action, "RESET_GPU");
	assert_int_equal(other->count, 750);
	/* Which of them are a burst of one device is not known. */
	assert_int_equal(other->incidents, 750);
	assert_true(other->first == MAX_FAULTS + 2 && other->last == MAX_FAULTS + 2998);
}

TEST(no_flood_of_codes_crowds_out_a_fault)
{
	struct fault sxid = { .code = 20034, .nvswitch = true, .severity = "fatal" };

	flood(false, 5000);
	flood(true, 5000);
	assert_int_equal(f.counts.fault_count, MAX_MADE_UP + 2);
	/* A code of the catalog, one that is not in it yet, one that the policy knows. */
	add(79, "new", 9000);
	assert_string_equal(find("other", 79, "fatal")->action, "RESET_GPU");
	add(HIGH_XID - 1, "new", 9000);
	assert_non_null(find("other", HIGH_XID - 1, "fatal"));
	add(70000, "new", 9000);
	assert_non_null(find("other", 70000, "fatal"));
	/* Of SXids at least the severity. */
	strcpy(sxid.device, "new");
	faults_add(&f, &sxid, 9000);
	assert_int_equal(find("other", 0, "fatal")->count, 1);
	assert_true(find("other", 0, "fatal")->nvswitch);
	assert_int_equal(find("other", 0, "unknown")->count, 5000 - MAX_MADE_UP);
	assert_int_equal(count_all(), 10004);
}

TEST(severities_stay_whatever_the_policies_were)
{
	for (unsigned int i = 0; i < MAX_FAULTS_IN_ALL + 100; i++)
		add(i, "a", i);
	assert_int_equal(f.counts.fault_count, MAX_FAULTS_IN_ALL + 1);
	assert_int_equal(find("other", 0, "fatal")->count, 100);
}

TEST(the_recovery_of_one_device_is_none_of_those_that_folded)
{
	flood(false, MAX_FAULTS);
	add(79, "new", 9000);
	/* Not even of the one that failed: others may have folded into the same. */
	faults_recovered(&f, "new", "device_probed", 9001);
	assert_int_equal(f.counts.recovery_count, 0);
	faults_recovered(&f, "all", "driver_loaded", 9002);
	assert_int_equal(f.counts.recovery_count, 1);
}

TEST(too_many_events_are_of_another_device)
{
	uint64_t others = 0, sum = 0;

	for (int i = 0; i < 3 * MAX_KERNEL_EVENTS; i++) {
		faults_add_kernel_event(&f, false, formatted("%d", i % 12), formatted("%d", i),
					NULL, i);
		faults_add_kernel_event(&f, true, "x", "same", NULL, i);
	}
	for (size_t i = 0; i < f.counts.kernel_event_count; i++) {
		sum += f.counts.kernel_events[i].count;
		if (!strcmp(f.counts.kernel_events[i].device, "other"))
			others++;
	}
	assert_int_equal(sum, 6 * MAX_KERNEL_EVENTS);
	assert_int_equal(others, 12);
	assert_int_equal(f.counts.kernel_event_count, MAX_KERNEL_EVENTS + 12);
}

TEST(one_kind_of_event_leaves_room_for_others)
{
	for (int i = 0; i < MAX_KERNEL_EVENTS; i++)
		faults_add_kernel_event(&f, false, "x", formatted("%d", i), NULL, i);
	faults_add_kernel_event(&f, false, "kernel_oops", "nvidia", NULL, 1);
	assert_int_equal(f.counts.kernel_event_count, MAX_EVENTS_OF_KIND + 2);
	assert_string_equal(f.counts.kernel_events[MAX_EVENTS_OF_KIND + 1].device, "nvidia");
}

/* Of a week of jobs, each with servers of its own. What was damaged stays. */
TEST(a_server_that_has_long_been_quiet_leaves_room)
{
	for (int i = 0; i < 1000; i++) {
		faults_add_kernel_event(&f, false, "nfs_ok", formatted("nas-%d", i), NULL, i * 600);
		faults_add_kernel_event(&f, false, "kernel_oops", formatted("m%d", i), NULL,
					i * 600);
	}
	assert_int_equal(f.counts.kernel_event_count, 2 * MAX_EVENTS_OF_KIND + 1);
	for (size_t i = 0; i < f.counts.kernel_event_count; i++)
		if (!strcmp(f.counts.kernel_events[i].kind, "nfs_ok"))
			assert_true(f.counts.kernel_events[i].last >=
				    600 * (1000 - MAX_EVENTS_OF_KIND));
		else
			assert_true(strcmp(f.counts.kernel_events[i].device, "other") == 0 ||
				    f.counts.kernel_events[i].last < 600 * MAX_EVENTS_OF_KIND);
}

TEST(a_cpu_that_has_long_gone_on_leaves_room)
{
	for (int i = 0; i <= MAX_EVENTS_OF_KIND; i++)
		faults_add_kernel_event(&f, false, "soft_lockup", formatted("cpu%d", i), NULL, i);
	/* That was at once: the last has merged. */
	assert_int_equal(f.counts.kernel_event_count, MAX_EVENTS_OF_KIND + 1);
	assert_string_equal(f.counts.kernel_events[MAX_EVENTS_OF_KIND].device, "other");
	/* The oldest has long gone on. It is not the one that is reported again. */
	faults_add_kernel_event(&f, false, "soft_lockup", "cpu0", NULL, 1000);
	faults_add_kernel_event(&f, false, "soft_lockup", "cpu100", NULL, 1000);
	assert_int_equal(f.counts.kernel_event_count, MAX_EVENTS_OF_KIND + 1);
	assert_printed("cpu0 2, other 1, cpu100 1", "%s %lu, %s %lu, %s %lu",
		       f.counts.kernel_events[0].device, f.counts.kernel_events[0].count,
		       f.counts.kernel_events[1].device, f.counts.kernel_events[1].count,
		       f.counts.kernel_events[MAX_EVENTS_OF_KIND].device,
		       f.counts.kernel_events[MAX_EVENTS_OF_KIND].count);
}

TEST(gpus_and_recoveries_are_bounded)
{
	for (int i = 0; i < MAX_GPUS + 10; i++)
		assert_true(!faults_gpu(&f, formatted("%d", i)) == (i >= MAX_GPUS));
	assert_non_null(faults_gpu(&f, "3"));
	assert_int_equal(f.counts.gpu_count, MAX_GPUS);
	for (unsigned int i = 0; i < MAX_RECOVERIES + 10; i++) {
		const char *device = formatted("%u", i);

		add(1, device, 1);
		faults_recovered(&f, device, "device_probed", 2);
	}
	assert_int_equal(f.counts.recovery_count, MAX_RECOVERIES);
	/* Those that are known go on. */
	faults_recovered(&f, "7", "device_probed", 3);
	assert_true(f.counts.recoveries[7].time == 3);
	assert_int_equal(f.counts.recovery_count, MAX_RECOVERIES);
	/* There is room for a recovery of all, and for a GPU's limited reports. */
	faults_recovered(&f, "all", "driver_loaded", 4);
	assert_true(f.counts.recoveries[MAX_RECOVERIES].time == 4);
	faults_rate_limited(&f, "new");
	assert_string_equal(f.counts.gpus[MAX_GPUS].gpu, "other");
	faults_recovered(&f, "new", "device_probed", 5);
	assert_true(f.counts.gpus[MAX_GPUS].rate_limited);
	faults_recovered(&f, "all", "driver_loaded", 6);
	assert_false(f.counts.gpus[MAX_GPUS].rate_limited);
	assert_null(faults_gpu(&f, "newer"));
}

TEST(only_what_failed_recovers)
{
	faults_recovered(&f, "a", "device_probed", 5);
	assert_int_equal(f.counts.recovery_count, 0);
	faults_add_kernel_event(&f, true, "fallen_off_bus", "a", NULL, 4);
	faults_gpu(&f, "a")->rate_limited = true;
	faults_gpu(&f, "b")->rate_limited = true;
	faults_recovered(&f, "a", "device_probed", 5);
	assert_int_equal(f.counts.recovery_count, 1);
	assert_false(faults_gpu(&f, "a")->rate_limited);
	assert_true(faults_gpu(&f, "b")->rate_limited);
	faults_recovered(&f, "a", "device_probed", 3);
	assert_true(f.counts.recoveries[0].time == 5);
	faults_recovered(&f, "all", "driver_loaded", 6);
	assert_int_equal(f.counts.recovery_count, 2);
	assert_false(faults_gpu(&f, "b")->rate_limited);
}

TEST(the_last_is_found_unless_it_is_over)
{
	assert_false(faults_open_since(&f, "a", 79, -1));
	add(79, "a", 10);
	add(79, "b", 30);
	add(31, "a", 20);
	assert_true(faults_open_since(&f, "a", 79, 9) && !faults_open_since(&f, "a", 79, 10));
	assert_true(faults_open_since(&f, "", 79, 29));
	faults_recovered(&f, "b", "action_none", 31);
	assert_true(!faults_open_since(&f, "", 79, 10) && faults_open_since(&f, "", 79, 9));
}

/* The clock stood at 1970, then is set: the order of things stays. */
TEST(a_clock_that_is_set_moves_all_times)
{
	struct fault_counts s = {};

	add(79, "a", 100);
	faults_add_kernel_event(&f, false, "oom_kill", "", NULL, 200);
	faults_recovered(&f, "all", "driver_loaded", 300);
	f.counts.authority = AUTHORITY_HOOK;
	f.counts.log_lost = 9;
	f.counts.gpu_watched = true;
	faults_snapshot(&f, &(struct fault_clock){ 1700000000, 1000 }, &s);
	assert_printed("1700000100 1700000100 1700000200 1700000300", "%.10g %.10g %.10g %.10g",
		       s.faults[0].first, s.faults[0].last, s.kernel_events[0].last,
		       s.recoveries[0].time);
	assert_printed("2 9 1", "%d %lu %d", s.authority, s.log_lost, s.gpu_watched);
	fault_counts_free(&s);
	/* Before the epoch it is not known. */
	faults_snapshot(&f, &(struct fault_clock){ -250, 1000 }, &s);
	assert_true(s.faults[0].first == 0 && s.recoveries[0].time == 50);
	fault_counts_free(&s);
	/* What is kept is the time since the boot. */
	assert_true(f.counts.faults[0].last == 100);
}

/* ---- what outlives a boot ---- */

#define UUID "GPU-11111111-2222-3333-4444-555555555555"

/* One boot after another, with an Xid 79 each on the same address. */
static void boot_again(const char *uuid, double boot_to_wall)
{
	struct fault like = { .device = "0000:c1:00.0", .code = 79, .severity = "fatal" };
	struct faults next = {};

	report(&like, 100);
	strcpy(like.action, "x");
	report(&like, 100);
	strcpy(faults_gpu(&f, like.device)->uuid, uuid);
	faults_outlive(&next, &f, boot_to_wall);
	faults_free(&f);
	f = next;
}

/* The boots and the failures that a fault at @wall shows, with this UUID. */
static void assert_past(const char *uuid, double wall, unsigned int boots, uint64_t failures)
{
	struct fault like = { .device = "0000:c1:00.0", .code = 79, .severity = "fatal" };
	const struct fault_clock clock = { wall - 5, 5 };
	struct fault_counts s = {};
	struct faults now = {};
	uint64_t found = 0;

	faults_outlive(&now, &f, 0);
	faults_add(&now, &like, 5);
	strcpy(faults_gpu(&now, like.device)->uuid, uuid);
	faults_snapshot(&now, &clock, &s);
	assert_int_equal(s.faults[0].boots, boots);
	for (size_t i = 0; i < s.gpu_count; i++)
		found += s.gpus[i].past_failures;
	assert_int_equal(found, failures);
	fault_counts_free(&s);
	faults_free(&now);
}

TEST(fatal_faults_outlive_a_boot_with_their_gpu)
{
	boot_again(UUID, 1700000000);
	assert_past(UUID, 1700000200, 2, 2);
	boot_again(UUID, 1700001000);
	assert_past(UUID, 1700001200, 3, 4);
	/* failures count for a day, boots for three */
	assert_past(UUID, 1700000100 + 86401, 3, 2);
	assert_past(UUID, 1700001100 + 3 * 86400 - 1, 2, 0);
	assert_past(UUID, 1700001100 + 3 * 86400 + 1, 1, 0);
	/* another GPU in the same slot is clean, and so is one whose name is not known */
	assert_past("GPU-22222222-2222-3333-4444-555555555555", 1700001200, 1, 0);
	assert_past("", 1700001200, 1, 0);
	faults_free(&f);
	boot_again("", 1700000000);
	assert_past("", 1700000200, 2, 2);
	assert_past(UUID, 1700000200, 1, 0);
}

TEST(nothing_else_outlives_a_boot_and_its_room_is_limited)
{
	static const struct fault others[] = {
		{ .device = "a", .code = 31, .severity = "warning" },
		{ .device = "a", .code = 154, .severity = "fatal" },
		{ .device = "other", .code = 79, .severity = "fatal" },
		{ .device = "a", .code = 20034, .severity = "fatal", .nvswitch = true },
	};
	struct fault like = { .device = "a", .severity = "fatal" };
	struct faults next = {};

	for (size_t i = 0; i < COUNT(others); i++)
		faults_add(&f, &others[i], 100);
	faults_outlive(&next, &f, 0);
	assert_int_equal(next.past_count, 0);
	for (like.code = 200; like.code < 200 + MAX_PAST + 10; like.code++)
		report(&like, like.code);
	faults_outlive(&next, &f, 0);
	assert_int_equal(next.past_count, MAX_PAST);
	for (size_t i = 0; i < next.past_count; i++)
		assert_true(next.past[i].code >= 210); /* the oldest have gone */
	faults_free(&f);
	faults_free(&next);
}
