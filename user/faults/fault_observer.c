// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "faults/fault_observer.h"

#include <fcntl.h>
#include <math.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "kernel/kernel_log.h"

/* Records read at a time, and for how long: a storm must not delay the other work. Records from before the start are read in one go. */
#define LOG_BATCH 20000
#define LOG_BATCH_NS 100000000ull

#define CLOCK_STEP_SECONDS 0.1 /* a clock that is adjusted by less was not set */
/* Until the driver is looked for again if nobody tells of modules. */
#define LOOK_NS (20 * 1000000000ull)
#define RETRY_NS (60 * 1000000000ull) /* until a hook that could not be attached is tried again */
#define LAST_NS 300000000ull /* the log is read for so long at the end ... */
#define SETTLE_NS 50000000ull /* ... and before the state is saved */

struct fault_observer {
	const struct log *log;
	const struct fault_options *options;
	struct faults faults;
	struct fault_events events;
	struct fault_authority authority;
	struct kernel_log kernel_log;
	struct kernel_log_mark start; /* before all hooks */
	bool log_failed; /* it was open, and could not be read; said once */
	struct printk_hook *printk; /* NULL: not attached */
	int printk_error; /* errno: why it is not attached; ENOTSUP: this kernel does not show who prints, which is no fault of the hook */
	struct gpu_holders holders;
	struct spinners spinners;
	uint64_t modules; /* printk_driver_modules() at the last look */
	uint64_t look_ns; /* when the next look is due */
	struct trace_events trace;
	uint64_t retry_ns; /* CLOCK_MONOTONIC: when to try again what is missing */
	unsigned int retries;
	struct state_file state;
	int epoll;
	bool started;
};

/* The clock is wrong on many nodes while they boot. Faults are kept by their time since
 * the boot, so when it is set, all their times move, and their order stays. */
