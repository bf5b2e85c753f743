# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The part of cluster.sh about a real node: guest.sh, with the real images, NFS and the test driver.
# shellcheck shell=bash disable=SC2154,SC2016 # the variables and functions of cluster.sh; what the guest expands

mkdir job storage www
storage=(--root "$work/storage/root" --runroot "$work/storage/run" --storage-driver vfs)
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >policy
b() { buildah "${storage[@]}" "$1" ${policy:+--signature-policy policy} "${@:2}"; }
box=$(b from scratch) && b copy "$box" "$busybox" /bin/busybox && b config --entrypoint '["/bin/busybox", "sleep", "1000000"]' "$box"
policy=1
b commit "$box" localhost/tools:1
"$root/deploy/container/build.sh" job/xidscope-oci.tar "$root/build/xidscope"
version=$("$root/build/xidscope" version) version=${version##* }
b push localhost/tools:1 oci-archive:job/tools.tar:localhost/tools:1
"$deploy/render.sh" kubectl "localhost/xidscope:$version" "$version" manifests
cp "$drivers/tracepoint/nvidia.ko" "$root/build/xidscope" job/
cp "$here/guest.sh" job/run.sh
cp "$(type -P kubelet)" job/
sed 's/127.0.0.1/10.0.2.2/' system:node:guest >job/access
# The API server asks the kubelet at the node's address.
ip route replace local 10.0.2.15 dev lo table local src 127.0.0.1
TMPDIR=$work "$root/tests/vm/boot.sh" --kernel 6.1 --job job --out out --timeout 5400 --memory 3072 --resets --forward 10250 --forward 10222 --forward 9100 \
	--image kubelet --packages "$here/rootfs.packages" >guest.log 2>&1 &
guest=$!
b pull "oci-archive:$base" && b pull oci-archive:job/xidscope-oci.tar
box=$(b from --pull-never localhost/kubectl:1) && policy='' b copy "$box" "$here/npd" /node-problem-detector && b commit "$box" localhost/npd:1
b build --pull-never --build-arg NPD=localhost/npd:1 --build-arg "XIDSCOPE=localhost/xidscope:$version" \
	--tag "localhost/node-problem-detector-xidscope:$version" "$root/deploy/npd"
b push -D "localhost/node-problem-detector-xidscope:$version" "oci:images:localhost/node-problem-detector-xidscope:$version"
served=$(sed -n 's/^ *image: //p' "$deploy/overlays/scraped/scraped.yaml")
box=$(b from --pull-never localhost/kubectl:1) && policy='' b copy "$box" "$exporter" /bin/node_exporter && policy='' b config --entrypoint '["/bin/node_exporter"]' --cmd '' "$box" &&
	b commit "$box" "$served" && b push "$served" "oci:images:$served"
tar -C images -cf www/images.tar . && rm -rf storage images
"$busybox" httpd -p 127.0.0.1:8080 -h www
# node COMMAND: as root of the node.
node() {
	local answer
	answer=$'\n'$("$busybox" wget -qO - --post-data "$1" http://127.0.0.1:10222/cgi-bin/run)
	set -- "${answer##*$'\n'}" "${answer%$'\n'*}"
	[[ ! $2 ]] || echo "${2#?}"
	return "${1:-1}"
}
sees_end() { ! kill -0 "$guest" || has_ready 1; }
(within 600 sees_end && kill -0 "$guest") || ! tail -n 5 guest.log
claim "a kubelet in a guest joins"

metrics=/var/lib/node_exporter/textfile/xidscope.prom
# What the agent has read since it was asked: it may be writing then what it read before.
ask="for turn in 1 2; do touch /run/asked; pkill -HUP -xo xidscope; for i in {1..50}; do [[ $metrics -nt /run/asked ]] && break; sleep 0.2; done; done"
file() { node "$ask; cat $metrics"; }
sum() { file | awk -v labels="$*" '{ n = split(labels, l, " "); for (i = 1; i <= n; i++) if (!index($1, l[i])) next; total += $NF } END { printf "%d\n", total }'; }
sums() { is "$(sum "${@:2}")" "$1"; }
started() { x rollout status daemonset/xidscope --timeout=600s && within 600 node "test -s $metrics"; }
xid() { # ADDRESS NUMBER PID
	node "printf 'xid %s %d text\tNVRM: Xid (PCI:%s): %d, pid=%d, name=x, text\n' $1 $2 ${1%.0} $2 $3 >/proc/xidscope-driver"
}
counted() { sums "$1" "xid_errors_total" "gpu=\"0000:$2\"" "xid=\"$3\""; }
# What BPF has, and what is in the node's folders; each container has a program for its devices.
traces() {
	node 'bpftool prog show | grep -o " name [^ ]*" | sort; ls -d /sys/fs/bpf/*
		find / /run -xdev -name "*xidscope*" | grep -vE "^/(job|node|var/lib/containerd|var/log|run/containerd)/"'
	kubectl get node guest -o 'jsonpath={.status.conditions[*].type}'
}
traces >before

documented 'Kubernetes' 2 && started
claim "the image that was imported runs as the DaemonSet has it"
x logs daemonset/xidscope | grep '^{"time":.*"attached'
claim "logs shows what is attached"
documented 'Kubernetes' 3 >exec.out 2>&1 & # a minute
exec_block=$!
node 'curl -s http://10.0.2.2:8080/images.tar | ctr -n k8s.io images import -' &
import=$!

exporter localhost/tools:1 | kubectl apply -f - && kubectl rollout status daemonset/node-exporter --timeout=300s &&
	kubectl exec daemonset/node-exporter -- /bin/busybox grep '^xidscope_build_info' /host/textfile/xidscope.prom &&
	! kubectl exec daemonset/node-exporter -- /bin/busybox touch /host/textfile/x
claim "node_exporter's lines give it the file, read-only"
kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - name: train
      image: localhost/tools:1
      command: [/bin/busybox, sh, -c, "/bin/busybox dd if=/dev/zero of=/data/file bs=1M count=4 conv=fsync; exec /bin/busybox sleep 4711"]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, hostPath: {path: /mnt/data}}]
