// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that UTF-8 is recognised exactly as in RFC 3629, that any bytes become a
 * valid label that is cut between characters only, and that escaping is undone
 * by reading.
 */
#include "unit.h"
#include "base/label.h"

/* Bytes without their NUL. */
#define BYTES(literal) literal, sizeof(literal) - 1

/* Runs on a copy of just len bytes, so that ASan detects a read past the end. */
static size_t length_of(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	size_t n;

	assert_non_null(copy);
	memcpy(copy, text, len);
	n = utf8_length(copy, len);
	free(copy);
	return n;
}

static bool is_utf8(const char *text)
{
	size_t n, len = strlen(text);

	for (; len; text += n, len -= n) {
		n = utf8_length(text, len);
		if (!n)
			return false;
	}
	return true;
}

static size_t encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

TEST(every_character_is_utf8_and_surrogates_are_not)
{
	char text[4];

	for (uint32_t c = 0; c < 0x200000; c++) {
		bool valid = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
		size_t n = encode(c, text);

		if (utf8_length(text, n) != (valid ? n : 0))
			fail_msg("U+%04X", c);
	}
}

/* All characters are recognised (above), so a wrong yes would be one more than
 * there are characters of that length. */
TEST(there_are_as_many_sequences_as_characters)
{
	size_t two = 0, three = 0, four = 0;

	for (uint32_t v = 0; v < 0x10000; v++) {
		const char text[2] = { (char)(v >> 8), (char)v };

		two += utf8_length(text, 2) == 2;
	}
	assert_int_equal(two, 0x800 - 0x80);
	for (uint32_t v = 0; v < 0x1000000; v++) {
		const char text[3] = { (char)(v >> 16), (char)(v >> 8), (char)v };

		three += utf8_length(text, 3) == 3;
	}
	assert_int_equal(three, 0x10000 - 0x800 - 0x800);
	/* With one of the 64 last bytes only. */
	for (uint32_t v = 0; v < 0x1000000; v++) {
		const char text[4] = { (char)(v >> 16), (char)(v >> 8), (char)v, (char)0x80 };

		four += utf8_length(text, 4) == 4;
	}
	assert_int_equal(four, 0x100000 / 64);
}

TEST(sequences_that_are_not_utf8_have_no_length)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{ BYTES("\x80") }, /* a continuation alone */
		{ BYTES("\xbf") },
		{ BYTES("\xc0\x80") }, /* overlong */
		{ BYTES("\xc1\xbf") },
		{ BYTES("\xe0\x80\x80") },
		{ BYTES("\xe0\x9f\xbf") },
		{ BYTES("\xf0\x80\x80\x80") },
		{ BYTES("\xf0\x8f\xbf\xbf") },
		{ BYTES("\xed\xa0\x80") }, /* surrogates */
		{ BYTES("\xed\xbf\xbf") },
		{ BYTES("\xf4\x90\x80\x80") }, /* above U+10FFFF */
		{ BYTES("\xf5\x80\x80\x80") },
		{ BYTES("\xf8\x88\x80\x80\x80") },
		{ BYTES("\xfe") },
		{ BYTES("\xff") },
		{ BYTES("\xc3(") }, /* no continuation */
		{ BYTES("\xe2(\xa1") },
		{ BYTES("\xe2\x82(") },
		{ BYTES("\xf0(\x8c\xbc") },
		{ BYTES("\xf0\x90(\xbc") },
		{ BYTES("\xf0\x90\x8c(") },
		{ BYTES("\xf0\x90\x8c\xc0") },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		if (length_of(cases[i].bytes, cases[i].len))
			fail_msg("case %zu", i);
}

TEST(a_truncated_character_has_no_length)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };

	assert_int_equal(length_of("", 0), 0);
	for (size_t i = 0; i < COUNT(characters); i++) {
		size_t whole = strlen(characters[i]);

		assert_int_equal(whole, i + 2);
		assert_int_equal(length_of(characters[i], whole), whole);
		for (size_t len = 0; len < whole; len++)
			assert_int_equal(length_of(characters[i], len), 0);
	}
}

static const char *label(const char *bytes, size_t len)
{
	static char text[LABEL_SIZE];

	memset(text, '?', sizeof(text));
	label_from_bytes(text, sizeof(text), bytes, len);
	return text;
}

