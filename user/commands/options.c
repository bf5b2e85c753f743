// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Subcommands and their options: one table for parsing and help. */
#include "commands/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/check.h"
#include "commands/observer.h"
#include "rpc/choice.h"
#include "base/time_text.h"

#define DEFAULT_OUTPUT "/var/lib/prometheus/node-exporter/xidscope.prom"
#define MAX_SECONDS 86400.0
#define MAX_WINDOW (3650 * 86400.0)

/* Until the options are known. */
static const char events_default[] = "-";

static const struct {
	const char *name;
	enum command command;
	const char *help;
} commands[] = {
	{ "run", COMMAND_RUN, "Observe, and write a metrics file every interval." },
	{ "trace", COMMAND_TRACE, "Observe for a while, and report on standard output." },
	{ "check", COMMAND_CHECK, "Judge the node's health by the metrics file." },
	{ "doctor", COMMAND_DOCTOR, "Say what this kernel offers, what is missing, and the fix." },
	{ "xid", COMMAND_XID, "Explain an Xid, and what to do about it." },
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
	if (end == value || *end || !isfinite(*to) || *to < min || *to > MAX_SECONDS)
		return min > 0 ? "seconds from 0.1 to 86400" : "seconds from 0 to 86400";
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
	if (errno || end == value || *end || *value == '-' || o->max_series < 8 ||
	    o->max_series > 1000000)
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

static const char *set_source(struct options *o, const char *value)
{
	o->sources = strcmp(value, "auto") ? 0 : RPC_SOURCES_ALL;
	for (int i = RPC_SOURCE_BTF; i < RPC_SOURCES; i++)
		if (!strcmp(value, rpc_source_names[i]))
			o->sources = RPC_SOURCE_BIT(i);
	return o->sources ? NULL : "auto, btf, tracepoints or mountstats";
}

static const char *set_state(struct options *o, const char *value)
{
	o->state = value;
	return *value ? NULL : "a file name";
}

static const char *set_events(struct options *o, const char *value)
{
	o->events = strcmp(value, "none") != 0 ? value : NULL;
	return *value ? NULL : "a file name, - for standard output, or none";
}

static const char *set_accept_user_kmsg(struct options *o, const char *value)
{
	(void)value;
	o->accept_user_kmsg = true;
	return NULL;
}

static const char *set_xid_policy(struct options *o, const char *value)
{
	o->xid_policy = value;
	return *value ? NULL : "a file name";
}

static const char *set_json(struct options *o, const char *value)
{
	(void)value;
	o->json = true;
	return NULL;
}

static const char *set_code(struct options *o, const char *value)
{
	unsigned long code;

	errno = 0;
	code = strtoul(value, NULL, 10);
	if (o->code || errno || !*value || value[strspn(value, "0123456789")] || code > UINT32_MAX)
		return "to be one number, as in \"xidscope xid 79\"";
	o->code = value;
	o->xid = (unsigned int)code;
	return NULL;
}

static const char *set_list(struct options *o, const char *value)
{
	(void)value;
	o->list = true;
	return NULL;
}

static const char *set_file(struct options *o, const char *value)
{
	o->file = value;
	return *value ? NULL : "a file name";
}

static const char *set_style(struct options *o, const char *value)
{
	static const char *const names[] = {
		[CHECK_NAGIOS] = "nagios", [CHECK_SLURM] = "slurm", [CHECK_NPD] = "npd"
	};

	for (int i = CHECK_NAGIOS; i <= CHECK_NPD; i++)
		if (!strcmp(value, names[i])) {
			o->style = (enum check_style)i;
			return NULL;
		}
	return "nagios, slurm or npd";
}

static const char *set_window(struct options *o, const char *value)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	size_t len = strspn(value, "0123456789.");
	char *end;

	o->health.window = strtod(value, &end);
	if (len && end == value + len)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (!strcmp(end, units[i].suffix)) {
				o->health.window *= units[i].seconds;
				if (o->health.window > 0 && o->health.window <= MAX_WINDOW)
					return NULL;
			}
	return "a time up to 3650d, as in 90, 30m, 12h or 7d";
}

