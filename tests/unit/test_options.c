// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each command has its defaults, that every option is read in both spellings, and that a wrong one is
 * refused by name on standard error. */
#include "unit.h"
#include "commands/commands.h"
#include "commands/observer.h"
#include "base/time_text.h"
#include "commands/options.h"
#include "rpc/choice.h"

/* What the last call read and wrote. */
static struct options o;
static char out_text[16384], err_text[1024];

static void read_back(FILE *file, char *text, size_t size)
{
	ssize_t n = pread(fileno(file), text, size - 1, 0);

	assert_true(n >= 0);
	text[n] = 0;
	fclose(file);
}

static enum command parse_words(int argc, char **argv)
{
	FILE *out = not_null(tmpfile()), *err = not_null(tmpfile());
	int saved_out = redirect(STDOUT_FILENO, fileno(out));
	int saved_err = redirect(STDERR_FILENO, fileno(err));
	enum command command;

	memset(&o, 0xff, sizeof(o));
	command = options_parse(argc, argv, &o);
	if (command == COMMAND_HELP)
		assert_int_equal(cmd_help(&o), EXIT_OK);
	restore(STDOUT_FILENO, saved_out);
	restore(STDERR_FILENO, saved_err);
	read_back(out, out_text, sizeof(out_text));
	read_back(err, err_text, sizeof(err_text));
	return command;
}

/* The words after the program's name, to which the options then point. */
static enum command parse(const char *const *words)
{
	char *argv[32] = { (char *)"xidscope" };
	int argc = 1;

	while (*words)
		argv[argc++] = (char *)*words++;
	return parse_words(argc, argv);
}
/* Words that are separated by blanks. */
static enum command parse_line(const char *line)
{
	const char *words[32] = {};

	for (size_t n = 0, len; *line; line += len + (line[len] == ' ')) {
		len = strcspn(line, " ");
		words[n++] = formatted("%.*s", (int)len, line);
	}
	return parse(words);
}

#define PARSE(command, ...) \
	assert_int_equal(parse((const char *const[]){ __VA_ARGS__, NULL }), command)

static void assert_refused(const char *message)
{
	assert_string_equal(err_text, formatted("xidscope: %s\n", message));
	assert_string_equal(out_text, "");
}

/* The words after @message are refused with it. */
#define REFUSED(message, ...)                     \
	do {                                      \
		PARSE(COMMAND_NONE, __VA_ARGS__); \
		assert_refused(message);          \
	} while (0)

