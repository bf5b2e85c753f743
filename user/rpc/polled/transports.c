// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The transports of the NFS mounts, as mountstats and sysfs show them. */
#include "base/file_text.h"
#include "rpc/polled/polled.h"

/* Mounts share a transport if they have one address and port of the server, one version, and one place among the transports of
 * their client (nfs_match_client() in fs/nfs/client.c). The local port, where mountstats has one, tells apart what is alike:
 * connections of other network namespaces, or with TLS. It may change when the transport connects again. */
struct transport {
	char address[RPC_ADDRESS_LEN];
	uint32_t port; /* the server's */
	char version[16];
	size_t index;
	struct mountstats_transport now; /* at this poll */
	char server[LABEL_SIZE]; /* of the first mount that shows it */
	bool there; /* found in this poll */
	uint64_t before; /* connects at the last poll; 0: there was none */
};

void transports_clear(struct transports *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->list[i].there = false;
}

/* The entry of @wanted: one with its local port, else one of an earlier poll. NULL: it is new. */
static struct transport *find_transport(const struct transports *t, const struct transport *wanted)
{
	struct transport *other = NULL;

	ARRAY_EACH(k, t->list, t->count) {
		if (k->index != wanted->index || k->port != wanted->port ||
		    strcmp(k->address, wanted->address) != 0 ||
		    strcmp(k->now.protocol, wanted->now.protocol) != 0 ||
		    strcmp(k->version, wanted->version) != 0)
			continue;
		if (k->now.port == wanted->now.port)
			return k;
		if (!k->there && !other)
			other = k;
	}
	return other;
}

static void add_transport(struct transports *t, const struct transport *now)
{
	struct transport *k = find_transport(t, now);
	uint64_t before = k ? k->before : 0;

	if (k && k->there)
		return; /* another mount has shown it */
	k = k ?: ARRAY_APPEND(t->list, t->count);
	*k = *now;
	k->before = before;
}

void transports_add(struct transports *t, const struct mountstats_mount *mount,
		    const struct nfs_mount *info)
{
	struct transport one = { .port = info->remote.port, .there = true };

	snprintf(one.server, sizeof(one.server), "%s", mount->server);
	snprintf(one.address, sizeof(one.address), "%s", info->remote.address);
	memcpy(one.version, info->version, sizeof(one.version));
	for (; one.index < mount->transport_count; one.index++) {
		one.now = mount->transports[one.index];
		add_transport(t, &one);
	}
}

void transports_count_connects(struct transports *t, struct snapshot *totals, bool begun)
{
	struct rpc_transport_state *state;
	size_t kept = 0;

	ARRAY_EACH(k, t->list, t->count) {
		if (!k->there)
			continue; /* it has ended */
		state = snapshot_transport(&totals->calls, k->server, k->now.protocol);
		/* A count that has fallen is that of a new transport, which has begun at 0. */
		if (begun)
			state->connects +=
				k->now.connects - (k->now.connects < k->before ? 0 : k->before);
		k->before = k->now.connects;
		t->list[kept++] = *k;
	}
	t->count = kept;
}

/* ---- sysfs ---- */

#define FILE_MAX (1 << 20)

static bool read_value(const char *text, const char *name, uint32_t *value)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), "=%" SCNu32, value) == 1;
}

bool xprt_info_parse(struct xprt_file *f, const char *text)
{
	f->has_port = read_value(text, "dst_port", &f->remote.port);
	return read_value(text, "max_num_slots", &f->slots_max) &&
	       read_value(text, "num_reqs", &f->slots_allocated) &&
	       read_value(text, "pending_q_len", &f->pending);
}

/* @folder: ".../xprt-7-tcp". False: it is not connected. */
static bool read_file(struct xprt_file *f, const char *folder)
{
	FILE_TEXT text = {};

	snprintf(f->protocol, sizeof(f->protocol), "%s", strrchr(folder, '-') + 1);
	/* The file cannot be read while there is no connection. */
	return file_first_line(PATHF("%s/dstaddr", folder), f->remote.address,
			       sizeof(f->remote.address)) &&
	       !file_text_read(&text, PATHF("%s/xprt_info", folder), FILE_MAX) &&
	       xprt_info_parse(f, text.bytes);
}

COMPARE_BY(by_number, struct xprt_file, number)

/* The transports that are connected, in the order of the kernel's numbers. */
struct xprt_list {
	struct xprt_file *files;
	size_t count;
};

static void read_files(struct xprt_list *list, const char *root)
{
	const char *path = PATHF("%s/sys/kernel/sunrpc/xprt-switches", root), *of, *name;
	OPEN_FOLDER *switches = opendir(path);

	while ((of = folder_next(switches))) {
		OPEN_FOLDER *folder = opendir(PATHF("%s/%s", path, of));

		while ((name = folder_next(folder))) {
			struct xprt_file f = {};

			if (sscanf(of, "switch-%" SCNu32, &f.switch_number) == 1 &&
			    sscanf(name, "xprt-%" SCNu32, &f.number) == 1 &&
			    read_file(&f, PATHF("%s/%s/%s", path, of, name)))
				*ARRAY_APPEND(list->files, list->count) = f;
		}
	}
	if (list->count)
		qsort(list->files, list->count, sizeof(*list->files), by_number);
}

/* The transport of @t that sysfs shows; NULL: it belongs to no NFS mount. The server's port separates NFS from lockd
 * and others, and from backchannels, which have no port. Up to 6.0 the port is known for TCP only. */
static const struct transport *find_at(const struct transports *t, const struct xprt_file *f)
{
	bool any = !f->has_port || (!f->remote.port && strcmp(f->protocol, "tcp") != 0);

	return ARRAY_FIND(k, t->list, t->count,
			  !strcmp(k->now.protocol, f->protocol) &&
				  !strcmp(k->address, f->remote.address) &&
				  (any || f->remote.port == k->port));
}

/* The same for one that is known by another of its client's: by max_connect they have several addresses. */
static const struct transport *find_shown(const struct transports *t, const struct xprt_list *list,
					  const struct xprt_file *f)
{
	const struct transport *found = find_at(t, f);

	for (const struct xprt_file *g = list->files; !found && g < list->files + list->count; g++)
		if (g->switch_number == f->switch_number)
			found = find_at(t, g);
	return found;
}

static void add_slots(const struct transports *t, struct snapshot *s, const struct xprt_list *list,
		      const struct xprt_file *f)
{
	const struct transport *shown = find_shown(t, list, f);
	struct rpc_transport_state *state;

	if (!shown)
		return;
	state = snapshot_transport(&s->calls, shown->server, shown->now.protocol);
	state->alive = true;
	state->slots_max += f->slots_max;
	state->slots_allocated += f->slots_allocated;
	state->slots_in_flight += f->pending;
}

void transports_add_slots(const struct transports *t, const char *root, struct snapshot *s)
{
	struct xprt_list list = {};

	read_files(&list, root);
	for (size_t i = 0; i < list.count; i++)
		add_slots(t, s, &list, &list.files[i]);
	free(list.files);
}
