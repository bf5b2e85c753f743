#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs scenarios on the kernels named (default: all of kernels.tsv, with the scenarios named there) and judges what they
# leave. A guest waits for two fifths of its time, so two more than there are CPUs run at once; a long list of scenarios is
# shared by guests of at most 10. Prints a line per test and at the end
# "N passed, N failed, N skipped, N forgiven": what fails on a kernel that may fail is shown as "FORGIVEN FAIL".
#   check.sh [--transports | --dkms] [--all | --only "SCENARIO..."] [KERNEL...]
# --transports: those in transports/ instead: NFS over RDMA, TLS, with Kerberos, and pNFS, in an image of their own
# --dkms: on kernels with NFS modules that were built out of tree
# --all: with the scenarios that kernels.tsv marks with a plus
# PARAMETERS="NAME=VALUE ...": for scenarios that have some, such as by-owner
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lib.sh"
top=$(realpath "$here/../..")

folder=scenarios image=() kind=''
if [[ ${1:-} == --transports ]]; then
	kind=transports folder=transports image=(--image transports --packages "$vm/transports/rootfs.packages" --debian trixie)
	shift
elif [[ ${1:-} == --dkms ]]; then
	kind=out-of-tree
	shift
fi
only='' all_marked=''
if [[ ${1:-} == --all ]]; then
	all_marked=1
	shift
elif [[ ${1:-} == --only ]]; then
	only=$2
	shift 2