/* By default, after an equals sign and in the next word; of two the last one counts. */
TEST(options_of_run_and_trace_are_read)
{
	static const char *const cases[][2] = {
		{ "run",
		  "/var/lib/prometheus/node-exporter/xidscope.prom 15 0 openmetrics node 32 rpc gpu text" },
		{ "trace",
		  "/var/lib/prometheus/node-exporter/xidscope.prom 1 0 openmetrics node 32 rpc gpu text" },
		{ "run --output=/x/y=z.prom --interval=0.25 --duration=86400 --format=prometheus --detail=op "
		  "--keep --hooks=gpu --log=json --verbose",
		  "/x/y=z.prom 0.25 86400 prometheus op 32 gpu keep verbose json" },
		{ "run --output - --interval 86400 --duration 0.1 --format openmetrics "
		  "--owners off --hooks rpc --log text",
		  "- 86400 0.1 openmetrics node 0 rpc text" },
		{ "run --output=- --interval=3 --log=json --hooks=rpc --interval 4 --log=text --hooks=gpu",
		  "- 4 0 openmetrics node 32 gpu text" },
		{ "run --output=- --hooks=gpu,rpc", "- 15 0 openmetrics node 32 rpc gpu text" },
		{ "run --output=- --hooks=rpc,rpc", "- 15 0 openmetrics node 32 rpc text" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("# %s\n", cases[i][0]);
		assert_int_equal(parse_line(cases[i][0]),
				 *cases[i][0] == 'r' ? COMMAND_RUN : COMMAND_TRACE);
		assert_printed("", "%s%s", err_text, out_text);
		assert_printed(cases[i][1], "%s %g %g %s %s %u%s%s%s%s%s", o.output, o.interval,
			       o.duration, o.format ? "prometheus" : "openmetrics",
			       o.detail == DETAIL_OP ? "op" : "node", options_rpc(&o).max_owners,
			       o.hooks & HOOKS_RPC ? " rpc" : "", o.hooks & HOOKS_GPU ? " gpu" : "",
			       o.keep ? " keep" : "", o.log.verbose ? " verbose" : "",
			       o.log.format == LOG_JSON ? " json" : " text");
	}
}

TEST(check_has_its_defaults)
{
	PARSE(COMMAND_CHECK, "check");
	assert_printed("/run/xidscope/health.json 120", "%s %g", o.health_file, o.max_age);
	assert_int_equal(o.style, CHECK_NAGIOS);
	assert_false(o.json || o.explain || o.list_rules);
	for (int r = 0; r < HEALTH_RULES; r++)
		assert_false(o.ignored[r]);
	PARSE(COMMAND_RUN, "run");
	assert_printed("/run/xidscope/health.json /etc/xidscope/acks 0 0", "%s %s %g %zu",
		       o.health_file, o.ack, o.health.window, o.mount_count);
	assert_null(o.health.acks);
	for (int r = 0; r < HEALTH_RULES; r++)
		assert_int_equal(o.health.rules[r].level, health_rules[r].level);
}

TEST(options_of_check_are_read)
{
	static const struct {
		const char *text;
		double seconds;
	} windows[] = { { "90", 90 },     { "0.5s", 0.5 },  { "30m", 1800 },
			{ "12h", 43200 }, { "7d", 604800 }, { "3650d", 315360000 } };

	PARSE(COMMAND_CHECK, "check", "--health=/x", "--style=npd", "--json", "--max-age=0.1",
	      "--ignore", "nfs_waiter,xid_fatal", "--list-rules");
	assert_string_equal(err_text, "");
	assert_printed("/x 0.1", "%s %g", o.health_file, o.max_age);
	assert_int_equal(o.style, CHECK_NPD);
	assert_true(o.json && o.list_rules);
	assert_true(o.ignored[HEALTH_NFS_WAITER] && o.ignored[HEALTH_XID_FATAL]);
	assert_false(o.ignored[HEALTH_XID_STORM]);
	REFUSED("invalid --ignore 'nfs_waiter,': there is no such rule; see xidscope check "
		"--list-rules",
		"check", "--ignore=nfs_waiter,");
	PARSE(COMMAND_RUN, "run", "--rule=nfs_waiter=fail:7", "--rule", "xid_fatal=off", "--gpus=8",
	      "--mount=/a", "--health", "none");
	assert_int_equal(o.gpus + o.mount_count, 9);
	assert_null(o.health_file);
	assert_int_equal(o.health.rules[HEALTH_NFS_WAITER].level, HEALTH_FAIL);
	assert_true(o.health.rules[HEALTH_NFS_WAITER].limit == 7);
	assert_int_equal(o.health.rules[HEALTH_XID_FATAL].level, HEALTH_OK);
	PARSE(COMMAND_CHECK, "check", "--style=slurm");
	assert_int_equal(o.style, CHECK_SLURM);
	for (size_t i = 0; i < COUNT(windows); i++) {
		PARSE(COMMAND_RUN, "run", "--window", windows[i].text);
		assert_true(o.health.window == windows[i].seconds);
	}
	/* All durations have one form. */
	PARSE(COMMAND_TRACE, "trace", "--interval", "1.5m", "--duration", "1.5h");
	assert_printed("90 5400", "%g %g", o.interval, o.duration);
	PARSE(COMMAND_CHECK, "check", "--max-age=1h");
	assert_true(o.max_age == 3600);
}

#define CODE_HINT "use an Xid, sxid:NUMBER, a line of the kernel log, or -"

TEST(xid_takes_codes_and_lines_or_lists)
{
	PARSE(COMMAND_XID, "xid", "79");
	assert_string_equal(o.texts[0], "79");
	assert_false(o.json || o.list);
	PARSE(COMMAND_XID, "xid", "--json", "4294967295", "--xid-policy=/p");
	assert_true(o.json);
	assert_string_equal(o.xid_policy, "/p");
	PARSE(COMMAND_XID, "xid", "sxid:20034", "Xid79 SXid 20034, xid:13", "-",
	      "NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, GPU has fallen off the bus.");
	assert_int_equal(o.text_count, 4);
	PARSE(COMMAND_XID, "xid", "--list");
	assert_true(o.list);
	assert_int_equal(o.text_count, 0);

	REFUSED("use either CODE or --list; see xidscope xid --help", "xid");
	REFUSED("use either CODE or --list; see xidscope xid --help", "xid", "79", "--list");
	REFUSED("invalid CODE '79x': " CODE_HINT, "xid", "79", "79x");
	REFUSED("invalid CODE 'NVRM Xid': " CODE_HINT, "xid", "NVRM Xid");
	REFUSED("invalid CODE '4294967296': " CODE_HINT, "xid", "4294967296");
	REFUSED("invalid CODE '7=9': " CODE_HINT, "xid", "7=9");
	REFUSED("unknown option '-79'; see xidscope xid --help", "xid", "-79");
	REFUSED("unexpected argument ''; see xidscope xid --help", "xid", "");
	REFUSED("unexpected argument 'CODE'; see xidscope check --help", "check", "CODE");
	PARSE(COMMAND_HELP, "xid", "--help");
}

TEST(ack_takes_a_fault_or_lists)
{
	PARSE(COMMAND_ACK, "ack", "C1:00.0", "079", "--until=2026-11-21T10:00:00Z", "--note", "n",
	      "--ack", "/a");
	assert_printed("0000:c1:00.0 79 1795255200 n /a", "%s %s %.10g %s %s", o.fault.device,
		       o.fault.what, o.fault.time, o.note, o.ack);
	PARSE(COMMAND_ACK, "ack", "*", "sxid:20034", "--remove");
	assert_string_equal(o.fault.what, "sxid:20034");
	assert_true(o.remove);
	PARSE(COMMAND_ACK, "ack", "--list");
	assert_true(o.list);

	REFUSED("use GPU and CODE, or --list; see xidscope ack --help", "ack");
	REFUSED("use GPU and CODE, or --list; see xidscope ack --help", "ack", "c1:00.0");
	REFUSED("use GPU and CODE, or --list; see xidscope ack --help", "ack", "*", "79", "--list");
	REFUSED("invalid GPU CODE 'gpu0': use a PCI address (0000:c1:00.0), GPU-UUID, other or *",
		"ack", "gpu0", "79");
	REFUSED("invalid GPU CODE '7\\x0a': use an Xid, sxid:NUMBER, a kind of driver error or *",
		"ack", "*", "7\n");
	REFUSED("invalid GPU CODE '80': use one GPU and one CODE", "ack", "*", "79", "80");
	REFUSED("invalid --until 'soon': use " TIME_FORMS, "ack", "*", "79", "--until", "soon");
}

TEST(storage_systems_add_up_in_their_order)
{
	PARSE(COMMAND_RUN, "run");
	assert_int_equal(o.storage.count, 0);
	PARSE(COMMAND_RUN, "run", "--storage", "a=10.0.*", "--storage=b=x=y");
	assert_string_equal(err_text, "");
	assert_int_equal(o.storage.count, 2);
	assert_printed("a 10.0.* b x=y", "%s %s %s %s", o.storage.rules[0].name,
		       o.storage.rules[0].pattern, o.storage.rules[1].name,
		       o.storage.rules[1].pattern);
}

TEST(a_source_is_forced_by_its_name)
{
	PARSE(COMMAND_RUN, "run");
	assert_int_equal(options_rpc(&o).sources, RPC_SOURCES_ALL);
	PARSE(COMMAND_RUN, "run", "--source=mountstats");
	assert_int_equal(options_rpc(&o).sources, RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS));
	PARSE(COMMAND_TRACE, "trace", "--source", "btf");
	assert_int_equal(options_rpc(&o).sources, RPC_SOURCE_BIT(RPC_SOURCE_BTF));
}

