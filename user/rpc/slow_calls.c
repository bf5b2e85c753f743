// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rpc/slow_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/mountinfo.h"
#include "base/process.h"
#include "kernel/kernel_types.h"
#include "owners/mount_calls.h"

/* ---- calls by file and directory ---- */

/* Where the arguments of each op have the file handle: type and member of NFSv3 and of NFSv4. Without a type, the version has no such
 * op; without a member, the argument is the handle. READDIR is also READDIRPLUS: the program compares seven bytes. The first
 * FILE_DATA_OPS are ops on a file's data, whose arguments are .args of a struct that has the inode: a data server of pNFS has
 * other handles. Source: include/linux/nfs_xdr.h. */
static const struct {
	const char *name;
	struct {
		const char *type, *member;
	} version[2];
} ops[] = {
#define TABLE_ROW(name, type3, member3, type4, member4) \
	{ name, { { type3, member3 }, { type4, member4 } } },
#include "file_ops.inc"
};
#define FILE_DATA_OPS 4

void file_calls_ops(volatile struct rpc_file_op *of)
{
	for (size_t i = 0; i < COUNT(ops); i++) {
		of[i].name = 0;
		memcpy((char *)&of[i].name, ops[i].name, strnlen(ops[i].name, 7));
		of[i].of_directory = i >= FILE_DATA_OPS;
	}
}

void file_calls_types(const struct btf *types, volatile struct rpc_file_op *of,
		      volatile __s64 *inode)
{
	int handle = kernel_types_offset(types, "nfs_inode", "fh"), at;

	for (size_t i = 0; i < COUNT(ops); i++)
		for (int v = 0; v < 2; v++) {
			const char *type = ops[i].version[v].type;
			const char *member = ops[i].version[v].member;

			at = kernel_types_offset(types, type, member);
			if (!*member)
				of[i].handle[v] = *type ? RPC_FILE_ARGUMENT : 0;
			else if (at >= 0)
				of[i].handle[v] = 1 + at;
		}
	for (size_t i = 0; i < FILE_DATA_OPS; i++) {
		const char *call = i < FILE_DATA_OPS - 1 ? "nfs_pgio_header" : "nfs_commit_data";

		at = kernel_types_offset(types, call, "inode");
		if (at < 0)
			continue;
		of[i].inode = (uint32_t)at;
		of[i].args = (uint32_t)kernel_types_offset(types, call, "args");
	}
	at = kernel_types_offset(types, "nfs_inode", "vfs_inode");
	if (handle >= 0 && at >= 0)
		*inode = at - handle;
}

/* ---- paths ---- */

void file_calls_path(char *path, const struct rpc_file *f, bool directory)
{
	const char *names[RPC_FILE_LEVELS + 1], *name = f->names, *end = name + sizeof(f->names);
	char bytes[sizeof(f->names) + 16], *to = bytes;
	const char *root = NULL;
	size_t count = 0;

	*path = 0;
	for (; name < end && *name && count < COUNT(names); name += strnlen(name, end - name) + 1)
		names[count++] = name;
	/* "nas:/x", which may be cut */
	if (f->whole && count && strnlen(names[--count], RPC_FILE_NAME) < RPC_FILE_NAME - 1)
		root = strstr(names[count], ":/");
	if (!root && count <= directory)
		return;
	to = stpcpy(to, root ? root + 1 : "...");
	while (to > bytes && to[-1] == '/')
		to--;
	while (count > directory) {
		*to++ = '/';
		name = names[--count];
		to = mempcpy(to, name, strnlen(name, end - name));
		if (strnlen(name, end - name) == RPC_FILE_NAME - 1)
			to = stpcpy(to, "..."); /* the kernel side has cut it */
	}
	if (to == bytes)
		*to++ = '/';
	label_from_bytes(path, FILE_PATH_SIZE, bytes, (size_t)(to - bytes));
}

void file_calls_place(const char *export, const char *mountpoint, char *mount, char *path)
{
	const char *below = mount_leads_to(path, export);

	if (*path == '/') {
		if (!*mountpoint || !below)
			return;
		memmove(path, below, strlen(below) + 1);
		if (!*path)
			memcpy(path, "/", sizeof("/"));
	}
	snprintf(mount, LABEL_SIZE, "%s", mountpoint);
}

/* ---- the choice ---- */

/* The calls of one op to a file, or to a directory and the files in it. */
struct row {
	bool directory, shown;
	uint64_t group; /* the same of all that are added */
	struct rpc_file_key key; /* of the file; of a directory: of one of its files */
	uint64_t sums[3], files; /* calls, bytes, ns */
};

