# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NFS over TLS: counts as over TCP, on a transport of its own name. tlshd does the handshake for both ends.
if ! modprobe -q tls || ! grep -q ' tls_client_hello_x509$' /proc/kallsyms; then
	echo 'this kernel has no TLS handshake (CONFIG_TLS, CONFIG_NET_HANDSHAKE: Linux 6.5)' >skip
	exit 0
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 \
	-subj /CN=guest -addext subjectAltName=DNS:guest,IP:127.0.0.1
chmod 600 key.pem
cat >tlshd.conf <<END
[debug]
loglevel=1
[authenticate.client]
x509.truststore=$PWD/cert.pem
[authenticate.server]
x509.certificate=$PWD/cert.pem
x509.private_key=$PWD/key.pem
END
tlshd -c tlshd.conf -s 2>tlshd.log &
defer pkill -x tlshd
nfs_server_start
agent_start
nfs_mount 4.2 xprtsec=tls /mnt/tls guest
prepare_file /mnt/tls
compare_point before
load /mnt/tls 2 32 randrw 4k
compare_point after
agent_stop
rm -f key.pem
