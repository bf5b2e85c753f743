# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Thousands of calls hang, as those of any user's writes do when a server is gone: the source tracepoints, which asks the
# kernel whether such calls have ended unnoticed, takes hardly more CPU time for it.
modprobe nfs
nfs_server_start
agent_start --source tracepoints
# shellcheck disable=SC2154 # agent_start sets it
# cpu: the agent's CPU time so far, in ticks.
cpu() { awk '{ print $14 + $15 }' "/proc/$agent/stat"; }
# writes NAME: how many ticks three writes take.
writes() {
	local before
	before=$(cpu)
	for _ in 1 2 3; do
		agent_write
	done
	echo $(($(cpu) - before)) >"$1.ticks"
}
nfs_mount 3 wsize=4096 /mnt/hung
# Its writes wait in the cache until it closes the file.
perl -e 'open my $file, ">", "/mnt/hung/file"; syswrite $file, "x" x 4096 for 1 .. 8000;
	open my $ready, ">", "written"; close $ready; select undef, undef, undef, 0.1 until -e "dropped"' &
wait_for 20 test -e written
agent_write
writes idle
block -o lo -p tcp --dport 2049
touch dropped
sleep 35
cat /sys/kernel/debug/sunrpc/rpc_clnt/*/tasks | wc >tasks
writes hung
cp x.prom hung.prom
agent_stop
