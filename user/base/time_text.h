/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points in time as text. Files and JSON have ISO 8601 in UTC, or seconds since the epoch; terminals and people have local time. */
#pragma once

#include "base/std.h"

/* Room for "2026-11-21T10:00:00Z", for years up to 9999. */
#define TIME_TEXT_SIZE 24

/* Writes whole seconds. A time before 1970 or after 9999 becomes the first or last valid one. Returns @text. */
const char *time_to_text(char *text, size_t size, double seconds);
#define UTC_TIME(seconds) \
	time_to_text((char[TIME_TEXT_SIZE]){ 0 }, TIME_TEXT_SIZE, seconds) /* valid in its block */

#define TIME_MILLISECONDS_SIZE (TIME_TEXT_SIZE + 4)

/* The same with milliseconds: "2026-11-21T10:00:00.123Z". */
void time_to_milliseconds(char *text, size_t size, double seconds);

/* Room for "2026-11-21 10:00:00 +0100". */
#define TIME_LOCAL_SIZE 32

/* Whole seconds in local time, by the @format of strftime(3). Returns @text, of TIME_LOCAL_SIZE; the macros' is valid in its block. */
const char *time_to_local(char *text, const char *format, double seconds);
#define LOCAL_TIME(seconds) \
	time_to_local((char[TIME_LOCAL_SIZE]){ 0 }, "%Y-%m-%d %H:%M:%S %z", seconds)
#define CLOCK_TIME(seconds) time_to_local((char[TIME_LOCAL_SIZE]){ 0 }, "%H:%M:%S", seconds)

/* "2026-11-21T10:00:00Z", the same with a fraction, "2026-11-21", or seconds since the epoch; from 1970 to 9999. */
bool time_from_text(const char *text, double *seconds);

/* Reads a number that begins with digits or a point. Returns what follows it; NULL: there is none. */
const char *decimal_from_text(const char *text, double *value);

/* "90", "1.5s", "30m", "12h" or "7d", in seconds. */
bool duration_from_text(const char *text, double *seconds);

/* What time_from_person() reads, for messages. */
#define TIME_FORMS \
	"10:00, yesterday, '2h ago', 2026-11-01, 2026-11-01T10:00:00Z or seconds since the epoch"

enum time_direction { TIME_PAST, TIME_FUTURE };

/* Reads what a person writes at the time @now. Besides all forms of time_from_text():
 *
 * 	now, today, yesterday, tomorrow		the last three: midnight
 * 	2026-11-01, 2026-11-01 10:00[:30]	or one of these three for the day, or T for the blank
 * 	10:00, 10:00:30				the last such time; of TIME_FUTURE the next
 * 	2h ago, 2h				"2h" alone goes in this direction
 *
 * in local time, unless Z or an offset such as +01:00 follows a day and time. */
bool time_from_person(const char *text, double now, enum time_direction direction, double *seconds);
