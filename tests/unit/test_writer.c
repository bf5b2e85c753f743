// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the agent never waits for the process that writes its files: one that is stopped (SIGSTOP stands for a
 * disk that does not answer), killed, or without a reader of its pipe. What waits is bounded, nothing is lost or written
 * twice, and all heals. */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "made_up_tree.h"
#include "base/clock.h"
#include "writer/writer.h"

static const struct log quiet; /* into the file "errors" */

static int saved_stderr;
static struct writer w; /* of the test that runs */
static int results, last; /* of its writes: how many, and of the last one */
static enum writer_file files_of[64];
static int results_of[64], seen; /* each of the first ones, and how many a test has looked at */
static pid_t pid; /* of its process, once that is stopped */
static bool stops, ends; /* a process that is started does that at once */

/* In place of the C library's, for the process as it starts. */
void closefrom(int low)
{
	for (int fd = low; fd < 256; fd++)
		close(fd);
	if (ends)
		_exit(write(open("starts", O_CREAT | O_WRONLY | O_APPEND, 0600), "x", 1) != 1);
	if (stops)
		raise(SIGSTOP);
}

static void count_result(void *context, enum writer_file file, int err)
{
	(void)context;
	if (results < (int)COUNT(results_of)) {
		results_of[results] = err;
		files_of[results] = file;
	}
	results++;
	last = err;
}

BEFORE_EACH()
{
	int fd;

	alarm(300); /* ends a test that waits */
	signal(SIGCHLD, SIG_IGN);
	fd = open("errors", O_CREAT | O_RDWR | O_APPEND, 0600);
	saved_stderr = redirect(STDERR_FILENO, fd);
	close(fd);
}

AFTER_EACH()
{
	restore(STDERR_FILENO, saved_stderr);
	alarm(0);
	signal(SIGCHLD, SIG_DFL);
}

/* ---- the process ---- */

/* The one that was started last. */
static pid_t child_of(pid_t agent)
{
	pid_t last = 0, next;
	FILE *file;

	file = not_null(fopen(formatted("/proc/%d/task/%d/children", agent, agent), "r"));
	while (fscanf(file, "%d", &next) == 1)
		last = next;
	fclose(file);
	assert_true(last > 0);
	return last;
}

static pid_t child(void)
{
	return child_of(getpid());
}

