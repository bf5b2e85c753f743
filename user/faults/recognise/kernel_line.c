// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All lines are in one table. A pattern matches the beginning of a line; what follows does not matter. In a pattern:
 *
 * 	%p  a PCI address: the device
 * 	%n  a word, as short as possible: the device
 * 	%v  "nvidia-nvswitch" and its number: the device
 * 	%u  a GPU's UUID	%s  a serial number
 * 	%d  a decimal number	%x  a hexadecimal one
 * 	%a  a part of a function's name	%F  a function and, if there is one, its module: the device
 * 	%C  a CPU's number: the device
 * 	%t  "s! [comm:pid]", the task, or nothing	%T  "PID: N Comm: NAME": the same
 * 	%w  a word up to the next space
 * 	%e  a PCIe error's severity, or nothing
 * 	%g  "GPU" and its number and a space, or nothing
 * 	%f  "function:line:(pid N): ", with or without the pid, or nothing
 * 	%h  "GPU0 function: ", each part or nothing
 * 	%k  a number of an error that means refused credentials
 * 	%*  up to 200 bytes, as few as possible
 * 	%c  a colon, or nothing
 * 	%$  the end of the line, or only blanks before it */
#include "faults/recognise/recognise.h"

/* How all lines of the GPU driver begin. */
static const char mark[] = "NVRM: ";

struct pattern {
	enum kernel_line_kind kind;
	const char *name;
	const char *pattern;
};

#define DRIVER KERNEL_LINE_GPU_DRIVER
#define EVENT KERNEL_LINE_EVENT
#define REPORT KERNEL_LINE_REPORT

