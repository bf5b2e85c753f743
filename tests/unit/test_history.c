// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves, on event logs as text, what happened, when nothing was watching, and which event may have ended a job:
 * across boots, changes of the clock, torn lines and decoys. */
#include <math.h>

#include "unit.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "past/history.h"

static struct history h;

BEFORE_EACH()
{
	h = (struct history){};
}

AFTER_EACH()
{
	history_free(&h);
}

/* The tests' day; its logs have the time of day only. */
#define DAY "2026-11-22T"

static double at(const char *time)
{
	double seconds;

	assert_true(time_from_text(formatted(DAY "%sZ", time), &seconds));
	return seconds;
}

/* A line at @time of day, @monotonic seconds after the boot. */
#define LINE(time, monotonic, rest) \
	"{\"time\":\"" DAY time "Z\",\"monotonic_seconds\":" #monotonic "," rest "}\n"
#define START(boot) "\"kind\":\"agent\",\"name\":\"start\",\"boot\":\"" boot "\""
#define ALIVE "\"kind\":\"agent\",\"name\":\"alive\""
#define STOP "\"kind\":\"agent\",\"name\":\"stop\""
#define XID(code, severity) \
	"\"kind\":\"xid\",\"gpu\":\"0000:c1:00.0\",\"xid\":" #code ",\"severity\":\"" severity "\""
#define KERNEL(name) "\"kind\":\"kernel_event\",\"name\":\"" name "\""
#define SPAN(kind, state, start, seconds)                                                   \
	"\"kind\":\"" kind "\",\"name\":\"pending\",\"device\":\"nfs1\",\"state\":\"" state \
	"\",\"start_monotonic_seconds\":" #start ",\"seconds\":" #seconds

/* Reads the log; the present is @now of day, in another boot. */
static void read_log(const char *log, const char *now)
{
	const struct history_now present = { at(now), 7, "the running boot" };

	event_reader_add(&h, log, strlen(log));
	history_digest(&h, &present);
}

static void read_lines(const char *const *lines, const char *now)
{
	char log[8192] = "";

	for (; *lines; lines++)
		strncat(log, *lines, sizeof(log) - strlen(log) - 1);
	assert_true(strlen(log) < sizeof(log) - 1);
	read_log(log, now);
}

#define READ_LOG(now, ...) read_lines((const char *const[]){ __VA_ARGS__, NULL }, now)

/* The n-th event that is shown and not an agent's; NULL: there are fewer. */
static const struct past_event *event(size_t n)
{
	for (const struct past_event *e = h.events; e < h.events + h.count; e++)
		if (!e->hidden && e->kind != EVENT_KIND_AGENT && !n--)
			return e;
	return NULL;
}

static void assert_gap(size_t n, double from, double to, const char *word)
{
	assert_true(n < h.gap_count);
	assert_true(h.gaps[n].from == from || fabs(h.gaps[n].from - from) < 0.01);
	assert_true(h.gaps[n].to == to || fabs(h.gaps[n].to - to) < 0.01);
	assert_has(h.gaps[n].reason, word);
}

TEST(a_log_without_gaps_has_none)
{
	READ_LOG("03:12:00", LINE("03:00:00", 10, START("a")), LINE("03:05:00", 310, ALIVE),
		 LINE("03:10:00", 610, ALIVE));
	assert_int_equal(h.gap_count, 1);
	assert_gap(0, -INFINITY, at("03:00:00"), "begins with this start");
	assert_null(event(0));
}

TEST(a_stop_and_a_kill_are_told_apart)
{
	READ_LOG("03:09:30", LINE("03:00:00", 10, START("a")), LINE("03:01:00", 70, STOP),
		 LINE("03:02:00", 130, START("a")), LINE("03:03:00", 190, XID(31, "warning")),
		 LINE("03:09:00", 550, START("a")));
	assert_int_equal(h.gap_count, 3);
	assert_gap(1, at("03:01:00"), at("03:02:00"), "the agent was stopped");
	assert_gap(2, at("03:03:00"), at("03:09:00"), "killed");
}

