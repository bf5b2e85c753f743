# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# sunrpc is unloaded and loaded again, in turn with type information and without, each time under load until the mount
# ends: the agent never blocks unloading, attaches again, counts exactly from 0 on, and leaves nothing behind. Three times,
# 51 in a soak test.
rounds=$(($(cat /job/soak_calls) ? 51 : 3))
module=$(modinfo -n sunrpc)
# No section of that name, and no signature, which would be wrong.
LC_ALL=C sed -e 's/\x00\.BTF\x00/\x00.XTF\x00/' -e 's/~Module signature appended~//' "$module" >/tmp/sunrpc.ko
LC_ALL=C sed -e 's/~Module signature appended~//' "$module" >/tmp/sunrpc-btf.ko
leftovers() {
	# A question to another process has a pipe for a moment.
	echo "$(for _ in {1..10}; do find "/proc/${agent:?}/fd" -mindepth 1 | wc -l && sleep 0.1; done | sort -n | head -n 1) descriptors"
	bpftool map list | grep -c '^[0-9]*:' | sed 's/$/ maps/'
	bpftool prog list | grep -c '^[0-9]*:' | sed 's/$/ programs/'
	bpftool link list | grep -c '^[0-9]*:' | sed 's/$/ links/'
}
defer nfs_remove
wait_for 20 nfs_unload 2>/dev/null
agent_start
# The agent notes its place in the log until the next record comes.
echo '<7>a record' >/dev/kmsg
agent_write
sleep 1
leftovers >before.txt
for ((round = 1; round <= rounds; round++)); do
	if ((round % 2)); then insmod /tmp/sunrpc-btf.ko; else insmod /tmp/sunrpc.ko; fi
	modprobe nfs
	wait_for 20 sh -c "[ \$(grep -c 'attached to sunrpc' agent.log) = $round ]"
	nfs_server_start 2 >/dev/null
	nfs_mount 3 '' /mnt/reload
	prepare_file /mnt/reload
	compare_point "before-$round"
	load_begin /mnt/reload 8 randrw 4k
	agent_write
	load_end
	compare_point "round-$round"
	umount /mnt/reload
	((round != 1)) || leftovers >first.txt
	((round != rounds)) || leftovers >last.txt
	nfs_server_end
	begin=$(date +%s%N)
	wait_for 20 nfs_unload 2>>unload.log
	echo $((($(date +%s%N) - begin) / 1000000)) >>unload.ms
done
agent_write
cp x.prom gone.prom
sleep 1
leftovers >after.txt
agent_stop