TEST(valid_bytes_are_kept_and_others_are_shown_in_hex)
{
	assert_string_equal(label(BYTES("")), "");
	assert_string_equal(label(BYTES("nas-1.example.com")), "nas-1.example.com");
	assert_string_equal(label(BYTES("caf\xc3\xa9 \xf0\x9f\x98\x80")),
			    "caf\xc3\xa9 \xf0\x9f\x98\x80");
	assert_string_equal(label(BYTES("a\0b")), "a\\x00"
						  "b");
	assert_string_equal(label(BYTES("\xff\xfe")), "\\xff\\xfe");
	assert_string_equal(label(BYTES("\xc0\x80")), "\\xc0\\x80");
	assert_string_equal(label(BYTES("x\xe2\x82")), "x\\xe2\\x82");
	assert_string_equal(label(BYTES("\xed\xa0\x80z")), "\\xed\\xa0\\x80z");
	/* What both text formats must escape is left to label_escape(). */
	assert_string_equal(label(BYTES("\"\\\n")), "\"\\\n");
}

TEST(text_that_just_fits_is_not_cut)
{
	char text[9];

	label_from_bytes(text, 8, BYTES("1234567"));
	assert_string_equal(text, "1234567");
	label_from_bytes(text, 8, BYTES("12345678"));
	assert_string_equal(text, "1234...");
	label_from_bytes(text, 8, BYTES("123\xff"));
	assert_string_equal(text, "123\\xff");
	label_from_bytes(text, 8, BYTES("1234\xff"));
	assert_string_equal(text, "1234...");
	label_from_bytes(text, 8,
			 BYTES("12\xf0\x9f\x98\x80"
			       "7"));
	assert_string_equal(text, "12\xf0\x9f\x98\x80"
				  "7");
	label_from_bytes(text, 8,
			 BYTES("12\xf0\x9f\x98\x80"
			       "78"));
	assert_string_equal(text, "12...");
}

/* For each size: the result is either all of the text or the longest beginning
 * of it, in whole characters and whole "\xNN", that leaves room for the mark. */
TEST(a_cut_never_parts_a_character)
{
	static const char bytes[] =
		"a\xc3\xa9\xe2\x82\xac\xff\xf0\x9f\x98\x80\0\xe2\x82z\"\\\n\xc3\xa9\xf0\x9f\x98\x80"
		"0123456789\xfe\xfe\xe2\x82\xac\xe2\x82\xac";
	/* where its pieces begin in the label */
	static const size_t begins[] = { 0,  1,  3,  6,  10, 14, 18, 22, 26, 27, 28, 29, 30, 32, 36,
					 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 50, 54, 57, 60 };
	const char *whole = label(bytes, sizeof(bytes) - 1);

	assert_int_equal(strlen(whole), begins[COUNT(begins) - 1]);
	for (size_t size = 8; size <= strlen(whole) + 3; size++) {
		char *text = malloc(size); /* for ASan */
		size_t keep = 0;

		assert_non_null(text);
		memset(text, '?', size);
		label_from_bytes(text, size, bytes, sizeof(bytes) - 1);
		assert_non_null(memchr(text, 0, size));
		assert_true(is_utf8(text));
		if (strlen(whole) < size) {
			assert_string_equal(text, whole);
		} else {
			for (size_t i = 0; i < COUNT(begins); i++)
				if (begins[i] + sizeof("...") <= size)
					keep = begins[i];
			assert_int_equal(strlen(text), keep + 3);
			assert_memory_equal(text, whole, keep);
			assert_string_equal(text + keep, "...");
		}
		free(text);
	}
}

TEST(any_bytes_become_a_valid_label)
{
	uint64_t seed = 5;

	for (int n = 0; n < 100000; n++) {
		char bytes[24], text[40];
		size_t len = (size_t)n % (sizeof(bytes) + 1), size = 8 + (size_t)(n / 25) % 33;

		for (size_t i = 0; i < len; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[i] = (char)(seed >> 56);
		}
		memset(text, '?', sizeof(text));
		label_from_bytes(text, size, bytes, len);
		assert_non_null(memchr(text, 0, size));
		assert_true(is_utf8(text));
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], '?');
	}
}

/* Caller frees. */
static char *escaped(const char *text)
{
	char *result = malloc(2 * strlen(text) + 1), *end; /* for ASan */

	assert_non_null(result);
	end = label_escape(result, text);
	assert_ptr_equal(end, result + strlen(result));
	return result;
}

TEST(quote_backslash_and_newline_are_escaped_and_nothing_else)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\"", "\\\"" },
		{ "\\", "\\\\" },
		{ "\n", "\\n" },
		{ "\\n", "\\\\n" },
		{ "a\"b\\c\nd", "a\\\"b\\\\c\\nd" },
		{ "\t\r'{}=,# ", "\t\r'{}=,# " },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *result = escaped(cases[i][0]);

		assert_string_equal(result, cases[i][1]);
		free(result);
	}
}
