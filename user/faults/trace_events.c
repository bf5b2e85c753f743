// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The trace events that report faults.
 *
 * The kernel's own come with GPU failures: BPF programs read them (bpf/kernel_events.bpf.c). The driver calls nv_report_error()
 * for each Xid, after it has printed it: open modules fire a tracepoint there from release 575 on. A BPF program on a module's
 * tracepoint would keep the module from being unloaded, and a trace instance takes 1.4 MB for each CPU while it is made. A kprobe on
 * that function does neither. It is set only where the driver's reports decide about faults, and ends with the module. The kernel
 * skips it if the driver's call interrupts a program of a kprobe or an event, or an update of a map. From 6.7 on it counts that, and the
 * log decides; before, the text is unverified. */
#include "faults/fault_observer.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/safe_text.h"
#include "base/process.h"
#include "kernel/trace.h"
#include "kernel_events.skel.h"

/* How often to look for what came, or was switched off, without a report. */
#define LOOK_NS 60000000000ull

/* A module that goes is there for a moment after the event. */
#define MODULE_GOES_NS 1000000000ull

#define DRIVER_EVENT "nvidia_dev_xid"

/* The tracepoints, which the programs have as their names. */
static const char *const tracepoints[KERNEL_EVENTS] = {
	[EVENT_AER] = "aer_event",           [EVENT_MCE] = "mce_record",
	[EVENT_OOM] = "mark_victim",         [EVENT_HANG] = "sched_process_hang",
	[EVENT_MODULE_LOAD] = "module_load", [EVENT_MODULE_FREE] = "module_free",
};

/* ---- what the kernel's events report ---- */

static void on_module(struct trace_events *t, const struct traced_event *e)
{
	t->modules_changed = true;
	t->look_ns = monotonic_ns() + MODULE_GOES_NS; /* once more */
	if (strcmp(e->name, "nvidia") != 0)
		return;
	if (e->event == EVENT_MODULE_LOAD)
		fault_events_load_begins(t->counted, e->time);
	else
		t->counted->load_begin_ns = 0;
}

/* Sets in @signal what all have in common, and passes it on. */
static void add_signal(struct trace_events *t, const struct traced_event *e,
		       struct fault_signal_report signal, const char *text)
{
	signal.time_ns = e->time;
	signal.text = text;
	fault_events_add_signal(t->counted, &signal);
}

/* By the kernel's values (include/linux/aer.h): its names, and our severities. */
static const struct {
	const char *name, *severity;
} aer_severities[] = {
	{ "nonfatal", "warning" },
	{ "fatal", "fatal" },
	{ "corrected", "info" },
	{ "unknown", "unknown" },
};

static void on_aer(struct trace_events *t, const struct traced_event *e)
{
	uint32_t severity = (uint32_t)e->severity;
	struct fault_signal_report signal = { .kind = "pcie_aer", .pid = -1 };
	char device[64], text[128];

	LOWER(severity, COUNT(aer_severities) - 1);
	label_from_bytes(device, sizeof(device), e->name, strlen(e->name));
	snprintf(text, sizeof(text), "PCIe error: severity %s, status 0x%08x",
		 aer_severities[severity].name, (unsigned int)e->status);
	signal.device = device;
	signal.severity = aer_severities[severity].severity;
	add_signal(t, e, signal, text);
}

/* Of a bank's status: the error was not corrected. */
#define MCI_STATUS_UC (1ull << 61)

static void on_mce(struct trace_events *t, const struct traced_event *e)
{
	struct fault_signal_report signal = { .kind = "mce", .pid = -1 };
	char device[24], text[128];

	snprintf(device, sizeof(device), "cpu%u", e->cpu);
	snprintf(text, sizeof(text), "machine check: bank %u, status 0x%016llx, address 0x%llx",
		 e->bank, e->status, e->address);
	signal.device = device;
	signal.severity = e->status & MCI_STATUS_UC ? "warning" : "info";
	add_signal(t, e, signal, text);
}

static void on_process(struct trace_events *t, const struct traced_event *e)
{
	bool oom = e->event == EVENT_OOM;
	int pid = (int)e->pid;
	char comm[64], text[128];
	struct fault_signal_report signal = { .kind = oom ? "oom_kill" : "hung_task",
					      .pid = pid,
					      .comm = comm };

	/* Before 6.9 an event of the first kind has no name. */
	if (*e->name)
		snprintf(comm, sizeof(comm), "%s", e->name);
	else
		process_comm(pid, e->time, comm, sizeof(comm));
	snprintf(text, sizeof(text),
		 oom ? "killed because memory ran out: %s, pid %d" : "task hangs: %s, pid %d", comm,
		 pid);
	add_signal(t, e, signal, text);
}

static void on_driver(struct trace_events *t, const struct traced_event *e)
{
	struct driver_report report = { .time_ns = e->time, .code = (unsigned int)e->status };
	struct span name = span_of(e->name);
	struct pci_address address;

	if (pci_address_take(&name, &address)) {
		pci_address_text(report.device, &address);
		fault_authority_report(t->authority, &report);
	} else { /* the kernel has no types of PCI devices */
		fault_authority_gap(t->authority, AUTHORITY_DRIVER, monotonic_ns());
	}
}

static int on_event(void *context, void *data, size_t size)
{
	static void (*const handlers[])(struct trace_events * t, const struct traced_event *e) = {
		[EVENT_AER] = on_aer,
		[EVENT_MCE] = on_mce,
		[EVENT_OOM] = on_process,
		[EVENT_HANG] = on_process,
		[EVENT_MODULE_LOAD] = on_module,
		[EVENT_MODULE_FREE] = on_module,
		[EVENT_XID] = on_driver,
	};
	const struct traced_event *e = data;

	if (size >= sizeof(*e) && e->event < COUNT(handlers))
		handlers[e->event](context, e);
	return 0;
}

