// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/markdown.h"

#include "base/span.h"

#define COMMAND "    "
#define FENCE "```"
#define ENDING 3 /* lines behind the last one of the report */

enum part { PART_ITEM, PART_COMMAND, PART_TABLE };

struct markdown {
	FILE *out;
	enum part part; /* of the line before */
	size_t lines;
};

static void put_line(struct markdown *m, const char *before, struct span line)
{
	fprintf(m->out, "%s%.*s\n", before, (int)span_left(line), line.at);
	m->lines++;
}

/* Puts a backslash before each character that could begin markup. */
static void put_item(struct markdown *m, struct span text)
{
	const char *mark = m->lines ? "" : "**", *begin = text.at;

	fprintf(m->out, "%s%s", m->lines ? "- " : "", mark);
	for (; span_left(text); text.at++)
		fprintf(m->out, "%s%c",
			strchr("\\`*_[]<>|~&", *text.at) ||
					(text.at == begin && strchr("#+-=", *text.at)) ?
				"\\" :
				"",
			*text.at);
	fprintf(m->out, "%s\n%s", mark, *mark ? "\n" : "");
	m->lines += *mark ? 2 : 1;
}

/* Ends one part and begins the next. Commands stand in the list, tables behind it. */
static void begin_part(struct markdown *m, enum part part)
{
	const struct span fence = span_of(FENCE);

	if (m->part == part)
		return;
	if (m->part != PART_ITEM)
		put_line(m, m->part == PART_COMMAND ? "  " : "", fence);
	if (part == PART_TABLE)
		put_line(m, "", span_of(""));
	if (part != PART_ITEM)
		put_line(m, part == PART_COMMAND ? "  " : "", fence);
	m->part = part;
}

static void write_line(struct markdown *m, struct span line)
{
	const size_t command = strlen(COMMAND);
	bool item = span_left(line) > 2 && !strncmp(line.at, "- ", 2);

	if (item) {
		begin_part(m, PART_ITEM);
		line.at += 2;
		put_item(m, line);
	} else if (m->part != PART_TABLE && span_left(line) > command &&
		   !strncmp(line.at, COMMAND, command)) {
		begin_part(m, PART_COMMAND);
		line.at += command;
		put_line(m, "  ", line);
	} else if (m->part == PART_TABLE || span_left(line)) {
		begin_part(m, PART_TABLE);
		/* A line of backticks would end the table. */
		put_line(m, span_left(line) && *line.at == '`' ? COMMAND : "", line);
	}
}

void markdown_write(FILE *out, const char *report)
{
	struct markdown m = { .out = out };
	struct span text = span_of(report), line;
	size_t more = 0;

	while (span_next_line(&text, &line)) {
		if (!m.lines && (span_left(line) <= 2 || strncmp(line.at, "- ", 2) != 0))
			continue;
		/* A new part needs up to three lines more. */
		if (m.lines + ENDING + 3 < MARKDOWN_LINES && !more)
			write_line(&m, line);
		else
			more++;
	}
	begin_part(&m, PART_ITEM);
	if (more)
		fprintf(out, "\nand %zu more lines without --markdown\n", more);
}
