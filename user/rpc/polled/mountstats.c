// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Source mountstats: polls the kernel's own statistics, without BPF programs: those of the NFS mounts (mountstats)
 * and of the transports (sysfs, from 5.14). Both are sums and counts: there is no distribution, and `rtt` is the only
 * phase. The other sources take from here what they cannot see themselves: see polled.h.
 *
 * The mounts are those of process 1 if its files can be read (in the host's process namespace these are the host's),
 * otherwise those of this process. The kernel's counters begin and end with a mount, so totals are kept here. What a
 * mount counts between the last poll and its end is lost. */

#include "base/file_text.h"
#include "owners/mount_calls.h"
#include "rpc/polled/polled.h"
#include "rpc/rpc_observer.h"
#include "snapshot/table.h"

#define FILE_MAX (64 << 20)
#define NS_PER_MS 1000000

/* What a mount (precisely: its superblock) had counted at the last poll. */
struct seen_mount {
	uint64_t device;
	uint64_t age;
	bool there; /* found in this poll */
	struct mountstats_op *ops;
	size_t op_count;
	struct client_calls calls; /* since it was first seen, or since counting began */
};

struct mountstats {
	const char *root;
	mountstats_label *label; /* NULL: servers have the names of their mounts */
	void *context; /* of @label */
	/* whose mounts the last poll has found; static; NULL: none has succeeded */
	const char *process;
	bool begun; /* the poll before has found the same process': all calls of a new mount count */
	struct snapshot totals; /* of its calls; its servers are only named */
	uint64_t folded_calls; /* of ops for which there was no room */
	struct seen_mount *mounts;
	size_t mount_count;
	struct transports transports;
	uint64_t gone_ns[RPC_MAX_SERVERS + 2]; /* without a mount since; 0: it has one */
};

static const struct mountstats_op *op_before(const struct seen_mount *seen, const char *name)
{
	static const struct mountstats_op none;

	return ARRAY_FIND(o, seen->ops, seen->op_count, !strcmp(o->name, name)) ?: &none;
}

static void add_time(struct time_histogram *h, uint64_t calls, uint64_t ms)
{
	h->bucket[TIME_OVERFLOW] += calls;
	h->sum_ns += ms * NS_PER_MS;
}

/* Transmits beyond the first one of each call. */
static uint64_t resent_calls(const struct mountstats_op *op)
{
	return counted_since(op->transmits, op->calls);
}

/* The total of an op, or of all those for which there is no room. */
static struct rpc_op *total_of(struct mountstats *m, const char *server, const char *op,
			       uint64_t calls)
{
	struct snapshot *s = &m->totals;
	size_t before = s->calls.op_count;
	struct rpc_op *o = snapshot_op(&s->calls, server, op);

	if (s->calls.op_count == before || before < RPC_OP_SERIES - 1)
		return o;
	s->calls.op_count = before;
	m->folded_calls += calls;
	return snapshot_op(&s->calls, server, LABEL_OTHER);
}

/* The kernel counts a call's figures one after the other, its calls first, and prints them without the lock that it holds for that
 * (net/sunrpc/stats.c, rpc_count_iostats_metrics() and rpc_clnt_show_stats()). Therefore a poll may find a call without its
 * transmits, or the reverse, and the next poll finds the rest of it. What is left over of transmits, in @now, never falls. */
