# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of four GPUs on a PCI bus the driver refuses one, as of a board that is broken; another is taken from it for a guest, and
# given back; a third has no driver for a while. `check` names those that no driver has, as the agent does at its second look.
need_drivers
driver_load text gpus=4 refused=4
devices=/sys/bus/pci/devices
gpu() { basename $devices/*:c1:0"$1".0; }
if [[ ! -e $devices/$(gpu 0) ]]; then
	echo 'no bus with GPUs on this architecture' >skip
	exit 0
fi
agent_start --hooks gpu
unused() { # NAME
	/job/xidscope check --health health.json --max-age 1d --json >"$1.json" || true
	sed 's/{"rule"/\n&/g' "$1.json" | sed -n 's/^{"rule":"gpu_unused".*"device":"[0-9a-f]*:[0-9a-f]*:0*\([0-9a-f]*\).*/\1/p' | sort | tr -d '\n'
}
names() { [[ $(unused "$1") == "$2" ]]; }
look() { wait_for 150 names "$1" "$2"; } # look NAME SLOTS: until check names the GPUs in these slots, and no other
look refused 2
bind() { # bind GPU DRIVER: none: takes it from the one that has it
	[[ ! -e $devices/$1/driver ]] || echo "$1" >"$devices/$1/driver/unbind"
	echo "$2" >"$devices/$1/driver_override"
	[[ ! $2 ]] || echo "$1" >"/sys/bus/pci/drivers/$2/bind"
}
bind "$(gpu 3)" for-guests
sleep 65
look given 2
bind "$(gpu 1)" ''
look taken 12
bind "$(gpu 1)" nvidia
bind "$(gpu 3)" nvidia
look back 2
agent_write
dmesg >dmesg.txt
agent_stop
