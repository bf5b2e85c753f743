// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The trace events that tell of faults.
 *
 * The driver calls nv_report_error(struct pci_dev *, u32 number, ...) for each
 * Xid, after it has printed it: open modules fire a tracepoint there from
 * release 575 on, and before that it can be probed. A tracepoint is preferred:
 * it carries the message.
 */
#include "faults/trace_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "kernel/kernel_types.h"
#include "base/label.h"
#include "kernel/trace_instance.h"

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

/* What each tells of; SIGNALS: nothing by itself. */
static const enum watched_signal signal_of[EVENTS] = {
	[EVENT_MODULE_LOAD] = SIGNALS,   [EVENT_MODULE_FREE] = SIGNALS,
	[EVENT_XID] = SIGNAL_XID,        [EVENT_SXID] = SIGNAL_SXID,
	[EVENT_PROBE] = SIGNAL_XID,      [EVENT_AER] = SIGNAL_PCIE_AER,
	[EVENT_MCE] = SIGNAL_MCE,        [EVENT_OOM] = SIGNAL_OOM_KILL,
	[EVENT_HANG] = SIGNAL_HUNG_TASK,
};

struct trace_events {
	const struct log *log;
	struct fault_stream *stream;
	struct trace_instance *instance;
	struct trace_event events[EVENTS];
	bool probe_defined;
	bool modules_changed;
};

static void copy_string(char *to, size_t size, const struct trace_event *event,
			const struct trace_record *r, const char *field)
{
	size_t len = 0;
	const char *text = trace_string(&event->format, r->data, r->len, field, &len);

	label_from_bytes(to, size, text ? text : "", text ? len : 0);
}

static uint64_t number(const struct trace_event *event, const struct trace_record *r,
		       const char *field, uint64_t missing)
{
	return trace_number(&event->format, r->data, r->len, field, missing);
}

/* ---- what the events say ---- */

static void on_module(void *context, const struct trace_event *event,
		      const struct trace_record *record)
{
	struct trace_events *t = context;

	(void)event;
	(void)record;
	t->modules_changed = true;
}

/* The probe has one of two names: the other's pointer is NULL, for which the
 * kernel puts nothing, or this word. */
static void copy_name(char *to, size_t size, const struct trace_event *event,
		      const struct trace_record *r)
{
	static const char *const fields[] = { "init", "dev" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		copy_string(to, size, event, r, fields[i]);
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
		.code = (unsigned int)number(event, r, "error_code", 0),
		.arrived_ns = monotonic_ns(),
		.time_ns = r->time,
	};

	copy_name(report.device, sizeof(report.device), event, r);
	copy_string(report.message, sizeof(report.message), event, r, "msg");
	fault_stream_driver(t->stream, &report);
}

/* @signal lacks what all have in common. */
static void send_signal(struct trace_events *t, const struct trace_record *r,
			struct signal_report signal, const char *text)
{
	signal.time_ns = r->time;
	signal.text = text;
	signal.text_len = strlen(text);
	fault_stream_signal(t->stream, &signal);
}

/* Values of the kernel's include/linux/aer.h, and what they are to us. */
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
	const size_t unknown = sizeof(aer_severities) / sizeof(*aer_severities) - 1;
	uint64_t severity = number(event, r, "severity", unknown);
	struct signal_report signal = { .kind = "pcie_aer", .pid = -1 };
	char device[64], text[128];

	if (severity > unknown)
		severity = unknown;
	copy_string(device, sizeof(device), event, r, "dev_name");
	snprintf(text, sizeof(text), "PCIe error: severity %s, status 0x%08x",
		 aer_severities[severity].name, (unsigned int)number(event, r, "status", 0));
	signal.device = device;
	signal.severity = aer_severities[severity].severity;
	send_signal(context, r, signal, text);
}

/* Of a bank's status: the error was not corrected. */
#define MCI_STATUS_UC (1ull << 61)

static void on_mce(void *context, const struct trace_event *event, const struct trace_record *r)
{
	uint64_t status = number(event, r, "status", 0);
	struct signal_report signal = { .kind = "mce", .pid = -1 };
	char device[24], text[128];

	snprintf(device, sizeof(device), "cpu%u", (unsigned int)number(event, r, "cpu", 0));
	snprintf(text, sizeof(text), "machine check: bank %u, status 0x%016llx, address 0x%llx",
		 (unsigned int)number(event, r, "bank", 0), (unsigned long long)status,
		 (unsigned long long)number(event, r, "addr", 0));
	signal.device = device;
	signal.severity = status & MCI_STATUS_UC ? "warning" : "info";
	send_signal(context, r, signal, text);
}

/* The name of a process; the event has it on newer kernels only. */
static void process_name(char *comm, size_t size, const struct trace_event *event,
			 const struct trace_record *r, int pid)
{
	char path[64];

	copy_string(comm, size, event, r, "comm");
	if (*comm)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file_first_line(path, comm, size);
}

