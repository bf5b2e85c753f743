/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Label values made of bytes from outside, which may be any bytes. */
#pragma once

#include "base/std.h"

/* Room for the longest label value in this program, NUL included. */
#define LABEL_SIZE 192

/* The label of what has been folded. */
#define LABEL_OTHER "other"

/* Makes a label of @len bytes: a byte that is not safe (safe_text.h), or would begin such an escape, becomes "\xNN",
 * so different bytes give different labels. A text that does not fit @size, which is at least 16, is cut between
 * characters and ends in "..." and the checksum of all of its bytes; always NUL-terminated. Call it once for a
 * value. */
void label_from_bytes(char *label, size_t size, const char *bytes, size_t len);

/* The same for a name of what may fold: the name "other" is escaped, so that it is not taken for what
 * has been folded. */
void label_from_name(char *label, size_t size, const char *name, size_t len);

/* Room for what may follow a server's name: a port and its brackets, a network namespace. */
#define LABEL_SERVER_ROOM 20

/* Appends the @port of a server to its name in a label of LABEL_SIZE, "nas:20127" or "[fd00::1]:20127": two servers may be
 * reached at one address. Not 0 (unknown) or NFS's own: 2049, and 20049 with RDMA (RFC 8267). */
void label_add_port(char *label, unsigned int port);

/* The most bytes that label_escape() makes of one. */
#define LABEL_ESCAPE_MAX 5

/* Writes a label value as both text formats require it: backslash and quote escaped (OpenMetrics 1.0,
 * "escaped-string"); bytes that are not safe as "\xNN", with that backslash escaped. @out has room for LABEL_ESCAPE_MAX times
 * its length and a NUL. Returns a pointer to the NUL. */
char *label_escape(char *out, const char *label);
