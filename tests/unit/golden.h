/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts and what is read of them: files in TEST_DATA with a row for each, GIVEN<tab>EXPECTED. GIVEN may have several lines. In
 * both, "\n", "\t", "\\" and "\xNN" are bytes. Lines that begin with "# " explain the rows behind them. */
#pragma once

#include "unit.h"

static inline void golden_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != '\\') {
			*to++ = *text;
		} else if (*++text == 'x') {
			assert_int_equal(sscanf(text + 1, "%2hhx", (unsigned char *)to++), 1);
			text += 2;
		} else {
			*to++ = (char)(*text == 'n' ? '\n' : *text == 't' ? '\t' : *text);
		}
	}
	*to = 0;
}

/* What @read returns for each text is what is expected of it. */
static inline void assert_golden(const char *path, const char *(*read)(const char *given))
{
	FILE *file = not_null(fopen(path, "re"));
	char *row = NULL, *expected = NULL;
	size_t row_size = 0, expected_size = 0, rows = 0;

	for (; getdelim(&row, &row_size, '\t', file) > 0; rows++) {
		char *given = row;

		while (*given == '\n' || !strncmp(given, "# ", 2))
			given = strchr(given, '\n') + 1;
		*strrchr(given, '\t') = 0;
		assert_true(getline(&expected, &expected_size, file) > 0);
		*strrchr(expected, '\n') = 0;
		golden_unescape(given);
		golden_unescape(expected);
		if (strcmp(read(given), expected) != 0)
			fail_msg("%s: '%s' is read as\n%s\ninstead of\n%s", path, given,
				 read(given), expected);
	}
	assert_true(rows);
	free(row);
	free(expected);
	fclose(file);
}
