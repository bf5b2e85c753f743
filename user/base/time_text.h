/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points in time as people write them: ISO 8601 in UTC, seconds since the epoch,
 * or the local time of day.
 */
#ifndef XIDSCOPE_TIME_TEXT_H
#define XIDSCOPE_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for "2026-11-21T10:00:00Z", for years up to 9999. */
#define TIME_TEXT_SIZE 24

/* Whole seconds. A time before 1970 or after 9999 becomes the first or last one. */
void time_to_text(char *text, size_t size, double seconds);

#define TIME_MILLISECONDS_SIZE (TIME_TEXT_SIZE + 4)

/* The same with milliseconds: "2026-11-21T10:00:00.123Z". */
void time_to_milliseconds(char *text, size_t size, double seconds);

#define TIME_CLOCK_SIZE 9

/* Local time of day: "10:00:00". Returns @text, which has room for TIME_CLOCK_SIZE. */
const char *time_clock(char *text, double seconds);

/* "2026-11-21T10:00:00Z", the same with a fraction, "2026-11-21", or seconds
 * since the epoch; from 1970 to 9999. */
bool time_from_text(const char *text, double *seconds);

#endif
