#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves on this machine, if its kernel has no sunrpc, that doctor reports what is here and what is missing, for root and
# for the user nobody, as text and as JSON.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[[ ! -e /sys/module/sunrpc ]] || { echo "this machine has sunrpc" && exit 77; }
((EUID == 0)) || { echo "only root can become nobody" && exit 77; }
[[ -e /sys/kernel/btf/vmlinux ]] || { echo "this machine's kernel has no BTF" && exit 77; }

"$program" doctor >"$dir/text"
cat "$dir/text"
grep -qx "kernel   $(uname -r)" "$dir/text"
grep -qx 'sunrpc   not loaded' "$dir/text"
grep -q '^source   none now; when sunrpc is loaded, btf:' "$dir/text"
grep -q '^  ok       kernel_types ' "$dir/text"
(($(grep -c '^  unknown ' "$dir/text") == 1))
grep -q '^  ok       printk_console .* reports every message$' "$dir/text"
if [[ -d /sys/kernel/tracing/instances && ! -e /sys/kernel/tracing/kprobe_events ]]; then
	grep -q '^  note     kprobes ' "$dir/text"
fi
# Nothing is decided by the release that a process has chosen for itself.
setarch --uname-2.6 "$program" doctor | diff "$dir/text" -
"$program" doctor --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["source"] == "none" and d["healthy"] is True, d
assert {f["level"] for f in d["findings"]} <= {"ok", "note", "unknown"}, d
'

status=0
as_nobody doctor >"$dir/nobody" || status=$?
[[ $status = 1 ]]
grep -q '^  missing  permission ' "$dir/nobody"
grep -q '^ *fix: run it as root' "$dir/nobody"

# Without BTF libbpf's own line must not appear.
unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && "$1" doctor' sh "$program" >/dev/null 2>"$dir/no-btf" || true
[[ ! -s $dir/no-btf ]]

status=0
"$program" doctor --bogus 2>"$dir/usage" || status=$?
[[ $status = 2 ]]