END
within 300 node 'pgrep -f "^/bin/busybox sleep 4711"' && sent=$(sum xidscope_nfs_owner_sent_bytes_total 'owner="pod:default/train"' 'kind="write"') && echo "$sent" &&
	((sent >= 4 << 20 && sent < (4 << 20) * 101 / 100))
claim "the bytes that a pod writes are the pod's, by the groups that a kubelet makes"
# Each pod has a mount of its own, for more than an interval, below a folder with the pod's UID. NFSv3, as kubelet's own client: not the superblock of /mnt/data.
turns=4
kubectl apply -f - <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: shared}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany], mountOptions: [vers=3, nolock], nfs: {server: 127.0.0.1, path: /export}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteMany], storageClassName: "", volumeName: shared, resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: turns}
spec:
  completions: $turns
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      hostNetwork: true
      containers:
        - name: turn
          image: localhost/tools:1
          command: [/bin/busybox, sh, -c, "/bin/busybox dd if=/dev/zero of=\$(/bin/busybox mktemp /data/turn.XXXXXX) bs=64k count=16 conv=fsync; exec /bin/busybox sleep 20"]
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
END
turned() { is "$(kubectl get job turns -o 'jsonpath={.status.succeeded}')" "$turns"; }
mountpoints() { file | grep -o 'mountpoint="[^"]*"' | sort -u | xargs; }
within 900 turned && is "$(mountpoints)" "mountpoint= mountpoint=/mnt/data mountpoint=pv:shared" &&
	sent=$(sum xidscope_nfs_mount_sent_bytes_total 'mountpoint="pv:shared"' 'kind="write"') && echo "$sent" &&
	((sent >= turns << 20 && sent < (turns << 20) * 101 / 100))
claim "pods that come and go share the series of their claim's volume, with all of their bytes"
file | grep '^xidscope_rpc_op_calls_total' >calls && grep 'server="127.0.0.1"' calls && ! grep 'server="[^"]*@' calls
claim "hostPID: servers have plain names"
! node 'ss -lntupH' | grep xidscope
claim "hostNetwork: the agent opens no port"
wait "$exec_block"
status=$? && cat exec.out && ((status == 0)) && grep '127\.0\.0\.1' exec.out
claim "exec: check and trace answer from within"

# The stand-in runs kubectl, for which an emulated CPU takes minutes within the limit of the real one.
wait "$import" && kubectl apply -f manifests/npd.yaml &&
	x set resources daemonset/xidscope-npd --limits=cpu=1 --requests=cpu=500m && x rollout status daemonset/xidscope-npd --timeout=300s
claim "the image of node-problem-detector, built as its page says, runs"
may() { kubectl auth can-i --as=system:serviceaccount:xidscope:xidscope-npd "$@"; }
may patch nodes --subresource=status && may create events -n default && ! may patch nodes && ! may delete pods -n xidscope && ! may get secrets -n xidscope
claim "node-problem-detector may write conditions and events, and neither taints nor anything else"

