// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the command line: any words give a command with values within their limits, or one line of
 * complaint in which nothing could do harm to a terminal. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands/options.h"
#include "fuzz.h"

/* What was printed meanwhile is in @text, with its NUL. */
static enum command parse(int argc, char **argv, struct options *o, char *text, size_t size)
{
	int file = memfd_create("errors", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	enum command command;
	ssize_t len;

	require(file >= 0 && saved >= 0);
	fflush(stderr);
	dup2(file, STDERR_FILENO);
	command = options_parse(argc, argv, o);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	len = pread(file, text, size - 1, 0);
	require(len >= 0);
	text[len] = 0;
	close(file);
	close(saved);
	return command;
}

static void require_limits(const struct options *o)
{
	for (size_t i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];
		const char *member = (const char *)o + row->member;
		double value;

		if (row->type == OPTION_DURATION)
			value = *(const double *)member;
		else if (row->type == OPTION_COUNT)
			value = (double)*(const uint64_t *)member;
		else
			continue;
		/* 0: not given */
		require(value == 0 || (value >= row->min && value <= row->max));
	}
}

/* Words end with a zero byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char words[1 << 16], text[1 << 20];
	char *argv[66] = { "xidscope" };
	struct options o;
	int argc = 1;
	size_t len;

	if (size >= sizeof(words))
		return 0;
	memcpy(words, data, size);
	words[size] = 0;
	for (char *at = words; at < words + size && argc < 65; at += strlen(at) + 1)
		argv[argc++] = at;
	if (parse(argc, argv, &o, text, sizeof(text)) != COMMAND_NONE) {
		require(!*text);
		require_limits(&o);
		return 0;
	}
	len = strlen(text);
	require(len > 1 && text[len - 1] == '\n');
	text[len - 1] = 0;
	require_safe(text, sizeof(text));
	return 0;
}
