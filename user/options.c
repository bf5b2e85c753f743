// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Subcommands and their options: one table for parsing and help. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observer.h"

#define DEFAULT_OUTPUT "/var/lib/prometheus/node-exporter/xidscope.prom"
#define MAX_SECONDS 86400.0

static const struct {
	const char *name;
	enum command command;
	const char *help;
} commands[] = {
	{ "run", COMMAND_RUN,
	  "Observe, and write a metrics file every interval." },
	{ "trace", COMMAND_TRACE,
	  "Observe for a while, and report on standard output." },
	{ "metrics", COMMAND_METRICS, "List all metrics that run exports." },
	{ "help", COMMAND_HELP, "Show this help." },
	{ "version", COMMAND_VERSION, "Show the version." },
};

static const char *set_output(struct options *o, const char *value)
{
	o->output = value;
	return *value ? NULL : "a file name, or - for standard output";
}

/* Seconds, with a fraction if need be. */
static const char *set_seconds(double *to, const char *value, double min)
{
	char *end;

	*to = strtod(value, &end);
	if (end == value || *end || !isfinite(*to) || *to < min ||
	    *to > MAX_SECONDS)
		return min > 0 ? "seconds from 0.1 to 86400"
			       : "seconds from 0 to 86400";
	return NULL;
}

static const char *set_interval(struct options *o, const char *value)
{
	return set_seconds(&o->interval, value, 0.1);
}

static const char *set_duration(struct options *o, const char *value)
{
	return set_seconds(&o->duration, value, 0);
}

static const char *set_format(struct options *o, const char *value)
{
	if (!strcmp(value, "openmetrics"))
		o->format = FORMAT_OPENMETRICS;
	else if (!strcmp(value, "prometheus"))
		o->format = FORMAT_PROMETHEUS;
	else
		return "openmetrics or prometheus";
	return NULL;
}

static const char *set_max_series(struct options *o, const char *value)
{
	char *end;

	errno = 0;
	o->max_series = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value == '-' ||
	    o->max_series < 8 || o->max_series > 1000000)
		return "a number from 8 to 1000000";
	return NULL;
}

static const char *set_keep(struct options *o, const char *value)
{
	(void)value;
	o->keep = true;
	return NULL;
}

static const char *set_program_stats(struct options *o, const char *value)
{
	(void)value;
	o->program_stats = true;
	return NULL;
}

static const char *set_log(struct options *o, const char *value)
{
	o->log.json = !strcmp(value, "json");
	return o->log.json || !strcmp(value, "text") ? NULL : "text or json";
}

static const char *set_verbose(struct options *o, const char *value)
{
	(void)value;
	o->log.verbose = true;
	return NULL;
}

static const char *set_hooks(struct options *o, const char *value)
{
	size_t len;

	o->hooks = 0;
	for (;; value += len + 1) {
		len = strcspn(value, ",");
		if (len == 3 && !strncmp(value, "rpc", 3))
			o->hooks |= HOOKS_RPC;
		else if (len == 3 && !strncmp(value, "gpu", 3))
			o->hooks |= HOOKS_GPU;
		else
			return "a list of rpc and gpu, separated by commas";
		if (!value[len])
			return NULL;
	}
}