static const struct pattern patterns[] = {
	{ KERNEL_LINE_GPU_UUID, "", "NVRM: GPU at PCI:%p: %u" },
	{ KERNEL_LINE_GPU_UUID, "", "NVRM: GPU at %p: %u" },
	{ KERNEL_LINE_GPU_SERIAL, "", "NVRM: GPU Board Serial Number: %s%$" },
	{ KERNEL_LINE_GPU_SERIAL, "", "NVRM: GPU %p: GPU serial number is %s.%$" },
	{ KERNEL_LINE_GPU_SERIAL, "", "NVRM: GPU is on Board %s.%$" },
	{ KERNEL_LINE_GPU_RATE_LIMITED, "",
	  "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:%p " },
	{ DRIVER, "fallen_off_bus", "NVRM: GPU %p: GPU has fallen off the bus." },
	{ DRIVER, "fallen_off_bus", "NVRM: GPU at %p has fallen off the bus." }, /* in 2014 */
	/* Two more lines follow: "... installed in this system has", "fallen off
	 * the bus". Other messages begin with the same words, but go on in the same line. */
	{ DRIVER, "fallen_off_bus", "NVRM: The NVIDIA GPU %p%$" },
	{ DRIVER, "fallen_off_bus",
	  "NVRM: The NVIDIA GPU %p (PCI ID: 10de:%x) installed in this system has%$" },
	/* A GPU that the driver does not take: five more lines follow the first form, or none. */
	{ DRIVER, "not_supported", "NVRM: The NVIDIA GPU %p (PCI ID: 10de:%x)%$" },
	{ DRIVER, "not_supported", "NVRM: The NVIDIA vGPU %p (PCI ID: 10de:%x)%$" },
	{ DRIVER, "not_supported",
	  "NVRM: The NVIDIA GPU %p (PCI ID: 10de:%x) installed in this system is not supported by " },
	{ DRIVER, "bar_invalid", "NVRM: BAR%d is %dM @ 0x%x (PCI:%p)" },
	{ DRIVER, "irq_failed", "NVRM: GPU %p: request_irq() failed" },
	{ DRIVER, "irq_failed", "NVRM: request_irq() failed" }, /* 390 */
	{ DRIVER, "irq_failed", "NVRM: GPU %p: No interrupts of any type are available." },
	{ DRIVER, "irq_failed", "NVRM: No interrupts of any type are available." }, /* 470 */
	/* The kernel's driver core prints these; before 6.9 the second form, for no device. */
	{ DRIVER, "probe_failed", "nvidia %p: probe with driver nvidia failed with error " },
	{ DRIVER, "probe_failed", "nvidia: probe of %p failed with error " },
	{ DRIVER, "probes_failed", "NVRM: The NVIDIA probe routine failed for %d device(s)" },
	{ DRIVER, "none_initialized", "NVRM: None of the NVIDIA %* were initialized" },
	{ DRIVER, "none_initialized", "NVRM: failed to initialize module." },
	{ DRIVER, "rm_init_adapter_failed", "NVRM: GPU %p: RmInitAdapter failed!" },
	{ DRIVER, "rm_init_adapter_failed", "NVRM: RmInitAdapter failed!" },
	/* mostly after one of these */
	{ DRIVER, "rm_init_adapter_failed", "NVRM: GPU %p: rm_init_adapter failed" },
	{ DRIVER, "rm_init_adapter_failed", "NVRM: rm_init_adapter failed" },
	/* No device: none of the GPUs that the PCI bus has is the driver's. */
	{ DRIVER, "none_probed", "NVRM: No NVIDIA graphics adapter probed!" },
	{ DRIVER, "none_probed", "NVRM: No NVIDIA devices probed." }, /* 515 */
	{ DRIVER, "none_found", "NVRM: No NVIDIA graphics adapter found!" },
	{ DRIVER, "none_found", "NVRM: No NVIDIA GPU found." }, /* 515 */
	{ EVENT, "probe_not_called",
	  "NVRM: The NVIDIA probe routine was not called for %d device(s)" },
	/* Statuses that the driver returns for no healthy GPU (nvstatuscodes.h of 595): 0x0f once the GPU is marked as lost,
	 * 0x62 once it is marked for a reset. Others that sound like it, such as 0x0b (ECC_ERROR), 0x10 (IN_FULLCHIP_RESET) and
	 * 0x71 (FATAL_ERROR), it also returns in its normal work. The first lines are of 515 on, with a colon from 550 on and in
	 * later points of 535; the others of rpc.c, which prints a number. */
	{ DRIVER, "gpu_lost", "NVRM%c %g%a: %*[NV_ERR_GPU_IS_LOST]" },
	{ DRIVER, "gpu_lost", "NVRM%c %hrpcSendMessage failed with status 0x0000000f for " },
	{ DRIVER, "gpu_lost", "NVRM%c %g%a: GspRm%*; status=0x0000000f" },
	{ DRIVER, "gpu_lost", "NVRM%c %hTimeout GPU not back on the bus after " },
	{ DRIVER, "gpu_lost", "NVRM%c %hTimeout polling GPU back on bus" },
	{ DRIVER, "sec_fault", "NVRM%c %hSEC_FAULT lockdown detected. " },
	{ DRIVER, "reset_required", "NVRM%c %hReceived signal from GSP that PMU has halted." },
	{ DRIVER, "reset_required", "NVRM%c %g%a: %*[NV_ERR_RESET_REQUIRED]" },
	{ DRIVER, "reset_required", "NVRM%c %hrpcSendMessage failed with status 0x00000062 for " },
	{ DRIVER, "reset_required", "NVRM%c %g%a: GspRm%*; status=0x00000062" },
	{ DRIVER, "assert_failed", "NVRM%c %hAssertion failed: " },
	{ DRIVER, "check_failed", "NVRM%c %hCheck failed: " },
	{ DRIVER, "gsp_heartbeat_timeout", "NVRM%c %hGSP RM heartbeat timed out" },
	{ DRIVER, "gsp_heartbeat_timeout", "NVRM%c %hGSP-RM heartbeat timed out" }, /* 615 */
	{ DRIVER, "gsp_heartbeat_timeout", "NVRM%c %hLibOS heartbeat timed out" },
	{ DRIVER, "gsp_boot_failed", "NVRM%c %hunexpected WPR2 already up" },
	{ DRIVER, "nvlink_detect_failed",
	  "NVRM%c %gknvlink%a: Failed to update Rx Detect Link mask!" },
	{ DRIVER, "nvlink_degraded", "NVRM%c %hGPU%d marked Degraded" },
	{ DRIVER, "nvlink_degraded", "NVRM%c GPU%d marked Degraded" },
	{ DRIVER, "nvlink_degraded",
	  "NVRM%c %hFailed to recover from uncontained NVLINK error. Triggering Degraded Mode!" },
	{ DRIVER, "imex_shutdown", "NVRM%c %hAbrupt nvidia-imex daemon shutdown detected" },
	/* The words before the colon could be a function's name. */
	{ DRIVER, "conf_compute_failed", "NVRM%c %hConfCompute: Fatal error hit!" },
	{ DRIVER, "conf_compute_failed", "NVRM%c ConfCompute: Fatal error hit!" },
	{ DRIVER, "conf_compute_failed", "NVRM%c %hSPDM: Fatal heartbeat failure detected" },
	{ DRIVER, "conf_compute_failed", "NVRM%c SPDM: Fatal heartbeat failure detected" },
	/* A client with another library's version, such as a container. */
	{ EVENT, "api_mismatch", "NVRM: API mismatch: " },
	/* nvidia-uvm also prints this, but only with its debugging enabled. */
	{ DRIVER, "uvm_fatal", "NVRM%c %huvm encountered global fatal error " },
	{ KERNEL_LINE_LOAD_BEGINS, "load_begins",
	  "nvidia-nvlink: Nvlink Core is being initialized" },
	{ KERNEL_LINE_LOADED, "driver_loaded", "NVRM: loading NVIDIA " },
	{ KERNEL_LINE_UNLOADED, "unloaded", "nvidia-nvlink: Unregistered " },
	{ KERNEL_LINE_PROBED, "device_probed", "pci %p: [10de:%x] type %d class 0x0300" },
	{ KERNEL_LINE_PROBED, "device_probed", "pci %p: [10de:%x] type %d class 0x0302" },
	/* until 3.5 */
	{ KERNEL_LINE_PROBED, "device_probed", "pci %p: [10de:%x] type %d class 0x00030" },

	/* The switch driver beside its SXids. */
	{ DRIVER, "nvswitch_failed", "%v: Failed to %* : " },
	{ DRIVER, "nvswitch_failed", "%v: Failed to %*schedule " },
	{ DRIVER, "nvswitch_failed", "%v: Interrupts disabled to avoid a storm" },
	{ DRIVER, "nvswitch_failed", "nvidia-nvswitch: unrecoverable error in ISR" },

	/* The NFS client. tests/data/nfs_formats.tsv has all that it may print. */
	{ EVENT, "nfs_not_responding", "nfs: server %n not responding, still trying" },
	{ EVENT, "nfs_timed_out", "nfs: server %n not responding, timed out" },
	{ EVENT, "nfs_ok", "nfs: server %n OK%$" },
	{ EVENT, "lockd_not_responding", "lockd: server %n not responding, still trying" },
	{ EVENT, "lockd_timed_out", "lockd: server %n not responding, timed out" },
	{ EVENT, "lockd_ok", "lockd: server %n OK%$" },
	{ EVENT, "lockd_failed", "lockd: cannot monitor %n%$" },
	{ EVENT, "lockd_failed", "lockd: couldn't create RPC handle for %n%$" },
	{ EVENT, "lockd_failed", "lockd: spurious grace period reject" },
	{ EVENT, "lockd_failed", "lockd: unexpected unlock status: " },
	{ EVENT, "lockd_failed", "lockd: unexpected server status " },
	{ EVENT, "lockd_failed", "%a: VFS is out of sync with lock manager!" },
	/* Files or locks are lost. */
	{ EVENT, "nfs_state_lost", "NFS: %a: Lock reclaim failed!" },
	{ EVENT, "nfs_state_lost", "NFS: %n: lost %d locks" },
	{ EVENT, "nfs_state_lost", "NFSv4: state recovery failed for open file " },
	{ EVENT, "nfs_state_lost", "NFS: %a: unhandled error " },
	{ EVENT, "nfs_state_lost", "NFS: migration recovery failed (server %n)" },
	{ EVENT, "nfs_state_lost", "lockd: failed to reclaim lock for pid " },
	{ EVENT, "nfs_state_lost",
	  "lockd: unable to spawn reclaimer thread. Locks for %n won't be reclaimed!" },
	/* The credentials with which the client renews its state, or makes calls, are refused. */
	{ EVENT, "nfs_auth_refused", "NFS: state manager failed on NFSv4 server %n with error %k" },
	{ EVENT, "nfs_auth_refused",
	  "NFS: state manager: %* failed on NFSv4 server %n with error %k" },
	{ EVENT, "nfs_auth_refused", "RPC: server %n requires stronger authentication" },
	/* Nothing is lost yet: no daemon for TLS (3), or the server is not found any more. */
	{ EVENT, "nfs_discovery_failed",
	  "NFS: state manager: check lease failed on NFSv4 server %n with error " },
	{ EVENT, "nfs_state_lost", "NFS: state manager failed on NFSv4 server %n with error " },
	{ EVENT, "nfs_state_lost", "NFS: state manager: %* failed on NFSv4 server %n with error " },
	{ EVENT, "nfs_clientid_in_use", "NFS: Server %n reports our clientid is in use" },
	{ EVENT, "nfs_discovery_failed", "NFS: %a unhandled error " },
	/* The server breaks the protocol. */
	{ EVENT, "nfs_fileid_changed", "NFS: server %n error: fileid changed" },
	{ EVENT, "nfs_server_fault", "NFS: Broken NFSv4 server %n is returning a delegation " },
	{ EVENT, "nfs_server_fault", "NFS: v4 server %n  returned a bad sequence-id error!" },
	{ EVENT, "nfs_server_fault", "NFS: v4 server returned a bad sequence-id error " },
	{ EVENT, "nfs_server_fault",
	  "NFSv4: server %n is incorrectly applying open mode checks to a SETATTR " },
	{ EVENT, "nfs_server_fault", "NFS: volatile file handles not supported (server %n)" },
	{ EVENT, "nfs_server_fault", "NFS: Server wrote zero bytes, expected " },
	{ EVENT, "nfs_server_fault", "NFS: directory " }, /* contains a readdir loop */
	{ EVENT, "pnfs_device_failed", "pNFS: failed to open device " },
	{ EVENT, "pnfs_device_failed", "pNFS: failed to register key " },
	{ EVENT, "pnfs_device_failed", "pNFS: no device found for volume " },
	{ EVENT, "pnfs_device_failed", "pNFS: block device " }, /* does not support reservations */
	{ EVENT, "pnfs_device_failed", "pNFS: invalid designator " },
	{ EVENT, "pnfs_device_failed", "pNFS: unsupported designator " },
	{ EVENT, "pnfs_device_failed", "NFS: %a: No data server for offset index " },
	{ EVENT, "pnfs_device_failed", "%a failed to decode device: " },
	{ EVENT, "rpc_connect_failed", "%a: unhandled error (%d) connecting to %n%$" },
	{ EVENT, "rpc_connect_failed", "%a: connect returned unhandled error " },
	{ EVENT, "rpc_connect_failed", "rpcrdma: removing device %w for %n%$" }, /* until 6.9 */
	{ EVENT, "rpc_connect_failed", "rpcrdma: connection to %n closed (" }, /* until 4.20 */
	{ EVENT, "rpc_call_failed", "nfs: RPC call returned error " },
	{ EVENT, "rpc_call_failed", "lockd: RPC call returned error " },
	{ EVENT, "rpc_callback_failed", "RPC: Could not send backchannel reply error: " },
	{ EVENT, "rpc_callback_failed", "NFS: bind callback service failed" },
	{ EVENT, "rpc_callback_failed", "NFS: callback service start failed" },
	{ EVENT, "rpc_callback_failed", "nfs_callback_create_svc: create service failed" },
	{ EVENT, "rpc_callback_failed", "Callback slot table overflowed" },
	{ EVENT, "rpc_callback_failed", "RPC/RDMA backchannel overflow" },

	/* Network cards. An RDMA device may have any name, of any driver (ibdev_info()). */
	{ EVENT, "link_down", "mlx5_core %p %*: Link down%$" },
	{ EVENT, "link_up", "mlx5_core %p %*: Link up%$" },
	{ EVENT, "link_down", "%w %p %*: Port: %d Link DOWN" },
	{ EVENT, "link_up", "%w %p %*: Port: %d Link ACTIVE" },
	{ EVENT, "link_down", "%w %p %*: NIC Link is Down%$" },
	{ EVENT, "link_up", "%w %p %*: NIC Link is Up" },
	{ EVENT, "link_up", "%w %p %*: NIC Link is up" },
	{ EVENT, "mlx5_health", "mlx5_core %p: %fHealth issue observed" },
	{ EVENT, "mlx5_command_timeout",
	  "mlx5_core %p: %*timeout. Will cause a leak of a command resource" },
	{ EVENT, "mlx5_health", "mlx5_core %p: %fdevice's health compromised" },
	{ EVENT, "mlx5_health", "mlx5_core %p: %fFatal error %d detected" },
	{ EVENT, "mlx5_module_error", "mlx5_core %p: %fPort module event[error]: " },
	{ EVENT, "mlx5_power", "mlx5_core %p: %fDetected insufficient power" },

	/* PCIe: the line that names the device with the error, not the root port's "error received". The third form
	 * is of errors that the firmware handles first. */
	{ EVENT, "pcie_aer", "%w %p: PCIe Bus Error: severity=%e" },
	{ EVENT, "pcie_aer", "%w %p: AER: PCIe Bus Error: severity=%e" },
	{ EVENT, "pcie_aer", "%w %p: aer_status: 0x%x, " },
	{ EVENT, "pcie_aer", "%w %p: AER: aer_status: 0x%x, " },
	{ EVENT, "pcie_dpc", "pcieport %p: DPC: containment event" },
	{ EVENT, "pcie_link_down", "pcieport %p: pciehp: Slot(%*): Link Down%$" },

	/* the kernel itself */
	{ EVENT, "mce", "mce: [Hardware Error]: Machine check events logged" },
	{ EVENT, "mce", "[Hardware Error]: Machine check events logged" },
	{ EVENT, "edac_corrected", "EDAC %n: %d CE " },
	{ EVENT, "edac_uncorrected", "EDAC %n: %d UE " },
	{ EVENT, "apei_corrected", "{%d}[Hardware Error]: event severity: corrected" },
	{ EVENT, "apei_recoverable", "{%d}[Hardware Error]: event severity: recoverable" },
	{ EVENT, "apei_fatal", "{%d}[Hardware Error]: event severity: fatal" },
	{ EVENT, "hung_task", "INFO: task %*:%d blocked for more than " },
	{ EVENT, "hung_task", "INFO: task %*:%d blocked in I/O wait for more than " },
	{ REPORT, "soft_lockup", "watchdog: BUG: soft lockup - CPU#%C stuck for %d%t" },
	{ REPORT, "soft_lockup", "NMI watchdog: BUG: soft lockup - CPU#%C stuck for %d%t" },
	{ REPORT, "soft_lockup", "BUG: soft lockup - CPU#%C stuck for %d%t" },
	{ REPORT, "hard_lockup", "watchdog: Watchdog detected hard LOCKUP on cpu %C" },
	{ REPORT, "hard_lockup", "watchdog: CPU%d: Watchdog detected hard LOCKUP on cpu %C" },
	{ REPORT, "hard_lockup", "NMI watchdog: Watchdog detected hard LOCKUP on cpu %C" },
	{ REPORT, "hard_lockup", "Watchdog detected hard LOCKUP on cpu %C" },
	/* Their CPUs come in lines of their own, but for expedited ones. */
	{ REPORT, "rcu_stall", "rcu: INFO: rcu_%a self-detected stall on CPU" },
	{ REPORT, "rcu_stall", "rcu: INFO: rcu_%a detected expedited stalls on CPUs/tasks: { %C-" },
	{ REPORT, "rcu_stall", "rcu: INFO: rcu_%a detected stalls on CPUs" },
	{ REPORT, "rcu_stall", "rcu: INFO: rcu_%a detected expedited stalls" },
	{ REPORT, "rcu_stall", "INFO: rcu_%a self-detected stall on CPU" },
	{ REPORT, "rcu_stall", "INFO: rcu_%a detected stalls on CPUs" },
	{ KERNEL_LINE_TASK, "stalled", "rcu: \t%C-" },
	{ KERNEL_LINE_TASK, "stalled", "\t%C-" }, /* before 4.20 */
	/* These are longer than a process' name, with which other messages begin: "NAME[4711]: segfault at". */
	{ REPORT, "kernel_oops", "BUG: kernel NULL pointer dereference" },
	{ REPORT, "kernel_oops", "BUG: unable to handle " },
	{ REPORT, "kernel_oops", "Oops: %x [#%d] SMP" },
	{ REPORT, "kernel_oops", "Oops: %x [#%d] PREEMPT" },
	{ REPORT, "kernel_oops", "Oops: Oops: %x [#" }, /* from 6.13 on, as the next */
	{ REPORT, "kernel_oops", "Oops: %a %a: %x [#%d]" },
	{ REPORT, "kernel_oops", "Oops: general protection fault" },
	{ REPORT, "kernel_oops", "Oops: stack guard page: " },
	{ REPORT, "kernel_oops", "general protection fault" },
	{ REPORT, "kernel_oops", "kernel BUG at %n:%d!" },
	{ REPORT, "kernel_oops", "Unable to handle kernel " }, /* arm64 */
	{ REPORT, "kernel_oops", "Internal error: %*[#" },
	{ REPORT, "kernel_oops", "divide error: %x [#" },
	{ REPORT, "kernel_oops", "double fault: %x [#" },
	{ REPORT, "kernel_oops", "invalid opcode: %x [#" },
	{ REPORT, "kernel_oops", "stack segment: %x [#" },
	{ REPORT, "kernel_corruption", "BUG: Bad page %a in process " },
	{ REPORT, "kernel_corruption", "BUG: KFENCE: memory corruption " },
	{ REPORT, "kernel_corruption", "BUG: KFENCE: use-after-free " },
	{ REPORT, "kernel_corruption", "list_add corruption" },
	{ REPORT, "kernel_corruption", "list_add double add" },
	{ REPORT, "kernel_corruption", "list_del corruption" },
	{ REPORT, "kernel_corruption", "refcount_t: addition on " },
	{ REPORT, "kernel_corruption", "refcount_t: decrement hit " },
	{ REPORT, "kernel_corruption", "refcount_t: saturated" },
	{ REPORT, "kernel_corruption", "refcount_t: underflow" },
	{ REPORT, "kernel_warning", "WARNING: CPU: %d PID: %d at " },
	{ REPORT, "kernel_warning", "WARNING: %* at %F, CPU#" }, /* from 6.19 on */
	{ KERNEL_LINE_TASK, "task", "CPU: %C %T" },
	{ KERNEL_LINE_TASK, "task", "CPU: %C UID: %d %T" }, /* from 6.12 on */
	{ KERNEL_LINE_RIP, "rip", "RIP: %x:%F" },
	{ KERNEL_LINE_RIP, "rip", "pc : %F" }, /* arm64 */
	{ KERNEL_LINE_CALLER, "caller", " %F" },
	{ KERNEL_LINE_REPORT_ENDS, "end", "---[ end trace" },
	{ EVENT, "oom_kill", "Out of memory: Kill" },
	{ EVENT, "oom_kill", "Out of memory (oom_kill_allocating_task): Kill" },
	{ EVENT, "oom_kill", "Memory cgroup out of memory: Kill" },
	{ EVENT, "net_watchdog", "NETDEV WATCHDOG: %n (%*): transmit queue %d timed out" },
	{ EVENT, "net_watchdog",
	  "%w %w %n: NETDEV WATCHDOG: CPU: %d: transmit queue %d timed out" },
	{ EVENT, "net_watchdog", "%n: NETDEV WATCHDOG: CPU: %d: transmit queue %d timed out" },
	{ EVENT, "net_watchdog",
	  "%w %w %n (%*): NETDEV WATCHDOG: CPU: %d: transmit queue %d timed out" },
	/* The firmware's; the first two forms until 5.15. */
	{ EVENT, "nic_reset", "bnxt_en %p %*: Firmware fatal reset event" },
	{ EVENT, "nic_reset", "bnxt_en %p %*: Firmware non-fatal reset event" },
	{ EVENT, "nic_reset", "bnxt_en %p %*: Fatal firmware reset event" },
	{ EVENT, "nic_reset", "bnxt_en %p %*: Non-fatal firmware reset event" },
	{ EVENT, "nic_reset", "ena %p %*: Trigger reset is on" },
	{ EVENT, "nic_reset", "efa %p %*: Reset indication didn't turn o" }, /* it failed */
	{ EVENT, "nvme_timeout", "nvme %n: I/O %*timeout, reset controller" },
	{ EVENT, "nvme_timeout", "nvme %n: I/O %*timeout, disable controller" },
	{ EVENT, "nvme_down", "nvme %n: controller is down; will reset" },
	{ EVENT, "nvme_down", "nvme %n: Device not ready; aborting " },
};