static void on_process(void *context, const struct trace_event *event, const struct trace_record *r)
{
	struct trace_events *t = context;
	bool oom = event == &t->events[EVENT_OOM];
	int pid = (int)number(event, r, "pid", (uint64_t)-1);
	char comm[64], text[128];

	process_name(comm, sizeof(comm), event, r, pid);
	snprintf(text, sizeof(text),
		 oom ? "killed for want of memory: %s, pid %d" : "task hangs: %s, pid %d", comm,
		 pid);
	send_signal(t, r,
		    (struct signal_report){
			    .kind = oom ? "oom_kill" : "hung_task",
			    .device = "",
			    .pid = pid,
			    .comm = comm,
		    },
		    text);
}

/* ---- attaching ---- */

/* The driver's tracepoints if they are there, else the probe: never both, one
 * fault would be reported twice. */
static void update_driver(struct trace_events *t)
{
	struct trace_event *xid = &t->events[EVENT_XID];
	struct trace_event *probe = &t->events[EVENT_PROBE];
	bool had_tracepoint = xid->enabled, had_probe = probe->enabled;

	trace_instance_update(t->instance, &t->events[EVENT_SXID]);
	/* A probe is there before its driver, which may bring the tracepoint: it
	 * is gone before that is on. */
	if (trace_instance_has(t->instance, xid))
		trace_instance_disable(t->instance, probe);
	if (!trace_instance_update(t->instance, xid) && t->probe_defined)
		trace_instance_update(t->instance, probe);
	if (xid->enabled && !had_tracepoint)
		log_info(t->log, "the driver's tracepoint nvidia_dev_xid is "
				 "watched");
	else if (probe->enabled && !had_probe)
		log_info(t->log, "the driver's nv_report_error is probed, "
				 "while it is loaded");
}

/* Since when each signal is watched, by one event or another. */
static void note_times(struct trace_events *t)
{
	uint64_t now[SIGNALS], *since = t->stream->hook_since_ns;

	for (int i = 0; i < SIGNALS; i++)
		now[i] = UINT64_MAX;
	for (int i = 0; i < EVENTS; i++)
		if (t->events[i].enabled && signal_of[i] != SIGNALS)
			now[signal_of[i]] = t->events[i].since_ns;
	for (int i = 0; i < SIGNALS; i++)
		if (now[i] == UINT64_MAX || since[i] == UINT64_MAX)
			since[i] = now[i];
}

static void look_for_driver(struct trace_events *t)
{
	t->modules_changed = false;
	update_driver(t);
	note_times(t);
}

/* Where a function finds its first arguments. $arg1 would do, but not while
 * the function's module is still to come. */
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

static void define_probe(struct trace_events *t)
{
	char definition[160];
	int init_name, name, err;

	if (!trace_instance_has_probes(t->instance)) {
		log_info(t->log, "this kernel has no kprobes: drivers before 575 "
				 "are watched by their text alone");
		return;
	}
	if (pci_name_offsets(&init_name, &name)) {
		log_info(t->log, "nv_report_error is not probed: the kernel has "
				 "no BTF to tell where a device's name is");
		return;
	}
	snprintf(definition, sizeof(definition),
		 "nvidia:nv_report_error dev=+0(+%d(" ARGUMENT_1 ")):string "
		 "init=+0(+%d(" ARGUMENT_1 ")):string error_code=" ARGUMENT_2 ":u32",
		 name, init_name);
	err = trace_instance_probe(t->instance, &t->events[EVENT_PROBE], definition);
	if (err)
		log_info(t->log,
			 "nv_report_error cannot be probed: %s; drivers "
			 "before 575 are watched by their text alone",
			 strerror(-err));
	t->probe_defined = !err;
}

struct trace_events *trace_events_new(const struct log *log, struct fault_stream *stream)
{
	struct trace_events *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct trace_events){
		.log = log,
		.stream = stream,
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
		log_info(log,
			 "trace events are not watched: %s; faults are "
			 "known by the kernel log alone",
			 errno == ENOENT ? "tracefs is not mounted at "
					   "/sys/kernel/tracing" :
					   strerror(errno));
		free(t);
		return NULL;
	}
	if (trace_instance_log_offset(t->instance, &stream->log_offset_ns))
		log_debug(log, "the kernel log's clock is off by %lld ns",
			  (long long)stream->log_offset_ns);
	for (int i = 0; i < EVENTS; i++) {
		struct trace_event *event = &t->events[i];

		if (i == EVENT_XID || i == EVENT_SXID || i == EVENT_PROBE)
			continue;
		if (!trace_instance_update(t->instance, event))
			log_info(log, "the kernel has no tracepoint %s:%s", event->system,
				 event->name);
	}
	define_probe(t);
	look_for_driver(t);
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
	return trace_instance_fd(t->instance);
}

void trace_events_consume(struct trace_events *t)
{
	trace_instance_consume(t->instance);
	if (t->modules_changed)
		look_for_driver(t);
}

void trace_events_poll(struct trace_events *t)
{
	if (!t->events[EVENT_MODULE_LOAD].enabled)
		look_for_driver(t);
}

void trace_events_snapshot(struct trace_events *t, struct snapshot *s)
{
	look_for_driver(t);
	/* An event that the kernel does not have is no hook that failed. */
	for (int i = 0; i < EVENTS; i++)
		if (signal_of[i] != SIGNALS && t->events[i].enabled)
			snapshot_hook(s, t->events[i].name, true);
	snapshot_drop(s, "trace_events", trace_instance_missed(t->instance));
	s->trace_bytes = trace_instance_memory(t->instance);
}
