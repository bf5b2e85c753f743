// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which tasks count as spinning in the kernel, by what CPUs run, and which function they spin in. */
#include "faults/fault_observer.h"
#include "unit.h"

static struct spinners s;

AFTER_EACH()
{
	spinners_free(&s);
}

/* A look at @seconds: CPU 3 runs task 4711, which has run for so many seconds in the kernel. Returns the pid that spins, or 0. */
static int look(uint64_t seconds, uint64_t system, uint64_t outside)
{
	const struct spin_task tasks[4] = {
		[1] = { 1, seconds, 10 * seconds, 10 * seconds, 12, 0 },
		[3] = { 1, outside, system * SECOND / 20, system * SECOND, 4711, 0 },
	};
	struct spinner *t = spinners_take(&s, tasks, COUNT(tasks), seconds * SECOND);

	if (!t)
		return 0;
	t->told_ns = seconds * SECOND;
	assert_int_equal(t->cpu, 3);
	return t->since.pid;
}

TEST(a_task_that_stays_in_the_kernel_for_40_s_spins)
{
	for (uint64_t at = 0; at < 40; at += 10)
		assert_int_equal(look(100 + at, 5 + at, 7), 0);
	assert_int_equal(look(140, 40, 7), 4711);
	/* once in 40 s */
	assert_int_equal(look(160, 60, 7), 0);
	assert_int_equal(look(180, 80, 7), 4711);
}

TEST(one_that_leaves_the_kernel_or_sleeps_does_not)
{
	for (uint64_t at = 0; at < 300; at += 15)
		assert_int_equal(look(100 + at, 5 + at, at / 30), 0);
	for (uint64_t at = 0; at < 300; at += 15)
		assert_int_equal(look(1000 + at, 5 + at / 2, 100), 0);
}

TEST(one_that_others_replace_for_a_moment_spins)
{
	const struct spin_task other[1] = { { 1, 1, 1, 1, 99, 0 } };

	look(100, 5, 7);
	look(115, 19, 7);
	assert_null(spinners_take(&s, other, 1, 130 * SECOND));
	assert_int_equal(look(145, 41, 7), 4711);
}

TEST(the_function_of_nfs_or_the_driver_comes_first)
{
#define OTHERS "hrtimer_interrupt+0x10/0x80\next4_y+0x8/0x10 [ext4]\next4_x+0x8/0x10 [ext4]\n"
	struct kernel_place place;

	assert_true(spinners_function(
		span_of(OTHERS
			"nfs_lock_and_join_requests+0x4/0x8 [nfs]\nnfs_updatepage+0x10/0x40 [nfs]\n"),
		&place));
	assert_string_equal(place.function, "nfs_lock_and_join_requests");
	assert_string_equal(place.module, "nfs");
	assert_false(spinners_function(span_of(OTHERS), &place));
	assert_string_equal(place.function, "ext4_y");
	assert_false(spinners_function(span_of("hrtimer_interrupt+0x10/0x80\nbpf_prog_1+0x1/0x2\n"),
				       &place));
	assert_string_equal(place.function, "");
	assert_false(spinners_function(span_of(""), &place));
}
