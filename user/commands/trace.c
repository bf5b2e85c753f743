// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope trace`: observes for a while, or reads a recording, and reports. `xidscope top` shows the same session. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/output_file.h"
#include "base/process.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/observer.h"
#include "commands/options.h"
#include "commands/top.h"
#include "health/health.h"
#include "nfs/mount_settings.h"
#include "nfs/remedy.h"
#include "nfs/stuck_tasks.h"
#include "session/session.h"
#include "sinks/report.h"
#include "version.h"

/* Enough reads of the kernel log to end its replay: no log has more records. */
#define REPLAY_READS 64

struct trace {
	const struct options *options;
	struct observer observer;
	struct mount_settings settings;
	struct stuck_tasks tasks; /* that wait for a file's lock */
	struct session session;
	struct live live;
	struct top *top; /* NULL: it is shown as lines and a report */
	struct recorder *recorder; /* NULL: none, or it failed */
	bool quiet; /* standard output is for a file */
	bool over; /* nobody wants to see more */
};

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* ---- the files that it writes: JSON, page, recording ---- */

static int report_failure(const struct trace *t, const char *option, const char *path, int err)
{
	log_error(&t->options->log, "cannot write %s %s: %s", option, path, output_error(err));
	return err;
}

static int begin_record(struct trace *t)
{
	const char *path = t->options->record;
	int fd, err;

	if (!path)
		return 0;
	fd = is_stdout(path) ? dup(STDOUT_FILENO) : output_open(path);
	err = fd < 0 ? fd : !is_stdout(path) && ftruncate(fd, 0) ? -errno : 0;
	t->recorder = err ? NULL : recorder_new(fd, &t->session.origin);
	if (t->recorder)
		return 0;
	file_close(&fd);
	return report_failure(t, "--record", path, err ?: -ENOMEM);
}

/* A failure is logged once and ends the recording, not the session. */
static void record_snapshot(struct trace *t, const struct snapshot *s)
{
	int err = t->recorder ? recorder_add(t->recorder, s) : 0;

	if (!err)
		return;
	report_failure(t, "--record", t->options->record, err);
	recorder_end(t->recorder);
	t->recorder = NULL;
}

/* Writes the file, if there is a @path; without @text only checks that it can be written. */
static int write_file(const struct trace *t, const char *option, const char *path, const char *text,
		      size_t size)
{
	struct output_file file;
	int err;

	if (!path)
		return 0;
	err = output_file_init(&file, path);
	if (!err)
		err = text ? output_file_write(&file, text, size, NULL) : output_file_check(&file);
	output_file_close(&file, true);
	if (err == -EPIPE) /* the reader has what it wanted */
		return 0;
	return err ? report_failure(t, option, path, err) : 0;
}

/* Begins the recording, and checks that the other files can be written. Returns 0, or -errno after a message. */
static int begin_files(struct trace *t)
{
	return write_file(t, "--json", t->options->json_file, NULL, 0)    ?:
		       write_file(t, "--html", t->options->html, NULL, 0) ?:
									    begin_record(t);
}

/* Writes JSON and page. Returns 0, or -errno after a message. */
static int write_files(const struct trace *t)
{
	const struct options *o = t->options;
	FREED char *json = NULL, *page = NULL;
	size_t json_size = 0, page_size = 0;
	int err;

	if (!o->json_file && !o->html)
		return 0;
	json = TEXT_OF(json_size, out, session_json_write(out, &t->session));
	if (!json)
		return report_failure(t, o->json_file ? "--json" : "--html",
				      o->json_file ? o->json_file : o->html, -ENOMEM);
	err = write_file(t, "--json", o->json_file, json, json_size);
	if (o->html)
		page = TEXT_OF(page_size, out, page_write(out, json, json_size));
	if (o->html && !page)
		return report_failure(t, "--html", o->html, -ENOMEM);
	return write_file(t, "--html", o->html, page, page_size) ?: err;
}

/* ---- the session ---- */

/* The faults as they stand at the end. A recording may be of a node with other acknowledgements: none counts. */
static void list_faults(struct trace *t)
{
	struct health_options rules = t->options->health;
	struct session *s = &t->session;
	struct ack_list acks = {};
	FILE_TEXT file = {};
	char error[160];
	const char *path = t->options->replay ? NULL : t->options->ack;
	int err = path ? helper_read_file(&file, path, true) : -ENOENT;

	if (ack_take(&acks, &file, err, path, error, sizeof(error)))
		log_warn(&t->options->log, "acknowledgements are ignored: %s", error);
	free(s->faults);
	rules.acks = &acks;
	s->faults = health_list(&s->last, &rules, s->last.wall, &s->fault_count);
	ack_free(&acks);
}

