# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# READs ahead of a job's process that was killed outlive it while the server is silent. Its number is given to a process of
# another job: neither the stall nor the calls are that job's.
in_job() {
	join_group "system.slice/slurmstepd.scope/job_$1/step_0"
	exec "${@:2}"
}
reads() { awk '/^xidscope_nfs_owner_calls_total{server="127.0.0.2",.*kind="read"/ { sum += $2 } END { print sum + 0 }' "$1.prom"; }
stalls() { agent_write && grep -q '^xidscope_nfs_owner_oldest_call_seconds{server="127.0.0.2".* [1-9]' x.prom; }
answered() { agent_write "$turn-after" && (($(reads "$turn-after") > $(reads "$turn-before"))); }
nfs_server_start
prepare_file /export
mv /export/load /export/file
nfs_mount 3 actimeo=600 /mnt/silent 127.0.0.2 # its first call after the silence is a READ
nfs_mount 3 '' /mnt/good
agent_start --hooks rpc --owners on
for turn in idle calling; do
	rm -f begun end
	echo 3 >/proc/sys/vm/drop_caches
	(in_job "100" perl -e 'open my $file, "<", "/mnt/silent/file" or die; sysread $file, my $byte, 4096;
		open my $ready, ">", "begun"; close $ready; select undef, undef, undef, 0.1 until -e "end";
		sysseek $file, 8 << 20, 0; sysread $file, $byte, 1 << 20') &
	reader=$!
	wait_for 20 test -e begun
	agent_write "$turn-before"
	block -d 127.0.0.2 -p tcp --dport 2049
	touch end
	wait_for 20 stalls
	kill -KILL "$reader"
	wait "$reader" || true
	# The next process gets that number, unless the guest's own work takes it.
	other=''
	until [[ $other == "$reader" ]]; do
		[[ ! $other ]] || { kill -KILL "$other"; wait "$other" || true; }
		echo $((reader - 1)) >/proc/sys/kernel/ns_last_pid
		(in_job 200 perl -e 'for (;;) { if ($ARGV[0] eq "calling") { open my $file, "<", "/mnt/good/file"; sysread $file, my $byte, 1 }
			select undef, undef, undef, 0.2 }' "$turn") &
		other=$!
	done
	echo "$reader $other" >"$turn.numbers"
	sleep 2
	agent_write "$turn-stalled"
	unblock -d 127.0.0.2 -p tcp --dport 2049
	wait_for 60 answered
	kill -KILL "$other"
	wait "$other" || true
done
agent_stop
