# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The part of cluster.sh about a real node: guest.sh, with the real image and NFS.
# shellcheck shell=bash disable=SC2154 # the variables and functions of cluster.sh

mkdir job storage
storage=(--root "$work/storage/root" --runroot "$work/storage/run" --storage-driver vfs)
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >policy
tools() { buildah "${storage[@]}" "$@"; }
box=$(tools from scratch) && tools copy "$box" "$busybox" /bin/busybox &&
	tools config --entrypoint '["/bin/busybox", "sleep", "1000000"]' "$box" &&
	tools commit --signature-policy policy "$box" "oci-archive:job/tools.tar:localhost/tools:1"
"$root/deploy/container/build.sh" job/xidscope.tar "$root/build/xidscope"
version=$("$root/build/xidscope" version) version=${version##* }
"$deploy/render.sh" kubectl "localhost/xidscope:$version" "$version" manifests
cp "$here/guest.sh" job/run.sh
cp "$(type -P kubelet)" job/
sed 's/127.0.0.1/10.0.2.2/' system:node:guest >job/access
# The API server asks the kubelet at the node's address.
ip route replace local 10.0.2.15 dev lo table local src 127.0.0.1
TMPDIR=$work "$root/tests/vm/boot.sh" --kernel 6.1 --job job --out out --timeout 1800 --memory 3072 --forward 10250 \
	--image kubelet --packages "$here/rootfs.packages" >guest.log 2>&1 &
guest=$!
sees_end() { ! kill -0 "$guest" || has_ready 1; }
within 600 sees_end && kill -0 "$guest"
claim "a kubelet in a guest joins"

# A pod that is the node's root, to act there.
kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: {name: root}
spec:
  hostPID: true
  hostNetwork: true
  tolerations: [{operator: Exists}]
  containers:
    - {name: root, image: localhost/tools:1, securityContext: {privileged: true}, volumeMounts: [{name: node, mountPath: /node}]}
  volumes: [{name: node, hostPath: {path: /}}]
END
kubectl wait --for=condition=Ready pod/root --timeout=300s
claim "it runs a pod"
node() { kubectl exec root -- /bin/busybox chroot /node /bin/bash -c "$1"; }
file() { node 'pkill -HUP -x xidscope; sleep 3; cat /var/lib/node_exporter/textfile/xidscope.prom'; }
sum() { file | awk -v labels="$*" '{ n = split(labels, l, " "); for (i = 1; i <= n; i++) if (!index($1, l[i])) next; total += $NF } END { printf "%d\n", total }'; }
started() { x rollout status daemonset/xidscope --timeout=300s && within 120 node 'test -s /var/lib/node_exporter/textfile/xidscope.prom'; }

documented 'Kubernetes' 2 && started
claim "the image that was imported runs as the DaemonSet has it"
x logs daemonset/xidscope | grep '^{"time":.*"attached'
claim "logs shows what is attached"
documented 'Kubernetes' 3
claim "exec: check and trace answer from within"

kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers:
    - name: train
      image: localhost/tools:1
      command: [/bin/busybox, dd, if=/dev/zero, of=/data/file, bs=1M, count=4, conv=fsync]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, hostPath: {path: /mnt/data}}]
END
finished() { is "$(kubectl get pod train -o 'jsonpath={.status.phase}')" Succeeded; }
within 300 finished && sent=$(sum xidscope_nfs_owner_sent_bytes_total 'owner="pod:default/train"' 'kind="write"') && echo "$sent" &&
	((sent >= 4 << 20 && sent < (4 << 20) * 101 / 100))
claim "the bytes that a pod writes are the pod's, by the groups that a kubelet makes"

kill "$guest"
wait "$guest"
:
