# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What jobs share that replace an agent by another version under load, beside deploy-lib.sh: faults of the test driver
# (nvidia.ko is loaded), whether each is counted once, and whether the file was fresh all the time.

# shellcheck disable=SC2154 # output is of the job
version_is() { grep -q "xidscope_build_info{version=\"$1" "$output"; }
faults() { sum xidscope_gpu_xid_errors_total 'xid="79"' || true; }
printed=0
fault() {
	printed=$((printed + 1))
	print_fault $printed
}
all_counted() {
	refresh
	(($(faults) == printed))
}
none_is_lost() { wait_for 300 all_counted || { echo "$(faults) faults are counted, $printed were printed"; return 1; }; }

# under_faults COMMAND...: with a fault before it, several meanwhile, and one after it.
under_faults() {
	rm -f no-more
	fault
	{
		while [[ ! -e no-more ]]; do
			fault
			sleep 0.3
		done
		echo $printed >printed
	} &
	local printer=$!
	"$@"
	touch no-more
	wait $printer
	printed=$(<printed)
	fault
}

# traffic_begin: NFS is used. watch_begin: a first fault is counted, and watch() looks from then on. traffic_end: no more NFS and faults.
traffic_begin() {
	local version
	nfs_server_start
	for version in 3 4.2; do nfs_mount "$version" '' "/mnt/$version"; done
	(while sleep 2; do use_nfs; done) &
	load=$!
}
watch_begin() {
	driver_load
	fault
	none_is_lost
	watch &
	watcher=$!
}
traffic_end() {
	kill "$load"
	wait "$load" || true
	rmmod nvidia
}

# watch: twice a second the file's time and its number of faults; in the background, until watched() judges it. The file's
# age, or if it is missing the time since its last version, is at most two intervals: one is the usual. On a busy machine, where
# a look takes longer than a second, so does all else, and as many times the age is allowed.
watch() {
	local counted
	while sleep 0.5; do
		counted=$(faults 2>/dev/null) # nothing, if the file goes meanwhile
		echo "$(cut -d. -f1 /proc/uptime) $(date +%s) $(stat -c %Y "$output" 2>/dev/null || echo -) ${counted:--}"
	done >out/watch
}
watched() {
	kill "$watcher"
	awk '$3 != "-" { last = $3; if ($4 != "-") { if ($4 < most) { print "a counter of faults falls: " $0; bad = 1 } most = $4 } }
		last { age = $2 - last; if (age > oldest) oldest = age }
		{ begun = begun ? begun : $1; ended = $1 }
		END { pace = (ended - begun) / NR; most_age = 30 * (pace > 1 ? pace : 1)
			print "the file was at most " oldest " s old, in " NR " looks: may be " most_age " s"; exit bad || oldest > most_age || !oldest }' out/watch
}
