// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the agent never waits for a process that writes a file: one that is stopped (SIGSTOP stands for a file
 * system that does not answer), killed, or blocked by a pipe. What waits is bounded, nothing is written twice, and
 * all heals. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "made_up_tree.h"
#include "base/clock.h"
#include "writer/writer.h"

static const struct writer_role replaced = { .option = "--output", .meanwhile = "" };
static const struct writer_role state_role = { .option = "--state",
					       .reads = true,
					       .meanwhile = "" };
static const struct writer_role lines = { .option = "--events", .append = true, .meanwhile = "" };
static const struct log quiet; /* into the file "errors" */

static int epoll, saved_stderr;
static struct writer w; /* of the test that runs */
static int err; /* of what it served last */
static pid_t pid; /* of its process, once that is stopped */

BEFORE_EACH()
{
	int fd;

	alarm(60); /* ends a test that waits */
	signal(SIGCHLD, SIG_IGN);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	fd = open("errors", O_CREAT | O_RDWR | O_APPEND, 0600);
	saved_stderr = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

AFTER_EACH()
{
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	close(epoll);
	alarm(0);
	signal(SIGCHLD, SIG_DFL);
}

/* ---- the process ---- */

/* The one that was started last. */
static pid_t child(void)
{
	pid_t last = 0, next;
	FILE *file;

	file = fopen(formatted("/proc/self/task/%d/children", getpid()), "r");
	assert_non_null(file);
	while (fscanf(file, "%d", &next) == 1)
		last = next;
	fclose(file);
	assert_true(last > 0);
	return last;
}

static char state_of(pid_t process)
{
	char state = 0;
	FILE *file;

	file = fopen(formatted("/proc/%d/stat", process), "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

static void stop(pid_t process)
{
	kill(process, SIGSTOP);
	while (state_of(process) != 'T')
		usleep(1000);
}

/* The one that was started last is @pid then. */
static void stop_child(void)
{
	pid = child();
	stop(pid);
}

static void kill_child(void)
{
	pid = child();
	kill(pid, SIGKILL);
	while (state_of(pid))
		usleep(1000);
}

/* ---- the writer ---- */

static void start_as(struct writer *as, const struct writer_role *role, const char *path)
{
	writer_start(as, &quiet, role, path, epoll);
	writers_wait_ready(as, 1, 10 * SECOND);
	assert_true(as->ready && !as->aside);
}

static void start(const struct writer_role *role, const char *path)
{
	start_as(&w, role, path);
}

/* Serves until a text was written or refused, with that result. */
static void assert_result(int expected)
{
	struct epoll_event event;

	while (!writer_serve(&w, &err))
		epoll_wait(epoll, &event, 1, 100);
	assert_int_equal(err, expected);
}

static void give(const char *text)
{
	FILE *out = writer_begin(&w);

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(writer_end(&w, out), 0);
}

/* Gives a text to @path, which has it afterwards. */
static void write_whole(const char *path, const char *text)
{
	give(text);
	assert_result(0);
	assert_content(path, text);
}

static void finish_as(struct writer *as, bool keep)
{
	writers_finish(as, 1, keep, 10 * SECOND);
}

static void finish(bool keep)
{
	finish_as(&w, keep);
}

static int count(const char *name, const char *pattern)
{
	char line[16384];
	FILE *f = fopen(name, "r");
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, pattern) != NULL;
	if (f)
		fclose(f);
	return n;
}

/* So many lines on standard error have that. */
static void assert_said(int times, const char *pattern)
{
	assert_int_equal(count("errors", pattern), times);
}

/* Appends lines of 1 kB until none is taken. Returns how many were. */
static int append_all(void)
{
	char line[1024];
	int taken = 0;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	while (taken < 9999 && writer_append(&w, line, sizeof(line)))
		taken++;
	return taken;
}

/* A second writer of the same file has that error when it opens it. */
static void assert_second(int open_error, bool keep)
{
	struct writer second;

	start_as(&second, &replaced, "x.prom");
	assert_int_equal(second.open_error, open_error);
	finish_as(&second, keep);
}

static bool exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

static long descriptors(void)
{
	long n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(a_text_replaces_the_file)
{
	long before = descriptors();

	start(&replaced, "x.prom");
	assert_int_equal(w.open_error, 0);
	assert_true(w.lock >= 0);
	write_whole("x.prom", "one");
	write_whole("x.prom", "");
	give("two");
	finish(true);
	assert_content("x.prom", "two");
	assert_false(exists(".x.prom.lock"));
	assert_int_equal(descriptors(), before);
	start(&replaced, "x.prom");
	give("three");
	finish(false);
	assert_false(exists("x.prom"));
	assert_said(0, "");
	/* Without a path nothing is done. */
	start(&lines, NULL);
	assert_false(writer_serve(&w, &err));
	finish(false);
}

/* The newest waits; it is written when the process goes on. */
TEST(a_stopped_process_is_not_waited_for)
{
	start(&replaced, "x.prom");
	write_whole("x.prom", "one");
	stop_child();
	give("two");
	give("three");
	give("four");
	assert_false(writer_serve(&w, &err));
	assert_false(writer_hangs(&w));
	w.waited.sum_ns += 3 * SECOND;
	assert_true(writer_hangs(&w));
	for (int i = 0; i < 3; i++)
		assert_false(writer_serve(&w, &err));
	assert_said(1, "cannot write x.prom: its file system does not answer");
	assert_content("x.prom", "one");
	kill(pid, SIGCONT);
	assert_result(0);
	assert_result(0);
	assert_content("x.prom", "four");
	assert_said(1, "x.prom is written again");
	assert_said(2, "");
	finish(true);
}

/* The file's lock can be had at once, though the process that took it hangs. */
TEST(the_end_does_not_wait_and_leaves_no_lock)
{
	uint64_t begin_ns;

	start(&replaced, "x.prom");
	write_whole("x.prom", "one");
	pid = child();
	assert_second(-EBUSY, false);
	assert_content("x.prom", "one");
	stop(pid);
	give("two");
	begin_ns = monotonic_ns();
	writers_finish(&w, 1, false, SECOND / 5);
	assert_in_range(monotonic_ns() - begin_ns, 0, SECOND);
	assert_said(1, "does not answer");
	assert_second(0, true);
	kill(pid, SIGCONT);
	while (state_of(pid))
		usleep(1000);
}

TEST(a_killed_process_is_replaced)
{
	long before;

	start(&replaced, "x.prom");
	before = descriptors();
	kill_child();
	assert_false(writer_serve(&w, &err));
	write_whole("x.prom", "one");
	assert_int_equal(descriptors(), before);
	/* In the middle of its work. */
	stop_child();
	give("two");
	kill_child();
	assert_result(-ECHILD);
	write_whole("x.prom", "three");
	assert_int_equal(descriptors(), before);
	/* The lock is held. */
	assert_second(-EBUSY, false);
	finish(false);
	assert_false(exists("x.prom"));
}

TEST(the_process_ends_with_the_agent)
{
	int ends[2], status;
	pid_t agent;

	assert_int_equal(pipe(ends), 0);
	signal(SIGCHLD, SIG_DFL);
	agent = fork();
	if (!agent) {
		start(&replaced, "x.prom");
		stop_child();
		_exit(write(ends[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(agent, &status, 0), agent);
	assert_int_equal(status, 0);
	while (state_of(pid) && state_of(pid) != 'Z')
		usleep(1000);
	close(ends[0]);
	close(ends[1]);
}

/* How many descriptors of @process are not what it is to have. */
static int strange_descriptors(pid_t process)
{
	char target[256];
	int strange = 0;
	ssize_t n;

	for (int fd = 0; fd < 64; fd++) {
		n = readlink(formatted("/proc/%d/fd/%d", process, fd), target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		if (fd ? strcmp(target, "/dev/null") != 0 : strncmp(target, "socket:", 7) != 0)
			strange++;
	}
	return strange;
}

/* It closes the lock's when it has passed it on. */
TEST(it_has_no_descriptor_of_the_agents)
{
	struct writer other;

	start_as(&other, &lines, "log");
	start(&replaced, "x.prom");
	while (strange_descriptors(child()))
		usleep(1000);
	finish(true);
	finish_as(&other, true);
}

TEST(what_cannot_be_written_stays_refused)
{
	assert_int_equal(mkfifo("x.prom", 0600), 0);
	start(&replaced, "x.prom");
	assert_int_equal(w.refused, -ENXIO);
	finish(false);
	assert_true(exists("x.prom"));
	start(&lines, "x.prom");
	assert_int_equal(w.refused, -ENXIO);
	finish(false);
	/* At the lock's name it may go away. */
	assert_int_equal(remove("x.prom"), 0);
	assert_int_equal(mkfifo(".x.prom.lock", 0600), 0);
	start(&replaced, "x.prom");
	assert_int_equal(w.refused, 0);
	assert_int_equal(w.open_error, -ENXIO);
	finish(false);
	start(&replaced, "no/x.prom");
	assert_int_equal(w.refused, 0);
	assert_int_equal(w.open_error, -ENOENT);
	finish(false);
}

TEST(an_error_is_reported_once_and_names_the_file)
{
	start(&replaced, "x.prom");
	assert_int_equal(mkdir(".x.prom.tmp", 0755), 0);
	for (int i = 0; i < 3; i++) {
		give("one");
		assert_result(-EISDIR);
	}
	assert_said(1, "cannot write x.prom: .x.prom.tmp: it is a folder; remove it");
	assert_int_equal(rmdir(".x.prom.tmp"), 0);
	write_whole("x.prom", "one");
	assert_said(1, "x.prom is written again");
	assert_said(2, "");
	finish(true);
}

/* ---- the state's content ---- */

TEST(the_content_is_read_at_the_start)
{
	start(&state_role, "state");
	assert_null(w.content);
	assert_int_equal(w.read_error, -ENOENT);
	give("counts");
	finish(true);
	start(&state_role, "state");
	assert_int_equal(w.read_error, 0);
	assert_int_equal(w.shared->size, 6);
	assert_memory_equal(w.content, "counts", 6);
	finish(true);
	assert_content("state", "counts");
}

/* A start that is late is not waited for, and what was there is not lost. */
TEST(a_late_content_is_set_aside)
{
	put("/state", "older");
	writer_start(&w, &quiet, &state_role, "state", epoll);
	stop_child();
	/* It may have answered before. */
	w.ready = false;
	writers_wait_ready(&w, 1, 0);
	assert_true(w.ready);
	assert_said(1, "does not answer");
	assert_said(1, "kept as state.late");
	give("newer");
	kill(pid, SIGCONT);
	assert_result(0);
	assert_content("state", "newer");
	assert_content("state.late", "older");
	assert_true(w.lock >= 0);
	give("newest");
	finish(true);
	assert_content("state", "newest");
	assert_content("state.late", "older");
}

/* A machine without CPU time for its processes is no reason to give a state up. */
TEST(time_without_a_cpu_does_not_make_a_start_late)
{
	writer_start(&w, &quiet, &state_role, "state", epoll);
	stop_child();
	if (!fork()) {
		usleep(100000);
		kill(getppid(), SIGSTOP);
		usleep(500000);
		kill(getppid(), SIGCONT);
		usleep(100000);
		kill(pid, SIGCONT);
		_exit(0);
	}
	writers_wait_ready(&w, 1, 4 * SECOND / 10);
	assert_true(w.ready && !w.aside);
	finish(true);
}

/* ---- lines ---- */

static void add_lines(int from, int to, bool taken)
{
	for (int i = from; i < to; i++) {
		const char *line = formatted("{\"number\":%d}\n", i);

		assert_int_equal(writer_append(&w, line, strlen(line)), taken);
	}
}

static void assert_lines(const char *name, int lines_expected)
{
	FILE *f = fopen(name, "r");
	int number, n = 0;

	assert_non_null(f);
	while (fscanf(f, "{\"number\":%d}\n", &number) == 1)
		assert_int_equal(number, n++);
	assert_true(feof(f));
	fclose(f);
	assert_int_equal(n, lines_expected);
}

TEST(lines_are_written_in_their_order)
{
	start(&lines, "log");
	add_lines(0, 1000, true);
	finish(false);
	assert_lines("log", 1000);
	assert_said(0, "");
}

TEST(while_the_process_hangs_lines_are_logged_and_wait)
{
	start(&lines, "log");
	stop_child();
	add_lines(0, 10, true);
	w.waited.sum_ns += 3 * SECOND;
	assert_false(writer_serve(&w, &err));
	assert_said(10, "not in log: {");
	add_lines(10, 20, true);
	assert_said(20, "not in log: {");
	assert_said(1, "cannot write log");
	kill(pid, SIGCONT);
	assert_result(0);
	add_lines(20, 30, true);
	finish(false);
	assert_lines("log", 30);
	assert_said(20, "not in log: {");
}

TEST(lines_that_wait_are_bounded)
{
	int taken;

	start(&lines, "log");
	stop_child();
	taken = append_all();
	assert_int_equal(taken, WRITER_LINES_MAX / 1024);
	kill(pid, SIGCONT);
	finish(false);
	assert_int_equal(count("log", "x"), taken);
}

TEST(lines_that_were_refused_are_tried_again)
{
	start(&lines, "dir/log");
	add_lines(0, 5, true);
	assert_result(-ENOENT);
	assert_said(5, "not in dir/log: {");
	add_lines(5, 10, true);
	assert_int_equal(mkdir("dir", 0755), 0);
	while (!writer_serve(&w, &err))
		usleep(1000);
	assert_int_equal(err, 0);
	add_lines(10, 15, true);
	finish(false);
	assert_lines("dir/log", 15);
	assert_said(10, "not in dir/log: {");
}

/* The reader of standard output may wait, the agent may not. */
TEST(a_full_pipe_does_not_block)
{
	int saved = dup(STDOUT_FILENO), ends[2], taken;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	start(&lines, "-");
	taken = append_all();
	dup2(saved, STDOUT_FILENO);
	close(saved);
	writers_finish(&w, 1, true, SECOND / 5);
	assert_in_range(taken, WRITER_LINES_MAX / 1024, 9998);
	assert_said(1, "cannot write -");
	close(ends[0]);
	close(ends[1]);
}

/* ---- texts that do not fit ---- */

TEST(a_text_that_did_not_fit_does_not_replace_the_file)
{
	static char much[1 << 20];
	FILE *out;

	memset(much, 'x', sizeof(much) - 1);
	start(&replaced, "x.prom");
	write_whole("x.prom", "whole");
	out = writer_begin(&w);
	assert_non_null(out);
	for (size_t i = 0; i <= WRITER_TEXT_MAX / sizeof(much); i++)
		fputs(much, out);
	fputs("the end", out);
	assert_int_equal(writer_end(&w, out), -EFBIG);
	assert_said(1, "cannot write x.prom: File too large");
	finish(true);
	assert_content("x.prom", "whole");
}

/* It is in the log instead, and no part of it in the file. */
TEST(a_line_that_did_not_fit_is_logged)
{
	static char much[WRITER_LINES_MAX - 10];

	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\n';
	start(&lines, "log");
	stop_child();
	assert_true(writer_append(&w, much, sizeof(much)));
	assert_false(writer_append(&w, "line 1 is long\n", 15));
	assert_true(writer_append(&w, "line 2\n", 7));
	assert_said(1, "not in log: line 1 is long");
	assert_said(1, "");
	kill(pid, SIGCONT);
	finish(false);
	assert_int_equal(count("log", "line"), 1);
	assert_int_equal(count("log", "line 2"), 1);
}

TEST(a_process_whose_answers_cannot_be_waited_for_is_reported)
{
	int saved = epoll;

	epoll = -1;
	start(&replaced, "x.prom");
	epoll = saved;
	assert_int_equal(w.socket, -1);
	w.epoll = epoll;
	write_whole("x.prom", "one");
	finish(true);
	assert_content("x.prom", "one");
}

/* Of an agent that was killed: its writer has the lock a little longer. */
TEST(a_lock_that_is_soon_released_is_waited_for)
{
	int lock = open(".x.prom.lock", O_CREAT | O_RDONLY, 0600);
	pid_t other;

	assert_int_equal(flock(lock, LOCK_EX), 0);
	other = fork();
	if (!other) {
		usleep(200000);
		_exit(0);
	}
	close(lock);
	start(&replaced, "x.prom");
	assert_int_equal(w.open_error, 0);
	finish(false);
}

TEST(a_process_is_named_by_what_it_writes)
{
	start(&state_role, "state");
	assert_content(formatted("/proc/%d/comm", child()), "xidscope-state\n");
	finish(false);
}

/* How often an answer was asked for in a fifth of a second, while recvmsg() fails with ENOMEM. */
static int tries_without_memory(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(filter), filter };
	uint64_t end = monotonic_ns() + SECOND / 5;
	int tries = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -1;
	for (; monotonic_ns() < end && tries < 200; tries++)
		if (writer_serve(&w, &err) || w.socket < 0)
			return -1;
	return tries;
}

TEST(an_answer_that_there_is_no_memory_for_is_not_asked_for_all_the_time)
{
	int status = -1;

	signal(SIGCHLD, SIG_DFL);
	start(&replaced, "x.prom");
	give("one");
	pid = fork();
	if (!pid)
		_exit(tries_without_memory());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 1, 20);
	assert_result(0);
	finish(false);
}
