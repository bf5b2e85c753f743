// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves what the agent's events about NFS have: state, grade, times, text, owner and stack. */
#include "unit.h"
#include "commands/agent.h"

static struct event last; /* with the static texts below */
static char members[500], text[VICTIMS_TEXT];
static size_t events;

static void take(const struct event *e)
{
	last = *e;
	snprintf(members, sizeof(members), "%s", e->members);
	snprintf(text, sizeof(text), "%.*s", (int)e->text_len, e->text);
	events++;
}

#define event_log_add(log, event) ((void)(log), take(event))
#define monotonic_ns() (100 * SECOND)
#include "commands/agent_events.c"

static struct agent_events a = { .log = (void *)"not used" };

static void assert_event(const char *name, const char *device, const char *grade, const char *said,
			 const char *with)
{
	assert_string_equal(last.name, name);
	assert_string_equal(last.device, device);
	assert_string_equal(last.severity, grade);
	assert_string_equal(text, said);
	assert_string_equal(members, with);
	assert_true(last.alone && last.monotonic_ns == 100 * SECOND);
}

TEST(a_stall_ends_in_the_last_interval)
{
	struct nfs_span span = { .server = "nas",
				 .kind = EVENT_KIND_NFS_STALL,
				 .name = "pending",
				 .begin_ns = 60 * SECOND,
				 .owner = "job" };

	agent_events_span(&a, &span);
	assert_event("pending", "nas", "warning", "",
		     "\"state\":\"begin\",\"start_monotonic_seconds\":60.000000000,"
		     "\"seconds\":40.000,\"owner\":\"job\"");
	span.end_ns = 90 * SECOND;
	span.last_ns = 80 * SECOND;
	agent_events_span(&a, &span);
	assert_event("pending", "nas", "warning", "",
		     "\"state\":\"end\",\"start_monotonic_seconds\":60.000000000,"
		     "\"seconds\":30.000,\"least_seconds\":20.000000000,\"owner\":\"job\"");
}

TEST(errors_are_a_warning_and_a_saturated_limit_is_not)
{
	struct nfs_span span = { .server = "nas",
				 .kind = EVENT_KIND_NFS_ERRORS,
				 .name = "data",
				 .text = "1 of 2 WRITEs",
				 .begin_ns = 60 * SECOND };

	agent_events_span(&a, &span);
	assert_event("data", "nas", "warning", "1 of 2 WRITEs",
		     "\"state\":\"begin\",\"start_monotonic_seconds\":60.000000000,"
		     "\"seconds\":40.000");
	span.kind = EVENT_KIND_NFS_SATURATION;
	span.text[0] = 0;
	agent_events_span(&a, &span);
	assert_string_equal(last.severity, "info");
}

TEST(a_task_that_hangs_has_its_stack)
{
	const struct stuck_task task = { .pid = -7,
					 .process = 8,
					 .since_ns = 30 * SECOND,
					 .client = true,
					 .function = "nfs_wait" };

	agent_events_stuck(&a, &task, span_of("rpc_sleep+0x1/0x2\nnfs_wait+0x1/0x2\n"), "/data",
			   STUCK_NO_RPC);
	assert_event("nfs_wait", "/data", "warning", "",
		     "\"process\":8,\"rpc\":false,\"start_monotonic_seconds\":30.000000000,"
		     "\"seconds\":70.000,\"stack\":[\"rpc_sleep\",\"nfs_wait\"]");
	assert_int_equal(last.pid, -7);
}

TEST(the_agent_says_every_five_minutes_that_it_lives)
{
	a.alive_ns = 0;
	events = 0;
	agent_events_alive(&a, 299 * SECOND);
	assert_int_equal(events, 0);
	agent_events_alive(&a, 300 * SECOND);
	assert_int_equal(events, 1);
	assert_string_equal(last.name, "alive");
	assert_string_equal(members, "");
	agent_events_alive(&a, 301 * SECOND); /* it was at 100 s */
	assert_int_equal(events, 1);
}
