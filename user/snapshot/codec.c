// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A snapshot as numbers, each less that at the same place in the snapshot before: most are 0, and the frames are
 * compressed. docs/WHY.md has the form. */

#include "base/array.h"
#include "snapshot/table.h"

/* The most texts that a recording has, those of them that are not the program's own, and the bytes of
 * each: more than any field has room for. */
#define TEXTS_MAX 16384
#define OTHERS_MAX (TEXTS_MAX - 256)
#define TEXT_MAX 1024

struct codec {
	struct bytes before; /* the numbers of the snapshot before */
	char **texts;
	size_t text_count;
};

struct codec *codec_new(void)
{
	return calloc(1, sizeof(struct codec));
}

void codec_free(struct codec *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->text_count; i++)
		free(c->texts[i]);
	free(c->texts);
	free(c->before.data);
	free(c);
}

int bytes_add(struct bytes *b, const void *data, size_t len)
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

static int put(struct bytes *b, uint64_t number)
{
	return bytes_add(b, &number, sizeof(number));
}

/* The number at this byte of the snapshot before; 0 beyond its end. */
static uint64_t number_before(const struct codec *c, size_t at)
{
	uint64_t number = 0;

	if (at < c->before.len)
		memcpy(&number, c->before.data + at, sizeof(number));
	return number;
}

/* Returns 0 or -ENOMEM. */
static int add_text(struct codec *c, const char *text, size_t len)
{
	char **added, *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	added = ARRAY_APPEND(c->texts, c->text_count);
	if (!added) {
		free(copy);
		return -ENOMEM;
	}
	*added = copy;
	return 0;
}

/* ---- writing ---- */

/* Seven bits a byte, the lowest first; the highest bit is set but in the last byte. */
static int put_short(struct bytes *b, uint64_t n)
{
	uint8_t text[10];
	size_t len = 0;

	for (; n > 127; n >>= 7)
		text[len++] = (uint8_t)(n | 128);
	text[len++] = (uint8_t)n;
	return bytes_add(b, text, len);
}

struct encoding {
	struct codec *c;
	struct bytes numbers, texts;
	size_t new_texts;
};

/* The number of a text: 1 + its place among the texts. 0 for NULL, and for one that is not the first
 * @max texts': a process can change its name without end. */
static int put_text(struct encoding *e, const char *text, size_t max)
{
	uint64_t before = number_before(e->c, e->numbers.len);
	struct codec *c = e->c;
	size_t number = 0, len;

	if (!text)
		return put(&e->numbers, 0);
	if (before && before <= c->text_count && !strcmp(c->texts[before - 1], text))
		return put(&e->numbers, before);
	while (number < c->text_count)
		if (!strcmp(c->texts[number++], text))
			return put(&e->numbers, number);
	if (c->text_count >= max)
		return put(&e->numbers, 0);
	len = strlen(text);
	e->new_texts++;
	return add_text(c, text, len)                  ?:
		       put_short(&e->texts, len)       ?:
		       bytes_add(&e->texts, text, len) ?:
							 put(&e->numbers, c->text_count);
}

static int put_field(struct encoding *e, const struct field *f, const char *at)
{
	int err = 0;

	switch (f->type) {
	case FIELD_NAME:
		return put_text(e, *(const char *const *)at, TEXTS_MAX);
	case FIELD_TEXT:
		return put_text(e, at, OTHERS_MAX);
	case FIELD_BOOL:
		return put(&e->numbers, *(const bool *)at);
	case FIELD_U32:
		for (size_t i = 0; i < f->count && !err; i++)
			err = put(&e->numbers, ((const uint32_t *)at)[i]);
		return err;
	default:
		return bytes_add(&e->numbers, at, field_size(f));
	}
}

static int put_table(struct encoding *e, const struct table *t, const struct snapshot *s)
{
	const void *part = (const char *)s + t->part;
	size_t count = table_count(t, part);
	const char *entry = table_array(t, part);
	int err = count > t->max ? -E2BIG : put(&e->numbers, count);

	for (; count-- && !err; entry += t->size)
		for (size_t i = 0; i < t->field_count && !err; i++)
			if (!t->fields[i].left_out)
				err = put_field(e, &t->fields[i], entry + t->fields[i].offset);
	return err;
}

int snapshot_encode(struct codec *c, const struct snapshot *s, struct bytes *to)
{
	struct encoding e = { .c = c };
	uint64_t number;
	int err = 0;

	for (int t = 0; t < TABLES && !err; t++)
		if (tables[t].max)
			err = put_table(&e, &tables[t], s);
	if (!err)
		err = put_short(to, e.new_texts) ?: bytes_add(to, e.texts.data, e.texts.len);
	for (size_t at = 0; at < e.numbers.len && !err; at += sizeof(number)) {
		memcpy(&number, e.numbers.data + at, sizeof(number));
		number -= number_before(c, at);
		/* Of either sign: 0, -1, 1, -2, ... */
		err = put_short(to, number << 1 ^ -(number >> 63));
	}
	free(e.texts.data);
	free(c->before.data);
	c->before = e.numbers;
	return err;
}