/* Takes a snapshot over, and shows the interval that it ends. Returns 0 or -errno; -ECANCELED: top has shown enough. */
static int add_snapshot(struct trace *t, struct snapshot *s, bool show)
{
	int err = session_add(&t->session, s);

	if (err || !show || t->quiet)
		return err;
	if (!t->top) {
		live_interval(&t->live, &t->session);
		return 0;
	}
	list_faults(t);
	return top_show(t->top, &t->session);
}

/* What to paste here, if that is likely to help. A recording may be of another machine. */
static void list_remedies(struct trace *t)
{
	ARRAY_EACH(v, t->session.servers, t->options->replay ? 0 : t->session.server_count) {
		struct verdict to = verdict_of(&t->session.limits, v->name);
		const struct remedy remedy = { "",        &t->session.last.calls,
					       v->name,   to.setting,
					       to.value,  to.mountpoint,
					       to.remount };
		size_t size;

		v->remedy = *to.setting && to.confidence > CONFIDENCE_LOW ?
				    TEXT_OF(size, out, remedy_write(out, &remedy)) :
				    NULL;
	}
}

/* Reports on the session. Returns an exit code. */
static int report_on_session(struct trace *t, int err)
{
	struct terminal_size size = {};
	struct headline h;

	screen_end(); /* messages are for the terminal as it was */
	if (t->top && !err && t->options->replay && !t->top->session)
		return trouble("there is nothing to show: %s has no interval", t->options->replay);
	if (t->top && (!err || err == -ECANCELED))
		return t->options->batch && session_lacks_choice(&t->session) ? EXIT_USAGE :
										EXIT_OK;
	err = err ?: session_end(&t->session);
	if (err) {
		log_error(&t->options->log, "the session failed: %s", strerror(-err));
		return EXIT_TROUBLE;
	}
	if (t->options->files && t->session.last.calls.source != RPC_SOURCE_BTF)
		log_warn(&t->options->log, "no calls by file: --files needs the source btf");
	list_faults(t);
	list_remedies(t);
	if (t->options->markdown) {
		report_markdown(stdout, &t->session);
	} else if (!t->quiet) {
		terminal_ask(STDOUT_FILENO, &size);
		report_session(stdout, &t->session, size.columns);
		puts("\nNext: this session as a page: --html FILE; what happened before it: xidscope why");
	} else if (session_lacks_choice(&t->session)) {
		session_headline(&t->session, &h);
		fprintf(stderr, "xidscope: %s ", h.items[h.count - 1].text);
		report_choice(stderr, &t->session);
	}
	return write_files(t)                    ? EXIT_TROUBLE :
	       session_lacks_choice(&t->session) ? EXIT_USAGE :
						   EXIT_OK;
}

/* ---- a session now ---- */

static void set_origin(struct session_origin *o)
{
	time_t now = (time_t)wall_seconds();
	struct utsname name;
	struct tm local;

	if (!uname(&name))
		safe_format(o->host, sizeof(o->host), "%s", name.nodename);
	file_first_line("/proc/sys/kernel/osrelease", o->kernel, sizeof(o->kernel));
	snprintf(o->version, sizeof(o->version), "%s", XIDSCOPE_VERSION);
	localtime_r(&now, &local);
	o->utc_offset = (int)local.tm_gmtoff;
}

static int observe_snapshot(struct trace *t, bool show, bool last)
{
	struct snapshot s = { .files_wanted = last };
	int err = observer_snapshot(&t->observer, &s);

	if (err) {
		snapshot_free(&s);
		return err;
	}
	mount_settings_add(&t->settings, "", &s);
	lock_waiters_add(&t->tasks, &t->options->log, &s);
	record_snapshot(t, &s);
	return add_snapshot(t, &s, show);
}

static void on_tick(void *context)
{
	struct trace *t = context;
	int err = t->top && t->top->view.frozen ? 0 : observe_snapshot(t, true, false);

	if (err && err != -ECANCELED)
		log_error(&t->options->log, "cannot read the maps: %s", strerror(-err));
	/* If the terminal was closed, or the reader of a pipe has ended, nobody would end the session. */
	t->over |= err == -ECANCELED || poll(&(struct pollfd){ .fd = STDOUT_FILENO }, 1, 0) > 0;
}

static void on_keys(void *context)
{
	struct trace *t = context;

	t->over |= top_keys(t->top);
}

/* The first snapshot comes after the replay: its faults are from before this session. */
static int observe_session(struct trace *t)
{
	const bool keys = t->top && !t->top->left;
	const struct loop_handler handler = { .tick = on_tick,
					      .serve = keys ? on_keys : NULL,
					      .fd = keys ? STDIN_FILENO : -1,
					      .context = t,
					      .over = &t->over };

	for (int i = 0; i < REPLAY_READS; i++)
		observer_consume(&t->observer);
	return observe_snapshot(t, false, false) ?:
		       loop_run(&t->observer, t->options->interval, t->options->duration, &handler) ?:
		       observe_snapshot(t, t->top && t->top->left, true);
}

