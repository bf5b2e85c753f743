// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The trace events that report faults.
 *
 * The driver calls nv_report_error() for each Xid, after it has printed it: open modules fire a tracepoint there from
 * release 575 on. The kernel's own come with GPU failures: BPF programs read them. Only a trace instance can read the
 * driver's. It is made where that event decides about faults, and where the kernel does not accept the programs. */
#include "faults/fault_observer.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/label.h"
#include "base/process.h"
#include "faults/fault_authority.h"
#include "kernel/trace.h"

/* How often to look for events that came, or were switched off, without a report. */
#define LOOK_NS 60000000000ull

enum { EVENT_XID = KERNEL_EVENTS, EVENTS };

/* What each reports; SIGNALS: nothing by itself. */
static const enum fault_signal signal_of[EVENTS] = {
	[EVENT_MODULE_LOAD] = SIGNALS,   [EVENT_MODULE_FREE] = SIGNALS,
	[EVENT_XID] = SIGNALS,           [EVENT_AER] = SIGNAL_PCIE_AER,
	[EVENT_MCE] = SIGNAL_MCE,        [EVENT_OOM] = SIGNAL_OOM_KILL,
	[EVENT_HANG] = SIGNAL_HUNG_TASK,
};

struct trace_events {
	const struct log *log;
	struct fault_authority *authority;
	struct fault_events *counted; /* what they report is counted there */
	int *error; /* why there is no instance, at the last try */
	struct trace_programs *programs; /* NULL: the instance has the kernel's events, too */
	struct bpf_memory program_memory;
	uint64_t dropped; /* by the programs */
	struct trace_instance *instance; /* NULL: none is needed, or there is none */
	bool driver_wanted;
	int epoll; /* the caller's, for both */
	struct trace_event events[EVENTS];
	bool modules_changed;
	uint64_t consumed_ns; /* CLOCK_MONOTONIC: all that they had until then was read */
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

static void on_driver(void *context, const struct trace_event *event, const struct trace_record *r)
{
	struct trace_events *t = context;
	struct driver_report report = {
		.code = (unsigned int)read_number(event, r, "error_code", 0),
		.time_ns = r->time,
	};

	read_text(report.device, sizeof(report.device), event, r, "dev");
	read_text(report.message, sizeof(report.message), event, r, "msg");
	fault_authority_report(t->authority, &report);
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

/* Returns whether there is an instance then; otherwise it logs the reason, but not twice in turn. */
static bool make_instance(struct trace_events *t)
{
	size_t first = t->programs ? EVENT_XID : 0;
	int err = 0;

	t->instance = trace_instance_new(&t->events[first], EVENTS - first, t);
	if (t->instance) {
		file_watch(t->epoll, t->instance->pipe);
		t->memory = trace_instance_memory(t->instance);
	} else {
		err = errno;
	}
	if (err && err != *t->error)
		log_info(t->log, "cannot use trace events: %s; will try again every minute",
			 err == ENOENT ? "tracefs is not mounted at /sys/kernel/tracing" :
			 err == EPERM  ? "lockdown hides the files of tracefs" :
					 strerror(err));
	*t->error = err;
	return t->instance;
}

/* Whether the driver has the event, or nobody can say. */
static bool driver_may_report(void)
{
	char tracefs[64];

	return tracefs_find("", tracefs, sizeof(tracefs)) != TRACEFS_MOUNTED ||
	       !access(PATHF("%s/events/nvidia/nvidia_dev_xid", tracefs), F_OK);
}

/* The kernel drops what was not read when it unloads the driver. */
static void look_for_driver(struct trace_events *t)
{
	struct trace_event *xid = &t->events[EVENT_XID];
	uint64_t since_ns = xid->since_ns;
	bool had = xid->enabled;

	t->modules_changed = false;
	if (!t->instance && !(t->driver_wanted && driver_may_report() && make_instance(t)))
		return;
	trace_instance_update(t->instance, xid);
	if (had && (!xid->enabled || xid->since_ns != since_ns))
		fault_authority_driver(t->authority, false, t->consumed_ns);
	if (xid->enabled && (!had || xid->since_ns != since_ns)) {
		log_info(t->log, "the driver has the tracepoint nvidia_dev_xid");
		fault_authority_driver(t->authority, true, xid->since_ns);
	}
}

/* Enables those of the kernel that are not enabled; with @log says which it lacks. */
static void enable_kernel_events(struct trace_events *t, const struct log *log)
{
	for (int i = 0; i < EVENTS; i++) {
		struct trace_event *event = &t->events[i];

		if (i == EVENT_XID || event->enabled)
			continue;
		if (!trace_instance_update(t->instance, event) && log)
			log_info(log, "the kernel has no tracepoint %s:%s", event->system,
				 event->name);
	}
}

static void look_at_all(struct trace_events *t, const struct log *log)
{
	if (!t->programs)
		enable_kernel_events(t, log);
	for (int i = 0; i < EVENTS; i++)
		if (signal_of[i] != SIGNALS)
			t->counted->enabled_ns[signal_of[i]] =
				t->events[i].enabled ? t->events[i].since_ns : UINT64_MAX;
	look_for_driver(t);
	if (t->instance)
		t->memory = trace_instance_memory(t->instance);
	t->look_ns = monotonic_ns() + LOOK_NS;
}

struct trace_events *trace_events_new(const struct log *log, struct fault_authority *authority,
				      struct fault_events *events, int epoll, int *error)
{
	struct trace_events *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct trace_events){
		.log = log,
		.authority = authority,
		.counted = events,
		.error = error,
		.epoll = epoll,
		.events = {
			[EVENT_MODULE_LOAD] = { "module", "module_load", on_module },
			[EVENT_MODULE_FREE] = { "module", "module_free", on_module },
			[EVENT_XID] = { "nvidia", "nvidia_dev_xid", on_driver },
			[EVENT_AER] = { "ras", "aer_event", on_aer },
			[EVENT_MCE] = { "mce", "mce_record", on_mce },
			[EVENT_OOM] = { "oom", "mark_victim", on_process },
			[EVENT_HANG] = { "sched", "sched_process_hang", on_process },
		},
	};
	t->programs = trace_programs_new(t->events, t, epoll, &t->program_memory);
	if (!t->programs && !make_instance(t)) {
		trace_events_free(t);
		return NULL;
	}
	t->consumed_ns = monotonic_ns();
	look_at_all(t, log);
	return t;
}

void trace_events_free(struct trace_events *t)
{
	if (!t)
		return;
	trace_instance_free(t->instance);
	trace_programs_free(t->programs);
	free(t);
}

void trace_events_consume(struct trace_events *t)
{
	uint64_t missed = t->instance ? t->instance->missed : 0, begin_ns = monotonic_ns();

	if (t->programs)
		t->dropped = trace_programs_consume(t->programs);
	if (t->instance) {
		trace_instance_consume(t->instance);
		if (t->instance->missed != missed)
			fault_authority_gap(t->authority, AUTHORITY_DRIVER, monotonic_ns());
	}
	t->consumed_ns = begin_ns;
	if (t->modules_changed)
		look_for_driver(t);
}

void trace_events_poll(struct trace_events *t, bool driver_wanted)
{
	t->driver_wanted = driver_wanted;
	if (monotonic_ns() >= t->look_ns)
		look_at_all(t, NULL);
	else if (!t->events[EVENT_MODULE_LOAD].enabled || !t->instance)
		look_for_driver(t);
}

void trace_events_snapshot(const struct trace_events *t, struct snapshot *s)
{
	/* An event that the kernel does not have is not a failed hook. */
	for (int i = 0; i < EVENTS; i++)
		if ((signal_of[i] != SIGNALS || i == EVENT_XID) && t->events[i].enabled)
			snapshot_hook(&s->self, t->events[i].name, true);
	snapshot_drop(&s->self, "trace_events",
		      t->dropped + (t->instance ? t->instance->missed : 0));
	s->self.trace_bytes = t->memory;
	s->self.map_bytes += t->program_memory.maps;
	s->self.program_bytes += t->program_memory.programs;
}
