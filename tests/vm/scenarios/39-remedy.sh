# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A server with three mounts, two by hand and one of fstab, and a file that is bound elsewhere, has few slots. The lines that a
# session prints are pasted twice: while a process uses the second mount, and after it has ended.
nfs_server_start
slot_limit 4
tc qdisc add dev lo root netem delay 40ms # far more than what a busy machine adds to an answer
defer tc qdisc del dev lo root
nfs_mount 3 rsize=65536,nosuid "/mnt/by hand"
mkdir -p /mnt/tab
cp /etc/fstab fstab.before
defer cp "$PWD/fstab.before" /etc/fstab
defer unmount /mnt/tab
echo '127.0.0.1:/export /mnt/tab nfs vers=3,soft 0 0' >>/etc/fstab
mount /mnt/tab
nfs_mount 3 ro /mnt/late
: >/mnt/bound
defer unmount /mnt/bound
: >/export/file
mount --bind "/mnt/by hand/file" /mnt/bound
now() { awk '$3 ~ /^nfs/ && $3 != "nfsd" { print $2, $4 }' /proc/mounts | sort; }
now >before.mounts
(cd /mnt/tab && exec sleep 1000) &
user=$!
trace_begin remedy
for depth in 1 2; do load "/mnt/by hand" 3 $depth randread 4k; done
load "/mnt/by hand" 8 32 randread 4k
trace_end
sed -n 's/^    //p' remedy.txt >paste.sh
bash paste.sh >busy.out 2>&1 || true
now >busy.mounts
kill $user
wait $user || true
bash paste.sh >free.out 2>&1 || true
now >free.mounts
cat /sys/kernel/sunrpc/xprt-switches/*/xprt-*-tcp/xprt_info >slots || true
