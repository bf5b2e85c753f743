# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What comes with GPU failures is counted by kind: a process killed when memory is short, a task that hangs, a link that
# goes down, an NFS server that does not answer and then does. After fault-history, which leaves no faults in the log.
need_drivers
driver_load text
agent_start --hooks gpu --events events.json --rule driver_assertion=warn:3
cp x.prom begin.prom

out_of_memory small tail /dev/zero

set_value /proc/sys/kernel/hung_task_check_interval_secs 1
set_value /proc/sys/kernel/hung_task_timeout_secs 1
driver 'hang 4'
set_value /proc/sys/kernel/hung_task_timeout_secs 120

driver 'dev 0000:53:00.0 mlx5_core 0000:53:00.0 enp83s0f0np0: Link down' \
	'raw mlx5_core 0000:54:00.0 enp84s0f0np0: Link down' \
	'raw NVRM: GPU at PCI:0000:9b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d' \
	'raw NVRM: GPU Board Serial Number: 1650124014249' \
	'raw NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30).  The GPU likely needs to be reset.' \
	'raw NVRM: GPU 0000:9b:00.0: RmInitAdapter failed! (0x25:0x65:1457)' \
	'raw NVRM: GPU0 nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ rs.c:200' \
	'raw NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!' \
	'count 3 raw NVRM: GPU0 nvAssertFailedNoLog: Assertion failed: 0 @ gpu.c:%d' \
	'raw NVRM: Xid (PCI:0000:9c:00): 79, GPU has fallen off the bus.' \
	'raw NVRM: GPU 0000:9c:00.0: GPU has fallen off the bus.'

nfs_server_start
nfs_mount 3 timeo=10,retrans=1 /mnt/silent
prepare_file /mnt/silent
rpc.nfsd 0
dd if=/mnt/silent/load of=/dev/null iflag=direct bs=4k count=1 status=none &
reader=$!
wait_for 40 grep -q nfs_not_responding events.json
rpc.nfsd 8
wait "$reader"
wait_for 30 grep -q nfs_ok events.json
agent_write end
/job/xidscope check --health health.json >check.txt || true
/job/xidscope check --health health.json --json >check.json || true
agent_stop
