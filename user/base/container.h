/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers outside of Kubernetes: in the path of a control group, and their names in the files of their runtimes. */
#pragma once

#include "base/span.h"

#define CONTAINER_ID 65 /* 64 hexadecimal digits and the NUL */
#define CONTAINER_NAME 65 /* of a runtime's file; a longer one ends in "..." and a checksum */

/* Copies the name of a unit of systemd without its escapes, such as "\x2d". */
void unit_unescape(struct span from, char *to, size_t size);

/* Finds the outermost container in the path of a control group. Sets its ID, or, if the group has no ID, "-" and its @name, of
 * 512 bytes. Returns the rest of the path; NULL: there is none. */
const char *container_find(const char *path, char id[CONTAINER_ID], char *name);

/* Writes "ID NAME" for each container of the system below @root, which may never return. */
void container_write_names(const char *root, FILE *out);

/* Its part: the same for the text of one file. @id: of the container whose file it is; podman's has many. */
void container_read_names(struct span text, const char *id, FILE *out);