struct rows {
	struct row *list;
	size_t count;
};

static int by_group(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ORDER(x->directory, y->directory)           ?:
		       ORDER(x->key.op, y->key.op)         ?:
		       ORDER(x->key.client, y->key.client) ?:
							     ORDER(x->group, y->group);
}

static int by_sum(const void *a, const void *b, void *measure)
{
	const struct row *x = a, *y = b;
	const int m = *(const int *)measure;

	return ORDER(y->sums[m], x->sums[m]) ?: by_group(x, y);
}

static void add_row(struct rows *rows, const struct rpc_file_key *key, const struct rpc_file *f,
		    bool directory, uint64_t group)
{
	struct row *row = ARRAY_APPEND(rows->list, rows->count);

	*row = (struct row){ .directory = directory, .group = group, .key = *key, .files = 1 };
	row->sums[0] = f->calls;
	row->sums[1] = f->bytes;
	row->sums[2] = f->total_ns;
}

static void read_rows(struct rows *rows, int map)
{
	struct rpc_file_key key, next;
	struct rpc_file f;
	void *last = NULL;
	bool named;

	for (; !bpf_map_get_next_key(map, last, &next); last = &key) {
		key = next;
		if (bpf_map_lookup_elem(map, &key, &f))
			continue;
		/* Directories without a name are one row. */
		named = f.whole || *f.names;
		add_row(rows, &key, &f, key.op >= FILE_DATA_OPS,
			named || key.op < FILE_DATA_OPS ? key.handle : 0);
		if (key.op < FILE_DATA_OPS)
			add_row(rows, &key, &f, true, named ? f.directory : 0);
	}
}

/* Adds the rows of one directory and op. */
static void merge_rows(struct rows *rows)
{
	size_t kept = 0;

	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), by_group);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *to = &rows->list[kept - !!kept];

		if (!kept || by_group(to, &rows->list[i])) {
			rows->list[kept++] = rows->list[i];
			continue;
		}
		for (int m = 0; m < 3; m++)
			to->sums[m] += rows->list[i].sums[m];
		to->files += rows->list[i].files;
	}
	rows->count = kept;
}

static void add_file(struct snapshot *s, const struct row *row, int map,
		     struct share_reader *owners)
{
	struct file_calls *to = ARRAY_APPEND(s->calls.files, s->calls.file_count);
	struct rpc_file f = {};

	bpf_map_lookup_elem(map, &row->key, &f);
	file_calls_path(to->path, &f, row->directory && row->key.op < FILE_DATA_OPS);
	snprintf(to->op, sizeof(to->op), "%s", ops[row->key.op].name);
	to->directory = row->directory;
	to->client = row->key.client;
	to->calls = row->sums[0];
	to->bytes = row->sums[1];
	to->total_ns = row->sums[2];
	to->files = row->files;
	to->pid = f.pid;
	label_from_bytes(to->comm, sizeof(to->comm), f.comm, strnlen(f.comm, sizeof(f.comm)));
	snprintf(to->owner, sizeof(to->owner), "%s",
		 shares_owner_of_group(owners, f.owner, f.group));
}

/* Adds the rows that are among the first by a measure, in the order of their time. */
static void choose_rows(struct snapshot *s, struct rows *rows, int map, unsigned int shown,
			struct share_reader *owners)
{
	for (int m = 0; m < 3 && rows->count; m++) {
		unsigned int left[2] = { shown, shown };

		qsort_r(rows->list, rows->count, sizeof(*rows->list), by_sum, &m);
		ARRAY_EACH(row, rows->list, rows->count)
			if (left[row->directory]) {
				left[row->directory]--;
				row->shown = true;
			}
	}
	ARRAY_EACH(row, rows->list, rows->count)
		if (row->shown)
			add_file(s, row, map, owners);
}

void file_calls_add(struct snapshot *s, const struct bpf_map *files, unsigned int shown,
		    struct share_reader *owners)
{
	struct rows rows = {};
	int map = bpf_map__fd(files);

	read_rows(&rows, map);
	merge_rows(&rows);
	choose_rows(s, &rows, map, shown, owners);
	free(rows.list);
}

/* ---- slow calls ---- */

/* Keeps the durations of the slowest in order; from then on only slower ones are wanted. */
static void raise_threshold(struct slow_calls *c, uint64_t total)
{
	size_t at = SLOW_CALLS_KEPT - 1;

	if (total <= c->slowest[at])
		return;
	for (; at && c->slowest[at - 1] < total; at--)
		c->slowest[at] = c->slowest[at - 1];
	c->slowest[at] = total;
	if (c->slowest[SLOW_CALLS_KEPT - 1])
		*c->threshold = c->slowest[SLOW_CALLS_KEPT - 1];
}