/* The bytes of a word: no space, no control byte. */
static bool in_word(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f;
}

static bool in_identifier(char c)
{
	return span_digit(c) < 36 || c == '_';
}

static bool in_name(char c)
{
	return in_identifier(c) || c == '-';
}

/* The bytes for which @in is true, up to the first for which it is not. */
static struct span take_while(struct span *s, bool (*in)(char c))
{
	const char *start = s->at;

	while (span_left(*s) && in(*s->at))
		s->at++;
	return (struct span){ start, s->at };
}

/* A number whose value does not matter. */
static bool skip_number(struct span *s)
{
	uint64_t number;

	return span_take_number(s, 10, UINT32_MAX, &number);
}

/* At least one byte of a name, with a NUL. */
static bool take_name(struct span *s, char *to, size_t size)
{
	struct span rest = *s, name = take_while(&rest, in_name);

	if (!span_left(name) || !span_copy(name, to, size))
		return false;
	*s = rest;
	return true;
}

static bool take_switch(struct span *s, struct kernel_line *out)
{
	const char *start = s->at;

	if (!span_take(s, "nvidia-nvswitch") || !skip_number(s))
		return false;
	label_from_bytes(out->device, sizeof(out->device), start, (size_t)(s->at - start));
	return true;
}

static void take_gpu_number(struct span *s)
{
	struct span rest = *s;

	if (span_take(&rest, "GPU") && skip_number(&rest) && span_take(&rest, " "))
		*s = rest;
}