fi
kernels=("$@")
((${#kernels[@]})) || mapfile -t kernels < <(awk -v kind="$kind" \
	'!/^#/ && ($5 == "transports" ? $5 : $2 == "out-of-tree" ? $2 : "") == kind { print $1 }' "$vm/kernels.tsv")

# Sets of scenarios that kernels.tsv names: see there. All are those that stand in the folder but two sets: what takes long or
# shows the same as others do, and what other kernels run in make check (elsewhere). With the slow ones goes the systemd unit.
slow=(gpus starved refused types-file types-later begun-before slot session failing state better-source many-transports
	later cpus files verdict crowding forgery-corners hung-mount hung-output moved many-hung silent-server stuck-tasks stuck-elsewhere busy-tasks ordinary
	kernel-faults vforks servers-end memory server-text reused-number)
elsewhere=(forgery polled stopped-server kills)
all=$(printf '%s\n' "$here/$folder"/[0-9]*.sh | sed 's,.*/[0-9]*-,,; s/\.sh$//' | grep -vxF "$(printf '%s\n' "${slow[@]}" "${elsewhere[@]}")" | paste -sd ' ')
hooks='late sources driver-hooks'
core="$hooks fault-lines exact forgery polled slot session stopped-server"
most="$core kills files reload refused delay names"
most+=' fault-history signals-of-trouble hardware-errors'
declare -A sets=([all]=$all [slow]="${slow[*]} systemd runbook containers resets" [elsewhere]=${elsewhere[*]} [most]=$most [core]=$core [hooks]=$hooks [transports]=$all
	[slurm]="slurm-decisions slurm-causes slurm-groups slurm-latest")

# Scenarios whose judgements compare times run in guests of their own, whose clock counts instructions: a busy machine does
# not change their times. The longest have one for themselves.
timed='connections episodes why verdict silent-server starved'
longest='begun-before servers-end'

declare -A deployment=([systemd]="the unit's agent runs under systemd"
	[package]="the package is installed, upgraded, rolled back and purged under load"
	[tarball]="the tarball is installed, upgraded, rolled back and removed under load"
	[runbook]="the runbook's commands run on a node"
	[resets]="resets at random moments lose neither faults nor acknowledgements"
	[rpm]="the RPM is installed, upgraded, downgraded and removed"
	[slurm-decisions]="Slurm takes nodes out of service, and puts them back"
	[slurm-causes]="Slurm has what ended a job"
	[slurm-groups]="jobs have their numbers by the groups of Slurm's own daemons"
	[slurm-latest]="the same with the newest Slurm, in both forms of groups"
	[containers]="calls of containers are their own, by the names that their runtimes have")

# read_scenarios KERNEL: sets names to those of the scenarios to run there, and deployments to those wanted there.
read_scenarios() {
	local name wanted=''
	kernel_row "$1"
	deployments=()
	for name in ${only:-${scenarios//,/ }}; do
		[[ $all_marked || $name != +* ]] || continue
		name=${name#+}
		wanted+=" ${sets[$name]:-$name}"
	done
	names=()
	for name in $wanted; do
		if [[ ${deployment[$name]:-} ]]; then
			deployments+=("$name")
		elif [[ " ${names[*]} " != *" $name "* ]]; then
			names+=("$name")
		fi
	done
}

results=$top/build/vm
mkdir -p "$results"

work=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-check.XXXXXX")
cleanup() {
	local guests
	mapfile -t guests < <(jobs -p)
	((${#guests[@]} == 0)) || kill -- "${guests[@]/#/-}" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
promtool=$("$here/tool.sh" prometheus usr/bin/promtool)
outcomes=$results/outcomes

boot() { # boot KERNEL JOB OUT [OPTION...]
	rm -rf "$3"
	"$here/boot.sh" --kernel "$1" --job "$2" --out "$3" --timeout "${TIMEOUT:-1500}" "${@:4}" 2>&1
}

# guest JOB SUFFIX NAME...: in JOBSUFFIX, a copy of JOB for these scenarios, if there are any.
guest() {
	(($# > 2)) || return 0
	[[ ! $2 ]] || cp -r "$1" "$1$2"
	echo "${*:3}" >"$1$2/only"
}

# prepare_scenarios KERNEL JOB: what needs the network is done before the guests run.
prepare_scenarios() {
	local modules='' status=0 build=$top/build binary name clocked=() rest=() begun=() parts i from suffix
	read_scenarios "$1"
	[[ $arch == "$(dpkg --print-architecture)" ]] || build+=/$arch
	binary=${XIDSCOPE:-$build/xidscope}
	[[ -x $binary ]] || die "$binary is missing: build it (make ARCH=$arch)"
	if [[ $suite == out-of-tree ]]; then
		"$here/dkms.sh" "$1" >/dev/null || return 1
	elif [[ $suite == from-source ]]; then
		"$here/source.sh" "$1" >/dev/null || return 1
	elif ((${#image[@]} == 0)); then
		modules=$("$here/modules.sh" "$1") || status=$?
	fi
	((status == 0 || status == 77)) || return 1
	mkdir -p "$2"
	cp -r "$here/$folder" "$2/scenarios"
	cp -r "$here/agent-lib.sh" "$binary" "$top/tests/data" "$2/"
	[[ ! $modules ]] || cp -r "$modules" "$2/modules"
	local tool
	for tool in refuse dirty; do
		[[ ! -e $build/tests/$tool ]] || cp "$build/tests/$tool" "$2/"
	done
	cp "$here/run-scenarios" "$2/run.sh"
	echo "${SOAK_CALLS:-0}" >"$2/soak_calls"
	{
		[[ $all_marked || $only ]] || echo setups=quick
		echo "${PARAMETERS:-}"
	} >"$2/parameters"
	for name in "${names[@]}"; do
		case " $timed : $longest " in
		*" $name "*:*) clocked+=("$name") ;;
		*" $name "*) begun+=("$name") ;;
		*) rest+=("$name") ;;
		esac
	done
	guest "$2" -timed "${clocked[@]}"
	guest "$2" -timed-2 "${begun[@]}"
	parts=$(((${#rest[@]} + 9) / 10))
	for ((i = parts; i; i--)); do # the first last: the others are copies of it
		((from = ${#rest[@]} * (i - 1) / parts, i > 1)) && suffix=-$i || suffix=''
		guest "$2" "$suffix" "${rest[@]:from:${#rest[@]}*i/parts-from}"
	done
}

check_scenarios() { # check_scenarios KERNEL JOB
	local options=() names=()
	if [[ -e $2.failure ]]; then
		printf 'FAIL %s: could not be made ready\n%s\n' "$1" "$(sed 's/^/    /' "$2.failure")"
		return
	fi
	kernel_row "$1"
	read -ra names <"$2/only"
	[[ $special != 4-cpus ]] || options=(--smp 4)
	# What the kernel does against attacks by its CPU takes a tenth of a guest's time: in make check-all only.
	if [[ $2 == *-timed* ]]; then options=(--icount); elif [[ ! $all_marked ]]; then options+=(--append mitigations=off); fi
	if boot "$1" "$2" "$results/${2##*/}" --errors "${options[@]}" "${image[@]}"; then
		PYTHONPATH=$here /usr/bin/python3 -B -m judge "$results/${2##*/}" "$1" "$promtool" "$here/$folder" "${names[@]}" ||
			echo "FAIL $1: the judge ended early"
	else
		echo "FAIL $1: the guest did not finish"
	fi
}

check_deployment() { # check_deployment KERNEL JOB NAME
	local name="$1: ${deployment[$3]}" options=() release=${suite%-backports}
	case $3 in
	resets) options=(--resets --image resets --packages "$vm/resets/rootfs.packages") ;;
	systemd) options=(--image package --packages "$vm/package/rootfs.packages") ;;
	runbook | package | rpm | containers) options=(--image "$3" --packages "$vm/$3/rootfs.packages") ;;
	tarball) options=(--image "tarball-$release" --packages "$vm/tarball/rootfs.packages" --debian "$release") ;;
	slurm-latest) options=(--image slurm-sid --packages "$vm/slurm/rootfs.packages" --debian sid --icount) ;;
	slurm-*) options=(--image slurm --errors --packages "$vm/slurm/rootfs.packages" --icount) ;;
	esac
	[[ ! -e $2/systemd ]] || options+=(--append systemd.default_timeout_start_sec=900) # on a busy machine
	if boot "$1" "$2" "$results/$1-$3" "${options[@]}" >"$2.log" 2>&1; then
		echo "ok $name"
	else
		printf 'FAIL %s\n%s\n' "$name" "$(tail -n 15 "$2.log" | sed 's/^/    /')"
	fi
}

# in_turn COMMAND KERNEL JOB [ARGUMENT]: runs it beside the others as soon as a CPU is free. Verdicts are kept, the rest is progress.
# It is a process group of its own (set -m), which cleanup ends with the guest in it.
jobs=()
in_turn() {
	local forgive=''
	jobs+=("$3")
	kernel_row "$2"
	[[ $special != may-fail ]] || forgive='s/^FAIL /FORGIVEN FAIL /'
	while (($(jobs -pr | wc -l) > $(nproc) + 1)); do wait -n || true; done
	set -m
	"$@" | sed -u -e "$forgive" -e "/^\(ok\|FAIL\|FORGIVEN\|skip\) /{w $3.outcomes" -e 'b}' -e "s/^/$2: /" &
	set +m
}

for kernel in "${kernels[@]}"; do
	read_scenarios "$kernel"
	((${#names[@]} + ${#deployments[@]})) || continue
	# A kernel that is not available must not stop the tests of the others. In the background, because `set -e` is off in
	# a command whose status is tested.
	set -m
	prepare_scenarios "$kernel" "$work/$kernel" 2>&1 | tee "$work/$kernel.said" >&2 &
	set +m
	wait $! || grep 'error: ' "$work/$kernel.said" >"$work/$kernel.failure" || echo "see above" >"$work/$kernel.failure"
	for job in "$work/$kernel"-timed{,-2}; do
		[[ ! -e $job/only ]] || in_turn check_scenarios "$kernel" "$job"
	done
done
flock "$results/quiet" true # tests/check.sh holds it during tests that a busy machine may change
for kernel in "${kernels[@]}"; do
	read_scenarios "$kernel"
	for job in "$work/$kernel"{,-[2-9]}; do
		[[ ! -e $job/only && ! -e $job.failure ]] || in_turn check_scenarios "$kernel" "$job"
	done
	for name in "${deployments[@]}"; do
		if [[ $name == slurm-latest ]] && ! debian=sid "$here/image.sh" slurm-sid "$here/slurm/rootfs.packages" >&2; then
			echo "skip $kernel: ${deployment[$name]}: Debian sid cannot be had" | tee "$work/$kernel-$name.outcomes"
		elif [[ -d $work/$kernel/modules ]]; then
			IFS=- read -ra parts <<<"$name" # its folder, and of some the script there
			"$here/${parts[0]}/prepare.sh" "$work/$kernel-$name" "${parts[@]:1}"
			cp "$work/$kernel/modules/tracepoint/nvidia.ko" "$work/$kernel-$name/"
			in_turn check_deployment "$kernel" "$work/$kernel-$name" "$name"
		else
			echo "skip $kernel: the $name: no test driver for this kernel" | tee "$work/$kernel-$name.outcomes"
		fi
	done
done
wait
for job in "${jobs[@]}"; do
	[[ -s $job.outcomes ]] || echo "FAIL ${job##*/}: ended without a verdict" | tee "$job.outcomes"
done
cat "$work"/*.outcomes >"$outcomes"
count() { grep -c "^$1 " "$outcomes" || true; }
echo "$(count ok) passed, $(count FAIL) failed, $(count skip) skipped, $(count FORGIVEN) forgiven"
(($(count FAIL) == 0))
