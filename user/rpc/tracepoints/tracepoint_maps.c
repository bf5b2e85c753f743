// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the maps of bpf/rpc_tracepoints.bpf.c into a snapshot. */
#include "rpc/tracepoints/tracepoints.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "kernel/bpf_support.h"
#include "rpc_tracepoints.skel.h"

/* A task that ended longer ago than this will no longer be booked. */
#define ENDED_NS 2000000000

/* A call of this age may have ended unnoticed: the kernel's own list of tasks shows it. Each snapshot looks up at most MAX_DOUBTS. */
#define DOUBT_NS 30000000000
#define MAX_DOUBTS 64
#define MAX_EARLIER 64 /* calls */

int tracepoint_maps_open(struct tracepoint_maps *m, struct rpc_tracepoints_bpf *bpf)
{
	const struct share_maps shares = { SHARE_MAPS(bpf), .task = bpf->bss->rpc_task_owner };

	m->bpf = bpf;
	m->clients = bpf_values_map(bpf->maps.clients, PROT_READ | PROT_WRITE);
	if (!m->clients)
		return -errno;
	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++)
		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.free_servers), NULL, &i, BPF_ANY))
			return -errno;
	for (uint32_t i = 1; i < RPC_OP_SERIES; i++) /* 0 is "other" */
		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.free_series), NULL, &i, BPF_ANY))
			return -errno;
	m->reader.maps = (struct server_maps){ SERVER_MAPS(bpf) };
	m->reader.shards = bpf->rodata->rpc_shard_mask + 1;
	return shares_open(&m->calls, &shares, m->reader.shards);
}

void tracepoint_maps_close(struct tracepoint_maps *m)
{
	if (m->bpf)
		bpf_values_unmap(m->bpf->maps.clients, m->clients);
	shares_close(&m->calls);
	free(m->earlier);
}

/* ---- clients and their servers ---- */

static uint32_t port_of(const struct rpc_event_server_key *key)
{
	return key->port ? (uint32_t)strtoul((const char *)&key->port, NULL, 10) : NFS_PORT;
}

/* The number of the server at @address and @port, which is added if it is new. */
static uint32_t server_get(struct tracepoint_maps *m, const char *address, uint32_t port)
{
	const struct rpc_tracepoints_bpf *bpf = m->bpf;
	struct rpc_event_server_key key = {};
	struct rpc_event_server server;
	int fd = bpf_map__fd(bpf->maps.server_index);
	uint32_t index;

	snprintf(key.address, sizeof(key.address), "%s", address);
	if (port != NFS_PORT)
		snprintf((char *)&key.port, sizeof(key.port), "%u", port);
	if (!bpf_map_lookup_elem(fd, &key, &index))
		return index;
	if (bpf_map_lookup_and_delete_elem(bpf_map__fd(bpf->maps.free_servers), NULL, &index))
		return RPC_MAX_SERVERS;
	server = (struct rpc_event_server){ .key = key };
	clients_server_name(server.name, sizeof(server.name), address, port);
	bpf_map_update_elem(bpf_map__fd(bpf->maps.servers), &index, &server, BPF_ANY);
	if (!bpf_map_update_elem(fd, &key, &index, BPF_NOEXIST))
		return index;
	/* The kernel side has added it meanwhile. The number's next server is another one. */
	server = (struct rpc_event_server){};
	bpf_map_update_elem(bpf_map__fd(bpf->maps.servers), &index, &server, BPF_ANY);
	bpf_map_update_elem(bpf_map__fd(bpf->maps.free_servers), NULL, &index, BPF_ANY);
	return bpf_map_lookup_elem(fd, &key, &index) ? RPC_MAX_SERVERS : index;
}

/* Notes the calls of a client that wait for replies. No event shows a server that has hung since before the start. */
static void note_earlier(struct tracepoint_maps *m, uint32_t client)
{
	FILE_TEXT tasks = {};
	struct earlier_call *call;
	struct span rest;
	uint32_t task;

	if (clients_read_tasks(&tasks, client))
		return;
	rest = file_text_span(&tasks);
	while (m->earlier_count < MAX_EARLIER && (task = clients_waiting_task(&rest))) {
		call = ARRAY_APPEND(m->earlier, m->earlier_count);
		*call = (struct earlier_call){ client, task };
	}
}

