#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes kernel NAME of kernels.tsv, one of the suite from-source, ready to boot and prints its folder: source.sh NAME
# It is built from Debian's sources, without modules: NFS is in the kernel itself. That takes 20 minutes, once for each version of the
# package.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# What guests and scenarios need, on top of make allnoconfig.
built_in=(
	64BIT SMP HIGH_RES_TIMERS NO_HZ_IDLE HZ_250 PREEMPT_VOLUNTARY PCI PCIEPORTBUS ACPI HYPERVISOR_GUEST TTY UNIX98_PTYS
	SERIAL_8250 SERIAL_8250_CONSOLE PRINTK PRINTK_TIME BUG ELF_CORE BLOCK BLK_DEV BLK_DEV_INITRD RD_GZIP VIRTIO_MENU VIRTIO_PCI
	VIRTIO_BLK VIRTIO_CONSOLE VIRTIO_NET HW_RANDOM HW_RANDOM_VIRTIO DEVTMPFS EXT4_FS TMPFS TMPFS_XATTR PROC_FS PROC_SYSCTL SYSFS
	SYSFS_SYSCALL FILE_LOCKING INOTIFY_USER BINFMT_ELF BINFMT_SCRIPT MULTIUSER FUTEX EPOLL SIGNALFD TIMERFD EVENTFD SHMEM AIO
	ADVISE_SYSCALLS MEMBARRIER RSEQ POSIX_TIMERS FHANDLE SYSVIPC CROSS_MEMORY_ATTACH TASKSTATS TASK_DELAY_ACCT
	TASK_IO_ACCOUNTING TASK_XACCT NAMESPACES UTS_NS IPC_NS USER_NS PID_NS NET_NS CGROUPS MEMCG MEMCG_V1 CGROUP_SCHED
	FAIR_GROUP_SCHED CGROUP_PIDS CGROUP_FREEZER CGROUP_CPUACCT CGROUP_DEVICE CGROUP_BPF NET PACKET UNIX INET IPV6 NETDEVICES
	NET_CORE VETH NET_SCHED NET_SCH_NETEM NET_SCH_TBF NETWORK_FILESYSTEMS NFS_FS NFS_V3 NFS_V3_ACL NFS_V4 NFS_V4_1 NFS_V4_2 NFSD
	NFSD_V3_ACL NFSD_V4 SUNRPC_DEBUG MODULES MODULE_UNLOAD KALLSYMS KALLSYMS_ALL BPF_SYSCALL BPF_JIT BPF_JIT_ALWAYS_ON
	PERF_EVENTS KPROBES FTRACE FUNCTION_TRACER KPROBE_EVENTS BPF_EVENTS DEBUG_KERNEL DEBUG_FS DEBUG_INFO_DWARF5 DEBUG_INFO_BTF
	DEBUG_INFO_BTF_MODULES DETECT_HUNG_TASK MAGIC_SYSRQ SECURITY SECURITYFS SECURITY_LOCKDOWN_LSM
)
# Of arm64: pages of 64 KiB, and the devices of QEMU's machine.
built_in_arm64=(
	ARM64_64K_PAGES DYNAMIC_FTRACE PCI_HOST_GENERIC SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE RTC_CLASS RTC_HCTOSYS RTC_DRV_PL031
)

name=${1:?usage: source.sh NAME}
kernel_row "$name"
IFS=/ read -r release package <<<"$package"
dir=$cache/source/$arch/$name
case $arch in
amd64) target=(ARCH=x86 CROSS_COMPILE=x86_64-linux-gnu-) image=x86/boot/bzImage ;;
arm64) target=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) image=arm64/boot/Image built_in+=("${built_in_arm64[@]}") ;;
*) die "there is no configuration for this kernel's architecture: add it to tests/vm/source.sh" ;;
esac
deps="ARCH=$arch deps" need "${target[1]#*=}gcc"
need make bc flex bison pahole depmod mke2fs cpio xz dpkg-deb flock
lock "source-$name"
file=''
! apt_root "$release" "$arch" || file=$(apt-get "${apt_options[@]}" --print-uris download "$package" | awk '{ print $2 }')
recipe=$(cat <(echo "$file") "$0" "$vm/initramfs" | sha256sum)
if [[ ! $file || $recipe == "$(cat "$dir/recipe" 2>/dev/null)" ]]; then
	[[ -e $dir/recipe ]] || die "the mirror has no $package in $release"
	echo "$dir"
	exit
fi

mkdir -p "$cache/source/$arch"
rm -rf "$cache/source/$arch/.$name".* # what an earlier run may have left
new=$(mktemp -d "$cache/source/$arch/.$name.XXXXXX")
trap 'rm -rf "$new"' EXIT
mkdir -p "$new"/{source,tree,image,initramfs/{bin,dev,lib,modules,proc,root,sys}}
say "downloading $file"
(cd "$new" && apt-get "${apt_options[@]}" download "$package") || die "cannot download $package"
dpkg-deb --fsys-tarfile "$new"/*.deb | tar -xO "./usr/src/$package.tar.xz" | tar -C "$new/source" -xJ --strip-components=1

say "building kernel $name (20 minutes)"
options=(-s -C "$new/source" -j "$(nproc)" "LOCALVERSION=-$name" "${target[@]}")
printf 'CONFIG_%s=y\n' "${built_in[@]}" >"$new/config"
printf 'CONFIG_%s\n' NR_CPUS=64 'LSM="lockdown"' LOCALVERSION_AUTO=n >>"$new/config"
{
	nice make "${options[@]}" KCONFIG_ALLCONFIG="$new/config" allnoconfig &&
		nice make "${options[@]}" "${image##*/}" modules &&
		nice make "${options[@]}" INSTALL_MOD_PATH="$new/tree" modules_install
} >"$new/log" 2>&1 || {
	tail -n 50 "$new/log" >&2
	die "could not build kernel $name: see above"
}
cp "$new/source/arch/$image" "$new/image/vmlinuz"
basename "$new"/tree/lib/modules/* >"$new/image/release"

# Lists of what is built in, for modprobe.
rm -f "$new"/tree/lib/modules/*/{build,source}
depmod -b "$new/tree" "$(<"$new/image/release")"
truncate -s 16M "$new/image/modules.ext4"
mke2fs -q -t ext4 -O ^has_journal -m 0 -L modules -d "$new/tree/lib/modules" "$new/image/modules.ext4"
cp "$("$vm/tool.sh" busybox-static bin/busybox "$arch")" "$new/initramfs/bin/busybox"
install "$vm/initramfs" "$new/initramfs/init"
: >"$new/initramfs/modules/load"
(cd "$new/initramfs" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -n >"$new/image/initramfs.gz"

chmod 755 "$new/image"
echo "$recipe" >"$new/image/recipe"
rm -rf "$dir"
mv "$new/image" "$dir"
echo "$dir"
