# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The agent has 1 % of a CPU, as in a container with a low limit: a start takes long, and can be stopped.
modprobe nfs
nfs_server_start
nfs_mount 3 '' /mnt/starved
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/starved
defer wait_for 20 rmdir /sys/fs/cgroup/starved # busy for a moment after its last process
echo "${cpu:-1000} 100000" >/sys/fs/cgroup/starved/cpu.max
now() { echo $((${EPOCHREALTIME/./} / 1000)); } # ms
starved_start() {
	# shellcheck disable=SC2016 # sh expands it
	sh -c 'echo $$ >/sys/fs/cgroup/starved/cgroup.procs; exec /job/xidscope run --output starved.prom --log json' 2>>starved.log &
	agent=$!
}
# stop NAME: writes how many ms it took.
stop() {
	local begin
	begin=$(now)
	kill "$agent"
	wait "$agent" || true
	echo $(($(now) - begin)) >"$1.ms"
}
starved_start
sleep 3
grep -c '"message":"started' starved.log >early.started || true
stop early
begin=$(now)
starved_start
wait_for 240 test -e starved.prom
echo $(($(now) - begin)) >file.ms
wait_for 240 grep -q '"message":"started' starved.log
cp starved.prom kept.prom
stop late
[[ ! -e starved.prom ]] || echo left >left
