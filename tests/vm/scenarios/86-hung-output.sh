# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Metrics, state and events, each and all, on a frozen disk, on which a process cannot even be killed. Faults are still read
# and logged, SIGTERM ends the agent within a second, the next one says what it waits for, and all heals; also if the agent
# starts meanwhile. Files on NFS are refused at the start, whether or not the server answers; where such a mount comes later
# over the folder, nothing is written until it has gone.
set_value /proc/sys/kernel/printk_devkmsg on
modprobe loop || true # part of some kernels
nfs_server_start
nfs_mount 3 nolock /mnt/hung
mkdir local
code=200
# fault: a new one, whose number is then $code.
fault() {
	code=$((code + 1))
	echo "<3>NVRM: Xid (PCI:0000:c1:00): $code, pid=1, name=hung, a fault" >/dev/kmsg
}
begin() { # begin FOLDER-OF-METRICS OF-STATE OF-EVENTS [OPTION...]
	local -a files=(--output "$1/x.prom" --state "$2/state" --events "$3/events.json")
	metrics=$1/x.prom events=$3/events.json
	shift 3
	: >agent.log
	/job/xidscope run "${files[@]}" --interval 1 --hooks gpu --accept-user-kmsg --keep "$@" 2>agent.log &
	agent=$!
}
started() { wait_for 60 grep -q 'started in' agent.log; }
reported() { wait_for 30 grep -q "cannot write $1: \(its file system does not answer\|another file is written first\)" agent.log; }
# logged: the agent has read the last fault.
logged() { wait_for 40 grep -q "Xid.*$code" agent.log; }
# seen FILE: the last fault has come there.
seen() { wait_for 40 grep -q "\"xid\":$code,\|xid=\"$code\"" "$1"; }
# end: by SIGTERM, and within a second. What the agent leaves behind is dead or cannot be killed.
end() {
	local begin=${EPOCHREALTIME/./} took status=0
	kill -TERM "$agent"
	wait "$agent" || status=$?
	took=$((${EPOCHREALTIME/./} - begin))
	echo "$1 $took" >>ends
	[[ $status == 0 ]]
}
# heal: also what is not hung.
heal() { fsfreeze -u /mnt/frozen 2>/dev/null || true; }
hang() { fsfreeze -f /mnt/frozen; }
# healed FOLDER: what was left has gone, and the next agent need not wait.
healed() {
	heal
	wait_for 60 sh -c '! pgrep ^xidscope-'
	wait_for 120 timeout 2 touch "$1/answers"
}

# one_hangs WHICH FOLDER: that file alone is there.
one_hangs() {
	local -A at=([metrics]=local [state]=local [events]=local)
	at[$1]=$2
	rm -rf local/{,.}[a-z]* "${2:?}"/{,.}[a-z]*
	begin "${at[metrics]}" "${at[state]}" "${at[events]}"
	started
	fault
	seen "$events"
	wait_for 20 test -e "${at[state]}/state"
	hang
	fault
	case $1 in
	metrics) reported "$metrics" ;;
	state) reported "${at[state]}/state" ;;
	events) reported "$events" ;;
	esac
	logged
	fault
	logged
	sleep 2
	end "$1-$2"
	# What the first one left keeps the locks of the local files as long as the disk hangs.
	begin "${at[metrics]}" "${at[state]}" "${at[events]}"
	case $1 in
	state) wait_for 30 grep -q "cannot write $metrics: another agent writes it, or has left" agent.log ;;
	events) wait_for 30 grep -q "cannot write $metrics: another file is written first" agent.log ;;
	esac
	fault
	logged
	heal
	started
	seen "$events"
	end "after-$1-$2"
	healed "$2"
}

# all_hang FOLDER: all files are there, and heal.
all_hang() {
	rm -rf "${1:?}"/{,.}[a-z]*
	begin "$1" "$1" "$1"
	started
	fault
	seen "$events"
	hang
	for _ in {1..5}; do fault; done
	reported "$metrics"
	reported "$1/state"
	reported "$events"
	logged
	sleep 3
	heal
	wait_for 120 grep -q "$metrics is written again" agent.log
	wait_for 120 grep -q "$1/state is written again" agent.log
	wait_for 120 grep -q "$events is written again" agent.log
	fault
	seen "$events"
	seen "$metrics"
	cp "$metrics" all.prom
	cp "$events" all.json
	hang
	sleep 1
	fault
	reported "$metrics"
	end "all-$1"
	healed "$1"
}

