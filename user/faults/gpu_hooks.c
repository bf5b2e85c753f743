// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Everything that detects faults, and the order in which it is read. */
#include "faults/gpu_hooks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "faults/prove/fault_stream.h"
#include "faults/state_file.h"
#include "faults/trace_events.h"
#include "kernel/kernel_log.h"
#include "kernel/module_events.h"
#include "faults/prove/printk_hook.h"
#include "faults/prove/printk_origin.h"

/* Records read at a time, and for how long, so that a storm does not delay the other work. What
 * was there before the start is read in one go. */
#define LOG_BATCH 20000
#define LOG_BATCH_NS 100000000ull

/* How often to try to measure how the clocks differ, at the start. */
#define CLOCK_TRIES 10

/* A clock that is adjusted by less was not set. */
#define CLOCK_STEP_SECONDS 0.1

/* How long to wait until what could not be attached is tried again. */
#define RETRY_NS (60 * 1000000000ull)

/* How often reading the log may fail in turn, at the polls, until it is closed. */
#define LOG_FAILURES 10

/* How long the log is read at the end. */
#define LAST_NS 300000000ull

struct gpu_hooks {
	const struct log *log;
	const struct gpu_options *options;
	struct fault_stream stream;
	struct faults faults;
	struct kernel_log kernel_log;
	struct kernel_log_mark start, hooked; /* before all hooks, before the printk hook */
	int log_failures; /* in turn */
	bool log_paused; /* until the next poll, because reading it has failed */
	bool log_outran; /* the last batch has lost records: they come faster than they are read */
	struct printk_hook *printk; /* NULL: not attached */
	uint64_t printk_dropped; /* by the hook, so far */
	struct printk_origins origins;
	struct gpu_holders holders;
	int uevents; /* -1: not open */
	uint64_t uevents_read_ns; /* what comes from it has happened since then */
	ino_t driver; /* module_number() */
	struct trace_events *trace; /* NULL: not attached */
	int trace_error; /* why not */
	uint64_t retry_ns; /* CLOCK_MONOTONIC: when to try again what is missing */
	unsigned int retries;
	struct state_file state;
	int epoll;
	bool started;
};

/* The clock is wrong on many nodes while they boot. Faults are kept by their time since
 * the boot, so when it is set, all their times move, and their order stays. */
static void follow_clock(struct gpu_hooks *g)
{
	struct clock_offsets *known = &g->stream.events.clocks, clocks;
	double step;

	if (!clock_offsets_read(&clocks))
		return;
	known->monotonic_to_boot = clocks.monotonic_to_boot;
	step = clocks.boot_to_wall - known->boot_to_wall;
	if (fabs(step) < CLOCK_STEP_SECONDS)
		return;
	log_info(g->log, "the clock was set: moving the times of faults by %.3f s", step);
	known->boot_to_wall = clocks.boot_to_wall;
}

/* ---- what comes in ---- */

/* A lack of memory or descriptors ends; what the kernel hides it goes on hiding. */
static bool is_passing(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -EIO;
}

static void read_origins(struct gpu_hooks *g)
{
	uint64_t *since = &g->stream.origins_ns;
	int before = g->origins.error;

	if (*since == UINT64_MAX)
		return;
	if (!printk_origins_read(&g->origins, "", monotonic_ns())) {
		/* Until then its messages were not told from others. */
		if (printk_hook_protect(g->printk, &g->origins))
			g->stream.gap_ns = monotonic_ns();
		return;
	}
	printk_hook_protect(g->printk, NULL);
	if (!is_passing(g->origins.error))
		*since = UINT64_MAX;
	if (g->origins.error == before)
		return;
	log_warn(g->log,
		 "cannot find out who calls printk: /proc/modules and "
		 "/proc/kallsyms: %s. Fault texts count if the driver reports "
		 "the fault, too, or if they look like its own",
		 g->origins.error == -EPERM ? "addresses are hidden; it needs CAP_SYSLOG and "
					      "kernel.kptr_restrict below 2" :
					      strerror(-g->origins.error));
}

static void on_printk(void *context, const struct printk_event *event)
{
	struct gpu_hooks *g = context;
	size_t depth = event->depth <= PRINTK_STACK ? event->depth : 0;
	enum printk_origin origin = PRINTK_ORIGIN_UNKNOWN;
	const uint64_t *stack = (const uint64_t *)event->stack;
	uint64_t now = monotonic_ns();

	if (printk_origins_stale(&g->origins, "", stack, depth, event->time, now))
		read_origins(g);
	if (g->stream.origins_ns != UINT64_MAX)
		origin = printk_origin(&g->origins, stack, depth, event->time);
	fault_stream_printk(&g->stream, event, origin, now);
}

