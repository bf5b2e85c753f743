// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Snapshots in frames of a file, compressed: docs/WHY.md. */
#include "session/recording.h"

#include <zlib.h>

#include "snapshot/table.h"

/* Before a frame's bytes, the lowest byte first, as on both architectures. A length of 0 is the end. */
struct frame_head {
	uint32_t len, checksum;
};

/* Bounds of what is read, far above what is written: a damaged file costs no more. */
#define MAX_OFFSET 86400L
#define HEAD_LINE 256
#define FRAME_MAX (32u << 20)
#define PAYLOAD_MAX (64u << 20)

/* ---- writing ---- */

struct recorder {
	FILE *out;
	struct codec *codec;
	struct bytes payload, packed;
	z_stream stream;
	int error; /* of the first failure */
};

/* Compresses the payload with what the frames before have shown. */
static int pack(struct recorder *r)
{
	uint8_t block[16384];
	int err = 0;

	r->packed.len = 0;
	r->stream.next_in = r->payload.data;
	r->stream.avail_in = (uInt)r->payload.len;
	do {
		r->stream.next_out = block;
		r->stream.avail_out = sizeof(block);
		deflate(&r->stream, Z_SYNC_FLUSH);
		err = bytes_add(&r->packed, block, sizeof(block) - r->stream.avail_out);
	} while (!err && !r->stream.avail_out);
	return err;
}

static int put_frame(struct recorder *r, const struct bytes *b)
{
	const struct frame_head head = { (uint32_t)b->len,
					 (uint32_t)crc32(0, b->data, (uInt)b->len) };

	if (fwrite(&head, sizeof(head), 1, r->out) != 1 ||
	    (b->len && fwrite(b->data, b->len, 1, r->out) != 1) || fflush(r->out))
		return -errno;
	return 0;
}

/* The head's second line: host, kernel, version and offset, and the checksum of these. */
static int write_head(FILE *out, const struct session_origin *origin)
{
	char line[HEAD_LINE];
	size_t len;

	snprintf(line, sizeof(line), "%s\t%s\t%s\t%d\t", origin->host, origin->kernel,
		 origin->version, origin->utc_offset);
	len = strlen(line);
	for (size_t i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = '?';
	fprintf(out, RECORDING_HEAD "%s%08lx\n", line, crc32(0, (const uint8_t *)line, (uInt)len));
	return ferror(out) ? -EIO : 0;
}

struct recorder *recorder_new(FILE *out, const struct session_origin *origin)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->out = out;
	r->codec = codec_new();
	if (!r->codec || deflateInit(&r->stream, Z_DEFAULT_COMPRESSION) != Z_OK) {
		codec_free(r->codec);
		free(r);
		return NULL;
	}
	r->error = write_head(out, origin);
	return r;
}

int recorder_add(struct recorder *r, const struct snapshot *s)
{
	r->payload.len = 0;
	if (!r->error)
		r->error = snapshot_encode(r->codec, s, &r->payload) ?:
				   pack(r)                           ?:
								       put_frame(r, &r->packed);
	return r->error;
}

int recorder_end(struct recorder *r)
{
	int err;

	if (!r)
		return 0;
	err = r->error ?: put_frame(r, &(struct bytes){});
	deflateEnd(&r->stream);
	codec_free(r->codec);
	free(r->payload.data);
	free(r->packed.data);
	free(r);
	return err;
}

/* ---- reading ---- */

struct recording {
	FILE *in;
	struct codec *codec;
	struct bytes packed, payload;
	z_stream stream;
	bool begun;
	struct session_origin origin;
};

int recording_decode(struct recording *r, const uint8_t *bytes, size_t size, struct snapshot *s)
{
	return snapshot_decode(r->codec, bytes, size, s) ?: 1;
}

/* Expands the frame's bytes into the payload. */
static int unpack(struct recording *r)
{
	uint8_t block[16384];
	int state = Z_OK, err = 0;

	r->payload.len = 0;
	r->stream.next_in = r->packed.data;
	r->stream.avail_in = (uInt)r->packed.len;
	while (!err && (r->stream.avail_in || !r->stream.avail_out)) {
		r->stream.next_out = block;
		r->stream.avail_out = sizeof(block);
		state = inflate(&r->stream, Z_SYNC_FLUSH);
		if ((state != Z_OK && state != Z_BUF_ERROR) || r->payload.len > PAYLOAD_MAX)
			return -EBADMSG;
		err = bytes_add(&r->payload, block, sizeof(block) - r->stream.avail_out);
		if (state == Z_BUF_ERROR)
			break;
	}
	return err;
}

