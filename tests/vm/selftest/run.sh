#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the guest offers what the other jobs build on: an NFS server, clients of every version, load, delay,
# network namespaces, module BTF, containers and node_exporter.
set -euo pipefail
# shellcheck source=/dev/null
. /vm/guest-lib.sh

step() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
trap 'echo "FAILED at line $LINENO: $BASH_COMMAND"' ERR

step "server and mounts: NFSv3 with nconnect, v4.0, v4.2, v4.1 over IPv6"
nfs_server_start
mkdir -p /export/{ipv6,v3,v4.0,v4.2} # shared, a delegation's recall may hold the others for seconds
nfs_mount 3 nconnect=4 /mnt/v3
nfs_mount 4.0 '' /mnt/v4.0
nfs_mount 4.2 '' /mnt/v4.2
nfs_mount 4.1 '' /mnt/ipv6 '[::1]'
for name in ipv6 v3 v4.0 v4.2; do
	file=/mnt/$name/$name/file
	timeout 4 touch "$file" # a grace period would hold this
	timeout 4 flock "$file" true
	fio --name=read --filename="$file" --size=16m --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
		--time_based --runtime=2 --minimal >fio.log
	step "$name: $(cut -d';' -f8 fio.log) IOPS"
done
cp /proc/self/mountstats out/
[[ $(grep -c 'xprt:' out/mountstats) == 7 ]]

step "a client in a network namespace, 100 ms away"
server=$(netns_client far 10.0.1)
NETNS=far nfs_mount 4.2 '' /mnt/far "$server"
grep ' /mnt/far ' /proc/mounts | grep -q "clientaddr=10.0.1.2,.*addr=$server"
tc -n far qdisc add dev eth0 root netem delay 100ms
before=${EPOCHREALTIME/./}
stat -f /mnt/far >/dev/null
((${EPOCHREALTIME/./} - before >= 100000))

step "server restart"
nfs_server_stop
nfs_server_start 4
for name in ipv6 v3 v4.0 v4.2 far; do timeout 15 cmp "/mnt/$name/v3/file" /export/v3/file; done

step "tools and kernel"
[[ -s /sys/kernel/btf/vmlinux && -s /sys/kernel/btf/sunrpc ]]
[[ -d /sys/kernel/tracing/events/sunrpc && -d /sys/kernel/debug/sunrpc ]]
crun --version >/dev/null
bpftool prog >/dev/null
prometheus-node-exporter --web.listen-address=127.0.0.1:9100 2>out/node_exporter.log &
wait_for 20 curl -sf -o out/metrics http://127.0.0.1:9100/metrics
grep -q '^node_mountstats\|^node_nfs_' out/metrics
step "done"
