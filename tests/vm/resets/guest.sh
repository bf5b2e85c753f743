#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that a reset at any moment leaves the state and the acknowledgements whole on ext4, XFS and btrfs: with each fault that
# was counted five seconds before, of this boot and fatal ones of earlier boots, and with each acknowledgement made. Each boot
# checks what the one before has left, and resets the guest while the state is being written.
set -Eeuo pipefail
cd /job
. /vm/guest-lib.sh
trap 'echo "boot ${boot:-}: line $LINENO: $BASH_COMMAND"; tail -n 5 out/*.log' ERR
resets=20
systems=(ext4 xfs btrfs)

# disk N: one that keeps what is written. Nothing is written to root, which has no journal, once it is synced.
disk() { echo "/dev/$(basename "$(dirname "$(grep -lx "empty$1" /sys/block/vd*/serial)")")"; }
mkdir -p "${systems[@]/#//mnt/}"
sync -f /
mount "$(disk 3)" out 2>/dev/null || {
	mkfs.ext4 -q "$(disk 3)"
	mount "$(disk 3)" out
}
boot=$(($(cat out/boots 2>/dev/null || echo 0) + 1))
[[ $boot == 1 || -e out/meant ]] # otherwise the kernel has died
rm -f out/meant
echo $boot >out/boots
sync -f out
echo on >/proc/sys/kernel/printk_devkmsg

# gpu BOOT SLOT: its address. print_xid BOOT SLOT XID
gpu() { printf '0000:%02x:%02x' "$1" "$2"; }
print_xid() { echo "<3>NVRM: Xid (PCI:$(gpu "$1" "$2")): $3, pid=1, name=x, text" >/dev/kmsg; }

# check_state FOLDER: what the boots before have left there.
check_state() {
	local n
	[[ $(sed -n 1p "$1/state") == *xidscope-state* && $(tail -n 1 "$1/state") == '{"end":'* ]]
	for n in 1 2 3; do grep -qF "\"$(gpu $((boot - 1)) $n).0\"" "$1/state"; done
	for ((n = 1; n < boot; n++)); do
		grep -qF "\"$(gpu $n 0).0\"" "$1/state"
		grep -q "^$(gpu $n 0).0 79 " "$1/acks"
	done
}
for i in 0 1 2; do
	system=${systems[i]}
	folder=/mnt/$system
	((boot > 1)) || mkfs."$system" -q "$(disk $i)" >/dev/null
	modprobe -q "$system" || true
	mount -t "$system" "$(disk $i)" "$folder"
	((boot == 1)) || check_state "$folder"
	/job/xidscope run --hooks gpu --accept-user-kmsg --events none --state "$folder/state" --output "/run/$system.prom" \
		--health "/run/$system.health" 2>>"out/$system.log" &
done
if ((boot > resets)); then
	[[ $(cat out/*.log) != *damaged* ]]
	echo "$resets resets: three states were whole, with all faults"
	exit 0
fi
for system in "${systems[@]}"; do wait_for 60 test -e "/run/$system.health"; done
print_xid $boot 0 79
for slot in 1 2 3; do print_xid $boot $slot 31; done
for system in "${systems[@]}"; do wait_for 60 grep -qF "$(gpu $boot 3)" "/run/$system.health"; done
end=$((SECONDS + 6))
RANDOM=$boot
for ((slot = 0; SECONDS < end; slot++)); do
	print_xid $((128 + boot)) $((slot % 32)) 31
	sleep 0.1
done
for system in "${systems[@]}"; do /job/xidscope ack "$(gpu $boot 0).0" 79 --force --ack "/mnt/$system/acks" >>out/acks.log; done
: >out/meant
sync -f out
print_xid $((128 + boot)) 32 31
sleep "$((RANDOM % 2)).$((RANDOM % 1000))"
echo b >/proc/sysrq-trigger
sleep 60
