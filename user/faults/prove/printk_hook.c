// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The hook on the kernel's printk: loads bpf/printk.bpf.c and passes its messages to a handler. */
#include "faults/prove/parts.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/bpf_hooks.h"
#include "kernel/kernel_log.h"
#include "printk.skel.h"

/* More than the buffer holds: when so many were read, all that was in it has been. */
#define READ_MAX (PRINTK_RING_BYTES / PRINTK_SHORT)

/* A message that the hook takes, and that is no fault. */
#define QUESTION "xidscope: finds out whether the kernel shows who prints (NVRM)"

struct printk_hook {
	const struct log *log;
	struct fault_stream *stream; /* NULL: it is only tried */
	struct printk_bpf *bpf;
	struct ring_buffer *ring;
	struct bpf_memory memory;
	struct printk_origins origins;
	struct kernel_log_mark begin; /* it passes on what was printed after that */
	unsigned int read; /* messages, in this turn */
	uint64_t dropped; /* messages, so far */
	bool asked; /* by a message of its own */
	bool callers_known; /* the stack of a message has shown that it is that of who prints, not of a console */
};

/* ---- who calls printk ---- */

/* Keeps room in the buffer for messages of the driver's modules; NULL: they are not known,
 * so no message is treated as another's. Returns whether that has changed. */
static bool protect(struct printk_hook *h, const struct printk_origins *o)
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

/* A lack of memory or descriptors ends; addresses that the kernel hides stay hidden. */
static bool is_passing(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -EIO;
}

static void warn_unknown(const struct printk_hook *h, int err)
{
	log_warn(h->log,
		 "cannot find out who calls printk: /proc/modules and "
		 "/proc/kallsyms: %s. Fault texts count if the driver also "
		 "reports the fault, or if they look like its own",
		 err == -EPERM ? "addresses are hidden; it needs CAP_SYSLOG and "
				 "kernel.kptr_restrict below 2" :
				 strerror(-err));
}

void printk_hook_modules_changed(struct printk_hook *h)
{
	int before;

	if (!h || h->stream->origins_ns == UINT64_MAX)
		return;
	before = h->origins.error;
	if (!printk_origins_read(&h->origins, "", monotonic_ns())) {
		/* Until then its messages were not told from others. */
		if (protect(h, &h->origins))
			h->stream->gap_ns = monotonic_ns();
		return;
	}
	protect(h, NULL);
	if (!is_passing(h->origins.error))
		h->stream->origins_ns = UINT64_MAX;
	if (h->origins.error != before)
		warn_unknown(h, h->origins.error);
}

/* Reads printk's functions, once, or again if the reason that they could not be read may have passed. Returns 0 or -errno. */
static int read_functions(struct printk_origins *o)
{
	if (!o->function_count && (!o->functions_error || is_passing(o->functions_error)))
		o->functions_error = printk_origins_read_functions(o, "");
	return o->functions_error;
}

/* From commit 5aa7eea9316c of 5.19 on, which some distributions have in older kernels, the tracepoint is called for
 * each message by who prints it; before that by the consoles. Its form is the same; the stack shows which. */
static bool shows_caller(struct printk_origins *o, const struct printk_event *event)
{
	return !read_functions(o) && event->depth <= PRINTK_STACK &&
	       printk_origins_inner(o, (const uint64_t *)event->stack, event->depth);
}

/* Messages from now on have a known origin, if the kernel shows who called printk. */
static void learn_callers(struct printk_hook *h, const struct printk_event *event)
{
	int before = h->origins.functions_error;

	if (h->callers_known)
		return;
	h->callers_known = shows_caller(&h->origins, event);
	/* Consoles do not show a message of this level: who prints has called the hook. */
	if (h->origins.functions_error != before && event->len >= strlen(QUESTION) &&
	    !memcmp(event->text, QUESTION, strlen(QUESTION)))
		warn_unknown(h, h->origins.functions_error);
	if (!h->callers_known || !h->stream)
		return;
	h->stream->origins_ns = event->time;
	printk_hook_modules_changed(h);
}

