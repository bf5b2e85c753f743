// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/kallsyms.h"

#include "base/file_text.h"

static bool read_symbol(struct span line, struct kernel_symbol *s)
{
	*s = (struct kernel_symbol){};
	if (!span_take_number(&line, 16, UINT64_MAX, &s->address) || span_left(line) < 3)
		return false;
	s->type = line.at[1];
	line.at += 3;
	s->name = span_take_until(&line, "\t");
	if (span_take(&line, "\t["))
		s->module = span_take_until(&line, "]");
	return true;
}

int kallsyms_each(const char *root, int (*take)(void *context, const struct kernel_symbol *symbol),
		  void *context)
{
	FILE *file = fopen(PATHF("%s/proc/kallsyms", root), "re");
	struct kernel_symbol symbol;
	FREED char *line = NULL;
	size_t room = 0;
	int result = 0;

	if (!file)
		return -errno;
	while (!result && getline(&line, &room, file) > 0)
		result = read_symbol((struct span){ line, line + strcspn(line, "\n") }, &symbol) ?
				 take(context, &symbol) :
				 -EINVAL;
	if (!result && ferror(file))
		result = -EIO;
	fclose(file);
	return result;
}
