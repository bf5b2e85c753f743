// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands/options.h"

#include <ctype.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/observer.h"
#include "commands/top.h"
#include "health/health_file.h"
#include "owners/mount_calls.h"
#include "rpc/choice.h"

/* Defaults that change if the metrics go to standard output: options_parse() replaces them at its end. */
static const char events_default[] = "-", health_default[] = HEALTH_DEFAULT_FILE;

int trouble(const char *format, ...)
{
	va_list args;

	fputs("xidscope: ", stderr);
	va_start(args, format);
	safe_vline(stderr, format, args);
	va_end(args);
	return EXIT_TROUBLE;
}

#define refuse(...)                   \
	({                            \
		trouble(__VA_ARGS__); \
		COMMAND_NONE;         \
	})

/* ---- the name nearest to a mistyped word ---- */

#define MAX_LENGTH 40

/* Levenshtein's distance: the number of characters inserted, dropped or replaced. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[MAX_LENGTH + 1], diagonal, least;

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 0; i < a_len; i++) {
		diagonal = i;
		row[0] = i + 1;
		for (size_t j = 0; j < b_len; j++) {
			least = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (diagonal < least)
				least = diagonal + 1;
			if (row[j] < least)
				least = row[j] + 1;
			row[j + 1] = least;
		}
	}
	return row[b_len];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t len = strlen(name), d;

	if (n->len > MAX_LENGTH || len > MAX_LENGTH)
		return;
	if (n->len > 2 && n->len < len && !strncmp(name, n->word, n->len))
		d = 1;
	else
		d = distance(n->word, n->len, name, len);
	if (d <= (n->len + 1) / 3 && (!n->name || d < n->distance)) {
		n->name = name;
		n->distance = d;
	}
}

/* ---- values ---- */

/* Reads one of the row's words, or several that are separated by commas. */
static bool read_words(const struct option_row *row, const char *text, unsigned int *value)
{
	bool several = row->type == OPTION_WORDS;
	struct span rest = span_of(text), wanted;

	*value = 0;
	do {
		struct span words = span_of(row->words), word = span_take_word(&words);
		unsigned int number = 0;

		wanted = several ? span_take_until(&rest, ",") : rest;
		while (span_left(word) && !span_equals(word, wanted)) {
			word = span_take_word(&words);
			number++;
		}
		if (!span_left(word))
			return false;
		*value = several ? *value | 1u << number : number;
	} while (several && span_take(&rest, ","));
	return true;
}

/* Returns a hint with the values that the row allows, in static storage. */
static const char *advice(const struct option_row *row)
{
	bool days = row->max >= 86400;
	static char text[160];
	int len;

	switch (row->type) {
	case OPTION_DURATION:
		snprintf(text, sizeof(text),
			 "use seconds, or a number with s, m, h or d, from %gs to %g%c", row->min,
			 days ? row->max / 86400 : row->max, days ? 'd' : 's');
		break;
	case OPTION_COUNT:
		snprintf(text, sizeof(text), "use a number from %.0f to %.0f", row->min, row->max);
		break;
	case OPTION_TIME:
		return "use " TIME_FORMS;
	case OPTION_FILE:
		return row->words ? "use a file name, or none" : "use a file name";
	default:
		len = snprintf(text, sizeof(text),
			       row->type == OPTION_WORDS ?
				       "use some of these, separated by commas:" :
				       "use one of");
		for (const char *w = row->words; *w; w++)
			len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%s%c",
					w == row->words ? " " : "", *w == ' ' ? "," : "", *w);
	}
	return text;
}

