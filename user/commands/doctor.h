/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xidscope doctor`: what this kernel offers, what is missing, how to fix it.
 */
#ifndef XIDSCOPE_DOCTOR_H
#define XIDSCOPE_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the report about a system whose files are below @root ("": this one), with
 * the kernel @release, to @out. @types_file: NULL, or a file that is to have the types of the
 * loaded sunrpc. Returns true if nothing is missing. */
bool doctor_report(FILE *out, const char *root, const char *release, const char *types_file,
		   bool json);

#endif
