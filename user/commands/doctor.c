// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope doctor`: findings about this kernel, as lines or as JSON. */
#include "commands/commands.h"

#include <glob.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "commands/options.h"
#include "faults/fault_observer.h"
#include "faults/printk_hook.h"
#include "kernel/bpf_support.h"
#include "rpc/choice.h"
#include "rpc/polled/polled.h"

#define INDENT 32 /* of texts, behind level and name */
#define MAX_FINDINGS 64

/* NOTE: unusual, but everything needed works. */
enum finding_level { OK, NOTE, UNKNOWN, MISSING };

static const char *const level_names[] = {
	[OK] = "ok", [NOTE] = "note", [UNKNOWN] = "unknown", [MISSING] = "missing"
};

struct finding {
	const char *group; /* static */
	const char *name; /* static */
	enum finding_level level;
	char text[512];
	const char *fix; /* static; NULL: there is none */
};

struct diagnosis {
	const char *root;
	const char *release;
	int every_message; /* what printk_hook_try() returned */
	struct rpc_offer offer;
	struct source_choice choice;
	char sunrpc[400]; /* its state, in words */
	char source[200]; /* the choice, in words */
	struct finding findings[MAX_FINDINGS];
	size_t count;
};

static struct finding *__attribute__((format(printf, 5, 6)))
add_finding(struct diagnosis *d, const char *group, const char *name, enum finding_level level,
	    const char *format, ...)
{
	struct finding *f = &d->findings[d->count];
	va_list args;

	/* If there are too many, the last one is overwritten. */
	if (d->count < MAX_FINDINGS - 1)
		d->count++;
	*f = (struct finding){ group, name, level, "", NULL };
	va_start(args, format);
	safe_vformat(f->text, sizeof(f->text), format, args);
	va_end(args);
	return f;
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
	char disk[300] = "";

	if (*f->disk_path)
		snprintf(disk, sizeof(disk), "; on disk %s%s%s%s", f->disk_path,
			 *f->disk_srcversion ? " (" : "", f->disk_srcversion,
			 !*f->disk_srcversion                           ? "" :
			 !*f->srcversion                                ? ")" :
			 strcmp(f->srcversion, f->disk_srcversion) != 0 ? ", not what is loaded)" :
									  ", the same)");
	snprintf(d->sunrpc, sizeof(d->sunrpc), "%s%s%s%s%s", states[f->sunrpc],
		 f->out_of_tree ? ", out of tree" : "", *f->srcversion ? ", srcversion " : "",
		 f->srcversion, disk);
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

		add_finding(d, "nfs", c->name, level, "%s", c->text)->fix = c->fix;
	}
}

