#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A node: containerd and a kubelet of the control plane outside, the test driver and an NFS mount. node.sh, outside, does the
# rest, by pods, and ends it.
set -Eeuo pipefail
cd /job
. /vm/guest-lib.sh
modprobe virtio_net
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
modprobe -a overlay veth
mount --make-rshared / # as systemd does
insmod nvidia.ko
# In the place of kube-proxy: the address of the API for pods.
iptables -t nat -A PREROUTING -d 10.96.0.1 -p tcp --dport 443 -j DNAT --to 10.0.2.2:6443
iptables -t nat -A POSTROUTING -s 10.88.0.0/16 -o eth0 -j MASQUERADE
nfs_server_start 8
nfs_mount 4.2 '' /mnt/data
mkdir -p /etc/cni/net.d /etc/containerd /var/lib/node_exporter
cat >/etc/cni/net.d/net.conflist <<'END'
{"cniVersion": "0.4.0", "name": "net", "plugins": [
 {"type": "ptp", "ipam": {"type": "host-local", "subnet": "10.88.0.0/16", "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat >/etc/containerd/config.toml <<'END'
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/tools:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
END
containerd &>out/containerd.log &
wait_for 120 ctr version &>/dev/null
# After a reboot they are there.
ctr -n k8s.io images ls -q | grep -q . || for image in tools xidscope-oci; do ctr -n k8s.io images import $image.tar; done
cat >kubelet.conf <<'END'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
nodeStatusUpdateFrequency: 10s
runtimeRequestTimeout: 10m
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: "0%"}
END
# node.sh acts here as root, by a port of its own: exec in a pod takes five seconds of an emulated CPU.
mkdir -p /www/cgi-bin
cat >/www/cgi-bin/run <<'END'
#!/bin/bash
echo
answer=$(bash -c "$(cat)" 2>>/job/out/node.log)
printf '%s%d\n' "${answer:+$answer$'\n'}" $?
END
chmod +x /www/cgi-bin/run
busybox httpd -p 10222 -h /www
./kubelet --kubeconfig=access --config=kubelet.conf --hostname-override=guest --node-ip=10.0.2.15 --container-runtime=remote \
	--container-runtime-endpoint=unix:///run/containerd/containerd.sock &>out/kubelet.log
