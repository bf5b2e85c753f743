/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of what reads lines of the kernel log: the files of real lines in TEST_DATA. */
#pragma once

#include "unit.h"

#define LINE_FIELDS 10

/* A row of a file: fields that are separated by tabs; a missing one is "". */
struct line_row {
	unsigned int number; /* of the line in the file */
	char *field[LINE_FIELDS];
	char buffer[2048];
};

/* Begins behind the columns' names. */
static inline FILE *lines_open(const char *path, struct line_row *row)
{
	FILE *file = not_null(fopen(path, "re"));

	assert_non_null(fgets(row->buffer, sizeof(row->buffer), file));
	row->number = 1;
	return file;
}

static inline void undo_escapes(char *text)
{
	for (; (text = strchr(text, '\\')); text++) {
		if (text[1] != 'n' && text[1] != 't')
			continue;
		*text = text[1] == 'n' ? '\n' : '\t';
		memmove(text + 1, text + 2, strlen(text + 2) + 1);
	}
}

/* Reads the next row, in whose second field "\n" is a newline and "\t" a tab. False: the file has ended, and is closed. */
static inline bool lines_next(FILE *file, struct line_row *row)
{
	char *rest = row->buffer;

	if (!fgets(row->buffer, sizeof(row->buffer), file)) {
		fclose(file);
		return false;
	}
	row->number++;
	for (size_t i = 0; i < LINE_FIELDS; i++) {
		char *field = strsep(&rest, "\t\n");

		row->field[i] = field ? field : "";
	}
	undo_escapes(row->field[1]);
	return true;
}