TEST(an_agent_that_is_silent_at_the_end_does_not_watch)
{
	READ_LOG("04:00:00", LINE("03:00:00", 10, START("a")), LINE("03:05:00", 310, ALIVE));
	assert_int_equal(h.gap_count, 2);
	assert_gap(1, at("03:05:00"), INFINITY, "ended without stopping");
}

TEST(an_agent_that_stood_still_is_told)
{
	READ_LOG("03:31:00", LINE("03:00:00", 10, START("a")), LINE("03:30:00", 1810, ALIVE));
	assert_int_equal(h.gap_count, 2);
	assert_gap(1, at("03:00:00"), at("03:30:00"), "it hung");
}

TEST(a_boot_is_told_and_parts_bursts)
{
	READ_LOG("03:12:00", LINE("03:00:00", 5000, START("a")),
		 LINE("03:01:00", 5060, XID(79, "fatal") ",\"incident\":1,\"repeats\":0"),
		 LINE("03:10:00", 20, START("b")),
		 LINE("03:11:00", 80, XID(79, "fatal") ",\"incident\":1,\"repeats\":0"));
	assert_gap(1, at("03:01:00"), at("03:10:00"), "booted");
	assert_int_equal(event(0)->count, 1);
	assert_true(event(1)->time == at("03:11:00"));
}

TEST(a_log_without_lines_of_the_agent_does_not_say_when_it_watched)
{
	READ_LOG("03:12:00", LINE("03:00:00", 20, XID(79, "fatal")),
		 LINE("03:10:00", 620, XID(31, "warning")));
	assert_int_equal(h.gap_count, 1);
	assert_gap(0, -INFINITY, INFINITY, "does not show");
	assert_int_equal(event(0)->code, 79);
}

TEST(times_before_a_setting_of_the_clock_move_with_it)
{
	/* The node boots with a clock that is an hour late. */
	READ_LOG("03:02:00", LINE("02:00:10", 10, START("a")),
		 LINE("02:00:20", 20, XID(79, "fatal")), LINE("03:01:00", 60, ALIVE));
	assert_int_equal(event(0)->code, 79);
	assert_true(fabs(event(0)->time - at("03:00:20")) < 0.01);
	assert_true(event(1)->kind == EVENT_KIND_CLOCK);
	assert_true(fabs(event(1)->seconds - 3600) < 0.01);
	assert_gap(0, -INFINITY, at("03:00:10"), "begins");
	assert_int_equal(h.gap_count, 1);
}

TEST(the_clock_of_the_running_boot_is_the_present_one)
{
	const struct history_now now = { at("03:00:40"), 40, "a" };
	const char *log = LINE("02:00:10", 10, START("a")) LINE("02:00:20", 20, XID(79, "fatal"));

	event_reader_add(&h, log, strlen(log));
	history_digest(&h, &now);
	assert_true(fabs(event(0)->time - at("03:00:20")) < 0.01);
}

TEST(bursts_become_one_event)
{
	READ_LOG("03:01:00", LINE("03:00:00", 10, START("a")),
		 LINE("03:00:10", 20, XID(63, "info") ",\"incident\":4,\"repeats\":0"),
		 LINE("03:00:12", 22, XID(48, "fatal") ",\"incident\":5,\"repeats\":0"),
		 LINE("03:00:40", 50, XID(63, "info") ",\"incident\":4,\"repeats\":98"));
	assert_int_equal(event(0)->count, 100);
	assert_true(event(0)->end == at("03:00:40"));
	assert_int_equal(event(1)->code, 48);
	assert_null(event(2));
}

#define LINK_XID(code, gpu, severity) \
	"\"kind\":\"xid\",\"gpu\":\"" gpu "\",\"xid\":" #code ",\"severity\":\"" severity "\""

