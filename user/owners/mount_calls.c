// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the calls of each client to series of mounts and of owners.
 *
 * Jobs and mounts come and go by the thousand, series must not: a metrics file and a Prometheus server have room for so
 * many. Therefore a mount or an owner has a series only while it is in use:
 *
 * - It keeps its series while it has called in the last hour, a mount also while it is mounted.
 * - If there are too many, the one that is idle for longest loses its series. If all have called in the last minute, the new
 *   one gets none: its calls count for "other" until there is room. So whoever scrapes each minute sees all calls.
 * - A series ends with its count. If the owner calls again, its series begins at 0, but not within a minute of its end: its
 *   calls count for "other" until then. Otherwise whoever scrapes each minute sees 5 calls, then 7, and takes them for 2 more.
 *
 * Invariant: each call counts for one mount and one owner, once, when it is first seen. The increases of all series
 * therefore add up to the server's increase over any time. The sums of their totals do not: ended series are gone.
 *
 * Why not move the total of an ended series to "other"? Its calls would count twice: once in the increase of the series,
 * and once in that of "other".
 *
 * Example with room for two owners, a snapshot each minute:
 *
 *   calls of     job 1   job 2   job 3      series
 *   minute 1     10      5                  1: 10, 2: 5
 *   minute 2     7       2       4          1: 17, 2: 7, other: 4
 *   minute 3     3               6          1: 20, 3: 6, other: 4 (2 was idle for longest)
 *   minute 4     1       8       1          1: 21, 3: 7, other: 12 */
#include "owners/mount_calls.h"

#include "base/clock.h"
#include "base/mountinfo.h"
#include "snapshot/table.h"

/* How often to look for the mounts of a client that is new, and after each change of mounts. */
#define LOOKS 2

struct seen_client {
	struct client_calls own; /* its sums are counted */
	struct client_calls *now; /* in the snapshot that is being made; NULL: it is not */
};

uint64_t client_id(uint32_t entry)
{
	return monotonic_ns() << 9 | (entry & 511);
}

void mount_calls_free(struct mount_calls_state *m)
{
	calls_free(&m->totals);
	calls_free(&m->ended);
	free(m->seen);
	*m = (struct mount_calls_state){ .max_owners = m->max_owners,
					 .owner_mounts = m->owner_mounts };
}

/* ---- the mount of each client ---- */

/* The node's own mount point names a folder before a volume, whose pods come and go, and that before where it is staged. */
static int rank_of(const char *mountpoint)
{
	return *mountpoint != '/' ? 1 : strstr(mountpoint, "/plugins/") ? 0 : 2;
}

void client_add_mount(struct client_mount *c, const struct nfs_mount *m)
{
	bool above = mount_leads_to(c->export, m->export);
	bool below = mount_leads_to(m->export, c->export);
	int better = rank_of(m->mountpoint) - rank_of(c->mountpoint);

	if (!c->known || (above && (c->common || !below))) {
		*c = (struct client_mount){ .known = true };
		memcpy(c->export, m->export, sizeof(c->export));
		memcpy(c->mountpoint, m->mountpoint, sizeof(c->mountpoint));
	} else if (!below) {
		while (*c->export && !mount_leads_to(m->export, c->export))
			*(strrchr(c->export, '/') ?: c->export) = 0;
		if (!*c->export)
			strcpy(c->export, "/");
		*c->mountpoint = 0;
		c->common = true;
	} else if (above && (better > 0 || (!better && *m->mountpoint != '/' &&
					    strcmp(c->mountpoint, m->mountpoint) != 0))) {
		snprintf(c->mountpoint, sizeof(c->mountpoint), "%s", better ? m->mountpoint : "");
	}
}

/* All mounts of a device are one superblock with one client. */
static void assign_device(struct mount_calls_state *m, const struct mount_list *mounts,
			  uint64_t device, uint32_t client)
{
	struct client_mount mount = {};

	/* There may be thousands of mounts: most have not called. */
	if (!ARRAY_FIND(c, m->seen, m->seen_count, c->now && c->own.client == client))
		return;
	ARRAY_EACH(p, mounts->places, mounts->place_count)
		if (p->device == device && p->row < mounts->seen.mount_count)
			client_add_mount(&mount, &mounts->seen.mounts[p->row]);
	ARRAY_EACH(c, m->seen, mount.known ? m->seen_count : 0)
		if (c->now && c->own.client == client)
			c->own.mount = mount;
}

