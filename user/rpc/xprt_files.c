// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The connections of the NFS mounts as sysfs shows them. */
#include "rpc/xprt_files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "rpc/xprt_info.h"

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
	for (const struct nfs_mount *m = s->mounts; m < s->mounts + s->mount_count; m++)
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

	for (size_t i = 0; i < s->transport_count; i++)
		number += *s->transports[i].remote.address &&
			  !strcmp(s->transports[i].server, server) &&
			  !strcmp(s->transports[i].protocol, protocol);
	snprintf(name, size, "%s/%u", protocol, number);
}

/* Whether a connection to the mount's server is among the first @count transports: under its name, or
 * under that of an earlier mount from the same address, which shares its transports. */
static bool is_known(const struct snapshot *s, size_t count, const struct nfs_mount *mount)
{
	for (const struct rpc_transport_state *t = s->transports; t < s->transports + count; t++)
		if (*t->remote.address && (!strcmp(t->server, mount->server) ||
					   !strcmp(t->remote.address, mount->remote.address)))
			return true;
	return false;
}

/* @path: ".../xprt-7-tcp/xprt_info". @seen: see xprt_files_add_unseen(); NULL for xprt_files_add(). */
static int add(struct snapshot *s, const char *path, const size_t *seen)
{
	char folder[PATH_MAX], protocol[RPC_PROTO_LEN], name[32];
	struct endpoint remote = {}, local = {};
	struct rpc_transport_state *t;
	const struct nfs_mount *mount;
	struct xprt_info info;
	size_t known;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	snprintf(protocol, sizeof(protocol), "%s", strrchr(folder, '-') + 1);
	if (!read_info(path, &info) || !info.has_port ||
	    !read_line(folder, "dstaddr", remote.address, sizeof(remote.address)))
		return 0;
	remote.port = info.port;
	mount = find_mount(s, &remote, protocol);
	if (!mount || (seen && is_known(s, *seen, mount)))
		return 0;
	remote.port = mount->remote.port;
	/* Kernels up to 5.18 take any transport for a socket there. */
	if (!strcmp(protocol, "tcp") &&
	    read_line(folder, "srcaddr", local.address, sizeof(local.address)) &&
	    is_address(local.address))
		local.port = info.local_port;
	else
		local.address[0] = 0;
	name_transport(s, mount->server, protocol, name, sizeof(name));
	known = s->transport_count;
	t = snapshot_transport(s, mount->server, name);
	if (!t)
		return -ENOMEM;
	snprintf(t->protocol, sizeof(t->protocol), "%s", protocol);
	t->named_only = s->transport_count > known; /* others have counts of an earlier source */
	t->remote = remote;
	t->local = local;
	if (seen) {
		t->alive = true;
		t->slots_max = info.slots_max;
		t->slots_allocated = info.slots_allocated;
		t->slots_in_flight = info.pending;
	}
	return 0;
}

/* By their numbers: "xprt-9-tcp" is before "xprt-10-tcp". */
static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int add_all(const char *root, struct snapshot *s, const size_t *seen)
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
		err = add(s, files.gl_pathv[i], seen);
	if (files.gl_pathc > XPRT_FILES_MAX)
		s->folded_entries += files.gl_pathc - XPRT_FILES_MAX;
	globfree(&files);
	return err;
}

int xprt_files_add(const char *root, struct snapshot *s)
{
	return s->mount_count ? add_all(root, s, NULL) : 0;
}

int xprt_files_add_unseen(const char *root, struct snapshot *s)
{
	const size_t seen = s->transport_count;

	for (size_t i = 0; i < s->mount_count; i++)
		if (!is_known(s, seen, &s->mounts[i]))
			return add_all(root, s, &seen);
	return 0;
}
