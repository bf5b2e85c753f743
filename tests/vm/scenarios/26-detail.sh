# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The two levels of detail at once: one agent writes histograms of calls by server, the other by op, too.
nfs_server_start
agent_in node
agent_in op --detail op
slot_limit 4
nfs_mount 3 '' /mnt/detail
prepare_file /mnt/detail
compare_points before
load /mnt/detail 2 16 randrw 4k
ls -l /mnt/detail/absent 2>/dev/null || true
mkdir /mnt/detail/dir && touch /mnt/detail/dir/file && mv /mnt/detail/dir/file /mnt/detail/dir/other
rm -r /mnt/detail/dir
compare_points after
agents_stop
