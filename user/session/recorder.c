// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes recordings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "session/recording.h"
#include "session/recording_form.h"

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

struct recorder {
	FILE *out;
	struct recording_past past;
	struct bytes payload, texts, packed;
	size_t new_texts;
	z_stream stream;
	int error; /* of the first failure */
};

/* The number of a text: 1 + its place among the texts. 0 for NULL, and for one that is not the first
 * @max texts': a process can change its name without end. */
static int text_number(struct recorder *r, const char *text, uint64_t before, size_t max,
		       uint64_t *number)
{
	struct recording_past *p = &r->past;
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
	*number = 0;
	if (p->text_count >= max)
		return 0;
	len = strlen(text);
	*number = p->text_count + 1;
	r->new_texts++;
	if (!recording_past_add(p, text, len) || put_number(&r->texts, len))
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
			memcpy(&text, at, sizeof(text));
			return text_number(r, text, before ? *before : 0, RECORDING_TEXTS_MAX,
					   word);
		case RECORDED_TEXT:
			return text_number(r, text, before ? *before : 0, RECORDING_OTHERS_MAX,
					   word);
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
		       const struct recording_words *before, struct recording_words *w)
{
	size_t at = 0;
	int err = 0;

	for (const char *entry = array; at < w->count && !err; entry += t->size)
		for (size_t f = 0; f < t->field_count && !err; f++) {
			const struct recorded_field *field = &t->fields[f];

			err = field_words(r, field, entry + field->offset,
					  at < before->count ? before->list + at : NULL,
					  w->list + at);
			at += field->type == RECORDED_TEXT ? 1 : field->count;
		}
	return err;
}

/* Writes the differences from the snapshot before; a 0 is followed by how many more are 0. */
static int put_words(struct bytes *b, const struct recording_words *before,
		     const struct recording_words *now)
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
	struct recording_words *before = &r->past.words[number], now;
	size_t entries = recorded_entries(t, s);
	int err;

	if (entries > t->max)
		return -E2BIG;
	now.count = entries * recorded_words(t);
	now.list = calloc(now.count + 1, sizeof(*now.list));
	if (!now.list)
		return -ENOMEM;
	err = table_words(r, t, recorded_array(t, s), before, &now);
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
	uint8_t head[RECORDING_FRAME_HEAD];
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
	uint8_t head[RECORDING_FRAME_HEAD];
	int err;

	if (!r)
		return 0;
	err = r->error;
	put_frame_head(head, 0, 0);
	if (!err && (fwrite(head, sizeof(head), 1, r->out) != 1 || fflush(r->out)))
		err = -errno;
	deflateEnd(&r->stream);
	recording_past_free(&r->past);
	free(r->payload.data);
	free(r->texts.data);
	free(r->packed.data);
	free(r);
	return err;
}