/* 0: it has ended. */
static char state_of(pid_t process)
{
	FILE *file = fopen(formatted("/proc/%d/stat", process), "r");
	char state = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

static void send_and_await(pid_t process, int signal, char state)
{
	if (signal)
		kill(process, signal);
	while (state_of(process) != state)
		usleep(1000);
}

/* The one that was started last is @pid then. */
static void stop_child(void)
{
	pid = child();
	send_and_await(pid, SIGSTOP, 'T');
}

static void kill_child(void)
{
	pid = child();
	send_and_await(pid, SIGKILL, 0);
}

/* ---- the writer ---- */

static void start_within(uint64_t most_ns, const char *state, const char *output,
			 const char *events)
{
	const char *const paths[WRITER_FILES] = { state, output, events };

	assert_int_equal(writer_start(&w, &quiet, paths, true, most_ns), 0);
	stops = ends = false;
	w.written = count_result;
	results = seen = 0;
}

static void start(const char *state, const char *output, const char *events)
{
	start_within(10 * SECOND, state, output, events);
}

/* Serves until the next text was written or refused, with that result. One call may take the results of several. */
static void assert_result(int expected)
{
	struct epoll_event event;

	while (seen == results) {
		epoll_wait(w.epoll, &event, 1, 100);
		writer_serve(&w);
	}
	assert_in_range(seen, 0, COUNT(results_of) - 1);
	assert_int_equal(results_of[seen++], expected);
}

static void give_to(enum writer_file file, const char *text)
{
	assert_int_equal(writer_replace(&w, file, strdup(text), strlen(text)), 0);
}

static void give(const char *text)
{
	give_to(WRITER_OUTPUT, text);
}

/* Gives a text to @path, which has it afterwards. */
static void write_whole(const char *path, const char *text)
{
	give(text);
	assert_result(0);
	assert_content(path, text);
}

static void finish(void)
{
	writer_finish(&w, 10 * SECOND);
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

/* Another agent, which writes the same output, has that result. */
static void assert_second(int expected)
{
	struct writer first = w;

	start(NULL, "x.prom", NULL);
	give("second");
	assert_result(expected);
	finish();
	w = first;
	results = seen = 0;
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

	start(NULL, "x.prom", NULL);
	assert_int_equal(w.files[WRITER_OUTPUT].open_error, 0);
	write_whole("x.prom", "one");
	write_whole("x.prom", "");
	give("two");
	finish();
	assert_content("x.prom", "two");
	assert_false(exists(".x.prom.lock"));
	assert_int_equal(descriptors(), before);
	start(NULL, "x.prom", NULL);
	w.keep = false; /* as of the next process */
	kill_child();
	give("three");
	finish();
	assert_false(exists("x.prom"));
	assert_said(0, "");
}

/* One process writes all three, and ends with the writer. */
TEST(one_process_writes_all_files)
{
	start("state", "x.prom", "log");
	pid = child();
	give_to(WRITER_STATE, "counts");
	give("text");
	assert_true(writer_append(&w, "line\n", 5));
	finish();
	assert_content("state", "counts");
	assert_content("x.prom", "text");
	assert_content("log", "line\n");
	assert_said(0, "");
	send_and_await(pid, 0, 0);
}

/* What the state counts has its line in the log. */
TEST(lines_are_written_before_the_state)
{
	start("state", "x.prom", "log");
	write_whole("x.prom", "one");
	stop_child();
	give("two");
	give_to(WRITER_STATE, "counts");
	assert_true(writer_append(&w, "line\n", 5));
	kill(pid, SIGCONT);
	for (int i = 0; i < 3; i++)
		assert_result(0);
	assert_int_equal(files_of[2], WRITER_EVENTS);
	assert_int_equal(files_of[3], WRITER_STATE);
	finish();
}

/* The newest waits; it is written when the process goes on. */
TEST(a_stopped_process_is_not_waited_for)
{
	start("state", "x.prom", NULL);
	write_whole("x.prom", "one");
	stop_child();
	give("two");
	give("three");
	give("four");
	give_to(WRITER_STATE, "counts");
	writer_serve(&w);
	assert_false(writer_hangs(&w));
	w.waited.sum_ns += 3 * SECOND;
	assert_true(writer_hangs(&w));
	for (int i = 0; i < 3; i++)
		writer_serve(&w);
	assert_said(1, "cannot write x.prom: its file system does not answer");
	assert_said(1, "cannot write state: another file is written first");
	assert_content("x.prom", "one");
	assert_int_equal(results, 1);
	kill(pid, SIGCONT);
	for (int i = 0; i < 3; i++)
		assert_result(0);
	assert_content("x.prom", "four");
	assert_content("state", "counts");
	assert_said(2, "is written again");
	assert_said(4, "");
	finish();
}

TEST(the_end_does_not_wait)
{
	uint64_t begin_ns;

	start(NULL, "x.prom", NULL);
	write_whole("x.prom", "one");
	stop_child();
	assert_second(-EBUSY);
	give("two");
	begin_ns = monotonic_ns();
	writer_finish(&w, SECOND / 5);
	assert_in_range(monotonic_ns() - begin_ns, 0, SECOND);
	assert_said(1, "does not answer");
	assert_content("x.prom", "one");
	/* The agent would have ended now, and the kernel the process. */
	send_and_await(pid, SIGKILL, 0);
	assert_second(0);
}

/* It has no other work when it hangs. */
TEST(an_end_that_hangs_is_reported)
{
	start(NULL, "x.prom", NULL);
	write_whole("x.prom", "one");
	stop_child();
	writer_finish(&w, SECOND / 5);
	assert_said(1, "cannot write x.prom: its file system does not answer");
	kill(pid, SIGKILL);
}

/* Killed while it is idle, and in the middle of its work: nothing is lost. */
TEST(a_killed_process_is_replaced)
{
	long before;

	start("state", "x.prom", NULL);
	before = descriptors();
	kill_child();
	writer_serve(&w);
	write_whole("x.prom", "one");
	assert_int_equal(descriptors(), before);
	stop_child();
	give("two");
	give_to(WRITER_STATE, "counts");
	kill_child();
	assert_result(-ECHILD);
	assert_result(0);
	assert_result(0);
	assert_content("x.prom", "two");
	assert_content("state", "counts");
	assert_said(1, "cannot write x.prom: the process that writes it has ended");
	assert_said(1, "x.prom is written again");
	assert_int_equal(descriptors(), before);
	/* The lock is held. */
	assert_second(-EBUSY);
	finish();
}

TEST(a_process_that_ends_as_it_starts_is_not_replaced_at_once)
{
	uint64_t begin = monotonic_ns();
	struct stat starts;

	ends = true;
	start_within(SECOND, NULL, "x.prom", NULL);
	assert_int_equal(stat("starts", &starts), 0);
	assert_in_range(starts.st_size, 2, 3 + (monotonic_ns() - begin - SECOND) / (SECOND / 2));
	write_whole("x.prom", "one");
	finish();
}

TEST(the_process_ends_with_the_agent)
{
	int ends[2], status;
	pid_t agent;

	assert_int_equal(pipe(ends), 0);
	signal(SIGCHLD, SIG_DFL);
	agent = fork();
	if (!agent) {
		start(NULL, "x.prom", NULL);
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
	static const char *const fine[] = { "socket:", "/dev/null", "/proc/" };
	char target[256];
	int strange = 0;
	ssize_t n;

	for (int fd = 0; fd < 64; fd++) {
		n = readlink(formatted("/proc/%d/fd/%d", process, fd), target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		if (!ARRAY_FIND(x, fine, COUNT(fine), !strncmp(target, *x, strlen(*x))) &&
		    !strstr(target, ".lock"))
			strange++;
	}
	return strange;
}

/* Only locks, the list of mounts and the socket; also if it is started again later. */
TEST(it_has_no_descriptor_of_the_agents)
{
	int other = open("errors", O_RDONLY);

	start("state", "x.prom", "log");
	kill_child();
	write_whole("x.prom", "one");
	while (strange_descriptors(child()))
		usleep(1000);
	finish();
	close(other);
}

TEST(what_cannot_be_written_is_known_at_the_start)
{
	static const struct {
		const char *planted, *output, *events;
		int err;
	} cases[] = {
		{ "x.prom", "x.prom", NULL, -ENXIO },
		{ "log", NULL, "log", -ENXIO },
		{ "other", "no/x.prom", NULL, -ENOENT },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(mkfifo(cases[i].planted, 0600), 0);
		start(NULL, cases[i].output, cases[i].events);
		assert_int_equal(
			w.files[cases[i].output ? WRITER_OUTPUT : WRITER_EVENTS].open_error,
			cases[i].err);
		finish();
		assert_true(exists(cases[i].planted));
		assert_int_equal(remove(cases[i].planted), 0);
	}
}

TEST(an_error_is_reported_once)
{
	start(NULL, "x.prom", NULL);
	assert_int_equal(mkdir(".x.prom.tmp", 0755), 0);
	for (int i = 0; i < 3; i++) {
		give("one");
		assert_result(-ENOTUNIQ);
	}
	assert_said(1, "cannot write x.prom: a file beside it (.NAME.tmp");
	assert_int_equal(rmdir(".x.prom.tmp"), 0);
	write_whole("x.prom", "one");
	assert_said(1, "x.prom is written again");
	assert_said(2, "");
	finish();
}

/* ---- the state's content ---- */

TEST(the_content_is_read_at_the_start)
{
	start("state", NULL, NULL);
	assert_null(w.content.bytes);
	assert_int_equal(w.files[WRITER_STATE].read_error, -ENOENT);
	give_to(WRITER_STATE, "counts");
	finish();
	start("state", NULL, NULL);
	assert_int_equal(w.files[WRITER_STATE].read_error, 0);
	assert_int_equal(w.content.len, 6);
	assert_memory_equal(w.content.bytes, "counts", 6);
	give_to(WRITER_STATE, "x");
	finish();
	assert_content("state", "x");
}

/* Whoever may write it could clear a node's faults. */
TEST(the_content_of_others_is_not_read)
{
	for (int i = 0; i < (geteuid() ? 1 : 2); i++) {
		start("state", NULL, NULL);
		give_to(WRITER_STATE, "counts");
		finish();
		assert_int_equal(i ? chown("state", 65534, 0) : chmod("state", 0666), 0);
		start("state", NULL, NULL);
		assert_null(w.content.bytes);
		assert_int_equal(w.files[WRITER_STATE].read_error, -EPERM);
		finish();
	}
}

/* A start that is late is not waited for, and what was there is not lost. */
TEST(a_late_content_is_set_aside)
{
	put("/state", "older");
	stops = true; /* before its first answer */
	start_within(SECOND / 5, "state", "x.prom", NULL);
	assert_said(1, "cannot write state: its file system does not answer");
	assert_said(1, "cannot write x.prom: another file is written first");
	assert_said(1, "kept as state.late");
	give_to(WRITER_STATE, "newer");
	kill(child(), SIGCONT);
	assert_result(0);
	assert_content("state", "newer");
	assert_content("state.late", "older");
	give_to(WRITER_STATE, "newest");
	finish();
	assert_content("state", "newest");
	assert_content("state.late", "older");
}

/* A machine without CPU time for its processes is no reason to give a state up. */
TEST(time_without_a_cpu_does_not_make_a_start_late)
{
	pid_t agent = getpid();

	if (!fork()) {
		usleep(100000);
		send_and_await(agent, SIGSTOP, 'T');
		sleep(2);
		kill(agent, SIGCONT);
		usleep(100000);
		kill(child_of(agent), SIGCONT);
		_exit(0);
	}
	stops = true;
	start_within(3 * SECOND / 2, "state", "x.prom", NULL);
	assert_false(w.files[WRITER_STATE].aside);
	finish();
}

/* ---- the lock ---- */

static int take_lock(const char *name)
{
	int lock = open(name, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);

	assert_int_equal(flock(lock, LOCK_EX), 0);
	return lock;
}

/* Of an agent that was killed: its process has the lock a little longer. */
TEST(a_lock_that_is_soon_released_is_waited_for)
{
	int lock = take_lock(".x.prom.lock");
	pid_t other = fork();

	if (!other) {
		usleep(200000);
		_exit(0);
	}
	close(lock);
	start(NULL, "x.prom", NULL);
	write_whole("x.prom", "one");
	finish();
}

/* Of another agent, or one that has ended, but whose process hangs: the agent goes on, and writes when that has ended. */
TEST(a_file_of_another_agent_is_written_when_that_has_ended)
{
	int lock = take_lock(".x.prom.lock");

	start(NULL, "x.prom", NULL);
	give("one");
	assert_result(-EBUSY);
	give("two");
	assert_result(-EBUSY);
	assert_said(1, "cannot write x.prom: another agent writes it");
	assert_false(exists("x.prom"));
	close(lock);
	write_whole("x.prom", "three");
	finish();
}

/* ---- lines ---- */

static void add_lines(int from, int to)
{
	for (int i = from; i < to; i++) {
		const char *line = formatted("{\"number\":%d}\n", i);

		assert_true(writer_append(&w, line, strlen(line)));
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

TEST(lines_wait_for_a_process_that_hangs_or_ends)
{
	start(NULL, NULL, "log");
	stop_child();
	add_lines(0, 10);
	w.waited.sum_ns += 3 * SECOND;
	writer_serve(&w);
	assert_said(1, "cannot write log");
	add_lines(10, 20);
	kill(pid, SIGCONT);
	assert_result(0);
	stop_child();
	add_lines(20, 30);
	kill_child();
	add_lines(30, 40);
	finish();
	assert_lines("log", 40);
}

TEST(lines_that_wait_are_bounded)
{
	int taken;

	start(NULL, NULL, "log");
	stop_child();
	taken = append_all();
	assert_int_equal(taken, WRITER_LINES_MAX / 1024);
	assert_said(1, "not in log: xxx");
	kill(pid, SIGCONT);
	finish();
	assert_int_equal(count("log", "x"), taken);
}

TEST(lines_that_were_refused_are_tried_again)
{
	start(NULL, NULL, "dir/log");
	add_lines(0, 5);
	assert_result(-ENOENT);
	add_lines(5, 10);
	assert_int_equal(mkdir("dir", 0755), 0);
	while (last) {
		writer_serve(&w);
		usleep(1000);
	}
	add_lines(10, 15);
	finish();
	assert_lines("dir/log", 15);
	assert_said(2, "");
}

/* The reader of standard output may wait; the agent and its other files may not. */
TEST(a_full_pipe_does_not_block)
{
	int ends[2], saved, taken;

	assert_int_equal(pipe(ends), 0);
	saved = redirect(STDOUT_FILENO, ends[1]);
	start(NULL, "x.prom", "-");
	taken = append_all();
	restore(STDOUT_FILENO, saved);
	assert_in_range(taken, WRITER_LINES_MAX / 1024, 9998);
	give("text");
	while (!exists("x.prom"))
		writer_serve(&w);
	assert_content("x.prom", "text");
	writer_finish(&w, SECOND / 5);
	assert_said(1, "cannot write -: nobody reads it");
	close(ends[0]);
	close(ends[1]);
}

/* The metrics are one text: it is written once the reader goes on. */
TEST(standard_output_without_a_reader_is_no_silent_file_system)
{
	static char much[200 << 10];
	int ends[2], saved;

	memset(much, 'x', sizeof(much) - 1);
	assert_int_equal(pipe(ends), 0);
	saved = redirect(STDOUT_FILENO, ends[1]);
	start(NULL, "-", "log");
	restore(STDOUT_FILENO, saved);
	give(much);
	assert_true(writer_append(&w, "line\n", 5));
	w.waited.sum_ns += 3 * SECOND;
	writer_serve(&w);
	assert_said(1, "cannot write -: nobody reads it; see who reads standard output");
	assert_said(1, "cannot write log: another file is written first, which takes long");
	pid = child();
	writer_finish(&w, SECOND / 5);
	assert_said(2, "");
	close(ends[0]);
	close(ends[1]);
	send_and_await(pid, 0, 0);
}

static bool no_fork;

pid_t fork(void)
{
	errno = EAGAIN;
	return no_fork ? -1 : _Fork();
}

TEST(a_process_that_cannot_be_started_is_tried_again)
{
	no_fork = true;
	start_within(SECOND / 5, NULL, "x.prom", "log");
	give("one");
	assert_true(writer_append(&w, "line\n", 5));
	assert_said(1, "cannot write x.prom: its process cannot be started; raise the limit");
	assert_said(2, "");
	writer_finish(&w, SECOND / 5);
	assert_said(2, "");
	assert_false(exists("x.prom"));
	start_within(SECOND / 5, NULL, "x.prom", NULL);
	no_fork = false;
	write_whole("x.prom", "two");
	assert_said(1, "x.prom is written again");
	finish();
}

/* ---- messages ---- */

TEST(the_process_for_messages_is_replaced)
{
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(messages_start(), 0);
	log_error(&quiet, "one");
	while (!count("errors", "one"))
		usleep(1000);
	messages_serve();
	kill_child();
	log_error(&quiet, "two");
	assert_int_equal(log_lost(), 1);
	messages_serve();
	pid = child();
	log_error(&quiet, "three");
	messages_serve();
	messages_finish(10 * SECOND);
	send_and_await(pid, 0, 0);
	assert_said(1, "one");
	assert_said(0, "two");
	assert_said(1, "three");
}

/* ---- texts that are longer than what the socket takes at once ---- */

TEST(a_long_text_is_sent_piece_by_piece)
{
	static char much[5 << 20];
	struct stat st;

	memset(much, 'x', sizeof(much) - 1);
	start("state", "x.prom", NULL);
	stop_child();
	give(much);
	give_to(WRITER_STATE, much);
	/* The next process gets all of it anew. */
	kill_child();
	assert_result(-ECHILD);
	for (int i = 0; i < 2; i++)
		assert_result(0);
	assert_int_equal(stat("x.prom", &st), 0);
	assert_int_equal(st.st_size, sizeof(much) - 1);
	finish();
	start("state", NULL, NULL);
	assert_int_equal(w.content.len, sizeof(much) - 1);
	assert_memory_equal(w.content.bytes, much, sizeof(much) - 1);
	finish();
}

TEST(a_text_without_memory_does_not_replace_the_file)
{
	start(NULL, "x.prom", NULL);
	write_whole("x.prom", "whole");
	assert_int_equal(writer_replace(&w, WRITER_OUTPUT, NULL, 0), -ENOMEM);
	assert_said(1, "cannot write x.prom: Cannot allocate memory");
	finish();
	assert_content("x.prom", "whole");
}
