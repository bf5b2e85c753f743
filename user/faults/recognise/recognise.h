/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a line of the kernel log means, which job caused a fault, which faults and PCIe errors belong together, and their events. */
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/pci_address.h"
#include "base/safe_text.h"
#include "faults/faults.h"
#include "kernel_events.h"
#include "snapshot/fault_counts.h"
#include "spinning.h"
#include "xid/xid_line.h"

struct gpu_holders;

/* ---- lines of the kernel log that are no Xid: see xid/xid_line.h for those ----
 *
 * They are failures of the driver, a GPU's identity, evidence of recovery, and errors that other drivers and the
 * kernel report. Pure functions. */

enum kernel_line_kind {
	KERNEL_LINE_NONE,
	KERNEL_LINE_GPU_UUID, /* device and uuid */
	KERNEL_LINE_GPU_SERIAL, /* serial; if device is "", it belongs to the last KERNEL_LINE_GPU_UUID */
	KERNEL_LINE_GPU_RATE_LIMITED, /* the driver no longer prints all GSP errors of device */
	KERNEL_LINE_GPU_DRIVER, /* a failure of the GPU driver: name */
	KERNEL_LINE_UNRECOVERED, /* device, a GPU, is left as it is after a PCIe error of another device */
	KERNEL_LINE_VF_IGNORED, /* device, a GPU's virtual function, is not for the driver, and its probe fails */
	KERNEL_LINE_LOAD_BEGINS, /* of the GPU driver */
	KERNEL_LINE_LOADED, /* the GPU driver, at the end of its load */
	KERNEL_LINE_UNLOADED, /* the GPU driver */
	KERNEL_LINE_PROBED, /* the GPU device was found on the bus */
	KERNEL_LINE_EVENT, /* something else: name */
	/* Of a report of the kernel in many lines: see kernel_report.c. */
	KERNEL_LINE_REPORT, /* its begin: name, and device "cpuN", comm and pid if a CPU is stuck */
	KERNEL_LINE_TASK, /* device "cpuN", and comm and pid but for an RCU stall */
	KERNEL_LINE_RIP, /* function, and its module as the device */
	KERNEL_LINE_CALLER, /* the same */
	KERNEL_LINE_REPORT_ENDS,
};

/* What proves a line. */
enum kernel_line_proof {
	KERNEL_LINE_BY_DRIVER, /* The driver printed it. */
	KERNEL_LINE_FOR_PCI, /* It was printed for the PCI device that it names. */
	KERNEL_LINE_FOR_DEVICE, /* It was printed for a device. */
	KERNEL_LINE_BY_KERNEL, /* It begins a record of the kernel. */
};

struct kernel_line {
	enum kernel_line_kind kind;
	enum kernel_line_proof proof;
	const char *name; /* static: the label's value, "link_down"; "" if none */
	/* A PCI address in the form of sysfs, an NFS server, a network interface, an NVMe controller
	 * or a switch; "": none. Valid UTF-8, one word, cut to fit. */
	char device[LABEL_SIZE];
	char uuid[48]; /* "GPU-..." */
	char serial[24]; /* letters, digits, '-', '_' */
	/* The driver's own number and 1, at most MAX_GPU_NUMBERS, "GPU3": 4; 0: another, or none. */
	unsigned int gpu_number;
#define MAX_GPU_NUMBERS 32
	char comm[16]; /* of a task; "": none */
	int pid; /* of that task */
	char function[48];
	/* Do not count the line after this Xid of the same device ("": of any): it reports the same fault. 0: none. */
	unsigned int follows_xid;
	const char *caller; /* who printed it, as in struct kmsg_record; NULL: not known */
	bool follows_itself; /* the same with another line of this name */
	const char *severity; /* static: of a PCIe error; one of the severities of Xids; "": none */
	const char *text; /* from where it was recognised to the line's end, in the caller's text */
	size_t text_len;
};

/* Finds the next such line at or after text[*offset]. Start with *offset = 0 and call until false.
 *
 * @text is one record of the log, perhaps with newlines: @len bytes as they were logged, without escapes; it needs no
 * NUL. Lines are recognised from their beginning; those of the GPU driver anywhere, because it prints continuations.
 * Of a failure that takes several lines, one is reported, with the address if there is one.
 *
 * True: *out describes the line, *offset has grown. False: nothing is left, out->kind is KERNEL_LINE_NONE, *offset is
 * len. */
bool kernel_line_next(const char *text, size_t len, size_t *offset, struct kernel_line *out);

/* ---- the form of a text ----
 *
 * Users can make the kernel print their text within its messages, with newlines. The best proof is who called printk.
 * Where that is not known, the form of a record decides. Pure functions. */

struct kmsg_record;

/* Whether a header at @at is the driver's own, if the driver made the call that printed @text. It must begin a line, because the
 * driver also prints names that users choose. */
bool form_of_call(const char *text, size_t len, const char *at);

/* Whether a fault or another line in @text, the text of @record, is where the kernel and its drivers print it: at the beginning
 * of a record of the kernel. The record of an Xid must be a continuation (KERN_CONT). */
bool form_of_fault(const struct kmsg_record *record, const char *text, const struct xid_line *line);
bool form_of_line(const struct kmsg_record *record, const char *text,
		  const struct kernel_line *line);

/* ---- causes ----
 *
 * A number for the job of the process @pid. One job or user must not make a GPU look as if it failed many jobs. A job is
 * a cgroup that its user could not make: the path up to the first group that belongs to a user, or that systemd has for
 * all sessions of a user. A process that has ended is a job of its own; @ended: it is known that it has. 0: @pid is not
 * above 0. @root is put before the paths. */
