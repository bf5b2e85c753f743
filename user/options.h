/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subcommands and their options: one table, from which parsing and help follow.
 */
#ifndef XIDSCOPE_OPTIONS_H
#define XIDSCOPE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "openmetrics.h"

/* Exit codes of the program. */
enum {
	EXIT_OK = 0,
	EXIT_TROUBLE = 1, /* could not do what was asked */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_LOCKED = 3, /* another agent writes the same file */
	EXIT_PERMISSION = 4, /* the kernel does not allow BPF programs */
};

struct options {
	const char *output; /* "-": standard output */
	double interval; /* seconds */
	double duration; /* seconds; 0: until stopped */
	enum metrics_format format;
	uint64_t max_series;
	bool keep;
	bool program_stats; /* have the kernel count runs of BPF programs */
	struct log log;
	unsigned int hooks; /* HOOKS_RPC | HOOKS_GPU */
};

enum command {
	COMMAND_RUN = 1,
	COMMAND_TRACE = 2,
	COMMAND_METRICS = 4,
	COMMAND_HELP = 8,
	COMMAND_VERSION = 16,
};

/*
 * Reads the command line into *@o, which gets defaults first. Returns the
 * command, or 0 after an error message on standard error. COMMAND_HELP is
 * returned after the help has been printed.
 */
enum command options_parse(int argc, char **argv, struct options *o);

#endif