static void add_op(struct mountstats *m, struct rpc_sums *sums,
		   const struct mountstats_mount *mount, struct mountstats_op *now,
		   const struct mountstats_op *before)
{
	uint64_t sent = counted_since(now->sent_bytes, before->sent_bytes);
	uint64_t received = counted_since(now->received_bytes, before->received_bytes);
	uint64_t total_ms = counted_since(now->total_ms, before->total_ms);
	uint64_t rtt_ms = counted_since(now->rtt_ms, before->rtt_ms);
	enum rpc_kind kind = rpc_kind_of(now->name);
	uint64_t calls = counted_since(now->calls, before->calls);
	uint64_t errors = counted_since(now->errors, before->errors);
	struct rpc_transport_state *t;
	struct rpc_op *o;

	if (!memcmp(now, before, sizeof(*now)))
		return;
	if (resent_calls(now) < resent_calls(before))
		now->transmits = now->calls + resent_calls(before);
	o = total_of(m, mount->server, now->name, calls);
	add_time(&o->total, calls, total_ms);
	add_time(&o->phase[RPC_PHASE_RTT], calls, rtt_ms);
	/* Both are cut to milliseconds. */
	RAISE(o->total.sum_ns, o->phase[RPC_PHASE_RTT].sum_ns);
	o->sent_bytes += sent;
	o->received_bytes += received;
	sums->calls[kind] += calls;
	sums->total_ns[kind] += total_ms * NS_PER_MS;
	sums->phase_ns[RPC_PHASE_RTT] += rtt_ms * NS_PER_MS;
	sums->sent_bytes[kind] += sent;
	sums->received_bytes[kind] += received;
	sums->errors[kind] += errors;
	if (errors)
		snapshot_error(&m->totals.calls, o->server, o->op, ANY_RPC_STATUS)->count += errors;
	if (!mount->transport_count)
		return;
	t = snapshot_transport(&m->totals.calls, mount->server, mount->transports[0].protocol);
	t->retransmits += resent_calls(now) - resent_calls(before);
	t->timeouts += counted_since(now->timeouts, before->timeouts);
}

/* The kernel gives the device number of a mount that has ended to another one. */
static bool is_another(const struct seen_mount *seen, const struct mountstats_mount *mount)
{
	return mount->age < seen->age || ARRAY_FIND(o, mount->ops, mount->op_count,
						    o->calls < op_before(seen, o->name)->calls);
}

static void add_mount(struct mountstats *m, struct mountstats_mount *mount,
		      const struct nfs_mount *info)
{
	struct seen_mount *seen =
		ARRAY_FIND(s, m->mounts, m->mount_count, s->device == info->device);
	bool counts = seen || m->begun, another = !seen || is_another(seen, mount);
	struct mountstats_op *ops;

	if (seen && seen->there) { /* the superblock is mounted twice, with one set of counts */
		client_add_mount(&seen->calls.mount, info);
		return;
	}
	ops = malloc((mount->op_count + 1) * sizeof(*ops));
	if (!ops)
		return; /* the next poll counts its calls */
	seen = seen ?: ARRAY_APPEND(m->mounts, m->mount_count);
	seen->device = info->device;
	if (another) {
		seen->op_count = 0;
		seen->calls = (struct client_calls){ .id = client_id(0) };
		snprintf(seen->calls.server, sizeof(seen->calls.server), "%s", mount->server);
	}
	seen->calls.mount.known = false; /* others may have come or gone */
	client_add_mount(&seen->calls.mount, info);
	ARRAY_EACH(op, mount->ops, counts ? mount->op_count : 0)
		add_op(m, &seen->calls.sums, mount, op, op_before(seen, op->name));
	memcpy(ops, mount->ops, mount->op_count * sizeof(*ops));
	free(seen->ops);
	seen->ops = ops;
	seen->op_count = mount->op_count;
	seen->age = mount->age;
	seen->there = true;
}

/* Removes the mounts that have ended: their counts are in the totals. Those that another process has may come back. */
static void forget_mounts(struct mountstats *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->mount_count; i++) {
		if (m->mounts[i].there || !m->begun)
			m->mounts[kept++] = m->mounts[i];
		else
			free(m->mounts[i].ops);
	}
	m->mount_count = kept;
	for (size_t i = 0; i < kept; i++)
		m->mounts[i].there = false;
}

static int read_proc(const struct mountstats *m, const char *process, const char *name,
		     struct file_text *text)
{
	return file_text_read(text, PATHF("%s/proc/%s/%s", m->root, process, name), FILE_MAX);
}

