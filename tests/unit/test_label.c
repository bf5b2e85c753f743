// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which label bytes become, that labels that are cut differ, and how a metrics file has them. That a label is
 * safe to show, and that the bytes can be read back, is proved of any bytes by tests/fuzz/fuzz_label.c. */
#include "base/safe_text.h"
#include "unit.h"

/* Bytes without their NUL. */
#define BYTES(literal) literal, sizeof(literal) - 1

static const char *label(const char *bytes, size_t len)
{
	static char text[LABEL_SIZE];

	memset(text, '?', sizeof(text));
	label_from_bytes(text, sizeof(text), bytes, len);
	return text;
}

TEST(safe_characters_are_kept_and_others_are_shown_in_hex)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *label;
	} cases[] = {
		{ BYTES(""), "" },
		{ BYTES("nas-1.example.com"), "nas-1.example.com" },
		{ BYTES("caf\xc3\xa9 \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xf0\x9f\x98\x80" },
		{ BYTES("a\0b"), "a\\x00b" },
		{ BYTES("\xff\xfe"), "\\xff\\xfe" },
		{ BYTES("\xc0\x80"), "\\xc0\\x80" },
		{ BYTES("x\xe2\x82"), "x\\xe2\\x82" },
		{ BYTES("\xed\xa0\x80z"), "\\xed\\xa0\\x80z" },
		{ BYTES("\x1b[31m\t\x7f\r\n"), "\\x1b[31m\\x09\\x7f\\x0d\\x0a" },
		{ BYTES("\xc2\x9b\xe2\x80\xae!"), "\\xc2\\x9b\\xe2\\x80\\xae!" },
		/* What both text formats must escape is left to label_escape(). */
		{ BYTES("\"\\"), "\"\\" },
		/* A name can look like an escape: different bytes give different labels. */
		{ BYTES("a\xff"), "a\\xff" },
		{ BYTES("a\\xff"), "a\\x5cxff" },
		{ BYTES("a\\x5cxff"), "a\\x5cx5cxff" },
		{ BYTES("a\\xFF"), "a\\x5cxFF" },
		{ BYTES("a\\\xff"), "a\\\\xff" },
		{ BYTES("a\\\\xff"), "a\\\\x5cxff" },
		{ BYTES("a\\x\xff"), "a\\x\\xff" },
		{ BYTES("a\\xf\xff"), "a\\xf\\xff" },
		{ BYTES("a\\xfg"), "a\\xfg" },
		{ BYTES("a\\x"), "a\\x" },
		{ BYTES("a\\"), "a\\" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(label(cases[i].bytes, cases[i].len), cases[i].label);
}

/* A server named "other" gets a label of its own. */
TEST(what_is_named_other_is_not_the_other)
{
	static const char *const names[] = { "other", "\\x6fther", "others", "othe", "Other", "" };
	static const char *const labels[] = { "\\x6fther", "\\x5cx6fther", "others",
					      "othe",      "Other",        "" };
	char text[16];

	for (size_t i = 0; i < COUNT(names); i++) {
		label_from_name(text, sizeof(text), names[i], strlen(names[i]));
		assert_string_equal(text, labels[i]);
	}
}

TEST(text_that_just_fits_is_not_cut)
{
	char text[17];

	label_from_bytes(text, 16, BYTES("123456789012345"));
	assert_string_equal(text, "123456789012345");
	/* crc32 of the whole text, as by python3's binascii.crc32() */
	label_from_bytes(text, 16, BYTES("1234567890123456"));
	assert_string_equal(text, "1234...1e5fcdb7");
	label_from_bytes(text, 16, BYTES("12345678901\xff"));
	assert_string_equal(text, "12345678901\\xff");
	label_from_bytes(text, 16, BYTES("123456789012\xff"));
	assert_string_equal(text, "1234...e631029a");
	label_from_bytes(text, 16, BYTES("123\xc3\xa9 8901234567"));
	assert_string_equal(text, "123...72a766fd");
}

TEST(quote_backslash_and_what_is_not_safe_are_escaped_and_nothing_else)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\"", "\\\"" },
		{ "\\", "\\\\" },
		{ "\\n", "\\\\n" },
		{ "\\x1b", "\\\\x1b" },
		{ "'{}=,# ~", "'{}=,# ~" },
		{ "caf\xc3\xa9 \xe6\xbc\xa2", "caf\xc3\xa9 \xe6\xbc\xa2" },
		/* No label has these. */
		{ "a\n\x1b\x7f", "a\\\\x0a\\\\x1b\\\\x7f" },
		{ "\xe2\x80\xae\xff", "\\\\xe2\\\\x80\\\\xae\\\\xff" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *got = malloc(LABEL_ESCAPE_MAX * strlen(cases[i][0]) + 1), *end; /* for ASan */

		assert_non_null(got);
		end = label_escape(got, cases[i][0]);
		assert_ptr_equal(end, got + strlen(got));
		assert_string_equal(got, cases[i][1]);
		free(got);
	}
}
