// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves what `xidscope doctor` reports about systems in each state: the source, what
 * is missing with its fix, the hooks, the mounts, the GPU driver; and that a system
 * is healthy only if nothing is missing.
 */
#include "unit.h"
#include "commands/commands.h"
#include "made_up_module.h"

static char *text; /* the last report */

AFTER_EACH()
{
	free(text);
	text = NULL;
}

/* Returns whether the system is healthy. */
static bool report(const char *release, bool json)
{
	size_t size;
	FILE *out;
	bool healthy;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	healthy = doctor_report(out, root, release, NULL, json);
	fclose(out);
	return healthy;
}

static void expect(const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

/* That the finding @name has this level. */
static void expect_level(const char *level, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "\n  %-8s %-20s ", level, name);
	expect(line);
}

static void expect_none(const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in:\n%s", part, text);
}

/* A healthy machine, for root. */
static void put_machine(void)
{
	static const char hooks[] = "\0btf_trace_rpc_task_sleep\0btf_trace_rpc_task_wakeup\0";

	put("/sys/module/sunrpc/initstate", "live\n");
	put("/sys/module/sunrpc/srcversion", "0123ABCD\n");
	put_bytes("/sys/kernel/btf/sunrpc", hooks, sizeof(hooks));
	put_types("btf_trace_console");
	put("/sys/fs/bpf/x", "");
	put("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	put("/proc/self/mountstats", "");
	put("/proc/self/mounts", "nas:/data /mnt/a\\040b nfs4 rw 0 0\nproc /proc proc rw 0 0\n");
	put("/sys/kernel/tracing/instances/x", "");
	put("/sys/kernel/tracing/kprobe_events", "");
	put("/sys/kernel/tracing/events/sunrpc/rpc_stats_latency/id", "1\n");
	put("/sys/kernel/debug/sunrpc/rpc_clnt/0/info", "");
	put("/sys/kernel/sunrpc/xprt-switches/switch-0/x", "");
	put("/dev/kmsg", "");
	put("/proc/modules", "sunrpc 692224 1 nfs, Live 0xffffffffc0a1b000\n");
	put("/proc/kallsyms", "ffffffff81001000 t printk_sprint\n");
}

TEST(a_healthy_machine)
{
	put_machine();
	assert_true(report("6.1.0-test", false));
	expect("kernel   6.1.0-test\n");
	expect("sunrpc   a module, loaded, srcversion 0123ABCD\n");
	expect("source   btf: every metric is available, if the kernel accepts ");
	expect_level("ok", "sunrpc_types");
	expect_level("ok", "rpc_task_sleep");
	expect_level("note", "rpc_stats_latency"); /* an event without a type */
	expect("the source btf works without it, or falls back to the source tracepoints");
	expect_level("note", "xprt_destroy");
	expect("nas:/data on /mnt/a b\n");
	expect("reports every message");
	expect_none("\n  missing");
	expect_none("fix");
}

TEST(no_sunrpc_is_nothing_to_fix)
{
	put_types("btf_trace_console");
	put("/sys/fs/bpf/x", "");
	put("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	put("/dev/kmsg", "");
	assert_true(report("6.1.0-test", false));
	expect("sunrpc   not loaded\n");
	expect("source   none now; when sunrpc is loaded, btf: ");
	expect_level("unknown", "sunrpc_types");
	expect_level("note", "tracefs");
	expect("no NFS mount is visible");
	expect_none("Hooks");
}

TEST(a_module_without_types)
{
	char path[128];

	put_machine();
	put("/sys/module/sunrpc/taint", "OE\n");
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/sunrpc", root);
	unlink(path);
	assert_false(report("5.10.0-test", false));
	expect("out of tree");
	expect("source   tracepoints: ");
	expect_level("missing", "sunrpc_types");
	expect("fix: build the module");
	expect_level("ok", "types_file");
	expect_level("ok", "rpc_stats_latency");
	expect_level("note", "rpc_task_sleep");
	expect("what consoles show (before 5.19)");
}

TEST(the_way_to_a_file_of_types_names_this_build)
{
	struct btf *types = btf__new_empty();
	char path[128];

	put_machine();
	put("/sys/module/sunrpc/taint", "OE\n");
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/sunrpc", root);
	unlink(path);
	load_module();
	assert_false(report("6.1.0-test", false));
	expect("install -D -m 644 sunrpc.ko " PLACE " && pahole -J --btf_base "
	       "/sys/kernel/btf/vmlinux " PLACE);
	put(PLACE, "");
	put_module(PLACE, OTHER_NOTE, types);
	assert_false(report("6.1.0-test", false));
	expect_level("missing", "sunrpc_types");
	expect_level("note", "types_file");
	expect("another build");
	put_module(PLACE, NOTE, types);
	assert_true(report("6.1.0-test", false));
	expect("source   btf: ");
	expect_level("ok", "types_file");
	btf__free(types);
}

TEST(confidential_lockdown)
{
	put_machine();
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	assert_false(report("6.1.0-test", false));
	expect("source   mountstats: ");
	expect_level("missing", "lockdown");
	expect("fix: boot with lockdown=integrity");
}

TEST(nothing_at_all)
{
	put("/sys/module/sunrpc/initstate", "live\n");
	assert_false(report("4.4.0", false));
	expect("source   none: ");
	expect_level("missing", "bpf");
	expect_level("missing", "permission");
	expect_level("missing", "tracefs");
	expect_level("missing", "mountstats");
	expect_level("missing", "kernel_log");
	expect_level("unknown", "rpc_task_sleep");
}

TEST(the_module_on_disk)
{
	const char module[] = "\177ELF\0srcversion=FFFF0000\0";

	put_machine();
	put("/lib/modules/6.1.0-test/modules.dep", "updates/dkms/sunrpc.ko:\n");
	put_bytes("/lib/modules/6.1.0-test/updates/dkms/sunrpc.ko", module, sizeof(module));
	report("6.1.0-test", false);
	expect("; on disk updates/dkms/sunrpc.ko (FFFF0000, not what is loaded)\n");
	put("/sys/module/sunrpc/srcversion", "FFFF0000\n");
	report("6.1.0-test", false);
	expect("(FFFF0000, the same)\n");
}

TEST(localio_is_reported)
{
	put_machine();
	report("6.12.0", false);
	expect("LOCALIO is not in use");
	put("/sys/module/nfs/parameters/localio_enabled", "Y\n");
	assert_true(report("6.12.0", false));
	expect("LOCALIO is possible");
	put("/sys/fs/nfs/server-3/localio", "1\n");
	assert_true(report("6.17.0", false));
	expect_level("note", "localio");
	expect("no source can observe them");
}

TEST(the_gpu_driver)
{
	put_machine();
	report("6.1.0-test", false);
	expect("the NVIDIA driver is not loaded");
	put("/sys/module/nvidia/initstate", "live\n");
	put("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n");
	put("/proc/kallsyms", "0000000000000000 t nv_report_errors\t[nvidia]\n"
			      "0000000000000000 T nv_report_error\t[nvidia]\n");
	assert_true(report("6.1.0-test", false));
	expect("loaded, version 550.54.15\n");
	expect_level("note", "nvidia_dev_xid");
	expect_level("ok", "nv_report_error");
	put("/sys/module/nvidia/version", "580.65.06\n");
	put("/sys/kernel/tracing/events/nvidia/nvidia_dev_xid/id", "2\n");
	report("6.1.0-test", false);
	expect("loaded, version 580.65.06\n");
	expect_level("ok", "nvidia_dev_xid");
}

TEST(who_prints_a_message)
{
	put_machine();
	report("6.1.0-test", false);
	expect_level("ok", "printk_caller");
	report("5.10.0-test", false);
	expect_level("note", "printk_caller");
	expect_none("kptr_restrict");
	put("/proc/kallsyms", "0000000000000000 t printk_sprint\n");
	assert_true(report("6.1.0-test", false));
	expect_level("note", "printk_caller");
	expect("(addresses are hidden)");
	expect("fix: run it as root with CAP_SYSLOG, and set kernel.kptr_restrict below 2\n");
}

TEST(many_mounts_are_cut)
{
	char mounts[40 * 128] = "";

	put_machine();
	for (int i = 0; i < 100; i++)
		snprintf(mounts + strlen(mounts), sizeof(mounts) - strlen(mounts),
			 "nas:/%d /mnt/%d nfs rw 0 0\n", i, i);
	put("/proc/self/mounts", mounts);
	report("6.1.0-test", false);
	expect("nas:/15 on /mnt/15\n");
	expect_none("nas:/16 ");
	expect("and 84 more");
	expect_level("ok", "kprobes"); /* what comes last has room */
}

TEST(what_mounts_are_called_is_escaped)
{
	static const char nasty[] =
		"nas\\012\\040\\040ok\x1b[2J:/\xc2\x9b /mnt/\xe2\x80\xae\xff nfs4 rw 0 0\n";

	put_machine();
	put("/proc/self/mounts", nasty);
	report("6.1.0-test", false);
	expect(" nas\\x0a  ok\\x1b[2J:/\\xc2\\x9b on /mnt/\\xe2\\x80\\xae\\xff\n");
	report("6.1.0-test", true);
	/* The text in JSON is the same, and its backslashes are escaped. */
	expect("\"nas\\\\x0a  ok\\\\x1b[2J:/\\\\xc2\\\\x9b on /mnt/\\\\xe2\\\\x80\\\\xae\\\\xff\"");
}

TEST(json_has_the_same)
{
	put_machine();
	put("/proc/self/mounts", "nas:/\"q\" /mnt nfs4 rw 0 0\n");
	assert_true(report("6.1.0-test", true));
	expect("{\"kernel\":\"6.1.0-test\",");
	expect("\"source\":\"btf\"");
	expect("\"healthy\":true");
	expect("{\"group\":\"nfs\",\"name\":\"bpf\",\"level\":\"ok\",\"text\":\"the kernel runs BPF programs\"}");
	expect("nas:/\\\"q\\\" on /mnt");
}
