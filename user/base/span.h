/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stretch of text that a parser has yet to read. Pure functions; any bytes.
 *
 * The span_take_ functions move past what they recognise, else leave the span
 * alone and return false.
 */
#ifndef XIDSCOPE_SPAN_H
#define XIDSCOPE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	const char *at;
	const char *end;
};

size_t span_left(struct span s); /* bytes */
bool span_starts_with(struct span s, const char *literal);
bool span_is(struct span s, const char *literal);

bool span_take(struct span *s, const char *literal);

/* Moves past the first occurrence of literal. */
bool span_take_through(struct span *s, const char *literal);

/* At least one digit, at most @max; base up to 36, letters in any case. */
bool span_take_number(struct span *s, unsigned int base, uint32_t max, uint32_t *value);

/* What c stands for as a digit, 0 to 35; 36: no digit in any base. */
unsigned int span_digit(char c);

#endif
