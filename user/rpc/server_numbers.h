/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frees the numbers of servers that have ended, and of their series, for both BPF sources. server_numbers.c explains when. */
#pragma once

#include "owners/shares.h"
#include "rpc/rpc_series.h"

struct server_maps {
	/* Values of `servers` begin with the key of server_index, those of series_info with the key of series_index. */
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

enum server_use { SERVER_FREE, SERVER_WITHOUT_CLIENT, SERVER_IN_USE };

struct server_numbers {
	struct server_end {
		uint64_t since; /* without a client (CLOCK_MONOTONIC, ns); 0: it has one */
		bool unlisted; /* its name no longer leads to it */
	} of[RPC_MAX_SERVERS + 1]; /* the last: of all servers that found no number */
};

/* What a source has of its servers at this reading. */
struct server_reading {
	struct server_maps maps;
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
