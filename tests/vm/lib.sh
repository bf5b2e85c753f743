# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the host-side scripts here share: the cache folder, messages, and a private apt that leaves the system's alone.

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$(realpath -m "$vm/../../.cache/vm")
PATH=$PATH:/usr/sbin:/sbin
# shellcheck disable=SC2034 # for the scripts that source this
debian=${debian:-bookworm} # the guest's user space, and where tools come from
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# An option of apt's sources after it: lists of sid may be older than they say that they are valid for.
[[ $debian != sid ]] || keyring+=' check-valid-until=no'

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}

# need COMMAND...: stop unless each is installed, by `make deps` or the target that $deps names.
need() {
	local command
	for command; do
		type -P "$command" >/dev/null || die "'$command' is missing: run 'make ${deps:-deps}' as root"
	done
}

# lock NAME: one process at a time builds NAME; held until this process ends.
lock() {
	mkdir -p "$cache/locks"
	exec {lock_fd}>"$cache/locks/$1"
	flock -n "$lock_fd" || {
		say "waiting for another process that prepares $1"
		flock "$lock_fd"
	}
}

# kernel_row NAME: reads its row of kernels.tsv into suite, package, arch, scenarios and special.
kernel_row() {
	# shellcheck disable=SC2034 # for the scripts that source this
	read -r _ suite package arch scenarios special < <(awk -F '\t' -v name="$1" '$1 "" == name' "$vm/kernels.tsv") ||
		die "no kernel '$1': see tests/vm/kernels.tsv"
}

# mirror: prints the address of the Debian mirror that this machine uses.
mirror() {
	local site=${DEBIAN_MIRROR:-}
	# shellcheck disable=SC2016 # apt expands it
	[[ $site ]] || site=$(apt-get indextargets --format '$(SITE)' \
		'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
	[[ $site ]] || die "apt knows no Debian mirror: run 'apt-get update', or set DEBIAN_MIRROR to a mirror's address"
	[[ -e ${keyring% *} ]] || die "${keyring% *} is missing: install debian-archive-keyring"
	echo "$site"
}

# apt_root SUITE ARCHITECTURE [deb-src]: makes a private apt for one suite, sets apt_options for it, and refreshes its
# lists when they are older than a day. Old lists do when the mirror cannot be reached; fails if there are none.
apt_root() {
	local root=$cache/apt/$1-$2${3:+-source} site
	site=$(mirror) || return 1
	mkdir -p "$root"/etc/apt/{apt.conf.d,preferences.d,trusted.gpg.d} \
		"$root"/var/{lib/apt/lists/partial,cache/apt/archives/partial}
	: >"$root/status"
	apt_options=(-qq -o "Dir=$root" -o "Dir::State::status=$root/status" -o APT::Sandbox::User=
		-o "APT::Architecture=$2" -o "APT::Architectures=$2" -o Acquire::Languages=none
		-o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o APT::Update::Error-Mode=any)
	(
		flock 9
		echo "${3:-deb} [arch=$2 signed-by=$keyring] $site $1 main" >"$root/etc/apt/sources.list"
		[[ -z $(find "$root/updated" -mmin -1440 2>/dev/null) ]] || exit 0
		say "reading the package lists of $1 ($2)"
		if apt-get "${apt_options[@]}" update >&2; then
			touch "$root/updated"
		elif [[ -e $root/updated ]]; then
			say "the mirror cannot be reached: using the lists of $(date -r "$root/updated" +%F)"
		else
			exit 1
		fi
	) 9>"$root/lock"
}
