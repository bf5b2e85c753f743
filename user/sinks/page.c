// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page: the template with the session's JSON in it. */
#include "sinks/report.h"

/* build/gen/page.html, which the Makefile makes of user/sinks/page/: PAGE_TEMPLATE is its path. */
__asm__(".section .rodata\n"
	"page_template:\n"
	".incbin \"" PAGE_TEMPLATE "\"\n"
	".byte 0\n"
	".previous\n");
extern const char page_template[];

/* What the JSON replaces. */
#define MARK "@SESSION@"

void page_write(FILE *out, const char *json, size_t size)
{
	const char *mark = strstr(page_template, MARK);
	size_t len;

	fwrite(page_template, 1, (size_t)(mark - page_template), out);
	for (; size; json += len, size -= len) {
		len = *json == '<' ? 1 : strcspn(json, "<");
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fwrite(json, 1, len, out);
	}
	fputs(mark + strlen(MARK), out);
}
