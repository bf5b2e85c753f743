/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line: the command, and the values of its options. */
#pragma once

#include "base/log.h"
#include "health/health.h"
#include "rpc/rpc_observer.h"
#include "session/session.h"
#include "sinks/metrics.h"

/* ---- storage.c: which storage system a server belongs to, by rules NAME=PATTERN. Clusters use many addresses of one system ---- */

#define STORAGE_RULES_MAX 64

struct storage_rules {
	struct {
		char name[LABEL_SIZE];
		const char *pattern; /* a shell's, fnmatch(3) */
	} rules[STORAGE_RULES_MAX];
	size_t count;
};

/* Adds the rule "NAME=PATTERN"; @text must outlive the rules. Returns NULL, or what is wrong with it. */
const char *storage_rules_add(struct storage_rules *r, const char *text);

/* Adds to @s the storage system of each server that has calls or a mount. The first rule counts whose pattern matches
 * - the server's name, with or without its network namespace, or
 * - an address of one of its transports or mounts.
 * The case of letters does not matter. */
void storage_rules_apply(const struct storage_rules *r, struct snapshot *s);

/* ---- the options ---- */

enum command {
	COMMAND_NONE,
#define TABLE_ROW(COMMAND, ...) COMMAND_##COMMAND,
#include "commands.inc"
	COMMANDS,
};

/* The program whose conventions `check` follows. */
enum check_style { CHECK_NAGIOS, CHECK_SLURM, CHECK_NPD, CHECK_STYLES };

/* Strings belong to the command line, or are static. */
#define XID_TEXTS_MAX 32

struct options {
	const char *output; /* "-": standard output */
	double interval; /* seconds */
	double duration; /* seconds; 0: until stopped */
	enum metrics_format format;
	enum metric_detail detail;
	unsigned int source; /* alone may be used: an enum rpc_source; RPC_SOURCE_NONE: the best */
	const char *sunrpc_btf; /* file with the types of sunrpc; NULL: none */
	int owners; /* whether calls are counted by owner */
	const char *owner_env; /* variables that name owners; NULL: none */
	struct storage_rules storage;
	bool keep;
	struct log log;
	unsigned int hooks; /* HOOKS_RPC | HOOKS_GPU */
	const char *state; /* NULL: none */
	const char *events; /* "-": standard output; NULL: none */
	bool accept_user_kmsg;
	const char *xid_policy; /* file; NULL: none */
	bool json; /* write JSON instead of lines */

	/* trace */
	struct session_filter filter;
	uint64_t files; /* to be shown by each measure; 0: none */
	const char *json_file, *html; /* "-": standard output; NULL: none */
	bool markdown;
	const char *record, *replay; /* "-": standard output, input; NULL: none */

	unsigned int by; /* top: an enum top_by */
	uint64_t batch; /* top: views to print; 0: on the screen */

	bool list; /* of xid and ack */

	/* xid: these, or @list */
	const char *texts[XID_TEXTS_MAX]; /* codes, or lines of a log; "-": standard input */
	size_t text_count;

	/* ack: the fault, unless @list */
	bool remove, force;
	unsigned int operands; /* given: GPU, then CODE */
	struct ack fault; /* also that of --until */
	const char *note; /* NULL: none */

	const char *health_file; /* of run and those that read it; NULL: none */
	double max_age; /* seconds; an older file makes the health unknown */

	/* check */
	enum check_style style;
	bool ignored[HEALTH_RULES];

	/* run */
	const char *ack; /* file, also of trace and ack */
	struct health_options health; /* without acks */
	const char *mounts[NODE_MOUNTS_MAX];
	size_t mount_count;
	uint64_t gpus; /* the least number; 0: any */

	/* check */
	bool list_rules;
	bool explain;

	/* why: the window, in seconds since the epoch; 0: not given */
	double past_since, past_until;
	const char *past_events; /* the event log; "-": standard input */
	const char *job; /* of a scheduler, or a pod; NULL: none */

	enum command help_of; /* help: the command to explain; COMMAND_NONE: all */

	int wrong_usage; /* exit code if the command line is wrong */
};

/* Reads the command line into *@o. Returns the command; COMMAND_NONE: after a message, end with o->wrong_usage. */
enum command options_parse(int argc, char **argv, struct options *o);

/* Returns the options of the observer of calls. */
struct rpc_options options_rpc(const struct options *o);

/* ---- option_table.c: commands and options; parsing and help use them, and the man page is checked against them ---- */

#define DEFAULT_EVENTS "/var/lib/xidscope/events"
#define DEFAULT_OUTPUT "/var/lib/prometheus/node-exporter/xidscope.prom"

struct command_row {
	const char *name;
	int (*run)(const struct options *options); /* returns the program's exit code */
	const char *help;
	const char *examples[2]; /* arguments of the program; NULL: none */
};

extern const struct command_row command_rows[COMMANDS];

/* The kind of a value, and the type of its member in struct options. */
enum option_type {
	OPTION_FLAG, /* bool; the option has no value */
	OPTION_DURATION, /* double: seconds from @min to @max */
	OPTION_COUNT, /* uint64_t from @min to @max */
	OPTION_TIME, /* double: seconds since the epoch; @min: an enum time_direction */
	OPTION_FILE, /* const char *, not empty; NULL for the word @words, if there is one */
	OPTION_WORD, /* unsigned int: the number of one of @words, from 0 on */
	OPTION_WORDS, /* unsigned int: a set of 1u << number of some of @words */
	OPTION_OTHER, /* read by @read */
};

struct option_row {
	const char *name; /* with its dashes; an operand has none */
	const char *argument; /* "": the option takes none */
	unsigned int commands; /* that have the option: a set of 1u << enum command */
	enum option_type type;
	size_t member; /* offset in struct options */
	double min, max;
	const char *words; /* separated by blanks, in the order of the member's enum */
	/* Returns NULL, or a hint for the error message, in static storage. */
	const char *(*read)(struct options *o, const char *value);
	const char *help; /* with the default in brackets */
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

/* ---- finds the name that is nearest to a mistyped word ---- */

/* Initialise with { .word, .len }, then offer each name. */
struct nearest {
	const char *word;
	size_t len;
	const char *name; /* the nearest so far; NULL: no name was near */
	size_t distance; /* characters in which it differs from the word */
};

/* @name, which must outlive @n, is near if it begins with the word, or differs in about a third of its characters. */
void nearest_offer(struct nearest *n, const char *name);
