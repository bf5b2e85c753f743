/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test includes: the headers that most of them need, cmocka, and the definition of tests. main() runs all
 * tests of the file. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/std.h"

#include <cmocka.h>

/* In nanoseconds. */
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static struct CMUnitTest unit_tests[96];
static size_t unit_test_count, unit_before_count, unit_after_count;
static void (*unit_before[4])(void), (*unit_after[4])(void);

static struct unit_text {
	struct unit_text *before;
	char text[];
} * unit_texts;

/* As printf() prints it; valid until the end of the test, or fresh(). */
__attribute__((format(printf, 1, 2))) static inline const char *formatted(const char *format, ...)
{
	struct unit_text *t;
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	t = malloc(sizeof(*t) + (size_t)len + 1);
	assert_non_null(t);
	t->before = unit_texts;
	unit_texts = t;
	vsnprintf(t->text, (size_t)len + 1, format, again);
	va_end(again);
	return t->text;
}

/* Prints behind the text that @array has. */
#define append_text(array, ...) \
	snprintf((array) + strlen(array), sizeof(array) - strlen(array), __VA_ARGS__)

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
	while (unit_texts) {
		struct unit_text *before = unit_texts->before;

		free(unit_texts);
		unit_texts = before;
	}
	return 0;
}

/* The rest of a test, a row of its table for example, begins as a test of its own does. */
static inline void fresh(void)
{
	unit_end(NULL);
	unit_begin(NULL);
}

/* The pointer, which must not be NULL. */
#define not_null(pointer)                         \
	({                                        \
		__auto_type pointer_ = (pointer); \
		assert_non_null(pointer_);        \
		pointer_;                         \
	})

/* printf() prints @expected of the rest. */
#define assert_printed(expected, ...) assert_string_equal(formatted(__VA_ARGS__), expected)

/* For none of the texts that follow, each of which is @text in turn, may @accepted be true. */
#define NONE_ACCEPTED(text, accepted, ...)                               \
	do {                                                             \
		const char *const texts_[] = { __VA_ARGS__ };            \
		for (size_t text_ = 0; text_ < COUNT(texts_); text_++) { \
			const char *const text = texts_[text_];          \
                                                                         \
			if (accepted)                                    \
				fail_msg("accepted: '%s'", text);        \
		}                                                        \
	} while (0)

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

/* Makes the descriptor @fd one of @to. Returns the old one, for restore(). */
static inline int redirect(int fd, int to)
{
	int saved = dup(fd);

	fflush(NULL);
	assert_true(saved >= 0 && dup2(to, fd) == fd);
	return saved;
}

static inline void restore(int fd, int saved)
{
	fflush(NULL);
	dup2(saved, fd);
	close(saved);
}

/* Just the @len bytes: a sanitizer detects a read past the end. Caller frees. */
static inline char *exact_copy(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return copy;
}

static inline void assert_has(const char *whole, const char *part)
{
	if (!strstr(whole, part))
		fail_msg("no \"%s\" in:\n%s", part, whole);
}

/* All of these parts. */
#define assert_has_all(whole, ...)                                     \
	do {                                                           \
		const char *const parts_[] = { __VA_ARGS__ };          \
		for (size_t part_ = 0; part_ < COUNT(parts_); part_++) \
			assert_has(whole, parts_[part_]);              \
	} while (0)

static inline void assert_lacks(const char *whole, const char *part)
{
	if (strstr(whole, part))
		fail_msg("\"%s\" in:\n%s", part, whole);
}

int main(void)
{
	setenv("TZ", "UTC", true);
	return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, NULL, NULL);
}
