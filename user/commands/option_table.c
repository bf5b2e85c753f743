// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of commands and options, and the readers of unusual values. */
#include "commands/option_table.h"

#include "base/span.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/observer.h"
#include "health/health_file.h"
#include "sinks/top.h"
#include "rpc/choice.h"
#include "xid/xid_catalog.h"
#include "xid/xid_line.h"

#define DAY 86400.0

const struct command_row command_rows[COMMANDS] = {
	/* clang-format off */
	[COMMAND_RUN] = { "run", cmd_run, "Observe, and write a metrics file every interval",
		{ "run --output /var/lib/node_exporter/textfile/xidscope.prom", "run --interval 30s --log json" } },
	[COMMAND_TOP] = { "top", cmd_top, "Show live where calls spend their time, on the whole screen",
		{ "top", "top --batch 1 --by owners" } },
	[COMMAND_STATUS] = { "status", cmd_status, "Show the agent and what it found, in ten lines",
		{ "status", "status --health /run/xidscope/health.json" } },
	[COMMAND_TRACE] = { "trace", cmd_trace, "Observe for a while, and print a report",
		{ "trace --duration 60s", "trace --replay node.rec --html node.html" } },
	[COMMAND_CHECK] = { "check", cmd_check, "Report the node's health, as run has judged it",
		{ "check --explain", "check --style slurm --ignore nfs_waiter,nfs_stuck" } },
	[COMMAND_ACK] = { "ack", cmd_ack, "Acknowledge a fault, or show what is acknowledged",
		{ "ack c1:00.0 79 --note 'riser seated anew'", "ack --list" } },
	[COMMAND_DOCTOR] = { "doctor", cmd_doctor, "Show what this kernel offers, what is missing and the fix",
		{ "doctor", "doctor --json" } },
	[COMMAND_XID] = { "xid", cmd_xid, "Explain an Xid, and what to do about it",
		{ "xid 79 sxid:20034", "xid - </var/log/kern.log" } },
	[COMMAND_WHY] = { "why", cmd_why, "Show what happened on this node, from the event log",
		{ "why --since 2h", "why --job 4711 --since 2026-11-22T03:00:00Z" } },
	[COMMAND_FAULTS] = { "faults", cmd_faults, "List the faults since boot, open and grave ones first",
		{ "faults", "faults --json" } },
	[COMMAND_METRICS] = { "metrics", cmd_metrics, "List the metrics that run writes",
		{ "metrics", "metrics | cut -f 1,5" } },
	[COMMAND_HELP] = { "help", cmd_help, "Show the commands, or the options of one",
		{ "help", "help run" } },
	[COMMAND_VERSION] = { "version", cmd_version, "Show the version",
		{ "version", "--version" } },
	/* clang-format on */
};

/* ---- readers of OPTION_OTHER values: each returns NULL, or a hint for the error ---- */

static const char *read_output(struct options *o, const char *value)
{
	size_t len = strlen(value), end = strlen(".prom");

	o->output = value;
	return !strcmp(value, "-") || (len >= end && !strcmp(value + len - end, ".prom")) ?
		       NULL :
		       "name a file that ends in .prom; node_exporter reads no others";
}

static const char *read_events(struct options *o, const char *value)
{
	o->events = strcmp(value, "none") != 0 ? value : NULL;
	return *value ? NULL : "use a file name, - for standard output, or none";
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
	char *end;
	double ms = strtod(value, &end);

	o->filter.slower = ms / 1e3;
	return *value && !value[strspn(value, "0123456789.")] && !*end && ms >= 0.001 && ms <= 1e6 ?
		       NULL :
		       "use milliseconds from 0.001 to 1000000";
}

