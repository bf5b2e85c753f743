// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads recordings. */
#include "session/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "session/recording_form.h"

/* Bounds of what is read, far above what is written: a damaged file costs no more. */
#define FRAME_MAX (32u << 20)
#define PAYLOAD_MAX (64u << 20)

struct recording {
	FILE *in;
	struct recording_past past;
	struct bytes packed, payload;
	z_stream stream;
	bool begun;
};

struct cursor {
	const uint8_t *at, *end;
};

/* The opposite of fold_sign() in recorder.c. */
static uint64_t unfold_sign(uint64_t n)
{
	return n >> 1 ^ -(n & 1);
}

static int take_number(struct cursor *c, uint64_t *n)
{
	*n = 0;
	for (unsigned int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		*n |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return 0;
	}
	return -EBADMSG;
}

static int take_texts(struct recording *r, struct cursor *c)
{
	uint64_t count, len;

	if (take_number(c, &count) || count > RECORDING_TEXTS_MAX - r->past.text_count)
		return -EBADMSG;
	while (count--) {
		if (take_number(c, &len) || len > RECORDING_TEXT_MAX ||
		    len > (size_t)(c->end - c->at) || memchr(c->at, 0, len))
			return -EBADMSG;
		if (!recording_past_add(&r->past, (const char *)c->at, len))
			return -ENOMEM;
		c->at += len;
	}
	return 0;
}

/* Adds the differences to the numbers of the snapshot before. */
static int take_words(struct cursor *c, const struct recording_words *before,
		      struct recording_words *now)
{
	uint64_t n, zeros = 0;

	for (size_t i = 0; i < now->count; i++) {
		now->list[i] = i < before->count ? before->list[i] : 0;
		if (zeros) {
			zeros--;
			continue;
		}
		if (take_number(c, &n))
			return -EBADMSG;
		if (n)
			now->list[i] += unfold_sign(n);
		else if (take_number(c, &zeros))
			return -EBADMSG;
	}
	return zeros ? -EBADMSG : 0;
}

static int set_text(const struct recording_past *p, const struct recorded_field *f, char *at,
		    uint64_t number)
{
	const char *text = number ? p->texts[number - 1] : NULL;

	if (f->type == RECORDED_NAME) {
		memcpy(at, &text, sizeof(text));
		return 0;
	}
	if (text && strlen(text) >= f->count)
		return -EBADMSG;
	if (text)
		memcpy(at, text, strlen(text) + 1);
	return 0;
}

static int set_field(const struct recording_past *p, const struct recorded_field *f, char *at,
		     const uint64_t *word)
{
	double number;

	switch (f->type) {
	case RECORDED_NAME:
	case RECORDED_TEXT:
		return *word > p->text_count ? -EBADMSG : set_text(p, f, at, *word);
	case RECORDED_BOOL:
		*(bool *)at = *word & 1;
		return *word > 1 ? -EBADMSG : 0;
	case RECORDED_U32:
		for (size_t i = 0; i < f->count; i++) {
			((uint32_t *)at)[i] = (uint32_t)word[i];
			if (word[i] > UINT32_MAX)
				return -EBADMSG;
		}
		return 0;
	case RECORDED_DOUBLE:
		memcpy(&number, word, sizeof(number));
		memcpy(at, word, sizeof(number));
		/* Times up to the year 9999. */
		return number >= 0 && number < 2.5e11 ? 0 : -EBADMSG;
	case RECORDED_U64:
	case RECORDED_SIZE:
		memcpy(at, word, 8 * f->count);
		return 0;
	}
	return -EBADMSG;
}

/* Makes room for @entries in the snapshot. NULL: no memory. */
static char *make_array(const struct recorded_table *t, struct snapshot *s, size_t entries)
{
	char *array;

	if (t->entries)
		memcpy((char *)s + t->entries, &entries, sizeof(entries));
	if (t->fixed)
		return recorded_array(t, s);
	array = calloc(entries + 1, t->size);
	memcpy((char *)s + t->array, &array, sizeof(array));
	return array;
}