/* Assigns @clients to the mounts, which are in the same order. If their numbers differ, a mount has come or gone meanwhile,
 * and none is assigned. */
static void assign_clients(struct mount_calls_state *m, const struct mount_list *mounts,
			   const uint32_t *clients, size_t count)
{
	const struct mount_place *place = mounts->places;
	size_t devices = 0;

	for (size_t i = 0; i < mounts->place_count; i++)
		devices += !i || place[i].device != place[i - 1].device;
	for (size_t i = 0; i < mounts->place_count && devices == count; i++)
		if (!i || place[i].device != place[i - 1].device)
			assign_device(m, mounts, place[i].device, *clients++);
	if (devices == count)
		m->looks = LOOKS;
}

/* Looks for the mounts of the clients, which takes some milliseconds. */
static void look_for_mounts(struct mount_calls_state *m, const struct mount_list *mounts)
{
	FREED uint32_t *clients = NULL;
	size_t count;
	int err = mount_clients_read(mounts->process, &clients, &count);

	if (!err)
		assign_clients(m, mounts, clients, count);
	else if (err != -ENOMEM && err != -EMFILE && err != -ENFILE && err != -E2BIG &&
		 err != -ENODEV) /* CPU 0 is offline */
		m->error = -err;
}

/* ---- series ---- */

/* The series of mounts, and of owners: rows of a table. */
static const struct kind {
	const struct table *table;
	size_t begin, end; /* of the labels that tell one mount or owner from another */
} kinds[] = {
	{ &tables[TABLE_MOUNT_CALLS], 0, offsetof(struct calls_by, owner) },
	{ &tables[TABLE_OWNER_CALLS], offsetof(struct calls_by, owner),
	  offsetof(struct calls_by, sums) },
};
#define MOUNTS (&kinds[0])
#define OWNERS (&kinds[1])

static struct calls_by *rows_of(const struct kind *k, const struct calls *c)
{
	return k == OWNERS ? c->owner_calls : c->mount_calls;
}

static bool is_mounted(const struct kind *k, const struct calls_by *row, const struct snapshot *s)
{
	return k == MOUNTS && CALLS_FIND(m, &s->calls, mount, row->server, calls_are_on(row, m));
}

/* Of the rows of the same mount or owner, which may have called several servers, the last that has called; NULL: none. */
static struct calls_by *find_last(const struct kind *k, const struct mount_calls_state *m,
				  const struct calls_by *like)
{
	struct calls_by *last = NULL;

	ARRAY_EACH(row, rows_of(k, &m->totals), table_count(k->table, &m->totals))
		if (!memcmp((const char *)row + k->begin, (const char *)like + k->begin,
			    k->end - k->begin) &&
		    (!last || row->called_ns > last->called_ns))
			last = row;
	return last;
}

/* Ends a series, and with it the calls of this owner, or on this mount. */
static void end_row(const struct kind *k, struct mount_calls_state *m, struct calls_by *row,
		    const struct snapshot *s)
{
	struct calls_by *ended = table_get_labels(k->table, &m->ended, row);
	struct calls *c = &m->totals;
	size_t kept = 0;

	ended->called_ns = s->time_ns;
	ARRAY_EACH(x, c->owner_mounts, c->owner_mount_count)
		if (strcmp(x->server, row->server) != 0 ||
		    memcmp((char *)x + k->begin, (char *)row + k->begin, k->end - k->begin) != 0)
			c->owner_mounts[kept++] = *x;
	c->owner_mount_count = kept;
	table_remove(k->table, c, row);
}

static const char *name_of(const struct kind *k, const struct calls_by *row)
{
	return k == OWNERS ? row->owner : *row->mountpoint ? row->mountpoint : row->export;
}

/* Whether it is "other" of a server that has others' rows: their calls may be its own at any time. */
static bool is_of_others(const struct kind *k, const struct mount_calls_state *m,
			 const struct calls_by *row)
{
	return !strcmp(name_of(k, row), LABEL_OTHER) &&
	       ARRAY_FIND(x, rows_of(k, &m->totals), table_count(k->table, &m->totals),
			  x != row && !strcmp(x->server, row->server));
}

