// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frees the numbers of servers that have ended.
 *
 * The kernel side has 64 servers and 163 series of a server's op: five servers of NFSv4.2 fill the table. Servers come and
 * go with automounted folders and jobs' own exports. Without an end, the servers of last week would have all numbers, and
 * the calls of today's would count for "other".
 *
 * A server is freed if it has had no client for an hour; or, while one of the tables is more than half full, for a minute: by
 * then its last calls have been scraped. Its series end with their counts. If it comes back, it has a new number, and its
 * series begin at 0.
 *
 * Invariant: a number is given to another server only after no program can write to it for the old one. As in
 * owners/shares.c that takes more than one reading: the first one removes the name that leads to the number, the next ones
 * wait until no client's share has it, the last one frees it. If a transport has taken the number meanwhile, it stays.
 *
 * Example, interval 15 s, 40 servers, of which 14 are unmounted at 10:00:07. At 10:00:15 they are found without a client, at
 * 10:01:15 their names and clients are removed, at 10:02:00 their numbers are free.
 *
 * Servers that found no number share number 64, which ends in the same way. Once a number is free, each looks for it again.
 *
 * What does not fit counts for the server's op "other", which has a series for each server: calls lose their op, not their
 * server. When series become free, these ops get series of their own at their next call. */
#include "rpc/rpc_series.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "kernel/bpf_support.h"
#include "rpc_tracepoints.h"

/* The value of a server, or of a series' labels, of either source. */
union labels {
	struct rpc_server server;
	struct rpc_event_server event_server;
	struct rpc_series_info series; /* rpc_event_series_key has the same places */
};

/* Reads the labels of @number in @values, and returns whether they lead to it in @index. */
static bool is_listed(const struct bpf_map *values, const struct bpf_map *index, uint32_t number,
		      union labels *labels)
{
	uint32_t found;

	return !bpf_map_lookup_elem(bpf_map__fd(values), &number, labels) &&
	       !bpf_map_lookup_elem(bpf_map__fd(index), labels, &found) && found == number;
}

static void unlist_server(const struct server_maps *m, uint32_t server)
{
	union labels labels;

	if (is_listed(m->servers, m->server_index, server, &labels))
		bpf_map_delete_elem(bpf_map__fd(m->server_index), &labels);
}

static void free_series(struct server_reading *r, uint32_t server)
{
	const struct server_maps *m = &r->series->maps;
	union labels labels;

	for (uint32_t i = 1; i < RPC_OP_SERIES; i++) {
		if (!is_listed(m->series_info, m->series_index, i, &labels) ||
		    labels.series.key.server != server)
			continue;
		bpf_map_delete_elem(bpf_map__fd(m->series_index), &labels);
		rpc_series_clear(r->series, i);
		bpf_map_update_elem(bpf_map__fd(m->free_series), NULL, &i, BPF_ANY);
	}
	if (server < RPC_MAX_SERVERS)
		rpc_series_clear(r->series, rest_series(server));
}

static void free_server(struct server_reading *r, uint32_t server)
{
	static const struct rpc_server_stats no_stats;
	static const union labels no_labels;
	const struct server_maps *m = &r->series->maps;
	uint32_t shards = r->series->shards;

	free_series(r, server);
	for (uint32_t i = server * shards; i < (server + 1) * shards; i++)
		bpf_map_update_elem(bpf_map__fd(m->server_stats), &i, &no_stats, BPF_ANY);
	r->forget(r->context, server);
	if (server == RPC_MAX_SERVERS)
		return;
	bpf_map_update_elem(bpf_map__fd(m->servers), &server, &no_labels, BPF_ANY);
	bpf_map_update_elem(bpf_map__fd(m->free_servers), NULL, &server, BPF_ANY);
}

/* Lets ops that found no room look for it again. */
static void look_again(const struct server_reading *r)
{
	struct rpc_server_stats *s =
		bpf_values_map(r->series->maps.server_stats, PROT_READ | PROT_WRITE);

	for (uint32_t i = 0; s && i < (RPC_MAX_SERVERS + 1) * r->series->shards; i++)
		for (uint32_t op = 0; op < 2 * RPC_MAX_OP; op++) {
			volatile __u8 *series = &s[i].series[op / RPC_MAX_OP][op % RPC_MAX_OP];

			if (*series > RPC_OP_SERIES || *series == 1 + rest_series(RPC_MAX_SERVERS))
				*series = 0;
		}
	bpf_values_unmap(r->series->maps.server_stats, s);
}

/* One server at a reading. Returns whether its number is free now. */
static bool end_server(struct server_end *end, struct server_reading *r, uint32_t server, bool full)
{
	if (r->use[server] != SERVER_WITHOUT_CLIENT) {
		*end = (struct server_end){};
	} else if (!end->since) {
		end->since = r->now_ns;
	} else if (!end->unlisted) {
		end->unlisted = r->now_ns - end->since >= SERIES_KEPT_NS(full);
		if (!end->unlisted)
			return false;
		unlist_server(&r->series->maps, server);
		shares_end_server(r->shares, server);
	} else if (!shares_end_server(r->shares, server)) {
		free_server(r, server);
		*end = (struct server_end){};
		return true;
	}
	return false;
}

void server_numbers_free(struct server_numbers *n, struct server_reading *r)
{
	size_t used = 0, freed = 0;
	bool full;

	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++)
		used += r->use[i] != SERVER_FREE;
	full = used > RPC_MAX_SERVERS / 2 || r->ops > RPC_OP_SERIES / 2;
	for (uint32_t i = 0; i <= RPC_MAX_SERVERS; i++)
		freed += end_server(&n->of[i], r, i, full);
	if (freed)
		look_again(r);
}
