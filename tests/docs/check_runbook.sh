#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the blocks of commands in docs/RUNBOOK.md are valid for a shell, that each of their xidscope commands has the
# options that it is given, that on Kubernetes the pod is asked for by the namespace and the name of the DaemonSet, and that
# some test runs each command.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
runbook=docs/RUNBOOK.md daemonset=deploy/kubernetes/agent/daemonset.yaml

sed -n 's/^    //p' $runbook >"$work/commands"
bash -n "$work/commands" || fail "$runbook has commands that bash cannot read"
needs_program
number=0
while read -r words; do
	number=$((number + 1))
	# shellcheck disable=SC2034 # the commands use them
	XID=79 SXID=20034
	eval "$program $words --help" >/dev/null 2>"$work/err" || complain "$runbook: xidscope $words: $(<"$work/err")"
done < <(grep -oE 'on xidscope [^;|)]*' "$work/commands" | sed 's/^on xidscope //')
((number >= 10)) || complain "found only $number commands of xidscope in $runbook: has its form changed?"
grep -q "^  namespace: xidscope$" $daemonset || complain "the DaemonSet is not in the namespace xidscope, as $runbook has it"
! grep -n 'kubectl' $runbook | grep -v -e '-n "$NS"' -e 'kubectl drain' -e 'kubectl uncordon' >"$work/other" ||
	complain "$runbook: $(<"$work/other"): the namespace is missing"

# What tests/vm/runbook does not run, another test does. No guest has a GPU.
declare -A others=([kubectl]=tests/docs/runbook_cluster.py [sacct]=tests/vm/slurm/prepare.sh [amtool]=tests/fleet/live.py
	['host nvidia-smi']=tests/docs/runbook_cluster.py)
while read -r words; do
	grep -qE "\b${words%% *}\b" "${others[$words]:-/dev/null}" || complain "$runbook: no test runs $words"
done < <(sed -n "s/^elsewhere='\(.*\)'$/\1/p" tests/docs/runbook.sh | tr '|' '\n')
! grep -noE '`[a-z]+ [^`]+`' $runbook | grep -v '`xidscope check`' >"$work/inline" ||
	complain "$runbook: no test runs what stands within a sentence: $(<"$work/inline")"

[[ -z $failed ]] || exit 1
echo "check_runbook.sh: $number commands of xidscope in $runbook have their options"