static int set_entries(const struct recording_past *p, const struct recorded_table *t, char *array,
		       const struct recording_words *now)
{
	size_t at = 0;
	int err = 0;

	for (char *entry = array; at < now->count && !err; entry += t->size)
		for (size_t f = 0; f < t->field_count && !err; f++) {
			const struct recorded_field *field = &t->fields[f];

			err = set_field(p, field, entry + field->offset, now->list + at);
			at += field->type == RECORDED_TEXT ? 1 : field->count;
		}
	return err;
}

static int take_table(struct recording *r, size_t number, struct cursor *c, struct snapshot *s)
{
	const struct recorded_table *t = &recorded_tables[number];
	struct recording_words *before = &r->past.words[number], now;
	uint64_t entries;
	char *array;
	int err;

	if (take_number(c, &entries) || entries > t->max || (!t->entries && entries != 1))
		return -EBADMSG;
	now.count = entries * recorded_words(t);
	now.list = calloc(now.count + 1, sizeof(*now.list));
	if (!now.list)
		return -ENOMEM;
	err = take_words(c, before, &now);
	free(before->list);
	*before = now;
	if (err)
		return err;
	array = make_array(t, s, entries);
	return array ? set_entries(&r->past, t, array, &now) : -ENOMEM;
}

int recording_decode(struct recording *r, const uint8_t *bytes, size_t size, struct snapshot *s)
{
	struct cursor c = { bytes, bytes + size };
	int err = take_texts(r, &c);

	for (size_t i = 0; i < recorded_table_count && !err; i++)
		err = take_table(r, i, &c, s);
	if (!err && (c.at < c.end || s->calls.source >= RPC_SOURCES ||
		     s->self.rpc_hook_count > s->self.hook_count))
		err = -EBADMSG;
	for (size_t i = 0; i < s->self.hook_count && !err; i++)
		err = s->self.hooks[i].name ? 0 : -EBADMSG;
	for (size_t i = 0; i < s->self.drop_count && !err; i++)
		err = s->self.drops[i].reason ? 0 : -EBADMSG;
	if (!err)
		return 1;
	snapshot_free(s);
	return err;
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

static int read_head(struct recording *r)
{
	const size_t len = strlen(RECORDING_HEAD), word = strcspn(RECORDING_HEAD, " ") + 1;
	char head[sizeof(RECORDING_HEAD)] = "";

	r->begun = true;
	if (fread(head, len, 1, r->in) != 1)
		return ferror(r->in) ? -EIO : -EBADMSG;
	if (!memcmp(head, RECORDING_HEAD, len))
		return 0;
	return memcmp(head, RECORDING_HEAD, word) ? -EBADMSG : -EPROTO;
}

static int read_frame(struct recording *r)
{
	uint32_t len = 0, checksum = 0;
	uint8_t head[RECORDING_FRAME_HEAD];
	uint8_t block[16384];
	int err = 0;

	if (fread(head, sizeof(head), 1, r->in) != 1)
		return short_read(r);
	for (int i = 3; i >= 0; i--) {
		len = len << 8 | head[i];
		checksum = checksum << 8 | head[4 + i];
	}
	if (len > FRAME_MAX)
		return -EBADMSG;
	r->packed.len = 0;
	/* In blocks: a damaged length asks for no memory that the file does not fill. */
	while (r->packed.len < len && !err) {
		size_t want = len - r->packed.len, got;

		got = fread(block, 1, want < sizeof(block) ? want : sizeof(block), r->in);
		if (!got)
			return short_read(r);
		err = bytes_add(&r->packed, block, got);
	}
	if (err)
		return err;
	if (!len) /* the end, after which nothing may follow */
		return checksum || getc(r->in) != EOF ? -EBADMSG : 0;
	return crc32(0, r->packed.data, (uInt)len) == checksum ? 1 : -EBADMSG;
}

struct recording *recording_new(FILE *in)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->in = in;
	r->stream.avail_out = 1;
	if (inflateInit(&r->stream) == Z_OK)
		return r;
	free(r);
	return NULL;
}

int recording_next(struct recording *r, struct snapshot *s)
{
	int err = r->begun ? 0 : read_head(r);

	if (!err)
		err = read_frame(r);
	if (err <= 0)
		return err;
	err = unpack(r);
	return err ? err : recording_decode(r, r->payload.data, r->payload.len, s);
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	inflateEnd(&r->stream);
	recording_past_free(&r->past);
	free(r->packed.data);
	free(r->payload.data);
	free(r);
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