TEST(a_link_that_fails_is_one_event_with_its_root)
{
	READ_LOG("03:03:00", LINE("03:00:00", 10, START("a")),
		 LINE("03:00:59.900", 69, LINK_XID(145, "0019:01:00.0", "warning")),
		 LINE("03:01:00", 70, LINK_XID(149, "0008:01:00.0", "fatal")),
		 LINE("03:01:00.020", 70, LINK_XID(45, "0009:01:00.0", "info")),
		 LINE("03:01:00.900", 70, LINK_XID(149, "0018:01:00.0", "fatal")),
		 LINE("03:01:00.950", 70, LINK_XID(79, "0018:01:00.0", "fatal")),
		 LINE("03:01:00.970", 70, LINK_XID(154, "0009:01:00.0", "warning")),
		 LINE("03:01:01.500", 71, LINK_XID(145, "0019:01:00.0", "warning")),
		 LINE("03:02:00", 130, LINK_XID(74, "0000:3b:00.0", "warning")),
		 LINE("03:02:00.400", 130, LINK_XID(74, "0000:5d:00.0", "fatal")));
	assert_int_equal(event(0)->code, 149);
	assert_true(span_is(event(0)->device, "0008:01:00.0"));
	assert_int_equal(event(0)->followers, 3);
	assert_int_equal(event(1)->code, 79);
	assert_int_equal(event(2)->code, 154);
	assert_int_equal(event(3)->code, 145); /* later than a second */
	assert_int_equal(event(3)->followers, 0);
	/* The graver end is the root. */
	assert_true(span_is(event(4)->device, "0000:5d:00.0"));
	assert_int_equal(event(4)->followers, 1);
	assert_null(event(5));
}

TEST(what_an_agent_reports_again_after_a_restart_counts_once)
{
	READ_LOG("03:02:00", LINE("03:00:00", 10, START("a")),
		 LINE("03:00:10", 20, XID(79, "fatal") ",\"text\":\"x\""),
		 LINE("03:01:00", 70, START("a")),
		 LINE("03:00:10", 20.0001, XID(79, "fatal") ",\"replayed\":true,\"text\":\"x\""),
		 LINE("03:00:50", 60, XID(79, "fatal") ",\"replayed\":true,\"text\":\"x\""));
	assert_true(event(0)->time == at("03:00:10"));
	assert_true(event(1)->time == at("03:00:50")); /* while nothing was watching */
	assert_null(event(2));
	/* The time of a replayed line is no sign of the agent. */
	assert_gap(1, at("03:00:10"), at("03:01:00"), "killed");
}

TEST(begin_and_end_are_one)
{
	READ_LOG("03:02:00", LINE("03:00:00", 10, START("a")),
		 LINE("03:00:40", 50, SPAN("nfs_stall", "begin", 38, 12)),
		 LINE("03:01:00", 70, SPAN("nfs_stall", "end", 38, 32)));
	assert_true(fabs(event(0)->time - at("03:00:28")) < 0.01);
	assert_true(fabs(event(0)->end - at("03:01:00")) < 0.01);
	assert_false(event(0)->cut);
	assert_null(event(1));
}

TEST(what_has_not_ended_lasts_or_was_cut)
{
	const char *log = LINE("03:00:00", 10, START("a"))
		LINE("03:00:40", 50, SPAN("nfs_stall", "begin", 38, 12));

	read_log(log, "03:02:00");
	assert_true(isinf(event(0)->end));
	history_free(&h);
	read_log(log, "13:02:00");
	assert_true(event(0)->cut);
	assert_true(event(0)->end == at("03:00:40"));
}

TEST(an_end_without_its_begin_is_shown)
{
	READ_LOG("03:02:00", LINE("03:01:00", 70, SPAN("nfs_saturation", "end", 38, 32)));
	assert_true(fabs(event(0)->end - event(0)->time - 32) < 0.01);
}

