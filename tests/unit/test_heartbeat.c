// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a heartbeat's age is that of its last write, that the writes have their interval, and that nothing but a
 * regular file of its own is written. */
#include <poll.h>
#include <sys/wait.h>

#include "plants.h"
#include "base/clock.h"
#include "commands/agent.h"

/* The file "beat" was last written so many seconds ago. */
static void assert_age(double seconds)
{
	double age;

	assert_int_equal(heartbeat_age("beat", &age), 0);
	assert_true(age >= seconds && age < seconds + 1);
}

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
	assert_int_equal(heartbeat_write(&h, now - 9 * SECOND), 0);
	assert_age(9);
	/* Not yet due. */
	assert_int_equal(heartbeat_write(&h, now - 5 * SECOND), 0);
	assert_age(9);
	assert_int_equal(heartbeat_write(&h, now - 4 * SECOND), 0);
	assert_age(4);
	/* A time of another boot is none. */
	assert_int_equal(heartbeat_write(&h, now + 100 * SECOND), 0);
	assert_int_equal(heartbeat_age("beat", &age), -ENODATA);
	heartbeat_close(&h);
	assert_int_equal(access("beat", F_OK), -1);
	/* Without a path nothing is done. */
	assert_int_equal(heartbeat_open(&h, NULL), 0);
	assert_int_equal(heartbeat_write(&h, now), 0);
	heartbeat_close(&h);
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

/* What is no file is not even opened: a device can act as soon as it is, as /dev/watchdog does, and a FIFO's reader learns of
 * a writer. */
TEST(other_files_are_not_written)
{
	struct pollfd reader = { .events = POLLIN };
	struct heartbeat h;

	for (int kind = 0; kind < PLANTS; kind++) {
		plant("beat", kind);
		assert_int_equal(heartbeat_open(&h, "beat"), plant_errors[kind]);
		assert_victim();
		reader.fd = planted;
		if (kind == READ_FIFO)
			assert_int_equal(poll(&reader, 1, 0), 0);
		assert_int_equal(remove("beat"), 0);
	}
	assert_int_equal(heartbeat_open(&h, "/dev/null"), -ENXIO);
	heartbeat_close(&h); /* of none: removes nothing */
}
