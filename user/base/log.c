// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program's log: a line per message on standard error. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/label.h"

static const char *const level_names[] = { "debug", "info", "warning", "error" };

void json_string(FILE *out, const char *text, size_t len)
{
	size_t n;

	fputc('"', out);
	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = utf8_length(text + i, len - i);
		if (!n)
			fprintf(out, "\\\\x%02x", (unsigned char)text[i]);
		else if (text[i] == '"' || text[i] == '\\')
			fprintf(out, "\\%c", text[i]);
		else if ((unsigned char)text[i] < 0x20)
			fprintf(out, "\\u%04x", (unsigned char)text[i]);
		else
			fwrite(text + i, 1, n, out);
	}
	fputc('"', out);
}

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	struct timespec now;
	char *message;
	struct tm utc;
	char when[32];
	va_list args;

	if (level == LOG_LEVEL_DEBUG && !log->verbose)
		return;
	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	if (!message)
		return;

	flockfile(stderr);
	if (log->json) {
		clock_gettime(CLOCK_REALTIME, &now);
		gmtime_r(&now.tv_sec, &utc);
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
		fprintf(stderr, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"message\":", when,
			now.tv_nsec / 1000000, level_names[level]);
		json_string(stderr, message, strlen(message));
		fputs("}\n", stderr);
	} else {
		fprintf(stderr, "xidscope: %s%s%s\n",
			level == LOG_LEVEL_INFO ? "" : level_names[level],
			level == LOG_LEVEL_INFO ? "" : ": ", message);
	}
	funlockfile(stderr);
	free(message);
}
