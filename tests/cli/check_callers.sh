#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2053 # what is wanted is a pattern
# Proves that the deployed examples act on each result as they should: Slurm's health check program with a stand-in for
# scontrol, its prolog and epilog, and the monitor of node-problem-detector. Needs no kernel and no root.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

gpu=0000:c1:00.0
fault=xid=79:fatal:restart_bm:2:2026-11-21T10:00:00Z
judge critical --ack none -- "$fault"
judge warning --ack none -- "${fault/fatal/unknown}"
judge milder --rule xid_fatal=warn --ack none -- "$fault"
judge healthy --ack none --
head -n 10 critical >torn

# ---- Slurm: the script's decisions, with a stand-in for scontrol; a guest has the real one ----

# A node is a file in nodes/: its state, the time of its reason, and the reason. All of them are one partition.
mkdir bin nodes
cat >bin/scontrol <<'END'
#!/bin/bash
show() { # NAME
	local node
	mapfile -t node <"nodes/$1"
	echo "NodeName=$1 Arch=x86_64 State=${node[0]} Partitions=batch  BootTime=x Reason=${node[2]} [root@${node[1]}] Comment=x State=x"
}
case $* in
"--oneliner show node "*)
	show "$4"
	exit
	;;
"--all --oneliner show node")
	# others that drain while the script waits
	[[ ! -e meanwhile ]] || [[ ! -e looked ]] || { bash ./meanwhile; rm meanwhile; }
	: >looked
	for file in nodes/*; do show "${file#nodes/}"; done
	exit
	;;
"show job "*)
	[[ ! -e forgotten ]] || { echo "slurm_load_jobs error: Invalid job id specified" >&2 && exit 1; }
	echo "JobId=$3 JobName=x AdminComment=trick"
	[[ ! -s requeued ]] || echo "   AdminComment=$(<requeued)"
	echo '   Comment=AdminComment=x'
	exit
	;;
esac
printf '%s\n' "$*" >>scontrol.done
if [[ $2 == JobId=* ]]; then
	[[ -e requeued ]] || { echo "Job has already finished for job 7" >&2 && exit 1; }
	printf '%s\n' "${3#AdminComment=}" >requeued
	exit
fi
name=${2#NodeName=}
mapfile -t node <"nodes/$name"
case $3 in
State=RESUME) node=(IDLE Unknown none) ;;
State=DRAIN) node=("${node[0]%%+*}+DRAIN" "${clock:-5}" "${4#Reason=}") ;;
State=DOWN) node=("DOWN${node[0]#"${node[0]%%+*}"}" "${clock:-5}" "${4#Reason=}") ;; # it keeps the flag
esac
printf '%s\n' "${node[@]}" >"nodes/$name"
END
# The accounting: the comment of a job that has ended.
cat >bin/sacct <<'END'
#!/bin/bash
[[ $* == "-n -P -X -j 7 -o AdminComment" ]] && cat comment
END
cat >bin/sacctmgr <<'END'
#!/bin/bash
# The real one writes lower case.
[[ ${*:1:6} == "-i modify job where JobId=7 set" && -e comment ]] && tr A-Z a-z <<<"${7#AdminComment=}" >comment
END
printf '#!/bin/bash\necho "$*" >>logged\n' >bin/logger
chmod +x bin/*
mkdir -p "sys/bus/pci/devices/$gpu/driver"
export XIDSCOPE_STATE_DIR=$dir/state XIDSCOPE_SETTLE=0 XIDSCOPE_SYSFS=$dir/sys XIDSCOPE=$program PATH=$dir/bin:$PATH

node() { # NAME STATE [SINCE [REASON]]
	printf '%s\n' "$2" "${3:-Unknown}" "${4:-none}" >"nodes/$1"
}
fresh() { # STATE [REASON]: one node of ten, and nothing remembered
	rm -rf state nodes/* logged looked meanwhile
	for i in {1..10}; do node "n$i" IDLE; done
	node n1 "$1" 3 "${2:-}"
}
# slurm WANTED FILE ARGUMENT...: what scontrol is asked to change.
slurm() {
	local wanted=$1 file=$2 got=0
	: >scontrol.done
	shift 2
	SLURMD_NODENAME=n1 "${script:-$top/deploy/slurm/xidscope-health-check}" --health "$file" --max-age 1d "$@" >out 2>err || got=$?
	[[ $(<scontrol.done) == $wanted ]] || fail "$file, $*: scontrol was asked for '$(<scontrol.done)', not '$wanted'"
	[[ $got == "${exits:-0}" ]] || fail "$file, $*: the health check ends with $got: $(<err)"
	[[ ! -s out ]] || fail "$file: the health check prints '$(<out)'"
}
said() { # PATTERN
	[[ $(tail -n 1 logged 2>/dev/null) == *$1* ]] || fail "it logged '$(cat logged)', not '$1'"
}
text="[[]xidscope fail] GPU $gpu: Xid 79 (GPU no longer answers on the PCIe bus) 2 times, last 2026-11-21T10:00:00Z. *"
drain="update NodeName=n1 State=DRAIN Reason=Xid 79 c1:00.0 $text"
down="update NodeName=n1 State=DOWN Reason=Xid 79 c1:00.0 $text"
warn="update NodeName=n1 State=DRAIN Reason=Xid 79 c1:00.0 [[]xidscope warn] GPU $gpu: *"
back="update NodeName=n1 State=RESUME"
ours="Xid 79 c1:00.0 [xidscope fail] GPU $gpu: Xid 79 x"

# a failure takes the node down, its jobs with it; a warning lets them end
fresh IDLE && slurm "$drain"$'\n'"$down" critical && slurm "" critical
fresh MIXED+CLOUD && slurm "$warn" warning && slurm "" warning
slurm "$down" critical # and then it got worse
fresh IDLE && slurm "$warn" milder

# Slurm gives no PATH
echo "PATH=$dir/bin:\$PATH" >settings
fresh IDLE && : >scontrol.done
env -i SLURMD_NODENAME=n1 XIDSCOPE="$program" XIDSCOPE_SETTINGS=settings XIDSCOPE_STATE_DIR="$dir/state" XIDSCOPE_SETTLE=0 \
	"$BASH" "$top/deploy/slurm/xidscope-health-check" --health critical --max-age 1d
[[ $(<scontrol.done) == $drain$'\n'$down ]] || fail "without PATH scontrol was asked for '$(<scontrol.done)'"

# careful sites
export XIDSCOPE_MODE=drain-only
fresh ALLOCATED && slurm "$drain" critical && slurm "" critical
fresh IDLE && slurm "$warn" warning && slurm "$drain" critical
export XIDSCOPE_MODE=observe
fresh IDLE && slurm "update NodeName=n1 Comment=Xid 79 c1:00.0 $text" critical
said "observed: Xid 79 c1:00.0 [[]xidscope fail]"
slurm "" critical && slurm "update NodeName=n1 Comment=" healthy
(($(wc -l <logged) == 1)) || fail "it logs the same again"
# the comment ends with this mode
fresh IDLE && slurm "update NodeName=n1 Comment=*" critical && XIDSCOPE_MODE=enforce slurm "update NodeName=n1 Comment="$'\n'"$drain"$'\n'"$down" critical
fresh IDLE && slurm "update NodeName=n1 Comment=*" critical && XIDSCOPE_MODE=drain-only slurm "update NodeName=n1 Comment=" healthy
export XIDSCOPE_MODE=drian
fresh IDLE && slurm "" critical
grep -q 'use observe, drain-only or enforce' err || fail "a wrong mode is not named: $(<err)"
unset XIDSCOPE_MODE
echo 'XIDSCOPE_MODE=drain-only' >settings
fresh IDLE && XIDSCOPE_SETTINGS=settings slurm "$drain" critical
# settings that cannot be had must not mean the default, which drains
sed 's/=/ = /p' settings -i && fresh IDLE && XIDSCOPE_SETTINGS=settings slurm "" critical
grep -q '^xidscope: settings: root must own it' err || fail "a wrong file of settings is not named: $(<err)"
if ((!EUID)); then
	echo 'XIDSCOPE_MODE=observe' >settings && chown 65534 settings && XIDSCOPE_SETTINGS=settings slurm "" critical
fi

# what others have drained stays as it is
export XIDSCOPE_RESUME=1 XIDSCOPE_STABLE=0
for state in IDLE+DRAIN 'DOWN*' MIXED+DRAIN FAIL; do
	for whose in "somebody's" "xidscope: seen" "maintenance, see [xidscope]"; do
		fresh "$state" "$whose"
		slurm "" critical && slurm "" warning && slurm "" healthy
	done
done

# unknown changes nothing, not even a drain of its own
for file in torn absent; do
	fresh IDLE && slurm "" $file
	fresh IDLE+DRAIN "$ours" && slurm "" $file
done
grep -q '^xidscope: cannot read absent' err || fail "the reason for unknown is missing: $(<err)"

# resumed when the check has been OK for a while, if the site wants that
fresh IDLE+DRAIN "$ours" && slurm "$back" healthy
fresh DOWN "$ours" && slurm "$back" healthy
fresh IDLE+DRAIN "$ours" && XIDSCOPE_RESUME=0 slurm "" healthy
fresh IDLE+DRAIN "$ours" && XIDSCOPE_STABLE=300 slurm "" healthy && XIDSCOPE_STABLE=300 slurm "" healthy
fresh IDLE+DRAIN "$ours" && mkdir state && : >state/n1.good && XIDSCOPE_STABLE=300 slurm "" healthy # of a disk that was full
fresh IDLE && slurm "" healthy
# not where the GPU has not come back after the reboot that has cleared its counts
mv "sys/bus/pci/devices/$gpu" sys/gone
fresh IDLE+DRAIN "$ours" && slurm "" healthy && said "not resumed: $gpu is missing"
mkdir "sys/bus/pci/devices/$gpu" && slurm "" healthy
rmdir "sys/bus/pci/devices/$gpu" && mv sys/gone "sys/bus/pci/devices/$gpu"
# not a fourth time in a day
fresh IDLE
for _ in 1 2 3; do node n1 DOWN 3 "$ours" && slurm "$back" healthy; done
node n1 DOWN 3 "$ours" && slurm "" healthy && said "resumed 3 times in a day"
# by hand, while the fault is open: it will not hold, and says why
fresh IDLE && slurm "$drain"$'\n'"$down" critical && node n1 IDLE && slurm "*[(]it was resumed, but the fault is open: repair \
it, or xidscope ack $gpu 79)*" critical

# a state that ends by itself must last
judge waiting --ack none -- 'waiter=75:[::1]'
# what users can cause drains only where a site asks for it
judge failing --rule xid_repeat=warn:1 --ack none -- xid=31:warning:restart_app:1:2026-11-21T10:00:00Z
judge decoding --ack none -- xid=68:warning:restart_app:1000:2026-11-21T10:00:00Z
for file in waiting failing decoding; do
	fresh IDLE && XIDSCOPE_CONFIRM=0 slurm "" $file
	fresh IDLE && XIDSCOPE_CONFIRM=0 XIDSCOPE_IGNORE='' slurm "update NodeName=n1 State=DRAIN *" $file
done
export XIDSCOPE_IGNORE=''
fresh IDLE && slurm "" waiting && slurm "" waiting && XIDSCOPE_CONFIRM=0 slurm "update NodeName=n1 State=DRAIN Reason=NFS \
waits [[]::1] [[]xidscope warn] NFS server *" waiting && slurm "" waiting && slurm "$back" healthy
fresh IDLE && slurm "" waiting && slurm "" healthy && slurm "" waiting
# also where nothing can be remembered, as on a full disk
fresh IDLE && mkdir -p state/n1.pending && slurm "" waiting && fresh IDLE
XIDSCOPE_CONFIRM=0 slurm "update *" waiting && node n1 IDLE && XIDSCOPE_CONFIRM=0 slurm "*[(]it was resumed, but the fault is open: \
repair it, or xidscope ack '[*]' nfs_waiter --until TIME)" waiting
unset XIDSCOPE_IGNORE
# a setting that is no number, as "20%", must not lift a limit
for setting in LIMIT=20% LIMIT=x LIMIT=-1 LIMIT=08 LIMIT=0x14 STABLE=5m CONFIRM=1h RESUMES=no WINDOW=600 'WINDOW=600 x' SETTLE=x; do
	export "XIDSCOPE_$setting"
	fresh IDLE && slurm "" critical
	grep -q "^xidscope: XIDSCOPE_${setting%%=*}=.*: use " err || fail "XIDSCOPE_$setting is not named: $(<err)"
	unset "XIDSCOPE_${setting%%=*}"
	export XIDSCOPE_SETTLE=0 XIDSCOPE_STABLE=0
done

# ---- the fleet's limit: 20 % of ten nodes are two ----
others() { for i in "$@"; do printf "printf '%%s\\n' IDLE+DRAIN 3 '%s' >nodes/n%s\n" "${ours/c1/c2}" "$i"; done; }
fresh IDLE && bash <(others 5) && slurm "$drain"$'\n'"$down" critical
fresh IDLE && bash <(others 5 6) && slurm "" critical && said "not drained: the limit of 20 % of a partition is reached"
XIDSCOPE_LIMIT=30 slurm "$drain"$'\n'"$down" critical
fresh IDLE && bash <(others 5 6 7 8) && XIDSCOPE_LIMIT=100 slurm "$drain"$'\n'"$down" critical
fresh IDLE && bash <(others 5) && XIDSCOPE_LIMIT=1 slurm "" critical
fresh IDLE && XIDSCOPE_LIMIT=1 slurm "$drain"$'\n'"$down" critical # at least one
# nodes that save power are not there, and one that soon will is in service
fresh IDLE && bash <(others 5) && for i in 2 3 4 6 7 8 9 10; do node "n$i" IDLE+CLOUD+POWERED_DOWN; done
slurm "" critical && said "limit of 20 %"
fresh ALLOCATED+CLOUD+POWER_DOWN && slurm "$drain"$'\n'"$down" critical
# others drain at the same time: the first two stay, and this one returns, its job unharmed
fresh IDLE && others 5 6 >meanwhile && slurm "$drain"$'\n'"$back" critical && said "over the limit"
# those that drained later go back themselves
fresh IDLE && others 5 6 | sed 's/DRAIN 3/DRAIN 7/' >meanwhile && slurm "$drain"$'\n'"$down" critical
# in the same second: by name, n1 before n5
fresh IDLE && others 5 6 | sed 's/DRAIN 3/DRAIN 5/' >meanwhile && slurm "$drain"$'\n'"$down" critical
# one that is down has passed this
fresh IDLE && others 5 6 | sed 's/IDLE+DRAIN 3/DOWN+DRAIN 7/' >meanwhile && slurm "$drain"$'\n'"$back" critical
# seen a minute later: one that drains goes back, one that is down stays
fresh ALLOCATED+DRAIN "${ours/fail/warn}" && bash <(others 5 6 | sed 's/DRAIN 3/DRAIN 1/') && slurm "$back" warning
fresh DOWN "$ours" && bash <(others 5 6 | sed 's/DRAIN 3/DRAIN 1/') && slurm "" critical

# users can fill /tmp: the limit holds nevertheless
cat >with_full_tmp <<END
#!/bin/bash
mkdir -p full && mount -t tmpfs -o size=4k full full || exit
echo >full/file
TMPDIR=$dir/full exec "$top/deploy/slurm/xidscope-health-check" "\$@"
END
printf '#!/bin/bash\nexec unshare -m "%s/with_full_tmp" "$@"\n' "$dir" >with_own_mounts
chmod +x with_full_tmp with_own_mounts
if unshare -m true 2>/dev/null; then
	fresh IDLE && bash <(others 5 6) && node n7 IDLE 3 "$(printf 'x%.0s' {1..100000})"
	script=$dir/with_own_mounts slurm "" critical && said "not drained: the limit of 20 % of a partition is reached"
fi

# ---- in a prolog and an epilog ----
export SLURM_SCRIPT_CONTEXT=prolog_slurmd
fresh ALLOCATED && slurm "$warn" warning
fresh ALLOCATED && slurm "" torn
fresh ALLOCATED && exits=1 slurm "$drain"$'\n'"$down" critical
fresh ALLOCATED && XIDSCOPE_MODE=observe slurm "update NodeName=n1 Comment=*" critical
# Slurm drains a node whose prolog fails: not one that the fleet's limit keeps in service, nor one that cannot be drained
fresh ALLOCATED && bash <(others 5 6) && slurm "" critical && said "limit of 20 %"
fresh ALLOCATED && others 5 6 >meanwhile && slurm "$drain"$'\n'"$back" critical && said "over the limit"
fresh ALLOCATED+DRAIN "somebody's" && exits=1 slurm "" critical
SLURM_SCRIPT_CONTEXT=epilog_slurmd
fresh ALLOCATED && slurm "$drain"$'\n'"$down" critical
unset SLURM_SCRIPT_CONTEXT XIDSCOPE_RESUME XIDSCOPE_STABLE

# ---- what ended a job ----

# logs KIND AGO...: an event log in which the events are so many seconds ago; a later one never hides an earlier one.
logs() {
	local time at now
	at=$(cut -d. -f1 /proc/uptime)
	printf -v now '%(%s)T' -1
	event() { # AGO KIND INCIDENT
		printf '{"time":"%(%FT%T.000Z)T","monotonic_seconds":%d.0,%s,"incident":%d,"repeats":0,"text":"x"}\n' $((now - $1)) $((at - $1)) "$2" "$3"
	} >>events
	event 3000 '"kind":"agent","name":"start","boot":"b","version":"1"' 1
	for time in {2900..0..100}; do event "$time" '"kind":"agent","name":"alive"' $((9999 - time)); done
	while (($#)); do
		event "$2" "${kinds[$1]}" $((19999 - $2))
		shift 2
	done
}
declare -A kinds=(
	[xid]='"kind":"xid","gpu":"0000:c1:00.0","xid":79,"name":"GPU_HAS_FALLEN_OFF_THE_BUS","severity":"fatal"'
	[nfs]='"kind":"kernel_event","name":"nfs_not_responding","device":"10.0.0.1"')
export XIDSCOPE_EVENTS=events
# epilog WANTED COMMENT [KIND AGO...]: what the epilog makes of the job's COMMENT.
epilog() {
	local wanted=$1
	fresh ALLOCATED && rm -f events
	printf '%s\n' "$2" >comment
	logs "${@:3}"
	SLURM_SCRIPT_CONTEXT=epilog_slurmd SLURM_JOB_ID=7 slurm "*" healthy
	commented "$wanted"
}
commented() { # WANTED
	[[ $(<comment) == $1 ]] || fail "the comment is '$(<comment)', not '$1'"
}
none='xidscope: n1: none: no fault in the window*'
epilog "xidscope: n1: xid: *, fatal, xid 79 *" "" xid 60
# one comment for all nodes, and perhaps another's
epilog "xidscope: n1: xid: *" "xidscope: n2: none: no fault in the window" xid 60
epilog "xidscope: n1: xid: *" "xidscope: n1: oom_kill: of an earlier run" xid 60
epilog "Xidscope: N2: OOM_KILL: x" "Xidscope: N2: OOM_KILL: x" xid 60
for text in "xidscope: n2: oom_kill: x" "the site's own"; do
	epilog "$text" "$text" xid 60
	epilog "$text" "$text"
done
SLURM_NODELIST='n[0-1]' epilog "" ""
SLURM_JOB_NODELIST='n[1-3,5]' epilog "$none" ""
SLURM_JOB_NODELIST='n2,n1' epilog "xidscope: n1: xid: *" "" xid 60
# the next check after the window's end looks once more
epilog "$none" "" xid 620 && slurm "" healthy
rm events && logs xid 5 nfs 920 && printf '%s\n' $(($(date +%s) - 310)) "" >state/n1.job-7
slurm "" absent && commented "$none" && said "job 7: n1: none: "
rm events && logs xid 20 nfs 920 && printf '%s\n' $(($(date +%s) - 310)) "" >state/n1.job-7
slurm "*" absent && commented "xidscope: n1: xid: *" && said "job 7: n1: xid: "
[[ ! -e state/n1.job-7 ]] || fail "a job whose window is over is still remembered"
# many that have ended leave time for the check: the next checks look for the rest
fresh IDLE && mkdir -p state
for job in {100..103}; do printf '%s\n' $(($(date +%s) - 310)) "" >"state/n1.job-$job"; done
cat >slow <<END
#!/bin/bash
[[ \$1 != why ]] || sleep 2
exec "$program" "\$@"
END
chmod +x slow
SECONDS=9 XIDSCOPE=$dir/slow slurm "*$drain*" critical
[[ -e state/n1.job-103 ]] || fail "the check waited for all jobs that have ended"
# one that waits for its next run has its comment in the controller
: >requeued && epilog "" "" xid 60
[[ $(<requeued) == "xidscope: n1: xid: "* ]] || fail "a requeued job's comment is '$(<requeued)'"
epilog "" ""
[[ $(<requeued) == "xidscope: n1: xid: "* ]] || fail "the second run ends, and its comment is '$(<requeued)'"
rm requeued
# neither a log nor an accounting
epilog "$none" "" && rm comment && : >forgotten && printf '%s\n' $(($(date +%s) - 310)) "" >state/n1.job-7
slurm "*" absent && said "this log only"
rm forgotten && XIDSCOPE_EVENTS=nothing epilog "" "" xid 60 && said "cannot read the event log nothing"

# ---- the node's job, for Prometheus ----

# job CONTEXT JOB WANTED: the series in the folder after the prolog or epilog of a job.
job() {
	SLURM_SCRIPT_CONTEXT=$1 SLURM_JOB_ID=$2 XIDSCOPE_TEXTFILES=${folder-textfiles} timeout 120 "$top/deploy/slurm/xidscope-job" 2>err ||
		fail "xidscope-job fails: it would drain the node"
	[[ $(grep -hv '^#' textfiles/*.prom 2>/dev/null) == "$3" ]] || fail "$1 of $2: '$(cat textfiles/* 2>&1)', not '$3'"
}
mkdir textfiles
rm -f settings && echo 'XIDSCOPE_TEXTFILES=textfiles' >settings # another's above
folder='' XIDSCOPE_SETTINGS=settings job prolog_slurmd 4710 'fleet_node_job_info{workload="4710"} 1'
job prolog_slurmd 4711 'fleet_node_job_info{workload="4711"} 1'
job prolog_slurmd 4712 'fleet_node_job_info{workload="4712"} 1'
job epilog_slurmd 4711 'fleet_node_job_info{workload="4712"} 1'
SLURM_JOB_RESTART_COUNT=2 job prolog_slurmd 4712 'fleet_node_job_info{workload="4712.2"} 1'
SLURM_JOB_RESTART_COUNT=1 job epilog_slurmd 4712 'fleet_node_job_info{workload="4712.2"} 1'
SLURM_ARRAY_JOB_ID=4800 job prolog_slurmd 4803 'fleet_node_job_info{workload="4800"} 1'
SLURM_ARRAY_JOB_ID=4800 job epilog_slurmd 4803 ''
folder=nowhere job prolog_slurmd 4711 ''

# What the owner of the folder puts there makes root write no other file, and stops no job.
echo precious >victim
ln -s "$PWD/victim" textfiles/xidscope-job.prom.tmp
job prolog_slurmd 4711 'fleet_node_job_info{workload="4711"} 1'
[[ $(<victim) == precious && ! -L textfiles/xidscope-job.prom ]] || fail "xidscope-job writes through a link: $(<victim)"
[[ $(stat -c %a textfiles/xidscope-job.prom) == "$(printf %o $((0666 & ~$(umask))))" ]] || fail "node_exporter cannot read it"
mkfifo textfiles/xidscope-job.prom.tmp
job prolog_slurmd 4712 'fleet_node_job_info{workload="4712"} 1'
rm textfiles/xidscope-job.prom
mkfifo textfiles/xidscope-job.prom
SLURM_SCRIPT_CONTEXT=epilog_slurmd SLURM_JOB_ID=1 XIDSCOPE_TEXTFILES=textfiles timeout 120 "$top/deploy/slurm/xidscope-job" ||
	fail "a FIFO stops an epilog"
rm textfiles/xidscope-job.prom
mkdir folder
for name in xidscope-job.prom{,.tmp}; do
	ln -s "$PWD/folder" "textfiles/$name"
	job prolog_slurmd 4711 'fleet_node_job_info{workload="4711"} 1'
	[[ -z $(ls folder) && ! -L textfiles/xidscope-job.prom ]] || fail "through $name xidscope-job writes into another folder: $(ls folder)"
done
rm textfiles/xidscope-job.prom

# ---- node-problem-detector ----

mapfile -t monitor < <(/usr/bin/python3 -c '
import json, sys
monitor = json.load(open(sys.argv[1], encoding="utf-8"))
[rule] = monitor["rules"]
assert int(rule["timeout"][:-1]) <= int(monitor["pluginConfig"]["timeout"][:-1]) # it refuses to start otherwise
print(monitor["pluginConfig"]["max_output_length"], *rule["args"], sep="\n")' "$top/deploy/npd/xidscope-monitor.json")
# npd FILE CODE PATTERN: what the monitor's rule gives. 0 makes the condition False, 1 True, any other Unknown.
npd() {
	local got=0
	"$program" "${monitor[@]:1}" --health "$1" --max-age 1d >out 2>err || got=$?
	[[ $got == "$2" && $(<out) == $3 ]] || fail "npd, $1: $got, '$(<out)', not $2, '$3'"
	(($(wc -l <out) == 1 && $(wc -c <out) <= monitor[0] + 1)) || fail "npd, $1: '$(<out)' is no line of ${monitor[0]} bytes"
}
npd healthy 0 "*"
npd warning 0 "*"
npd critical 1 "GPU $gpu: Xid 79 (*) 2 times, last 2026-11-21T10:00:00Z. *"
# which any user can cause
judge stuck --ack none -- stuck=700:/data
npd stuck 0 "*"
npd torn 2 "cannot read torn: it is damaged*"
npd absent 2 "cannot read absent: *"
# the longest names
long=$(printf "ä%.0s" {1..60})
judge long --rule nfs_waiter=fail --ack none -- "waiter=75:$long"
npd long 1 "NFS server ää*: a call has been waiting for its reply for 75 s. *"
judge mount --mount "/${long:0:60}" --ack none --
npd mount 1 "Mount /${long:0:30}*"

((failed)) || echo "Slurm and node-problem-detector get what they should"
exit $failed
