/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xidscope check`: judges the node's health by the agent's metrics file.
 */
#ifndef XIDSCOPE_CHECK_H
#define XIDSCOPE_CHECK_H

/* Exit codes of Nagios' plugins; those for node-problem-detector differ. */
enum check_exit {
	CHECK_OK = 0,
	CHECK_WARNING = 1,
	CHECK_CRITICAL = 2,
	CHECK_UNKNOWN = 3,
};

struct options;

/* Prints the verdict. Returns the program's exit code. */
int check(const struct options *options);

#endif
