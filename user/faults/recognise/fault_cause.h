/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose fault an Xid is that a program can cause: tells jobs apart, so that one
 * job, or one user, does not make a GPU look as if it failed many of them.
 */
#ifndef XIDSCOPE_FAULT_CAUSE_H
#define XIDSCOPE_FAULT_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A number for the job of the process @pid, 0 if @pid is not above 0. A job is a cgroup that
 * its user could not make: the path up to the first group that belongs to a user, or
 * that systemd has for all sessions of a user. A process that has ended, which is tried if
 * @ended is false, is a job of its own. @root is put before the paths.
 */
uint32_t fault_cause(const char *root, int pid, bool ended);

#endif
