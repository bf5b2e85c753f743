/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a person pastes into a shell of root to change a setting of NFS on this machine. remedy.c explains the lines. */
#pragma once

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
