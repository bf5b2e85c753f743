# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A link slower than the application: `send` is where the time goes.
nfs_server_start
server=$(netns_client slow 10.0.3)
agent_start
NETNS=slow nfs_mount 3 '' /mnt/send "$server"
prepare_file /mnt/send
tc -n slow qdisc add dev eth0 root netem rate 40mbit
compare_point before
load /mnt/send 6 32 write 512k
compare_point after
agent_stop
