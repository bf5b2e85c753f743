# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent that attaches and detaches in the middle of a load disturbs nothing, and what it has counted adds up.
counted() { # counted CALLS: whether the agent has written of more
	awk -v calls="$1" '/^xidscope_rpc_op_calls_total/ { sum += $NF } END { exit sum <= calls }' x.prom
}
nfs_server_start
nfs_mount 3 '' /mnt/load
prepare_file /mnt/load
load /mnt/load 1200 32 randrw 4k & # load_end ends it
loader=$!
agent_start --interval 0.2
wait_for 60 counted 100
agent_stop
load_end "$loader"