static void read_printk(struct gpu_hooks *g)
{
	uint64_t dropped;

	if (!g->printk)
		return;
	printk_hook_consume(g->printk);
	dropped = printk_hook_dropped(g->printk);
	if (dropped != g->printk_dropped)
		g->stream.gap_ns = monotonic_ns();
	g->printk_dropped = dropped;
}

/* Notes which driver is loaded: another one has another number. Returns whether one was. */
static bool driver_was_loaded(struct gpu_hooks *g)
{
	ino_t before = g->driver;

	g->driver = module_number("", "nvidia");
	return g->driver && g->driver != before;
}

/* Uevents have no time, and a process that was stopped reads them late. */
static void recovered(struct gpu_hooks *g, const char *gpu, const char *evidence)
{
	fault_events_add_recovery(&g->stream.events, gpu, evidence, g->uevents_read_ns,
				  monotonic_ns());
}

static void on_uevent(void *context, const struct uevent *event)
{
	struct gpu_hooks *g = context;

	if (!event->genuine)
		return;
	if (!strncmp(event->path, "/module/", 8))
		read_origins(g);
	if (strcmp(event->action, "add") != 0)
		return;
	if (!strcmp(event->path, "/module/nvidia")) {
		driver_was_loaded(g);
		if (g->options->holders)
			gpu_holders_learn(&g->holders);
		recovered(g, "", "driver_loaded");
		g->retry_ns = 0;
	}
	/* A GPU: a display controller for VGA or 3D. */
	else if (!strcmp(event->subsystem, "pci") && !strncmp(event->pci_id, "10DE:", 5) &&
		 (!strncmp(event->pci_class, "300", 3) || !strncmp(event->pci_class, "302", 3)))
		recovered(g, event->pci_slot, "device_probed");
}

static void read_uevents(struct gpu_hooks *g)
{
	uint64_t begin = monotonic_ns();

	if (g->uevents >= 0 && uevents_read(g->uevents, on_uevent, g)) {
		/* A flood of them has hidden some. */
		read_origins(g);
		if (driver_was_loaded(g))
			recovered(g, "", "driver_loaded");
	}
	g->uevents_read_ns = begin;
}

