/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that writes one file for the agent. It alone touches that path, because a
 * file system may stop answering at any time; then only this process waits.
 */
#ifndef XIDSCOPE_WRITER_CHILD_H
#define XIDSCOPE_WRITER_CHILD_H

#include <stdbool.h>

/* Starts the process, and names it @name (prctl(PR_SET_NAME), up to 15 bytes). @path "-" is
 * standard output; @append: lines are appended to the file, otherwise it is replaced. Returns
 * its socket (writer_channel.h), which ends it when it is closed, or -errno. It also ends with
 * the agent: nobody has to wait for it. */
int writer_child_start(const char *path, bool append, const char *name);

#endif
