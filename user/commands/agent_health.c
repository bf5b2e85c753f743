// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands/agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/mountinfo.h"
#include "base/safe_text.h"
#include "commands/commands.h"
#include "health/health_file.h"

#define MAX_ASK_SECONDS \
	10.0 /* the longest wait for a mount's server, also if the rule's limit is longer */

#define ACKS_NS \
	60000000000ull /* a change by hand counts after this time: a process reads the file */

/* Whether @path is on a network file system and may block; then @source is what is mounted there. Only the path's text and the list
 * of mounts are examined: opening the path may already wait for the server. */
static bool may_hang(const char *path, bool lower, char *source, size_t size)
{
	char folder[PATH_MAX];
	bool relative = *path != '/' && getcwd(folder, sizeof(folder));

	if (!strcmp(path, "-"))
		return mounts_find_network("", mounts_number(STDOUT_FILENO), NULL, false, source,
					   size);
	return mounts_find_network(
		"", -1, PATHF("%s%s%s", relative ? folder : "", relative ? "/" : "", path), lower,
		source, size);
}

static void report_remote(const struct options *o, const char *option, const char *path,
			  const char *source)
{
	log_error(&o->log,
		  "%s %s is on %s, which may stop answering; name a file in a local folder", option,
		  path, source);
}

bool is_local(const struct options *o, const char *option, const char *path, bool lower)
{
	char source[160];

	if (!path || !may_hang(path, lower, source, sizeof(source)))
		return true;
	report_remote(o, option, path, source);
	return false;
}

int check_refused(const struct options *o, const char *option, const char *path, int err)
{
	if (err != -EREMOTE && !output_is_refused(err))
		return 0;
	log_error(&o->log, "%s %s: %s; name a %s", option, path, output_error(err),
		  err == -EREMOTE ? "file in a local folder" :
				    "regular file with one link, or one that does not exist");
	return EXIT_USAGE;
}

/* Returns whether they have changed. */
static bool refresh_acks(struct agent_health *h, uint64_t most_ns)
{
	const struct log *log = &h->options->log;
	bool silent = h->acks.silent;
	bool changed = ack_file_refresh(&h->acks, most_ns);

	if (changed && *h->acks.trouble)
		log_warn(log, "the acknowledgements: %s; until then the health is unknown",
			 h->acks.trouble);
	if (h->acks.silent && !silent)
		log_warn(log, "the acknowledgements: cannot read %s: %s; %s", h->acks.path,
			 file_text_error(h->acks.silent),
			 h->acks.known ? "the last known ones stay in force" : "none counts");
	return changed;
}

/* ---- the file ---- */

int agent_health_open(struct agent_health *h, const struct options *o,
		      const struct headline *servers)
{
	const char *path = o->health_file;
	char source[160];
	int err;

	*h = (struct agent_health){ .options = o,
				    .rules = o->health,
				    .acks = { .path = o->ack, .due = true },
				    .servers = servers,
				    .written = -1,
				    .mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) };
	h->node.node.gpus_wanted = (unsigned int)o->gpus;
	for (size_t i = 0; i < o->mount_count; i++)
		node_mounts_add(&h->node.node, o->mounts[i]);
	err = node_watch_add_fstab(&h->node, "");
	if (err)
		log_warn(&o->log, "the mounts of /etc/fstab are not checked: %s",
			 file_text_error(err));
	if (h->node.node.mounts_left_out)
		log_warn(&o->log, "%zu NFS mounts of /etc/fstab are not checked: at most %d are",
			 h->node.node.mounts_left_out, NODE_MOUNTS_MAX);
	refresh_acks(h, HELPER_ONCE_NS);
	if (!path)
		return 0;
	if (!is_local(o, "--health", path, true))
		return EXIT_USAGE;
	if (!strcmp(path, HEALTH_DEFAULT_FILE))
		mkdir("/run/xidscope", 0755);
	err = output_file_init(&h->file, path);
	h->wanted = !err;
	if (!err)
		err = output_file_check(&h->file) ?: output_file_lock(&h->file, 0);
	if (err == -EBUSY) {
		log_error(&o->log, "another agent writes %s: stop it, or name another --health",
			  path);
		return EXIT_LOCKED;
	}
	/* A link may lead elsewhere than the path's text. */
	if (!err && mounts_find_network("", mounts_number(h->file.lock), NULL, true, source,
					sizeof(source))) {
		report_remote(o, "--health", path, source);
		return EXIT_USAGE;
	}
	return check_refused(o, "--health", path, err); /* otherwise the next write tries again */
}

