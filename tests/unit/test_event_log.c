// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the event log folds bursts and loses no event in its sums, and that long members make no line too long.
 * That a line is valid JSON whatever an event contains is proved by tests/fuzz/fuzz_event_log.c. */
#include <limits.h>
#include <unistd.h>

#include "unit.h"
#include "made_up_tree.h"
#include "../fuzz/safe.h"
#include "sinks/event_log.h"

static bool write_file(void *path, const char *line, size_t size)
{
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return false;
	assert_int_equal(fwrite(line, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return true;
}

static struct event_log *e; /* of the test that runs */

/* The lines go to the file @path as to a pipe, or are refused if that is NULL. */
static void open_log(const char *path, bool pipe)
{
	static struct event_sink sink;

	event_log_free(e);
	sink = (struct event_sink){ pipe, write_file, (void *)path, NULL };
	e = not_null(event_log_new(&sink));
}

static void close_log(void)
{
	event_log_free(e);
	e = NULL;
}

BEFORE_EACH()
{
	open_log("events", false);
}

AFTER_EACH()
{
	close_log();
}

static struct event an_event(unsigned int code, uint64_t ns)
{
	struct event event = { .kind = EVENT_KIND_XID,
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

static void add(unsigned int code, uint64_t ns)
{
	struct event event = an_event(code, ns);

	event_log_add(e, &event);
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
	at = not_null(strstr(line, label));
	return strtoull(at + strlen(label), NULL, 10);
}

static struct totals read_file(void)
{
	struct totals t = {};
	char line[3 * PIPE_BUF];
	FILE *file = not_null(fopen("events", "r"));

	while (fgets(line, sizeof(line), file)) {
		size_t len = strcspn(line, "\n");

		if (*line != '{' || !line[len] || !json_valid(line, len)) {
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

static void assert_totals(const char *expected)
{
	struct totals t = read_file();

	assert_printed(expected, "%d lines, %lu events, %lu incidents, %d torn", t.lines, t.events,
		       t.incidents, t.torn);
}

/* ---- folding ---- */

TEST(a_burst_is_two_lines)
{
	for (uint64_t i = 0; i < 1000; i++)
		add(79, i * SECOND / 100);
	assert_int_equal(read_file().lines, 1);
	/* The burst lasts until five seconds have passed without an event. */
	event_log_flush(e, 9 * SECOND + 99 * SECOND / 100 + 5 * SECOND, false);
	assert_int_equal(read_file().lines, 1);
	event_log_flush(e, 15 * SECOND, false);
	assert_totals("2 lines, 1000 events, 1 incidents, 0 torn");
	event_log_flush(e, 60 * SECOND, true);
	assert_int_equal(read_file().lines, 2);
}

TEST(a_gap_begins_another_incident)
{
	add(79, 0);
	add(79, 5 * SECOND - 1);
	add(79, 10 * SECOND - 1);
	close_log();
	assert_totals("3 lines, 3 events, 2 incidents, 0 torn");
}

TEST(a_long_burst_is_written_every_minute)
{
	struct totals t;

	for (uint64_t s = 0; s <= 600; s++)
		add(79, s * SECOND);
	t = read_file();
	assert_in_range(t.lines, 9, 11);
	assert_int_equal(t.incidents, 1);
	close_log();
	assert_int_equal(read_file().events, 601);
}

TEST(what_differs_is_not_folded)
{
	struct event event = an_event(79, 0);

	event_log_add(e, &event);
	event.pid = 7;
	event_log_add(e, &event);
	strcpy(event.comm, "python3");
	event_log_add(e, &event);
	strcpy(event.device, "0000:c2:00.0");
	event_log_add(e, &event);
	event.kind = EVENT_KIND_SXID;
	event_log_add(e, &event);
	strcpy(event.severity, "fatal");
	event_log_add(e, &event);
	assert_int_equal(read_file().lines, 6);
	/* What does not, is. */
	event.text = "another";
	event.text_len = 7;
	event_log_add(e, &event);
	assert_int_equal(read_file().lines, 6);
}

/* More kinds of events at a time than bursts are kept. */
TEST(a_crowd_of_processes_is_one_burst)
{
	struct event event = an_event(0, 0);

	event.anybodys = true;
	for (int i = 0; i < 1000; i++) {
		event.pid = 1000 + i;
		snprintf(event.comm, sizeof(event.comm), "x%d", i);
		event_log_add(e, &event);
	}
	close_log();
	assert_int_equal(read_file().lines, 2);
}

TEST(sums_hold_with_any_mix)
{
	uint64_t seed = 7, now = 0;
	const int count = 20000;

	for (int i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* Some come late, as those that only the driver reports. */
		add((unsigned int)(seed >> 57),
		    now - (seed >> 40) % 3 * (now > 9 * SECOND) * SECOND);
		now += (seed >> 33) % (SECOND / 2);
		if (!(i % 64))
			event_log_flush(e, now, false);
	}
	assert_int_equal(event_log_lost(e), 0);
	close_log();
	assert_int_equal(read_file().events, count);
	assert_int_equal(read_file().torn, 0);
}

/* ---- what a line holds ---- */

TEST(a_line_has_what_is_known)
{
	struct event event = an_event(79, 12 * SECOND + 5);

	event.time = 1700000000.25;
	event.pid = 0;
	event.authority = "text";
	event.replayed = true;
	strcpy(event.name, "GPU_OFF_BUS");
	strcpy(event.severity, "fatal");
	event.text = "a\"\n\xff";
	event_log_add(e, &event);
	close_log();
	assert_content(
		"events",
		"{\"time\":\"2023-11-14T22:13:20.250Z\",\"monotonic_seconds\":12.000000005,"
		"\"kind\":\"xid\",\"gpu\":\"0000:c1:00.0\",\"xid\":79,\"name\":\"GPU_OFF_BUS\","
		"\"severity\":\"fatal\",\"pid\":0,\"seen_by\":\"text\",\"replayed\":true,"
		"\"incident\":1,\"repeats\":0,\"text\":\"a\\\"\\u000a\\\\xff\"}\n");
}

/* A file takes long members besides the text; a pipe takes PIPE_BUF at once. */
TEST(long_members_are_written_whole_or_not_at_all)
{
	char members[3 * PIPE_BUF / 4], text[EVENT_TEXT];
	struct event event = an_event(79, 0);

	memset(members, 'x', sizeof(members));
	memcpy(members, "\"m\":\"", 5);
	strcpy(members + sizeof(members) - 2, "\"");
	event.members = members;
	event.text = text;
	event.text_len = EVENT_TEXT;
	memset(text, 't', EVENT_TEXT);
	for (int pipe = 0; pipe < 2; pipe++) {
		const char *got;

		remove("events");
		open_log("events", pipe);
		event_log_add(e, &event);
		close_log();
		got = content_of("events");
		assert_in_range(strlen(got), EVENT_TEXT, pipe ? PIPE_BUF : 2 * PIPE_BUF - 1);
		assert_true(json_valid(got, strcspn(got, "\n")));
		assert_string_equal(strchr(got, '\n'), "\n");
		assert_int_equal(!strstr(got, members), pipe);
		/* All of the text. */
		assert_int_equal(strspn(strstr(got, "\"text\":\"") + 8, "t"), EVENT_TEXT);
	}
}

/* What the log prints on standard error while @e gets the event. */
static const char *said_of(struct event event)
{
	static const struct log log;
	struct event_sink sink = { .write = write_file, .context = (char *)"events", .log = &log };
	int saved = dup(STDERR_FILENO);

	close_log();
	remove("said");
	assert_non_null(freopen("said", "w", stderr));
	e = event_log_new(&sink);
	for (int i = 0; i < 3; i++)
		event_log_add(e, &event);
	close_log();
	fflush(stderr);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(saved);
	return content_of("said");
}

TEST(the_log_has_a_line_of_each_burst_of_faults)
{
	struct event event = an_event(79, 0);

	strcpy(event.severity, "fatal");
	strcpy(event.name, "BUS");
	event.text = "fell off";
	event.text_len = 8;
	assert_string_equal(
		said_of(event),
		"xidscope: warning: 0000:c1:00.0: Xid 79 (fatal) BUS: fell off\n"
		"xidscope: warning: 0000:c1:00.0: Xid 79 (fatal) BUS, 2 more: fell off\n");
	strcpy(event.severity, "info");
	assert_string_equal(said_of(event), "");
	event.kind = EVENT_KIND_DRIVER_ERROR;
	event.code = 0;
	strcpy(event.severity, "");
	strcpy(event.name, "uvm_fatal");
	*event.device = 0;
	assert_has(said_of(event), "xidscope: warning: GPU driver: uvm_fatal: fell off\n");
	event.kind = EVENT_KIND_KERNEL;
	assert_string_equal(said_of(event), "");
	event.kind = EVENT_KIND_SXID; /* its text has the name, if any */
	event.code = 20034;
	strcpy(event.severity, "fatal");
	*event.name = 0;
	assert_has(said_of(event), "xidscope: warning: GPU driver: SXid 20034 (fatal): fell off\n");
}

TEST(escapes_do_not_make_a_line_too_long)
{
	struct event event = an_event(79, 0);
	char control[EVENT_TEXT];

	open_log("events", true);
	memset(control, 1, sizeof(control));
	event.text = control;
	event.text_len = sizeof(control);
	event_log_add(e, &event);
	close_log();
	assert_in_range(strlen(content_of("events")), EVENT_TEXT, PIPE_BUF);
}

TEST(lines_that_are_not_taken_are_counted)
{
	open_log(NULL, false);
	for (unsigned int i = 0; i < 5; i++)
		add(i, 0);
	assert_int_equal(event_log_lost(e), 5);
}

TEST(without_a_sink_nothing_is_written)
{
	close_log();
	e = not_null(event_log_new(NULL));
	for (unsigned int i = 0; i < 500; i++)
		add(i, i * SECOND);
	assert_int_equal(event_log_lost(e), 0);
	event_log_free(NULL);
}
