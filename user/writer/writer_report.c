// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is logged of a file that cannot be written, once for each reason. */
#include "writer/writer_report.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/output_file.h"

void writer_log_line(const struct writer *w, const char *line, size_t size)
{
	log_warn(w->log, "not in %s: %.*s", w->path, (int)size - 1, line);
}

static bool is_stdout(const struct writer *w)
{
	return !strcmp(w->path, "-");
}

static const char *advice(const struct writer *w, int err)
{
	switch (-err) {
	case ENOENT:
		return "create the folder";
	case EROFS:
		return "under systemd, list its folder in ReadWritePaths= of the unit";
	case EACCES:
	case EPERM:
		return "make the folder writable";
	case ENOSPC:
	case EDQUOT:
		return "free some space";
	case EBUSY:
		return "stop one of the two";
	case ELOOP:
	case EMLINK:
	case EISDIR:
	case ENXIO:
		return "remove it";
	case ETIMEDOUT:
		return is_stdout(w) ? "see who reads standard output" : "check that mount";
	default:
		return "check that the folder can be written to";
	}
}

static const char *reason(const struct writer *w, int err)
{
	switch (-err) {
	case ETIMEDOUT:
		return is_stdout(w) ? "nobody reads it" : output_error(err);
	case EBUSY:
		return "another agent writes it";
	case ECHILD:
		return "the process that writes it has ended";
	default:
		return output_error(err);
	}
}

/* Logs the lines in @text from @from on: they are not in the file. */
static void log_lines(const struct writer *w, int text, uint64_t from, uint64_t size)
{
	char *bytes, *line, *end;

	if (text < 0 || from >= size)
		return;
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, text, 0);
	if (bytes == MAP_FAILED)
		return;
	for (line = bytes + from; line < bytes + size; line = end + 1) {
		end = memchr(line, '\n', (size_t)(bytes + size - line));
		if (!end)
			break;
		log_warn(w->log, "not in %s: %.*s", w->path, (int)(end - line), line);
	}
	munmap(bytes, size);
}

static void log_waiting_lines(const struct writer *w)
{
	if (!w->role->append)
		return;
	log_lines(w, w->text, w->from, w->text_size);
	log_lines(w, w->next, 0, w->next_size);
}

void writer_report(struct writer *w, int err, unsigned int part)
{
	static const char *const suffixes[] = { "", ".tmp: ", ".lock: " };
	const char *name = strrchr(w->path, '/');
	bool beside = part && part < OUTPUT_PARTS && output_is_refused(err);
	int before = w->error;

	if (err == before)
		return;
	w->error = err;
	if (!err) {
		log_info(w->log, "%s is written again", w->path);
		return;
	}
	name = name ? name + 1 : w->path;
	log_error(w->log, "cannot write %s: %s%s%s%s; %s, or name another %s. %s", w->path,
		  beside ? "." : "", beside ? name : "", beside ? suffixes[part] : "",
		  reason(w, err), advice(w, err), w->role->option, w->role->meanwhile);
	if (!before)
		log_waiting_lines(w);
}
