// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that the event log folds bursts and loses no event in its sums, that
 * each line is valid JSON whatever an event contains, and that the log recovers from
 * a full disk and from a reader that does not read.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "made_up_tree.h"
#include "sinks/event_log.h"
#include "base/label.h"
#include "base/safe_text.h"

#define SECOND 1000000000ull

/* Each test works in an empty directory of its own. */
TEST_EACH(enter_folder, leave)

static struct event_log *open_log(const char *path)
{
	static const struct log quiet; /* its messages would be noise */
	struct event_log *e = event_log_new(path, &quiet);

	assert_non_null(e);
	return e;
}

static struct event an_event(unsigned int code, uint64_t ns)
{
	struct event event = { .kind = "xid",
			       .code = code,
			       .pid = -1,
			       .time = 1700000000 + (double)ns / 1e9,
			       .monotonic_ns = ns,
			       .members = "",
			       .text = "text",
			       .text_len = 4 };

	strcpy(event.device, "0000:c1:00.0");
	return event;
}

static void add(struct event_log *e, unsigned int code, uint64_t ns)
{
	struct event event = an_event(code, ns);

	event_log_add(e, &event);
}

/* ---- a reader of JSON (RFC 8259) that keeps nothing ---- */

static const char *skip_value(const char *at);

static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at != '"') {
		size_t n = safe_length(at, strlen(at));

		if (!n)
			return NULL;
		if (*at != '\\') {
			at += n;
		} else if (strchr("\"\\/bfnrt", at[1]) && at[1]) {
			at += 2;
		} else {
			if (at[1] != 'u')
				return NULL;
			for (int i = 2; i < 6; i++)
				if (!isxdigit((unsigned char)at[i]))
					return NULL;
			at += 6;
		}
	}
	return at + 1;
}

static const char *skip_number(const char *at)
{
	const char *digits;

	at += *at == '-';
	for (digits = at; isdigit((unsigned char)*at);)
		at++;
	if (at == digits || (*digits == '0' && at > digits + 1))
		return NULL;
	if (*at == '.')
		for (digits = ++at; isdigit((unsigned char)*at);)
			at++;
	return at > digits ? at : NULL;
}

static const char *skip_list(const char *at, char end, bool named)
{
	if (at[1] == end)
		return at + 2;
	do {
		at++;
		if (named) {
			at = skip_string(at);
			if (!at || *at++ != ':')
				return NULL;
		}
		at = skip_value(at);
	} while (at && *at == ',');
	return at && *at == end ? at + 1 : NULL;
}

static const char *skip_value(const char *at)
{
	if (*at == '{')
		return skip_list(at, '}', true);
	if (*at == '[')
		return skip_list(at, ']', false);
	if (*at == '"')
		return skip_string(at);
	if (!strncmp(at, "true", 4))
		return at + 4;
	return skip_number(at);
}

/* ---- what was written ---- */

struct totals {
	int lines;
	uint64_t events; /* lines and their repeats */
	uint64_t incidents; /* highest number */
	int torn; /* lines that are no JSON */
};

static uint64_t member(const char *line, const char *name)
{
	char label[32];
	const char *at;

	snprintf(label, sizeof(label), "\"%s\":", name);
	at = strstr(line, label);
	assert_non_null(at);
	return strtoull(at + strlen(label), NULL, 10);
}

static struct totals read_file(const char *path)
{
	struct totals t = {};
	char line[3 * PIPE_BUF];
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		const char *end = skip_value(line);

		if (*line != '{' || !end || strcmp(end, "\n") != 0) {
			t.torn++;
			continue;
		}
		t.lines++;
		t.events += 1 + member(line, "repeats");
		if (member(line, "incident") > t.incidents)
			t.incidents = member(line, "incident");
	}
	fclose(file);
	return t;
}

/* ---- folding ---- */

