// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves what is printed to be pasted: each mount is mounted again by what mounted it, with its options; all mounts of the
 * server in order; processes that use them; nothing for mounts of pods; no value is lowered; each setting says how it is
 * kept. */
#include "made_up_tree.h"
#include "nfs/remedy.h"
#include "printed.h"
#include "snapshot.h"

static struct remedy r;

static void add_mount(const char *server, const char *mountpoint, uint64_t minor)
{
	struct nfs_mount like = { .export = "/x" }, *m;

	snprintf(like.server, sizeof(like.server), "%s", server);
	snprintf(like.mountpoint, sizeof(like.mountpoint), "%s", mountpoint);
	m = snapshot_mount(&now.calls, &like);
	m->device = minor;
}

/* The list of mounts has /mnt/hand, /mnt/tab, /mnt/unit-1, one of autofs, one of systemd, one below /mnt/hand by itself,
 * and that of another server. */
BEFORE_EACH()
{
	add_mount("nas", "/mnt/hand", 45);
	add_mount("nas", "/mnt/hand/sub", 46);
	add_mount("nas", "/mnt/tab", 47);
	add_mount("nas", "/mnt/unit-1", 48);
	add_mount("nas", "/net/a", 49);
	add_mount("nas", "/auto", 50);
	add_mount("other", "/mnt/other", 51);
	put("/proc/1/mountinfo",
	    "20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
	    "21 20 0:40 / /net rw - autofs /etc/auto.nfs rw,fd=6\n"
	    "22 20 0:41 / /auto rw - autofs systemd-1 rw,fd=6\n"
	    "30 20 0:45 / /mnt/hand ro,nosuid,relatime shared:2 - nfs4 nas:/x ro,seclabel,vers=4.2,rsize=65536,hard,"
	    "proto=tcp,nconnect=2,sec=sys,clientaddr=10.0.0.5,local_lock=none,addr=10.0.0.1\n"
	    "31 30 0:46 / /mnt/hand/sub rw,relatime - nfs4 nas:/x/sub rw,vers=4.2,addr=10.0.0.1\n"
	    "32 20 0:47 / /mnt/tab rw,relatime - nfs nas:/tab rw,vers=3,mountaddr=10.0.0.1,mountport=20048,addr=10.0.0.1\n"
	    "33 20 0:48 / /mnt/unit-1 rw,relatime - nfs4 nas:/u rw,vers=4.2,addr=10.0.0.1\n"
	    "34 21 0:49 / /net/a rw,relatime - nfs4 nas:/a rw,vers=4.2,addr=10.0.0.1\n"
	    "35 22 0:50 / /auto rw,relatime - nfs4 nas:/auto rw,vers=4.2,addr=10.0.0.1\n"
	    "36 20 0:51 / /mnt/other rw,relatime - nfs4 other:/o rw,vers=4.2,addr=10.0.0.2\n");
	put("/proc/1/root/etc/fstab",
	    "# nothing\nnas:/tab/ /mnt/tab/ nfs defaults 0 0\nnas:/old /mnt/hand nfs defaults 0 0\n");
	put("/proc/1/root/etc/systemd/system/mnt-unit\\x2d1.mount", "[Mount]\n");
	put("/proc/sys/sunrpc/tcp_max_slot_table_entries", "16\n");
	put("/sys/module/sunrpc/initstate", "live\n");
	r = (struct remedy){ .root = root,
			     .calls = &now.calls,
			     .server = "nas",
			     .setting = "sunrpc.tcp_max_slot_table_entries",
			     .value = "64",
			     .mountpoint = "",
			     .remount = true };
}

static const char *remedy(void)
{
	FILE *out = text_begin();

	remedy_write(out, &r);
	text_end(out);
	for (const char *c = text; *c; c++) /* a report would escape it */
		assert_true(*c == '\n' || (unsigned char)*c >= ' ');
	return text;
}

#define IF_THERE(path) "{ ! findmnt -t nfs,nfs4 -M " path " >/dev/null || umount " path "; }"
#define MOUNT_HAND \
	"findmnt -t nfs,nfs4 -S nas:/x -M /mnt/hand >/dev/null || mount -t nfs4 -o ro,nosuid,relatime,vers=4.2,rsize=65536,hard,proto=tcp,"

