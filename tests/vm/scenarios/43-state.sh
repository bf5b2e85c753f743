# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two clients with one identity, as images that were cloned with their host name: each takes the other's lease.
nfs_server_start
agent_start --interval 1 --events events.json
for client in 1 2; do
	server=$(netns_client "c$client" "10.0.$client")
	NETNS=c$client nfs_mount 4.2 '' "/mnt/c$client" "$server"
done
trace_begin state
writers=()
end=$((SECONDS + 20))
for client in 1 1 1 2 2 2; do
	while ((SECONDS < end)); do
		timeout -s KILL 20 sh -c "echo text >/mnt/c$client/file.$client; cat /mnt/c$client/file.$client" || true
		sleep 0.1
	done >/dev/null 2>>errors.txt &
	writers+=($!)
done
wait "${writers[@]}"
trace_end
agent_write last
agent_stop
