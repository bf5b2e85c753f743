// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel log's hook: loads bpf/printk.bpf.c and hands its messages on. */
#include "gpu_hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf_support.h"
#include "printk.h"
#include "printk.skel.h"

struct gpu_hooks {
	const struct log *log;
	struct faults *faults;
	struct printk_bpf *bpf;
	struct ring_buffer *ring;
	uint64_t map_bytes;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int on_event(void *context, void *data, size_t size)
{
	const struct printk_event *event = data;
	struct gpu_hooks *g = context;
	struct fault_source source = {
		/* Wall time now, less the message's age. */
		.time = seconds(CLOCK_REALTIME) - seconds(CLOCK_MONOTONIC) +
			(double)event->time / 1e9,
		.cpu = event->cpu,
		.pid = event->pid,
		.comm = event->comm,
	};

	if (size < sizeof(*event) || event->len > PRINTK_TEXT)
		return 0;
	if (faults_add_text(g->faults, g->log, &source, event->text,
			    event->len) < 0)
		log_error(g->log, "no memory to count a fault");
	return 0;
}

struct gpu_hooks *gpu_hooks_new(const struct log *log, struct faults *faults)
{
	struct gpu_hooks *g = calloc(1, sizeof(*g));
	int err = ENOMEM;

	if (!g)
		goto failed;
	g->log = log;
	g->faults = faults;
	bpf_messages_forget();
	g->bpf = printk_bpf__open_and_load();
	if (!g->bpf || printk_bpf__attach(g->bpf)) {
		err = errno;
		log_error(log,
			  "cannot watch the kernel log: %s\n%sxidscope: %s; GPU "
			  "faults will be missing",
			  strerror(err), bpf_last_words(), bpf_advice(err));
		goto failed;
	}
	g->ring = ring_buffer__new(bpf_map__fd(g->bpf->maps.printk_ring),
				   on_event, g, NULL);
	if (!g->ring) {
		err = errno;
		log_error(log, "cannot read the kernel log's ring buffer: %s",
			  strerror(err));
		goto failed;
	}
	g->map_bytes = bpf_object_memory(g->bpf->obj);
	return g;
failed:
	gpu_hooks_free(g);
	errno = err;
	return NULL;
}

void gpu_hooks_free(struct gpu_hooks *g)
{
	if (!g)
		return;
	ring_buffer__free(g->ring);
	printk_bpf__destroy(g->bpf);
	free(g);
}

int gpu_hooks_fd(const struct gpu_hooks *g)
{
	return ring_buffer__epoll_fd(g->ring);
}

int gpu_hooks_consume(struct gpu_hooks *g)
{
	return ring_buffer__consume(g->ring);
}

void gpu_hooks_snapshot(const struct gpu_hooks *g, struct snapshot *s)
{
	snapshot_hook(s, "printk_console", g);
	if (!g)
		return;
	s->map_bytes += g->map_bytes;
	bpf_object_programs(g->bpf->obj, s);
	snapshot_drop(s, "printk",
		      g->bpf->bss->printk_dropped +
			      bpf_program_misses(g->bpf->progs.printk_console));
}
