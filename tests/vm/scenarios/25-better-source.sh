# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Agents that start where tracefs is not mounted, or where the kernel refuses the programs, use a better source once they
# can: without a restart and without a message for each try, also under load. All counts then begin at 0. Each agent has a
# mount namespace of its own.
modprobe nfs
types=:
if [[ -e /sys/kernel/btf/sunrpc ]]; then
	LC_ALL=C sed 's/\x00rq_xmit_bytes_sent\x00/\x00rq_xmit_bytes_semt\x00/' /sys/kernel/btf/vmlinux >/tmp/types-bytes
	types='mount --bind /tmp/types-bytes /sys/kernel/btf/vmlinux'
fi
without_tracefs='umount -l /sys/kernel/tracing /sys/kernel/debug'

# Connected before any agent runs.
nfs_server_start
nfs_mount 3 '' /mnt/old 127.0.0.2
agent() { # agent NAME CHANGE [OPTION...]
	# shellcheck disable=SC2034 # for agent_start
	agent_under=(unshare -m sh -ec "$2; exec \"\$@\"" sh)
	mkdir "$1"
	in_folder "$1" agent_start --hooks rpc "${@:3}"
	agents[$1]=${agent:?}
}
agent absent "$without_tracefs" --source tracepoints
agent mounted "$types; $without_tracefs"
polled=(mounted)
# The kernel's types are damaged until later. One agent is in source tracepoints until then, the other one in source
# mountstats. For types from a file see types-later.
typed=()
if [[ $types != : ]]; then
	typed=(typed jumped)
	agent typed "$types"
	agent jumped "$types; $without_tracefs"
fi
# A program is refused by another one, on kernels that can attach that to the function that asks for permission.
/job/refuse tp_latency >/tmp/refuse &
refuse=$!
wait_for 60 sh -c "grep -q ready /tmp/refuse || ! kill -0 $refuse" 2>/dev/null
if grep -q ready /tmp/refuse; then
	agent refused "$types"
	polled+=(refused)
fi
echo "${polled[@]}" >polled
echo "${typed[@]}" >names-typed

nfs_mount 3 '' /mnt/better
prepare_file /mnt/better
sleep 45 # a second try has failed
compare_points before
load_begin /mnt/better 8 randrw 4k
wait_for 60 reads 500
for name in "${polled[@]}" "${typed[@]}"; do
	agent=${agents[$name]}
	in_folder "$name" agent_write
	cp "$name/x.prom" "$name/load.prom"
done
kill $refuse || true
for name in absent mounted; do
	nsenter -t "${agents[$name]}" -m sh -ec 'mount -t debugfs debugfs /sys/kernel/debug
		mount -t tracefs tracefs /sys/kernel/tracing'
done
for name in "${typed[@]}"; do nsenter -t "${agents[$name]}" -m umount /sys/kernel/btf/vmlinux; done
# The time between two tries has grown to 80 s.
for name in absent "${polled[@]}"; do
	wait_for 150 grep -q 'attached to sunrpc, source tracepoints' "$name/agent.log"
done
for name in "${typed[@]}"; do wait_for 150 grep -q 'attached to sunrpc, source btf' "$name/agent.log"; done
wait_for 60 reads 100
load_end
compare_points middle
dd if=/mnt/better/load of=/dev/null bs=64k count=16 iflag=direct status=none
ls /mnt/better/absent /mnt/old/absent 2>/dev/null || true
compare_points after
agents_stop