TEST(a_burst_is_two_lines)
{
	struct event_log *e = open_log("events");
	struct totals t;

	for (uint64_t i = 0; i < 1000; i++)
		add(e, 79, i * SECOND / 100);
	t = read_file("events");
	assert_int_equal(t.lines, 1);
	/* The burst lasts until five seconds have passed without an event. */
	event_log_flush(e, 9 * SECOND + 99 * SECOND / 100 + 5 * SECOND, false);
	assert_int_equal(read_file("events").lines, 1);
	event_log_flush(e, 15 * SECOND, false);
	t = read_file("events");
	assert_int_equal(t.lines, 2);
	assert_int_equal(t.events, 1000);
	assert_int_equal(t.incidents, 1);
	event_log_flush(e, 60 * SECOND, true);
	assert_int_equal(read_file("events").lines, 2);
	event_log_free(e);
}

TEST(a_gap_begins_another_incident)
{
	struct event_log *e = open_log("events");
	struct totals t;

	add(e, 79, 0);
	add(e, 79, 5 * SECOND - 1);
	add(e, 79, 10 * SECOND - 1);
	event_log_free(e);
	t = read_file("events");
	assert_int_equal(t.incidents, 2);
	assert_int_equal(t.lines, 3);
	assert_int_equal(t.events, 3);
}

TEST(a_long_burst_is_written_every_minute)
{
	struct event_log *e = open_log("events");
	struct totals t;

	for (uint64_t s = 0; s <= 600; s++)
		add(e, 79, s * SECOND);
	t = read_file("events");
	assert_in_range(t.lines, 9, 11);
	assert_int_equal(t.incidents, 1);
	event_log_free(e);
	assert_int_equal(read_file("events").events, 601);
}

TEST(what_differs_is_not_folded)
{
	struct event_log *e = open_log("events");
	struct event event = an_event(79, 0);

	event_log_add(e, &event);
	event.pid = 7;
	event_log_add(e, &event);
	strcpy(event.comm, "python3");
	event_log_add(e, &event);
	strcpy(event.device, "0000:c2:00.0");
	event_log_add(e, &event);
	event.kind = "sxid";
	event_log_add(e, &event);
	strcpy(event.severity, "fatal");
	event_log_add(e, &event);
	assert_int_equal(read_file("events").lines, 6);
	/* What does not, is. */
	event.text = "another";
	event.text_len = 7;
	event_log_add(e, &event);
	assert_int_equal(read_file("events").lines, 6);
	event_log_free(e);
}

/* More kinds of events at a time than bursts are kept. */
TEST(a_crowd_of_processes_is_one_burst)
{
	struct event_log *e = open_log("events");
	struct event event = an_event(0, 0);

	event.anybodys = true;
	for (int i = 0; i < 1000; i++) {
		event.pid = 1000 + i;
		snprintf(event.comm, sizeof(event.comm), "x%d", i);
		event_log_add(e, &event);
	}
	event_log_free(e);
	assert_int_equal(read_file("events").lines, 2);
}

TEST(sums_hold_with_any_mix)
{
	struct event_log *e = open_log("events");
	uint64_t seed = 7, now = 0;
	const int count = 20000;

	for (int i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* Some come late, as those that only the driver reports. */
		add(e, (unsigned int)(seed >> 57),
		    now - (seed >> 40) % 3 * (now > 9 * SECOND) * SECOND);
		now += (seed >> 33) % (SECOND / 2);
		if (!(i % 64))
			event_log_flush(e, now, false);
	}
	assert_int_equal(event_log_lost(e), 0);
	event_log_free(e);
	assert_int_equal(read_file("events").events, count);
	assert_int_equal(read_file("events").torn, 0);
}

/* ---- what a line holds ---- */

TEST(any_bytes_make_valid_json)
{
	struct event_log *e = open_log("events");
	char text[2048];
	uint64_t seed = 3;
	const int count = 3000;

	for (int i = 0; i < count; i++) {
		struct event event = an_event((unsigned int)i, (uint64_t)i * SECOND);

		for (size_t k = 0; k < sizeof(text); k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* all bytes, control bytes, or quotes and backslashes */
			text[k] =
				i % 3 ? (char)(seed >> 56) >> (i % 3 - 1) * 3 : "\"\\"[seed >> 63];
		}
		event.text = text;
		event.text_len = (size_t)i % EVENT_TEXT;
		/* Names are labels: they come through label_from_bytes(). */
		label_from_bytes(event.comm, sizeof(event.comm), text, 40);
		label_from_bytes(event.device, sizeof(event.device), text + 40, 50);
		label_from_bytes(event.uuid, sizeof(event.uuid), text + 90, 40);
		event.members =
			i % 2 ? "\"xids\":[{\"device\":\"x\",\"xid\":1,\"seconds_before\":-1.5}]" :
				"";
		event.replayed = i % 2;
		event.pid = i % 5 - 1;
		event_log_add(e, &event);
	}
	event_log_free(e);
	assert_int_equal(read_file("events").torn, 0);
	assert_int_equal(read_file("events").events, count);
}

