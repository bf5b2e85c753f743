# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What guests that deploy share: an agent that runs as it is deployed. The job defines hup(), which sends it
# SIGHUP, and sets output, the metrics file, and name, under which results are left.
. /vm/guest-lib.sh

step() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
output='' name=''
failed() {
	((BASH_SUBSHELL == 0)) || return 0
	echo "FAILED at line ${BASH_LINENO[*]}: $1"
	[[ ! -s out/$name.log ]] || tail -n 20 "out/$name.log"
	[[ ! -e $output ]] || cp "$output" "out/$name-failed.prom"
}
trap 'failed "$BASH_COMMAND"' ERR

# refresh: has the agent write its file, now. A first file may be what it read before it was asked.
refresh() {
	local before
	for _ in 1 2; do
		before=$(stat -c %i.%Y.%Z "$output")
		hup
		wait_for 60 changed "$before"
	done
}
changed() { [[ $(stat -c %i.%Y.%Z "$output") != "$1" ]]; }

# sum METRIC [LABEL...]: the sum of its samples that have all these labels; fails if there are none.
sum() {
	awk -v metric="$1" -v labels="${*:2}" '
		BEGIN { n = split(labels, label, " ") }
		/^#/ || $1 !~ "^" metric "([{]|$)" { next }
		{ for (i = 1; i <= n; i++) if (!index($1, label[i])) next; total += $NF; found = 1 }
		END { printf "%d\n", total; exit !found }' "$output"
}
source_is() {
	refresh
	[[ $(sum xidscope_rpc_source "source=\"$1\"") == 1 ]]
}
all_attached() {
	refresh
	[[ $(sum xidscope_hook_attached) == "$(grep -c '^xidscope_hook_attached{' "$output")" ]]
}

use_nfs() {
	local version
	for version in 3 4.2; do
		dd if=/dev/zero of="/mnt/$version/file" bs=64k count=4 conv=fsync status=none
		echo 1 >/proc/sys/vm/drop_caches
		cat "/mnt/$version/file" >/dev/null
		stat "/mnt/$version/file" >/dev/null
	done
}

# print_fault PID: an Xid 79, as the driver prints and reports it; "": it names no process.
print_fault() { printf 'xid 0000:c1:00.0 79 gone\tNVRM: Xid (PCI:0000:c1:00): 79, %sgone\n' "${1:+pid=$1, name=x, }" >/proc/xidscope-driver; }

# driver_load: loads the test driver. It returns when the agent has noted that, which ends all faults from before.
driver_load() {
	local before
	refresh
	before=$(driver_loaded)
	insmod /job/nvidia.ko
	wait_for 300 driver_noted "$before"
}
driver_loaded() { sum xidscope_gpu_recovered_timestamp_seconds 'evidence="driver_loaded"' || true; }
driver_noted() { refresh && [[ $(driver_loaded) != "$1" ]]; }

# while_watched COMMAND...: runs it while the agent watches the test driver, and writes its file.
while_watched() {
	driver_load
	"$@"
	sleep 3
	refresh
	rmmod nvidia
}
cause_fault() { while_watched print_fault 1; }
