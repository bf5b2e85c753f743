// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Snapshots become lines like those of the agent's event log, which are read as these are. */
#include "commands/commands.h"

#include "base/json.h"
#include "limits/episodes.h"
#include "limits/nfs_watch.h"
#include "session/recording.h"
#include "session/session.h"
#include "xid/xid_catalog.h"

struct reading {
	struct seen_by_trace *to;
	struct json lines;
	struct session session;
	struct nfs_watch nfs;
};

/* ---- lines ---- */

/* Begins a line; the caller adds members and ends it. */
static struct json *line(struct reading *r, double time, const char *kind, const char *name,
			 const char *device)
{
	json_object(&r->lines, NULL);
	json_time(&r->lines, "time", time);
	json_text(&r->lines, "kind", kind);
	json_known(&r->lines, "name", name);
	json_text(&r->lines, "device", device);
	return &r->lines;
}

static void line_end(struct reading *r)
{
	json_object_end(&r->lines);
	fputc('\n', r->lines.out);
	r->lines.comma = false;
}

static void on_span(void *context, const struct nfs_span *span)
{
	struct reading *r = context;
	const struct session *t = &r->session;
	uint64_t end = span->end_ns < t->last.time_ns ? span->end_ns : t->last.time_ns;

	/* What lasts at the end of the recording ends with it: see end_spans(). */
	if (!span->end_ns)
		return;
	line(r, session_wall(t, span->begin_ns), span->kind, span->name, span->server);
	json_nanoseconds(&r->lines, "seconds", end - span->begin_ns);
	line_end(r);
}

/* A snapshot without calls, so late that nothing can go on, ends all spans. */
static void end_spans(struct reading *r)
{
	struct snapshot last = { .time_ns = r->session.last.time_ns + NFS_SATURATION_END_NS };
	struct delta d = { .end = &last, .ns = NFS_SATURATION_END_NS };

	nfs_watch_add(&r->nfs, &d, on_span, r);
}

/* As the agent names it. */
static const char *name_of(const struct session_event *e)
{
	if (e->kind != SESSION_FAULT)
		return e->what;
	return e->nvswitch ? "" : xid_catalog_find(e->code)->mnemonic;
}

static void write_event(struct reading *r, const struct session_event *e)
{
	const char *kind = e->kind == SESSION_KERNEL_EVENT ? "kernel_event" :
			   e->kind == SESSION_DISCONNECT   ? "nfs_disconnect" :
			   e->nvswitch                     ? "sxid" :
							     "xid";
	bool fault = e->kind == SESSION_FAULT;

	if (e->kind == SESSION_HUNG || e->kind == SESSION_ANSWERS)
		return; /* a stall, if it took long enough */
	line(r, e->time, kind, name_of(e), e->name);
	if (fault) {
		json_unsigned(&r->lines, kind, e->code);
		json_text(&r->lines, "severity", e->what);
	}
	if (e->kind == SESSION_DISCONNECT)
		json_text(&r->lines, "severity", "info");
	json_unsigned(&r->lines, "repeats", e->count - 1);
	line_end(r);
}

static void write_episode(struct reading *r, const struct episode *e)
{
	line(r, session_wall(&r->session, e->start_ns), "checkpoint_episode",
	     episode_kind_names[e->kind], e->server);
	json_fraction(&r->lines, "seconds", e->seconds, 3);
	json_unsigned(&r->lines, "bytes", e->bytes);
	line_end(r);
}

/* ---- snapshots ---- */

static int read_snapshots(struct reading *r, struct recording *in)
{
	struct session *t = &r->session;
	struct snapshot s = {};
	int got, err = 0;

	while (!err && (got = recording_next(in, &s)) > 0) {
		r->to->to = s.wall;
		err = session_add(t, &s);
		if (!err && t->last.time_ns)
			nfs_watch_add(&r->nfs, &t->interval, on_span, r);
	}
	snapshot_free(&s);
	if (err)
		return err;
	r->to->damage = got;
	r->to->from = t->first.wall;
	return t->first.time_ns ? 0 : got < 0 ? got : -ENODATA;
}

static int write_lines(struct reading *r, struct recording *in)
{
	struct session *t = &r->session;
	int err = read_snapshots(r, in);

	if (err)
		return err;
	end_spans(r);
	err = session_end(t);
	for (size_t i = 0; i < t->event_count; i++)
		write_event(r, &t->events[i]);
	for (size_t i = 0; i < t->episodes.count; i++)
		write_episode(r, &t->episodes.list[i]);
	return err;
}

int seen_by_trace_read(struct seen_by_trace *s, const char *path)
{
	struct reading r = { .to = s };
	FILE *file = fopen(path, "re");
	struct recording *in;
	size_t size = 0;
	int err;

	if (!file)
		return -errno;
	in = recording_new(file);
	r.lines.out = open_memstream(&s->text, &size);
	err = in && r.lines.out ? write_lines(&r, in) : -ENOMEM;
	if (r.lines.out && fclose(r.lines.out) && !err)
		err = -ENOMEM;
	if (!err)
		err = event_reader_add(&s->events, s->text, size);
	nfs_watch_free(&r.nfs);
	session_free(&r.session);
	recording_free(in);
	fclose(file);
	return err;
}

void seen_by_trace_free(struct seen_by_trace *s)
{
	history_free(&s->events);
	free(s->text);
	*s = (struct seen_by_trace){};
}