static const char *read_code(struct options *o, const char *value)
{
	struct span text = span_of(value);
	struct xid_line line;
	size_t offset = 0;

	if (o->text_count == XID_TEXTS_MAX)
		return "use \"xidscope xid -\" for so many";
	if (strcmp(value, "-") != 0 && !xid_codes_only(text) &&
	    !xid_line_next(value, strlen(value), &offset, &line))
		return "use an Xid, sxid:NUMBER, a line of the kernel log with one, or -";
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

static const char *read_health(struct options *o, const char *value)
{
	o->health_file = strcmp(value, "none") != 0 ? value : NULL;
	return *value ? NULL : "use a file name, or none";
}

static const char *read_command(struct options *o, const char *value)
{
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
		if (!strcmp(value, command_rows[i].name)) {
			o->help_of = (enum command)i;
			return NULL;
		}
	return "no such command; see xidscope help";
}

/* ---- the options, in the order of the help ---- */

static const struct option_word formats[] = { { "openmetrics", FORMAT_OPENMETRICS },
					      { "prometheus", FORMAT_PROMETHEUS },
					      {} };
static const struct option_word details[] = {
	{ "node", DETAIL_NODE }, { "transport", DETAIL_TRANSPORT }, { "op", DETAIL_OP }, {}
};
static const struct option_word switches[] = { { "on", true }, { "off", false }, {} };
static const struct option_word hooks[] = { { "rpc", HOOKS_RPC }, { "gpu", HOOKS_GPU }, {} };
static const struct option_word sources[] = {
	{ "auto", RPC_SOURCES_ALL },
	{ "btf", RPC_SOURCE_BIT(RPC_SOURCE_BTF) },
	{ "tracepoints", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS) },
	{ "mountstats", RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS) },
	{}
};
static const struct option_word rows[] = {
	{ "mounts", TOP_MOUNTS },   { "owners", TOP_OWNERS },           { "ops", TOP_OPS },
	{ "servers", TOP_SERVERS }, { "connections", TOP_CONNECTIONS }, {}
};
static const struct option_word log_formats[] = { { "text", LOG_TEXT }, { "json", LOG_JSON }, {} };
static const struct option_word styles[] = {
	{ "nagios", CHECK_NAGIOS }, { "slurm", CHECK_SLURM }, { "npd", CHECK_NPD }, {}
};

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

#define FLAG(to) .type = OPTION_FLAG, .member = offsetof(struct options, to)
#define DURATION(to, least, most)                                                                \
	.argument = "DURATION", .type = OPTION_DURATION, .member = offsetof(struct options, to), \
	.min = (least), .max = (most)
#define TIME(to, direction) \
	.type = OPTION_TIME, .member = offsetof(struct options, to), .min = (direction)
#define PATH(to) .argument = "FILE", .type = OPTION_FILE, .member = offsetof(struct options, to)
#define TEXT_OF(to) .type = OPTION_FILE, .member = offsetof(struct options, to)
#define WORD(to, of) .type = OPTION_WORD, .member = offsetof(struct options, to), .words = (of)
#define OTHER(function) .type = OPTION_OTHER, .read = (function)

