// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is mounted where. */
#include "kernel/mounts.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folder of @path without symbolic links. */
static bool find_folder(char *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	char given[PATH_MAX];

	snprintf(given, sizeof(given), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return realpath(given, folder);
}

bool mounts_find_nfs(const char *root, const char *path, char *source, size_t size)
{
	char folder[PATH_MAX], list[PATH_MAX], strings[4096];
	size_t longest = 0, len;
	struct mntent entry;
	bool nfs = false;
	FILE *mounts;

	snprintf(list, sizeof(list), "%s/proc/self/mounts", root);
	mounts = find_folder(folder, path) ? setmntent(list, "re") : NULL;
	if (!mounts)
		return false;
	/* The folder is on the deepest mount above it. If several mounts have the same
	 * mount point, the last one counts. */
	while (getmntent_r(mounts, &entry, strings, sizeof(strings))) {
		len = strlen(entry.mnt_dir);
		if (len && entry.mnt_dir[len - 1] == '/')
			len--; /* the root */
		if (len < longest || strncmp(folder, entry.mnt_dir, len) != 0 ||
		    (folder[len] && folder[len] != '/'))
			continue;
		longest = len;
		nfs = !strcmp(entry.mnt_type, "nfs") || !strcmp(entry.mnt_type, "nfs4");
		if (nfs)
			snprintf(source, size, "%s", entry.mnt_fsname);
	}
	endmntent(mounts);
	return nfs;
}