TEST(all_mounts_of_the_server_are_mounted_again_by_what_mounted_them)
{
	assert_string_equal(
		remedy(),
		"sysctl -w sunrpc.tcp_max_slot_table_entries=64\n"
		"# to keep it: echo 'options sunrpc tcp_max_slot_table_entries=64' >/etc/modprobe.d/xidscope-tcp_max_slot_table_entries.conf\n"
		"# /net/a is mounted by autofs at its next use, map /etc/auto.nfs\n"
		"# /auto is mounted by systemd at its next use (fstab or unit)\n" IF_THERE("/auto") " && " IF_THERE("/net/a") " && umount /mnt/unit-1 && umount /mnt/tab && " IF_THERE(
			"/mnt/hand/sub") " && umount /mnt/hand\n" MOUNT_HAND
					 "nconnect=2,sec=sys,local_lock=none nas:/x /mnt/hand\n"
					 "findmnt -t nfs,nfs4 -S nas:/tab -M /mnt/tab >/dev/null || mount -t nfs -o rw,relatime,vers=3 nas:/tab /mnt/tab\n"
					 "findmnt -t nfs,nfs4 -S nas:/u -M /mnt/unit-1 >/dev/null || systemctl start 'mnt-unit\\x2d1.mount'\n");
}

TEST(a_mount_option_is_added_where_it_is_kept)
{
	r.setting = "nconnect";
	r.value = "4";
	assert_has(remedy(), MOUNT_HAND "sec=sys,local_lock=none,nconnect=4 nas:/x /mnt/hand\n");
	assert_has_all(
		text,
		"findmnt -t nfs,nfs4 -S nas:/tab -M /mnt/tab >/dev/null || mount -t nfs -o rw,relatime,vers=3,nconnect=4 nas:/tab /mnt/tab\n",
		"# /mnt/hand was mounted by hand: nothing mounts it after a boot\n",
		"# /mnt/tab is in /etc/fstab: add nconnect=4 to its options there\n",
		"# /mnt/unit-1 is of the unit mnt-unit\\x2d1.mount: add nconnect=4 to its options there first, then systemctl daemon-reload\n",
		"map /etc/auto.nfs: add nconnect=4 to its options there first\n");
	/* Of one mount. */
	r.setting = "rsize";
	r.value = "1048576";
	r.mountpoint = "/mnt/hand";
	assert_has(remedy(), "nconnect=2,sec=sys,local_lock=none,rsize=1048576 nas:/x /mnt/hand\n");
	assert_lacks(text, "/mnt/tab");
	assert_has(text, IF_THERE("/mnt/hand/sub") " && umount /mnt/hand\n");
}

TEST(mounts_of_pods_are_left_alone)
{
	add_mount("nas", "/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pv/mount", 60);
	put("/proc/1/mountinfo",
	    "30 20 0:45 / /mnt/hand rw - nfs4 nas:/x rw,vers=4.2\n"
	    "31 20 0:60 / /var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pv/mount rw - nfs4 nas:/x rw,vers=4.2\n");
	assert_has(remedy(), "is a pod's: drain the node with kubectl, do not unmount it here");
	assert_lacks(text, "\numount");
	assert_lacks(text, "|| mount");
}

/* The volumes of all pods on the node are bound from it. */
TEST(a_csi_drivers_mount_is_left_alone)
{
	static const char *const roots[] = { "/var/lib/kubelet", "/var/lib/k0s/kubelet" };

	ARRAY_EACH(at, roots, COUNT(roots)) {
		char *point = strdup(formatted("%s/plugins/csi.trident.example/x", *at));

		add_mount("nas", point, 61);
		put("/proc/1/mountinfo", formatted("30 20 0:61 / %s rw - nfs4 nas:/x rw\n", point));
		free(point);
		assert_has(remedy(), "is a pod's: drain the node with kubectl");
		assert_lacks(text, "\numount");
		assert_lacks(text, "|| mount");
	}
}

TEST(a_mount_keeps_options_that_fstab_does_not_have)
{
	put("/proc/1/mountinfo", "32 20 0:47 / /mnt/tab ro,nosuid - nfs nas:/tab "
				 "ro,vers=3,soft,sec=krb5p,addr=10.0.0.1\n");
	assert_has(remedy(), "mount -t nfs -o ro,nosuid,vers=3,soft,sec=krb5p nas:/tab /mnt/tab\n");
}

