// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the health rules about NFS and the node itself find: states, not faults. */
#include "health/health.h"

/* ---- NFS ---- */

void find_nfs_waiter(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(v, e->s->calls.servers, e->s->calls.server_count) {
		char victims[VICTIMS_TEXT];
		struct health_finding *f;
		int worst = 0;
		double age;

		for (int q = 0; q < RPC_QUEUES; q++)
			if (v->oldest_ns[q] > v->oldest_ns[worst])
				worst = q;
		age = (double)v->oldest_ns[worst] / 1e9;
		if (!(age > e->o->rules[rule].limit))
			continue;
		f = health_add_state(e, rule, v->server);
		f->first = e->now - age;
		SET_HEAD(f, "NFS waits %s", v->server);
		SET_REASON(f,
			   "NFS server %s%s: a call has been waiting %s for "
			   "%.0f s: Check the server and the network to it.",
			   v->server, calls_victims(victims, &e->s->calls, v->server),
			   rpc_queue_wait(span_of(rpc_queue_names[worst])), age);
	}
}

/* How long a lost file or lock is a finding: there is no message of an end. */
#define LOST_SECONDS 3600

void find_nfs_errors(struct health_evaluation *e, enum health_rule_id rule)
{
	struct health_finding *f;

	for (size_t i = 0; e->o->node && i < e->o->node->nfs_error_count; i++) {
		const struct node_nfs_errors *n = &e->o->node->nfs_errors[i];

		f = health_add_state(e, rule, n->server);
		f->first = n->first;
		SET_HEAD(f, "NFS fails %s", n->server);
		SET_REASON(f, "NFS server %s: %s", n->server, n->text);
	}
	ARRAY_EACH(v, e->s->faults.kernel_events, e->s->faults.kernel_event_count) {
		if (strcmp(v->kind, "nfs_state_lost") != 0 || e->now - v->last > LOST_SECONDS)
			continue;
		f = health_add_state(e, rule, v->device);
		f->last = v->last;
		SET_HEAD(f, "NFS lost state %s", v->device);
		SET_REASON(f,
			   "NFS server %s: open files or locks were lost, %" PRIu64
			   " messages: Jobs that use them may have wrong data; see the kernel log.",
			   *v->device ? v->device : "(not named)", v->count);
	}
}

void find_stuck_tasks(struct health_evaluation *e, enum health_rule_id rule)
{
	static const char *const causes[] = {
		[STUCK_NO_RPC] = "and no call is outstanding: Read the stacks in the event log, "
				 "then restart the node.",
		[STUCK_RPC] = "behind a call: Check the server and the network to it.",
		[STUCK_DELAYED] =
			"behind calls that the server asks to make again later (EJUKEBOX, NFS4ERR_DELAY): "
			"Find out on the server why, such as a client that is gone and has a delegation.",
		[STUCK_LOCKD] = "behind a call to the server's lock manager: Check lockd on the "
				"server and the way to its port.",
		[STUCK_GSSD] = "for credentials: Start rpc.gssd, or check the key server.",
	};
	const bool lost = rule == HEALTH_NFS_STUCK_NO_RPC;
	const __typeof__(e->o->rules[0]) *graver = &e->o->rules[HEALTH_NFS_STUCK_NO_RPC];

	ARRAY_EACH(t, e->s->calls.stuck, e->s->calls.stuck_count) {
		const char *mount = *t->mountpoint ? t->mountpoint : "an unknown mount";
		double age = (double)t->oldest_ns / 1e9;
		struct health_finding *f;

		if (!t->tasks || !(age > e->o->rules[rule].limit) || (lost && t->rpc) ||
		    (!lost && !t->rpc && graver->level != HEALTH_OK && age > graver->limit))
			continue;
		f = health_add_state(e, rule, t->mountpoint);
		f->first = e->now - age;
		SET_HEAD(f, "NFS hangs %s", mount);
		SET_REASON(f, "NFS on %s: tasks that hang: %" PRIu32 ", the oldest for %.0f s, %s",
			   mount, t->tasks, age, causes[t->cause]);
	}
}

