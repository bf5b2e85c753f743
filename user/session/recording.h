/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots in a file, to report on them later and elsewhere. The form is documented in docs/WHY.md: each snapshot is
 * a frame with its length and checksum, so a file that was cut gives all that was written to its end. */
#pragma once

#include "session/session.h"

#define RECORDING_HEAD "xidscope-recording 1\n"

struct recorder;

/* Writes the head to @out, which must outlive the recorder. NULL: no memory. */
struct recorder *recorder_new(FILE *out, const struct session_origin *origin);

/* Writes one snapshot and flushes @out. Returns 0 or -errno; -E2BIG: the snapshot has more
 * entries than a recording may have. After an error nothing more is written. */
int recorder_add(struct recorder *r, const struct snapshot *s);

/* Writes the end, and frees. Returns 0 or -errno. NULL is ignored. */
int recorder_end(struct recorder *r);

struct recording;

/* @in must outlive it. NULL: no memory. */
struct recording *recording_new(FILE *in);
void recording_free(struct recording *r);

/* Reads the next snapshot into @s, which must be empty; texts that are pointers are valid until recording_free().
 * Returns 1; 0 at the end; or
 * -EBADMSG it is no recording, or damaged from here on;
 * -EPROTO another version of xidscope has written it;
 * -ENODATA it was cut here;
 * -EIO, -ENOMEM. */
int recording_next(struct recording *r, struct snapshot *s);

/* Where it was made; known after the first recording_next(). */
const struct session_origin *recording_origin(const struct recording *r);

/* What is wrong, by what recording_next() has returned; continues "the recording ...: ". */
const char *recording_damage(int err);

/* Reads a snapshot from the @size bytes of a frame that are uncompressed: for fuzzers, which
 * cannot guess a checksum. Returns as recording_next(). */
int recording_decode(struct recording *r, const uint8_t *bytes, size_t size, struct snapshot *s);