condition_is() { is "$(kubectl get node guest -o 'jsonpath={.status.conditions[?(@.type=="GpuOrNfsFault")].status}')" "$1"; }
within 600 condition_is False
claim "node-problem-detector sets the condition to False"
xid 0000:c1:00.0 79 "$(node 'pgrep -f "^/bin/busybox sleep 4711"')"
begun=$SECONDS
within 60 condition_is True
claim "an Xid is in the node's condition within a minute ($((SECONDS - begun)) s)"
node "grep '\"xid\":79.*default/train' /var/lib/xidscope/events || { tail -n 5 /var/lib/xidscope/events && false; }"
claim "the event log names the pod of the process that the Xid names"
plugin() { x exec daemonset/xidscope-npd -- /usr/local/sbin/xidscope check --style npd; }
ack() { x exec daemonset/xidscope -- /xidscope ack "$@"; }
refused() { ! plugin; }
refused && ack c1:00.0 79 && within 60 plugin && node 'grep 79 /var/lib/xidscope/etc/acks' && ack --remove c1:00.0 79 && within 60 refused
claim "an acknowledgement counts, and stands on the node's disk"
node 'rmmod nvidia; insmod /job/nvidia.ko' && within 90 condition_is False
claim "recovery, by a reload of the driver: the condition is False"

kubectl delete -f manifests/npd.yaml
body=$(sed -n "s/.*--subresource=status -p '\(.*\)'$/\1/p" "$deploy/README.md") # kubectl 1.20 does not have this option
"$here/kubelets.py" 127.0.0.1:6443 "$admin" patch "$body" guest && condition_is ""
claim "the condition is removed, as the README says"

probed() { kubectl get --raw /api/v1/nodes/guest/proxy/metrics/probes | grep 'prober_probe_total.*container="xidscope".*'; }
restarts() { x get pods -l app.kubernetes.io/name=xidscope -o 'jsonpath={.items[*].status.containerStatuses[0].restartCount} {.items[*].status.containerStatuses[0].ready}'; }
probed && probed | grep 'result="successful"' && ! probed | grep 'result="failed"' && is "$(restarts)" "0 true"
claim "the liveness probe passes, with a fault as well"
node 'cd /sys/fs/cgroup$(cut -d: -f3 /proc/$(pgrep -xo xidscope)/cgroup) && cat memory.current memory.peak' >memory
used=$(awk '{ mb[NR] = $1 / 1e6 } END { printf "%.1f MB, at most %.1f MB", mb[1], mb[2]; exit !(mb[1] < 48 && mb[2] < 96) }' memory)
claim "the pod's memory, with a trace in it: $used"

node 'cd /mnt/data; until [ -e /run/stop ]; do dd if=/dev/urandom of=load bs=64k count=4 conv=fsync && dd if=load of=/dev/null iflag=direct bs=64k || exit
	printf "xid 0000:c2:00.0 31 text\tNVRM: Xid (PCI:0000:c2:00): 31, pid=1, name=x, text\n" >/proc/xidscope-driver; n=$((n + 1)); sleep 0.5; done 2>/dev/null; echo $n' >load.out &
