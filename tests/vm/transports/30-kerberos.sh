# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# NFS with Kerberos: a call that waits for rpc.gssd, which is stopped for some seconds, spends that time in `setup`, and the
# verdict is `credentials`. PARAMETERS="stopped=5 version=3 flavour=krb5p" of check.sh change these. Then calls of another
# user go on while one waits for rpc.gssd, and while the ticket of one has expired.
: "${stopped:=8}" "${version:=4.2}" "${flavour:=krb5}"
export KRB5_CONFIG=$PWD/krb5.conf KRB5_KDC_PROFILE=$PWD/kdc.conf
cat >krb5.conf <<'END'
[libdefaults]
	default_realm = TEST
	dns_lookup_kdc = false
	dns_canonicalize_hostname = false
	rdns = false
[realms]
	TEST = {
		kdc = 127.0.0.1
	}
[domain_realm]
	localhost = TEST
END
cat >kdc.conf <<END
[kdcdefaults]
	kdc_listen = 127.0.0.1:88
	kdc_tcp_listen = 127.0.0.1:88
[realms]
	TEST = {
		database_name = $PWD/principal
		key_stash_file = $PWD/stash
	}
END
cat >/etc/idmapd.conf <<'END'
[General]
Domain = test
Local-Realms = TEST
END
echo 'user:x:1000:1000::/tmp:/bin/sh' >>/etc/passwd
echo 'other:x:1001:1001::/tmp:/bin/sh' >>/etc/passwd
kdb5_util create -s -P master
for name in nfs/localhost user other; do kadmin.local addprinc -randkey "$name@TEST"; done
kadmin.local ktadd -k /etc/krb5.keytab nfs/localhost@TEST
kadmin.local ktadd -k "$PWD/user.keytab" user@TEST
chown 1000 user.keytab
kadmin.local ktadd -k "$PWD/other.keytab" other@TEST
chown 1001 other.keytab
chmod 755 . && chmod 644 krb5.conf
defer pkill -x krb5kdc
krb5kdc
as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
as_user() { as 1000 "$@"; }
KRB5CCNAME=FILE:/tmp/krb5cc_1000 as_user kinit -k -t user.keytab user@TEST

modprobe -a auth_rpcgss rpcsec_gss_krb5
nfs_server_start
exportfs -i -o rw,no_root_squash,insecure,no_subtree_check,fsid=0,sec=krb5:krb5i:krb5p '*:/export'
rm -f /export/load # root, by Kerberos, is nobody to the server, and must own the file
defer pkill -x rpc.svcgssd
rpc.svcgssd
defer pkill -x rpc.gssd
rpc.gssd
agent_start --interval 2 --events events.json
nfs_mount "$version" "sec=$flavour" /mnt/kerberos localhost
prepare_file /mnt/kerberos
compare_point before
load /mnt/kerberos 2 16 randrw 4k
compare_point after
begin=$SECONDS
trace_begin credentials
((stopped > SECONDS - begin)) || stopped=$((SECONDS - begin)) # on a slow machine the rest of the session takes longer
begin=$SECONDS
pkill -x -STOP rpc.gssd
as_user stat /mnt/kerberos/load &
caller=$!
sleep "$stopped"
pkill -x -CONT rpc.gssd
wait "$caller"
echo "$((SECONDS - begin))" >stopped
trace_end
compare_point waited

# Calls of the first user go on. The first call of `other` blocks its task, because rpc.gssd does not answer.
go_on() {
	while [[ ! -e $1 ]]; do
		as_user touch /mnt/kerberos/mine || true
		sleep 0.2
	done
}
as_other() { as 1001 sh -c ': >/mnt/kerberos/other'; }
go_on gssd.done &
going=$!
trace_begin gssd
pkill -x -STOP rpc.gssd
as_other &
blocked=$!
sleep 15
trace_end
wait_for 120 says events.json '"credentials"'
/job/xidscope check --json --health health.json >gssd.check || true
KRB5CCNAME=FILE:/tmp/krb5cc_1001 as 1001 kinit -l 60s -k -t other.keytab other@TEST
pkill -x -CONT rpc.gssd
: >gssd.done
wait "$blocked" "$going"
as_other
sleep 65
go_on expired.done &
going=$!
trace_begin expired
for _ in {1..20}; do ! as_other || touch not-expired; done 2>expired.txt
trace_end
: >expired.done
wait "$going"
agent_write last
agent_stop
