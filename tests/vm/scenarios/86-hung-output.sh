# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Metrics, state and events, each and all, on a file system that stops answering: an NFS server that is gone, and a frozen
# disk, on which a process cannot even be killed. Faults are still read and logged, SIGTERM ends the agent within a second,
# another can start at once, and all heals; also if the agent starts meanwhile.
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
# Without tracefs: the kernel needs a second to remove a trace instance in an emulated guest, more than is measured here.
hide='mount -t tmpfs none /sys/kernel/tracing && mount -t tmpfs none /sys/kernel/debug'
begin() { # begin FOLDER-OF-METRICS OF-STATE OF-EVENTS [OPTION...]
	local -a files=(--output "$1/x.prom" --state "$2/state" --events "$3/events.json")
	metrics=$1/x.prom events=$3/events.json
	shift 3
	: >agent.log
	unshare -m sh -c "$hide"' && exec "$@"' sh /job/xidscope run "${files[@]}" --interval 1 --hooks gpu --accept-user-kmsg \
		--keep "$@" 2>agent.log &
	agent=$!
}
started() { wait_for 60 grep -q 'started in' agent.log; }
reported() { wait_for 30 grep -q "cannot write $1: its file system does not answer" agent.log; }
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
hang() { "${hang:?}"; }
heal() { "${heal:?}"; }
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
	metrics) reported "$metrics" && seen "$events" ;;
	state) reported "${at[state]}/state" && seen "$events" && seen "$metrics" ;;
	events) reported "$events" && seen agent.log && seen "$metrics" ;;
	esac
	fault
	if [[ $1 == events ]]; then seen agent.log; else seen "$events"; fi
	sleep 2
	end "$1-$2"
	# What is local can be used by another at once, whatever the first one left.
	begin local local local
	started
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
	seen agent.log
	sleep 3
	heal
	wait_for 120 grep -q "$metrics is written again" agent.log
	wait_for 120 grep -q "$1/state is written again" agent.log
	wait_for 120 grep -q "$events is written again" agent.log
	fault
	seen "$events"
	seen "$metrics"
	cp "$metrics" "all-${1:5:4}.prom"
	cp "$events" "all-${1:5:4}.json"
	cp agent.log "all-${1:5:4}.log"
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
	if [[ $hang == freeze ]]; then
		wait_for 20 grep -q "continuing from the state file $1/state" agent.log
	else
		wait_for 20 grep -q "what it has is kept as $1/state.late" agent.log
	fi
	fault
	seen agent.log
	sleep 2
	heal
	wait_for 120 grep -q 'started in' agent.log
	wait_for 120 grep -q "$events is written again" agent.log
	fault
	seen "$events"
	seen "$metrics"
	[[ $hang == freeze ]] || wait_for 20 test -e "$1/state.late"
	wait_for 20 test -e "$1/state"
	end "late-$1"
	hang
	begin "$1" "$1" "$1"
	fault
	seen agent.log # so it has started
	sleep 1
	end "never-$1"
	healed "$1"
	# The counts go on.
	begin "$1" "$1" "$1"
	started
	grep -q "continuing from the state file $1/state" agent.log
	seen "$metrics"
	cp "$metrics" "late-${1:5:4}.prom"
	end "again-$1"
}

hang=nfs_server_stop heal=nfs_server_start
begin /mnt/hung /mnt/hung /mnt/hung
started
for file in x.prom state events.json; do grep -q "warning: /mnt/hung/$file is on 127.0.0.1:/export: " agent.log; done
[[ ! -e /mnt/hung/.x.prom.lock ]] # none could be released without the server
end warned
/job/xidscope run --output local/x.prom --hooks gpu --duration 0.5 2>/mnt/hung/messages
grep -q 'warning: these messages go to a file on 127.0.0.1:/export: ' /mnt/hung/messages
# Where sunrpc has no types, a file of them is looked for again and again.
echo none >/mnt/hung/types.ko
begin local local local --hooks rpc,gpu --sunrpc-btf /mnt/hung/types.ko
started
hang
sleep 25
end types
grep -q 'the file of types /mnt/hung/types.ko is refused: .* may stop answering' agent.log
healed /mnt/hung
for which in metrics state events; do one_hangs $which /mnt/hung; done
all_hang /mnt/hung
start_hangs /mnt/hung

# A disk of its own: a copy of that with the modules, which is ext4 and has some room.
defer rm -f /run/disk
dd if="$(findmnt -n -o SOURCE /usr/lib/modules)" of=/run/disk bs=1M status=none
mkdir -p /mnt/frozen
defer unmount /mnt/frozen
mount -o loop /run/disk /mnt/frozen
defer sh -c 'fsfreeze -u /mnt/frozen || true'
freeze() { fsfreeze -f /mnt/frozen; }
thaw() { fsfreeze -u /mnt/frozen; }
hang=freeze heal=thaw
mkdir /mnt/frozen/files
for which in metrics state events; do one_hangs $which /mnt/frozen/files; done
all_hang /mnt/frozen/files
start_hangs /mnt/frozen/files
