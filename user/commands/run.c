// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope run`: observes, and writes the metrics file every interval. */
#include "commands/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/bpf_support.h"
#include "base/clock.h"
#include "model/fold.h"
#include "health/health.h"
#include "commands/loop.h"
#include "commands/observer.h"
#include "base/output_file.h"
#include "xid/xid_policy.h"

struct agent {
	const struct options *options;
	struct observer observer;
	struct output_file output;
	uint64_t export_errors;
	double export_seconds;
	int last_error; /* of the last write: said once per change */
};

static double monotonic_seconds(void)
{
	return (double)monotonic_ns() / 1e9;
}

static const char *write_advice(int error)
{
	switch (error) {
	case ENOENT:
		return "create the directory, or name another --output";
	case EROFS:
	case EACCES:
	case EPERM:
		return "make the directory writable, or name another --output";
	case ENOSPC:
	case EDQUOT:
		return "free some space";
	case EBUSY:
		return "another agent writes it: stop one of the two";
	default:
		return "see that the directory can be written to";
	}
}

static void tell(struct agent *a, int error)
{
	const struct log *log = &a->options->log;

	if (error)
		a->export_errors++;
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

/* By the rules as they stand in the table: a site's own are for `check`. */
static void judge(struct snapshot *s)
{
	struct health_options options;
	struct health_report report;

	health_defaults(&options);
	health_evaluate(s, &options, wall_seconds(), &report);
	health_to_snapshot(&report, &options, s);
}

/* One pass from the maps to the file. Returns 0 or -errno. */
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
		judge(&s);
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

	tell(a, -export(a));
	a->export_seconds = monotonic_seconds() - begin;
}

/* Returns what must be closed in the end, or -1. */
static int count_program_runs(const struct options *options)
{
	int fd;

	if (!options->program_stats)
		return -1;
	fd = bpf_statistics_on();
	if (fd < 0)
		log_warn(&options->log,
			 "cannot have the kernel count runs of BPF programs: %s; "
			 "those metrics will be missing",
			 strerror(-fd));
	return fd;
}

int run(const struct options *options)
{
	struct agent a = { .options = options };
	struct xid_policy policy = {};
	const struct gpu_options gpu = {
		.replay = true,
		.accept_user_kmsg = options->accept_user_kmsg,
		.state = options->state,
		.policy = &policy,
	};
	const struct loop_handler handler = { on_tick, &a };
	const struct log *log = &options->log;
	double begin = monotonic_seconds();
	int err, statistics = -1, code = EXIT_TROUBLE;

	if (options->xid_policy && xid_policy_load(&policy, options->xid_policy, log))
		return EXIT_TROUBLE;
	loop_block_signals();
	/* To the agent a closed pipe is an error of write(), not the end. */
	signal(SIGPIPE, SIG_IGN);
	if (output_file_init(&a.output, options->output)) {
		log_error(log, "no memory");
		return EXIT_TROUBLE;
	}
	if (output_file_lock(&a.output) == -EBUSY) {
		log_error(log,
			  "another agent writes %s: stop it, or name "
			  "another --output",
			  options->output);
		code = EXIT_LOCKED;
		goto out;
	}
	err = observer_start(&a.observer, log, options->hooks, options->sources, &gpu,
			     options->events);
	if (err) {
		if (err == -EPERM)
			code = EXIT_PERMISSION;
		if (err == -EBUSY)
			code = EXIT_LOCKED;
		goto out;
	}
	statistics = count_program_runs(options);
	log_info(log, "started in %.0f ms, writing %s every %g s",
		 (monotonic_seconds() - begin) * 1e3, options->output, options->interval);
	on_tick(&a);
	err = loop_run(&a.observer, options->interval, options->duration, &handler);
	if (err)
		log_error(log, "the event loop failed: %s", strerror(-err));
	else
		code = EXIT_OK;
	on_tick(&a);
out:
	if (statistics >= 0)
		close(statistics);
	observer_stop(&a.observer);
	output_file_close(&a.output, options->keep);
	xid_policy_free(&policy);
	return code;
}
