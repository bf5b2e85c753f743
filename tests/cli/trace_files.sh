#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves on recordings, one made up and one of a guest, that `xidscope trace --replay` gives valid JSON by the schema, the
# same each time, that filters work, that a page keeps names in their place, and that what is wrong with a file gets one
# message, also of the event log that `why` reads. Needs no kernel and no root.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
"$top/build/tests/write_recording" >made.rec

# json EXPRESSION FILE: the file is valid by the schema, and Python's EXPRESSION about it (j) is true.
json() {
	/usr/bin/python3 - "$top/docs/trace.schema.json" "$2" "$1" <<-'PYTHON' || fail "$2: see above"
		import json, sys, jsonschema
		schema, j = (json.load(open(name)) for name in sys.argv[1:3])
		jsonschema.Draft202012Validator.check_schema(schema)
		errors = [f"{list(e.path)}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(schema).iter_errors(j)]
		for s in j["servers"]:
		    for thing in [s, *s["ops"]]:
		        if abs(sum(thing["phases"].values()) - thing["seconds"]) > 1e-6:
		            errors.append(f"phases of {s['name']}: they do not add up")
		        if "buckets" in thing and sum(n for _, n in thing["buckets"]) != thing["calls"]:
		            errors.append(f"buckets of {s['name']} do not add up")
		    for m in s["mount_calls"]:
		        if abs(sum(m["phases"].values()) - m["seconds"]) > 1e-6:
		            errors.append(f"phases of {m['mountpoint']}: they do not add up")
		        if any(sum(k[name] for k in m["kinds"].values()) != m[name] for name in ("calls", "sent_bytes", "received_bytes", "errors")):
		            errors.append(f"kinds of {m['mountpoint']}: they do not add up")
		    if sum(s["timeline"]["calls"]) != s["calls"]:
		        errors.append(f"the timeline of {s['name']} does not add up")
		if not eval(f"({sys.argv[3]})"):
		    errors.append(f"{sys.argv[3]} is not true")
		sys.exit("\n".join(errors[:5]) if errors else 0)
	PYTHON
}

expect 0 "*Summary*" "" trace --replay made.rec --json made.json --html made.html
expect 0 "*" "" trace --replay made.rec --json -
cmp -s out made.json || fail "JSON on standard output is not that in a file"
head -c $(($(stat -c %s made.rec) - 9)) made.rec >cut.rec
expect 1 "" "xidscope: error: cannot read the recording cut.rec: it was cut after line 182 (181 snapshots, until 2026-11-22 17:36:47 +0000)" trace --replay cut.rec --json cut.json
[[ ! -e cut.json ]] || fail "a cut recording is reported on"
zcat cut.rec 2>/dev/null | head -n 182 >whole.rec
/usr/bin/python3 -c 'import zlib; print("{\"end\":\"%08x\"}" % zlib.crc32(open("whole.rec", "rb").read()))' >>whole.rec
"$program" trace --replay whole.rec --json whole.json >out || fail "the whole part of a cut recording is refused"
cmp -s whole.json made.json || fail "an end of its own changes a recording"
TZ=America/New_York expect 0 "From 2026-11-22 18:33:47 +0100*- From 2026-11-22 18:33:47 +0100, for 180 s, on node-17: Linux 6.1*, xidscope *.*" "" trace --replay made.rec
json '[e["kind"] for e in j["episodes"]] == ["save", "save", "load"] and {s["name"]: s for s in j["servers"]}["nas-1"]["verdict"]["bound_by"] == "slot"
and abs(j["episodes"][0]["seconds"] - 30) <= 1 and {e["kind"] for e in j["events"]} == {"fault", "kernel_event", "hung", "answers", "disconnect"}
and [f["state"] for f in j["faults"]] == ["open"] and j["host"] == "node-17" and j["utc_offset_seconds"] == 3600
and j["events"] == sorted(j["events"], key=lambda e: e["time"]) and len(j["slow_calls"]) == 16' made.json

# ---- a recording of a guest (Linux 6.1, 128 RPC slots, 16 and then 256 writes at once): what is said of it stays ----
{
	TZ=America/New_York "$program" trace --replay "$top/tests/data/slots.rec" --json slots.json
	"$program" trace --replay "$top/tests/data/slots.rec" --markdown
	/usr/bin/python3 -m json.tool --indent 1 slots.json
} >slots.txt
diff -u "$top/tests/data/slots.txt" slots.txt >&2 ||
	fail "the report of tests/data/slots.rec differs, see above. The recording is of a guest with 128 RPC slots, 16 and then" \
		"256 writes at once: the limit must stay slot, and all figures the same. Only if each changed line is one that your" \
		"change is about, copy the new report over tests/data/slots.txt."
json 'j["servers"][0]["verdict"]["bound_by"] == "slot" and j["servers"][0]["verdict"]["confidence"] == "medium"' slots.json

# ---- mounts ----
json 'all(sum(m["calls"] for m in s["mount_calls"]) == s["calls"] and abs(sum(m["held_share"] for m in s["mount_calls"]) - 1) < 0.001 for s in j["servers"])
and [m["mountpoint"] for s in j["servers"] if s["name"] == "nas-1" for m in s["mount_calls"]] == ["/mnt/checkpoint", "/mnt/home</title>"]' made.json
expect 0 "*Slots of nas-1: calls of /mnt/checkpoint hold them for * % of the time; of the waits, 100 % are of /mnt/checkpoint.*
Mounts of nas-1, the one with the most time first
mount point * held %*waited %
/mnt/checkpoint *
/mnt/home</title> * 0 * 0
*" "" trace --replay made.rec
expect 0 "*/mnt/checkpoint *
  read *
  write *" "" trace --replay made.rec --mount '/mnt/check*'
! grep -qE '^(LOOKUP|/mnt/home)' out || fail "it shows ops of the server, or another mount: $(<out)"

# ---- filters ----
"$program" trace --replay made.rec --server nas-1 --json - >filtered.json
json '[s["name"] for s in j["servers"]] == ["nas-1"] and "READ" in [o["op"] for o in j["servers"][0]["ops"]]' filtered.json
"$program" trace --replay made.rec --mount '/mnt/*' --json - >filtered.json
json '[s["name"] for s in j["servers"]] == ["nas-1"]' filtered.json
"$program" trace --replay made.rec --slower 300 --json - >filtered.json
json 'min(c["seconds"] for c in j["slow_calls"]) >= 0.3 and len(j["slow_calls"]) == j["slow_calls_in_all"] == 8' filtered.json
"$program" trace --replay made.rec --slower 1 >shown
[[ $(grep -c '^[0-9:]\{8\}  *[0-9]* ms WRITE' shown) == 10 ]] || fail "it shows not 10 slow calls: $(grep -A 19 ^Slowest shown)"
nothing="Nothing matches --server absent --mount nope."
choice="There are:
    server nas-1
    server nas-2*
    mount /mnt/checkpoint of nas-1"
filter=(--replay made.rec --server absent --mount nope)
expect 2 "*no NFS server matches*
- $nothing
- $choice
*" "" trace "${filter[@]}"
expect 2 "*,\"servers\":\[\],*" "xidscope: $nothing $choice" trace "${filter[@]}" --json -
expect 2 "$nothing
*
$choice" "" top --batch 1 "${filter[@]}"

# ---- a long session: as many intervals as the page can show ----
"$program" trace --replay made.rec >out
(($(grep -cE '^[0-9:]{8} ' out) > 300)) || fail "the live lines are missing"
awk 'length > 80 && !/Summary/ { exit 1 } /^Summary/ { exit }' out || fail "a live line has more than 80 columns"

# ---- a page ----
/usr/bin/python3 - made.html <<-'PYTHON' || fail "the page"
	import re, sys
	page = open(sys.argv[1], encoding="utf-8").read()
	data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1]
	parts = len(re.findall("</script>", page))
	sys.exit("<" in data and "a name is not escaped" or parts != 3 and f"{parts} scripts instead of 3" or
	         re.search(r'(src|href)\s*=\s*["\x27]?https?:|@import|url\(', page) and "it asks for something" or 0)
