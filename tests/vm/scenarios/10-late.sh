# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent that starts before sunrpc logs that, keeps running, and attaches within a second once NFS is used. It attaches to
# nothing before, as that would block unloading sunrpc.
if [[ -d /sys/module/sunrpc ]]; then
	echo "sunrpc is there already: this scenario must come first"
	exit 1
fi
agent_start --verbose
grep -q 'sunrpc is not loaded' agent.log
cp x.prom absent.prom
modprobe sunrpc
wait_for 30 grep -q 'no module uses sunrpc' agent.log
modprobe -r sunrpc
modprobe nfs
date +%s.%N >loaded
wait_for 30 grep -q 'attached to sunrpc' agent.log
if has_types; then echo btf; else echo tracepoints; fi >source
agent_write
agent_stop
cp agent.log attached.log
cp x.prom attached.prom
# The other source, for what the verifier says of its programs.
agent_start --verbose --source tracepoints
agent_stop
