/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Label values made of bytes from outside, which may be any bytes. */
#pragma once

#include "base/std.h"

/* Room for the longest label value in this program, NUL included. */
#define LABEL_SIZE 192

/* The label of merged entries. */
#define LABEL_OTHER "other"

/* Makes a label of @len bytes. A byte that is not safe (safe_text.h), or that would begin such an escape, becomes "\xNN": different
 * bytes give different labels. A text that does not fit @size, which is at least 16, is cut between characters and ends in "..."
 * and a checksum of all bytes. Call it once for a value. */
void label_from_bytes(char *label, size_t size, const char *bytes, size_t len);

/* The same for a name in a table that may merge entries: the name "other" is escaped, to differ from LABEL_OTHER. */
void label_from_name(char *label, size_t size, const char *name, size_t len);

/* Room after a server's name for a port, brackets and a network namespace. */
#define LABEL_SERVER_ROOM 20

/* Appends the @port of a server to its name in a label of LABEL_SIZE: "nas:20127" or "[fd00::1]:20127". Two servers may have the
 * same address. The ports 0 (unknown), 2049 and, for RDMA, 20049 (RFC 8267) are omitted. */
void label_add_port(char *label, unsigned int port);

/* label_escape() turns one byte into at most this many. */
#define LABEL_ESCAPE_MAX 5

/* Writes a label value as both text formats require: backslash and quote are escaped (OpenMetrics 1.0, "escaped-string"), and bytes
 * that are not safe become "\\xNN". @out has room for LABEL_ESCAPE_MAX times @label and a NUL. Returns a pointer to the NUL. */
char *label_escape(char *out, const char *label);
