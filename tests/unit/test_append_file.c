// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that lines are appended whole, to a file that others may rename, fill the disk of, or replace by what it
 * must not be; that it is bounded and not readable by all. */
#include <sys/sysmacros.h>

#include "unit.h"
#include "plants.h"
#include "base/output_file.h"

static struct output_file file;

static struct output_file lines(const char *path)
{
	struct output_file f;

	assert_int_equal(output_file_init(&f, path), 0);
	f.append = true;
	return f;
}

BEFORE_EACH()
{
	file = lines("log");
}

AFTER_EACH()
{
	output_file_close(&file, true);
}

static int append(struct output_file *f, const char *text, size_t *done)
{
	return output_file_append(f, text, strlen(text), done);
}

/* What has to be written whole. */
static void append_whole(struct output_file *f, const char *text)
{
	size_t done;

	assert_int_equal(append(f, text, &done), 0);
	assert_int_equal(done, strlen(text));
}

static mode_t mode(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode & 07777;
}

TEST(lines_are_appended)
{
	append_whole(&file, "one\n");
	append_whole(&file, "two\nthree\n");
	assert_content("log", "one\ntwo\nthree\n");
	assert_int_equal(rename("log", "log.old"), 0);
	append_whole(&file, "four\n");
	assert_content("log", "four\n");
}

/* The process that writes has no umask. */
TEST(others_cannot_read_it)
{
	mode_t saved = umask(0);

	append_whole(&file, "one\n");
	assert_int_equal(mode("log"), 0640);
	assert_int_equal(chmod("log", 0644), 0);
	append_whole(&file, "two\n");
	assert_int_equal(mode("log"), 0640);
	/* What is stricter stays. */
	assert_int_equal(chmod("log", 0600), 0);
	append_whole(&file, "three\n");
	assert_int_equal(mode("log"), 0600);
	umask(saved);
}

TEST(nothing_but_a_file_with_one_link_is_written)
{
	size_t done;

	for (int kind = 0; kind < PLANTS; kind++) {
		plant("log", kind);
		assert_int_equal(output_file_check(&file), plant_errors[kind]);
		assert_int_equal(append(&file, "x\n", &done), plant_errors[kind]);
		assert_int_equal(done, 0);
		assert_victim();
		assert_int_equal(remove("log"), 0);
		append_whole(&file, "healed\n");
		assert_content("log", "healed\n");
		assert_int_equal(remove("log"), 0);
	}
}

TEST(a_character_device_is_written_and_left_as_it_is)
{
	struct output_file device = lines("device");
	struct stat before, after;

	device.max = 1;
	if (mknod("device", S_IFCHR | 0666, makedev(1, 3)))
		skip();
	assert_int_equal(lstat("device", &before), 0);
	assert_int_equal(output_file_check(&device), 0);
	append_whole(&device, "one\ntwo\n");
	assert_int_equal(lstat("device", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_mode, after.st_mode);
	assert_int_not_equal(access("device.1", F_OK), 0);
	output_file_close(&device, true);
}

TEST(a_full_device_is_an_error)
{
	struct output_file full = lines("/dev/full");
	size_t done;

	assert_int_equal(append(&full, "x\n", &done), -ENOSPC);
	assert_int_equal(done, 0);
	output_file_close(&full, true);
}

TEST(a_missing_folder_heals)
{
	struct output_file f = lines("dir/log");
	size_t done;

	assert_int_equal(output_file_check(&f), -ENOENT);
	assert_int_equal(append(&f, "one\n", &done), -ENOENT);
	assert_int_equal(mkdir("dir", 0755), 0);
	assert_int_equal(output_file_check(&f), 0);
	append_whole(&f, "two\n");
	assert_content("dir/log", "two\n");
	output_file_close(&f, true);
}

TEST(a_torn_line_ends_where_it_was_torn)
{
	size_t done;

	append_whole(&file, "one\n");
	limit_file_size(11);
	assert_int_equal(append(&file, "two\nthree\nfour\n", &done), -ENOSPC);
	assert_int_equal(done, 4);
	limit_file_size(RLIM_INFINITY);
	append_whole(&file, "three\n");
	assert_content("log", "one\ntwo\nthr\nthree\n");
}

TEST(a_line_that_a_crash_has_torn_is_ended)
{
	put("/log", "one\ntw");
	append_whole(&file, "three\n");
	assert_content("log", "one\ntw\nthree\n");
}

TEST(a_file_that_is_full_is_renamed)
{
	struct output_file f = lines("log");

	f.max = 10;
	append_whole(&f, "12345678\n");
	append_whole(&f, "abc\n");
	assert_content("log", "abc\n");
	assert_content("log.1", "12345678\n");
	append_whole(&f, "defgh\n");
	assert_content("log", "abc\ndefgh\n");
	append_whole(&f, "i\n");
	assert_content("log", "i\n");
	assert_content("log.1", "abc\ndefgh\n");
	/* A line that is longer than that is not lost. */
	append_whole(&f, "a line that is too long\n");
	assert_content("log", "a line that is too long\n");
	assert_content("log.1", "i\n");
	output_file_close(&f, true);
}

TEST(what_is_no_file_is_not_replaced_by_a_full_one)
{
	struct output_file f = lines("log");
	size_t done;

	f.max = 10;
	assert_int_equal(mkfifo("log.1", 0600), 0);
	append_whole(&f, "12345678\n");
	assert_int_equal(append(&f, "abc\n", &done), -ENOTUNIQ);
	assert_content("log", "12345678\n");
	assert_int_equal(unlink("log.1"), 0);
	append_whole(&f, "abc\n");
	assert_content("log.1", "12345678\n");
	output_file_close(&f, true);
}

/* Reads what standard output got. */
static void with_stdout(int fd, struct output_file *f, const char *text, int expected, size_t taken)
{
	int saved = dup(STDOUT_FILENO), err;
	size_t done;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	err = append(f, text, &done);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(err, expected);
	assert_int_equal(done, taken);
}

TEST(a_dash_is_standard_output)
{
	struct output_file f = lines("-");
	int out = open("out", O_CREAT | O_WRONLY, 0644), ends[2];
	char text[16] = "";

	assert_int_equal(output_file_check(&f), 0);
	with_stdout(out, &f, "one\n", 0, 4);
	limit_file_size(10);
	with_stdout(out, &f, "two\nthree\n", -ENOSPC, 4);
	limit_file_size(RLIM_INFINITY);
	with_stdout(out, &f, "three\n", 0, 6);
	assert_content("out", "one\ntwo\nth\nthree\n");
	close(out);
	/* A reader that is gone is an error. */
	assert_int_equal(pipe(ends), 0);
	with_stdout(ends[1], &f, "one\n", 0, 4);
	assert_int_equal(read(ends[0], text, sizeof(text)), 4);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	with_stdout(ends[1], &f, "one\n", -EPIPE, 0);
	signal(SIGPIPE, SIG_DFL);
	close(ends[1]);
	output_file_close(&f, true);
}
