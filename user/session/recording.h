/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots in a file, to report on them later and elsewhere: a gzip file of lines of JSON, which docs/WHY.md describes.
 * A recording is read whole or not at all. */
#pragma once

#include "base/span.h"
#include "session/session.h"

struct recorder;

/* Writes the head to @fd, which recorder_end() closes. NULL: no memory; @fd stays open. */
struct recorder *recorder_new(int fd, const struct session_origin *origin);

/* Writes one snapshot, all of it. Returns 0 or -errno; -E2BIG: the snapshot has more entries than a recording may have.
 * After an error nothing more is written. */
int recorder_add(struct recorder *r, const struct snapshot *s);

/* Writes the end, closes, and frees. Returns 0 or -errno. NULL is ignored. */
int recorder_end(struct recorder *r);

struct recording;

/* @fd: closed by recording_free(). NULL: no memory; @fd stays open. */
struct recording *recording_new(int fd);
void recording_free(struct recording *r);

/* Reads the next snapshot into @s, which must be empty; texts that are pointers are valid until recording_check() or
 * recording_free(). Returns 1; 0 at the end; or
 * -EBADMSG it is no recording, or damaged from here on;
 * -EILSEQ it is damaged somewhere: its checksum is wrong;
 * -EPROTO its histograms have other buckets;
 * -ENODATA it was cut here;
 * -EIO, -ENOMEM and other errors of reading. */
int recording_next(struct recording *r, struct snapshot *s);

/* Reads the whole recording, then goes back to its begin. Returns 0; -ENOMSG if it has no snapshot; or an error of
 * recording_next(), after which nothing can be read. */
int recording_check(struct recording *r);

/* Where it was made; known after recording_check(). */
const struct session_origin *recording_origin(const struct recording *r);

/* Describes @err, an error of recording_check(), and up to where the recording is whole. The text continues "the recording
 * ...: ". Returns @text, of RECORDING_PROBLEM_SIZE bytes. */
#define RECORDING_PROBLEM_SIZE 160
const char *recording_problem(const struct recording *r, int err, char *text);