PYTHON

# ---- Markdown: a reader of it finds what the report says, and no markup of names ----
rendered() { # TAG...: only these
	cmark out >html || fail "no Markdown"
	(($(wc -l <out) <= 60)) || fail "$(wc -l <out) lines"
	[[ $(grep -oE '<[a-z]+' html | sort -u | tr '\n' ' ') == "$* " ]] || fail "other markup: $(<html)"
}
for input in made.rec -; do
	"$program" trace --replay $input --markdown <made.rec >out 2>err || fail "--markdown: $(<err)"
	rendered '<code' '<li' '<p' '<pre' '<strong' '<ul'
	grep -qF '<p><strong>Xid 79 on GPU 0000:c1:00.0: open, fatal, ' html || fail "another headline: $(head -n 1 html)"
	grep -q '^/mnt/checkpoint .* 100 .* 100$' html || fail "no mounts: $(<html)"
	! grep -B 1 '^```$' out | grep '^Episodes' || fail "a title without a table: $(<out)"
done
"$program" trace --replay - --json - <made.rec | cmp -s - made.json || fail "standard input and output are taken for one file"
expect 2 "" "*--json and --markdown need different files*" trace --replay made.rec --markdown --json -
/usr/bin/python3 - >marked.log <<-'PYTHON'
	import json
	for i in range(70):
	    name = ("#", "$a$", "<b>", "**x**", "`x`", "[a](http://b)", "_a_", "|", "~~~", "&lt;", "```")[i % 11]
	    event = {"kind": "xid" if i < 69 else "agent", "xid": 79, "severity": "fatal", "device": name, "comm": name, "owner": name, "text": name}
	    print(json.dumps({"time": f"2026-11-21T10:{i // 60:02}:{i % 60:02}Z", "name": name, **event}))
