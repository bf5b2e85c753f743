# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 32 requests on 4 RPC slots: `slot` is where the time goes, all of the time; with 128 slots there is none of it.
nfs_server_start
agent_start
saturate slot 10.0.5 3 slot_limit 4 128 32
agent_stop
