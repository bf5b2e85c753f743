/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether bytes are one JSON value (RFC 8259) without any character that could do harm to a terminal, for fuzzers of
 * what writes JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "safe.h"

struct json_text {
	const char *at, *end;
	int depth;
};

static bool json_value(struct json_text *t);

static bool json_take(struct json_text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

static size_t json_span(struct json_text *t, const char *set)
{
	const char *begin = t->at;

	while (t->at < t->end && *t->at && strchr(set, *t->at))
		t->at++;
	return (size_t)(t->at - begin);
}

static bool json_text_value(struct json_text *t)
{
	if (!json_take(t, '"'))
		return false;
	while (t->at < t->end && *t->at != '"') {
		unsigned char c = (unsigned char)*t->at++;

		if (c != '\\')
			continue;
		if (json_take(t, 'u')) {
			for (int i = 0; i < 4; i++)
				if (t->at == t->end || !strchr("0123456789abcdefABCDEF", *t->at++))
					return false;
		} else if (t->at == t->end || !strchr("\"\\/bfnrt", *t->at++)) {
			return false;
		}
	}
	return json_take(t, '"');
}

static bool json_number_value(struct json_text *t)
{
	json_take(t, '-');
	if (!json_take(t, '0') && !json_span(t, "0123456789"))
		return false;
	if (json_take(t, '.') && !json_span(t, "0123456789"))
		return false;
	return true;
}

static bool json_members_of(struct json_text *t, char end, bool named)
{
	if (json_take(t, end))
		return true;
	json_take(t, '\n');
	do {
		if (named && (!json_text_value(t) || !json_take(t, ':')))
			return false;
		if (!json_value(t))
			return false;
		/* A line may end after a comma, and after the first bracket. */
	} while (json_take(t, ',') && (json_take(t, '\n') || true));
	return json_take(t, end);
}

static bool json_word(struct json_text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->at) < len || memcmp(t->at, word, len) != 0)
		return false;
	t->at += len;
	return true;
}

static bool json_value(struct json_text *t)
{
	bool good;

	if (++t->depth > 8)
		return false;
	good = json_take(t, '{')    ? json_members_of(t, '}', true) :
	       json_take(t, '[')    ? json_members_of(t, ']', false) :
	       t->at == t->end      ? false :
	       *t->at == '"'        ? json_text_value(t) :
	       strchr("tf", *t->at) ? json_word(t, "true") || json_word(t, "false") :
				      json_number_value(t);
	t->depth--;
	return good;
}

static inline bool json_valid(const char *text, size_t len)
{
	struct json_text t = { text, text + len, 0 };
	const char *line = text, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(t.end - line))); line = newline + 1)
		if (!only_safe(line, (size_t)(newline - line)))
			return false;
	return only_safe(line, (size_t)(t.end - line)) && json_value(&t) && t.at == t.end;
}
