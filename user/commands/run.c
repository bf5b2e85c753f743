// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope run`: observes, and writes the metrics file every interval. */
#include <malloc.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/output_file.h"
#include "base/process.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "commands/agent.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "nfs/mount_settings.h"
#include "writer/writer.h"
#include "xid/xid_line.h"

/* How long the start waits for the files, and the end. The start may be that of a node whose disks are busy. */
#define START_NS 5000000000ull
#define END_NS 600000000ull
#define MESSAGES_NS 200000000ull

struct agent {
	const struct options *options;
	struct observer observer;
	struct writer writer;
	struct state_store state;
	struct event_sink events;
	struct agent_events agent_events;
	struct agent_limits limits;
	struct stuck_tasks stuck;
	struct mount_settings settings;
	struct agent_health health;
	struct snapshot before; /* the last one that was exported */
	struct notify notify;
	enum rpc_source source; /* in force at the last snapshot */
	double written; /* when the file was written last, seconds since the epoch */
	double attach_seconds;
	uint64_t export_errors;
	double snapshot_seconds; /* that the last snapshot took */
	double export_seconds;
	bool started; /* the first write has succeeded */
	bool attached; /* since the last write: most of the program's pages were needed for that alone */
	bool over; /* standard output is for the metrics and has no reader any more */
};

static double monotonic_seconds(void)
{
	return (double)monotonic_ns() / 1e9;
}

static int write_metrics(struct agent *a, const struct snapshot *s)
{
	size_t len = 0;
	char *text = TEXT_OF(len, out,
			     openmetrics_write(out, s, a->options->format, a->options->detail));

	return writer_replace(&a->writer, WRITER_OUTPUT, text, len);
}

/* Takes a snapshot and gives it to be written. Returns 0, or -errno after a message. */
static int export(struct agent *a)
{
	struct snapshot s = {};
	struct delta d = {};
	int err = observer_snapshot(&a->observer, &s);
	uint64_t failed = memory_failed();
	bool counted = false;

	if (!err) {
		stuck_tasks_add(&a->stuck, &a->options->log, &s,
				fault_observer_had_driver(a->observer.gpu), agent_events_stuck,
				&a->agent_events);
		mount_settings_add(&a->settings, "", &s);
		storage_rules_apply(&a->options->storage, &s);
		delta_make(&d, &a->before, &s);
		err = memory_error(failed);
	}
	if (!err) {
		agent_limits_add(&a->limits, &s, &a->before.calls, &d, a->observer.events);
		nfs_watch_add(&a->agent_events.nfs, &d, agent_events_span, &a->agent_events);
		counted = true;
		err = memory_error(failed);
	}
	if (err) {
		log_error(&a->options->log, "cannot read the counts: %s", strerror(-err));
		a->observer.memory_failed = memory_failed(); /* the next one is whole */
	} else {
		agent_health_errors(&a->health, &a->agent_events.nfs);
		snapshot_drop(&s.self, "nfs_watch", a->agent_events.nfs.no_room);
		agent_health_add(&a->health, &a->observer, &s);
		a->attached |= !a->started || a->source != s.calls.source;
		a->source = s.calls.source;
		s.self.export_seconds = a->export_seconds;
		s.self.export_errors = a->export_errors;
		err = write_metrics(a, &s);
	}
	if (counted) {
		snapshot_free(&a->before);
		a->before = s;
	} else {
		snapshot_free(&s);
	}
	delta_free(&d);
	return err;
}

/* One line for `systemctl status`. */
static void send_status(struct agent *a)
{
	int error = a->writer.files[WRITER_OUTPUT].error;
	char headline[256];

	safe_format(headline, sizeof(headline), "%s", a->health.headline.text);
	notify_send(&a->notify, "STATUS=%s Source %s, findings: %zu, %s%s", headline,
		    rpc_source_names[a->source], a->health.findings,
		    error ? "the file is not written: " : "last write ",
		    error ? output_error(error) : UTC_TIME(a->written));
}

static void on_tick(void *context)
{
	double begin = monotonic_seconds();
	struct agent *a = context;
	bool hangs = export(a) || writer_hangs(&a->writer);

	messages_serve();
	a->snapshot_seconds = monotonic_seconds() - begin;
	if (!hangs)
		return; /* the write's result is reported */
	a->export_errors++;
	send_status(a);
}

static void exported(struct agent *a, int err)
{
	malloc_trim(128 << 10); /* most of what the snapshot and its text took */
	if (a->attached)
		memory_drop_program(true);
	a->attached = false;
	a->export_seconds =
		a->snapshot_seconds + (double)a->writer.files[WRITER_OUTPUT].took_ns / 1e9;
	if (err)
		a->export_errors++;
	else
		a->written = wall_seconds();
	a->over |= err == -EPIPE;
	send_status(a);
	if (err || a->started)
		return;
	a->started = true;
	log_info(&a->options->log, "started in %.0f ms, writing %s every %g s",
		 a->attach_seconds * 1e3, a->options->output, a->options->interval);
}

static void on_written(void *context, enum writer_file file, int err)
{
	struct agent *a = context;

	if (file == WRITER_OUTPUT)
		exported(a, err);
	if (file == WRITER_STATE && err && a->observer.gpu)
		fault_observer_state_lost(a->observer.gpu);
}

static void on_answers(void *context)
{
	struct agent *a = context;

	writer_serve(&a->writer);
}

static bool write_state(void *context, const char *text, size_t len, bool damaged)
{
	struct agent *a = context;

	if (damaged)
		a->writer.files[WRITER_STATE].aside = "damaged";
	return !writer_replace(&a->writer, WRITER_STATE, strndup(text, len), len);
}

