// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/mounts.h"

#include <poll.h>

#include "base/file_text.h"
#include "base/mountinfo.h"

long mounts_number(int fd)
{
	return (long)file_number(PATHF("/proc/self/fdinfo/%d", fd), "mnt_id:", 10) ?: -1;
}

/* A file system that is mounted on demand may belong to a server. */
static bool is_network(const char *type)
{
	static const char *const types[] = { "nfs",      "nfs4",   "cifs",   "smb3",  "9p",
					     "ceph",     "afs",    "lustre", "gpfs",  "beegfs",
					     "orangefs", "wekafs", "coda",   "gfs2",  "ocfs2",
					     "virtiofs", "fuse",   "pvfs2",  "panfs", "quobyte",
					     "autofs" };

	return ARRAY_FIND(x, types, COUNT(types), !strcmp(type, *x)) || !strncmp(type, "fuse.", 5);
}

/* Of an overlay. */
enum layers { NO_LAYER, UPPER_LAYER, ALL_LAYERS };

static bool find_network(const char *root, long number, const char *path, enum layers layers,
			 char *source, size_t size);

/* Writes to an overlay go to its upper layer, names are looked up in all. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool has_network_layer(const char *root, const struct mountinfo_line *m, enum layers layers,
			      char *source, size_t size)
{
	struct span options = m->super_options, option;
	char layer[PATH_MAX];
	const char *end;

	while (span_left(options)) {
		option = span_take_field(&options, ",");
		end = span_take(&option, "upperdir=") ? "," : ":";
		if (*end == ':' && (layers != ALL_LAYERS || !(span_take(&option, "lowerdir=") ||
							      span_take(&option, "lowerdir+="))))
			continue;
		for (; span_left(option); span_take(&option, end))
			if (mount_path(layer, sizeof(layer), span_take_until(&option, end)) &&
			    find_network(root, -1, layer, NO_LAYER, source, size))
				return true;
	}
	return false;
}

/* Whether it is a network file system; copies its source. */
static bool read_network(const struct mountinfo_line *m, char *source, size_t size)
{
	char type[64];

	if (!span_copy(m->type, type, sizeof(type)) || !is_network(type))
		return false;
	snprintf(source, size, "%.*s", (int)span_left(m->source), m->source.at);
	return true;
}

/* Whether @path leads to the mount, whose point is as long as *@longest, or longer. */
static bool is_on_the_way(const struct mountinfo_line *m, const char *path, size_t *longest)
{
	char point[PATH_MAX];

	if (!mount_path(point, sizeof(point), m->point) || strlen(point) < *longest ||
	    !mount_leads_to(path, point))
		return false;
	*longest = strlen(point);
	return true;
}

/* With NO_LAYER the path is itself a layer of an overlay. If that lies within another, this path may have another root: it counts as local. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool find_network(const char *root, long number, const char *path, enum layers layers,
			 char *source, size_t size)
{
	FILE *mounts = fopen(PATHF("%s/proc/self/mountinfo", root), "re");
	struct mountinfo_line m;
	FREED char *line = NULL;
	bool network = false;
	size_t room = 0, longest = 0;
	uint64_t id;
	bool found = false;

	while (!found && mounts && getline(&line, &room, mounts) > 0) {
		if (!mountinfo_read_line(&m, (struct span){ line, line + strcspn(line, "\n") }))
			continue;
		/* Numbers are unique: there may be thousands of mounts behind it. */
		found = !path && span_number(m.number, LONG_MAX, &id) && (long)id == number;
		if (path ? is_on_the_way(&m, path, &longest) : found)
			network = layers && span_is(m.type, "overlay") ?
					  has_network_layer(root, &m, layers, source, size) :
					  read_network(&m, source, size);
	}
	if (mounts)
		fclose(mounts);
	return network;
}

bool mounts_find_network(const char *root, long number, const char *path, bool lower, char *source,
			 size_t size)
{
	return find_network(root, number, path, lower ? ALL_LAYERS : UPPER_LAYER, source, size);
}

bool mounts_changed(int fd)
{
	struct pollfd changes = { .fd = fd, .events = POLLPRI };

	return poll(&changes, 1, 0) > 0 && changes.revents & (POLLPRI | POLLERR);
}