/* Ends the series that are idle for too long, and lets those begin again that have ended for a minute. */
static void end_idle(const struct kind *k, struct mount_calls_state *m, const struct snapshot *s)
{
	while (table_count(k->table, &m->ended) &&
	       rows_of(k, &m->ended)->called_ns + SERIES_KEPT_NS(true) <= s->time_ns)
		table_remove(k->table, &m->ended, rows_of(k, &m->ended));
	for (size_t i = table_count(k->table, &m->totals); i--;) {
		struct calls_by *row = &rows_of(k, &m->totals)[i];

		if (row->called_ns + SERIES_KEPT_NS(false) > s->time_ns)
			continue;
		if (is_mounted(k, row, s) || is_of_others(k, m, row))
			row->called_ns = s->time_ns;
		else
			end_row(k, m, row, s);
	}
}

/* Makes room for one more mount or owner. False: all others have called in the last minute. */
static bool make_room(const struct kind *k, struct mount_calls_state *m, const struct snapshot *s)
{
	size_t used = 0, max = k == OWNERS ? m->max_owners : MOUNT_CALLS_MAX;
	struct calls_by *idle[2] = {}, *ends, like; /* not mounted, and mounted */

	ARRAY_EACH(row, rows_of(k, &m->totals), table_count(k->table, &m->totals)) {
		const char *name = name_of(k, row);
		bool mounted;

		if (!strcmp(name, LABEL_OTHER) || find_last(k, m, row) != row)
			continue;
		used++;
		if (row->called_ns + SERIES_KEPT_NS(true) > s->time_ns || !*name ||
		    !strcmp(name, OWNER_KERNEL))
			continue;
		mounted = is_mounted(k, row, s); /* among thousands */
		if (!idle[mounted] || row->called_ns < idle[mounted]->called_ns)
			idle[mounted] = row;
	}
	ends = idle[0] ?: idle[1];
	if (used < max || !ends)
		return used < max;
	like = *ends;
	while ((ends = find_last(k, m, &like)))
		end_row(k, m, ends, s);
	return true;
}

static void set_label(char *label, const char *text, bool other)
{
	memset(label, 0, LABEL_SIZE); /* see find_last() */
	snprintf(label, LABEL_SIZE, "%s", other ? LABEL_OTHER : text);
}

/* Sets the labels of this kind of a client's row. */
static void set_labels(const struct kind *k, struct calls_by *to, const struct client_calls *c,
		       bool other)
{
	set_label(to->server, c->server, false);
	if (k == OWNERS)
		return set_label(to->owner, c->owner, other);
	set_label(to->export, c->mount.export, other);
	set_label(to->mountpoint, c->mount.mountpoint, other);
}

/* Counts for its mount, or its owner, what a client has called. @mark: only marks its row, if there is one. *@full: there is no
 * room for more, at this snapshot. */
static void count_client(struct mount_calls_state *m, const struct kind *k,
			 const struct client_calls *c, bool mark, bool *full,
			 const struct snapshot *s)
{
	struct calls_by like = {}, *row;

	set_labels(k, &like, c, false);
	row = table_like(k->table, &m->totals, &like, 0);
	if (!row && mark)
		return;
	if (!row && (table_like(k->table, &m->ended, &like, 0) ||
		     (!find_last(k, m, &like) && (*full = *full || !make_room(k, m, s)))))
		set_labels(k, &like, c, true);
	row = row ?: table_get_labels(k->table, &m->totals, &like);
	row->called_ns = s->time_ns;
	if (!mark)
		rpc_sums_add(&row->sums, &c->sums);
	if (k == OWNERS)
		RAISE(row->oldest_ns, c->oldest_ns);
}

/* Counts for its owner on its mount what a client has called, after its rows have counted it. */
static void count_owner_mount(struct mount_calls_state *m, const struct client_calls *c)
{
	const struct table *t = &tables[TABLE_OWNER_MOUNTS];
	struct calls_by like = {}, *row;

	ARRAY_EACH(k, kinds, COUNT(kinds)) {
		struct calls_by own = {};

		set_labels(k, &own, c, false);
		set_labels(k, &like, c, !table_like(k->table, &m->totals, &own, 0));
	}
	row = table_like(t, &m->totals, &like, 0);
	if (!row && m->totals.owner_mount_count >= OWNER_MOUNTS_MAX)
		ARRAY_EACH(k, kinds, COUNT(kinds))
			set_labels(k, &like, c, true);
	row = row ?: table_get_labels(t, &m->totals, &like);
	rpc_sums_add(&row->sums, &c->sums);
}

