/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `xidscope run`: the agent. */
#ifndef XIDSCOPE_RUN_H
#define XIDSCOPE_RUN_H

#include "commands/options.h"

/* Runs until stopped. Returns the program's exit code. */
int run(const struct options *options);

#endif
