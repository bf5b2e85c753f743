// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The NFS mounts of process 1. */
#include "rpc/nfs_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file_text.h"
#include "rpc/mountstats_text.h"

#define FILE_MAX (64 << 20)

void nfs_mounts_init(struct nfs_mounts *m)
{
	*m = (struct nfs_mounts){ .changes = -1 };
}

static void forget(struct nfs_mounts *m)
{
	snapshot_free(&m->seen);
	m->left_out = 0;
}

static void close_changes(struct nfs_mounts *m)
{
	if (m->changes >= 0)
		close(m->changes);
	m->changes = -1;
}

void nfs_mounts_free(struct nfs_mounts *m)
{
	forget(m);
	close_changes(m);
}

/* Kept open: the kernel reports changes since the last poll of a descriptor. */
static bool open_changes(struct nfs_mounts *m, const char *root)
{
	static const char *const processes[] = { "1", "self" };

	for (size_t i = 0; i < 2 && m->changes < 0; i++) {
		snprintf(m->path, sizeof(m->path), "%s/proc/%s/mountinfo", root, processes[i]);
		m->changes = open(m->path, O_RDONLY | O_CLOEXEC);
	}
	return m->changes >= 0;
}

static int add(struct nfs_mounts *m, const struct mountinfo_mount *info)
{
	struct nfs_mount mount = {};

	if (m->seen.mount_count == NFS_MOUNTS_MAX) {
		m->left_out++;
		return 0;
	}
	snprintf(mount.server, sizeof(mount.server), "%s", info->server);
	snprintf(mount.remote.address, sizeof(mount.remote.address), "%s", info->address);
	mount.remote.port = info->port;
	mount.kerberos = info->kerberos;
	mount.device = info->device;
	mount_label(mount.export, sizeof(mount.export), info->export);
	mount_label(mount.mountpoint, sizeof(mount.mountpoint), info->point);
	mount_label(mount.version, sizeof(mount.version), info->version);
	return snapshot_mount(&m->seen, &mount) ? 0 : -ENOMEM;
}

static int read_mounts(struct nfs_mounts *m)
{
	struct mountinfo_mount info;
	struct file_text file;
	struct span text;
	int err = file_text_read(&file, m->path, FILE_MAX);

	if (err)
		return err;
	forget(m);
	text = (struct span){ file.bytes, file.bytes + file.len };
	while (!err && mountinfo_next(&text, &info))
		err = add(m, &info);
	file_text_free(&file);
	return err;
}

int nfs_mounts_add(struct nfs_mounts *m, const char *root, struct snapshot *s)
{
	struct pollfd changes = { .events = POLLPRI };
	bool first = m->changes < 0;
	int err = 0;

	if (!open_changes(m, root))
		return 0;
	changes.fd = m->changes;
	if (first || (poll(&changes, 1, 0) > 0 && changes.revents & (POLLPRI | POLLERR)))
		err = read_mounts(m);
	/* Then the next snapshot reads it. With hidepid, process 1 may be hidden after
	 * capabilities were given up. */
	if (err)
		close_changes(m);
	for (size_t i = 0; i < m->seen.mount_count && err != -ENOMEM; i++)
		if (!snapshot_mount(s, &m->seen.mounts[i]))
			err = -ENOMEM;
	s->folded_entries += m->left_out;
	return err == -ENOMEM ? err : 0;
}
