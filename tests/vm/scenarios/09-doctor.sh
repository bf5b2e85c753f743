# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# doctor reports what is there and what is missing before sunrpc is loaded: for root and for the user nobody, as text and as JSON.
if [[ -d /sys/module/sunrpc ]]; then
	echo "sunrpc is there already: this scenario must come first"
	exit 1
fi
/job/xidscope doctor >text
cat text
grep -qx "kernel   $(uname -r)" text
grep -qx 'sunrpc   not loaded' text
grep -q '^source   none now; when sunrpc is loaded, btf:' text
grep -q '^  ok       kernel_types ' text
[[ $(grep -c '^  unknown ' text) == 1 ]]
grep -q '^  ok       printk_console .* runs in the printing task$' text
# Nothing is decided by the release that a process has chosen for itself.
setarch --uname-2.6 /job/xidscope doctor | diff text -
/job/xidscope doctor --json >doctor.json
grep -q '"source":"none",.*"healthy":true' doctor.json
[[ $(grep -o '"level":"[a-z]*"' doctor.json | sort -u | grep -cv '"ok"\|"note"\|"unknown"') == 0 ]]

status=0
nobody /job/xidscope doctor >nobody.txt || status=$?
[[ $status == 1 ]]
grep -q '^  missing  permission ' nobody.txt
grep -q '^ *fix: run it as root' nobody.txt

# Without BTF libbpf's own line must not appear.
unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && /job/xidscope doctor' >/dev/null 2>no-btf.txt || true
[[ ! -s no-btf.txt ]]