/* Returns 0 or -errno. */
static int print_message(void)
{
	static const char text[] = "<7>" QUESTION;
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

void printk_hook_ask(struct printk_hook *h)
{
	if (!h || h->asked)
		return;
	h->asked = true;
	if (!print_message())
		return;
	/* The first message of the driver shows it, then. */
	if (read_functions(&h->origins))
		warn_unknown(h, h->origins.functions_error);
}

/* ---- messages ---- */

static void pass_on(struct printk_hook *h, const struct printk_event *event)
{
	size_t depth = event->depth <= PRINTK_STACK ? event->depth : 0;
	enum printk_origin origin = PRINTK_ORIGIN_UNKNOWN;
	const uint64_t *stack = (const uint64_t *)event->stack;
	uint64_t now = monotonic_ns();

	learn_callers(h, event);
	if (!h->stream)
		return;
	if (printk_origins_stale(&h->origins, "", stack, depth, event->time, now))
		printk_hook_modules_changed(h);
	if (h->stream->origins_ns != UINT64_MAX)
		origin = printk_origin(&h->origins, stack, depth, event->time);
	fault_stream_message(h->stream, event, origin, now);
}

static int on_event(void *context, void *data, size_t size)
{
	const struct printk_event *event = data;
	struct printk_hook *h = context;

	if (size >= sizeof(*event) && event->len <= size - sizeof(*event))
		pass_on(h, event);
	/* A flood that fills the buffer as fast as it is read would have no end. */
	return ++h->read < READ_MAX ? 0 : -1;
}

/* Messages that found the buffer full, or the program running already. */
static uint64_t count_dropped(const struct printk_hook *h)
{
	struct bpf_prog_info info;

	bpf_program_info(h->bpf->progs.printk_console, &info);
	return h->bpf->bss->printk_dropped + info.recursion_misses;
}

void printk_hook_consume(struct printk_hook *h)
{
	uint64_t dropped;

	if (!h)
		return;
	h->read = 0;
	ring_buffer__consume(h->ring);
	dropped = count_dropped(h);
	if (dropped != h->dropped)
		h->stream->gap_ns = monotonic_ns();
	h->dropped = dropped;
}

bool printk_hook_begins_after(struct printk_hook *h, uint64_t sequence)
{
	return h && sequence < kernel_log_after(&h->begin);
}

void printk_hook_all_read(struct printk_hook *h)
{
	if (!h)
		return;
	kernel_log_mark_free(&h->begin);
	/* Before, it would push a record out of a full log. */
	printk_hook_ask(h);
}

/* ---- attaching ---- */

struct printk_hook *printk_hook_new(const struct log *log, bool quiet, struct fault_stream *stream)
{
	struct printk_hook *h = calloc(1, sizeof(*h));
	struct log attaching = *log;
	int err = ENOMEM;

	if (!h)
		goto failed;
	attaching.quiet |= quiet;
	h->log = log;
	h->stream = stream;
	h->begin.fd = -1;
	bpf_error_log_clear();
	h->bpf = printk_bpf__open();
	if (h->bpf)
		bpf_report_verified(h->bpf->obj);
	err = !h->bpf || printk_bpf__load(h->bpf) ? errno : 0;
	kernel_log_mark(&h->begin);
	if (!err && printk_bpf__attach(h->bpf))
		err = errno;
	if (err) {
		log_write_lines(&attaching, LOG_LEVEL_WARN, bpf_error_log(),
				"cannot hook printk: %s; %s. Faults are read from the kernel log "
				"only",
				bpf_reason(err), bpf_advice(err));
		goto failed;
	}
	h->ring = ring_buffer__new(bpf_map__fd(h->bpf->maps.printk_ring), on_event, h, NULL);
	if (!h->ring) {
		err = errno;
		log_warn(&attaching, "cannot read the printk hook's buffer: %s", strerror(err));
		goto failed;
	}
	bpf_object_memory(h->bpf->obj, &h->memory);
	return h;
failed:
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
	kernel_log_mark_free(&h->begin);
	printk_origins_free(&h->origins);
	free(h);
}

int printk_hook_try(void)
{
	const struct log silent = { .quiet = true };
	struct printk_hook *h = printk_hook_new(&silent, true, NULL);
	int result;

	if (!h)
		return -errno;
	if (!print_message())
		ring_buffer__consume(h->ring);
	result = h->callers_known;
	printk_hook_free(h);
	return result;
}

int printk_hook_fd(const struct printk_hook *h)
{
	return h ? ring_buffer__epoll_fd(h->ring) : -1;
}

void printk_hook_snapshot(const struct printk_hook *h, struct self *self)
{
	snapshot_hook(self, "printk_console", h);
	if (!h)
		return;
	self->map_bytes += h->memory.maps;
	self->program_bytes += h->memory.programs;
	bpf_hooks_count(&(struct bpf_hooks){ .skeleton = h->bpf }, 0, snapshot_program, self);
	snapshot_drop(self, "printk", count_dropped(h));
	/* Those for which there was room, which is kept for the driver's: none of its modules was on their stack. */
	snapshot_drop(self, "printk_others",
		      h->bpf->bss->printk_others_dropped + h->stream->others_crowded);
}