/* The server of a client, as the kernel side has it: 1 + its number; 0: not known. */
static uint32_t server_of(const struct tracepoint_maps *m, const struct client_transport *c)
{
	return c->client < RPC_MAX_CLIENTS ? m->clients[c->client].server : 0;
}

void tracepoint_maps_find_clients(struct tracepoint_maps *m)
{
	FREED struct client_transport *list = NULL;
	size_t count;

	clients_list(&list, &count);
	ARRAY_EACH(c, list, count) {
		/* Servers use local clients to register with rpcbind. */
		if (c->client >= RPC_MAX_CLIENTS || server_of(m, c) || !strcmp(c->netid, "local"))
			continue;
		m->clients[c->client].server = 1 + server_get(m, c->address, c->port);
		note_earlier(m, c->client);
	}
}

/* The protocol alone: "tcp6" is also TCP. */
static void set_protocol(struct rpc_event_label *label, const char *netid)
{
	snprintf(label->transport, sizeof(label->transport), "%.*s", (int)strcspn(netid, "6"),
		 netid);
}

/* Sets the transport protocols of the clients' servers that are not known yet. */
static void note_protocols(struct tracepoint_maps *m)
{
	FREED struct client_transport *list = NULL;
	size_t count;

	clients_list(&list, &count);
	ARRAY_EACH(c, list, count) {
		uint32_t server = server_of(m, c) - 1;

		if (server < RPC_MAX_SERVERS && !m->labels[server].transport[0] &&
		    c->port == port_of(&m->servers[server].key) &&
		    strcmp(c->address, m->servers[server].key.address) == 0)
			set_protocol(&m->labels[server], c->netid);
	}
}

static void name_server(struct rpc_event_label *label, const char *name, const char *address,
			uint32_t port)
{
	char known[RPC_NAME_LEN];

	if (!*name && clients_server_name(known, sizeof(known), address, port))
		name = known;
	if (!*name)
		name = address;
	label_from_name(label->server, LABEL_SIZE - LABEL_SERVER_ROOM, name,
			strnlen(name, RPC_NAME_LEN));
	label_add_port(label->server, port);
	snprintf(label->address, sizeof(label->address), "%s", address);
	label->port = port;
}

/* Names the server of a client whose creation was not observed. */
static void name_client(struct tracepoint_maps *m, struct rpc_event_label *label, uint32_t client)
{
	struct client_transport info;

	if (clients_transport(&info, client)) {
		name_server(label, "", info.address, info.port);
		set_protocol(label, info.netid);
		m->clients[client].server = 1 + server_get(m, info.address, info.port);
	} else {
		snprintf(label->server, sizeof(label->server), "client:%u", client);
	}
}

static void name_servers(struct tracepoint_maps *m)
{
	bool renamed = false;

	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++) {
		const struct rpc_event_server *server = &m->servers[i];
		struct rpc_event_label *label = &m->labels[i];

		if ((!server->key.address[0] && !server->key.client) || *label->address)
			continue;
		if (server->key.client) {
			name_client(m, label, (uint32_t)server->key.client - 1);
			continue;
		}
		name_server(label, server->name, server->key.address, port_of(&server->key));
		renamed = true;
	}
	if (renamed)
		note_protocols(m);
	snprintf(m->labels[RPC_MAX_SERVERS].server, LABEL_SIZE, LABEL_OTHER);
}

const char *tracepoint_maps_label(void *maps, const char *address, uint32_t port)
{
	const struct tracepoint_maps *m = maps;

	const struct rpc_event_label *found =
		ARRAY_FIND(l, m->labels, RPC_MAX_SERVERS,
			   *address && l->port == port && !strcmp(l->address, address));

	return found ? found->server : NULL;
}

/* ---- a snapshot ---- */

/* "": it is newer than name_servers(), and what it has counted is left to the next snapshot. */
static const char *server_label(const void *maps, uint32_t server)
{
	const struct tracepoint_maps *m = maps;

	return m->labels[server < RPC_MAX_SERVERS ? server : RPC_MAX_SERVERS].server;
}

