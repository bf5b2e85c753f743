// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope status`: the agent's findings in at most ten lines; `xidscope faults`: the faults since boot. Both read its file. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/top.h"
#include "health/health_file.h"

#define SHOWN 2 /* findings */
#define INDENT 10

static const char *level_word(const struct health_file *f)
{
	return !strcmp(f->level, "fail") ? "critical" :
	       !strcmp(f->level, "warn") ? "warning" :
					   f->level;
}

/* The open items of a list come first. */
static size_t count_open(const struct health_list *list)
{
	size_t open = 0;

	while (open < list->count && !strcmp(list->items[open].state, "open"))
		open++;
	return open;
}

#define HEALTH_FILE __attribute__((cleanup(health_file_free))) struct health_file

void agent_line(char *text, size_t size, const struct options *o)
{
	HEALTH_FILE f;

	if (health_file_read(&f, o->health_file, o->max_age, false))
		safe_format(text, size, "%s, %.0f s ago: %s", level_word(&f), f.age, f.headline);
	else
		safe_format(text, size, "%s", f.error);
}

bool agent_runs(const struct options *o)
{
	HEALTH_FILE f;

	return health_file_read(&f, o->health_file, o->max_age, false) ||
	       (f.trouble && *f.trouble && f.age <= o->max_age);
}

/* ---- lines ---- */

/* One line, on a terminal cut to its width: the commands named beside it show all. */
static void print_cut(const char *head, const char *text)
{
	struct terminal_size size;
	size_t whole = strlen(text), fits = whole;

	if (terminal_ask(STDOUT_FILENO, &size))
		fits = terminal_fit(text, whole,
				    size.columns / 2 > INDENT ? size.columns - INDENT - 3 : 1);
	safe_line(stdout, "%-*s%.*s%s", INDENT, head, (int)fits, text, fits < whole ? "..." : "");
}

static void print_metrics(const struct health_file *f)
{
	struct stat st;

	if (!*f->output || !strcmp(f->output, "-"))
		return;
	if (stat(f->output, &st))
		terminal_line(stdout, INDENT, "metrics   %s: %s", f->output, strerror(errno));
	else
		terminal_line(stdout, INDENT, "metrics   %s, %.0f s old", f->output,
			      fmax(0, wall_seconds() - (double)st.st_mtim.tv_sec));
}

/* Those that something limits come first. */
static void print_servers(const struct health_file *f)
{
	char text[1024] = "none";
	size_t len = 0;

	for (int idle = 0; idle <= 1; idle++)
		ARRAY_EACH(v, f->servers.items, f->servers.count)
			if (idle == !strcmp(v->what, "none") && len < sizeof(text))
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s (%s)",
							len ? ", " : "", v->device,
							idle ? "no limit" : v->what);
	print_cut("servers", text);
}

static void print_findings(const struct health_file *f)
{
	size_t open = count_open(&f->findings);

	terminal_line(stdout, INDENT, "health    %s, %zu finding%s%s", level_word(f), open,
		      open == 1 ? "" : "s", open ? ": xidscope check --explain" : "");
	for (size_t i = 0; i < open && i < SHOWN; i++)
		if (strcmp(f->findings.items[i].reason, f->headline) != 0) /* said above */
			print_cut("", f->findings.items[i].reason);
}

int cmd_status(const struct options *o)
{
	HEALTH_FILE f;

	if (!health_file_read(&f, o->health_file, o->max_age, true)) {
		terminal_line(stdout, INDENT, "agent     not known: %s", f.error);
		return EXIT_TROUBLE;
	}
	terminal_line(stdout, 0, "%s", f.headline);
	terminal_line(stdout, INDENT, "agent     runs, judged this node %.0f s ago, source %s",
		      f.age, f.source);
	print_metrics(&f);
	print_servers(&f);
	print_findings(&f);
	/* The open ones are findings as well. */
	terminal_line(stdout, INDENT, "faults    %zu open, %zu since boot%s", count_open(&f.faults),
		      f.faults.count, f.faults.count ? ": xidscope faults" : "");
	puts("next      live: xidscope top; what happened: xidscope why");
	return EXIT_OK;
}

/* ---- xidscope faults ---- */

/* A line for each fault, and lines with its meaning and what to do. */
static void print_lines(const struct health_list *faults)
{
	if (!faults->count) {
		puts("No fault since boot.");
		return;
	}
	printf("%-12s  %-25s  %-22s %s\n", "STATE", "LAST", "FAULT", "DEVICE");
	ARRAY_EACH(f, faults->items, faults->count) {
		safe_line(stdout, "%-12s  %-25s  %-22s %s", f->state,
			  f->last > 0 ? LOCAL_TIME(f->last) : "-", FAULT_NAME(f->kind, f->what),
			  *f->device ? f->device : "-");
		terminal_line(stdout, 4, "    %s%s%.0f report%s%s%s. %s", f->severity,
			      *f->severity ? ", " : "", f->count, f->count == 1 ? "" : "s",
			      *f->meaning ? ": " : "", f->meaning,
			      !strcmp(f->state, "open") ? f->advice : "");
	}
}

static void print_json(const struct health_list *faults)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	health_list_write(&j, "faults", faults);
	json_end(&j);
}

int cmd_faults(const struct options *o)
{
	HEALTH_FILE file;
	bool known = health_file_read(&file, o->health_file, o->max_age, true);

	if (!known || *file.trouble)
		trouble("%s", known ? file.trouble : file.error);
	if (known && o->json)
		print_json(&file.faults);
	else if (known)
		print_lines(&file.faults);
	return known ? CHECK_OK : CHECK_UNKNOWN;
}
