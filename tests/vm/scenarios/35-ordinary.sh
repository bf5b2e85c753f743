# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Users work for $minutes minutes on healthy servers, on v3 and v4.2: builds, archives, repositories, locks, other users' files, files
# that another client removes. Their calls end with the ordinary errors: no event but of a limit, no finding, and no session with trouble.
# PARAMETERS=minutes=20 TIMEOUT=2400: for longer.
minutes=${minutes:-3}
nfs_server_start
agent_start --interval 5 --events events.json
server=$(netns_client other 10.0.7)
nfs_mount 4.2 '' /mnt/four
nfs_mount 3 '' /mnt/three 127.0.0.2
# On v3: two clients of v4 on one host would have one identity, and take each other's lease.
NETNS=other nfs_mount 3 nolock /mnt/other "$server"
mkdir -p /mnt/four/{build,archive,git,locks,odd,sticky,secret,races,stale}
mkdir -p /mnt/three/three/{build,archive,git,locks,odd,sticky,secret,races,stale}
chmod 1777 /export/sticky /export/three/sticky /export/three
chmod 700 /export/secret /export/three/secret
end=$((SECONDS + 60 * minutes))
user() { python3 -B /job/scenarios/users.py "$1" "$2" "$3" $((end - SECONDS)) "${@:4}" & users+=($!); }
archives() { # archives DIR: files of a tree, read back, listed and removed
	while ((SECONDS < end)); do
		tar -C / -c etc | tar -C "$1" -x
		rmdir "$1/etc" || true # not empty
		tar -C "$1" -c . | tail -c 1 >/dev/null
		dd if=/dev/zero of="$1/big" bs=64k count=64 conv=fsync status=none
		fio --name=map --filename="$1/big" --size=4m --rw=randrw --ioengine=mmap --time_based --runtime=3 >/dev/null
		timeout -s KILL 1 dd if=/dev/zero of="$1/killed" bs=4k oflag=direct status=none || true
		df "$1" >/dev/null
		find "$1" -newer "$1/none" || true
		rm -rf "${1:?}"/*
	done
}
for name in four three; do
	folder=/mnt/four other=/mnt/other
	[[ $name == four ]] || folder=/mnt/three/three other=/mnt/other/three
	archives $folder/archive 2>"archives-$name.log" &
	users+=($!)
	user build "build-$name" $folder/build
	user git "git-$name" $folder/git
	user locks "locks-a-$name" $folder/locks
	user locks "locks-b-$name" $folder/locks
	user odd "odd-$name" $folder/odd
	nobody python3 -B /job/scenarios/users.py stranger - "$folder" $((end - SECONDS)) >"stranger-$name" &
	users+=($!)
	user races "races-$name" $folder/races $other/races
done
user stale stale-three /mnt/three/three/stale /mnt/other/three/stale
session=0
while ((SECONDS < end - 10)); do
	trace_begin "session-$((session += 1))" --interval 1
	sleep $((end - SECONDS > 70 ? 60 : end > SECONDS ? end - SECONDS : 1))
	trace_end
	/job/xidscope check --json --health health.json >"check-$session.json" || true
done
wait "${users[@]}"
agent_write last
cat /proc/self/mountstats >mountstats
agent_stop
