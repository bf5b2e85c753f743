// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands/observer.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/process.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "kernel/module_events.h"
#include "rpc/choice.h"

#define MODULES_POLL_MS 200 /* how often to poll modules, if the kernel reports no events of them */

/* How often at least to look at sunrpc. */
#define RPC_POLL_NS 20000000000

/* Whether the process has at least one of the privileges that hooks need. If it lacks
 * some, the hooks that need those fail, which is logged, and the others work. */
static bool may_observe(unsigned int hooks, unsigned int sources)
{
	const uint64_t any = CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_BPF) |
			     CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SYSLOG);

	if (hooks == HOOKS_RPC && sources == RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS))
		return true; /* every process may read mountstats */
	return effective_capabilities("") & any;
}

/* Whether only /proc/1 shows which servers are of the node's network namespace, because this is another one. */
static bool in_other_netns(void)
{
	struct stat own, node;

	return stat("/proc/self/ns/net", &own) || stat("/proc/1/ns/net", &node) ||
	       own.st_ino != node.st_ino;
}

/* What the hooks may need: sunrpc and the driver may be loaded at any time. */
static uint64_t capabilities_for_hooks(const struct observer *o, uint64_t have)
{
	const uint64_t load = CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	bool built_in = o->rpc && types_place_find("", "sunrpc") == TYPES_KERNEL;
	int paranoid = (int)file_number("/proc/sys/kernel/perf_event_paranoid", "", 10);
	bool programs = o->gpu_wanted || (o->rpc && o->sources & RPC_SOURCES_BPF);
	uint64_t keep = 0;

	if (programs)
		keep |= load;
	/* The kernel log, opened again. */
	if (o->gpu_wanted)
		keep |= CAPABILITY(CAP_SYSLOG);
	if (o->rpc && o->sources & RPC_SOURCE_BIT(RPC_SOURCE_BTF) && in_other_netns())
		keep |= CAPABILITY(CAP_SYS_PTRACE);
	/* The files that other users' processes hold. */
	if (o->gpu_wanted && o->fault_options.holders)
		keep |= CAPABILITY(CAP_SYS_PTRACE);
	/* The files of tracefs belong to root. */
	if (programs && geteuid())
		keep |= CAPABILITY(CAP_DAC_OVERRIDE);
	/* Tracepoints of sunrpc, if it is a module that is loaded later (everybody may read its BTF); events and kprobes, where
	 * kernel.perf_event_paranoid is above 2, as on Debian; and all of @load, where nobody gave those. */
	if (programs && ((o->rpc && !built_in) || paranoid > 2 || (have & load) != load))
		keep |= CAPABILITY(CAP_SYS_ADMIN);
	return keep;
}

void observer_drop_capabilities(const struct observer *o, uint64_t others)
{
	uint64_t have = effective_capabilities(""), keep = others;
	int err;

	keep |= capabilities_for_hooks(o, have);
	err = capabilities_keep(keep);
	if (err)
		log_warn(o->log, "cannot give up all capabilities that are not needed: %s",
			 strerror(-err));
	log_debug(o->log, "kept capabilities: %#" PRIx64 " of %#" PRIx64, keep & have, have);
	kernel_types_forget(); /* a built-in NFS has been looked for in them */
}

/* Attaches sunrpc's hooks when it is loaded, and detaches them before it is unloaded. @changed: a module has come or gone. */
static void follow_sunrpc(struct observer *o, bool changed)
{
	if (!o->rpc)
		return;
	o->rpc_due_ns = monotonic_ns() + RPC_POLL_NS;
	if (rpc_observer_poll(o->rpc, changed))
		kernel_types_forget();
}

static void on_event(void *context, const struct event *event)
{
	struct observer *o = context;

	o->changed = true;
	event_log_add(o->events, event);
}

