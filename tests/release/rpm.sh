#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the RPMs have the files of the Debian packages but for the differences named here, and the same bytes if they are
# made again. tests/vm/rpm installs, upgrades and removes one.
# rpm.sh RELEASE VERSION     RELEASE: the folder of `make release`, or one with both packages
set -euo pipefail
here=$(realpath "$(dirname "$0")")
release=$(realpath "$1") version=$2
# shellcheck disable=SC2034 # for need
deps='deps-release'
. "$here/../vm/lib.sh"
need rpmbuild rpmlint rpm2cpio cpio dpkg-deb
dir=$(mktemp -d "${TMPDIR:-/tmp}/xidscope-rpm-check.XXXXXX")
trap 'rm -rf "$dir"' EXIT
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

echo "the RPMs have the files of the Debian packages, and the same bytes again"