/* Both files list the mounts in the same order, but one may have been added between the two reads. */
static const struct nfs_mount *info_of(const struct nfs_mount *infos, size_t count, size_t number,
				       const char *mountpoint)
{
	if (number < count && !strcmp(infos[number].mountpoint, mountpoint))
		return &infos[number];
	return ARRAY_FIND(m, infos, count, !strcmp(m->mountpoint, mountpoint));
}

/* Referrals add servers without end: those beyond RPC_MAX_SERVERS fold, as in the other sources. */
static void fold_server(struct mountstats *m, char *label)
{
	struct calls *c = &m->totals.calls;
	size_t before = c->server_count;

	snapshot_server(c, label);
	if (before < RPC_MAX_SERVERS || c->server_count == before)
		return;
	c->server_count = before;
	snprintf(label, LABEL_SIZE, LABEL_OTHER);
	snapshot_server(c, LABEL_OTHER);
}

static void read_mounts(struct mountstats *m, const struct file_text *stats,
			const struct nfs_mount *infos, size_t count)
{
	FREED struct mountstats_mount *mount = malloc(sizeof(*mount));
	const struct nfs_mount *info;
	const char *label;
	struct span text = file_text_span(stats);

	for (size_t i = 0; mount && mountstats_next(&text, mount); i++) {
		info = info_of(infos, count, i, mount->mountpoint);
		if (!info)
			continue; /* just mounted or unmounted: left to the next poll */
		label = m->label ? m->label(m->context, info->remote.address, info->remote.port) :
				   NULL;
		snprintf(mount->server, sizeof(mount->server), "%s", label ?: info->server);
		if (!label)
			fold_server(m, mount->server);
		add_mount(m, mount, info);
		transports_add(&m->transports, mount, info);
	}
}

static void parse_mountinfo(const struct file_text *file, struct nfs_mount **infos, size_t *count)
{
	struct span text = file_text_span(file);
	struct nfs_mount info;

	while (mountinfo_next(&text, &info))
		*ARRAY_APPEND(*infos, *count) = info;
}

static void poll_mounts(struct mountstats *m)
{
	FILE_TEXT stats = {}, text = {};
	FREED struct nfs_mount *infos = NULL;
	static const char first[] = "1", self[] = "self";
	const char *process = first;
	size_t count = 0;
	int err = read_proc(m, process, "mountstats", &stats);

	if (err) {
		process = self;
		err = read_proc(m, process, "mountstats", &stats);
	}
	/* The other process' mounts may have been counted before. */
	if (m->process && m->process != process)
		m->begun = false;
	/* The next poll counts what this one cannot read. */
	if (err || read_proc(m, process, "mountinfo", &text))
		return;
	transports_clear(&m->transports);
	parse_mountinfo(&text, &infos, &count);
	read_mounts(m, &stats, infos, count);
	forget_mounts(m);
	transports_count_connects(&m->transports, &m->totals, m->begun);
	m->begun = true;
	m->process = process;
}

void mountstats_close(void *mountstats)
{
	struct mountstats *m = mountstats;

	if (!m)
		return;
	for (size_t i = 0; i < m->mount_count; i++)
		free(m->mounts[i].ops);
	free(m->mounts);
	free(m->transports.list);
	snapshot_free(&m->totals);
	free(m);
}

/* Counting begins now: the first poll only stores the present figures. */
struct mountstats *mountstats_open(const char *root, mountstats_label *label, void *context)
{
	struct mountstats *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->root = root;
	m->label = label;
	m->context = context;
	poll_mounts(m);
	return m;
}

