// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source mountstats: counters of our own from the kernel's, which begin and end with a mount. */
#include "rpc/mountstats.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "rpc/mountstats_text.h"
#include "rpc/xprt_info.h"

#define FILE_MAX (64 << 20)
#define NS_PER_MS 1000000

/* The kernel counts errors, and does not say which. */
#define ANY_STATUS "unknown"

static const uint64_t known =
	RPC_FACT_BIT(RPC_FACT_SENT_BYTES) | RPC_FACT_BIT(RPC_FACT_RECEIVED_BYTES) |
	RPC_FACT_BIT(RPC_FACT_RETRANSMITS) | RPC_FACT_BIT(RPC_FACT_TIMEOUTS) |
	RPC_FACT_BIT(RPC_FACT_CONNECTS) | RPC_FACT_BIT(RPC_FACT_SLOTS_MAX) |
	RPC_FACT_BIT(RPC_FACT_SLOTS_ALLOCATED) | RPC_FACT_BIT(RPC_FACT_SLOTS_IN_FLIGHT) |
	RPC_FACT_BIT(RPC_FACT_PHASE + RPC_PHASE_RTT);

/* What a mount, or rather its superblock, had counted at the last poll. */
struct seen_mount {
	uint64_t device;
	uint64_t age;
	bool there; /* in this poll */
	struct mountstats_op *ops;
	size_t op_count;
};

/* A transport of this poll. */
struct transport {
	char server[LABEL_SIZE];
	char address[RPC_ADDRESS_LEN];
	uint32_t port; /* the server's */
	size_t index; /* among those of its mount */
	struct mountstats_transport stats;
};

/* Connects of all of a server's transports of one protocol, last time. */
struct connects {
	char server[LABEL_SIZE];
	char protocol[RPC_PROTO_LEN];
	uint64_t before, now;
};

struct rpc_poll {
	const char *root;
	bool begun; /* later mounts are new, and so are all their calls */
	struct snapshot totals; /* ops, errors and transports alone */
	struct seen_mount *mounts;
	size_t mount_count;
	struct connects *connects;
	size_t connects_count;
	struct transport *transports;
	size_t transport_count;
};

/* ---- room ---- */

/* One more element, zeroed, of an array. */
static void *more(void *array, size_t *count, size_t size)
{
	void **p = array;
	void *grown = realloc(*p, (*count + 1) * size);

	if (!grown)
		return NULL;
	*p = grown;
	return memset((char *)grown + size * (*count)++, 0, size);
}

/* ---- calls ---- */

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static const struct mountstats_op *op_before(const struct seen_mount *seen, const char *name)
{
	static const struct mountstats_op none;

	for (size_t i = 0; i < seen->op_count; i++)
		if (!strcmp(seen->ops[i].name, name))
			return &seen->ops[i];
	return &none;
}

static void add_time(struct time_histogram *h, uint64_t calls, uint64_t ms)
{
	h->bucket[TIME_OVERFLOW] += calls;
	h->sum_ns += ms * NS_PER_MS;
}

static int add_op(struct rpc_poll *p, const struct mountstats_mount *mount,
		  const struct mountstats_op *now, const struct mountstats_op *before)
{
	uint64_t calls = since(now->calls, before->calls);
	uint64_t errors = since(now->errors, before->errors);
	struct rpc_transport_state *t;
	struct rpc_error *e;
	struct rpc_op *o;

	if (!calls)
		return 0;
	o = snapshot_op(&p->totals, mount->server, now->name);
	if (!o)
		return -ENOMEM;
	add_time(&o->total, calls, since(now->total_ms, before->total_ms));
	add_time(&o->phase[RPC_PHASE_RTT], calls, since(now->rtt_ms, before->rtt_ms));
	o->sent_bytes += since(now->sent_bytes, before->sent_bytes);
	o->received_bytes += since(now->received_bytes, before->received_bytes);
	if (errors) {
		e = snapshot_error(&p->totals, mount->server, now->name, ANY_STATUS);
		if (!e)
			return -ENOMEM;
		e->count += errors;
	}
	if (!mount->transport_count)
		return 0;
	t = snapshot_transport(&p->totals, mount->server, mount->transports[0].protocol);
	if (!t)
		return -ENOMEM;
	t->retransmits += since(now->transmits - now->calls, before->transmits - before->calls);
	t->timeouts += since(now->timeouts, before->timeouts);
	return 0;
}

