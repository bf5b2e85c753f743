/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program's exit codes. */
#ifndef XIDSCOPE_EXIT_CODES_H
#define XIDSCOPE_EXIT_CODES_H

/* Of all commands except check. */
enum {
	EXIT_OK = 0,
	EXIT_TROUBLE = 1, /* could not do what was asked */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_LOCKED = 3, /* another agent writes the same file */
	EXIT_PERMISSION = 4, /* no privileges, or the kernel forbids BPF programs */
};

/* Of check, as Nagios defines them for its plugins; Slurm's script also uses them. */
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

#endif
