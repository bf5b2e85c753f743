# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The text by which an NFSv4.1 server describes itself stands in mountstats as it is, with newlines. One that looks like the
# begin of another server's mount changes neither that server's figures nor whether its mount hangs.
nfs_server_start
echo '# EOF' >metrics
# The server as it answers behind this: with such a text, to a client that introduces itself.
cat >describe.pl <<'END'
use IO::Socket::INET;
use IO::Select;
my $text = "\n\tcaps:\tx\n\ndevice 127.0.0.7:/export mounted on /mnt/plain with fstype nfs statvers=1.1\n\tage:\t1\n";
my $listener = IO::Socket::INET->new(LocalAddr => "127.0.0.1:20490", Listen => 8, ReuseAddr => 1) or die $!;
my $all = IO::Select->new($listener);
my (%peer, %is_reply, %buffer);
sub opaque { my $at = $_[1]; return $at + 4 + ((unpack("N", substr($_[0], $at, 4)) + 3) & ~3); }
# A COMPOUND's reply whose only result is that of EXCHANGE_ID (42), without protection of state.
sub describe {
	my $reply = shift;
	return $reply unless unpack("N", substr($reply, 4, 4)) == 1;
	my $at = opaque($reply, 12 + 4) + 4; # behind the verifier and the status of the call
	$at = opaque($reply, $at + 4);
	my ($results, $op, $status) = unpack("N3", substr($reply, $at, 12));
	return $reply unless $results == 1 && $op == 42 && !$status;
	$at += 12 + 8 + 4 + 4 + 4 + 8;
	$at = opaque($reply, opaque($reply, $at));
	my $padded = $text . "\0" x (-length($text) & 3);
	return substr($reply, 0, $at) . pack("N", 1) . (pack("N", length $text) . $padded) x 2 . pack("N3", 0, 1, 2);
}
while (my @ready = $all->can_read) {
	for my $from (@ready) {
		if ($from == $listener) {
			my $client = $listener->accept or next;
			my $server = IO::Socket::INET->new(PeerAddr => "127.0.0.1:2049") or die $!;
			$peer{$client} = $server;
			$peer{$server} = $client;
			$is_reply{$server} = 1;
			$all->add($client, $server);
			next;
		}
		if (!sysread($from, $buffer{$from}, 1 << 16, length($buffer{$from} // ""))) {
			$all->remove($from, $peer{$from});
			close $_ for $peer{$from}, $from;
			next;
		}
		while (length $buffer{$from} >= 4) {
			my $size = unpack("N", $buffer{$from}) & 0x7fffffff;
			last if length $buffer{$from} < 4 + $size;
			my $record = substr($buffer{$from}, 4, $size);
			substr($buffer{$from}, 0, 4 + $size) = "";
			$record = describe($record) if $is_reply{$from} && $size > 60;
			$peer{$from}->syswrite(pack("N", length($record) | 0x80000000) . $record);
		}
	}
}
END
perl describe.pl 2>describe.txt &
defer kill $!
wait_for 20 sh -c 'ss -ltn | grep -q :20490'
agent_start --source mountstats
nfs_mount 4.1 port=20490 /mnt/described
nfs_mount 3 '' /mnt/plain 127.0.0.7
dd if=/dev/zero of=/export/file bs=4k count=100 status=none
dd if=/mnt/described/file of=/dev/null bs=4k count=50 iflag=direct status=none
dd if=/mnt/plain/file of=/dev/null bs=4k count=7 iflag=direct status=none
agent_write
cp /proc/self/mountstats mountstats
agent_stop
# The plain server hangs while the other one answers.
block -d 127.0.0.7
while dd if=/mnt/described/file of=/dev/null bs=4k count=50 iflag=direct status=none; do sleep 0.2; done &
load=$!
mkdir hung
in_folder hung agent_start --mount /mnt/plain
hangs() {
	/job/xidscope check --json --health hung/health.json >check.json || true
	grep -q mount_hung check.json
}
wait_for 60 hangs
agent_stop
kill $load
