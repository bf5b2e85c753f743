/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls by mount and by owner. A source counts calls by client of sunrpc and owner, or by mount. Here the mount of each
 * client is found, and its calls are added to series of mounts and owners. */
#pragma once

#include "base/cgroup.h"
#include "kernel/bpf_support.h"
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

/* How long series stay without calls: if room is needed, until a scrape has seen the last ones. */
#define SERIES_KEPT_NS(full) ((full) ? 60000000000ull : 3600000000000ull)

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
	struct calls ended; /* the first two: series that have ended, when is in .called_ns */
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

/* ---- shares.c ----
 *
 * Reads the calls of each client of sunrpc by each owner from the maps of bpf/rpc_clients.bpf.h and bpf/rpc_owners.bpf.h,
 * which both BPF sources have. shares.c explains how entries that have ended are freed. */

struct share_maps {
	const struct bpf_map *share_stats, *free_clients, *free_shares;
	volatile struct rpc_client_info *client_info;
	volatile struct rpc_share_info *info;
	volatile __u16 *client, *share; /* rpc_client_entry, rpc_share */
	/* For owners; `owners` is NULL if they are not counted. */
	const struct bpf_map *owners, *owner_index, *free_owners;
	const struct bpf_map *bss; /* has rpc_owner_cell, which is mapped only when it is needed */
	volatile struct rpc_owner_cell *cell; /* where it would be */
	volatile __u64 *task; /* rpc_task_owner, or NULL */
};

/* The maps of a skeleton of either source. */
#define SHARE_MAPS(bpf)                                                                   \
	.client_info = (bpf)->bss->rpc_client_info, .info = (bpf)->bss->rpc_share_info,   \
	.share_stats = (bpf)->maps.share_stats, .free_clients = (bpf)->maps.free_clients, \
	.free_shares = (bpf)->maps.free_shares, .client = (bpf)->bss->rpc_client_entry,   \
	.share = (bpf)->bss->rpc_share,                                                   \
	.owners = (bpf)->rodata->rpc_owners ? (bpf)->maps.owners : NULL,                  \
	.owner_index = (bpf)->maps.owner_index, .free_owners = (bpf)->maps.free_owners,   \
	.bss = (bpf)->maps.bss, .cell = (bpf)->bss->rpc_owner_cell

#define SHARE_NAMED UINT64_MAX /* the name is final */

struct share_reader {
	struct share_maps maps;
	uint32_t shards;
	/* Mapped between shares_map() and shares_unmap(); of @stats those of the shares that were in use then. */
	struct rpc_share_stats *stats;
	struct rpc_owner *owners; /* NULL: not needed so far, or not known */
	uint32_t share_count;
	uint32_t readings;
	bool ending; /* the last look at the owners has ended some */
	bool misses_ends; /* the kernel does not report the ends of all processes */
	uint64_t id[RPC_MAX_SHARES], client_id[RPC_CLIENT_ENTRIES]; /* 0: not yet given */
	uint64_t calls[RPC_MAX_SHARES], rest_ns[RPC_MAX_SHARES]; /* as last read */
	/* The last reading found that it has ended: */
	bool share_ended[RPC_MAX_SHARES], client_ended[RPC_CLIENT_ENTRIES],
		owner_ended[RPC_MAX_OWNERS];
	struct helper names; /* see cgroup_ask_names() */
	const char *variables; /* the same; the caller may set it after shares_open(). NULL: none */
	char label[RPC_MAX_OWNERS][LABEL_SIZE]; /* names of the owners; "": not yet made */
	uint64_t began_ns; /* the present reading */
	uint64_t asked[RPC_MAX_OWNERS]; /* reading that first looked; 0: none; or SHARE_NAMED */
};

/* @maps are loaded maps that outlive *@r, which is all zeros: most of it is touched only where there are many owners.
 * Returns 0 or -errno; call shares_close() in either case. */
int shares_open(struct share_reader *r, const struct share_maps *maps, uint32_t shards);
void shares_close(struct share_reader *r);

/* What follows is called between these, for each reading: mapped pages count as resident memory. shares_map() returns 0 or
 * -errno; call shares_unmap() in either case. */
int shares_map(struct share_reader *r);
void shares_unmap(struct share_reader *r);

/* Adds all shares to @to, and frees what has ended. @server returns the label of a server, "" if it is not known yet. */
void shares_read(struct share_reader *r, struct client_list *to,
		 const char *(*server)(const void *context, uint32_t server), const void *context);

/* Sets the owners of the errors in @c, and the clients, whose mounts mount_calls_add() finds. */
void shares_name_errors(struct share_reader *r, struct calls *c);

/* Ends the clients of a server that has none any more. Returns whether a number of a client or share still belongs to it: later
 * readings free these. */
bool shares_end_server(struct share_reader *r, uint32_t server);

/* Shows in @to that this owner's oldest unanswered call is @age ns old. If the owner has no name, it does not show. */
void shares_show_oldest(struct share_reader *r, struct client_list *to, const char *server,
			uint32_t owner, uint64_t age);

/* The name of an owner; "": not known. Valid until the next reading. */
const char *shares_owner(struct share_reader *r, uint32_t owner);

/* The same, but "" if the number @owner is no longer that of the control group with the number @group. */
const char *shares_owner_of_group(struct share_reader *r, uint32_t owner, uint64_t group);
