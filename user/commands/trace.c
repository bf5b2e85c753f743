// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope trace`: observes for a while and reports on standard output. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/exit_codes.h"
#include "commands/loop.h"
#include "commands/observer.h"
#include "commands/options.h"
#include "health/health.h"
#include "model/merge.h"
#include "sinks/report.h"

#define LINES_PER_HEAD 20

/* Enough reads of the kernel log to end its replay: no log has more records. */
#define REPLAY_READS 64

struct session {
	const struct options *options;
	struct observer observer;
	struct snapshot first, last;
	unsigned int lines;
};

/* Moves the last snapshot to @before and takes a new one. Returns 0 or -errno. */
static int advance(struct session *t, struct snapshot *before)
{
	*before = t->last;
	t->last = (struct snapshot){};
	return observer_snapshot(&t->observer, &t->last);
}

static void on_tick(void *context)
{
	struct session *t = context;
	struct snapshot before;
	int err = advance(t, &before);

	if (err) {
		log_error(&t->options->log, "cannot read the maps: %s", strerror(-err));
	} else {
		if (t->lines++ % LINES_PER_HEAD == 0)
			report_head(stdout);
		report_interval(stdout, &before, &t->last);
	}
	snapshot_free(&before);
}

/* Counts what the rules of `xidscope check` that are about GPUs find. */
static size_t count_open_faults(const struct snapshot *s)
{
	struct health_options options;
	struct health_report report;

	health_defaults(&options);
	for (int rule = 0; rule < HEALTH_RULES; rule++)
		if (!health_rules[rule].gpu)
			options.rules[rule].level = HEALTH_OK;
	health_evaluate(s, &options, wall_seconds(), &report);
	return report.total;
}

/* Takes the first snapshot after the replay: its faults are from before this session. */
static int begin(struct session *t)
{
	struct snapshot none;
	int err;

	for (int i = 0; i < REPLAY_READS; i++)
		observer_consume(&t->observer);
	err = observer_snapshot(&t->observer, &t->first);
	return err ? err : advance(t, &none);
}

int cmd_trace(const struct options *options)
{
	struct session t = { .options = options };
	const struct xid_policy policy = {};
	const struct gpu_options gpu = {
		.replay = true,
		.accept_user_kmsg = options->accept_user_kmsg,
		.policy = &policy,
	};
	const struct loop_handler handler = { .tick = on_tick, .fd = -1, .context = &t };
	const struct log *log = &options->log;
	struct snapshot before = {};
	int err, code = EXIT_TROUBLE;

	loop_block_signals();
	err = observer_start(&t.observer, log, options->hooks, options->sources,
			     options->sunrpc_btf, &gpu, NULL);
	if (err) {
		if (err == -EPERM)
			code = EXIT_PERMISSION;
		goto out;
	}
	observer_drop_capabilities(&t.observer, 0);
	err = begin(&t);
	if (!err)
		err = loop_run(&t.observer, options->interval, options->duration, &handler);
	if (!err)
		err = advance(&t, &before);
	if (!err)
		err = snapshot_subtract(&t.last, &t.first);
	if (err) {
		log_error(log, "the session failed: %s", strerror(-err));
		goto out;
	}
	report_session(stdout, &t.last, (double)(t.last.time_ns - t.first.time_ns) / 1e9,
		       count_open_faults(&t.first));
	code = EXIT_OK;
out:
	snapshot_free(&before);
	snapshot_free(&t.first);
	snapshot_free(&t.last);
	observer_stop(&t.observer);
	return code;
}