/* Counts what clients have called. Rows of those that call are marked first: others make room, or end last. */
static void count_clients(struct mount_calls_state *m, const struct client_list *clients,
			  const struct snapshot *s)
{
	static const struct rpc_sums none;

	ARRAY_EACH(o, m->totals.owner_calls, m->totals.owner_call_count)
		o->oldest_ns = 0;
	ARRAY_EACH(k, kinds, COUNT(kinds)) {
		bool full = false;

		for (int mark = 1; mark >= 0; mark--)
			ARRAY_EACH(c, clients->list, clients->count)
				if ((k == OWNERS ? *c->owner : !c->oldest_ns) &&
				    (c->oldest_ns || memcmp(&c->sums, &none, sizeof(none)) != 0))
					count_client(m, k, c, mark, &full, s);
		end_idle(k, m, s);
	}
	ARRAY_EACH(c, clients->list, clients->count)
		if (*c->owner && memcmp(&c->sums, &none, sizeof(none)) != 0 &&
		    (m->owner_mounts ||
		     memcmp(c->sums.errors, none.errors, sizeof(none.errors)) != 0))
			count_owner_mount(m, c);
}

/* ---- clients ---- */

/* Finds or adds the clients. Returns whether a mount must be looked for. */
static bool see_clients(struct mount_calls_state *m, struct client_list *clients, bool changed)
{
	struct seen_client *seen, *other;
	bool wanted = false;

	m->looks = changed ? 0 : m->looks;
	/* A snapshot without memory has left them. */
	ARRAY_EACH(s, m->seen, m->seen_count)
		s->now = NULL;
	ARRAY_EACH(c, clients->list, clients->count) {
		if (c->oldest_ns)
			continue;
		seen = ARRAY_FIND(x, m->seen, m->seen_count, x->own.id == c->id);
		if (!seen) {
			seen = ARRAY_APPEND(m->seen, m->seen_count);
			seen->own = *c;
			seen->own.sums = (struct rpc_sums){};
			/* If another owner of the client is known, so is the client's mount. */
			other = ARRAY_FIND(x, m->seen, m->seen_count,
					   x != seen && x->own.client_id == c->client_id);
			if (other)
				seen->own.mount = other->own.mount;
			else
				m->looks = 0;
		}
		seen->now = c;
		if (c->mount.known)
			seen->own.mount = c->mount;
		wanted |= !c->mount.known;
	}
	return wanted && m->looks++ < LOOKS;
}

/* Leaves of the clients' figures only what they have grown by, and sets their mounts. Forgets clients that are gone. */
static void take_growth(struct mount_calls_state *m)
{
	struct rpc_sums sums;
	size_t kept = 0;

	ARRAY_EACH(c, m->seen, m->seen_count) {
		if (!c->now)
			continue;
		sums = c->now->sums;
		rpc_sums_subtract(&c->now->sums, &c->own.sums);
		c->own.sums = sums;
		c->now->mount = c->own.mount;
		c->now = NULL;
		m->seen[kept++] = *c;
	}
	m->seen_count = kept;
}

void mount_calls_add(struct mount_calls_state *m, struct client_list *clients,
		     const struct mount_list *mounts, struct snapshot *s)
{
	uint64_t failed = memory_failed();

	if (see_clients(m, clients, mounts->changed) && !m->error)
		look_for_mounts(m, mounts);
	/* All that a client has called would count again as its growth. */
	if (memory_error(failed))
		return;
	take_growth(m);
	if (m->error)
		s->calls.unknown |= RPC_FACT_BIT(RPC_FACT_MOUNTS);
	ARRAY_EACH(e, s->calls.errors, s->calls.error_count) {
		const struct client_calls *c =
			e->client ? mount_calls_client(m, e->client - 1) : NULL;

		snprintf(e->mountpoint, sizeof(e->mountpoint), "%s", c ? c->mount.mountpoint : "");
	}
	count_clients(m, clients, s);
	calls_copy(&s->calls, &m->totals, TABLE_MOUNT_CALLS);
}

const struct client_calls *mount_calls_client(const struct mount_calls_state *m, uint32_t client)
{
	for (size_t i = m->seen_count; i--;)
		if (m->seen[i].own.client == client)
			return &m->seen[i].own;
	return NULL;
}