TEST(torn_and_foreign_lines_are_counted)
{
	read_log("{\"time\":\"" DAY "03:0\n"
		 "xidscope: started\n"
		 "[1,2]\n\n{}\n"
		 "{\"time\":\"yesterday\",\"kind\":\"xid\"}\n"
		 "{\"time\":5,\"kind\":\"xid\"}\n"
		 "{\"kind\":\"xid\"}\n" LINE(
			 "03:00:00", 10,
			 "\"kind\":\"of_tomorrow\"") "{\"time\":\"" DAY
						     "03:00:01Z\",\"kind\":\"xid\",\"xid\":79",
		 "03:01:00");
	assert_int_equal(h.skipped, 8);
	assert_true(span_is(event(0)->kind_name, "of_tomorrow"));
	assert_string_equal(past_grade(event(0)), "unknown");
	assert_null(event(1));
}

/* ---- causes ---- */

static const char *cause_of(const char *const *lines)
{
	const char *cause;

	history_free(&h);
	read_lines(lines, "03:29:00");
	history_cause(&h, "7", at("03:05:00"), at("03:20:00"), &cause);
	return cause;
}

/* Of job 7. */
#define CAUSE(cause, ...)                                                                     \
	assert_string_equal(cause_of((const char *const[]){ LINE("03:00:00", 10, START("a")), \
							    __VA_ARGS__, NULL }),             \
			    cause)

#define OOM(owner) KERNEL("oom_kill") ",\"pid\":7" owner
#define JOB(job) ",\"cgroup\":\"/slurm/uid_1/job_" job "\",\"job\":\"" job "\""
#define HELD(job) ",\"held_by\":[{\"cgroup\":\"/slurm/uid_1/job_" job "\",\"job\":\"" job "\"}]"
#define STALL LINE("03:12:00", 730, SPAN("nfs_stall", "begin", 700, 30))

TEST(each_cause_is_found)
{
	CAUSE("none", "");
	CAUSE("xid", LINE("03:10:00", 610, XID(79, "fatal")));
	CAUSE("pcie_error", LINE("03:10:00", 610, KERNEL("pcie_aer") ",\"severity\":\"fatal\""));
	CAUSE("oom_kill", LINE("03:10:00", 610, OOM(JOB("7"))));
	CAUSE("oom_kill", LINE("03:10:00", 610, OOM("")));
	CAUSE("nfs_stall", STALL);
}

#define ERRORS(name, owner)                                                           \
	LINE("03:12:00", 730,                                                         \
	     "\"kind\":\"nfs_errors\",\"name\":\"" name                               \
	     "\",\"state\":\"begin\",\"start_monotonic_seconds\":700,\"seconds\":30," \
	     "\"owner\":\"" owner "\"")

/* Only what is lost to the whole client may have ended it. */
TEST(errors_of_other_jobs_are_no_cause)
{
	CAUSE("nfs_error", ERRORS("data", "slurm:7"));
	CAUSE("nfs_error", ERRORS("data", "slurm:8 slurm:7"));
	CAUSE("nfs_error", ERRORS("data", "slurm:8 other"));
	CAUSE("nfs_error", ERRORS("data", "user:8"));
	CAUSE("nfs_error", ERRORS("data", ""));
	CAUSE("nfs_error", ERRORS("state", "slurm:8"));
	CAUSE("none", ERRORS("data", "slurm:8"));
	CAUSE("none", ERRORS("stale", "slurm:8 pod:train/loader-0"));
	CAUSE("none", ERRORS("data", "env:RUN=8 slurm:8"));
	CAUSE("nfs_error", ERRORS("data", "slurm:8 env:RUN=7"));
}

#define FORTY_X "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define POD(name) ",\"cgroup\":\"/kubepods/x\",\"pod\":\"uid\",\"pod_name\":\"" name "\""

