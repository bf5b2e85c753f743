// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that any bytes become one valid JSON string that reads back as what
 * went in, and that a message is one line, at its level, in its form.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/label.h"
#include "base/log.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes without their NUL. */
#define BYTES(literal) literal, sizeof(literal) - 1

/* Caller frees. */
static char *json(const char *bytes, size_t len)
{
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	assert_non_null(out);
	json_string(out, bytes, len);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(result), size);
	return result;
}

/*
 * Reads the JSON string at text (RFC 8259, section 7) into out, at most size
 * bytes. Returns what follows it, or NULL if there is no valid one.
 */
static const char *read_json_string(const char *text, char *out, size_t size, size_t *len)
{
	size_t n;

	*len = 0;
	if (*text++ != '"')
		return NULL;
	while (*text != '"') {
		if (*len + 4 > size || (unsigned char)*text < 0x20)
			return NULL;
		if (*text != '\\') {
			n = utf8_length(text, strlen(text));
			if (!n)
				return NULL;
			memcpy(out + *len, text, n);
			*len += n;
			text += n;
		} else if (text[1] == '"' || text[1] == '\\') {
			out[(*len)++] = text[1];
			text += 2;
		} else if (!strncmp(text, "\\u00", 4) && isxdigit(text[4]) && isxdigit(text[5])) {
			out[(*len)++] = (char)strtol((char[]){ text[4], text[5], 0 }, NULL, 16);
			text += 6;
		} else {
			return NULL;
		}
	}
	return text + 1;
}

static void special_bytes_are_escaped(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *expected;
	} cases[] = {
		{ BYTES(""), "\"\"" },
		{ BYTES("plain / text"), "\"plain / text\"" },
		{ BYTES("\"\\"), "\"\\\"\\\\\"" },
		{ BYTES("a\nb\tc\rd\0e\x1f"), "\"a\\u000ab\\u0009c\\u000dd\\u0000e\\u001f\"" },
		{ BYTES("caf\xc3\xa9 \xf0\x9f\x98\x80"), "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"" },
		{ BYTES("\xff\xc0\x80\xed\xa0\x80"),
		  "\"\\\\xff\\\\xc0\\\\x80\\\\xed\\\\xa0\\\\x80\"" },
		{ BYTES("x\xe2\x82"), "\"x\\\\xe2\\\\x82\"" },
		{ BYTES("\x7f"), "\"\x7f\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *result = json(cases[i].bytes, cases[i].len);

		assert_string_equal(result, cases[i].expected);
		free(result);
	}
}

/* What went in, with "\xNN" for what is not UTF-8. */
static size_t as_read(const char *bytes, size_t len, char *out)
{
	size_t n, used = 0;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_length(bytes + i, len - i);
		if (n) {
			memcpy(out + used, bytes + i, n);
			used += n;
		} else {
			n = 1;
			used += (size_t)sprintf(out + used, "\\x%02x", (unsigned char)bytes[i]);
		}
	}
	return used;
}

static void any_bytes_read_back_from_valid_json(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int n = 0; n < 100000; n++) {
		char expected[129], got[160], *bytes, *text;
		size_t len = (size_t)n % 32, want, have;
		const char *end;

		bytes = malloc(len ? len : 1); /* for ASan */
		assert_non_null(bytes);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* as often ASCII as not */
			bytes[i] = (char)(seed >> 56 & (seed >> 40 & 1 ? 0x7f : 0xff));
		}
		text = json(bytes, len);
		end = read_json_string(text, got, sizeof(got), &have);
		assert_non_null(end);
		assert_int_equal(*end, 0);
		want = as_read(bytes, len, expected);
		assert_int_equal(have, want);
		assert_memory_equal(got, expected, want);
		free(text);
		free(bytes);
	}
}

/* What one message writes to standard error; caller frees. */
static char *written(const struct log *log, enum log_level level, const char *message)
{
	int saved = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	char *text;
	long size;

	assert_true(saved >= 0 && file);
	dup2(fileno(file), STDERR_FILENO);
	log_write(log, level, "%s", message);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	size = lseek(fileno(file), 0, SEEK_END);
	assert_true(size >= 0);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
	return text;
}