PYTHON
"$program" why --events marked.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z --markdown >out
grep -qx -- '- Earlier: 39 events, shown without --markdown.' out || fail "no earlier events: $(<out)"
grep -q '10:01:08 .* Xid 79 on ' out || fail "the last fault is left out: $(<out)"
rendered '<li' '<p' '<strong' '<ul'
! grep -q 'the agent: ' html || fail "what is no trouble takes the place of trouble"
# Of 69 open faults: the window, host and version, and the last event.
mapfile -t faults < <(for ((i = 0; i < 69; i++)); do printf 'xid=%d:fatal:restart_bm:1:2026-11-21T10:%02d:%02dZ\n' $((i + 100)) $((i / 60)) $((i % 60)); done)
judge open.json -- "${faults[@]}"
awk '{ sub(/"xid": 79/, "\"xid\": " NR + 99); sub(/"device": "[^"]*"/, "\"device\": \"0000:c1:00.0\""); print }' marked.log >open.log
"$program" why --health open.json --events open.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z --markdown >out
rendered '<li' '<p' '<strong' '<ul'
for line in '- Open: 59 more.' '- From .*, read on .* by xidscope [0-9.]*:' '- .*10:01:08 .* Xid 168 .*'; do
	grep -qx -- "$line" out || fail "faults fill the ticket, no '$line': $(<out)"
done

# ---- a morning's event log, with a restart, a full disk, a stall, Xids of a job and of a GPU that is lost ----
cp "$top/tests/data/events.log" .
for form in "" --markdown --json "--job 4711" "--job 4711 --json" "--job train/loader-0"; do
	echo "why $form"
	# shellcheck disable=SC2086 # options
	"$program" why --events events.log --since 2026-11-21T09:00:00Z --until 2026-11-21T10:00:00Z $form >out
	if [[ $form == *--json ]]; then /usr/bin/python3 -m json.tool --indent 1 out; else cat out; fi
done | sed 's/read on .* by xidscope [0-9.]*:/read on HOST by xidscope VERSION:/' >events.txt
diff -u "$top/tests/data/events.txt" events.txt >&2 ||
	fail "what is said of tests/data/events.log differs, see above. Only if each changed line is one that your change is" \
		"about, copy the new text over tests/data/events.txt."

