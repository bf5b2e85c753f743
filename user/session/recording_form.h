/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the writer and the reader of recordings share. docs/WHY.md has the form. */
#ifndef XIDSCOPE_RECORDING_FORM_H
#define XIDSCOPE_RECORDING_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "snapshot/recording_table.h"

/* The most texts that a recording has, those of them that are not the program's own, and the bytes of
 * each: more than any field has room for. */
#define RECORDING_TEXTS_MAX 16384
#define RECORDING_OTHERS_MAX (RECORDING_TEXTS_MAX - 256)
#define RECORDING_TEXT_MAX 1024
#define RECORDING_TABLES 16 /* at least recorded_table_count */

/* Length and checksum of a frame's bytes, four bytes each, the lowest first. A length of 0
 * is the end. */
#define RECORDING_FRAME_HEAD 8

/* Initialise with {}; free() the data. */
struct bytes {
	uint8_t *data;
	size_t len, room;
};

/* The numbers of one table in the last snapshot. */
struct recording_words {
	uint64_t *list;
	size_t count;
};

/* What both sides know of the snapshots before. Initialise with {}. */
struct recording_past {
	struct recording_words words[RECORDING_TABLES];
	char **texts;
	size_t text_count;
};

void recording_past_free(struct recording_past *p);

/* A text that @p keeps. NULL: no memory. */
const char *recording_past_add(struct recording_past *p, const char *text, size_t len);

/* Returns 0 or -ENOMEM. */
int bytes_add(struct bytes *b, const void *data, size_t len);

#endif
