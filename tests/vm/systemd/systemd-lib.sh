# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What jobs share that run the systemd unit, with systemd as process 1: the unit's settings, and what is known of the agent.
# shellcheck source=tests/vm/deploy-lib.sh
. ./deploy-lib.sh

output=/var/lib/prometheus/node-exporter/xidscope.prom
name=unit
drop_ins=/run/systemd/system/xidscope.service.d

show() { systemctl show -P "$1" xidscope; }
hup() { kill -HUP "$(show MainPID)"; }
# shellcheck disable=SC2053 # it is a pattern
is() { [[ $(show "$1") == $2 ]]; } # PROPERTY PATTERN
status() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$(show MainPID)/status"; }
# said TEXT: how many lines of this run's log have it.
said() { journalctl -q "_SYSTEMD_INVOCATION_ID=$(show InvocationID)" | tee "out/$name.log" | grep -c -F "$1" || true; }

# with NAME [SETTING...]: restarts the agent with these settings of [Service] beside the unit's.
with() {
	name=$1
	mkdir -p $drop_ins
	printf '%s\n' '[Service]' "${@:2}" >$drop_ins/test.conf
	systemctl daemon-reload
	systemctl restart xidscope
	said '' >/dev/null
	[[ ! -e $output ]] || refresh
}
# by COMMANDS: runs a file of commands.
by() {
	bash -ex "$1" >"out/$1.log" 2>&1 && return
	cat "out/$1.log"
	journalctl -q -u xidscope | tail -n 20
	return 1
}
slow_machine() { # it takes its time
	mkdir -p $drop_ins
	printf '%s\n' '[Service]' WatchdogSec=300 >$drop_ins/slow.conf
}
# What a way that ends with a removal must leave as it was.
listing() { find / -xdev \( -path /job -o -path /proc -o -path /sys -o -path /tmp -o -path /run -o -path /var/log -o -path /var/lib/dpkg \
	-o -path /export -o -path /mnt -o -path /var/lib/nfs -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/systemd \) -prune \
	-o -printf '%p %u %m\n' | sort; }

# The directory belongs to another user, as with Debian's prometheus-node-exporter.
install -d -o 65534 -g 65534 "$(dirname $output)"
cp -r root/. /
# The best source on this kernel.
# shellcheck disable=SC2034 # for those that source this
[[ $(uname -r) == 5.10.* ]] && btf=tracepoints || btf=btf

