// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the JSON writer puts commas between values and nowhere else, that bytes become a valid string, and that
 * numbers are written exactly; that JSON is read by its grammar, and texts by their escapes. That any bytes read back is
 * proved by tests/fuzz/fuzz_label.c. */
#include "base/json.h"
#include "printed.h"
#include "unit.h"

static struct json begin(void)
{
	return (struct json){ .out = text_begin() };
}

static void assert_written(const struct json *j, const char *expected)
{
	text_end(j->out);
	assert_string_equal(text, expected);
	assert_int_equal(text_len, strlen(expected));
}

TEST(values_are_separated_by_commas)
{
	struct json j = begin();

	json_object(&j, NULL);
	json_array(&j, "empty");
	json_array_end(&j);
	json_object(&j, "object");
	json_object_end(&j);
	json_array(&j, "array");
	json_text(&j, NULL, "a");
	json_array(&j, NULL);
	json_bool(&j, NULL, true);
	json_bool(&j, NULL, false);
	json_array_end(&j);
	json_object(&j, NULL);
	json_text(&j, "b", "");
	json_object_end(&j);
	json_array_end(&j);
	json_unsigned(&j, "last", 1);
	json_object_end(&j);
	assert_written(&j, "{\"empty\":[],\"object\":{},"
			   "\"array\":[\"a\",[true,false],{\"b\":\"\"}],\"last\":1}");
	/* Members of another writer are values. */
	j = begin();
	json_object(&j, NULL);
	json_members(&j, "");
	json_members(&j, "\"a\":1,\"b\":2");
	json_members(&j, "");
	json_bool(&j, "c", true);
	json_object_end(&j);
	assert_written(&j, "{\"a\":1,\"b\":2,\"c\":true}");
	/* Lines begin after the comma. */
	j = begin();
	json_array(&j, NULL);
	json_newline(&j);
	json_signed(&j, NULL, 1);
	json_newline(&j);
	json_signed(&j, NULL, -2);
	json_array_end(&j);
	assert_written(&j, "[\n1,\n-2]");
}

TEST(numbers_are_exact)
{
	struct json j = begin();

	json_array(&j, NULL);
	json_unsigned(&j, NULL, UINT64_MAX);
	json_signed(&j, NULL, INT64_MIN);
	json_fraction(&j, NULL, -1.25, 1);
	json_fraction(&j, NULL, 2.0 / 3, 3);
	json_fraction(&j, NULL, 7, 0);
	json_nanoseconds(&j, NULL, 0);
	json_nanoseconds(&j, NULL, 1000000001);
	json_nanoseconds(&j, NULL, UINT64_MAX);
	json_array_end(&j);
	assert_written(&j, "[18446744073709551615,-9223372036854775808,-1.2,0.667,7,"
			   "0.000000000,1.000000001,18446744073.709551615]");
}

TEST(any_bytes_become_a_string)
{
	static const struct {
		const char *bytes, *written;
		size_t len;
	} cases[] = {
		{ "", "\"\"", 0 },
		{ "\"\\/", "\"\\\"\\\\/\"", 3 },
		{ "\0\n\x1f\x7f", "\"\\u0000\\u000a\\u001f\\u007f\"", 4 },
		{ "\xc2\x9b\xe2\x80\xae", "\"\\u009b\\u202e\"", 5 },
		{ "\xf3\xa0\x80\x81", "\"\\udb40\\udc01\"", 4 },
		{ "caf\xc3\xa9 \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"", 10 },
		/* no UTF-8: a lone byte, a cut character, an overlong form, a surrogate */
		{ "\xff", "\"\\\\xff\"", 1 },
		{ "a\xc3", "\"a\\\\xc3\"", 2 },
		{ "\xc0\xaf", "\"\\\\xc0\\\\xaf\"", 2 },
		{ "\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct json j = begin();

		json_bytes(&j, NULL, cases[i].bytes, cases[i].len);
		assert_written(&j, cases[i].written);
	}
}

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
	append_text(seen.names, "%.*s;", (int)span_left(name), name.at);
	append_text(seen.values, "%.*s;", (int)span_left(value), value.at);
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
