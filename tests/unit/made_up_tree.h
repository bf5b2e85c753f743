/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of what reads the system's files: a folder in their stead, new for each test, which works in it. */
#pragma once

#include <bpf/btf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char root[] = "/tmp/xidscope-tree.XXXXXX";

BEFORE_EACH()
{
	strcpy(root, "/tmp/xidscope-tree.XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chdir(root), 0);
}

AFTER_EACH()
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
}

static inline void put_bytes(const char *path, const void *bytes, size_t len)
{
	char full[300];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	file = not_null(fopen(full, "w"));
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

/* What the file @path has, as far as 16 kB; valid until the next call. */
static inline const char *content_of(const char *path)
{
	static char content[16384];
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	content[fread(content, 1, sizeof(content) - 1, file)] = 0;
	fclose(file);
	return content;
}

static inline void assert_content(const char *path, const char *expected)
{
	assert_string_equal(content_of(path), expected);
}

static inline bool exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

/* The types of a kernel with the struct @name. */
static inline void put_types(const char *name)
{
	struct btf *btf = btf__new_empty();
	const void *bytes;
	__u32 size;

	assert_non_null(btf);
	assert_true(btf__add_struct(btf, name, 4) > 0);
	bytes = not_null(btf__raw_data(btf, &size));
	put_bytes("/sys/kernel/btf/vmlinux", bytes, size);
	btf__free(btf);
}
