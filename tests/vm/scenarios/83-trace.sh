# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# `xidscope trace` prints a line per second, then phases per server and op, and names the limit.
nfs_server_start
slot_limit 4
nfs_mount 3 '' /mnt/trace
prepare_file /mnt/trace
load /mnt/trace 120 32 randread 4k &
loader=$!
sleep 1
/job/xidscope trace --duration 4 >report.txt 2>trace.log
load_end "$loader"
