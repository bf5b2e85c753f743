// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes profiles of mounts, and compares. */
#include "health/mount_profile.h"

#include <fnmatch.h>

#include "base/array.h"
#include "base/fields.h"

#define NODE "node"

const char *profile_option_name(int option)
{
	static const char *const names[] = { "vers", "readahead", "sunrpc", "nfs", "rpcrdma" };

	_Static_assert(COUNT(names) == PROFILE_OPTIONS - NFS_OPTIONS, "in their order");
	return option < NFS_OPTIONS ? nfs_option_names[option] : names[option - NFS_OPTIONS];
}

/* ---- reading ---- */

static int find_option(struct span name, bool node)
{
	int option = node ? PROFILE_MOUNT_OPTIONS : 0,
	    end = node ? PROFILE_OPTIONS : PROFILE_MOUNT_OPTIONS;

	while (option < end && !span_is(name, profile_option_name(option)))
		option++;
	return option < end ? option : -1;
}

/* NULL, or what is wrong. */
static const char *read_line(struct mount_wish *wish, const struct fields *f)
{
	struct span mount = f->field[0];
	bool node = span_is(mount, NODE);

	if (f->count != 3)
		return "is not MOUNT OPTION WANTED";
	if (!node && *mount.at != '/' && *mount.at != '*')
		return "must begin with a mount point, a pattern of mount points or " NODE;
	wish->option = find_option(f->field[1], node);
	if (wish->option < 0)
		return "has no option that can be compared";
	if (!span_copy(mount, wish->mount, sizeof(wish->mount)) ||
	    !span_copy(f->field[2], wish->wanted, sizeof(wish->wanted)))
		return "is too long";
	return NULL;
}

int mount_profile_read(struct mount_profile *p, const char *text, size_t len, char *error,
		       size_t error_size)
{
	struct fields f = { .rest = { text, text + len } };

	while (fields_next(&f)) {
		struct mount_wish *wish = ARRAY_APPEND(p->wishes, p->count);
		const char *wrong = wish ? read_line(wish, &f) : NULL;

		if (!wish)
			return -ENOMEM;
		if (wrong) {
			snprintf(error, error_size, "line %u %s", f.line, wrong);
			return -EINVAL;
		}
	}
	return 0;
}

/* ---- comparing ---- */

const struct mount_wish *mount_profile_find(const struct mount_profile *p, const char *mountpoint,
					    int option)
{
	for (size_t i = p->count; i--;)
		if (p->wishes[i].option == option && !fnmatch(p->wishes[i].mount, mountpoint, 0))
			return &p->wishes[i];
	return NULL;
}

static bool is_in_range(struct span range, const char *value)
{
	uint64_t low, high, number;

	return span_take_number(&range, 10, UINT64_MAX, &low) && span_take(&range, "-") &&
	       span_number(range, UINT64_MAX, &high) &&
	       span_number(span_of(value), UINT64_MAX, &number) && number >= low && number <= high;
}

bool mount_profile_wants(const struct mount_wish *wish, const char *value)
{
	struct span rest = span_of(wish->wanted);

	while (span_left(rest)) {
		struct span one = span_take_until(&rest, "|");

		span_take(&rest, "|");
		if (span_is(one, value) || is_in_range(one, value))
			return true;
	}
	return false;
}

const char *mount_profile_value(const struct nfs_mount *mount, int option, char text[24])
{
	if (option < NFS_OPTIONS)
		return mount->options[option];
	if (option == PROFILE_VERSION)
		return mount->version;
	snprintf(text, 24, "%" PRIu64, mount->readahead_bytes);
	return mount->readahead_known ? text : "";
}

/* ---- writing ---- */

/* A pattern that this mount point matches, in one word. */
static void write_pattern(FILE *out, const char *mountpoint)
{
	for (; *mountpoint; mountpoint++)
		fputc(strchr(" \t*[\\#", *mountpoint) ? '?' : *mountpoint, out);
}

void mount_profile_write(FILE *out, const struct calls *c)
{
	char text[24];
	const char *value;

	fputs("# How NFS is to be mounted, for xidscope check --profile: written by xidscope doctor --mounts.\n"
	      "# MOUNT OPTION WANTED: a mount point or a pattern (* ? [...]), or " NODE
	      " for modules; a value, a range LOW-HIGH,\n"
	      "# or several with | between. The last line that fits a mount and an option counts.\n",
	      out);
	ARRAY_EACH(m, c->mounts, c->mount_count)
		for (int option = 0; option < PROFILE_MOUNT_OPTIONS; option++) {
			value = mount_profile_value(m, option, text);
			if (!*value)
				continue;
			write_pattern(out, m->mountpoint);
			fprintf(out, "\t%s\t%s\n", profile_option_name(option), value);
		}
	ARRAY_EACH(m, c->modules, c->module_count)
		fprintf(out, NODE "\t%s\t%s\n", m->name, *m->build ? m->build : m->origin);
}
