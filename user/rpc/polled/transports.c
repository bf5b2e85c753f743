// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of the NFS mounts, as mountstats and sysfs show them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "rpc/polled/polled.h"

struct transport {
	char server[LABEL_SIZE];
	char address[RPC_ADDRESS_LEN];
	uint32_t port; /* the server's */
	size_t index; /* among the transports of its mount */
	struct mountstats_transport stats;
};

/* Connects of all of a server's transports of one protocol. */
struct transport_connects {
	char server[LABEL_SIZE];
	char protocol[RPC_PROTO_LEN];
	uint64_t before, now; /* at the last poll and at this one */
};

void transports_clear(struct transports *t)
{
	t->count = 0;
}

void transports_free(struct transports *t)
{
	free(t->list);
	free(t->connects);
}

/* Mounts of one server share their transports: each mount shows the same ones. */
static bool is_same(const struct transport *t, const char *server, size_t index,
		    const struct mountstats_transport *stats)
{
	return t->index == index && !strcmp(t->server, server) &&
	       !strcmp(t->stats.protocol, stats->protocol) && t->stats.port == stats->port &&
	       (stats->port || t->stats.connects == stats->connects);
}

int transports_add(struct transports *t, const struct mountstats_mount *mount,
		   const struct mountinfo_mount *info)
{
	for (size_t i = 0; i < mount->transport_count; i++) {
		struct transport *known = t->list, *end = t->list + t->count;

		while (known < end && !is_same(known, mount->server, i, &mount->transports[i]))
			known++;
		if (known < end)
			continue;
		known = ARRAY_APPEND(t->list, t->count);
		if (!known)
			return -ENOMEM;
		snprintf(known->server, sizeof(known->server), "%s", mount->server);
		snprintf(known->address, sizeof(known->address), "%s", info->address);
		known->port = info->port;
		known->index = i;
		known->stats = mount->transports[i];
	}
	return 0;
}

static struct transport_connects *find_connects(struct transports *t, const char *server,
						const char *protocol)
{
	struct transport_connects *c;

	for (c = t->connects; c < t->connects + t->connects_count; c++)
		if (!strcmp(c->server, server) && !strcmp(c->protocol, protocol))
			return c;
	c = ARRAY_APPEND(t->connects, t->connects_count);
	if (c) {
		snprintf(c->server, sizeof(c->server), "%s", server);
		snprintf(c->protocol, sizeof(c->protocol), "%s", protocol);
	}
	return c;
}

/* The sum over all transports falls when one ends; counting continues from there. */
int transports_count_connects(struct transports *t, struct snapshot *totals, bool begun)
{
	struct rpc_transport_state *state;
	struct transport_connects *c;

	for (size_t i = 0; i < t->connects_count; i++)
		t->connects[i].now = 0;
	for (size_t i = 0; i < t->count; i++) {
		c = find_connects(t, t->list[i].server, t->list[i].stats.protocol);
		if (!c)
			return -ENOMEM;
		c->now += t->list[i].stats.connects;
	}
	for (c = t->connects; c < t->connects + t->connects_count; c++) {
		state = snapshot_transport(&totals->calls, c->server, c->protocol);
		if (!state)
			return -ENOMEM;
		if (begun && c->now > c->before)
			state->connects += c->now - c->before;
		c->before = c->now;
	}
	return 0;
}

/* Finds the transport that sysfs shows; NULL: it belongs to no NFS mount. The server's
 * port separates NFS from lockd and others, and from backchannels, which have no port. Up
 * to 6.0 the port is known for TCP only. */
static const struct transport *find_shown(const struct transports *t, const struct xprt_file *f)
{
	bool any = !f->info.has_port || (!f->info.port && strcmp(f->protocol, "tcp") != 0);

	for (const struct transport *k = t->list; k < t->list + t->count; k++)
		if (!strcmp(k->stats.protocol, f->protocol) &&
		    !strcmp(k->address, f->remote.address) && (any || f->info.port == k->port))
			return k;
	return NULL;
}

static int add_slots(const struct transports *t, struct snapshot *s, const struct xprt_file *f)
{
	const struct transport *shown = find_shown(t, f);
	struct rpc_transport_state *state;

	if (!shown)
		return 0;
	state = snapshot_transport(&s->calls, shown->server, shown->stats.protocol);
	if (!state)
		return -ENOMEM;
	state->alive = true;
	state->slots_max += f->info.slots_max;
	state->slots_allocated += f->info.slots_allocated;
	state->slots_in_flight += f->info.pending;
	return 0;
}

int transports_add_slots(const struct transports *t, const char *root, struct snapshot *s)
{
	struct xprt_list list = {};
	int err = xprt_files_read(&list, root, SIZE_MAX);

	for (size_t i = 0; i < list.count && !err; i++)
		err = add_slots(t, s, &list.files[i]);
	free(list.files);
	return err;
}
