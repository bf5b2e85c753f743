# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the measurements share.

# ops DIR: every op that a shell can cause, in a mount.
ops() {
	local dir=$1/ops-${1##*/}
	mkdir "$dir"
	echo text >"$dir/a"
	cat "$dir/a" >/dev/null
	ln "$dir/a" "$dir/hard"
	ln -s a "$dir/soft"
	readlink "$dir/soft" >/dev/null
	mv "$dir/a" "$dir/b"
	chmod 600 "$dir/b"
	mkfifo "$dir/fifo"
	ls -l "$dir" >/dev/null
	df "$dir" >/dev/null
	rm "$dir/b"
	rm -r "$dir"
}
