// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The connections of the NFS mounts as sysfs shows them. */
#include "rpc/polled/xprt_files.h"

#include <arpa/inet.h>
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

static bool is_address(const char *text)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* Reads the file @name of a transport's folder; false if it is not there. */
static bool read_line(const char *folder, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       file_first_line(path, line, size);
}

static bool read_info(const char *path, struct xprt_info *info)
{
	struct file_text text;
	bool good;

	/* The file cannot be read while there is no connection. */
	if (file_text_read(&text, path, FILE_MAX))
		return false;
	good = xprt_info_parse(info, text.bytes, text.len);
	file_text_free(&text);
	return good;
}

/* The mount whose server is at @remote, in the network namespace that sysfs shows; NULL: none. Up to 6.0 the port of RDMA is not known. */
static const struct nfs_mount *find_mount(const struct snapshot *s, const struct endpoint *remote,
					  const char *protocol)
{
	for (const struct nfs_mount *m = s->calls.mounts;
	     m < s->calls.mounts + s->calls.mount_count; m++)
		if (!m->elsewhere && !strcmp(m->remote.address, remote->address) &&
		    (m->remote.port == remote->port ||
		     (!remote->port && !strcmp(protocol, "rdma"))))
			return m;
	return NULL;
}

/* The next number among those of @server and @protocol, as a name. */
static void name_transport(const struct snapshot *s, const char *server, const char *protocol,
			   char *name, size_t size)
{
	unsigned int number = 0;

	for (size_t i = 0; i < s->calls.transport_count; i++)
		number += *s->calls.transports[i].remote.address &&
			  !strcmp(s->calls.transports[i].server, server) &&
			  !strcmp(s->calls.transports[i].protocol, protocol);
	snprintf(name, size, "%s/%u", protocol, number);
}

/* Whether a connection to the server is among the first @count transports: under its name, or under
 * that of an earlier mount from the same address, which shares its transports. */
static bool is_known(const struct snapshot *s, size_t count, const char *server,
		     const char *address)
{
	for (const struct rpc_transport_state *t = s->calls.transports;
	     t < s->calls.transports + count; t++)
		if (*t->remote.address &&
		    (!strcmp(t->server, server) || !strcmp(t->remote.address, address)))
			return true;
	return false;
}

static bool mount_is_known(const struct snapshot *s, const struct nfs_mount *m)
{
	return m->elsewhere || is_known(s, s->calls.transport_count, m->server, m->remote.address);
}

/* Appends the connection to @found if it is to the server of a mount of @s. @unseen: only if that
 * server is not known in @s, and with its slots. @path: ".../xprt-7-tcp/xprt_info". */
static int find(struct snapshot *found, const struct snapshot *s, const char *path, bool unseen)
{
	char folder[PATH_MAX], protocol[RPC_PROTO_LEN];
	struct endpoint remote = {}, local = {};
	struct rpc_transport_state *t;
	const struct nfs_mount *mount;
	struct xprt_info info;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	snprintf(protocol, sizeof(protocol), "%s", strrchr(folder, '-') + 1);
	if (!read_info(path, &info) || !info.has_port ||
	    !read_line(folder, "dstaddr", remote.address, sizeof(remote.address)))
		return 0;
	remote.port = info.port;
	mount = find_mount(s, &remote, protocol);
	if (!mount || (unseen && mount_is_known(s, mount)))
		return 0;
	remote.port = mount->remote.port;
	/* Kernels up to 5.18 take any transport for a socket there. */
	if (!strcmp(protocol, "tcp") &&
	    read_line(folder, "srcaddr", local.address, sizeof(local.address)) &&
	    is_address(local.address))
		local.port = info.local_port;
	else
		local.address[0] = 0;
	t = ARRAY_APPEND(found->calls.transports, found->calls.transport_count);
	if (!t)
		return -ENOMEM;
	memcpy(t->server, mount->server, sizeof(t->server));
	memcpy(t->protocol, protocol, sizeof(protocol));
	t->remote = remote;
	t->local = local;
	if (unseen) {
		t->alive = true;
		t->slots_max = info.slots_max;
		t->slots_allocated = info.slots_allocated;
		t->slots_in_flight = info.pending;
	}
	return 0;
}

/* Adds to @s a transport that was found. */
static int add(struct snapshot *s, const struct rpc_transport_state *found)
{
	const size_t known = s->calls.transport_count;
	struct rpc_transport_state *t;
	char name[32];

	name_transport(s, found->server, found->protocol, name, sizeof(name));
	t = snapshot_transport(&s->calls, found->server, name);
	if (!t)
		return -ENOMEM;
	memcpy(t->protocol, found->protocol, sizeof(t->protocol));
	t->named_only =
		s->calls.transport_count > known; /* others have counts of an earlier source */
	t->remote = found->remote;
	t->local = found->local;
	if (found->alive) {
		t->alive = true;
		t->slots_max = found->slots_max;
		t->slots_allocated = found->slots_allocated;
		t->slots_in_flight = found->slots_in_flight;
	}
	return 0;
}

/* By their numbers: "xprt-9-tcp" is before "xprt-10-tcp". */
static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Appends to @found, see find(). */
static int find_all(struct snapshot *found, const char *root, struct snapshot *s, bool unseen)
{
	char pattern[PATH_MAX];
	glob_t files;
	int err = 0;

	snprintf(pattern, sizeof(pattern),
		 "%s/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*/xprt_info", root);
	if (glob(pattern, GLOB_NOSORT, NULL, &files))
		return 0;
	qsort(files.gl_pathv, files.gl_pathc, sizeof(*files.gl_pathv), by_number);
	for (size_t i = 0; i < files.gl_pathc && i < XPRT_FILES_MAX && !err; i++)
		err = find(found, s, files.gl_pathv[i], unseen);
	if (files.gl_pathc > XPRT_FILES_MAX)
		s->calls.folded_entries += files.gl_pathc - XPRT_FILES_MAX;
	globfree(&files);
	return err;
}

int xprt_files_add(const char *root, struct snapshot *s)
{
	struct snapshot found = {};
	int err = s->calls.mount_count ? find_all(&found, root, s, false) : 0;

	for (size_t i = 0; i < found.calls.transport_count && !err; i++)
		err = add(s, &found.calls.transports[i]);
	snapshot_free(&found);
	return err;
}

/* Looks anew, and whether it has to next time, too. */
static int look(struct xprt_unseen *u, const char *root, struct snapshot *s)
{
	int err;

	snapshot_free(&u->found);
	err = find_all(&u->found, root, s, true);
	u->quiet = !err;
	for (size_t i = 0; i < u->found.calls.transport_count; i++)
		u->quiet &= !u->found.calls.transports[i].slots_in_flight;
	return err;
}

int xprt_files_add_unseen(struct xprt_unseen *u, const char *root, struct snapshot *s)
{
	const size_t seen = s->calls.transport_count;
	bool unseen = false;
	int err = 0;

	for (size_t i = 0; i < s->calls.mount_count; i++)
		unseen |= !mount_is_known(s, &s->calls.mounts[i]);
	if (unseen && !u->quiet)
		err = look(u, root, s);
	for (size_t i = 0; unseen && i < u->found.calls.transport_count && !err; i++) {
		const struct rpc_transport_state *t = &u->found.calls.transports[i];

		if (!is_known(s, seen, t->server, t->remote.address))
			err = add(s, t);
	}
	return err;
}

void xprt_unseen_free(struct xprt_unseen *u)
{
	snapshot_free(&u->found);
	*u = (struct xprt_unseen){};
}