static int on_call(void *context, void *data, size_t size)
{
	struct slow_calls *c = context;
	struct rpc_slow_call *taken;

	if (size < sizeof(*taken))
		return 0;
	taken = ARRAY_APPEND(c->taken, c->taken_count);
	memcpy(taken, data, sizeof(*taken));
	taken->op[sizeof(taken->op) - 1] = 0;
	raise_threshold(c, taken->total);
	return 0;
}

int slow_calls_open(struct slow_calls *c, int map, volatile __u64 *threshold)
{
	*c = (struct slow_calls){ .threshold = threshold };
	c->ring = ring_buffer__new(map, on_call, c, NULL);
	return c->ring ? 0 : -errno;
}

void slow_calls_close(struct slow_calls *c)
{
	ring_buffer__free(c->ring);
	free(c->taken);
	*c = (struct slow_calls){};
}

void slow_calls_take(struct slow_calls *c)
{
	free(c->taken);
	c->taken = NULL;
	c->taken_count = 0;
	if (c->ring)
		ring_buffer__consume(c->ring);
}

/* Takes at most what is left of *@left. */
static uint64_t take_time(uint64_t *left, uint64_t ns)
{
	uint64_t part = ns < *left ? ns : *left;

	*left -= part;
	return part;
}

void slow_calls_add(struct snapshot *s, const struct rpc_slow_call *from, const char *server,
		    const char *owner, const struct bpf_map *files)
{
	uint64_t left = from->before < from->total ? from->before : from->total;
	uint64_t after = from->total - left;
	struct slow_call *to = ARRAY_APPEND(s->calls.slow, s->calls.slow_count);
	struct rpc_file file;

	to->time = s->wall - ((double)s->time_ns - (double)from->end) / 1e9;
	snprintf(to->server, sizeof(to->server), "%s", server);
	snprintf(to->owner, sizeof(to->owner), "%s", owner);
	label_from_bytes(to->op, sizeof(to->op), from->op, strlen(from->op));
	process_comm((int)from->pid, from->end - from->total, to->comm, sizeof(to->comm));
	if (from->file.client == from->client &&
	    !bpf_map_lookup_elem(bpf_map__fd(files), &from->file, &file))
		file_calls_path(to->file, &file, false);
	to->pid = from->pid;
	to->client = from->client;
	to->status = from->status < 0 ? (uint32_t)-from->status : 0;
	to->total_ns = from->total;
	to->phase_ns[RPC_PHASE_RTT] = take_time(&after, from->rtt);
	to->phase_ns[RPC_PHASE_FINISH] = after;
	to->phase_ns[RPC_PHASE_RESEND] = take_time(&left, from->resend);
	for (int p = 0; p < RPC_WAITS; p++)
		to->phase_ns[p] = take_time(&left, from->wait_ns[p]);
	to->phase_ns[RPC_PHASE_SETUP] = left;
}

/* ---- whose mount it was ---- */

/* The only mount of the server; NULL: there are several, or none. */
static const struct nfs_mount *only_mount(const struct snapshot *s, const char *server)
{
	const struct nfs_mount *end = s->calls.mounts + s->calls.mount_count;
	const struct nfs_mount *first = CALLS_FIND(m, &s->calls, mount, server, true);

	return first && !ARRAY_FIND(m, first + 1, end - first - 1, !strcmp(m->server, server)) ?
		       first :
		       NULL;
}

void calls_find_mounts(struct snapshot *s, const struct mount_calls_state *mounts)
{
	ARRAY_EACH(c, s->calls.slow, s->calls.slow_count) {
		const struct nfs_mount *only = only_mount(s, c->server);
		const struct client_calls *own = mount_calls_client(mounts, c->client);

		if (only)
			file_calls_place(only->export, only->mountpoint, c->mount, c->file);
		else if (own)
			file_calls_place(own->mount.export, own->mount.mountpoint, c->mount,
					 c->file);
	}
	ARRAY_EACH(f, s->calls.files, s->calls.file_count) {
		const struct client_calls *c = mount_calls_client(mounts, f->client);

		if (!c)
			continue;
		snprintf(f->server, sizeof(f->server), "%s", c->server);
		file_calls_place(c->mount.export, c->mount.mountpoint, f->mount, f->path);
	}
}