/* Looks once after changes: there may be thousands of mounts. */
static bool is_remote(struct agent_health *h)
{
	char source[160];

	if (h->mounted)
		h->remote = may_hang(h->options->health_file, true, source, sizeof(source));
	h->mounted = false;
	return h->remote;
}

/* Whether `ack` has changed the acknowledgements: it sets the file's time. */
static bool is_asked(struct agent_health *h)
{
	struct timespec last = h->time;
	struct stat st;

	if (fstat(h->written, &st))
		return false;
	h->time = st.st_mtim;
	return last.tv_sec != h->time.tv_sec || last.tv_nsec != h->time.tv_nsec;
}

static void write_file(struct agent_health *h, const struct health_content *content)
{
	size_t len;
	FREED char *text = h->wanted ? TEXT_OF(len, out, health_file_write(out, content)) : NULL;
	int err;

	if (!h->wanted)
		return;
	err = !text        ? -ENOMEM :
	      is_remote(h) ? -EREMOTE :
			     output_file_write(&h->file, text, len, NULL);
	if (err && err != h->error)
		log_error(&h->options->log, "cannot write the health file %s: %s; will try again",
			  h->options->health_file, output_error(err));
	h->error = err;
	if (err)
		return;
	h->acks.due |= is_asked(h); /* of the file that this one has replaced */
	file_close(&h->written);
	h->written = open(h->options->health_file, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	is_asked(h);
}

/* ---- judging ---- */

/* Logs the findings when they begin or change, and once when there are none any more. */
static void log_headline(struct agent_health *h, const struct headline_item *now)
{
	const struct headline_item *before = &h->headline;
	bool wrong = now->rank.kind < HEADLINE_LIMIT;
	bool was_wrong = *before->text && before->rank.kind < HEADLINE_LIMIT;

	if (wrong &&
	    (now->rank.level != before->rank.level || now->rank.kind != before->rank.kind ||
	     strcmp(now->subject, before->subject) != 0))
		log_warn(&h->options->log, "%s: %s", headline_level_names[now->rank.level],
			 now->text);
	else if (!wrong && was_wrong)
		log_info(&h->options->log, "over: %s", before->text);
	h->headline = *now;
}

static void make_headline(struct agent_health *h, const struct snapshot *s,
			  const struct health_report *report)
{
	struct headline all;

	memcpy(&all, h->servers, offsetof(struct headline, items[h->servers->count]));
	ARRAY_EACH(f, report->findings, report->count) {
		const char *rule = health_rules[f->rule].name;
		enum headline_kind kind = f->lost                      ? HEADLINE_LOST :
					  f->rule == HEALTH_NFS_ERRORS ? HEADLINE_ERRORS :
					  !strncmp(rule, "nfs_", 4) || !strncmp(rule, "mount_", 6) ?
									 HEADLINE_SILENT :
									 HEADLINE_GPU;

		headline_add(&all,
			     HEADLINE_RANK(f->level == HEALTH_FAIL ? HEADLINE_FAIL : HEADLINE_WARN,
					   kind, 0),
			     f->device, "%s", f->reason);
	}
	if (report->listed > report->count)
		headline_note_quiet(
			&all, fault_standing_names[report->findings[report->count].standing],
			report->findings[report->count].head, report->listed - report->count);
	headline_end(&all, s->faults.gpu_watched, &s->calls, s->calls.op_count);
	log_headline(h, &all.items[0]);
}

static void judge(struct agent_health *h, const struct snapshot *s, struct health_report *report)
{
	char trouble[640] = "";

	h->rules.acks = &h->acks.list;
	h->rules.node = &h->node.node;
	if (*h->acks.trouble)
		snprintf(trouble, sizeof(trouble), "the acknowledgements: %s", h->acks.trouble);
	health_evaluate(s, &h->rules, wall_seconds(), report);
	h->findings = report->total;
	make_headline(h, s, report);
	write_file(h, &(struct health_content){ s, &h->rules, report, h->headline.text,
						h->options->output, *trouble ? trouble : NULL });
}

/* Returns whether anything has changed. */
static bool watch_node(struct agent_health *h, struct observer *observer)
{
	bool changed = mounts_changed(h->mounts);
	double limit = h->rules.rules[HEALTH_MOUNT_HUNG].limit;
	uint64_t now = monotonic_ns();

	h->acks.due |= changed;
	h->mounted |= changed;
	h->node.node.driver_expected = fault_observer_had_driver(observer->gpu);
	changed = node_watch_look(&h->node, "", (double)now / 1e9, changed);
	if (changed)
		fault_observer_gpus(observer->gpu, h->node.node.bus, h->node.node.bus_count);
	if (h->rules.rules[HEALTH_MOUNT_HUNG].level != HEALTH_OK ||
	    h->rules.rules[HEALTH_MOUNT_UNUSABLE].level != HEALTH_OK)
		changed |= node_mounts_ask(&h->node.node, h->node.questions,
					   limit < MAX_ASK_SECONDS ? limit : MAX_ASK_SECONDS, now);
	return changed;
}

void agent_health_add(struct agent_health *h, struct observer *observer, struct snapshot *s)
{
	struct health_report report;
	uint64_t now = monotonic_ns();

	watch_node(h, observer);
	if (now >= h->acks_due_ns) {
		h->acks.due = true;
		h->acks_due_ns = now + ACKS_NS;
	}
	refresh_acks(h, HELPER_WAIT_NS);
	judge(h, s, &report);
	health_to_snapshot(&report, &h->rules, s);
	observer->changed = false;
}

/* Adds what fails on a server to what is said about it already, the loss of data first. */
static void add_errors_text(struct node_nfs_errors *to, const struct nfs_span *span)
{
	bool first = strstr(span->text, DATA_WERE_LOST);
	char before[sizeof(to->text)];

	to->lost |= first;
	memcpy(before, to->text, sizeof(before));
	safe_format(to->text, sizeof(to->text), "%s%s%s", first ? span->text : before,
		    *before ? " " : "", first ? before : span->text);
}

void agent_health_errors(struct agent_health *h, struct nfs_watch *w)
{
	struct node_state *node = &h->node.node;
	const struct nfs_span *span;
	size_t i = 0;

	node->nfs_error_count = 0;
	while ((span = nfs_watch_errors(w, &i))) {
		struct node_nfs_errors *to = ARRAY_FIND(x, node->nfs_errors, node->nfs_error_count,
							!strcmp(x->server, span->server));
		uint64_t now = monotonic_ns();

		/* A server that has restarted causes it, and clients recover. What they lose, the kernel says. */
		if (span->name == failure_names[FAILURE_STATE] &&
		    span->last_ns < span->begin_ns + NFS_RECOVERY_NS)
			continue;
		if (!to && node->nfs_error_count == NODE_SERVERS_MAX) {
			w->no_room++;
			continue;
		}
		if (!to) {
			to = &node->nfs_errors[node->nfs_error_count++];
			*to = (struct node_nfs_errors){
				.first = wall_seconds() - (double)(now - span->begin_ns) / 1e9
			};
			memcpy(to->server, span->server, sizeof(to->server));
		}
		add_errors_text(to, span);
	}
}

void agent_health_poll(struct agent_health *h, struct observer *observer, struct snapshot *last)
{
	struct snapshot s;
	struct health_report report;
	bool changed = watch_node(h, observer);
	uint64_t failed = memory_failed();

	h->acks.due |= is_asked(h);
	changed |= refresh_acks(h, HELPER_WAIT_NS);
	if (!changed && !observer->changed)
		return;
	s = (struct snapshot){};
	if (observer->gpu_wanted)
		fault_observer_snapshot(observer->gpu, &s);
	observer->changed = memory_error(failed); /* then the next look judges */
	if (!observer->changed) {
		s.calls = last->calls;
		judge(h, &s, &report);
		s.calls = (struct calls){};
	}
	snapshot_free(&s);
}

void agent_health_close(struct agent_health *h)
{
	if (!h->options)
		return;
	if (h->wanted && !is_remote(h))
		output_file_close(&h->file, false);
	node_watch_free(&h->node);
	ack_file_close(&h->acks);
	file_close(&h->written);
	file_close(&h->mounts);
}
