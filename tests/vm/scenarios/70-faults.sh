# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Xid lines that a process writes count if that is allowed, each once, also in a storm. (Otherwise: forgery.)
set_value /proc/sys/kernel/printk_devkmsg on
agent_start --hooks gpu --accept-user-kmsg --events events.json
cp x.prom begin.prom
log() { printf '%s\n' "$1" >/dev/kmsg; }
log '<3>NVRM: Xid (PCI:0000:c1:00): 79, pid=1234, name=python3, GPU has fallen off the bus.'
log '<4>NVRM: Xid (PCI:0000:3b:00): 31, pid=77, name=ray::Worker, Ch 00000008, intr 10000000. MMU Fault'
log '<4>NVRM: Xid (PCI:0000:3b:00): 31, Ch 00000008, intr 10000000. MMU Fault'
log '<6>usb 1-1: glued textNVRM: Xid (PCI:0002:01:00): 13, Graphics Exception'
log '<4>nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48 LTSSM Fault Up'
log '<4>nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Severity 1 Engine instance 48 Sub-engine instance 00'
log '<6>a user wrote about NVRM: Xid : 32, and about an Xid'
log '<6>oxide: nothing'
date +%s >written
wait_for 30 sh -c "test \$(grep -c 'kind\":\"s*xid' events.json) -ge 5"
agent_write few
for _ in $(seq 3000); do
	echo '<3>NVRM: Xid (PCI:0000:d1:00): 63, Row Remapper: New row marked for remapping.'
done >/dev/kmsg
agent_settle 3
agent_write storm
agent_stop
