// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of sunrpc as sysfs shows them, and the connections of NFS mounts among them. */
#include <arpa/inet.h>
#include <glob.h>

#include "base/file_text.h"
#include "rpc/polled/polled.h"

#define FILE_MAX (1 << 20)

/* ---- the files ---- */

/* Reads "NAME=NUMBER" from @line; false if the line has another form. */
static bool value_of(struct span line, const char *name, uint32_t *value)
{
	uint64_t number;

	if (!span_take(&line, name) || !span_take(&line, "=") ||
	    !span_number(line, UINT32_MAX, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

bool xprt_info_parse(struct xprt_file *f, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;
	unsigned int found = 0;

	while (span_next_line(&rest, &line)) {
		if (value_of(line, "max_num_slots", &f->slots_max))
			found |= 1;
		if (value_of(line, "num_reqs", &f->slots_allocated))
			found |= 2;
		if (value_of(line, "pending_q_len", &f->pending))
			found |= 4;
		f->has_port |= value_of(line, "dst_port", &f->remote.port);
		value_of(line, "src_port", &f->local.port);
	}
	return found == 7;
}

static bool read_info(const char *path, struct xprt_file *f)
{
	FILE_TEXT text = {};

	/* The file cannot be read while there is no connection. */
	return !file_text_read(&text, path, FILE_MAX) && xprt_info_parse(f, text.bytes, text.len);
}

/* @path: ".../xprt-7-tcp/xprt_info". False: it is not connected. */
static bool read_file(struct xprt_file *f, const char *path)
{
	const char *folder = PATHF("%.*s", (int)(strrchr(path, '/') - path), path);
	unsigned char bytes[16];

	*f = (struct xprt_file){};
	f->switch_number =
		(uint32_t)strtoul(strstr(folder, "/switch-") + strlen("/switch-"), NULL, 10);
	snprintf(f->protocol, sizeof(f->protocol), "%s", strrchr(folder, '-') + 1);
	if (!file_first_line(PATHF("%s/dstaddr", folder), f->remote.address,
			     sizeof(f->remote.address)) ||
	    !read_info(path, f))
		return false;
	/* Kernels up to 5.18 take any transport for a socket there. */
	if (strcmp(f->protocol, "tcp") != 0 ||
	    !file_first_line(PATHF("%s/srcaddr", folder), f->local.address,
			     sizeof(f->local.address)) ||
	    (inet_pton(AF_INET, f->local.address, bytes) != 1 &&
	     inet_pton(AF_INET6, f->local.address, bytes) != 1))
		f->local = (struct endpoint){};
	return true;
}

/* By their numbers: "xprt-9-tcp" is before "xprt-10-tcp". */
static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int xprt_files_read(struct xprt_list *list, const char *root, size_t max)
{
	glob_t paths;

	if (glob(PATHF("%s/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*/xprt_info", root),
		 GLOB_NOSORT, NULL, &paths))
		return 0;
	qsort(paths.gl_pathv, paths.gl_pathc, sizeof(*paths.gl_pathv), by_number);
	list->left_out = paths.gl_pathc > max ? paths.gl_pathc - max : 0;
	list->files = calloc(paths.gl_pathc - list->left_out, sizeof(*list->files));
	for (size_t i = 0; list->files && i < paths.gl_pathc - list->left_out; i++)
		list->count += read_file(&list->files[list->count], paths.gl_pathv[i]);
	globfree(&paths);
	return list->files ? 0 : -ENOMEM;
}

/* ---- the connections of NFS mounts ---- */

/* The mount whose server is at the other end of @f, in the network namespace that sysfs shows; NULL: none. Up to 6.0 the port of RDMA is not known. */
static const struct nfs_mount *find_mount_at(const struct snapshot *s, const struct xprt_file *f)
{
	const struct endpoint *remote = &f->remote;

	if (!f->has_port)
		return NULL;
	return ARRAY_FIND(m, s->calls.mounts, s->calls.mount_count,
			  !m->elsewhere && !strcmp(m->remote.address, remote->address) &&
				  (m->remote.port == remote->port ||
				   (!remote->port && !strcmp(f->protocol, "rdma"))));
}

/* The next number that no connection of @server and @protocol has, as a name. */
static void name_transport(const struct snapshot *s, const char *server, const char *protocol,
			   char *name, size_t size)
{
	unsigned int number = 0;

	do
		snprintf(name, size, "%s/%u", protocol, number++);
	while (ARRAY_FIND(t, s->calls.transports, s->calls.transport_count,
			  *t->remote.address && !strcmp(t->server, server) &&
				  !strcmp(t->name, name)));
}

/* Adds the connection to @s if it is to the server of a mount. */
static int add_xprt(struct snapshot *s, const struct xprt_list *list, const struct xprt_file *f)
{
	const struct nfs_mount *mount = find_mount_at(s, f);
	struct rpc_transport_state *t;
	char name[32];

	/* By max_connect, a client's transports have several addresses. */
	for (const struct xprt_file *g = list->files; !mount && g < list->files + list->count; g++)
		if (g->switch_number == f->switch_number)
			mount = find_mount_at(s, g);
	if (!mount)
		return 0;
	name_transport(s, mount->server, f->protocol, name, sizeof(name));
	t = snapshot_transport(&s->calls, mount->server, name);
	if (!t)
		return -ENOMEM;
	memcpy(t->protocol, f->protocol, sizeof(t->protocol));
	t->named_only = true;
	t->remote = f->remote;
	t->remote.port = f->remote.port ?: mount->remote.port;
	t->local = f->local;
	return 0;
}

int xprt_files_add(const char *root, struct snapshot *s)
{
	struct xprt_list list = {};
	int err = s->calls.mount_count ? xprt_files_read(&list, root, XPRT_FILES_MAX) : 0;

	for (size_t i = 0; i < list.count && !err; i++)
		err = add_xprt(s, &list, &list.files[i]);
	s->calls.left_out_entries += list.left_out;
	free(list.files);
	return err;
}
