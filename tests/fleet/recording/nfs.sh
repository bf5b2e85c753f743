# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The states of a job's NFS client. An interval of 5 s stands for a minute, so timeouts are a twelfth of the usual, too.

# link OPTION...: what the network does; each call crosses it twice.
link() { tc qdisc replace dev lo root netem limit 20000 "$@"; }

# io NAME OPTION...: direct I/O in the background; one that ends by itself, or by io_end.
io() {
	fio --name="$1" --directory=/mnt/pool --filename="$1" --direct=1 --ioengine=libaio "${@:2}" --eta=never --output=/dev/null &
	worker=$!
}
io_end() {
	pkill -KILL -x fio || true
	wait "$worker" || true
}
# What a job does between bursts: samples of some size at a given rate, by more workers than there are slots.
train() {
	io samples --size=64m --rw=randread --bssplit=4k/50:16k/30:64k/20 --iodepth=32 --rate_iops=20 --rate_process=poisson \
		--time_based --runtime=3600
}

nfs_server_start 8
slot_limit 8
nfs_mount 3 timeo=50,retrans=2 /mnt/pool
for name in samples model; do dd if=/dev/zero of=/mnt/pool/$name bs=1M count=64 conv=fsync status=none; done
link delay 300us rate 30mbit
begin --hooks rpc --storage 'pool=127.0.0.*'
while doze 1; do [[ -e /mnt/pool/model ]]; done & # somebody looks at it
keep idle 8
io model --size=64m --rw=read --bs=16k --iodepth=12 --time_based --runtime=3600
keep load 8
io_end
train
keep load 2
keep train 20
# A checkpoint by so many requests at once: of 10, 20, 30 and 40 s, which ends in the interval after.
for save in "1 2 6" "2 4 12" "3 6 32" "4 8 24"; do
	read -r number length depth <<<"$save"
	io_end
	io checkpoint --size=64m --rw=write --bs=16k --iodepth="$depth" --time_based --runtime=3600
	keep "save$number" "$length"
	io_end
	train
	keep "save$number" 2
	keep rest 3
done
# A sixth of what the job asks for.
link delay 300us rate 520kbit
keep rest 4
keep slow 20
link delay 300us rate 30mbit
keep rest 6
link loss 100%
keep dead 24
# The client connects again after up to five minutes, however long it was: back begins with the first answer.
link delay 300us rate 30mbit
reads() { grep 'rpc_op_calls_total.*READ' "$newest"; }
before=$(reads)
while [[ $(reads) == "$before" ]]; do keep rest 1; done
mv "$newest" "${newest%-*}-back"
newest=${newest%-*}-back
keep back 9
agent_stop
io_end
