# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2154 # set here, or by PARAMETERS
# `xidscope trace --files`: files of known sizes, each read once, a directory of many, and a file that is written, by known
# processes of a job, have what was done, in the session and in a replay; if there are more files than room, what
# is counted and what is not add up. A folder of the file system is mounted as well, then alone.
# PARAMETERS="known=40 small=300 readers=8": so many of each, and processes that read the small ones.
[[ $(uname -r) != 6.1.* ]] || : "${known:=200}" "${small:=40000}" "${readers:=200}" # ten minutes, on one kernel
: "${known:=40}" "${small:=300}" "${readers:=8}"
echo "$known $small" >numbers
nfs_server_start
mkdir -p /export/tree/{few,many/deep,part} /mnt/{files,part}
for ((i = 1; i <= known; i++)); do
	head -c $((i * 10000)) /dev/zero >"/export/tree/few/known$i"
done
for ((i = 1; i <= small; i++)); do
	echo "$i" >"/export/tree/many/small$i"
done
head -c 5000000 /dev/zero | tee /export/tree/part/{both,alone} >/dev/null
groups=/sys/fs/cgroup
mkdir -p $groups/system.slice
echo +memory >$groups/cgroup.subtree_control
echo +memory >$groups/system.slice/cgroup.subtree_control
for version in 3 4.2; do
	nfs_mount "$version" '' /mnt/files
	[[ $version == 3 ]] && part=/export/tree/part || part=/tree/part
	mount -t nfs -o "vers=$version" "127.0.0.1:$part" /mnt/part
	trace_begin "files-$version" --files 50 --slower 0.001 --record "files-$version.rec"
	sleep 2
	# shellcheck disable=SC2016 # the shell in the group expands it
	in_group system.slice/reader.service bash -c '
		for ((i = 1; i <= $1; i++)); do cat "/mnt/files/tree/few/known$i"; done
		find /mnt/files/tree/many -maxdepth 1 -type f | xargs -P "$2" -n "$3" cat' - "$known" "$readers" $(((small + readers - 1) / readers)) >/dev/null
	in_group system.slice/writer.service dd if=/dev/zero of=/mnt/files/tree/many/deep/saved$'\n' bs=64k count=40 conv=fsync
	cat /mnt/part/both >/dev/null
	if [[ $version == 3 ]]; then
		for ((i = 1; i <= small; i++)); do echo x >>"/mnt/files/tree/many/small$i"; done
	fi
	sleep 1
	trace_end
	rm /export/tree/many/deep/*
	umount /mnt/files
	trace_begin "part-$version" --files 50
	sleep 2
	cat /mnt/part/alone >/dev/null
	cp /mnt/part/alone /mnt/part/copied # NFSv4.2: by the server
	sleep 1
	trace_end
	rm /mnt/part/copied
	umount /mnt/part
	/job/xidscope trace --replay "files-$version.rec" >"files-$version.replay"
done
/job/xidscope trace --source tracepoints --files --duration 0.1 >none.txt 2>none.log