static const struct option_row {
	const char *name; /* with the dashes */
	const char *argument; /* NULL: takes none */
	unsigned int commands; /* that have it */
	/* Returns NULL, or what would have been right. */
	const char *(*set)(struct options *o, const char *value);
	const char *help;
} rows[] = {
	{ "--output", "FILE", COMMAND_RUN, set_output,
	  "Where to write; - is standard output.\n"
	  "Default: " DEFAULT_OUTPUT },
	{ "--interval", "SECONDS", COMMAND_RUN | COMMAND_TRACE, set_interval,
	  "Time between writes (run: 15) or lines (trace: 1)." },
	{ "--duration", "SECONDS", COMMAND_RUN | COMMAND_TRACE, set_duration,
	  "Stop after this time. Default: run until stopped." },
	{ "--format", "FORMAT", COMMAND_RUN, set_format,
	  "openmetrics (default) or prometheus." },
	{ "--max-series", "N", COMMAND_RUN, set_max_series,
	  "Most label sets of one metric family; the newest\n"
	  "beyond fold into \"other\" (default: 2000)." },
	{ "--keep", NULL, COMMAND_RUN, set_keep,
	  "Leave the file behind on a clean stop." },
	{ "--program-stats", NULL, COMMAND_RUN, set_program_stats,
	  "Count runs and time of the BPF programs." },
	{ "--hooks", "LIST", COMMAND_RUN | COMMAND_TRACE, set_hooks,
	  "What to observe: rpc,gpu (default: both)." },
	{ "--log", "FORM", COMMAND_RUN | COMMAND_TRACE, set_log,
	  "Messages on standard error as text (default) or json." },
	{ "--verbose", NULL, COMMAND_RUN | COMMAND_TRACE, set_verbose,
	  "Messages of libbpf and other details, too." },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	char head[48];

	puts("xidscope: where NFS calls spend their time, and which GPU fails\n"
	     "\nUsage: xidscope COMMAND [OPTION...]\n\nCommands:");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s  %s\n", commands[i].name, commands[i].help);
	puts("\nOptions of run and trace:");
	for (size_t i = 0; i < ROWS; i++) {
		const char *line = rows[i].help, *end;
		bool both = rows[i].commands == (COMMAND_RUN | COMMAND_TRACE);

		snprintf(head, sizeof(head), "%s%s%s", rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		printf("  %-20s  %s", head, both ? "" : "(run) ");
		while ((end = strchr(line, '\n'))) {
			printf("%.*s\n%24s", (int)(end - line), line, "");
			line = end + 1;
		}
		puts(line);
	}
	puts("\nExit codes: 0 done, 1 trouble, 2 wrong usage, 3 another agent "
	     "writes the same\nfile, 4 not permitted to load BPF programs.");
}

static enum command usage(const char *what, const char *value)
{
	fprintf(stderr, "xidscope: %s '%s'; see xidscope help\n", what, value);
	return 0;
}

static const struct option_row *find_row(const char *name, size_t len,
					 enum command command)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].commands & command &&
		    strlen(rows[i].name) == len &&
		    !strncmp(rows[i].name, name, len))
			return &rows[i];
	return NULL;
}

enum command options_parse(int argc, char **argv, struct options *o)
{
	const struct option_row *row;
	enum command command = 0;
	const char *value, *want;
	size_t len;

	*o = (struct options){ .output = DEFAULT_OUTPUT,
			       .max_series = 2000,
			       .hooks = HOOKS_RPC | HOOKS_GPU };
	if (argc < 2) {
		fputs("xidscope: a command is missing; see xidscope help\n",
		      stderr);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			command = commands[i].command;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		command = COMMAND_HELP;
	if (!strcmp(argv[1], "--version"))
		command = COMMAND_VERSION;
	if (!command)
		return usage("unknown command", argv[1]);
	o->interval = command == COMMAND_TRACE ? 1 : 15;

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			command = COMMAND_HELP;
			break;
		}
		len = strcspn(argv[i], "=");
		row = find_row(argv[i], len, command);
		if (!row)
			return usage("unknown option", argv[i]);
		value = argv[i][len] ? argv[i] + len + 1 : NULL;
		if (row->argument && !value) {
			if (i + 1 == argc)
				return usage("a value is missing after",
					     argv[i]);
			value = argv[++i];
		} else if (!row->argument && value) {
			return usage("no value is taken by", row->name);
		}
		want = row->set(o, value);
		if (want) {
			fprintf(stderr, "xidscope: %s wants %s, not '%s'\n",
				row->name, want, value);
			return 0;
		}
	}
	if (command == COMMAND_HELP)
		print_help();
	return command;
}
