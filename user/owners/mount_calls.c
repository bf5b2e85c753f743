// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the calls of each client to the calls of each mount and each owner. */
#include "owners/mount_calls.h"

#include "base/array.h"
#include "base/clock.h"

/* How often to look for the mount of a client. Mounting makes calls before the mount exists; then the mounts change. */
#define LOOKS 2

struct seen_client {
	struct client_calls own; /* its sums are in the totals */
	const struct client_calls
		*now; /* in the snapshot that is being made; NULL: the client is not in it */
	bool active; /* it has called since the last snapshot */
	unsigned int looks; /* how often its mount was not found */
};

uint64_t client_id(uint32_t entry)
{
	return monotonic_ns() << 9 | (entry & 511);
}

void mount_calls_free(struct mount_calls_state *m)
{
	calls_free(&m->totals);
	free(m->seen);
	*m = (struct mount_calls_state){};
}

/* ---- the mount of each client ---- */

static void set_mount(struct client_calls *c, const char *export, const char *mountpoint)
{
	c->known = true;
	snprintf(c->export, sizeof(c->export), "%s", export);
	snprintf(c->mountpoint, sizeof(c->mountpoint), "%s", mountpoint);
}

/* All mounts of a device are one superblock with one client. The client gets the first mount point. */
static void assign_device(struct mount_calls_state *m, const struct calls *mounts, uint64_t device,
			  uint32_t client)
{
	const struct nfs_mount *first =
		ARRAY_FIND(x, mounts->mounts, mounts->mount_count, x->device == device);

	for (struct seen_client *c = m->seen; c < m->seen + m->seen_count && first; c++)
		if (c->now && c->own.client == client)
			set_mount(&c->own, first->export, first->mountpoint);
}

/* Assigns @clients to the mounts, which are in the same order. If their numbers differ, a mount has come or gone meanwhile,
 * and none is assigned. */
static void assign_clients(struct mount_calls_state *m, const struct mount_list *mounts,
			   const uint32_t *clients, size_t count)
{
	const uint64_t *device = mounts->devices;
	size_t devices = 0;

	for (size_t i = 0; i < mounts->device_count; i++)
		devices += !i || device[i] != device[i - 1];
	for (size_t i = 0; i < mounts->device_count && devices == count; i++) {
		if (i && device[i] == device[i - 1])
			continue;
		assign_device(m, mounts->seen, device[i], *clients++);
	}
	for (struct seen_client *c = m->seen; c < m->seen + m->seen_count && devices == count; c++)
		c->looks = LOOKS;
}

/* Looks for the mounts of the clients, which takes some milliseconds. */
static void look_for_mounts(struct mount_calls_state *m, const struct mount_list *mounts)
{
	uint32_t *clients;
	size_t count;
	int err;

	if (m->error)
		return;
	err = mount_clients_read(mounts->process, &clients, &count);
	if (!err)
		assign_clients(m, mounts, clients, count);
	else if (err != -ENOMEM && err != -EMFILE && err != -ENFILE && err != -E2BIG)
		m->error = -err;
	free(clients);
}

/* ---- the totals ---- */

static bool is_mounted(const struct snapshot *s, const struct mount_calls *c)
{
	return !*c->mountpoint || !strcmp(c->mountpoint, LABEL_OTHER) ||
	       ARRAY_FIND(m, s->calls.mounts, s->calls.mount_count,
			  !strcmp(m->mountpoint, c->mountpoint) && !strcmp(m->server, c->server));
}

