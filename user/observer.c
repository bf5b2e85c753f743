// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All hooks together, as the agent and the trace session use them. */
#include "observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_support.h"
#include "clock.h"
#include "kernel_types.h"

int observer_start(struct observer *o, const struct log *log,
		   unsigned int hooks, const struct gpu_options *gpu)
{
	int gpu_error = 0;

	*o = (struct observer){ .log = log,
				.gpu_wanted = hooks & HOOKS_GPU };
	bpf_messages_init(log);
	if (hooks & HOOKS_RPC) {
		o->rpc = rpc_hooks_new(log);
		if (!o->rpc)
			return -ENOMEM;
		rpc_hooks_poll(o->rpc);
	}
	if (o->gpu_wanted) {
		o->gpu = gpu_hooks_new(log, gpu);
		gpu_error = o->gpu ? 0 : errno;
	}
	kernel_types_forget();
	if (gpu_error == EBUSY)
		return -EBUSY;
	if (gpu_error == EPERM ||
	    (o->rpc && !o->gpu && rpc_hooks_error(o->rpc) == EPERM))
		return -EPERM;
	return 0;
}

void observer_stop(struct observer *o)
{
	gpu_hooks_free(o->gpu);
	rpc_hooks_free(o->rpc);
	*o = (struct observer){};
}

unsigned int observer_poll(struct observer *o)
{
	if (o->gpu)
		gpu_hooks_poll(o->gpu);
	if (o->rpc && !rpc_hooks_settled(o->rpc)) {
		rpc_hooks_poll(o->rpc);
		if (!rpc_hooks_settled(o->rpc))
			return OBSERVER_POLL_MS;
	}
	return o->gpu ? GPU_POLL_MS : 0;
}

void observer_reopen(struct observer *o)
{
	if (o->gpu)
		gpu_hooks_reopen(o->gpu);
}

int observer_fd(const struct observer *o)
{
	return o->gpu ? gpu_hooks_fd(o->gpu) : -1;
}

void observer_consume(struct observer *o)
{
	if (o->gpu)
		gpu_hooks_consume(o->gpu);
}

/* proc(5): the second field of statm is the resident set in pages. */
static uint64_t resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	char line[128] = "", *second;

	if (statm) {
		if (!fgets(line, sizeof(line), statm))
			line[0] = 0;
		fclose(statm);
	}
	second = strchr(line, ' ');
	return second ? strtoull(second, NULL, 10) *
				(uint64_t)sysconf(_SC_PAGESIZE) :
			0;
}

int observer_snapshot(struct observer *o, struct snapshot *s)
{
	int err = 0;

	s->time_ns = monotonic_ns();
	s->tier = '-';
	observer_consume(o);
	if (o->rpc)
		err = rpc_hooks_snapshot(o->rpc, s);
	if (o->gpu_wanted && !err)
		err = gpu_hooks_snapshot(o->gpu, s);
	s->resident_bytes = resident_bytes();
	return err;
}
