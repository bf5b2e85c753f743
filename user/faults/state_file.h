/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file that keeps the counts of faults across restarts of the program within
 * one boot. Its text is that of faults/fault_state.h.
 */
#ifndef XIDSCOPE_STATE_FILE_H
#define XIDSCOPE_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/output_file.h"
#include "faults/faults.h"

struct state_file {
	const struct log *log;
	struct output_file file;
	bool open; /* there is a file, and no other program has it */
	uint64_t saved_next;
	uint64_t saved_changes;
	int error; /* of the last write: reported once per change */
};

/*
 * Locks the file @path; NULL: none is kept, and the other functions do nothing.
 * @log must outlive it. Returns 0, -EBUSY after an error message if another
 * program has the file, or -ENOMEM.
 */
int state_file_open(struct state_file *f, const struct log *log, const char *path);

/*
 * Takes over what an earlier run of this boot has counted: fills @faults, which
 * must be empty, and the sequence number of the first record that it has not
 * read. @boot_to_wall is that of struct clock_offsets: an older program's file has times
 * of the wall clock. Returns whether there was such a state.
 */
bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next,
		     double boot_to_wall);

/* Whether the counts have changed since they were loaded or saved. */
bool state_file_changed(const struct state_file *f, const struct faults *faults);

/* Writes the file if the counts or @next have changed. */
void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next);

/* Unlocks the file and keeps it. */
void state_file_close(struct state_file *f);

#endif
