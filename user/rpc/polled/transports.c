// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of the NFS mounts, as mountstats and sysfs show them. */

#include "rpc/polled/polled.h"

/* Mounts share a transport if they have one address and port of the server, one version, and one place among the
 * transports of their client (nfs_match_client() in fs/nfs/client.c). The local port, where mountstats has one, tells
 * apart what is alike: connections of other network namespaces, or with TLS. It may change when the transport
 * connects again. */
struct transport {
	char address[RPC_ADDRESS_LEN];
	uint32_t port; /* the server's */
	char version[16];
	size_t index;
	char protocol[RPC_PROTO_LEN];
	uint32_t local_port;
	char server[LABEL_SIZE]; /* of the first mount that shows it */
	bool there; /* found in this poll */
	uint64_t before, connects; /* at the last poll, 0: there was none, and at this one */
};

void transports_clear(struct transports *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->list[i].there = false;
}

/* The entry of @wanted: one with its local port, else one of an earlier poll. NULL: it is new. */
static struct transport *find_transport(const struct transports *t, const struct transport *wanted)
{
	struct transport *other = NULL;

	ARRAY_EACH(k, t->list, t->count) {
		if (k->index != wanted->index || k->port != wanted->port ||
		    strcmp(k->address, wanted->address) != 0 ||
		    strcmp(k->protocol, wanted->protocol) != 0 ||
		    strcmp(k->version, wanted->version) != 0)
			continue;
		if (k->local_port == wanted->local_port)
			return k;
		if (!k->there && !other)
			other = k;
	}
	return other;
}

static int add_transport(struct transports *t, const struct transport *now)
{
	struct transport *k = find_transport(t, now);
	uint64_t before = k ? k->before : 0;

	if (k && k->there)
		return 0; /* another mount has shown it */
	if (!k)
		k = ARRAY_APPEND(t->list, t->count);
	if (!k)
		return -ENOMEM;
	*k = *now;
	k->before = before;
	return 0;
}

int transports_add(struct transports *t, const struct mountstats_mount *mount,
		   const struct nfs_mount *info)
{
	struct transport now = { .port = info->remote.port, .there = true };
	int err = 0;

	snprintf(now.server, sizeof(now.server), "%s", mount->server);
	snprintf(now.address, sizeof(now.address), "%s", info->remote.address);
	memcpy(now.version, info->version, sizeof(now.version));
	for (size_t i = 0; i < mount->transport_count && !err; i++) {
		const struct mountstats_transport *stats = &mount->transports[i];

		now.index = i;
		now.local_port = stats->port;
		now.connects = stats->connects;
		memcpy(now.protocol, stats->protocol, sizeof(now.protocol));
		err = add_transport(t, &now);
	}
	return err;
}

int transports_count_connects(struct transports *t, struct snapshot *totals, bool begun)
{
	struct rpc_transport_state *state;
	size_t kept = 0;

	ARRAY_EACH(k, t->list, t->count) {
		if (!k->there)
			continue; /* it has ended */
		state = snapshot_transport(&totals->calls, k->server, k->protocol);
		if (!state)
			return -ENOMEM;
		/* A count that has fallen is that of a new transport, which has begun at 0. */
		if (begun)
			state->connects += k->connects - (k->connects < k->before ? 0 : k->before);
		k->before = k->connects;
		t->list[kept++] = *k;
	}
	t->count = kept;
	return 0;
}

/* The transport of @t that sysfs shows; NULL: it belongs to no NFS mount. The server's port separates NFS from lockd
 * and others, and from backchannels, which have no port. Up to 6.0 the port is known for TCP only. */
static const struct transport *find_at(const struct transports *t, const struct xprt_file *f)
{
	bool any = !f->has_port || (!f->remote.port && strcmp(f->protocol, "tcp") != 0);

	return ARRAY_FIND(k, t->list, t->count,
			  !strcmp(k->protocol, f->protocol) &&
				  !strcmp(k->address, f->remote.address) &&
				  (any || f->remote.port == k->port));
}

/* The same for one that is known by another of its client's: by max_connect they have several addresses. */
static const struct transport *find_shown(const struct transports *t, const struct xprt_list *list,
					  const struct xprt_file *f)
{
	const struct transport *found = find_at(t, f);

	for (const struct xprt_file *g = list->files; !found && g < list->files + list->count; g++)
		if (g->switch_number == f->switch_number)
			found = find_at(t, g);
	return found;
}

static int add_slots(const struct transports *t, struct snapshot *s, const struct xprt_list *list,
		     const struct xprt_file *f)
{
	const struct transport *shown = find_shown(t, list, f);
	struct rpc_transport_state *state;

	if (!shown)
		return 0;
	state = snapshot_transport(&s->calls, shown->server, shown->protocol);
	if (!state)
		return -ENOMEM;
	state->alive = true;
	state->slots_max += f->slots_max;
	state->slots_allocated += f->slots_allocated;
	state->slots_in_flight += f->pending;
	return 0;
}

int transports_add_slots(const struct transports *t, const char *root, struct snapshot *s)
{
	struct xprt_list list = {};
	int err = xprt_files_read(&list, root);

	for (size_t i = 0; i < list.count && !err; i++)
		err = add_slots(t, s, &list, &list.files[i]);
	free(list.files);
	return err;
}
