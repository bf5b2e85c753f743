/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether file systems of servers can be used. What the kernel knows is read from proc; the
 * servers are asked by processes of their own, for a limited time, because a server may never
 * answer and such a process cannot always be ended.
 */
#ifndef XIDSCOPE_MOUNT_PROBE_H
#define XIDSCOPE_MOUNT_PROBE_H

#include "health/node_facts.h"

/*
 * Sets the state of each mount. @limit: seconds until a server that has not answered, and has
 * sent no other reply to this client since half of that time, has hung. Takes little longer.
 *
 * At most one process asks for each mount, whoever calls this: it holds a lock in the folder
 * @locks, which is made. Without one ("" or not writable) no server is asked.
 */
void mount_facts_ask(struct node_facts *facts, const char *locks, double limit);

#endif
