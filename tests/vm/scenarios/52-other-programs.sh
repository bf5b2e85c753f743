# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Mounting, locks and ACLs over NFSv3, and the server's callbacks, are calls of other programs than NFS: not counted.
# The kernel's own tracepoint shows that there were such calls, and how many of NFS.
tracing=/sys/kernel/tracing/instances/programs
mkdir "$tracing"
defer rmdir "$tracing"
nfs_server_start
agent_start
echo 1 >"$tracing/events/sunrpc/rpc_stats_latency/enable"
nfs_mount 3 '' /mnt/three
nfs_mount 4.0 '' /mnt/four-0
nfs_mount 4.1 '' /mnt/four-1
echo text >/mnt/three/file
flock /mnt/three/file true
ls -l /mnt/three
# The server recalls a client's delegation when the file is changed. (Over v4.0 the first opening of all
# brings none.)
for version in 0 1; do
	dd if=/dev/zero of="/export/held-$version" bs=4k count=4 status=none
	cat "/mnt/four-$version/held-$version" >/dev/null
	exec 6<"/mnt/four-$version/held-$version"
	cat <&6 >/dev/null
	wait_for 30 truncate -s 0 "/export/held-$version"
	exec 6<&-
done
agent_write
echo 0 >"$tracing/events/sunrpc/rpc_stats_latency/enable"
cp x.prom after.prom
cat "$tracing/trace" >trace
agent_stop