static void take_origin(struct span *s)
{
	struct span rest;

	take_gpu_number(s);
	rest = *s;
	if (span_left(take_while(&rest, in_identifier)) && span_take(&rest, ": "))
		*s = rest;
}

static void take_function(struct span *s)
{
	struct span rest = *s;

	if (!span_left(take_while(&rest, in_identifier)) || !span_take(&rest, ":") ||
	    !skip_number(&rest))
		return;
	if (span_take(&rest, ":(pid ") && (!skip_number(&rest) || !span_take(&rest, ")")))
		return;
	if (span_take(&rest, ": "))
		*s = rest;
}

/* "Corrected", "Uncorrected (Non-Fatal)", "Uncorrected (Fatal)"; or, on newer kernels, "Correctable" and so on. */
static void take_pcie_severity(struct span *s, struct kernel_line *out)
{
	if (span_take(s, "Correct"))
		out->severity = "info";
	else if (span_take_through(s, " (Non-Fatal)"))
		out->severity = "warning";
	else if (span_take_through(s, " (Fatal)"))
		out->severity = "fatal";
}

/* EPERM, EACCES, ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED, NFS4ERR_WRONGSEC, NFS4ERR_CLID_INUSE: of another principal */
static bool take_refusal(struct span *s)
{
	static const uint64_t errors[] = { 1, 13, 126, 127, 128, 129, 10016, 10017 };
	uint64_t number;

	return span_take_number(s, 10, UINT32_MAX, &number) &&
	       ARRAY_FIND(e, errors, COUNT(errors), *e == number);
}

