// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fields.h"

#include "base/safe_text.h"

#define BLANKS " \t\r"

bool fields_next(struct fields *f)
{
	struct span line, text, field;

	f->count = 0;
	while (!f->count && span_next_line(&f->rest, &line)) {
		f->line++;
		text = span_take_until(&line, "#");
		for (;; f->count++) {
			span_take_run(&text, BLANKS);
			field = span_take_until(&text, BLANKS);
			if (!span_left(field))
				break;
			if (f->count < MAX_FIELDS)
				f->field[f->count] = field;
		}
	}
	return f->count;
}

int fields_refuse(const struct fields *f, size_t n, const char *what)
{
	char shown[48];

	safe_copy(shown, sizeof(shown), f->field[n].at, span_left(f->field[n]), false, "...");
	snprintf(f->error, f->error_size, "line %u: '%s' %s", f->line, shown, what);
	return -EINVAL;
}