#define DURATION(from, to) "use seconds, or a number with s, m, h or d, from " from " to " to

TEST(a_wrong_value_is_refused_with_the_options_name)
{
	static const struct {
		const char *option; /* behind its command */
		const char *instead;
		const char *values[12];
	} cases[] = {
		{ "run --output",
		  "name a file that ends in .prom; node_exporter reads no others",
		  { "", "x", "x.prom.tmp", "/tmp/x.txt", "prom", "/", ".", "/tmp", "/tmp/" } },
		{ "run --interval",
		  DURATION("0.1s", "1d"),
		  { "", "0", "0.09", "-1", "86400.1", "1w", "fast", "nan", "inf", "1e999",
		    "1 2" } },
		{ "run --duration",
		  DURATION("0.1s", "1d"),
		  { "", "0", "-0.1", "86401", "25h", "nan", "-inf", "x" } },
		{ "run --format",
		  "use one of openmetrics, prometheus",
		  { "", "json", "OpenMetrics", "prometheus " } },
		{ "run --owners", "use one of off, on", { "", "yes", "ON", "on,off", "0" } },
		{ "run --storage",
		  "use NAME=GLOB, as in scratch='10.0.1.*'",
		  { "", "scratch", "=10.0.1.*", "scratch=" } },
		{ "run --hooks",
		  "use some of these, separated by commas: rpc, gpu",
		  { "", "rpc,", ",gpu", "rpc,,gpu", "all", "rpc gpu", "rp", "rpcs", "RPC" } },
		{ "run --source",
		  "use one of auto, btf, tracepoints, mountstats",
		  { "", "A", "BTF", "btf,mountstats", "none" } },
		{ "run --log", "use one of text, json", { "", "JSON", "jsonl", "syslog" } },
		{ "run --events", "use a file name, - for standard output, or none", { "" } },
		{ "run --xid-policy", "use a file name", { "" } },
		{ "check --health", "use a file name", { "" } },
		{ "run --ack", "use a file name", { "" } },
		{ "check --style", "use one of nagios, slurm, npd", { "", "Nagios", "json" } },
		{ "check --max-age", DURATION("0.1s", "1d"), { "", "0", "2d" } },
		{ "run --window",
		  DURATION("0.1s", "3650d"),
		  { "", "0", "m", "1w", "1hh", "-1h", "inf", "1.2.3", "3651d", "1 h", "0x10" } },
		{ "why --since", "use " TIME_FORMS, { "", "yestermorn", "-1" } },
		{ "run --rule",
		  "use NAME=off, NAME=warn or NAME=fail, with :LIMIT where --list-rules has one",
		  { "xid_fatal", "xid_fatal=warn:3" } },
		{ "run --rule",
		  "there is no such rule; see xidscope check --list-rules",
		  { "", "bogus=off" } },
		{ "run --rule", "no such rule; did you mean nfs_waiter?", { "nfs_waitr=warn" } },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		for (const char *const *value = cases[i].values; *value; value++) {
			char command[20], option[20];
			const char *expected;

			assert_int_equal(sscanf(cases[i].option, "%19s %19s", command, option), 2);
			expected =
				formatted("invalid %s '%s': %s", option, *value, cases[i].instead);
			REFUSED(expected, command, formatted("%s=%s", option, *value));
			REFUSED(expected, command, option, *value);
		}
}

TEST(an_unknown_option_or_a_missing_value_is_refused)
{
	REFUSED("unknown option '--bogus'; see xidscope run --help", "run", "--keep", "--bogus");
	REFUSED("unknown option '--bogus'; see xidscope run --help", "run", "--bogus=1");
	REFUSED("unknown option '--inter'; did you mean --interval?", "run", "--inter", "5");
	REFUSED("unknown option '--fromat'; did you mean --format?", "run", "--fromat=openmetrics");
	REFUSED("unknown option '--interval-of-many-many-more-characters-than-that'; see xidscope run --help",
		"run", "--interval-of-many-many-more-characters-than-that", "5");
	REFUSED("unexpected argument 'file'; see xidscope run --help", "run", "file");
	REFUSED("unexpected argument '1.5h'; did you mean --duration 1.5h?", "run", "1.5h");
	REFUSED("unexpected argument '60'; see xidscope check --help", "check", "60");
	REFUSED("unexpected argument ''; see xidscope run --help", "run", "");
	REFUSED("unknown option '--interval'; see xidscope metrics --help", "metrics",
		"--interval=5");
	/* /bin */
	REFUSED("unknown option '--output'; see xidscope trace --help", "trace", "--output");
	REFUSED("unknown option '--format'; see xidscope trace --help", "trace", "--format");
	REFUSED("unknown option '--keep'; see xidscope trace --help", "trace", "--keep");
	/* A missing value, and one that is not taken. */
	REFUSED("option --interval needs a value; see xidscope run --help", "run", "--verbose",
		"--interval");
	REFUSED("option --keep takes no value; see xidscope run --help", "run", "--keep=yes");
	REFUSED("option --verbose takes no value; see xidscope run --help", "run", "--verbose=");
}

TEST(a_missing_or_unknown_command_is_refused)
{
	char *none[] = { (char *)"xidscope", NULL };

	for (int words = 0; words < 2; words++) {
		assert_int_equal(parse_words(words, none + 1 - words), COMMAND_NONE);
		assert_refused("no command; see xidscope help");
	}
	REFUSED("unknown command 'watch'; see xidscope help", "watch");
	REFUSED("unknown command 'docter'; did you mean doctor?", "docter");
	REFUSED("unknown command '--interval=3'; see xidscope help", "--interval=3", "run");
}

TEST(the_other_commands_are_known)
{
	PARSE(COMMAND_METRICS, "metrics");
	PARSE(COMMAND_VERSION, "version");
	PARSE(COMMAND_VERSION, "--version");
	assert_string_equal(out_text, "");
	assert_string_equal(err_text, "");
}

TEST(help_is_given_wherever_it_is_asked_for)
{
	PARSE(COMMAND_HELP, "--help");
	assert_int_equal(o.help_of, COMMAND_NONE);
	PARSE(COMMAND_HELP, "-h");
	assert_int_equal(o.help_of, COMMAND_NONE);
	PARSE(COMMAND_HELP, "trace", "--interval=2", "-h", "--bogus");
	assert_int_equal(o.help_of, COMMAND_TRACE);
}
