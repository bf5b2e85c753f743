# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process that maps a file of a silent server holds the lock of its memory, which /proc/PID/cmdline needs. Slurm's jobs have
# groups without numbers, whose names are in such memory, as are the variables of --owner-env. Neither the agent nor a trace waits for
# it, whatever the owner is, at the start and at the end either. They themselves use no path but those of the kernel's own text.
# shellcheck disable=SC2016,SC2034,SC2154 # programs of perl; agent_under and tracer are agent-lib.sh's
sluid=s1JHM889NVM300
tracing=/sys/kernel/tracing/instances/paths
# in_step GROUP COMMAND...: runs it there. step JOB GROUP: a slurmstepd, or what takes its title.
in_step() {
	join_group "system.slice/slurmstepd.scope/$1"
	exec "${@:2}"
}
step() { (in_step "$2" perl -e '$0 = "slurmstepd: [$ARGV[0].0]"; sleep 1000' "$1" &) }
# hold NAME COMMAND...: opens the file, and maps it once NAME.maps is there. Nobody waits for either.
hold() {
	("${@:2}" perl -e 'open my $file, "<", "/mnt/silent/file" or die; open my $ready, ">", $ARGV[0];
		select undef, undef, undef, 0.1 until -e "$ARGV[0].maps"; syscall(9, 0, 4096, 1, 2, fileno($file), 0)' "$1" &)
	wait_for 20 test -e "$1"
}
# in_box NAME COMMAND...: runs it in the group of a container of LXC, with the variable RUN.
in_box() {
	join_group "lxc.payload.$1"
	RUN=$1 exec "${@:2}"
}
need_drivers
driver_load text # so that the agent looks for who prints
nfs_server_start
prepare_file /export
cp /export/load /export/file
nfs_mount 3 actimeo=1 /mnt/silent 127.0.0.2
nfs_mount 3 '' /mnt/good
uid=01234567-89ab-cdef-0123-456789abcdef
printf -v id '%064d' 7
declare -A forms=([pod]=kubepods.slice/kubepods-pod${uid//-/_}.slice/cri-containerd-ab.scope [docker]=system.slice/docker-$id.scope
	[unit]=system.slice/held.service [person]=user.slice/user-1000.slice/session-1.scope [number]=system.slice/slurmstepd.scope/job_4712/step_0)
mkdir -p "/var/log/pods/train_loader-0_$uid" "/var/lib/docker/containers/$id"
echo '{"Name": "/docked"}' >"/var/lib/docker/containers/$id/config.v2.json"
step 4711 $sluid/step_0/slurm
chmod 777 .
hold user nobody
hold held in_box held
(in_box free sleep 1000 &)
for form in "${!forms[@]}"; do hold "$form" in_group "${forms[$form]}" env "RUN=$form"; done
hold job in_step s1JHM889NVM301/step_0/slurm
# Any user's: the server of a FUSE file answers no READ. One process reads the file; another maps it for direct I/O, and waits
# for the first one's page. It is in the group of a job, from which the kernel prints the text of an Xid.
fuse='
use Fcntl;
sysopen my $fuse, "/dev/fuse", O_RDWR or die $!;
fcntl $fuse, F_SETFD, 0;
my ($none, $folder, $type, $options) = ("none", "/mnt/held", "fuse", "fd=" . fileno($fuse) . ",rootmode=40000,user_id=0,group_id=0");
syscall(165, $none, $folder, $type, 0, $options) == 0 or die $!;
sub attributes { pack "Q6 L10", $_[0], 1 << 20, 0, 0, 0, 0, 0, 0, 0, $_[0] == 1 ? 040755 : 0100644, 1, 0, 0, 0, 4096, 0 }
sub reader { open my $file, "<", "/mnt/held/file" or die $!; sysread $file, my $byte, 1 }
sub mapper {
	select undef, undef, undef, 0.1 until -e "reads";
	open my $file, "<", "/mnt/held/file" or die $!;
	syscall(9, 0, 4096, 1, 2, fileno($file), 0);
}
for my $holds (\&reader, \&mapper) { fork or close $fuse, $holds->(), exit }
my $opened = 0;
while (sysread $fuse, my $request, 1 << 18) {
	my ($length, $what, $unique, $node) = unpack "L2 Q2", $request;
	if ($what == 15) { open my $reads, ">", "reads"; next }
	my %answers = (
		1 => pack("Q4 L2", 2, 0, 1000, 1000, 0, 0) . attributes(2),
		3 => pack("Q L2", 1000, 0, 0) . attributes($node),
		14 => pack("Q L2", 0, $opened ? 3 : 0, 0), # FOPEN_DIRECT_IO, FOPEN_KEEP_CACHE
		26 => pack("L4 S2 L2 S2 L8", 7, 31, 0, 0, 0, 0, 4096, 1),
	);
	my $answer = $answers{$what};
	next if $what == 2;
	syswrite $fuse, pack("L l Q", 16 + length($answer // ""), defined $answer ? 0 : -38, $unique) . ($answer // "");
	if ($what == 14 && $opened++) { open my $maps, ">", "maps" }
}'
held=s1JHM889NVM301/step_0/user
modprobe -q fuse || true
chmod 666 /dev/fuse # as udev does
mkdir -p /mnt/held
(in_step $held setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r -m perl -e "$fuse" 2>fuse.log) &
fuse=$!
# pkill and ps themselves wait for memory that is held.
let_go() {
	kill -KILL $fuse
	iptables -D OUTPUT -d 127.0.0.2 -p tcp --dport 2049 -j DROP 2>/dev/null || true
}
trap let_go EXIT
wait_for 20 test -e maps
# Each path that the main process gives to the kernel: getname_flags() is inlined where a file is opened.
mkdir "$tracing"
defer rmdir "$tracing"
printf 'p:xidscope_test/%s path=+0(%s):ustring\n' 'path getname_flags' '$arg1' 'open __x64_sys_openat' '+104(%di)' >/sys/kernel/tracing/kprobe_events
defer eval 'echo >/sys/kernel/tracing/kprobe_events'
defer eval "echo 0 >$tracing/events/xidscope_test/enable"
echo 8192 >$tracing/buffer_size_kb
paths() { grep -o "path=.*" $tracing/trace | sort -u >"$1.paths"; }
traced=(bash -c "echo \$\$ >$tracing/set_event_pid; echo 1 >$tracing/events/xidscope_test/enable; exec \"\$@\"" -)
agent_under=("${traced[@]}")
iptables -A OUTPUT -d 127.0.0.2 -p tcp --dport 2049 -j DROP
sleep 2
for form in user held "${!forms[@]}"; do touch "$form.maps"; done
agent_start --events events.json --owner-env NONE,RUN
for box in held free; do (in_box $box dd if=/mnt/good/load of=/dev/null bs=1M iflag=direct status=none); done
for group in "${forms[@]}"; do in_group "$group" dd if=/mnt/good/load of=/dev/null bs=1M iflag=direct status=none; done
(in_step $sluid/step_0/user dd if=/mnt/good/load of=/dev/null bs=1M iflag=direct status=none)
ends() {
	local begin
	begin=$(date +%s%3N)
	"${@:2}"
	echo $(($(date +%s%3N) - begin)) >"$1.milliseconds"
}
ends write agent_write named
wait_for 60 driver_watched
(in_step $held setpriv --reuid 65534 --regid 65534 --clear-groups unshare -U -r -m perl -e \
	'my ($d, $f, $t, $o) = ("none", "/mnt", "tmpfs", "NVRM: Xid (PCI:0000:c1:00): 79, pid=1, name=x, text"); syscall 165, $d, $f, $t, 0, $o; sleep 1000' &)
ends text wait_for 20 says events.json 'Xid (PCI:0000:c1:00)'
ends after agent_write
# Root's own process in a job's group: its title must be read.
touch job.maps
sleep 1
(in_step s1JHM889NVM301/step_0/user dd if=/mnt/good/load of=/dev/null bs=1M iflag=direct status=none)
ends hidden agent_write hidden
ends agent agent_stop
paths agent
ends start agent_start --events events.json
ends again agent_stop
agent_under=()
"${traced[@]}" /job/xidscope trace --hooks rpc --json trace.json >trace.txt 2>trace.log &
tracer=$!
wait_for 90 says trace.log attached
(in_step s1JHM889NVM301/step_1/user dd if=/mnt/good/load of=/dev/null bs=1M iflag=direct status=none)
sleep 3
ends trace trace_end
paths trace
read -r _ mapper <"/proc/$fuse/task/$fuse/children" || true # it has no newline
[[ $(<"/proc/$mapper/stat") == *') D '* ]]
let_go
trap - EXIT
pkill -KILL "^(perl|slurmstepd)"