TEST(a_line_has_what_is_known)
{
	struct event_log *e = open_log("events");
	struct event event = an_event(79, 12 * SECOND + 5);
	char line[1024] = "";
	FILE *file;

	event.time = 1700000000.25;
	event.pid = 0;
	event.path = "text";
	event.replayed = true;
	strcpy(event.name, "GPU_OFF_BUS");
	strcpy(event.severity, "fatal");
	event.text = "a\"\n\xff";
	event_log_add(e, &event);
	event_log_free(e);
	file = fopen("events", "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(
		line,
		"{\"time\":\"2023-11-14T22:13:20.250Z\",\"monotonic_seconds\":12.000000005,"
		"\"kind\":\"xid\",\"gpu\":\"0000:c1:00.0\",\"xid\":79,\"name\":\"GPU_OFF_BUS\","
		"\"severity\":\"fatal\",\"pid\":0,\"seen_by\":\"text\",\"replayed\":true,"
		"\"incident\":1,\"repeats\":0,\"text\":\"a\\\"\\u000a\\\\xff\"}\n");
}

/* ---- files, disks and pipes ---- */

/* A file takes long members besides the text; a pipe takes PIPE_BUF at once. */
TEST(long_members_are_written_whole_or_not_at_all)
{
	char members[3 * PIPE_BUF / 4], line[2 * PIPE_BUF];
	struct event event = an_event(79, 0);

	memset(members, 'x', sizeof(members));
	memcpy(members, "\"m\":\"", 5);
	strcpy(members + sizeof(members) - 2, "\"");
	assert_int_equal(mkfifo("pipe", 0600), 0);
	event.members = members;
	event.text = line;
	event.text_len = EVENT_TEXT;
	memset(line, 't', EVENT_TEXT);
	for (int pipe = 0; pipe < 2; pipe++) {
		const char *path = pipe ? "pipe" : "events";
		int reader = open("pipe", O_RDONLY | O_NONBLOCK);
		struct event_log *e = open_log(path);
		char got[2 * PIPE_BUF] = "";
		ssize_t n;

		event_log_add(e, &event);
		if (!pipe) {
			close(reader);
			reader = open("events", O_RDONLY);
		}
		n = read(reader, got, sizeof(got) - 1);
		close(reader);
		event_log_free(e);
		assert_in_range(n, EVENT_TEXT, pipe ? PIPE_BUF : sizeof(got));
		assert_string_equal(skip_value(got), "\n");
		assert_int_equal(!strstr(got, members), pipe);
		/* All of the text. */
		assert_int_equal(strspn(strstr(got, "\"text\":\"") + 8, "t"), EVENT_TEXT);
	}
}

TEST(a_renamed_file_is_left)
{
	struct event_log *e = open_log("events");

	add(e, 1, 0);
	assert_int_equal(rename("events", "events.1"), 0);
	add(e, 2, 0);
	event_log_reopen(e);
	add(e, 3, 0);
	event_log_free(e);
	assert_int_equal(read_file("events.1").lines, 2);
	assert_int_equal(read_file("events").lines, 1);
	/* An existing file is appended to. */
	e = open_log("events");
	add(e, 4, 0);
	event_log_free(e);
	assert_int_equal(read_file("events").lines, 2);
}