/* ---- reading ---- */

struct cursor {
	const uint8_t *at, *end;
};

static int take(struct cursor *c, uint64_t *number)
{
	if ((size_t)(c->end - c->at) < sizeof(*number))
		return -EBADMSG;
	memcpy(number, c->at, sizeof(*number));
	c->at += sizeof(*number);
	return 0;
}

/* The opposite of put_short(). */
static int take_short(struct cursor *c, uint64_t *number)
{
	*number = 0;
	for (unsigned int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		*number |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return 0;
	}
	return -EBADMSG;
}

static int take_texts(struct codec *codec, struct cursor *c)
{
	uint64_t count, len;

	if (take_short(c, &count) || count > TEXTS_MAX - codec->text_count)
		return -EBADMSG;
	while (count--) {
		if (take_short(c, &len) || len > TEXT_MAX || len > (size_t)(c->end - c->at) ||
		    memchr(c->at, 0, len))
			return -EBADMSG;
		if (add_text(codec, (const char *)c->at, len))
			return -ENOMEM;
		c->at += len;
	}
	return 0;
}

/* Adds the differences to the numbers of the snapshot before. */
static int take_numbers(struct codec *codec, struct cursor *c)
{
	struct bytes now = {};
	uint64_t number;
	int err = 0;

	while (c->at < c->end && !err) {
		err = take_short(c, &number);
		number = (number >> 1 ^ -(number & 1)) + number_before(codec, now.len);
		if (!err)
			err = put(&now, number);
	}
	free(codec->before.data);
	codec->before = now;
	return err;
}

static int take_text(const struct codec *codec, struct cursor *c, const struct field *f, char *at)
{
	const char *text = NULL;
	uint64_t number;

	if (take(c, &number) || number > codec->text_count)
		return -EBADMSG;
	if (number)
		text = codec->texts[number - 1];
	if (f->type == FIELD_NAME)
		*(const char **)at = text;
	else if (text && strlen(text) >= f->count)
		return -EBADMSG;
	else if (text)
		memcpy(at, text, strlen(text) + 1);
	return 0;
}

static int take_field(const struct codec *codec, struct cursor *c, const struct field *f, void *at)
{
	uint64_t number;

	switch (f->type) {
	case FIELD_NAME:
	case FIELD_TEXT:
		return take_text(codec, c, f, at);
	case FIELD_BOOL:
		if (take(c, &number) || number > 1)
			return -EBADMSG;
		*(bool *)at = number;
		return 0;
	case FIELD_U32:
		for (size_t i = 0; i < f->count; i++) {
			if (take(c, &number) || number > UINT32_MAX)
				return -EBADMSG;
			((uint32_t *)at)[i] = (uint32_t)number;
		}
		return 0;
	default:
		for (size_t i = 0; i < f->count; i++)
			if (take(c, (uint64_t *)at + i))
				return -EBADMSG;
		/* Times up to the year 9999. */
		return f->type == FIELD_DOUBLE && !(*(double *)at >= 0 && *(double *)at < 2.5e11) ?
			       -EBADMSG :
			       0;
	}
}

/* Makes room for @entries in the part. NULL: no memory. */
static char *make_array(const struct table *t, char *part, size_t entries)
{
	if (t->entries)
		*(size_t *)(part + t->entries) = entries;
	if (!t->fixed)
		*(char **)(part + t->array) = calloc(entries + 1, t->size);
	return table_array(t, part);
}

static int take_table(const struct codec *codec, const struct table *t, struct cursor *c,
		      struct snapshot *s)
{
	uint64_t entries;
	char *entry;
	int err = 0;

	if (take(c, &entries) || entries > t->max || (!t->entries && entries != 1))
		return -EBADMSG;
	entry = make_array(t, (char *)s + t->part, entries);
	if (!entry)
		return -ENOMEM;
	for (; entries-- && !err; entry += t->size)
		for (size_t i = 0; i < t->field_count && !err; i++)
			if (!t->fields[i].left_out)
				err = take_field(codec, c, &t->fields[i],
						 entry + t->fields[i].offset);
	return err;
}

/* What the rows cannot say. */
static bool is_sound(const struct snapshot *s)
{
	for (size_t i = 0; i < s->self.hook_count; i++)
		if (!s->self.hooks[i].name)
			return false;
	for (size_t i = 0; i < s->self.drop_count; i++)
		if (!s->self.drops[i].reason)
			return false;
	return s->calls.source < RPC_SOURCES && s->self.rpc_hook_count <= s->self.hook_count;
}

int snapshot_decode(struct codec *codec, const uint8_t *bytes, size_t size, struct snapshot *s)
{
	struct cursor c = { bytes, bytes + size };
	int err = take_texts(codec, &c) ?: take_numbers(codec, &c);

	c = (struct cursor){ codec->before.data, codec->before.data + codec->before.len };
	for (int t = 0; t < TABLES && !err; t++)
		if (tables[t].max)
			err = take_table(codec, &tables[t], &c, s);
	if (!err && (c.at < c.end || !is_sound(s)))
		err = -EBADMSG;
	if (err)
		snapshot_free(s);
	return err;
}
