/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything that detects faults: the kernel log, the printk hook, the tracepoints of the driver and of the kernel, and
 * the state file. If one of them is missing, the others continue. */
#pragma once

#include "base/log.h"
#include "faults/fault_authority.h"
#include "faults/faults.h"
#include "kernel/bpf_support.h"
#include "snapshot/fault_counts.h"
#include "snapshot/snapshot.h"
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
	struct trace_instance *instance; /* NULL: none is needed, or there is none */
	int error; /* errno: why there is none, at the last try */
	bool driver_wanted;
	bool modules_changed;
	uint64_t consumed_ns; /* CLOCK_MONOTONIC: all that they had until then was read */
	uint64_t look_ns; /* when to look at all next */
	uint64_t memory; /* of the instance, at the last such look */
};

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
