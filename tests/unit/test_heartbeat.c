// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a heartbeat's age is that of its last write, that the writes have their interval, and that nothing but a
 * regular file of its own is written. */
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "made_up_tree.h"
#include "base/clock.h"
#include "commands/agent.h"

TEST(the_age_is_that_of_the_last_write)
{
	uint64_t now = monotonic_ns();
	struct heartbeat h;
	struct stat st;
	double age;

	assert_int_equal(heartbeat_age("beat", &age), -ENOENT);
	umask(0077);
	assert_int_equal(heartbeat_open(&h, "beat"), 0);
	umask(0022);
	assert_int_equal(stat("beat", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(heartbeat_age("beat", &age), -ENODATA);
	assert_int_equal(heartbeat_write(&h, now - 9000000000), 0);
	assert_int_equal(heartbeat_age("beat", &age), 0);
	assert_true(age >= 9 && age < 10);
	/* Not yet due. */
	assert_int_equal(heartbeat_write(&h, now - 5000000000), 0);
	assert_int_equal(heartbeat_age("beat", &age), 0);
	assert_true(age >= 9 && age < 10);
	assert_int_equal(heartbeat_write(&h, now - 4000000000), 0);
	assert_int_equal(heartbeat_age("beat", &age), 0);
	assert_true(age >= 4 && age < 5);
	heartbeat_close(&h);
	assert_int_equal(access("beat", F_OK), -1);
}

TEST(another_agents_is_not_taken)
{
	struct heartbeat h, other;
	int status, child;

	assert_int_equal(heartbeat_open(&h, "beat"), 0);
	child = fork();
	if (!child)
		_exit(-heartbeat_open(&other, "beat"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), EBUSY);
	heartbeat_close(&h);
	assert_int_equal(heartbeat_open(&h, "beat"), 0);
	heartbeat_close(&h);
}

TEST(a_time_of_another_boot_is_none)
{
	uint64_t now = monotonic_ns();
	struct heartbeat h;
	double age;

	assert_int_equal(heartbeat_open(&h, "beat"), 0);
	assert_int_equal(heartbeat_write(&h, now + 100000000000), 0);
	assert_int_equal(heartbeat_age("beat", &age), -ENODATA);
	heartbeat_close(&h);
}

TEST(other_files_are_not_written)
{
	struct heartbeat h;
	struct stat st;

	put("/file", "text");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(heartbeat_open(&h, "link"), -ELOOP);
	assert_int_equal(link("file", "hard"), 0);
	assert_int_equal(heartbeat_open(&h, "hard"), -EMLINK);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	assert_int_equal(heartbeat_open(&h, "fifo"), -ENXIO);
	assert_int_equal(heartbeat_open(&h, "/dev/null"), -ENXIO);
	assert_int_equal(heartbeat_open(&h, "."), -EISDIR);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_size, 4);
	heartbeat_close(&h); /* of none: removes nothing */
}

/* A device can act as soon as it is opened: /dev/watchdog restarts the node. A FIFO's reader learns of a writer. */
TEST(what_is_no_file_is_not_even_opened)
{
	struct pollfd reader = { .events = POLLIN };
	struct heartbeat h;

	assert_int_equal(mkfifo("fifo", 0644), 0);
	reader.fd = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(heartbeat_open(&h, "fifo"), -ENXIO);
	assert_int_equal(poll(&reader, 1, 0), 0);
	close(reader.fd);
}

TEST(without_a_path_nothing_is_done)
{
	struct heartbeat h;

	assert_int_equal(heartbeat_open(&h, NULL), 0);
	assert_int_equal(heartbeat_write(&h, monotonic_ns()), 0);
	heartbeat_close(&h);
}
