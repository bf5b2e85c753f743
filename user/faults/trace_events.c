// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The trace events that report faults.
 *
 * The driver calls nv_report_error(struct pci_dev *, u32 number, ...) for each Xid, after it has printed it: open
 * modules fire a tracepoint there from release 575 on, and before that it can be probed. A tracepoint is preferred:
 * it has the message. */
#include "faults/fault_observer.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/label.h"
#include "base/process.h"
#include "faults/prove/prove.h"
#include "kernel/kernel_types.h"
#include "kernel/module_events.h"
#include "kernel/trace.h"

/* How often to look for events that came, or were switched off, without a report. */
#define LOOK_NS 60000000000ull

enum {
	EVENT_MODULE_LOAD,
	EVENT_MODULE_FREE,
	EVENT_XID,
	EVENT_SXID,
	EVENT_PROBE,
	EVENT_AER,
	EVENT_MCE,
	EVENT_OOM,
	EVENT_HANG,
	EVENTS,
};

/* What each reports; SIGNALS: nothing by itself. */
static const enum fault_signal signal_of[EVENTS] = {
	[EVENT_MODULE_LOAD] = SIGNALS,   [EVENT_MODULE_FREE] = SIGNALS,
	[EVENT_XID] = SIGNAL_XID,        [EVENT_SXID] = SIGNAL_SXID,
	[EVENT_PROBE] = SIGNAL_XID,      [EVENT_AER] = SIGNAL_PCIE_AER,
	[EVENT_MCE] = SIGNAL_MCE,        [EVENT_OOM] = SIGNAL_OOM_KILL,
	[EVENT_HANG] = SIGNAL_HUNG_TASK,
};

struct trace_events {
	const struct log *log;
	struct fault_stream *stream;
	struct fault_events *counted; /* what they report is counted there */
	struct trace_instance *instance;
	struct trace_event events[EVENTS];
	bool probe_defined;
	bool modules_changed;
	ino_t driver; /* module_number() */
	bool driver_has_function;
	uint64_t look_ns; /* when to look at all events next */
	uint64_t memory; /* of the instance, at the last such look */
};

static void read_text(char *to, size_t size, const struct trace_event *event,
		      const struct trace_record *r, const char *field)
{
	size_t len = 0;
	const char *text = trace_string(&event->format, r->data, r->len, field, &len);

	label_from_bytes(to, size, text ? text : "", text ? len : 0);
}

static uint64_t read_number(const struct trace_event *event, const struct trace_record *r,
			    const char *field, uint64_t missing)
{
	return trace_number(&event->format, r->data, r->len, field, missing);
}

/* ---- what the events report ---- */

static void on_module(void *context, const struct trace_event *event,
		      const struct trace_record *record)
{
	struct trace_events *t = context;
	char name[64];

	t->modules_changed = true;
	read_text(name, sizeof(name), event, record, "name");
	if (strcmp(name, "nvidia") != 0)
		return;
	if (event == &t->events[EVENT_MODULE_LOAD])
		fault_events_load_begins(t->counted, record->time);
	else
		fault_events_unloaded(t->counted);
}

/* The probe has one of two names: the other's pointer is NULL, which the kernel shows as nothing or as this text. */
static void read_device(char *to, size_t size, const struct trace_event *event,
			const struct trace_record *r)
{
	static const char *const fields[] = { "init", "dev" };

	for (size_t i = 0; i < COUNT(fields); i++) {
		read_text(to, size, event, r, fields[i]);
		if (*to && strcmp(to, "(fault)") != 0)
			return;
	}
	snprintf(to, size, "unknown");
}

static void on_driver(void *context, const struct trace_event *event, const struct trace_record *r)
{
	struct trace_events *t = context;
	struct fault_report report = {
		.nvswitch = event == &t->events[EVENT_SXID],
		.code = (unsigned int)read_number(event, r, "error_code", 0),
		.arrived_ns = monotonic_ns(),
		.time_ns = r->time,
	};

	read_device(report.device, sizeof(report.device), event, r);
	read_text(report.message, sizeof(report.message), event, r, "msg");
	fault_stream_report(t->stream, &report);
}

