/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The catalog of Xids, from xid_catalog.tsv. All strings are constant and never
 * NULL; all but mnemonic and description are label values: lower case with
 * underscores.
 */
#ifndef XIDSCOPE_XID_CATALOG_H
#define XIDSCOPE_XID_CATALOG_H

#include "base/span.h"
#include "xid/xid_line.h"

enum {
	XID_CHANNEL_REMOVED = 45, /* may name another Xid as its cause */
};

struct xid_catalog_entry {
	unsigned int xid; /* 0: in the entry for unknown codes only */
	const char *mnemonic; /* the driver's name of the code */
	const char *description; /* a few words, for people */
	const char *category; /* "hw", "driver", "app", "fabric", "info", "unused", "unknown" */
	const char *action; /* "reset_gpu", ..., "none_given" */
	const char *severity; /* "fatal", "warning", "info", "unknown" */
};

/* Never NULL: for a code without an entry, one of severity "unknown" and action
 * "none_given". */
const struct xid_catalog_entry *xid_catalog_find(unsigned int xid);

/*
 * Severity of one event: as its text states where the code leaves it open (Xid
 * 144-150 and 154, every SXid), otherwise the catalog's. A printed Nonfatal is
 * "warning". A recovery action that went back to None is "info", and so is an Xid
 * 45 that names its cause: the cause has the severity.
 */
const char *xid_line_severity(const struct xid_line *line);

/* A code as people write it: "79", "sxid:20034". */
bool xid_code_read(struct span text, bool *nvswitch, unsigned int *code);
void xid_code_text(char *text, size_t size, bool nvswitch, unsigned int code);

/* One above the highest code of the catalog. */
unsigned int xid_catalog_end(void);

/* Whether an event's own text can decide its severity: Xid 144-150 and 154. */
bool xid_text_decides(unsigned int xid);

/*
 * One sentence for the engineer on call. action: a catalog entry's; any other
 * text, or NULL, gets a general sentence.
 */
const char *xid_action_advice(const char *action);

#endif
