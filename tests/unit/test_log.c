// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a message is one line, at its level, in its form, and that the journal is recognized. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "printed.h"
#include "base/log.h"

/* @text becomes what one message writes to standard error; @lines NULL: it has none. */
static void write_lines(const struct log *log, enum log_level level, const char *message,
			const char *lines)
{
	FILE *file = not_null(tmpfile());
	int saved = redirect(STDERR_FILENO, fileno(file));
	long size;

	if (lines)
		log_write_lines(log, level, lines, "%s", message);
	else
		log_write(log, level, "%s", message);
	restore(STDERR_FILENO, saved);
	size = lseek(fileno(file), 0, SEEK_END);
	assert_true(size >= 0);
	free(text);
	text = not_null(calloc(1, (size_t)size + 1));
	assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
}

TEST(a_message_has_its_level_as_its_form_has_it)
{
	static const struct {
		enum log_level level;
		const char *text, *journal;
	} cases[] = {
		{ LOG_LEVEL_DEBUG, "xidscope: debug: 100 % done\n",
		  "<7>xidscope: debug: one\n<7>two\n" },
		{ LOG_LEVEL_INFO, "xidscope: 100 % done\n", "<6>xidscope: one\n<6>two\n" },
		{ LOG_LEVEL_WARN, "xidscope: warning: 100 % done\n",
		  "<4>xidscope: warning: one\n<4>two\n" },
		{ LOG_LEVEL_ERROR, "xidscope: error: 100 % done\n",
		  "<3>xidscope: error: one\n<3>two\n" },
	};
	const struct log log = { .verbose = true };
	const struct log journal = { .format = LOG_JOURNAL, .verbose = true };

	for (size_t i = 0; i < COUNT(cases); i++) {
		write_lines(&log, cases[i].level, "100 % done", NULL);
		assert_string_equal(text, cases[i].text);
		write_lines(&journal, cases[i].level, "one", "two\n");
		assert_string_equal(text, cases[i].journal);
	}
}

TEST(a_quiet_log_has_debug_messages_only)
{
	const struct log quiet = { .quiet = true }, verbose = { .quiet = true, .verbose = true };

	write_lines(&quiet, LOG_LEVEL_ERROR, "refused", NULL);
	assert_string_equal(text, "");
	write_lines(&verbose, LOG_LEVEL_ERROR, "refused", NULL);
	assert_string_equal(text, "xidscope: debug: refused\n");
}

/* A value in a message must not begin a line, nor write to the terminal. */
TEST(what_is_not_safe_in_a_message_is_escaped)
{
	static const char nasty[] = "no file '\n<0>xidscope: fine\x1b[2J\xc2\x9b\xe2\x80\xae\xff'";
	static const char shown[] =
		"no file '\\x0a<0>xidscope: fine\\x1b[2J\\xc2\\x9b\\xe2\\x80\\xae\\xff'";
	struct log log = {};

	write_lines(&log, LOG_LEVEL_WARN, nasty, NULL);
	assert_string_equal(text, formatted("xidscope: warning: %s\n", shown));
	write_lines(&log, LOG_LEVEL_INFO, "one", "\x1btwo\n\nfour\r");
	assert_string_equal(text, "xidscope: one\n\\x1btwo\n\nfour\\x0d\n");
	log.format = LOG_JOURNAL;
	write_lines(&log, LOG_LEVEL_WARN, nasty, NULL);
	assert_string_equal(text, formatted("<4>xidscope: warning: %s\n", shown));
	log.format = LOG_JSON;
	write_lines(&log, LOG_LEVEL_WARN, nasty, NULL);
	assert_has(text,
		   "\"no file '\\u000a<0>xidscope: fine\\u001b[2J\\u009b\\u202e\\\\xff'\"}\n");
}

TEST(the_journal_is_known_by_device_and_inode)
{
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	unsetenv("JOURNAL_STREAM");
	assert_false(log_is_journal());
	NONE_ACCEPTED(stream, setenv("JOURNAL_STREAM", stream, 1) || log_is_journal(), "", "x", "1",
		      "1:", ":1", "0:0", formatted("%lu:%lu", st.st_dev, st.st_ino + 1));
	setenv("JOURNAL_STREAM", formatted("%lu:%lu", st.st_dev, st.st_ino), 1);
	assert_true(log_is_journal());
	unsetenv("JOURNAL_STREAM");
}

TEST(debug_messages_are_shown_only_when_verbose)
{
	for (int i = 0; i < 2 * (LOG_JOURNAL + 1); i++) {
		const struct log log = { .format = (enum log_format)(i / 2), .verbose = i % 2 };

		write_lines(&log, LOG_LEVEL_DEBUG, "detail", NULL);
		assert_int_equal(strstr(text, "detail") != NULL, log.verbose);
		assert_int_equal(*text != 0, log.verbose);
	}
}

TEST(json_messages_are_one_object_on_one_line)
{
	static const char *const levels[] = { "info", "warning", "error" };
	static const char nasty[] = "line 1\nline \"2\" \\ \xff\x01";
	const struct log log = { .format = LOG_JSON };

	for (size_t i = 0; i < COUNT(levels); i++) {
		char when[32], level[16];
		int end = 0;

		write_lines(&log, (enum log_level)(LOG_LEVEL_INFO + i), nasty, NULL);
		assert_int_equal(
			sscanf(text,
			       "{\"time\":\"%31[0-9]-%*2[0-9]-%*2[0-9]T%*2[0-9]:%*2[0-9]:%*2[0-9].%*3[0-9]Z\","
			       "\"level\":\"%15[a-z]\",\"message\":%n",
			       when, level, &end),
			2);
		assert_true(end > 0);
		assert_int_equal(strlen(when), 4);
		assert_string_equal(level, levels[i]);
		assert_string_equal(text + end,
				    "\"line 1\\u000aline \\\"2\\\" \\\\ \\\\xff\\u0001\"}\n");
		write_lines(&log, LOG_LEVEL_INFO, "one", "two\n");
		assert_has(text, "\"one\\u000atwo\\u000a\"}\n");
	}
}

/* Most of 100 messages are lost where nobody reads what standard error, @to, gets. Ends with SIGALRM if the program waits for the
 * reader. */
static void lose_messages(int to)
{
	int saved = redirect(STDERR_FILENO, to);
	uint64_t before = log_lost();
	const struct log log = {};
	char text[4000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	alarm(120);
	for (int i = 0; i < 100; i++)
		log_error(&log, "%s", text);
	alarm(0);
	restore(STDERR_FILENO, saved);
	assert_in_range(log_lost() - before, 50, 99);
}

TEST(a_reader_that_does_not_read_loses_messages_but_does_not_stop_the_program)
{
	const struct log log = {};
	char text[4096];
	int ends[2], saved;
	uint64_t lost;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
	lose_messages(ends[1]);
	lost = log_lost();
	while (read(ends[0], text, sizeof(text)) > 0)
		;
	saved = redirect(STDERR_FILENO, ends[1]);
	log_error(&log, "again");
	restore(STDERR_FILENO, saved);
	assert_int_equal(log_lost(), lost);
	assert_in_range(read(ends[0], text, sizeof(text)), 6, sizeof(text));
	close(ends[0]);
	close(ends[1]);
}

/* It takes a part of a message, and poll() says that it is writable. */
TEST(nor_does_a_terminal_that_takes_no_more)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), to;

	assert_true(terminal >= 0 && !unlockpt(terminal));
	to = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(to >= 0);
	lose_messages(to);
	close(to);
	close(terminal);
}
