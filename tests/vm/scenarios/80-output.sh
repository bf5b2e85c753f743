# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Output directory missing, read-only, full: one message each, the agent keeps running, the old file stays whole, writing resumes.
mkdir -p /mnt/t
defer unmount /mnt/t
mount -t tmpfs -o size=256k tmpfs /mnt/t
/job/xidscope run --output /mnt/t/dir/x.prom --interval 0.3 --log json 2>>agent.log &
agent=$!
whole() { tail -n 1 /mnt/t/dir/x.prom | grep -qx '# EOF' && head -n 1 /mnt/t/dir/x.prom | grep -q '^# TYPE'; }
failures() { grep -c '"message":"cannot write' agent.log || true; }
healed() { grep -c 'is written again' agent.log || true; }
inode() { stat -c %i /mnt/t/dir/x.prom; }

wait_for 30 grep -q 'cannot write.*No such file' agent.log
sleep 1
[[ $(failures) == 1 ]]
mkdir /mnt/t/dir
wait_for 30 whole
[[ $(healed) == 1 ]]

wait_for 20 mount -o remount,ro /mnt/t # busy while the file is written
wait_for 30 grep -q 'cannot write.*Read-only' agent.log
sleep 1
[[ $(failures) == 2 ]]
whole
mount -o remount,rw /mnt/t
before=$(inode)
wait_for 30 sh -c "test \$(stat -c %i /mnt/t/dir/x.prom) != $before"
[[ $(healed) == 2 ]]

dd if=/dev/zero of=/mnt/t/fill bs=1k status=none || true
wait_for 30 grep -q 'cannot write.*No space' agent.log
sleep 1
[[ $(failures) == 3 ]]
whole
[[ ! -e /mnt/t/dir/.x.prom.tmp ]]
kill -0 $agent
rm /mnt/t/fill
wait_for 30 sh -c "test \$(grep -c 'is written again' agent.log) = 3"
whole
(($(sed -n 's/^xidscope_export_errors_total //p' /mnt/t/dir/x.prom) >= 3))

# A second agent on the same file is refused; on a clean stop the file and its lock are gone.
status=0
/job/xidscope run --output /mnt/t/dir/x.prom 2>second.log || status=$?
[[ $status == 3 ]]
grep -q 'another agent writes' second.log
whole
agent_stop
[[ -z $(ls -A /mnt/t/dir) ]]
