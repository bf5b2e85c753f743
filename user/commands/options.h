/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subcommands and their options: one table, from which parsing and help follow.
 */
#ifndef XIDSCOPE_OPTIONS_H
#define XIDSCOPE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "health/health.h"
#include "base/log.h"
#include "sinks/openmetrics.h"

/* Exit codes of the program. */
enum {
	EXIT_OK = 0,
	EXIT_TROUBLE = 1, /* could not do what was asked */
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_LOCKED = 3, /* another agent writes the same file */
	EXIT_PERMISSION = 4, /* the kernel does not allow BPF programs */
};

/* The caller whose conventions `check` follows. */
enum check_style { CHECK_NAGIOS, CHECK_SLURM, CHECK_NPD };

struct options {
	const char *output; /* "-": standard output */
	double interval; /* seconds */
	double duration; /* seconds; 0: until stopped */
	enum metrics_format format;
	unsigned int sources; /* that may be used: see rpc/choice.h */
	uint64_t max_series;
	bool keep;
	bool program_stats; /* have the kernel count runs of BPF programs */
	struct log log;
	unsigned int hooks; /* HOOKS_RPC | HOOKS_GPU */
	const char *state; /* NULL: none */
	const char *events; /* "-": standard output; NULL: none */
	bool accept_user_kmsg;
	const char *xid_policy; /* file; NULL: none */
	bool json; /* one JSON text instead of lines */

	/* xid: one of these two */
	const char *code; /* NULL: none was named */
	unsigned int xid; /* @code as a number */
	bool list;

	/* check */
	const char *file; /* the metrics file to judge */
	enum check_style style;
	double max_age; /* seconds; an older file tells nothing */
	const char *ack; /* file; NULL: none */
	struct health_options health; /* without acks */
	bool list_rules;

	int wrong_usage; /* exit code if the command line is wrong */
};

enum command {
	COMMAND_RUN = 1,
	COMMAND_TRACE = 2,
	COMMAND_CHECK = 4,
	COMMAND_XID = 8,
	COMMAND_METRICS = 16,
	COMMAND_HELP = 32,
	COMMAND_VERSION = 64,
	COMMAND_DOCTOR = 128,
};

/*
 * Reads the command line into *@o, which gets defaults first. Returns the
 * command, or 0 after an error message on standard error: then the program ends
 * with o->wrong_usage. COMMAND_HELP is
 * returned after the help has been printed.
 */
enum command options_parse(int argc, char **argv, struct options *o);

#endif
