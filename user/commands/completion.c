// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope completion`: a script that completes commands, options and values in bash, from the table of options. */

#include "commands/commands.h"
#include "commands/option_table.h"
#include "health/health.h"
#include "xid/xid_catalog.h"

static const char script_head[] =
	"# Completes the command line of xidscope in bash; made by `xidscope completion`.\n"
	"_xidscope()\n{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words= before= files=\n"
	"\t# bash makes --NAME=VALUE three words.\n"
	"\t[[ $word != = ]] || word=\n"
	"\t[[ $option != = ]] || option=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\toption= COMP_WORDS[1]=\n"
	"\tfi\n"
	"\tcase ${COMP_WORDS[1]}:$option in\n";

/* `before` keeps the values of a LIST that are already written. */
static const char script_tail[] =
	"\tesac\n"
	"\tif [[ $files ]]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$word\")\n"
	"}\n"
	"complete -F _xidscope xidscope\n";

static bool is_file(const struct option_row *row)
{
	return row->argument && !strcmp(row->argument, "FILE");
}

/* Prints the known values of @row, each after a blank. */
static void print_values(const struct option_row *row)
{
	if (!strcmp(row->name, "COMMAND"))
		for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
			printf(" %s", command_rows[i].name);
	else if (!strcmp(row->name, "--rule") || !strcmp(row->name, "--ignore"))
		for (int i = 0; i < HEALTH_RULES; i++)
			printf(" %s", health_rules[i].name);
	else if (strstr(row->name, "CODE"))
		for (unsigned int i = 1; i < xid_catalog_end(); i++)
			if (xid_catalog_find(i)->xid == i)
				printf(" %u", i);
	for (const struct option_word *w = row->words; w && w->name; w++)
		printf(" %s", w->name);
}

static void print_value_case(const char *command, const struct option_row *row)
{
	printf("\t%s:%s)", command, row->name);
	if (is_file(row)) {
		puts(" files=1 ;;");
		return;
	}
	printf(" words='");
	print_values(row);
	printf("'");
	if (row->type == OPTION_WORDS)
		printf("; [[ $word != *,* ]] || before=${word%%,*}, word=${word##*,}");
	puts(" ;;");
}

/* Completes the level behind NAME= of --rule: for bash, NAME is the word before. */
static void print_level_case(void)
{
	for (int i = 0; i < HEALTH_RULES; i++)
		printf("%srun:%s", i ? "|" : "\t", health_rules[i].name);
	fputs(") words='", stdout);
	for (int i = 0; i <= HEALTH_FAIL; i++)
		printf(" %s", health_level_names[i]);
	puts("' ;;");
}

int cmd_completion(const struct options *o)
{
	(void)o;
	fputs(script_head, stdout);
	printf("\t:) words='");
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
		printf(" %s", command_rows[i].name);
	puts("' ;;");
	print_level_case();
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++) {
		for (size_t n = 0; n < option_row_count; n++)
			if (option_rows[n].commands & 1u << i && option_rows[n].argument)
				print_value_case(command_rows[i].name, &option_rows[n]);
		printf("\t%s:*) words='--help", command_rows[i].name);
		ARRAY_EACH(row, option_rows, option_row_count) {
			if (!(row->commands & 1u << i))
				continue;
			if (row->name[0] == '-')
				printf(" %s", row->name);
			else
				print_values(row);
		}
		puts("' ;;");
	}
	fputs(script_tail, stdout);
	return EXIT_OK;
}