uint32_t fault_cause(const char *root, int pid, bool ended);

/* ---- events: counts each fault and each other failure, and passes an event on; report each once ---- */

/* A report of the kernel that is being read. */
struct kernel_report {
	const char *kind; /* NULL: none */
	bool ended; /* without a kind: the last one was an oops, or of corrupt memory */
	uint64_t time_ns, last_ns; /* of its first and last line */
	bool stuck, hangs; /* of a CPU, or of a task that hangs; of that task */
	bool again; /* as in struct fault_signal_report */
	char cpu[16], comm[16], owner[64], text[160];
	char caller[16]; /* as in struct kmsg_record; "": not known */
	/* A CPU whose report came in the middle. @aside: the lines that come are its; @other_rip: its RIP is still to come. */
	char other[16];
	bool aside, other_rip;
	int pid; /* of @comm; -1: not known */
	struct kernel_place {
		char function[48], module[32];
	} top, first, watched; /* RIP; the first with a module; the first of a watched module */
};

struct fault_events {
	/* Set by the caller: */
	struct faults *faults;
	event_handler *handle;
	void *context; /* of @handle */
	const struct xid_policy *policy;
	const struct log *log;
	uint64_t started_ns; /* CLOCK_MONOTONIC: what is older is replayed */
	/* CLOCK_MONOTONIC: since when each trace event is observed; 0: it is not. Text of it counts only if it is from before. */
	uint64_t enabled_ns[KERNEL_EVENTS];
	struct clock_offsets clocks;
	struct gpu_holders *holders; /* NULL: events do not name who holds a GPU */
	const struct dead_task *dead; /* DEAD_TASKS of them; NULL: not known */

	/* Its own: */
	uint64_t load_begin_ns; /* of the driver's load, CLOCK_MONOTONIC; 0: none, or not known */
	uint64_t last_xid_ns;
	double unrecovered; /* the last KERNEL_LINE_UNRECOVERED, in seconds since the boot; 0: none */
	double vf_ignored; /* the same for KERNEL_LINE_VF_IGNORED, and its device */
	char vf[LABEL_SIZE];
	struct {
		uint64_t since_ns, last_ns;
	} heartbeats[MAX_GPU_NUMBERS + 1]; /* missed ones in a row, by the line's gpu_number */
	struct kernel_report report;
	char last_gpu[PCI_ADDRESS_SIZE]; /* of the identity line before this one */
};

/* How a fault was reported. */
struct fault_report {
	const char *text;
	size_t len;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const char *authority; /* static: one of fault_authority_names */
	const char *printed_by; /* the task that printed the text; NULL: unknown */
	int printed_pid; /* of that task */
};

/* Adds a fault, or if it is not @proved a text that looks like one. @line was read from the text of @r. */
void fault_events_add_fault(struct fault_events *e, const struct xid_line *line,
			    const struct fault_report *r, bool proved);

/* What happened besides faults, by a tracepoint or a line of the kernel log. */
struct fault_signal_report {
	bool gpu_driver; /* a failure of the GPU driver */
	bool again; /* it has been counted, and lasts: no event */
	const char *kind; /* static */
	const char *device; /* NULL or "": none */
	const char *severity; /* one of an Xid's; NULL: unknown */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int pid; /* -1: none */
	const char *comm; /* NULL: unknown */
	const char *about; /* what is known besides, for people; NULL: nothing */
	const char *text; /* NULL: none */
	size_t text_len; /* 0: up to its NUL */
};
void fault_events_add_signal(struct fault_events *e, const struct fault_signal_report *signal);

/* Takes all GPUs on the PCI bus; call it once a minute. If there are fewer than before or in the last boot, a GPU that two
 * looks do not find is a failure "gpu_gone", until it is found or another GPU takes its place. */
void fault_events_add_gpus(struct fault_events *e, const char (*gpus)[PCI_ADDRESS_SIZE],
			   size_t count, uint64_t time_ns);

/* A line of the kernel log that is no fault. */
void fault_events_add_line(struct fault_events *e, uint64_t time_ns,
			   const struct kernel_line *line);

/* The driver's load begins; the load has succeeded. A load that succeeds ends the faults from before
 * it began. It takes up to half a minute, and faults in that time stay open. Both the kernel's tracepoints and the driver's
 * lines report these. */
void fault_events_load_begins(struct fault_events *e, uint64_t time_ns);
void fault_events_loaded(struct fault_events *e);

/* The faults of @gpu ("all") until @time_ns (CLOCK_MONOTONIC) are over. */
void fault_events_add_recovery(struct fault_events *e, const char *gpu, const char *evidence,
			       uint64_t time_ns);

/* ---- reports of the kernel: kernel_report.c ---- */

/* " of job 71", " of pod UID"; "": neither, or the task that had the number @pid at @time_ns (CLOCK_MONOTONIC) has ended and is not
 * one of @dead, see struct fault_events. */
void task_owner(char *owner, size_t size, int pid, uint64_t time_ns, const struct dead_task *dead);

/* Adds an event of the task @pid, in @function (or ""), which has run on the CPU @device or hung in that module. @again: it lasts. */
void fault_events_add_task(struct fault_events *e, const char *device, int pid,
			   const char *function, uint64_t since_ns, bool again);

/* Sets the place. NFS that is built in has the name of its module. */
void kernel_place_set(struct kernel_place *place, struct span function, struct span module);

void kernel_report_begin(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns);
void kernel_report_add(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns);
/* Hands out the report, if there is one; if it is a second old. */
void kernel_report_end(struct fault_events *e);
void kernel_report_expire(struct fault_events *e, uint64_t now_ns);
