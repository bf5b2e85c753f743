// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope ack`: edits and shows the file of acknowledgements. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/output_file.h"
#include "base/pci_address.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/exit_codes.h"
#include "commands/options.h"
#include "health/ack.h"
#include "health/health.h"
#include "health/metrics_file.h"

/* How long to wait for another edit of the file, and between two tries. */
#define LOCK_NS 5000000000ull
#define TRY_US 20000

/* The entry of @line, whose comment is left in @note. False: there is none. */
static bool read_entry(struct span line, struct ack *a, struct span *note)
{
	struct ack_list list;
	char error[160];
	bool found;

	if (ack_parse(&list, line.at, span_left(line), error, sizeof(error)))
		return false;
	found = list.count == 1;
	if (found)
		*a = list.acks[0];
	ack_free(&list);
	*note = line;
	for (int i = 0; i < 3; i++) {
		span_take_run(note, " \t\r");
		span_take_until(note, " \t\r");
	}
	span_take_run(note, " \t\r#");
	return found;
}

/* Reads the file and checks all of it. Returns 0, or an exit code after a message. */
static int load(struct file_text *file, const char *path)
{
	struct ack_list list;
	char error[160];
	int err = file_text_read_own(file, path, ACK_MAX_BYTES);

	if (err && err != -ENOENT) {
		safe_line(stderr, "xidscope: cannot read %s: %s", path, file_text_error(err));
		return EXIT_TROUBLE;
	}
	err = ack_parse(&list, file->bytes, file->len, error, sizeof(error));
	if (err) {
		safe_line(stderr, "xidscope: %s: %s; correct that line first", path, error);
		file_text_free(file);
		return EXIT_TROUBLE;
	}
	ack_free(&list);
	return 0;
}

/* ---- the list ---- */

static const char *state_of(const struct ack *a, double now)
{
	if (a->time > now)
		return "snoozed";
	return a->snooze ? "over" : "acknowledged";
}

static void print_entry(struct json *j, const struct ack *a, struct span note, double now)
{
	const char *state = state_of(a, now);
	char time[TIME_TEXT_SIZE];

	time_to_text(time, sizeof(time), a->time);
	if (!j) {
		safe_line(stdout, "%-12s  %-10s  %-12s  until %s  %.*s", a->device, a->what, state,
			  time, (int)span_left(note), note.at);
		return;
	}
	json_object(j, NULL);
	json_text(j, "device", a->device);
	json_text(j, "what", a->what);
	json_text(j, "state", state);
	json_text(j, "until", time);
	json_bytes(j, "note", note.at, span_left(note));
	json_object_end(j);
}

static int list(const struct options *o)
{
	struct json json = { .out = stdout }, *j = o->json ? &json : NULL;
	struct file_text file;
	struct span rest, note;
	struct ack a;
	int code = load(&file, o->ack);

	if (code)
		return code;
	rest = (struct span){ file.bytes, file.bytes + file.len };
	if (j)
		json_array(j, NULL);
	while (span_left(rest))
		if (read_entry(span_take_line(&rest), &a, &note))
			print_entry(j, &a, note, wall_seconds());
	if (j) {
		json_array_end(j);
		putchar('\n');
	}
	file_text_free(&file);
	return EXIT_OK;
}

/* ---- changes ---- */

/* The UUID of the GPU @device, which its successor in the same slot does not have; "": the
 * metrics file does not say. Another program may have written that: any other text could be
 * a whole entry. */
static void find_uuid(const struct options *o, const char *device, char *uuid, size_t size)
{
	struct snapshot s = {};
	struct file_text file;
	char error[160];

	*uuid = 0;
	if (file_text_read_no_link(&file, o->file, METRICS_FILE_MAX_BYTES))
		return;
	if (!metrics_file_parse(&s, file.bytes, file.len, error, sizeof(error)))
		for (const struct gpu_info *g = s.faults.gpus;
		     g < s.faults.gpus + s.faults.gpu_count; g++)
			if (!strcmp(g->gpu, device) &&
			    is_gpu_uuid((struct span){ g->uuid, g->uuid + strlen(g->uuid) }))
				snprintf(uuid, size, "%s", g->uuid);
	snapshot_free(&s);
	file_text_free(&file);
}

static void write_entry(FILE *out, const struct ack *a, const char *note)
{
	char time[TIME_TEXT_SIZE];

	time_to_text(time, sizeof(time), a->time);
	fprintf(out, "%s %s %s%s", a->device, a->what, a->snooze ? "until:" : "", time);
	fputs(*note ? "  # " : "", out);
	safe_line(out, "%s", note);
}

