#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1 and the presets of RHEL, that the RPM can be installed, upgraded, downgraded and removed, by
# the commands of docs/DEPLOY.md: its unit's agent runs with the settings of /etc/sysconfig, each change of version starts it
# anew, a fault stays, and nothing else than state and settings is left.
set -Eeuo pipefail
cd /job
. ./systemd-lib.sh
mkdir -p /etc/systemd/system-preset
echo 'disable *' >/etc/systemd/system-preset/99-default-disable.preset
slow_machine
replaced() { # COMMANDS
	local before
	before=$(show MainPID)
	by "$1"
	wait_for 300 is ActiveState active
	[[ $(show MainPID) != "$before" && $(systemctl is-enabled xidscope) == enabled ]]
	wait_for 300 test -e $output
	(($(sum xidscope_gpu_xid_errors_total 'gpu="0000:c1:00.0"' 'xid="79"') == 1))
}
step "off after it is installed, as the preset says; enabled, the agent runs, and writes where /etc/sysconfig says"
sed -n 1p install >install-alone
sed -i 1d install
by install-alone
[[ $(systemctl is-enabled xidscope || true) == disabled ]]
is ActiveState inactive
by install
is ActiveState active
[[ ! -e $output ]]
output=/srv/text/xidscope.prom
wait_for 300 test -e $output
[[ $(readlink "/proc/$(show MainPID)/exe") == /usr/sbin/xidscope ]]

step "it counts NFS calls and an Xid"
nfs_server_start
for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
wait_for 60 source_is "$btf"
use_nfs
cause_fault
(($(sum xidscope_rpc_op_calls_total 'server="127.0.0.1"' 'op="WRITE"') > 0))
(($(sum xidscope_gpu_xid_errors_total 'gpu="0000:c1:00.0"' 'xid="79"') == 1))

step "an upgrade, and back"
replaced upgrade
[[ $(rpm --force-debian -q xidscope) == "xidscope-$(<version)+1-1.x86_64" ]]
replaced downgrade
[[ $(rpm --force-debian -q xidscope) == "xidscope-$(<version)-1.x86_64" ]]

step "removed, it leaves state and settings"
by remove
[[ $(show LoadState) == not-found && ! -e $output && ! -e /run/xidscope && -s /var/lib/xidscope/state ]]
left=$(find / -xdev \( -path /job -o -path /proc -o -path /sys -o -path /run -o -path /tmp \) -prune -o -name '*xidscope*' -print | sort)
[[ $left == /etc/sysconfig/xidscope.rpmsave$'\n'/var/lib/xidscope ]] || (echo "there is $left" && false)
step "done"
