/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent's messages in a file, which another process writes: the disk may hang. */
#pragma once

#include "base/std.h"

/* Makes standard error a socket if it is a file. The new process writes there what comes, and ends with this one; SIGTERM must
 * be blocked and SIGXFSZ ignored. Returns 0 or -errno. */
int messages_start(void);

/* Waits until the file has the messages, at most @most_ns in which this process has a CPU. */
void messages_finish(uint64_t most_ns);
