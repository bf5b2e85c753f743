// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The NFS mounts of process 1. */
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/mountinfo.h"
#include "owners/mount_calls.h"
#include "rpc/polled/polled.h"

#define FILE_MAX (64 << 20)

static void forget_mounts(struct nfs_mounts *m)
{
	calls_free(&m->list.seen);
	free(m->list.places);
	m->list.places = NULL;
	m->list.place_count = 0;
	m->left_out = 0;
}

static void close_changes(struct nfs_mounts *m)
{
	file_close(&m->changes);
	m->changes = -1;
}

void nfs_mounts_free(struct nfs_mounts *m)
{
	forget_mounts(m);
	close_changes(m);
}

/* Kept open: the kernel reports changes since the last poll of a descriptor. */
static bool open_changes(struct nfs_mounts *m, const char *root)
{
	static const char *const processes[] = { "1", "self" };

	for (size_t i = 0; i < 2 && m->changes < 0; i++) {
		snprintf(m->list.process, sizeof(m->list.process), "%s/proc/%s", root,
			 processes[i]);
		m->changes = open(PATHF("%s/mountinfo", m->list.process), O_RDONLY | O_CLOEXEC);
	}
	return m->changes >= 0;
}

/* The devices of the mounts of one network namespace, sorted. */
struct volumes {
	bool known; /* they could be read */
	uint64_t *devices;
	size_t count;
};

