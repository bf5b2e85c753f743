# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# More ways to have text of one's own printed, beside those of forgery: prefixes of the packet filter, names of anonymous
# files, paths of overlays, audit records, a text that the driver quotes.
# The driver's own lines count in floods, and while the kernel traces its printing functions.
need_drivers
judge() { check_faults "$1" --ignore gsp_rate_limited; }
set_value /proc/sys/kernel/printk_ratelimit 0
set_value /proc/sys/kernel/printk_devkmsg on

# A packet that a rule of the user's own logs, in a network namespace of his own.
try_packet() {
	nobody unshare -U -r -n sh -c 'ip link set lo up; iptables -A OUTPUT -j LOG --log-prefix "$1"
		echo x | busybox nc -w 1 127.0.0.1 9' sh "$1" || true
}
# A program that has no file, under the name of a fault.
try_memfd() {
	nobody perl -e 'my $f = syscall(319, my $name = $ARGV[0], 0); open my $out, ">&=", $f; binmode $out;
		syswrite $out, pack("H*", "7f454c4602010100000000000000000002003e0001000000780040000000000040000000000000000000000000000000" .
		"0000000040003800010000000000000001000000050000000000000000000000000040000000000000004000000000008000000000000000" .
		"8000000000000000001000000000000031c08a0000000000"); exec {"/proc/self/fd/$f"} "x"' "$1" || true
}
mount='my ($t, $o, $n) = @ARGV; my ($d, $f) = ("none", "/mnt"); syscall(165, $d, $f, $t, 0, $o) for 1 .. $n // 1;'
try_mount() { nobody unshare -U -r -m perl -e "$mount" "$@"; }
# The kernel ends a process for its system call, and the audit system says so.
try_seccomp() {
	mkdir -p /tmp/forge
	cp /usr/bin/perl "/tmp/forge/$1"
	nobody "/tmp/forge/$1" -e 'syscall(157, 22, 1); getppid()' || true
	rm -rf /tmp/forge
}
# A group's limit of processes; its name is the user's.
try_pids() {
	echo +pids >/sys/fs/cgroup/cgroup.subtree_control
	mkdir "/sys/fs/cgroup/$1"
	defer rmdir "/sys/fs/cgroup/$1"
	echo 1 >"/sys/fs/cgroup/$1/pids.max"
	in_group "$1" setpriv --reuid 65534 --regid 65534 --clear-groups perl -e 'fork' || true
}

echo "* * $(date -u +%Y-%m-%dT%H:%M:%SZ) of other scenarios" >acks
sleep 1
agent_start --hooks gpu --events events.json
cp x.prom begin.prom
forge() {
	try_packet "NVRM: Xid (${1}0:00): 79, "
	put_value /proc/sys/net/netfilter/nf_log_all_netns 1
	try_packet "NVRM: Xid (${1}1:00): 79, "
	put_value /proc/sys/net/netfilter/nf_log_all_netns 0
	try_memfd "x"$'\n'"$(xid "${1}2")"
	try_mount overlay "lowerdir=/x"$'\n'"NVRM: Xid (${1}3\\:00)\\: 79, x"
	try_mount fuse "x"$'\n'"$(xid "${1}4")"
	try_seccomp "$(xid "${1}5")"
	try_pids "$(xid "${1}6")"
	if nobody sh -c 'echo "$1" >/dev/kmsg' sh "$(xid "${1}7")"; then echo "may write" >kmsg; fi
}
modprobe -a nf_log_syslog nf_log_ipv4 xt_LOG overlay fuse 2>/dev/null || true
forge a
judge no-driver

# A user has a cipher loaded, whose data is a module without text: from 6.4 on its address is 0, as if it were hidden. The
# newest kernel loads it for root alone.
nobody perl -e 'socket(my $s, 38, 5, 0) or die; bind($s, pack("Sa14LLa64", 38, "skcipher", 0, 0, "ecb(cast5)")) or die "bind: $!"' ||
	modprobe cast5_generic
grep '^cast_common ' /proc/modules >cipher || true

