// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope faults`: prints the faults since boot from the agent's health file. It evaluates nothing. */

#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "health/health_file.h"

/* A line for each fault, and lines with its meaning and what to do. */
static void print_lines(const struct health_list *faults)
{
	char last[TIME_LOCAL_SIZE], name[FAULT_NAME_SIZE];

	if (!faults->count) {
		puts("No fault since boot.");
		return;
	}
	printf("%-12s  %-25s  %-22s %s\n", "STATE", "LAST", "FAULT", "DEVICE");
	ARRAY_EACH(f, faults->items, faults->count) {
		safe_line(stdout, "%-12s  %-25s  %-22s %s", f->state,
			  f->last > 0 ? time_to_local(last, f->last) : "-",
			  known_fault_name(name, f->kind, f->what), *f->device ? f->device : "-");
		terminal_line(stdout, 4, "    %s%s%.0f report%s%s%s. %s", f->severity,
			      *f->severity ? ", " : "", f->count, f->count == 1 ? "" : "s",
			      *f->meaning ? ": " : "", f->meaning, f->advice);
	}
}

static void print_json(const struct health_list *faults)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	health_list_write(&j, "faults", faults);
	json_object_end(&j);
	putchar('\n');
}

int cmd_faults(const struct options *o)
{
	struct health_file file;
	char error[640];
	bool known = health_file_read(&file, o->health_file, o->max_age, error, sizeof(error));

	if (!known || *file.trouble)
		safe_line(stderr, "xidscope: %s", known ? file.trouble : error);
	if (known && o->json)
		print_json(&file.faults);
	else if (known)
		print_lines(&file.faults);
	health_file_free(&file);
	return known ? CHECK_OK : CHECK_UNKNOWN;
}
