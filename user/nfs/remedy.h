/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands to paste into root's shell, to change a setting of NFS on this machine. remedy.c explains the lines. */
#pragma once

#include <linux/limits.h>

#include "base/mountinfo.h"
#include "snapshot/calls.h"

struct remedy {
	const char *root; /* of proc, sys and etc; "": this system */
	const struct calls *calls; /* the last snapshot: whose mounts are the server's */
	const char *server;
	const char *setting, *value; /* as in struct verdict */
	const char *mountpoint; /* the setting's; "": it is of all mounts of the server */
	bool remount; /* it takes effect with the next mount */
};

/* Writes lines, each of them a command or a comment (#), without unsafe characters. It asks no server. */
void remedy_write(FILE *out, const struct remedy *r);

/* ---- remedy_mounts.c: the mounts that a setting is about ---- */

enum mounted_by { BY_HAND, BY_FSTAB, BY_UNIT, BY_AUTOFS, BY_SYSTEMD, BY_KUBELET, BY_CONTAINER };

struct remedy_mount {
	struct mountinfo_line line; /* in the text given to remedy_mounts_find() */
	enum mounted_by by;
	bool nested; /* the kernel mounts it again below another mount of the server */
	char point[PATH_MAX];
	char bound[PATH_MAX]; /* the path of another mount that was bound here by hand; "": none */
	char unit[PATH_MAX]; /* of systemd */
	char map[256]; /* of autofs */
};

struct remedy_mounts {
	struct remedy_mount *list; /* in the order in which they were mounted */
	size_t count;
	char on_top[PATH_MAX]; /* a mount of something else below one of them; "": none */
	bool covers; /* it is at the same path: umount would unmount it instead */
};

/* Finds the mounts of the server in mountinfo's @text; free the list. */
void remedy_mounts_find(struct remedy_mounts *p, const struct remedy *r, struct span text);

/* Names the processes that use one of the mounts, as a comment, or says that it is not known; nothing if there is none. */
void remedy_mounts_users(FILE *out, const struct remedy_mounts *p, const char *root);
