/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what both BPF sources record in the same form: series, errors, depths. */
#pragma once

#include "kernel/bpf_support.h"
#include "owners/mount_calls.h"
#include "snapshot/snapshot.h"

struct server_maps {
	/* Values of `servers` begin with the key of server_index, those of series_info with the key of series_index: server and op. */
	const struct bpf_map *servers, *server_index, *server_stats, *free_servers;
	const struct bpf_map *series_info, *series_index, *series, *free_series, *errors;
};

/* The maps of a skeleton of either source. */
#define SERVER_MAPS(bpf)                                                                    \
	.servers = (bpf)->maps.servers, .server_index = (bpf)->maps.server_index,           \
	.server_stats = (bpf)->maps.server_stats, .free_servers = (bpf)->maps.free_servers, \
	.series_info = (bpf)->maps.series_info, .series_index = (bpf)->maps.series_index,   \
	.series = (bpf)->maps.series, .free_series = (bpf)->maps.free_series,               \
	.errors = (bpf)->maps.errors

/* Initialise with {} but the maps and shards: most of it is touched only where there are many series. */
struct rpc_series_reader {
	struct server_maps maps;
	const volatile struct rpc_series *series; /* mapped; NULL: not now */
	uint32_t shards; /* of each series */
	struct rpc_series copy;
	/* For each element: the calls that spent no time in a phase, as last read. */
	uint64_t without[RPC_SERIES_ENTRIES][RPC_PHASE_SETUP];
	unsigned int pauses_left; /* see bpf_copy() */
};

/* How a source names what it counts. */
struct rpc_names {
	const void *context;
	/* The label of a server; "": it is new, and its counts are left to the next snapshot. */
	const char *(*server)(const void *context, uint32_t server);
};

/* Adds the first @count series and their errors to @c: RPC_OP_SERIES, or with those of the servers RPC_MAX_SERIES. Series 0, "other",
 * comes last. The map is mapped only during the call, because mapped pages count as resident memory. Returns 0 or -errno. */
int rpc_series_read(struct rpc_series_reader *r, uint32_t count, const struct rpc_names *names,
		    struct calls *c);

/* Sets a series to 0, and removes its errors. No program writes to it. */
void rpc_series_clear(struct rpc_series_reader *r, uint32_t series);

/* Copies the mapped element @index. The copy is consistent, unless the snapshot has waited half a second. No figure is lower
 * than in an earlier copy. Calls that did not wait are in the first bucket of each wait. Valid until the next call. */
const struct rpc_series *rpc_series_copy(struct rpc_series_reader *r, uint32_t index);

/* Adds a copy's figures to @op. */
void rpc_series_add(struct rpc_op *op, const struct rpc_series *copy);

/* ---- depths, drops ---- */

/* The greatest depth within interval @epoch. */
uint32_t rpc_peak_of(const struct rpc_peak *peak, uint32_t epoch);

/* Adds the figures of server number @number, with the peaks of interval @epoch. */
void rpc_stats_read(const struct rpc_series_reader *r, uint32_t number, uint32_t epoch,
		    struct rpc_server_state *server);

/* Raises *@max to the time since @since (0: no time). Returns whether it was less. */
bool rpc_raise_age(uint64_t *max, uint64_t now, uint64_t since);

/* Names the oldest call of @server, which waits since @since, if it has waited for so long that it may hang. @op: "" if it is not
 * known. @process: its number, 0 if it is not known. */
#define NAMED_AGE_NS 2000000000ull
void rpc_name_oldest(struct rpc_server_state *server, uint64_t now, uint64_t since,
		     const char op[RPC_OP_LEN], uint32_t process);

/* Returns the greatest value so far, kept in *@maximum: a counter must not fall. The sum
 * of several reads can be too low while a part moves from one to another. */
uint64_t rpc_monotonic(uint64_t *maximum, uint64_t value);

/* Adds what was dropped, by reason (of RPC_DROPS), to @s. */
void rpc_drops_add(struct snapshot *s, const __u64 *dropped);

/* Adds to @s which facts are unknown without the hooks that are not attached, and the memory and the runs of the loaded programs.
 * Returns how often the kernel skipped one, except those of the hooks @except. */
uint64_t rpc_hooks_add(struct snapshot *s, const struct bpf_hooks *h, unsigned int except);

/* Writes the name of @status (tk_status, negative) to @name of @size bytes: an errno ("EIO"), one of the kernel's
 * internal ones ("EJUKEBOX"), an NFSv4 error ("NFS4ERR_DELAY", RFC 8881 section 15.1), or the number. */
void nfs_status_name(int status, char *name, size_t size);

/* ---- server_numbers.c: frees the numbers of servers that have ended, and of their series ---- */

enum server_use { SERVER_FREE, SERVER_WITHOUT_CLIENT, SERVER_IN_USE };

struct server_numbers {
	struct server_end {
		uint64_t since; /* without a client (CLOCK_MONOTONIC, ns); 0: it has one */
		bool unlisted; /* its name no longer leads to it */
	} of[RPC_MAX_SERVERS + 1]; /* the last: of all servers that found no number */
};

/* What a source has of its servers at this reading. */
struct server_reading {
	struct rpc_series_reader *series;
	struct share_reader *shares;
	enum server_use use[RPC_MAX_SERVERS + 1];
	uint64_t now_ns;
	size_t ops; /* series in use */
	/* Forgets what else the source has of a server. */
	void (*forget)(void *context, uint32_t server);
	void *context;
};

/* Call it at each reading, when the figures have been read. */
void server_numbers_free(struct server_numbers *n, struct server_reading *r);
