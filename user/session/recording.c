// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/session.h"

#include <math.h>
#include <zlib.h>

#include "base/file_text.h"
#include "base/json.h"
#include "base/time_text.h"
#include "snapshot/table.h"

#define FORMAT "xidscope-recording"

/* Far above what is written: a damaged file costs no more. */
#define LINE_MAX_BYTES (64u << 20)
#define OFFSET_MAX 86400

/* ---- writing ---- */

struct recorder {
	gzFile out;
	struct codec codec;
	uint32_t checksum; /* of all lines */
	int error; /* of the first failure */
};

/* The error of @file; -ENODATA: it has none. */
static int file_error(gzFile file)
{
	int err, number = errno;

	gzerror(file, &err);
	return err == Z_OK || err == Z_BUF_ERROR ? -ENODATA :
	       err == Z_ERRNO                    ? (number ? -number : -EIO) :
	       err == Z_MEM_ERROR                ? -ENOMEM :
						   -EBADMSG;
}

/* Compresses the line with what the lines before have shown. All of it is in the file then. */
static int write_line(struct recorder *r, const char *line, size_t len)
{
	r->checksum = (uint32_t)crc32(r->checksum, (const Bytef *)line, (uInt)len);
	errno = 0;
	if (gzwrite(r->out, line, (unsigned int)len) != (int)len ||
	    gzflush(r->out, Z_SYNC_FLUSH) != Z_OK)
		return file_error(r->out);
	return 0;
}

static int write_head(struct recorder *r, const struct session_origin *origin)
{
	size_t size;
	FREED char *text = TEXT_OF(size, out, {
		struct json j = { .out = out };

		json_object(&j, NULL);
		json_text(&j, "format", FORMAT);
		json_unsigned(&j, "time_buckets", TIME_BUCKETS);
		json_unsigned(&j, "depth_buckets", DEPTH_BUCKETS);
		json_text(&j, "host", origin->host);
		json_text(&j, "kernel", origin->kernel);
		json_text(&j, "version", origin->version);
		json_signed(&j, "utc_offset", origin->utc_offset);
		json_end(&j);
	});

	return text ? write_line(r, text, size) : -ENOMEM;
}

struct recorder *recorder_new(int fd, const struct session_origin *origin)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->out = gzdopen(fd, "w");
	if (!r->out) {
		free(r);
		return NULL;
	}
	r->error = write_head(r, origin);
	return r;
}

int recorder_add(struct recorder *r, const struct snapshot *s)
{
	size_t size;
	FREED char *text = NULL;

	if (r->error)
		return r->error;
	text = TEXT_OF(size, out, r->error = snapshot_encode(&r->codec, s, out));
	if (!r->error)
		r->error = text ? write_line(r, text, size) : -ENOMEM;
	return r->error;
}

int recorder_end(struct recorder *r)
{
	char text[TABLES_END_SIZE];
	int err;

	if (!r)
		return 0;
	tables_end(text, r->checksum);
	err = r->error ?: write_line(r, text, strlen(text));
	errno = 0;
	if (gzclose(r->out) != Z_OK && !err)
		err = errno ? -errno : -EIO;
	snapshot_free(&r->codec.before);
	free(r);
	return err;
}

/* ---- reading ---- */

struct recording {
	gzFile in;
	struct codec codec;
	char *line; /* the last one that was read, with its newline */
	size_t room, len;
	uint32_t checksum; /* of the lines before it */
	struct session_origin origin;
	/* Of it are whole: */
	uint64_t lines, snapshots;
	double until; /* time of the last snapshot, seconds since the epoch */
};

static int read_line(struct recording *r)
{
	char *grown;

	r->checksum = (uint32_t)crc32(r->checksum, (const Bytef *)r->line, (uInt)r->len);
	r->len = 0;
	errno = 0;
	do {
		if (r->room - r->len < 2) {
			grown = r->room < LINE_MAX_BYTES ? realloc(r->line, 2 * r->room) : NULL;
			if (!grown)
				return r->room < LINE_MAX_BYTES ? -ENOMEM : -EBADMSG;
			r->line = grown;
			r->room *= 2;
		}
		if (!gzgets(r->in, r->line + r->len, (int)(r->room - r->len)))
			return file_error(r->in);
		r->len += strlen(r->line + r->len);
	} while (!r->len || r->line[r->len - 1] != '\n');
	return 0;
}

