/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The health of a node: acknowledgements, and one table of rules (health_rules.tsv), their settings and their evaluation on a snapshot. Pure: no
 * I/O, no clock. docs/HEALTH.md describes the rules and is checked against the table. */
#pragma once

#include "base/helper.h"
#include "base/safe_text.h"
#include "health/node.h"
#include "snapshot/snapshot.h"

enum health_level {
	HEALTH_OK, /* as the setting of a rule: off */
	HEALTH_WARN, /* drain the node when its job is done */
	HEALTH_FAIL, /* drain the node now */
};

/* The levels as words of a setting: "off", "warn", "fail". */
extern const char *const health_level_names[HEALTH_FAIL + 1];

/* health_rules.tsv has a row for each, in this order. */
enum health_rule_id {
#define TABLE_ROW(id, ...) HEALTH_##id,
#include "health_rules.inc"
	HEALTH_RULES,
};

/* What a rule works on. */
struct health_evaluation {
	const struct snapshot *s;
	const struct health_options *o;
	double now; /* seconds since the epoch */
	struct health_report *report; /* takes the findings */
	bool acknowledged; /* find acknowledged and snoozed faults in place of open ones */
};

struct health_rule {
	const char *name;
	enum health_level level; /* the default */
	double limit; /* the default; 0: the rule has none */
	const char *unit; /* of the limit; "" if there is none */
	const char *help;
	void (*find)(struct health_evaluation *e, enum health_rule_id rule);
	bool (*matches)(const struct fault *f); /* for @find; NULL: not needed */
	bool local; /* it reads node_state */
	const char *clears; /* what ends a finding, for people */
};

extern const struct health_rule health_rules[HEALTH_RULES];

struct health_options {
	struct {
		enum health_level level; /* HEALTH_OK: off */
		double limit;
	} rules[HEALTH_RULES];
	double window; /* seconds; older faults are cleared; 0: no limit */
	const struct ack_list *acks; /* NULL: none */
	const struct node_state *node; /* NULL: not known, local rules find nothing */
};

void health_defaults(struct health_options *o);

/* Changes one rule: "NAME=off|warn|fail[:LIMIT]". False: not in this form. */
bool health_set_rule(struct health_options *o, const char *text);

/* All texts are one line of UTF-8 without control bytes. */
struct health_finding {
	enum health_rule_id rule;
	enum health_level level; /* of the rule */
	enum fault_standing standing; /* open, snoozed or acknowledged */
	char device[LABEL_SIZE]; /* a GPU, a switch, a server, a mount point; "": none */
	char what[32]; /* as an acknowledgement has it: "79", "sxid:20034", a kind, or a rule */
	bool nvswitch; /* of a fault: an SXid */
	bool lost; /* data, open files or locks */
	unsigned int code; /* of a fault, or 0 */
	uint64_t count; /* reports; 0: it is a state */
	double first, last; /* seconds since the epoch; 0: not known */
	char action[40]; /* a label value; "": none */
	char head[40]; /* the beginning of a reason in few words: "Xid 79 c1:00.0" */
	const char *advice; /* of a fault, static: the end of the reason; NULL: not known */
	char reason[512]; /* with the advice */
};

#define HEALTH_MAX_FINDINGS 32

struct health_report {
	enum health_level level; /* the worst of the open findings */
	enum health_level rules[HEALTH_RULES];
	size_t open[HEALTH_RULES]; /* findings, with those that did not fit the list */
	size_t total; /* all open findings */
	size_t count; /* open findings in the list */
	size_t listed; /* the same with those acknowledged or snoozed, which follow */
	/* The worst first. The last element receives findings for which the list has no room. */
	struct health_finding findings[HEALTH_MAX_FINDINGS + 1];
};

/* Evaluates the rules on @s at @now (seconds since the epoch). A fault is open until it is cleared: by a later
 * recovery of its device or of all GPUs, by the window or by an acknowledgement. The time of the last
 * fault of a device and code decides for all of them. */
