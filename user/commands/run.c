// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope run`: observes, and writes the metrics file every interval. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/output_file.h"
#include "commands/commands.h"
#include "commands/exit_codes.h"
#include "commands/loop.h"
#include "commands/observer.h"
#include "commands/options.h"
#include "health/health.h"
#include "kernel/bpf_support.h"
#include "kernel/mounts.h"
#include "model/fold.h"
#include "xid/xid_policy.h"

struct agent {
	const struct options *options;
	struct observer observer;
	struct output_file output;
	double attach_seconds;
	uint64_t export_errors;
	double export_seconds;
	int last_error; /* result of the last write: logged when it changes */
	bool started; /* the first write has succeeded */
};

static double monotonic_seconds(void)
{
	return (double)monotonic_ns() / 1e9;
}

static const char *write_advice(int error)
{
	switch (error) {
	case ENOENT:
		return "create the folder, or name another --output";
	case EROFS:
		return "name another --output, or under systemd list its folder in "
		       "ReadWritePaths= of the unit";
	case EACCES:
	case EPERM:
		return "make the folder writable, or name another --output";
	case ENOSPC:
	case EDQUOT:
		return "free some space";
	case EBUSY:
		return "another agent writes it; stop one of the two";
	default:
		return "check that the folder can be written to";
	}
}

/* Logs the result of a write, an errno or 0, if it differs from the last one's. */
static void log_write_result(struct agent *a, int error)
{
	const struct log *log = &a->options->log;

	if (error)
		a->export_errors++;
	if (!error && !a->started) {
		a->started = true;
		log_info(log, "started in %.0f ms, writing %s every %g s", a->attach_seconds * 1e3,
			 a->output.path, a->options->interval);
	}
	if (error == a->last_error)
		return;
	if (error)
		log_error(log,
			  "cannot write %s: %s; %s. Will try again every "
			  "%g seconds",
			  a->output.path, strerror(error), write_advice(error),
			  a->options->interval);
	else
		log_info(log, "%s is written again", a->output.path);
	a->last_error = error;
}

/* Adds the verdict by the default rules: a site sets its own as options of `check`. */
static void add_health(struct snapshot *s)
{
	struct health_options options;
	struct health_report report;

	health_defaults(&options);
	health_evaluate(s, &options, wall_seconds(), &report);
	health_to_snapshot(&report, &options, s);
}

/* Takes a snapshot and writes the metrics file. Returns 0 or -errno. */
static int export(struct agent *a)
{
	struct snapshot s = {};
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int err;

	err = observer_snapshot(&a->observer, &s);
	if (!err) {
		snapshot_fold(&s, a->options->max_series);
		add_health(&s);
		s.export_seconds = a->export_seconds;
		s.export_errors = a->export_errors;
		out = open_memstream(&text, &size);
		if (out) {
			openmetrics_write(out, &s, a->options->format);
			if (fclose(out))
				err = -errno;
		} else {
			err = -errno;
		}
	}
	snapshot_free(&s);
	if (!err)
		err = output_file_write(&a->output, text, size);
	free(text);
	return err;
}

static void on_tick(void *context)
{
	double begin = monotonic_seconds();
	struct agent *a = context;

	log_write_result(a, -export(a));
	a->export_seconds = monotonic_seconds() - begin;
}

/* Returns a descriptor to close at the end, or -1. */
static int count_program_runs(const struct options *options)
{
	int fd;

	if (!options->program_stats)
		return -1;
	fd = bpf_statistics_on();
	if (fd < 0)
		log_warn(&options->log,
			 "the kernel does not count runs of BPF programs: %s; "
			 "those metrics will be missing",
			 strerror(-fd));
	return fd;
}

/* Prepares the metrics file. Returns 0 or the exit code of a failure. */
static int open_output(struct agent *a)
{
	const char *path = a->options->output;
	const struct log *log = &a->options->log;
	char source[256];

	if (output_file_init(&a->output, path)) {
		log_error(log, "no memory");
		return EXIT_TROUBLE;
	}
	if (strcmp(path, "-") != 0 && mounts_find_nfs("", path, source, sizeof(source)))
		log_warn(log,
			 "%s is on NFS (%s): if that server stops answering, the agent hangs; "
			 "name an --output on a local file system",
			 path, source);
	if (output_file_lock(&a->output) == -EBUSY) {
		log_error(log, "another agent writes %s: stop it, or name another --output", path);
		return EXIT_LOCKED;
	}
	return 0;
}

/* Observes and writes until the end. Returns the exit code. */
static int observe(struct agent *a, const struct gpu_options *gpu)
{
	const struct loop_handler handler = { on_tick, a };
	const struct options *options = a->options;
	double begin = monotonic_seconds();
	int statistics, err;

	err = observer_start(&a->observer, &options->log, options->hooks, options->sources, gpu,
			     options->events);
	if (err)
		return err == -EPERM ? EXIT_PERMISSION : err == -EBUSY ? EXIT_LOCKED : EXIT_TROUBLE;
	statistics = count_program_runs(options);
	a->attach_seconds = monotonic_seconds() - begin;
	on_tick(a);
	err = loop_run(&a->observer, options->interval, options->duration, &handler);
	if (err)
		log_error(&options->log, "the event loop failed: %s", strerror(-err));
	on_tick(a);
	if (statistics >= 0)
		close(statistics);
	if (!a->started && options->duration > 0) {
		log_error(&options->log, "--duration is over and %s was never written",
			  options->output);
		return EXIT_TROUBLE;
	}
	return err ? EXIT_TROUBLE : EXIT_OK;
}

int cmd_run(const struct options *options)
{
	struct agent a = { .options = options };
	struct xid_policy policy = {};
	const struct gpu_options gpu = {
		.replay = true,
		.accept_user_kmsg = options->accept_user_kmsg,
		.state = options->state,
		.policy = &policy,
	};
	int code;

	if (options->xid_policy && xid_policy_load(&policy, options->xid_policy, &options->log))
		return EXIT_TROUBLE;
	loop_block_signals();
	/* A closed pipe is an error of write() and does not end the agent. */
	signal(SIGPIPE, SIG_IGN);
	code = open_output(&a);
	if (!code)
		code = observe(&a, &gpu);
	observer_stop(&a.observer);
	output_file_close(&a.output, options->keep);
	xid_policy_free(&policy);
	return code;
}
