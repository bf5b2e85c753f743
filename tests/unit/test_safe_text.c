// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that UTF-8 is recognised as by a second reader of RFC 3629, which characters are shown as they are, and that lines and
 * texts for people have no other. */
#include "../fuzz/safe.h"
#include "printed.h"
#include "base/safe_text.h"

/* Writes @c by the rule of RFC 3629, also where it is no character. Returns the bytes, at most 4. */
static size_t utf8_encode(uint32_t c, char *out)
{
	static const uint8_t marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(marks[n] | c);
	return n;
}

/* All first and second bytes, third and fourth ones at the ends of their ranges, cut at each place. */
TEST(two_readers_find_the_same_characters)
{
	static const uint8_t ends[] = { 0, 0x7f, 0x80, 0x81, 0xbf, 0xc0, 0xff };

	for (uint32_t v = 0; v < 0x10000 * COUNT(ends) * COUNT(ends); v++) {
		const uint8_t bytes[] = { (uint8_t)(v >> 8), (uint8_t)v,
					  ends[(v >> 16) % COUNT(ends)],
					  ends[(v >> 16) / COUNT(ends)] };
		const char *sequence = (const char *)bytes;

		for (size_t len = 0; len <= sizeof(bytes); len++) {
			uint32_t value = 0;
			size_t n = utf8_length(sequence, len);

			if (n != decoded_length(bytes, len, &value) ||
			    (n && utf8_value(sequence, n) != value))
				fail_msg("%zu bytes of %08x", len, v);
		}
	}
	assert_int_equal(utf8_length("\xf8\x88\x80\x80\x80", 5), 0);
}

static size_t safe_length_of(uint32_t c)
{
	char text[4];

	return safe_length(text, utf8_encode(c, text));
}

TEST(controls_marks_and_what_has_no_width_are_not_shown)
{
	/* Ranges by their first and last character. */
	static const uint32_t never[][2] = {
		{ 0, 0x1f }, /* C0: ESC, newline, tab */
		{ 0x7f, 0x9f }, /* DEL, C1 */
		{ 0x61c, 0x61c }, /* bidirectional marks, embeddings, overrides, isolates */
		{ 0x200e, 0x200f },   { 0x202a, 0x202e }, { 0x2066, 0x2069 },
		{ 0x2028, 0x2029 }, /* separators of lines and paragraphs */
		{ 0x200b, 0x200d }, /* without width: spaces, joiners, the byte order mark */
		{ 0x2060, 0x2064 },   { 0xfeff, 0xfeff }, { 0xad, 0xad }, /* soft hyphen */
		{ 0xfff9, 0xfffb }, /* interlinear annotations */
		{ 0xe0001, 0xe007f }, /* tags */
	};

	for (size_t i = 0; i < COUNT(never); i++)
		for (uint32_t c = never[i][0]; c <= never[i][1]; c++)
			if (safe_length_of(c))
				fail_msg("U+%04X", c);
}

TEST(letters_signs_and_blanks_are_shown)
{
	static const uint32_t shown[][2] = {
		{ ' ', '~' },         { 0xa0, 0xac },       { 0xae, 0x34e },
		{ 0x370, 0x61b },     { 0x61d, 0x10ff },    { 0x1e00, 0x200a },
		{ 0x2010, 0x2027 },   { 0x202f, 0x205f },   { 0x2070, 0x3163 },
		{ 0x3165, 0xd7ff },   { 0xe000, 0xfdff },   { 0xfe10, 0xfefe },
		{ 0xfffd, 0xfffd },   { 0x10000, 0x1bc9f }, { 0x1f000, 0x1faff },
		{ 0x20000, 0x2fa1f },
	};

	for (size_t i = 0; i < COUNT(shown); i++)
		for (uint32_t c = shown[i][0]; c <= shown[i][1]; c++)
			if (!safe_length_of(c))
				fail_msg("U+%04X", c);
}

static const struct {
	const char *text, *shown;
} cases[] = {
	{ "", "" },
	{ "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80 \\x1b",
	  "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x98\x80 \\x1b" },
	{ "a\nb\rc\td", "a\\x0ab\\x0dc\\x09d" },
	{ "\x1b[31m\x7f", "\\x1b[31m\\x7f" },
	{ "\xc2\x9b"
	  "31m \x9b",
	  "\\xc2\\x9b31m \\x9b" },
	{ "\xe2\x80\xaetxt\xe2\x81\xa9", "\\xe2\\x80\\xaetxt\\xe2\\x81\\xa9" },
	{ "\xc0\x9b \xed\xa0\x80 \xf4\x90\x80\x80",
	  "\\xc0\\x9b \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80" },
};

TEST(a_line_is_one_line)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		FILE *out = text_begin();

		safe_line(out, "<%s> %d", cases[i].text, 5);
		text_end(out);
		assert_string_equal(text, formatted("<%s> 5\n", cases[i].shown));
	}
}

TEST(a_text_is_cut_between_characters)
{
	char text[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		safe_format(text, sizeof(text), "%s", cases[i].text);
		assert_string_equal(text, cases[i].shown);
		/* What was shown once stays as it is. */
		safe_format(text, sizeof(text), "%s", cases[i].shown);
		assert_string_equal(text, cases[i].shown);
	}
	safe_format(text, 8, "%d", 1234567);
	assert_string_equal(text, "1234567");
	safe_format(text, 8, "%d", 12345678);
	assert_string_equal(text, "1234...");
	safe_format(text, 8, "%s", "123\xff");
	assert_string_equal(text, "123\\xff");
	safe_format(text, 8, "%s", "1234\xff");
	assert_string_equal(text, "1234...");
	safe_format(text, 8, "%s",
		    "12\xf0\x9f\x98\x80"
		    "78");
	assert_string_equal(text, "12...");
}
