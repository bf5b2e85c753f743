// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's own trace events by BPF programs (bpf/kernel_events.bpf.c).
 *
 * A trace instance would show them as well, but the kernel gives it at least 24 kB of each CPU, 1.4 MB of each while it is made,
 * and for its files up to 10 MB of slab (Linux 6.1). A module's events cannot be had by programs: they would prevent that the
 * module is unloaded. */
#include "kernel/trace.h"

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "kernel_events.skel.h"

#define FIELD(name, member)                                                      \
	{                                                                        \
		name, offsetof(struct traced_event, member),                     \
			sizeof(((struct traced_event *)0)->member), false, false \
	}

/* All events have the same record. The names are those that tracefs has. */
static const struct trace_format format = {
	.fields = {
		FIELD("status", status),
		FIELD("addr", address),
		FIELD("pid", pid),
		FIELD("cpu", cpu),
		FIELD("bank", bank),
		FIELD("severity", severity),
		FIELD("name", name),
		FIELD("dev_name", name),
		FIELD("comm", name),
	},
	.field_count = 9,
};

struct trace_programs {
	struct kernel_events_bpf *bpf;
	struct trace_event *events;
	void *context;
	struct bpf_link *links[KERNEL_EVENTS];
};

/* Attaches what the kernel has. Returns whether that is anything. */
static bool attach_programs(struct trace_programs *t)
{
	struct bpf_program *program;
	bool any = false;

	bpf_object__for_each_program(program, t->bpf->obj) {
		const char *name = bpf_program__name(program);
		struct trace_event *event =
			ARRAY_FIND(e, t->events, KERNEL_EVENTS, !strcmp(e->name, name));
		struct bpf_link *link = event ? bpf_program__attach(program) : NULL;

		if (!link)
			continue;
		t->links[event - t->events] = link;
		event->format = format;
		event->since_ns = monotonic_ns();
		event->enabled = any = true;
	}
	return any;
}

struct trace_programs *trace_programs_new(struct trace_event *events, void *context, int epoll,
					  struct bpf_memory *memory)
{
	struct trace_programs *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->events = events;
	t->context = context;
	bpf_error_log_clear();
	t->bpf = kernel_events_bpf__open();
	if (t->bpf)
		bpf_report_verified(t->bpf->obj);
	if (t->bpf && !kernel_events_bpf__load(t->bpf) && attach_programs(t)) {
		bpf_object_memory(t->bpf->obj, memory);
		file_watch(epoll, bpf_map__fd(t->bpf->maps.kernel_events));
		return t;
	}
	trace_programs_free(t);
	return NULL;
}

void trace_programs_free(struct trace_programs *t)
{
	if (!t)
		return;
	for (int i = 0; i < KERNEL_EVENTS; i++) {
		bpf_link__destroy(t->links[i]);
		t->events[i].enabled &= !t->links[i];
	}
	kernel_events_bpf__destroy(t->bpf);
	free(t);
}

static int on_event(void *context, void *data, size_t size)
{
	const struct traced_event *e = data;
	struct trace_programs *t = context;

	if (size >= sizeof(*e) && e->event < KERNEL_EVENTS)
		t->events[e->event].handle(
			t->context, &t->events[e->event],
			&(struct trace_record){ .time = e->time, .data = e, .len = sizeof(*e) });
	return 0;
}

uint64_t trace_programs_consume(struct trace_programs *t)
{
	bpf_ring_read(t->bpf->maps.kernel_events, on_event, t);
	return t->bpf->bss->kernel_events_dropped;
}
