/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frees the numbers of servers that have ended, and of their series, for both BPF sources. server_numbers.c explains when. */
#pragma once

#include "owners/shares.h"
#include "rpc/rpc_series.h"

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
