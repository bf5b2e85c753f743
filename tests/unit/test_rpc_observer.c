// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves when sources are tried, that a better one replaces another only once it is attached, and that none is left when sunrpc
 * goes. What the kernel offers is made up. */
#include "unit.h"
#include "base/clock.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "rpc/choice.h"
#include "rpc/polled/polled.h"
#include "rpc/rpc_observer.h"

static enum sunrpc_state sunrpc_now;
static unsigned int possible, refused; /* RPC_SOURCE_BIT() */
static uint64_t types_now, now_ns;
static enum tracefs_state tracefs;
static unsigned int tried[RPC_SOURCES], detached[RPC_SOURCES];
static int of_source[RPC_SOURCES]; /* their states */

static void choose(struct source_choice *c, unsigned int allowed)
{
	*c = (struct source_choice){};
	for (enum rpc_source s = RPC_SOURCES; --s > RPC_SOURCE_NONE;)
		if (possible & allowed & RPC_SOURCE_BIT(s) &&
		    !(rpc_sources_better(s) & possible & allowed))
			c->source = s;
}

static void *attach(enum rpc_source source)
{
	tried[source]++;
	errno = EINVAL;
	return refused & RPC_SOURCE_BIT(source) ? NULL : &of_source[source];
}

static void detach(void *state)
{
	detached[(int *)state - of_source]++;
}

#define SOURCE(name, number)                                      \
	static void *try_##name(const struct source_setup *setup) \
	{                                                         \
		(void)setup;                                      \
		return attach(number);                            \
	}                                                         \
	static const struct source_ops made_up_##name = { .try = try_##name, .detach = detach };
SOURCE(btf, RPC_SOURCE_BTF)
SOURCE(tracepoints, RPC_SOURCE_TRACEPOINTS)
SOURCE(mountstats, RPC_SOURCE_MOUNTSTATS)

#define btf_source made_up_btf
#define tracepoints_source made_up_tracepoints
#define mountstats_source made_up_mountstats
#define sunrpc_look(root) sunrpc_now
#define rpc_offer_look(offer, root, file) (*(offer) = (struct rpc_offer){ .tracefs = tracefs })
#define source_choose(choice, offer, allowed) choose(choice, allowed)
#define types_file_version(file, module) types_now
#define tracefs_find(root, path, size) ((void)(path), tracefs)
#define monotonic_ns() now_ns
#include "rpc/rpc_observer.c"

static const struct log quiet = { .quiet = true };
static struct rpc_observer *o;

BEFORE_EACH()
{
	const struct rpc_options options = { .sources = ~0u };

	o = not_null(rpc_observer_new(&quiet, &options));
	sunrpc_now = SUNRPC_LIVE;
	possible = RPC_SOURCE_BIT(RPC_SOURCE_BTF) | RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS);
	refused = RPC_SOURCE_BIT(RPC_SOURCE_BTF);
	now_ns = SECOND;
	memset(tried, 0, sizeof(tried));
	memset(detached, 0, sizeof(detached));
}

AFTER_EACH()
{
	rpc_observer_free(o);
}

TEST(a_source_that_is_refused_is_followed_by_the_next)
{
	assert_true(rpc_observer_poll(o, false));
	assert_int_equal(o->source, RPC_SOURCE_TRACEPOINTS);
	assert_printed("1 1 0", "%u %u %u", tried[RPC_SOURCE_BTF], tried[RPC_SOURCE_TRACEPOINTS],
		       tried[RPC_SOURCE_MOUNTSTATS]);
	assert_string_equal(rpc_observer_missing(o), "");
	assert_int_equal(rpc_observer_error(o), 0);
	assert_false(rpc_observer_poll(o, false));
	sunrpc_now = SUNRPC_ABSENT;
	assert_true(rpc_observer_poll(o, false));
	assert_int_equal(detached[RPC_SOURCE_TRACEPOINTS], 1);
	assert_string_equal(rpc_observer_missing(o), "sunrpc is not loaded");
	refused |= RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS);
	sunrpc_now = SUNRPC_BUILT_IN;
	assert_true(rpc_observer_poll(o, false));
	assert_int_equal(rpc_observer_error(o), EINVAL);
	assert_has(rpc_observer_missing(o), "no source is available");
	assert_int_equal(o->source, RPC_SOURCE_NONE);
}

/* Polled each second: after 20 s, then after twice as long each time, up to an hour. */
TEST(a_better_source_is_tried_more_and_more_rarely)
{
	static const unsigned int at[] = {
		20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 8720, 12320
	};
	unsigned int tries = 0;

	rpc_observer_poll(o, false);
	for (unsigned int second = 1; second <= 12400; second++) {
		unsigned int before = tried[RPC_SOURCE_BTF];

		now_ns += SECOND;
		assert_false(rpc_observer_poll(o, false));
		if (tried[RPC_SOURCE_BTF] == before)
			continue;
		assert_true(tries < COUNT(at));
		/* The look that is due at a try may come up to 20 s later. */
		assert_in_range(second, at[tries], at[tries] + 20 * tries);
		tries++;
	}
	assert_int_equal(tries, COUNT(at));
	assert_int_equal(tried[RPC_SOURCE_TRACEPOINTS], 1);
}

TEST(a_change_is_tried_soon_and_replaces_the_source_once_it_is_attached)
{
	rpc_observer_poll(o, false);
	for (int i = 0; i < 1000; i++) {
		now_ns += SECOND;
		rpc_observer_poll(o, false);
	}
	for (int change = 0; change < 3; change++) {
		unsigned int before = tried[RPC_SOURCE_BTF];

		types_now += change == 0;
		tracefs = change == 1 ? TRACEFS_MOUNTED : tracefs;
		for (int i = 0; i < 20 && tried[RPC_SOURCE_BTF] == before; i++) {
			now_ns += SECOND;
			assert_false(rpc_observer_poll(o, change == 2));
		}
		assert_int_equal(tried[RPC_SOURCE_BTF], before + 1);
	}
	assert_int_equal(o->source_number, 1);
	assert_int_equal(detached[RPC_SOURCE_TRACEPOINTS], 0);
	refused = 0;
	types_now++;
	for (int i = 0; i < 20; i++) {
		now_ns += SECOND;
		rpc_observer_poll(o, false);
	}
	assert_int_equal(o->source, RPC_SOURCE_BTF);
	assert_int_equal(o->source_number, 2);
	assert_int_equal(detached[RPC_SOURCE_TRACEPOINTS], 1);
	/* None is better. */
	now_ns += 7200 * SECOND;
	types_now++;
	assert_false(rpc_observer_poll(o, true));
	assert_int_equal(tried[RPC_SOURCE_TRACEPOINTS], 1);
}