void health_evaluate(const struct snapshot *s, const struct health_options *o, double now,
		     struct health_report *report);

enum health_what { HEALTH_NOTHING, HEALTH_FAULT, HEALTH_STATE };

/* What a valid WHAT of an acknowledgement means. No fault or state may have the name. */
enum health_what health_what(const char *what);

/* Lists the faults of @s: open ones first, then by gravity, then the latest. Returns an array that the
 * caller frees. */
struct known_fault *health_list(const struct snapshot *s, const struct health_options *o,
				double now, size_t *count);

/* Writes the result of each rule that is not off, and the findings, into the snapshot. */
void health_to_snapshot(const struct health_report *report, const struct health_options *o,
			struct snapshot *s);

/* The faults that an operator has acknowledged: a text of lines
 *
 * 	DEVICE WHAT TIME [COMMENT]	# comment
 *
 * DEVICE is a PCI address as in sysfs, the UUID of a GPU ("GPU-..."), "other" for merged entries, or * for all; WHAT is
 * an Xid, sxid:NUMBER, the kind of a driver error, or * for all; TIME is a time as in time_text.h. All such faults up to
 * the end of that second are acknowledged. A TIME in the future acknowledges none: the present clock cannot have given a
 * fault that time. "until:TIME" is a snooze: it acknowledges all of them until then, and none afterwards. */

#define ACK_MAX_LINES 4095
#define ACK_MAX_BYTES (1 << 20)

/* The file that agent and check read. */
#define ACK_DEFAULT_FILE "/etc/xidscope/acks"

struct ack {
	char device[48];
	char what[32]; /* as written; numbers without leading zeros */
	double time;
	bool snooze;
};

/* A list of all zeros is valid and has no entries. */
struct ack_list {
	struct ack *acks;
	size_t count;
};

/* Read DEVICE and WHAT as people write them into @a. False: not in such a form. */
bool ack_read_device(struct span text, struct ack *a);
bool ack_read_what(struct span text, struct ack *a);

/* What the other forms are, for messages. */
#define ACK_DEVICE_FORMS "a PCI address (0000:c1:00.0), GPU-UUID, other or *"
#define ACK_WHAT_FORMS "an Xid, sxid:NUMBER, a kind of driver error or *"

/* Reads @len bytes of @text, which needs no NUL and stays the caller's, into
 * *@list, which is overwritten. Returns 0, or -EINVAL or -ENOMEM with one line
 * in @error; *@list is then empty. */
int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size);

/* The same for the file @path, whose text is *@file; @err: why that cannot be read, or 0. If it does not exist, the list is
 * empty. Returns 0 or -errno. */
int ack_take(struct ack_list *list, const struct file_text *file, int err, const char *path,
	     char *error, size_t error_size);

void ack_free(struct ack_list *list);

/* The agent's file. A process of its own reads it: the folder may be on a server (an overlay's lower layer) or on a disk that hangs.
 * Initialise with { .path, .due = true }; what .path points to must outlive it. */
struct ack_file {
	const char *path; /* NULL: not read */
	struct ack_list list; /* of the last answer */
	char trouble[600]; /* why it cannot be used; "": it can */
	int silent; /* why there is no answer, -errno; 0: there was one */
	bool due; /* to be read again */
	bool known; /* there was an answer: */
	int error;
	struct file_text file;
	struct helper reader;
};

/* Reads the file again if .due is set. Waits @most_ns for an answer; a late one is taken by the next call. Returns whether
 * .list or .trouble is new. */
bool ack_file_refresh(struct ack_file *f, uint64_t most_ns);

void ack_file_close(struct ack_file *f);

/* The entry by which the faults @what ("79", "sxid:20034" or a kind) of @device, whose UUID is @uuid
 * ("": not known), are acknowledged or snoozed; NULL: none. The last one was at @time, and it is @now. */
const struct ack *ack_find(const struct ack_list *list, const char *device, const char *uuid,
			   const char *what, double time, double now);
