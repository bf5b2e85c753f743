// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The health rules' settings, and their evaluation. */
#include "health/health.h"

#include "base/time_text.h"

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

bool health_set_rule(struct health_options *o, const char *text)
{
	struct span rest = span_of(text);
	struct span name = span_take_field(&rest, "="), level = span_take_until(&rest, ":");
	int rule = 0, l = HEALTH_OK;
	double limit;

	while (rule < HEALTH_RULES && !span_is(name, health_rules[rule].name))
		rule++;
	while (l <= HEALTH_FAIL && !span_is(level, health_level_names[l]))
		l++;
	if (rule == HEALTH_RULES || l > HEALTH_FAIL)
		return false;
	limit = o->rules[rule].limit;
	if (span_take(&rest, ":")) {
		const char *end = decimal_from_text(rest.at, &limit);

		if (!*health_rules[rule].unit || !end || *end || limit <= 0 || limit > MAX_LIMIT)
			return false;
	}
	o->rules[rule].level = (enum health_level)l;
	o->rules[rule].limit = limit;
	return true;
}

void health_evaluate(const struct snapshot *s, const struct health_options *o, double now,
		     struct health_report *report)
{
	/* The report is filled below, not by the caller. */
	/* cppcheck-suppress ctuuninitvar */
	struct health_evaluation e = { s, o, now, report, false };

	memset(report, 0, offsetof(struct health_report, findings));
	for (int turn = 0; turn < 2; turn++) {
		e.acknowledged = turn;
		for (int level = HEALTH_FAIL; level > HEALTH_OK; level--)
			for (int rule = 0; rule < HEALTH_RULES; rule++)
				if (o->rules[rule].level == (enum health_level)level &&
				    (o->node || !health_rules[rule].local))
					health_rules[rule].find(&e, (enum health_rule_id)rule);
	}
}

_Static_assert(HEALTH_RULES <=
		       sizeof(((struct snapshot *)0)->self.health) / sizeof(struct health_state),
	       "a snapshot has room for all rules");

void health_to_snapshot(const struct health_report *report, const struct health_options *o,
			struct snapshot *s)
{
	for (int rule = 0; rule < HEALTH_RULES; rule++)
		if (o->rules[rule].level != HEALTH_OK && (o->node || !health_rules[rule].local))
			snapshot_health(&s->self, health_rules[rule].name,
					(int)report->rules[rule]);
	ARRAY_EACH(f, report->findings, report->count)
		snapshot_finding(&s->self, health_rules[f->rule].name, f->device, f->what);
}
