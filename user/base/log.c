// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"

static const struct {
	const char *name;
	const char *prefix; /* of text */
	int priority; /* syslog(3)'s */
} levels[] = {
	[LOG_LEVEL_DEBUG] = { "debug", "debug: ", 7 },
	[LOG_LEVEL_INFO] = { "info", "", 6 },
	[LOG_LEVEL_WARN] = { "warning", "warning: ", 4 },
	[LOG_LEVEL_ERROR] = { "error", "error: ", 3 },
};

/* The variable has device and inode of the journal's socket (systemd.exec(5)), also where standard error is redirected. */
bool log_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device;
	struct stat st;
	char *end;

	if (!stream || fstat(STDERR_FILENO, &st))
		return false;
	device = strtoull(stream, &end, 10);
	return *end == ':' && st.st_dev == device && st.st_ino == strtoull(end + 1, NULL, 10);
}

static void write_json(FILE *out, enum log_level level, const char *message, const char *lines)
{
	struct json j = { .out = out };
	FREED char *whole = NULL;

	if (asprintf(&whole, "%s%s%s", message, *lines ? "\n" : "", lines) < 0)
		return;
	json_object(&j, NULL);
	json_time(&j, "time", wall_seconds());
	json_text(&j, "level", levels[level].name);
	json_text(&j, "message", whole);
	json_end(&j);
}

/* The journal makes an entry of each line, and reads the priority in each. */
static void write_text(FILE *out, enum log_level level, const char *message, const char *lines,
		       bool journal)
{
	char priority[8] = "";
	size_t len;

	if (journal)
		snprintf(priority, sizeof(priority), "<%d>", levels[level].priority);
	safe_line(out, "%sxidscope: %s%s", priority, levels[level].prefix, message);
	for (; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		safe_line(out, "%s%.*s", priority, (int)len, lines);
	}
}

/* Opens standard error again for writes that do not wait: other programs share it, and their writes must wait as before. poll() is
 * not enough: a terminal may have room for a part only, and in a pipe another program may take the room first. -1: it cannot be
 * opened (a socket), or need not be (a file). */
static int open_without_waiting(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st) || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		return -1;
	return open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Writes to standard error without waiting. A writable socket has room for PIPE_BUF. False: a part is lost. */
static bool write_without_waiting(const char *text, size_t size)
{
	OPEN_FILE own = open_without_waiting();
	int fd = own < 0 ? STDERR_FILENO : own;
	size_t part;
	ssize_t n;

	while (size) {
		part = size < PIPE_BUF ? size : PIPE_BUF;
		if (poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, 0) == 0)
			break;
		n = write(fd, text, part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		text += n;
		size -= (size_t)n;
	}
	return !size;
}

/* Static, because the process has one standard error. */
static uint64_t lost;

uint64_t log_lost(void)
{
	return lost;
}

void log_write_lines(const struct log *log, enum log_level level, const char *lines,
		     const char *format, ...)
{
	FREED char *message = NULL, *text = NULL;
	size_t size = 0;
	va_list args;
	int len;

	if (log->quiet)
		level = LOG_LEVEL_DEBUG;
	if (level == LOG_LEVEL_DEBUG && !log->verbose)
		return;
	va_start(args, format);
	len = vasprintf(&message, format, args);
	va_end(args);
	if (len < 0)
		return;
	text = TEXT_OF(size, out, {
		if (log->format == LOG_JSON)
			write_json(out, level, message, lines);
		else
			write_text(out, level, message, lines, log->format == LOG_JOURNAL);
	});
	/* One write, so that no other program's line comes between. */
	if (!text || !write_without_waiting(text, size))
		lost++;
}