/* Sets in @signal what all have in common, and passes it on. */
static void add_signal(struct trace_events *t, const struct trace_record *r,
		       struct fault_signal_report signal, const char *text)
{
	signal.time_ns = r->time;
	signal.text = text;
	signal.text_len = strlen(text);
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

static void on_aer(void *context, const struct trace_event *event, const struct trace_record *r)
{
	const size_t unknown = COUNT(aer_severities) - 1;
	uint64_t severity = read_number(event, r, "severity", unknown);
	struct fault_signal_report signal = { .kind = "pcie_aer", .pid = -1 };
	char device[64], text[128];

	LOWER(severity, unknown);
	read_text(device, sizeof(device), event, r, "dev_name");
	snprintf(text, sizeof(text), "PCIe error: severity %s, status 0x%08x",
		 aer_severities[severity].name, (unsigned int)read_number(event, r, "status", 0));
	signal.device = device;
	signal.severity = aer_severities[severity].severity;
	add_signal(context, r, signal, text);
}

/* Of a bank's status: the error was not corrected. */
#define MCI_STATUS_UC (1ull << 61)

static void on_mce(void *context, const struct trace_event *event, const struct trace_record *r)
{
	uint64_t status = read_number(event, r, "status", 0);
	struct fault_signal_report signal = { .kind = "mce", .pid = -1 };
	char device[24], text[128];

	snprintf(device, sizeof(device), "cpu%u", (unsigned int)read_number(event, r, "cpu", 0));
	snprintf(text, sizeof(text), "machine check: bank %u, status 0x%016llx, address 0x%llx",
		 (unsigned int)read_number(event, r, "bank", 0), (unsigned long long)status,
		 (unsigned long long)read_number(event, r, "addr", 0));
	signal.device = device;
	signal.severity = status & MCI_STATUS_UC ? "warning" : "info";
	add_signal(context, r, signal, text);
}

/* The name of a process, which the event has on newer kernels only. */
static void read_comm(char *comm, size_t size, const struct trace_event *event,
		      const struct trace_record *r, int pid)
{
	size_t len = 0;
	const char *text = trace_string(&event->format, r->data, r->len, "comm", &len);

	if (text && len)
		snprintf(comm, size, "%.*s", (int)len, text);
	else
		process_first_line(pid, r->time, "comm", comm, size);
}

static void on_process(void *context, const struct trace_event *event, const struct trace_record *r)
{
	struct trace_events *t = context;
	bool oom = event == &t->events[EVENT_OOM];
	int pid = (int)read_number(event, r, "pid", (uint64_t)-1);
	char comm[64], text[128];

	read_comm(comm, sizeof(comm), event, r, pid);
	snprintf(text, sizeof(text),
		 oom ? "killed because memory ran out: %s, pid %d" : "task hangs: %s, pid %d", comm,
		 pid);
	add_signal(t, r,
		   (struct fault_signal_report){
			   .kind = oom ? "oom_kill" : "hung_task",
			   .device = "",
			   .pid = pid,
			   .comm = comm,
		   },
		   text);
}

/* ---- attaching ---- */

/* Enables the driver's tracepoints if they exist, otherwise the probe; never both, which would report a fault twice. */
static void update_driver(struct trace_events *t)
{
	struct trace_event *xid = &t->events[EVENT_XID];
	struct trace_event *probe = &t->events[EVENT_PROBE];
	bool had_tracepoint = xid->enabled, had_probe = probe->enabled;

	trace_instance_update(t->instance, &t->events[EVENT_SXID]);
	/* A probe exists before its driver, which may bring the tracepoint: disable it first. */
	if (trace_instance_has(t->instance, xid))
		trace_instance_disable(t->instance, probe);
	if (!trace_instance_update(t->instance, xid) && t->probe_defined)
		trace_instance_update(t->instance, probe);
	if (xid->enabled && !had_tracepoint)
		log_info(t->log, "using the driver's tracepoint nvidia_dev_xid");
	else if (probe->enabled && !had_probe)
		log_info(t->log, "probing the driver's nv_report_error while the driver is loaded");
}

/* Notes since when each signal is enabled, by one event or another. */
static void note_times(struct trace_events *t)
{
	for (int s = 0; s < SIGNALS; s++) {
		uint64_t *since = &t->counted->enabled_ns[s], now = UINT64_MAX;

		for (int i = 0; i < EVENTS; i++)
			if (t->events[i].enabled && (int)signal_of[i] == s)
				now = t->events[i].since_ns;
		/* Reports that were not read when the driver was unloaded are lost. */
		if (s <= SIGNAL_SXID && now == UINT64_MAX && *since != UINT64_MAX)
			fault_stream_reports_lost(t->stream, monotonic_ns());
		if (now == UINT64_MAX || *since == UINT64_MAX)
			*since = now;
	}
}

/* Notes whether the driver that is loaded reports each Xid: the probe may be enabled
 * for a driver that lacks the function. */
static void note_driver(struct trace_events *t)
{
	ino_t driver = module_number("", "nvidia");

	if (driver != t->driver)
		t->driver_has_function = driver && t->events[EVENT_PROBE].enabled &&
					 fault_offer_has_symbol("", t->events[EVENT_PROBE].name);
	t->driver = driver;
	fault_stream_reports_expected(t->stream,
				      t->events[EVENT_XID].enabled || t->driver_has_function);
}

static void look_for_driver(struct trace_events *t)
{
	t->modules_changed = false;
	t->counted->loads_traced = t->events[EVENT_MODULE_LOAD].enabled;
	update_driver(t);
	note_times(t);
	note_driver(t);
}

/* The registers of a function's first arguments: $arg1 does not work before the function's module is loaded. */
#if defined(__x86_64__)
#define ARGUMENT_1 "%%di"
#define ARGUMENT_2 "%%si"
#elif defined(__aarch64__)
#define ARGUMENT_1 "%%x0"
#define ARGUMENT_2 "%%x1"
#else
#define ARGUMENT_1 "$arg1"
#define ARGUMENT_2 "$arg2"
#endif

/* Offsets in bytes from a struct pci_dev to the two pointers of which one is to its name: dev.init_name where that is
 * set, else dev.kobj.name (dev_name() in the kernel's include/linux/device.h). False: the kernel has no BTF. */
static bool pci_name_offsets(int *init_name, int *name)
{
	int dev = kernel_member_offset("pci_dev", "dev");
	int init = kernel_member_offset("device", "init_name");
	int kobj = kernel_member_offset("device", "kobj");
	int in_kobj = kernel_member_offset("kobject", "name");

	*init_name = dev + init;
	*name = dev + kobj + in_kobj;
	return dev >= 0 && init >= 0 && kobj >= 0 && in_kobj >= 0;
}

static void define_probe(struct trace_events *t)
{
	char definition[160];
	int init_name, name, err;

	if (access(PATHF("%s/kprobe_events", t->instance->tracefs), F_OK)) {
		log_info(t->log, "this kernel has no kprobes: faults of drivers before 575 are "
				 "detected by their text only");
		return;
	}
	if (!pci_name_offsets(&init_name, &name)) {
		log_info(t->log, "cannot probe nv_report_error: the kernel has no BTF, which has "
				 "the offset of a device's name");
		return;
	}
	snprintf(definition, sizeof(definition),
		 "nvidia:nv_report_error dev=+0(+%d(" ARGUMENT_1 ")):string "
		 "init=+0(+%d(" ARGUMENT_1 ")):string error_code=" ARGUMENT_2 ":u32",
		 name, init_name);
	err = trace_instance_probe(t->instance, &t->events[EVENT_PROBE], definition);
	if (err)
		log_info(t->log,
			 "cannot probe nv_report_error: %s; faults of drivers before 575 are "
			 "detected by their text only",
			 strerror(-err));
	t->probe_defined = !err;
}

/* Enables those of the kernel that are not enabled; with @log says which it lacks. */
static void enable_kernel_events(struct trace_events *t, const struct log *log)
{
	for (int i = 0; i < EVENTS; i++) {
		struct trace_event *event = &t->events[i];

		if (i == EVENT_XID || i == EVENT_SXID || i == EVENT_PROBE || event->enabled)
			continue;
		if (!trace_instance_update(t->instance, event) && log)
			log_info(log, "the kernel has no tracepoint %s:%s", event->system,
				 event->name);
	}
}

static void look_at_all(struct trace_events *t, const struct log *log)
{
	enable_kernel_events(t, log);
	look_for_driver(t);
	t->memory = trace_instance_memory(t->instance);
	t->look_ns = monotonic_ns() + LOOK_NS;
}

struct trace_events *trace_events_new(const struct log *log, struct fault_stream *stream,
				      struct fault_events *events, int *error)
{
	struct trace_events *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct trace_events){
		.log = log,
		.stream = stream,
		.counted = events,
		.events = {
			[EVENT_MODULE_LOAD] = { "module", "module_load", on_module },
			[EVENT_MODULE_FREE] = { "module", "module_free", on_module },
			[EVENT_XID] = { "nvidia", "nvidia_dev_xid", on_driver },
			[EVENT_SXID] = { "nvswitch", "nvswitch_dev_sxid", on_driver },
			[EVENT_PROBE] = { NULL, "nv_report_error", on_driver },
			[EVENT_AER] = { "ras", "aer_event", on_aer },
			[EVENT_MCE] = { "mce", "mce_record", on_mce },
			[EVENT_OOM] = { "oom", "mark_victim", on_process },
			[EVENT_HANG] = { "sched", "sched_process_hang", on_process },
		},
	};
	t->instance = trace_instance_new(t->events, EVENTS, t);
	if (!t->instance) {
		int err = errno;

		if (err != *error)
			log_info(log,
				 "cannot use trace events: %s; faults are found by the driver's "
				 "messages only. Will try again every minute",
				 err == ENOENT ? "tracefs is not mounted at /sys/kernel/tracing" :
						 strerror(err));
		*error = err;
		free(t);
		return NULL;
	}
	if (t->instance->has_log_offset) {
		fault_stream_log_offset(stream, t->instance->log_offset_ns);
		log_debug(log, "the kernel log's clock is off by %lld ns",
			  (long long)t->instance->log_offset_ns);
	}
	define_probe(t);
	look_at_all(t, log);
	return t;
}

void trace_events_free(struct trace_events *t)
{
	if (!t)
		return;
	trace_instance_free(t->instance);
	free(t);
}

int trace_events_fd(const struct trace_events *t)
{
	return t->instance->pipe;
}

void trace_events_consume(struct trace_events *t)
{
	uint64_t missed = t->instance->missed;

	trace_instance_consume(t->instance);
	if (t->instance->missed != missed)
		fault_stream_reports_lost(t->stream, monotonic_ns());
	if (t->modules_changed)
		look_for_driver(t);
}

void trace_events_poll(struct trace_events *t)
{
	if (monotonic_ns() >= t->look_ns)
		look_at_all(t, NULL);
	else if (!t->events[EVENT_MODULE_LOAD].enabled)
		look_for_driver(t);
}

void trace_events_snapshot(const struct trace_events *t, struct snapshot *s)
{
	/* An event that the kernel does not have is not a failed hook. */
	for (int i = 0; i < EVENTS; i++)
		if (signal_of[i] != SIGNALS && t->events[i].enabled)
			snapshot_hook(&s->self, t->events[i].name, true);
	snapshot_drop(&s->self, "trace_events", t->instance->missed);
	s->self.trace_bytes = t->memory;
}
