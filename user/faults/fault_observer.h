/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything that detects faults: the kernel log, the printk hook, the tracepoints of the driver and of the kernel, and
 * the state file. If one of them is missing, the others continue. */
#pragma once

#include "base/helper.h"
#include "base/log.h"
#include "base/span.h"
#include "faults/fault_authority.h"
#include "faults/faults.h"
#include "faults/recognise/recognise.h"
#include "kernel/bpf_support.h"
#include "snapshot/fault_counts.h"
#include "snapshot/snapshot.h"
#include "spinning.h"
#include "xid/xid_line.h"

struct fault_options {
	bool replay; /* count records of the kernel log from before the start */
	bool holders; /* events name who holds a GPU, if the driver names no process */
	bool spinners; /* look for tasks that spin in the kernel */
	bool accept_user_kmsg; /* count records that processes wrote */
	bool alone; /* nothing else is observed */
	const struct state_store *state; /* the file that keeps the counts; NULL: none */
	event_handler *handle; /* takes an event of each fault */
	void *context; /* of @handle */
	const struct xid_policy *policy;
};

struct fault_observer;

/* Attaches what is available, and logs what is missing, which fault_observer_poll() tries again. @epoll is readable when there
 * is something to consume. The arguments must outlive it. Returns NULL with errno set; EPERM: it is alone, and this process may
 * observe nothing. */
struct fault_observer *fault_observer_new(const struct log *log,
					  const struct fault_options *options, int epoll);
/* Counts what is still pending, saves the counts, and detaches. */
void fault_observer_free(struct fault_observer *g);

/* Reads all that is pending. */
void fault_observer_consume(struct fault_observer *g);

/* Call it every FAULT_POLL_MS, for what no descriptor reports. @modules: some may have come or gone. */
#define FAULT_POLL_MS 1000
void fault_observer_poll(struct fault_observer *g, bool modules);

/* Call it if the state that was saved last could not be written. */
void fault_observer_state_lost(struct fault_observer *g);

/* All GPUs that are on the PCI bus: see fault_events_add_gpus(). @g may be NULL. */
void fault_observer_gpus(struct fault_observer *g, const char (*gpus)[PCI_ADDRESS_SIZE],
			 size_t count);

/* A task hangs in this function of a module of the GPU driver; @again: it still does. */
void fault_observer_hang(struct fault_observer *g, int pid, const char *module,
			 const char *function, uint64_t since_ns, bool again);

/* Whether the GPU driver was loaded in this boot or the last one, as far as is known. @g may be NULL. */
bool fault_observer_had_driver(const struct fault_observer *g);

/* Adds the counts and the hooks' state to @s; @g may be NULL. */
void fault_observer_snapshot(struct fault_observer *g, struct snapshot *s);

/* ---- what the kernel offers to it, from the kernel's own files ---- */

struct fault_offer {
	bool log; /* this process may read /dev/kmsg */
	bool log_off; /* the kernel lets nobody read it */
	int every_message; /* whether it runs for all messages, shown or not: the result of printk_hook_try() */
	bool driver; /* nvidia is loaded */
	char driver_version[64]; /* "" if unknown */
	bool driver_event; /* it has the tracepoint nvidia_dev_xid */
	enum fault_authority_kind authority; /* whose reports will count */
};

/* @root is put before each path of the system; @every_message is kept. */
void fault_offer_read(struct fault_offer *f, const char *root, int every_message);

/* ---- its trace events ----
 *
 * Those that report faults: the NVIDIA driver's own, and those of the kernel that come with GPU failures. */

/* Initialise with { .log, .authority, .counted, .epoll }. */
struct trace_events {
	const struct log *log;
	struct fault_authority *authority; /* takes the driver's reports */
	struct fault_events *counted; /* take the others */
	int epoll; /* readable when records wait */
	struct kernel_events_bpf *bpf; /* NULL: the kernel refuses them, or has none */
	struct bpf_link *links[KERNEL_EVENTS];
	struct bpf_memory program_memory;
	uint64_t driver; /* a number of the driver's module; 0: none is needed, or there is none */
	struct bpf_link *driver_link; /* NULL: its reports are not observed */
	uint64_t skipped; /* reports that the kernel kept from the program, at the last look */
	uint64_t dropped; /* these, and events for which there was no room */
	bool driver_wanted;
	bool modules_changed;
	uint64_t consumed_ns; /* CLOCK_MONOTONIC: all that they had until then was read */
	uint64_t look_ns; /* when to look at all next */
};

/* Whether the driver has its tracepoint. @root is put before the paths. */
bool driver_has_event(const char *root);

void trace_events_free(struct trace_events *t);

/* Observes the kernel's events, unless it does already. Returns false, unless @quiet after logging the reason, if the kernel refuses
 * the programs. */
