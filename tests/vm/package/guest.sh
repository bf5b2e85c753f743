#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1 and beside Debian's node_exporter, that the Debian package can be installed, upgraded
# from the version before, rolled back to it and purged under load: no fault is lost or doubled, no counter of faults falls,
# the file is never missing for an interval, settings stay, and nothing is left.
set -Eeuo pipefail
cd /job
# shellcheck source=tests/vm/unit/unit-lib.sh
. ./unit-lib.sh
# shellcheck source=tests/vm/upgrade-lib.sh
. ./upgrade-lib.sh
export DEBIAN_FRONTEND=noninteractive

listing() { find / -xdev \( -path /job -o -path /proc -o -path /sys -o -path /tmp -o -path /run -o -path /var/log -o -path /var/lib/dpkg \
	-o -path /export -o -path /mnt -o -path /var/lib/nfs -o -path /var/cache -o -path /var/lib/systemd \) -prune -o -printf '%p %u %m\n' | sort; }
place() {
	dpkg -i --force-downgrade --force-confold "$1.deb" >"out/dpkg-$1.log" 2>&1 && return
	cat "out/dpkg-$1.log"
	journalctl -q -u xidscope | tail -n 20
	return 1
}
# replaced PACKAGE VERSION: puts it in place while faults are reported, before, meanwhile and after.
replaced() {
	under_faults place "$1"
	wait_for 300 is ActiveState active
	wait_for 300 version_is "$2"
	none_is_lost
	[[ $(systemctl is-enabled xidscope) == enabled ]]
}

# A busy machine takes its time.
mkdir -p $drop_ins
printf '%s\n' '[Service]' WatchdogSec=300 >$drop_ins/slow.conf

step "node_exporter runs"
listing >before
systemctl daemon-reload
systemctl start prometheus-node-exporter
nfs_server_start
for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
(while sleep 2; do use_nfs; done) &
load=$!

step "the version before is installed, and runs"
place previous
wait_for 300 is ActiveState active
wait_for 300 test -e $output
insmod nvidia.ko
sleep 5
fault
none_is_lost
watch &
watcher=$!
previous=$(sed -n 's/.*xidscope_build_info{version="\([^"]*\).*/\1/p' $output)
sleep 20

step "an upgrade from $previous under load"
this=$(dpkg-deb -f this.deb Version)
replaced this "$this\""
(($(said 'continuing from the state file') == 1))
wait_for 300 source_is "$btf"
sleep 20

step "a rollback to $previous under load, and an upgrade again"
replaced previous "$previous\""
(($(said 'continuing from the state file') == 1))
sleep 20
replaced this "$this\""
sleep 16
watched $watcher

step "node_exporter serves it"
curl -sf http://127.0.0.1:9100/metrics >out/served
grep -q '^xidscope_gpu_xid_errors_total{.*xid="79"' out/served
grep -q '^node_textfile_scrape_error 0' out/served

step "the package's own test passes"
sh ./agent >out/agent.log 2>&1 || { cat out/agent.log; exit 1; }

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
place newer
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
kill $load
wait $load || true
rmmod nvidia
dpkg -P xidscope >out/purge.log 2>&1
[[ $(systemctl show -P LoadState xidscope) == not-found ]]
rmdir /srv/text-file
systemctl stop prometheus-node-exporter
listing >after
diff before after
[[ ! -e /run/xidscope && ! -d /sys/kernel/tracing/instances/xidscope ]]
step "done"
