/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds NVIDIA driver faults (Xid of a GPU, SXid of an NVSwitch) in the text of kernel log messages. Pure functions:
 * no allocation, no state, no I/O. */
#pragma once

#include "base/log.h"
#include "base/pci_address.h"
#include "base/span.h"

enum xid_line_kind {
	XID_LINE_NONE,
	XID_LINE_XID, /* a GPU's fault: one event */
	XID_LINE_SXID, /* a switch's fault: one event */
};

enum xid_fatality {
	XID_FATALITY_UNSTATED,
	XID_CORRECTABLE, /* SXid only */
	XID_NONFATAL,
	XID_FATAL,
};

enum {
	XID_GRAPHICS_EXCEPTION = 13, /* the text may have the place */
	XID_MMU_FAULT = 31, /* on several GPUs the application is the cause */
	XID_CHANNEL_REMOVED = 45, /* its text may name another Xid as the cause */
	XID_NVLINK_ERROR = 74, /* the text has registers of the link */
	XID_NVLINK5_FIRST = 144, /* NVLink 5 units: the text states the severity */
	XID_NVLINK_NETIR = 149,
	XID_NVLINK5_LAST = 150,
	XID_RECOVERY_ACTION = 154, /* the text names the action */
};

/* Xid 144-150: "RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)". Xid 74: "NVLink: fatal error detected on
 * link 14(0x0, 0x0, 0x10000, ...)", link and words only. A number that ends the text may be cut and is left out. */
#define NVLINK_WORDS 7
struct nvlink {
	char unit[24]; /* "": not stated */
	int xc; /* -1: not stated */
	int instance; /* -1: not stated */
	int link; /* -1: none, as printed; -2: not stated */
	unsigned int words[NVLINK_WORDS];
	int word_count;
};

struct xid_line {
	enum xid_line_kind kind;
	unsigned int code;
	char pci[PCI_ADDRESS_SIZE]; /* as pci_address_text() writes it */
	int gpu_instance; /* MIG; -1: none */
	int compute_instance; /* MIG; -1: none */
	int pid; /* -1: not known */
	char process[64]; /* "": not known; control bytes shown as '?' */
	enum xid_fatality fatality; /* as printed: SXid and Xid 144-150 only */
	struct nvlink nvlink; /* Xid 74 and 144-150 only */
	unsigned int place; /* Xid 13: which TPC of which GPC; 0: not stated */
	unsigned int caused_by; /* "caused by previous Xid N"; 0: not stated */
	char recovery_from[32]; /* Xid 154: the action required until now */
	char recovery[32]; /* Xid 154: the action required now, may be "None" */
	const char *header; /* everything up to the number; points into the caller's text */
	const char *message; /* what follows; points into the caller's text. One line, but
			      * the first bytes after "name=" may have newlines */
	size_t message_len; /* bytes; 0: nothing follows */
	/* Its first bytes, which may be the rest of a process' name: up to the last ", " within the longest name. */
	size_t name_left;
};

/* Finds the next event at or after text[*offset]. Start with *offset = 0 and call until false.
 *
 * @text may be one line, a fragment, or several lines: @len bytes as the driver wrote them, without escapes and without a NUL. An
 * event may follow other text without a newline.
 *
 * A complete header is an event, even if the text ends after it. A value that may be cut is kept. A process name ends at ", "; a name
 * that contains ", " is read whole only if the message after it begins with a known word.
 *
 * True: *out describes the event, *offset has grown. False: nothing is left, out->kind is XID_LINE_NONE, *offset is
 * len. */
bool xid_line_next(const char *text, size_t len, size_t *offset, struct xid_line *out);

/* ---- xid_policy.c: severity and action of one event, by its text if that decides (xid_text.tsv), otherwise by the catalogs ---- */

/* Both are label values; action is "" for an SXid. */
struct xid_rating {
	const char *severity;
	const char *action;
	const char *text; /* words of the message that decided; NULL: none, or other fields */
};

/* The rating of one event. An SXid has the severity that its text states. It has the catalog's if the text states none, or if texts
 * are known to understate it. An Xid 45 that names a grave cause is a warning with the cause's action; a caller that knows the
 * cause's own line takes it as info. */
struct xid_rating xid_line_rating(const struct xid_line *line);

/* Whether the text of this Xid can decide its rating. */
bool xid_text_decides(unsigned int xid);

/* Whether the event is an Xid 154 by which the driver no longer asks for an action. */
bool xid_asks_no_more(const struct xid_line *line);

/* Whether the action that the driver had required before was a reset or a reboot. */
bool xid_reset_is_done(const struct xid_line *line);

/* Severities and actions by which an operator replaces the catalog's: a text of lines
 *
 * 	CODE SEVERITY [ACTION]		# comment
 *
 * CODE is an Xid, or sxid:NUMBER; SEVERITY is fatal, warning, info or unknown; ACTION is a word of a-z, 0-9 and
 * underscores, at most 39 bytes. "-" or a missing ACTION keeps the catalog's. SXids have no action. */

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

/* ---- xid_catalog.c ----
 *
 * The catalogs of Xids and SXids, from xid_catalog.tsv and sxid_catalog.tsv. All strings are constant, and not NULL unless stated.
 * Category, action and severity are label values: lower case with underscores. */

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

/* One sentence for the engineer on call. @action: the action of a catalog entry or a rating; any other text, or NULL, gets a general
 * sentence. */
const char *xid_action_advice(const char *action);
