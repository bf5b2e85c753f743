// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All that watches for faults, and what it has in common: files and order. */
#include "faults/gpu_hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "faults/fault_state.h"
#include "faults/fault_stream.h"
#include "base/file_text.h"
#include "kernel/kernel_log.h"
#include "base/output_file.h"
#include "kernel/printk_hook.h"
#include "faults/trace_events.h"

/* Records read at a time, so that a flood does not keep the program from its
 * other work. */
#define LOG_BATCH 20000

/* A clock that is adjusted by less was not set. */
#define CLOCK_STEP_SECONDS 1.0

/* So often at the end: no log has more records. */
#define LAST_BATCHES 64

/* A state file is no longer than this. */
#define STATE_MAX (4 << 20)

struct gpu_hooks {
	const struct log *log;
	const struct gpu_options *options;
	struct fault_stream stream;
	struct faults faults;
	struct kernel_log kernel_log;
	struct printk_hook *printk; /* NULL: not hooked */
	struct trace_events *trace; /* NULL: not watched */
	struct output_file state_file;
	bool has_state; /* there is a state file, and it is ours */
	uint64_t saved_next;
	uint64_t saved_changes;
	int state_error; /* of the last write: said once per change */
	int epoll;
	double clock_origin; /* wall_clock_origin(); 0: not known */
	bool started;
};

static double wall_offset(void)
{
	return wall_seconds() - (double)monotonic_ns() / 1e9;
}

/* Where the clock was wrong until now, as it is on many a node that boots, what
 * is to come must not seem to be from before what was. */
static void follow_clock(struct gpu_hooks *g)
{
	double origin;

	g->stream.wall_offset = wall_offset();
	if (!wall_clock_origin(&origin))
		return;
	if (g->clock_origin != 0 && fabs(origin - g->clock_origin) < CLOCK_STEP_SECONDS)
		return;
	if (g->clock_origin != 0) {
		log_info(g->log,
			 "the clock was set: the times of faults move "
			 "by %.3f s",
			 origin - g->clock_origin);
		faults_shift(&g->faults, origin - g->clock_origin);
	}
	g->clock_origin = origin;
}

/* ---- the state file ---- */

/* All that a change of the counts makes grow. */
static uint64_t changes(const struct gpu_hooks *g)
{
	const struct snapshot *s = &g->faults.counts;
	uint64_t sum = s->gpu_count + s->recovery_count;

	for (size_t i = 0; i < s->fault_count; i++)
		sum += s->faults[i].count;
	for (size_t i = 0; i < s->kernel_event_count; i++)
		sum += s->kernel_events[i].count;
	for (int p = 0; p < FAULT_PATHS; p++)
		sum += s->fault_paths[p];
	return sum;
}

static void save_state(struct gpu_hooks *g)
{
	struct fault_state state = { .next = g->kernel_log.next, .faults = g->faults };
	uint64_t now = changes(g);
	size_t len = 0;
	char *text;
	int err = -ENOMEM;

	if (!g->has_state || (now == g->saved_changes && state.next == g->saved_next))
		return;
	read_boot_id(state.boot);
	text = fault_state_write(&state, &len);
	if (text)
		err = output_file_write(&g->state_file, text, len);
	free(text);
	if (!err) {
		g->saved_changes = now;
		g->saved_next = state.next;
	}
	if (err != g->state_error && err)
		log_error(g->log,
			  "cannot write the state file %s: %s; make its "
			  "directory writable or name another --state. Until "
			  "then a restart counts from the kernel log alone",
			  g->options->state, strerror(-err));
	else if (err != g->state_error)
		log_info(g->log, "the state file %s is written again", g->options->state);
	g->state_error = err;
}

/* A damaged file is kept for whoever wants to know why. */
static void set_aside(struct gpu_hooks *g)
{
	char *path;

	if (asprintf(&path, "%s.damaged", g->options->state) < 0)
		return;
	if (rename(g->options->state, path))
		log_warn(g->log,
			 "the state file %s is damaged, and cannot be "
			 "renamed: %s. It will be overwritten",
			 g->options->state, strerror(errno));
	else
		log_warn(g->log,
			 "the state file was damaged: it is %s now, and "
			 "faults are counted from the kernel log",
			 path);
	free(path);
}

