// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope faults`: the faults since boot, from the agent's state file. */

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "faults/fault_state.h"
#include "health/health.h"

#define MAX_BYTES (4 << 20)

/* Where refusals go: NULL: nowhere. */
static bool refuse_file(FILE *out, const char *path, const char *why)
{
	if (out)
		safe_line(out, "xidscope: %s: %s", path, why);
	return false;
}

/* Reads the counts of this boot into @s. Returns false after a message. */
static bool read_state(FILE *refusals, const char *path, struct snapshot *s)
{
	struct clock_offsets clocks;
	struct fault_state state;
	FILE_TEXT text = {};
	char boot[BOOT_ID_SIZE], why[160];
	int err = file_text_read(&text, path, MAX_BYTES);

	if (err) {
		safe_format(
			why, sizeof(why), "%s%s", file_text_error(err),
			err == -ENOENT ?
				": no agent has run here with this --state; name the file of 'xidscope run --state FILE'" :
				"; name the file that 'xidscope run --state FILE' writes by --state");
		return refuse_file(refusals, path, why);
	}
	err = fault_state_read(&state, text.bytes, text.len);
	if (err)
		return refuse_file(refusals, path,
				   err == -EINVAL ? "it is no state file, or a damaged one" :
						    strerror(-err));
	boot_id_read(boot);
	clock_offsets_read(&clocks);
	if (strcmp(state.boot, boot) != 0) {
		fault_state_free(&state);
		return refuse_file(refusals, path,
				   "it is of an earlier boot: no agent has run with it since");
	}
	err = faults_snapshot(&state.faults,
			      &(struct fault_clock){ clocks.boot_to_wall,
						     boot_seconds(&clocks, monotonic_ns()), 0 },
			      &s->faults);
	fault_state_free(&state);
	return err ? refuse_file(refusals, path, strerror(-err)) : true;
}

/* A line for each fault, and lines with its meaning and what to do. */
static void print_lines(const struct known_fault *faults, size_t count)
{
	char last[TIME_LOCAL_SIZE], name[FAULT_NAME_SIZE];

	if (!count) {
		puts("No fault since boot.");
		return;
	}
	printf("%-12s  %-25s  %-22s %s\n", "STATE", "LAST", "FAULT", "DEVICE");
	ARRAY_EACH(f, faults, count) {
		safe_line(stdout, "%-12s  %-25s  %-22s %s", fault_standing_names[f->standing],
			  f->last > 0 ? time_to_local(last, f->last) : "-",
			  known_fault_name(name, f), *f->device ? f->device : "-");
		terminal_line(stdout, 4, "    %s%s%" PRIu64 " report%s%s%s. %s", f->severity,
			      *f->severity ? ", " : "", f->count, f->count == 1 ? "" : "s",
			      *f->meaning ? ": " : "", f->meaning, f->advice);
	}
}

static void print_json(const struct known_fault *faults, size_t count)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	json_array(&j, "faults");
	ARRAY_EACH(f, faults, count) {
		json_newline(&j);
		json_object(&j, NULL);
		json_text(&j, "state", fault_standing_names[f->standing]);
		json_text(&j, "kind", f->kind);
		json_text(&j, "fault", f->what);
		json_text(&j, "device", f->device);
		json_text(&j, "severity", f->severity);
		json_text(&j, "action", f->action);
		json_text(&j, "meaning", f->meaning);
		json_text(&j, "advice", f->advice);
		json_unsigned(&j, "count", f->count);
		if (f->first > 0)
			json_time(&j, "first", f->first);
		if (f->last > 0)
			json_time(&j, "last", f->last);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	putchar('\n');
}

bool known_faults_read(struct known_faults *k, const struct options *o, FILE *refusals)
{
	char error[160] = "no memory";

	*k = (struct known_faults){};
	if (!read_state(refusals, o->faults_state, &k->s))
		return false;
	if (!ack_load(&k->acks, o->ack, error, sizeof(error)))
		k->list = health_faults(&k->s, &k->acks, wall_seconds(), &k->count);
	return k->list || refuse_file(refusals, o->ack, error);
}

void known_faults_free(struct known_faults *k)
{
	free(k->list);
	ack_free(&k->acks);
	snapshot_free(&k->s);
}

int cmd_faults(const struct options *o)
{
	struct known_faults k;
	bool good = known_faults_read(&k, o, stderr);

	if (good && o->json)
		print_json(k.list, k.count);
	else if (good)
		print_lines(k.list, k.count);
	known_faults_free(&k);
	return good ? EXIT_OK : EXIT_TROUBLE;
}
