// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Points in time as people write them. */
#include "base/time_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAST 253402300799.0 /* 9999-12-31T23:59:59Z */

void time_to_text(char *text, size_t size, double seconds)
{
	struct tm utc;
	time_t t;

	if (!(seconds > 0))
		seconds = 0;
	if (seconds > LAST)
		seconds = LAST;
	t = (time_t)seconds;
	gmtime_r(&t, &utc);
	strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void time_to_milliseconds(char *text, size_t size, double seconds)
{
	char part[8];
	size_t len;

	if (!(seconds > 0))
		seconds = 0;
	if (seconds > LAST)
		seconds = LAST;
	time_to_text(text, size, seconds);
	len = strlen(text);
	snprintf(part, sizeof(part), ".%03dZ", (int)((seconds - (double)(time_t)seconds) * 1e3));
	if (len && len - 1 + strlen(part) < size)
		memcpy(text + len - 1, part, strlen(part) + 1);
}

const char *time_clock(char *text, double seconds)
{
	time_t whole = (time_t)seconds;
	struct tm local;

	localtime_r(&whole, &local);
	strftime(text, TIME_CLOCK_SIZE, "%H:%M:%S", &local);
	return text;
}

/* Reads digits, and perhaps a point and more digits, to the end of the text. */
static bool read_decimal(const char *text, double *value)
{
	size_t whole = strspn(text, "0123456789"), all = whole;

	if (text[whole] == '.')
		all += 1 + strspn(text + whole + 1, "0123456789");
	*value = strtod(text, NULL);
	return whole && !text[all];
}

bool time_from_text(const char *text, double *seconds)
{
	struct tm utc = {};
	const char *rest;
	double part = 0;
	time_t t;
	int day;

	if (read_decimal(text, seconds))
		return *seconds <= LAST;
	/* strptime() would accept blanks and signs. */
	if (text[strspn(text, "0123456789-:.TZ")])
		return false;
	rest = strptime(text, "%Y-%m-%d", &utc);
	if (!rest)
		return false;
	if (*rest) {
		rest = strptime(rest, "T%H:%M:%S", &utc);
		if (!rest)
			return false;
		if (*rest == '.') {
			part = strtod(rest, NULL);
			rest += 1 + strspn(rest + 1, "0123456789");
		}
		if (strcmp(rest, "Z") != 0)
			return false;
	}
	day = utc.tm_mday;
	t = timegm(&utc);
	*seconds = (double)t + part;
	return t >= 0 && utc.tm_mday == day && *seconds <= LAST + 1;
}
