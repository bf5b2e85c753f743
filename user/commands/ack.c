// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope ack`: edits and shows the file of acknowledgements. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/output_file.h"
#include "base/pci_address.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "health/health.h"
#include "health/health_file.h"

/* How long to wait while another command changes the file. */
#define LOCK_MS 5000

#define ACK_LIST __attribute__((cleanup(ack_free))) struct ack_list

/* Reads the entry in @line, and its comment into @note. Returns false if the line has no entry. */
static bool read_entry(struct span line, struct ack *a, struct span *note)
{
	ACK_LIST list;
	char error[160];

	if (ack_parse(&list, line.at, span_left(line), error, sizeof(error)) || list.count != 1)
		return false;
	*a = list.acks[0];
	*note = line;
	for (int i = 0; i < 3; i++) {
		span_take_run(note, " \t\r");
		span_take_until(note, " \t\r");
	}
	span_take_run(note, " \t\r#");
	return true;
}

/* Reads the file and checks all of it. Returns 0, or an exit code after a message. */
static int load(struct file_text *file, const char *path)
{
	ACK_LIST list = {};
	char error[160];
	int err = file_text_read_own(file, path, ACK_MAX_BYTES);

	if (err && err != -ENOENT)
		return trouble("cannot read %s: %s", path, file_text_error(err));
	if (ack_parse(&list, file->bytes, file->len, error, sizeof(error)))
		return trouble("%s: %s; correct that line first", path, error);
	return 0;
}

static int list(const struct options *o)
{
	double now = wall_seconds();
	FILE_TEXT file = {};
	struct span rest, line, note;
	struct ack a;
	int code = load(&file, o->ack);

	if (code)
		return code;
	rest = file_text_span(&file);
	while (span_next_line(&rest, &line)) {
		if (!read_entry(line, &a, &note))
			continue;
		safe_line(stdout, "%-12s  %-10s  %-12s  %s %s  %.*s", a.device, a.what,
			  a.time > now ? "snoozed" :
			  a.snooze     ? "over" :
					 "acknowledged",
			  a.snooze || a.time > now ? "until" : "faults up to", LOCAL_TIME(a.time),
			  (int)span_left(note), note.at);
	}
	return EXIT_OK;
}

/* ---- changes ---- */

struct change {
	const struct options *o;
	struct health_file health; /* .error: why the faults are not known; "": they are known */
	struct file_text old;
	char *text; /* the file's new text */
	size_t len;
	unsigned int removed; /* entries that the new text lacks */
	char said[320]; /* the change, or why it is refused */
};

/* Returns the UUID of the GPU @device; "": not known. Another GPU in the same slot has another UUID. */
static const char *find_uuid(const struct change *c, const char *device)
{
	const struct health_item *gpu =
		ARRAY_FIND(g, c->health.gpus.items, c->health.gpus.count,
			   !strcmp(g->device, device) && is_gpu_uuid(span_of(g->uuid)));

	return gpu ? gpu->uuid : "";
}

/* Counts the faults that would be open with the acknowledgements in @text, of @len bytes. Not by the state in the health file: the
 * agent may not have judged since the last change. */
static size_t count_open(const struct change *c, const char *text, size_t len)
{
	double now = wall_seconds();
	ACK_LIST list;
	char error[160];
	size_t open = 0;

	if (ack_parse(&list, text, len, error, sizeof(error)))
		return 0;
	ARRAY_EACH(f, c->health.faults.items, c->health.faults.count)
		if (strcmp(f->state, fault_standing_names[STANDING_HARMLESS]) != 0 &&
		    strcmp(f->state, fault_standing_names[STANDING_OVER]) != 0 &&
		    !ack_find(&list, f->device, find_uuid(c, f->device), f->what,
			      f->last > 0 ? f->last : now, now))
			open++;
	return open;
}

/* Makes the new text: the old one without the entries of this fault, and with the new one, if any. False: no memory. */
static bool make_text(struct change *c)
{
	struct span rest = file_text_span(&c->old), line, note;
	struct ack a, new = c->o->fault;
	const char *uuid = find_uuid(c, new.device);
	FILE *out = open_memstream(&c->text, &c->len);
	double now = wall_seconds();

	if (!out)
		return false;
	while (span_next_line(&rest, &line)) {
		if (read_entry(line, &a, &note) && !strcmp(a.what, new.what) &&
		    (!strcmp(a.device, new.device) || (*uuid && !strcmp(a.device, uuid))))
			c->removed++;
		else
			fprintf(out, "%.*s\n", (int)span_left(line), line.at);
	}
	if (!c->o->remove) {
		if (*uuid)
			snprintf(new.device, sizeof(new.device), "%s", uuid);
		new.snooze = new.time > now;
		if (!(new.time > 0))
			new.time = now;
		safe_line(out, "%s %s %s%s%s%s", new.device, new.what, new.snooze ? "until:" : "",
			  UTC_TIME(new.time), c->o->note && *c->o->note ? "  # " : "",
			  c->o->note ?: "");
	}
	return stream_text(out, &c->text);
}