TEST(processes_that_use_the_mounts_are_named)
{
	put("/proc/1/comm", "init\n");
	put("/proc/4711/comm", "python\n");
	put("/proc/4711/maps", "");
	put("/proc/4711/fd/x", "");
	assert_int_equal(symlink("/mnt/tab/set/7", formatted("%s/proc/4711/fd/3", root)), 0);
	put("/proc/12/comm", "bash\n");
	put("/proc/12/maps", "7f0 r-xp 0 00:2d 77 /mnt/hand/lib.so\n");
	put("/proc/13/comm", "other\n");
	put("/proc/13/maps", "");
	assert_int_equal(symlink("/mnt/table", formatted("%s/proc/13/cwd", root)), 0);
	assert_has(remedy(), "# 2 processes use these mounts, drain the node or end them first: ");
	assert_has_all(text, " python (4711)", " bash (12)");
	assert_lacks(text, "other");
}

/* systemd's own services have mount namespaces to which an unmount propagates; a container has the mount for itself. */
TEST(a_namespace_that_lets_a_mount_go_is_no_user)
{
	static const char *const tags[] = { "master:2 ", "shared:2 ",  "shared:9 master:2 ",
					    "",          "shared:22 ", "master:3 " };

	put("/proc/1/ns/x", "");
	put("/proc/9/ns/x", "");
	assert_int_equal(symlink("mnt:[1]", formatted("%s/proc/1/ns/mnt", root)), 0);
	assert_int_equal(symlink("mnt:[2]", formatted("%s/proc/9/ns/mnt", root)), 0);
	put("/proc/9/comm", "logind\n");
	put("/proc/9/maps", "");
	for (size_t i = 0; i < COUNT(tags); i++) {
		put("/proc/9/mountinfo",
		    formatted("90 80 0:45 / /mnt/hand rw %s- nfs4 nas:/x rw,vers=4.2\n", tags[i]));
		assert_int_equal(!strstr(remedy(), "logind (9)"), i < 3);
	}
}

/* It keeps the place of a mount open, whose path is the mount's. To end it would unmount nothing. */
TEST(automount_is_no_user)
{
	for (int on = 21; on <= 34; on += 13) { /* autofs; the mount */
		put("/proc/1/ns/x", "");
		put("/proc/9/ns/x", "");
		symlink("mnt:[1]", formatted("%s/proc/1/ns/mnt", root));
		symlink("mnt:[1]", formatted("%s/proc/9/ns/mnt", root));
		put("/proc/9/comm", "automount\n");
		put("/proc/9/maps", "");
		put("/proc/9/fd/x", "");
		symlink("/net/a", formatted("%s/proc/9/fd/4", root));
		put("/proc/9/fdinfo/4", formatted("pos:\t0\nflags:\t0100000\nmnt_id:\t%d\n", on));
		assert_int_equal(!strstr(remedy(), "automount (9)"), on == 21);
	}
}

TEST(a_mount_of_something_else_below_is_named)
{
	assert_lacks(remedy(), "is mounted below");
	put("/proc/1/mountinfo", "30 20 0:45 / /mnt/hand rw - nfs4 nas:/x rw,vers=4.2\n"
				 "31 20 0:51 / /mnt/handy rw - nfs4 other:/o rw,vers=4.2\n");
	assert_lacks(remedy(), "is mounted below");
	put("/proc/1/mountinfo", "30 20 0:45 / /mnt/hand rw - nfs4 nas:/x rw,vers=4.2\n"
				 "31 30 0:51 / /mnt/hand/other rw - nfs4 other:/o rw,vers=4.2\n"
				 "32 20 0:52 / /tmp rw - tmpfs tmpfs rw\n");
	assert_has(remedy(), "# /mnt/hand/other is mounted below: until it is unmounted, umount "
			     "fails\n");
	/* umount /mnt/hand would unmount this one. */
	put("/proc/1/mountinfo", "30 20 0:45 / /mnt/hand rw - nfs4 nas:/x rw,vers=4.2\n"
				 "31 30 0:52 / /mnt/hand rw - tmpfs tmpfs rw\n"
				 "32 31 0:53 / /mnt/hand/c rw - tmpfs tmpfs rw\n");
	assert_has(remedy(), "# something else is mounted over /mnt/hand: unmount that first\n");
	assert_lacks(text, "\numount");
}