/* Whether the first line of any file that matches @pattern begins with @begin. */
static bool any_begins(const struct diagnosis *d, const char *pattern, const char *begin)
{
	bool found = false;
	char line[32];
	glob_t files;

	if (glob(PATHF("%s%s", d->root, pattern), 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		file_first_line(files.gl_pathv[i], line, sizeof(line));
		found |= !strncmp(line, begin, strlen(begin));
	}
	globfree(&files);
	return found;
}

/* From Linux 6.12 on, the client can read and write files of a server on the same machine without RPC. From 6.17 on, sysfs shows
 * which mounts use it. */
static void add_localio(struct diagnosis *d)
{
	if (any_begins(d, "/sys/fs/nfs/server-*/localio", "1"))
		add_finding(d, "nfs", "localio", NOTE,
			    "a mount uses LOCALIO: reads and writes bypass RPC, and no "
			    "source can observe them")
			->fix = "to observe them: echo N "
				">/sys/module/nfs/parameters/localio_enabled, and mount again";
	else if (any_begins(d, "/sys/module/nfs/parameters/localio_enabled", "Y"))
		add_finding(d, "nfs", "localio", OK,
			    "LOCALIO is possible: reads and writes to a server on this "
			    "machine bypass RPC, and no source can observe them");
	else
		add_finding(d, "nfs", "localio", OK, "LOCALIO is not in use");
}

static void add_kprobes(struct diagnosis *d)
{
	if (d->offer.tracefs == TRACEFS_MOUNTED &&
	    access(PATHF("%s/kprobe_events", d->offer.tracefs_path), F_OK))
		add_finding(d, "nfs", "kprobes", NOTE,
			    "the kernel has no kprobes: it is not known which mount a call "
			    "belongs to");
}

static void add_mounts(struct diagnosis *d)
{
	struct nfs_mounts mounts = { .changes = -1 };
	struct snapshot s = {};

	if (!nfs_mounts_add(&mounts, d->root, &s) && s.calls.mount_count > NFS_MOUNTS_MAX)
		add_finding(d, "nfs", "mounts", NOTE,
			    "%" PRIu64 " NFS mounts are more than %d: those of servers that hang "
			    "and those in use last have figures, the others are counted",
			    s.calls.mount_count + mounts.left_out, NFS_MOUNTS_MAX);
	snapshot_free(&s);
	nfs_mounts_free(&mounts);
}

/* ---- faults of GPUs ---- */

/* Adds which authority counts faults on this node, and why. */
static void add_authority(struct diagnosis *d, const struct fault_offer *f)
{
	static const char *const texts[] = {
		[AUTHORITY_HOOK] = "hook: the kernel shows who prints a message. Each one of the "
				   "driver counts, and the same text of others does not",
		[AUTHORITY_DRIVER] = "driver: Xids count by its tracepoint, and its other messages "
				     "by the form of the kernel log's records",
		[AUTHORITY_LOG] = "log: faults count by the form of the kernel log's records. The "
				  "driver's tracepoint (open modules from 575) proves Xids",
	};

	add_finding(d, "gpu", "authority", f->authority == AUTHORITY_LOG ? NOTE : OK, "%s",
		    texts[f->authority]);
}

/* Adds whether the kernel shows who prints a message. */
static void add_printk(struct diagnosis *d, const struct fault_offer *f)
{
	if (!f->console_event)
		add_finding(d, "gpu", "printk_console", NOTE,
			    "the kernel's BTF has no tracepoint printk:console");
	else if (f->every_message < 0)
		add_finding(d, "gpu", "printk_console", NOTE,
			    "the kernel refuses the hook on printk: %s",
			    bpf_reason(-f->every_message))
			->fix = bpf_advice(-f->every_message);
	else if (f->callers)
		add_finding(d, "gpu", "printk_console", NOTE,
			    "/proc/modules and /proc/kallsyms do not show who prints a message: %s",
			    f->callers == -EPERM ? "addresses are hidden" : strerror(-f->callers))
			->fix = f->callers != -EPERM ? NULL :
						       "run it as root with CAP_SYSLOG, and set "
						       "kernel.kptr_restrict below 2";
	else
		add_finding(d, "gpu", "printk_console", f->every_message ? OK : NOTE,
			    f->every_message ?
				    "the tracepoint printk:console is called by who prints" :
				    "the tracepoint printk:console is called by consoles, which "
				    "does not show who prints (most kernels do from 5.19 on)");
}

static void add_faults(struct diagnosis *d)
{
	struct fault_offer f;

	fault_offer_read(&f, d->root, d->every_message);
	add_authority(d, &f);
	if (f.log)
		add_finding(d, "gpu", "kernel_log", OK, "/dev/kmsg can be read");
	else
		add_finding(d, "gpu", "kernel_log", MISSING,
			    "/dev/kmsg cannot be read: faults from before the start, "
			    "and from overruns, are lost")
			->fix = "run it as root (in a container: with the "
				"device /dev/kmsg and CAP_SYSLOG)";
	add_printk(d, &f);
	add_finding(d, "gpu", "nvidia", OK, "the NVIDIA driver is %sloaded%s%s",
		    f.driver ? "" : "not ", *f.driver_version ? ", version " : "",
		    f.driver_version);
	if (f.driver_event)
		add_finding(d, "gpu", "nvidia_dev_xid", OK,
			    "the driver has the tracepoint nvidia_dev_xid");
	else if (f.driver)
		add_finding(d, "gpu", "nvidia_dev_xid", NOTE,
			    "the driver has no tracepoint nvidia_dev_xid (from 575), "
			    "or tracefs cannot be read");
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
	ARRAY_EACH(f, d->findings, d->count) {
		json_row(&j);
		json_text(&j, "group", f->group);
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
	static const char *const groups[] = { "nfs", "gpu" }, *const titles[] = { "NFS",
										  "GPU faults" };
	size_t fixes = 0;

	terminal_line(out, 9, "kernel   %s", d->release);
	terminal_line(out, 9, "sunrpc   %s", d->sunrpc);
	terminal_line(out, 9, "source   %s", d->source);
	for (size_t g = 0; g < COUNT(groups); g++) {
		fprintf(out, "\n%s\n", titles[g]);
		ARRAY_EACH(f, d->findings, d->count) {
			if (strcmp(f->group, groups[g]) != 0 ||
			    (g == 0 && f->level == UNKNOWN && !d->choice.source))
				continue;
			terminal_line(out, INDENT, "  %-8s %-20s %s", level_names[f->level],
				      f->name, f->text);
			fixes += f->fix != NULL;
			if (f->fix)
				terminal_line(out, INDENT, "%*sfix: %s", INDENT, "", f->fix);
		}
		if (g == 0 && !d->choice.source)
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
	struct diagnosis d = { .root = root, .release = release, .every_message = every_message };
	bool healthy = true;

	rpc_offer_look(&d.offer, root, types_file);
	rpc_offer_look_on_disk(&d.offer, root, release);
	source_choose(&d.choice, &d.offer, RPC_SOURCES_ALL);
	describe_sunrpc(&d);
	describe_source(&d);
	add_source_checks(&d);
	add_localio(&d);
	add_kprobes(&d);
	add_mounts(&d);
	add_faults(&d);
	for (size_t i = 0; i < d.count; i++)
		if (d.findings[i].level == MISSING)
			healthy = false;
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
