// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's commands that change a setting. */
#include "sinks/report.h"

#include "base/safe_text.h"

#define INDENT "    "

static void write_setting(FILE *out, const struct verdict *v)
{
	const char *dot = strchr(v->setting, '.'), *place = strchr(v->setting, '[');

	if (!dot || !*v->value)
		return;
	if (!strncmp(v->setting, "nfs.", 4))
		safe_line(out, INDENT "echo %s >/sys/module/nfs/parameters/%s", v->value, dot + 1);
	else if (place) /* the last of three values: the others stay */
		safe_line(out, INDENT "sysctl -w \"%.*s=$(sysctl -n %.*s | cut -f 1,2) %s\"",
			  (int)(place - v->setting), v->setting, (int)(place - v->setting),
			  v->setting, v->value);
	else
		safe_line(out, INDENT "sysctl -w %s=%s", v->setting, v->value);
}

/* Room for a mount point of which each byte is escaped, and quotes around it. */
#define WORD_SIZE (4 * LABEL_SIZE + 3)

/* Writes @path as one word of a shell to @word, which it returns. */
static const char *shell_word(char *word, const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
	char *end = word;

	if (!path[strspn(path, plain)])
		return path;
	*end++ = '\'';
	for (; *path; path++)
		if (*path == '\'')
			end = stpcpy(end, "'\\''");
		else
			*end++ = *path;
	memcpy(end, "'", 2);
	return word;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* One line for all of @paths, which mounts them in order, or ends them in reverse: those within others first. */
static void write_mounts(FILE *out, const char **paths, size_t count, const struct verdict *v,
			 bool mount)
{
	char *line = NULL, word[WORD_SIZE];
	size_t size;
	FILE *text = open_memstream(&line, &size);

	if (!text)
		return;
	for (size_t i = 0; i < count; i++) {
		fputs(i == 0 ? mount ? "mount " : "umount " : mount ? " && mount " : " ", text);
		if (mount && !strchr(v->setting, '.'))
			fprintf(text, "-o %s=%s ", v->setting, v->value);
		fputs(shell_word(word, paths[mount ? i : count - 1 - i]), text);
	}
	if (!fclose(text))
		safe_line(out, INDENT "%s", line);
	free(line);
}

/* All mounts of a server share its transports: all end before one begins. Other options are of one mount. */
static void mount_again(FILE *out, const struct calls *c, const struct verdict *v)
{
	const char **paths = calloc(c->mount_count + 1, sizeof(*paths));
	size_t count = 0;

	for (size_t i = 0; paths && i < c->mount_count; i++)
		if (!strcmp(c->mounts[i].server, v->server) &&
		    (!*v->mountpoint || !strcmp(c->mounts[i].mountpoint, v->mountpoint)))
			paths[count++] = c->mounts[i].mountpoint;
	if (count) {
		qsort(paths, count, sizeof(*paths), by_path);
		write_mounts(out, paths, count, v, false);
		write_mounts(out, paths, count, v, true);
	}
	free(paths);
}

void report_commands(FILE *out, const struct calls *c, const struct verdict *v)
{
	char word[WORD_SIZE];

	write_setting(out, v);
	/* Readahead is of a mount's backing device, and holds at once. */
	if (!strcmp(v->setting, "read_ahead_kb"))
		safe_line(out, INDENT "echo %s >/sys/class/bdi/$(mountpoint -d %s)/%s", v->value,
			  shell_word(word, v->mountpoint), v->setting);
	if (v->remount)
		mount_again(out, c, v);
}
