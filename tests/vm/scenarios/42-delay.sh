# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A v3 write to a file that a v4.2 client holds by a delegation is delayed by the server: that is `delay`, also for
# the verdict of a session.
nfs_server_start
agent_start
nfs_mount 3 '' /mnt/three
nfs_mount 4.2 '' /mnt/four
dd if=/dev/zero of=/export/held bs=4k count=4 status=none
cat /mnt/three/held >/dev/null
exec 6</mnt/four/held
cat <&6 >/dev/null
trace_begin session
dd if=/dev/zero of=/mnt/three/held bs=4k count=4 conv=notrunc oflag=direct
exec 6<&-
trace_end
agent_write after
agent_stop
