// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The file that keeps the counts of faults across restarts of the program. */
#include "faults/fault_state.h"

/* Grows with each change of the counts. */
static uint64_t changes(const struct faults *faults)
{
	const struct fault_counts *c = &faults->counts;
	uint64_t sum = c->gpu_count + c->recovery_count + faults->bus_changes + faults->driver;

	for (size_t i = 0; i < c->fault_count; i++)
		sum += c->faults[i].count;
	for (size_t i = 0; i < c->kernel_event_count; i++)
		sum += c->kernel_events[i].count;
	for (size_t i = 0; i < c->unverified_count; i++)
		sum += c->unverified[i].count;
	return sum;
}

/* Returns 0 or -errno after a message. */
static int read_state(struct state_file *f, struct fault_state *state)
{
	const struct state_store *store = f->store;
	int err = store->error ?: fault_state_read(state, store->text, store->len);

	f->damaged = err;
	if (err)
		log_warn(f->log,
			 "cannot read the state file %s: %s; it will be renamed to %s.damaged; "
			 "counting faults from the kernel log",
			 store->path,
			 err == -EINVAL || err == -EFBIG ? "it is damaged" : strerror(-err),
			 store->path);
	return err;
}

bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next)
{
	struct fault_state state;

	if (!f->store || (!f->store->text && !f->store->error) || read_state(f, &state))
		return false;
	/* "": the boot is unknown: the state may be of another. */
	if (!*boot_id() || strcmp(boot_id(), state.boot) != 0) {
		log_info(f->log, "the state file %s is of an earlier boot: counts begin at 0",
			 f->store->path);
		if (state.boot_to_wall > 0 &&
		    faults_outlive(faults, &state.faults, state.boot_to_wall))
			log_warn(f->log, "no memory for the faults of earlier boots");
		fault_state_free(&state);
		return false;
	}
	*faults = state.faults;
	*next = f->saved_next = state.next;
	f->saved_changes = changes(faults);
	log_info(f->log, "continuing from the state file %s at record %" PRIu64, f->store->path,
		 state.next);
	return true;
}

bool state_file_changed(const struct state_file *f, const struct faults *faults)
{
	return f->store && (f->lost || changes(faults) != f->saved_changes);
}

void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next,
		     double boot_to_wall)
{
	struct fault_state state = { .next = next,
				     .boot_to_wall = boot_to_wall,
				     .faults = *faults };
	size_t len = 0;
	FREED char *text = NULL;

	if (!f->store || (next == f->saved_next && !state_file_changed(f, faults)))
		return;
	snprintf(state.boot, sizeof(state.boot), "%s", boot_id());
	text = fault_state_write(&state, &len);
	if (text && f->store->write(f->store->context, text, len, f->damaged)) {
		f->saved_changes = changes(faults);
		f->saved_next = next;
		f->damaged = f->lost = false;
	}
}

void state_file_lost(struct state_file *f)
{
	f->lost = true;
}
