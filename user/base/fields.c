// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fields.h"

#include "base/safe_text.h"

#define BLANKS " \t\r"

static void split_line(struct fields *f, struct span line)
{
	struct span field;

	f->count = 0;
	for (;;) {
		span_take_run(&line, BLANKS);
		field = span_take_until(&line, BLANKS);
		if (!span_left(field))
			return;
		if (f->count < MAX_FIELDS)
			f->field[f->count] = field;
		f->count++;
	}
}

bool fields_next(struct fields *f)
{
	struct span line;

	while (span_next_line(&f->rest, &line)) {
		f->line++;
		split_line(f, span_take_until(&line, "#"));
		if (f->count)
			return true;
	}
	return false;
}

int fields_refuse(const struct fields *f, size_t n, const char *what)
{
	char shown[48];

	safe_copy(shown, sizeof(shown), f->field[n].at, span_left(f->field[n]), false, "...");
	snprintf(f->error, f->error_size, "line %u: '%s' %s", f->line, shown, what);
	return -EINVAL;
}
