# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of four GPUs on a PCI bus the driver refuses one, as of a board that is broken; another is taken from it for a guest, and
# given back; a third has no driver for a while. `check` names those that no driver has, and the agent does at its second look.
need_drivers
driver_load text gpus=4 refused=4
devices=/sys/bus/pci/devices
gpu() { basename $devices/*:c1:0"$1".0; }
if [[ ! -e $devices/$(gpu 0) ]]; then
	echo 'no bus with GPUs on this architecture' >skip
	exit 0
fi
agent_start --hooks gpu
look() { # look NAME [GPUS]: what check says now
	agent_write
	/job/xidscope check --file x.prom --gpus "${2:-0}" --json >"$1.json" || true
}
look refused
bind() { # bind GPU DRIVER: none: takes it from the one that has it
	[[ ! -e $devices/$1/driver ]] || echo "$1" >"$devices/$1/driver/unbind"
	echo "$2" >"$devices/$1/driver_override"
	[[ ! $2 ]] || echo "$1" >"/sys/bus/pci/drivers/$2/bind"
}
bind "$(gpu 3)" for-guests
look given
bind "$(gpu 1)" ''
look taken 4
bind "$(gpu 1)" nvidia
bind "$(gpu 3)" nvidia
look back
found() {
	agent_write
	grep -q 'finding_info{check="gpu_unused"' x.prom
}
wait_for 150 found
dmesg >dmesg.txt
agent_stop
