// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the agent has a change of the acknowledgements when it reads them, that without an answer the last ones count,
 * and which one counts for a fault. */
#include <signal.h>
#include <sys/resource.h>

#include "health/health.h"
#include "made_up_tree.h"
#include "unit.h"

#define LONG_NS 10000000000ull /* on a busy machine */

static struct ack_file f;
static int files_of_process = -1; /* that it may open; 0: it ends at once; -1: many */

pid_t fork(void)
{
	pid_t pid = _Fork();

	if (!pid && !files_of_process)
		_exit(1);
	if (!pid && files_of_process > 0)
		setrlimit(RLIMIT_NOFILE,
			  &(struct rlimit){ (rlim_t)files_of_process, (rlim_t)files_of_process });
	return pid;
}

/* Reads them. */
static bool is_new(void)
{
	f.due = true;
	return ack_file_refresh(&f, LONG_NS);
}

TEST(a_change_is_seen_at_once)
{
	uint64_t begun_ns;

	f = (struct ack_file){ .path = PATHF("%s/etc/xidscope/acks", root), .due = true };
	assert_true(is_new());
	assert_int_equal(f.list.count, 0);
	begun_ns = f.reader.begun_ns;
	/* A process costs more than all else that the agent does in a second: it is asked for. */
	assert_false(ack_file_refresh(&f, LONG_NS));
	assert_int_equal(f.reader.begun_ns, begun_ns);
	/* The folders come after the start. */
	put("/etc/xidscope/acks", "* 79 1\n");
	assert_true(is_new());
	assert_int_equal(f.list.count, 1);
	assert_string_equal(f.trouble, "");
	assert_false(is_new());
	assert_false(f.due);
	put("/etc/xidscope/new", "* 79 1\n* 48 1\n");
	assert_int_equal(rename("etc/xidscope/new", "etc/xidscope/acks"), 0);
	assert_true(is_new());
	assert_int_equal(f.list.count, 2);
	chmod("etc/xidscope/acks", 0666);
	assert_true(is_new());
	assert_int_equal(f.list.count, 0);
	assert_non_null(strstr(f.trouble, "everybody may write it"));
	unlink("etc/xidscope/acks");
	assert_true(is_new());
	assert_string_equal(f.trouble, "");
	/* The same text again is no news. */
	put("/etc/xidscope/acks", "");
	is_new();
	put("/etc/xidscope/acks", "");
	assert_false(is_new());
	ack_file_close(&f);
}

/* Whatever stands in front of it. */
TEST(one_of_the_same_device_and_fault_counts_in_its_time)
{
	struct ack acks[] = { { "a", "48", 20, false },
			      { "b", "79", 20, false },
			      { "a", "79", 9, false },
			      { "a", "79", 30, true } };
	const struct ack_list list = { acks, COUNT(acks) };

	assert_ptr_equal(ack_find(&list, "a", "", "79", 9, 25), &acks[2]);
	assert_ptr_equal(ack_find(&list, "a", "", "79", 10, 25), &acks[3]);
	assert_null(ack_find(&list, "a", "", "79", 10, 31));
	assert_ptr_equal(ack_find(&list, "c", "b", "79", 20, 25), &acks[1]); /* by its UUID */
	assert_null(ack_find(&list, "b", "", "48", 20, 25));
}

TEST(a_name_alone_is_in_the_working_folder)
{
	f = (struct ack_file){ .path = "acks", .due = true };
	assert_true(is_new());
	put("/acks", "* 79 1\n");
	assert_true(is_new());
	assert_int_equal(f.list.count, 1);
	ack_file_close(&f);
}

/* A process that was stopped stands for one that waits for a server. */
TEST(without_an_answer_the_last_ones_count)
{
	put("/acks", "* 79 1\n");
	f = (struct ack_file){ .path = "acks", .due = true };
	assert_true(is_new());
	do { /* until it is stopped before it answers */
		f.due = true;
		assert_false(ack_file_refresh(&f, 0));
		kill(f.reader.pid, SIGSTOP);
		helper_collect(&f.reader, 0);
	} while (!f.reader.running);
	put("/acks", "* 79 1\n* 48 1\n");
	f.reader.begun_ns -= HELPER_AGE_NS;
	assert_false(ack_file_refresh(&f, 0));
	assert_int_equal(f.silent, -ETIMEDOUT);
	assert_int_equal(f.list.count, 1);
	/* It has been killed, and is asked again. */
	for (int i = 0; i < 10000 && f.list.count < 2; i++) {
		ack_file_refresh(&f, HELPER_WAIT_NS);
		usleep(1000);
	}
	assert_int_equal(f.list.count, 2);
	assert_int_equal(f.silent, 0);
	ack_file_close(&f);
}

TEST(while_the_process_fails_the_last_ones_count)
{
	put("/acks", "* 79 1\n");
	f = (struct ack_file){ .path = "acks", .due = true };
	assert_true(is_new());
	put("/acks", "* 79 1\n* 48 1\n");
	for (files_of_process = 0; files_of_process <= 1; files_of_process++) {
		assert_false(is_new());
		assert_int_equal(f.silent, files_of_process ? -EMFILE : -EAGAIN);
		assert_int_equal(f.list.count, 1);
		assert_string_equal(f.trouble, "");
		assert_false(f.due);
	}
	files_of_process = -1;
	assert_true(is_new());
	assert_int_equal(f.silent, 0);
	assert_int_equal(f.list.count, 2);
	ack_file_close(&f);
}
