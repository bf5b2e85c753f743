# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Text that users have the kernel print is no fault and no recovery: mount options, names of cgroups, files and
# processes, floods, lines by root through /dev/kmsg, and a module of another name. The driver's own lines all count.
need_drivers
loading='NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024'

# Of this architecture: the numbers of mount and execve; of a program, the machine and instructions that read address 0.
sys_mount=165 sys_execve=59 machine='\x3e' instructions='\x31\xc0\x8a\x00\0\0\0\0'
if [[ $(uname -m) == aarch64 ]]; then
	sys_mount=40 sys_execve=221 machine='\xb7' instructions='\0\0\x80\xd2\0\0\x40\x39'
fi

# Unprivileged: in a user namespace, an unknown option is printed as it is.
mount_option='my ($call, $n, $o) = @ARGV; my ($d, $f, $t) = ("none", "/mnt", "tmpfs");
	syscall($call, $d, $f, $t, 0, $o) for 1 .. $n;'
try_mount() { nobody unshare -U -r -m perl -e "$mount_option" $sys_mount "$1" "$2"; }

# A program whose first instructions read address 0, under the name of a fault.
# shellcheck disable=SC2059
try_segfault() {
	local name=$1
	mkdir -p /tmp/forge
	{
		printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0'"$machine"'\0\x01\0\0\0\x78\0\x40\0\0\0\0\0'
		printf '\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0'
		printf '\x01\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x40\0\0\0\0\0'
		printf '\x80\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0'"$instructions"
	} >"/tmp/forge/$name"
	chmod 755 "/tmp/forge/$name"
	nobody "/tmp/forge/$name" || true
}

# A process with a cgroup of its own, which it may name, runs out of memory there.
try_oom() {
	defer rmdir "/sys/fs/cgroup/delegated/$1"
	in_group "delegated/$1" setpriv --reuid 65534 --regid 65534 --clear-groups tail /dev/zero || true
}
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/delegated
defer rmdir /sys/fs/cgroup/delegated
echo +memory >/sys/fs/cgroup/delegated/cgroup.subtree_control
echo 20M >/sys/fs/cgroup/delegated/memory.max
set_value /proc/sys/kernel/printk_devkmsg on
set_value /proc/sys/debug/exception-trace 1 # as x86 has it: print what a program ended of
set_value /proc/sys/kernel/printk_ratelimit 0

# Each way with an address of its own, so that one that counts is found: a0 and so on.
forge() { # forge FIRST-DIGIT
	try_mount 1 "$(xid "${1}0")"
	try_mount 1 "x"$'\n'"$(xid "${1}1")"
	try_mount 1 "x"$'\n'"$loading"
	try_mount 1 "x"$'\n'"mlx5_core 0000:${1}2:00.0 eth0: Link down"
	try_mount 1 "x"$'\n'"nvidia-nvswitch0: SXid (PCI:0000:${1}3:00.0): 20034, Fatal, Link 48"
	try_mount 1 "x"$'\n'"NVRM: GPU 0000:${1}6:00.0: RmInitAdapter failed! (0x25:0x65:1457)"
	try_mount 1 "x"$'\n'"NVRM: GPU at PCI:0000:${1}6:00: GPU-00000000-1111-2222-3333-444444444444"
	try_mount 1 "x"$'\n'"NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:${1}6:00 (printing 1 of every 30)."
	try_segfault "NVRM: x"$'\n'"$(xid "${1}4")"
	try_oom "$(xid "${1}5")"
	# The kernel names a program that has no arguments, once.
	echo x >"/tmp/forge/NVRM: x"$'\n'"$(xid "${1}9")"
	chmod 755 /tmp/forge/*
	nobody perl -e 'my ($call, $f) = @ARGV; syscall($call, $f, 0, 0);' $sys_execve "/tmp/forge/NVRM: x"$'\n'"$(xid "${1}9")" || true
	printf '<3>%s\n' "$(xid "${1}7")" >/dev/kmsg
	printf '%s\n' "$loading" >/dev/kmsg
	rm -rf /tmp/forge
}
judge() { check_faults "$1" --ignore gsp_rate_limited; }

echo "* * $(date -u +%Y-%m-%dT%H:%M:%SZ) of other scenarios" >acks
sleep 1
agent_start --hooks gpu --events events.json
cp x.prom begin.prom
forge a
judge no-driver

# With a driver loaded, whose own line is in the midst of a flood.
driver_load tracepoint
sleep 1
forge b
try_mount 3000 "$(xid b8)" &
flood=$!
sleep 0.3
driver 'xid 0000:c1:00.0 79 GPU has fallen off the bus.'$'\t'"$(xid c1)"
wait "$flood"
judge driver
# It is not over because somebody says that the driver was loaded, or the GPU reset.
sleep 6
try_mount 1 "x"$'\n'"$loading"
try_mount 1 "x"$'\n'"NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
printf '%s\n' "$loading" >/dev/kmsg
judge still
# It is, when it was.
rmmod nvidia
driver_load text
agent_settle 2 # it looks each second whether the load has succeeded
judge loaded

# What the driver prints counts wherever it stands.
driver "raw $(xid d0)" "raw one\\n$(xid d1)" 'part usb 1-1: ' "raw $(xid d2)" \
	'raw NVRM: GPU 0000:d3:00.0: RmInitAdapter failed! (0x25:0x65:1457)' \
	'raw nvidia-nvswitch0: SXid (PCI:0000:d4:00.0): 20034, Fatal, Link 48'
judge lines
rmmod nvidia

# The same module under another name, perhaps at the same address: until the agent has looked again, which it does each second,
# its text counts as that of the driver, because no fault may be lost.
agent_settle 3
LC_ALL=C sed 's/nvidia\x00\x00/nogpus\x00\x00/g; s/name=nvidia/name=nogpus/' /job/modules/text/nvidia.ko >nogpus.ko
defer module_remove nogpus
insmod "$PWD/nogpus.ko"
driver "raw $(xid e0)" "raw $loading"
judge other
rmmod nogpus
agent_stop

# The kernel names who prints also where it hides addresses; before 5.19 the driver's tracepoint is the authority.
set_value /proc/sys/kernel/kptr_restrict 2
driver_load tracepoint
agent_start --hooks gpu --events none
wait_for 60 driver_watched
sleep 1 # until then the log decides
cp x.prom hidden-begin.prom
driver "raw $(xid f0)" 'xid 0000:f1:00.0 79 GPU has fallen off the bus.'$'\t'"$(xid f1)"
try_mount 1 "$(xid f2)"
judge hidden
agent_stop
