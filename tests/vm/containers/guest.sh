#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Proves that the calls of a container are its own, by name, with the groups and files that its runtime makes: podman and docker with
# the drivers systemd and cgroupfs, containerd as nerdctl and ctr use it, LXC and systemd-nspawn, or by a variable of its environment;
# that a container in a job's group, or without one as those of Apptainer and Enroot, is the job's; and a user's own is the user's.
set -Eeuo pipefail
cd /job
. ./systemd-lib.sh
declare -A owners=()
size=$((4 << 20))
slow_machine

step "the agent and the runtimes start"
mkdir -p tree/bin tree/{data,dev,etc,proc,run,sys,tmp,usr} /etc/docker /var/lib/lxc/lxc-1
cp busybox tree/bin/
touch tree/etc/os-release
tar -C tree -cf tree.tar .
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n' >/etc/containers/storage.conf
docker_start() { # DRIVER DATA
	printf '{"storage-driver": "vfs", "bridge": "none", "iptables": false, "exec-opts": ["native.cgroupdriver=%s"], "data-root": "%s"}\n' "$@" >/etc/docker/daemon.json
	systemctl restart docker
	wait_for 60 docker import tree.tar t:1 >/dev/null
}
systemctl daemon-reload
systemctl start dbus systemd-machined
nfs_server_start
nfs_mount 4.2 '' /mnt/data
dd if=/dev/zero of=/export/read bs=$size count=1 status=none
chmod 666 /export/read
echo 'XIDSCOPE_OPTIONS=--owner-env ABSENT,RUN' >/etc/default/xidscope
systemctl start xidscope
wait_for 60 source_is "$btf"

# What each container does.
cat >work <<'END'
set -e
/bin/busybox dd if=/dev/zero of=/data/$1 bs=64k count=$(($2 / 65536)) conv=fsync
/bin/busybox dd if=/data/read of=/dev/null bs=64k iflag=direct
[ ! "$RUN" ] || exec /bin/busybox sleep 1000
case $1 in web*) exec /bin/busybox sleep 20 ;; esac # containerd has the name while it runs
END
cp work /export/
# whole OWNER: whether it has all bytes, as it has once it is named and has ended.
whole() {
	refresh
	for kind in 'sent write' 'received read'; do
		moved=$(sum "xidscope_nfs_owner_${kind% *}_bytes_total" "owner=\"$1\"" "kind=\"${kind#* }\"") || return 1
		echo "$kind $moved"
		((moved >= size * owners[$1] && moved * 100 < size * owners[$1] * 101)) || return 1
	done
}
# calls_of OWNER NAME COMMAND...: runs it, with NAME for the work.
calls_of() {
	step "$1: ${*:3:3}"
	owners[$1]=$((${owners[$1]:-0} + 1))
	"${@:3}" /bin/busybox sh /data/work "$2" $size 2>"out/$2.log" >&2 || { cat "out/$2.log" && false; }
	wait_for 60 whole "$1"
}
podman import tree.tar localhost/t:1 >/dev/null 2>&1
data=(--network none -v /mnt/data:/data)
calls_of container:kept kept podman run --name kept "${data[@]}" localhost/t:1
calls_of container:brief brief podman --cgroup-manager cgroupfs run --name brief "${data[@]}" localhost/t:1
podman --cgroup-manager cgroupfs pod create --name pod --infra=false >/dev/null
calls_of container:in-pod in-pod podman --cgroup-manager cgroupfs run --pod pod --name in-pod "${data[@]}" localhost/t:1
options=("${data[@]}" --security-opt apparmor=unconfined)
docker_start systemd /var/lib/docker
calls_of container:train_1.a train docker run --name train_1.a "${options[@]}" t:1
docker_start cgroupfs /srv/docker
calls_of container:fs fs docker run --name fs "${options[@]}" t:1
calls_of env:RUN=exp_7 env docker run -d --rm -e "RUN=exp 7" -e OTHER=1 --name env "${options[@]}" t:1
docker kill env >/dev/null
calls_of slurm:4711 job docker run -e ABSENT=1 --name job --cgroup-parent /system.slice/slurmstepd.scope/job_4711/step_0 "${options[@]}" t:1
calls_of container:my-box nspawn systemd-nspawn -q -M my-box -D tree --bind=/mnt/data:/data
printf '%s\n' 'lxc.rootfs.path = dir:/job/tree' 'lxc.uts.name = lxc-1' 'lxc.net.0.type = empty' 'lxc.apparmor.profile = unconfined' \
	'lxc.mount.entry = /mnt/data data none bind 0 0' >/var/lib/lxc/lxc-1/config