/* Makes room for one more mount: merges a mount that has ended into its server's "other". False: no mount has ended. */
static bool make_room(struct calls *totals, const struct snapshot *s)
{
	struct mount_calls *other,
		*ended = ARRAY_FIND(c, totals->mount_calls, totals->mount_calls_count,
				    !is_mounted(s, c));
	char server[LABEL_SIZE];
	size_t place;

	if (!ended)
		return false;
	place = (size_t)(ended - totals->mount_calls);
	memcpy(server, ended->server, sizeof(server)); /* the array may move */
	other = snapshot_mount_calls(totals, server, LABEL_OTHER, LABEL_OTHER);
	if (!other)
		return false;
	ended = totals->mount_calls + place;
	rpc_sums_add(&other->sums, &ended->sums);
	totals->mount_calls_count--;
	memmove(ended, ended + 1, (totals->mount_calls_count - place) * sizeof(*ended));
	return true;
}

/* The totals of a mount; NULL: no memory. */
static struct mount_calls *totals_of(struct mount_calls_state *m, const struct snapshot *s,
				     const char *server, const struct client_calls *c)
{
	size_t before = m->totals.mount_calls_count;
	struct mount_calls *t = snapshot_mount_calls(&m->totals, server, c->export, c->mountpoint);

	if (!t || m->totals.mount_calls_count == before || before < MOUNT_CALLS_MAX || !c->known)
		return t;
	m->totals.mount_calls_count--;
	return make_room(&m->totals, s) ?
		       snapshot_mount_calls(&m->totals, server, c->export, c->mountpoint) :
		       snapshot_mount_calls(&m->totals, server, LABEL_OTHER, LABEL_OTHER);
}

/* Returns the number of owners in the totals. *@idle: the place of an owner that does not call; if all call: the number
 * of places. */
static size_t count_owners(const struct mount_calls_state *m, size_t *idle)
{
	const struct owner_calls *o = m->totals.owner_calls;
	size_t owners = 0, count = m->totals.owner_calls_count;

	*idle = count;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(o[i].owner, LABEL_OTHER) ||
		    ARRAY_FIND(x, o, i, !strcmp(x->owner, o[i].owner)))
			continue;
		owners++;
		if (*idle == count && strcmp(o[i].owner, OWNER_KERNEL) != 0 &&
		    !ARRAY_FIND(c, m->seen, m->seen_count,
				c->now && c->active && !strcmp(c->own.owner, o[i].owner)))
			*idle = i;
	}
	return owners;
}

/* Merges the owner at @place into "other", for each server. False: no memory. */
static bool merge_owner(struct calls *totals, size_t place)
{
	const struct owner_calls like = totals->owner_calls[place];
	struct owner_calls *o, *other;
	char server[LABEL_SIZE];

	for (size_t i = place; i < totals->owner_calls_count; i++) {
		if (strcmp(totals->owner_calls[i].owner, like.owner) != 0)
			continue;
		memcpy(server, totals->owner_calls[i].server,
		       sizeof(server)); /* the array may move */
		other = snapshot_owner_calls(totals, server, LABEL_OTHER);
		if (!other)
			return false;
		o = &totals->owner_calls[i];
		rpc_sums_add(&other->sums, &o->sums);
		totals->owner_calls_count--;
		memmove(o, o + 1, (totals->owner_calls_count - i--) * sizeof(*o));
	}
	return true;
}

static bool has_owner(const struct calls *totals, const char *owner)
{
	for (size_t i = 0; i < totals->owner_calls_count; i++)
		if (!strcmp(totals->owner_calls[i].owner, owner))
			return true;
	return false;
}

/* The totals of an owner at a server; NULL: no memory. */
static struct owner_calls *owner_totals(struct mount_calls_state *m, const char *server,
					const char *owner)
{
	size_t idle;

	if (!has_owner(&m->totals, owner) && count_owners(m, &idle) >= m->max_owners) {
		if (idle == m->totals.owner_calls_count)
			owner = LABEL_OTHER;
		else if (!merge_owner(&m->totals, idle))
			return NULL;
	}
	return snapshot_owner_calls(&m->totals, server, owner);
}

/* If another owner of the client is known, so is the client's mount. */
static void learn_mount(const struct mount_calls_state *m, struct seen_client *seen)
{
	ARRAY_EACH(c, m->seen, m->seen_count) {
		if (c == seen || c->own.client_id != seen->own.client_id)
			continue;
		seen->looks = c->looks;
		if (c->own.known)
			set_mount(&seen->own, c->own.export, c->own.mountpoint);
	}
}