/* The server's limits, retransmits and disconnects. */
static void read_server(struct tracepoint_maps *m, struct snapshot *s, uint32_t i, uint32_t epoch)
{
	const struct rpc_event_server *v = &m->servers[i];
	struct rpc_server_state *server = snapshot_server(&s->calls, server_label(m, i));
	struct rpc_transport_state *transport =
		snapshot_transport(&s->calls, server_label(m, i), m->labels[i].transport);
	uint64_t ns, since;

	transport->retransmits += v->retransmits;
	transport->disconnects += v->disconnects;
	for (int l = 0; l < RPC_LIMITS; l++) {
		/* In this order, the reverse of the kernel side's. */
		ns = __atomic_load_n(&v->saturated_ns[l], __ATOMIC_ACQUIRE);
		since = __atomic_load_n(&v->saturated_since[l], __ATOMIC_RELAXED);
		if (since && since < s->time_ns)
			ns += s->time_ns - since;
		transport->saturated_ns[l] += rpc_monotonic(&m->labels[i].saturated_ns[l], ns);
		RAISE(server->depth_max[l], rpc_peak_of(&v->peak[l], epoch));
	}
	rpc_stats_read(&m->reader, i, epoch, server);
}

/* ---- tasks ---- */

/* What the table of tasks shows at this moment. */
struct waiting {
	struct tracepoint_maps *m;
	struct snapshot *s;
	uint32_t count[RPC_MAX_SERVERS + 1][RPC_LIMITS];
	struct {
		uint64_t key, begun;
	} oldest[RPC_MAX_SERVERS + 1]; /* call without a reply */
};

static void forget_task(struct rpc_task_bucket *keys, uint32_t i, uint64_t key)
{
	__sync_val_compare_and_swap(&keys[i / RPC_TASK_WAYS].task[i % RPC_TASK_WAYS], key, 0);
}

/* The task in way @i, or 0. */
static uint64_t task_at(const struct tracepoint_maps *m, uint32_t i)
{
	return *(const volatile __u64 *)&m->keys[i / RPC_TASK_WAYS].task[i % RPC_TASK_WAYS];
}

/* A task whose call may have ended unnoticed. */
struct doubt {
	uint64_t key;
	uint32_t i;
};

COMPARE_BY(by_key, struct doubt, key)

/* Removes tasks whose call has ended unnoticed. Reads each client's list once. */
static void forget_lost(struct tracepoint_maps *m, uint64_t now)
{
	struct doubt doubts[MAX_DOUBTS];
	struct file_text list = {};
	uint32_t client, last = 0;
	char op[RPC_OP_LEN];
	bool listed = false;
	size_t count = 0;

	for (uint32_t i = 0; i < RPC_MAX_TASKS && count < MAX_DOUBTS; i++) {
		const struct rpc_event_task *t = &m->tasks[i];

		if (task_at(m, i) && !t->waits.booked &&
		    (t->waits.asleep ? t->waits.since : t->sent) + DOUBT_NS <= now)
			doubts[count++] = (struct doubt){ task_at(m, i), i };
	}
	qsort(doubts, count, sizeof(doubts[0]), by_key);
	ARRAY_EACH(d, doubts, count) {
		client = (uint32_t)((d->key - 1) >> 32);
		if (d == doubts || client != last) {
			file_text_free(&list);
			listed = !clients_read_tasks(&list, client);
			last = client;
		}
		if (listed && !clients_has_task(list.bytes, list.len, (uint32_t)(d->key - 1), op))
			forget_task(m->keys, d->i, d->key);
	}
	file_text_free(&list);
}

