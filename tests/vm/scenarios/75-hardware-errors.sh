# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Injected errors of hardware: of a PCIe device, of the port that it is behind, and corrected ones of CPUs. Each counts
# once, by its tracepoint; for an agent that comes later, by what the kernel has printed. Before and after them the driver
# reports Xids of that device, and one of another. At last the device is a GPU's: one of two is missing, and its link corrects
# errors.
need_drivers
driver_load text
devices=/sys/bus/pci/devices
folder=$(dirname $devices/*/*/aer_dev_correctable)
lower=$(basename "$folder") upper=$(basename "$(dirname "$folder")")
echo "$lower $upper" >devices
xid() { driver "raw NVRM: Xid (PCI:${1%.*}): $2, pid=7, name=train, and more"; }
count() { grep -H ^TOTAL $devices/*/aer_dev_*; } # what the kernel has counted
logged() { # logged TEXT COUNT: whether at least so many lines of the event log have it
	(($(grep -cF -- "$1" events.json) >= $2))
}
dmesg -C
# To start where the log ends now.
agent_start --hooks gpu --state late.state --events none
agent_stop
cp late.state state
agent_start --hooks gpu --state state --events events.json
cp x.prom begin.prom
count >begin.counts

xid "$lower" 74
xid 0000:9d:00.0 31
wait_for 30 logged '"kind":"xid"' 2
# QEMU 7.2 sends no message of a corrected error: the kernel's module imitates one. Its struct
# aer_error_inj: the address, uncorrectable errors, correctable ones (BadTLP), and more. While it is loaded, the
# kernel does not receive the device's own errors.
corrected() {
	local none='\0\0\0\0'
	modprobe aer_inject
	defer module_remove aer_inject
	printf %b "\\x${lower:5:2}\\x${lower:8:2}\\x${lower:11}\0$none\\x40\0\0\0$none$none$none$none$none" >/dev/aer_inject
	wait_for 30 "$@"
	rmmod aer_inject
}
corrected logged '"name":"pcie_aer"' 1
inject pcie_aer_inject_error lower COMP_TIME
wait_for 30 logged '"name":"pcie_aer"' 2
inject pcie_aer_inject_error upper COMP_TIME
wait_for 30 logged '"name":"pcie_aer"' 3
inject pcie_aer_inject_error lower MALF_TLP # a fatal one: the kernel resets the link
wait_for 30 logged '"name":"pcie_aer"' 4
xid "$lower" 79
wait_for 30 logged '"kind":"xid"' 3

if [[ ! -e /sys/kernel/tracing/events/mce ]]; then
	echo 'this kernel is built without CONFIG_X86_MCE: it reports no machine checks' >no-mce
else
	# The kernel looks for corrected errors of CPUs from time to time, and prints them even on a quiet console.
	set_value /proc/sys/kernel/printk 0
	set_value /sys/devices/system/machinecheck/machinecheck0/check_interval 1
	inject mce 0 1 0x9400000000000151 0 0x1234000 0
	inject mce 1 2 0x9400000000000152 0 0x5678000 0
	inject mce 1 3 0x9000000000000153 0 0 0
	wait_for 30 logged '"name":"mce"' 2
	sleep 1 # the third is folded
fi

agent_write end
count >end.counts
agent_stop
mv events.json traced.json
dmesg >dmesg.txt
agent_start --hooks gpu --state late.state --events events.json
cp x.prom late.prom
agent_stop

echo nvidia >"$devices/$lower/driver_override"
[[ ! -e $devices/$lower/driver ]] || echo "$lower" >"$devices/$lower/driver/unbind"
echo "$lower" >/sys/bus/pci/drivers/nvidia/bind
agent_start --hooks gpu --events none --gpus 2 --rule pcie_corrected=warn:1
verdict() { /job/xidscope check --health health.json --json || true; }
verdict >before.json
total() { awk '/^TOTAL/ { print $2 }' "$devices/$lower/aer_dev_correctable"; }
had=$(total)
more() { (($(total) > had)); }
corrected more
judged() { verdict >after.json && grep -q pcie_corrected after.json; }
wait_for 90 judged
agent_stop
