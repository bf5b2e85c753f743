// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the agent sees of the node, again and again. */
#include "health/node.h"

#include "base/file_text.h"

#define LOOK_SECONDS 60.0
#define MOUNT_SECONDS 180.0

bool node_mounts_read_fstab(struct node_state *node, const char *path)
{
	FILE_TEXT fstab = {};

	if (file_text_read(&fstab, path, 1 << 20))
		return false;
	node_mounts_add_fstab(node, fstab.bytes, fstab.len);
	return true;
}

/* In a mount namespace of its own the agent would see another fstab. Where /etc is on a server, a later reading could wait for
 * it. */
static void read_fstabs(struct node_state *node, const char *root)
{
	static const char *const tables[] = { "/proc/1/root/etc/fstab", "/etc/fstab" };

	for (size_t i = 0; i < 2; i++)
		if (node_mounts_read_fstab(node, PATHF("%s%s", root, tables[i])))
			return;
}

static void wait_for_mounts(struct node_watch *w, double now)
{
	for (size_t i = 0; i < w->node.mount_count; i++) {
		struct node_mount *m = &w->node.mounts[i];
		bool same = i < w->before.mount_count && !strcmp(w->before.mounts[i].path, m->path);

		if (m->state == MOUNT_FINE)
			w->bad_since[i] = 0;
		else if (!same || !(w->bad_since[i] > 0))
			w->bad_since[i] = now;
		if (now < w->bad_since[i] + MOUNT_SECONDS)
			m->state = MOUNT_FINE;
	}
}

bool node_watch_look(struct node_watch *w, const char *root, double now)
{
	struct node_state seen = {};

	if (w->looked > 0 && now < w->looked + LOOK_SECONDS)
		return false;
	if (w->looked > 0) {
		memcpy(seen.mounts, w->before.mounts, sizeof(seen.mounts));
		seen.mount_count = w->before.mount_count;
	} else {
		read_fstabs(&seen, root);
	}
	w->looked = now;
	node_mounts_look(&seen, PATHF("%s/proc/1/mountinfo", root));
	pcie_links_read(&seen, root, true);
	pcie_gpus_read(&seen, &w->before, root);
	w->node = seen;
	w->node.unused_count = 0;
	for (size_t i = 0; i < seen.unused_count; i++)
		if (ARRAY_FIND(u, w->before.unused, w->before.unused_count,
			       !strcmp(*u, seen.unused[i])))
			memcpy(w->node.unused[w->node.unused_count++], seen.unused[i],
			       sizeof(seen.unused[i]));
	wait_for_mounts(w, now);
	w->before = seen;
	return true;
}