int observer_start(struct observer *o, const struct log *log, unsigned int hooks,
		   const struct rpc_options *rpc, const struct fault_options *gpu,
		   const struct event_sink *events)
{
	int gpu_error = 0;

	*o = (struct observer){ .log = log,
				.gpu_wanted = hooks & HOOKS_GPU,
				.sources = rpc->sources,
				.modules = -1,
				.epoll = -1 };
	if (!may_observe(hooks, rpc->sources)) {
		log_error(log, "must run as root or privileged; stopping");
		return -EPERM;
	}
	bpf_messages_init(log);
	bpf_remove_memory_limit();
	o->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (hooks & HOOKS_RPC)
		o->rpc = rpc_observer_new(log, rpc);
	if (o->gpu_wanted || events)
		o->events = event_log_new(events);
	if (o->epoll < 0 || (hooks & HOOKS_RPC && !o->rpc) ||
	    ((o->gpu_wanted || events) && !o->events)) {
		log_error(log, "no memory, or too many open files");
		return -ENOMEM;
	}
	if (o->rpc) {
		/* Opened before the first look, so that no change is missed. */
		o->modules = module_events_open();
		if (o->modules < 0)
			log_warn(
				log,
				"cannot read the kernel's uevents: %s; modules are looked for five "
				"times a second instead. In a unit, allow AF_NETLINK in RestrictAddressFamilies=",
				strerror(-o->modules));
		file_watch(o->epoll, o->modules);
		loop_end_at_once(true);
		follow_sunrpc(o, false);
		loop_end_at_once(false);
	}
	if (o->gpu_wanted) {
		o->fault_options = *gpu;
		o->fault_options.handle = on_event;
		o->fault_options.context = o;
		o->fault_options.alone = !o->rpc || rpc_observer_error(o->rpc) == EPERM;
		o->gpu = fault_observer_new(log, &o->fault_options, o->epoll);
		gpu_error = o->gpu ? 0 : errno;
	}
	kernel_types_forget();
	if (gpu_error == EPERM || (o->rpc && !o->gpu && rpc_observer_error(o->rpc) == EPERM))
		return -EPERM;
	return 0;
}

void observer_stop(struct observer *o)
{
	if (!o->log)
		return; /* never begun */
	fault_observer_free(o->gpu);
	event_log_free(o->events);
	rpc_observer_free(o->rpc);
	file_close(&o->modules);
	file_close(&o->epoll);
	*o = (struct observer){};
}

unsigned int observer_poll(struct observer *o)
{
	uint64_t now = monotonic_ns();

	if (o->gpu && now >= o->gpu_due_ns) {
		fault_observer_poll(o->gpu, o->modules < 0);
		event_log_flush(o->events, now, false);
		o->gpu_due_ns = now + FAULT_POLL_MS * 1000000ull;
	}
	if (o->modules < 0 || now >= o->rpc_due_ns)
		follow_sunrpc(o, false);
	return o->rpc && o->modules < 0 ? MODULES_POLL_MS : FAULT_POLL_MS;
}

void observer_consume(struct observer *o)
{
	if (o->gpu)
		fault_observer_consume(o->gpu);
	if (o->modules < 0 || !module_events_read(o->modules))
		return;
	follow_sunrpc(o, true);
	if (o->gpu)
		fault_observer_poll(o->gpu, true);
}

int observer_snapshot(struct observer *o, struct snapshot *s)
{
	uint64_t objects;
	int err = 0;

	if (o->modules < 0)
		follow_sunrpc(o, false);
	observer_consume(o);
	s->time_ns = monotonic_ns();
	s->wall = wall_seconds();
	s->calls.source = RPC_SOURCE_NONE;
	snprintf(s->calls.rpc_missing, sizeof(s->calls.rpc_missing), "%s",
		 o->rpc ? rpc_observer_missing(o->rpc) : "--hooks leaves it out");
	if (o->rpc) {
		err = rpc_observer_snapshot(o->rpc, s);
		s->self.rpc_hook_count = s->self.hook_count;
	}
	if (o->gpu_wanted && !err)
		fault_observer_snapshot(o->gpu, s);
	if (o->events)
		snapshot_drop(&s->self, "event_log", event_log_lost(o->events));
	snapshot_drop(&s->self, "messages", log_lost());
	/* proc(5): the second field of statm is the resident set in pages. */
	s->self.resident_bytes =
		file_number("/proc/self/statm", " ", 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	/* That takes 90,000 instructions: only with a new object, or after ten minutes. */
	objects = s->self.map_bytes + s->self.program_bytes;
	if (o->object_bytes != objects || s->time_ns >= o->other_due_ns) {
		o->other_bytes = counted_since(group_kernel_bytes(""), objects);
		o->other_due_ns = s->time_ns + 600000000000;
	}
	o->object_bytes = objects;
	s->self.other_bytes = o->other_bytes;
	err = err ?: memory_error(o->memory_failed);
	o->memory_failed = memory_failed();
	return err;
}
