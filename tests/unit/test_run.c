// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the agent without memory leaves out one write of its metrics, and no interval, and counts none twice. */
#include "unit.h"

#include "commands/agent.h"
#include "writer/writer.h"

static enum place { NOWHERE, IN_DELTA, IN_LIMITS } fails;
static size_t writes;
static uint64_t added_ns;

static void fail_in(enum place here)
{
	if (fails != here)
		return;
	memory_count_failure();
	fails = NOWHERE;
}

static int take_metrics(char *text)
{
	free(text);
	writes++;
	return 0;
}

/* What run.c calls. */
#define delta_make(d, begin, end) (delta_make(d, begin, end), fail_in(IN_DELTA))
#define agent_limits_add(a, s, before, d, events) \
	(agent_limits_add(a, s, before, d, events), added_ns += (d)->ns, fail_in(IN_LIMITS))
#define agent_health_add(h, observer, s) ((void)(h))
#define writer_replace(w, file, text, len) take_metrics(text)

#include "commands/run.c"

static struct agent a;

AFTER_EACH()
{
	agent_limits_free(&a.limits);
	snapshot_free(&a.before);
	free(a.agent_events.nfs.entries);
}

TEST(without_memory_one_write_is_left_out_and_no_interval_counts_twice)
{
	const struct options options = { .log.quiet = true };
	uint64_t begin_ns;

	a = (struct agent){ .options = &options, .observer.modules = -1 };
	assert_int_equal(export(&a), 0);
	begin_ns = a.before.time_ns;
	for (size_t i = 1; i < 9; i++) {
		fails = i == 3 ? IN_DELTA : i == 6 ? IN_LIMITS : NOWHERE;
		assert_int_equal(export(&a), i == 3 || i == 6 ? -ENOMEM : 0);
	}
	assert_int_equal(writes, 7);
	assert_int_equal(added_ns, a.before.time_ns - begin_ns);
}