# start_hangs FOLDER: the agent starts while nothing there answers. Needs what all_hang has left. A frozen disk can be read.
start_hangs() {
	hang
	begin "$1" "$1" "$1"
	reported "$metrics"
	wait_for 20 grep -q "continuing from the state file $1/state" agent.log
	fault
	logged
	sleep 2
	heal
	wait_for 120 grep -q 'started in' agent.log
	wait_for 120 grep -q "$events is written again" agent.log
	fault
	seen "$events"
	seen "$metrics"
	wait_for 20 test -e "$1/state"
	end "late-$1"
	hang
	begin "$1" "$1" "$1"
	fault
	logged # so it has started
	sleep 1
	end "never-$1"
	healed "$1"
	# The counts go on.
	begin "$1" "$1" "$1"
	started
	grep -q "continuing from the state file $1/state" agent.log
	seen "$metrics"
	end "again-$1"
}

# ---- NFS ----
# refused WHERE OPTION...: in one line that names the mount, at once.
refused() {
	local status=0 where=$1
	shift
	timeout 5 /job/xidscope run --output local/x.prom --hooks gpu "$@" 2>refused.log || status=$?
	[[ $status == 2 && $(wc -l <refused.log) == 1 ]]
	grep -q "error: $1 $2:\? $where; name a file in a local folder" refused.log
}
ln -s /mnt/hung link
for option in --output --state --events; do
	refused 'is on 127.0.0.1:/export, which may stop answering' $option /mnt/hung/x.prom
done
for option in --output --state --events; do refused 'it is on a network file system or FUSE, .*' $option link/x.prom; done
nfs_server_stop
for option in --output --state --events; do
	refused 'is on 127.0.0.1:/export, which may stop answering' $option /mnt/hung/x.prom
done
nfs_server_start
# Later over the folder. The agent has the folder's path, as the mount must be one for it as well: no namespace of its own.
: >agent.log
/job/xidscope run --output local/x.prom --state local/state --events local/events.json --interval 1 --hooks gpu \
	--accept-user-kmsg --keep 2>agent.log &
agent=$! metrics=local/x.prom
started
defer sh -c "umount $PWD/local 2>/dev/null || true"
mount --bind /mnt/hung local
wait_for 30 grep -q "cannot write $metrics: it is on a network file system or FUSE" agent.log
fault
wait_for 30 grep -q 'cannot write local/state: it is on a network file system or FUSE' agent.log
[[ ! -e /mnt/hung/x.prom && ! -e /mnt/hung/state && ! -e /mnt/hung/events.json ]]
nfs_server_stop
fault
logged
nfs_server_start
umount local
for file in x.prom state events.json; do wait_for 30 grep -q "local/$file is written again" agent.log; done
seen local/events.json
seen local/x.prom
grep -q '^xidscope_export_errors_total [1-9]' local/x.prom
end later
# Messages in a file there are lost, and nothing else; they come again with the server.
/job/xidscope run --output local/x.prom --events local/events.json --interval 1 --hooks gpu --accept-user-kmsg 2>/mnt/hung/messages &
agent=$!
wait_for 60 grep -q 'started in' /mnt/hung/messages
nfs_server_stop
for _ in {1..3}; do
	fault
	seen local/x.prom
done
sleep 2
end messages
nfs_server_start
wait_for 240 sh -c "! pgrep ^xidscope-log"
wait_for 60 grep -q "Xid.*$code" /mnt/hung/messages
# Where sunrpc has no types, a file of them is looked for again and again.
echo none >/mnt/hung/types.ko
begin local local local --hooks rpc,gpu --sunrpc-btf /mnt/hung/types.ko
started
nfs_server_stop
sleep 25
end types
grep -q 'the file of types /mnt/hung/types.ko is refused: .* may stop answering' agent.log
nfs_server_start

# ---- a disk of its own: a copy of that with the modules, which is ext4 and has some room ----
defer rm -f /run/disk
dd if="$(findmnt -n -o SOURCE /usr/lib/modules)" of=/run/disk bs=1M status=none
mkdir -p /mnt/frozen
defer unmount /mnt/frozen
mount -o loop /run/disk /mnt/frozen
defer sh -c 'fsfreeze -u /mnt/frozen || true'
mkdir /mnt/frozen/files
for which in metrics state events; do one_hangs $which /mnt/frozen/files; done
all_hang /mnt/frozen/files
start_hangs /mnt/frozen/files
