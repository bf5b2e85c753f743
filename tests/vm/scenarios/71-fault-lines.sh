# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every line of tests/data/xid_lines.tsv, through /dev/kmsg and from a driver: each fault with address, number, pid and
# process as expected, no other.
need_drivers
set_value /proc/sys/kernel/printk_devkmsg on
cut -f 2 /job/data/xid_lines.tsv | tail -n +2 >lines
pass() { # NAME OPTION...: an agent, while put() writes each line
	local name=$1
	shift
	agent_start --hooks gpu --events "$name.json" "$@"
	cp x.prom "$name-begin.prom"
	touch "$name.json" # the agent makes it at the first event
	wc -l <"$name.json" >"$name.skip"
	while IFS= read -r line; do put "$line"; done <lines
	agent_settle 3
	agent_write "$name"
	agent_stop
}
put() { printf '<4>%b\n' "${1//\\n/\\x0a}" >/dev/kmsg; }
pass kmsg --accept-user-kmsg
driver_load text
put() { driver "raw $1"; }
pass driver