load=$!
sleep 5
x rollout restart daemonset/xidscope && started
node 'touch /run/stop'
wait "$load" && cat load.out && within 60 counted "$(<load.out)" c2:00.0 31
claim "rollout restart under NFS load: no call fails, and each Xid is counted once"
rows() { node "$ask
	awk '/^xidscope_rpc_op_calls_total.*op=\"(READ|WRITE)\"/ { n += \$NF } END { print n }' $metrics; awk '\$1 ~ /^(READ|WRITE):/ { n += \$2 } END { print n }' /proc/self/mountstats"; }
{ rows && node 'dd if=/dev/urandom of=/mnt/data/load bs=64k count=100 conv=fsync' && rows; } >numbers
is "$(awk '{ n[NR] = $1 } END { print n[3] - n[1] - n[4] + n[2], (n[3] > n[1]) }' numbers)" "0 1"
claim "and from its start on the new agent counts each call, as mountstats does"
# The drill, by the runbook's functions, but for `kubectl debug`: the guest does not have its image.
# shellcheck disable=SC2034 # theirs
NODE=guest
eval "$("$root/tests/docs/runbook.sh" functions Kubernetes)"
host() { node "${*@Q}"; }
drill() { eval "$("$root/tests/docs/commands.sh" "$@" ADDRESS=00000000:C3:00.0)"; }
check_says() { # how often it names the GPU
	on xidscope check >checked
	grep '^XIDSCOPE [OWC]' checked && is "$(sed 's/([0-9]* acknowledged: [^)]*)//' checked | grep -c c3:00.0)" "$1"
}
drill 'Is it on?' 4 && within 120 check_says 1 && drill 'Is it on?' 5 && x rollout status daemonset/xidscope --timeout=300s && within 120 check_says 0 &&
	node 'tr "\0" " " </proc/$(pgrep -xo xidscope)/cmdline' >line && grep ' run ' line && ! grep accept-user-kmsg line
claim "the drill: check names the GPU until it is acknowledged"
settings() {
	node 'findmnt -rno TARGET,SOURCE,FSTYPE,OPTIONS; grep -rs . /proc/sys/sunrpc /proc/sys/vm /proc/sys/net/ipv4 /sys/module/*nfs*/parameters /sys/module/sunrpc/parameters; ip -o link'
	kubectl get nodes -o 'jsonpath={.items[*].spec}'
}
looks() { # those in the pod: of check the status is the verdict's
	local command status
	settings >looks.before
	while read -r command; do
		status=0
		eval "${command/--duration [36]0/--duration 3}" </dev/null >printed 2>&1 || status=$?
		[[ -s printed && ($status == 0 || ($command == *check* && $status -lt 3)) ]] || { echo "$status: $command" && return 1; }
	done < <("$root/tests/docs/runbook.sh" look | grep -E '^(on|agent)\b' | sort -u)
	settings >looks.after
	diff looks.before looks.after
}
# shellcheck disable=SC2034 # theirs
XID=31 SXID=20034
looks
claim "what the runbook looks at in the pod is printed, and changes nothing"

kubectl create namespace monitoring
kubectl apply -f manifests/kube-prometheus-stack.yaml
second() { kubectl -n monitoring get pods -o 'jsonpath={.items[*].status.containerStatuses[0]}' | grep '"exitCode":3'; }
within 120 second
claim "two agents cannot write one file: the second ends with status 3"
# Its container, which is started again and again, can have the file before the one that comes next.
left() { ! kubectl -n monitoring get pods -o name | grep .; }
kubectl delete -f manifests/kube-prometheus-stack.yaml && within 120 left && kubectl apply -f manifests/xidscope.yaml
left_none() { ! x get pods -o name | grep .; }
no_file() { node "! test -e $metrics"; }
unattached() { file >now && grep 'xidscope_rpc_source{source="btf"} 1' now && is "$(grep '^xidscope_hook_attached.* 0$' now | cut -d '"' -f 2 | sort | xargs)" "$1"; }
within 60 unattached ""
claim "all hooks of the base are attached"
kubectl delete -f manifests/xidscope.yaml && within 60 no_file
claim "a clean stop removes the metrics file"
kubectl apply --validate=false -f manifests/least-privilege.yaml && started && within 60 unattached kernel_log
claim "the variant with least privileges: of the hooks the kernel log alone is missing"
xid 0000:c2:00.0 31 1 && within 60 counted "$(($(<load.out) + 1))" c2:00.0 31
claim "it counts an Xid"
kubectl delete -f manifests/least-privilege.yaml && within 60 no_file
within 120 left_none &&
	sed 's/^\( *- \)2m$/\130s/; s/initialDelaySeconds: 60/initialDelaySeconds: 90/; s/PeriodSeconds: 120/PeriodSeconds: 10/; s/periodSeconds: 60/periodSeconds: 5/' manifests/xidscope.yaml |
	kubectl apply -f - && started && within 60 unattached "" && counted "$(($(<load.out) + 1))" c2:00.0 31
claim "and back: the base goes on from its counts"
was=$(restarts)
node 'pkill -STOP -xo xidscope'
restarted() { [[ $(restarts) == [1-9]*" true" && $(restarts) != "$was" ]]; }
within 600 restarted && x get events | grep 'Liveness probe failed' && within 60 counted "$(($(<load.out) + 1))" c2:00.0 31
claim "an agent that is stopped is restarted, and goes on from its counts (with shorter times of the probe)"

kubectl delete -f manifests/xidscope.yaml && within 120 no_file
# shellcheck source=/dev/null
. "$here/scraped.sh"
within 120 left_none && kubectl apply -f manifests/xidscope.yaml && started
claim "and back: the base starts on the rebooted node"

same() { traces >after && diff before after; }
kubectl delete namespace monitoring && kubectl delete pod train --grace-period=1 && kubectl delete daemonset node-exporter
documented 'Uninstall' 3 && { within 120 no_file || { echo "$metrics is left" && false; }; } && node "$("$root/tests/docs/commands.sh" 'Uninstall' 4)" && within 60 same
claim "delete leaves nothing: no program, pinned map, file or condition"

kill "$guest"
wait "$guest"
:
