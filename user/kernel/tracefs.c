// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where tracefs is, and which events it has with which fields. */
#include "kernel/trace.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/file_text.h"

/* The kernel creates both folders; they are empty until tracefs is mounted. A look into the second one mounts it there. */
static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static enum tracefs_state find_tracefs(const char *path)
{
	struct statfs fs;

	/* access() would not count capabilities. Lockdown that came after the boot refuses to open the files. */
	if (!statfs(PATHF("%s/instances", path), &fs)) {
		OPEN_FILE file = open(PATHF("%s/tracing_on", path), O_RDONLY | O_CLOEXEC);

		return file < 0 && errno == EPERM ? TRACEFS_EMPTY : TRACEFS_MOUNTED;
	}
	if (errno == EACCES)
		return TRACEFS_FORBIDDEN;
	if (statfs(path, &fs))
		return TRACEFS_ABSENT;
	return fs.f_type == TRACEFS_MAGIC ? TRACEFS_EMPTY : TRACEFS_UNMOUNTED;
}

enum tracefs_state tracefs_find(const char *root, char *path, size_t size)
{
	enum tracefs_state best = TRACEFS_ABSENT, state;

	path[0] = 0;
	for (size_t i = 0; i < COUNT(paths) && best != TRACEFS_MOUNTED; i++) {
		const char *full = PATHF("%s%s", root, paths[i]);

		state = find_tracefs(full);
		if (state <= best)
			continue;
		best = state;
		if (state != TRACEFS_UNMOUNTED)
			snprintf(path, size, "%s", full);
	}
	return best;
}

bool tracefs_has_event(const char *path, const char *event)
{
	struct statfs fs;

	return !statfs(PATHF("%s/events/%s", path, event), &fs);
}

/* Reads `format` files of tracefs: a line per field,
 *
 * 	field:__data_loc char[] msg;	offset:16;	size:4;	signed:0;
 *
 * (kernel: Documentation/trace/events.rst). */

/* Reads the number after the first @label in the line. */
static bool number_after(struct span line, const char *label, uint32_t *number)
{
	uint64_t value;

	if (!span_take_through(&line, label) || !span_take_number(&line, 10, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The last word, without a dimension: "char comm[16]", "u32 error_code". */
static struct span name_in(struct span declaration)
{
	const char *at = declaration.at, *end = declaration.end;
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	const char *begin;

	/* "__data_loc char[] msg" has its brackets before the name. */
	if (bracket && !memchr(bracket, ' ', (size_t)(end - bracket)))
		end = bracket;
	for (begin = end; begin > at && begin[-1] != ' ' && begin[-1] != '*';)
		begin--;
	return (struct span){ begin, end };
}

bool trace_field_find(struct span format, const char *name, struct trace_field *field)
{
	struct span line, declaration;

	while (span_next_line(&format, &line)) {
		span_take_run(&line, " \t");
		if (!span_take(&line, "field:"))
			continue;
		declaration = span_take_until(&line, ";");
		if (!span_is(name_in(declaration), name))
			continue;
		field->dynamic = span_starts_with(declaration, "__data_loc ");
		return !span_starts_with(declaration, "__rel_loc ") &&
		       number_after(line, "offset:", &field->offset) &&
		       number_after(line, "size:", &field->size);
	}
	return false;
}
