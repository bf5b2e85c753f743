// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's events that come with GPU failures, and modules that come and go: see user/faults/trace_events.c. */
#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>
#include "kernel_events.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Events for which the ring buffer had no room. */
__u64 kernel_events_dropped = 0;

BPF_RINGBUF(kernel_events, KERNEL_EVENTS_RING_BYTES);

/* @name: its text in the kernel, or NULL. */
static __always_inline int send_event(struct traced_event *e, const void *name)
{
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), name);
	e->time = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&kernel_events, e, sizeof(*e), 0))
		__sync_fetch_and_add(&kernel_events_dropped, 1);
	return 0;
}

SEC("raw_tp/module_load")
int module_load(__u64 *ctx)
{
	struct traced_event e = { .event = EVENT_MODULE_LOAD };

	return send_event(&e, ((const struct module *)ctx[0])->name);
}

SEC("raw_tp/module_free")
int module_free(__u64 *ctx)
{
	struct traced_event e = { .event = EVENT_MODULE_FREE };

	return send_event(&e, ((const struct module *)ctx[0])->name);
}

/* Arguments: the device's name, status, severity. */
SEC("raw_tp/aer_event")
int aer_event(__u64 *ctx)
{
	struct traced_event e = { .event = EVENT_AER,
				  .status = (__u32)ctx[1],
				  .severity = (__u8)ctx[2] };

	return send_event(&e, (const void *)ctx[0]);
}

SEC("raw_tp/mce_record")
int mce_record(__u64 *ctx)
{
	const struct mce *mce = (const void *)ctx[0];
	struct traced_event e = { .event = EVENT_MCE };

	if (!bpf_core_field_exists(mce->status))
		return 0;
	e.status = BPF_CORE_READ(mce, status);
	e.address = BPF_CORE_READ(mce, addr);
	e.cpu = BPF_CORE_READ(mce, extcpu);
	e.bank = BPF_CORE_READ(mce, bank);
	return send_event(&e, NULL);
}

static __always_inline int send_task(struct traced_event *e, const struct task_struct *task)
{
	e->pid = BPF_CORE_READ(task, pid);
	return send_event(e, task->comm);
}

SEC("raw_tp/mark_victim")
int mark_victim(__u64 *ctx)
{
	struct traced_event e = { .event = EVENT_OOM, .pid = (__u32)ctx[0] };

	return bpf_core_field_exists(((struct trace_event_raw_mark_victim *)NULL)->total_vm) ?
		       send_task(&e, (const void *)ctx[0]) :
		       send_event(&e, NULL);
}

SEC("raw_tp/sched_process_hang")
int sched_process_hang(__u64 *ctx)
{
	struct traced_event e = { .event = EVENT_HANG };

	return send_task(&e, (const void *)ctx[0]);
}

/* Of the driver: the GPU's struct pci_dev, the Xid, and the text with its arguments. */
SEC("kprobe/nv_report_error")
int nv_report_error(const __u64 *registers)
{
	const struct pci_dev *gpu = (const void *)registers[REGISTER_1];
	struct traced_event e = { .event = EVENT_XID, .status = (__u32)registers[REGISTER_2] };

	return send_event(&e, bpf_core_field_exists(gpu->dev.kobj.name) ?
				      BPF_CORE_READ(gpu, dev.kobj.name) :
				      NULL);
}
