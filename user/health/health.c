// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The health rules' settings, and their evaluation. */
#include "health/health.h"

#include <stdlib.h>
#include <string.h>

#include "health/evaluation.h"

#define MAX_LIMIT 1e9

const char *const health_level_names[HEALTH_FAIL + 1] = {
	[HEALTH_OK] = "off",
	[HEALTH_WARN] = "warn",
	[HEALTH_FAIL] = "fail",
};

void health_defaults(struct health_options *o)
{
	*o = (struct health_options){};
	for (int i = 0; i < HEALTH_RULES; i++) {
		o->rules[i].level = health_rules[i].level;
		o->rules[i].limit = health_rules[i].limit;
	}
}

/* The digits after the colon; a fraction is allowed. */
static bool parse_limit(const char *text, double *limit)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.")])
		return false;
	*limit = strtod(text, &end);
	return !*end && *limit > 0 && *limit <= MAX_LIMIT;
}

bool health_set_rule(struct health_options *o, const char *text)
{
	const char *level = strchr(text, '=');
	size_t len, rule, l;
	double limit;

	if (!level)
		return false;
	len = (size_t)(level++ - text);
	for (rule = 0; rule < HEALTH_RULES; rule++)
		if (strlen(health_rules[rule].name) == len &&
		    !strncmp(health_rules[rule].name, text, len))
			break;
	if (rule == HEALTH_RULES)
		return false;
	len = strcspn(level, ":");
	for (l = 0; l <= HEALTH_FAIL; l++)
		if (strlen(health_level_names[l]) == len &&
		    !strncmp(health_level_names[l], level, len))
			break;
	if (l > HEALTH_FAIL)
		return false;
	limit = o->rules[rule].limit;
	if (level[len] && (!*health_rules[rule].unit || !parse_limit(level + len + 1, &limit)))
		return false;
	o->rules[rule].level = (enum health_level)l;
	o->rules[rule].limit = limit;
	return true;
}

void health_evaluate(const struct snapshot *s, const struct health_options *o, double now,
		     struct health_report *report)
{
	/* The report is filled below, not by the caller. */
	/* cppcheck-suppress ctuuninitvar */
	struct health_evaluation e = { s, o, now, report };

	report->level = HEALTH_OK;
	report->total = 0;
	report->count = 0;
	memset(report->rules, 0, sizeof(report->rules));
	for (int level = HEALTH_FAIL; level > HEALTH_OK; level--)
		for (int rule = 0; rule < HEALTH_RULES; rule++)
			if (o->rules[rule].level == (enum health_level)level)
				health_rules[rule].find(&e, (enum health_rule_id)rule);
}

void health_to_snapshot(const struct health_report *report, const struct health_options *o,
			struct snapshot *s)
{
	for (int rule = 0; rule < HEALTH_RULES; rule++)
		if (o->rules[rule].level != HEALTH_OK)
			snapshot_health(s, health_rules[rule].name, (int)report->rules[rule]);
}
