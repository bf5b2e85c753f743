/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program's log: a line per message on standard error, as text or JSON. */
#pragma once

#include "base/std.h"

enum log_format {
	LOG_TEXT,
	LOG_JSON,
	LOG_JOURNAL, /* text, with a priority in front of each line: sd-daemon(3) */
};

struct log {
	enum log_format format;
	bool verbose; /* debug messages too */
	bool quiet; /* every message is a debug message, because the same attempt has failed before */
};

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* Whether standard error goes to systemd's journal. */
bool log_is_journal(void);

/* The number of messages that were lost, at least in part, because nobody read standard error. */
uint64_t log_lost(void);

/* Writes one message, a line, without waiting for a reader. @format has no newline; unsafe bytes (safe_text.h) are escaped.
 * @lines: "", or further lines from another program, with newlines between them. */
void log_write_lines(const struct log *log, enum log_level level, const char *lines,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

#define log_write(log, level, ...) log_write_lines(log, level, "", __VA_ARGS__)
#define log_debug(log, ...) log_write(log, LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(log, ...) log_write(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(log, ...) log_write(log, LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(log, ...) log_write(log, LOG_LEVEL_ERROR, __VA_ARGS__)