static void follow_clock(struct fault_observer *g)
{
	struct clock_offsets *known = &g->events.clocks, clocks;
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

/* The driver's modules may have come or gone since the last look. */
static void look_for_driver(struct fault_observer *g)
{
	uint64_t modules = printk_driver_modules("");

	g->look_ns = monotonic_ns() + LOOK_NS;
	if (modules != g->modules) {
		if (g->options->holders)
			gpu_holders_learn(&g->holders);
		g->retry_ns = 0;
	}
	g->modules = modules;
	if (modules)
		g->faults.driver = DRIVER_THIS_BOOT;
	/* It is "coming" while it loads. */
	if (g->events.load_begin_ns && file_begins("/sys/module/nvidia/initstate", "live"))
		fault_events_loaded(&g->events);
}

/* Passes on what the authorities have reported until now. */
static void drain_reports(void *context)
{
	struct fault_observer *g = context;

	printk_hook_consume(g->printk);
	trace_events_consume(&g->trace);
}

/* Without the callers of printk the hook proves nothing. */
static void ask_hook(struct fault_observer *g)
{
	int err = printk_hook_ask(g->printk);

	if (!err)
		return;
	printk_hook_free(g->printk);
	g->printk = NULL;
	g->printk_error = -err;
}

/* Reads at most @batch records. Returns whether all of the log has been read. */
static bool read_log(struct fault_observer *g, int batch)
{
	struct kernel_log *l = &g->kernel_log;
	uint64_t begin = monotonic_ns(), end = begin + LOG_BATCH_NS, now = 0;
	int n = 0, err = 1;

	if (l->fd < 0)
		return true;
	while (n < batch && now < end && (err = kernel_log_read(l)) > 0) {
		enum record_age age = l->record.sequence < kernel_log_after(&g->start) ?
					      RECORD_BEFORE_START :
					      printk_hook_age(g->printk, l->record.sequence);

		fault_authority_record(&g->authority, &l->record, l->text, age, monotonic_ns());
		n++;
		if (age != RECORD_BEFORE_START)
			now = monotonic_ns();
	}
	/* What comes from now on has come after the start. */
	if (!err) {
		fault_authority_all_read(&g->authority, begin);
		kernel_log_mark_free(&g->start);
		ask_hook(g);
	}
	g->faults.counts.log_lost += l->lost;
	l->lost = 0;
	if (err < 0) {
		if (!g->log_failed)
			log_error(g->log,
				  "cannot read the kernel log: %s; will try again every minute",
				  strerror(-err));
		kernel_log_close(l);
	}
	if (n || err < 0)
		g->log_failed = err < 0;
	return err <= 0;
}

void fault_observer_consume(struct fault_observer *g)
{
	uint64_t begin = monotonic_ns();

	follow_clock(g);
	/* A message counts before the log is read, which may take a while. */
	if (g->kernel_log.fd < 0)
		ask_hook(g);
	if (g->kernel_log.fd < 0 || !fault_authority_crowded(&g->authority))
		printk_hook_consume(g->printk);
	read_log(g, LOG_BATCH);
	trace_events_consume(&g->trace);
	fault_authority_expire(&g->authority, begin);
}

/* Saves the state once the log has been read up to where the authority has counted, so that the next run goes on from
 * there. In a storm that may fail: then the state that was saved before stays valid. */
static void save_state(struct fault_observer *g)
{
	uint64_t end = monotonic_ns() + SETTLE_NS;
	bool all = g->kernel_log.fd < 0;

	while (!all && !fault_authority_settled(&g->authority) && monotonic_ns() < end)
		all = read_log(g, 1);
	if (g->kernel_log.fd < 0 || fault_authority_settled(&g->authority))
		state_file_save(&g->state, &g->faults,
				g->kernel_log.fd >= 0 ? g->kernel_log.next : STATE_LOG_NOT_READ,
				g->events.clocks.boot_to_wall);
}

/* Ends. The log keeps what is reported from now on. If it grows faster than it is read, the rest is left to the next run. */
static void consume_last(struct fault_observer *g)
{
	uint64_t end = monotonic_ns() + LAST_NS;
	bool all;

	fault_observer_consume(g);
	/* A message that has counted is in the log a moment later. Without its record the state would have it twice. */
	do {
		all = read_log(g, LOG_BATCH);
		trace_events_consume(&g->trace);
	} while ((!all || !fault_authority_settled(&g->authority)) && monotonic_ns() < end);
	if (all)
		fault_authority_expire(&g->authority, UINT64_MAX);
	save_state(g);
}

/* ---- attaching ---- */

/* Continues after the records that an earlier run has read. Holds even if the log can be read only later. */
static void open_log(struct fault_observer *g)
{
	struct kernel_log *l = &g->kernel_log;
	bool known = state_file_load(&g->state, &g->faults, &l->next);
	bool all = g->options->replay && l->next != STATE_LOG_NOT_READ;
	int err;

	l->begun = known && all;
	err = kernel_log_open(l, all);
	if (err)
		log_warn(g->log,
			 "cannot read /dev/kmsg: %s; faults that only it has, such as those from "
			 "before the start, will be missing. It needs CAP_SYSLOG, "
			 "kernel.printk_devkmsg other than off and, in a container, the device",
			 strerror(-err));
}

/* Opens the log again after it could not be read. Messages of the printk hook have counted meanwhile: their records are left
 * out. Without the hook, reading continues where it ended. */
static void reopen_log(struct fault_observer *g)
{
	bool hook = g->authority.in_force == AUTHORITY_HOOK;

	if (kernel_log_open(&g->kernel_log, g->options->replay && !hook))
		return;
	if (!g->log_failed)
		log_info(g->log, "/dev/kmsg is open");
	file_watch(g->epoll, g->kernel_log.fd);
}

static void attach_printk(struct fault_observer *g, bool quiet)
{
	g->printk = printk_hook_new(g->log, quiet, &g->authority, g->epoll);
	g->printk_error = g->printk ? 0 : errno;
}

/* The verifier would refuse it again, at the same cost. */
static bool may_attach_printk(const struct fault_observer *g)
{
	int err = g->printk_error;

	return err && err != E2BIG && err != EACCES && err != EINVAL && err != ENOTSUP;
}

/* Tries again what is missing: tracefs may have been mounted, a limit raised. Loading BPF may cost milliseconds
 * before the kernel refuses it: that is tried after 1, 2, 4, 8, ... minutes only. */
static void retry(struct fault_observer *g)
{
	bool load = !g->retry_ns;

	g->retry_ns = monotonic_ns() + RETRY_NS;
	g->retries++;
	load |= !(g->retries & (g->retries - 1));
	if (load)
		trace_events_load(&g->trace, true);
	if (load && may_attach_printk(g)) {
		attach_printk(g, true);
		if (g->printk)
			log_info(g->log, "the printk hook is attached");
	}
	if (g->kernel_log.fd < 0)
		reopen_log(g);
}

void fault_observer_state_lost(struct fault_observer *g)
{
	g->state.lost = true;
}

void fault_observer_poll(struct fault_observer *g, bool modules)
{
	uint64_t now = monotonic_ns();
	struct epoll_event event;

	/* What a hook drops is in the log. */
	if (epoll_wait(g->epoll, &event, 1, 0) != 0) {
		fault_observer_consume(g);
	} else {
		follow_clock(g);
		if (g->kernel_log.fd >= 0)
			fault_authority_all_read(&g->authority, now);
		fault_authority_expire(&g->authority, now);
	}
	if (modules || now >= g->look_ns || g->events.load_begin_ns)
		look_for_driver(g);
	if (monotonic_ns() >= g->retry_ns)
		retry(g);
	trace_events_poll(&g->trace, !printk_hook_undecided(g->printk) &&
					     g->authority.in_force != AUTHORITY_HOOK);
	gpu_holders_poll(&g->holders);
	if (g->options->spinners)
		spinners_look(&g->spinners, &g->events, monotonic_ns());
	/* If only the log has grown, that can wait for the snapshot. */
	if (state_file_changed(&g->state, &g->faults))
		save_state(g);
}

void fault_observer_gpus(struct fault_observer *g, const char (*gpus)[PCI_ADDRESS_SIZE],
			 size_t count)
{
	if (g)
		fault_events_add_gpus(&g->events, gpus, count, monotonic_ns());
}

void fault_observer_hang(struct fault_observer *g, int pid, const char *module,
			 const char *function, uint64_t since_ns, bool again)
{
	if (g)
		fault_events_add_task(&g->events, module, pid, function, since_ns, again);
}

bool fault_observer_had_driver(const struct fault_observer *g)
{
	return g && g->faults.driver;
}

void fault_observer_snapshot(struct fault_observer *g, struct snapshot *s)
{
	struct fault_clock clock;

	if (g) {
		fault_observer_consume(g);
		save_state(g);
	}
	snapshot_hook(&s->self, "kernel_log", g && g->kernel_log.fd >= 0);
	if (!g || g->printk_error != ENOTSUP)
		snapshot_hook(&s->self, "printk_console", g && printk_hook_shows(g->printk));
	printk_hook_snapshot(g ? g->printk : NULL, &s->self);
	trace_events_snapshot(g ? &g->trace : NULL, &s->self);
	if (!g)
		return;
	s->self.map_bytes += g->spinners.memory.maps;
	s->self.program_bytes += g->spinners.memory.programs;
	g->faults.counts.gpu_watched = g->kernel_log.fd >= 0 ||
				       g->authority.in_force != AUTHORITY_LOG ||
				       printk_hook_shows(g->printk);
	clock = (struct fault_clock){ g->events.clocks.boot_to_wall,
				      boot_seconds(&g->events.clocks, monotonic_ns()) };
	faults_snapshot(&g->faults, &clock, &s->faults);
}

/* ---- beginning and end ---- */

static void init_events(struct fault_observer *g)
{
	g->events = (struct fault_events){
		.faults = &g->faults,
		.handle = g->options->handle,
		.context = g->options->context,
		.policy = g->options->policy,
		.log = g->log,
		.holders = g->options->holders ? &g->holders : NULL,
		.started_ns = monotonic_ns(),
	};
	clock_offsets_read(&g->events.clocks);
	g->authority = (struct fault_authority){ .events = &g->events,
						 .accept_user_kmsg = g->options->accept_user_kmsg,
						 .drain = drain_reports,
						 .context = g };
	g->trace = (struct trace_events){
		.log = g->log, .authority = &g->authority, .counted = &g->events, .epoll = g->epoll
	};
}

struct fault_observer *fault_observer_new(const struct log *log,
					  const struct fault_options *options, int epoll)
{
	struct fault_observer *g = calloc(1, sizeof(*g));
	int err = ENOMEM;
	bool traced;

	if (!g)
		goto failed;
	g->log = log;
	g->options = options;
	g->kernel_log.fd = -1;
	g->start.fd = -1;
	g->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (g->epoll < 0)
		goto failed;
	init_events(g);
	g->state = (struct state_file){ .log = log, .store = options->state };
	if (kernel_log_offset(&g->authority.log_offset_ns))
		log_debug(log, "the kernel log's clock is off by %lld ns",
			  (long long)g->authority.log_offset_ns);
	open_log(g);
	/* All hooks before the log is read: what is printed meanwhile is in it. */
	kernel_log_mark(&g->start);
	traced = trace_events_load(&g->trace, false);
	attach_printk(g, false);
	err = g->printk_error;
	if (err == EPERM && !traced && g->kernel_log.fd < 0) {
		log_error(log, "faults are not observed: this process may neither read /dev/kmsg "
			       "nor load BPF programs");
		if (options->alone)
			goto failed;
	}
	g->modules = printk_driver_modules("");
	if (options->holders)
		gpu_holders_learn(&g->holders);
	g->retry_ns = monotonic_ns() + RETRY_NS;
	file_watch(g->epoll, g->kernel_log.fd);
	file_watch(epoll, g->epoll);
	g->started = true;
	return g;
failed:
	fault_observer_free(g);
	errno = err;
	return NULL;
}

void fault_observer_free(struct fault_observer *g)
{
	if (!g)
		return;
	if (g->started)
		consume_last(g);
	trace_events_free(&g->trace);
	printk_hook_free(g->printk);
	gpu_holders_free(&g->holders);
	spinners_free(&g->spinners);
	fault_authority_free(&g->authority);
	faults_free(&g->faults);
	kernel_log_close(&g->kernel_log);
	kernel_log_mark_free(&g->start);
	file_close(&g->epoll);
	free(g);
}

/* ---- what the kernel offers to it ---- */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar ..." in the file that is older than /sys/module/nvidia/version. */
static void read_version(struct fault_offer *f, const char *root)
{
	char line[256];
	struct span s = { line, line };

	if (file_first_line(PATHF("%s/sys/module/nvidia/version", root), f->driver_version,
			    sizeof(f->driver_version)))
		return;
	file_first_line(PATHF("%s/proc/driver/nvidia/version", root), line, sizeof(line));
	s.end = line + strlen(line);
	if (!span_take_through(&s, "Kernel Module"))
		return;
	span_take_until(&s, "0123456789");
	span_copy(span_take_until(&s, " "), f->driver_version, sizeof(f->driver_version));
}

void fault_offer_read(struct fault_offer *f, const char *root, int every_message)
{
	/* access() knows nothing of dmesg_restrict. */
	OPEN_FILE kmsg = kernel_log_device(root, O_RDONLY | O_NONBLOCK);

	*f = (struct fault_offer){ .every_message = every_message };
	f->log = kmsg >= 0;
	f->log_off = file_begins(PATHF("%s/proc/sys/kernel/printk_devkmsg", root), "off");
	f->driver = !access(PATHF("%s/sys/module/nvidia", root), F_OK);
	if (f->driver)
		read_version(f, root);
	f->driver_event = driver_has_event(root);
	f->authority = every_message == PRINTK_SHOWN ? AUTHORITY_HOOK :
		       f->driver_event               ? AUTHORITY_DRIVER :
						       AUTHORITY_LOG;
}