static struct seen_mount *find_mount(struct rpc_poll *p, uint64_t device)
{
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].device == device)
			return &p->mounts[i];
	return NULL;
}

/* A device number goes to another mount when the first has ended. */
static bool is_another(const struct seen_mount *seen, const struct mountstats_mount *mount)
{
	if (mount->age < seen->age)
		return true;
	for (size_t i = 0; i < mount->op_count; i++)
		if (mount->ops[i].calls < op_before(seen, mount->ops[i].name)->calls)
			return true;
	return false;
}

static int add_mount(struct rpc_poll *p, const struct mountstats_mount *mount, uint64_t device)
{
	struct seen_mount *seen = find_mount(p, device);
	struct mountstats_op *ops;
	int err = 0;

	if (seen && seen->there)
		return 0; /* the superblock is mounted twice: one set of counts */
	if (!seen) {
		seen = more(&p->mounts, &p->mount_count, sizeof(*seen));
		if (!seen)
			return -ENOMEM;
		seen->device = device;
	} else if (is_another(seen, mount)) {
		seen->op_count = 0;
	}
	for (size_t i = 0; i < mount->op_count && p->begun && !err; i++)
		err = add_op(p, mount, &mount->ops[i], op_before(seen, mount->ops[i].name));
	ops = realloc(seen->ops, (mount->op_count + 1) * sizeof(*ops));
	if (!ops)
		return -ENOMEM;
	memcpy(ops, mount->ops, mount->op_count * sizeof(*ops));
	seen->ops = ops;
	seen->op_count = mount->op_count;
	seen->age = mount->age;
	seen->there = true;
	return err;
}

/* Mounts that have ended: their counts are in the totals. */
static void forget_mounts(struct rpc_poll *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->mount_count; i++) {
		if (p->mounts[i].there)
			p->mounts[kept++] = p->mounts[i];
		else
			free(p->mounts[i].ops);
	}
	p->mount_count = kept;
	for (size_t i = 0; i < kept; i++)
		p->mounts[i].there = false;
}

/* ---- transports ---- */

/* Mounts of one server share their transports: then each shows the same. */
static bool is_same(const struct transport *t, const char *server, size_t index,
		    const struct mountstats_transport *stats)
{
	return t->index == index && !strcmp(t->server, server) &&
	       !strcmp(t->stats.protocol, stats->protocol) && t->stats.port == stats->port &&
	       (stats->port || t->stats.connects == stats->connects);
}

static int add_transports(struct rpc_poll *p, const struct mountstats_mount *mount,
			  const struct mountinfo_mount *info)
{
	for (size_t i = 0; i < mount->transport_count; i++) {
		struct transport *t = p->transports;
		struct transport *end = t + p->transport_count;

		while (t < end && !is_same(t, mount->server, i, &mount->transports[i]))
			t++;
		if (t < end)
			continue;
		t = more(&p->transports, &p->transport_count, sizeof(*t));
		if (!t)
			return -ENOMEM;
		snprintf(t->server, sizeof(t->server), "%s", mount->server);
		snprintf(t->address, sizeof(t->address), "%s", info->address);
		t->port = info->port;
		t->index = i;
		t->stats = mount->transports[i];
	}
	return 0;
}

static struct connects *find_connects(struct rpc_poll *p, const struct transport *t)
{
	struct connects *c;

	for (c = p->connects; c < p->connects + p->connects_count; c++)
		if (!strcmp(c->server, t->server) && !strcmp(c->protocol, t->stats.protocol))
			return c;
	c = more(&p->connects, &p->connects_count, sizeof(*c));
	if (c) {
		snprintf(c->server, sizeof(c->server), "%s", t->server);
		snprintf(c->protocol, sizeof(c->protocol), "%s", t->stats.protocol);
	}
	return c;
}