/* Finds or adds the clients. Returns whether a mount must be looked for, or -ENOMEM. */
static int see_clients(struct mount_calls_state *m, const struct client_list *clients, bool changed)
{
	struct seen_client *seen;
	int wanted = 0;

	ARRAY_EACH(c, clients->list, clients->count) {
		if (c->oldest_ns)
			continue;
		seen = ARRAY_FIND(x, m->seen, m->seen_count, x->own.id == c->id);
		if (!seen) {
			seen = ARRAY_APPEND(m->seen, m->seen_count);
			if (!seen)
				return -ENOMEM;
			seen->own = *c;
			seen->own.sums = (struct rpc_sums){};
			if (!c->known)
				learn_mount(m, seen);
		}
		seen->now = c;
		seen->active = rpc_sums_calls(&c->sums) != rpc_sums_calls(&seen->own.sums);
		wanted |= !seen->own.known && (changed || seen->looks++ < LOOKS);
	}
	return wanted;
}

/* Adds what the client has counted since the last time to the totals. */
static int count_client(struct mount_calls_state *m, struct seen_client *c,
			const struct snapshot *s)
{
	struct mount_calls *totals = totals_of(m, s, c->now->server, &c->own);
	struct owner_calls *owner;
	struct rpc_sums since = c->now->sums;

	rpc_sums_subtract(&since, &c->own.sums);
	if (!totals)
		return -ENOMEM;
	rpc_sums_add(&totals->sums, &since);
	if (*c->own.owner) {
		owner = owner_totals(m, c->now->server, c->own.owner);
		if (!owner)
			return -ENOMEM;
		rpc_sums_add(&owner->sums, &since);
	}
	c->own.sums = c->now->sums;
	return 0;
}

/* Forgets the clients that were not in the snapshot. @all: keeps all, because the snapshot was not complete. */
static void end_snapshot(struct mount_calls_state *m, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->seen_count; i++)
		if (all || m->seen[i].now) {
			m->seen[kept] = m->seen[i];
			m->seen[kept++].now = NULL;
		}
	m->seen_count = kept;
}

/* Shows the age of an owner's oldest call. */
static int show_oldest(struct mount_calls_state *m, const struct client_calls *c,
		       struct snapshot *s)
{
	const struct owner_calls *totals;
	struct owner_calls *o;

	if (!c->oldest_ns)
		return 0;
	totals = owner_totals(m, c->server, c->owner);
	o = totals ? snapshot_owner_calls(&s->calls, c->server, totals->owner) : NULL;
	if (!o)
		return -ENOMEM;
	RAISE(o->oldest_ns, c->oldest_ns);
	return 0;
}

int mount_calls_add(struct mount_calls_state *m, const struct client_list *clients,
		    const struct mount_list *mounts, struct snapshot *s)
{
	int err = see_clients(m, clients, mounts->changed);
	bool all = err < 0;

	if (err > 0)
		look_for_mounts(m, mounts);
	for (struct seen_client *c = m->seen; c < m->seen + m->seen_count && err >= 0; c++)
		if (c->now)
			err = count_client(m, c, s);
	end_snapshot(m, all);
	if (m->error)
		s->calls.unknown |= RPC_FACT_BIT(RPC_FACT_MOUNTS);
	if (err >= 0)
		err = calls_add(&s->calls, &m->totals);
	for (size_t i = 0; i < clients->count && err >= 0; i++)
		err = show_oldest(m, &clients->list[i], s);
	return err < 0 ? err : 0;
}

const char *mount_calls_point(const struct mount_calls_state *m, uint32_t client)
{
	for (size_t i = m->seen_count; i--;)
		if (m->seen[i].own.client == client && m->seen[i].own.known)
			return m->seen[i].own.mountpoint;
	return NULL;
}
