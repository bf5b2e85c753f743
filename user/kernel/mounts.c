// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is mounted where. */
#include "kernel/mounts.h"

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

static bool is_network(const char *type)
{
	static const char *const types[] = { "nfs",      "nfs4",   "cifs",   "smb3",  "9p",
					     "ceph",     "afs",    "lustre", "gpfs",  "beegfs",
					     "orangefs", "wekafs", "coda",   "gfs2",  "ocfs2",
					     "virtiofs", "fuse",   "pvfs2",  "panfs", "quobyte" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(type, "fuse.", 5);
}

/* proc(5): number, parent, device, root, mount point, options, optional fields, "-", type,
 * source and options, with a blank between. */
bool mounts_find_network(const char *root, long number, char *source, size_t size)
{
	FILE *mounts = file_open(root, "/proc/self/mountinfo");
	char type[64], *line = NULL, *end, *rest;
	bool network = false;
	size_t room = 0;
	int at;

	while (mounts && getline(&line, &room, mounts) > 0) {
		if (strtol(line, &end, 10) != number || end == line)
			continue;
		rest = strstr(end, " - ");
		if (rest && sscanf(rest, " - %63s %n", type, &at) == 1 && is_network(type)) {
			rest[at + (int)strcspn(rest + at, " \n")] = 0;
			snprintf(source, size, "%s", rest + at);
			network = true;
		}
		break;
	}
	free(line);
	if (mounts)
		fclose(mounts);
	return network;
}
