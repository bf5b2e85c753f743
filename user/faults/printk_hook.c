// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The hook on the kernel's printk: loads bpf/printk.bpf.c and passes its messages to the authority on faults.
 *
 * A text proves nothing: users can have the kernel print theirs, by mount options, names of files, processes and
 * cgroups. What proves a fault is who called printk. From commit 5aa7eea9316c of 5.19 on, which some distributions have
 * in older kernels, the tracepoint printk:console runs in the context of the code that prints, and its stack is, from
 * the innermost address on:
 *
 *	printk_sprint, vprintk_store, vprintk_emit, _printk, CALLER, ...
 *
 * If CALLER lies in a module of the driver, the message is the driver's (below). The kernel names them while it
 * prints, so modules that come and go change nothing, and no address need be shown. Before that commit the
 * tracepoint runs when a console prints, and its stack is the console's. Its form is the same, and version numbers do
 * not tell: the stack of the first message does. If none has come when the log has been read, the hook prints one
 * through /dev/kmsg (before, it would push a record out of a full log). Where the kernel does not show who prints, the
 * hook proves nothing and is detached.
 *
 * The program passes on only messages with a mark of the driver ("NVRM", "SXid", "nvsw"): on most nodes none, ever. Its
 * ring buffer holds some 460. In a storm it may fill before it is read. Then the program counts what it drops, by whether
 * the driver was on the stack. What may be the driver's opens a gap: the log decides about what was printed until now.
 * Others may fill half of the buffer only, and what they lose opens none.
 */
#include "faults/fault_authority.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/span.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_log.h"
#include "printk.skel.h"

/* More messages than the buffer holds: after so many reads, all that was in it has been read. */
#define READ_MAX (PRINTK_RING_BYTES / PRINTK_SHORT)

/* A message that the hook takes, and that is no fault. Without a newline it could be continued, and would be readable only
 * after the next message: it would seem to be older than all that has been read. */
#define QUESTION "xidscope: test whether the kernel shows who prints (NVRM)\n"

#define WITHOUT_CALLERS \
	"Faults count by the driver's tracepoint, or by the form of the kernel log's records, if it can be read"

struct printk_hook {
	const struct log *log;
	struct fault_authority *authority; /* NULL: it is only tried */
	struct printk_bpf *bpf;
	struct bpf_memory memory;
	struct kernel_log_mark begin, attached; /* all after the second, some after the first */
	uint64_t attached_ns; /* CLOCK_MONOTONIC */
	uint64_t dropped; /* messages, at the last look */
	uint64_t unnamed; /* messages whose caller has no name */
	unsigned int read; /* messages, in this turn */
	bool tried; /* to ask; the question may not have been printed */
	enum { CALLERS_UNTOLD, CALLERS_KNOWN, CALLERS_HIDDEN } callers;
};

bool printk_marked(const char *text, size_t len)
{
	return memmem(text, len, "NVRM", 4) || memmem(text, len, "SXid", 4) ||
	       memmem(text, len, "nvsw", 4);
}

/* ---- who calls printk ---- */

/* The first message shows whether the kernel shows who prints. */
static void learn_callers(struct printk_hook *h, const struct printk_names *names)
{
	h->callers = printk_origin_shown(names) ? CALLERS_KNOWN : CALLERS_HIDDEN;
	if (h->authority && h->callers == CALLERS_KNOWN)
		fault_authority_offer(h->authority, AUTHORITY_HOOK, true, h->attached_ns);
}

int printk_hook_ask(struct printk_hook *h)
{
	static const char text[] = "<7>" QUESTION;
	OPEN_FILE kmsg = -1;

	if (!h || h->callers == CALLERS_KNOWN)
		return 0;
	h->tried = true;
	if (h->callers == CALLERS_UNTOLD) {
		kmsg = kernel_log_device("", O_WRONLY);
		if (kmsg < 0 || write(kmsg, text, strlen(text)) < 0)
			return 0;
		printk_hook_consume(h);
	}
	if (h->callers == CALLERS_KNOWN)
		return 0;
	/* The hook did not get it: a console prints it later, or not at all. */
	return -ENOTSUP;
}

bool printk_release_shows(const char *root)
{
	const char *path = PATHF("%s/proc/sys/kernel/osrelease", root);
	uint64_t major = file_number(path, "", 10), minor = file_number(path, ".", 10);

	return major > 5 || (major == 5 && minor >= 19);
}

bool printk_hook_shows(const struct printk_hook *h)
{
	if (!h || h->callers != CALLERS_UNTOLD || !h->tried)
		return h && h->callers != CALLERS_HIDDEN;
	return printk_release_shows("");
}

