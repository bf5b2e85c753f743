// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event log: JSON lines, bursts folded. */
#include "sinks/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file_text.h"

/* The same event again within GAP belongs to the burst; of a long burst the
 * repeats are written every REPORT. */
#define GAP_NS (5 * 1000000000ull)
#define REPORT_NS (60 * 1000000000ull)

/* Bursts that are open at a time. */
#define BURSTS 64

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
	int last_error; /* said once per change */
	bool torn; /* the last line was not written to its end */
	uint64_t lost;
	uint64_t incidents;
	struct burst bursts[BURSTS];
};

static void tell(struct event_log *e, int error)
{
	if (error == e->last_error)
		return;
	e->last_error = error;
	if (error)
		log_error(e->log,
			  "cannot write events to %s: %s; make room or name "
			  "another --events. Events are lost until then, counts "
			  "are not",
			  e->path, strerror(error));
	else
		log_info(e->log, "events are written to %s again", e->path);
}

static void open_file(struct event_log *e)
{
	if (!e->path || e->fd >= 0)
		return;
	if (!strcmp(e->path, "-"))
		e->fd = dup(STDOUT_FILENO);
	else
		/* A FIFO that nobody reads must not stop us. */
		e->fd = open(e->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	tell(e, e->fd < 0 ? errno : 0);
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

static void member(FILE *out, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(out, ",\"%s\":", name);
	json_string(out, text, strlen(text));
}

/* RFC 3339, UTC, milliseconds. */
static void write_time(FILE *out, double seconds)
{
	double whole = floor(seconds);
	time_t t = (time_t)whole;
	char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(out, "\"time\":\"%s.%03dZ\"", text, (int)((seconds - whole) * 1e3));
}

/*
 * Where the process runs: the path in cgroup v2 (or of the first line, in v1),
 * and a pod's id, which stands in it as "pod" and the UID, with '_' for '-' if
 * systemd made the group.
 */
static void write_cgroup(FILE *out, int pid)
{
	char path[64], line[512], *group, *pod, uid[40];
	size_t len = 0;

	if (pid <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file_first_line(path, line, sizeof(line));
	group = strchr(line, '/');
	if (!group)
		return;
	member(out, "cgroup", group);
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
	member(out, "pod", uid);
}

/* The line, with the first @text_len bytes of the event's text; the caller frees
 * it. NULL: no memory. */
static char *make_line(const struct event *event, size_t text_len, uint64_t incident,
		       uint64_t repeats, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	fputc('{', out);
	write_time(out, event->time);
	fprintf(out, ",\"monotonic_seconds\":%" PRIu64 ".%09" PRIu64,
		event->monotonic_ns / 1000000000, event->monotonic_ns % 1000000000);
	member(out, "kind", event->kind);
	member(out, *event->kind == 'x' || *event->kind == 'g' ? "gpu" : "device", event->device);
	member(out, "uuid", event->uuid);
	if (event->code)
		fprintf(out, ",\"%s\":%u", event->kind, event->code);
	member(out, "name", event->name);
	member(out, "severity", event->severity);
	member(out, "action", event->action);
	if (event->pid >= 0)
		fprintf(out, ",\"pid\":%d", event->pid);
	member(out, "comm", event->comm);
	write_cgroup(out, event->replayed ? -1 : event->pid);
	member(out, "printed_by", event->printed_by);
	if (event->path)
		member(out, "seen_by", event->path);
	if (event->replayed)
		fputs(",\"replayed\":true", out);
	fputs(event->members ? event->members : "", out);
	fprintf(out, ",\"incident\":%" PRIu64 ",\"repeats\":%" PRIu64 ",\"text\":", incident,
		repeats);
	json_string(out, event->text, text_len);
	fputs("}\n", out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* One write: a line is never torn by another's. It must not wait for the reader
 * of a full pipe either, which has room for PIPE_BUF if it has any. Returns 0 or
 * an errno. */
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

/* One line, which stands for @repeats events besides its own. */
static void write_line(struct event_log *e, const struct event *event, uint64_t incident,
		       uint64_t repeats)
{
	size_t text_len = event->text_len, size = 0;
	char *text;
	int err;

	if (!e->path)
		return;
	open_file(e);
	text = make_line(event, text_len, incident, repeats, &size);
	/* A text of control bytes is several times as long in JSON. */
	while (text && size > PIPE_BUF && text_len) {
		free(text);
		text_len /= 2;
		text = make_line(event, text_len, incident, repeats, &size);
	}
	if (!text || e->fd < 0) {
		e->lost++;
		free(text);
		return;
	}
	/* What is left of a line that a full disk tore ends here. */
	if (e->torn && !write_whole(e, "\n", 1))
		e->torn = false;
	err = e->torn ? ENOSPC : write_whole(e, text, size);
	if (err)
		e->lost++;
	tell(e, err);
	free(text);
}

static void report(struct event_log *e, struct burst *b)
{
	if (b->folded)
		write_line(e, &b->last, b->incident, b->folded - 1);
	b->folded = 0;
}

static void keep(struct burst *b, const struct event *event)
{
	b->last = *event;
	b->last.members = "";
	if (b->last.text_len > sizeof(b->text))
		b->last.text_len = sizeof(b->text);
	memcpy(b->text, event->text, b->last.text_len);
	b->last.text = b->text;
}

static bool same(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->code == b->code && a->pid == b->pid &&
	       !strcmp(a->name, b->name) && !strcmp(a->device, b->device) &&
	       !strcmp(a->comm, b->comm) && !strcmp(a->severity, b->severity);
}

/* The event's burst, or else an entry for it: a free one or the oldest. */
static struct burst *find(struct event_log *e, const struct event *event)
{
	struct burst *place = e->bursts;

	for (struct burst *b = e->bursts; b < e->bursts + BURSTS; b++) {
		if (b->used && same(&b->last, event))
			return b;
		if (place->used && (!b->used || b->last.monotonic_ns < place->last.monotonic_ns))
			place = b;
	}
	if (place->used)
		report(e, place);
	place->used = false;
	return place;
}

void event_log_add(struct event_log *e, const struct event *event)
{
	struct burst *b = find(e, event);

	if (b->used && event->monotonic_ns < b->last.monotonic_ns + GAP_NS) {
		if (!b->folded++)
			b->first_folded_ns = event->monotonic_ns;
		keep(b, event);
		if (event->monotonic_ns >= b->first_folded_ns + REPORT_NS)
			report(e, b);
		return;
	}
	if (b->used)
		report(e, b);
	b->used = true;
	b->incident = ++e->incidents;
	write_line(e, event, b->incident, 0);
	keep(b, event);
}

void event_log_flush(struct event_log *e, uint64_t now_ns, bool all)
{
	for (struct burst *b = e->bursts; b < e->bursts + BURSTS; b++) {
		if (!b->used)
			continue;
		if (all || now_ns > b->last.monotonic_ns + GAP_NS) {
			report(e, b);
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
