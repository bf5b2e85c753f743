#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves of the RPMs, as root: they have the files of the Debian packages but for the differences named here, and the same bytes
# if they are made again; in a root with nothing but a shell and systemctl, with the presets of RHEL, the one for this machine is
# installed, upgraded, downgraded and removed by the commands of docs/DEPLOY.md: settings stay, and nothing else is left.
# rpm.sh RELEASE VERSION     RELEASE: the folder of `make release`, or one with both packages
set -euo pipefail
here=$(realpath "$(dirname "$0")")
release=$(realpath "$1") version=$2
# shellcheck disable=SC2034 # for need
deps='deps-release'
. "$here/../vm/lib.sh"
need rpmbuild rpmlint rpm2cpio cpio dpkg-deb busybox systemctl
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rpm-check.XXXXXX")
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	umount "$dir/root/proc" 2>/dev/null || true
	rm -rf --one-file-system "$dir"
}
trap cleanup EXIT

# ---- the same files ----
# differ: makes the differences in the tree of the Debian package: other places, licences, and the name of the file of settings.
differ() {
	mv lib usr/
	mv etc/default etc/sysconfig
	sed -i 's,/etc/default/xidscope,/etc/sysconfig/xidscope,g' etc/sysconfig/* usr/lib/systemd/system/* usr/share/xidscope/systemd/*
	rm -r usr/share/lintian usr/share/doc/xidscope/{changelog.gz,copyright}
	mkdir -p usr/share/licenses/xidscope
	cp "$here"/../../{LICENSE,LICENSES/*} usr/share/licenses/xidscope/
}
modes() { (cd "$1" && find . ! -type d -printf '%p %m\n' | sort); }
machine() { od -An -tu2 -j18 -N2 "$1" | tr -d ' '; }
for arch in amd64:x86_64:62 arm64:aarch64:183; do
	IFS=: read -r arch machine elf <<<"$arch"
	deb=$release/xidscope_${version}_$arch.deb rpm=$release/xidscope-$version-1.$machine.rpm
	[[ -e $deb && -e $rpm ]] || die "$deb or $rpm is missing"
	mkdir "$dir/$machine"
	dpkg-deb -x "$deb" "$dir/$arch"
	(cd "$dir/$machine" && rpm2cpio "$rpm" | cpio -id --quiet)
	(cd "$dir/$arch" && differ)
	diff -r --no-dereference "$dir/$arch" "$dir/$machine" || die "$machine: the packages have other files, see above"
	diff <(modes "$dir/$arch") <(modes "$dir/$machine") || die "$machine: the packages have other modes, see above"
	[[ $(machine "$dir/$machine/usr/sbin/xidscope") == "$elf" ]] || die "$rpm has the program of another machine"
	! rpm -qp --qf '[%{FILEUSERNAME} %{FILEGROUPNAME}\n]' "$rpm" | grep -vx 'root root' || die "$rpm has files of others than root"
	[[ $(rpm -qp --configfiles "$rpm") == /etc/sysconfig/xidscope ]] || die "$rpm has other settings: $(rpm -qp --configfiles "$rpm")"
	! rpm -qp --requires "$rpm" | grep -vE '^(/bin/(ba)?sh|config\(xidscope\)|rpmlib\()' || die "$rpm needs more than shells, see above"
	epoch=$(rpm -qp --qf '%{BUILDTIME}' "$rpm")
	mkdir -p "$dir/another-folder/$machine"
	(umask 077 && TMPDIR="$dir/another-folder" TZ=Asia/Tokyo "$here/../../deploy/rpm.sh" "$deb" "$epoch" "$dir/again") >&2
	cmp "$rpm" "$dir/again/${rpm##*/}" || die "$rpm has other bytes when it is made again"
done

# ---- installed and removed ----
arch=$(dpkg --print-architecture)
machine=$(uname -m)
root=$dir/root
mkdir -p "$root"/{bin,dev,usr/bin,proc,tmp,etc,usr/lib/systemd/system-preset,usr/lib/systemd/system}
mknod -m 666 "$root/dev/null" c 1 3
cp "$(type -P busybox)" "$root/bin/sh"
# shellcheck disable=SC2046 # words
cp -L --parents $(ldd "$(type -P systemctl)" | grep -o '/[^ ]*') "$root"
cp "$(type -P systemctl)" "$root/usr/bin/"
echo 'disable *' >"$root/usr/lib/systemd/system-preset/99-default-disable.preset"
touch "$root/usr/lib/systemd/system/multi-user.target"
mount --bind /proc "$root/proc"

