// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event log: JSON lines, bursts folded. */
#include "sinks/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/process.h"

/* An event belongs to the burst of the same event less than GAP before it. The repeats of
 * a long burst are written every REPEATS. */
#define GAP_NS (5 * 1000000000ull)
#define REPEATS_NS (60 * 1000000000ull)

/* The most bursts that are open at a time. */
#define BURSTS 64

/* A line has at most PIPE_BUF bytes, to which a regular file adds the members. Elsewhere
 * longer members are left out. */
#define MEMBERS_IN_PIPE (PIPE_BUF / 2)

struct burst {
	bool used;
	uint64_t incident; /* number of the burst, the same on all its lines */
	uint64_t folded; /* events since its last line */
	uint64_t first_folded_ns;
	struct event last;
	char text[EVENT_TEXT];
};

struct event_log {
	const struct log *log;
	const char *path;
	int fd;
	bool regular; /* a regular file is open: a write to it does not wait for a reader */
	int last_error; /* reported once per change */
	bool torn; /* the last line was not written to its end */
	uint64_t lost;
	uint64_t incidents;
	struct burst bursts[BURSTS];
};

/* Logs @error, an errno or 0, if it differs from the last one. */
static void log_change(struct event_log *e, int error)
{
	if (error == e->last_error)
		return;
	e->last_error = error;
	if (error)
		log_error(e->log,
			  "cannot write events to %s: %s; make room or name another --events. "
			  "Until then events are lost, but still counted",
			  e->path, strerror(error));
	else
		log_info(e->log, "events are written to %s again", e->path);
}

