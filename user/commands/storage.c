// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which storage system a server belongs to. */
#include "commands/options.h"

#include <fnmatch.h>

const char *storage_rules_add(struct storage_rules *r, const char *text)
{
	size_t len = strcspn(text, "=");

	if (!len || !text[len] || !text[len + 1])
		return "use NAME=GLOB, as in scratch='10.0.1.*'";
	if (r->count == STORAGE_RULES_MAX)
		return "too many; one pattern may stand for many servers, as in nas-*";
	label_from_bytes(r->rules[r->count].name, LABEL_SIZE, text, len);
	r->rules[r->count++].pattern = text + len + 1;
	return NULL;
}

/* Lowers *@first to the first rule whose pattern matches @text. */
static void match_patterns(const struct storage_rules *r, const char *text, size_t *first)
{
	for (size_t i = 0; i < *first && *text; i++)
		if (!fnmatch(r->rules[i].pattern, text, FNM_CASEFOLD))
			*first = i;
}

/* Does the same for a server's name, also without its network namespace. */
static void match_name(const struct storage_rules *r, const char *server, size_t *first)
{
	const char *at = strrchr(server, '@');
	char name[LABEL_SIZE];

	match_patterns(r, server, first);
	if (!at)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(at - server), server);
	match_patterns(r, name, first);
}

static int name_server(const struct storage_rules *r, struct snapshot *s, const char *server)
{
	struct rpc_storage *storage;
	size_t first = r->count;

	match_name(r, server, &first);
	CALLS_EACH(t, &s->calls, transport, server)
		match_patterns(r, t->remote.address, &first);
	CALLS_EACH(m, &s->calls, mount, server)
		match_patterns(r, m->remote.address, &first);
	if (first == r->count)
		return 0;
	storage = snapshot_storage(&s->calls, server);
	if (!storage)
		return -ENOMEM;
	snprintf(storage->storage, sizeof(storage->storage), "%s", r->rules[first].name);
	return 0;
}

int storage_rules_apply(const struct storage_rules *r, struct snapshot *s)
{
	int err = 0;

	for (size_t i = 0; r->count && i < s->calls.server_count && !err; i++)
		err = name_server(r, s, s->calls.servers[i].server);
	for (size_t i = 0; r->count && i < s->calls.mount_count && !err; i++)
		err = name_server(r, s, s->calls.mounts[i].server);
	return err;
}
