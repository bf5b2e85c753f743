# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two clients with one identity, as images that were cloned with their host name: each takes the other's lease. Then a recovery of
# state that makes no call: an export moves to a server whose name cannot be looked up for a while.
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
umount -f -l /mnt/c1 /mnt/c2

mkdir -p /export/volume
mount -t tmpfs tmpfs /export/volume
defer umount -l /export/volume
export_volume() {
	exportfs -i -o "rw,insecure,no_root_squash,no_subtree_check,fsid=21$1" '*:/export/volume'
	exportfs -f
}
export_volume ''
defer exportfs -u '*:/export/volume'
modprobe -q dns_resolver || true
cp /etc/request-key.conf request-key.conf
defer cp "$PWD/request-key.conf" /etc/request-key.conf
echo 'create dns_resolver * * /bin/sleep 45' >/etc/request-key.conf
mkdir -p /mnt/volume
mount -t nfs -o vers=4.1 127.0.0.1:/volume /mnt/volume
defer unmount /mnt/volume
touch /mnt/volume/file
# Linux 7.3.4 panics when such a recovery ends (xprt_release).
if [[ $(uname -r) != 7.* ]]; then
	trace_begin drain
	export_volume ',refer=/volume@new-server.example'
	cat /mnt/volume/file &
	reader=$!
	wait_for 60 says events.json '"draining"'
	/job/xidscope check --json --health health.json >drain.check || true
	trace_end
	! wait "$reader" || false
fi
agent_write last
agent_stop
