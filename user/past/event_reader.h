/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads event logs back, also those of older and newer releases, torn ones and foreign lines. */
#pragma once

#include "past/history.h"

#define EVENT_FILE_MAX (64u << 20) /* bytes of one file, unpacked; what is older is not read */
#define EVENT_FILES 16 /* FILE, FILE.1, FILE.2.gz and so on */

/* Adds the lines of @text, which the history refers to. What is no event is counted in
 * h->skipped, empty lines are not. Returns 0 or -ENOMEM. */
int event_reader_add(struct history *h, const char *text, size_t len);

/* The files of a log, the oldest first. Initialise with {}. */
struct event_files {
	struct event_file {
		char path[4096];
		char *text; /* owned */
		size_t len;
	} files[EVENT_FILES];
	size_t count;
};

/* Reads @path and what was renamed to @path.1, @path.2 and so on, or packed by gzip as @path.2.gz; "-": standard
 * input. Returns 0 if there is any of them, or -errno, with the path that could not be read in @wrong: without all of
 * them the past would be another. */
int event_files_read(struct event_files *f, const char *path, char *wrong, size_t size);
void event_files_free(struct event_files *f);