bool trace_events_load(struct trace_events *t, bool quiet);

/* Consumes the records that wait. */
void trace_events_consume(struct trace_events *t);

/* Checks whether the driver was loaded or unloaded, once a minute even if the kernel reports that. @driver_wanted: if the driver has
 * its event, it is the authority. */
void trace_events_poll(struct trace_events *t, bool driver_wanted);

/* Adds the events' state; @t may be NULL. */
void trace_events_snapshot(const struct trace_events *t, struct self *s);

/* ---- spinners.c: tasks that run in the kernel for 40 s without leaving it ---- */

/* Initialise with {}. */
struct spinners {
	struct spinning_bpf *bpf; /* NULL: not loaded */
	struct bpf_memory memory; /* of its maps and programs */
	bool failed; /* the kernel refuses it: not tried again */
	uint64_t looked_ns, asked_ns; /* the last look; when a stack was asked for, 0: none is */
	struct spinner {
		struct spin_task since; /* as it was when it entered the kernel */
		uint64_t since_ns, seen_ns, told_ns;
		unsigned int cpu;
	} * list, asked;
	size_t count;
};

void spinners_free(struct spinners *s);

/* Call it every second: looks every 5 s, and adds a "kernel_spin" of the CPU to @e for each 40 s that a task spins. */
void spinners_look(struct spinners *s, struct fault_events *e, uint64_t now_ns);

/* ---- its parts, for tests ---- */

/* Takes what each CPU runs. Returns a task that may have spun for 40 s since the last time; NULL: none. */
struct spinner *spinners_take(struct spinners *s, const struct spin_task *tasks, size_t cpus,
			      uint64_t now_ns);

/* Finds the function on whose behalf the task runs: the first one of NFS or of the GPU driver (returns true), else the first
 * one of another module, else none (""). A line of @stack is "nfs_updatepage+0x15/0x40 [nfs]". */
bool spinners_function(struct span stack, struct kernel_place *place);

/* ---- gpu_holders.c ----
 *
 * Which processes hold a GPU's device file, /dev/nvidiaN, for faults whose process the driver does not name; and the
 * GPUs' UUIDs, which the driver prints only for a GPU that it has initialised.
 *
 * Another process looks. It is started at such a fault, and the caller waits for it for HELPER_WAIT_NS at most: the
 * driver's files in proc may wait for a lock of a driver that hangs. Links in /proc/PID/fd can be read whatever process PID
 * waits for; those of other users need CAP_SYS_PTRACE. */

#define GPU_HOLDERS_SCAN_MS 200 /* the longest scan */
#define GPU_HOLDERS_GROUPS 8 /* the most control groups named for a GPU */

#define GPU_MAJOR 195 /* of the device files, in all releases of the driver */

#define GPU_UUID_SIZE 48

struct gpu_minor {
	char gpu[32]; /* PCI address, as the folders of the driver are named */
	unsigned int minor;
	char uuid[GPU_UUID_SIZE]; /* "": the driver has not initialised the GPU yet */
};

struct gpu_minors {
	size_t count;
	struct gpu_minor list[64];
};

/* Initialise with {}. */
struct gpu_holders {
	struct gpu_minors minors; /* found earlier */
	struct helper helper; /* the process that looks; its text: see gpu_holders_scan() */
	char *found; /* the last answer */
};

/* Starts to look for the numbers and UUIDs of the GPUs, and does not wait. */
void gpu_holders_learn(struct gpu_holders *h);

/* Reads what a process has found, without waiting. */
void gpu_holders_poll(struct gpu_holders *h);

/* Returns members of a JSON object about who holds the GPU at the PCI address @gpu; "": not known. Valid until the next call. */
const char *gpu_holders_find(struct gpu_holders *h, const char *gpu);

/* The UUID of the GPU at the PCI address @gpu, if a process has found it; "": not known. Does not wait. Valid until the next call. */
const char *gpu_holders_uuid(struct gpu_holders *h, const char *gpu);

void gpu_holders_free(struct gpu_holders *h);

/* What the process does; @root is put before the paths, @major is that of the device files. Writes a line for each
 * GPU: its address, number, UUID or "-", and the members "held_by" (control groups), "holders_unread" (number of processes
 * whose files this process may not read) and "holders_incomplete" (if the time was up). @minors come first; those without
 * UUID are read again, and have another line. */
void gpu_holders_scan(const char *root, unsigned int major, const struct gpu_minors *minors,
		      FILE *out);

/* Reads the driver's file about the GPU @gpu, /proc/driver/nvidia/gpus/GPU/information, below
 * @root. False: it has no number. @uuid is "" where the driver shows none. */
bool gpu_information_read(const char *root, const char *gpu, unsigned int *minor,
			  char uuid[GPU_UUID_SIZE]);