static bool take_cpu(struct span *s, struct kernel_line *out)
{
	const char *start = s->at;

	if (!skip_number(s))
		return false;
	snprintf(out->device, sizeof(out->device), "cpu%.*s", (int)(s->at - start), start);
	return true;
}

static bool in_symbol(char c)
{
	return in_identifier(c) || c == '.';
}

/* "nfs_lock_and_join_requests+0x5a/0x1a0 [nfs]"; from 5.15 on a checksum may follow the module's name. */
static bool take_symbol(struct span *s, struct kernel_line *out)
{
	struct span name = take_while(s, in_symbol), module;
	uint64_t number;

	if (!span_left(name) || !span_copy(name, out->function, sizeof(out->function)) ||
	    !span_take(s, "+0x") || !span_take_number(s, 16, UINT32_MAX, &number) ||
	    !span_take(s, "/0x") || !span_take_number(s, 16, UINT32_MAX, &number))
		return false;
	module = *s;
	if (span_take(&module, " [") && take_name(&module, out->device, sizeof(out->device)) &&
	    (span_starts_with(module, "]") || span_starts_with(module, " ")) &&
	    span_take_through(&module, "]"))
		*s = module;
	return true;
}

/* @comm: chosen by a user. */
static void set_task(struct kernel_line *out, struct span comm, struct span pid)
{
	uint64_t number = 0;

	label_from_bytes(out->comm, sizeof(out->comm), comm.at, span_left(comm));
	out->pid = span_number(pid, INT32_MAX, &number) ? (int)number : -1;
}

