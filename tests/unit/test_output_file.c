// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that readers of the file get the old or the new one and nothing in between, whatever fails; that two
 * processes never write the same one; and that nothing but a regular file with one link is opened, replaced or
 * removed, whatever others put in its folder. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "plants.h"
#include "base/output_file.h"

static char path[64]; /* of the file, absolute */
static struct output_file f, second; /* it, and as another agent has it */

BEFORE_EACH()
{
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

static bool exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
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
	old = open(path, O_RDONLY);
	assert_true(old >= 0);
	assert_int_equal(output_file_lock(&f), 0);
	write_whole(&f, "new");
	/* Who had opened the old one still reads all of it. */
	assert_int_equal(read(old, text, 8), 8);
	assert_string_equal(text, "older an");
	close(old);
	write_whole(&f, "n");
	write_whole(&f, "");
	/* beside it there is the lock only */
	assert_int_equal(count_entries("dir"), 2);
}

TEST(the_file_is_readable_by_all_under_any_umask)
{
	mode_t saved = umask(077);
	struct stat st;

	assert_int_equal(write_text(&f, "a"), 0);
	umask(0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(write_text(&f, "b"), 0);
	umask(saved);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
}

TEST(names_beside_the_file_are_hidden_and_not_collected)
{
	static const char *const cases[][5] = {
		{ "/var/lib/x.prom", "/var/lib", "x.prom", ".x.prom.tmp", ".x.prom.lock" },
		{ "x.prom", ".", "x.prom", ".x.prom.tmp", ".x.prom.lock" },
		{ "/x.prom", "/", "x.prom", ".x.prom.tmp", ".x.prom.lock" },
		{ "a/b", "a", "b", ".b.tmp", ".b.lock" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct output_file other = open_output(cases[i][0]);

		assert_string_equal(other.folder, cases[i][1]);
		for (int part = 0; part < OUTPUT_PARTS; part++)
			assert_string_equal(other.names[part], cases[i][2 + part]);
		output_file_close(&other, false);
	}
}

TEST(a_name_without_a_directory_is_in_the_working_directory)
{
	struct output_file other = open_output("y.prom");

	assert_int_equal(write_text(&other, "a"), 0);
	assert_content("y.prom", "a");
	output_file_close(&other, false);
	assert_int_equal(count_entries("."), 1); /* dir */
}

TEST(a_missing_directory_fails_until_it_is_there)
{
	assert_int_equal(rmdir("dir"), 0);
	assert_int_equal(output_file_lock(&f), -ENOENT);
	assert_int_equal(write_text(&f, "a"), -ENOENT);
	assert_int_equal(mkdir("dir", 0755), 0);
	write_whole(&f, "b");
	close_empty();
}

TEST(a_temporary_that_cannot_be_made_leaves_the_old_file)
{
	assert_int_equal(write_text(&f, "old"), 0);
	assert_int_equal(mkdir("dir/.x.prom.tmp", 0755), 0);
	assert_int_equal(write_text(&f, "new"), -EISDIR);
	assert_int_equal(f.part, OUTPUT_TEMPORARY);
	assert_content(path, "old");
	assert_int_equal(rmdir("dir/.x.prom.tmp"), 0);
	write_whole(&f, "new");
}

/* ---- what another user can put in the folder ---- */

TEST(what_is_planted_at_the_temporary_is_removed_or_refused)
{
	const char *name = "dir/.x.prom.tmp";

	for (int kind = 0; kind < PLANTS; kind++) {
		fresh();
		assert_int_equal(write_text(&f, "old"), 0);
		plant(name, kind);
		assert_int_equal(write_text(&f, "new"), kind == FOLDER ? -EISDIR : 0);
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
		assert_int_equal(output_file_lock(&f), plant_errors[kind]);
		assert_int_equal(write_text(&f, "new"), plant_errors[kind]);
		assert_int_equal(f.part, OUTPUT_LOCK);
		assert_false(exists(path));
		assert_victim();
		assert_int_equal(remove(name), 0);
		write_whole(&f, "new");
		/* The same while the lock is held. */
		assert_int_equal(remove(name), 0);
		plant(name, kind);
		assert_int_equal(write_text(&f, "newer"), plant_errors[kind]);
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
		assert_int_equal(output_file_open(&f), plant_errors[kind]);
		assert_int_equal(write_text(&f, "new"), plant_errors[kind]);
		assert_int_equal(f.part, OUTPUT_FILE);
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

TEST(a_device_is_neither_replaced_nor_removed)
{
	struct output_file other = open_output("null");

	if (mknod("null", S_IFCHR | 0666, makedev(1, 3)))
		skip();
	assert_int_equal(output_file_check(&other), -ENXIO);
	assert_int_equal(write_text(&other, "x"), -ENXIO);
	assert_int_equal(output_file_write(&other, "x", 1, "damaged"), -ENXIO);
	output_file_close(&other, false);
	assert_true(exists("null"));
	assert_false(exists("null.damaged"));
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

TEST(a_path_without_a_name_is_a_folder)
{
	struct output_file other = open_output("dir/");

	assert_int_equal(output_file_check(&other), -EISDIR);
	assert_int_equal(write_text(&other, "x"), -EISDIR);
	output_file_close(&other, false);
}

TEST(the_content_is_read)
{
	char text[8] = "";
	int fd;

	assert_int_equal(output_file_open(&f), -ENOENT);
	put("/dir/x.prom", "state");
	fd = output_file_open(&f);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), 5);
	assert_string_equal(text, "state");
	close(fd);
}

/* As for a process that makes the lock and another that keeps it. */
TEST(a_lock_that_was_given_away_is_held_until_it_is_closed)
{
	int fd;

	assert_int_equal(output_file_lock(&f), 0);
	fd = output_file_give_lock(&f);
	assert_true(fd >= 0);
	assert_int_equal(output_file_give_lock(&f), -1);
	assert_int_equal(write_text(&f, "a"), 0);
	assert_int_equal(output_file_give_lock(&f), -1);
	assert_int_equal(write_text(&second, "b"), -EBUSY);
	close(fd);
	write_whole(&second, "b");
}

TEST(without_a_lock_files_are_written_and_removed)
{
	f.unlocked = true;
	assert_int_equal(output_file_lock(&f), 0);
	assert_int_equal(write_text(&f, "a"), 0);
	assert_int_equal(count_entries("dir"), 1);
	close_empty();
}

TEST(a_failed_rename_leaves_no_temporary)
{
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(write_text(&f, "new"), -EISDIR);
	assert_false(exists("dir/.x.prom.tmp"));
	assert_true(exists(path));
	output_file_close(&f, false);
	assert_true(exists(path));
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

TEST(what_a_crash_left_behind_is_replaced)
{
	put("/dir/.x.prom.tmp", "half of a file that was longer");
	put("/dir/.x.prom.lock", "");
	assert_int_equal(output_file_lock(&f), 0);
	write_whole(&f, "new");
	close_empty();
}

TEST(a_second_holder_is_refused_until_the_first_is_gone)
{
	assert_int_equal(output_file_lock(&f), 0);
	assert_int_equal(output_file_lock(&f), 0);
	assert_int_equal(output_file_lock(&second), -EBUSY);
	assert_int_equal(write_text(&f, "first"), 0);
	assert_int_equal(write_text(&second, "second"), -EBUSY);
	assert_content(path, "first");
	output_file_close(&f, true);
	write_whole(&second, "second");
	output_file_close(&second, false);
	assert_int_equal(count_entries("dir"), 0);
}

/* Returns what locking in a process of its own returned, as a positive errno. */
static int lock_in_child(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct output_file f;

		_exit(output_file_init(&f, path) ? 255 : -output_file_lock(&f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(a_second_process_is_refused)
{
	assert_int_equal(output_file_lock(&f), 0);
	assert_int_equal(lock_in_child(), EBUSY);
	output_file_close(&f, false);
	assert_int_equal(lock_in_child(), 0);
}

TEST(the_lock_ends_with_its_process)
{
	/* that child ended without a close */
	assert_int_equal(lock_in_child(), 0);
	assert_true(exists("dir/.x.prom.lock"));
	assert_int_equal(output_file_lock(&f), 0);
}

TEST(a_refused_process_removes_nothing)
{
	assert_int_equal(write_text(&f, "first"), 0);
	assert_int_equal(output_file_lock(&second), -EBUSY);
	output_file_close(&second, false);
	assert_content(path, "first");
	/* the lock is still the first one's */
	assert_int_equal(lock_in_child(), EBUSY);
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

TEST(a_removed_lock_does_not_keep_the_file_from_being_removed)
{
	assert_int_equal(write_text(&f, "a"), 0);
	assert_int_equal(unlink("dir/.x.prom.lock"), 0);
	close_empty();
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
}

TEST(close_leaves_a_file_that_it_never_wrote)
{
	put("/dir/x.prom", "another's");
	assert_int_equal(output_file_lock(&f), 0);
	output_file_close(&f, false);
	assert_content(path, "another's");
	assert_int_equal(count_entries("dir"), 1);
}

TEST(a_dash_is_standard_output_without_a_lock)
{
	struct output_file one = open_output("-"), two = open_output("-");
	int saved = dup(STDOUT_FILENO), out, err;

	fflush(stdout);
	assert_true(saved >= 0);
	out = open("captured", O_CREAT | O_WRONLY, 0600);
	assert_true(out >= 0);
	dup2(out, STDOUT_FILENO);
	err = output_file_lock(&one) || output_file_lock(&two) || write_text(&one, "one ") ||
	      write_text(&two, "two");
	output_file_close(&one, false);
	output_file_close(&two, false);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(out);
	assert_false(err);
	assert_content("captured", "one two");
	assert_int_equal(count_entries("."), 2); /* dir and captured */
}

/* Another process has the lock's descriptor; the name cannot be looked up for a while. */
TEST(a_lock_whose_name_was_not_found_is_still_held)
{
	uid_t user = geteuid();
	int lock;

	if (!user) {
		/* Root may search any folder. */
		assert_int_equal(chown("dir", 65534, 65534), 0);
		assert_int_equal(chmod(".", 0755), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(write_text(&f, "one"), 0);
	lock = output_file_give_lock(&f);
	assert_true(lock >= 0);
	assert_int_equal(chmod("dir", 0600), 0);
	assert_int_equal(write_text(&f, "two"), -EACCES);
	assert_int_equal(chmod("dir", 0700), 0);
	assert_int_equal(write_text(&f, "three"), 0);
	assert_int_equal(seteuid(user), 0);
	assert_content(path, "three");
	assert_int_equal(lock_in_child(), EBUSY);
	close(lock);
}
