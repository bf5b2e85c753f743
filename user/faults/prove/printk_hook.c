// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The hook on the kernel's printk: loads bpf/printk.bpf.c and passes its messages to a handler. */
#include "faults/prove/printk_hook.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "printk.skel.h"

/* More than the buffer holds: when so many were read, all that was in it has been. */
#define READ_MAX (PRINTK_RING_BYTES / PRINTK_SHORT)

struct printk_hook {
	unsigned int read; /* messages, in this turn */
	printk_handler *handle;
	void *context;
	struct printk_bpf *bpf;
	struct ring_buffer *ring;
	struct bpf_memory memory;
};

/* The tracepoint has the same form with and without commit 5aa7eea9316c of 5.19. */
bool printk_hook_has_every_message(const char *release)
{
	struct span s = { release, release + strlen(release) };
	uint64_t major = 0, minor;

	if (!span_take_number(&s, 10, UINT_MAX, &major) || major != 5)
		return major > 5;
	return span_take(&s, ".") && span_take_number(&s, 10, UINT_MAX, &minor) && minor >= 19;
}

static int on_event(void *context, void *data, size_t size)
{
	const struct printk_event *event = data;
	struct printk_hook *h = context;

	if (size >= sizeof(*event) && event->len <= size - sizeof(*event))
		h->handle(h->context, event);
	/* A flood that fills the buffer as fast as it is read would have no end. */
	return ++h->read < READ_MAX ? 0 : -1;
}

struct printk_hook *printk_hook_new(const struct log *log, struct kernel_log_mark *begin,
				    printk_handler *handle, void *context)
{
	struct printk_hook *h = calloc(1, sizeof(*h));
	int err = ENOMEM;

	if (!h)
		goto failed;
	h->handle = handle;
	h->context = context;
	bpf_error_log_clear();
	h->bpf = printk_bpf__open_and_load();
	kernel_log_mark(begin);
	if (!h->bpf || printk_bpf__attach(h->bpf)) {
		err = errno;
		log_write_lines(log, LOG_LEVEL_WARN, bpf_error_log(),
				"cannot hook printk: %s; %s. Faults are read from the kernel log "
				"only",
				bpf_reason(err), bpf_advice(err));
		goto failed;
	}
	h->ring = ring_buffer__new(bpf_map__fd(h->bpf->maps.printk_ring), on_event, h, NULL);
	if (!h->ring) {
		err = errno;
		log_warn(log, "cannot read the printk hook's buffer: %s", strerror(err));
		goto failed;
	}
	bpf_object_memory(h->bpf->obj, &h->memory);
	return h;
failed:
	kernel_log_mark_free(begin);
	printk_hook_free(h);
	errno = err;
	return NULL;
}

void printk_hook_free(struct printk_hook *h)
{
	if (!h)
		return;
	ring_buffer__free(h->ring);
	printk_bpf__destroy(h->bpf);
	free(h);
}

int printk_hook_fd(const struct printk_hook *h)
{
	return ring_buffer__epoll_fd(h->ring);
}

void printk_hook_consume(struct printk_hook *h)
{
	h->read = 0;
	ring_buffer__consume(h->ring);
}

uint64_t printk_hook_dropped(const struct printk_hook *h)
{
	struct bpf_counts counts = {};

	bpf_program_counts(h->bpf->progs.printk_console, &counts);
	return h->bpf->bss->printk_dropped + counts.misses;
}

uint64_t printk_hook_others_dropped(const struct printk_hook *h)
{
	return h->bpf->bss->printk_others_dropped;
}

bool printk_hook_protect(struct printk_hook *h, const struct printk_origins *o)
{
	struct printk_range *known = h->bpf->bss->printk_driver, ranges[PRINTK_DRIVER_RANGES] = {};
	bool changed = h->bpf->bss->printk_driver_known != !!o;

	if (o)
		printk_origins_driver(o, ranges, PRINTK_DRIVER_RANGES);
	changed |= memcmp(known, ranges, sizeof(ranges)) != 0;
	memcpy(known, ranges, sizeof(ranges));
	h->bpf->bss->printk_driver_known = o;
	return changed;
}

const struct bpf_object *printk_hook_object(const struct printk_hook *h)
{
	return h->bpf->obj;
}

const struct bpf_memory *printk_hook_memory(const struct printk_hook *h)
{
	return &h->memory;
}
