/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file that keeps the counts of faults across restarts of the program within
 * one boot, and of fatal ones a little beyond it. Its text is that of faults/fault_state.h.
 */
#ifndef XIDSCOPE_STATE_FILE_H
#define XIDSCOPE_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "faults/faults.h"

/* Where the text is from, and where it goes. */
struct state_store {
	const char *path; /* for messages */
	const char *text; /* of the earlier run, @len bytes; NULL: there is none */
	size_t len;
	int error; /* why it could not be read, as -errno; or 0 */
	/* Takes a text, to be written later: state_file_lost() if that fails. @damaged: the
	 * old file is not to be lost. Returns whether it was taken. */
	bool (*write)(void *context, const char *text, size_t len, bool damaged);
	void *context;
};

struct state_file {
	const struct log *log;
	const struct state_store *store; /* NULL: no state is kept */
	uint64_t saved_next;
	uint64_t saved_changes;
	bool damaged; /* the old file, which is still there */
	bool lost; /* the text that was saved last */
};

/* With a @store of NULL the other functions do nothing. @log and @store must outlive it. */
void state_file_init(struct state_file *f, const struct log *log, const struct state_store *store);

/*
 * Takes over what an earlier run of this boot has counted: fills @faults, which
 * must be empty, and the sequence number of the first record that it has not
 * read. Returns whether there was such a state; of an earlier boot's it takes
 * what outlives that, and returns false.
 */
bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next);

/* Whether the counts have changed since they were loaded or saved. */
bool state_file_changed(const struct state_file *f, const struct faults *faults);

/* Gives the text to the store if the counts or @next have changed. */
void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next,
		     double boot_to_wall);

/* What was saved last could not be written: it is saved again. */
void state_file_lost(struct state_file *f);

#endif
