/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the health rules share, and those that the table in rules.c has from elsewhere. */
#ifndef XIDSCOPE_RULES_H
#define XIDSCOPE_RULES_H

#include <stdbool.h>

#include "base/safe_text.h"
#include "health/health.h"

/* The texts of a finding, cut to their sizes and safe to print. */
#define SET_REASON(finding, ...) \
	safe_format((finding)->reason, sizeof((finding)->reason), __VA_ARGS__)
#define SET_BRIEF(finding, ...) safe_format((finding)->brief, sizeof((finding)->brief), __VA_ARGS__)
#define SET_HEAD(finding, ...) safe_format((finding)->head, sizeof((finding)->head), __VA_ARGS__)

/* Counts a finding and returns it; the caller writes its texts. All findings beyond the list
 * share one entry behind it. */
struct health_finding *health_add_finding(struct health_evaluation *e, enum health_rule_id rule);
/* The same of a state of @device, which has no reports. */
struct health_finding *health_add_state(struct health_evaluation *e, enum health_rule_id rule,
					const char *device);

/* Whether what @rule finds of @device, a state that lasts, is acknowledged until later. */
bool health_is_snoozed(const struct health_evaluation *e, enum health_rule_id rule,
		       const char *device);

/* The address of @device without the domain that nearly all have. */
const char *health_short_device(const char *device);

/* node_rules.c */
void find_nfs_waiter(struct health_evaluation *e, enum health_rule_id rule);
void find_mounts(struct health_evaluation *e, enum health_rule_id rule);
void find_missing_gpus(struct health_evaluation *e, enum health_rule_id rule);
void find_narrow_links(struct health_evaluation *e, enum health_rule_id rule);
void find_corrected_errors(struct health_evaluation *e, enum health_rule_id rule);
void find_clock(struct health_evaluation *e, enum health_rule_id rule);

#endif
