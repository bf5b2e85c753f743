/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Severities and actions by which an operator replaces the catalog's: a text of lines
 *
 * 	CODE SEVERITY [ACTION]		# comment
 *
 * CODE is an Xid, or sxid:NUMBER; SEVERITY is fatal, warning, info or unknown; ACTION is a word of a-z, 0-9 and
 * underscores, at most 39 bytes. "-" or a missing ACTION keeps the catalog's. SXids have no action. */
#pragma once

#include "base/log.h"
#include "xid/xid_line.h"

#define XID_POLICY_MAX_LINES 2048

struct xid_policy_entry {
	bool nvswitch; /* an SXid */
	unsigned int code;
	const char *severity; /* NULL: kept */
	char action[40]; /* "": kept */
};

/* All zeros are a valid policy without entries. */
struct xid_policy {
	struct xid_policy_entry *entries; /* ascending */
	size_t count;
};

/* Reads @len bytes of @text, which needs no NUL, and overwrites *@p. Returns 0; or -EINVAL or -ENOMEM with the line and the reason in
 * @error, and *@p empty. */
int xid_policy_parse(struct xid_policy *p, const char *text, size_t len, char *error,
		     size_t error_size);

/* The same for a file. Returns 0, or -errno after a message in the log. */
int xid_policy_load(struct xid_policy *p, const char *path, const struct log *log);

void xid_policy_free(struct xid_policy *p);

/* NULL: the policy does not have the code. Valid until the policy is freed. */
const struct xid_policy_entry *xid_policy_find(const struct xid_policy *p, bool nvswitch,
					       unsigned int code);

/* Severity and action of one event: the policy's, otherwise those of xid_line_rating(). The policy does not change an Xid 154 that
 * resets the recovery action to None. An Xid 45 that names its cause is info if the policy has less than fatal for that. */
struct xid_rating xid_policy_rating(const struct xid_policy *p, const struct xid_line *line);
