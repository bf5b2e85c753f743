# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# 32 requests on 4 session slots (v4.2): `session` is where the time goes; 8 requests on 64 slots never wait.
# (With little memory the server grants fewer than the 64 requested.)
nfs_server_start
modprobe nfs
agent_start
saturate session 10.0.6 4.2 session_limit 4 64 8
agent_stop
