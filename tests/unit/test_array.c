// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that arrays grow, and that one without memory stays as it is while the failure is counted. */
#include "unit.h"
#include "base/std.h"

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(an_array_keeps_its_elements_as_it_grows)
{
	uint64_t failed = memory_failed();
	FREED int *numbers = NULL;
	size_t count = 0;

	for (int i = 0; i < 1000; i++)
		*ARRAY_APPEND(numbers, count) += i;
	assert_int_equal(count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], i);
	assert_int_equal(memory_error(failed), 0);
}

/* An array that is as long as no memory. */
TEST(without_memory_the_array_stays_and_the_failure_is_counted)
{
	uint64_t failed = memory_failed();
	size_t count = (size_t)1 << 56, copied = count;
	int *numbers = NULL, *spare;

	spare = ARRAY_APPEND(numbers, count);
	assert_non_null(spare);
	assert_int_equal(*spare, 0);
	*spare = 4711;
	assert_null(numbers);
	assert_int_equal(count, (size_t)1 << 56);
	assert_int_equal(memory_failed(), failed + 1);
	assert_int_equal(memory_error(failed), -ENOMEM);
	assert_int_equal(memory_error(failed + 1), 0);

	assert_null(array_copy("", &copied, sizeof(*numbers)));
	assert_int_equal(copied, 0);
	assert_int_equal(memory_failed(), failed + 2);
}

TEST(a_copy_grows_as_an_array_does)
{
	const int three[] = { 1, 2, 3 };
	size_t count = COUNT(three), none = 0;
	FREED int *copy = array_copy(three, &count, sizeof(*three));

	*ARRAY_APPEND(copy, count) = 4;
	*ARRAY_APPEND(copy, count) = 5;
	for (int i = 0; i < 5; i++)
		assert_int_equal(copy[i], i + 1);
	assert_null(array_copy(NULL, &none, sizeof(*copy)));
}