bool printk_hook_undecided(const struct printk_hook *h)
{
	return h && !h->tried && h->callers == CALLERS_UNTOLD;
}

/* ---- messages ---- */

static void pass_message(struct printk_hook *h, const struct printk_event *event)
{
	enum printk_origin origin;

	if (h->callers == CALLERS_UNTOLD)
		learn_callers(h, &event->names);
	if (h->callers != CALLERS_KNOWN || !h->authority)
		return;
	origin = printk_origin(&event->names);
	/* Without a module of the driver it is not the driver's. */
	if (origin == PRINTK_ORIGIN_UNKNOWN && !printk_driver_modules(""))
		origin = PRINTK_ORIGIN_OTHER;
	h->unnamed += origin == PRINTK_ORIGIN_UNKNOWN;
	fault_authority_message(h->authority, event, origin);
}

static int on_event(void *context, void *data, size_t size)
{
	const struct printk_event *event = data;
	struct printk_hook *h = context;

	if (size >= sizeof(*event) && event->len <= size - sizeof(*event))
		pass_message(h, event);
	/* A flood may fill the buffer as fast as it is read: the loop must end. */
	return ++h->read < READ_MAX ? 0 : -1;
}

/* Messages that found the buffer full, or the program running already. */
static uint64_t count_dropped(const struct printk_hook *h)
{
	struct bpf_prog_info info;

	bpf_program_info(h->bpf->progs.printk_console, &info);
	return h->bpf->bss->printk_dropped + info.recursion_misses;
}

void printk_hook_consume(struct printk_hook *h)
{
	uint64_t dropped;

	if (!h)
		return;
	h->read = 0;
	bpf_ring_read(h->bpf->maps.printk_ring, on_event, h);
	dropped = count_dropped(h);
	if (dropped != h->dropped && h->authority)
		fault_authority_gap(h->authority, AUTHORITY_HOOK, monotonic_ns());
	h->dropped = dropped;
}

enum record_age printk_hook_age(struct printk_hook *h, uint64_t sequence)
{
	if (h && sequence < kernel_log_after(&h->begin))
		return RECORD_BEFORE_HOOK;
	return h && sequence < kernel_log_after(&h->attached) ? RECORD_AT_HOOK : RECORD_NEW;
}

/* ---- attaching ---- */

/* Returns 0 or an errno. */
static int attach_hook(struct printk_hook *h, const struct log *log)
{
	int err;

	/* From 5.13 on. Kernels before do not show who prints. */
	if (!libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_snprintf, NULL))
		return ENOTSUP;
	bpf_error_log_clear();
	h->bpf = printk_bpf__open();
	if (h->bpf)
		bpf_report_verified(h->bpf->obj);
	err = !h->bpf || printk_bpf__load(h->bpf) ? errno : 0;
	kernel_log_mark(&h->begin);
	if (!err && printk_bpf__attach(h->bpf))
		err = errno;
	kernel_log_mark(&h->attached);
	h->attached_ns = monotonic_ns();
	if (err) {
		log_write_lines(log, LOG_LEVEL_WARN, bpf_error_log(),
				"cannot hook printk: %s; %s. " WITHOUT_CALLERS, bpf_reason(err),
				bpf_advice(err));
		return err;
	}
	bpf_object_memory(h->bpf->obj, &h->memory);
	return 0;
}

struct printk_hook *printk_hook_new(const struct log *log, bool quiet,
				    struct fault_authority *authority, int epoll)
{
	struct printk_hook *h = calloc(1, sizeof(*h));
	struct log attaching = *log;
	int err;

	if (!h)
		return NULL;
	attaching.quiet |= quiet;
	h->log = log;
	h->authority = authority;
	h->begin.fd = h->attached.fd = -1;
	err = attach_hook(h, &attaching);
	if (!err) {
		file_watch(epoll, bpf_map__fd(h->bpf->maps.printk_ring));
		return h;
	}
	printk_hook_free(h);
	errno = err;
	return NULL;
}

void printk_hook_free(struct printk_hook *h)
{
	if (!h)
		return;
	printk_bpf__destroy(h->bpf);
	kernel_log_mark_free(&h->begin);
	kernel_log_mark_free(&h->attached);
	free(h);
}

int printk_hook_try(void)
{
	const struct log silent = { .quiet = true };
	struct printk_hook *h = printk_hook_new(&silent, true, NULL, -1);
	int err = h ? printk_hook_ask(h) : -errno;

	if (h && !err)
		err = printk_hook_shows(h) ? PRINTK_SHOWN : PRINTK_NOT_ASKED;
	else if (err == -ENOTSUP)
		err = PRINTK_NOT_SHOWN;
	printk_hook_free(h);
	return err;
}

