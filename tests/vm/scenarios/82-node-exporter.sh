# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real node_exporter serves the file's metrics over HTTP, and logs no error.
nfs_server_start
mkdir -p textfile
cd textfile || exit
# The line below is not the kernel's own.
agent_start --accept-user-kmsg
nasty=$'na"sty\\x\nna\xffme'
mkdir -p /mnt/nasty
defer unmount /mnt/nasty
mount -i -t nfs -o addr=127.0.0.1,vers=3,nolock,proto=tcp,mountproto=tcp "$nasty:/export" /mnt/nasty
ls /mnt/nasty
printf '<3>NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, gone\n' >/dev/kmsg
agent_write
prometheus-node-exporter --web.listen-address=127.0.0.1:9100 --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$PWD" >../exporter.log 2>&1 &
defer pkill -x prometheus-node
wait_for 30 curl -sf -o ../page.txt http://127.0.0.1:9100/metrics
cp x.prom ../exported.prom
agent_stop