/* Returns an exit code. */
static int trace_now(struct trace *t)
{
	const struct options *o = t->options;
	static const struct xid_policy policy;
	const struct fault_options gpu = {
		.replay = true,
		.accept_user_kmsg = o->accept_user_kmsg,
		.policy = &policy,
	};
	struct rpc_options rpc = options_rpc(o);
	int err;

	set_origin(&t->session.origin);
	loop_block_signals();
	/* It must write its files first. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	rpc.owner_mounts = true;
	if (begin_files(t))
		return EXIT_TROUBLE;
	err = observer_start(&t->observer, &o->log, o->hooks, &rpc, &gpu, NULL);
	if (err)
		return err == -EPERM ? EXIT_PERMISSION : EXIT_TROUBLE;
	/* The folder of a file that is written at the end may be another user's; and who uses a mount is seen in proc. */
	observer_drop_capabilities(
		&t->observer, CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SYS_CHROOT) |
				      (o->json_file || o->html ? CAPABILITY(CAP_DAC_OVERRIDE) : 0));
	return report_on_session(t, observe_session(t));
}

/* ---- a session from a recording ---- */

/* Local times are those of the node from now on, wherever this is. */
static void use_offset(int offset)
{
	char zone[32];
	int minutes = abs(offset) / 60;

	snprintf(zone, sizeof(zone), "<node>%c%d:%02d", offset > 0 ? '-' : '+', minutes / 60,
		 minutes % 60);
	setenv("TZ", zone, 1);
	tzset();
}

static int replay_file(struct trace *t, struct recording *r)
{
	struct snapshot s = {}, next = {};
	int got, err = 0;

	t->session.origin = *recording_origin(r);
	use_offset(t->session.origin.utc_offset);
	got = recording_next(r, &s);
	/* The last one is shown by the report only, as in the session itself. */
	for (bool first = true; got > 0 && !err; first = false) {
		got = recording_next(r, &next);
		err = add_snapshot(t, &s, !first && (got > 0 || t->top));
		if (t->top && !first && !err)
			err = top_wait(t->top, got <= 0);
		s = next;
		next = (struct snapshot){};
	}
	snapshot_free(&s);
	return err ? err : got;
}

/* A recording is read twice: what comes from a pipe is copied to memory. Returns a descriptor or -errno. */
static int open_recording(const char *path)
{
	int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	char bytes[65536];
	ssize_t n = -1;
	int copy;

	if (fd < 0 || lseek(fd, 0, SEEK_CUR) >= 0)
		return fd < 0 ? -errno : fd;
	copy = memfd_create("recording", MFD_CLOEXEC);
	while (copy >= 0 && (n = read(fd, bytes, sizeof(bytes))) > 0 &&
	       write(copy, bytes, (size_t)n) == n)
		;
	if (n || lseek(copy, 0, SEEK_SET)) {
		n = n > 0 ? ENOMEM : errno;
		file_close(&copy);
		copy = -(int)n;
	}
	file_close(&fd);
	return copy;
}

/* Returns an exit code. */
static int trace_recording(struct trace *t)
{
	int fd = open_recording(t->options->replay), code = EXIT_TROUBLE;
	struct recording *r = fd < 0 ? NULL : recording_new(fd);
	int err = fd < 0 ? fd : r ? recording_check(r) : -ENOMEM;
	char why[RECORDING_PROBLEM_SIZE];
	struct stat st;

	if (err)
		log_error(&t->options->log, "cannot read the recording %s: %s", t->options->replay,
			  fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode) ? "it is a folder" :
			  r ? recording_problem(r, err, why) :
			      strerror(-err));
	else if (!begin_files(t))
		code = report_on_session(t, replay_file(t, r));
	if (r)
		recording_free(r);
	else
		file_close(&fd);
	return code;
}

/* @top: NULL, or what shows the session instead of a report. */
static int run_session(const struct options *o, struct top *top)
{
	struct trace t = { .options = o,
			   .top = top,
			   .session = { .filter = o->filter,
					.keep_intervals = o->json_file || o->html,
					.recent = top },
			   .live = live_begin(),
			   .quiet = is_stdout(o->json_file) || is_stdout(o->html) ||
				    is_stdout(o->record) || o->markdown };
	int code = o->replay ? trace_recording(&t) : trace_now(&t);
	int err = recorder_end(t.recorder);

	if (err)
		report_failure(&t, "--record", o->record, err);
	session_free(&t.session);
	free(t.settings.mounts);
	stuck_tasks_free(&t.tasks);
	observer_stop(&t.observer);
	return code;
}

int cmd_trace(const struct options *options)
{
	return run_session(options, NULL);
}

int cmd_top(const struct options *options)
{
	struct top top;

	return top_begin(&top, options) ?: run_session(options, &top);
}
