/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of code that prints: what was printed to the FILE of text_begin() is @text after text_end(). */
#pragma once

#include "unit.h"

static char *text;
static size_t text_len;

AFTER_EACH()
{
	free(text);
	text = NULL;
}

static inline FILE *text_begin(void)
{
	FILE *out;

	free(text);
	text = NULL;
	out = not_null(open_memstream(&text, &text_len));
	return out;
}

static inline void text_end(FILE *out)
{
	assert_int_equal(fclose(out), 0);
}
