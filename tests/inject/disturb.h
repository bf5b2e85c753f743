/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Disturbances of an agent other than failing system calls. */
#ifndef XIDSCOPE_DISTURB_H
#define XIDSCOPE_DISTURB_H

/* Runs one disturbance, by its name in disturb.c, and prints its line. Returns 0
 * if nothing was wrong, or 1; exits with 2 if there is no such disturbance. */
int disturb(const char *dir, const char *name, unsigned int times, char **command);

#endif
