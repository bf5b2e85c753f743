/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts and what is read of them: files in TEST_DATA with a row for each, GIVEN<tab>EXPECTED. GIVEN may have several lines. In
 * both, "\n", "\t", "\\" and "\xNN" are bytes. Lines that begin with "# " explain the rows behind them: a text that does is
 * written with "\x23". */
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

/* What @read returns for each text is what is expected of it. @section: only of rows behind the line "## SECTION", up to the
 * next such line; NULL: of all. */
static inline void assert_golden_in(const char *path, const char *section,
				    const char *(*read)(const char *given))
{
	FILE *file = not_null(fopen(path, "re"));
	char *row = NULL, *expected = NULL;
	size_t row_size = 0, expected_size = 0, rows = 0;
	bool wanted = !section;

	while (getdelim(&row, &row_size, '\t', file) > 0) {
		char *given = row;

		for (; *given == '\n' || !strncmp(given, "# ", 2) || !strncmp(given, "## ", 3);
		     given = strchr(given, '\n') + 1)
			if (section && !strncmp(given, "## ", 3))
				wanted = strcspn(given + 3, "\n") == strlen(section) &&
					 !strncmp(given + 3, section, strlen(section));
		*strrchr(given, '\t') = 0;
		if (strstr(given, "\n## "))
			fail_msg("%s: a row without a tab: %s", path, given);
		assert_true(getline(&expected, &expected_size, file) > 0);
		*strrchr(expected, '\n') = 0;
		if (!wanted)
			continue;
		golden_unescape(given);
		golden_unescape(expected);
		if (strcmp(read(given), expected) != 0)
			fail_msg("%s: '%s' is read as\n%s\ninstead of\n%s", path, given,
				 read(given), expected);
		rows++;
	}
	assert_true(rows);
	free(row);
	free(expected);
	fclose(file);
}

static inline void assert_golden(const char *path, const char *(*read)(const char *given))
{
	assert_golden_in(path, NULL, read);
}
