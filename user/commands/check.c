// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope check`: prints the agent's health file for each caller. It evaluates nothing. */
#include <math.h>

#include "base/json.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "health/health_file.h"

#define REASON_SIZE 640

struct result {
	enum check_exit exit;
	struct health_file file; /* .error: why the health is unknown */
	struct health_list open; /* open findings of rules that are not ignored, the worst first */
	struct health_list quiet; /* the same that are acknowledged or snoozed */
	size_t total; /* open findings, including those that the file leaves out */
};

/* By the exit code for Nagios. Slurm drains a node if the prolog fails, therefore only a failure is one there. */
static const struct {
	const char *name, *word;
	const char *level; /* in the file */
	int codes[CHECK_STYLES];
} results[] = {
	[CHECK_OK] = { "OK", "ok", "ok", { CHECK_OK, CHECK_OK, NPD_OK } },
	[CHECK_WARNING] = { "WARNING", "warning", "warn", { CHECK_WARNING, CHECK_OK, NPD_OK } },
	[CHECK_CRITICAL] = { "CRITICAL",
			     "critical",
			     "fail",
			     { CHECK_CRITICAL, CHECK_CRITICAL, NPD_PROBLEM } },
	[CHECK_UNKNOWN] = { "UNKNOWN", "unknown", NULL, { CHECK_UNKNOWN, CHECK_OK, NPD_UNKNOWN } },
};

/* Returns the exit code of the item's level; CHECK_UNKNOWN if the level is not known. */
static enum check_exit level_of(const struct health_item *item)
{
	enum check_exit i = CHECK_OK;

	while (i < CHECK_UNKNOWN && strcmp(item->level, results[i].level) != 0)
		i++;
	return i;
}

static const char *name_of(const struct health_item *item)
{
	return results[level_of(item)].name;
}

static const struct health_rule *find_rule(const char *name)
{
	return ARRAY_FIND(r, health_rules, HEALTH_RULES, !strcmp(r->name, name));
}

static bool is_ignored(const struct options *o, const struct health_item *item)
{
	const struct health_rule *rule = find_rule(item->rule);

	return rule && o->ignored[rule - health_rules];
}

/* Takes the file's result without that of the ignored rules. */
static void take_result(struct result *v, const struct options *o)
{
	struct health_file *f = &v->file;

	ARRAY_EACH(rule, f->rules.items, f->rules.count) {
		if (is_ignored(o, rule))
			continue;
		RAISE(v->exit, level_of(rule));
		v->total += rule->open > 0 ? (size_t)rule->open : 0;
	}
	/* Both lists are parts of the file's list, in which the open findings come first. */
	for (size_t i = 0, kept = 0; i < f->findings.count; i++) {
		struct health_item *item = &f->findings.items[i];

		if (is_ignored(o, item))
			continue;
		f->findings.items[kept] = *item;
		if (!strcmp(item->state, "open"))
			v->open = (struct health_list){ f->findings.items, kept + 1 };
		kept++;
		v->quiet = (struct health_list){ f->findings.items + v->open.count,
						 kept - v->open.count };
	}
	if (v->exit == CHECK_UNKNOWN) {
		safe_format(f->error, sizeof(f->error), "%s: a rule's result is not known",
			    o->health_file);
		v->open.count = 0;
		v->quiet.count = 0;
	}
}

static void read_result(struct result *v, const struct options *o)
{
	*v = (struct result){ .exit = CHECK_UNKNOWN };
	if (!health_file_read(&v->file, o->health_file, o->max_age, false))
		return;
	if (*v->file.trouble) {
		safe_format(v->file.error, sizeof(v->file.error), "%s", v->file.trouble);
		return;
	}
	v->exit = CHECK_OK;
	take_result(v, o);
}

/* ---- output for each caller ---- */

/* For Nagios a bar begins the performance data. */
static void replace_bars(char *text, const char *end)
{
	for (; text < end; text++)
		if (*text == '|')
			*text = '/';
}

static const char *first_line(const struct result *v)
{
	return v->exit == CHECK_UNKNOWN ? v->file.error :
	       v->open.count            ? v->open.items[0].reason :
					  "no open fault";
}

/* Returns 0 for a figure that the file lacks. */
static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* label=value[unit];warning;critical */
static void print_performance(const struct result *v)
{
	const struct health_item *rule =
		ARRAY_FIND(x, v->file.rules.items, v->file.rules.count,
			   !strcmp(x->rule, health_rules[HEALTH_NFS_WAITER].name));

	printf(" | xids=%.0f oldest_waiter=%.1fs", known(v->file.xids),
	       known(v->file.oldest_waiter));
	if (rule && !strcmp(rule->setting, "warn"))
		printf(";%g", rule->limit);
	else if (rule && !strcmp(rule->setting, "fail"))
		printf(";;%g", rule->limit);
}

/* Prints the worst finding and the performance data, then a line for each other finding. */
static void print_nagios(struct result *v)
{
	replace_bars(v->file.error, v->file.error + sizeof(v->file.error));
	replace_bars(v->file.decoded, v->file.next);
	printf("XIDSCOPE %s: %s", results[v->exit].name, first_line(v));
	if (!v->open.count && v->quiet.count)
		printf(" (%zu %s: %s)", v->quiet.count, v->quiet.items[0].state,
		       v->quiet.items[0].head);
	if (v->exit != CHECK_UNKNOWN) {
		if (v->total > 1)
			printf(" (%zu more)", v->total - 1);
		print_performance(v);
	}
	putchar('\n');
	for (size_t i = 1; i < v->open.count; i++)
		printf("%s: %s\n", name_of(&v->open.items[i]), v->open.items[i].reason);
}

