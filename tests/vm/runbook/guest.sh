#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that each command of docs/RUNBOOK.md that no other test runs works as it stands there, on a node of Slurm that is
# reached by ssh, has a BMC and a mount, and whose GPU has failed: it prints something, and ends with 0. What stands under
# *Look at* changes no mount, setting, unit, device, node of Slurm or file in /etc.
set -Eeuo pipefail
cd /job
nodes=1
. ./systemd-lib.sh
# shellcheck source=tests/vm/slurm/slurm-lib.sh
. ./slurm-lib.sh
output=/var/lib/prometheus/node-exporter/xidscope.prom
. ./functions
export NODE=n1 BMC=127.0.0.1 BMC_USER=oncall SERVER=10.0.4.1 DEVICE=veth-data XID=79 SXID=20034 XPRT

step "the node has ssh, a BMC and Slurm"
systemctl start dbus systemd-user-sessions # only the job's unit is started
mkdir -p /run/sshd ~/.ssh
ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519
cp ~/.ssh/id_ed25519.pub ~/.ssh/authorized_keys
echo 'StrictHostKeyChecking accept-new' >~/.ssh/config
/usr/sbin/sshd
cat >lan.conf <<'END'
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 623
    priv_limit admin
    allowed_auths_admin md5
    guid a123456789abcdefa123456789abcdef
  endlan
  user 2 true "oncall" "secret" admin 10 md5
END
cat >bmc.commands <<'END'
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
sel_add 0x20 2 0 0 0 0 0x20 0 4 7 1 0x6f 1 0xff 0xff
mc_enable 0x20
END
ipmi_sim -n -c lan.conf -f bmc.commands -s /run &>out/ipmi_sim.log &
slurm_configure
slurm_conf HealthCheckInterval=0
echo '127.0.0.1 n1' >>/etc/hosts
slurmctld
slurmd_start n1

step "its agent has seen a mount of two connections, a fault and the loss of NFS state"
nfs_server_start
netns_client data 10.0.4 >/dev/null # for the counters of its device
nfs_mount 4.2 nconnect=2 /mnt/data $SERVER
cp /bin/bash /mnt/data/file
systemctl daemon-reload
systemctl start xidscope
wait_for 60 test -s $output
driver_load
print_fault 1
echo 'raw NFS: state manager: reclaim nograce failed on NFSv4 server 10.0.4.1 with error 5' >/proc/xidscope-driver
sleep 3
refresh
XPRT=$(rpcctl switch show | sed -n 's/^\t\(xprt-[0-9]*\): tcp, 10.0.4.1$/\1/p' | tail -n 1)

settings() {
	findmnt -rno TARGET,SOURCE,FSTYPE,OPTIONS
	sysctl -a 2>/dev/null | grep -vE '^(fs\.(dentry|file|inode|aio|quota)|kernel\.(random|ns_last_pid|pty))'
	grep -rHs . /sys/module/*/parameters
	systemctl list-units --all --plain --no-legend --type=service,mount,automount,socket,timer | grep -vE 'ssh|timedated' # they start on demand
	ip -o link
	tc qdisc
	scontrol -o show nodes | grep -oE '(NodeName|State|Reason)=[^ ]*'
	find /etc -type f -exec sha256sum {} +
}

# Of check the status is the verdict's.
failed=()
while read -r command; do
	step "$command"
	wanted=0
	[[ $command != 'on xidscope check'* ]] || wanted=2
	status=0
	! grep -qxF "$command" look || settings >before
	(set +o pipefail && eval "$command") <<<secret >out/printed 2>out/errors || status=$? # as in a reader's shell
	head -n 12 out/printed out/errors
	# A node without tasks that hang has no stacks to print.
	((status == wanted)) && [[ -s out/printed || $command == drain* || $command == *'systemctl start'* || $command == *'$t/stack'* ]] ||
		failed+=("$status: $command")
	if grep -qxF "$command" look; then
		settings >after
		diff before after >>out/changes || failed+=("changes: $command")
	fi
	if [[ $command == drain* ]]; then
		wait_for 60 is n1 '^IDLE.DRAIN$'
		reason n1
		undrain
		wait_for 60 is n1 '^IDLE$'
	fi
done < <(awk '!seen[$0]++' commands)
((${#failed[@]} == 0)) || { printf 'FAILED with %s\n' "${failed[@]}" && false; }
step "done"
