// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of everything observed at one moment: its arrays. */
#include "snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *const rpc_source_names[RPC_SOURCES] = {
	[RPC_SOURCE_NONE] = "none",
	[RPC_SOURCE_BTF] = "btf",
	[RPC_SOURCE_TRACEPOINTS] = "tracepoints",
	[RPC_SOURCE_MOUNTSTATS] = "mountstats",
};

const char *const rpc_phase_names[RPC_PHASES] = {
	[RPC_PHASE_SESSION] = "session", [RPC_PHASE_SLOT] = "slot",     [RPC_PHASE_SEND] = "send",
	[RPC_PHASE_DELAY] = "delay",     [RPC_PHASE_RESEND] = "resend", [RPC_PHASE_SETUP] = "setup",
	[RPC_PHASE_RTT] = "rtt",         [RPC_PHASE_FINISH] = "finish",
};

const char *const rpc_limit_names[RPC_LIMITS] = {
	[RPC_LIMIT_SLOT] = "slot",
	[RPC_LIMIT_SESSION] = "session",
	[RPC_LIMIT_SEND] = "send",
};

const char *const rpc_queue_names[RPC_QUEUES] = {
	[RPC_QUEUE_SLOT] = "slot", [RPC_QUEUE_SESSION] = "session", [RPC_QUEUE_SEND] = "send",
	[RPC_QUEUE_XMIT] = "xmit", [RPC_QUEUE_PENDING] = "pending",
};

const char *const fault_path_names[FAULT_PATHS] = {
	[FAULT_PATH_BOTH] = "both",
	[FAULT_PATH_TEXT] = "text",
	[FAULT_PATH_DRIVER] = "driver",
};

void fault_counts_free(struct fault_counts *counts)
{
	free(counts->faults);
	free(counts->kernel_events);
	free(counts->gpus);
	free(counts->unverified);
	free(counts->recoveries);
	*counts = (struct fault_counts){};
}

void snapshot_free(struct snapshot *s)
{
	free(s->calls.ops);
	free(s->calls.errors);
	free(s->calls.transports);
	free(s->calls.servers);
	free(s->calls.episodes);
	free(s->calls.mounts);
	free(s->calls.storages);
	free(s->calls.slow);
	fault_counts_free(&s->faults);
	*s = (struct snapshot){};
}

/* Cuts a text that does not fit; @from needs no NUL if it is that long. */
static void set_label(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
}

#define SET_LABEL(to, from) set_label(to, from, sizeof(to))

/* Points @entry to the element of @array for which @same is true, or behind the last. */
#define FIND(entry, array, count, same)                                            \
	for ((entry) = (array); (entry) < (array) + (count) && !(same); (entry)++) \
	continue

struct rpc_op *snapshot_op(struct calls *c, const char *server, const char *op)
{
	struct rpc_op *o;

	FIND(o, c->ops, c->op_count, !strcmp(o->server, server) && !strcmp(o->op, op));
	if (o < c->ops + c->op_count)
		return o;
	o = ARRAY_APPEND(c->ops, c->op_count);
	if (o) {
		SET_LABEL(o->server, server);
		SET_LABEL(o->op, op);
	}
	return o;
}

struct rpc_error *snapshot_error(struct calls *c, const char *server, const char *op,
				 const char *status)
{
	struct rpc_error *e;

	FIND(e, c->errors, c->error_count,
	     !strcmp(e->server, server) && !strcmp(e->op, op) && !strcmp(e->status, status));
	if (e < c->errors + c->error_count)
		return e;
	e = ARRAY_APPEND(c->errors, c->error_count);
	if (e) {
		SET_LABEL(e->server, server);
		SET_LABEL(e->op, op);
		SET_LABEL(e->status, status);
	}
	return e;
}

struct rpc_transport_state *snapshot_transport(struct calls *c, const char *server,
					       const char *name)
{
	struct rpc_transport_state *t;

	FIND(t, c->transports, c->transport_count,
	     !strcmp(t->server, server) && !strcmp(t->name, name));
	if (t < c->transports + c->transport_count)
		return t;
	t = ARRAY_APPEND(c->transports, c->transport_count);
	if (t) {
		SET_LABEL(t->server, server);
		SET_LABEL(t->name, name);
	}
	return t;
}

struct rpc_server_state *snapshot_server(struct calls *c, const char *server)
{
	struct rpc_server_state *v;

	FIND(v, c->servers, c->server_count, !strcmp(v->server, server));
	if (v < c->servers + c->server_count)
		return v;
	v = ARRAY_APPEND(c->servers, c->server_count);
	if (v)
		SET_LABEL(v->server, server);
	return v;
}

const struct rpc_op *snapshot_op_like(const struct calls *c, const struct rpc_op *like, size_t at)
{
	for (size_t i = 0; i < c->op_count; i++) {
		const struct rpc_op *o = &c->ops[(at + i) % c->op_count];

		if (!strcmp(o->op, like->op) && !strcmp(o->server, like->server))
			return o;
	}
	return NULL;
}

const struct rpc_transport_state *
snapshot_transport_like(const struct calls *c, const struct rpc_transport_state *like, size_t at)
{
	for (size_t i = 0; i < c->transport_count; i++) {
		const struct rpc_transport_state *t = &c->transports[(at + i) % c->transport_count];

		if (!strcmp(t->name, like->name) && !strcmp(t->server, like->server))
			return t;
	}
	return NULL;
}

struct episode_stats *snapshot_episodes(struct calls *c, const char *server, const char *kind)
{
	struct episode_stats *e;