/* ---- the driver's ---- */

bool driver_has_event(const char *root)
{
	char tracefs[PATH_MAX / 2];

	return tracefs_find(root, tracefs, sizeof(tracefs)) == TRACEFS_MOUNTED &&
	       tracefs_has_event(tracefs, "nvidia/" DRIVER_EVENT);
}

/* A number of the driver's module, if it is there, has the tracepoint, and is wanted; otherwise 0. */
static uint64_t find_driver(const struct trace_events *t)
{
	struct stat module;
	bool found = t->bpf && t->driver_wanted && driver_has_event("") &&
		     !stat("/sys/module/nvidia", &module);

	return found ? module.st_ino : 0;
}

/* When the driver is loaded again its function is another one. */
static void look_for_driver(struct trace_events *t)
{
	uint64_t driver = find_driver(t);

	t->modules_changed = false;
	if (driver == t->driver && (t->driver_link || !driver))
		return;
	if (t->driver_link)
		fault_authority_offer(t->authority, AUTHORITY_DRIVER, false, t->consumed_ns);
	bpf_link__destroy(t->driver_link);
	bpf_error_log_clear();
	t->driver_link = driver ? bpf_program__attach(t->bpf->progs.nv_report_error) : NULL;
	if (t->driver_link) {
		log_info(t->log, "the driver's reports of Xids are read");
		fault_authority_offer(t->authority, AUTHORITY_DRIVER, true, monotonic_ns());
	} else if (driver != t->driver) {
		log_info(t->log, "cannot use the driver's reports: %s; will try again every minute",
			 bpf_reason(errno));
	}
	t->driver = driver;
}

/* ---- both ---- */

/* Attaches what the kernel has. Returns whether that is anything. */
static bool attach_programs(struct trace_events *t)
{
	bool any = false;

	for (int i = 0; i < KERNEL_EVENTS; i++) {
		t->links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(t->bpf->obj, tracepoints[i]));
		if (t->links[i])
			t->counted->enabled_ns[i] = monotonic_ns();
		any |= t->links[i] != NULL;
	}
	return any;
}

bool trace_events_load(struct trace_events *t, bool quiet)
{
	/* libbpf would look for a type that this kernel lacks in all modules, for which it needs CAP_SYS_ADMIN. */
	LIBBPF_OPTS(bpf_object_open_opts, kernel_alone,
		    .btf_custom_path = "/sys/kernel/btf/vmlinux");
	bool types = !access(kernel_alone.btf_custom_path, R_OK);

	if (t->bpf)
		return true;
	bpf_error_log_clear();
	t->bpf = kernel_events_bpf__open_opts(types ? &kernel_alone : NULL);
	if (t->bpf)
		bpf_report_verified(t->bpf->obj);
	if (t->bpf && !kernel_events_bpf__load(t->bpf) && attach_programs(t)) {
		bpf_object_memory(t->bpf->obj, &t->program_memory);
		file_watch(t->epoll, bpf_map__fd(t->bpf->maps.kernel_events));
		return true;
	}
	if (!quiet)
		log_info(t->log, "the kernel's trace events are not observed: %s",
			 bpf_reason(errno));
	kernel_events_bpf__destroy(t->bpf);
	t->bpf = NULL;
	return false;
}

void trace_events_free(struct trace_events *t)
{
	bpf_link__destroy(t->driver_link);
	for (int i = 0; i < KERNEL_EVENTS; i++)
		bpf_link__destroy(t->links[i]);
	kernel_events_bpf__destroy(t->bpf);
}

void trace_events_consume(struct trace_events *t)
{
	uint64_t dropped = t->dropped, begin_ns = monotonic_ns();

	if (t->bpf) {
		struct bpf_prog_info info;

		bpf_ring_read(t->bpf->maps.kernel_events, on_event, t);
		if (t->driver_link && bpf_program_info(t->bpf->progs.nv_report_error, &info))
			t->skipped = info.recursion_misses;
		t->dropped = t->bpf->bss->kernel_events_dropped + t->skipped;
	}
	if (t->dropped != dropped) {
		fault_authority_gap(t->authority, AUTHORITY_DRIVER, monotonic_ns());
		t->modules_changed = true;
	}
	t->consumed_ns = begin_ns;
	if (t->modules_changed)
		look_for_driver(t);
}

void trace_events_poll(struct trace_events *t, bool driver_wanted)
{
	bool due = monotonic_ns() >= t->look_ns;

	t->driver_wanted = driver_wanted;
	if (due || !t->links[EVENT_MODULE_LOAD] || !t->driver)
		look_for_driver(t);
	if (due)
		t->look_ns = monotonic_ns() + LOOK_NS;
}

void trace_events_snapshot(const struct trace_events *t, struct self *s)
{
	snapshot_hook(s, "trace_events", t && t->bpf);
	if (!t)
		return;
	/* An event that the kernel does not have is not a failed hook. */
	for (int i = 0; i < KERNEL_EVENTS; i++)
		if (t->links[i] && i != EVENT_MODULE_LOAD && i != EVENT_MODULE_FREE)
			snapshot_hook(s, tracepoints[i], true);
	if (t->driver_link) {
		snapshot_hook(s, DRIVER_EVENT, true);
		s->trace_bytes = bpf_event_memory();
	}
	snapshot_drop(s, "trace_events", t->dropped);
	s->map_bytes += t->program_memory.maps;
	s->program_bytes += t->program_memory.programs;
}
