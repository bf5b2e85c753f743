// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/terminal.h"

#include <stdarg.h>
#include <sys/ioctl.h>

#include "base/safe_text.h"

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

static bool continues_letter(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

bool terminal_has_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!none || !*none) && term && strcmp(term, "dumb") != 0;
}

size_t terminal_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += !continues_letter(text[i]);
	return columns;
}

size_t terminal_fit(const char *text, size_t len, size_t columns)
{
	size_t fits = len;

	while (terminal_columns(text, fits) > columns ||
	       (fits < len && continues_letter(text[fits])))
		fits--;
	return fits;
}

static size_t room_behind(size_t indent, size_t columns)
{
	return columns > indent + LEAST_ROOM ? columns - indent : LEAST_ROOM;
}

size_t terminal_wrap(FILE *out, const char *text, size_t columns, size_t first, size_t indent)
{
	size_t room = room_behind(first, columns), used = 0, lines = 1, len, width;

	fprintf(out, "%*s", (int)first, "");
	for (const char *word = text; *word; word += len, word += *word == ' ') {
		len = terminal_fit(word, strcspn(word, " "), room_behind(indent, columns));
		if (!len && *word != ' ')
			break;
		width = terminal_columns(word, len);
		if (word != text && used + 1 + width > room) {
			fprintf(out, "\n%*s", (int)indent, "");
			room = room_behind(indent, columns);
			lines++;
			used = 0;
		} else if (word != text) {
			fputc(' ', out);
			used++;
		}
		fwrite(word, 1, len, out);
		used += width;
	}
	return lines;
}

void terminal_line(FILE *out, size_t indent, const char *format, ...)
{
	struct terminal_size size;
	FREED char *line = NULL;
	size_t len;
	va_list args;
	FILE *text = terminal_ask(fileno(out), &size) ? open_memstream(&line, &len) : NULL;

	va_start(args, format);
	safe_vline(text ? text : out, format, args);
	va_end(args);
	if (text && !fclose(text) && len) {
		line[len - 1] = 0;
		terminal_wrap(out, line, size.columns, 0, indent);
		fputc('\n', out);
	}
}
