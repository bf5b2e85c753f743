#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1, of the release of Debian that the kernel is of, that the tarball can be installed,
# upgraded from another version, rolled back to it and removed under load, by the commands of docs/DEPLOY.md: no fault is
# lost or doubled, no counter of faults falls, the file is never missing for an interval, and nothing is left.
set -Eeuo pipefail
cd /job
. ./systemd-lib.sh
. ./upgrade-lib.sh
type -P nfsdcld >/dev/null || nfsdcld() { :; } # Debian 11 has none

# replaced COMMANDS VERSION: runs them while faults are reported, before, meanwhile and after.
replaced() {
	under_faults by "$1"
	wait_for 300 version_is "$2\""
	none_is_lost
	(($(said 'continuing from the state file') == 1))
}
# Folders that it may share with others stay.
nothing_is_left() {
	[[ $(show LoadState) == not-found ]]
	listing | grep -vE '^/usr/local/(share/(man/man8|bash-completion)|lib/systemd)' >after
	diff before after
}
slow_machine

step "$(systemctl --version | head -n 1): from an empty system to removal, with node_exporter on a folder of its own"
mkdir /srv/text-files
listing >before
setpriv --reuid=65534 --regid=65534 --clear-groups prometheus-node-exporter --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory=/srv/text-files --web.listen-address=127.0.0.1:9100 2>out/node_exporter.log &
exporter=$!
by install
is ActiveState active
[[ $(systemctl is-enabled xidscope) == enabled && ! -e $output ]]
wait_for 60 curl -sf -o out/served http://127.0.0.1:9100/metrics
kill $exporter
grep -q '^xidscope_build_info' out/served
by uninstall
nothing_is_left

step "the older version is installed, and runs"
tar -C / -xzf xidscope-"$(<older)"-amd64.tar.gz
systemctl daemon-reload
systemctl enable --now xidscope
traffic_begin
watch_begin
for way in upgrade rollback upgrade; do
	sleep 20
	step "$way under load"
	version=$(<version)
	[[ $way == upgrade ]] || version=$(<older)
	replaced $way "$version"
done
sleep 16
watched

step "uninstalled, it leaves nothing"
traffic_end
by uninstall
nothing_is_left
step "done"
