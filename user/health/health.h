/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The health of a node: one table of rules (health_rules.tsv), their settings and their evaluation on a snapshot. Pure: no
 * I/O, no clock. docs/HEALTH.md describes the rules and is checked against the table. */
#pragma once

#include "base/safe_text.h"
#include "health/ack.h"
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
#undef TABLE_ROW
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
