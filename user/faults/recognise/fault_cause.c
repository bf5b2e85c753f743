// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whose fault an Xid is that a program can cause: its cgroup, as far as no user made it. */
#include "faults/recognise/recognise.h"

#include <sys/stat.h>
#include <zlib.h>

#include "base/cgroup.h"
#include "base/file_text.h"
#include "base/span.h"

/* "user-1000.slice", which systemd makes for each user. */
static bool is_user_slice(struct span name)
{
	uint64_t uid;

	return span_take(&name, "user-") && span_take_number(&name, 10, UINT32_MAX, &uid) &&
	       span_is(name, ".slice");
}

/* Whether the group that the path @group ends at belongs to a user. @hierarchy: of cgroup v1. */
static bool is_users(const char *root, struct span hierarchy, struct span group)
{
	struct stat st;

	return !stat(PATHF("%s/sys/fs/cgroup/%.*s%.*s", root, (int)span_left(hierarchy),
			   hierarchy.at, (int)span_left(group), group.at),
		     &st) &&
	       st.st_uid;
}

/* The end of the part of @line, "0::/a/b" or in v1 "4:memory:/a/b", that makes up the job. */
static const char *find_end(const char *root, struct span line)
{
	struct span rest = line, group, hierarchy, name;

	span_take_through(&rest, ":");
	hierarchy = span_take_field(&rest, ":");
	span_take(&hierarchy, "name=");
	group = (struct span){ rest.at, rest.at };
	while (span_take(&rest, "/")) {
		name = span_take_until(&rest, "/");
		group.end = rest.at;
		if (is_user_slice(name) || is_users(root, hierarchy, group))
			return group.end;
	}
	return line.end;
}

uint32_t fault_cause(const char *root, int pid, bool ended)
{
	FILE_TEXT text = {};
	struct span rest, line, path;
	struct cgroup c;

	if (pid <= 0)
		return 0;
	if (ended || file_text_read(&text, PATHF("%s/proc/%d/cgroup", root, pid), 65536))
		return (uint32_t)pid;
	cgroup_read(&c, text.bytes);
	rest = file_text_span(&text);
	while (*c.path && span_next_line(&rest, &line)) {
		path = line;
		/* NOLINTNEXTLINE(misc-redundant-expression): one after the other */
		if (span_take_through(&path, ":") && span_take_through(&path, ":") &&
		    span_starts_with(path, c.path))
			return (uint32_t)crc32(0, (const Bytef *)line.at,
					       (uInt)(find_end(root, line) - line.at));
	}
	return (uint32_t)pid;
}