/* mount.nfs refuses a file, and a path of this machine is no export. */
TEST(what_was_bound_is_bound_again)
{
	static const char mountinfo[] =
		"30 20 0:45 / /mnt/hand rw - nfs4 nas:/x rw,vers=4.2,addr=10.0.0.1\n"
		"31 20 0:45 / /srv/a\\040file ro,nosuid - nfs4 nas:/x/sub/a\\040file rw,vers=4.2,addr=10.0.0.1\n"
		"32 20 0:45 / /home rw - nfs4 nas:/x/home rw,vers=4.2,addr=10.0.0.1\n";

	put("/proc/1/mountinfo", mountinfo);
	put("/proc/1/root/etc/fstab", "/mnt/hand/home /home none bind 0 0\n");
	r.setting = "nconnect";
	assert_has(remedy(), "umount /home && umount '/srv/a file' && umount /mnt/hand\n");
	assert_has(text, "-S 'nas:/x/sub/a file' -M '/srv/a file' >/dev/null || "
			 "mount -o bind,ro,nosuid '/mnt/hand/sub/a file' '/srv/a file'\n");
	assert_has(text, "-S nas:/x/home -M /home >/dev/null || mount /home\n");
	assert_lacks(text, "/home was");
	assert_has(text, "nconnect=64 nas:/x /mnt/hand\n");
}

TEST(a_process_that_cannot_be_read_holds_nothing_up)
{
	put("/proc/12/maps", "7f0 r-xp 0 00:2d 77 /mnt/hand/lib.so\n");
	assert_int_equal(mkfifo(formatted("%s/proc/12/comm", root), 0600), 0);
	assert_has_all(remedy(), "# who uses these mounts is not known", IF_THERE("/auto") " && ",
		       MOUNT_HAND);
}

TEST(no_value_is_lowered)
{
	put("/proc/sys/sunrpc/tcp_max_slot_table_entries", "128\n");
	assert_has(remedy(), "# sunrpc.tcp_max_slot_table_entries is 128 already\n");
	assert_lacks(text, "sysctl");
	r.setting = "net.ipv4.tcp_rmem[2]";
	r.value = "8388608";
	put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	assert_has(
		remedy(),
		"sysctl -w \"net.ipv4.tcp_rmem=4096 131072 8388608\"\n"
		"# to keep it: echo 'net.ipv4.tcp_rmem = 4096 131072 8388608' >/etc/sysctl.d/90-xidscope-net.ipv4.tcp_rmem.conf\n");
	put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t16777216\n");
	assert_has(remedy(), "# net.ipv4.tcp_rmem[2] is 16777216 already\n");
}

TEST(so_many_dirty_pages_as_a_quarter_of_the_memory_are_no_command)
{
	r.setting = "vm.dirty_bytes";
	r.value = "1073741824";
	r.remount = false;
	put("/proc/meminfo", "MemTotal:       4194304 kB\n");
	assert_has(remedy(), "sysctl -w vm.dirty_bytes=1073741824\n");
	put("/proc/meminfo", "MemTotal:       4000000 kB\n");
	assert_has(remedy(), "# no command: ");
	assert_lacks(text, "sysctl");
}

TEST(a_name_that_a_terminal_would_not_show_is_not_pasted)
{
	r.setting = "read_ahead_kb";
	r.value = "512";
	r.remount = false;
	r.mountpoint = "/mnt/it's $(a)";
	assert_has(
		remedy(),
		"echo 512 >/sys/class/bdi/$(mountpoint -d '/mnt/it'\\''s $(a)')/read_ahead_kb\n");
	/* A volume's name is no path. */
	add_mount("nas", "pv:train", 71);
	r.mountpoint = "pv:train";
	assert_has(remedy(), "echo 512 >/sys/class/bdi/0:71/read_ahead_kb\n");
	add_mount("nas", "/mnt/\\x1b[2J", 70);
	put("/proc/1/mountinfo", "30 20 0:70 / /mnt/\\033[2J rw - nfs4 nas:/x rw,vers=4.2\n");
	r.setting = "nconnect";
	r.mountpoint = "";
	r.remount = true;
	for (int n = 0; n < 2; n++) {
		assert_string_equal(
			remedy(),
			"# a mount has a name that cannot be pasted: unmount all mounts of the server, then mount again\n");
		add_mount("nas", "/mnt/a", 72);
		put("/proc/1/mountinfo",
		    "31 20 0:72 / /mnt/a rw - nfs4 nas:/x\\012rm rw,vers=4.2\n");
	}
}
