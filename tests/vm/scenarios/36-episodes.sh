# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fio writes five bursts with pauses, then reads three: eight episodes of a session, with their bytes and times, beside steady
# traffic, which is none. Bursts to another server at the same time are told apart. NAME.fio.json has what fio did.
# The links are limited, so that the bursts last for seconds on any CPU.
nfs_server_start
one=$(netns_client one 10.0.11)
two=$(netns_client two 10.0.12)
NETNS=one nfs_mount 3 '' /mnt/one "$one"
NETNS=two nfs_mount 3 '' /mnt/two "$two"
for name in one two; do
	tc -n $name qdisc add dev eth0 root netem rate 64mbit
	tc qdisc add dev veth-$name root netem rate 64mbit limit 10000
done
dd if=/dev/zero of=/export/steady bs=1M count=4 status=none
dd if=/dev/zero of=/export/loads bs=1M count=32 status=none

# burst NAME DIR FILE RW SIZE: direct I/O of calls of 256 KiB.
burst() {
	date +%s.%N >"$1.begin"
	fio --name="$1" --filename="$2/$3" --rw="$4" --size="$5" --bs=256k --direct=1 --ioengine=libaio --iodepth=4 \
		--overwrite=0 --fallocate=none --output-format=json --output="$1.fio.json"
	date +%s.%N >"$1.end"
}

trace_begin session
fio --name=steady --filename=/mnt/one/steady --rw=randwrite --size=4m --bs=4k --direct=1 --rate_iops=20 --time_based \
	--runtime=600 --output-format=json --output=steady.fio.json &
# shellcheck disable=SC2034 # load_end waits for it
loader=$!
sleep 6
for i in 1 2 3 4 5; do
	[[ $i != 3 ]] || burst other /mnt/two other write 20m &
	burst "save-$i" /mnt/one "save-$i" write $((8 + 4 * i))m
	sleep 4
done
for i in 1 2 3; do
	burst "load-$i" /mnt/one loads read $((16 + 4 * i))m
	sleep 4
done
trace_end
load_end
