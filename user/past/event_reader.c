// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of JSON become events of the past. */
#include "past/history.h"

#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/file_text.h"
#include "base/json_reader.h"
#include "base/time_text.h"

#define SECONDS_MAX 1e11 /* longer than any machine is up */

/* ---- lines ---- */

/* What a line has, as it stands there. */
struct line {
	struct past_event event;
	struct span time, gpu, pid, xid, sxid, repeats, incident, monotonic, start, seconds, bytes;
	struct span replayed, state, unread, incomplete;
};

static const struct {
	const char *name;
	size_t member; /* of struct line: a span */
	bool text; /* it is a text, and the span its inside */
} members[] = {
/* clang-format off */
#define TEXT(name, to) { name, offsetof(struct line, to), true }
#define VALUE(name, to) { name, offsetof(struct line, to), false }
	/* clang-format on */
	TEXT("time", time),
	TEXT("kind", event.kind),
	TEXT("name", event.name),
	TEXT("gpu", gpu),
	TEXT("device", event.device),
	TEXT("severity", event.severity),
	TEXT("action", event.action),
	TEXT("comm", event.comm),
	TEXT("text", event.text),
	TEXT("job", event.job),
	TEXT("pod", event.pod),
	TEXT("cgroup", event.cgroup),
	TEXT("owner", event.owner),
	TEXT("boot", event.boot),
	TEXT("version", event.version),
	TEXT("state", state),
	VALUE("held_by", event.held_by),
	VALUE("pid", pid),
	VALUE("xid", xid),
	VALUE("sxid", sxid),
	VALUE("repeats", repeats),
	VALUE("incident", incident),
	VALUE("monotonic_seconds", monotonic),
	VALUE("start_monotonic_seconds", start),
	VALUE("seconds", seconds),
	VALUE("bytes", bytes),
	VALUE("replayed", replayed),
	VALUE("holders_unread", unread),
	VALUE("holders_incomplete", incomplete),
};

static void on_member(void *context, struct span name, struct span value)
{
	struct line *l = context;
	struct span *to;

	for (size_t i = 0; i < COUNT(members); i++) {
		if (!span_is(name, members[i].name))
			continue;
		to = (struct span *)((char *)l + members[i].member);
		if (!members[i].text)
			*to = value;
		else if (!json_inside(value, to))
			*to = (struct span){};
	}
}

static double number(struct span value, double missing)
{
	double found;

	return json_read_number(value, &found) ? found : missing;
}

/* The same from 0 to @max; another one is as good as missing. */
static double number_to(struct span value, double missing, double max)
{
	double found = number(value, missing);

	return found >= 0 && found <= max ? found : missing;
}

/* A count, and none that a reader cannot add up. */
static uint64_t count(struct span value)
{
	return (uint64_t)number_to(value, 0, 1e15);
}

static bool read_time(const struct line *l, double *time)
{
	char text[64];

	return span_copy(l->time, text, sizeof(text)) && time_from_text(text, time);
}

/* Returns whether the line is an event: an object with a time and a kind. */
static bool read_line(struct line *l, struct span text)
{
	struct past_event *e = &l->event;

	*l = (struct line){};
	if (!json_read(text, on_member, l) || !span_left(e->kind) || !read_time(l, &e->time))
		return false;
	if (!span_left(e->device))
		e->device = l->gpu;
	e->written = e->end = e->time;
	e->code = (unsigned int)number_to(l->xid, number_to(l->sxid, 0, UINT32_MAX), UINT32_MAX);
	e->pid = (int)number_to(l->pid, -1, INT32_MAX);
	e->monotonic = number_to(l->monotonic, NAN, SECONDS_MAX);
	e->start = number_to(l->start, NAN, SECONDS_MAX);
	e->seconds = number_to(l->seconds, NAN, SECONDS_MAX);
	e->bytes = number_to(l->bytes, NAN, 1e18);
	e->count = 1 + count(l->repeats);
	e->incident = count(l->incident);
	e->replayed = span_is(l->replayed, "true");
	e->holders_unsure = span_left(l->unread) || span_left(l->incomplete);
	if (span_is(l->state, "begin"))
		e->state = PAST_BEGIN;
	else if (span_is(l->state, "end"))
		e->state = PAST_END;
	return true;
}