/* Why so few bytes were read. */
static int short_read(const struct recording *r)
{
	return ferror(r->in) ? -EIO : -ENODATA;
}

/* The text up to the next tab. */
static void take_field(char **rest, char *to, size_t size)
{
	char *field = strsep(rest, "\t");

	snprintf(to, size, "%s", field ? field : "");
}

static int read_origin(struct recording *r)
{
	struct session_origin *o = &r->origin;
	char line[HEAD_LINE + 16], *rest = line, *end, offset[16];
	char checksum[16];

	if (!fgets(line, sizeof(line), r->in))
		return short_read(r);
	end = strrchr(line, '\t');
	if (!end)
		return feof(r->in) ? -ENODATA : -EBADMSG;
	snprintf(checksum, sizeof(checksum), "%08lx\n",
		 crc32(0, (const uint8_t *)line, (uInt)(end + 1 - line)));
	if (strcmp(end + 1, checksum) != 0)
		return feof(r->in) ? -ENODATA : -EBADMSG;
	*end = 0;
	take_field(&rest, o->host, sizeof(o->host));
	take_field(&rest, o->kernel, sizeof(o->kernel));
	take_field(&rest, o->version, sizeof(o->version));
	take_field(&rest, offset, sizeof(offset));
	o->utc_offset = (int)(strtol(offset, NULL, 10) % MAX_OFFSET);
	return 0;
}

static int read_head(struct recording *r)
{
	const size_t len = strlen(RECORDING_HEAD), word = strcspn(RECORDING_HEAD, " ") + 1;
	char head[sizeof(RECORDING_HEAD)] = "";

	r->begun = true;
	if (fread(head, len, 1, r->in) != 1)
		return ferror(r->in) ? -EIO : -EBADMSG;
	if (!memcmp(head, RECORDING_HEAD, len))
		return read_origin(r);
	return memcmp(head, RECORDING_HEAD, word) ? -EBADMSG : -EPROTO;
}

static int read_frame(struct recording *r)
{
	struct frame_head head;
	uint8_t block[16384];
	int err = 0;

	if (fread(&head, sizeof(head), 1, r->in) != 1)
		return short_read(r);
	if (head.len > FRAME_MAX)
		return -EBADMSG;
	r->packed.len = 0;
	/* In blocks: a damaged length asks for no memory that the file does not fill. */
	while (r->packed.len < head.len && !err) {
		size_t want = head.len - r->packed.len, got;

		got = fread(block, 1, want < sizeof(block) ? want : sizeof(block), r->in);
		if (!got)
			return short_read(r);
		err = bytes_add(&r->packed, block, got);
	}
	if (err)
		return err;
	if (!head.len) /* the end, after which nothing may follow */
		return head.checksum || getc(r->in) != EOF ? -EBADMSG : 0;
	return crc32(0, r->packed.data, (uInt)head.len) == head.checksum ? 1 : -EBADMSG;
}

struct recording *recording_new(FILE *in)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->in = in;
	r->codec = codec_new();
	r->stream.avail_out = 1;
	if (r->codec && inflateInit(&r->stream) == Z_OK)
		return r;
	codec_free(r->codec);
	free(r);
	return NULL;
}

int recording_next(struct recording *r, struct snapshot *s)
{
	int err = (r->begun ? 0 : read_head(r)) ?: read_frame(r);

	if (err <= 0)
		return err;
	return unpack(r) ?: recording_decode(r, r->payload.data, r->payload.len, s);
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	inflateEnd(&r->stream);
	codec_free(r->codec);
	free(r->packed.data);
	free(r->payload.data);
	free(r);
}

const struct session_origin *recording_origin(const struct recording *r)
{
	return &r->origin;
}

const char *recording_damage(int err)
{
	switch (err) {
	case -ENODATA:
		return "it was cut here";
	case -EPROTO:
		return "another version of xidscope has written it; use that one";
	case -EBADMSG:
		return "it is no recording, or damaged from here on";
	default:
		return strerror(-err);
	}
}