static void text_messages_have_the_programs_name_and_their_level(void **state)
{
	static const struct {
		enum log_level level;
		const char *expected;
	} cases[] = {
		{ LOG_LEVEL_DEBUG, "xidscope: debug: 100 % done\n" },
		{ LOG_LEVEL_INFO, "xidscope: 100 % done\n" },
		{ LOG_LEVEL_WARN, "xidscope: warning: 100 % done\n" },
		{ LOG_LEVEL_ERROR, "xidscope: error: 100 % done\n" },
	};
	const struct log log = { .verbose = true };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = written(&log, cases[i].level, "100 % done");

		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

static void the_journal_gets_the_priority_of_each_line(void **state)
{
	static const struct {
		enum log_level level;
		const char *expected;
	} cases[] = {
		{ LOG_LEVEL_DEBUG, "<7>xidscope: debug: one\n<7>two\n" },
		{ LOG_LEVEL_INFO, "<6>xidscope: one\n<6>two\n" },
		{ LOG_LEVEL_WARN, "<4>xidscope: warning: one\n<4>two\n" },
		{ LOG_LEVEL_ERROR, "<3>xidscope: error: one\n<3>two\n" },
	};
	const struct log log = { .format = LOG_JOURNAL, .verbose = true };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = written(&log, cases[i].level, "one\ntwo");

		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

static void the_journal_is_known_by_device_and_inode(void **state)
{
	static const char *const others[] = { "", "x", "1", "1:", ":1", "0:0" };
	char stream[64];
	struct stat st;

	(void)state;
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_true(log_is_journal());
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_false(log_is_journal());
	for (size_t i = 0; i < COUNT(others); i++) {
		setenv("JOURNAL_STREAM", others[i], 1);
		assert_false(log_is_journal());
	}
	unsetenv("JOURNAL_STREAM");
	assert_false(log_is_journal());
}

static void debug_messages_are_shown_only_when_verbose(void **state)
{
	(void)state;
	for (int format = LOG_TEXT; format <= LOG_JOURNAL; format++)
		for (int verbose = 0; verbose < 2; verbose++) {
			const struct log log = { .format = (enum log_format)format,
						 .verbose = verbose };
			char *text = written(&log, LOG_LEVEL_DEBUG, "detail");

			assert_int_equal(strstr(text, "detail") != NULL, verbose);
			assert_int_equal(*text != 0, verbose);
			free(text);
			text = written(&log, LOG_LEVEL_INFO, "detail");
			assert_non_null(strstr(text, "detail"));
			free(text);
		}
}

static void json_messages_are_one_object_on_one_line(void **state)
{
	static const char *const levels[] = { "info", "warning", "error" };
	static const char nasty[] = "line 1\nline \"2\" \\ \xff\x01";
	const struct log log = { .format = LOG_JSON };

	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++) {
		char *text = written(&log, (enum log_level)(LOG_LEVEL_INFO + i), nasty);
		char when[32], level[16], message[64];
		size_t len;
		const char *at;
		int end = 0;

		assert_int_equal(
			sscanf(text,
			       "{\"time\":\"%31[0-9]-%*2[0-9]-%*2[0-9]T%*2[0-9]:%*2[0-9]:%*2[0-9].%*3[0-9]Z\","
			       "\"level\":\"%15[a-z]\",\"message\":%n",
			       when, level, &end),
			2);
		assert_true(end > 0);
		assert_int_equal(strlen(when), 4);
		assert_string_equal(level, levels[i]);
		at = read_json_string(text + end, message, sizeof(message), &len);
		assert_non_null(at);
		message[len] = 0;
		assert_string_equal(message, "line 1\nline \"2\" \\ \\xff\x01");
		assert_string_equal(at, "}\n");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(special_bytes_are_escaped),
		cmocka_unit_test(any_bytes_read_back_from_valid_json),
		cmocka_unit_test(text_messages_have_the_programs_name_and_their_level),
		cmocka_unit_test(the_journal_gets_the_priority_of_each_line),
		cmocka_unit_test(the_journal_is_known_by_device_and_inode),
		cmocka_unit_test(debug_messages_are_shown_only_when_verbose),
		cmocka_unit_test(json_messages_are_one_object_on_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
