# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Faults of a GPU and its node: the lines of each are of tests/data, with this GPU's address.
driver_load tracepoint
xid() {
	driver "xid 0000:c1:00.0 $1 $2"$'\t'"NVRM: Xid (PCI:0000:c1:00): $1, $2"
}
fault_pcie_errors() {
	local lower
	lower=$(basename "$(dirname /sys/bus/pci/devices/*/*/aer_dev_correctable)")
	local none='\0\0\0\0'
	modprobe aer_inject
	printf %b "\\x${lower:5:2}\\x${lower:8:2}\\x${lower:11}\0$none\\x40\0\0\0$none$none$none$none$none" >/dev/aer_inject
}
fault_kernel_errors() {
	echo 1 | tee /proc/sys/kernel/hung_task_check_interval_secs >/proc/sys/kernel/hung_task_timeout_secs
	driver 'hang 3'
	echo 120 >/proc/sys/kernel/hung_task_timeout_secs
}
fault_gpu_driver_errors() {
	driver 'raw NVRM: nvAssertFailedNoLog: Assertion failed: pIOVAS != NULL @ io_vaspace.c:592'
}
# Reports of a program that fails by itself, and of GPUs that do.
fault_xid13() {
	xid 13 "pid=2519562, name=python3, Graphics Exception: ChID 000c, Class 0000cbc0, Offset 00000000, Data 00000000"
	xid 13 "pid=2519562, name=python3, Graphics SM Warp Exception on (GPC 0, TPC 3, SM 0): Out Of Range Address"
	xid 43 "pid=2519562, name=python3, Ch 00000008"
	xid 45 "pid=2519562, name=python3, Ch 00000008"
}
fault_xid48() {
	xid 48 "pid=218402, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU (0000:c1:00.0)."
	xid 63 "pid='<unknown>', name=<unknown>, Row Remapper: New row (0x0000000018f31d80) marked for remapping, reset gpu to activate."
	xid 94 "pid=218402, name=python3, Contained: SM (0x1). RST: No, D-RST: No"
	xid 45 "pid=218402, name=python3, Ch 00000008"
	xid 154 "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
}
fault_xid74() {
	xid 74 "pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
	xid 45 "pid=218402, name=python3, Ch 00000008"
	xid 154 "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
}
fault_xid79() {
	xid 79 "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
	driver 'raw NVRM: GPU 0000:c1:00.0: GPU has fallen off the bus.'
	xid 154 "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
	sleep 5
	driver 'raw NVRM: nvCheckOkFailedNoLog: Check failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) returned from nvdEngineDumpCallbackHelper'
	sleep 5
	driver 'raw NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x62:0x55:2674)'
}
fault_xid95() {
	xid 95 "pid=7062, Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No"
	xid 154 "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
}
fault_xid119() {
	local _
	for _ in 1 2 3; do
		xid 119 "pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20801813 0x4c)."
		sleep 6
	done
	driver 'raw NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:c1:00 (printing 1 of every 30).  The GPU likely needs to be reset.'
	xid 154 "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
}
for fault in $(compgen -A function fault_); do
	driver 'count 8000 raw filling the kernel log: %d' # a new agent finds no older fault
	begin --hooks gpu
	during "${fault#fault_}" 6 "$fault"
	agent_stop
done
