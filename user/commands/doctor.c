// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope doctor`: findings about this kernel, as lines or as JSON. */
#include "commands/commands.h"

#include <unistd.h>

#include "base/file_text.h"
#include "base/json.h"
#include "base/process.h"
#include "base/terminal.h"
#include "commands/options.h"
#include "faults/fault_authority.h"
#include "faults/fault_observer.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "rpc/choice.h"
#include "rpc/polled/polled.h"

#define INDENT 32 /* of texts, behind level and name */
#define MAX_FINDINGS 32 /* about one subject */

/* NOTE: unusual, but everything needed works. */
enum finding_level { OK, NOTE, UNKNOWN, MISSING };

static const char *const level_names[] = {
	[OK] = "ok", [NOTE] = "note", [UNKNOWN] = "unknown", [MISSING] = "missing"
};

enum subject_id { NFS, GPU, SUBJECTS };

struct finding {
	enum subject_id subject;
	bool found;
	const char *name;
	enum finding_level level;
	const char *fix; /* NULL: there is none */
	const char *text;
};

struct diagnosis {
	const char *root;
	const char *release;
	struct rpc_offer offer;
	struct source_choice choice;
	struct fault_offer faults;
	char sunrpc[96]; /* its state, in words */
	char source[200]; /* the choice, in words */
	char mounts[200]; /* why some have no figures; "": all have */
	char printk[400], nvidia[128];
	struct subject {
		const char *name, *title;
		struct finding findings[MAX_FINDINGS];
		size_t count;
	} subjects[SUBJECTS];
};

/* Adds the rows that were found; of several with one name only the first. If there are too many, the last is overwritten. */
static void add_findings(struct diagnosis *d, const struct finding *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct subject *to = &d->subjects[rows[i].subject];

		if (!rows[i].found)
			continue;
		to->findings[to->count] = rows[i];
		to->count += to->count < MAX_FINDINGS - 1;
		while (i + 1 < count && !strcmp(rows[i + 1].name, rows[i].name))
			i++;
	}
}

/* ---- the NFS client ---- */

static void describe_sunrpc(struct diagnosis *d)
{
	static const char *const states[] = {
		[SUNRPC_ABSENT] = "not loaded",
		[SUNRPC_LOADING] = "being loaded or unloaded",
		[SUNRPC_LIVE] = "a module, loaded",
		[SUNRPC_BUILT_IN] = "built into the kernel",
	};
	const struct rpc_offer *f = &d->offer;

	snprintf(d->sunrpc, sizeof(d->sunrpc), "%s%s%s%s", states[f->sunrpc],
		 f->out_of_tree ? ", out of tree" : "", *f->srcversion ? ", srcversion " : "",
		 f->srcversion);
}

static void describe_source(struct diagnosis *d)
{
	static const char *const gives[RPC_SOURCES] = {
		[RPC_SOURCE_BTF] = "every metric is available, if the kernel accepts the programs",
		[RPC_SOURCE_TRACEPOINTS] = "calls are measured through trace events, if the "
					   "kernel accepts the programs",
		[RPC_SOURCE_MOUNTSTATS] = "sums over calls are polled: no distributions, no waits",
	};
	const struct source_choice *c = &d->choice;

	if (!c->best)
		snprintf(d->source, sizeof(d->source), "none: NFS calls cannot be observed");
	else
		snprintf(d->source, sizeof(d->source), "%s%s: %s",
			 c->source ? "" : "none now; when sunrpc is loaded, ",
			 rpc_source_names[c->best], gives[c->best]);
}

static void add_source_checks(struct diagnosis *d)
{
	ARRAY_EACH(c, d->choice.checks, d->choice.check_count) {
		enum finding_level level = c->result == SOURCE_CHECK_OK              ? OK :
					   c->result == SOURCE_CHECK_UNKNOWN         ? UNKNOWN :
					   source_check_is_reason(c, d->choice.best) ? MISSING :
										       NOTE;

		add_findings(d, &(struct finding){ NFS, true, c->name, level, c->fix, c->text }, 1);
	}
}

static bool uses_localio(const struct diagnosis *d)
{
	const char *path = PATHF("%s/sys/fs/nfs", d->root), *name;
	OPEN_FOLDER *folder = opendir(path);

	while ((name = folder_next(folder)))
		if (file_begins(PATHF("%s/%s/localio", path, name), "1"))
			return true;
	return false;
}

static void describe_mounts(struct diagnosis *d)
{
	struct nfs_mounts mounts = { .changes = -1 };
	struct snapshot s = {};

	nfs_mounts_add(&mounts, d->root, &s);
	if (s.calls.mount_count > NFS_MOUNTS_MAX)
		snprintf(d->mounts, sizeof(d->mounts),
			 "%" PRIu64 " NFS mounts, more than %d: those of hung servers and the "
			 "last used have figures, the others are only counted",
			 s.calls.mount_count + mounts.left_out, NFS_MOUNTS_MAX);
	snapshot_free(&s);
	nfs_mounts_free(&mounts);
}

/* ---- faults of GPUs ---- */

static void describe_driver(struct diagnosis *d)
{
	const struct fault_offer *f = &d->faults;

	if (f->every_message < 0)
		snprintf(d->printk, sizeof(d->printk), "the kernel refuses the hook on printk: %s",
			 bpf_reason(-f->every_message));
	snprintf(d->nvidia, sizeof(d->nvidia), "the NVIDIA driver is %sloaded%s%s",
		 f->driver ? "" : "not ", *f->driver_version ? ", version " : "",
		 f->driver_version);
}

static bool has_kprobes(const struct diagnosis *d)
{
	return !access(PATHF("%s/sys/bus/event_source/devices/kprobe", d->root), F_OK);
}

