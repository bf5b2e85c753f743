// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the maps of bpf/rpc.bpf.c into a snapshot: from the numbers of servers, transports and series on the kernel
 * side to their names. */
#include "rpc/btf/btf.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "kernel/bpf_support.h"
#include "rpc.skel.h"

/* A task that has been awake for this long may have ended. Each snapshot checks at most MAX_SWEEPS of them. */
#define SWEEP_AGE_NS 2000000000
#define MAX_SWEEPS 1024

/* One reading of the maps. */
struct reading {
	struct btf_maps *m;
	struct snapshot *s;
	struct client_list *clients;
	char (*servers)[LABEL_SIZE]; /* by number */
	size_t server_count;
	struct rpc_replies *replies; /* mapped, by shard */
	struct rpc_transport *transports;
	size_t transport_count;
};

/* Servers of this network namespace are shown without its number: the node's own if it is visible, otherwise the agent's. */
static uint32_t own_netns(void)
{
	struct stat st;

	if (!stat("/proc/1/ns/net", &st) || !stat("/proc/self/ns/net", &st))
		return (uint32_t)st.st_ino;
	return 0;
}

int btf_maps_open(struct btf_maps *m, struct rpc_bpf *bpf)
{
	const struct share_maps shares = { SHARE_MAPS(bpf) };

	m->bpf = bpf;
	m->own_netns = own_netns();
	m->reader.maps = (struct server_maps){ SERVER_MAPS(bpf) };
	m->reader.shards = bpf->rodata->rpc_shard_mask + 1;
	return shares_open(&m->shares, &shares, m->reader.shards);
}

void btf_maps_close(struct btf_maps *m)
{
	shares_close(&m->shares);
	slow_calls_close(&m->slow);
}

static void read_servers(struct reading *r)
{
	struct rpc_bpf *bpf = r->m->bpf;
	struct rpc_server server;
	size_t len;

	for (uint32_t i = 0; i < RPC_MAX_SERVERS && i < bpf->bss->rpc_server_count; i++) {
		char *label = *ARRAY_APPEND(r->servers, r->server_count);

		bpf_array_read(bpf->maps.servers, i, &server);
		if (!server.name[0])
			continue; /* being filled at this moment: nothing is counted yet */
		len = strnlen(server.name, sizeof(server.name));
		label_from_name(label, LABEL_SIZE - LABEL_SERVER_ROOM, server.name, len);
		label_add_port(label, (unsigned int)strtoul((const char *)&server.port, NULL, 10));
		/* A name with an '@' has the number behind it, so that none ends like another. */
		if (server.netns != r->m->own_netns || strchr(label, '@'))
			snprintf(label + strlen(label), 12, "@%u", (uint32_t)server.netns);
	}
}

/* "": it is newer than read_servers(), and what it has counted is left to the next snapshot. */
static const char *server_label(const void *reading, uint32_t server)
{
	const struct reading *r = reading;

	if (server >= RPC_MAX_SERVERS)
		return LABEL_OTHER;
	return server < r->server_count ? r->servers[server] : "";
}

/* How to find the address at which a connection of this protocol begins. */
static enum rpc_local_kind local_kind(const char *proto)
{
	if (!strcmp(proto, "tcp") || !strcmp(proto, "tls"))
		return RPC_LOCAL_TCP;
	if (!strcmp(proto, "udp"))
		return RPC_LOCAL_SOCKET;
	return !strcmp(proto, "rdma") ? RPC_LOCAL_RDMA : RPC_LOCAL_UNKNOWN;
}

/* So many timeouts of TCP in a row, some 2 s, are no late acknowledgement. */
#define TIMEOUTS 3

static void set_tcp(struct rpc_transport_state *to, const struct rpc_tcp *now)
{
	to->segments = now->segments;
	to->segments_lost = now->segments_lost;
	to->received_bytes = now->received_bytes;
	to->carries = now->unsent;
	if (now->timeouts >= TIMEOUTS && now->unacked_segments)
		to->unacked = now->unacked / now->unacked_segments;
	to->acked = now->acked_segment;
	to->behind = now->behind;
	to->rcv_wnd = now->rcv_wnd;
	to->min_rtt_ns = now->min_rtt * UINT64_C(1000);
	to->srtt_ns = now->srtt * UINT64_C(1000);
}

