// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that JSON is read by its grammar, and texts by their escapes. */
#include "unit.h"
#include "base/json_reader.h"

static struct span named(const char *text)
{
	return (struct span){ text, text + strlen(text) };
}

static struct {
	char names[64], values[64];
} seen;

static void on_item(void *context, struct span name, struct span value)
{
	(void)context;
	snprintf(seen.names + strlen(seen.names), sizeof(seen.names) - strlen(seen.names), "%.*s;",
		 (int)span_left(name), name.at);
	snprintf(seen.values + strlen(seen.values), sizeof(seen.values) - strlen(seen.values),
		 "%.*s;", (int)span_left(value), value.at);
}

static bool read_text(const char *text)
{
	memset(&seen, 0, sizeof(seen));
	return json_read(named(text), on_item, NULL);
}

TEST(members_and_elements_are_read)
{
	assert_true(read_text(" { \"a\" : 1, \"b\":{\"c\":[1,2]} ,\"\":null} "));
	assert_string_equal(seen.names, "a;b;;");
	assert_string_equal(seen.values, "1;{\"c\":[1,2]};null;");
	assert_true(read_text("[-0.5e+3,\"x\\\"]\",true]"));
	assert_string_equal(seen.values, "-0.5e+3;\"x\\\"]\";true;");
	assert_true(read_text("{}"));
	assert_true(read_text("[]"));
}

TEST(what_is_no_json_is_refused)
{
	char deep[200];

	NONE_ACCEPTED(text, read_text(text), "", "1", "\"a\"", "{", "{}}", "{\"a\"}", "{\"a\":}",
		      "{a:1}", "[1,]", "[01]", "[1.]", "[1e]", "[+1]", "[\"\n\"]", "[\"\\x\"]",
		      "[\"\\u12\"]", "[\"a]", "[tru]", "{\"a\":1,}", "[1}");
	memset(deep, '[', 40);
	memset(deep + 40, ']', 40);
	deep[80] = 0;
	assert_false(read_text(deep));
	assert_true(json_read((struct span){ deep + 8, deep + 72 }, on_item, NULL));
}

static void assert_decoded(const char *inside, size_t size, const char *expected)
{
	char text[64];

	json_decode(named(inside), text, size);
	assert_string_equal(text, expected);
}

TEST(texts_are_decoded)
{
	assert_decoded("a\\n\\\"\\/\\u00e4\\ud83d\\ude00z", 64, "a\n\"/\xc3\xa4\xf0\x9f\x98\x80z");
	assert_decoded("\\u0000\\ud83dx", 64, "\xef\xbf\xbd\xef\xbf\xbdx");
	assert_decoded("abc\xc3\xa4", 5, "abc");
	assert_decoded("abc\xc3\xa4", 6, "abc\xc3\xa4");
	assert_decoded("ab\\u00e4", 4, "ab");
}