/* ---- the node itself ---- */

void find_mounts(struct health_evaluation *e, enum health_rule_id rule)
{
	static const char *const states[] = {
		[MOUNT_FINE] = NULL,
		[MOUNT_ABSENT] = "is not mounted",
		[MOUNT_READ_ONLY] = "is read-only",
		[MOUNT_STALE] = "is stale: the server does not know it any more",
		[MOUNT_HUNG] = "hangs: the server does not answer",
	};

	ARRAY_EACH(m, e->o->node->mounts, e->o->node->mount_count) {
		enum mount_state state = m->state != MOUNT_FINE ? m->state : m->answer;
		struct health_finding *f;

		if (state == MOUNT_FINE || (state == MOUNT_HUNG) != (rule == HEALTH_MOUNT_HUNG))
			continue;
		f = health_add_state(e, rule, m->path);
		SET_HEAD(f, "Mount %s %s", state == MOUNT_HUNG ? "hung" : "bad", m->path);
		SET_REASON(f, "Mount %s %s: Check the server, the network to it, and the mount.",
			   m->path, states[state]);
	}
}

void find_missing_gpus(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct node_state *node = e->o->node;
	struct health_finding *f;

	if (node->gpus >= node->gpus_wanted)
		return;
	f = health_add_state(e, rule, "");
	SET_HEAD(f, "GPUs %u of %u", node->gpus, node->gpus_wanted);
	SET_REASON(f,
		   "The driver has %u of %u GPUs: Drain the node and restart it; if they do not "
		   "come back, look for them with lspci.",
		   node->gpus, node->gpus_wanted);
}

void find_unused_gpus(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(unused, e->o->node->unused, e->o->node->unused_count) {
		const char *gpu = *unused;
		struct health_finding *f = health_add_state(e, rule, gpu);

		SET_HEAD(f, "No driver %s", health_short_device(gpu));
		SET_REASON(
			f,
			"GPU %s has no driver: Drain the node and restart it; if it stays so, look "
			"for its address in the kernel log.",
			gpu);
	}
}

void find_narrow_links(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(l, e->o->node->links, e->o->node->link_count) {
		struct health_finding *f;

		if (!l->lanes || l->lanes * 100.0 >= l->lanes_possible * e->o->rules[rule].limit)
			continue;
		f = health_add_state(e, rule, l->gpu);
		SET_HEAD(f, "PCIe x%u of x%u %s", l->lanes, l->lanes_possible,
			 health_short_device(l->gpu));
		SET_REASON(
			f,
			"GPU %s: its PCIe link has %u of %u lanes: Drain the node and restart it; if "
			"the link stays narrow, seat the GPU and its riser anew.",
			l->gpu, l->lanes, l->lanes_possible);
	}
}

void find_corrected_errors(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(l, e->o->node->links, e->o->node->link_count) {
		struct health_finding *f;

		if (!l->corrected_in_hour || (double)l->corrected_in_hour < e->o->rules[rule].limit)
			continue;
		f = health_add_state(e, rule, l->gpu);
		SET_HEAD(f, "PCIe errors %s", health_short_device(l->gpu));
		SET_REASON(
			f,
			"GPU %s: %" PRIu64
			" corrected errors of its PCIe link in an hour: Drain the "
			"node, seat the GPU and its riser anew, and replace them if errors go on.",
			l->gpu, l->corrected_in_hour);
	}
}

void find_clock(struct health_evaluation *e, enum health_rule_id rule)
{
	struct health_finding *f;

	if (!e->o->node->clock_unsynchronised)
		return;
	f = health_add_state(e, rule, "");
	SET_HEAD(f, "Clock");
	SET_REASON(f, "The kernel's clock is not synchronised: Check the time service.");
}
