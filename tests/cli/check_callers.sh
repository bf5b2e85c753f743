#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the deployed examples act on each verdict as they should: Slurm's health check program with a stand-in for
# scontrol, its prolog and epilog, and the monitor of node-problem-detector with a caller like it. Needs no kernel and no root.
set -uo pipefail
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

gpu=0000:c1:00.0
cat >critical <<END
xidscope_gpu_xid_errors_total{gpu="$gpu",xid="79",severity="fatal",action="restart_bm"} 2
xidscope_gpu_xid_last_timestamp_seconds{gpu="$gpu",xid="79"} 1795255200.000
# EOF
END
sed 's/fatal/unknown/' critical >warning
echo '# EOF' >healthy
head -n 1 critical >torn

# ---- Slurm ----

# Prints the file "node" for `scontrol --oneliner show node NAME`, and records all other arguments.
mkdir bin
cat >bin/scontrol <<'END'
#!/bin/bash
if [[ $* == "--oneliner show node n1" ]]; then
	cat node
else
	printf '%s\n' "$@" >>done
fi
END
chmod +x bin/scontrol

# slurm NODE-LINE WANTED FILE ARGUMENT...: the arguments that scontrol gets, one a line.
slurm() {
	local wanted=$2 file=$3
	echo "NodeName=n1 Arch=x86_64 $1" >node
	: >./done
	shift 3
	PATH=$dir/bin:$PATH SLURMD_NODENAME=n1 XIDSCOPE=$program \
		"$top/deploy/slurm/xidscope-health-check" --file "$file" "$@" >out 2>err || fail "the health check fails for $file"
	[[ $(<./done) == "$wanted" ]] || fail "$file, $*: scontrol was asked for '$(<./done)', not '$wanted'"
	[[ ! -s out ]] || fail "$file: the health check prints '$(<out)'"
}
reason="Reason=xidscope: GPU $gpu: Xid 79 (GPU no longer answers on the PCIe bus) 2 times, last 2026-11-21T10:00:00Z: \
Drain the node and restart it; if the error returns, replace the GPU."
drained=$'update\nNodeName=n1\nState=DRAIN\n'$reason
slurm "State=IDLE Reason=" "$drained" critical
slurm "State=MIXED+CLOUD" "$drained" critical
XIDSCOPE_STATE=DOWN slurm "State=ALLOCATED" "${drained/DRAIN/DOWN}" critical
slurm "State=IDLE+DRAIN Reason=somebody's [root@now]" "" critical
slurm "State=DOWN* Reason=xidscope: GPU x" "" critical
slurm "State=IDLE" "" warning
slurm "State=IDLE" "$drained" warning --rule unknown_xid=fail
slurm "State=IDLE" "" torn
grep -q '^xidscope: torn: the end is missing' err || fail "the reason for unknown is missing: $(<err)"
slurm "State=IDLE" "" absent
slurm "State=IDLE" "" healthy
slurm "State=IDLE+DRAIN Reason=xidscope: GPU x [root@now]" "" healthy
export XIDSCOPE_RESUME=1
slurm "State=IDLE+DRAIN Reason=xidscope: GPU x [root@now]" $'update\nNodeName=n1\nState=RESUME' healthy
slurm "State=IDLE+DRAIN Reason=not xidscope: x [root@now]" "" healthy
slurm "State=IDLE" "" healthy
slurm "State=IDLE+DRAIN Reason=xidscope: GPU x [root@now]" "" warning
slurm "State=IDLE+DRAIN Reason=xidscope: GPU x [root@now]" "" torn
unset XIDSCOPE_RESUME

# ---- the node's job, for Prometheus ----

# job CONTEXT JOB WANTED: the series in the folder after the prolog or epilog of a job.
job() {
	SLURM_SCRIPT_CONTEXT=$1 SLURM_JOB_ID=$2 XIDSCOPE_TEXTFILES=${folder-textfiles} "$top/deploy/slurm/xidscope-job" 2>err ||
		fail "xidscope-job fails: it would drain the node"
	[[ $(grep -hv '^#' textfiles/*.prom 2>/dev/null) == "$3" ]] || fail "$1 of $2: '$(cat textfiles/* 2>&1)', not '$3'"
}
mkdir textfiles
job prolog_slurmd 4711 'fleet_node_job_info{workload="4711"} 1'
job prolog_slurmd 4712 'fleet_node_job_info{workload="4712"} 1'
job epilog_slurmd 4711 'fleet_node_job_info{workload="4712"} 1'
SLURM_ARRAY_JOB_ID=4800 job prolog_slurmd 4803 'fleet_node_job_info{workload="4800"} 1'
SLURM_ARRAY_JOB_ID=4800 job epilog_slurmd 4803 ''
folder=nowhere job prolog_slurmd 4711 ''

# ---- node-problem-detector ----

# npd FILE PATTERN: the condition.
npd() {
	/usr/bin/python3 "$top/tests/cli/npd_caller.py" "$top/deploy/npd/xidscope-monitor.json" "$program" "$1" >out 2>err ||
		fail "npd, $1: $(<err)"
	# shellcheck disable=SC2053 # it is a pattern
	[[ $(<out) == $2 ]] || fail "npd, $1: '$(<out)', not '$2'"
}
npd healthy "GpuOrNfsFault False XidscopeFindsNoFault: *"
npd warning "GpuOrNfsFault False XidscopeFindsNoFault: *"
npd critical "GpuOrNfsFault True XidscopeFindsFault: Xid 79 on $gpu, 2 times, last 2026-11-21T10:00:00Z"
npd torn "GpuOrNfsFault Unknown XidscopeFindsFault: torn: the end is missing*"
npd absent "GpuOrNfsFault Unknown XidscopeFindsFault: cannot read absent: *"

((failed)) || echo "Slurm and node-problem-detector get what they should"
exit $failed