# The driver is there; what it quotes is a process' text.
driver_load text
sleep 1
forge b
driver "raw NVRM: API mismatch: the client 'x' (pid 7)\\nNVRM: has the version \\n$(xid c0), but this\\nNVRM: kernel module has" \
	"raw NVRM: VM: nv_free_pages: late unmap, comm: \\nNVRM: Xid (b2:, 0x1" \
	"raw nvidia-nvswitch: Version mismatch, kernel version 575.57.08 user version \\nNVRM: GPU 0000:c8:00.0: RmInitAdapter failed!" \
	"raw nvidia-nvswitch: Version mismatch, kernel version 575.57.08 user version \\nnvidia-nvswitch0: SXid (PCI:0000:c9:00.0): 20034, Fatal"
judge quoted
modprobe loop
driver "raw $(xid c1)"
dmesg -C
judge driver

# A load while nothing is read is noticed.
# shellcheck disable=SC2154 # agent_start sets it
kill -STOP "$agent"
rmmod nvidia
driver_load text
kill -CONT "$agent"
agent_settle 2 # it looks each second whether the load has succeeded
judge reloaded

# A driver that cannot be loaded, which nvidia-modprobe lets every user try. Here another module has what it needs.
rmmod nvidia
LC_ALL=C sed 's/nvidia\x00\x00/nogpus\x00\x00/g; s/name=nvidia/name=nogpus/' /job/modules/text/nvidia.ko >nogpus.ko
defer module_remove nogpus
insmod "$PWD/nogpus.ko"
sleep 3
if insmod /job/modules/text/nvidia.ko; then echo "it is loaded" >unfit; fi
judge unfit
rmmod nogpus
driver_load text
sleep 3

# A flood pushes the driver's line out of the log, and would fill the hook's buffer.
kill -STOP "$agent"
try_mount tmpfs "$(xid b8)" 1500
driver "raw $(xid c5)"
try_mount tmpfs "$(xid b9)" 1500
kill -CONT "$agent"
judge pushed

# A process that may write to the log, and guesses what the driver will print: its lines are read first.
kill -STOP "$agent"
guess=$(xid c6)
for _ in {1..200}; do printf '%s\n' "$guess" >/dev/kmsg; done
driver "raw $guess"
kill -CONT "$agent"
judge guessed

# What the driver prints in the context of a process goes on in the line that this has left unfinished.
guess=$(xid c7)
printf 'unfinished: ' >/dev/kmsg
driver "raw $guess"
judge unfinished

# The kernel calls printk's functions through code of its own while they are traced.
tracing=/sys/kernel/tracing
probe() { # probe DEFINITION...: of which the kernel may refuse some
	local definition
	for definition in "$@"; do
		echo "$definition" >>$tracing/kprobe_events || echo "cannot: $definition"
	done
}
defer put_value $tracing/current_tracer nop
for function in _printk printk vprintk vprintk_emit vprintk_store; do
	probe "r:printing/return_$function $function" "p:printing/enter_$function $function"
done
echo 1 >$tracing/events/printing/enable
driver "raw $(xid d1)"
try_mount tmpfs "x"$'\n'"$(xid d3)"
for function in _printk printk vprintk vprintk_default vprintk_emit vprintk_store; do
	echo $function >>$tracing/set_ftrace_filter || echo "cannot: $function"
done
echo function_graph >$tracing/current_tracer
driver "raw $(xid d2)"
try_mount tmpfs "x"$'\n'"$(xid d4)"
echo nop >$tracing/current_tracer
: >$tracing/set_ftrace_filter
echo 0 >$tracing/events/printing/enable
mapfile -t probes < <(sed -n 's/^[pr][0-9]*:\(printing[^ ]*\) .*/-:\1/p' $tracing/kprobe_events)
probe "${probes[@]}"
judge traced

# A prefix that begins with the kernel's mark of a continuation. By the text alone it is the driver's.
put_value /proc/sys/net/netfilter/nf_log_all_netns 1
try_packet $'\001cNVRM: Xid (a8:00): 79, '
put_value /proc/sys/net/netfilter/nf_log_all_netns 0
judge continued
agent_stop
