#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, with systemd as process 1 and beside Debian's node_exporter, that the Debian package can be installed, upgraded
# from the version before, rolled back to it and purged under load: no fault is lost or doubled, no counter of faults falls,
# the file is never missing for an interval, settings stay, and nothing is left.
set -Eeuo pipefail
cd /job
# shellcheck source=tests/vm/unit/unit-lib.sh
. ./unit-lib.sh
export DEBIAN_FRONTEND=noninteractive

listing() { find / -xdev \( -path /job -o -path /proc -o -path /sys -o -path /tmp -o -path /run -o -path /var/log -o -path /var/lib/dpkg \
	-o -path /export -o -path /mnt -o -path /var/lib/nfs -o -path /var/cache -o -path /var/lib/systemd \) -prune -o -printf '%p %u %m\n' | sort; }
place() {
	dpkg -i --force-downgrade --force-confold "$1.deb" >"out/dpkg-$1.log" 2>&1 && return
	cat "out/dpkg-$1.log"
	journalctl -q -u xidscope | tail -n 20
	return 1
}
version_is() { grep -q "xidscope_build_info{version=\"$1" "$output"; }
faults() { sum xidscope_gpu_xid_errors_total 'xid="79"' || true; }
printed=0
fault() {
	echo "raw NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, gone" >/proc/xidscope-driver
	printed=$((printed + 1))
}
all_counted() {
	refresh
	(($(faults) == printed))
}
# replaced PACKAGE VERSION: puts it in place while faults are reported, before, meanwhile and after.
replaced() {
	fault
	place "$1" &
	local job=$!
	while kill -0 $job 2>/dev/null; do
		fault
		sleep 0.3
	done
	wait $job
	fault
	wait_for 300 is ActiveState active
	wait_for 300 version_is "$2"
	wait_for 300 all_counted || { echo "$(faults) faults are counted, $printed were printed"; return 1; }
	[[ $(systemctl is-enabled xidscope) == enabled ]]
}
# watch: twice a second the file's time and its number of faults.
watch() {
	while sleep 0.5; do
		echo "$(cut -d. -f1 /proc/uptime) $(date +%s) $(stat -c %Y $output 2>/dev/null || echo -) $(faults 2>/dev/null || echo -)"
	done >out/watch
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
(while :; do use_nfs; done) &
load=$!

step "the version before is installed, and runs"
place previous
wait_for 300 is ActiveState active
wait_for 300 test -e $output
insmod nvidia.ko
sleep 5
fault
wait_for 300 all_counted
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
kill $watcher
# The file's age, or if it is missing the time since its last version, is at most two intervals: one is the usual.
awk '$3 != "-" { last = $3; if ($4 != "-") { if ($4 < most) { print "a counter of faults falls: " $0; bad = 1 } most = $4 } }
	last { age = $2 - last; if (age > oldest) oldest = age }
	END { print "the file was at most " oldest " s old, in " NR " looks"; exit bad || oldest > 30 || !oldest }' out/watch | tee out/age
(exit "${PIPESTATUS[0]}")

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
wait_for 300 all_counted

step "a crash: it is started again, and no fault is lost"
systemctl kill --kill-whom=main -s KILL xidscope
fault
wait_for 300 is NRestarts 1
wait_for 300 is ActiveState active
wait_for 300 all_counted

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
wait_for 300 all_counted
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
