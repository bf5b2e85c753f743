// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope faults`: the faults since boot, from the agent's state file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/exit_codes.h"
#include "commands/options.h"
#include "faults/fault_state.h"
#include "health/health.h"
#include "xid/xid_catalog.h"

#define MAX_BYTES (4 << 20)

struct row {
	bool open;
	const char *kind; /* "xid", "sxid", "gpu_driver_error" */
	char what[48]; /* "79", "sxid:20034", "fallen_off_bus": as in acknowledgements */
	const char *device, *severity, *action;
	uint64_t count;
	double first, last; /* seconds since the epoch; 0: not known */
};

static bool refuse(const char *path, const char *why)
{
	safe_line(stderr, "xidscope: %s: %s", path, why);
	return false;
}

/* Reads the counts of this boot into @s. Returns false after a message. */
static bool read_state(const char *path, struct snapshot *s)
{
	struct clock_offsets clocks;
	struct fault_state state;
	struct file_text text;
	char boot[BOOT_ID_SIZE], why[160];
	int err = file_text_read(&text, path, MAX_BYTES);

	if (err) {
		safe_format(why, sizeof(why),
			    "%s; name the file that 'xidscope run --state FILE' writes by --state",
			    file_text_error(err));
		return refuse(path, why);
	}
	err = fault_state_read(&state, text.bytes, text.len);
	file_text_free(&text);
	if (err)
		return refuse(path, err == -EINVAL ? "it is no state file, or a damaged one" :
						     strerror(-err));
	boot_id_read(boot);
	clock_offsets_read(&clocks);
	if (strcmp(state.boot, boot) != 0) {
		fault_state_free(&state);
		return refuse(path, "it is of an earlier boot: no agent has run with it since");
	}
	err = faults_snapshot(&state.faults,
			      &(struct fault_clock){ clocks.boot_to_wall,
						     boot_seconds(&clocks, monotonic_ns()), 0 },
			      s);
	fault_state_free(&state);
	return err ? refuse(path, strerror(-err)) : true;
}

/* Open ones first, then the latest. */
static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->open != b->open)
		return a->open ? -1 : 1;
	return (a->last < b->last) - (a->last > b->last);
}

/* Fills @rows, which has room for all. Returns their number. */
static size_t fill(struct row *rows, const struct snapshot *s)
{
	struct health_options options;
	double now = wall_seconds();
	struct row *r = rows;

	health_defaults(&options);
	for (const struct fault *f = s->faults.faults; f < s->faults.faults + s->faults.fault_count;
	     f++, r++) {
		*r = (struct row){ .kind = f->nvswitch ? "sxid" : "xid",
				   .device = f->device,
				   .severity = f->severity,
				   .action = f->action,
				   .count = f->count,
				   .first = f->first,
				   .last = f->last };
		xid_code_text(r->what, sizeof(r->what), f->nvswitch, f->code);
		r->open = !health_is_over(s, &options, now, f->device, r->what, f->last);
	}
	for (const struct kernel_event *e = s->faults.kernel_events;
	     e < s->faults.kernel_events + s->faults.kernel_event_count; e++) {
		if (!e->gpu_driver || !e->count)
			continue;
		*r = (struct row){ .kind = "gpu_driver_error",
				   .device = e->device,
				   .severity = "",
				   .action = "",
				   .count = e->count,
				   .last = e->last };
		snprintf(r->what, sizeof(r->what), "%s", e->kind);
		r->open = !health_is_over(s, &options, now, e->device, e->kind, e->last);
		r++;
	}
	return (size_t)(r - rows);
}

static void print_lines(const struct row *rows, size_t count)
{
	char last[TIME_TEXT_SIZE];

	if (!count) {
		puts("No fault since boot.");
		return;
	}
	printf("%-5s %-20s %-24s %-8s %8s  %-20s  %s\n", "STATE", "LAST", "FAULT", "SEVERITY",
	       "REPORTS", "DEVICE", "ACTION");
	for (const struct row *r = rows; r < rows + count; r++) {
		time_to_text(last, sizeof(last), r->last);
		safe_line(stdout, "%-5s %-20s %-24s %-8s %8" PRIu64 "  %-20s  %s",
			  r->open ? "open" : "over", r->last > 0 ? last : "-", r->what,
			  *r->severity ? r->severity : "-", r->count, *r->device ? r->device : "-",
			  *r->action ? r->action : "-");
	}
}

static void write_time(struct json *j, const char *name, double seconds)
{
	char text[TIME_MILLISECONDS_SIZE];

	if (!(seconds > 0))
		return;
	time_to_milliseconds(text, sizeof(text), seconds);
	json_text(j, name, text);
}

static void print_json(const struct row *rows, size_t count)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	json_array(&j, "faults");
	for (const struct row *r = rows; r < rows + count; r++) {
		json_newline(&j);
		json_object(&j, NULL);
		json_bool(&j, "open", r->open);
		json_text(&j, "kind", r->kind);
		json_text(&j, "fault", r->what);
		json_text(&j, "device", r->device);
		json_text(&j, "severity", r->severity);
		json_text(&j, "action", r->action);
		json_unsigned(&j, "count", r->count);
		write_time(&j, "first", r->first);
		write_time(&j, "last", r->last);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	putchar('\n');
}

int cmd_faults(const struct options *o)
{
	struct snapshot s = {};
	struct row *rows = NULL;
	size_t count;

	if (!read_state(o->faults_state, &s)) {
		snapshot_free(&s);
		return EXIT_TROUBLE;
	}
	rows = calloc(s.faults.fault_count + s.faults.kernel_event_count + 1, sizeof(*rows));
	if (!rows) {
		snapshot_free(&s);
		refuse(o->faults_state, "no memory");
		return EXIT_TROUBLE;
	}
	count = fill(rows, &s);
	qsort(rows, count, sizeof(*rows), compare);
	if (o->json)
		print_json(rows, count);
	else
		print_lines(rows, count);
	free(rows);
	snapshot_free(&s);
	return EXIT_OK;
}
