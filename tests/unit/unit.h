/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test includes: the headers that most of them need, cmocka, and the definition of tests. main() runs all
 * tests of the file. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct CMUnitTest unit_tests[64];
static size_t unit_test_count;
static CMFixtureFunction unit_before_all, unit_after_all, unit_before_each, unit_after_each;

/* Defines a test: TEST(name) { ... }; TEST_WITH() one that has functions to run before and after it. */
#define TEST_WITH(test, before, after)                                           \
	static void test(void **state);                                          \
	__attribute__((constructor)) static void add_##test(void)                \
	{                                                                        \
		unit_tests[unit_test_count++] =                                  \
			(struct CMUnitTest){ #test, test, before, after, NULL }; \
	}                                                                        \
	static void test(void **state __attribute__((unused)))
#define TEST(test) TEST_WITH(test, NULL, NULL)

/* Functions to run before and after all tests of the file. */
#define TEST_GROUP(before, after)                                \
	__attribute__((constructor)) static void add_group(void) \
	{                                                        \
		unit_before_all = before;                        \
		unit_after_all = after;                          \
	}

/* Functions to run before and after each TEST() of the file. */
#define TEST_EACH(before, after)                                \
	__attribute__((constructor)) static void add_each(void) \
	{                                                       \
		unit_before_each = before;                      \
		unit_after_each = after;                        \
	}

int main(void)
{
	for (size_t i = 0; i < unit_test_count; i++)
		if (!unit_tests[i].setup_func && !unit_tests[i].teardown_func) {
			unit_tests[i].setup_func = unit_before_each;
			unit_tests[i].teardown_func = unit_after_each;
		}
	return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, unit_before_all,
				       unit_after_all);
}

#endif
