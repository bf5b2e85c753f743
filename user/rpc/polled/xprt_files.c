// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of sunrpc as sysfs shows them. */
#include <glob.h>

#include "base/file_text.h"
#include "rpc/polled/polled.h"

#define FILE_MAX (1 << 20)

/* Reads "NAME=NUMBER" from @line; false if the line has another form. */
static bool value_of(struct span line, const char *name, uint32_t *value)
{
	uint64_t number;

	if (!span_take(&line, name) || !span_take(&line, "=") ||
	    !span_number(line, UINT32_MAX, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

bool xprt_info_parse(struct xprt_file *f, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;
	unsigned int found = 0;

	while (span_next_line(&rest, &line)) {
		if (value_of(line, "max_num_slots", &f->slots_max))
			found |= 1;
		if (value_of(line, "num_reqs", &f->slots_allocated))
			found |= 2;
		if (value_of(line, "pending_q_len", &f->pending))
			found |= 4;
		f->has_port |= value_of(line, "dst_port", &f->remote.port);
	}
	return found == 7;
}

/* @path: ".../xprt-7-tcp/xprt_info". False: it is not connected. */
static bool read_file(struct xprt_file *f, const char *path)
{
	const char *folder = PATHF("%.*s", (int)(strrchr(path, '/') - path), path);
	FILE_TEXT text = {};

	*f = (struct xprt_file){};
	f->switch_number =
		(uint32_t)strtoul(strstr(folder, "/switch-") + strlen("/switch-"), NULL, 10);
	snprintf(f->protocol, sizeof(f->protocol), "%s", strrchr(folder, '-') + 1);
	/* The file cannot be read while there is no connection. */
	return file_first_line(PATHF("%s/dstaddr", folder), f->remote.address,
			       sizeof(f->remote.address)) &&
	       !file_text_read(&text, path, FILE_MAX) && xprt_info_parse(f, text.bytes, text.len);
}

/* By their numbers: "xprt-9-tcp" is before "xprt-10-tcp". */
static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int xprt_files_read(struct xprt_list *list, const char *root)
{
	glob_t paths;

	if (glob(PATHF("%s/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*/xprt_info", root),
		 GLOB_NOSORT, NULL, &paths))
		return 0;
	qsort(paths.gl_pathv, paths.gl_pathc, sizeof(*paths.gl_pathv), by_number);
	list->files = calloc(paths.gl_pathc, sizeof(*list->files));
	for (size_t i = 0; list->files && i < paths.gl_pathc; i++)
		list->count += read_file(&list->files[list->count], paths.gl_pathv[i]);
	globfree(&paths);
	return list->files ? 0 : -ENOMEM;
}
