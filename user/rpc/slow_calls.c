// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rpc/slow_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/process.h"
#include "owners/mount_calls.h"

/* Keeps the durations of the slowest in order; from then on only slower ones are wanted. */
static void raise_threshold(struct slow_calls *c, uint64_t total)
{
	size_t at = SLOW_CALLS_KEPT - 1;

	if (total <= c->slowest[at])
		return;
	for (; at && c->slowest[at - 1] < total; at--)
		c->slowest[at] = c->slowest[at - 1];
	c->slowest[at] = total;
	if (c->slowest[SLOW_CALLS_KEPT - 1])
		*c->threshold = c->slowest[SLOW_CALLS_KEPT - 1];
}

static int on_call(void *context, void *data, size_t size)
{
	struct slow_calls *c = context;
	struct rpc_slow_call *taken;

	if (size < sizeof(*taken))
		return 0;
	taken = ARRAY_APPEND(c->taken, c->taken_count);
	memcpy(taken, data, sizeof(*taken));
	taken->op[sizeof(taken->op) - 1] = 0;
	raise_threshold(c, taken->total);
	return 0;
}

int slow_calls_open(struct slow_calls *c, int map, volatile __u64 *threshold)
{
	*c = (struct slow_calls){ .threshold = threshold };
	c->ring = ring_buffer__new(map, on_call, c, NULL);
	return c->ring ? 0 : -errno;
}

void slow_calls_close(struct slow_calls *c)
{
	ring_buffer__free(c->ring);
	free(c->taken);
	*c = (struct slow_calls){};
}

void slow_calls_take(struct slow_calls *c)
{
	free(c->taken);
	c->taken = NULL;
	c->taken_count = 0;
	if (c->ring)
		ring_buffer__consume(c->ring);
}

/* Takes at most what is left of *@left. */
static uint64_t take_time(uint64_t *left, uint64_t ns)
{
	uint64_t part = ns < *left ? ns : *left;

	*left -= part;
	return part;
}

void slow_calls_add(struct snapshot *s, const struct rpc_slow_call *from, const char *server,
		    const char *owner, const struct bpf_map *files)
{
	uint64_t left = from->before < from->total ? from->before : from->total;
	uint64_t after = from->total - left;
	struct slow_call *to = ARRAY_APPEND(s->calls.slow, s->calls.slow_count);
	struct rpc_file file;

	to->time = s->wall - ((double)s->time_ns - (double)from->end) / 1e9;
	snprintf(to->server, sizeof(to->server), "%s", server);
	snprintf(to->owner, sizeof(to->owner), "%s", owner);
	label_from_bytes(to->op, sizeof(to->op), from->op, strlen(from->op));
	process_first_line((int)from->pid, from->end - from->total, "comm", to->comm,
			   sizeof(to->comm));
	if (from->file.client == from->client &&
	    !bpf_map_lookup_elem(bpf_map__fd(files), &from->file, &file))
		file_calls_path(to->file, &file, false);
	to->pid = from->pid;
	to->client = from->client;
	to->status = from->status < 0 ? (uint32_t)-from->status : 0;
	to->total_ns = from->total;
	to->phase_ns[RPC_PHASE_RTT] = take_time(&after, from->rtt);
	to->phase_ns[RPC_PHASE_FINISH] = after;
	to->phase_ns[RPC_PHASE_RESEND] = take_time(&left, from->resend);
	for (int p = 0; p < RPC_WAITS; p++)
		to->phase_ns[p] = take_time(&left, from->wait_ns[p]);
	to->phase_ns[RPC_PHASE_SETUP] = left;
}

/* ---- whose mount it was ---- */

/* The only mount of the server; NULL: there are several, or none. */
static const struct nfs_mount *only_mount(const struct snapshot *s, const char *server)
{
	const struct nfs_mount *end = s->calls.mounts + s->calls.mount_count;
	const struct nfs_mount *first = CALLS_FIND(m, &s->calls, mount, server, true);

	return first && !ARRAY_FIND(m, first + 1, end - first - 1, !strcmp(m->server, server)) ?
		       first :
		       NULL;
}

void slow_calls_find_mounts(struct snapshot *s, const struct mount_calls_state *mounts)
{
	ARRAY_EACH(c, s->calls.slow, s->calls.slow_count) {
		const struct nfs_mount *only = only_mount(s, c->server);
		const struct client_calls *own = mount_calls_client(mounts, c->client);

		if (only)
			file_calls_place(only->export, only->mountpoint, c->mount, c->file);
		else if (own)
			file_calls_place(own->mount.export, own->mount.mountpoint, c->mount,
					 c->file);
	}
}
