// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Holds each version of a metrics file against the one before it. */
#include "watch.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (4 << 20)

static void complain(struct watch *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct watch *w, const char *format, ...)
{
	va_list args;

	if (w->complaint[0])
		return;
	va_start(args, format);
	vsnprintf(w->complaint, sizeof(w->complaint), format, args);
	va_end(args);
}

void watch_begin(struct watch *w, const char *path)
{
	struct stat s;

	*w = (struct watch){ .path = path };
	if (stat(path, &s))
		return;
	w->inode = s.st_ino;
	w->modified_ns = s.st_mtim.tv_nsec;
}

void watch_end(struct watch *w)
{
	free(w->text);
	w->text = NULL;
}

/* "NAME{LABELS} VALUE": where the value begins, or NULL. */
static const char *value_of(const char *line, size_t len)
{
	const char *blank = memrchr(line, ' ', len);
	char *end;

	if (!blank || blank == line)
		return NULL;
	strtod(blank + 1, &end);
	return end == line + len && end > blank + 1 ? blank + 1 : NULL;
}

/* Where the line behind this one begins, or the text ends. */
static const char *next_line(const char *text)
{
	return strchrnul(text, '\n') + (*strchrnul(text, '\n') != 0);
}

/* Whether samples of that name may only grow. */
static bool is_counter(const char *name, size_t len)
{
	static const char *const suffixes[] = { "_total", "_bucket", "_count", "_sum" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (len > strlen(suffixes[i]) &&
		    !memcmp(name + len - strlen(suffixes[i]), suffixes[i], strlen(suffixes[i])))
			return true;
	return false;
}

/* The same sample's line in the text before; @hint is where it may be. */
static const char *find_line(const char *text, const char *hint, const char *key, size_t len)
{
	if (!strncmp(hint, key, len))
		return hint;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len))
			return line;
	}
	return NULL;
}

/* Every counter of @before is in @after, and not less. */
static void compare(struct watch *w, const char *before, const char *after)
{
	const char *hint = after, *line, *end, *value, *found;
	size_t len, key;

	for (line = before; (end = strchr(line, '\n')); line = end + 1) {
		len = (size_t)(end - line) + 1;
		/* Most lines stay, and to read a number costs a hundred times as much. */
		if (!strncmp(line, hint, len)) {
			hint += len;
			continue;
		}
		value = value_of(line, (size_t)(end - line));
		key = value ? (size_t)(value - line) : 0;
		if (*line == '#' || !is_counter(line, strcspn(line, "{ "))) {
			if (key && !strncmp(line, hint, key))
				hint = next_line(hint);
			continue;
		}
		found = find_line(after, hint, line, key);
		if (!found) {
			complain(w, "%.*s is gone", (int)key - 1, line);
			continue;
		}
		if (strtod(found + key, NULL) < strtod(value, NULL))
			complain(w, "%.*s went back from %.*s to %.*s", (int)key - 1, line,
				 (int)(end - value), value, (int)strcspn(found + key, "\n"),
				 found + key);
		hint = strchr(found, '\n') + 1;
	}
}

static bool is_whole(struct watch *w, const char *text, size_t len)
{
	const char *line, *end, *same = w->text ? w->text : "";
	size_t size;

	if (len < 6 || strcmp(text + len - 6, "# EOF\n") != 0 || strncmp(text, "# TYPE ", 7) != 0) {
		complain(w, "a version of %zu bytes is torn", len);
		return false;
	}
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		size = (size_t)(end - line) + 1;
		/* It was looked at in the version before. */
		if (!strncmp(line, same, size)) {
			same += size;
			continue;
		}
		same = next_line(same);
		if (*line != '#' && !value_of(line, (size_t)(end - line))) {
			complain(w, "not a sample: %.*s", (int)(end - line), line);
			return false;
		}
	}
	return true;
}

void watch_look(struct watch *w)
{
	int fd = open(w->path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	ssize_t len;
	char *text;

	if (fd < 0)
		return;
	if (fstat(fd, &s) || (s.st_ino == w->inode && s.st_mtim.tv_nsec == w->modified_ns)) {
		close(fd);
		return;
	}
	text = malloc(FILE_MAX);
	len = text ? read(fd, text, FILE_MAX - 1) : -1;
	close(fd);
	if (len < 0) {
		free(text);
		return;
	}
	text[len] = 0;
	w->inode = s.st_ino;
	w->modified_ns = s.st_mtim.tv_nsec;
	w->versions++;
	if (!is_whole(w, text, (size_t)len)) {
		free(text);
		return;
	}
	if (w->text)
		compare(w, w->text, text);
	free(w->text);
	w->text = realloc(text, (size_t)len + 1);
}

double watch_sum(const struct watch *w, const char *name, const char *label)
{
	const char *line, *end, *at;
	double sum = -1;

	for (line = w->text ? w->text : ""; (end = strchr(line, '\n')); line = end + 1) {
		at = memmem(line, (size_t)(end - line), label, strlen(label));
		if (strncmp(line, name, strlen(name)) != 0 || !at)
			continue;
		sum = (sum < 0 ? 0 : sum) + strtod(value_of(line, (size_t)(end - line)), NULL);
	}
	return sum;
}
