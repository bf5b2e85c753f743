// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the caller of a process that does what may block gets its whole answer, and waits for one that hangs once. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "base/clock.h"
#include "base/helper.h"
#include "made_up_tree.h"

#define LONG (300 << 10) /* more than a pipe holds */

static void answer_at_length(const void *context, FILE *out)
{
	char text[LONG];

	memset(text, *(const char *)context, sizeof(text));
	fwrite(text, 1, sizeof(text), out);
}

static void hang(const void *context, FILE *out)
{
	fputs(context, out);
	fflush(out);
	pause();
}

/* Each read() of this pair has one part. */
TEST(a_text_that_comes_in_parts_is_cut_to_its_room)
{
	char text[8];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(write(ends[1], "abcd", 4) + write(ends[1], "efgh", 4), 8);
	assert_int_equal(file_read_and_close(ends[0], text, sizeof(text)), 7);
	assert_string_equal(text, "abcdefg");
	close(ends[1]);
	errno = ENOENT; /* of the open() that failed */
	assert_int_equal(file_read_and_close(-1, text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
}

TEST(a_long_answer_is_whole_and_counts_for_a_while)
{
	struct helper h = {};

	for (int i = 0; i < 2; i++) {
		assert_true(helper_ask(&h, "x", answer_at_length, i ? "b" : "a"));
		assert_int_equal(h.len, LONG);
		assert_int_equal(h.text[LONG - 1], 'a');
	}
	h.begun_ns -= HELPER_AGE_NS;
	assert_true(helper_ask(&h, "x", answer_at_length, "b"));
	assert_int_equal(h.text[LONG - 1], 'b');
	helper_free(&h);
}

static void answer_when_told(const void *context, FILE *out)
{
	int number;

	sigwait(context, &number);
	answer_at_length("a", out);
}

/* Nobody reads it meanwhile. */
TEST(a_long_answer_that_is_late_counts_for_the_next_question)
{
	struct helper h = {};
	siginfo_t info;
	sigset_t told;

	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	sigprocmask(SIG_BLOCK, &told, NULL);
	assert_false(helper_ask(&h, "x", answer_when_told, &told));
	kill(h.pid, SIGUSR1);
	assert_int_equal(waitid(P_PID, (id_t)h.pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(helper_ask(&h, "x", answer_when_told, &told));
	assert_int_equal(h.len, LONG);
	helper_free(&h);
}

static bool no_fork;
static pid_t last;

pid_t fork(void)
{
	return last = no_fork ? -1 : _Fork();
}

static bool leaps; /* waits last until the process stops, and the clock goes on by them */
static uint64_t ahead_ns;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int err = (int)syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += (time_t)(ahead_ns / SECOND);
	now->tv_nsec += (long)(ahead_ns % SECOND);
	return err;
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
	struct timespec most = { ms / 1000, ms % 1000 * MS };
	siginfo_t info;

	if (leaps) {
		ahead_ns += (uint64_t)ms * MS;
		return waitid(P_PID, (id_t)last, &info, WSTOPPED | WNOWAIT);
	}
	return (int)syscall(SYS_ppoll, fds, count, &most, NULL, 0);
}

static void be_killed(const void *context, FILE *out)
{
	fputs(context, out);
	fflush(out);
	raise(SIGKILL);
}

TEST(an_answer_is_whole_only_if_its_process_was_not_killed)
{
	struct helper h = {};
	struct file_text text;

	assert_false(helper_ask(&h, "x", be_killed, "a"));
	assert_false(h.running);
	assert_int_equal(helper_ask_once(&text, be_killed, "a"), -EAGAIN);
	/* no process at all: the next question is asked at once */
	h.begun_ns -= HELPER_AGE_NS;
	no_fork = true;
	assert_false(helper_ask(&h, "x", answer_at_length, "a"));
	assert_int_equal(helper_ask_once(&text, answer_at_length, "a"), -EAGAIN);
	no_fork = false;
	assert_true(helper_ask(&h, "x", answer_at_length, "a"));
	helper_free(&h);
}

TEST(one_that_hangs_is_waited_for_once_and_then_ended)
{
	struct helper h = {};
	uint64_t begin = monotonic_ns(), waited;
	pid_t first;

	assert_false(helper_ask(&h, "x", hang, "a"));
	assert_true(monotonic_ns() - begin >= HELPER_WAIT_NS);
	first = h.pid;
	begin = monotonic_ns();
	for (int i = 0; i < 1000; i++)
		assert_false(helper_ask(&h, "x", hang, "a"));
	waited = monotonic_ns() - begin;
	assert_true(waited < 1000 * HELPER_WAIT_NS);
	assert_int_equal(h.pid, first);
	/* It is killed, and once it has ended the question is asked again. */
	h.begun_ns -= HELPER_AGE_NS;
	for (int i = 0; i < 10000 && h.pid == first; i++) {
		assert_false(helper_ask(&h, "x", hang, "a"));
		usleep(1000);
	}
	assert_int_not_equal(h.pid, first);
	assert_true(h.running);
	helper_free(&h);
}

TEST(a_file_is_read_by_another_process)
{
	struct file_text text;

	put("/file", "some text\n");
	assert_int_equal(helper_read_file(&text, "file", false), 0);
	assert_string_equal(text.bytes, "some text\n");
	assert_int_equal(text.len, 10);
	file_text_free(&text);
	assert_int_equal(helper_read_file(&text, "absent", false), -ENOENT);
	assert_int_equal(helper_read_file(&text, ".", false), -EINVAL);
	put("/file", "");
	assert_int_equal(helper_read_file(&text, "file", false), 0);
	assert_string_equal(text.bytes, "");
	file_text_free(&text);
}

static void stop(const void *context, FILE *out)
{
	fputs(context, out);
	raise(SIGSTOP);
}

/* It neither runs nor sleeps, as if it got no CPU. */
TEST(a_question_at_the_start_without_a_cpu_is_given_up_at_last)
{
	struct file_text text;
	uint64_t begin = monotonic_ns();

	leaps = true;
	assert_int_equal(helper_ask_once(&text, stop, "a"), -ETIMEDOUT);
	leaps = false;
	assert_in_range(monotonic_ns() - begin, HELPER_STARVED_NS,
			HELPER_STARVED_NS + HELPER_ONCE_NS + SECOND);
	assert_int_equal(helper_ask_once(&text, answer_at_length, "b"), -ETIMEDOUT);
	kill(last, SIGKILL);
	while (helper_ask_once(&text, answer_at_length, "b") == -ETIMEDOUT)
		usleep(1000);
	assert_int_equal(text.len, LONG);
	file_text_free(&text);
}

/* The first question is not ended: while the file system is silent, others are refused at once. */
TEST(a_question_at_the_start_that_hangs_is_the_only_one)
{
	struct file_text text;
	uint64_t begin = monotonic_ns();

	assert_int_equal(helper_ask_once(&text, hang, "a"), -ETIMEDOUT);
	assert_true(monotonic_ns() - begin >= HELPER_ONCE_NS);
	begin = monotonic_ns();
	for (int i = 0; i < 100; i++)
		assert_int_equal(helper_ask_once(&text, hang, "a"), -ETIMEDOUT);
	assert_true(monotonic_ns() - begin < 100 * HELPER_ONCE_NS);
	assert_null(text.bytes);
}
