// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of the NFS mounts, as mountstats and sysfs show them. */
#include "rpc/polled/transports.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file_text.h"
#include "rpc/polled/xprt_info.h"

#define FILE_MAX (1 << 20)

struct transport {
	char server[LABEL_SIZE];
	char address[RPC_ADDRESS_LEN];
	uint32_t port; /* the server's */
	size_t index; /* among the transports of its mount */
	struct mountstats_transport stats;
};

/* Connects of all of a server's transports of one protocol. */
struct transport_connects {
	char server[LABEL_SIZE];
	char protocol[RPC_PROTO_LEN];
	uint64_t before, now; /* at the last poll and at this one */
};

void transports_clear(struct transports *t)
{
	t->count = 0;
}

void transports_free(struct transports *t)
{
	free(t->list);
	free(t->connects);
}

/* Mounts of one server share their transports: each mount shows the same ones. */
static bool is_same(const struct transport *t, const char *server, size_t index,
		    const struct mountstats_transport *stats)
{
	return t->index == index && !strcmp(t->server, server) &&
	       !strcmp(t->stats.protocol, stats->protocol) && t->stats.port == stats->port &&
	       (stats->port || t->stats.connects == stats->connects);
}

int transports_add(struct transports *t, const struct mountstats_mount *mount,
		   const struct mountinfo_mount *info)
{
	for (size_t i = 0; i < mount->transport_count; i++) {
		struct transport *known = t->list, *end = t->list + t->count;

		while (known < end && !is_same(known, mount->server, i, &mount->transports[i]))
			known++;
		if (known < end)
			continue;
		known = ARRAY_APPEND(t->list, t->count);
		if (!known)
			return -ENOMEM;
		snprintf(known->server, sizeof(known->server), "%s", mount->server);
		snprintf(known->address, sizeof(known->address), "%s", info->address);
		known->port = info->port;
		known->index = i;
		known->stats = mount->transports[i];
	}
	return 0;
}

static struct transport_connects *find_connects(struct transports *t, const char *server,
						const char *protocol)
{
	struct transport_connects *c;

	for (c = t->connects; c < t->connects + t->connects_count; c++)
		if (!strcmp(c->server, server) && !strcmp(c->protocol, protocol))
			return c;
	c = ARRAY_APPEND(t->connects, t->connects_count);
	if (c) {
		snprintf(c->server, sizeof(c->server), "%s", server);
		snprintf(c->protocol, sizeof(c->protocol), "%s", protocol);
	}
	return c;
}

/* The sum over all transports falls when one ends; counting continues from there. */
int transports_count_connects(struct transports *t, struct snapshot *totals, bool begun)
{
	struct rpc_transport_state *state;
	struct transport_connects *c;

	for (size_t i = 0; i < t->connects_count; i++)
		t->connects[i].now = 0;
	for (size_t i = 0; i < t->count; i++) {
		c = find_connects(t, t->list[i].server, t->list[i].stats.protocol);
		if (!c)
			return -ENOMEM;
		c->now += t->list[i].stats.connects;
	}
	for (c = t->connects; c < t->connects + t->connects_count; c++) {
		state = snapshot_transport(&totals->calls, c->server, c->protocol);
		if (!state)
			return -ENOMEM;
		if (begun && c->now > c->before)
			state->connects += c->now - c->before;
		c->before = c->now;
	}
	return 0;
}

/* Finds the transport that sysfs shows; NULL: it belongs to no NFS mount. The server's
 * port separates NFS from lockd and others, and from backchannels, which have no port. Up
 * to 6.0 the port is known for TCP only. */
static const struct transport *find_shown(const struct transports *t, const char *protocol,
					  const char *address, const struct xprt_info *info)
{
	bool any = !info->has_port || (!info->port && strcmp(protocol, "tcp") != 0);

	for (const struct transport *k = t->list; k < t->list + t->count; k++)
		if (!strcmp(k->stats.protocol, protocol) && !strcmp(k->address, address) &&
		    (any || info->port == k->port))
			return k;
	return NULL;
}

/* @path: ".../xprt-7-tcp/xprt_info" */
static int add_slots(const struct transports *t, struct snapshot *s, const char *path)
{
	char folder[PATH_MAX], file[PATH_MAX], address[RPC_ADDRESS_LEN];
	const struct transport *shown = NULL;
	struct rpc_transport_state *state;
	struct xprt_info info;
	struct file_text text;
	const char *protocol;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	protocol = strrchr(folder, '-');
	if (snprintf(file, sizeof(file), "%s/dstaddr", folder) >= (int)sizeof(file) ||
	    !file_first_line(file, address, sizeof(address)))
		return 0;
	/* The file cannot be read while there is no connection. */
	if (file_text_read(&text, path, FILE_MAX))
		return 0;
	if (protocol && xprt_info_parse(&info, text.bytes, text.len))
		shown = find_shown(t, protocol + 1, address, &info);
	file_text_free(&text);
	if (!shown)
		return 0;
	state = snapshot_transport(&s->calls, shown->server, shown->stats.protocol);
	if (!state)
		return -ENOMEM;
	state->alive = true;
	state->slots_max += info.slots_max;
	state->slots_allocated += info.slots_allocated;
	state->slots_in_flight += info.pending;
	return 0;
}

int transports_add_slots(const struct transports *t, const char *root, struct snapshot *s)
{
	char pattern[PATH_MAX];
	glob_t files;
	int err = 0;

	snprintf(pattern, sizeof(pattern),
		 "%s/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*/xprt_info", root);
	if (glob(pattern, GLOB_NOSORT, NULL, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc && !err; i++)
		err = add_slots(t, s, files.gl_pathv[i]);
	globfree(&files);
	return err;
}
