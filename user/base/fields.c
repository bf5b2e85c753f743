// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files that people write: lines of fields. */
#include "base/fields.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/label.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void fields_begin(struct fields *f, const char *text, size_t len)
{
	*f = (struct fields){ .at = text, .end = text + len };
}

/* @end is where the line ends or its comment begins. */
static void split(struct fields *f, const char *at, const char *end)
{
	const char *begin;

	f->count = 0;
	for (;;) {
		while (at < end && is_blank(*at))
			at++;
		if (at == end)
			return;
		begin = at;
		while (at < end && !is_blank(*at))
			at++;
		if (f->count < MAX_FIELDS)
			f->field[f->count] = (struct field){ begin, (size_t)(at - begin) };
		f->count++;
	}
}

bool fields_next(struct fields *f)
{
	const char *line, *end, *comment;

	while (f->at < f->end) {
		line = f->at;
		f->line++;
		end = memchr(line, '\n', (size_t)(f->end - line));
		f->at = end ? end + 1 : f->end;
		if (!end)
			end = f->end;
		comment = memchr(line, '#', (size_t)(end - line));
		split(f, line, comment ? comment : end);
		if (f->count)
			return true;
	}
	return false;
}

bool field_is(const struct field *field, const char *word)
{
	return field->len == strlen(word) && !memcmp(field->at, word, field->len);
}

bool field_number(const struct field *field, unsigned int *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < field->len; i++) {
		if (field->at[i] < '0' || field->at[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(field->at[i] - '0');
		if (value > UINT_MAX)
			return false;
	}
	*number = (unsigned int)value;
	return field->len > 0;
}

bool field_copy(const struct field *field, char *to, size_t size)
{
	if (field->len >= size || memchr(field->at, 0, field->len))
		return false;
	memcpy(to, field->at, field->len);
	to[field->len] = 0;
	return true;
}

void field_show(const struct field *field, char *to, size_t size)
{
	label_from_bytes(to, size, field->at, field->len);
	for (; *to; to++)
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			*to = '?';
}