	FIND(e, c->episodes, c->episode_count,
	     !strcmp(e->kind, kind) && !strcmp(e->server, server));
	if (e < c->episodes + c->episode_count)
		return e;
	e = ARRAY_APPEND(c->episodes, c->episode_count);
	if (e) {
		SET_LABEL(e->server, server);
		e->kind = kind;
	}
	return e;
}

struct nfs_mount *snapshot_mount(struct calls *c, const struct nfs_mount *like)
{
	struct nfs_mount *m;

	FIND(m, c->mounts, c->mount_count,
	     !strcmp(m->mountpoint, like->mountpoint) && !strcmp(m->server, like->server) &&
		     !strcmp(m->export, like->export) && !strcmp(m->version, like->version));
	if (m < c->mounts + c->mount_count)
		return m;
	m = ARRAY_APPEND(c->mounts, c->mount_count);
	if (m)
		*m = *like;
	return m;
}

struct rpc_storage *snapshot_storage(struct calls *c, const char *server)
{
	struct rpc_storage *p;

	FIND(p, c->storages, c->storage_count, !strcmp(p->server, server));
	if (p < c->storages + c->storage_count)
		return p;
	p = ARRAY_APPEND(c->storages, c->storage_count);
	if (p)
		SET_LABEL(p->server, server);
	return p;
}

struct fault *snapshot_fault(struct fault_counts *counts, const struct fault *like)
{
	struct fault *f;

	FIND(f, counts->faults, counts->fault_count,
	     f->code == like->code && f->nvswitch == like->nvswitch &&
		     !strcmp(f->device, like->device) && !strcmp(f->severity, like->severity) &&
		     !strcmp(f->action, like->action));
	if (f < counts->faults + counts->fault_count)
		return f;
	f = ARRAY_APPEND(counts->faults, counts->fault_count);
	if (f) {
		*f = *like;
		f->count = 0;
		f->incidents = 0;
		f->first = 0;
		f->last = 0;
		f->repeats.count = 0;
		f->recent = 0;
	}
	return f;
}

struct kernel_event *snapshot_kernel_event(struct fault_counts *counts, bool gpu_driver,
					   const char *kind, const char *device)
{
	struct kernel_event *e;

	FIND(e, counts->kernel_events, counts->kernel_event_count,
	     e->gpu_driver == gpu_driver && !strcmp(e->kind, kind) && !strcmp(e->device, device));
	if (e < counts->kernel_events + counts->kernel_event_count)
		return e;
	e = ARRAY_APPEND(counts->kernel_events, counts->kernel_event_count);
	if (e) {
		e->gpu_driver = gpu_driver;
		SET_LABEL(e->kind, kind);
		SET_LABEL(e->device, device);
	}
	return e;
}

struct gpu_info *snapshot_gpu(struct fault_counts *counts, const char *gpu)
{
	struct gpu_info *g;

	FIND(g, counts->gpus, counts->gpu_count, !strcmp(g->gpu, gpu));
	if (g < counts->gpus + counts->gpu_count)
		return g;
	g = ARRAY_APPEND(counts->gpus, counts->gpu_count);
	if (g)
		SET_LABEL(g->gpu, gpu);
	return g;
}

struct unverified_xid *snapshot_unverified(struct fault_counts *counts, const char *gpu,
					   unsigned int code)
{
	struct unverified_xid *u;

	FIND(u, counts->unverified, counts->unverified_count,
	     u->code == code && !strcmp(u->gpu, gpu));
	if (u < counts->unverified + counts->unverified_count)
		return u;
	u = ARRAY_APPEND(counts->unverified, counts->unverified_count);
	if (u) {
		SET_LABEL(u->gpu, gpu);
		u->code = code;
	}
	return u;
}

struct gpu_recovery *snapshot_recovery(struct fault_counts *counts, const char *gpu,
				       const char *evidence)
{
	struct gpu_recovery *r;

	FIND(r, counts->recoveries, counts->recovery_count,
	     !strcmp(r->gpu, gpu) && !strcmp(r->evidence, evidence));
	if (r < counts->recoveries + counts->recovery_count)
		return r;
	r = ARRAY_APPEND(counts->recoveries, counts->recovery_count);
	if (r) {
		SET_LABEL(r->gpu, gpu);
		SET_LABEL(r->evidence, evidence);
	}
	return r;
}

void snapshot_hook(struct self *s, const char *name, bool attached)
{
	if (s->hook_count < sizeof(s->hooks) / sizeof(s->hooks[0]))
		s->hooks[s->hook_count++] = (struct hook_state){ name, attached };
}

void snapshot_drop(struct self *s, const char *reason, uint64_t count)
{
	for (size_t i = 0; i < s->drop_count; i++)
		if (!strcmp(s->drops[i].reason, reason)) {
			s->drops[i].count += count;
			return;
		}
	if (s->drop_count < sizeof(s->drops) / sizeof(s->drops[0]))
		s->drops[s->drop_count++] = (struct drop_count){ reason, count };
}

void snapshot_health(struct self *s, const char *check, int level)
{
	if (s->health_count < sizeof(s->health) / sizeof(s->health[0]))
		s->health[s->health_count++] = (struct health_state){ check, level };
}

void snapshot_program(struct self *s, const char *name, uint64_t runs, uint64_t ns)
{
	struct program_run *p;

	for (p = s->programs; p < s->programs + s->program_count; p++)
		if (!strcmp(p->name, name)) {
			p->runs += runs;
			p->ns += ns;
			return;
		}
	if (s->program_count == sizeof(s->programs) / sizeof(s->programs[0]))
		return;
	p = &s->programs[s->program_count++];
	*p = (struct program_run){ .runs = runs, .ns = ns };
	snprintf(p->name, sizeof(p->name), "%s", name);
}