/* Stays empty if there is no address. */
static void set_local(struct endpoint *to, const struct rpc_address *from)
{
	static const uint8_t any[sizeof(from->bytes)];

	if ((from->family != AF_INET && from->family != AF_INET6) ||
	    !memcmp(from->bytes, any, from->family == AF_INET ? 4 : 16))
		return;
	inet_ntop(from->family, from->bytes, to->address, sizeof(to->address));
	to->port = from->port;
}

/* A call that waits for a connection is in no list of unanswered calls: it is as old as the first error of connecting. After an
 * error, tasks wait for up to 3 s, or in a queue. */
#define CONNECT_AGAIN_NS 10000000000ull

static void note_connecting(struct reading *r, uint32_t index, struct rpc_transport_state *state,
			    struct rpc_server_state *server)
{
	const struct rpc_transport *t = &r->transports[index];
	const struct rpc_probe *p = &r->m->bpf->bss->rpc_probe_result;
	struct btf_transport *last = &r->m->transports[index];

	if (state->replies > last->replies)
		last->answered_ns = r->s->time_ns;
	last->replies = state->replies;
	if (t->connect_failed <= last->answered_ns ||
	    (t->connect_failed + CONNECT_AGAIN_NS < r->s->time_ns && !p->pending &&
	     !p->queued[RPC_LIMIT_SEND])) {
		last->unconnected_since = 0;
		return;
	}
	if (!last->unconnected_since)
		last->unconnected_since = t->connect_failed;
	state->connect_error = (uint32_t)t->connect_error;
	rpc_raise_age(&state->oldest_ns, r->s->time_ns, last->unconnected_since);
	rpc_raise_age(&server->oldest_ns[RPC_QUEUE_PENDING], r->s->time_ns,
		      last->unconnected_since);
}

/* Reads what only the kernel's rpc_xprt itself holds. */
static void probe_transport(struct reading *r, uint32_t index, struct rpc_transport_state *state,
			    struct rpc_server_state *server, uint64_t *connects)
{
	const struct rpc_transport *t = &r->transports[index];
	struct rpc_bpf *bpf = r->m->bpf;
	const struct rpc_probe *p = &bpf->bss->rpc_probe_result;
	__u64 args[3] = { index, t->xprt, local_kind(t->proto) };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	struct rpc_transport after;

	if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.rpc_probe), &opts))
		return;
	/* The transport may have been destroyed, or the program may have found that another one has its address. */
	bpf_array_read(bpf->maps.transports, index, &after);
	if (after.xprt != t->xprt) {
		if (t->server == RPC_MAX_SERVERS) /* it may get a number: so may its clients */
			shares_end_server(&r->m->shares, RPC_MAX_SERVERS);
		return;
	}
	state->alive = true;
	label_from_bytes(state->remote.address, sizeof(state->remote.address), p->address,
			 strnlen(p->address, sizeof(p->address)));
	state->remote.port = (uint32_t)strtoul(p->port, NULL, 10);
	set_local(&state->local, &p->local);
	*connects += p->connects;
	state->slots_max = p->max_slots;
	state->slots_allocated += p->slots;
	/* A call that waits to transmit its rest does not wait for its reply yet. */
	state->slots_in_flight += p->pending ?: p->oldest_start != 0;
	set_tcp(state, &p->tcp);
	state->carries |= p->reply_len != 0;
	RAISE(server->depth_max[RPC_QUEUE_SLOT], p->queued[RPC_LIMIT_SLOT]);
	RAISE(server->depth_max[RPC_QUEUE_SEND], p->queued[RPC_LIMIT_SEND]);
	RAISE(server->depth_max[RPC_QUEUE_PENDING], p->pending);
	rpc_raise_age(&state->oldest_ns, r->s->time_ns, p->oldest_start);
	if (rpc_raise_age(&server->oldest_ns[RPC_QUEUE_PENDING], r->s->time_ns, p->oldest_start))
		rpc_name_oldest(server, r->s->time_ns, p->oldest_start, p->oldest_op,
				p->oldest_pid);
	if (p->oldest_start && p->oldest_start < r->s->time_ns)
		shares_show_oldest(&r->m->shares, r->clients, server->server, p->oldest_owner,
				   r->s->time_ns - p->oldest_start);
	note_connecting(r, index, state, server);
}