/* Takes over what an earlier run of this boot has counted. */
static void load_state(struct gpu_hooks *g)
{
	char boot[BOOT_ID_SIZE];
	struct fault_state state;
	struct file_text file;
	int err;

	err = file_text_read(&file, g->options->state, STATE_MAX);
	if (err == -ENOENT)
		return;
	if (!err)
		err = fault_state_read(&state, file.bytes, file.len);
	file_text_free(&file);
	if (err == -EINVAL || err == -EFBIG)
		set_aside(g);
	else if (err)
		log_warn(g->log,
			 "cannot read the state file %s: %s; faults are counted "
			 "from the kernel log",
			 g->options->state, file_text_error(err));
	if (err)
		return;
	read_boot_id(boot);
	/* "" is any boot's whose kernel does not say. */
	if (!*boot || strcmp(boot, state.boot) != 0) {
		log_info(g->log,
			 "the state file %s is of an earlier boot: "
			 "counts begin at 0",
			 g->options->state);
		fault_state_free(&state);
		return;
	}
	g->faults = state.faults;
	/* Even if the log cannot be read now: the next run may read it. */
	kernel_log_resume(&g->kernel_log, state.next);
	g->saved_next = state.next;
	g->saved_changes = changes(g);
	log_info(g->log, "went on from the state file %s at record %" PRIu64, g->options->state,
		 state.next);
}

/* Returns 0, or -EBUSY if another program has the file. */
static int open_state(struct gpu_hooks *g)
{
	int err;

	if (!g->options->state)
		return 0;
	if (output_file_init(&g->state_file, g->options->state))
		return -ENOMEM;
	g->has_state = true;
	err = output_file_lock(&g->state_file);
	if (err == -EBUSY) {
		log_error(g->log,
			  "another agent uses the state file %s: stop "
			  "it, or name another --state",
			  g->options->state);
		g->has_state = false;
		return err;
	}
	load_state(g);
	return 0;
}

/* ---- what comes in ---- */

static void on_printk(void *context, const struct printk_event *event)
{
	struct gpu_hooks *g = context;

	fault_stream_printk(&g->stream, event, monotonic_ns());
}

static void read_printk(struct gpu_hooks *g)
{
	if (g->printk)
		printk_hook_consume(g->printk);
}

/* Returns whether all of the log has been read. */
static bool read_log(struct gpu_hooks *g)
{
	struct kernel_log *l = &g->kernel_log;
	int n = 0, err = 0;

	if (l->fd < 0)
		return true;
	while (n < LOG_BATCH && (err = kernel_log_read(l)) > 0) {
		/* The hook ran before the record could be read. */
		if (fault_stream_marked(l->text, l->record.text_len))
			read_printk(g);
		fault_stream_record(&g->stream, &l->record, l->text, monotonic_ns());
		n++;
	}
	g->faults.counts.log_lost += l->lost;
	l->lost = 0;
	if (err < 0) {
		log_error(g->log, "cannot read the kernel log any more: %s", strerror(-err));
		kernel_log_close(l);
		g->stream.read_to_ns = 0;
	}
	return n < LOG_BATCH;
}

void gpu_hooks_consume(struct gpu_hooks *g)
{
	uint64_t begin = monotonic_ns();
	bool all;

	follow_clock(g);
	/* In this order: the driver prints before it reports. In a storm what
	 * is still to be read of the log comes first: else its reports would
	 * crowd each other out before their texts come. */
	all = read_log(g);
	read_printk(g);
	if (!all)
		return;
	if (g->trace)
		trace_events_consume(g->trace);
	fault_stream_expire(&g->stream, begin, false);
}

/* The end: the log last, so that it has the texts of all that the hooks have
 * told. A log that grows faster than it is read is left to the next run. */
