// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Snapshots in a file: what both directions share, and writing. */
#include "model/recording.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "model/recording_table.h"

/* Bounds of what is read, far above what is written: a damaged file costs no more. */
#define FRAME_MAX (32u << 20)
#define PAYLOAD_MAX (64u << 20)
#define TEXTS_MAX 65536
#define TABLES 16

/* Length and checksum of a frame's bytes, four bytes each, the lowest first. A length of 0
 * is the end. */
#define FRAME_HEAD 8

struct bytes {
	uint8_t *data;
	size_t len, room;
};

/* The numbers of one table in the last snapshot. */
struct words {
	uint64_t *list;
	size_t count;
};

/* What both sides know of the snapshots before. */
struct past {
	struct words words[TABLES];
	char **texts;
	size_t text_count;
};

static void past_free(struct past *p)
{
	for (size_t i = 0; i < TABLES; i++)
		free(p->words[i].list);
	for (size_t i = 0; i < p->text_count; i++)
		free(p->texts[i]);
	free(p->texts);
}

/* A text that @p keeps. NULL: no memory. */
static const char *past_add_text(struct past *p, const char *text, size_t len)
{
	char **added, *copy = strndup(text, len);

	if (!copy)
		return NULL;
	added = ARRAY_APPEND(p->texts, p->text_count);
	if (!added) {
		free(copy);
		return NULL;
	}
	return *added = copy;
}