/* Adds the calls of each mount, or only their bytes. */
static void list_mounts(const struct mountstats *m, struct client_list *to, bool bytes)
{
	ARRAY_EACH(mount, m->mounts, m->mount_count) {
		const struct rpc_sums *sums = &mount->calls.sums;
		struct client_calls *c = ARRAY_APPEND(to->list, to->count);

		*c = mount->calls;
		if (!bytes)
			continue;
		c->sums = (struct rpc_sums){};
		memcpy(c->sums.sent_bytes, sums->sent_bytes, sizeof(sums->sent_bytes));
		memcpy(c->sums.received_bytes, sums->received_bytes, sizeof(sums->received_bytes));
	}
}

/* ---- servers that have ended ---- */

static bool has_mount(const struct mountstats *m, const char *server)
{
	return ARRAY_FIND(x, m->mounts, m->mount_count, !strcmp(x->calls.server, server));
}

/* Forgets servers without a mount: after an hour, or a minute if there is little room. */
static void forget_servers(struct mountstats *m, uint64_t now_ns)
{
	struct calls *c = &m->totals.calls;
	bool full = c->server_count > RPC_MAX_SERVERS / 2 || c->op_count > RPC_OP_SERIES / 2;
	uint64_t *gone = m->gone_ns + c->server_count;
	char server[LABEL_SIZE];

	while (gone-- > m->gone_ns) {
		memcpy(server, c->servers[gone - m->gone_ns].server, sizeof(server));
		if (has_mount(m, server)) {
			*gone = 0;
		} else if (!*gone) {
			*gone = now_ns;
		} else if (now_ns - *gone >= SERIES_KEPT_NS(full)) {
			calls_remove_server(c, server);
			memmove(gone, gone + 1,
				sizeof(m->gone_ns) -
					(size_t)((char *)(gone + 1) - (char *)m->gone_ns));
		}
	}
}

/* Forgets servers without a mount of which the other source has no calls any more. */
static void forget_with_source(struct mountstats *m, const struct calls *others)
{
	struct calls *c = &m->totals.calls;
	char server[LABEL_SIZE];

	for (size_t i = c->op_count; i--;) {
		if (i >= c->op_count)
			continue;
		memcpy(server, c->ops[i].server, sizeof(server));
		if (!has_mount(m, server) && !CALLS_FIND(o, others, op, server, true))
			calls_remove_server(c, server);
	}
}

void mountstats_add_rest(struct mountstats *m, struct snapshot *s, struct client_list *mounts)
{
	const uint64_t rest = rpc_facts(FACTS_REST);

	poll_mounts(m);
	forget_with_source(m, &s->calls);
	s->calls.unknown = m->begun ? s->calls.unknown & ~rest : s->calls.unknown | rest;
	for (size_t i = 0; i < m->totals.calls.op_count; i++) {
		const struct rpc_op *from = &m->totals.calls.ops[i];
		struct rpc_op *to = table_like(&tables[TABLE_OPS], &s->calls, from, i);

		/* mountstats has a call a moment before its event: then the next snapshot has both. */
		if (!to)
			continue;
		to->sent_bytes += from->sent_bytes;
		to->received_bytes += from->received_bytes;
	}
	list_mounts(m, mounts, true);
	transports_add_slots(&m->transports, m->root, s);
}

/* ---- the source ---- */

static void *try_mountstats(const struct source_setup *setup)
{
	return mountstats_open(setup->root, NULL, NULL);
}

static int read_state(void *state, struct snapshot *s, struct client_list *clients)
{
	struct mountstats *m = state;

	poll_mounts(m);
	s->calls.unknown |= RPC_ALL_FACTS & ~rpc_facts(FACTS_MOUNTSTATS);
	forget_servers(m, s->time_ns);
	snapshot_drop(&s->self, "rpc_series", m->folded_calls);
	calls_copy(&s->calls, &m->totals.calls, TABLE_OPS);
	list_mounts(m, clients, false);
	transports_add_slots(&m->transports, m->root, s);
	return 0;
}

const struct source_ops mountstats_source = { .try = try_mountstats,
					      .read = read_state,
					      .detach = mountstats_close };
