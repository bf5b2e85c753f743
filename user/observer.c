// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All hooks together, as the agent and the trace session use them. */
#include "observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf_support.h"

int observer_start(struct observer *o, const struct log *log,
		   unsigned int hooks)
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
		o->gpu = gpu_hooks_new(log, &o->faults);
		gpu_error = o->gpu ? 0 : errno;
	}
	if (gpu_error == EPERM ||
	    (o->rpc && !o->gpu && rpc_hooks_error(o->rpc) == EPERM))
		return -EPERM;
	return 0;
}

void observer_stop(struct observer *o)
{
	gpu_hooks_free(o->gpu);
	rpc_hooks_free(o->rpc);
	faults_free(&o->faults);
	*o = (struct observer){};
}

bool observer_poll(struct observer *o)
{
	if (!o->rpc || rpc_hooks_settled(o->rpc))
		return false;
	rpc_hooks_poll(o->rpc);
	return !rpc_hooks_settled(o->rpc);
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
	struct timespec now;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	s->tier = '-';
	observer_consume(o);
	if (o->rpc)
		err = rpc_hooks_snapshot(o->rpc, s);
	if (o->gpu_wanted)
		gpu_hooks_snapshot(o->gpu, s);
	if (!err)
		err = faults_snapshot(&o->faults, s);
	s->resident_bytes = resident_bytes();
	return err;
}
