# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Servers with unusual names, over IPv6, and with one address in two network namespaces, stay apart and readable. What
# servers, mount points, processes and cgroups are called reaches no terminal and no file as it is.
nfs_server_start
agent_start --events events.json
named() { # named ADDRESS NAME DIR
	mount_directly "$@"
	ls "$3"
}
named 127.0.0.1 $'na"sty\\x\nna\xffme{}=' /mnt/nasty
# Escape sequences, C1 as a character and as a byte, an override, an isolate, a line separator, the byte order mark, an
# overlong escape, a surrogate; before them, what stays as it is. The kernel writes no newline of it to /proc/self/mounts.
hostile=$'caf\xc3\xa9\xe6\xbc\xa2\e]0;x\a\e[31m\x7f\xc2\x9b\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf\xc0\x9b\xed\xa0\x80'
named 127.0.0.2 "$hostile" "/mnt/$hostile"
# One is called as the other is shown.
named 127.0.0.3 $'twin\xff' /mnt/twin
named 127.0.0.4 'twin\xff' /mnt/other-twin
# One has the name of what is folded.
named 127.0.0.6 other /mnt/folded
nfs_mount 4.2 '' /mnt/six '[::1]'
ls /mnt/six
own_addresses 10.99.0.1
for name in one two; do
	subnet=10.0.$((${#name} + $([[ $name == two ]] && echo 4 || echo 3)))
	netns_client "$name" "$subnet"
	ip -n "$name" route add 10.99.0.1 via "$subnet.1"
	NETNS=$name nfs_mount 3 '' "/mnt/$name" 10.99.0.1
	ls "/mnt/$name"
	stat -L -c %i "/run/netns/$name" >"$name.inode"
done
# A name that looks like the address in another network namespace.
named 127.0.0.5 "10.99.0.1@$(<one.inode)" /mnt/guise
# A process and a cgroup that users may name so.
out_of_memory "$hostile" perl -e '$0 = substr($ARGV[0], 8); my $x; $x .= "x" x 1000000 while 1;' "$hostile"
wait_for 20 grep -q oom_kill events.json
agent_write names
agent_stop

/job/xidscope trace --duration 3 >report.txt 2>trace.txt &
trace=$!
while kill -0 $trace; do
	ls "/mnt/$hostile" /mnt/nasty >/dev/null
	sleep 0.2
done 2>/dev/null
wait $trace
# Its refusal of the file system quotes the mount.
/job/xidscope run --output "/mnt/$hostile/x.prom" --duration 1 2>run.txt || true
