/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The catalogs of Xids and SXids, from xid_catalog.tsv and sxid_catalog.tsv. All strings are constant, and not NULL unless stated.
 * Category, action and severity are label values: lower case with underscores. */
#pragma once

#include "base/span.h"

struct xid_catalog_entry {
	unsigned int xid; /* 0: in the entry for unknown codes only */
	const char *mnemonic; /* the driver's name of the code */
	const char *documented; /* another name in the vendor's documentation; "": none */
	const char *description; /* a few words, for people */
	const char *category; /* "hw", "driver", "app", "fabric", "info", "unused", "unknown" */
	const char *action; /* "reset_gpu", ..., "none_given" */
	const char *severity; /* "fatal", "warning", "info", "unknown" */
	const char *source; /* URL of the source */
};

struct sxid_catalog_entry {
	unsigned int sxid;
	const char *mnemonic;
	const char *action;
	const char *severity; /* if the text states none */
	bool always; /* this severity counts even if the text states another, which is too low */
};

/* Never NULL: a code without an entry has severity "unknown" and action "none_given". */
const struct xid_catalog_entry *xid_catalog_find(unsigned int xid);

/* NULL: the catalog does not have it. */
const struct sxid_catalog_entry *sxid_catalog_find(unsigned int sxid);

/* What the code means in a few words; for an SXid its name in the driver; "": not known. */
const char *xid_meaning(bool nvswitch, unsigned int code);

/* A code as people write it: "79", "sxid:20034". */
bool xid_code_read(struct span text, bool *nvswitch, unsigned int *code);

/* The next code of a text as people write it, "Xid79, sxid:20034" or "xid 79 13". False: no code follows. */
bool xid_code_next(struct span *text, bool *nvswitch, unsigned int *code);

/* Whether the text has a code and nothing else. */
bool xid_codes_only(struct span text);

void xid_code_text(char *text, size_t size, bool nvswitch, unsigned int code);

/* Entry @number of the catalog of SXids, from 0 on; NULL: there are no more. */
const struct sxid_catalog_entry *sxid_catalog_entry(size_t number);

/* One above the highest code of the catalog. */
unsigned int xid_catalog_end(void);

/* One sentence for the engineer on call. @action: the action of a catalog entry or a rating; any other text, or NULL, gets a general
 * sentence. */
const char *xid_action_advice(const char *action);
