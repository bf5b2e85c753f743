// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* TCP's figures of the connections to NFS servers, from their sockets. */
#include "rpc/tracepoints/tracepoints.h"

#include <arpa/inet.h>
#include <malloc.h>

#include "base/array.h"
#include "base/clock.h"
#include "tcp_sockets.skel.h"

/* Looks for new sockets are so many times as far apart as one takes, at most LOOKS_APART_NS. */
#define LOOKS_APART 100000
#define LOOKS_APART_NS 600000000000ull

void tcp_connections_free(struct tcp_connections *t)
{
	tcp_sockets_bpf__destroy(t->bpf);
	free(t->list);
	*t = (struct tcp_connections){};
}

/* Notes a new one. It takes the place of one to the same server that has ended, and with that its number. */
static int note(struct tcp_connections *t, uint64_t sk, const struct tcp_socket *now)
{
	const struct rpc_address *remote = &now->ends.remote;
	struct tcp_connection *c =
		ARRAY_FIND(x, t->list, t->count,
			   !x->sk && !memcmp(&x->first.ends.remote, remote, sizeof(*remote)));

	c = c ?: ARRAY_APPEND(t->list, t->count);
	if (c)
		*c = (struct tcp_connection){ .sk = sk, .first = *now };
	return c ? 0 : -ENOMEM;
}

static bool load(struct tcp_connections *t, const struct log *log)
{
	if (t->bpf || t->failed)
		return t->bpf;
	bpf_error_log_clear();
	t->bpf = tcp_sockets_bpf__open_and_load();
	if (t->bpf)
		bpf_object_memory(t->bpf->obj, &t->memory);
	else
		log_info(log, "TCP's figures are not known: %s", bpf_reason(errno));
	malloc_trim(0);
	t->failed = !t->bpf;
	return t->bpf;
}

static uint32_t run(const struct bpf_program *program, uint64_t argument)
{
	return bpf_run(program, &argument, sizeof(argument));
}

/* Looks for new sockets of the kernel that lead to ports of the servers. */
static int look(struct tcp_connections *t, const struct tracepoint_maps *m)
{
	struct tcp_sockets_bpf__bss *bss = t->bpf->bss;
	uint32_t bucket = 0;
	int err = 0;

	memset(bss->tcp_ports, 0, sizeof(bss->tcp_ports));
	for (uint32_t i = 0; i < RPC_MAX_SERVERS; i++) {
		uint16_t port = htons((uint16_t)m->labels[i].port);

		bss->tcp_ports[port / 64] |= UINT64_C(1) << port % 64;
	}
	bss->tcp_count = 0;
	while ((bucket = run(t->bpf->progs.tcp_find, bucket)))
		;
	for (const __u64 *sk = bss->tcp_found; sk < bss->tcp_found + bss->tcp_count && !err; sk++)
		if (!ARRAY_FIND(c, t->list, t->count, c->sk == *sk) &&
		    run(t->bpf->progs.tcp_read, *sk))
			err = note(t, *sk, &bss->tcp_socket);
	return err;
}

/* Adds the connection, which has the number of its place also after others have ended. */
static int add(struct tcp_connections *t, struct tcp_connection *c, struct tracepoint_maps *m,
	       struct snapshot *s)
{
	const struct tcp_socket *now = &t->bpf->bss->tcp_socket;
	const size_t known = s->calls.transport_count;
	struct rpc_transport_state *to;
	struct endpoint remote = {};
	unsigned int number = 0;
	char name[32];

	rpc_endpoint_set(&remote, &c->first.ends.remote);
	c->server = tracepoint_maps_label(m, remote.address, remote.port);
	if (!c->sk || !run(t->bpf->progs.tcp_read, c->sk) ||
	    memcmp(&now->ends, &c->first.ends, sizeof(now->ends)) != 0 ||
	    now->tcp.received_bytes < c->first.tcp.received_bytes)
		c->sk = 0;
	if (!c->server || !c->sk)
		return 0;
	for (const struct tcp_connection *before = t->list; before < c; before++)
		number += before->server && !strcmp(before->server, c->server);
	snprintf(name, sizeof(name), "tcp/%u", number);
	to = snapshot_transport(&s->calls, c->server, name);
	if (!to)
		return -ENOMEM;
	to->named_only = s->calls.transport_count > known;
	snprintf(to->protocol, sizeof(to->protocol), "tcp");
	to->remote = remote;
	rpc_endpoint_set(&to->local, &now->ends.local);
	rpc_tcp_set(to, &now->tcp);
	to->segments -= c->first.tcp.segments;
	to->segments_lost -= c->first.tcp.segments_lost;
	to->received_bytes -= c->first.tcp.received_bytes;
	return 0;
}

int tcp_connections_add(struct tcp_connections *t, struct tracepoint_maps *m, const struct log *log,
			struct snapshot *s)
{
	uint64_t begin;
	int err = 0;

	if (!m->named || !load(t, log))
		return 0;
	begin = thread_cpu_ns();
	if (s->time_ns >= t->due_ns || m->named != t->named) {
		err = look(t, m);
		t->due_ns = s->time_ns + apart_ns(begin, LOOKS_APART, 0, LOOKS_APART_NS);
		t->named = m->named;
	}
	for (struct tcp_connection *c = t->list; c < t->list + t->count && !err; c++)
		err = add(t, c, m, s);
	s->self.map_bytes += t->memory.maps;
	s->self.program_bytes += t->memory.programs;
	return err;
}