static void look_at_task(struct waiting *w, uint32_t i, uint64_t key)
{
	const struct rpc_event_task t = w->m->tasks[i];
	struct rpc_server_state *server;
	uint32_t limit;

	if (t.waits.booked) {
		if (t.ended + ENDED_NS < w->s->time_ns)
			forget_task(w->m->keys, i, key);
		return;
	}
	if (t.server > RPC_MAX_SERVERS || !*server_label(w->m, t.server))
		return;
	server = snapshot_server(&w->s->calls, server_label(w->m, t.server));
	/* What waits for its reply, or after another wait to try again: a call that the server has told to
	 * try later has been answered, and a new attempt begins with that wait. */
	if ((t.transmits || (t.waits.asleep == 1 + RPC_PHASE_DELAY && t.waits.until)) &&
	    rpc_raise_age(&server->oldest_ns[RPC_QUEUE_PENDING], w->s->time_ns, t.begun)) {
		w->oldest[t.server].key = key;
		w->oldest[t.server].begun = t.begun;
	}
	if (!t.waits.asleep || t.waits.asleep > RPC_WAITS)
		return;
	limit = limit_of(t.waits.asleep - 1u);
	if (limit >= RPC_LIMITS)
		return;
	rpc_raise_age(&server->oldest_ns[limit], w->s->time_ns, t.waits.since);
	w->count[t.server][limit]++;
}

/* Corrects the count of waiters and ends the period of waiting if no task waits although the count says so: the event of a
 * wake-up was missed. Two snapshots in a row must find no such task in the same period. In a shorter period, a task may have
 * begun to wait after the table was read. */
static void reconcile_waiters(struct waiting *w)
{
	for (uint32_t i = 0; i <= RPC_MAX_SERVERS; i++)
		for (int l = 0; l < RPC_LIMITS; l++) {
			struct rpc_event_server *v = &w->m->servers[i];
			uint64_t *idle = &w->m->labels[i].idle_since[l];
			uint64_t counted = v->waiting[l], since = v->saturated_since[l];

			if (w->count[i][l] || !counted || !since) {
				*idle = 0;
			} else if (*idle != since) {
				*idle = since;
			} else {
				*idle = 0;
				__sync_fetch_and_sub(&v->waiting[l], counted);
				v->saturated_since[l] = 0;
			}
		}
}

/* Says of each server's oldest call what the kernel's list of tasks says, and who made it. */
static void name_oldest(const struct waiting *w, struct client_list *clients)
{
	struct tracepoint_maps *m = w->m;
	struct rpc_server_state *server;
	char op[RPC_OP_LEN];
	uint64_t key, made;

	for (uint32_t i = 0; i <= RPC_MAX_SERVERS; i++) {
		FILE_TEXT list = {};

		key = w->oldest[i].key;
		if (!key)
			continue;
		server = snapshot_server(&w->s->calls, server_label(m, i));
		made = m->bpf->bss->rpc_task_owner[key & (RPC_TASK_OWNERS - 1)];
		if (!RPC_MADE_FOR(made, key))
			made = 0;
		shares_show_oldest(&m->calls, clients, server->server, made % RPC_MAX_OWNERS,
				   w->s->time_ns - w->oldest[i].begun);
		/* Most are young: reading the list for them would cost at each snapshot. */
		if (w->oldest[i].begun + NAMED_AGE_NS > w->s->time_ns ||
		    clients_read_tasks(&list, (uint32_t)((key - 1) >> 32)))
			continue;
		clients_has_task(list.bytes, list.len, (uint32_t)(key - 1), op);
		rpc_name_oldest(server, w->s->time_ns, w->oldest[i].begun, op, RPC_MADE_BY(made));
	}
}

/* Adds earlier calls that still wait: they are older than the source. */
static void look_at_earlier(struct tracepoint_maps *m, struct snapshot *s)
{
	const struct earlier_call *call = m->earlier, *end = m->earlier + m->earlier_count;
	struct rpc_server_state *server;
	struct file_text list;
	char op[RPC_OP_LEN];

	for (m->earlier_count = 0; call < end; call++) {
		if (clients_read_tasks(&list, call->client))
			continue;
		server = clients_has_task(list.bytes, list.len, call->task, op) ?
				 snapshot_server(
					 &s->calls,
					 server_label(m, m->clients[call->client].server - 1)) :
				 NULL;
		file_text_free(&list);
		if (!server)
			continue;
		if (rpc_raise_age(&server->oldest_ns[RPC_QUEUE_PENDING], s->time_ns,
				  m->bpf->bss->rpc_attached))
			rpc_name_oldest(server, s->time_ns, m->bpf->bss->rpc_attached, op, 0);
		m->earlier[m->earlier_count++] = *call;
	}
}

