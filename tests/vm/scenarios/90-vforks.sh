# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A user's 300 processes in vfork() sleep as tasks that hang in NFS do. Three such tasks are found all the same, then as many as
# there is room for, and the others are counted.
nfs_server_start
nfs_mount 3 '' /mnt/hung
for i in {1..303}; do echo "$i" >"/export/$i"; done
agent_start --hooks rpc --interval 5 --events events.json
nobody perl -e 'for (1 .. 300) { fork and next; syscall 58; syscall 34 }' &
wait_for 60 eval '(($(pgrep -c -x perl) > 550))'
block -o lo -p tcp --dport 2049
# hang FROM TO; found COUNT: until so many tasks hang.
hang() { perl -e 'for ($ARGV[0] .. $ARGV[1]) { fork and next; open my $file, "<", "/mnt/hung/$_"; exit }' "$@"; }
tasks() { awk '/^xidscope_nfs_stuck_tasks{/ { sum += $2 } END { print sum }' x.prom; }
found() { wait_for 150 eval "((\$(tasks) == $1))"; }
cut -d ' ' -f 1 /proc/uptime >begin
hang 1 3
found 3
cut -d ' ' -f 1 /proc/uptime >end
cp x.prom three.prom
hang 4 303
found 256
agent_write many
unblock -o lo -p tcp --dport 2049
pkill -KILL -x perl
wait_for 60 eval '! pgrep -x perl'
agent_stop
