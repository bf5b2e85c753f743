#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's side of `make growth` on a node that has very many of one thing (it becomes the job's run.sh): what the agent takes
# with the crowd named in the file "crowd". Leaves the figures in out/row.
set -euo pipefail
. /vm/guest-lib.sh
cd /job
. ./agent-lib.sh
trap 'echo "FAILED at line $LINENO: $BASH_COMMAND"' ERR

nfs_server_start 1
echo 4096 >/proc/fs/nfsd/max_connections # or a server with one thread closes all but 80
dd if=/dev/zero of=/export/load bs=1M count=16 status=none
nfs_mount 3 nolock /mnt/s0
sysctl -qw kernel.threads-max=210000 kernel.pid_max=410000 vm.max_map_count=500000

# call FOLDER...: a call on each of these mounts, again and again. call_once: after a second.
call_once() {
	local folder
	: >ready
	read -rt 1 -u $never || true
	for folder in "$@"; do : <"$folder/load"; done
}
call() { while call_once "$@"; do :; done; }

nothing() { call /mnt/s0; }
cpus() { [[ $(</sys/devices/system/cpu/possible) == 0-255 ]] && nothing; }
# One of them sleeps uninterruptibly, as a task that hangs in NFS does.
tasks() {
	perl -e 'syscall 58; syscall 34' &
	./load tasks 100000 >threads &
	wait_for 600 test -s threads
	call /mnt/s0
}
# SOURCE NAME COUNT TYPE FLAGS [OPTIONS]: mounts it at NAME, or if COUNT is not 0 at NAME1, NAME2 and so on. To start mount(8) takes longer.
# shellcheck disable=SC2016 # perl's
mount='my ($source, $name, $count, $type, $flags, $options) = (@ARGV, "");
for ($count ? map { "$name$_" } 1 .. $count : $name) {
	mkdir;
	syscall(165, $source, $_, $type, $flags + 0, $options) and die "$_: $!";
}'
servers() {
	local i address
	for i in {1..300}; do
		address=127.0.$((i / 200 + 1)).$((i % 200 + 1))
		perl -e "$mount" $address:/export "/mnt/s$i" 0 nfs 0 vers=3,nolock,addr=$address
	done
	call /mnt/s*
}
# One comes and goes.
mounts() {
	perl -e "$mount" 127.0.0.1:/export /mnt/m 1000 nfs 0 vers=3,nolock,nosharecache,addr=127.0.0.1
	perl -e "$mount" /mnt/s0 /mnt/b 4000 none 4096
	while call_once /mnt/m? /mnt/m??; do
		umount /mnt/b1
		mount --bind /mnt/s0 /mnt/b1
	done
}
namespaces() {
	local i
	for i in {1..200}; do
		printf '%s\n' "netns add n$i" "link add v$i type veth peer name eth0 netns n$i" "address add 10.0.$i.1/24 dev v$i" "link set v$i up"
	done | ip -batch -
	for i in {1..200}; do
		printf '%s\n' "address add 10.0.$i.2/24 dev eth0" "link set eth0 up" | ip -n "n$i" -batch -
		in_netns "n$i" perl -e "$mount" "10.0.$i.1:/export" "/mnt/n$i" 0 nfs 0 "vers=3,nolock,addr=10.0.$i.1"
	done
	call /mnt/n*
}
# Each with a process that makes a call: 20,000 in a minute.
groups() {
	: >ready
	# shellcheck disable=SC2016 # perl's
	perl -e 'for (my $i = 1; ; $i++) {
		my $group = "/sys/fs/cgroup/job_$i";
		mkdir $group;
		if (!fork) {
			open F, ">", "$group/cgroup.procs" and print F "0\n" and close F;
			open F, "<", "/mnt/s0/load";
			exit;
		}
		wait;
		rmdir $group;
		next if $i % 33;
		open F, ">>", "made" and print F "$i\n" and close F;
		select undef, undef, undef, .04;
	}'
}

# shellcheck disable=SC2154 # agent_start sets it
processes() { echo "$agent" && pgrep -P "$agent"; }
kilobytes() { # kilobytes FILE FIELD: of all processes
	local pid
	for pid in $(processes); do cat "/proc/$pid/$1"; done | awk -v field="$2:" '$1 == field { n += $2 } END { printf "%.1f", n / 1000 }'
}
microseconds() { sed -n 's/^usage_usec //p' /sys/fs/cgroup/agent/cpu.stat; }

crowd=$(<crowd)
"$crowd" >out/crowd.log 2>&1 </dev/null & # the guest does not wait for it
wait_for 600 eval '[[ -e ready ]] || ! kill -0 $!'
[[ -e ready ]]
agent_start --interval 15 --detail node
mkdir /sys/fs/cgroup/agent
for pid in $(processes); do echo "$pid" >/sys/fs/cgroup/agent/cgroup.procs; done
sleep 16 # it has written once
before=$(microseconds) made=$(tail -n 1 made 2>/dev/null || true)
sleep 30
after=$(microseconds)
[[ ! $made ]] || echo "control groups in a minute: $((($(tail -n 1 made) - made) * 2))"
(($(date +%s) - $(stat -c %Y x.prom) < 30)) || echo "FAILED: the file is old"
printf '%s | %s | %s | %s | %s | %s\n' "$(sed -n 's/.*started in \([0-9]*\) ms.*/\1/p' agent.log)" $(((after - before) / 2000)) \
	"$(kilobytes smaps_rollup Pss)" "$(kilobytes status VmHWM)" "$(grep -c '^xidscope' x.prom)" \
	"$(awk '/^xidscope_(left_out_entries|events_dropped_total)[ {]/ { n += $NF } END { print n + 0 }' x.prom)" >out/row
cp x.prom agent.log out/