static void read_tasks(struct tracepoint_maps *m, struct snapshot *s, struct client_list *clients)
{
	struct waiting w = { .m = m, .s = s };

	forget_lost(m, s->time_ns);
	for (uint32_t i = 0; i < RPC_MAX_TASKS; i++) {
		uint64_t key = task_at(m, i);

		if (key)
			look_at_task(&w, i, key);
	}
	reconcile_waiters(&w);
	name_oldest(&w, clients);
}

/* ---- servers that have ended ---- */

static void forget_server(void *context, uint32_t server)
{
	struct tracepoint_maps *m = context;

	for (uint32_t i = 0; i < RPC_MAX_CLIENTS; i++)
		if (m->clients[i].server == 1 + server)
			m->clients[i].server = 0;
	m->labels[server] = (struct rpc_event_label){};
}

static void free_servers(struct tracepoint_maps *m, const struct snapshot *s)
{
	struct server_reading servers = {
		.series = &m->reader,
		.shares = &m->calls,
		.now_ns = s->time_ns,
		.ops = s->calls.op_count,
		.forget = forget_server,
		.context = m,
	};
	FREED struct client_transport *list = NULL;
	size_t count;

	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++)
		if (m->servers[i].key.address[0] || m->servers[i].key.client)
			servers.use[i] = SERVER_WITHOUT_CLIENT;
	if (!clients_list(&list, &count))
		return;
	ARRAY_EACH(c, list, count)
		if (server_of(m, c))
			servers.use[server_of(m, c) - 1] = SERVER_IN_USE;
	server_numbers_free(&m->numbers, &servers);
	/* Those that found no number look for it again. */
	ARRAY_EACH(c, list, count) {
		if (server_of(m, c) != 1 + RPC_MAX_SERVERS)
			continue;
		m->clients[c->client].server = 1 + server_get(m, c->address, c->port);
		if (server_of(m, c) <= RPC_MAX_SERVERS)
			shares_end_server(&m->calls, RPC_MAX_SERVERS);
	}
}

static int read_all(struct tracepoint_maps *m, struct snapshot *s, struct client_list *clients)
{
	uint32_t epoch = m->bpf->bss->rpc_epoch;
	const struct rpc_names names = { m, server_label };
	int err;

	m->bpf->bss->rpc_epoch = epoch + 1;
	m->bpf->bss->rpc_age = s->time_ns - m->bpf->bss->rpc_attached;
	name_servers(m);
	err = rpc_series_read(&m->reader,
			      m->bpf->bss->rpc_dropped[RPC_DROP_SERIES] ? RPC_MAX_SERIES :
									  RPC_OP_SERIES,
			      &names, &s->calls);
	if (err)
		return err;
	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++)
		if (m->labels[i].server[0])
			read_server(m, s, i, epoch);
	if (m->bpf->bss->rpc_dropped[RPC_DROP_SERVER])
		read_server(m, s, RPC_MAX_SERVERS, epoch);
	shares_read(&m->calls, clients, server_label, m);
	shares_name_errors(&m->calls, &s->calls);
	read_tasks(m, s, clients);
	look_at_earlier(m, s);
	free_servers(m, s);
	rpc_drops_add(s, m->bpf->bss->rpc_dropped);
	return 0;
}

int tracepoint_maps_read(struct tracepoint_maps *m, struct snapshot *s, struct client_list *clients)
{
	const struct rpc_tracepoints_bpf *bpf = m->bpf;
	int err = -ENOMEM;

	m->servers = bpf_values_map(bpf->maps.servers, PROT_READ | PROT_WRITE);
	m->keys = bpf_values_map(bpf->maps.task_keys, PROT_READ | PROT_WRITE);
	m->tasks = bpf_values_map(bpf->maps.tasks, PROT_READ);
	if (m->servers && m->keys && m->tasks)
		err = shares_map(&m->calls) ?: read_all(m, s, clients);
	shares_unmap(&m->calls);
	bpf_values_unmap(bpf->maps.servers, m->servers);
	bpf_values_unmap(bpf->maps.task_keys, m->keys);
	bpf_values_unmap(bpf->maps.tasks, m->tasks);
	return err;
}