static int compare_devices(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void read_volumes(struct volumes *v, const char *process)
{
	FILE_TEXT file = {};
	uint64_t device;
	struct span text;

	if (file_text_read(&file, PATHF("%s/net/nfsfs/volumes", process), FILE_MAX))
		return;
	v->known = true;
	text = file_text_span(&file);
	while (nfs_volumes_next(&text, &device))
		*ARRAY_APPEND(v->devices, v->count) = device;
	if (v->count)
		qsort(v->devices, v->count, sizeof(device), compare_devices);
}

static void add_mount(struct nfs_mounts *m, struct nfs_mount *mount, const struct volumes *volumes)
{
	struct mount_place *place = ARRAY_APPEND(m->list.places, m->list.place_count);
	struct nfs_mount *row;

	*place = (struct mount_place){ mount->device, SIZE_MAX };
	/* A part of a volume that is mounted already, as a pod's subPath. */
	row = ARRAY_FIND(x, m->list.seen.mounts, m->list.seen.mount_count,
			 x->device == mount->device && *x->mountpoint != '/' &&
				 !strcmp(x->mountpoint, mount->mountpoint) &&
				 mount_leads_to(mount->export, x->export));
	if (!row && m->list.seen.mount_count == NFS_MOUNTS_READ) {
		m->left_out++;
		return;
	}
	mount->elsewhere =
		volumes->known &&
		!(volumes->count && bsearch(&mount->device, volumes->devices, volumes->count,
					    sizeof(mount->device), compare_devices));
	row = row ?: snapshot_mount(&m->list.seen, mount);
	place->row = (size_t)(row - m->list.seen.mounts);
}

static int read_mounts(struct nfs_mounts *m)
{
	FILE_TEXT file = {};
	struct volumes volumes = {};
	struct nfs_mount mount;
	struct span text;
	uint64_t failed = memory_failed();
	int err = file_text_read(&file, PATHF("%s/mountinfo", m->list.process), FILE_MAX);

	if (err)
		return err;
	forget_mounts(m);
	read_volumes(&volumes, m->list.process);
	text = file_text_span(&file);
	while (mountinfo_next(&text, &mount))
		add_mount(m, &mount, &volumes);
	free(volumes.devices);
	return memory_error(failed);
}

/* Whether @server is @name, an '@' and the number of a network namespace. */
static bool is_numbered(const char *server, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(server, name, len) && server[len] == '@' && server[len + 1] &&
	       !server[len + 1 + strspn(server + len + 1, "0123456789")];
}

/* Calls of other network namespaces, and to servers whose names have an '@', are under a name with a number. Returns the only
 * such name; NULL: there is none. */
static const char *numbered_name(const struct snapshot *s, const struct nfs_mount *mount)
{
	const char *found = NULL;

	if (!mount->elsewhere && !strchr(mount->server, '@'))
		return NULL;
	ARRAY_EACH(t, s->calls.transports, s->calls.transport_count) {
		if (!t->alive || !is_numbered(t->server, mount->server))
			continue;
		if (found && strcmp(found, t->server) != 0)
			return NULL;
		found = t->server;
	}
	return found;
}

static void copy_mount(const struct nfs_mount *seen, struct snapshot *s)
{
	const char *name = numbered_name(s, seen);
	struct nfs_mount named = *seen;

	if (name)
		snprintf(named.server, sizeof(named.server), "%s", name);
	/* Others cannot be there already. */
	if (strchr(named.server, '@'))
		snapshot_mount(&s->calls, &named);
	else
		*ARRAY_APPEND(s->calls.mounts, s->calls.mount_count) = named;
}

void nfs_mounts_add(struct nfs_mounts *m, const char *root, struct snapshot *s)
{
	bool first = m->changes < 0;
	uint64_t begin = thread_cpu_ns();

	if (!open_changes(m, root))
		return;
	m->changed |= first || mounts_changed(m->changes);
	m->list.changed = m->changed && (first || s->time_ns >= m->due_ns);
	m->changed &= !m->list.changed;
	m->version += m->list.changed;
	/* Then the next snapshot reads it. With hidepid, process 1 may be hidden after capabilities were given up. */
	if (m->list.changed && read_mounts(m))
		close_changes(m);
	if (m->list.changed && m->list.place_count > NFS_MOUNTS_MAX)
		m->due_ns = s->time_ns + apart_ns(begin, NFS_MOUNTS_APART, 0, NFS_MOUNTS_APART_NS);
	ARRAY_EACH(seen, m->list.seen.mounts, m->list.seen.mount_count)
		copy_mount(seen, s);
	s->calls.mounts_version = m->version;
	s->calls.left_out_entries += m->left_out;
}

/* ---- the mounts that are shown ---- */

/* A server hangs if a call has waited for so long. */
#define MOUNT_HUNG_NS 10000000000ull

/* When the mount was last in use; a mount of a server that hangs: now. */
static uint64_t used_at(const struct snapshot *s, const struct nfs_mount *m)
{
	const struct calls_by *called =
		CALLS_FIND(c, &s->calls, mount_call, m->server, calls_are_on(c, m));
	const struct rpc_server_state *v = CALLS_FIND(x, &s->calls, server, m->server, true);

	for (int q = 0; v && q < RPC_QUEUES; q++)
		if (v->oldest_ns[q] >= MOUNT_HUNG_NS)
			return UINT64_MAX;
	return called ? called->called_ns : 0;
}

static int later_first(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)b, *(const uint64_t *)a);
}

void nfs_mounts_limit(struct snapshot *s)
{
	struct calls *c = &s->calls;
	size_t count = c->mount_count, above = 0, equal;
	uint64_t *used, *sorted, least;

	used = count > NFS_MOUNTS_MAX ? malloc(2 * count * sizeof(*used)) : NULL;
	if (!used)
		return;
	sorted = used + count;
	for (size_t i = 0; i < count; i++)
		used[i] = sorted[i] = used_at(s, &c->mounts[i]);
	qsort(sorted, count, sizeof(*sorted), later_first);
	least = sorted[NFS_MOUNTS_MAX - 1];
	while (sorted[above] > least)
		above++;
	equal = NFS_MOUNTS_MAX - above; /* of those that were used last at @least, the first ones */
	c->mount_count = 0;
	for (size_t i = 0; i < count; i++)
		if (used[i] > least || (used[i] == least && equal && equal--))
			c->mounts[c->mount_count++] = c->mounts[i];
	c->left_out_entries += count - c->mount_count;
	free(used);
}