# ---- the gravest comes first, in the order of trace ----
touch empty.log
first() { # TEXT EVENT...: an event is "BEGIN END KIND NAME DEVICE TEXT"; END "-": it lasts
	local wanted=$1 begin end kind name device text
	for event in "${@:2}"; do
		read -r begin end kind name device text <<<"$event"
		line="\"kind\":\"$kind\",\"name\":\"$name\",\"device\":\"$device\",\"incident\":1,\"text\":\"$text\",\"start_monotonic_seconds\":$begin"
		echo "{\"time\":\"2026-11-21T10:00:$begin.000000Z\",\"monotonic_seconds\":$begin,\"state\":\"begin\",$line}"
		[[ $end == - ]] || echo "{\"time\":\"2026-11-21T10:00:$end.000000Z\",\"monotonic_seconds\":$end,\"state\":\"end\",$line}"
	done >rank.log
	expect 0 "$wanted*" "" why --events rank.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z
}
outage="20 50 nfs_stall pending nas-2 (/mnt/ckpt)"
silent="NFS server nas-2(/mnt/ckpt): a call was not answered"
first "$silent" "10 55 nfs_stall slot nas-1 x" "$outage"
sed -i 's/"end"/&,"seconds":30,"least_seconds":19.6/' rank.log
expect 0 "$silent, for 20 to 30 s, *" "" why --events rank.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z
first "$silent" "10 - nfs_stall session nas-1 x" "$outage"
first "$silent" "10 55 nfs_errors data nas-1 1 of 1 MKDIR ends with NFS4ERR_DQUOT: a quota is used up." "$outage"
first "NFS server nas-1: 1 of" "10 15 nfs_errors data nas-1 1 of 9 READs end with EIO: x; data were not read." "$outage"
first "NFS server nas-1: 5 of" "10 15 nfs_errors stale nas-1 5 of 9 WRITEs end with ESTALE, data were not written: x." "$outage"
first "NFS server nas-1: calls waited for an RPC slot" "10 55 nfs_saturation slot nas-1 x"
first "kernel_oops, device nfs" "$outage" "55 - kernel_event kernel_oops nfs x"
first "$silent" "10 - kernel_event kernel_oops xfs x" "$outage"
first "nfs_state_lost (open files or locks were lost), device nas-2" "$outage" "51 - kernel_event nfs_state_lost nas-2 x"
expect 0 "Nothing was watching for 7200 s of the window.*" "" why --events empty.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z
for event in "09:05:00 stop" "10:58:00 start"; do
	echo "{\"time\":\"2026-11-21T${event% *}Z\",\"kind\":\"agent\",\"name\":\"${event#* }\",\"boot\":\"a\",\"text\":\"x\"}"
done >gaps.log
expect 0 "*the agent: stop: x
*nothing was watching until *: the agent was stopped
*the agent: start: x*" "" why --events gaps.log --since 2026-11-21T09:00:00Z --until 2026-11-21T11:00:00Z

# ---- what is wrong with an event log or a window ----
expect 1 "" "xidscope: cannot read the event log absent: *" why --events absent
for path in /etc/passwd "$program" made.rec; do
	expect 1 "" "xidscope: $path is no event log: none of its * lines is an event" why --events "$path"
done
expect 1 "" "xidscope: the window begins in the future, at 2099-01-01T00:00:00Z*" why --events empty.log --since 2099-01-01
expect 1 "" "xidscope: the window begins in the future, at *" why --events empty.log --until 2099-01-01 --since 2098-12-31

# ---- a session whose reader or terminal has gone ends as one that is stopped ----
session=(trace --hooks rpc --source mountstats --interval 0.1 --record left.rec --json left.json)
timeout 120 "$program" "${session[@]}" 2>/dev/null | head -n 1 >out
json 'j["seconds"] < 10' left.json
rm left.json
/usr/bin/python3 - "$program" "${session[@]}" <<-'PYTHON' || fail "it goes on although its terminal was closed"
	import os, pty, sys, time
	child, terminal = pty.fork()
	if not child:
	    os.execv(sys.argv[1], sys.argv[1:])
	os.read(terminal, 100)
	time.sleep(0.5)
	os.close(terminal)
	for _ in range(50):
	    if os.waitpid(child, os.WNOHANG)[0]:
	        sys.exit()
	    time.sleep(0.1)
	os.kill(child, 9)
	sys.exit(1)
PYTHON
json 'j["seconds"] < 10' left.json
expect 0 "*Summary*" "" trace --replay left.rec