TEST(a_job_is_also_found_in_a_pod_and_a_pod_by_its_name)
{
	static const char owner[] = "pod:train/loader-0 slurm:4711";
	char long_name[80] = "env:RUN=";

	CAUSE("oom_kill", LINE("03:10:00", 610, OOM(POD("7"))));
	CAUSE("oom_kill", LINE("03:10:00", 610, OOM(POD("train/x") ",\"job\":\"7\"")));
	CAUSE("none", LINE("03:10:00", 610, OOM(POD("train/7"))));
	assert_true(past_owner_is(span_of(owner), "4711"));
	assert_true(past_owner_is(span_of(owner), "train/loader-0"));
	assert_true(past_owner_is(span_of("pbs:4711[3]"), "4711[3]"));
	assert_false(past_owner_is(span_of(owner), "471"));
	assert_false(past_owner_is(span_of("user:4711"), "4711"));
	assert_false(past_owner_is(span_of("container:a_slurm:4711"), "4711"));
	assert_false(past_owner_is(span_of("group:a/b_slurm:4711"), "4711"));
	assert_true(past_owner_is(span_of("container:train"), "train"));
	assert_true(past_owner_is(span_of("container:train slurm:4711"), "4711"));
	assert_true(past_owner_is(span_of("container:4711"), "container:4711"));
	assert_true(past_owner_is(span_of(owner), "slurm:4711"));
	assert_false(past_owner_is(span_of("container:4711"), "4711"));
	assert_true(past_owner_is(span_of("env:SLURM_JOB_ID=4711"), "4711"));
	/* As it was written, or as the agent writes it, and JSON the label. */
	assert_true(past_owner_is(span_of("env:RUN=exp_7"), "exp 7"));
	assert_true(past_owner_is(span_of("env:RUN=exp_7"), "env:RUN=exp_7"));
	assert_true(past_owner_is(span_of("env:RUN=\\\"a\\\\xff"), "\"a\xff"));
	assert_true(past_owner_is(span_of("env:RUN=\\\"a\\\\xff"), "\"a\\xff"));
	label_from_bytes(long_name + strlen("env:RUN="), 65, FORTY_X FORTY_X, 80);
	assert_true(past_owner_is(span_of(long_name), FORTY_X FORTY_X));
	assert_false(past_owner_is(span_of("env:RUN=slurm:4711"), "4711"));
	assert_true(past_owner_is(span_of("unit:nginx.service"), "unit:nginx.service"));
	assert_false(past_owner_is(span_of(""), "4711"));
}

TEST(decoys_are_none)
{
	/* Outside of the window. */
	CAUSE("none", LINE("03:04:59", 309, XID(79, "fatal")),
	      LINE("03:20:01", 1211, XID(79, "fatal")));
	/* Of no weight. */
	CAUSE("none", LINE("03:10:00", 610, XID(45, "info")),
	      LINE("03:10:00", 610, KERNEL("pcie_aer") ",\"severity\":\"info\""),
	      LINE("03:10:00", 610, KERNEL("unverified_xid")));
	/* Of others. */
	CAUSE("none", LINE("03:10:00", 610, OOM(JOB("8"))),
	      LINE("03:11:00", 670, XID(79, "fatal") HELD("8")),
	      LINE("03:12:00", 730, OOM(",\"cgroup\":\"/system.slice/x\"")));
	/* The number of another job begins with this one's. */
	CAUSE("none", LINE("03:10:00", 610, OOM(JOB("71"))));
}

TEST(the_gravest_counts_then_the_jobs_own_then_the_first)
{
	CAUSE("xid", STALL, LINE("03:13:00", 790, XID(79, "fatal")));
	CAUSE("nfs_stall", STALL, LINE("03:13:00", 790, OOM("")));
	CAUSE("oom_kill", STALL, LINE("03:13:00", 790, OOM(JOB("7"))));
	CAUSE("oom_kill", LINE("03:10:00", 610, XID(79, "fatal")),
	      LINE("03:13:00", 790, OOM(JOB("7"))));
	CAUSE("xid", LINE("03:10:00", 610, KERNEL("pcie_aer") ",\"severity\":\"fatal\""),
	      LINE("03:13:00", 790, XID(79, "fatal") HELD("7")));
	/* A list that may lack some does not clear the job. */
	CAUSE("xid",
	      LINE("03:13:00", 790, XID(79, "fatal") HELD("8") ",\"holders_incomplete\":true"));
}
