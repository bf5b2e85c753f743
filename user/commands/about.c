// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The commands about the program itself: `xidscope help`, `metrics` and `version`. */

#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/option_table.h"
#include "sinks/metrics.h"
#include "version.h"

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