static const char *set_since(struct options *o, const char *value)
{
	return time_from_text(value, &o->health.since) ?
		       NULL :
		       "a time as in 2026-11-21T10:00:00Z, or seconds since "
		       "the epoch";
}

static const char *set_ack(struct options *o, const char *value)
{
	o->ack = value;
	return *value ? NULL : "a file name";
}

static const char *set_max_age(struct options *o, const char *value)
{
	return set_seconds(&o->max_age, value, 0.1);
}

static const char *set_rule(struct options *o, const char *value)
{
	return health_set_rule(&o->health, value) ?
		       NULL :
		       "NAME=off, NAME=warn or NAME=fail, with :LIMIT where "
		       "--list-rules has one";
}

static const char *set_list_rules(struct options *o, const char *value)
{
	(void)value;
	o->list_rules = true;
	return NULL;
}

static const struct option_row {
	const char *name; /* with the dashes; without: the command's operand */
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
	{ "--format", "FORMAT", COMMAND_RUN, set_format, "openmetrics (default) or prometheus." },
	{ "--max-series", "N", COMMAND_RUN, set_max_series,
	  "Most label sets of one metric family; the newest\n"
	  "beyond fold into \"other\" (default: 2000)." },
	{ "--keep", NULL, COMMAND_RUN, set_keep, "Leave the file behind on a clean stop." },
	{ "--program-stats", NULL, COMMAND_RUN, set_program_stats,
	  "Count runs and time of the BPF programs." },
	{ "--hooks", "LIST", COMMAND_RUN | COMMAND_TRACE, set_hooks,
	  "What to observe: rpc,gpu (default: both)." },
	{ "--source", "SOURCE", COMMAND_RUN | COMMAND_TRACE, set_source,
	  "How to observe sunrpc: btf, tracepoints, mountstats or\n"
	  "auto, the best that the kernel allows (default)." },
	{ "--state", "FILE", COMMAND_RUN, set_state,
	  "Carries fault counts across restarts (default: none;\n"
	  "the kernel log is read from its beginning then)." },
	{ "--events", "FILE", COMMAND_RUN, set_events,
	  "Where to log each fault as a line of JSON; none for\n"
	  "nowhere. Default: - (standard output) unless --output\n"
	  "is that." },
	{ "--accept-user-kmsg", NULL, COMMAND_RUN | COMMAND_TRACE, set_accept_user_kmsg,
	  "Count Xid lines that a process wrote into /dev/kmsg,\n"
	  "for tests and drills." },
	{ "--log", "FORM", COMMAND_RUN | COMMAND_TRACE, set_log,
	  "Messages on standard error as text (default) or json." },
	{ "--verbose", NULL, COMMAND_RUN | COMMAND_TRACE, set_verbose,
	  "Messages of libbpf and other details, too." },
	{ "--xid-policy", "FILE", COMMAND_RUN | COMMAND_XID, set_xid_policy,
	  "Severity and action of Xids as this file has them." },
	{ "CODE", NULL, COMMAND_XID, set_code, "The Xid to explain." },
	{ "--list", NULL, COMMAND_XID, set_list, "All Xids of the catalog, a line each." },
	{ "--json", NULL, COMMAND_XID | COMMAND_CHECK | COMMAND_DOCTOR, set_json, "As JSON." },
	{ "--file", "FILE", COMMAND_CHECK, set_file,
	  "The metrics file of run. Default: as for --output." },
	{ "--style", "STYLE", COMMAND_CHECK, set_style,
	  "Who asks: nagios (default), slurm or npd. Exit codes:\n"
	  "0 well, 1 warning, 2 critical, 3 unknown;\n"
	  "npd: 0 well or warning, 1 critical, 2 unknown." },
	{ "--window", "DURATION", COMMAND_CHECK, set_window,
	  "Faults before that are over; in seconds, or with s, m,\n"
	  "h or d after the number." },
	{ "--since", "TIME", COMMAND_CHECK, set_since, "Faults before TIME are over." },
	{ "--ack", "FILE", COMMAND_CHECK, set_ack, "Faults that this file acknowledges are over." },
	{ "--max-age", "SECONDS", COMMAND_CHECK, set_max_age,
	  "An older file tells nothing (default: 120)." },
	{ "--rule", "RULE", COMMAND_CHECK, set_rule,
	  "NAME=off, warn or fail, perhaps with :LIMIT." },
	{ "--list-rules", NULL, COMMAND_CHECK, set_list_rules,
	  "List the rules and their defaults." },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* "run and trace", of a set of commands. */
static void print_commands(unsigned int set)
{
	const char *between = "";

	for (size_t i = 0; i < COMMANDS; i++)
		if (set & commands[i].command) {
			printf("%s%s", between, commands[i].name);
			between = " and ";
		}
}

static void print_row(const struct option_row *row)
{
	const char *line = row->help, *end;
	char head[48];

	snprintf(head, sizeof(head), "%s%s%s", row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
	printf("  %-20s  ", head);
	while ((end = strchr(line, '\n'))) {
		printf("%.*s\n%24s", (int)(end - line), line, "");
		line = end + 1;
	}
	puts(line);
}

/* Rows of the same commands together, in the order of their first ones. */
static void print_rows(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		bool first = true;

		for (size_t j = 0; j < i; j++)
			if (rows[j].commands == rows[i].commands)
				first = false;
		if (!first)
			continue;
		printf("\nOptions of ");
		print_commands(rows[i].commands);
		puts(":");
		for (size_t j = i; j < ROWS; j++)
			if (rows[j].commands == rows[i].commands)
				print_row(&rows[j]);
	}
}

static void print_help(void)
{
	puts("xidscope: where NFS calls spend their time, and which GPU fails\n"
	     "\nUsage: xidscope COMMAND [OPTION...]\n\nCommands:");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s  %s\n", commands[i].name, commands[i].help);
	print_rows();
	puts("\nExit codes: 0 done, 1 trouble, 2 wrong usage, 3 another agent "
	     "writes the same\nfile, 4 not permitted to load BPF programs.");
}

static enum command usage(const char *what, const char *value)
{
	fprintf(stderr, "xidscope: %s '%s'; see xidscope help\n", what, value);
	return 0;
}

/* The row of @word, which is an option or the command's operand. */
static const struct option_row *find_row(const char *word, size_t len, enum command command)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (!(rows[i].commands & command))
			continue;
		if (rows[i].name[0] != '-' && word[0] != '-' && word[0])
			return &rows[i];
		if (rows[i].name[0] == '-' && strlen(rows[i].name) == len &&
		    !strncmp(rows[i].name, word, len))
			return &rows[i];
	}
	return NULL;
}