/* Why no program can be attached to a function of the driver; NULL: it can. */
static const char *probe_obstacle(const struct diagnosis *d)
{
	const struct rpc_offer *f = &d->offer;

	return f->refused      ? "see permission" :
	       !f->kernel_btf  ? "see kernel_types" :
	       f->perf_error   ? "see perf_events" :
	       !has_kprobes(d) ? "boot a kernel with CONFIG_KPROBE_EVENTS=y" :
				 NULL;
}

#define BY_LOG "log: faults count by the form of the kernel log's records"

/* Of both subjects, without those about the source. LOCALIO (6.12): without RPC, the client reads and writes files of a server on this
 * machine. Sysfs shows its mounts (6.17). */
static void add_checks(struct diagnosis *d)
{
	const struct fault_offer *f = &d->faults;
	const bool refused = f->every_message < 0;
	const struct finding rows[] = {
#define TABLE_ROW(name, subject, when, ...) { subject, when, name, __VA_ARGS__ },
#include "doctor_checks.inc"
	};

	add_findings(d, rows, COUNT(rows));
}

/* ---- output ---- */

static void print_json(FILE *out, const struct diagnosis *d, bool healthy)
{
	struct json j = { .out = out };

	json_object(&j, NULL);
	json_text(&j, "kernel", d->release);
	json_text(&j, "sunrpc", d->sunrpc);
	json_text(&j, "source", rpc_source_names[d->choice.source]);
	json_text(&j, "source_text", d->source);
	json_bool(&j, "healthy", healthy);
	json_array(&j, "findings");
	ARRAY_EACH(s, d->subjects, COUNT(d->subjects))
		ARRAY_EACH(f, s->findings, s->count) {
			json_row(&j);
			json_text(&j, "group", s->name);
			json_text(&j, "name", f->name);
			json_text(&j, "level", level_names[f->level]);
			json_text(&j, "text", f->text);
			if (f->fix)
				json_text(&j, "fix", f->fix);
			json_object_end(&j);
		}
	json_array_end(&j);
	json_end(&j);
}

/* Prints the checks whose result is unknown until sunrpc is loaded, as one line. */
static void print_unknown(FILE *out, const struct diagnosis *d)
{
	char names[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < d->choice.check_count; i++)
		if (d->choice.checks[i].result == SOURCE_CHECK_UNKNOWN && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", d->choice.checks[i].name);
	if (len)
		terminal_line(out, INDENT, "  %-8s %-20s until it is loaded: %s",
			      level_names[UNKNOWN], "sunrpc", names);
}

static void print_text(FILE *out, const struct diagnosis *d)
{
	bool sunrpc = d->offer.sunrpc >= SUNRPC_LIVE;
	size_t fixes = 0;

	terminal_line(out, 9, "kernel   %s", d->release);
	terminal_line(out, 9, "sunrpc   %s", d->sunrpc);
	terminal_line(out, 9, "source   %s", d->source);
	ARRAY_EACH(s, d->subjects, COUNT(d->subjects)) {
		fprintf(out, "\n%s\n", s->title);
		ARRAY_EACH(f, s->findings, s->count) {
			if (f->level == UNKNOWN && !sunrpc)
				continue;
			terminal_line(out, INDENT, "  %-8s %-20s %s", level_names[f->level],
				      f->name, f->text);
			/* "see kernel_log": it is counted there. */
			fixes += f->fix && strncmp(f->fix, "see ", 4) != 0;
			if (f->fix)
				terminal_line(out, INDENT, "%*sfix: %s", INDENT, "", f->fix);
		}
		if (s == &d->subjects[NFS] && !sunrpc)
			print_unknown(out, d);
	}
	if (fixes)
		fprintf(out, "\n%zu to fix: see \"fix:\" above.\n", fixes);
	else
		fputs("\nNothing to fix.\n", out);
}

bool doctor_report(FILE *out, const char *root, const char *release, int every_message,
		   const char *types_file, bool json)
{
	struct diagnosis d = { .root = root,
			       .release = release,
			       .subjects = { { .name = "nfs", .title = "NFS" },
					     { .name = "gpu", .title = "GPU faults" } } };
	bool healthy = true;

	rpc_offer_look(&d.offer, root, types_file);
	d.offer.misses_events = !*root && kernel_misses_events();
	if (every_message < 0)
		rpc_offer_add_refusal(&d.offer, -every_message);
	source_choose(&d.choice, &d.offer, RPC_SOURCES_ALL);
	describe_sunrpc(&d);
	describe_source(&d);
	add_source_checks(&d);
	describe_mounts(&d);
	fault_offer_read(&d.faults, root, every_message);
	if (probe_obstacle(&d) && d.faults.authority == AUTHORITY_DRIVER)
		d.faults.authority = AUTHORITY_LOG;
	describe_driver(&d);
	add_checks(&d);
	ARRAY_EACH(s, d.subjects, COUNT(d.subjects))
		healthy &= !ARRAY_FIND(f, s->findings, s->count, f->level == MISSING);
	if (json)
		print_json(out, &d, healthy);
	else
		print_text(out, &d);
	return healthy;
}

int cmd_doctor(const struct options *o)
{
	char release[65];

	/* uname() may give another release: personality(2) can change it for a process. */
	if (!file_first_line("/proc/sys/kernel/osrelease", release, sizeof(release)))
		strcpy(release, "unknown");
	bpf_messages_init(&o->log);
	return doctor_report(stdout, "", release, printk_hook_try(), o->sunrpc_btf, o->json) ?
		       EXIT_OK :
		       EXIT_TROUBLE;
}