/* Numbers a new transport: it comes after all of its server and protocol. */
static void number_transport(struct reading *r, uint32_t index)
{
	const struct rpc_transport *t = &r->transports[index];
	struct btf_transport *all = r->m->transports;
	uint32_t last = 0;

	for (uint32_t i = 0; i < r->transport_count && !all[index].number; i++)
		if (r->transports[i].server == t->server &&
		    r->transports[i].proto_number == t->proto_number)
			RAISE(last, all[i].number);
	all[index].number = all[index].number ?: last + 1;
}

static struct rpc_transport_state *state_of(struct reading *r, uint32_t index)
{
	const struct rpc_transport *t = &r->transports[index];
	char name[32];

	snprintf(name, sizeof(name), "%.*s/%u", (int)sizeof(t->proto), t->proto,
		 r->m->transports[index].number - 1);
	return snapshot_transport(&r->s->calls, server_label(r, t->server), name);
}

/* Clears the begin of each period of waiting in @t, transport number @index as looked up before, that has
 * ended since then. A look-up does not copy at one moment: the sum in @t may contain that period. */
static void forget_ended(const struct reading *r, uint32_t index, struct rpc_transport *t)
{
	struct rpc_transport after;
	bool waiting = false;

	for (int l = 0; l < RPC_PERIODS; l++)
		waiting |= t->saturated_since[l] != 0;
	if (!waiting)
		return;
	__sync_synchronize();
	bpf_array_read(r->m->bpf->maps.transports, index, &after);
	for (int l = 0; l < RPC_PERIODS; l++)
		if (after.saturated_since[l] != t->saturated_since[l])
			t->saturated_since[l] = 0;
}

static void read_transports(struct reading *r, uint32_t count, uint32_t epoch)
{
	struct rpc_bpf *bpf = r->m->bpf;
	struct rpc_transport_state *state;
	struct rpc_server_state *server;
	uint64_t connects;

	for (uint32_t i = 0; i < count; i++)
		bpf_array_read(bpf->maps.transports, i,
			       ARRAY_APPEND(r->transports, r->transport_count));
	for (uint32_t i = 0; i < r->transport_count; i++) {
		struct rpc_transport *t = &r->transports[i];

		forget_ended(r, i, t);
		if (!t->proto[0])
			continue; /* free, or being filled at this moment */
		number_transport(r, i);
		state = state_of(r, i);
		server = snapshot_server(&r->s->calls, server_label(r, t->server));
		snprintf(state->protocol, sizeof(state->protocol), "%.*s", (int)sizeof(t->proto),
			 t->proto);
		state->retransmits += t->retransmits;
		state->timeouts += t->timeouts;
		state->disconnects += t->disconnects;
		for (int l = 0; l < RPC_PERIODS; l++) {
			uint64_t ns = t->saturated_ns[l];

			if (t->saturated_since[l] && t->saturated_since[l] < r->s->time_ns)
				ns += r->s->time_ns - t->saturated_since[l];
			*(l < RPC_LIMITS ? &state->saturated_ns[l] : &server->draining_ns) +=
				rpc_monotonic(&r->m->transports[i].saturated_ns[l], ns);
		}
		rpc_raise_age(&server->draining_now_ns, r->s->time_ns,
			      t->saturated_since[RPC_DRAINING]);
		for (int l = 0; l < RPC_LIMITS; l++)
			RAISE(server->depth_max[l], rpc_peak_of(&t->peak[l], epoch));
		server->credentials_ns += t->credentials_ns;
		RAISE(server->session_slots, (uint32_t)t->session_slots);
		for (uint32_t shard = 0; shard < r->m->reader.shards; shard++) {
			state->replies += r->replies[shard].of[i].count;
			state->rtt_ns += r->replies[shard].of[i].rtt_ns;
		}
		connects = t->connects;
		if (t->xprt > RPC_XPRT_FILLED)
			probe_transport(r, i, state, server, &connects);
		state->connects += rpc_monotonic(&r->m->transports[i].connects, connects);
	}
}

static void read_depths(struct reading *r, uint32_t epoch)
{
	struct rpc_bpf *bpf = r->m->bpf;
	struct rpc_server_state *server;

	for (uint32_t i = 0; i <= RPC_MAX_SERVERS; i++) {
		/* The last entry is for all servers beyond the table. */
		if (i < r->server_count ?
			    !r->servers[i][0] :
			    i < RPC_MAX_SERVERS || !bpf->bss->rpc_dropped[RPC_DROP_SERVER])
			continue;
		server = snapshot_server(&r->s->calls, server_label(r, i));
		rpc_stats_read(&r->m->reader, i, epoch, server);
	}
}

