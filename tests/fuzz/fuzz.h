/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every fuzzer includes: its entry, and what it requires. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "safe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert(): these must hold in builds with NDEBUG too. */
#define require(condition) ((condition) ? (void)0 : require_failed(#condition, __LINE__))

static inline void require_failed(const char *condition, int line)
{
	fprintf(stderr, "line %d: not %s\n", line, condition);
	abort();
}

#define require_string(array) require(memchr(array, 0, sizeof(array)) != NULL)

/* A copy of exactly that length, for ASan; string_of() puts a NUL behind it. The caller frees both. */
static inline char *copy_of(const void *bytes, size_t len)
{
	char *copy = malloc(len ? len : 1);

	require(copy != NULL);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

static inline char *string_of(const void *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	require(copy != NULL);
	if (len)
		memcpy(copy, bytes, len);
	copy[len] = 0;
	return copy;
}

/* A string that ends within @size bytes and has no control byte. */
static inline void require_one_line(const char *text, size_t size)
{
	require(memchr(text, 0, size) != NULL);
	for (; *text; text++)
		require((unsigned char)*text >= ' ' && *text != 0x7f);
}

/* The same, without any character that could do harm to a terminal. */
static inline void require_safe(const char *text, size_t size)
{
	require_one_line(text, size);
	require(only_safe(text, strlen(text)));
}

/* Safe lines, the last one with its newline. Returns how many there are. */
static inline size_t require_lines(const char *text, size_t size)
{
	size_t lines = 0, len;

	for (; size; text += len + 1, size -= len + 1, lines++) {
		const char *newline = memchr(text, '\n', size);

		require(newline != NULL);
		len = (size_t)(newline - text);
		require(only_safe(text, len));
	}
	return lines;
}

/* Gives the rest of the bytes, in memory of exactly that length, to the parser that the first one chooses, from '0' on. */
typedef void (*fuzz_parser)(const uint8_t *data, size_t size);

static inline void fuzz_one(const fuzz_parser *parsers, size_t count, const uint8_t *data,
			    size_t size)
{
	uint8_t *rest;

	if (!size)
		return;
	rest = (uint8_t *)copy_of(data + 1, size - 1);
	parsers[(uint8_t)(data[0] - '0') % count](rest, size - 1);
	free(rest);
}