# ---- standard input, a pipe, and a reader that has read enough ----
"$program" trace --replay made.rec >whole.txt
head -c -0 made.rec | "$program" trace --replay - | cmp -s - whole.txt || fail "a pipe as standard input gives another report"
"$program" trace --replay - <made.rec | cmp -s - whole.txt || fail "a file as standard input gives another report"
"$program" trace --replay <(cat made.rec) | cmp -s - whole.txt || fail "a pipe gives another report"
for file in --json --html; do
	(
		trap '' PIPE
		"$program" trace --replay made.rec $file - 2>err | head -c 9 >out
		[[ ${PIPESTATUS[0]} == 0 && ! -s err ]]
	) || fail "$file - says '$(<err)' to a reader that has read enough"
done
(
	trap '' PIPE
	"$program" xid --list 2>err | head -n 1 >out
	[[ ${PIPESTATUS[0]} == 0 && ! -s err ]]
) || fail "xid --list says '$(<err)' to a reader that has read enough"
(
	trap '' PIPE
	timeout 120 "$program" run --hooks rpc --source mountstats --interval 0.1 --output - 2>err | head -n 1 >out
	[[ ${PIPESTATUS[0]} == 0 && $(<err) != *cannot* ]]
) || fail "run --output - goes on without a reader, or says '$(<err)'"
timeout 120 "$program" trace --hooks rpc --source mountstats --interval 0.1 --duration 0.3 --record - 2>err | "$program" trace --replay - >out ||
	fail "a recording through a pipe: $(<err)"
[[ $(<out) == *Summary* ]] || fail "a recording through a pipe gives '$(<out)'"

# ---- what is wrong with a file ----
expect 1 "" "xidscope: error: cannot read the recording absent: No such file or directory" trace --replay absent
cat made.rec made.rec >twice.rec
expect 1 "" "xidscope: error: cannot read the recording twice.rec: it is damaged after line 182 *" trace --replay twice.rec
echo 'something else' >wrong.rec
expect 1 "" "xidscope: error: cannot read the recording wrong.rec: it is no recording of xidscope trace" trace --replay wrong.rec
gzip <wrong.rec >packed.rec
expect 1 "" "*it is no recording of xidscope trace" trace --replay packed.rec
expect 1 "" "*it is no recording of xidscope trace" trace --replay "$program"
expect 1 "" "xidscope: error: cannot read the recording $dir: it is a folder" trace --replay "$dir"
cp made.rec damaged.rec
printf X | dd of=damaged.rec bs=1 seek=20000 conv=notrunc status=none
expect 1 "" "xidscope: error: cannot read the recording damaged.rec: it is damaged after line *" trace --replay damaged.rec
zcat made.rec | sed 's/"sent_bytes":1/"sent_bytes":2/' >changed.rec
expect 1 "" "*changed.rec: it is damaged: the checksum after line 182 is wrong" trace --replay changed.rec
expect 2 "" "xidscope: use either --record or --replay; *" trace --replay made.rec --record x.rec
expect 2 "" "xidscope: --json and --html need different files; *" trace --replay made.rec --json both --html both
expect 2 "" "xidscope: --json and --html need different files; *" trace --replay made.rec --json - --html -
expect 2 "" "xidscope: --html and --replay need different files; *" trace --replay made.rec --html made.rec
expect 2 "" "xidscope: --json and --record need different files; *" trace --record both --json both
"$program" trace --replay made.rec >/dev/full 2>err && fail "all is well although standard output took nothing"
[[ $(<err) == "xidscope: cannot write standard output: No space left on device" ]] || fail ">/dev/full says '$(<err)'"
for value in x 0 1:5 1e3 2000000; do
	expect 2 "" "xidscope: invalid --slower '$value': use milliseconds *" trace --slower $value
done
# ---- on a terminal each line fits ----
script -qc "stty cols 80; NO_COLOR=1 TZ=UTC $program trace --replay made.rec --slower 1" /dev/null | tr -d '\r' >typed
awk 'length > 80 { print; bad = 1 } END { exit bad }' typed >wide || fail "lines of more than 80 columns: $(head -n 3 wide)"
expect 1 "" "xidscope: error: cannot write --json $dir: *" trace --replay made.rec --json "$dir"
expect 1 "" "xidscope: error: cannot write --html no/such/folder: *" trace --replay made.rec --html no/such/folder
ln -s made.json link
expect 1 "" "xidscope: error: cannot write --json link: *symbolic link*" trace --replay made.rec --json link

((failed)) || echo "recordings give their reports again"
exit $failed
