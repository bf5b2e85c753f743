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

/* In nanoseconds. */
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static struct CMUnitTest unit_tests[64];
static size_t unit_test_count, unit_before_count, unit_after_count;
static void (*unit_before[4])(void), (*unit_after[4])(void);

static inline int unit_begin(void **state __attribute__((unused)))
{
	for (size_t i = 0; i < unit_before_count; i++)
		unit_before[i]();
	return 0;
}

static inline int unit_end(void **state __attribute__((unused)))
{
	for (size_t i = unit_after_count; i--;)
		unit_after[i]();
	return 0;
}

/* The rest of a test, a row of its table for example, begins as a test of its own does. */
static inline void fresh(void)
{
	unit_end(NULL);
	unit_begin(NULL);
}

/* Defines a test: TEST(name) { ... } */
#define TEST(test)                                                                      \
	static void test(void **state);                                                 \
	__attribute__((constructor)) static void add_##test(void)                       \
	{                                                                               \
		unit_tests[unit_test_count++] =                                         \
			(struct CMUnitTest){ #test, test, unit_begin, unit_end, NULL }; \
	}                                                                               \
	static void test(void **state __attribute__((unused)))

/* What runs before each test of the file, in the order of definition, and after it, in the opposite order. */
#define BEFORE_EACH() UNIT_EACH(unit_before, __COUNTER__)
#define AFTER_EACH() UNIT_EACH(unit_after, __COUNTER__)
#define UNIT_EACH(list, number) UNIT_EACH_OF(list, number)
#define UNIT_EACH_OF(list, number)                                        \
	static void list##number(void);                                   \
	__attribute__((constructor)) static void add_##list##number(void) \
	{                                                                 \
		list[list##_count++] = list##number;                      \
	}                                                                 \
	static void list##number(void)

/* As printf() prints it, valid until the 8th call after it. */
__attribute__((format(printf, 1, 2))) static inline const char *formatted(const char *format, ...)
{
	static char texts[8][8192];
	static unsigned int next;
	char *text = texts[next++ % COUNT(texts)];
	va_list args;

	va_start(args, format);
	assert_in_range(vsnprintf(text, sizeof(texts[0]), format, args), 0, sizeof(texts[0]) - 1);
	va_end(args);
	return text;
}

static inline void assert_has(const char *whole, const char *part)
{
	if (!strstr(whole, part))
		fail_msg("no \"%s\" in:\n%s", part, whole);
}

static inline void assert_lacks(const char *whole, const char *part)
{
	if (strstr(whole, part))
		fail_msg("\"%s\" in:\n%s", part, whole);
}

int main(void)
{
	return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, NULL, NULL);
}

#endif
