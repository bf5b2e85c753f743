// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which label bytes become, that labels that are cut differ, and how a metrics file has them. That a label is
 * safe to show, and that the bytes can be read back, is proved of any bytes by tests/fuzz/fuzz_label.c. */
#include "golden.h"
#include "base/safe_text.h"

/* Bytes without their NUL. */
#define BYTES(literal) literal, sizeof(literal) - 1

static const char *label(const char *bytes, size_t len)
{
	static char text[LABEL_SIZE];

	memset(text, '?', sizeof(text));
	label_from_bytes(text, sizeof(text), bytes, len);
	return text;
}

static const char *label_of(const char *text)
{
	return label(text, strlen(text));
}

TEST(safe_characters_are_kept_and_others_are_shown_in_hex)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "labels of bytes", label_of);
	assert_string_equal(label(BYTES("a\0b")), "a\\x00b");
}

static const char *label_of_name(const char *name)
{
	static char text[16];

	label_from_name(text, sizeof(text), name, strlen(name));
	return text;
}

TEST(what_is_named_other_is_not_the_other)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "labels of names", label_of_name);
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

static const char *escaped(const char *text)
{
	char *got = not_null(malloc(LABEL_ESCAPE_MAX * strlen(text) + 1)), *end; /* for ASan */
	const char *copy;

	end = label_escape(got, text);
	assert_ptr_equal(end, got + strlen(got));
	copy = formatted("%s", got);
	free(got);
	return copy;
}

TEST(quote_backslash_and_what_is_not_safe_are_escaped_and_nothing_else)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "labels in a metrics file", escaped);
}