int event_reader_add(struct history *h, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;
	struct line l;
	int err;

	while (span_left(rest)) {
		line = span_take_line(&rest);
		if (!span_left(line))
			continue;
		if (!read_line(&l, line)) {
			h->skipped++;
			continue;
		}
		err = history_add(h, &l.event);
		if (err)
			return err;
	}
	return 0;
}

/* ---- files ---- */

/* The end of what @in has, at most EVENT_FILE_MAX bytes. */
static int read_end(gzFile in, struct event_file *f)
{
	size_t room = 2 * (size_t)EVENT_FILE_MAX;
	char *shorter;
	int n = 0;

	f->text = malloc(room);
	if (!f->text)
		return -ENOMEM;
	while ((n = gzread(in, f->text + f->len, (unsigned int)(room - f->len))) > 0) {
		f->len += (size_t)n;
		if (f->len < room)
			continue;
		f->len = EVENT_FILE_MAX;
		memmove(f->text, f->text + EVENT_FILE_MAX, EVENT_FILE_MAX);
	}
	shorter = realloc(f->text, f->len + 1);
	if (shorter)
		f->text = shorter;
	/* What a cut file has is read as far as it goes: its last line is torn. */
	return n < 0 && !f->len ? -EIO : 0;
}

static int read_descriptor(int fd, struct event_file *f)
{
	gzFile in = gzdopen(fd, "rb"); /* reads what is not packed, too */
	int err;

	if (!in) {
		close(fd);
		return -ENOMEM;
	}
	err = read_end(in, f);
	gzclose(in);
	return err;
}

static void turn(struct event_files *f)
{
	for (size_t i = 0; i < f->count / 2; i++) {
		struct event_file one = f->files[i];

		f->files[i] = f->files[f->count - 1 - i];
		f->files[f->count - 1 - i] = one;
	}
}

/* Reads one file of the log; -ENOENT if there is none. @before: what was read last. */
static int read_one(struct event_files *f, const char *path, struct stat *before)
{
	struct event_file *to = &f->files[f->count];
	struct stat st = {};
	int fd = file_open_regular(path, 0, &st);

	if (fd < 0)
		return fd;
	/* It was renamed meanwhile. */
	if (before->st_ino == st.st_ino && before->st_dev == st.st_dev) {
		close(fd);
		return 0;
	}
	*before = st;
	*to = (struct event_file){};
	snprintf(to->path, sizeof(to->path), "%s", path);
	f->count++;
	return read_descriptor(fd, to);
}

int event_files_read(struct event_files *f, const char *path, char *wrong, size_t size)
{
	static const char *const forms[] = { "%s.%d", "%s.%d.gz" };
	struct stat before = {};
	int err;

	if (!strcmp(path, "-")) {
		snprintf(f->files[0].path, sizeof(f->files[0].path), "standard input");
		f->count = 1;
		return read_descriptor(dup(STDIN_FILENO), &f->files[0]);
	}
	snprintf(wrong, size, "%s", path);
	err = read_one(f, path, &before);
	if (err && err != -ENOENT)
		return err;
	for (int i = 1; f->count < EVENT_FILES; i++) {
		int found = -ENOENT;

		for (size_t k = 0; k < 2 && found == -ENOENT; k++) {
			snprintf(wrong, size, forms[k], path, i);
			found = read_one(f, wrong, &before);
		}
		if (found == -ENOENT)
			break;
		if (found)
			return found;
	}
	snprintf(wrong, size, "%s", path);
	turn(f);
	return f->count ? 0 : -ENOENT;
}

void event_files_free(struct event_files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->files[i].text);
	*f = (struct event_files){};
}
