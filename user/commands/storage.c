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

static void name_server(const struct storage_rules *r, struct snapshot *s, const char *server)
{
	size_t first = r->count;

	match_name(r, server, &first);
	CALLS_EACH(t, &s->calls, transport, server)
		match_patterns(r, t->remote.address, &first);
	CALLS_EACH(m, &s->calls, mount, server)
		match_patterns(r, m->remote.address, &first);
	if (first < r->count)
		snprintf(snapshot_storage(&s->calls, server)->storage, LABEL_SIZE, "%s",
			 r->rules[first].name);
}

void storage_rules_apply(const struct storage_rules *r, struct snapshot *s)
{
	ARRAY_EACH(v, s->calls.servers, r->count ? s->calls.server_count : 0)
		name_server(r, s, v->server);
	ARRAY_EACH(m, s->calls.mounts, r->count ? s->calls.mount_count : 0)
		name_server(r, s, m->server);
}
