// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each command has its defaults, that every option is read in both spellings, and that a wrong one is
 * refused by name on standard error. */
#include <wordexp.h>

#include "golden.h"
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
#define PARSE(command, ...) \
	assert_int_equal(parse((const char *const[]){ __VA_ARGS__, NULL }), command)

/* Words as a shell has them. */
static enum command parse_line(const char *line)
{
	const char *words[32] = {};
	wordexp_t w;

	assert_int_equal(wordexp(line, &w, WRDE_NOCMD), 0);
	for (size_t i = 0; i < w.we_wordc; i++)
		words[i] = formatted("%s", w.we_wordv[i]);
	wordfree(&w);
	return parse(words);
}

/* The line with "--option=value" at its end instead of "--option value". */
static const char *other_spelling(const char *line)
{
	char *copy = (char *)formatted("%s", line), *at = NULL;

	for (char *next = copy; (next = strstr(next, " --")); next++)
		at = next;
	at = at ? strchr(at + 1, ' ') : NULL;
	if (at)
		*at = '=';
	return copy;
}

/* Why the line is refused, or the command with its options. */
static const char *options_of(const char *line)
{
	enum command command = parse_line(line);
	const char *message = formatted("%s", err_text);

	assert_string_equal(out_text, "");
	assert_int_equal(parse_line(other_spelling(line)), command);
	assert_string_equal(err_text, message);
	if (command == COMMAND_NONE)
		return formatted("%.*s", (int)strlen(message) - 1, message);
	assert_string_equal(message, "");
	return formatted("%s %s %g %g %s %s %u%s%s%s%s%s", command == COMMAND_RUN ? "run" : "trace",
			 o.output, o.interval, o.duration, o.format ? "prometheus" : "openmetrics",
			 o.detail == DETAIL_OP ? "op" : "node", options_rpc(&o).max_owners,
			 o.hooks & HOOKS_RPC ? " rpc" : "", o.hooks & HOOKS_GPU ? " gpu" : "",
			 o.keep ? " keep" : "", o.log.verbose ? " verbose" : "",
			 o.log.format == LOG_JSON ? " json" : " text");
}

TEST(lines_are_read_or_refused)
{
	assert_golden(TEST_DATA "/options.tsv", options_of);
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

TEST(a_missing_command_is_refused)
{
	char *none[] = { (char *)"xidscope", NULL };

	for (int words = 0; words < 2; words++) {
		assert_int_equal(parse_words(words, none + 1 - words), COMMAND_NONE);
		assert_string_equal(err_text, "xidscope: no command; see xidscope help\n");
	}
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
