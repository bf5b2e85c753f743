// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/mountinfo.h"

#include <limits.h>

#include "base/label.h"

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS": one blank between, a field may be empty. */
bool mountinfo_read_line(struct mountinfo_line *m, struct span line)
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