static void open_file(struct event_log *e)
{
	struct stat status;

	if (!e->path || e->fd >= 0)
		return;
	if (!strcmp(e->path, "-"))
		e->fd = dup(STDOUT_FILENO);
	else
		/* O_NONBLOCK: does not wait for the reader of a FIFO. */
		e->fd = open(e->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	log_change(e, e->fd < 0 ? errno : 0);
	e->regular = e->fd >= 0 && !fstat(e->fd, &status) && S_ISREG(status.st_mode);
}

struct event_log *event_log_new(const char *path, const struct log *log)
{
	struct event_log *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->log = log;
	e->path = path;
	e->fd = -1;
	open_file(e);
	return e;
}

void event_log_reopen(struct event_log *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	e->torn = false;
	open_file(e);
}

uint64_t event_log_lost(const struct event_log *e)
{
	return e->lost;
}

static void write_known(struct json *j, const char *name, const char *text)
{
	if (*text)
		json_text(j, name, text);
}

/* RFC 3339, UTC, milliseconds. */
static void write_time(struct json *j, double seconds)
{
	double whole = floor(seconds);
	time_t t = (time_t)whole;
	char text[40];
	struct tm tm;
	size_t len;

	gmtime_r(&t, &tm);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%03dZ", (int)((seconds - whole) * 1e3));
	json_text(j, "time", text);
}

/*
 * Where the process runs: the path in cgroup v2 (or of the first line, in v1),
 * and the UID of its pod, which follows "pod" in that path, with '_' for '-' if
 * systemd made the group.
 */
static void write_cgroup(struct json *j, const struct event *event)
{
	char line[512], *group, *pod, uid[40];
	size_t len = 0;

	if (event->replayed)
		return;
	process_first_line(event->pid, event->monotonic_ns, "cgroup", line, sizeof(line));
	group = strchr(line, '/');
	if (!group)
		return;
	json_text(j, "cgroup", group);
	for (pod = strstr(group, "pod"); pod; pod = strstr(pod + 3, "pod")) {
		len = strspn(pod + 3, "0123456789abcdef-_");
		if (len >= 32 && len < sizeof(uid))
			break;
	}
	if (!pod)
		return;
	for (size_t i = 0; i < len; i++)
		uid[i] = (char)(pod[3 + i] == '_' ? '-' : pod[3 + i]);
	uid[len] = 0;
	json_text(j, "pod", uid);
}

/* Makes the line, which the caller frees. NULL: no memory. */
static char *make_line(const struct event *event, uint64_t incident, uint64_t repeats, size_t *size)
{
	char *text = NULL;
	struct json j = { .out = open_memstream(&text, size) };

	if (!j.out)
		return NULL;
	json_object(&j, NULL);
	write_time(&j, event->time);
	json_nanoseconds(&j, "monotonic_seconds", event->monotonic_ns);
	json_text(&j, "kind", event->kind);
	write_known(&j, *event->kind == 'x' || *event->kind == 'g' ? "gpu" : "device",
		    event->device);
	write_known(&j, "uuid", event->uuid);
	if (event->code)
		json_unsigned(&j, event->kind, event->code);
	write_known(&j, "name", event->name);
	write_known(&j, "severity", event->severity);
	write_known(&j, "action", event->action);
	if (event->pid >= 0)
		json_signed(&j, "pid", event->pid);
	write_known(&j, "comm", event->comm);
	write_cgroup(&j, event);
	write_known(&j, "printed_by", event->printed_by);
	if (event->path)
		json_text(&j, "seen_by", event->path);
	if (event->replayed)
		json_bool(&j, "replayed", true);
	json_members(&j, event->members);
	json_unsigned(&j, "incident", incident);
	json_unsigned(&j, "repeats", repeats);
	json_bytes(&j, "text", event->text, event->text_len);
	json_object_end(&j);
	fputc('\n', j.out);
	if (!fclose(j.out))
		return text;
	free(text);
	return NULL;
}

/* Writes in one piece, so that no other writer's line comes between, and without waiting
 * for the reader of a full pipe: one that is writable has room for PIPE_BUF. Returns 0
 * or an errno. */
static int write_whole(struct event_log *e, const char *text, size_t size)
{
	ssize_t n;

	if (poll(&(struct pollfd){ e->fd, POLLOUT, 0 }, 1, 0) == 0)
		return EAGAIN;
	n = write(e->fd, text, size);
	if (n < 0)
		return errno;
	if (n < (ssize_t)size) {
		e->torn = true;
		return ENOSPC;
	}
	return 0;
}

/* Writes one line, for its event and @repeats more. */
static void write_line(struct event_log *e, struct event event, uint64_t incident, uint64_t repeats)
{
	size_t members_len = strlen(event.members), limit = PIPE_BUF, size = 0;
	char *text;
	int err;

	if (!e->path)
		return;
	open_file(e);
	if (e->regular)
		limit += members_len;
	else if (members_len > MEMBERS_IN_PIPE)
		event.members = "";
	text = make_line(&event, incident, repeats, &size);
	/* Escapes can make a text several times as long in JSON, and a cgroup's name. */
	while (text && size > limit && (event.text_len || *event.members)) {
		free(text);
		if (!event.text_len)
			event.members = "";
		event.text_len /= 2;
		text = make_line(&event, incident, repeats, &size);
	}
	if (!text || e->fd < 0) {
		e->lost++;
		free(text);
		return;
	}
	/* Ends the torn line before this one. */
	if (e->torn && !write_whole(e, "\n", 1))
		e->torn = false;
	err = e->torn ? ENOSPC : write_whole(e, text, size);
	if (err)
		e->lost++;
	log_change(e, err);
	free(text);
}

static void write_repeats(struct event_log *e, struct burst *b)
{
	if (b->folded)
		write_line(e, b->last, b->incident, b->folded - 1);
	b->folded = 0;
}

static void set_last(struct burst *b, const struct event *event)
{
	b->last = *event;
	b->last.members = "";
	if (b->last.text_len > sizeof(b->text))
		b->last.text_len = sizeof(b->text);
	memcpy(b->text, event->text, b->last.text_len);
	b->last.text = b->text;
}

static bool same_burst(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->code == b->code && !strcmp(a->name, b->name) &&
	       !strcmp(a->device, b->device) && !strcmp(a->severity, b->severity) &&
	       (a->anybodys || (a->pid == b->pid && !strcmp(a->comm, b->comm)));
}

/* The event's burst; without one, a free entry or the oldest. */
static struct burst *find_burst(struct event_log *e, const struct event *event)
{
	struct burst *found = e->bursts;

	for (struct burst *b = e->bursts; b < e->bursts + BURSTS; b++) {
		if (b->used && same_burst(&b->last, event))
			return b;
		if (found->used && (!b->used || b->last.monotonic_ns < found->last.monotonic_ns))
			found = b;
	}
	write_repeats(e, found);
	found->used = false;
	return found;
}

void event_log_add(struct event_log *e, const struct event *event)
{
	struct burst *b = find_burst(e, event);

	if (b->used && event->monotonic_ns < b->last.monotonic_ns + GAP_NS) {
		if (!b->folded++)
			b->first_folded_ns = event->monotonic_ns;
		set_last(b, event);
		if (event->monotonic_ns >= b->first_folded_ns + REPEATS_NS)
			write_repeats(e, b);
		return;
	}
	write_repeats(e, b);
	b->used = true;
	b->incident = ++e->incidents;
	write_line(e, *event, b->incident, 0);
	set_last(b, event);
}

void event_log_flush(struct event_log *e, uint64_t now_ns, bool all)
{
	for (struct burst *b = e->bursts; b < e->bursts + BURSTS; b++) {
		if (!b->used)
			continue;
		if (all || now_ns > b->last.monotonic_ns + GAP_NS) {
			write_repeats(e, b);
			b->used = false;
		}
	}
}

void event_log_free(struct event_log *e)
{
	if (!e)
		return;
	event_log_flush(e, 0, true);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}
