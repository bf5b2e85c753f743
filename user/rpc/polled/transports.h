/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transports of the NFS mounts for the source mountstats: connects from
 * mountstats, slots from sysfs (from 5.14). A server's transports of one protocol are
 * shown as one with the protocol's name.
 */
#ifndef XIDSCOPE_TRANSPORTS_H
#define XIDSCOPE_TRANSPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"
#include "rpc/polled/mountstats_text.h"

struct transport;
struct transport_connects;

/* Initialise with {}. */
struct transports {
	struct transport *list; /* of this poll */
	size_t count;
	struct transport_connects *connects; /* of the last poll and this one */
	size_t connects_count;
};

/* Begins a poll. */
void transports_clear(struct transports *t);
void transports_free(struct transports *t);

/* Adds the transports of @mount. Those that it shares with another mount count once.
 * Returns 0 or -ENOMEM. */
int transports_add(struct transports *t, const struct mountstats_mount *mount,
		   const struct mountinfo_mount *info);

/* Ends a poll: adds the connects since the last poll to @totals, or only stores their
 * number if counting has not @begun. Returns 0 or -ENOMEM. */
int transports_count_connects(struct transports *t, struct snapshot *totals, bool begun);

/* Adds the slots that sysfs shows below @root ("" for the system itself) to @s.
 * Returns 0 or -ENOMEM. */
int transports_add_slots(const struct transports *t, const char *root, struct snapshot *s);

#endif
