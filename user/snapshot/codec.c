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

/* ---- the numbers of a snapshot ---- */

/* Writes them, or reads them. */
struct coder {
	struct codec *c;
	bool reads;
	const uint8_t *at, *end; /* what is still to be read */
	struct bytes numbers, texts; /* written; the texts are those that are new */
	size_t new_texts;
};

static int code(struct coder *e, uint64_t *number, uint64_t max)
{
	if (!e->reads)
		return put(&e->numbers, *number);
	if ((size_t)(e->end - e->at) < sizeof(*number))
		return -EBADMSG;
	memcpy(number, e->at, sizeof(*number));
	e->at += sizeof(*number);
	return *number > max ? -EBADMSG : 0;
}

/* The number of a text: 1 + its place among the texts. 0 for NULL, and for one that is not the first
 * @max texts': a process can change its name without end. */
static int find_text(struct coder *e, const char *text, size_t max, uint64_t *number)
{
	size_t at = number_before(e->c, e->numbers.len) - 1;
	struct codec *c = e->c;

	*number = 0;
	if (!text)
		return 0;
	if (at >= c->text_count || strcmp(c->texts[at], text) != 0)
		for (at = 0; at < c->text_count && strcmp(c->texts[at], text) != 0;)
			at++;
	if (at >= c->text_count && at >= max)
		return 0;
	*number = at + 1;
	if (at < c->text_count)
		return 0;
	e->new_texts++;
	return add_text(c, text, strlen(text))            ?:
		       put_short(&e->texts, strlen(text)) ?:
							    bytes_add(&e->texts, text, strlen(text));
}

static int code_text(struct coder *e, const struct field *f, char *at)
{
	bool name = f->type == FIELD_NAME;
	const char *text = name ? *(const char **)at : at;
	uint64_t number = 0;
	int err = 0;

	if (!e->reads)
		err = find_text(e, text, name ? TEXTS_MAX : OTHERS_MAX, &number);
	if (!err)
		err = code(e, &number, e->c->text_count);
	if (err || !e->reads)
		return err;
	text = number ? e->c->texts[number - 1] : NULL;
	if (name)
		*(const char **)at = text;
	else if (text && strlen(text) >= f->count)
		return -EBADMSG;
	else if (text)
		memcpy(at, text, strlen(text) + 1);
	return 0;
}

static int code_field(struct coder *e, const struct field *f, void *at)
{
	uint64_t number;
	int err = 0;

	switch (f->type) {
	case FIELD_NAME:
	case FIELD_TEXT:
		return code_text(e, f, at);
	case FIELD_BOOL:
		number = *(bool *)at;
		err = code(e, &number, 1);
		*(bool *)at = number;
		return err;
	case FIELD_U32:
		for (uint32_t *n = (uint32_t *)at; n < (uint32_t *)at + f->count && !err; n++) {
			number = *n;
			err = code(e, &number, UINT32_MAX);
			*n = (uint32_t)number;
		}
		return err;
	default:
		for (uint64_t *n = (uint64_t *)at; n < (uint64_t *)at + f->count && !err; n++)
			err = code(e, n, UINT64_MAX);
		/* Times up to the year 9999. */
		if (e->reads && f->type == FIELD_DOUBLE &&
		    !(*(double *)at >= 0 && *(double *)at < 2.5e11))
			err = -EBADMSG;
		return err;
	}
}

static int code_table(struct coder *e, const struct table *t, struct snapshot *s)
{
	char *part = (char *)s + t->part, *entry;
	uint64_t count = e->reads ? 0 : table_count(t, part);
	int err = count > t->max ? -E2BIG : code(e, &count, t->max);

	if (err || (!t->entries && count != 1))
		return err ? err : -EBADMSG;
	if (e->reads && t->entries)
		*(size_t *)(part + t->entries) = count;
	if (e->reads && !t->fixed)
		*(char **)(part + t->array) = calloc(count + 1, t->size);
	entry = table_array(t, part);
	if (!entry && count)
		return -ENOMEM;
	for (; count-- && !err; entry += t->size)
		for (const struct field *f = t->fields; f < t->fields + t->field_count && !err; f++)
			if (!f->left_out)
				err = code_field(e, f, entry + f->offset);
	return err;
}

static int code_tables(struct coder *e, struct snapshot *s)
{
	int err = 0;

	for (int t = 0; t < TABLES && !err; t++)
		if (tables[t].max)
			err = code_table(e, &tables[t], s);
	return err;
}

/* ---- writing ---- */

int snapshot_encode(struct codec *c, const struct snapshot *s, struct bytes *to)
{
	struct coder e = { .c = c };
	uint64_t number;
	int err = code_tables(&e, (struct snapshot *)s); /* which stays as it is */

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

/* The opposite of put_short(). */
static int take_short(struct coder *e, uint64_t *number)
{
	*number = 0;
	for (unsigned int shift = 0; shift < 64 && e->at < e->end; shift += 7) {
		uint8_t byte = *e->at++;

		*number |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return 0;
	}
	return -EBADMSG;
}

static int take_texts(struct coder *e)
{
	uint64_t count, len;

	if (take_short(e, &count) || count > TEXTS_MAX - e->c->text_count)
		return -EBADMSG;
	while (count--) {
		if (take_short(e, &len) || len > TEXT_MAX || len > (size_t)(e->end - e->at) ||
		    memchr(e->at, 0, len))
			return -EBADMSG;
		if (add_text(e->c, (const char *)e->at, len))
			return -ENOMEM;
		e->at += len;
	}
	return 0;
}

/* Adds the differences to the numbers of the snapshot before. */
static int take_numbers(struct coder *e)
{
	struct bytes now = {};
	uint64_t number;
	int err = 0;

	while (e->at < e->end && !err) {
		err = take_short(e, &number);
		number = (number >> 1 ^ -(number & 1)) + number_before(e->c, now.len);
		if (!err)
			err = put(&now, number);
	}
	free(e->c->before.data);
	e->c->before = now;
	return err;
}

/* What the rows cannot say. */
static bool is_sound(const struct snapshot *s)
{
	return !ARRAY_FIND(h, s->self.hooks, s->self.hook_count, !h->name) &&
	       !ARRAY_FIND(d, s->self.drops, s->self.drop_count, !d->reason) &&
	       s->calls.source < RPC_SOURCES && s->self.rpc_hook_count <= s->self.hook_count;
}

int snapshot_decode(struct codec *codec, const uint8_t *bytes, size_t size, struct snapshot *s)
{
	struct coder e = { .c = codec, .reads = true, .at = bytes, .end = bytes + size };
	int err = take_texts(&e) ?: take_numbers(&e);

	e.at = codec->before.data;
	e.end = e.at + codec->before.len;
	if (!err)
		err = code_tables(&e, s);
	if (!err && (e.at < e.end || !is_sound(s)))
		err = -EBADMSG;
	if (err)
		snapshot_free(s);
	return err;
}