const struct option_row option_rows[] = {
	{ "CODE", .commands = XID, OTHER(read_code),
	  .help = "Explain this Xid, sxid:NUMBER, or line of the kernel\n"
		  "log; - reads standard input; may be repeated" },
	{ "GPU CODE", .commands = ACK, OTHER(read_fault),
	  .help = "Acknowledge these faults: GPU as check shows it, CODE\n"
		  "an Xid, sxid:NUMBER, a kind of driver error, or *" },
	{ "COMMAND", .commands = HELP, OTHER(read_command), .help = "Show its options" },
	{ "--output", "FILE", RUN, OTHER(read_output),
	  .help = "Write metrics to FILE, or to standard output if it is -\n"
		  "[" DEFAULT_OUTPUT "]" },
	{ "--interval", .commands = RUN, DURATION(interval, 0.1, DAY),
	  .help = "Write this often [15s]" },
	{ "--interval", .commands = TOP | TRACE, DURATION(interval, 0.1, DAY),
	  .help = "Show what happened this often [1s]" },
	{ "--by", "ROWS", TOP, WORD(by, rows),
	  .help = "Begin with mounts, owners, ops, servers or connections\n"
		  "[mounts]" },
	{ "--batch", "N", TOP, OPTION_COUNT, offsetof(struct options, batch), 1, 1e9,
	  .help = "Print N views as plain text [the whole screen]" },
	{ "--duration", .commands = RUN | TRACE, DURATION(duration, 0.1, DAY),
	  .help = "Stop after this time [run until stopped]" },
	{ "--format", "FORMAT", RUN, WORD(format, formats),
	  .help = "Write openmetrics or prometheus [openmetrics]" },
	{ "--detail", "LEVEL", RUN, WORD(detail, details),
	  .help = "Write what alerts, rules and dashboards read (node),\n"
		  "each transport as well (transport), or all by op (op)\n"
		  "[node]" },
	{ "--owners", "on|off", RUN, WORD(owners, switches),
	  .help = "Count NFS calls by job, pod, unit and user [on]" },
	{ "--owner-env", "NAMES", RUN, OTHER(read_owner_env),
	  .help = "Name a container or unit by the first of the variables\n"
		  "NAME,NAME... in the environment of its oldest process\n"
		  "[none]" },
	{ "--storage", "NAME=GLOB", RUN, OTHER(read_storage),
	  .help = "Assign servers whose name or address matches GLOB to the\n"
		  "storage system NAME; may be repeated" },
	{ "--keep", .commands = RUN, FLAG(keep), .help = "Keep the file on a clean stop" },
	{ "--hooks", "LIST", RUN | TOP | TRACE, OPTION_WORDS, offsetof(struct options, hooks),
	  .words = hooks, .help = "Observe rpc (NFS calls), gpu (faults) or both [rpc,gpu]" },
	{ "--source", "SOURCE", RUN | TOP | TRACE, WORD(sources, sources),
	  .help = "Observe NFS calls by btf, tracepoints or mountstats, or\n"
		  "the best of them that the kernel allows (auto) [auto]" },
	{ "--sunrpc-btf", .commands = RUN | TOP | TRACE | DOCTOR, PATH(sunrpc_btf),
	  .help = "Take the types of a sunrpc without BTF from FILE, the\n"
		  "module's file after pahole [by its build id below\n"
		  "/usr/lib/debug]" },
	{ "--state", .commands = RUN, PATH(state),
	  .help = "Keep fault counts in FILE across restarts; without it\n"
		  "count from the start of the kernel log [none]" },
	{ "--events", "FILE", RUN, OTHER(read_events),
	  .help = "Append each event as JSON to FILE, to standard output\n"
		  "(-), or nowhere (none) [-, none if --output is -]" },
	{ "--server", "GLOB", TOP | TRACE, TEXT_OF(filter.server),
	  .help = "Show only servers whose name matches GLOB" },
	{ "--mount", "GLOB", TOP | TRACE, TEXT_OF(filter.mount),
	  .help = "Show only the servers of mount points that match GLOB,\n"
		  "their calls by mount and kind, and their slow calls" },
	{ "--slower", "MS", TRACE, OTHER(read_slower),
	  .help = "Keep the hundred slowest calls of at least MS\n"
		  "milliseconds, with process and phases, and print ten of\n"
		  "them [none]" },
	{ "--json", .commands = TRACE, PATH(json_file),
	  .help = "Write the session as JSON to FILE, or as the only thing\n"
		  "to standard output if it is -" },
	{ "--html", .commands = TRACE, PATH(html),
	  .help = "Write the session as a page to FILE, or to standard\n"
		  "output if it is -" },
	{ "--markdown", .commands = TRACE | WHY, FLAG(markdown),
	  .help = "Print the report as Markdown for a ticket, at most 60\n"
		  "lines" },
	{ "--record", .commands = TRACE, PATH(record),
	  .help = "Write each snapshot to FILE, or to standard output if it\n"
		  "is -, for --replay" },
	{ "--replay", .commands = TOP | TRACE, PATH(replay),
	  .help = "Show the recording FILE, or standard input if it is -,\n"
		  "instead of observing" },
	{ "--accept-user-kmsg", .commands = RUN | TRACE, FLAG(accept_user_kmsg),
	  .help = "Count Xid lines that a process wrote to /dev/kmsg, for\n"
		  "tests and drills" },
	{ "--log", "FORM", RUN, WORD(log.format, log_formats),
	  .help = "Write messages to standard error as text or json [text]" },
	{ "--verbose", .commands = RUN | TRACE, FLAG(log.verbose),
	  .help = "Write more messages, including those of libbpf" },
	{ "--xid-policy", .commands = RUN | XID, PATH(xid_policy),
	  .help = "Read severity and action of Xids from FILE [none]" },
	{ "--list", .commands = XID, FLAG(list), .help = "List all Xids of the catalog" },
	{ "--until", "TIME", ACK, TIME(fault.time, TIME_FUTURE),
	  .help = "Acknowledge faults up to TIME [now]. A TIME in the\n"
		  "future, as 4h or 10:00, snoozes them until then.\n"
		  "TIME may also be '2h ago', yesterday, 2026-11-01 or\n"
		  "2026-11-01T10:00:00Z; local unless a zone is given" },
	{ "--force", .commands = ACK, FLAG(force),
	  .help = "Write it even if no such fault is open" },
	{ "--note", "TEXT", ACK, OTHER(read_note), .help = "Keep TEXT with it" },
	{ "--list", .commands = ACK, FLAG(list), .help = "List what is acknowledged" },
	{ "--remove", .commands = ACK, FLAG(remove),
	  .help = "Remove the acknowledgement of GPU CODE" },
	{ "--health", "FILE", RUN, OTHER(read_health),
	  .help = "Write the node's health to FILE for check, or nowhere\n"
		  "(none) [" HEALTH_DEFAULT_FILE ",\n"
		  "none if --output is -]" },
	{ "--health", .commands = CHECK | TOP | STATUS | ACK | WHY | FAULTS, PATH(health_file),
	  .help = "Read the health file that run writes\n"
		  "[" HEALTH_DEFAULT_FILE "]" },
	{ "--style", "STYLE", CHECK, WORD(style, styles),
	  .help = "Print for nagios, slurm or npd [nagios]; exit codes:\n"
		  "nagios: 0 ok, 1 warning, 2 critical, 3 unknown;\n"
		  "slurm: 2 critical, else 0;\n"
		  "npd: 0 ok or warning, 1 critical, 2 unknown" },
	{ "--window", .commands = RUN, DURATION(health.window, 0.1, 3650 * DAY),
	  .help = "Take faults that are older than this as over [no limit]" },
	{ "--ack", .commands = RUN | TRACE, PATH(ack),
	  .help = "Read acknowledgements from FILE\n"
		  "[" ACK_DEFAULT_FILE "]" },
	{ "--ack", .commands = ACK, PATH(ack), .help = "Write to FILE [" ACK_DEFAULT_FILE "]" },
	{ "--max-age", .commands = CHECK | FAULTS, DURATION(max_age, 0.1, DAY),
	  .help = "Report \"unknown\" if the file is older [2m]" },
	{ "--ignore", "RULES", CHECK, OTHER(read_ignored),
	  .help = "Ignore these rules, which are separated by commas" },
	{ "--rule", "RULE", RUN, OTHER(read_rule),
	  .help = "Change a rule: NAME=off, NAME=warn or NAME=fail, and\n"
		  ":LIMIT if the rule has a limit" },
	{ "--mount", "PATH", RUN, OTHER(read_mount),
	  .help = "Check that PATH is mounted, that it is writable (unless\n"
		  "PATH,ro is given), and that its server answers; may be\n"
		  "repeated [the NFS mounts of /etc/fstab]" },
	{ "--gpus", "N", RUN, OPTION_COUNT, offsetof(struct options, gpus), 0, 256,
	  .help = "Check that the driver has at least N GPUs [0]" },
	{ "--list-rules", .commands = CHECK, FLAG(list_rules),
	  .help = "List the rules and their defaults" },
	{ "--explain", .commands = CHECK, FLAG(explain),
	  .help = "Print the evidence of each finding, its begin, and what\n"
		  "clears it" },
	{ "--since", "TIME", WHY, TIME(past_since, TIME_PAST),
	  .help = "Begin at TIME: 10:00, '2h ago', yesterday, 2026-11-01 or\n"
		  "2026-11-01T10:00:00Z; local unless a zone is given [one\n"
		  "hour before --until]" },
	{ "--until", "TIME", WHY, TIME(past_until, TIME_PAST),
	  .help = "End at TIME [the present]" },
	{ "--job", "ID", WHY, TEXT_OF(job),
	  .help = "Name what may have ended job ID of Slurm, LSF or PBS, or\n"
		  "pod NAMESPACE/NAME, in one line" },
	{ "--events", .commands = WHY, PATH(past_events),
	  .help = "Read the event log FILE and its older files FILE.1,\n"
		  "FILE.2.gz and so on, or standard input if it is -\n"
		  "[" DEFAULT_EVENTS "]" },
	{ "--json", .commands = XID | CHECK | DOCTOR | WHY | FAULTS, FLAG(json),
	  .help = "Write JSON" },
};

const size_t option_row_count = COUNT(option_rows);
