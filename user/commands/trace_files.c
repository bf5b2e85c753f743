// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files that `xidscope trace` writes. */
#include "commands/trace_files.h"

#include <unistd.h>

#include "base/output_file.h"
#include "sinks/report.h"

static int fail(const struct trace_files *f, const char *option, const char *path, int err)
{
	log_error(&f->options->log, "cannot write %s %s: %s", option, path, output_error(err));
	return err;
}

/* Opens the file, and empties it. */
static FILE *open_record(const char *path, int *err)
{
	int fd = output_open(path);
	FILE *out;

	*err = fd < 0 ? fd : 0;
	if (!*err && ftruncate(fd, 0))
		*err = -errno;
	out = *err ? NULL : fdopen(fd, "w");
	if (!*err && !out)
		*err = -errno;
	if (!out && fd >= 0)
		close(fd);
	return out;
}

static int begin_record(struct trace_files *f, const struct session_origin *origin)
{
	const char *path = f->options->record;
	int err;

	if (!path)
		return 0;
	f->record = open_record(path, &err);
	if (f->record) {
		f->recorder = recorder_new(f->record, origin);
		err = f->recorder ? 0 : -ENOMEM;
	}
	return err ? fail(f, "--record", path, err) : 0;
}

/* Writes the file, if there is a @path; without @text only checks that it can be written. Nobody else writes it meanwhile,
 * so it needs no lock. */
static int write_file(const struct trace_files *f, const char *option, const char *path,
		      const char *text, size_t size)
{
	struct output_file file;
	int err;

	if (!path)
		return 0;
	err = output_file_init(&file, path);
	file.unlocked = true;
	if (!err)
		err = text ? output_file_write(&file, text, size, NULL) : output_file_check(&file);
	output_file_close(&file, true);
	return err ? fail(f, option, path, err) : 0;
}

int trace_files_begin(struct trace_files *f, const struct options *options,
		      const struct session_origin *origin)
{
	int err;

	*f = (struct trace_files){ .options = options };
	err = write_file(f, "--json", options->json_file, NULL, 0);
	if (!err)
		err = write_file(f, "--html", options->html, NULL, 0);
	return err ? err : begin_record(f, origin);
}

void trace_files_record(struct trace_files *f, const struct snapshot *s)
{
	int err = f->recorder ? recorder_add(f->recorder, s) : 0;

	if (!err)
		return;
	fail(f, "--record", f->options->record, err);
	recorder_end(f->recorder);
	f->recorder = NULL;
}

void trace_files_end(struct trace_files *f)
{
	int err = recorder_end(f->recorder);

	if (f->record && fclose(f->record) && !err)
		err = -errno;
	if (f->recorder && err)
		fail(f, "--record", f->options->record, err);
	f->recorder = NULL;
	f->record = NULL;
}

/* A stream's text; NULL: no memory. */
static char *close_text(FILE *out, char **text)
{
	bool cut = !out || ferror(out);

	if (out && !(fclose(out) || cut))
		return *text;
	free(*text);
	return NULL;
}

static int write_page(const struct trace_files *f, const char *json, size_t json_size)
{
	char *page = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);
	int err;

	if (out)
		page_write(out, json, json_size);
	page = close_text(out, &page);
	if (!page)
		return fail(f, "--html", f->options->html, -ENOMEM);
	err = write_file(f, "--html", f->options->html, page, size);
	free(page);
	return err;
}

int trace_files_write(const struct trace_files *f, const struct session *t)
{
	const struct options *o = f->options;
	char *json = NULL;
	size_t size = 0;
	int err, err2 = 0;
	FILE *out;

	if (!o->json_file && !o->html)
		return 0;
	out = open_memstream(&json, &size);
	if (out)
		session_json_write(out, t);
	json = close_text(out, &json);
	if (!json)
		return fail(f, o->json_file ? "--json" : "--html",
			    o->json_file ? o->json_file : o->html, -ENOMEM);
	err = write_file(f, "--json", o->json_file, json, size);
	if (o->html)
		err2 = write_page(f, json, size);
	free(json);
	return err ? err : err2;
}