/* Returns 0 or an exit code after a message. */
static int lock(struct output_file *f, const char *path)
{
	int err, made;

	/* The last folder is made if it is missing. Others must be able to read the file. */
	umask(022);
	f->durable = true;
	made = mkdir(f->folder, 0755) ? -errno : 0;
	err = output_file_lock(f, LOCK_MS);
	if (err == -ENOENT && made)
		err = made; /* why the folder could not be made */
	if (err)
		return trouble("cannot change %s: %s%s", path,
			       err == -EBUSY ? "another command is changing it" : output_error(err),
			       err == -EACCES ? ": run it as root, or name another file by --ack" :
						"");
	return 0;
}

/* Describes the change in .said. Returns false if it is refused; .said then has the reason. */
static bool describe_change(struct change *c)
{
	const struct options *o = c->o;
	const char *what = o->fault.what, *of = o->fault.device, *done = "acknowledged";
	char until[TIME_LOCAL_SIZE + 8] = "", name[FAULT_NAME_SIZE];
	bool anyway = o->force || health_what(what) == HEALTH_STATE;
	size_t before, after;

#define SAY(...) safe_format(c->said, sizeof(c->said), __VA_ARGS__)
	if (!strcmp(of, "*"))
		of = "all devices";
	if (!strcmp(what, "*"))
		what = "all faults";
	else if (strchr(what, ':') || strchr("0123456789", *what))
		what = known_fault_name(name, strchr(what, ':') ? "sxid" : "xid", what);
	if (o->remove) {
		SAY(c->removed ? "removed the acknowledgement of %s on %s" :
				 "there is no acknowledgement of %s on %s",
		    what, of);
		return c->removed;
	}
	if (o->fault.time > wall_seconds()) {
		done = "snoozed";
		snprintf(until, sizeof(until), " until %s", LOCAL_TIME(o->fault.time));
	}
	before = count_open(c, c->old.bytes, c->old.len);
	after = count_open(c, c->text, c->len);
	if (after < before)
		SAY("%s %s on %s%s: %zu fault%s, %zu still open", done, what, of, until,
		    before - after, before - after == 1 ? "" : "s", after);
	else if (anyway)
		SAY("%s %s on %s%s", done, what, of, until);
	else if (*c->health.error)
		SAY("%s; --force acknowledges all the same", c->health.error);
	else
		SAY("no open %s on %s%s%s; see xidscope faults, or use --force",
		    !strcmp(what, "all faults") ? "fault" : what, of,
		    o->fault.time > 0 && !*until ? " from before --until" : "",
		    count_open(c, "", 0) > before ? " that is not acknowledged already" : "");
	return after < before || anyway;
}

/* Changes the file, whose lock is held. Returns the exit code. */
static int edit(struct change *c, struct output_file *f)
{
	const struct options *o = c->o;
	char error[160] = "no memory";
	ACK_LIST list = {};
	int err = load(&c->old, o->ack);

	if (err)
		return err;
	health_file_read(&c->health, o->health_file, o->max_age, true);
	/* A text that the agent could not read is not written. */
	if (!make_text(c) || ack_parse(&list, c->text, c->len, error, sizeof(error)))
		return trouble("%s: %s; remove what is not needed", o->ack, error);
	if (!describe_change(c))
		return trouble("%s", c->said);
	err = output_file_write(f, c->text, c->len, NULL);
	if (err)
		return trouble("cannot write %s: %s", o->ack, output_error(err));
	/* A running agent reads it now. */
	if (!*c->health.error)
		utimensat(AT_FDCWD, o->health_file, NULL, AT_SYMLINK_NOFOLLOW);
	puts(c->said);
	return EXIT_OK;
}

/* Returns whether the entry would have no effect, after a message with the reason. */
static bool is_useless(const struct options *o)
{
	enum health_what what = health_what(o->fault.what);

	if (what == HEALTH_NOTHING)
		return trouble(
			"no rule finds %s: use an Xid, sxid:NUMBER, a kind of driver error, or a "
			"rule that finds a state, such as nfs_waiter",
			o->fault.what);
	return what == HEALTH_STATE && !(o->fault.time > wall_seconds()) &&
	       trouble("%s is a state: snooze it by --until with a future time", o->fault.what);
}

int cmd_ack(const struct options *o)
{
	struct change c = { .o = o };
	struct output_file f;
	int code;

	if (o->list)
		return list(o);
	if (!o->remove && is_useless(o))
		return EXIT_USAGE;
	if (output_file_init(&f, o->ack) || !f.folder)
		code = trouble("no memory, or no file: name one by --ack");
	else
		code = lock(&f, o->ack) ?: edit(&c, &f);
	output_file_close(&f, true);
	health_file_free(&c.health);
	file_text_free(&c.old);
	free(c.text);
	return code;
}
