// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The file that keeps the counts of faults across restarts of the program. */
#include "faults/state_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "faults/fault_state.h"

/* A state file is no longer than this. */
#define STATE_MAX (4 << 20)

/* Grows with each change of the counts. */
static uint64_t changes(const struct faults *faults)
{
	const struct snapshot *s = &faults->counts;
	uint64_t sum = s->gpu_count + s->recovery_count;

	for (size_t i = 0; i < s->fault_count; i++)
		sum += s->faults[i].count;
	for (size_t i = 0; i < s->kernel_event_count; i++)
		sum += s->kernel_events[i].count;
	for (size_t i = 0; i < s->unverified_count; i++)
		sum += s->unverified[i].count;
	for (int p = 0; p < FAULT_PATHS; p++)
		sum += s->fault_paths[p];
	return sum;
}

int state_file_open(struct state_file *f, const struct log *log, const char *path)
{
	*f = (struct state_file){ .log = log };
	if (!path)
		return 0;
	if (output_file_init(&f->file, path))
		return -ENOMEM;
	if (output_file_lock(&f->file) == -EBUSY) {
		log_error(log,
			  "another agent uses the state file %s: stop it, or name another --state",
			  path);
		return -EBUSY;
	}
	f->open = true;
	return 0;
}

/* Renames a damaged file, so that the reason can be looked for. */
static void set_aside(const struct state_file *f)
{
	char *path;

	if (asprintf(&path, "%s.damaged", f->file.path) < 0)
		return;
	if (rename(f->file.path, path))
		log_warn(f->log,
			 "the state file %s is damaged and cannot be renamed: %s. It will be "
			 "overwritten",
			 f->file.path, strerror(errno));
	else
		log_warn(f->log,
			 "the state file was damaged and is now %s; counting faults from the "
			 "kernel log",
			 path);
	free(path);
}

bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next,
		     double boot_to_wall)
{
	char boot[BOOT_ID_SIZE];
	struct fault_state state;
	struct file_text file;
	int err;

	if (!f->open)
		return false;
	err = file_text_read(&file, f->file.path, STATE_MAX);
	if (err == -ENOENT)
		return false;
	if (!err)
		err = fault_state_read(&state, file.bytes, file.len);
	file_text_free(&file);
	if (err == -EINVAL || err == -EFBIG)
		set_aside(f);
	else if (err)
		log_warn(f->log,
			 "cannot read the state file %s: %s; counting faults from the kernel log",
			 f->file.path, file_text_error(err));
	if (err)
		return false;
	boot_id_read(boot);
	/* "": the boot is unknown, so the state may be of another. */
	if (!*boot || strcmp(boot, state.boot) != 0) {
		log_info(f->log, "the state file %s is of an earlier boot: counts begin at 0",
			 f->file.path);
		fault_state_free(&state);
		return false;
	}
	if (state.wall_times)
		faults_shift(&state.faults, -boot_to_wall);
	*faults = state.faults;
	*next = f->saved_next = state.next;
	f->saved_changes = changes(faults);
	log_info(f->log, "continuing from the state file %s at record %" PRIu64, f->file.path,
		 state.next);
	return true;
}

bool state_file_changed(const struct state_file *f, const struct faults *faults)
{
	return f->open && changes(faults) != f->saved_changes;
}

void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next)
{
	struct fault_state state = { .next = next, .faults = *faults };
	size_t len = 0;
	char *text;
	int err = -ENOMEM;

	if (!f->open || (next == f->saved_next && !state_file_changed(f, faults)))
		return;
	boot_id_read(state.boot);
	text = fault_state_write(&state, &len);
	if (text)
		err = output_file_write(&f->file, text, len);
	free(text);
	if (!err) {
		f->saved_changes = changes(faults);
		f->saved_next = next;
	}
	if (err != f->error && err)
		log_error(f->log,
			  "cannot write the state file %s: %s; make its directory writable or name "
			  "another --state. Until then a restart counts from the kernel log only",
			  f->file.path, strerror(-err));
	else if (err != f->error)
		log_info(f->log, "the state file %s is written again", f->file.path);
	f->error = err;
}

void state_file_close(struct state_file *f)
{
	if (f->file.path)
		output_file_close(&f->file, true);
}