static void consume_last(struct gpu_hooks *g)
{
	gpu_hooks_consume(g);
	for (int i = 0; i < LAST_BATCHES; i++) {
		if (!read_log(g))
			continue;
		fault_stream_expire(&g->stream, monotonic_ns(), true);
		return;
	}
}

void gpu_hooks_poll(struct gpu_hooks *g)
{
	gpu_hooks_consume(g);
	if (g->trace)
		trace_events_poll(g->trace);
	event_log_flush(g->stream.events, monotonic_ns(), false);
	/* A growing log alone is no hurry: that waits for the snapshot. */
	if (changes(g) != g->saved_changes)
		save_state(g);
}

void gpu_hooks_reopen(struct gpu_hooks *g)
{
	event_log_reopen(g->stream.events);
}

int gpu_hooks_snapshot(struct gpu_hooks *g, struct snapshot *s)
{
	snapshot_hook(s, "kernel_log", g && g->kernel_log.fd >= 0);
	snapshot_hook(s, "printk_console", g && g->printk);
	snapshot_hook(s, "trace_instance", g && g->trace);
	if (!g)
		return 0;
	gpu_hooks_consume(g);
	save_state(g);
	if (g->printk) {
		printk_hook_snapshot(g->printk, s);
		snapshot_drop(s, "printk", printk_hook_dropped(g->printk));
	}
	if (g->trace)
		trace_events_snapshot(g->trace, s);
	snapshot_drop(s, "unverified", g->stream.unverified);
	snapshot_drop(s, "event_log", event_log_lost(g->stream.events));
	return faults_snapshot(&g->faults, s);
}

/* ---- beginning and end ---- */

static void watch(struct gpu_hooks *g, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(g->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void open_log(struct gpu_hooks *g)
{
	int err = kernel_log_open(&g->kernel_log,
				  g->options->replay ? KERNEL_LOG_ALL : KERNEL_LOG_NEW);

	if (err)
		log_warn(g->log,
			 "cannot read /dev/kmsg: %s; faults from before the "
			 "start will be missing. It needs CAP_SYSLOG and, in a "
			 "container, the device",
			 strerror(-err));
}

struct gpu_hooks *gpu_hooks_new(const struct log *log, const struct gpu_options *options)
{
	struct gpu_hooks *g = calloc(1, sizeof(*g));
	int err = ENOMEM;

	if (!g)
		goto failed;
	g->log = log;
	g->options = options;
	g->kernel_log.fd = -1;
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	g->stream = (struct fault_stream){
		.faults = &g->faults,
		.policy = options->policy,
		.log = log,
		.accept_user_kmsg = options->accept_user_kmsg,
		.started_ns = monotonic_ns(),
		.wall_offset = wall_offset(),
	};
	for (int i = 0; i < SIGNALS; i++)
		g->stream.hook_since_ns[i] = UINT64_MAX;
	g->stream.events = event_log_new(options->events, log);
	if (g->epoll < 0 || !g->stream.events)
		goto failed;
	open_log(g);
	if (open_state(g)) {
		err = EBUSY;
		goto failed;
	}
	g->faults.counts.gpu_watched = true;
	/* All hooks before the log is read: then they overlap, and what comes
	 * twice is known by that. */
	g->trace = trace_events_new(log, &g->stream);
	g->printk = printk_hook_new(log, on_printk, g);
	err = g->printk ? 0 : errno;
	if (!g->printk && g->kernel_log.fd < 0)
		goto failed;
	if (g->printk)
		watch(g, printk_hook_fd(g->printk));
	if (g->trace)
		watch(g, trace_events_fd(g->trace));
	watch(g, g->kernel_log.fd);
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
	if (g->state_file.path)
		output_file_close(&g->state_file, true);
	event_log_free(g->stream.events);
	fault_stream_free(&g->stream);
	faults_free(&g->faults);
	kernel_log_close(&g->kernel_log);
	if (g->epoll >= 0)
		close(g->epoll);
	free(g);
}

int gpu_hooks_fd(const struct gpu_hooks *g)
{
	return g->epoll;
}
