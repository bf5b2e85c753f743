/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls by mount, and by owner. A source counts them by client of sunrpc and owner, or by mount; here the mount of
 * each client is found, and the counts of mounts and owners that have ended are kept. */
#pragma once

#include "snapshot/snapshot.h"

/* ---- what a source has counted ---- */

/* Of one client since it began, or since the source was attached; of one owner, if the source knows them. */
struct client_calls {
	uint64_t id; /* no other client or owner of any source has it */
	char server[LABEL_SIZE];
	char owner[LABEL_SIZE]; /* see owner_name(); "": the source does not know it */
	uint64_t client_id; /* the same for all owners of a client, and for no other client */
	uint32_t client; /* the kernel's number; of no meaning if the mount is known */
	bool known; /* the mount is known: */
	char export[LABEL_SIZE], mountpoint[LABEL_SIZE];
	struct rpc_sums sums;
	uint64_t oldest_ns; /* see struct owner_calls; 0: the sums count, else only this */
};

/* A new id of an entry below 512 of its source. */
uint64_t client_id(uint32_t entry);

/* Initialise with {}, free() the list. */
struct client_list {
	struct client_calls *list;
	size_t count;
};

/* ---- mount_clients.c: which client a mount has ---- */

/* Reads the clients of all NFS mounts of the process whose folder in proc is @process, in the order of its mounts;
 * of neighbours that are the same client, one. Returns 0 with a list to be freed, or -errno. */
int mount_clients_read(const char *process, uint32_t **clients, size_t *count);

/* ---- mount_calls.c ---- */

/* More mounts than this merge: those that have ended first. */
#define MOUNT_CALLS_MAX 128

/* Initialise with {}, but for the first field. */
struct mount_calls_state {
	unsigned int max_owners; /* more merge: those that do not call first */
	struct calls totals; /* its mount_calls and owner_calls */
	struct seen_client *seen;
	size_t seen_count;
	int error; /* of mount_clients_read(), positive; not tried again until it is 0 */
};

void mount_calls_free(struct mount_calls_state *m);

/* The mounts of a process, as they are in its mountinfo. */
struct mount_list {
	const char *process; /* its folder in proc */
	const struct calls *seen; /* .mounts */
	const uint64_t *devices; /* of all mounts, in the order of the file, equal ones included */
	size_t device_count;
	bool changed; /* since the last time */
};

/* Adds the calls by mount to @s, whose mounts are those of @mounts. A client that is new is looked for among the
 * mounts. Until it is found, its calls have the mount point "", for good, as no counter may fall: the first calls of
 * a mount, if a snapshot comes in between. Returns 0 or -ENOMEM. */
int mount_calls_add(struct mount_calls_state *m, const struct client_list *clients,
		    const struct mount_list *mounts, struct snapshot *s);

/* The mount point of the client with this number; NULL: it is not known. */
const char *mount_calls_point(const struct mount_calls_state *m, uint32_t client);

/* ---- owner.c: the name of an owner of calls ---- */

/* Who is nobody's: kernel threads, and calls whose process is not known. */
#define OWNER_KERNEL "kernel"

/* Writes to @label, of LABEL_SIZE bytes, whose control group it is: "slurm:4711", "pod:NAMESPACE/NAME" (the UID where
 * the node does not have the name), "unit:NAME.service", "user:1000"; of another group the first two names of its path,
 * "group:docker/4f..."; of the root "kernel". @names: of its path, from its own upwards, "" above the highest one. To
 * choose a name, one must be able to make groups outside of user.slice, jobs and pods. */
void owner_name(char *label, const char *const *names, size_t count);
