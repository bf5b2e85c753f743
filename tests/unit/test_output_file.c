// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that readers of the file get the old or the new one and nothing in between, whatever fails; that two
 * processes never write the same one; that nothing but a regular file with one link is opened, replaced or removed,
 * whatever others put in its folder. And of a file to which lines are appended: that they are whole where others rename
 * it, fill its disk, or replace it by what it must not be; that it is bounded and not readable by all. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "plants.h"
#include "base/output_file.h"

static char path[64]; /* of the file, absolute */
static struct output_file f, second; /* it, and as another agent has it */

static char calls[64]; /* those below, in their order */

/* In place of the C library's. */
int fdatasync(int fd)
{
	strcat(calls, "data ");
	return (int)syscall(SYS_fdatasync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
	strcat(calls, "rename ");
	return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int fsync(int fd)
{
	struct stat st;

	strcat(calls, fstat(fd, &st) || !S_ISDIR(st.st_mode) ? "file " : "folder ");
	return (int)syscall(SYS_fsync, fd);
}

BEFORE_EACH()
{
	*calls = 0;
	assert_int_equal(mkdir("dir", 0755), 0);
	snprintf(path, sizeof(path), "%s/dir/x.prom", root);
	assert_int_equal(output_file_init(&f, path), 0);
	assert_int_equal(output_file_init(&second, path), 0);
}

AFTER_EACH()
{
	output_file_close(&second, true);
	output_file_close(&f, true);
}

/* Entries of a directory, "." and ".." aside. */
static size_t count_entries(const char *name)
{
	DIR *dir = opendir(name);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static int write_text(struct output_file *to, const char *text)
{
	return output_file_write(to, text, strlen(text), NULL);
}

/* The file has that text afterwards. */
static void write_whole(struct output_file *to, const char *text)
{
	assert_int_equal(write_text(to, text), 0);
	assert_content(path, text);
}

static struct output_file open_output(const char *name)
{
	struct output_file opened;

	assert_int_equal(output_file_init(&opened, name), 0);
	return opened;
}

static mode_t mode(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	return st.st_mode & 07777;
}

/* Closes the file and removes it: nothing is left in its folder. */
static void close_empty(void)
{
	output_file_close(&f, false);
	assert_int_equal(count_entries("dir"), 0);
}

TEST(the_file_is_replaced_as_a_whole)
{
	char text[16] = "";
	int old;

	put("/dir/x.prom", "older and longer");
	/* left by a crash */
	put("/dir/.x.prom.tmp", "half of a file that was longer");
	put("/dir/.x.prom.lock", "");
	old = open(path, O_RDONLY);
	assert_true(old >= 0);
	assert_int_equal(output_file_lock(&f, 0), 0);
	write_whole(&f, "new");
	/* Who had opened the old one still reads all of it. */
	assert_int_equal(read(old, text, 8), 8);
	assert_string_equal(text, "older an");
	close(old);
	write_whole(&f, "n");
	write_whole(&f, "");
	/* beside it there is the lock only */
	assert_int_equal(count_entries("dir"), 2);
	close_empty();
}

/* A reset at any moment leaves the old or the new file. */
TEST(a_durable_file_is_on_the_disk_before_its_name)
{
	write_whole(&f, "one");
	assert_string_equal(calls, "rename ");
	*calls = 0;
	f.durable = true;
	write_whole(&f, "two");
	assert_string_equal(calls, "data rename folder ");
}

TEST(the_file_is_readable_by_all_under_any_umask)
{
	for (int i = 0; i < 2; i++) {
		mode_t saved = umask(i ? 0 : 077);
		int err = write_text(&f, "a");

		umask(saved);
		assert_int_equal(err, 0);
		assert_int_equal(mode(path), 0644);
	}
}

TEST(a_path_is_split_into_folder_and_name)
{
	static const char *const cases[][3] = {
		{ "/var/lib/x.prom", "/var/lib", "x.prom" },
		{ "x.prom", ".", "x.prom" },
		{ "/x.prom", "/", "x.prom" },
		{ "a/b", "a", "b" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct output_file other = open_output(cases[i][0]);

		assert_string_equal(other.folder, cases[i][1]);
		assert_string_equal(other.name, cases[i][2]);
		output_file_close(&other, false);
	}
}

TEST(a_missing_directory_fails_until_it_is_there)
{
	struct output_file here = open_output("y.prom"), folder = open_output("dir/");

	assert_int_equal(output_file_check(&folder), -EISDIR);
	assert_int_equal(write_text(&folder, "x"), -EISDIR);
	output_file_close(&folder, false);
	assert_int_equal(rmdir("dir"), 0);
	assert_int_equal(output_file_lock(&f, 0), -ENOENT);
	assert_int_equal(write_text(&f, "a"), -ENOENT);
	assert_int_equal(mkdir("dir", 0755), 0);
	write_whole(&f, "b");
	close_empty();
	/* Without a directory it is the working one. */
	assert_int_equal(write_text(&here, "a"), 0);
	assert_content("y.prom", "a");
	output_file_close(&here, false);
	assert_int_equal(count_entries("."), 1); /* dir */
}

/* ---- what another user can put in the folder ---- */

TEST(what_is_planted_at_the_temporary_is_removed_or_refused)
{
	const char *name = "dir/.x.prom.tmp";

	for (int kind = 0; kind < PLANTS; kind++) {
		fresh();
		assert_int_equal(write_text(&f, "old"), 0);
		plant(name, kind);
		assert_int_equal(write_text(&f, "new"), kind == FOLDER ? -ENOTUNIQ : 0);
		assert_content(path, kind == FOLDER ? "old" : "new");
		assert_victim();
		if (kind == FOLDER)
			assert_int_equal(rmdir(name), 0);
		write_whole(&f, "newer");
		close_empty();
	}
}

TEST(what_is_planted_at_the_lock_is_refused_until_it_is_gone)
{
	const char *name = "dir/.x.prom.lock";

	for (int kind = 0; kind < PLANTS; kind++) {
		fresh();
		plant(name, kind);
		assert_int_equal(output_file_lock(&f, 0), -ENOTUNIQ);
		assert_int_equal(write_text(&f, "new"), -ENOTUNIQ);
		assert_false(exists(path));
		assert_victim();
		assert_int_equal(remove(name), 0);
		write_whole(&f, "new");
		/* The same while the lock is held. */
		assert_int_equal(remove(name), 0);
		plant(name, kind);
		assert_int_equal(write_text(&f, "newer"), -ENOTUNIQ);
		assert_content(path, "new");
		assert_int_equal(remove(name), 0);
		assert_int_equal(write_text(&f, "newest"), 0);
		close_empty();
	}
}

TEST(what_is_planted_at_the_file_is_neither_replaced_nor_removed)
{
	for (int kind = 0; kind < PLANTS; kind++) {
		struct stat before, after;

		fresh();
		assert_int_equal(output_file_check(&f), 0);
		assert_int_equal(write_text(&f, "old"), 0);
		assert_int_equal(output_file_check(&f), 0);
		assert_int_equal(remove(path), 0);
		plant(path, kind);
		assert_int_equal(lstat(path, &before), 0);
		assert_int_equal(output_file_check(&f), plant_errors[kind]);
		assert_int_equal(output_open(path), plant_errors[kind]);
		assert_int_equal(write_text(&f, "new"), plant_errors[kind]);
		assert_int_equal(output_file_write(&f, "new", 3, "damaged"), plant_errors[kind]);
		assert_victim();
		assert_int_equal(lstat(path, &after), 0);
		assert_int_equal(before.st_ino, after.st_ino);
		assert_false(exists("dir/.x.prom.tmp"));
		assert_false(exists("dir/x.prom.damaged"));
		output_file_close(&f, false);
		assert_true(exists(path));
		assert_int_equal(remove(path), 0);
		assert_int_equal(count_entries("dir"), 0);
	}
}

TEST(the_old_file_is_set_aside)
{
	put("/dir/x.prom", "damaged");
	assert_int_equal(output_file_write(&f, "new", 3, "damaged"), 0);
	assert_content("dir/x.prom.damaged", "damaged");
	assert_content(path, "new");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(output_file_write(&f, "newer", 5, "damaged"), 0);
	assert_content("dir/x.prom.damaged", "damaged");
	assert_content(path, "newer");
}

TEST(a_full_disk_leaves_the_old_file_and_no_temporary)
{
	char big[10000];
	int err;

	memset(big, 'x', sizeof(big));
	assert_int_equal(write_text(&f, "old"), 0);
	limit_file_size(4096);
	err = output_file_write(&f, big, sizeof(big), NULL);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	assert_content(path, "old");
	assert_false(exists("dir/.x.prom.tmp"));
	write_whole(&f, "new");
}

/* Returns what locking in a process of its own returned, as a positive errno. */
static int lock_in_child(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct output_file f;

		_exit(output_file_init(&f, path) ? 255 : -output_file_lock(&f, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(a_second_holder_is_refused_until_the_first_is_gone)
{
	assert_int_equal(output_file_lock(&f, 0), 0);
	assert_int_equal(output_file_lock(&f, 0), 0);
	assert_int_equal(output_file_lock(&second, 0), -EBUSY);
	assert_int_equal(lock_in_child(), EBUSY);
	assert_int_equal(write_text(&f, "first"), 0);
	assert_int_equal(write_text(&second, "second"), -EBUSY);
	assert_content(path, "first");
	/* One that was refused removes neither the file nor the lock. */
	output_file_close(&second, false);
	assert_content(path, "first");
	assert_int_equal(lock_in_child(), EBUSY);
	second = open_output(path);
	output_file_close(&f, true);
	write_whole(&second, "second");
	output_file_close(&second, false);
	assert_int_equal(count_entries("dir"), 0);
	/* A process that ends without a close leaves the file of the lock. */
	assert_int_equal(lock_in_child(), 0);
	assert_true(exists("dir/.x.prom.lock"));
	second = open_output(path);
	assert_int_equal(output_file_lock(&second, 0), 0);
}

static void replace_directory(void)
{
	assert_int_equal(rename("dir", "old"), 0);
	assert_int_equal(mkdir("dir", 0755), 0);
}

TEST(the_lock_is_taken_again_when_the_directory_was_replaced)
{
	assert_int_equal(write_text(&f, "a"), 0);
	replace_directory();
	assert_int_equal(lock_in_child(), 0);
	write_whole(&f, "b");
	assert_content("old/x.prom", "a");
	assert_int_equal(lock_in_child(), EBUSY);
	close_empty();
}

/* Whether the former one tries to write again or ends at once. */
TEST(the_first_process_in_a_replaced_directory_keeps_it)
{
	for (int again = 0; again < 2; again++) {
		fresh();
		assert_int_equal(write_text(&f, "first"), 0);
		replace_directory();
		assert_int_equal(write_text(&second, "second"), 0);
		if (again)
			assert_int_equal(write_text(&f, "first"), -EBUSY);
		output_file_close(&f, false);
		assert_content(path, "second");
		assert_int_equal(lock_in_child(), EBUSY);
	}
}

TEST(close_removes_the_file_or_keeps_it)
{
	assert_int_equal(write_text(&f, "a"), 0);
	output_file_close(&f, true);
	assert_content(path, "a");
	assert_int_equal(count_entries("dir"), 1);
	f = open_output(path);
	assert_int_equal(write_text(&f, "b"), 0);
	close_empty();
	/* So it does without the lock. */
	fresh();
	assert_int_equal(write_text(&f, "a"), 0);
	assert_int_equal(unlink("dir/.x.prom.lock"), 0);
	close_empty();
	/* It leaves a file that it never wrote. */
	fresh();
	put("/dir/x.prom", "another's");
	assert_int_equal(output_file_lock(&f, 0), 0);
	output_file_close(&f, false);
	assert_content(path, "another's");
	assert_int_equal(count_entries("dir"), 1);
}

TEST(a_dash_is_standard_output_without_a_lock)
{
	struct output_file one = open_output("-"), two = open_output("-");
	int out = open("captured", O_CREAT | O_WRONLY, 0600), err;
	int saved = redirect(STDOUT_FILENO, out);

	err = output_file_lock(&one, 0) || output_file_lock(&two, 0) || write_text(&one, "one ") ||
	      write_text(&two, "two");
	output_file_close(&one, false);
	output_file_close(&two, false);
	restore(STDOUT_FILENO, saved);
	close(out);
	assert_false(err);
	assert_content("captured", "one two");
	assert_int_equal(count_entries("."), 2); /* dir and captured */
}

/* The name cannot be looked up for a while. */
TEST(a_lock_whose_name_was_not_found_is_still_held)
{
	uid_t user = geteuid();

	if (!user) {
		/* Root may search any folder. */
		assert_int_equal(chown("dir", 65534, 65534), 0);
		assert_int_equal(chmod(".", 0755), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(write_text(&f, "one"), 0);
	assert_int_equal(chmod("dir", 0600), 0);
	assert_int_equal(write_text(&f, "two"), -EACCES);
	assert_int_equal(chmod("dir", 0700), 0);
	assert_int_equal(write_text(&f, "three"), 0);
	assert_int_equal(seteuid(user), 0);
	assert_content(path, "three");
	assert_int_equal(lock_in_child(), EBUSY);
}

/* ---- lines that are appended ---- */

static struct output_file file;

BEFORE_EACH()
{
	file = open_output("log");
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
	static const mode_t cases[][2] = { { 0, 0640 }, { 0644, 0640 }, { 0600, 0600 } };
	mode_t saved = umask(0);

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (i) /* what is stricter stays */
			assert_int_equal(chmod("log", cases[i][0]), 0);
		append_whole(&file, "one\n");
		assert_int_equal(mode("log"), cases[i][1]);
	}
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

TEST(a_missing_folder_heals)
{
	struct output_file f = open_output("new/log");
	size_t done;

	assert_int_equal(output_file_check(&f), -ENOENT);
	assert_int_equal(append(&f, "one\n", &done), -ENOENT);
	assert_int_equal(mkdir("new", 0755), 0);
	assert_int_equal(output_file_check(&f), 0);
	append_whole(&f, "two\n");
	assert_content("new/log", "two\n");
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
	/* Or by a crash. */
	put("/log", "one\ntw");
	append_whole(&file, "three\n");
	assert_content("log", "one\ntw\nthree\n");
}

/* The next process gets the lines again that one had when it was killed. */
TEST(lines_that_are_there_are_not_written_again)
{
	static const struct {
		const char *there, *lines, *then;
	} cases[] = {
		{ "a\nb\n", "b\nc\n", "a\nb\nc\n" },
		{ "a\nb\nc\n", "b\nc\n", "a\nb\nc\n" },
		{ "a\n", "a\nb\n", "a\nb\n" },
		{ "a\nb\nc", "b\nccc\n", "a\nb\nc\nccc\n" },
		{ "a\nb\nb\n", "b\nc\n", "a\nb\nb\nc\n" },
		{ "a\nb\n", "c\nb\n", "a\nb\nc\nb\n" },
		{ "", "a\n", "a\n" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		put("/log", cases[i].there);
		append_whole(&file, cases[i].lines);
		assert_content("log", cases[i].then);
		append_whole(&file, cases[i].lines); /* these are others */
		assert_content("log", formatted("%s%s", cases[i].then, cases[i].lines));
		output_file_close(&file, true);
		file = open_output("log");
	}
}

TEST(a_file_that_is_full_is_renamed)
{
	/* A line that is longer than the most is not lost. */
	static const char *const cases[][3] = { /* the line, the file and the old one then */
						{ "12345678\n", "12345678\n", NULL },
						{ "abc\n", "abc\n", "12345678\n" },
						{ "defgh\n", "abc\ndefgh\n", "12345678\n" },
						{ "i\n", "i\n", "abc\ndefgh\n" },
						{ "a line too long\n", "a line too long\n", "i\n" }
	};

	file.max = 10;
	for (size_t i = 0; i < COUNT(cases); i++) {
		append_whole(&file, cases[i][0]);
		assert_content("log", cases[i][1]);
		if (cases[i][2])
			assert_content("log.1", cases[i][2]);
	}
}

TEST(what_is_no_file_is_not_replaced_by_a_full_one)
{
	size_t done;

	file.max = 10;
	assert_int_equal(mkfifo("log.1", 0600), 0);
	append_whole(&file, "12345678\n");
	assert_int_equal(append(&file, "abc\n", &done), -ENOTUNIQ);
	assert_content("log", "12345678\n");
	assert_int_equal(unlink("log.1"), 0);
	append_whole(&file, "abc\n");
	assert_content("log.1", "12345678\n");
}

/* Reads what standard output got. */
static void with_stdout(int fd, struct output_file *f, const char *text, int expected, size_t taken)
{
	int saved = redirect(STDOUT_FILENO, fd), err;
	size_t done;

	err = append(f, text, &done);
	restore(STDOUT_FILENO, saved);
	assert_int_equal(err, expected);
	assert_int_equal(done, taken);
}

TEST(a_dash_is_standard_output)
{
	struct output_file f = open_output("-");
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
