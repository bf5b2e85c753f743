// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope ack`: edits and shows the file of acknowledgements. */
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
#include "commands/options.h"
#include "health/ack.h"
#include "health/health.h"
#include "health/metrics_file.h"

/* How long to wait for another edit of the file. */
#define LOCK_MS 5000

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
		return EXIT_TROUBLE;
	}
	ack_free(&list);
	return 0;
}

/* ---- the list ---- */

static void print_entry(struct json *j, const struct ack *a, struct span note, double now)
{
	const char *state = a->time > now ? "snoozed" : a->snooze ? "over" : "acknowledged";
	char local[TIME_LOCAL_SIZE];

	if (!j) {
		safe_line(stdout, "%-12s  %-10s  %-12s  until %s  %.*s", a->device, a->what, state,
			  time_to_local(local, a->time), (int)span_left(note), note.at);
		return;
	}
	json_object(j, NULL);
	json_text(j, "device", a->device);
	json_text(j, "what", a->what);
	json_text(j, "state", state);
	json_whole_seconds(j, "until", a->time);
	json_bytes(j, "note", note.at, span_left(note));
	json_object_end(j);
}

static int list(const struct options *o)
{
	struct json json = { .out = stdout }, *j = o->json ? &json : NULL;
	FILE_TEXT file = {};
	struct span rest, note;
	struct ack a;
	int code = load(&file, o->ack);

	if (code)
		return code;
	rest = file_text_span(&file);
	if (j)
		json_array(j, NULL);
	while (span_left(rest))
		if (read_entry(span_take_line(&rest), &a, &note))
			print_entry(j, &a, note, wall_seconds());
	if (j) {
		json_array_end(j);
		putchar('\n');
	}
	return EXIT_OK;
}

/* ---- changes ---- */

/* Reads the metrics file. Returns NULL, or in static storage why its faults are not known; @s is then empty. */
static const char *read_metrics(const struct options *o, struct snapshot *s)
{
	static char error[160];
	FILE_TEXT file = {};
	int err = file_text_read_no_link(&file, o->file, METRICS_FILE_MAX_BYTES);

	if (err)
		return file_text_error(err);
	return metrics_file_parse(s, file.bytes, file.len, error, sizeof(error)) ? error : NULL;
}

/* The UUID of the GPU @device, which its successor in the same slot does not have; "": the metrics file does not say.
 * Another program may have written that: any other text could be a whole entry. */
static const char *find_uuid(const struct snapshot *s, const char *device)
{
	const struct gpu_info *gpu =
		ARRAY_FIND(g, s->faults.gpus, s->faults.gpu_count,
			   !strcmp(g->gpu, device) && is_gpu_uuid(span_of(g->uuid)));

	return gpu ? gpu->uuid : "";
}

/* How many faults are open with the acknowledgements that @text of @len bytes has, which can be read. */
static size_t count_open(const struct snapshot *s, const char *text, size_t len)
{
	struct known_fault *faults;
	struct ack_list list;
	char error[160];
	size_t count, open = 0;

	if (ack_parse(&list, text, len, error, sizeof(error)))
		return 0;
	faults = health_faults(s, &list, wall_seconds(), &count);
	while (open < count && faults[open].standing == STANDING_OPEN)
		open++;
	free(faults);
	ack_free(&list);
	return open;
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
static char *change(const struct options *o, const struct snapshot *s, const struct file_text *old,
		    size_t *len, unsigned int *removed)
{
	struct span rest = file_text_span(old), line, note;
	struct ack a, new = o->fault;
	const char *uuid = find_uuid(s, new.device);
	double now = wall_seconds();
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	*removed = 0;
	while (span_next_line(&rest, &line)) {
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
	return stream_text(out, &text);
}

/* Returns 0 or an exit code after a message. */
static int lock(struct output_file *f, const char *path)
{
	int err, made;

	/* Its last folder may be made, so that others can read the file; that it is there is no failure. */
	umask(022);
	made = mkdir(f->folder, 0755) ? -errno : 0;
	err = output_file_lock(f, LOCK_MS);
	if (err == -ENOENT && made)
		err = made; /* why there is no folder */
	if (err)
		safe_line(stderr, "xidscope: cannot change %s: %s%s", path,
			  err == -EBUSY ? "another command is changing it" : output_error(err),
			  err == -EACCES ? ": run it as root, or name another file by --ack" : "");
	return err ? EXIT_TROUBLE : 0;
}

#define SAID 320

/* Writes into @said, of SAID bytes, what the change from @old to @text does. False: why it is not to be made.
 * @unknown: why the faults are not known; NULL: they are. */
static bool say_change(char *said, const struct options *o, const struct snapshot *s,
		       const char *unknown, const struct file_text *old, const char *text,
		       size_t len, unsigned int removed)
{
	const char *what = o->fault.what, *of = o->fault.device, *done = "acknowledged";
	char until[TIME_LOCAL_SIZE + 8] = "", time[TIME_LOCAL_SIZE];
	size_t before, after;

	if (!strcmp(of, "*"))
		of = "all devices";
	if (o->remove) {
		safe_format(said, SAID,
			    removed ? "removed the acknowledgement of %s on %s" :
				      "there is no acknowledgement of %s on %s",
			    what, of);
		return removed;
	}
	if (o->fault.time > wall_seconds()) {
		done = "snoozed";
		snprintf(until, sizeof(until), " until %s", time_to_local(time, o->fault.time));
	}
	before = count_open(s, old->bytes, old->len);
	after = count_open(s, text, len);
	if (after < before)
		safe_format(said, SAID, "%s %zu open fault%s on %s%s", done, before - after,
			    before - after == 1 ? "" : "s", of, until);
	else if (o->force || health_what(what) == HEALTH_STATE)
		safe_format(said, SAID, "%s %s on %s%s", done, what, of, until);
	else if (unknown)
		safe_format(said, SAID, "cannot read %s: %s; --force acknowledges all the same",
			    o->file, unknown);
	else
		safe_format(said, SAID,
			    "no open fault %s on %s%s; see xidscope faults, or use --force", what,
			    of, o->fault.time > 0 && !*until ? " from before --until" : "");
	return after < before || o->force || health_what(what) == HEALTH_STATE;
}

/* With the lock held. Returns the exit code. */
static int edit(const struct options *o, struct output_file *f)
{
	FILE_TEXT old = {};
	struct snapshot s = {};
	const char *unknown;
	struct ack_list list;
	unsigned int removed = 0;
	char error[160] = "no memory", said[SAID], *text;
	int code = load(&old, o->ack), err;
	size_t len = 0;

	if (code)
		return code;
	unknown = read_metrics(o, &s);
	text = change(o, &s, &old, &len, &removed);
	/* What cannot be read must not be written. */
	err = text ? ack_parse(&list, text, len, error, sizeof(error)) : -ENOMEM;
	if (!err)
		ack_free(&list);
	if (err) {
		safe_line(stderr, "xidscope: %s: %s; remove what is not needed", o->ack, error);
	} else if (!say_change(said, o, &s, unknown, &old, text, len, removed)) {
		safe_line(stderr, "xidscope: %s", said);
		err = -ENOENT;
	} else {
		err = output_file_write(f, text, len, NULL);
		if (err)
			safe_line(stderr, "xidscope: cannot write %s: %s", o->ack,
				  output_error(err));
		else
			puts(said);
	}
	snapshot_free(&s);
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
