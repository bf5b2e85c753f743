/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash map of BPF that is an array of structs, each a key and a value, for code that walks it. */
#pragma once

#include "unit.h"

static struct {
	const char *entries;
	size_t count, entry_size, key_size, value_at, value_size;
} made_up_map;

/* Makes @array, whose entries have the members @key and @value, the map. */
#define MAKE_UP_MAP(array, key, value)                                                   \
	do {                                                                             \
		made_up_map.entries = (const char *)(array);                             \
		made_up_map.count = COUNT(array);                                        \
		made_up_map.entry_size = sizeof((array)[0]);                             \
		made_up_map.key_size = sizeof((array)[0].key);                           \
		made_up_map.value_at =                                                   \
			(size_t)((const char *)&(array)->value - (const char *)(array)); \
		made_up_map.value_size = sizeof((array)[0].value);                       \
	} while (0)

/* NULL: there is none. */
static const char *entry_of(const void *key)
{
	const char *entry = made_up_map.entries;

	for (size_t i = 0; i < made_up_map.count; i++, entry += made_up_map.entry_size)
		if (!memcmp(entry, key, made_up_map.key_size))
			return entry;
	return NULL;
}

static int next_in_map(int map, const void *key, void *next)
{
	const char *end = made_up_map.entries + made_up_map.count * made_up_map.entry_size;
	const char *entry =
		key ? not_null(entry_of(key)) + made_up_map.entry_size : made_up_map.entries;

	(void)map;
	if (entry >= end)
		return -1;
	memcpy(next, entry, made_up_map.key_size);
	return 0;
}

static int find_in_map(int map, const void *key, void *value)
{
	const char *entry = entry_of(key);

	(void)map;
	if (entry)
		memcpy(value, entry + made_up_map.value_at, made_up_map.value_size);
	return entry ? 0 : -1;
}

#define bpf_map_get_next_key next_in_map
#define bpf_map_lookup_elem find_in_map