/* "22s! [python3:4711]": the name may have a colon. */
static void take_stuck_task(struct span s, struct kernel_line *out)
{
	const char *colon = span_take(&s, "s! [") ? memrchr(s.at, ':', span_left(s)) : NULL;
	struct span pid = { colon ? colon + 1 : s.end, s.end };

	if (colon)
		set_task(out, (struct span){ s.at, colon }, span_take_until(&pid, "]"));
}

/* "PID: 4711 Comm: cuda-EvtHandlr Tainted: G", or "Not tainted" */
static bool take_task(struct span *s, struct kernel_line *out)
{
	struct span pid, comm;

	if (!span_take(s, "PID: "))
		return false;
	pid = span_take_until(s, " ");
	if (!span_take(s, " Comm: "))
		return false;
	comm = *s;
	comm.end = comm.at + (span_left(comm) < 15 ? span_left(comm) : 15);
	if (memmem(s->at, span_left(*s), " Tainted", 8))
		LOWER(comm.end, (const char *)memmem(s->at, span_left(*s), " Tainted", 8));
	if (memmem(s->at, span_left(*s), " Not tainted", 12))
		LOWER(comm.end, (const char *)memmem(s->at, span_left(*s), " Not tainted", 12));
	set_task(out, comm, pid);
	return true;
}

