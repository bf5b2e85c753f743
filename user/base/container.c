// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Containers outside of Kubernetes.
 *
 * A runtime makes a control group for each container. Its name has the container's ID, which nobody remembers; the name that
 * its user knows is in a file of the runtime. LXC and systemd-nspawn have no ID: the group has the name.
 *
 *   runtime          group of systemd's driver, and of cgroupfs   file with the name, and its member
 *   docker           docker-ID.scope; docker/ID                    /var/lib/docker/containers/ID/config.v2.json: Name
 *   podman, CRI-O    libpod-ID.scope, crio-ID.scope;               /var/lib/containers/storage/overlay-containers/
 *                    libpod_parent/libpod-ID, crio-ID;               containers.json, volatile-containers.json: names
 *                    UNIT.service/libpod-payload-ID
 *   nerdctl          nerdctl-ID.scope; NAMESPACE/ID                /run/containerd/io.containerd.runtime.v2.task/
 *                                                                    NAMESPACE/ID/config.json: annotations, nerdctl/name
 *   LXC              lxc.payload.NAME (4.0), lxc.payload/NAME (3.1), lxc/NAME (before, and LXD, Proxmox VE)
 *   systemd-nspawn   machine.slice/machine-NAME.scope; as a service machine.slice/systemd-nspawn@NAME.service
 *   libvirt          machine.slice/machine-qemu-N-NAME.scope, -lxc-: N is another one at each start (a machine counts as a container)
 *
 * docker's folder is another one if /etc/docker/daemon.json has data-root, with userns-remap UID.GID below it; podman's if
 * /etc/containers/storage.conf has graphroot. Volatile containers (podman run --rm) have their own file from podman 4.3 on.
 * Sources: moby daemon/config and container/container.go (20.10 to 28); containers/storage containers.go (1.24 to 1.58); nerdctl
 * docs/dir.md and pkg/labels (0.8 to 2.1); lxc src/lxc/cgroups/cgfsng.c; systemd src/nspawn/nspawn-register.c. Docker 20.10,
 * podman 4.3, containerd 1.6 (ctr, with nerdctl's groups and member), LXC 5.0 and systemd 252 are tested. ctr's own containers have no
 * ID: group:NAMESPACE/NAME names them.
 *
 * A file counts only if root owns it and others cannot write it: a user's own containers (rootless) are the user's, below
 * user.slice, where the user can make any group. So can a service with a user of its own: below it only podman's form counts.
 * So can who has been given a group of another form: below it a container needs an ID, a name proves nothing.
 * The outermost container counts, whose files the node has.
 *
 * Example: /machine.slice/libpod-4f0c...a1.scope/container is container 4f0c...a1. containers.json has {"id": "4f0c...a1",
 * "names": ["train"]}: its calls are those of "container:train", without the file of "container:4f0cd5b61a92". */
#include "base/cgroup.h"

#include <ctype.h>

#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"

#define FILE_MAX (4 << 20)

/* ---- in a path ---- */

/* "ID", "PREFIX-ID" or "PREFIX-ID.scope". @rest: of the path behind it. */
static bool take_id(struct span part, struct span rest, char id[CONTAINER_ID])
{
	struct span digits;

	if (span_ends_with(part, ".scope"))
		part.end -= strlen(".scope");
	if (span_left(part) < CONTAINER_ID - 1)
		return false;
	digits = (struct span){ part.end - (CONTAINER_ID - 1), part.end };
	/* An ID alone with that below it is podman's group of a pod, by cgroupfs. */
	if (digits.at > part.at ? digits.at[-1] != '-' : span_starts_with(rest, "/libpod-"))
		return false;
	digits = span_take_run(&digits, "0123456789abcdef");
	return span_left(digits) == CONTAINER_ID - 1 && span_copy(digits, id, CONTAINER_ID);
}

void unit_unescape(struct span from, char *to, size_t size)
{
	while (span_left(from) && size-- > 1)
		*to++ = span_take_byte(&from, "\\x", 16, 2);
	*to = 0;
}

/* A group that has the container's name, at the begin of @path. Moves past it. */
static bool take_named(struct span *path, char *name)
{
	static const struct {
		const char *before, *end;
	} forms[] = {
		{ "/lxc.payload.", "" },
		{ "/lxc.monitor.", "" },
		{ "/lxc.payload/", "" },
		{ "/lxc.monitor/", "" },
		{ "/lxc/", "" },
		{ "/machine.slice/machine-", ".scope" },
		{ "/machine.slice/systemd-nspawn@", ".service" },
	};

	ARRAY_EACH(f, forms, COUNT(forms)) {
		struct span rest = *path, part, name_only;

		if (!span_take(&rest, f->before))
			continue;
		part = span_take_until(&rest, "/");
		if (!span_ends_with(part, f->end) || span_left(part) == strlen(f->end))
			continue;
		part.end -= strlen(f->end);
		name_only = part;
		if ((span_take(&name_only, "lxc\\x2d") || span_take(&name_only, "qemu\\x2d")) &&
		    span_left(span_take_run(&name_only, "0123456789")) &&
		    span_take(&name_only, "\\x2d") && span_left(name_only))
			part = name_only;
		unit_unescape(part, name, 512);
		*path = rest;
		return true;
	}
	return false;
}

const char *container_find(const char *path, char id[CONTAINER_ID], char *name)
{
	struct span rest = span_of(path), part;
	bool unit = false, slices = true;

	while (span_left(rest) && !unit) {
		if (slices && take_named(&rest, name)) {
			snprintf(id, CONTAINER_ID, "-");
			return rest.at;
		}
		span_take(&rest, "/");
		part = span_take_until(&rest, "/");
		slices &= span_ends_with(part, ".slice");
		unit = span_ends_with(part, ".service");
		if (unit && span_take(&rest, "/"))
			part = span_take_until(&rest, "/");
		if ((!unit || span_starts_with(part, "libpod-payload-")) && take_id(part, rest, id))
			return rest.at;
	}
	return NULL;
}

/* ---- in files ---- */

static void write_name(const char *id, const char *name, FILE *out)
{
	char label[CONTAINER_NAME];

	label_from_bytes(label, sizeof(label), name, strlen(name));
	if (*name && strlen(id) == CONTAINER_ID - 1 &&
	    strspn(id, "0123456789abcdef") == CONTAINER_ID - 1)
		fprintf(out, "%s %s\n", id, label);
}

static void on_stored(void *out, struct span index, struct span container)
{
	char id[2 * CONTAINER_ID], name[4096];

	(void)index;
	if (json_find_text(container, "id", id, sizeof(id)) &&
	    json_find_text(json_find(container, "names"), "", name, sizeof(name)))
		write_name(id, name, out);
}

void container_read_names(struct span text, const char *id, FILE *out)
{
	char name[4096];

	if (span_starts_with(text, "["))
		json_read(text, on_stored, out);
	else if (json_find_text(text, "Name", name, sizeof(name)) ||
		 json_find_text(json_find(text, "annotations"), "nerdctl/name", name, sizeof(name)))
		write_name(id, name + (*name == '/'), out);
}

static void write_file(const char *path, const char *id, FILE *out)
{
	FILE_TEXT file = {};

	if (!file_text_read_own(&file, path, FILE_MAX))
		container_read_names(file_text_span(&file), id, out);
}

/* The file with this name of each container, whose folder in @path has its ID as its name. */
static void write_files(const char *path, const char *name, FILE *out)
{
	OPEN_FOLDER *folder = opendir(path);
	const char *id;

	while ((id = folder_next(folder)))
		write_file(PATHF("%s/%s/%s", path, id, name), id, out);
}

static void write_docker(const char *root, FILE *out)
{
	char data[PATH_MAX / 2] = "/var/lib/docker";
	FILE_TEXT settings = {};
	OPEN_FOLDER *folder = NULL;
	const char *user;

	if (!file_text_read_own(&settings, PATHF("%s/etc/docker/daemon.json", root), FILE_MAX))
		json_find_text(file_text_span(&settings), "data-root", data, sizeof(data));
	write_files(PATHF("%s%s/containers", root, data), "config.v2.json", out);
	folder = opendir(PATHF("%s%s", root, data));
	while ((user = folder_next(folder)))
		if (isdigit((unsigned char)*user))
			write_files(PATHF("%s%s/%s/containers", root, data, user), "config.v2.json",
				    out);
}

static void write_podman(const char *root, FILE *out)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	char data[PATH_MAX / 2] = "/var/lib/containers/storage";
	FILE_TEXT settings = {};
	struct span rest, line, key;

	file_text_read_own(&settings, PATHF("%s/etc/containers/storage.conf", root), FILE_MAX);
	rest = file_text_span(&settings);
	while (span_next_line(&rest, &line)) {
		key = span_take_until(&line, "=");
		span_take_run(&line, "= \t\"'");
		if (span_is(span_take_word(&key), "graphroot"))
			span_copy(span_take_until(&line, "\"'"), data, sizeof(data));
	}
	for (size_t i = 0; i < 2 * COUNT(drivers); i++)
		write_file(PATHF("%s%s/%s-containers/%scontainers.json", root, data, drivers[i / 2],
				 i % 2 ? "volatile-" : ""),
			   "", out);
}

static void write_containerd(const char *root, FILE *out)
{
	const char *tasks = PATHF("%s/run/containerd/io.containerd.runtime.v2.task", root);
	OPEN_FOLDER *folder = opendir(tasks);
	const char *namespace;

	/* Those of Kubernetes and docker, of which there may be hundreds, have no such name. */
	while ((namespace = folder_next(folder)))
		if (strcmp(namespace, "k8s.io") != 0 && strcmp(namespace, "moby") != 0)
			write_files(PATHF("%s/%s", tasks, namespace), "config.json", out);
}

void container_write_names(const char *root, FILE *out)
{
	write_docker(root, out);
	write_podman(root, out);
	write_containerd(root, out);
}
