#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with Slurm's own daemons and the verdicts of a real agent, that a node that fails goes down and its job ends on
# another; that the job of one with a warning ends where it is; that recovery resumes; that a node drained by hand is left
# alone; that of twelve nodes which fail at once two are taken out; that a prolog fails for a failure alone; and that an
# acknowledgement holds for the agent's metric and for Slurm.
set -Eeuo pipefail
cd /job
nodes=2
. ./slurm-lib.sh
slurm_configure
slurm_conf HealthCheckInterval=30
cat >/etc/xidscope/slurm <<'END'
XIDSCOPE_RESUME=1
XIDSCOPE_STABLE=0
XIDSCOPE_SYSFS=/run/sys
XIDSCOPE_SETTLE=5
END

# ---- what the agent writes when a GPU fails, warns, recovers ----
output=/run/xidscope.prom
health=/run/xidscope/health.json
hup() { kill -HUP "$agent"; }
counts() { refresh && [[ $(sum xidscope_gpu_xid_errors_total "$1") == 1 ]]; }
agent_files() {
	step "the agent's files"
	xidscope run --hooks gpu --output "$output" --interval 3600 --keep >out/slurm.events 2>out/slurm.log &
	agent=$!
	wait_for 300 test -s "$output"
	refresh && cp $health healthy
	driver_load
	sleep 6
	printf 'xid 0000:c2:00.0 58 memory\tNVRM: Xid (PCI:0000:c2:00): 58, pid=1, name=x, memory\n' >/proc/xidscope-driver
	wait_for 300 counts 'xid="58"' && cp $health warning
	print_fault 1
	wait_for 300 counts 'xid="79"' && cp $health failing
	[[ $(sum xidscope_node_health 'check="xid_fatal"') == 2 ]]

	step "an acknowledgement holds for the agent, and for check"
	xidscope check --health failing >/dev/null && false
	bash -e <(sed -n 1p drill)
	refresh
	[[ $(sum xidscope_node_health 'check="xid_fatal"') == 0 && $(sum xidscope_node_health 'check="xid_hardware"') == 1 ]]
	xidscope check --style slurm | tee out/acknowledged | grep '^Xid 58 c2:00.0 \[xidscope warn\]'
	xidscope ack --remove c1:00.0 79
	refresh
	[[ $(sum xidscope_node_health 'check="xid_fatal"') == 2 ]]
	sleep 6 # what comes just before a load of the driver would not be over by it
	rmmod nvidia
	driver_load
	wait_for 60 xidscope check >/dev/null
	cp $health recovered
	rmmod nvidia
	kill "$agent" && wait "$agent"
	xidscope check --health recovered --max-age 1d
}
[[ -e recovered ]] || agent_files

# ---- one node beside another ----
step "Slurm starts: $(slurmctld -V)"
change n1 healthy
change n2 healthy
slurmctld
slurmd_start n1 n2

step "a failing node goes down, and its job is requeued and ends on another"
failed=$(job --requeue)
wait_for 600 has "$failed" start
first=$(sed -n '1s/start //p' "out/job-$failed")
change "$first" failing
wait_for 600 is "$first" DOWN
[[ $(reason "$first") == "Xid 79 c1:00.0 [xidscope fail] GPU 0000:c1:00.0: Xid 79 "* ]]
[[ $(sinfo -R -h -o %20E) == *"Xid 79 c1:00.0"* ]]
touch "/run/end-$failed"
wait_for 900 has "$failed" end || { squeue -l && scontrol show job "$failed" && false; }
second=$(sed -n 's/end //p' "out/job-$failed")
[[ $second != "$first" && $(<"out/job-$failed") == "start $first"$'\n'"start $second"$'\n'"end $second" ]]

step "recovery resumes it, if its GPU is there"
change "$first" recovered
checked "$first"
is "$first" DOWN
mkdir -p /run/sys/bus/pci/devices/0000:c{1,2}:00.0/driver
wait_for 600 is "$first" '^IDLE$'

step "the job of a node with a warning ends where it is"
warned=$(job -w n2)
wait_for 600 has "$warned" start
change n2 warning
wait_for 600 is n2 DRAIN
[[ $(reason n2) == "Xid 58 c2:00.0 [xidscope warn] "* ]]
checked n2
touch "/run/end-$warned"
wait_for 600 has "$warned" end
[[ $(<"out/job-$warned") == $'start n2\nend n2' ]]
wait_for 600 is n2 'IDLE.DRAIN'
change n2 recovered
wait_for 600 is n2 '^IDLE$'

step "a node drained by hand is left alone, also when it has recovered"
. ./runbook
export NODE=n2
drain maintenance by hand
for file in failing recovered; do
	change n2 $file
	checked n2
	is n2 '^IDLE.DRAIN$'
	[[ $(reason n2) == "xidscope: maintenance by hand ["* ]]
done
bash -e <(sed -n 2p drill)
wait_for 60 is n2 '^IDLE$'

step "a prolog fails for a failure alone"
prolog() { SLURM_SCRIPT_CONTEXT=prolog_slurmd SLURMD_NODENAME=n1 wrapper; }
change n1 warning && prolog
change n1 failing
if prolog; then false; fi
change n1 recovered
wait_for 600 is n1 '^IDLE$'

# ---- the fleet ----
step "of twelve nodes that fail at once two are taken out, and no other job is harmed"
pids=$(cat /run/slurm{d.n1,d.n2,ctld}.pid)
# shellcheck disable=SC2086 # words
kill $pids
for i in $pids; do wait_for 600 gone "/proc/$i"; done
nodes=12
slurm_conf HealthCheckInterval=300 # twelve checks at once keep the guest busy for long
mapfile -t all < <(seq -f n%.0f $nodes)
for i in "${all[@]}"; do change "$i" healthy; done
slurmctld -c
slurmd_start "${all[@]}"
for i in "${all[@]}"; do jobs+=("$(job --requeue -w "$i")"); done
for i in "${jobs[@]}"; do wait_for 600 has "$i" start; done
for i in "${all[@]}"; do change "$i" failing; done
for _ in 1 2; do
	checked "${all[@]}"
	sinfo -h -N -o '%N %T %H %E' | tee out/fleet | cut -c1-60
	(($(grep -c '\[xidscope fail\]' out/fleet) == 2))
done
touch /run/end-all
ended=0
for i in "${!all[@]}"; do
	is "${all[i]}" DOWN && continue
	wait_for 600 has "${jobs[i]}" end
	[[ $(<"out/job-${jobs[i]}") == "start ${all[i]}"$'\n'"end ${all[i]}" ]]
	((++ended))
done
((ended == nodes - 2))
step "done"