static bool take_uuid(struct span *s, struct kernel_line *out)
{
	struct span rest = *s, uuid = take_while(&rest, in_name);

	if (!is_gpu_uuid(uuid) || !span_copy(uuid, out->uuid, sizeof(out->uuid)))
		return false;
	*s = rest;
	return true;
}

static bool match_line(struct span *s, const char *pattern, struct kernel_line *out);

/* Takes as few bytes as let the rest of the pattern match. The recursion is as deep
 * as a pattern of the table above has such parts. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool match_shortest(struct span *s, const char *pattern, size_t max, bool word,
			   struct kernel_line *out)
{
	const char *start = s->at;

	for (size_t len = 1; len <= max && len <= span_left(*s); len++) {
		struct span rest = { start + len, s->end };

		if (word && !in_word(start[len - 1]))
			return false;
		/* Saves the call if the next byte cannot match. */
		if (*pattern && *pattern != '%' && (!span_left(rest) || *rest.at != *pattern))
			continue;
		if (!match_line(&rest, pattern, out))
			continue;
		if (word)
			label_from_name(out->device, sizeof(out->device), start, len);
		*s = rest;
		return true;
	}
	return false;
}

/* One part of a pattern, of those that need not look at the rest of it. */
static bool match_part(struct span *s, char part, struct kernel_line *out)
{
	struct pci_address address;
	uint64_t number;

	switch (part) {
	case 'p':
		if (!pci_address_take(s, &address))
			return false;
		pci_address_text(out->device, &address);
		return true;
	case 'u':
		return take_uuid(s, out);
	case 's':
		return take_name(s, out->serial, sizeof(out->serial));
	case 'd':
		return skip_number(s);
	case 'x':
		return span_take_number(s, 16, UINT32_MAX, &number);
	case 'v':
		return take_switch(s, out);
	case 'w':
		return span_left(take_while(s, in_word));
	case 'a':
		return span_left(take_while(s, in_identifier));
	case 'e':
		take_pcie_severity(s, out);
		return true;
	case 'C':
		return take_cpu(s, out);
	case 'F':
		return take_symbol(s, out);
	case 't':
		take_stuck_task(*s, out);
		return true;
	case 'T':
		return take_task(s, out);
	case 'k':
		return take_refusal(s);
	case 'g':
		take_gpu_number(s);
		return true;
	case 'h':
		take_origin(s);
		return true;
	case 'c':
		span_take(s, ":");
		return true;
	case 'f':
		take_function(s);
		return true;
	default: /* '$' */
		span_take_run(s, " \r");
		return !span_left(*s);
	}
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool match_line(struct span *s, const char *pattern, struct kernel_line *out)
{
	struct span rest = *s;

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			if (!span_left(rest) || *rest.at != *pattern)
				return false;
			rest.at++;
			continue;
		}
		pattern++;
		if (*pattern == 'n' || *pattern == '*') {
			bool word = *pattern == 'n';

			if (!match_shortest(&rest, pattern + 1, word ? 255 : 200, word, out))
				return false;
			break;
		}
		if (!match_part(&rest, *pattern, out))
			return false;
	}
	*s = rest;
	return true;
}