void printk_hook_snapshot(const struct printk_hook *h, struct self *self)
{
	if (!h)
		return;
	self->map_bytes += h->memory.maps;
	self->program_bytes += h->memory.programs;
	bpf_hooks_count(&(struct bpf_hooks){ .skeleton = h->bpf }, 0, snapshot_program, self);
	snapshot_drop(self, "printk", count_dropped(h) + h->unnamed);
	/* Those for which there was room, which is kept for the driver's: none of its modules was on their stack. */
	snapshot_drop(self, "printk_others", h->bpf->bss->printk_others_dropped);
}

enum function_kind {
	CALLER,
	INNER, /* it calls the tracepoint: a stack that is taken there begins with it */
	OUTER,
	WRITTEN, /* it prints what a process has written */
	MADE, /* code from which the kernel calls a function that is traced: it called nothing itself */
	LOST, /* it replaces a return address that is hidden, or has no name */
};

static const struct {
	const char *name;
	enum function_kind kind;
} named[] = {
#define TABLE_ROW(...) { __VA_ARGS__ },
#include "printk_functions.inc"
};

/* The inode of a module's folder in sysfs, which exists before the module runs, differs each time that it is loaded. */
uint64_t printk_driver_modules(const char *root)
{
	uint64_t sum = 0;
	struct stat st;

	ARRAY_EACH(name, gpu_modules, GPU_MODULES_PRINT) {
		if (!stat(PATHF("%s/sys/module/%s", root, *name), &st))
			sum += st.st_ino;
		else if (!strcmp(*name, "nvidia"))
			break;
	}
	return sum;
}

/* A function's in a module is that of a caller: its name has a bracket. */
static enum function_kind kind_of(struct span name)
{
	struct span rest = name;

	/* "0xffffffffc0900010": it may lie in a module that has no symbols. */
	if (span_starts_with(name, "0x"))
		return LOST;
	if (span_take(&rest, "bpf_trampoline_") && span_number(rest, UINT64_MAX, &(uint64_t){ 0 }))
		return MADE;
	for (size_t i = 0; i < COUNT(named); i++) {
		rest = name;
		/* The compiler appends ".cold", ".isra.0" and so on to names of parts. */
		if (span_take(&rest, named[i].name) && (!span_left(rest) || *rest.at == '.'))
			return named[i].kind;
	}
	return CALLER;
}

/* Takes the next line, which is a name only if a newline ends it. */
static bool next_name(struct span *names, struct span *name)
{
	*name = (struct span){ names->at, memchr(names->at, '\n', span_left(*names)) };
	if (!name->end)
		return false;
	names->at = name->end + 1;
	return true;
}

/* "nv_printf [nvidia]". The last bracket is the kernel's; what stands before it comes from the module's file. */
static enum printk_origin origin_in_module(struct span name)
{
	struct span module = name;

	while (span_take_through(&module, " [")) {
	}
	module.end--;
	return module.at > name.at &&
			       ARRAY_FIND(d, gpu_modules, GPU_MODULES_PRINT, span_is(module, *d)) ?
		       PRINTK_ORIGIN_DRIVER :
		       PRINTK_ORIGIN_OTHER;
}

/* Moves behind those that the tracepoint calls and the first of printk's functions. False: there is none, or it does not call the
 * tracepoint. */
static bool take_inner(struct span *names)
{
	struct span name;

	while (next_name(names, &name)) {
		switch (kind_of(name)) {
		case INNER:
			return true;
		case OUTER:
		case WRITTEN:
			return false;
		default:
			break;
		}
	}
	return false;
}

static struct span span_of_names(const struct printk_names *names)
{
	return (struct span){ names->text,
			      names->text + strnlen(names->text, sizeof(names->text)) };
}

bool printk_origin_shown(const struct printk_names *names)
{
	struct span rest = span_of_names(names);

	return take_inner(&rest);
}

enum printk_origin printk_origin(const struct printk_names *names)
{
	struct span rest = span_of_names(names), name;

	if (!take_inner(&rest))
		return PRINTK_ORIGIN_UNKNOWN;
	while (next_name(&rest, &name)) {
		if (span_ends_with(name, "]"))
			return origin_in_module(name);
		switch (kind_of(name)) {
		case WRITTEN:
			return PRINTK_ORIGIN_PROCESS;
		case LOST:
			return PRINTK_ORIGIN_UNKNOWN;
		case CALLER:
			return PRINTK_ORIGIN_OTHER;
		default:
			break;
		}
	}
	return PRINTK_ORIGIN_UNKNOWN;
}
