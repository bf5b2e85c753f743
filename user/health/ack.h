/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The faults that an operator has acknowledged: a text of lines
 *
 * 	DEVICE WHAT TIME [COMMENT]	# comment
 *
 * DEVICE is a PCI address as in sysfs, the UUID of a GPU ("GPU-..."), "other" for merged entries, or * for all; WHAT is
 * an Xid, sxid:NUMBER, the kind of a driver error, or * for all; TIME is a time as in time_text.h. All such faults up to
 * the end of that second are acknowledged. A TIME in the future acknowledges none: the present clock cannot have given a
 * fault that time. "until:TIME" is a snooze: it acknowledges all of them until then, and none afterwards. */
#pragma once

#include "base/helper.h"

#define ACK_MAX_LINES 4095
#define ACK_MAX_BYTES (1 << 20)

/* The file that agent and check read. */
#define ACK_DEFAULT_FILE "/etc/xidscope/acks"

struct ack {
	char device[48];
	char what[32]; /* as written; numbers without leading zeros */
	double time;
	bool snooze;
};

/* A list of all zeros is valid and has no entries. */
struct ack_list {
	struct ack *acks;
	size_t count;
};

/* Read DEVICE and WHAT as people write them into @a. False: not in such a form. */
bool ack_read_device(struct span text, struct ack *a);
bool ack_read_what(struct span text, struct ack *a);

/* What the other forms are, for messages. */
#define ACK_DEVICE_FORMS "a PCI address (0000:c1:00.0), GPU-UUID, other or *"
#define ACK_WHAT_FORMS "an Xid, sxid:NUMBER, a kind of driver error or *"

/* Reads @len bytes of @text, which needs no NUL and stays the caller's, into
 * *@list, which is overwritten. Returns 0, or -EINVAL or -ENOMEM with one line
 * in @error; *@list is then empty. */
int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size);

/* The same for the file @path, whose text is *@file; @err: why that cannot be read, or 0. If it does not exist, the list is
 * empty. Returns 0 or -errno. */
int ack_take(struct ack_list *list, const struct file_text *file, int err, const char *path,
	     char *error, size_t error_size);

void ack_free(struct ack_list *list);

/* The agent's file. A process of its own reads it: the folder may be on a server (an overlay's lower layer) or on a disk that hangs. */
struct ack_file {
	const char *path; /* NULL: not read */
	struct ack_list list; /* of the last answer */
	char trouble[600]; /* why it cannot be used; "": it can */
	int silent; /* why there is no answer, -errno; 0: there was one */
	bool due; /* to be read again */
	bool known; /* there was an answer: */
	int error;
	struct file_text file;
	struct helper reader;
};

/* @path, which may be NULL, must outlive *@f. */
void ack_file_open(struct ack_file *f, const char *path);

/* Reads the file again if .due is set. Waits @most_ns for an answer; a late one is taken by the next call. Returns whether
 * .list or .trouble is new. */
bool ack_file_refresh(struct ack_file *f, uint64_t most_ns);

void ack_file_close(struct ack_file *f);

/* The entry by which the faults @what ("79", "sxid:20034" or a kind) of @device, whose UUID is @uuid
 * ("": not known), are acknowledged or snoozed; NULL: none. The last one was at @time, and it is @now. */
const struct ack *ack_find(const struct ack_list *list, const char *device, const char *uuid,
			   const char *what, double time, double now);
