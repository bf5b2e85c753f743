#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Boots a kernel of kernels.tsv in QEMU, runs a job in it and exits with the job's status; see usage below.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage="usage: boot.sh --kernel NAME --job DIR --out DIR [options]
  --kernel NAME   a kernel of tests/vm/kernels.tsv
  --job DIR       copied to the guest as /job; its run.sh is run there and may source /vm/guest-lib.sh
  --out DIR       receives what the guest leaves in /job/out
  --smp N         CPUs (2)
  --memory MB     memory (2048)
  --timeout S     kill the guest after this many seconds, exit status 124 (600)
  --append ARGS   more of the kernel command line
  --image NAME    another root image than the tests' ...
  --packages FILE ... which has the packages listed there, too ...
  --debian NAME   ... and is of that release (bookworm)
  --errors        hardware errors can be injected: see inject in guest-lib.sh (amd64 only, ignored elsewhere)
  --forward PORT  a network with the host, at 10.0.2.2; connections to PORT here are the guest's (10.0.2.15);
                  once for each port
  --resets        a guest that resets itself boots again, with four disks, empty0 to empty3, that keep what is written
  --icount        one CPU whose clock counts instructions: timings repeat exactly
Exit status: run.sh's own, 124 on timeout, 125 if the guest died or could not be started."
die() {
	say "error: $*"
	exit 125
}

kernel='' job='' out='' image='' packages='' smp=2 memory=2048 timeout=600 append='' forward='' machine=pc icount=() errors=() network=() once=(-no-reboot)
while (($#)); do
	case $1 in
	--kernel | --job | --out | --smp | --memory | --timeout | --append | --image | --packages | --debian)
		(($# > 1)) || die "$1 needs a value"
		declare "${1#--}=$2"
		shift
		;;
	--forward)
		forward+=",hostfwd=tcp::$2-:$2" network=(-netdev "user,id=net$forward" -device "virtio-net-pci,netdev=net")
		shift
		;;
	--errors) machine=q35 ;; # which has PCIe
	--icount) icount=(-icount 'shift=0,sleep=off') smp=1 ;;
	--resets) once=() ;;
	-h | --help) echo "$usage" && exit ;;
	*) die "unknown option '$1'"$'\n'"$usage" ;;
	esac
	shift
done
[[ $kernel && $job && $out ]] || die "--kernel, --job and --out are needed"$'\n'"$usage"
[[ -x $job/run.sh ]] || die "$job/run.sh is missing or not executable"

kernel_row "$kernel"
case $arch in
# QEMU 7.2 crashes 6.12 guests in cmpxchg16b, hence -cx16. Without erms and fsrm, the kernel copies eight bytes at a time instead
# of one, and without la57 its page tables have a level less: guests take a sixth less.
amd64) qemu=(qemu-system-x86_64 -machine "$machine" -cpu "max,-cx16,-erms,-fsrm,-la57") console=ttyS0 ;;
# As QEMU's "max", but without the pointer authentication and vectors that cost an emulation much.
arm64) qemu=(qemu-system-aarch64 -machine virt -cpu neoverse-n1) console=ttyAMA0 ;;
*) die "no machine for this kernel's architecture: add it to tests/vm/boot.sh" ;;
esac
need "${qemu[0]}"
# QEMU 7.2 translates code while another CPU patches it and may then keep a breakpoint that is long gone: a kernel whose
# tracepoints are switched under load dies of it ("Oops: int3"). With one thread for all CPUs that cannot happen.
accel=tcg,thread=single
maker=kernel.sh
[[ $suite != out-of-tree ]] || maker=dkms.sh
[[ $suite != from-source ]] || maker=source.sh
boot=$("$vm/$maker" "$kernel")
root=$(debian=$debian "$vm/image.sh" --arch "$arch" ${image:+"$image" "$packages"}) || exit

dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-vm.XXXXXX")
guest=''
cleanup() {
	[[ ! $guest ]] || kill "$guest" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The job's names begin with ./, the harness' own do not. Symbolic links are followed: a job may link to what is built.
tar -cf "$dir/job" --owner=0 --group=0 --dereference --transform 's,^\./,job/,;s,^[^/]*$,vm/&,' \
	-C "$vm" init guest-lib.sh -C "$(realpath "$job")" ./
truncate -s 1G "$dir/out"
mkfifo "$dir/console"
disks=()
disk() { # disk SERIAL FILE OPTION
	disks+=(-drive "if=none,id=$1,file=$2,format=raw,cache=unsafe,$3" -device "virtio-blk-pci,drive=$1,serial=$1")
}
disk root "$root" snapshot=on
disk modules "$boot/modules.ext4" readonly=on
disk job "$dir/job" readonly=on
disk out "$dir/out" readonly=off
for ((i = 0; i < 4 && ${#once[@]} == 0; i++)); do
	truncate -s 512M "$dir/empty$i"
	disk "empty$i" "$dir/empty$i" readonly=off
done
if [[ $arch == amd64 && $machine == q35 ]]; then
	# QEMU is the client of its own monitor, on behalf of a port in the guest. Errors are those of a device and of the
	# PCIe port that it is behind.
	errors=(-chardev "socket,id=server,path=$dir/monitor,server=on,wait=off" -mon "chardev=server,mode=control"
		-chardev "socket,id=client,path=$dir/monitor"
		-device virtio-serial-pci -device "virtserialport,chardev=client,name=monitor"
		-device "pcie-root-port,id=upper" -device "virtio-rng-pci,bus=upper,id=lower,aer=on")
fi

# The kernel's check of its timer fails on a busy host.
# An oops ends the guest; the console shows only what is graver than critical, and all of an oops.
TMPDIR=$dir timeout --kill-after=5 "$timeout" "${qemu[@]}" -accel "$accel" "${icount[@]}" -smp "$smp" -m "$memory" \
	-nodefaults -no-user-config -display none "${once[@]}" -serial stdio \
	-kernel "$boot/vmlinuz" -initrd "$boot/initramfs.gz" \
	-append "console=$console quiet loglevel=2 oops=panic panic=-1 no_timer_check $append" \
	"${disks[@]}" "${errors[@]}" "${network[@]}" -device virtio-rng-pci </dev/null >"$dir/console" &
guest=$!
sed -u 's/\r$//' <"$dir/console" &
stream=$!
status=0
wait "$guest" || status=$?
guest=''
wait "$stream"

((status != 124 && status != 137)) || {
	say "error: the guest was still running after $timeout s and was killed"
	exit 124
}
((status == 0)) || die "QEMU failed with status $status"
tar -C "$dir" --occurrence=1 -xf "$dir/out" status 2>/dev/null ||
	die "the guest died before the job ended: see its last lines above"
mkdir -p "$out"
tar -C "$out" --no-same-owner --warning=no-timestamp --strip-components=1 -xf "$dir/out" out 2>/dev/null ||
	die "the guest left more than 1 GiB in /job/out: less is needed"
exit "$(<"$dir/status")"
