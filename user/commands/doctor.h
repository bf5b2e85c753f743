/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xidscope doctor`: what this kernel offers, what is missing, how to fix it.
 */
#ifndef XIDSCOPE_DOCTOR_H
#define XIDSCOPE_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

struct options;

/* Returns the program's exit code. */
int doctor(const struct options *options);

/* The same for a system whose files are below @root ("": this one), with a
 * kernel of the name @release, to @out. Returns whether nothing is missing that
 * could be fixed. */
bool doctor_report(FILE *out, const char *root, const char *release, bool json);

#endif