static void epoll_add(struct gpu_hooks *g, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Reading the log has failed with @err. Until the log can be read again, messages
 * of the printk hook wait for their records, so that no fault counts twice. */
static void pause_log(struct gpu_hooks *g, int err)
{
	struct kernel_log *l = &g->kernel_log;

	g->log_paused = true;
	epoll_ctl(g->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	if (++g->log_failures == 1)
		log_error(g->log, "cannot read the kernel log: %s; will try again every second",
			  strerror(-err));
	if (g->log_failures < LOG_FAILURES)
		return;
	if (g->log_failures == LOG_FAILURES)
		log_error(g->log, "cannot read the kernel log: %s; will try again every minute",
			  strerror(-err));
	kernel_log_close(l);
	g->stream.read_to_ns = 0;
}

static void resume_log(struct gpu_hooks *g)
{
	if (!g->log_paused || g->kernel_log.fd < 0)
		return;
	g->log_paused = false;
	epoll_add(g, g->kernel_log.fd);
}

/* Returns whether all of the log has been read. */
static bool read_log(struct gpu_hooks *g)
{
	struct kernel_log *l = &g->kernel_log;
	uint64_t begin = monotonic_ns(), end = begin + LOG_BATCH_NS, now = 0;
	int n = 0, err = 0;

	g->log_outran = false;
	if (l->fd < 0 || g->log_paused)
		return l->fd < 0;
	while (n < LOG_BATCH && now < end && (err = kernel_log_read(l)) > 0) {
		/* The hook ran before the record could be read. */
		if (printk_marked(l->text, l->record.text_len))
			read_printk(g);
		g->stream.first_record = kernel_log_after(&g->start);
		g->stream.first_message = kernel_log_after(&g->hooked);
		fault_stream_record(&g->stream, &l->record, l->text, monotonic_ns());
		n++;
		if (l->record.sequence >= g->stream.first_record)
			now = monotonic_ns();
	}
	/* What comes from now on has come after the marks. */
	if (!err) {
		g->stream.all_read_ns = begin;
		kernel_log_mark_free(&g->start);
		kernel_log_mark_free(&g->hooked);
	}
	g->log_outran = l->lost;
	g->faults.counts.faults.log_lost += l->lost;
	l->lost = 0;
	if (err < 0) {
		pause_log(g, err);
		return l->fd < 0;
	}
	if (g->log_failures)
		log_info(g->log, "the kernel log is read again");
	g->log_failures = 0;
	return !err;
}

void gpu_hooks_consume(struct gpu_hooks *g)
{
	uint64_t begin = monotonic_ns();
	bool all;

	follow_clock(g);
	read_uevents(g);
	/* In this order, because the driver prints before it reports. In a storm
	 * the rest of the log comes first: more reports would come than can wait
	 * for their texts. But the end of a log that outruns its reader never comes. */
	all = read_log(g);
	read_printk(g);
	if (!all && !g->log_outran)
		return;
	if (g->trace)
		trace_events_consume(g->trace);
	fault_stream_expire(&g->stream, begin, false);
}

/* The end: the log last, so that it has the texts of everything that the hooks
 * reported. A log that grows faster than it is read is left to the next run. */
static void consume_last(struct gpu_hooks *g)
{
	uint64_t end = monotonic_ns() + LAST_NS;
	bool all;

	gpu_hooks_consume(g);
	do
		all = read_log(g);
	while (!all && monotonic_ns() < end);
	if (all)
		fault_stream_expire(&g->stream, monotonic_ns(), true);
}

/* ---- attaching ---- */

static void open_log(struct gpu_hooks *g)
{
	int err = kernel_log_open(&g->kernel_log,
				  g->options->replay ? KERNEL_LOG_ALL : KERNEL_LOG_NEW);

	if (err)
		log_warn(g->log,
			 "cannot read /dev/kmsg: %s; faults from before the start will be missing. "
			 "It needs CAP_SYSLOG and, in a container, the device",
			 strerror(-err));
}

/*
 * After it could not be read. What the printk hook has had meanwhile has counted without
 * its record, so those records are left out; without the hook reading goes on where it
 * has ended.
 */
static void reopen_log(struct gpu_hooks *g)
{
	struct kernel_log *l = &g->kernel_log;
	bool all = g->options->replay && !g->printk, begun = l->begun;
	uint64_t next = l->next;
	int err = kernel_log_open(l, all ? KERNEL_LOG_ALL : KERNEL_LOG_NEW);

	if (begun)
		kernel_log_resume(l, next);
	if (err)
		return;
	log_info(g->log, "/dev/kmsg is open");
	g->log_paused = false;
	epoll_add(g, l->fd);
}

/* What the hook detects from now on has a known origin, if the kernel shows who
 * called printk. */
static void follow_origins(struct gpu_hooks *g)
{
	struct utsname uts;

	if (!g->printk || uname(&uts) || !printk_hook_has_every_message(uts.release))
		return;
	g->stream.origins_ns = monotonic_ns();
	read_origins(g);
}

static void attach_printk(struct gpu_hooks *g, const struct log *log)
{
	g->printk = printk_hook_new(log, &g->hooked, on_printk, g);
	if (!g->printk)
		return;
	follow_origins(g);
	epoll_add(g, printk_hook_fd(g->printk));
}

static void attach_trace(struct gpu_hooks *g)
{
	g->trace = trace_events_new(g->log, &g->stream, &g->trace_error);
	if (g->trace)
		epoll_add(g, trace_events_fd(g->trace));
}

/* Tries again what is missing: tracefs may have been mounted, a limit raised. Loading BPF
 * may cost milliseconds before the kernel refuses it, so that is tried after 1, 2, 4, 8,
 * ... minutes only. */
static void retry(struct gpu_hooks *g)
{
	bool driver_loaded = !g->retry_ns;
	struct log quiet = *g->log;

	quiet.quiet = true;
	g->retry_ns = monotonic_ns() + RETRY_NS;
	g->retries++;
	if (!g->trace)
		attach_trace(g);
	if (!g->printk && (driver_loaded || !(g->retries & (g->retries - 1)))) {
		attach_printk(g, &quiet);
		if (g->printk)
			log_info(g->log, "the printk hook is attached");
	}
	if (g->kernel_log.fd < 0)
		reopen_log(g);
}

static void save_state(struct gpu_hooks *g)
{
	state_file_save(&g->state, &g->faults, g->kernel_log.next,
			g->stream.events.clocks.boot_to_wall);
}

void gpu_hooks_state_lost(struct gpu_hooks *g)
{
	state_file_lost(&g->state);
}

void gpu_hooks_poll(struct gpu_hooks *g)
{
	resume_log(g);
	if (monotonic_ns() >= g->retry_ns)
		retry(g);
	gpu_hooks_consume(g);
	if (g->trace)
		trace_events_poll(g->trace);
	gpu_holders_poll(&g->holders);
	/* If only the log has grown, that can wait for the snapshot. */
	if (state_file_changed(&g->state, &g->faults))
		save_state(g);
}

static void add_runs(void *snapshot, const char *program, uint64_t runs, uint64_t ns)
{
	snapshot_program(snapshot, program, runs, ns);
}

int gpu_hooks_snapshot(struct gpu_hooks *g, struct snapshot *s)
{
	const struct clock_offsets *clocks = g ? &g->stream.events.clocks : NULL;

	snapshot_hook(&s->self, "kernel_log", g && g->kernel_log.fd >= 0);
	snapshot_hook(&s->self, "printk_console", g && g->printk);
	snapshot_hook(&s->self, "trace_instance", g && g->trace);
	if (!g)
		return 0;
	gpu_hooks_consume(g);
	save_state(g);
	if (g->printk) {
		s->self.map_bytes += printk_hook_memory(g->printk)->maps;
		s->self.program_bytes += printk_hook_memory(g->printk)->programs;
		bpf_object_runs(printk_hook_object(g->printk), add_runs, s);
		snapshot_drop(&s->self, "printk", printk_hook_dropped(g->printk));
		snapshot_drop(&s->self, "printk_others",
			      printk_hook_others_dropped(g->printk) + g->stream.others_crowded);
	}
	if (g->trace)
		trace_events_snapshot(g->trace, s);
	snapshot_drop(&s->self, "printk_crowded", g->stream.crowded);
	g->faults.counts.faults.gpu_watched = g->printk || g->kernel_log.fd >= 0;
	return faults_snapshot(&g->faults,
			       &(struct fault_clock){ clocks->boot_to_wall,
						      boot_seconds(clocks, monotonic_ns()),
						      g->options->window },
			       s);
}

/* ---- beginning and end ---- */

static void init_stream(struct gpu_hooks *g)
{
	g->stream = (struct fault_stream){
		.events = {
			.faults = &g->faults,
			.handle = g->options->handle,
			.context = g->options->context,
			.policy = g->options->policy,
			.log = g->log,
			.holders = g->options->holders ? &g->holders : NULL,
			.started_ns = monotonic_ns(),
			.uevents_ns = UINT64_MAX,
		},
		.origins_ns = UINT64_MAX,
		.accept_user_kmsg = g->options->accept_user_kmsg,
	};
	for (int i = 0; i < SIGNALS; i++)
		g->stream.events.enabled_ns[i] = UINT64_MAX;
	for (int i = 0; i < CLOCK_TRIES; i++)
		if (clock_offsets_read(&g->stream.events.clocks))
			break;
}

static void init_uevents(struct gpu_hooks *g)
{
	g->uevents = module_events_open();
	driver_was_loaded(g);
	g->uevents_read_ns = monotonic_ns();
	if (g->uevents >= 0)
		g->stream.events.uevents_ns = g->uevents_read_ns;
	else
		log_info(g->log,
			 "cannot read the kernel's uevents: %s; that the "
			 "driver was loaded is detected by its text",
			 strerror(-g->uevents));
}

struct gpu_hooks *gpu_hooks_new(const struct log *log, const struct gpu_options *options)
{
	struct gpu_hooks *g = calloc(1, sizeof(*g));
	int err = ENOMEM;
	uint64_t next;

	if (!g)
		goto failed;
	g->log = log;
	g->options = options;
	g->kernel_log.fd = -1;
	g->start.fd = g->hooked.fd = -1;
	g->uevents = -1;
	g->holders.pipe = -1;
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	init_stream(g);
	if (g->epoll < 0)
		goto failed;
	open_log(g);
	state_file_init(&g->state, log, options->state);
	/* Even if the log cannot be read now: the next run may read it. */
	if (state_file_load(&g->state, &g->faults, &next))
		kernel_log_resume(&g->kernel_log, next);
	/* All hooks before the log is read: then they overlap, so that what comes
	 * twice is detected. */
	kernel_log_mark(&g->start);
	init_uevents(g);
	attach_trace(g);
	attach_printk(g, log);
	err = g->printk ? 0 : errno;
	if (!g->printk && !g->trace && g->kernel_log.fd < 0 && err == EPERM)
		goto failed;
	if (options->holders)
		gpu_holders_learn(&g->holders);
	g->retry_ns = monotonic_ns() + RETRY_NS;
	epoll_add(g, g->uevents);
	epoll_add(g, g->kernel_log.fd);
	g->started = true;
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
	if (g->started) {
		consume_last(g);
		save_state(g);
	}
	trace_events_free(g->trace);
	printk_hook_free(g->printk);
	printk_origins_free(&g->origins);
	gpu_holders_free(&g->holders);
	if (g->uevents >= 0)
		close(g->uevents);
	fault_stream_free(&g->stream);
	faults_free(&g->faults);
	kernel_log_close(&g->kernel_log);
	kernel_log_mark_free(&g->start);
	kernel_log_mark_free(&g->hooked);
	if (g->epoll >= 0)
		close(g->epoll);
	free(g);
}

int gpu_hooks_fd(const struct gpu_hooks *g)
{
	return g->epoll;
}