/* Standard error goes to the file "errors" until captured_lines(). */
static int capture(void)
{
	int saved = dup(STDERR_FILENO), fd = open("errors", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(saved >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
	return saved;
}

static int captured_lines(int saved)
{
	char text[4096];
	int lines = 0;
	FILE *file;

	dup2(saved, STDERR_FILENO);
	close(saved);
	file = fopen("errors", "r");
	assert_non_null(file);
	while (fgets(text, sizeof(text), file))
		lines++;
	fclose(file);
	return lines;
}

TEST(a_full_disk_is_reported_once_and_counted)
{
	int saved = capture();
	struct event_log *e = open_log("/dev/full");
	uint64_t lost;

	for (unsigned int i = 0; i < 5; i++)
		add(e, i, 0);
	lost = event_log_lost(e);
	event_log_free(e);
	assert_int_equal(captured_lines(saved), 1);
	assert_int_equal(lost, 5);
}

TEST(a_missing_directory_heals)
{
	int saved = capture();
	struct event_log *e = open_log("dir/events");
	uint64_t lost;

	add(e, 1, 0);
	add(e, 2, 0);
	lost = event_log_lost(e);
	mkdir("dir", 0755);
	add(e, 3, 0);
	event_log_free(e);
	assert_int_equal(captured_lines(saved), 2);
	assert_int_equal(lost, 2);
	assert_int_equal(read_file("dir/events").lines, 1);
}

/* A limit on the file's size tears a line as a full disk does. */
TEST(a_torn_line_ends_where_it_was_torn)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	int saved = capture();
	struct event_log *e = open_log("events");
	struct totals t;
	struct stat status;

	signal(SIGXFSZ, SIG_IGN);
	add(e, 1, 0);
	assert_int_equal(stat("events", &status), 0);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ (rlim_t)status.st_size + 20, RLIM_INFINITY });
	add(e, 2, 0);
	add(e, 3, 0);
	assert_int_equal(event_log_lost(e), 2);
	setrlimit(RLIMIT_FSIZE, &none);
	add(e, 4, 0);
	event_log_free(e);
	assert_int_equal(captured_lines(saved), 2);
	t = read_file("events");
	assert_int_equal(t.lines, 2);
	assert_int_equal(t.torn, 1);
}

/* Adds @count events whose texts are as long in JSON as they can be. */
static void add_long(struct event_log *e, unsigned int count)
{
	char control[EVENT_TEXT];

	memset(control, 1, sizeof(control));
	for (unsigned int i = 0; i < count; i++) {
		struct event event = an_event(i, 0);

		event.text = control;
		event.text_len = sizeof(control);
		event_log_add(e, &event);
	}
}

/* Ends with SIGALRM if something waits. */
TEST(a_full_pipe_does_not_block)
{
	struct event_log *e;
	int saved, reader;
	uint64_t lost;

	assert_int_equal(mkfifo("pipe", 0600), 0);
	saved = capture();
	alarm(20);
	/* No process reads the pipe. */
	e = open_log("pipe");
	add(e, 1, 0);
	lost = event_log_lost(e);
	reader = open("pipe", O_RDONLY | O_NONBLOCK);
	add_long(e, 3000);
	assert_int_equal(lost, 1);
	lost = event_log_lost(e);
	event_log_free(e);
	dup2(saved, STDERR_FILENO);
	close(saved);
	alarm(0);
	assert_in_range(lost, 2000, 2999);
	close(reader);
}

/* Standard output is the caller's: it may wait, the agent may not. */
TEST(standard_output_does_not_block)
{
	int saved, noise, ends[2];
	struct event_log *e;
	uint64_t lost;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	noise = capture();
	dup2(ends[1], STDOUT_FILENO);
	alarm(20);
	e = open_log("-");
	add_long(e, 500);
	lost = event_log_lost(e);
	event_log_free(e);
	alarm(0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	captured_lines(noise);
	close(ends[0]);
	close(ends[1]);
	assert_in_range(lost, 400, 499);
}

TEST(without_a_path_nothing_is_written)
{
	struct event_log *e = open_log(NULL);

	for (unsigned int i = 0; i < 500; i++)
		add(e, i, i * SECOND);
	assert_int_equal(event_log_lost(e), 0);
	event_log_reopen(e);
	event_log_free(e);
	event_log_free(NULL);
}
