# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls whose tasks migrate, while CPUs go off and on: each counts once, with its bytes.
shopt -s nullglob
removable=(/sys/devices/system/cpu/cpu[1-9]*/online)
shopt -u nullglob
nproc >cpus
nfs_server_start
agent_start --hooks rpc
for version in 3 4.2; do
	nfs_mount "$version" nconnect=4 /mnt/cpus
	prepare_file /mnt/cpus
	compare_point "$version-before"
	load_begin /mnt/cpus 16 randrw 4k
	for online in "${removable[@]}"; do
		put_value "$online" 0
		# To each CPU that is left, in turn.
		for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
			for fio in $(pgrep -x fio); do taskset -acp "${cpu##*/cpu}" "$fio" >/dev/null 2>&1 || true; done
		done
		put_value "$online" 1
	done
	kill -0 "${loader:?}"
	load_end
	compare_point "$version-after"
	umount /mnt/cpus
done
agent_stop