static enum kernel_line_proof proof_of(const struct pattern *p)
{
	const char *second = strchr(p->pattern, ' ');

	if (!strncmp(p->pattern, "NVRM", strlen("NVRM")) || !strncmp(p->pattern, "%v", 2))
		return KERNEL_LINE_BY_DRIVER;
	/* As dev_printk() begins: driver and device. */
	if (second && !strncmp(second, " %p", 3))
		return KERNEL_LINE_FOR_PCI;
	return strncmp(p->pattern, "nvme ", 5) ? KERNEL_LINE_BY_KERNEL : KERNEL_LINE_FOR_DEVICE;
}

static bool read_piece(struct span s, struct kernel_line *out)
{
	for (size_t i = 0; span_left(s) && i < COUNT(patterns); i++) {
		const struct pattern *p = &patterns[i];
		struct span rest = s;

		if (*p->pattern != '%' && *p->pattern != *s.at)
			continue;
		*out = (struct kernel_line){ .name = "", .severity = "" };
		if (!match_line(&rest, p->pattern, out))
			continue;
		while (span_left(s) && (unsigned char)s.end[-1] <= ' ')
			s.end--;
		out->kind = p->kind;
		out->proof = proof_of(p);
		out->name = p->name;
		out->follows_xid =
			strstr(p->pattern, "fallen off the bus.") || !strcmp(p->name, "gpu_lost") ?
				79 :
				0;
		out->follows_itself = strstr(p->pattern, "rm_init_adapter failed");
		out->text = s.at;
		out->text_len = span_left(s);
		return true;
	}
	*out = (struct kernel_line){ .name = "", .severity = "" };
	return false;
}

/* The console's "<4>[   12.345678] [ T123] ". */
static void take_prefix(struct span *s)
{
	struct span rest = *s;

	if (span_take(&rest, "<") && skip_number(&rest) && span_take(&rest, ">"))
		*s = rest;
	rest = *s;
	if (!span_take(&rest, "["))
		return;
	span_take_run(&rest, " ");
	if (!skip_number(&rest) || !span_take(&rest, ".") || !skip_number(&rest) ||
	    !span_take(&rest, "]"))
		return;
	*s = rest;
	if (span_take(&rest, " [") || span_take(&rest, "[")) {
		span_take_run(&rest, " ");
		if ((span_take(&rest, "T") || span_take(&rest, "C")) && skip_number(&rest) &&
		    span_take(&rest, "]"))
			*s = rest;
	}
	span_take(s, " ");
}

/* From s.at to the end of the line, or to where the GPU driver begins again. */
static struct span first_piece(struct span s)
{
	const char *end;

	s = span_take_line(&s);
	end = span_left(s) ? memmem(s.at + 1, span_left(s) - 1, mark, strlen(mark)) : NULL;
	if (end)
		s.end = end;
	return s;
}

bool kernel_line_next(const char *text, size_t len, size_t *offset, struct kernel_line *out)
{
	struct span s;

	*out = (struct kernel_line){ .name = "", .severity = "" };
	s = (struct span){ text + (*offset < len ? *offset : len), text + len };
	while (span_left(s)) {
		struct span piece = first_piece(s);

		s.at = piece.end;
		span_take(&s, "\n");
		take_prefix(&piece);
		if (read_piece(piece, out)) {
			*offset = (size_t)(s.at - text);
			return true;
		}
	}
	*offset = len;
	return false;
}
