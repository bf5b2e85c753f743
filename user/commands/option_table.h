/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of commands and options. Parsing and help use it, and the man page is checked against it. */
#pragma once

#include "commands/options.h"

#define DEFAULT_EVENTS "/var/lib/xidscope/events"
#define DEFAULT_OUTPUT "/var/lib/prometheus/node-exporter/xidscope.prom"

struct command_row {
	const char *name;
	int (*run)(const struct options *options); /* returns the program's exit code */
	const char *help;
	const char *examples[2]; /* arguments of the program; NULL: none */
};

extern const struct command_row command_rows[COMMANDS];

/* The kind of a value, and the type of its member in struct options. */
enum option_type {
	OPTION_FLAG, /* bool; the option has no value */
	OPTION_DURATION, /* double: seconds from @min to @max */
	OPTION_COUNT, /* uint64_t from @min to @max */
	OPTION_TIME, /* double: seconds since the epoch; @min: an enum time_direction */
	OPTION_FILE, /* const char *, not empty */
	OPTION_WORD, /* unsigned int: the number of one of @words, from 0 on */
	OPTION_WORDS, /* unsigned int: a set of 1u << number of some of @words */
	OPTION_OTHER, /* read by @read */
};

struct option_row {
	const char *name; /* with its dashes; an operand has none */
	const char *argument; /* "": the option takes none */
	unsigned int commands; /* that have the option: a set of 1u << enum command */
	enum option_type type;
	size_t member; /* offset in struct options */
	double min, max;
	const char *words; /* separated by blanks, in the order of the member's enum */
	/* Returns NULL, or a hint for the error message, in static storage. */
	const char *(*read)(struct options *o, const char *value);
	const char *help; /* with the default in brackets */
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

/* ---- finds the name that is nearest to a mistyped word ---- */

/* Initialise with { .word, .len }, then offer each name. */
struct nearest {
	const char *word;
	size_t len;
	const char *name; /* the nearest so far; NULL: no name was near */
	size_t distance; /* characters in which it differs from the word */
};

/* @name, which must outlive @n, is near if it begins with the word, or differs in about a third of its characters. */
void nearest_offer(struct nearest *n, const char *name);