/* The task has not been answered and waits before it tries again: it is outstanding, as if it waited for its reply. One that the
 * server has told to try later has been answered, and a new attempt begins with its wait: that is its first one. */
static void add_delayed(struct reading *r, uint32_t transport, struct rpc_server_state *server,
			const struct rpc_waiter *w)
{
	struct rpc_transport_state *state = state_of(r, transport);

	if (!w->waits.until && !w->waits.first)
		return;
	state->slots_in_flight++;
	rpc_raise_age(&state->oldest_ns, r->s->time_ns, w->start);
	rpc_raise_age(&server->oldest_ns[RPC_QUEUE_PENDING], r->s->time_ns, w->start);
}

/* A task that is asleep. */
static void add_waiter(struct reading *r, const struct rpc_waiter *w)
{
	const struct rpc_transport *t =
		ARRAY_FIND(x, r->transports, r->transport_count, x->xprt == w->xprt);
	struct rpc_server_state *server =
		t ? snapshot_server(&r->s->calls, server_label(r, t->server)) : NULL;
	uint32_t wait = w->waits.asleep - 1u;

	if (!server)
		return;
	if (limit_of(wait) < RPC_LIMITS)
		rpc_raise_age(&server->oldest_ns[limit_of(wait)], r->s->time_ns, w->waits.since);
	else if (wait == RPC_PHASE_DELAY)
		add_delayed(r, (uint32_t)(t - r->transports), server, w);
	else if (wait == RPC_PHASE_SETUP && w->waits.since < r->s->time_ns) {
		server->credentials_ns += r->s->time_ns - w->waits.since;
		rpc_raise_age(&server->upcall_ns, r->s->time_ns, w->waits.since);
	}
}

/* Time of the last event of a task. */
static uint64_t last_event(const struct rpc_waiter *w)
{
	uint64_t last = w->start;

	RAISE(last, w->waits.since);
	RAISE(last, w->waits.until);
	return last < w->waits.first ? w->waits.first : last;
}

/* Reads the tasks that are asleep, and checks those that have been awake for long. Returns 0 or -errno. */
static int read_waiters(struct reading *r)
{
	const struct rpc_bpf *bpf = r->m->bpf;
	const struct rpc_task_bucket *bucket;
	unsigned int sweeps = 0;
	struct rpc_waiter w;

	/* The scan alone costs as much as hundreds of samples. */
	if (!bpf->bss->rpc_waiters_in_use.count)
		return 0;
	bucket = bpf_values_map(bpf->maps.task_keys, PROT_READ);
	if (!bucket)
		return -errno;
	for (uint32_t i = 0; i < RPC_MAX_TASKS; i++) {
		const volatile __u64 *way = &bucket[i / RPC_TASK_WAYS].task[i % RPC_TASK_WAYS];
		const __u64 task = *way, args[2] = { i, task };

		if (!task)
			continue;
		bpf_array_read(bpf->maps.tasks, i, &w);
		if ((w.waits.asleep > RPC_WAITS && w.waits.asleep != 1 + RPC_PHASE_SETUP))
			continue;
		if (w.waits.asleep == RPC_ASLEEP_NO) {
			/* The kernel side checks whether the task still exists. */
			if (last_event(&w) + SWEEP_AGE_NS < r->s->time_ns && sweeps++ < MAX_SWEEPS)
				bpf_run(bpf->progs.rpc_sweep, args, sizeof(args));
			continue;
		}
		add_waiter(r, &w);
	}
	bpf_values_unmap(bpf->maps.task_keys, bucket);
	return 0;
}

/* ---- servers that have ended ---- */

static void forget_transports(void *reading, uint32_t server)
{
	static const struct rpc_transport none;
	struct reading *r = reading;
	struct btf_maps *m = r->m;

	for (uint32_t i = 0; i < r->transport_count; i++) {
		if (!r->transports[i].proto[0] || r->transports[i].server != server)
			continue;
		for (uint32_t shard = 0; shard < m->reader.shards; shard++)
			memset(&r->replies[shard].of[i], 0, sizeof(r->replies[shard].of[i]));
		m->transports[i] = (struct btf_transport){};
		bpf_map_update_elem(bpf_map__fd(m->bpf->maps.transports), &i, &none, BPF_ANY);
		bpf_map_update_elem(bpf_map__fd(m->bpf->maps.free_transports), NULL, &i, BPF_ANY);
	}
}

