// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A snapshot as the differences of its numbers from the snapshot before: docs/RECORDING.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "snapshot/table.h"

/* The most texts that a recording has, those of them that are not the program's own, and the bytes of
 * each: more than any field has room for. */
#define TEXTS_MAX 16384
#define OTHERS_MAX (TEXTS_MAX - 256)
#define TEXT_MAX 1024

/* The numbers of one table. */
struct words {
	uint64_t *list;
	size_t count;
};

struct codec {
	struct words words[TABLES]; /* in the snapshot before */
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
	for (size_t i = 0; i < TABLES; i++)
		free(c->words[i].list);
	for (size_t i = 0; i < c->text_count; i++)
		free(c->texts[i]);
	free(c->texts);
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

/* How many numbers a field is. */
static size_t words_of(const struct field *f)
{
	return f->type == FIELD_TEXT ? 1 : f->count;
}

/* Numbers that an entry of @t has. */
static size_t entry_words(const struct table *t)
{
	size_t words = 0;

	for (size_t i = 0; i < t->field_count; i++)
		words += t->fields[i].left_out ? 0 : words_of(&t->fields[i]);
	return words;
}

/* Goes through the recorded fields of each entry, and their numbers. */
typedef int field_handler(void *context, const struct field *f, char *at, size_t word);

static int each_field(const struct table *t, char *array, size_t words, field_handler *handle,
		      void *context)
{
	size_t at = 0;
	int err = 0;

	for (char *entry = array; at < words && !err; entry += t->size)
		for (const struct field *f = t->fields; f < t->fields + t->field_count && !err;
		     f++) {
			if (f->left_out)
				continue;
			err = handle(context, f, entry + f->offset, at);
			at += words_of(f);
		}
	return err;
}

/* ---- writing ---- */

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

struct encoding {
	struct codec *c;
	struct bytes texts;
	size_t new_texts;
	const struct words *before;
	struct words now;
};

/* The number of a text: 1 + its place among the texts. 0 for NULL, and for one that is not the first
 * @max texts': a process can change its name without end. */
static int text_number(struct encoding *e, const char *text, uint64_t before, size_t max,
		       uint64_t *number)
{
	struct codec *c = e->c;
	size_t len;

	*number = 0;
	if (!text)
		return 0;
	if (before && before <= c->text_count && !strcmp(c->texts[before - 1], text)) {
		*number = before;
		return 0;
	}
	while (*number < c->text_count)
		if (!strcmp(c->texts[(*number)++], text))
			return 0;
	*number = 0;
	if (c->text_count >= max)
		return 0;
	len = strlen(text);
	*number = c->text_count + 1;
	e->new_texts++;
	return add_text(c, text, len)             ?:
		       put_number(&e->texts, len) ?:
						    bytes_add(&e->texts, text, len);
}

static int read_field(void *context, const struct field *f, char *at, size_t word)
{
	struct encoding *e = context;
	uint64_t *to = e->now.list + word,
		 before = word < e->before->count ? e->before->list[word] : 0;

	switch (f->type) {
	case FIELD_NAME:
		return text_number(e, *(const char **)at, before, TEXTS_MAX, to);
	case FIELD_TEXT:
		return text_number(e, at, before, OTHERS_MAX, to);
	case FIELD_BOOL:
		*to = *(const bool *)at;
		return 0;
	case FIELD_U32:
		for (size_t i = 0; i < f->count; i++)
			to[i] = ((const uint32_t *)at)[i];
		return 0;
	default:
		memcpy(to, at, 8 * f->count);
		return 0;
	}
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

static int put_table(struct encoding *e, enum table_id id, const struct snapshot *s,
		     struct bytes *to)
{
	const struct table *t = &tables[id];
	const void *part = (const char *)s + t->part;
	size_t entries = table_count(t, part);
	struct words *before = &e->c->words[id];
	int err;

	if (entries > t->max)
		return -E2BIG;
	e->before = before;
	e->now.count = entries * entry_words(t);
	e->now.list = calloc(e->now.count + 1, sizeof(*e->now.list));
	if (!e->now.list)
		return -ENOMEM;
	err = each_field(t, table_array(t, part), e->now.count, read_field, e);
	if (!err)
		err = put_number(to, entries) ?: put_words(to, before, &e->now);
	free(before->list);
	*before = e->now;
	return err;
}

int snapshot_encode(struct codec *c, const struct snapshot *s, struct bytes *to)
{
	struct encoding e = { .c = c };
	struct bytes numbers = {};
	int err = 0;

	for (enum table_id t = 0; t < TABLES && !err; t++)
		if (tables[t].max)
			err = put_table(&e, t, s, &numbers);
	if (!err)
		err = put_number(to, e.new_texts)                      ?:
			      bytes_add(to, e.texts.data, e.texts.len) ?:
			      bytes_add(to, numbers.data, numbers.len);
	free(e.texts.data);
	free(numbers.data);
	return err;
}

/* ---- reading ---- */

struct cursor {
	const uint8_t *at, *end;
};

/* The opposite of fold_sign(). */
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

static int take_texts(struct codec *codec, struct cursor *c)
{
	uint64_t count, len;

	if (take_number(c, &count) || count > TEXTS_MAX - codec->text_count)
		return -EBADMSG;
	while (count--) {
		if (take_number(c, &len) || len > TEXT_MAX || len > (size_t)(c->end - c->at) ||
		    memchr(c->at, 0, len))
			return -EBADMSG;
		if (add_text(codec, (const char *)c->at, len))
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

struct decoding {
	const struct codec *c;
	const struct words *now;
};

static int set_text(const struct codec *c, const struct field *f, char *at, uint64_t number)
{
	const char *text = NULL;

	if (number > c->text_count)
		return -EBADMSG;
	if (number)
		text = c->texts[number - 1];
	if (f->type == FIELD_NAME) {
		*(const char **)at = text;
		return 0;
	}
	if (text && strlen(text) >= f->count)
		return -EBADMSG;
	if (text)
		memcpy(at, text, strlen(text) + 1);
	return 0;
}

static int set_field(void *context, const struct field *f, char *at, size_t number)
{
	const struct decoding *d = context;
	const uint64_t *word = d->now->list + number;
	double seconds;

	switch (f->type) {
	case FIELD_NAME:
	case FIELD_TEXT:
		return set_text(d->c, f, at, *word);
	case FIELD_BOOL:
		*(bool *)at = *word & 1;
		return *word > 1 ? -EBADMSG : 0;
	case FIELD_U32:
		for (size_t i = 0; i < f->count; i++) {
			((uint32_t *)at)[i] = (uint32_t)word[i];
			if (word[i] > UINT32_MAX)
				return -EBADMSG;
		}
		return 0;
	case FIELD_DOUBLE:
		memcpy(&seconds, word, sizeof(seconds));
		memcpy(at, word, sizeof(seconds));
		/* Times up to the year 9999. */
		return seconds >= 0 && seconds < 2.5e11 ? 0 : -EBADMSG;
	default:
		memcpy(at, word, 8 * f->count);
		return 0;
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

static int take_table(struct codec *codec, enum table_id id, struct cursor *c, struct snapshot *s)
{
	const struct table *t = &tables[id];
	struct words *before = &codec->words[id], now;
	uint64_t entries;
	char *array;
	int err;

	if (take_number(c, &entries) || entries > t->max || (!t->entries && entries != 1))
		return -EBADMSG;
	now.count = entries * entry_words(t);
	now.list = calloc(now.count + 1, sizeof(*now.list));
	if (!now.list)
		return -ENOMEM;
	err = take_words(c, before, &now);
	free(before->list);
	*before = now;
	if (err)
		return err;
	array = make_array(t, (char *)s + t->part, entries);
	return array ? each_field(t, array, now.count, set_field,
				  &(struct decoding){ codec, before }) :
		       -ENOMEM;
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
	int err = take_texts(codec, &c);

	for (enum table_id t = 0; t < TABLES && !err; t++)
		if (tables[t].max)
			err = take_table(codec, t, &c, s);
	if (!err && (c.at < c.end || !is_sound(s)))
		err = -EBADMSG;
	if (err)
		snapshot_free(s);
	return err;
}
