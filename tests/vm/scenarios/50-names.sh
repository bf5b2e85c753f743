# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Servers with unusual names, over IPv6, and with one address in two network namespaces, stay apart and readable.
nfs_server_start
agent_start
nasty=$'na"sty\\x\nna\xffme{}='
mkdir -p /mnt/nasty
defer unmount /mnt/nasty
mount -i -t nfs -o addr=127.0.0.1,vers=3,nolock,proto=tcp,mountproto=tcp "$nasty:/export" /mnt/nasty
ls /mnt/nasty
nfs_mount 4.2 '' /mnt/six '[::1]'
ls /mnt/six
ip address add 10.99.0.1/32 dev lo
defer ip address delete 10.99.0.1/32 dev lo
for name in one two; do
	subnet=10.0.$((${#name} + $([[ $name == two ]] && echo 4 || echo 3)))
	netns_client "$name" "$subnet"
	ip -n "$name" route add 10.99.0.1 via "$subnet.1"
	NETNS=$name nfs_mount 3 '' "/mnt/$name" 10.99.0.1
	ls "/mnt/$name"
	stat -L -c %i "/run/netns/$name" >"$name.inode"
done
agent_write
cp x.prom names.prom
agent_stop