/* A server has a client while it has a transport, also one without an entry of its own. */
static void free_servers(struct reading *r)
{
	struct server_reading servers = {
		.series = &r->m->reader,
		.shares = &r->m->shares,
		.now_ns = r->s->time_ns,
		.ops = r->s->calls.op_count,
		.forget = forget_transports,
		.context = r,
	};
	int xprts = bpf_map__fd(r->m->bpf->maps.xprts);
	struct rpc_xprt_ref ref;
	uint32_t known = 0;
	__u64 xprt, *last = NULL;

	for (uint32_t i = 0; i < r->server_count; i++)
		servers.use[i] = r->servers[i][0] ? SERVER_WITHOUT_CLIENT : SERVER_FREE;
	for (uint32_t i = 0; i < r->transport_count; i++) {
		enum server_use *use = &servers.use[r->transports[i].server];

		known += r->transports[i].xprt != 0;
		if (r->transports[i].xprt)
			*use = SERVER_IN_USE;
		else if (r->transports[i].proto[0] && *use == SERVER_FREE)
			*use = SERVER_WITHOUT_CLIENT;
	}
	while (r->m->bpf->bss->rpc_xprt_count > known && !bpf_map_get_next_key(xprts, last, &xprt))
		if (!bpf_map_lookup_elem(xprts, last = &xprt, &ref))
			servers.use[ref.server] = SERVER_IN_USE;
	server_numbers_free(&r->m->servers, &servers);
}

int btf_maps_read(struct btf_maps *m, struct snapshot *s, struct client_list *clients)
{
	struct reading r = { .m = m, .s = s, .clients = clients };
	const struct rpc_names names = { &r, server_label };
	uint32_t epoch = m->bpf->bss->rpc_epoch, series_count, transport_count;
	uint64_t failed = memory_failed();
	int err;

	m->bpf->bss->rpc_epoch = epoch + 1;
	m->bpf->bss->rpc_age = s->time_ns - m->bpf->bss->rpc_attached;
	slow_calls_take(&m->slow);
	m->bpf->bss->rpc_session_name = 0;
	/* From the first snapshot of a session on. */
	m->bpf->bss->rpc_files_count = true;
	/* Read before the servers: each series and transport then has its server. */
	series_count = m->bpf->data->rpc_series_count;
	LOWER(series_count, RPC_OP_SERIES);
	if (m->bpf->bss->rpc_dropped[RPC_DROP_SERIES])
		series_count = RPC_MAX_SERIES;
	transport_count = m->bpf->bss->rpc_transport_count;
	LOWER(transport_count, RPC_MAX_TRANSPORTS);
	read_servers(&r);
	r.replies = bpf_values_map(m->bpf->maps.replies, PROT_READ | PROT_WRITE);
	err = r.replies ? shares_map(&m->shares) : -errno;
	err = err ?: rpc_series_read(&m->reader, series_count, &names, &s->calls);
	if (!err) {
		read_transports(&r, transport_count, epoch);
		read_depths(&r, epoch);
		shares_read(&m->shares, clients, server_label, &r);
		err = read_waiters(&r);
		shares_name_errors(&m->shares, &s->calls);
		ARRAY_EACH(call, m->slow.taken, m->slow.taken_count)
			slow_calls_add(s, call, server_label(&r, call->server),
				       shares_owner(&m->shares, call->owner), m->bpf->maps.files);
		if (m->files)
			snapshot_drop(&s->self, "file", m->bpf->bss->rpc_files_lost);
		if (m->files && s->files_wanted)
			file_calls_add(s, m->bpf->maps.files, m->files, &m->shares);
		if (m->slow.ring)
			snapshot_drop(&s->self, "slow_call", m->bpf->bss->rpc_slow_lost);
		rpc_drops_add(s, m->bpf->bss->rpc_dropped);
		if (!memory_error(failed)) /* otherwise not all transports were read */
			free_servers(&r);
	}
	shares_unmap(&m->shares);
	bpf_values_unmap(m->bpf->maps.replies, r.replies);
	free(r.servers);
	free(r.transports);
	return err;
}