static struct span line_of(const struct recording *r)
{
	return (struct span){ r->line, r->line + r->len };
}

static int read_head(struct recording *r)
{
	double time_buckets = 0, depth_buckets = 0, offset = 0;
	struct session_origin *o = &r->origin;
	int err = read_line(r);
	struct span line = line_of(r);
	char format[64] = "";

	if (!err)
		json_find_text(line, "format", format, sizeof(format));
	if (strcmp(format, FORMAT) != 0)
		return err && err != -ENODATA ? err : -EBADMSG;
	json_find_text(line, "host", o->host, sizeof(o->host));
	json_find_text(line, "kernel", o->kernel, sizeof(o->kernel));
	json_find_text(line, "version", o->version, sizeof(o->version));
	json_read_number(json_find(line, "time_buckets"), &time_buckets);
	json_read_number(json_find(line, "depth_buckets"), &depth_buckets);
	json_read_number(json_find(line, "utc_offset"), &offset);
	if (time_buckets != TIME_BUCKETS || depth_buckets != DEPTH_BUCKETS)
		return -EPROTO;
	if (fabs(offset) < OFFSET_MAX)
		o->utc_offset = (int)offset;
	r->lines++;
	return 0;
}

struct recording *recording_new(int fd)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->room = 1 << 16;
	r->line = malloc(r->room);
	r->in = r->line ? gzdopen(fd, "r") : NULL;
	if (r->in)
		return r;
	recording_free(r);
	return NULL;
}

int recording_next(struct recording *r, struct snapshot *s)
{
	int err = (r->lines ? 0 : read_head(r)) ?: read_line(r), end;
	char text[TABLES_END_SIZE];

	if (err)
		return err;
	if (!span_starts_with(line_of(r), "{\"end\"")) {
		err = snapshot_decode(&r->codec, line_of(r), s);
		if (err)
			return err;
		r->lines++;
		r->snapshots++;
		r->until = s->wall;
		return 1;
	}
	if (strcmp(r->line, tables_end(text, r->checksum)) != 0)
		return -EILSEQ;
	/* Nothing may follow but what gzip itself checks. */
	if (gzgetc(r->in) >= 0)
		return -EBADMSG;
	gzerror(r->in, &end);
	return end == Z_OK ? 0 : file_error(r->in);
}

/* Makes it as it was before the first line was read. */
static int rewind_recording(struct recording *r)
{
	snapshot_free(&r->codec.before);
	r->codec.missing = 0;
	r->len = 0;
	r->checksum = 0;
	r->lines = r->snapshots = 0;
	errno = 0;
	return gzrewind(r->in) ? (errno ? -errno : -EIO) : 0;
}

int recording_check(struct recording *r)
{
	struct snapshot s = {};
	int got;

	while ((got = recording_next(r, &s)) > 0)
		snapshot_free(&s);
	if (!got && !r->snapshots)
		got = -ENOMSG;
	return got ? got : rewind_recording(r);
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	if (r->in)
		gzclose(r->in);
	snapshot_free(&r->codec.before);
	free(r->line);
	free(r);
}

const struct session_origin *recording_origin(const struct recording *r)
{
	return &r->origin;
}

const char *recording_problem(const struct recording *r, int err, char *text)
{
	char whole[RECORDING_PROBLEM_SIZE / 2] = "";

	if (r->snapshots)
		snprintf(whole, sizeof(whole), " (%" PRIu64 " snapshots, until %s)", r->snapshots,
			 LOCAL_TIME(r->until));
	if (err == -ENODATA || (err == -EBADMSG && r->lines))
		snprintf(text, RECORDING_PROBLEM_SIZE, "it %s after line %" PRIu64 "%s",
			 err == -ENODATA ? "was cut" : "is damaged", r->lines, whole);
	else if (err == -EILSEQ)
		snprintf(text, RECORDING_PROBLEM_SIZE,
			 "it is damaged: the checksum after line %" PRIu64 " is wrong", r->lines);
	else if (err == -EPROTO)
		snprintf(text, RECORDING_PROBLEM_SIZE,
			 "version %s wrote it with other buckets; use that version",
			 r->origin.version);
	else
		snprintf(text, RECORDING_PROBLEM_SIZE, "%s",
			 err == -EBADMSG ? "it is no recording of xidscope trace" :
			 err == -ENOMSG  ? "it has no snapshot" :
					   strerror(-err));
	return text;
}
