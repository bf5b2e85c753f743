/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which storage system a server belongs to, by rules NAME=PATTERN: clusters reach one system by many addresses. */
#pragma once

#include "snapshot/snapshot.h"

#define STORAGE_RULES_MAX 64

struct storage_rules {
	struct {
		char name[LABEL_SIZE];
		const char *pattern; /* a shell's, fnmatch(3) */
	} rules[STORAGE_RULES_MAX];
	size_t count;
};

/* Adds the rule "NAME=PATTERN"; @text must outlive the rules. Returns NULL, or what is wrong with it. */
const char *storage_rules_add(struct storage_rules *r, const char *text);

/* Adds to @s the storage system of each server that has calls or a mount: that of the first rule whose pattern
 * matches the server's name, with or without its network namespace, or an address of one of its transports or mounts,
 * in any case of letters. Returns 0 or -ENOMEM. */
int storage_rules_apply(const struct storage_rules *r, struct snapshot *s);
