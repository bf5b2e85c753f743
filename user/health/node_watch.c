// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the agent sees of the node, again and again. */
#include "health/node.h"

#include <sys/timex.h>

#include "base/clock.h"
#include "base/file_text.h"

#define LOOK_SECONDS 60.0
#define BOOT_SECONDS 300.0

/* Of looks after changes: a hundredth of a CPU, if there are thousands of mounts. */
#define MOUNTS_APART 100
#define MOUNTS_APART_NS 30000000000ull

void node_watch_free(struct node_watch *w)
{
	ARRAY_EACH(q, w->questions, NODE_MOUNTS_MAX)
		helper_free(&q->helper);
}

/* In a mount namespace of its own the agent would see another fstab. */
int node_watch_add_fstab(struct node_watch *w, const char *root)
{
	static const char *const tables[] = { "/proc/1/root/etc/fstab", "/etc/fstab" };
	int err = 0;

	for (size_t i = 0; i < 2 && err != -ETIMEDOUT; i++) {
		FILE_TEXT fstab = {};

		err = helper_read_file(&fstab, PATHF("%s%s", root, tables[i]), false);
		if (err)
			continue;
		node_mounts_add_fstab(&w->node, fstab.bytes, fstab.len);
		return 0;
	}
	return err == -ENOENT ? 0 : err;
}

static void wait_for_mounts(struct node_watch *w, double now)
{
	for (size_t i = 0; i < w->node.mount_count; i++) {
		struct node_mount *m = &w->node.mounts[i];

		w->was_fine[i] |= m->state == MOUNT_FINE;
		if (!w->was_fine[i] && now < BOOT_SECONDS)
			m->state = MOUNT_FINE;
	}
}

/* Those that had no driver in the reading before either. */
static void take_unused(struct node_watch *w, const struct node_state *seen)
{
	w->node.unused_count = 0;
	for (size_t i = 0; i < seen->unused_count; i++)
		if (ARRAY_FIND(u, w->before.unused, w->before.unused_count,
			       !strcmp(*u, seen->unused[i])))
			memcpy(w->node.unused[w->node.unused_count++], seen->unused[i],
			       sizeof(seen->unused[i]));
}

bool node_watch_look(struct node_watch *w, const char *root, double now, bool mounted)
{
	struct node_state seen;
	struct timex clock = {};
	uint64_t begin;

	w->mounted |= mounted && w->node.mount_count;
	if (w->looked > 0 && now < (w->mounted ? w->due : w->looked + LOOK_SECONDS))
		return false;
	w->looked = now;
	w->mounted = false;
	seen = (struct node_state){ .gpus_wanted = w->node.gpus_wanted,
				    .driver_expected = w->node.driver_expected,
				    .mount_count = w->node.mount_count,
				    .nfs_error_count = w->node.nfs_error_count };
	memcpy(seen.mounts, w->node.mounts, sizeof(seen.mounts));
	memcpy(seen.nfs_errors, w->node.nfs_errors, sizeof(seen.nfs_errors));
	begin = thread_cpu_ns();
	node_mounts_look(&seen, PATHF("%s/proc/1/mountinfo", root));
	w->due = now + (double)apart_ns(begin, MOUNTS_APART, 0, MOUNTS_APART_NS) / 1e9;
	pcie_links_read(&seen, root);
	pcie_links_count(&seen, &w->before, now);
	pcie_gpus_read(&seen, &w->before, root);
	seen.clock_unsynchronised = adjtimex(&clock) == TIME_ERROR || clock.status & STA_UNSYNC;
	w->node = seen;
	take_unused(w, &seen);
	wait_for_mounts(w, now);
	w->before = seen;
	return true;
}