/* The sum over all transports falls when one goes, and is taken anew then. */
static int add_connects(struct rpc_poll *p)
{
	struct rpc_transport_state *state;
	struct connects *c;

	for (size_t i = 0; i < p->connects_count; i++)
		p->connects[i].now = 0;
	for (size_t i = 0; i < p->transport_count; i++) {
		c = find_connects(p, &p->transports[i]);
		if (!c)
			return -ENOMEM;
		c->now += p->transports[i].stats.connects;
	}
	for (c = p->connects; c < p->connects + p->connects_count; c++) {
		state = snapshot_transport(&p->totals, c->server, c->protocol);
		if (!state)
			return -ENOMEM;
		if (p->begun)
			state->connects += since(c->now, c->before);
		c->before = c->now;
	}
	return 0;
}

/* Whose transport sysfs shows; NULL: none of an NFS mount. The server's port, if
 * it is told, tells it from those to lockd and the like, and from backchannels,
 * which have none. Up to 6.0 it is told of TCP alone. */
static const struct transport *owner_of(const struct rpc_poll *p, const char *protocol,
					const char *address, const struct xprt_info *info)
{
	bool any = !info->has_port || (!info->port && strcmp(protocol, "tcp") != 0);

	for (size_t i = 0; i < p->transport_count; i++) {
		const struct transport *t = &p->transports[i];

		if (!strcmp(t->stats.protocol, protocol) && !strcmp(t->address, address) &&
		    (any || info->port == t->port))
			return t;
	}
	return NULL;
}

/* @path: ".../xprt-7-tcp/xprt_info" */
static int add_slots(const struct rpc_poll *p, struct snapshot *s, const char *path)
{
	char folder[PATH_MAX], file[PATH_MAX], address[RPC_ADDRESS_LEN];
	const struct transport *t = NULL;
	struct rpc_transport_state *state;
	struct xprt_info info;
	struct file_text text;
	const char *protocol;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	protocol = strrchr(folder, '-');
	if (snprintf(file, sizeof(file), "%s/dstaddr", folder) >= (int)sizeof(file) ||
	    !file_first_line(file, address, sizeof(address)))
		return 0;
	/* It cannot be read while there is no connection. */
	if (file_text_read(&text, path, FILE_MAX))
		return 0;
	if (protocol && xprt_info_parse(&info, text.bytes, text.len))
		t = owner_of(p, protocol + 1, address, &info);
	file_text_free(&text);
	if (!t)
		return 0;
	state = snapshot_transport(s, t->server, t->stats.protocol);
	if (!state)
		return -ENOMEM;
	state->alive = true;
	state->slots_max += info.slots_max;
	state->slots_allocated += info.slots_allocated;
	state->slots_in_flight += info.pending;
	return 0;
}