calls_of container:lxc-1 lxc lxc-start -F -n lxc-1 --
mkdir '/var/lib/lxc/box 2'
sed 's/= lxc-1/= box2/' /var/lib/lxc/lxc-1/config >'/var/lib/lxc/box 2/config'
calls_of container:box_2 blank lxc-start -F -n 'box 2' --
docker rm fs >/dev/null
calls_of container:fs again docker run --name fs "${options[@]}" t:1
calls_of container:by-runc by-runc podman --runtime runc run --name by-runc "${data[@]}" localhost/t:1
podman pod create --name pod-2 --infra=false >/dev/null
calls_of container:in-pod-2 in-pod-2 podman run --pod pod-2 --name in-pod-2 "${data[@]}" localhost/t:1
calls_of container:quadlet quadlet systemd-run -q --wait -p Delegate=yes --unit train podman run --cgroups split --name quadlet "${data[@]}" localhost/t:1

# by_ctr NAMESPACE ID OPTIONS COMMAND...: by containerd's own program, with the groups and the member that nerdctl has.
by_ctr() {
	# shellcheck disable=SC2086 # words
	ctr -n "$1" run --rm --rootfs --mount type=bind,src=/mnt/data,dst=/data,options=rbind:rw $3 /job/tree "$2" "${@:4}"
}
systemctl start containerd
printf -v id '%060x' 5
calls_of group:default/plain plain by_ctr default plain ''
calls_of container:web.1 web by_ctr default "${id}54a1" '--annotation nerdctl/name=web.1'
calls_of container:web.2 web-2 by_ctr prod "${id}54a2" "--annotation nerdctl/name=web.2 --runc-systemd-cgroup --cgroup system.slice:nerdctl:${id}54a2"
calls_of container:000000000000 bare by_ctr prod "${id}54a3" ''

mkdir -p /var/lib/machines /etc/systemd/nspawn
cp -r tree /var/lib/machines/box-2
by_machine() {
	printf '%s\n' '[Exec]' Boot=no PrivateUsers=no "Parameters=$*" '[Files]' Bind=/mnt/data:/data '[Network]' VirtualEthernet=no >/etc/systemd/nspawn/box-2.nspawn
	machinectl start box-2
}
calls_of container:box-2 machine by_machine

# in_job JOB COMMAND...: runs it in a step of the job.
in_job() (
	group=/sys/fs/cgroup/system.slice/slurmstepd.scope/job_$1
	mkdir -p "$group/step_0"
	echo +memory >"$group/cgroup.subtree_control"
	echo "$BASHPID" >"$group/step_0/cgroup.procs"
	exec "${@:2}"
)
calls_of slurm:4712 split in_job 4712 podman --cgroup-manager cgroupfs run --cgroups split --name split "${data[@]}" localhost/t:1
calls_of slurm:4713 none in_job 4713 podman run --cgroups disabled --name none "${data[@]}" localhost/t:1
# Apptainer and Enroot make namespaces, but no group.
calls_of slurm:4714 enroot in_job 4714 unshare -Urmpf sh -c 'mount --rbind /mnt/data tree/data && mount --rbind /dev tree/dev && exec chroot tree "$@"' -

useradd -m -u 1000 -s /bin/sh person
grep -q person /etc/subuid || echo person:100000:65536 | tee -a /etc/subuid >>/etc/subgid
systemctl start user@1000
by_user() { setpriv --reuid 1000 --regid 1000 --init-groups env -C / HOME=/home/person XDG_RUNTIME_DIR=/run/user/1000 \
	DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus podman "$@"; }
cp tree.tar /home/person/
by_user import /home/person/tree.tar localhost/t:1 >/dev/null
calls_of user:1000 rootless by_user run --name rootless "${data[@]}" localhost/t:1

step "all add up"
for name in calls sent_bytes received_bytes; do
	ours=$(sum "xidscope_nfs_owner_${name}_total")
	theirs=$(sum "xidscope_rpc_${name/calls/op_calls}_total" 'server="127.0.0.1"')
	echo "$name: $ours of the owners, $theirs of the server"
	((ours == theirs))
done
! grep -E 'owner="(group|unit):([^"]*[0-9a-f]{64}|lxc|machine)' "$output"