static void on_alive(void *context)
{
	uint64_t now = monotonic_ns();
	struct agent *a = context;

	notify_alive(&a->notify, now);
	agent_events_alive(&a->agent_events, now);
	agent_health_poll(&a->health, &a->observer, &a->before);
}

/* Starts the processes that write messages and files. They are started before all else: they inherit nothing.
 * Returns 0 or the exit code of a failure. */
static int open_files(struct agent *a)
{
	const struct options *o = a->options;
	const char *const paths[WRITER_FILES] = {
		[WRITER_STATE] = o->hooks & HOOKS_GPU ? o->state : NULL,
		[WRITER_OUTPUT] = o->output,
		[WRITER_EVENTS] = o->events,
	};
	const struct writer_output *state = &a->writer.files[WRITER_STATE];
	int code = 0, err;

	for (int i = 0; i < WRITER_FILES; i++)
		if (!is_local(o, writer_options[i], paths[i], false))
			return EXIT_USAGE;
	err = messages_start() ?: writer_start(&a->writer, &o->log, paths, o->keep, START_NS);
	if (err) {
		log_error(&o->log, "cannot start writing files: %s", strerror(-err));
		return EXIT_TROUBLE;
	}
	a->writer.written = on_written;
	a->writer.context = a;
	for (int i = 0; i < WRITER_FILES && !code; i++)
		code = check_refused(o, writer_options[i], paths[i], a->writer.files[i].open_error);
	a->state =
		(struct state_store){ .path = state->path,
				      .text = a->writer.content.bytes,
				      .len = a->writer.content.len,
				      .write = write_state,
				      .context = a,
				      .error = state->read_error == -ENOENT ? 0 :
									      state->read_error };
	a->events =
		(struct event_sink){ o->events && !strcmp(o->events, "-"), writer_append,
				     &a->writer,
				     o->events && strcmp(o->events, "-") != 0 ? &o->log : NULL };
	return code;
}

/* Also looks at what somebody may have changed by hand. */
static void on_hangup(void *context)
{
	struct agent *a = context;

	a->health.acks.due = true;
	on_tick(a);
}

/* Observes and writes until the end. Returns the exit code. */
static int observe(struct agent *a, const struct fault_options *gpu)
{
	const struct loop_handler handler = { on_tick, on_answers, a->writer.epoll, on_alive,
					      a,       &a->over,   on_hangup };
	const struct options *options = a->options;
	const struct rpc_options rpc = options_rpc(options);
	double begin = monotonic_seconds();
	int err;

	err = observer_start(&a->observer, &options->log, options->hooks, &rpc, gpu,
			     options->events ? &a->events : NULL);
	if (err)
		return err == -EPERM ? EXIT_PERMISSION : EXIT_TROUBLE;
	/* A writer that is started again may need the first, the names of owners the others. */
	observer_drop_capabilities(
		&a->observer,
		CAPABILITY(CAP_DAC_OVERRIDE) |
			(options->owners ? CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SYS_CHROOT) :
					   0));
	a->attach_seconds = monotonic_seconds() - begin;
	a->agent_events.log = options->events ? a->observer.events : NULL;
	a->agent_events.messages = a->events.log;
	a->agent_events.faults = a->observer.gpu;
	agent_events_say(&a->agent_events, "start");
	on_tick(a);
	notify_send(&a->notify, "READY=1");
	err = loop_run(&a->observer, options->interval, options->duration, &handler);
	notify_send(&a->notify, "STOPPING=1");
	if (err)
		log_error(&options->log, "the event loop failed: %s", strerror(-err));
	on_tick(a);
	agent_events_say(&a->agent_events, "stop");
	return err ? EXIT_TROUBLE : EXIT_OK;
}

/* Waits for the last writes, but not for long. Returns @code, unless the file was never written. */
static int finish(struct agent *a, int code)
{
	const struct options *options = a->options;

	writer_finish(&a->writer, END_NS);
	if (code != EXIT_OK || a->started || options->duration <= 0)
		return code;
	log_error(&options->log, "--duration is over and %s was never written", options->output);
	return EXIT_TROUBLE;
}

int cmd_run(const struct options *options)
{
	static struct agent a; /* 90 kB, most of which stay zeros: these take no memory */
	struct xid_policy policy = {};
	struct fault_options gpu = {
		.replay = true,
		.holders = options->events,
		.spinners = true,
		.accept_user_kmsg = options->accept_user_kmsg,
		.policy = &policy,
	};
	int code;

	if (!is_local(options, "--xid-policy", options->xid_policy, false))
		return EXIT_USAGE;
	if (options->xid_policy && xid_policy_load(&policy, options->xid_policy, &options->log))
		return EXIT_TROUBLE;
	a.options = options;
	a.settings.period_ns = MOUNT_SETTINGS_NS;
	loop_block_signals();
	/* A closed pipe and a limit of a file's size are errors of write() and do not end the agent. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	notify_open(&a.notify, &options->log);
	code = open_files(&a) ?: agent_health_open(&a.health, options, &a.limits.headline);
	if (!code) {
		gpu.state = a.state.path ? &a.state : NULL;
		code = observe(&a, &gpu);
	}
	observer_stop(&a.observer);
	agent_limits_free(&a.limits);
	snapshot_free(&a.before);
	free(a.agent_events.nfs.entries);
	stuck_tasks_free(&a.stuck);
	free(a.settings.mounts);
	agent_health_close(&a.health);
	code = finish(&a, code);
	file_close(&a.notify.fd);
	xid_policy_free(&policy);
	messages_finish(MESSAGES_NS);
	return code;
}
