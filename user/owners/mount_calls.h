/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls by mount and by owner. A source counts calls by client of sunrpc and owner, or by mount. Here the mount of each
 * client is found, and its calls are added to series of mounts and owners. */
#pragma once

#include "base/cgroup.h"
#include "snapshot/snapshot.h"

/* ---- what a source has counted ---- */

/* The mount of a client. Mounts with the same options of folders of one file system of the server share a superblock and its client:
 * calls are those of the mount whose folder contains the others'. If there is none, or two volumes, the mount point is "". */
struct client_mount {
	bool known, common; /* common: no mount has this export yet, several are below it */
	char export[LABEL_SIZE], mountpoint[LABEL_SIZE];
};

/* Adds a mount of its superblock. */
void client_add_mount(struct client_mount *c, const struct nfs_mount *m);

/* The calls of one client since it began, or since the source was attached. If the source knows owners: of one owner. */
struct client_calls {
	uint64_t id; /* unique for this client and owner in all sources */
	char server[LABEL_SIZE];
	char owner[LABEL_SIZE]; /* see owner_name(); "": the source does not know it */
	uint64_t client_id; /* unique for this client; all of its owners have the same */
	uint32_t client; /* the kernel's number; not used if the source knows the mount */
	struct client_mount mount;
	struct rpc_sums sums;
	uint64_t oldest_ns; /* as in struct calls_by; not 0: an entry for this alone */
};

/* Returns a new id for entry number @entry of a source, below 512. */
uint64_t client_id(uint32_t entry);

/* Initialise with {}, free() the list. */
struct client_list {
	struct client_calls *list;
	size_t count;
};

/* ---- mount_clients.c: the client of each mount ---- */

/* Reads the clients of all NFS mounts of the process whose folder in proc is @process, in the order of its mounts. A
 * client that follows itself is listed once. Returns 0 with a list to be freed, or -errno. */
int mount_clients_read(const char *process, uint32_t **clients, size_t *count);

/* ---- mount_calls.c ---- */

/* The owners that have figures of their own at a time. */
#define OWNER_CALLS_MAX 32

/* The mounts that have figures of their own at a time. */
#define MOUNT_CALLS_MAX 128

/* The most pairs of an owner and a mount; further ones count for "other". */
#define OWNER_MOUNTS_MAX 2048

/* Initialise with {} and the first two fields; mount_calls_free() keeps these. */
struct mount_calls_state {
	unsigned int max_owners;
	bool owner_mounts; /* count .owner_mounts of all calls, not only where some end with an error */
	struct calls totals; /* only .mount_calls, .owner_calls and .owner_mounts */
	struct seen_client *seen;
	size_t seen_count;
	unsigned int looks; /* for mounts, since one or a client that is not known has come */
	int error; /* of mount_clients_read(), positive; it is not called again until this is 0 */
};

void mount_calls_free(struct mount_calls_state *m);

/* A mount of a process. Mounts with the same names share a row, and may be of several devices. */
struct mount_place {
	uint64_t device;
	size_t row; /* in .mounts; SIZE_MAX: it is left out */
};

/* The mounts of a process, as they are in its mountinfo. */
struct mount_list {
	char process[64]; /* its folder in proc */
	struct calls seen; /* only .mounts */
	struct mount_place *places; /* in the order of the file; some devices may be equal */
	size_t place_count;
	bool changed; /* since the last time */
};

/* Adds the calls by mount and owner to @s, whose mounts are those of @mounts. Mounts are looked for if a client is new or mounts have
 * changed. Calls before it is found count for the mount point "", and stay there, because no counter may fall. Changes the figures of
 * @clients, which must be complete. */
void mount_calls_add(struct mount_calls_state *m, struct client_list *clients,
		     const struct mount_list *mounts, struct snapshot *s);

/* The client with this number, or NULL. Valid until the next call of mount_calls_add(). */
const struct client_calls *mount_calls_client(const struct mount_calls_state *m, uint32_t client);

/* ---- owner.c: the name of an owner of calls ---- */

/* The owner of calls by kernel threads and by unknown processes. */
#define OWNER_KERNEL "kernel"

/* Writes the name of a control group's owner to @label, of LABEL_SIZE bytes:
 * - "slurm:4711" (the SLUID if the number is not known), "lsf:4711", "pbs:4711[3]";
 * - "pod:NAMESPACE/NAME" (the UID if the node does not know the name), "container:NAME" (else 12 digits of its ID);
 * - of a job within one of these both: "pod:NAMESPACE/NAME slurm:4711";
 * - "env:NAME=VALUE", instead of the next and of a container, if a process of the group has one of @variables (NULL: none);
 * - "unit:NAME.service", "user:1000"; for another group the first two names of its path, "group:a/b"; for the root "kernel".
 * @names: the names in its path, its own first, "" above the highest. To choose a name one must be able to make groups outside
 * of user.slice, jobs and pods. Returns false while the process @helper still looks for the name of the group, which was there
 * at @since. */
bool owner_name(char *label, const char *const *names, size_t count, struct helper *helper,
		const char *variables, uint64_t since);
