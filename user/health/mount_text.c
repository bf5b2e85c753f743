// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What texts of the system say of mounts. */
#include "health/node.h"

/* ---- which mounts there are to be ---- */

/* Whether @options, separated by commas, have this one. */
static bool has_option(struct span options, const char *name)
{
	while (span_left(options)) {
		if (span_is(span_take_until(&options, ","), name))
			return true;
		span_take(&options, ",");
	}
	return false;
}

/* Adds a mount, with its path as in mountinfo: without double and final slashes. */
static void add_mount(struct node_state *node, const char *path, bool read_only, bool helpers)
{
	struct node_mount *m, new = { .read_only = read_only, .helpers = helpers };
	size_t used = 0;

	for (; *path; path++) {
		if (*path == '/' && (path[1] == '/' || (!path[1] && used)))
			continue;
		if (used + 1 == sizeof(new.path))
			return;
		new.path[used++] = *path;
	}
	m = ARRAY_FIND(x, node->mounts, node->mount_count, !strcmp(x->path, new.path));
	if (m) {
		m->read_only |= read_only;
		m->helpers &= helpers;
	} else if (node->mount_count < NODE_MOUNTS_MAX) {
		node->mounts[node->mount_count++] = new;
	} else {
		node->mounts_left_out++;
	}
}

void node_mounts_add(struct node_state *node, const char *path)
{
	size_t len = strlen(path);
	bool read_only = len > 3 && !strcmp(path + len - 3, ",ro");
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)(read_only ? len - 3 : len), path);
	add_mount(node, name, read_only, false);
}

/* The kernel's types, and those of helpers (mount.efs, mount.aznfs) that make mounts of these. */
static bool is_nfs(struct span type)
{
	static const char *const types[] = { "nfs", "nfs4", "efs", "aznfs" };

	return ARRAY_FIND(t, types, COUNT(types), span_is(type, *t));
}

void node_mounts_add_fstab(struct node_state *node, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line, source, path, type, options;
	char name[LABEL_SIZE];

	while (span_next_line(&rest, &line)) {
		source = span_take_word(&line);
		path = span_take_word(&line);
		type = span_take_word(&line);
		options = span_take_word(&line);
		if (span_starts_with(source, "#") ||
		    (!is_nfs(type) && !memchr(source.at, ':', span_left(source))))
			continue;
		if (!has_option(options, "noauto") && !has_option(options, "x-systemd.automount") &&
		    mount_path(name, sizeof(name), path))
			add_mount(node, name, has_option(options, "ro"), !is_nfs(type));
	}
}

/* ---- what the kernel knows ---- */

/* Whether it is a file system that a user has mounted: whoever may write to a folder can mount one over it (fusermount3(1)). */
static bool is_users(struct span type, struct span super)
{
	while (span_starts_with(type, "fuse") && span_left(super)) {
		struct span option = span_take_until(&super, ",");

		if (span_take(&option, "user_id="))
			return !span_is(option, "0");
		span_take(&super, ",");
	}
	return false;
}

/* The mount at this path, which a later one may cover. */
static void look_at_own(struct node_mount *mount, const struct mountinfo_line *m)
{
	mount->state = MOUNT_FINE;
	mount->device[0] = 0;
	/* What is mounted on demand is not asked for here. */
	if (span_is(m->type, "autofs") || (mount->helpers && !is_nfs(m->type)))
		return;
	if (!mount->read_only &&
	    (has_option(m->options, "ro") || has_option(m->super_options, "ro")))
		mount->state = MOUNT_READ_ONLY;
	else
		span_copy(m->device, mount->device, sizeof(mount->device));
}

void node_mount_look(struct node_mount *mount, const struct mountinfo_line *m)
{
	char point[LABEL_SIZE];

	if (!mount_path(point, sizeof(point), m->point) || !mount_leads_to(mount->path, point))
		return;
	/* The node's own mount cannot be asked through it. */
	if (mount->state != MOUNT_ABSENT && is_users(m->type, m->super_options))
		mount->device[0] = 0;
	else if (!strcmp(point, mount->path))
		look_at_own(mount, m);
}

/* Of "xprt: tcp" and rdma the seventh figure, of udp the fourth. */
static uint64_t replies_of(struct span transport)
{
	bool udp = span_is(span_take_word(&transport), "udp");
	uint64_t value;

	for (int i = 0; i < (udp ? 3 : 6); i++)
		span_take_word(&transport);
	return span_number(span_take_word(&transport), UINT64_MAX, &value) ? value : 0;
}

uint64_t mount_replies(struct span mountstats, const char *path)
{
	struct mountstats_place place = {};
	struct span line;
	uint64_t replies = 0;
	char point[LABEL_SIZE];
	bool here = false;

	while (span_next_line(&mountstats, &line)) {
		/* "device nas:/export mounted on /mnt/with\\040blank with fstype nfs4" */
		if (mountstats_is_head(&place, line))
			here = span_take_through(&line, " mounted on ") &&
			       mount_path(point, sizeof(point), span_take_word(&line)) &&
			       !strcmp(point, path) && span_take(&line, " with fstype nfs");
		else if (here && span_take(&line, "\txprt:\t"))
			replies += replies_of(line);
	}
	return replies;
}