/* Returns NULL if @value is valid, otherwise a hint for the error message. */
static const char *read_value(const struct option_row *row, struct options *o, const char *value)
{
	void *member = (char *)o + row->member;
	bool good = false;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)member = good = true;
		break;
	case OPTION_DURATION:
		good = duration_from_text(value, member) && *(double *)member >= row->min &&
		       *(double *)member <= row->max;
		break;
	case OPTION_TIME:
		good = time_from_person(value, wall_seconds(), (enum time_direction)row->min,
					member);
		break;
	case OPTION_COUNT:
		good = span_number(span_of(value), UINT64_MAX, member) &&
		       (double)*(uint64_t *)member >= row->min &&
		       (double)*(uint64_t *)member <= row->max;
		break;
	case OPTION_FILE:
		*(const char **)member = row->words && !strcmp(value, row->words) ? NULL : value;
		good = *value;
		break;
	case OPTION_WORD:
	case OPTION_WORDS:
		good = read_words(row, value, member);
		break;
	case OPTION_OTHER:
		return row->read(o, value);
	}
	return good ? NULL : advice(row);
}

/* ---- words ---- */

/* Returns the command's row for the option @name, or for its operand if @len is 0; NULL: it has none. */
static const struct option_row *find_row(enum command command, const char *name, size_t len)
{
	return ARRAY_FIND(
		row, option_rows, option_row_count,
		row->commands & 1u << command &&
			(len ? strlen(row->name) == len && !strncmp(row->name, name, len) :
			       row->name[0] != '-'));
}

static enum command refuse_unknown(enum command command, const char *word, size_t len)
{
	struct nearest near = { .word = word, .len = len };
	const char *name = command_rows[command].name;
	double seconds;

	if (word[0] != '-' && duration_from_text(word, &seconds) &&
	    find_row(command, "--duration", 10))
		return refuse("unexpected argument '%s'; did you mean --duration %s?", word, word);
	if (word[0] != '-')
		return refuse("unexpected argument '%s'; see xidscope %s --help", word, name);
	ARRAY_EACH(row, option_rows, option_row_count)
		if (row->commands & 1u << command && row->name[0] == '-')
			nearest_offer(&near, row->name);
	if (near.name)
		return refuse("unknown option '%.*s'; did you mean %s?", (int)len, word, near.name);
	return refuse("unknown option '%.*s'; see xidscope %s --help", (int)len, word, name);
}

/* Reads the option or operand at @words[0], whose value may be @words[1]. Returns the words consumed, or 0 after a message. */
static int read_option(enum command command, struct options *o, char **words)
{
	const char *word = words[0], *name = command_rows[command].name, *instead;
	size_t len = strcspn(word, "=");
	bool operand = word[0] && (word[0] != '-' || !word[1]);
	const char *value = operand ? word : word[len] ? word + len + 1 : NULL;
	const struct option_row *row =
		len || operand ? find_row(command, word, operand ? 0 : len) : NULL;
	bool optional = row && *row->argument == '[', taken = false;

	if (!row)
		return refuse_unknown(command, word, len);
	if (!*row->argument && value && !operand)
		return refuse("option %s takes no value; see xidscope %s --help", row->name, name);
	if (*row->argument && !value && (!optional || (words[1] && isdigit(*words[1])))) {
		value = words[1];
		taken = true;
		if (!value)
			return refuse("option %s needs a value; see xidscope %s --help", row->name,
				      name);
	}
	instead = read_value(row, o, value ? value : "");
	if (instead)
		return refuse("invalid %s '%s': %s", row->name, value, instead);
	return 1 + taken;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static enum command find_command(const char *word)
{
	struct nearest near = { .word = word, .len = strlen(word) };

	if (is_help(word))
		return COMMAND_HELP;
	if (!strcmp(word, "--version"))
		return COMMAND_VERSION;
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++) {
		if (!strcmp(word, command_rows[i].name))
			return (enum command)i;
		nearest_offer(&near, command_rows[i].name);
	}
	if (near.name)
		return refuse("unknown command '%s'; did you mean %s?", word, near.name);
	return refuse("unknown command '%s'; see xidscope help", word);
}