/* What is wrong with the options as a whole; NULL: nothing. */
static const char *judge(enum command command, const struct options *o)
{
	if (command == COMMAND_XID && !o->code == !o->list)
		return "xid wants one of CODE and --list";
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
			       .events = events_default,
			       .hooks = HOOKS_RPC | HOOKS_GPU,
			       .sources = RPC_SOURCES_ALL,
			       .file = DEFAULT_OUTPUT,
			       .max_age = 120,
			       .wrong_usage = EXIT_USAGE };
	health_defaults(&o->health);
	if (argc < 2) {
		fputs("xidscope: a command is missing; see xidscope help\n", stderr);
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
	/* Who calls a check understands no other exit code. */
	if (command == COMMAND_CHECK)
		o->wrong_usage = CHECK_UNKNOWN;

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
		if (row->name[0] != '-') {
			value = argv[i];
		} else if (row->argument && !value) {
			if (i + 1 == argc)
				return usage("a value is missing after", argv[i]);
			value = argv[++i];
		} else if (!row->argument && value) {
			return usage("no value is taken by", row->name);
		}
		want = row->set(o, value);
		if (want) {
			fprintf(stderr, "xidscope: %s wants %s, not '%s'\n", row->name, want,
				value);
			return 0;
		}
	}
	if (o->events == events_default)
		o->events = strcmp(o->output, "-") != 0 ? "-" : NULL;
	want = judge(command, o);
	if (want) {
		fprintf(stderr, "xidscope: %s; see xidscope help\n", want);
		return 0;
	}
	if (command == COMMAND_HELP)
		print_help();
	return command;
}