/* Copies @old without the entries of the fault, which are counted, and adds one if it is to be
 * acknowledged. Returns the text, which the caller frees, or NULL: no memory. */
static char *change(const struct options *o, const struct file_text *old, size_t *len,
		    unsigned int *removed)
{
	struct span rest = { old->bytes, old->bytes + old->len }, line, note;
	struct ack a, new = o->fault;
	char uuid[sizeof(new.device)];
	double now = wall_seconds();
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	find_uuid(o, new.device, uuid, sizeof(uuid));
	*removed = 0;
	while (span_left(rest)) {
		line = span_take_line(&rest);
		if (read_entry(line, &a, &note) && !strcmp(a.what, new.what) &&
		    (!strcmp(a.device, new.device) || (*uuid && !strcmp(a.device, uuid))))
			++*removed;
		else
			fprintf(out, "%.*s\n", (int)span_left(line), line.at);
	}
	if (!o->remove) {
		if (*uuid)
			snprintf(new.device, sizeof(new.device), "%s", uuid);
		new.snooze = new.time > now;
		if (!(new.time > 0))
			new.time = now;
		write_entry(out, &new, o->note ? o->note : "");
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Returns 0 or an exit code after a message. */
static int lock(struct output_file *f, const char *path)
{
	uint64_t end = monotonic_ns() + LOCK_NS;
	int err;

	/* Its last folder may be made, so that others can read the file; that it is there is no failure. */
	umask(022);
	mkdir(f->folder, 0755);
	/* The lock's file is made and removed by the others. */
	while ((err = output_file_lock(f)) == -EBUSY || err == -EAGAIN || err == -EEXIST) {
		if (monotonic_ns() > end)
			break;
		usleep(TRY_US);
	}
	if (err)
		safe_line(stderr, "xidscope: cannot change %s: %s", path,
			  err == -EBUSY ? "another command is changing it" : output_error(err));
	return err ? EXIT_TROUBLE : 0;
}

/* With the lock held. Returns the exit code. */
static int edit(const struct options *o, struct output_file *f)
{
	struct file_text old;
	struct ack_list list;
	unsigned int removed = 0;
	char error[160] = "no memory", *text;
	int code = load(&old, o->ack), err;
	size_t len = 0;

	if (code)
		return code;
	text = change(o, &old, &len, &removed);
	file_text_free(&old);
	/* What cannot be read must not be written. */
	err = text ? ack_parse(&list, text, len, error, sizeof(error)) : -ENOMEM;
	if (!err)
		ack_free(&list);
	if (err) {
		safe_line(stderr, "xidscope: %s: %s; remove what is not needed", o->ack, error);
	} else if (o->remove && !removed) {
		safe_line(stderr, "xidscope: %s %s is not in %s", o->fault.device, o->fault.what,
			  o->ack);
		err = -ENOENT;
	} else {
		err = output_file_write(f, text, len, NULL);
		if (err)
			safe_line(stderr, "xidscope: cannot write %s: %s", o->ack,
				  output_error(err));
	}
	free(text);
	return err ? EXIT_TROUBLE : EXIT_OK;
}

/* Whether an entry would have no effect; then a message says why. */
static bool is_useless(const struct options *o)
{
	enum health_what what = health_what(o->fault.what);

	if (what == HEALTH_NOTHING)
		safe_line(
			stderr,
			"xidscope: nothing is found by the name %s: use an Xid, sxid:NUMBER, a kind of "
			"driver error, or a rule that finds a state, as nfs_waiter",
			o->fault.what);
	else if (what == HEALTH_STATE && !(o->fault.time > wall_seconds()))
		safe_line(stderr,
			  "xidscope: %s is a state, which goes on: use --until with a time in the "
			  "future",
			  o->fault.what);
	else
		return false;
	return true;
}

int cmd_ack(const struct options *o)
{
	struct output_file f;
	int code = EXIT_TROUBLE;

	if (o->list)
		return list(o);
	if (!o->remove && is_useless(o))
		return EXIT_USAGE;
	if (output_file_init(&f, o->ack) || !f.folder)
		safe_line(stderr, "xidscope: no memory, or no file: name one by --ack");
	else
		code = lock(&f, o->ack);
	if (!code)
		code = edit(o, &f);
	output_file_close(&f, true);
	return code;
}
