// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/recording_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void recording_past_free(struct recording_past *p)
{
	for (size_t i = 0; i < RECORDING_TABLES; i++)
		free(p->words[i].list);
	for (size_t i = 0; i < p->text_count; i++)
		free(p->texts[i]);
	free(p->texts);
}

/* A text that @p keeps. NULL: no memory. */
const char *recording_past_add(struct recording_past *p, const char *text, size_t len)
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
