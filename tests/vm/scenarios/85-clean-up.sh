# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A scenario that fails midway leaves no limit, namespace, qdisc, mount or server behind for the next.
modprobe -a nfs nfsd
show_state() {
	cat /proc/sys/sunrpc/tcp_{max_,}slot_table_entries /sys/module/nfs/parameters/max_session_slots
	cat /proc/fs/nfsd/threads 2>/dev/null || echo 0
	ip netns list
	ip -brief link
	tc qdisc show
	sed -n 's/^.* \(nfs4\?\) .*/\1/p' /proc/mounts
}
as_before() {
	show_state >state
	cmp -s state /job/out/clean-up/state
}
export -f show_state as_before
show_state >state
mkdir -p nested/scenarios
cat >nested/scenarios/1-breaks.sh <<'BREAKS'
nfs_server_start
server=$(netns_client broken 10.0.9)
tc -n broken qdisc add dev eth0 root netem delay 1ms
slot_limit 4
session_limit 4
NETNS=broken nfs_mount 3 '' /mnt/broken "$server"
show_state >state
false
BREAKS
echo 'wait_for 20 as_before' >nested/scenarios/2-looks.sh
echo 'breaks looks' >nested/only
/job/run.sh "$PWD/nested"
