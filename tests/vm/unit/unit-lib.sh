# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What jobs share that run the systemd unit, with systemd as process 1: the unit's settings, and what is known of the agent.
# shellcheck source=tests/vm/deploy-lib.sh
. ./deploy-lib.sh

output=/var/lib/prometheus/node-exporter/xidscope.prom
name=unit
drop_ins=/run/systemd/system/xidscope.service.d

hup() { systemctl kill --kill-whom=main -s HUP xidscope; }
show() { systemctl show -P "$1" xidscope; }
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
# The directory belongs to another user, as with Debian's prometheus-node-exporter.
install -d -o 65534 -g 65534 "$(dirname $output)"
cp -r root/. /
# The best source on this kernel.
# shellcheck disable=SC2034 # for those that source this
[[ $(uname -r) == 5.10.* ]] && btf=tracepoints || btf=btf

