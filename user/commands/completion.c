// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope completion`: shell scripts that complete its commands, options and values, from the table of options. */

#include "commands/commands.h"
#include "commands/option_table.h"
#include "health/health.h"
#include "xid/xid_catalog.h"

static const char bash_head[] =
	"# Completes the command line of xidscope in bash; made by `xidscope completion bash`.\n"
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

/* What has been written of a LIST is kept: `before`. */
static const char bash_tail[] =
	"\tesac\n"
	"\tif [[ $files ]]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$word\")\n"
	"}\n"
	"complete -F _xidscope xidscope\n";

static const char zsh_head[] =
	"#compdef xidscope\n"
	"# Completes the command line of xidscope in zsh; made by `xidscope completion zsh`.\n"
	"_xidscope()\n{\n"
	"\tlocal -a commands\n"
	"\tcommands=(\n";

static const char zsh_middle[] = "\t)\n"
				 "\tif ((CURRENT == 2)); then\n"
				 "\t\t_describe command commands\n"
				 "\t\treturn\n"
				 "\tfi\n"
				 "\tshift words\n"
				 "\t((CURRENT--))\n"
				 "\tcase $words[1] in\n";

/* As a function that compinit has found, or as a script that is sourced. */
static const char zsh_tail[] = "\tesac\n}\n"
			       "if [[ ${funcstack[1]} == _xidscope ]]; then\n"
			       "\t_xidscope \"$@\"\n"
			       "else\n"
			       "\tcompdef _xidscope xidscope\n"
			       "fi\n";

static bool is_file(const struct option_row *row)
{
	return row->argument && !strcmp(row->argument, "FILE");
}

/* The values that are known of @row, each after a blank. */
static void print_values(const struct option_row *row)
{
	if (!strcmp(row->name, "COMMAND"))
		for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
			printf(" %s", command_rows[i].name);
	else if (!strcmp(row->name, "--rule"))
		for (int i = 0; i < HEALTH_RULES; i++)
			printf(" %s", health_rules[i].name);
	else if (strstr(row->name, "CODE"))
		for (unsigned int i = 1; i < xid_catalog_end(); i++)
			if (xid_catalog_find(i)->xid == i)
				printf(" %u", i);
	for (const struct option_word *w = row->words; w && w->name; w++)
		printf(" %s", w->name);
}

static void print_bash_value(const char *command, const struct option_row *row)
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

/* What follows NAME= of --rule: to bash NAME is the word before. */
static void print_bash_levels(void)
{
	for (int i = 0; i < HEALTH_RULES; i++)
		printf("%scheck:%s", i ? "|" : "\t", health_rules[i].name);
	fputs(") words='", stdout);
	for (int i = 0; i <= HEALTH_FAIL; i++)
		printf(" %s", health_level_names[i]);
	puts("' ;;");
}

static void print_bash(void)
{
	fputs(bash_head, stdout);
	printf("\t:) words='");
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++)
		printf(" %s", command_rows[i].name);
	puts("' ;;");
	print_bash_levels();
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++) {
		for (size_t n = 0; n < option_row_count; n++)
			if (option_rows[n].commands & 1u << i && option_rows[n].argument)
				print_bash_value(command_rows[i].name, &option_rows[n]);
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
	fputs(bash_tail, stdout);
}

/* A text within single quotes, and in an explanation of _arguments. */
static void print_zsh_text(const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text == '\n' ? ' ' : *text);
}

static void print_zsh_row(const struct option_row *row)
{
	bool operand = row->name[0] != '-';

	if (operand) {
		printf(" \\\n\t\t\t':%s:", row->name);
	} else {
		printf(" \\\n\t\t\t'*%s%s[", row->name, row->argument ? "=" : "");
		print_zsh_text(row->help);
		printf("]");
		if (row->argument)
			printf(":%s:", row->argument);
	}
	if (is_file(row)) {
		printf("_files");
	} else if (operand || row->argument) {
		printf(row->type == OPTION_WORDS ? "_values -s , %s" : "(", row->argument);
		print_values(row);
		printf(row->type == OPTION_WORDS ? "" : ")");
	}
	printf("'");
}

static void print_zsh(void)
{
	fputs(zsh_head, stdout);
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++) {
		printf("\t\t'%s:", command_rows[i].name);
		print_zsh_text(command_rows[i].help);
		puts("'");
	}
	fputs(zsh_middle, stdout);
	for (int i = COMMAND_NONE + 1; i < COMMANDS; i++) {
		printf("\t%s)\n\t\t_arguments '--help[Show the options]'", command_rows[i].name);
		for (size_t n = 0; n < option_row_count; n++)
			if (option_rows[n].commands & 1u << i)
				print_zsh_row(&option_rows[n]);
		puts("\n\t\t;;");
	}
	fputs(zsh_tail, stdout);
}

int cmd_completion(const struct options *o)
{
	(o->shell == SHELL_BASH ? print_bash : print_zsh)();
	return EXIT_OK;
}
