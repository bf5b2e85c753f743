/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GPU faults and events of the kernel: the entries of struct fault_counts. See fields.h. */
/* clang-format off */

/* Faults of one GPU or switch that differ only in time. */
ENTRY(fault)
	FIELD(fault, LABEL, char[PCI_ADDRESS_SIZE], device) /* or "other" */
	FIELD(fault, LABEL, unsigned int, code)
	FIELD(fault, LABEL, bool, nvswitch) /* an SXid */
	FIELD(fault, LABEL, char[16], severity)
	FIELD(fault, LABEL, char[40], action)
	FIELD(fault, COUNTER, uint64_t, count)
	FIELD(fault, COUNTER, uint64_t, incidents) /* bursts: faults with less than 5 s between them */
	FIELD(fault, GAUGE, double, first)
	FIELD(fault, GAUGE, double, last)
	/* The jobs that caused its last incidents, the latest first; 0: none, or unknown. Further reports by the same job are no
	 * new incident. */
	UNRECORDED(uint32_t[FAULT_CAUSES], causes)
	UNRECORDED(unsigned int, place) /* of a report to be added: the GPU's part; 0: unknown */
	UNRECORDED(struct fault_repeats, repeats)
	FIELD_PART(fault, DETAIL, repeats.times)
	FIELD_PART(fault, DETAIL, repeats.count, .most = FAULT_REPEATS)
	FIELD(fault, GAUGE, uint64_t, recent) /* in a snapshot: number of repeats within the window */
	UNRECORDED(unsigned int, boots) /* in a snapshot: recent boots with a fatal Xid */
ENTRY_END

/* Text in the kernel log that looks like a fault, but may be a user's. */
ENTRY(unverified_xid)
	FIELD(unverified_xid, LABEL, char[PCI_ADDRESS_SIZE], gpu) /* as the text names it, or "other" */
	FIELD(unverified_xid, LABEL, unsigned int, code)
	FIELD(unverified_xid, COUNTER, uint64_t, count)
ENTRY_END

/* Another event that the kernel or a driver reported. */
ENTRY(kernel_event)
	FIELD(kernel_event, LABEL, bool, gpu_driver) /* a failure of the GPU driver that is no Xid */
	FIELD(kernel_event, LABEL, char[32], kind) /* "pcie_aer", "oom_kill", ...: lower case with underscores */
	FIELD(kernel_event, LABEL, char[LABEL_SIZE], device) /* PCI address, server, ...; "" if there is none */
	FIELD(kernel_event, COUNTER, uint64_t, count)
	FIELD(kernel_event, GAUGE, double, last)
	FIELD(kernel_event, DETAIL, double[2], before) /* of the two before the last, if there were as many */
	FIELD(kernel_event, DETAIL, char[160], about) /* the last one, for people; "": nothing */
ENTRY_END

/* A GPU's identity, as its driver reported it. */
ENTRY(gpu_info)
	FIELD(gpu_info, LABEL, char[PCI_ADDRESS_SIZE], gpu)
	FIELD(gpu_info, DETAIL, char[48], uuid) /* "GPU-..."; "" if not reported */
	FIELD(gpu_info, DETAIL, char[24], serial) /* the board's; "" if not reported */
	FIELD(gpu_info, DETAIL, bool, rate_limited) /* the driver limits its reports of GSP errors */
	FIELD(gpu_info, GAUGE, uint64_t, past_failures) /* fatal incidents of earlier boots within the window */
ENTRY_END

/* Evidence that earlier faults of a GPU are over. */
ENTRY(gpu_recovery)
	FIELD(gpu_recovery, LABEL, char[PCI_ADDRESS_SIZE], gpu) /* or "all": every GPU */
	FIELD(gpu_recovery, LABEL, char[24], evidence) /* "action_none", "driver_loaded", "device_probed", RECOVERY_WITHDRAWN */
	FIELD(gpu_recovery, GAUGE, double, time) /* of the last evidence */
ENTRY_END
