// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/time_text.h"

#include <time.h>

#define LAST 253402300799.0 /* 9999-12-31T23:59:59Z */

static double seconds_within_limits(double seconds)
{
	return !(seconds > 0) ? 0 : seconds > LAST ? LAST : seconds;
}

const char *time_to_text(char *text, size_t size, double seconds)
{
	time_t t = (time_t)seconds_within_limits(seconds);
	struct tm utc;

	gmtime_r(&t, &utc);
	strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return text;
}

void time_to_milliseconds(char *text, size_t size, double seconds)
{
	size_t len;

	seconds = seconds_within_limits(seconds);
	time_to_text(text, size, seconds);
	len = strlen(text) - strlen("Z");
	snprintf(text + len, size - len, ".%03dZ",
		 (int)((seconds - (double)(time_t)seconds) * 1e3));
}

static struct tm local_time(double seconds)
{
	time_t whole = (time_t)seconds;
	struct tm local;

	localtime_r(&whole, &local);
	return local;
}

const char *time_to_local(char *text, const char *format, double seconds)
{
	const struct tm local = local_time(seconds);

	strftime(text, TIME_LOCAL_SIZE, format, &local);
	return text;
}

const char *decimal_from_text(const char *text, double *value)
{
	size_t len = strspn(text, "0123456789.");
	char *end;

	*value = strtod(text, &end);
	return len && end == text + len ? end : NULL;
}

/* Reads "2026-11-21" into *@tm, at midnight. Returns what follows; NULL: it is no day from 1970 on. */
static const char *read_date(const char *text, struct tm *tm)
{
	struct tm day = {}, valid;
	const char *rest = strptime(text, "%Y-%m-%d", &day);

	valid = day;
	if (!rest || timegm(&valid) < 0 || valid.tm_mday != day.tm_mday)
		return NULL;
	*tm = day;
	return rest;
}

bool time_from_text(const char *text, double *seconds)
{
	const char *rest = decimal_from_text(text, seconds);
	struct tm utc;
	double part = 0;
	int day;

	if (rest && !*rest)
		return *seconds <= LAST;
	/* strptime() would accept blanks and signs. */
	rest = text[strspn(text, "0123456789-:.TZ")] ? NULL : read_date(text, &utc);
	if (rest && *rest) {
		rest = strptime(rest, "T%H:%M:%S", &utc);
		if (rest && *rest == '.') {
			part = strtod(rest, NULL);
			rest += 1 + strspn(rest + 1, "0123456789");
		}
		if (rest && strcmp(rest, "Z") != 0)
			return false;
	}
	if (!rest)
		return false;
	day = utc.tm_mday;
	*seconds = (double)timegm(&utc) + part;
	return utc.tm_mday == day && *seconds <= LAST + 1;
}

bool duration_from_text(const char *text, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	const char *end = decimal_from_text(text, seconds);

	for (size_t i = 0; end && i < COUNT(units); i++)
		if (!strcmp(end, units[i].name)) {
			*seconds *= units[i].seconds;
			return true;
		}
	return false;
}

/* ---- as a person writes it ---- */

/* "2h ago", "2h": in seconds from now. */
static bool read_distance(const char *text, enum time_direction direction, double *seconds)
{
	size_t len = strcspn(text, " ");
	bool ago = !strcmp(text + len, " ago");
	char part[32];

	if (len >= sizeof(part) || (text[len] && !ago))
		return false;
	snprintf(part, sizeof(part), "%.*s", (int)len, text);
	if (!duration_from_text(part, seconds))
		return false;
	if (ago || direction == TIME_PAST)
		*seconds = -*seconds;
	return true;
}

/* Sets @tm, the present, to midnight of the day that @text begins with. Returns what follows, or NULL: no day. */
static const char *read_day(const char *text, struct tm *tm)
{
	static const struct {
		const char *name;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };
	struct tm day;
	const char *rest = read_date(text, &day);

	tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
	for (size_t i = 0; i < COUNT(words); i++)
		if (!strncmp(text, words[i].name, strlen(words[i].name))) {
			tm->tm_mday += words[i].days;
			return text + strlen(words[i].name);
		}
	if (!rest)
		return NULL;
	tm->tm_year = day.tm_year;
	tm->tm_mon = day.tm_mon;
	tm->tm_mday = day.tm_mday;
	return rest;
}

/* "10:00", "10:00:30" */
static const char *read_clock(const char *text, struct tm *tm)
{
	const char *rest = strptime(text, "%H:%M", tm);

	tm->tm_sec = 0;
	return rest && *rest == ':' ? strptime(rest, ":%S", tm) : rest;
}

bool time_from_person(const char *text, double now, enum time_direction direction, double *seconds)
{
	time_t whole = (time_t)now, t;
	struct tm tm = local_time(now), zone = {};
	const char *day, *rest;

	if ((!strchr(text, '-') || strchr(text, 'T')) && time_from_text(text, seconds))
		return true;
	if (!strcmp(text, "now") || read_distance(text, direction, seconds)) {
		*seconds = *text == 'n' ? now : now + *seconds;
		return *seconds > 0 && *seconds <= LAST;
	}
	day = read_day(text, &tm);
	if (day && *day && *day != ' ' && *day != 'T')
		return false;
	rest = !day ? text : *day ? day + 1 : day;
	if (!day || *day)
		rest = read_clock(rest, &tm);
	if (!rest)
		return false;
	if (*rest) {
		rest = day ? strptime(rest, "%z", &zone) : NULL;
		if (!rest || *rest)
			return false;
		t = timegm(&tm) - zone.tm_gmtoff;
	} else {
		tm.tm_isdst = -1;
		t = mktime(&tm);
		if (!day && (direction == TIME_PAST ? t > whole : t <= whole)) {
			tm.tm_mday += direction == TIME_PAST ? -1 : 1;
			tm.tm_isdst = -1;
			t = mktime(&tm);
		}
	}
	*seconds = (double)t;
	return t > 0 && *seconds <= LAST;
}
