/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of the program. Each takes the options of the command line, and returns the program's exit code. */
#pragma once

#include "base/std.h"

struct options;

#define TABLE_ROW(COMMAND, name, run, ...) int run(const struct options *options);
#include "commands.inc"

/* Prints "xidscope: " and the formatted text as a line of safe text on standard error. Returns EXIT_TROUBLE. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- exit codes ---- */

/* Of all commands except check. */
enum {
	EXIT_OK = 0,
	EXIT_TROUBLE = 1, /* could not do what was asked */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_LOCKED = 3, /* another agent writes the same file */
	EXIT_PERMISSION = 4, /* not permitted to observe anything */
};

/* Of check, as Nagios defines them for its plugins; Slurm's script also uses them. Of faults, the first and the last. */
enum check_exit {
	CHECK_OK = 0,
	CHECK_WARNING = 1,
	CHECK_CRITICAL = 2,
	CHECK_UNKNOWN = 3,
};

/* Of check in the style npd, as node-problem-detector defines them for its plugins. */
enum npd_exit {
	NPD_OK = 0,
	NPD_PROBLEM = 1,
	NPD_UNKNOWN = 2,
};

/* ---- doctor.c ---- */

/* Writes the report of `doctor` to @out, about the kernel @release of a system whose files are below @root ("": this system).
 * @every_message: the result of printk_hook_try(). @types_file: NULL, or the file to be checked for the types of the
 * loaded sunrpc. Returns true if nothing is missing. */
bool doctor_report(FILE *out, const char *root, const char *release, int every_message,
		   const char *types_file, bool json);
