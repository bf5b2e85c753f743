// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of JSON become events of the past. */
#include "past/history.h"

#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/file_text.h"
#include "base/json.h"
#include "base/time_text.h"

#define SECONDS_MAX 1e11 /* longer than any machine is up */

/* ---- lines ---- */

/* The texts and values of a line, not yet decoded. */
struct line {
	struct past_event event;
	struct span time, gpu, state, replayed, unread, incomplete;
	double pid, xid, sxid, repeats, incident;
};

static const struct {
	const char *name;
	size_t member; /* of struct line */
	enum { TEXT, VALUE, NUMBER } type; /* a span of a text's inside, a span, a double */
	double max; /* of a number from 0 on; another one is as good as missing */
} members[] = {
#define TABLE_ROW(name, to, ...) { name, offsetof(struct line, to), __VA_ARGS__ },
#include "event_members.inc"
};

static void on_member(void *context, struct span name, struct span value)
{
	double number;

	for (size_t i = 0; i < COUNT(members); i++) {
		void *to = (char *)context + members[i].member;

		if (!span_is(name, members[i].name))
			continue;
		if (members[i].type == VALUE)
			*(struct span *)to = value;
		else if (members[i].type == TEXT && !json_inside(value, to))
			*(struct span *)to = (struct span){};
		else if (members[i].type == NUMBER && json_read_number(value, &number) &&
			 number >= 0 && number <= members[i].max)
			*(double *)to = number;
	}
}

/* Returns whether the line is an event: an object with a time and a kind. */
static bool read_line(struct line *l, struct span text)
{
	struct past_event *e = &l->event;
	char time[64];

	*l = (struct line){
		.event = { .monotonic = NAN, .start = NAN, .seconds = NAN, .bytes = NAN },
		.pid = -1,
		.xid = -1,
	};
	if (!json_read(text, on_member, l) || !span_left(e->kind_name) ||
	    !span_copy(l->time, time, sizeof(time)) || !time_from_text(time, &e->time))
		return false;
	if (!span_left(e->device))
		e->device = l->gpu;
	e->kind = event_kind_find(e->kind_name);
	e->written = e->end = e->time;
	e->code = (unsigned int)(l->xid < 0 ? l->sxid : l->xid);
	e->pid = (int)l->pid;
	e->count = 1 + (uint64_t)l->repeats;
	e->incident = (uint64_t)l->incident;
	e->replayed = span_is(l->replayed, "true");
	e->holders_unsure = span_left(l->unread) || span_left(l->incomplete);
	if (span_is(l->state, "begin"))
		e->state = PAST_BEGIN;
	else if (span_is(l->state, "end"))
		e->state = PAST_END;
	return true;
}

void event_reader_add(struct history *h, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;
	struct line l;

	while (span_next_line(&rest, &line)) {
		if (!span_left(line))
			continue;
		if (read_line(&l, line))
			*ARRAY_APPEND(h->events, h->count) = l.event;
		else
			h->skipped++;
	}
}

/* ---- files ---- */

/* Reads the last bytes of @fd, at most EVENT_FILE_MAX, into the next file, and closes @fd. */
static int read_descriptor(struct event_files *files, const char *path, int fd)
{
	struct event_file *f = &files->files[files->count++];
	size_t room = 2 * (size_t)EVENT_FILE_MAX;
	gzFile in = gzdopen(fd, "rb"); /* also reads unpacked files */
	char *shorter;
	int n = 0;

	*f = (struct event_file){ .text = in ? malloc(room) : NULL };
	snprintf(f->path, sizeof(f->path), "%s", path);
	while (f->text && (n = gzread(in, f->text + f->len, (unsigned int)(room - f->len))) > 0) {
		f->len += (size_t)n;
		if (f->len < room)
			continue;
		f->len = EVENT_FILE_MAX;
		memmove(f->text, f->text + EVENT_FILE_MAX, EVENT_FILE_MAX);
	}
	if (in)
		gzclose(in);
	else
		close(fd);
	shorter = f->text ? realloc(f->text, f->len + 1) : NULL;
	if (shorter)
		f->text = shorter;
	/* A file that was cut is read up to its end: the last line is torn. */
	return !f->text ? -ENOMEM : n < 0 && !f->len ? -EIO : 0;
}

/* Reads one file of the log; -ENOENT if there is none. @before: the status of the file that was read last. */
static int read_one(struct event_files *f, const char *path, struct stat *before)
{
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
	return read_descriptor(f, path, fd);
}

int event_files_read(struct event_files *f, const char *path, char *wrong, size_t size)
{
	struct stat before = {};
	int err;

	if (!strcmp(path, "-"))
		return read_descriptor(f, "standard input", dup(STDIN_FILENO));
	snprintf(wrong, size, "%s", path);
	err = read_one(f, path, &before);
	for (int i = 1; (!err || err == -ENOENT) && f->count < EVENT_FILES; i++) {
		snprintf(wrong, size, "%s.%d", path, i);
		err = read_one(f, wrong, &before);
		if (err == -ENOENT) {
			snprintf(wrong, size, "%s.%d.gz", path, i);
			err = read_one(f, wrong, &before);
		}
		if (err == -ENOENT)
			break;
	}
	if (err && err != -ENOENT)
		return err;
	snprintf(wrong, size, "%s", path);
	return f->count ? 0 : -ENOENT;
}

void event_files_free(struct event_files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->files[i].text);
	*f = (struct event_files){};
}