/* Refuses two options that name the same file: each would replace or remove what the other writes. Otherwise returns @command. */
static enum command refuse_same_files(enum command command, const struct options *o)
{
	const struct {
		const char *option, *path;
	} run[] = { { "--output", o->output },
		    { "--state", o->state },
		    { "--events", o->events },
		    { "--health", o->health_file } },
	  trace[] = { { "--json", o->json_file },
		      { "--html", o->html },
		      { "--record", o->record },
		      /* "-" is standard input */
		      { "--replay", o->replay && strcmp(o->replay, "-") != 0 ? o->replay : NULL },
		      { "--markdown", o->markdown ? "-" : NULL } },
	  *files = command == COMMAND_RUN ? run : trace;
	const size_t count = command == COMMAND_RUN ? COUNT(run) : COUNT(trace);

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			if (files[i].path && files[k].path &&
			    !strcmp(files[i].path, files[k].path) &&
			    (command == COMMAND_TRACE || strcmp(files[i].path, "-") != 0))
				return refuse(
					"%s and %s need different files; see xidscope %s --help",
					files[i].option, files[k].option,
					command_rows[command].name);
	return command;
}

static const struct options defaults = {
	.output = DEFAULT_OUTPUT,
	.interval = 15,
	.owners = true,
	.events = events_default,
	.hooks = HOOKS_RPC | HOOKS_GPU,
	.health_file = health_default,
	.max_age = 120,
	.ack = ACK_DEFAULT_FILE,
	.past_events = DEFAULT_EVENTS,
	.wrong_usage = EXIT_USAGE,
};

enum command options_parse(int argc, char **argv, struct options *o)
{
	enum command command;
	int taken;

	*o = defaults;
	health_defaults(&o->health);
	if (argc < 2)
		return agent_runs(o) ? COMMAND_STATUS : refuse("no command; see xidscope help");
	command = find_command(argv[1]);
	if (command == COMMAND_TRACE || command == COMMAND_TOP)
		o->interval = 1;
	/* Monitoring systems expect 3 (unknown) for a wrong command line. */
	if (command == COMMAND_CHECK)
		o->wrong_usage = CHECK_UNKNOWN;
	for (int i = 2; command && i < argc; i += taken) {
		if (is_help(argv[i])) {
			o->help_of = command;
			return COMMAND_HELP;
		}
		taken = read_option(command, o, argv + i);
		if (!taken)
			return COMMAND_NONE;
	}
	if (o->events == events_default)
		o->events = strcmp(o->output, "-") != 0 ? "-" : NULL;
	if (command == COMMAND_RUN && o->health_file == health_default && !strcmp(o->output, "-"))
		o->health_file = NULL;
	if (o->log.format == LOG_TEXT && log_is_journal())
		o->log.format = LOG_JOURNAL;
	if (o->record && o->replay)
		return refuse("use either --record or --replay; see xidscope trace --help");
	if (command == COMMAND_RUN || command == COMMAND_TRACE)
		return refuse_same_files(command, o);
	if (command == COMMAND_XID && !o->text_count == !o->list)
		return refuse("use either CODE or --list; see xidscope xid --help");
	if (command == COMMAND_ACK && o->operands != (o->list ? 0 : 2))
		return refuse("use GPU and CODE, or --list; see xidscope ack --help");
	if (command == COMMAND_WHY && o->past_until > 0 && o->past_until < o->past_since)
		return refuse("--until is before --since; see xidscope why --help");
	return command;
}

struct rpc_options options_rpc(const struct options *o)
{
	return (struct rpc_options){ .sources = o->source ? RPC_SOURCE_BIT(o->source) :
							    RPC_SOURCES_ALL,
				     .types_file = o->sunrpc_btf,
				     .slower_ns = (uint64_t)(o->filter.slower * 1e9),
				     .files = (unsigned int)o->files,
				     .max_owners = o->owners ? OWNER_CALLS_MAX : 0,
				     .owner_env = o->owner_env };
}
