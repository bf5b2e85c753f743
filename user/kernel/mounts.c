// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is mounted where. */
#include "kernel/mounts.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"

/* proc(5): a line "mnt_id:" TAB and the number. */
long mounts_number(int fd)
{
	char path[64], line[128];
	long number = -1;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	while (info && number < 0 && fgets(line, sizeof(line), info))
		if (!strncmp(line, "mnt_id:", 7))
			number = strtol(line + 7, NULL, 10);
	if (info)
		fclose(info);
	return number;
}

/* What is mounted on demand may be of a server. */
static bool is_network(const char *type)
{
	static const char *const types[] = { "nfs",      "nfs4",   "cifs",   "smb3",  "9p",
					     "ceph",     "afs",    "lustre", "gpfs",  "beegfs",
					     "orangefs", "wekafs", "coda",   "gfs2",  "ocfs2",
					     "virtiofs", "fuse",   "pvfs2",  "panfs", "quobyte",
					     "autofs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(type, "fuse.", 5);
}

/* proc(5): number, parent, device, root, mount point, options, optional fields, "-", type,
 * source and options, with a blank between. Of @line, a mount. */
static bool read_network(char *line, char *source, size_t size)
{
	char type[64], *rest = strstr(line, " - ");
	int at;

	if (!rest || sscanf(rest, " - %63s %n", type, &at) != 1 || !is_network(type))
		return false;
	rest[at + (int)strcspn(rest + at, " \n")] = 0;
	snprintf(source, size, "%s", rest + at);
	return true;
}

bool mounts_find_network(const char *root, long number, char *source, size_t size)
{
	FILE *mounts = file_open(root, "/proc/self/mountinfo");
	char *line = NULL, *end;
	bool network = false;
	size_t room = 0;

	while (mounts && getline(&line, &room, mounts) > 0) {
		if (strtol(line, &end, 10) != number || end == line)
			continue;
		network = read_network(end, source, size);
		break;
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return network;
}

bool mounts_find_network_by_path(const char *root, const char *path, char *source, size_t size)
{
	FILE *mounts = file_open(root, "/proc/self/mountinfo");
	char *line = NULL;
	bool network = false;
	size_t room = 0, longest = 0;
	int at, end;

	while (mounts && getline(&line, &room, mounts) > 0) {
		size_t len;

		at = end = 0;
		sscanf(line, "%*s %*s %*s %*s %n%*s%n", &at, &end);
		len = (size_t)(end - at);
		/* Of mounts at one place the last one counts; that of "/" leads everywhere. */
		if (len <= 1 || len < longest || strncmp(path, line + at, len) != 0 ||
		    (path[len] && path[len] != '/'))
			continue;
		longest = len;
		network = read_network(line, source, size);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return network;
}

bool mounts_changed(int fd)
{
	struct pollfd changes = { .fd = fd, .events = POLLPRI };

	return poll(&changes, 1, 0) > 0 && changes.revents & (POLLPRI | POLLERR);
}
