# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sessions that start while calls already wait: for few RPC slots, for session slots, and a buffered write for a slow link.
# Each load is traced for 2 s and for 10 s, by both BPF sources; begun before the session, the verdict is that of the load.
traced() { # traced NAME: at the same time by each source
	local source tracers=()
	for source in btf tracepoints; do
		for seconds in 2 10; do
			/job/xidscope trace --source "$source" --hooks rpc --duration "$seconds" --json "$1-$source-$seconds.json" \
				>"$1-$source-$seconds.txt" 2>"$1-$source-$seconds.log" || true
		done &
		tracers+=($!)
	done
	wait "${tracers[@]}"
}

no_fio() { ! pgrep -x fio >/dev/null; }

nfs_server_start 64
modprobe nfs
prepare_file /export
server=$(netns_client far 10.0.7)
tc -n far qdisc add dev eth0 root netem delay 100ms
for limit in slot session; do
	if [[ $limit == slot ]]; then slot_limit 2; version=3; else session_limit 4; version=4.2; fi
	NETNS=far nfs_mount "$version" '' "/mnt/$limit" "$server"
	load "/mnt/$limit" 60 64 randread 4k &
	loader=$!
	sleep 8
	traced "$limit"
	load_end "$loader"
	wait_for 60 no_fio # its jobs are processes of their own
	umount "/mnt/$limit"
done
slow=$(netns_client slow 10.0.9)
slot_limit 128
NETNS=slow nfs_mount 3 '' /mnt/send "$slow"
tc -n slow qdisc add dev eth0 root netem rate 40mbit
dd if=/dev/zero of=/mnt/send/checkpoint bs=1M count=200 2>/dev/null &
writer=$!
sleep 12
traced send
tc -n slow qdisc del dev eth0 root
wait "$writer"
umount /mnt/send