static int bytes_add(struct bytes *b, const void *data, size_t len)
{
	uint8_t *grown;

	if (b->len + len > b->room) {
		grown = realloc(b->data, 2 * (b->len + len));
		if (!grown)
			return -ENOMEM;
		b->data = grown;
		b->room = 2 * (b->len + len);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

/* Seven bits a byte, the lowest first; the highest bit is set but in the last byte. */
static int put_number(struct bytes *b, uint64_t n)
{
	uint8_t text[10];
	size_t len = 0;

	do {
		text[len] = (uint8_t)(n & 127);
		n >>= 7;
		text[len++] |= n ? 128 : 0;
	} while (n);
	return bytes_add(b, text, len);
}

/* A difference of either sign as a number: 0, -1, 1, -2, ... */
static uint64_t fold_sign(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static uint64_t unfold_sign(uint64_t n)
{
	return n >> 1 ^ -(n & 1);
}

static size_t entries_of(const struct recorded_table *t, const struct snapshot *s)
{
	size_t count;

	if (!t->entries)
		return 1;
	memcpy(&count, (const char *)s + t->entries, sizeof(count));
	return count;
}

static char *array_of(const struct recorded_table *t, const struct snapshot *s)
{
	char *member = (char *)s + t->array;

	return t->fixed ? member : *(char **)member;
}

/* ---- writing ---- */

struct recorder {
	FILE *out;
	struct past past;
	struct bytes payload, texts, packed;
	size_t new_texts;
	z_stream stream;
	int error; /* of the first failure */
};

/* The number of a text: 0 for NULL, else 1 + its place among the texts. */
static int text_number(struct recorder *r, const char *text, uint64_t before, uint64_t *number)
{
	struct past *p = &r->past;
	size_t len;

	*number = 0;
	if (!text)
		return 0;
	if (before && before <= p->text_count && !strcmp(p->texts[before - 1], text)) {
		*number = before;
		return 0;
	}
	while (*number < p->text_count)
		if (!strcmp(p->texts[(*number)++], text))
			return 0;
	if (p->text_count == TEXTS_MAX)
		return -E2BIG;
	len = strlen(text);
	++*number;
	r->new_texts++;
	if (!past_add_text(p, text, len) || put_number(&r->texts, len))
		return -ENOMEM;
	return bytes_add(&r->texts, text, len);
}

/* Reads a field's numbers into @word. */
static int field_words(struct recorder *r, const struct recorded_field *f, const char *at,
		       const uint64_t *before, uint64_t *word)
{
	const char *text = at;

	for (size_t i = 0; i < f->count; i++)
		switch (f->type) {
		case RECORDED_NAME:
			memcpy(&text, at, sizeof(text)); /* fallthrough */
		case RECORDED_TEXT:
			return text_number(r, text, before ? *before : 0, word);
		case RECORDED_BOOL:
			*word = *(const bool *)at;
			break;
		case RECORDED_U32:
			word[i] = ((const uint32_t *)at)[i];
			break;
		case RECORDED_U64:
		case RECORDED_DOUBLE:
		case RECORDED_SIZE:
			memcpy(word + i, at + 8 * i, 8);
			break;
		}
	return 0;
}

/* Makes the numbers of all entries; @w has room for them. */
static int table_words(struct recorder *r, const struct recorded_table *t, const char *array,
		       const struct words *before, struct words *w)
{
	size_t at = 0, entry_words = recorded_words(t);
	int err = 0;

	for (const char *entry = array; at < w->count; entry += t->size)
		for (size_t f = 0; f < t->field_count && !err; f++) {
			const struct recorded_field *field = &t->fields[f];

			err = field_words(r, field, entry + field->offset,
					  at < before->count ? before->list + at : NULL,
					  w->list + at);
			at += field->type == RECORDED_TEXT ? 1 : field->count;
		}
	return at == entry_words * (w->count / entry_words) ? err : -EINVAL;
}

/* Writes the differences from the snapshot before; a 0 is followed by how many more are 0. */
static int put_words(struct bytes *b, const struct words *before, const struct words *now)
{
	size_t zeros = 0;
	int err = 0;

	for (size_t i = 0; i < now->count && !err; i++) {
		uint64_t n = fold_sign(now->list[i] - (i < before->count ? before->list[i] : 0));

		if (!n) {
			zeros++;
			continue;
		}
		if (zeros)
			err = put_number(b, 0) ?: put_number(b, zeros - 1);
		zeros = 0;
		if (!err)
			err = put_number(b, n);
	}
	if (zeros && !err)
		err = put_number(b, 0) ?: put_number(b, zeros - 1);
	return err;
}

static int put_table(struct recorder *r, size_t number, const struct snapshot *s)
{
	const struct recorded_table *t = &recorded_tables[number];
	struct words *before = &r->past.words[number], now;
	size_t entries = entries_of(t, s);
	int err;

	if (entries > t->max)
		return -E2BIG;
	now.count = entries * recorded_words(t);
	now.list = calloc(now.count + 1, sizeof(*now.list));
	if (!now.list)
		return -ENOMEM;
	err = table_words(r, t, array_of(t, s), before, &now);
	if (!err)
		err = put_number(&r->payload, entries) ?: put_words(&r->payload, before, &now);
	free(before->list);
	*before = now;
	return err;
}

static void put_frame_head(uint8_t *head, uint32_t len, uint32_t checksum)
{
	for (int i = 0; i < 4; i++) {
		head[i] = (uint8_t)(len >> 8 * i);
		head[4 + i] = (uint8_t)(checksum >> 8 * i);
	}
}

/* Compresses @b with what the frames before have shown. */
static int pack(struct recorder *r, const struct bytes *b)
{
	uint8_t block[16384];
	int err = 0;

	r->stream.next_in = b->data;
	r->stream.avail_in = (uInt)b->len;
	do {
		r->stream.next_out = block;
		r->stream.avail_out = sizeof(block);
		deflate(&r->stream, Z_SYNC_FLUSH);
		err = bytes_add(&r->packed, block, sizeof(block) - r->stream.avail_out);
	} while (!err && !r->stream.avail_out);
	return err;
}

static int put_frame(struct recorder *r)
{
	struct bytes texts = {};
	uint8_t head[FRAME_HEAD];
	int err;

	r->packed.len = 0;
	err = put_number(&texts, r->new_texts) ?: bytes_add(&texts, r->texts.data, r->texts.len);
	if (!err)
		err = bytes_add(&texts, r->payload.data, r->payload.len) ?: pack(r, &texts);
	free(texts.data);
	if (err)
		return err;
	put_frame_head(head, (uint32_t)r->packed.len,
		       (uint32_t)crc32(0, r->packed.data, (uInt)r->packed.len));
	if (fwrite(head, sizeof(head), 1, r->out) != 1 ||
	    fwrite(r->packed.data, r->packed.len, 1, r->out) != 1 || fflush(r->out))
		return -errno;
	return 0;
}

struct recorder *recorder_new(FILE *out)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->out = out;
	if (deflateInit(&r->stream, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(r);
		return NULL;
	}
	if (fputs(RECORDING_HEAD, out) < 0)
		r->error = -errno;
	return r;
}

int recorder_add(struct recorder *r, const struct snapshot *s)
{
	r->payload.len = 0;
	r->texts.len = 0;
	r->new_texts = 0;
	for (size_t i = 0; i < recorded_table_count && !r->error; i++)
		r->error = put_table(r, i, s);
	if (!r->error)
		r->error = put_frame(r);
	return r->error;
}

int recorder_end(struct recorder *r)
{
	uint8_t head[FRAME_HEAD];
	int err;

	if (!r)
		return 0;
	err = r->error;
	put_frame_head(head, 0, 0);
	if (!err && (fwrite(head, sizeof(head), 1, r->out) != 1 || fflush(r->out)))
		err = -errno;
	deflateEnd(&r->stream);
	past_free(&r->past);
	free(r->payload.data);
	free(r->texts.data);
	free(r->packed.data);
	free(r);
	return err;
}

/* ---- reading ---- */

struct recording {
	FILE *in;
	struct past past;
	struct bytes packed, payload;
	z_stream stream;
	bool begun;
};

struct cursor {
	const uint8_t *at, *end;
};

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

	if (take_number(c, &count) || count > TEXTS_MAX - r->past.text_count)
		return -EBADMSG;
	while (count--) {
		if (take_number(c, &len) || len > (size_t)(c->end - c->at) || memchr(c->at, 0, len))
			return -EBADMSG;
		if (!past_add_text(&r->past, (const char *)c->at, len))
			return -ENOMEM;
		c->at += len;
	}
	return 0;
}

/* Adds the differences to the numbers of the snapshot before. */
static int take_words(struct cursor *c, const struct words *before, struct words *now)
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

static int set_text(const struct past *p, const struct recorded_field *f, char *at, uint64_t number)
{
	const char *text = number ? p->texts[number - 1] : NULL;

	if (f->type == RECORDED_NAME) {
		memcpy(at, &text, sizeof(text));
		return 0;
	}
	if (!text || strlen(text) >= f->count)
		return -EBADMSG;
	memcpy(at, text, strlen(text) + 1);
	return 0;
}

static int set_field(const struct past *p, const struct recorded_field *f, char *at,
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
		return array_of(t, s);
	array = calloc(entries + 1, t->size);
	memcpy((char *)s + t->array, &array, sizeof(array));
	return array;
}

static int set_entries(const struct past *p, const struct recorded_table *t, char *array,
		       const struct words *now)
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
	struct words *before = &r->past.words[number], now;
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
	if (!err && (c.at < c.end || s->source >= RPC_SOURCES || s->rpc_hook_count > s->hook_count))
		err = -EBADMSG;
	for (size_t i = 0; i < s->hook_count && !err; i++)
		err = s->hooks[i].name ? 0 : -EBADMSG;
	for (size_t i = 0; i < s->drop_count && !err; i++)
		err = s->drops[i].reason ? 0 : -EBADMSG;
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
	uint8_t head[FRAME_HEAD];
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
	if (err || !len)
		return err ? err : checksum ? -EBADMSG : 0;
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
	past_free(&r->past);
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
