#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves, in a folder instead of /, that after an upgrade and after a rollback by the tarball or by `make install` the files
# are those of the version installed last; that uninstall.sh removes all of them, and fault counts, acknowledgements and settings on request
# alone, then or later by the command that it prints.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# A later version has two files more, and one less.
mkdir later root
cp -r "$top"/{README.md,SECURITY.md,CHANGELOG.md,LICENSE,LICENSES,docs,deploy} later/
this=$("$program" version | sed 's/.* //')
sed -i "s/^## \[$this]/## [$this.1]/" later/CHANGELOG.md
echo text | tee later/deploy/prometheus/more.yaml >later/deploy/slurm/xidscope-more
chmod +x later/deploy/slurm/xidscope-more
rm later/deploy/grafana/node.json

for source in "$top" later; do "$source/deploy/tarball.sh" "$top/build" "xidscope-${source##*/}-amd64.tar.gz" || exit; done

files() { (cd root && find . -type f | sort); }
# unpacked SOURCE, installed SOURCE [ROOT]: its version, over what is there, as docs/DEPLOY.md says.
unpacked() {
	bash -e <("$top/tests/docs/commands.sh" 'Upgrade and rollback' 2 "-C /=-C root" "VERSION=${1##*/}" \
		"sh /=sh root/" "--others=--others /usr/local root" systemctl=:) || fail "the commands of an upgrade fail"
}
installed() { "$1/deploy/install.sh" "$top/build" "$dir/${2:-root}" /usr/local /etc /usr/local/lib/systemd/system; }
uninstall() { sh root/usr/local/share/xidscope/uninstall.sh "$@" /usr/local root; }
for way in unpacked installed; do
	for version in "$top" later; do
		rm -rf root
		mkdir root
		$way "$version"
		mv root "alone-${version##*/}"
	done
	mkdir root
	for version in "$top" later "$top" "$top"; do
		$way "$version"
		diff -r "alone-${version##*/}" root >differ || fail "$way: after a change to ${version##*/} $(<differ)"
	done
	rm -r alone-*
done
for file in LICENSE README.md SECURITY.md docs/trace.schema.json; do
	[[ -e root/usr/local/share/xidscope/$file ]] || fail "no $file is installed"
done
pages=0
while read -r page; do
	pages=$((pages + 1))
	while read -r link; do
		[[ -e $(dirname "$page")/${link%%#*} ]] || fail "$page links to $link, which is not installed"
	done < <(grep -oE '\]\([^):#][^):]*\)' "$page" | sed 's/^](//; s/)$//')
done < <(find root -name '*.md')
((pages >= 20)) || fail "only $pages pages are installed"

# Another build of the same version.
cp later/deploy/prometheus/more.yaml root/usr/local/share/xidscope/prometheus/
echo /usr/local/share/xidscope/prometheus/more.yaml >>"root/usr/local/share/xidscope/installed-$this"
installed "$top"
! files | grep -e more -e before || fail "a file of another build of this version is left"

# Whatever the caller's umask is, everybody may read what is installed, and root alone may change what uninstall.sh will remove.
for mask in 000 077; do
	mkdir masked
	(umask $mask && installed "$top" masked)
	wrong=$(find masked \( -perm /022 -o ! -perm -444 \))
	[[ ! $wrong ]] || fail "installed with umask $mask: $wrong"
	rm -rf masked
done

# Files of a version that nobody cleaned up after are removed with the rest.
for archive in xidscope-*.tar.gz; do tar -C root -xzf "$archive"; done
mkdir -p root/{var/lib,etc,run}/xidscope
touch root/var/lib/xidscope/state root/etc/xidscope/acks root/run/xidscope/health.json
for wrong in --bogus --others=no; do
	! uninstall $wrong 2>errors || fail "$wrong is accepted"
done
[[ -e root/usr/local/sbin/xidscope && -e root/var/lib/xidscope/state ]] || fail "a wrong option removes files"
uninstall >said
[[ $(files) == ./etc/default/xidscope$'\n'./etc/xidscope/acks$'\n'./var/lib/xidscope/state ]] || fail "uninstalled, there is: $(files)"
bash -e <(sed -n 's/.*to remove them: //p' said)
[[ ! $(files) ]] || fail "the printed command leaves $(files)"

# On request at once, also where settings are in another folder.
make --no-print-directory -C "$top" install DESTDIR="$dir/root" SYSCONFDIR=/opt/etc || fail "make install fails"
mkdir -p root/{var/lib/xidscope,etc/xidscope,etc/systemd/system/xidscope.service.d}
touch root/var/lib/xidscope/state root/etc/xidscope/acks root/etc/systemd/system/xidscope.service.d/override.conf
[[ -e root/opt/etc/default/xidscope ]] || fail "no settings are installed"
make --no-print-directory -C "$top" uninstall STATE=remove DESTDIR="$dir/root" SYSCONFDIR=/opt/etc || fail "make uninstall fails"
[[ ! $(files) && ! -e root/usr/local/share/xidscope ]] || fail "with its state uninstalled, there is: $(files)"

((failed)) || echo "after upgrades and rollbacks no file of another version is left; uninstalled, none at all"
exit $failed
