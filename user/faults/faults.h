/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of faults and of what comes with them, since the start of the observation or, with a state file, since
 * the node's boot. Their times are seconds since the boot (CLOCK_BOOTTIME), which no setting of the wall clock
 * changes; only faults_snapshot() turns them into those of the wall clock. */
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "snapshot/fault_counts.h"

/* Equal faults with a gap below this are one burst. */
#define FAULT_BURST_SECONDS 5.0

/* Incidents with a gap below this are one failure, such as of a job that starts repeatedly. */
#define FAULT_REPEAT_SECONDS 180.0

/* Limits of distinct entries. Beyond MAX_FAULTS a new entry is merged into device "other", and keeps its code, severity
 * and action. Beyond MAX_MADE_UP a code that may be made up (an SXid, or an unknown Xid from HIGH_XID on) becomes 0: a
 * flood leaves room for others. Beyond MAX_FAULTS_IN_ALL, which only several policies can reach, all codes become 0. */
#define MAX_FAULTS 1024
#define MAX_MADE_UP 1536
#define MAX_FAULTS_IN_ALL 4000 /* and FOLDED_CODES more, of code 0 */
#define FOLDED_CODES 8 /* four severities, of Xids and of SXids */
#define HIGH_XID 512

/* Beyond it only the device becomes "other", because there are few kinds. */
#define MAX_KERNEL_EVENTS 512
#define MAX_EVENTS_OF_KIND 64

#define MAX_GPUS 256 /* and "other" for all further ones */
#define MAX_RECOVERIES 512 /* of GPUs; recoveries of all have room in any case */
#define MAX_UNVERIFIED 64 /* and one for all others: device "other", code 0 */

/* A part of a GPU that has had Xids 13. */
struct fault_place {
	char device[PCI_ADDRESS_SIZE];
	unsigned int place; /* as in struct fault */
	uint32_t cause; /* of the last one */
	double last;
	struct fault_repeats repeats;
};
#define MAX_PLACES 512 /* beyond it a new one takes the place of the oldest */

/* A fatal Xid of a GPU (not of its slot) in earlier boots. Times are seconds since the epoch. */
struct past_fault {
	char gpu[48]; /* its UUID; or its address, where that was not known */
	unsigned int code;
	struct fault_repeats boots; /* the last one in each boot */
	struct fault_repeats incidents;
};
#define MAX_PAST 64 /* beyond it a new one takes the place of the oldest */

/* Boots count for so many times FAULT_RECENT_SECONDS. */
#define BOOT_WINDOWS 3

/* A GPU on the PCI bus, in this boot or the last one. */
struct bus_gpu {
	char gpu[PCI_ADDRESS_SIZE];
	unsigned int absent; /* number of consecutive looks that did not find it */
};
#define MAX_BUS_GPUS 32

struct faults {
	struct fault_counts counts;
	struct bus_gpu bus[MAX_BUS_GPUS]; /* all that were ever there; they outlive a boot */
	size_t bus_count;
	uint64_t bus_changes;
	unsigned int driver; /* of GPUs: when it was loaded last; it outlives a boot */
#define DRIVER_LAST_BOOT 1
#define DRIVER_THIS_BOOT 2
	struct fault_place *places;
	size_t place_count;
	struct past_fault *past;
	size_t past_count;
};

/* Times are seconds since the boot. Without memory nothing is counted: see memory_failed(). */

/* Counts one fault; its labels are those of @like. */
void faults_add(struct faults *f, const struct fault *like, double time);
/* Counts another failure or event; @about it, for people, or NULL. Returns its entry. */
struct kernel_event *faults_add_kernel_event(struct faults *f, bool gpu_driver, const char *kind,
					     const char *device, const char *about, double time);
/* Counts an unproven text: it looks like a fault, but any user can have made it. */
void faults_add_unverified(struct faults *f, const char *gpu, unsigned int code);
/* Records evidence that the faults of @gpu ("all": of all) until @time are over, except beyond
 * MAX_RECOVERIES. Entries of device "other" are cleared only by a recovery of all GPUs. */
void faults_recovered(struct faults *f, const char *gpu, const char *evidence, double time);

/* What is known of a GPU, added if it is new; NULL: beyond MAX_GPUS. */
struct gpu_info *faults_gpu(struct faults *f, const char *gpu);

/* Notes that the driver limits its reports of GSP errors of @gpu. */
void faults_rate_limited(struct faults *f, const char *gpu);

/* Whether a fault @code of @device ("": of any) came after @since and after the last recovery of its device. */
bool faults_open_since(const struct faults *f, const char *device, unsigned int code, double since);

/* Notes a report at a place of a GPU, unless it is part of an earlier failure. @cause as in struct fault. */
void faults_note_place(struct faults *f, const char *device, unsigned int place, uint32_t cause,
		       double time);

/* Notes a failure of an earlier boot: of @gpu at @time, seconds since the epoch. @boot: it was the last of its boot.
 * Times come in ascending order. */
void faults_note_past(struct faults *f, const char *gpu, unsigned int code, bool boot, double time);

/* Takes from @old, of an earlier boot, what outlives a boot: its past, its GPUs, and its own fatal Xids, which become past.
 * @boot_to_wall: of @old's boot, when it was saved. */
void faults_outlive(struct faults *f, const struct faults *old, double boot_to_wall);

/* Converts times to those of the wall clock. */
struct fault_clock {
	double boot_to_wall; /* as in struct clock_offsets */
	double now; /* seconds since the boot */
};

/* Copies the counts to @counts, which has none yet. A time before the epoch becomes 0, unknown. */
void faults_snapshot(const struct faults *f, const struct fault_clock *clock,
		     struct fault_counts *counts);

void faults_free(struct faults *f);

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
