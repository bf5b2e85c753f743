#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1 and beside Debian's node_exporter, that the Debian package can be installed, upgraded
# from another version, rolled back to it and purged under load, by the commands of docs/DEPLOY.md: no fault is lost or
# doubled, no counter of faults falls, the file is never missing for an interval, settings stay, and nothing is left.
set -Eeuo pipefail
cd /job
. ./systemd-lib.sh
. ./upgrade-lib.sh
export DEBIAN_FRONTEND=noninteractive

# replaced COMMANDS VERSION: runs them while faults are reported, before, meanwhile and after.
replaced() {
	under_faults by "$1"
	wait_for 300 is ActiveState active
	wait_for 300 version_is "$2"
	none_is_lost
	[[ $(systemctl is-enabled xidscope) == enabled ]]
}
nothing_is_left() {
	[[ $(systemctl show -P LoadState xidscope) == not-found ]]
	listing >after
	diff before after
}

# Nobody is there to answer.
printf '%s\n' 'APT::Get::Assume-Yes "true";' 'Dpkg::Options { "--force-confold"; };' >/etc/apt/apt.conf.d/guest
slow_machine

step "node_exporter runs"
systemctl daemon-reload
systemctl start prometheus-node-exporter
listing >before

step "from an empty system to removal"
by install
by is-it-on
grep -q '^XIDSCOPE OK: no open fault | ' out/is-it-on.log
by remove
[[ ! -e $output && ! -e /run/xidscope && -s /etc/default/xidscope && -s /var/lib/xidscope/state ]]
by purge
nothing_is_left

traffic_begin

step "the older version is installed, and runs"
by install-older
wait_for 300 is ActiveState active
wait_for 300 test -e $output
watch_begin
older=$(sed -n 's/.*xidscope_build_info{version="\([^"]*\).*/\1/p' $output)
sleep 20

step "an upgrade from $older under load"
this=$(<version)
replaced upgrade "$this\""
(($(said 'continuing from the state file') == 1))
wait_for 300 source_is "$btf"
sleep 20

step "a rollback to $older under load, and an upgrade again"
replaced rollback "$older\""
(($(said 'continuing from the state file') == 1))
sleep 20
replaced upgrade "$this\""
sleep 16
watched

step "node_exporter serves it"
curl -sf http://127.0.0.1:9100/metrics >out/served
grep -q '^xidscope_gpu_xid_errors_total{.*xid="79"' out/served
grep -q '^node_textfile_scrape_error 0' out/served

step "the package's own test passes"
sh ./agent >out/agent.log 2>&1 || { cat out/agent.log; exit 1; }

step "a drill"
echo XIDSCOPE_OPTIONS=--accept-user-kmsg >>/etc/default/xidscope
systemctl restart xidscope
by drill
printed=$((printed + 1))
none_is_lost
xidscope check >out/drill || (($? == 2))
grep 'GPU 0000:c1:00.0: Xid 79 ' out/drill

step "settings in /etc/default/xidscope: another folder, other options; they stay at an upgrade"
echo 'XIDSCOPE_TEXTFILE=/srv/text-file' >>/etc/default/xidscope
echo 'XIDSCOPE_OPTIONS=--interval 5s --storage scratch=127.*' >>/etc/default/xidscope
systemctl restart xidscope
[[ ! -e $output ]]
output=/srv/text-file/xidscope.prom
wait_for 300 test -e $output
refresh
grep -q 'storage="scratch"' $output
wait_for 300 changed "$(stat -c %i.%Y.%Z $output)"
by upgrade-newer
grep -q '^XIDSCOPE_TEXTFILE=/srv/text-file' /etc/default/xidscope
[[ -e /etc/default/xidscope.dpkg-dist ]]
wait_for 300 version_is "$this"
none_is_lost

step "a crash: it is started again, and no fault is lost"
systemctl kill --kill-whom=main -s KILL xidscope
fault
wait_for 300 is NRestarts 1
wait_for 300 is ActiveState active
none_is_lost

step "a full disk: the agent goes on, says so, and writes again"
systemctl stop xidscope
mount -t tmpfs -o size=1M tmpfs /srv/text-file
systemctl start xidscope
wait_for 300 test -e $output
dd if=/dev/zero of=/srv/text-file/full bs=64k status=none 2>/dev/null || true
hup
wait_for 300 is StatusText '*the file is not written: No space left on device'
is ActiveState active
rm /srv/text-file/full
none_is_lost
is ActiveState active
systemctl stop xidscope
umount /srv/text-file

step "purged, it leaves nothing"
traffic_end
by purge
rmdir /srv/text-file
nothing_is_left
step "done"
