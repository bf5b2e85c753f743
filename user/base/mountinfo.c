// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/mountinfo.h"

#include <limits.h>
#include <poll.h>

#include "base/file_text.h"
#include "base/safe_text.h"

#define LIST_MAX (64 << 20)

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS": one blank between, a field may be empty. */
static bool read_line(struct mountinfo_line *m, struct span line)
{
	struct span tag;

	m->number = span_take_field(&line, " ");
	span_take_field(&line, " ");
	m->device = span_take_field(&line, " ");
	span_take_field(&line, " ");
	m->point = span_take_field(&line, " ");
	m->options = span_take_field(&line, " ");
	m->tags = line;
	do
		tag = span_take_field(&line, " ");
	while (span_left(tag) && !span_is(tag, "-"));
	m->tags.end = tag.at;
	m->type = span_take_field(&line, " ");
	m->source = span_take_field(&line, " ");
	m->super_options = span_take_field(&line, " ");
	return span_left(tag) && span_left(m->type);
}

bool mountinfo_next_line(struct span *text, struct mountinfo_line *m)
{
	while (span_left(*text))
		if (read_line(m, span_take_line(text)))
			return true;
	return false;
}

bool mount_is_nfs(struct span type)
{
	return span_is(type, "nfs") || span_is(type, "nfs4");
}

bool mount_device(struct span field, uint64_t *device)
{
	uint64_t high, low;

	if (!span_take_number(&field, 10, UINT32_MAX, &high) || !span_take(&field, ":") ||
	    !span_number(field, UINT32_MAX, &low))
		return false;
	*device = high << 32 | low;
	return true;
}

size_t mount_unescape(char *bytes, size_t size, struct span field)
{
	size_t len = 0;

	while (span_left(field) && len < size)
		bytes[len++] = span_take_byte(&field, "\\", 8, 3);
	return len;
}

bool mount_path(char *path, size_t size, struct span field)
{
	size_t len = mount_unescape(path, size, field);

	if (!len || len == size || memchr(path, 0, len))
		return false;
	path[len] = 0;
	return true;
}

/* The name of a volume in a path of kubelet, whose own folder may be anywhere: ".../pods/UID/volumes/kubernetes.io~csi/NAME/mount",
 * with any driver, "volume-subpaths/NAME/CONTAINER/0" beside it for a part of the volume, or
 * ".../plugins/kubernetes.io/csi/pv/NAME/globalmount".
 * Empty: there is none. Source: pkg/kubelet/kubelet_getters.go and pkg/volume/csi of Kubernetes 1.13 to 1.34. */
static struct span find_volume(struct span path)
{
	struct span rest = path, driver;

	while (span_take_through(&rest, "/pods/")) {
		if (span_left(span_take_run(&rest, "0123456789abcdef-")) < 32)
			continue;
		if (span_take(&rest, "/volume-subpaths/"))
			return span_take_until(&rest, "/");
		if (!span_take(&rest, "/volumes/"))
			continue;
		driver = span_take_until(&rest, "/");
		if (!span_is(driver, "kubernetes.io~empty-dir") &&
		    span_take_through(&driver, "~") && span_take(&rest, "/"))
			return span_take_until(&rest, "/");
	}
	if (span_take_through(&path, "/plugins/kubernetes.io/csi/pv/"))
		return span_take_until(&path, "/");
	return (struct span){};
}

void mount_point_label(char *label, size_t size, const char *path, size_t len)
{
	struct span volume = find_volume((struct span){ path, path + len });
	char name[PATH_MAX];

	if (span_left(volume)) {
		snprintf(name, sizeof(name), "pv:%.*s", (int)span_left(volume), volume.at);
		path = name;
		len = strlen(name);
	}
	label_from_bytes(label, size, path, len);
}

const char *mount_leads_to(const char *path, const char *point)
{
	size_t len = strlen(point);

	while (len && point[len - 1] == '/')
		len--;
	return !strncmp(path, point, len) && (!path[len] || path[len] == '/') ? path + len : NULL;
}

/* "\timpl_id:\tname='NAME',domain='DOMAIN',date='SECONDS,NANOSECONDS'\n" */
#define CHOSEN_BYTES (2 * 1024 + 80)

bool mountstats_is_head(struct mountstats_place *p, struct span line)
{
	size_t size = span_left(line) + 1;

	if (!p->left &&
	    (span_starts_with(line, "device ") || span_starts_with(line, "no device "))) {
		*p = (struct mountstats_place){};
		return true;
	}
	if (!p->chosen && span_starts_with(line, "\timpl_id:"))
		*p = (struct mountstats_place){ true, CHOSEN_BYTES };
	p->left -= size < p->left ? size : p->left;
	return false;
}

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
	struct mountinfo_line m;
	FILE_TEXT mounts = {};
	struct span rest;
	bool network = false, found = false;
	size_t longest = 0;
	uint64_t id;

	file_text_read(&mounts, PATHF("%s/proc/self/mountinfo", root), LIST_MAX);
	rest = file_text_span(&mounts);
	while (!found && mountinfo_next_line(&rest, &m)) {
		/* Numbers are unique: the lines behind it need not be parsed. */
		found = !path && span_number(m.number, LONG_MAX, &id) && (long)id == number;
		if (path ? is_on_the_way(&m, path, &longest) : found)
			network = layers && span_is(m.type, "overlay") ?
					  has_network_layer(root, &m, layers, source, size) :
					  read_network(&m, source, size);
	}
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