static int add_all_slots(const struct rpc_poll *p, struct snapshot *s)
{
	char pattern[PATH_MAX];
	glob_t files;
	int err = 0;

	snprintf(pattern, sizeof(pattern),
		 "%s/sys/kernel/sunrpc/xprt-switches/switch-*/xprt-*/xprt_info", p->root);
	if (glob(pattern, GLOB_NOSORT, NULL, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc && !err; i++)
		err = add_slots(p, s, files.gl_pathv[i]);
	globfree(&files);
	return err;
}

/* ---- the poll ---- */

static int read_proc(const struct rpc_poll *p, const char *process, const char *name,
		     struct file_text *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/%s/%s", p->root, process, name);
	return file_text_read(text, path, FILE_MAX);
}

/* Both files list the mounts in one order; in between, one may have come. */
static const struct mountinfo_mount *info_of(const struct mountinfo_mount *infos, size_t count,
					     size_t number, const char *path)
{
	if (number < count && !strcmp(infos[number].path, path))
		return &infos[number];
	for (size_t i = 0; i < count; i++)
		if (!strcmp(infos[i].path, path))
			return &infos[i];
	return NULL;
}

static int read_mounts(struct rpc_poll *p, const struct file_text *stats,
		       const struct mountinfo_mount *infos, size_t count)
{
	struct mountstats_mount *mount = malloc(sizeof(*mount));
	const struct mountinfo_mount *info;
	struct mountstats m;
	int err = mount ? 0 : -ENOMEM;

	mountstats_begin(&m, stats->bytes, stats->len);
	for (size_t i = 0; !err && mountstats_next(&m, mount); i++) {
		info = info_of(infos, count, i, mount->path);
		if (!info)
			continue; /* it has just come or gone: the next poll */
		err = add_mount(p, mount, info->device);
		if (!err)
			err = add_transports(p, mount, info);
	}
	free(mount);
	return err;
}

static int poll_mounts(struct rpc_poll *p)
{
	struct mountinfo_mount *infos = NULL, *place, info;
	struct file_text stats = {}, text = {};
	const char *process = "1";
	size_t count = 0;
	struct mountstats m;
	int err;

	p->transport_count = 0;
	err = read_proc(p, process, "mountstats", &stats);
	if (err) {
		process = "self";
		err = read_proc(p, process, "mountstats", &stats);
	}
	if (!err)
		err = read_proc(p, process, "mountinfo", &text);
	mountstats_begin(&m, text.bytes, text.len);
	while (!err && mountinfo_next(&m, &info)) {
		place = more(&infos, &count, sizeof(info));
		if (place)
			*place = info;
		else
			err = -ENOMEM;
	}
	if (!err)
		err = read_mounts(p, &stats, infos, count);
	if (!err) {
		forget_mounts(p);
		err = add_connects(p);
	}
	p->begun |= !err;
	free(infos);
	file_text_free(&text);
	file_text_free(&stats);
	return err;
}

struct rpc_poll *rpc_poll_new(const char *root)
{
	struct rpc_poll *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->root = root;
	if (poll_mounts(p) == -ENOMEM) {
		rpc_poll_free(p);
		return NULL;
	}
	return p;
}

void rpc_poll_free(struct rpc_poll *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->mount_count; i++)
		free(p->mounts[i].ops);
	free(p->mounts);
	free(p->connects);
	free(p->transports);
	snapshot_free(&p->totals);
	free(p);
}

/* To what @s has already: a source before this one may have counted, too. */
static int add_totals(const struct snapshot *totals, struct snapshot *s)
{
	for (size_t i = 0; i < totals->op_count; i++) {
		const struct rpc_op *from = &totals->ops[i];
		struct rpc_op *to = snapshot_op(s, from->server, from->op);

		if (!to)
			return -ENOMEM;
		time_histogram_add(&to->total, &from->total);
		time_histogram_add(&to->phase[RPC_PHASE_RTT], &from->phase[RPC_PHASE_RTT]);
		to->sent_bytes += from->sent_bytes;
		to->received_bytes += from->received_bytes;
	}
	for (size_t i = 0; i < totals->error_count; i++) {
		const struct rpc_error *from = &totals->errors[i];
		struct rpc_error *to = snapshot_error(s, from->server, from->op, from->status);

		if (!to)
			return -ENOMEM;
		to->count += from->count;
	}
	for (size_t i = 0; i < totals->transport_count; i++) {
		const struct rpc_transport_state *from = &totals->transports[i];
		struct rpc_transport_state *to = snapshot_transport(s, from->server, from->name);

		if (!to || !snapshot_server(s, from->server))
			return -ENOMEM;
		to->retransmits += from->retransmits;
		to->timeouts += from->timeouts;
		to->connects += from->connects;
	}
	return 0;
}

int rpc_poll_snapshot(struct rpc_poll *p, struct snapshot *s)
{
	int err = poll_mounts(p);

	s->unknown |= RPC_ALL_FACTS & ~known;
	if (err == -ENOMEM)
		return err;
	/* What could not be read now is counted next time. */
	err = add_totals(&p->totals, s);
	return err ? err : add_all_slots(p, s);
}
