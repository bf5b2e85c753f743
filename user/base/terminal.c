// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines that fit a terminal. */
#include "base/terminal.h"

#include <string.h>
#include <sys/ioctl.h>

#define LEAST_ROOM 8

bool terminal_ask(int fd, struct terminal_size *size)
{
	struct winsize answer;

	if (ioctl(fd, TIOCGWINSZ, &answer))
		return false;
	size->columns = answer.ws_col ? answer.ws_col : TERMINAL_COLUMNS;
	size->rows = answer.ws_row;
	return true;
}

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t terminal_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += !continues(text[i]);
	return columns;
}

/* Length of the word at @text, a blank at its end not included. Of one that is wider than @room the part that fits. */
static size_t word_length(const char *text, size_t room)
{
	size_t len = strcspn(text, " ");

	while (terminal_columns(text, len) > room)
		len--;
	while (continues(text[len]))
		len--;
	return len;
}

size_t terminal_wrap(FILE *out, const char *text, size_t columns, size_t first, size_t indent)
{
	size_t room = columns > indent + LEAST_ROOM ? columns - indent : LEAST_ROOM;
	size_t used = 0, lines = 0, len;

	for (; *text; text += len, text += *text == ' ') {
		len = word_length(text, room);
		if (used && used + 1 + terminal_columns(text, len) > room)
			used = 0;
		if (!used) {
			fprintf(out, "%s%*s", lines ? "\n" : "", (int)(lines ? indent : first), "");
			lines++;
		} else {
			fputc(' ', out);
			used++;
		}
		fwrite(text, 1, len, out);
		used += terminal_columns(text, len);
		if (!len)
			break;
	}
	return lines;
}
