// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves the age of calls in flight that the source has not seen begin. */
#include "unit.h"

#include "rpc/polled/polled.h"

#define SECOND UINT64_C(1000000000)

static struct unanswered u;

/* A snapshot at @second; returns the age in seconds that it has then. @known: what the source says itself. */
static uint64_t age(uint64_t second, uint32_t in_flight, uint64_t ended, uint64_t known)
{
	struct snapshot s = { .time_ns = second * SECOND };
	uint64_t oldest;

	snapshot_transport(&s.calls, "nas", "tcp/0")->slots_in_flight = in_flight;
	if (ended)
		snapshot_op(&s.calls, "nas", "READ")->total.bucket[0] = ended;
	snapshot_server(&s.calls, "nas")->oldest_ns[RPC_QUEUE_PENDING] = known * SECOND;
	assert_int_equal(unanswered_add(&u, &s), 0);
	oldest = s.calls.servers[0].oldest_ns[RPC_QUEUE_PENDING];
	assert_true(s.calls.transports[0].oldest_ns <= oldest);
	snapshot_free(&s);
	return oldest / SECOND;
}

static void begin(void)
{
	unanswered_free(&u);
	u.attached_ns = 100 * SECOND;
}

TEST(a_call_older_than_the_source_has_the_age_of_the_source)
{
	begin();
	assert_int_equal(age(100, 1, 0, 0), 0); /* it may have begun while the snapshot was taken */
	assert_int_equal(age(101, 1, 0, 0), 1);
	assert_int_equal(age(105, 2, 0, 3), 5); /* a younger one has come */
	assert_int_equal(age(106, 2, 0, 9), 9);
	assert_int_equal(age(107, 1, 1, 0), 0); /* one has ended: which, is not known */
	assert_int_equal(age(108, 1, 1, 0), 0);
	assert_int_equal(age(110, 1, 1, 0), 2);
	assert_int_equal(age(111, 0, 1, 0), 0);
}

TEST(a_call_that_the_source_knows_has_its_own_age)
{
	begin();
	assert_int_equal(age(500, 1, 0, 0), 0); /* began while the snapshot was taken */
	assert_int_equal(age(501, 1, 0, 1), 1);
	assert_int_equal(age(502, 1, 0, 2), 2);
}