/* Writes the reason for draining the node to @to; "": there is none. `sinfo -R` shows its first 20 characters. The text in
 * brackets shows a later check that the drain is its own. */
static void drain_reason(const struct result *v, char *to, size_t size)
{
	const struct health_item *f = v->open.items;
	size_t count = v->total;
	char more[32] = "";

	*to = 0;
	if (v->exit == CHECK_UNKNOWN || !v->open.count)
		return;
	if (v->exit == CHECK_CRITICAL)
		for (count = 0; count < v->open.count && level_of(&f[count]) == CHECK_CRITICAL;)
			count++;
	if (count > 1)
		snprintf(more, sizeof(more), " (%zu more)", count - 1);
	safe_format(to, size, "%s [xidscope %s] %s%s", f->head, f->level, f->reason, more);
}

static void print_slurm(const struct result *v)
{
	char reason[REASON_SIZE];

	if (v->exit == CHECK_UNKNOWN)
		trouble("%s", v->file.error);
	drain_reason(v, reason, sizeof(reason));
	if (*reason)
		puts(reason);
}

static void print_json(const struct result *v, const struct options *o, int code)
{
	struct json j = { .out = stdout };
	char reason[REASON_SIZE];

	drain_reason(v, reason, sizeof(reason));
	json_object(&j, NULL);
	json_text(&j, "health", results[v->exit].word);
	json_signed(&j, "exit_code", code);
	json_text(&j, "file", o->health_file);
	if (!isnan(v->file.age))
		json_fraction(&j, "age_seconds", v->file.age, 3);
	if (v->exit == CHECK_UNKNOWN) {
		json_text(&j, "trouble", v->file.error);
	} else {
		json_text(&j, "source", v->file.source);
		json_fraction(&j, "xids", known(v->file.xids), 0);
		json_fraction(&j, "oldest_waiter_seconds", known(v->file.oldest_waiter), 3);
		json_text(&j, "drain_reason", reason);
	}
	health_list_write(&j, "findings", &v->open);
	health_list_write(&j, "acknowledged", &v->quiet);
	json_unsigned(&j, "left_out", v->total > v->open.count ? v->total - v->open.count : 0);
	json_end(&j);
}

/* ---- for people ---- */

static void explain_time(const char *name, double seconds)
{
	printf("  %s%s\n", name, seconds > 0 ? LOCAL_TIME(seconds) : "not known");
}

static void explain_finding(const struct health_item *f)
{
	const struct health_rule *rule = find_rule(f->rule);

	putchar('\n');
	terminal_line(stdout, 2, "%s: %s", name_of(f), f->reason);
	terminal_line(stdout, 12, "  rule      %s: %s", f->rule, rule ? rule->help : "");
	if (f->count > 0)
		printf("  evidence  %s, %.0f time%s, action %s\n", f->head, f->count,
		       f->count > 1 ? "s" : "", *f->action ? f->action : "none");
	else
		puts("  evidence  the present state");
	explain_time("began     ", f->first);
	if (f->count > 0)
		explain_time("last      ", f->last);
	terminal_line(stdout, 12, "  ended by  %s", f->clears);
	printf("  to acknowledge it: %s\n", f->acknowledge);
}

/* Prints each finding with its evidence, its begin, and what ends it. */
static void print_explained(const struct result *v)
{
	printf("%s: ", results[v->exit].name);
	if (v->exit == CHECK_UNKNOWN)
		puts(v->file.error);
	else
		printf("%zu finding%s\n", v->total, v->total == 1 ? "" : "s");
	ARRAY_EACH(f, v->open.items, v->open.count)
		explain_finding(f);
	if (v->total > v->open.count && v->exit != CHECK_UNKNOWN)
		printf("\nand %zu more\n", v->total - v->open.count);
	ARRAY_EACH(f, v->quiet.items, v->quiet.count)
		terminal_line(stdout, 2, "%s: %s", f->state, f->reason);
}

/* Prints a line for each rule, with fields separated by tabs. */
static int list_rules(void)
{
	ARRAY_EACH(r, health_rules, HEALTH_RULES) {
		printf("%s\t%s\t", r->name, health_level_names[r->level]);
		if (*r->unit)
			printf("%g", r->limit);
		printf("\t%s\t%s\n", r->unit, r->help);
	}
	return CHECK_OK;
}

int cmd_check(const struct options *o)
{
	struct result v;
	int code;

	if (o->list_rules)
		return list_rules();
	read_result(&v, o);
	code = results[v.exit].codes[o->style];
	if (o->json)
		print_json(&v, o, code);
	else if (o->explain)
		print_explained(&v);
	else if (o->style == CHECK_SLURM)
		print_slurm(&v);
	else if (o->style == CHECK_NPD)
		puts(first_line(&v));
	else
		print_nagios(&v);
	health_file_free(&v.file);
	return code;
}
