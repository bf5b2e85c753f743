/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xidscope xid`: explains an Xid, or lists them all.
 */
#ifndef XIDSCOPE_XID_COMMAND_H
#define XIDSCOPE_XID_COMMAND_H

struct options;

/* Prints what the options ask for. Returns the program's exit code. */
int xid_command(const struct options *options);

#endif
