// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that two reports of one fault find each other in whatever order they come, that none finds two twins, and
 * that a storm read at once keeps all its texts waiting for the driver's reports. */
#include "unit.h"
#include "faults/prove/parts.h"

static struct fault_pairs p; /* of the test that runs */

AFTER_EACH()
{
	fault_pairs_free(&p);
}

static struct fault_report report(bool by_driver, unsigned int code, uint64_t ns)
{
	return (struct fault_report){
		.code = code, .device = "0000:c1:00.0", .by_driver = by_driver, .arrived_ns = ns
	};
}

static int add(bool by_driver, unsigned int code, uint64_t ns)
{
	struct fault_report r = report(by_driver, code, ns);

	return fault_pairs_add(&p, &r);
}

TEST(twins_meet_in_either_order)
{
	for (int driver = 0; driver < 2; driver++) {
		assert_int_equal(add(driver, 79, 0), 0);
		assert_int_equal(add(!driver, 79, 1), 1);
		assert_int_equal(p.count, 0);
	}
}

TEST(only_a_twin_is_one)
{
	struct fault_report r = report(true, 79, 0);

	assert_int_equal(add(false, 79, 0), 0);
	r.nvswitch = true;
	assert_int_equal(fault_pairs_add(&p, &r), 0);
	r.nvswitch = false;
	strcpy(r.device, "0000:c2:00.0");
	assert_int_equal(fault_pairs_add(&p, &r), 0);
	assert_int_equal(add(true, 78, 0), 0);
	assert_int_equal(p.count, 4);
	assert_false(
		fault_pairs_take(&p, &(struct fault_report){ .code = 79, .device = "x" }, true));
	assert_int_equal(add(true, 79, 0), 1);
	assert_int_equal(p.count, 3);
}

TEST(a_report_stands_alone_after_a_while)
{
	struct fault_report r;

	assert_false(fault_pairs_expire(&p, UINT64_MAX, true, &r));
	add(true, 1, SECOND);
	add(true, 2, 2 * SECOND);
	assert_false(fault_pairs_expire(&p, SECOND + FAULT_PAIR_WAIT_NS - 1, false, &r));
	assert_true(fault_pairs_expire(&p, SECOND + FAULT_PAIR_WAIT_NS, false, &r));
	assert_int_equal(r.code, 1);
	assert_false(fault_pairs_expire(&p, SECOND + FAULT_PAIR_WAIT_NS, false, &r));
	assert_true(fault_pairs_expire(&p, 0, true, &r));
	assert_int_equal(r.code, 2);
}

/* Far more of one way than may wait, then those of the other. */
TEST(a_storm_waits_as_one)
{
	const int storm = 20 * MAX_WAITING;
	struct fault_report r;

	for (int driver = 0; driver < 2; driver++) {
		for (int i = 0; i < storm; i++)
			assert_int_equal(add(driver, 13 + (unsigned int)i % 3, (uint64_t)i), 0);
		assert_int_equal(p.count, 3);
		for (int i = 0; i < storm - 4; i++)
			assert_int_equal(add(!driver, 13 + (unsigned int)i % 3, SECOND), 1);
		/* What is left stands alone, all of it. */
		for (uint64_t left = 0; left < 4; left += 1 + r.more)
			assert_true(fault_pairs_expire(&p, 3 * SECOND, false, &r));
		assert_false(fault_pairs_expire(&p, 3 * SECOND, true, &r));
	}
}

TEST(texts_that_come_later_wait_longer)
{
	struct fault_report r;

	add(false, 13, 0);
	add(false, 13, FAULT_PAIR_ALIKE_NS + 1);
	assert_int_equal(p.count, 2);
	assert_true(fault_pairs_expire(&p, FAULT_PAIR_WAIT_NS, false, &r));
	assert_int_equal(r.more, 0);
	assert_false(fault_pairs_expire(&p, FAULT_PAIR_WAIT_NS, false, &r));
}

TEST(the_drivers_reports_keep_their_messages)
{
	struct fault_report r = report(true, 144, 0);

	strcpy(r.message, "first");
	fault_pairs_add(&p, &r);
	strcpy(r.message, "second");
	fault_pairs_add(&p, &r);
	assert_true(fault_pairs_expire(&p, 0, true, &r));
	assert_string_equal(r.message, "first");
	assert_true(fault_pairs_expire(&p, 0, true, &r));
	assert_string_equal(r.message, "second");
}

TEST(a_doubtful_text_has_the_last_choice)
{
	struct fault_report doubtful = report(false, 79, 0), likely = doubtful, found;

	doubtful.pending = likely.pending = likely.likely = true;
	strcpy(likely.message, "the driver's");
	assert_int_equal(fault_pairs_add(&p, &doubtful), 0);
	assert_int_equal(fault_pairs_add(&p, &likely), 0);
	assert_true(fault_pairs_pending(&p, "0000:c1:00.0", 79));
	assert_int_equal(add(true, 79, 1), 1);
	assert_string_equal(p.taken.message, "the driver's");
	assert_false(fault_pairs_pending(&p, "0000:c1:00.0", 79));
	/* Neither finds the other until its wait is over. */
	assert_int_equal(add(true, 79, 1), 0);
	assert_int_equal(p.count, 2);
	assert_true(fault_pairs_expire(&p, 3 * SECOND, false, &found));
	assert_false(found.by_driver);
	assert_true(fault_pairs_take(&p, &found, true));
	assert_true(p.taken.by_driver);
	/* It leaves first where there is no room. */
	assert_int_equal(fault_pairs_add(&p, &likely), 0);
	assert_false(fault_pairs_take_doubtful(&p, &found));
	assert_int_equal(fault_pairs_add(&p, &doubtful), 0);
	assert_true(fault_pairs_take_doubtful(&p, &found));
	assert_false(found.likely);
	assert_int_equal(p.count, 1);
}

TEST(as_many_wait_as_may)
{
	struct fault_report r;

	/* Several times around the room, and taken out of the middle. */
	for (unsigned int i = 0; i < 5 * MAX_WAITING; i++) {
		if (p.count == MAX_WAITING) {
			assert_int_equal(add(true, i, i), -ENOSPC);
			assert_int_equal(add(false, i - MAX_WAITING / 2, i), 1);
			assert_true(fault_pairs_expire(&p, 0, true, &r));
			assert_true(r.code < i - MAX_WAITING / 2);
		}
		assert_int_equal(add(true, i, i), 0);
	}
	for (unsigned int last = 0; fault_pairs_expire(&p, 0, true, &r); last = r.code)
		assert_true(r.code >= last);
	assert_int_equal(r.code, 5 * MAX_WAITING - 1);
}

/* All that wait are taken out at once, again and again. */
TEST(the_room_is_never_left)
{
	struct fault_report r;

	for (unsigned int i = 0; i < 20 * MAX_WAITING; i++) {
		assert_int_equal(add(true, i, i), 0);
		assert_true(p.first + p.count <= 2 * MAX_WAITING);
		while (!(i % 500) && p.count)
			assert_true(fault_pairs_expire(&p, 0, true, &r));
	}
}
