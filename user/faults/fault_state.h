/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that keeps the counts of faults across restarts of the program within one boot, and those of fatal faults
 * beyond it. It also keeps how far the kernel log was read, at the same moment: nothing is lost or counted twice.
 *
 * It is three lines of JSON, in the form of snapshot/codec.c: the format, the tables, and the end with the CRC-32 of both:
 *
 * 	{"format":"xidscope-state"}
 * 	{"state":[{"boot":"5b0b4c4e-...","next":4711,...}],"past":[...],"bus":[...],"places":[...],"faults":[...],...}
 * 	{"end":"0a1b2c3d"}
 *
 * "past" and "bus" are valid in other boots; "state" has the ID of the boot that all the other tables belong to. Times are
 * seconds since that boot (CLOCK_BOOTTIME), except where another is stated. */
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "faults/faults.h"

struct fault_state {
	char boot[BOOT_ID_SIZE]; /* the kernel's random/boot_id */
	uint64_t next; /* sequence number of the first record that is not yet read, or: */
#define STATE_LOG_NOT_READ UINT64_MAX /* counted without the log; the next run begins at its end */
	double boot_to_wall; /* wall time minus time since the boot, seconds; 0: not known */
	struct faults faults; /* owned */
};

/* Returns the text, which the caller frees, and its length; NULL: no memory. */
char *fault_state_write(const struct fault_state *state, size_t *len);

/* Reads @len bytes. Returns 0, -EINVAL if they are not a whole state, or -ENOMEM; @state is empty unless 0 is returned. */
int fault_state_read(struct fault_state *state, const char *text, size_t len);

void fault_state_free(struct fault_state *state);

/* ---- the file ---- */

/* Where the text is from, and where it goes. */
struct state_store {
	const char *path; /* for messages */
	const char *text; /* of the earlier run, @len bytes; NULL: there is none */
	size_t len;
	int error; /* why it could not be read, as -errno; or 0 */
	/* Accepts a text to be written later; if the write fails, the caller sets .lost. @damaged: the old file
	 * is kept under another name. Returns whether the text was accepted. */
	bool (*write)(void *context, const char *text, size_t len, bool damaged);
	void *context;
};

/* Initialise with { .log, .store }, which must outlive it. */
struct state_file {
	const struct log *log;
	const struct state_store *store; /* NULL: no state is kept, and its functions do nothing */
	uint64_t saved_next;
	uint64_t saved_changes;
	bool damaged; /* the old file is damaged and still there */
	bool lost; /* the text that was saved last was not written: it is saved again */
};

/* Fills @faults, which must be empty, and *@next (as in struct fault_state) with the counts of an earlier run of this boot. Returns
 * whether there was such a run. From a state of an earlier boot it takes only what outlives a boot, and returns false. */
bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next);

/* Whether the counts have changed since they were loaded or saved. */
bool state_file_changed(const struct state_file *f, const struct faults *faults);

/* Gives the text to the store if the counts or @next have changed. */
void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next,
		     double boot_to_wall);