# A later version has other settings; both have other bytes.
dpkg-deb -R "$release/xidscope_${version}_$arch.deb" "$dir/later"
sed -i "s/^Version: .*/Version: $version+1/" "$dir/later/DEBIAN/control"
echo '# a comment of a later version' >>"$dir/later/etc/default/xidscope"
mv "$dir/later/usr/share/xidscope/grafana/node.json" "$dir/later/usr/share/xidscope/grafana/another.json"
dpkg-deb --root-owner-group -b "$dir/later" "$dir/xidscope_later.deb" >/dev/null
"$here/../../deploy/rpm.sh" "$dir/xidscope_later.deb" "$epoch" "$dir" >&2
cp "$release/xidscope-$version-1.$machine.rpm" "$dir/"

# What documented commands call: rpm may say only where it keeps settings.
# shellcheck disable=SC2317 # the commands call it
dnf() {
	ROOT=$root "$here/../vm/rpm/dnf" "$@" >"$dir/log" 2>&1 || die "'dnf $*' fails: $(<"$dir/log")"
	! grep -v '^warning: /etc/sysconfig' "$dir/log" >&2 || die "'dnf $*' says something, see above"
}
systemctl() { chroot "$root" systemctl --quiet "${@/--now/--no-reload}"; } # nothing runs there
# by SECTION N [LINE] [WORD=VALUE...]
by() {
	local commands
	commands=$("$here/../docs/commands.sh" "$1" "$2" "${@:4}")
	[[ ! $3 ]] || commands=$(sed -n "$3p" <<<"$commands")
	cd "$dir"
	eval "${commands//x86_64/$machine}" >&2
}
is_enabled() { chroot "$root" systemctl is-enabled xidscope 2>&1; }
installed() { [[ $(chroot "$root" /usr/sbin/xidscope version) == "xidscope $version" && $(rpm --root "$root" -q xidscope) == xidscope-$1-1.$machine ]]; }
# listing: all but RPM's database (Debian's rpm has it in /root) and folders that others have.
listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./root/.rpmdb \) -prune -o \( ! -type d -o -name '*xidscope*' \) -printf '%p %m %l\n' | sort); }
settings=$root/etc/sysconfig/xidscope
listing >"$dir/before"
by 'RHEL, Rocky, Alma' 1 1 "VERSION=$version"
installed "$version" || die "the package is not installed"
[[ $(is_enabled) == disabled ]] || die "the service is $(is_enabled) against the preset of RHEL"
by 'RHEL, Rocky, Alma' 1 2,3 "VERSION=$version" "DIRECTORY=/srv/text" "/etc=$root/etc"
[[ $(is_enabled) == enabled ]] || die "the service is $(is_enabled)"
rpm --root "$root" -V --nodeps xidscope >"$dir/changed" || [[ $(<"$dir/changed") == *' c /etc/sysconfig/xidscope' ]] || die "files are not those of the package: $(<"$dir/changed")"

by 'Upgrade and rollback' 4 1 "VERSION=$version+1" "OLDER=$version"
installed "$version+1"
[[ $(tail -n 1 "$settings") == XIDSCOPE_TEXTFILE=/srv/text && $(tail -n 1 "$settings.rpmnew") == '# a comment of'* ]] || die "a setting is lost at an upgrade"
[[ $(is_enabled) == enabled && ! -e $root/usr/share/xidscope/grafana/node.json && -e $root/usr/share/xidscope/grafana/another.json ]]
rm "$settings.rpmnew"
by 'Upgrade and rollback' 4 2 "VERSION=$version+1" "OLDER=$version"
installed "$version"
[[ $(tail -n 1 "$settings") == XIDSCOPE_TEXTFILE=/srv/text && $(is_enabled) == enabled && ! -e $root/usr/share/xidscope/grafana/another.json ]] || die "a setting is lost at a rollback"

by 'Uninstall' 5 ''
[[ $(tail -n 1 "$settings.rpmsave") == XIDSCOPE_TEXTFILE=/srv/text ]] || die "changed settings are lost when the package is removed"
rm "$settings".*
listing >"$dir/after"
diff "$dir/before" "$dir/after" || die "removing the package leaves something, see above"
echo "the RPMs have the files of the Debian packages, and the same bytes again; one is installed, upgraded, downgraded and removed"
