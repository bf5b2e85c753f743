// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands/options.h"

#include "base/span.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/observer.h"
#include "health/health_file.h"
#include "sinks/metrics.h"
#include "version.h"
#include "xid/xid_line.h"

#define DAY 86400.0

const struct command_row command_rows[COMMANDS] = {
#define TABLE_ROW(COMMAND, name, run, help, ...) \
	[COMMAND_##COMMAND] = { name, run, help, { __VA_ARGS__ } },
#include "commands.inc"
};

/* ---- readers of OPTION_OTHER values: each returns NULL, or a hint for the error ---- */

static const char *read_output(struct options *o, const char *value)
{
	o->output = value;
	return !strcmp(value, "-") || span_ends_with(span_of(value), ".prom") ?
		       NULL :
		       "name a file that ends in .prom; node_exporter reads no others";
}

static const char *read_storage(struct options *o, const char *value)
{
	return storage_rules_add(&o->storage, value);
}

static const char *read_owner_env(struct options *o, const char *value)
{
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	const char *hint = "use names of variables, at most 64 bytes each: NAME,NAME";
	size_t len;

	o->owner_env = value;
	for (;; value += len + 1) {
		len = strcspn(value, ",");
		if (!strspn(value, LETTERS) || len > 64 ||
		    strspn(value, LETTERS "0123456789") != len)
			return hint;
		if (!value[len])
			return NULL;
	}
}

static const char *read_slower(struct options *o, const char *value)
{
	double ms;
	const char *end = decimal_from_text(value, &ms);

	o->filter.slower = ms / 1e3;
	return end && !*end && ms >= 0.001 && ms <= 1e6 ? NULL :
							  "use milliseconds from 0.001 to 1000000";
}

static const char *read_files(struct options *o, const char *value)
{
	return span_number(span_of(*value ? value : "10"), FILES_SHOWN_MAX, &o->files) && o->files ?
		       NULL :
		       "use a number from 1 to 1000";
}

static const char *read_code(struct options *o, const char *value)
{
	if (o->text_count == XID_TEXTS_MAX)
		return "use \"xidscope xid -\" for so many";
	if (strcmp(value, "-") != 0 && !xid_codes_only(span_of(value)) && !strstr(value, ": "))
		return "use an Xid, sxid:NUMBER, a line of the kernel log, or -";
	o->texts[o->text_count++] = value;
	return NULL;
}

static const char *read_fault(struct options *o, const char *value)
{
	struct span text = span_of(value);

	switch (o->operands++) {
	case 0:
		return ack_read_device(text, &o->fault) ? NULL : "use " ACK_DEVICE_FORMS;
	case 1:
		return ack_read_what(text, &o->fault) ? NULL : "use " ACK_WHAT_FORMS;
	default:
		return "use one GPU and one CODE";
	}
}

static const char *read_note(struct options *o, const char *value)
{
	o->note = value;
	return strlen(value) <= 200 ? NULL : "use at most 200 bytes";
}

static const char *read_mount(struct options *o, const char *value)
{
	if (*value != '/' || strlen(value) >= LABEL_SIZE)
		return "use an absolute path, which may end in \",ro\"";
	if (o->mount_count == NODE_MOUNTS_MAX)
		return "use at most 32";
	o->mounts[o->mount_count++] = value;
	return NULL;
}

/* Says that there is no such rule, or what is wrong with its setting. */
static const char *advise_rule(const char *name, size_t len)
{
	struct nearest near = { .word = name, .len = len };
	static char nearest[80];

	for (int i = 0; i < HEALTH_RULES; i++)
		nearest_offer(&near, health_rules[i].name);
	if (!near.name)
		return "there is no such rule; see xidscope check --list-rules";
	if (!near.distance)
		return "use NAME=off, NAME=warn or NAME=fail, with :LIMIT where --list-rules has one";
	snprintf(nearest, sizeof(nearest), "no such rule; did you mean %s?", near.name);
	return nearest;
}

static const char *read_rule(struct options *o, const char *value)
{
	return health_set_rule(&o->health, value) ? NULL : advise_rule(value, strcspn(value, "="));
}

static const char *read_ignored(struct options *o, const char *value)
{
	for (size_t len;; value += len + 1) {
		const struct health_rule *rule;

		len = strcspn(value, ",");
		rule = ARRAY_FIND(r, health_rules, HEALTH_RULES,
				  strlen(r->name) == len && !strncmp(r->name, value, len));
		if (!rule)
			return advise_rule(value, len);
		o->ignored[rule - health_rules] = true;
		if (!value[len])
			return NULL;
	}
}

static const char *read_command(struct options *o, const char *value)
{
	const struct command_row *row =
		ARRAY_FIND(r, command_rows, COMMANDS, r->name && !strcmp(value, r->name));

	o->help_of = row ? (enum command)(row - command_rows) : COMMAND_NONE;
	return row ? NULL : "no such command; see xidscope help";
}

/* ---- the options, in the order of the help ---- */

#define RUN (1u << COMMAND_RUN)
#define TOP (1u << COMMAND_TOP)
#define STATUS (1u << COMMAND_STATUS)
#define TRACE (1u << COMMAND_TRACE)
#define CHECK (1u << COMMAND_CHECK)
#define ACK (1u << COMMAND_ACK)
#define DOCTOR (1u << COMMAND_DOCTOR)
#define XID (1u << COMMAND_XID)
#define WHY (1u << COMMAND_WHY)
#define FAULTS (1u << COMMAND_FAULTS)
#define HELP (1u << COMMAND_HELP)

#define AT(to) .member = offsetof(struct options, to)
#define OF(to, of) AT(to), .words = (of)
#define BY(function) .read = (function)

const struct option_row option_rows[] = {
#define TABLE_ROW(name_, argument_, commands_, type_, to, min_, max_, help_) \
	{ .name = name_,                                                     \
	  .argument = argument_,                                             \
	  .commands = commands_,                                             \
	  .type = OPTION_##type_,                                            \
	  to,                                                                \
	  .min = min_,                                                       \
	  .max = max_,                                                       \
	  .help = help_ },
#include "options.inc"
};

const size_t option_row_count = COUNT(option_rows);

/* ---- the commands about the program itself: `xidscope help`, `metrics` and `version` ---- */

#define LEFT 22 /* columns of an option and its argument */

static void print_row(const struct option_row *row)
{
	char head[LEFT], text[600];

	snprintf(head, sizeof(head), "%s%s%s", row->name, *row->argument ? " " : "", row->argument);
	snprintf(text, sizeof(text), "  %-*s%s", LEFT, head, row->help);
	terminal_wrap(stdout, text, TERMINAL_COLUMNS, 0, LEFT + 2);
	putchar('\n');
}

static void print_command_help(enum command command)
{
	const struct command_row *c = &command_rows[command];
	const struct option_row *rows = option_rows, *operand, *option, *duration;
	const unsigned int bit = 1u << command;

	operand = ARRAY_FIND(r, rows, option_row_count, r->commands & bit && *r->name != '-');
	option = ARRAY_FIND(r, rows, option_row_count, r->commands & bit && *r->name == '-');
	duration = ARRAY_FIND(r, rows, option_row_count,
			      r->commands & bit && r->type == OPTION_DURATION);
	printf("Usage: xidscope %s%s%s%s%s\n\n%s.\n", c->name, option ? " [OPTION...]" : "",
	       operand ? " [" : "", operand ? operand->name : "", operand ? "]" : "", c->help);
	if (option || operand)
		puts("\nOptions:");
	ARRAY_EACH(r, rows, option_row_count)
		if (r->commands & bit)
			print_row(r);
	if (duration)
		puts("\nA DURATION is in seconds, or a number with s, m, h or d, as in 90, 1.5m or 7d.");
	puts("\nExamples:");
	for (int i = 0; i < 2 && c->examples[i]; i++)
		printf("  xidscope %s\n", c->examples[i]);
}

int cmd_help(const struct options *o)
{
	if (o->help_of) {
		print_command_help(o->help_of);
		return EXIT_OK;
	}
	puts("Show where NFS calls spend their time, and which GPU fails.\n\n"
	     "Usage: xidscope COMMAND [OPTION...]\n\nCommands:");
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
		printf("  %-10s  %s\n", command_rows[i].name, command_rows[i].help);
	puts("\n\"xidscope COMMAND --help\" shows the options of a command, with examples.\n"
	     "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 another agent writes the same\n"
	     "file, or no agent runs (faults), 4 not permitted to observe anything. The check\n"
	     "command has its own.");
	return EXIT_OK;
}

/* A line per family, fields separated by tabs. */
int cmd_metrics(const struct options *o)
{
	(void)o;
	for (int i = 0; i < METRICS; i++)
		printf("%s%s\t%s\t%s\t%s\t%s\n", METRIC_PREFIX, metrics[i].name,
		       metric_type_names[metrics[i].type], metrics[i].unit, metrics[i].labels,
		       metrics[i].help);
	return EXIT_OK;
}

int cmd_version(const struct options *o)
{
	(void)o;
	puts("xidscope " XIDSCOPE_VERSION);
	return EXIT_OK;
}
