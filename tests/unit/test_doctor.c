// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves what `xidscope doctor` reports about systems in each state: the source, what is missing with its fix, the
 * GPU driver; and that a system is healthy only if nothing is missing. */
#include "commands/commands.h"
#include "faults/fault_authority.h"
#include "kernel/bpf_support.h"
#include "made_up_module.h"
#include "printed.h"
#include "rpc/choice.h"

/* Returns whether the system is healthy. @tried: see printk_hook_try(). */
static bool report_tried(const char *release, int tried, bool json)
{
	FILE *out = text_begin();
	bool healthy = doctor_report(out, root, release, tried, NULL, json);

	text_end(out);
	return healthy;
}

static bool report(const char *release, bool json)
{
	return report_tried(release, strcmp(release, "5.10.0-test") != 0, json);
}

/* Findings with their levels: "ok printk_caller, note localio". */
static void expect_levels(const char *findings)
{
	char level[16], name[32];
	int len;

	for (; sscanf(findings, "%15s %31[a-z_]%n", level, name, &len) == 2; findings += len) {
		assert_has(text, formatted("\n  %-8s %-20s ", level, name));
		len += findings[len] == ',';
	}
	assert_string_equal(findings, "");
}

TEST(a_healthy_machine)
{
	put_machine();
	assert_true(report("6.1.0-test", false));
	assert_has_all(text, "kernel   6.1.0-test\n",
		       "sunrpc   a module, loaded, srcversion 0123ABCD\n",
		       "source   btf: every metric is available, if the kernel accepts ");
	expect_levels("ok sunrpc_types");
	assert_has(text, "runs in the printing task");
	assert_lacks(text, "\n  missing");
	assert_lacks(text, "hung_tasks");
	assert_lacks(text, "fix:");
	assert_has(text, "\nNothing to fix.\n");
}

TEST(no_sunrpc_is_nothing_to_fix)
{
	put_types("btf_trace_console");
	put("/sys/fs/bpf/x", "");
	put("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	put("/dev/kmsg", "");
	put("/sys/kernel/tracing/x", "");
	assert_true(report("6.1.0-test", false));
	assert_has(text, "sunrpc   not loaded\n");
	assert_has(text, "source   none now; when sunrpc is loaded, btf: ");
	expect_levels("unknown sunrpc");
	assert_lacks(text, "\n  unknown  sunrpc_types ");
	assert_has(text, "until it is loaded: sunrpc_types, ");
	expect_levels("note tracefs");
}

TEST(a_module_without_types)
{
	put_machine();
	put("/sys/module/sunrpc/taint", "OE\n");
	unlink("sys/kernel/btf/sunrpc");
	assert_false(report("5.10.0-test", false));
	assert_has(text, "out of tree");
	assert_has(text, "source   tracepoints: ");
	expect_levels("missing sunrpc_types");
	assert_has(text, "fix: build the module");
	expect_levels("ok types_file");
	assert_has(text, "does not show who prints");
}

TEST(the_way_to_a_file_of_types_names_this_build)
{
	struct btf *types = btf__new_empty();

	put_machine();
	put("/sys/module/sunrpc/taint", "OE\n");
	unlink("sys/kernel/btf/sunrpc");
	load_module();
	assert_false(report("6.1.0-test", false));
	assert_has(text, "install -D -m 644 sunrpc.ko " PLACE " && pahole -J --btf_base "
			 "/sys/kernel/btf/vmlinux " PLACE);
	put(PLACE, "");
	put_module(PLACE, OTHER_NOTE, types);
	assert_false(report("6.1.0-test", false));
	expect_levels("missing sunrpc_types, note types_file");
	assert_has(text, "another build");
	put_module(PLACE, NOTE, types);
	assert_true(report("6.1.0-test", false));
	assert_has(text, "source   btf: ");
	expect_levels("ok types_file");
	btf__free(types);
}

TEST(confidential_lockdown)
{
	put_machine();
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	assert_false(report("6.1.0-test", false));
	assert_has(text, "source   mountstats: ");
	expect_levels("missing lockdown");
	assert_has(text, "fix: boot with lockdown=integrity");
}

/* What is lost under each setting, and a fix that is one. */
TEST(each_setting_says_what_is_lost)
{
	static const struct {
		const char *path, *content,
			*without; /* a file that is there, or a folder that is not */
		const char *name, *text, *fix;
	} settings[] = {
		{ "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n", NULL,
		  "owners", "it is not known which job", "see what the source btf lacks" },
		{ "/proc/self/status", "Name:\tx\nCapEff:\t0\n", NULL, "owners",
		  "it is not known which job", "see what the source btf lacks" },
		{ "/proc/cgroups",
		  "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t91\t0\n", NULL,
		  "owners", "the kernel does not charge pages to control groups",
		  "without cgroup_disable=memory" },
		{ "/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n", NULL, "owners",
		  "the kernel does not charge pages to control groups", "CONFIG_MEMCG=y" },
		{ "/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t3\t1\t1\n",
		  NULL, "owners", "the kernel does not charge pages", "CONFIG_MEMCG=y" },
		{ NULL, NULL, "sys/kernel/btf", "owners", "it is not known which job",
		  "see what the source btf lacks" },
		{ NULL, NULL, "sys/bus/event_source/devices/kprobe", "kprobes",
		  "the kernel has no kprobes", "CONFIG_KPROBE_EVENTS=y" },
		{ "/sys/fs/cgroup/cgroup.controllers", "cpu\n", "sys/kernel/btf/sunrpc", "owners",
		  "only the source btf knows who dirtied a page", "see what the source btf lacks" },
		{ NULL, NULL, "sys/kernel/debug/sunrpc", "rpc_clients",
		  "debugfs does not list sunrpc's clients",
		  "mount -t debugfs debugfs /sys/kernel/debug (in a container: restart it with the node's folder)" },
		{ "/sys/kernel/debug/bdi/x", "", "sys/kernel/debug/sunrpc", "rpc_clients",
		  "debugfs does not list sunrpc's clients", "CONFIG_SUNRPC_DEBUG=y" },
		{ NULL, NULL, "sys/kernel/debug", "rpc_clients",
		  "debugfs does not list sunrpc's clients", "without debugfs=off or no-mount" },
		{ "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n", NULL,
		  "hung_tasks", "tasks that hang", "see lockdown" },
		{ "/proc/self/status", "Name:\tx\nCapEff:\t0\n", NULL, "hung_tasks",
		  "tasks that hang", "see permission" },
		{ NULL, NULL, "sys/kernel/btf", "hung_tasks", "tasks that hang",
		  "see kernel_types" },
		{ NULL, NULL, "sys/fs/bpf", "hung_tasks", "tasks that hang", "see bpf" },
		{ "/proc/self/status", "Name:\tx\nCapEff:\t000001fffff7ffff\n", NULL, "holders",
		  "Xids without a process do not name", "CAP_SYS_PTRACE" },
		{ NULL, NULL, "sys/kernel/tracing/instances", "tracefs", "tracefs is not mounted",
		  "mount -t tracefs tracefs /sys/kernel/tracing" },
	};

	ARRAY_EACH(s, settings, COUNT(settings)) {
		fresh();
		put_machine();
		if (s->path)
			put(s->path, s->content);
		if (s->without)
			assert_int_equal(system(formatted("rm -r '%s'", s->without)), 0);
		report("6.1.0-test", true);
		assert_has(text, formatted("\"name\":\"%s\",\"level\":\"note\",\"text\":\"%s",
					   s->name, s->text));
		assert_has(strstr(text, s->text), s->fix);
	}
}

/* Without the kernel's BTF doctor offers no file of types: it would not help. */
TEST(without_the_kernels_types_the_fix_is_a_kernel_that_has_them)
{
	put_machine();
	assert_int_equal(system("rm -r sys/kernel/btf"), 0);
	assert_false(report("6.1.0-test", false));
	expect_levels("missing kernel_types, missing sunrpc_types, ok types_file, note owners");
	assert_has_all(text, "CONFIG_DEBUG_INFO_BTF=y", "fix: see kernel_types", "\n1 to fix");
	assert_lacks(text, "--sunrpc-btf");
}

/* What root in a user namespace lacks is not root. */
TEST(what_needs_a_permission_says_so_once)
{
	struct source_choice c;
	struct rpc_offer f = { .sunrpc = SUNRPC_LIVE,
			       .bpf = true,
			       .capabilities = UINT64_MAX,
			       .refused = true,
			       .tracefs = TRACEFS_FORBIDDEN,
			       .debugfs = DEBUGFS_FORBIDDEN };

	for (int n = 0; n < 3; n++) {
		source_choose(&c, &f, RPC_SOURCES_ALL);
		ARRAY_EACH(x, c.checks, c.check_count)
			if (!strcmp(x->name, "tracefs") || !strcmp(x->name, "rpc_clients"))
				assert_string_equal(x->fix,
						    n < 2 ? "see permission" : "run it as root");
		f.refused = false;
		f.capabilities = n ? UINT64_MAX : 0;
	}
}

/* The kernel has programs on events only with what also has tracefs. What is left has the mounts, and proves no Xid. */
TEST(without_tracefs_no_program_runs)
{
	put_machine();
	assert_int_equal(system("rm -r sys/kernel/tracing sys/bus/event_source/devices/kprobe"), 0);
	assert_false(report("5.10.0-test", false));
	expect_levels("missing tracefs, note authority");
	assert_lacks(text, "which mount");
	assert_lacks(text, "proves Xids");
	assert_has_all(text, "source   mountstats: ", "no BPF programs on events",
		       "fix: boot a kernel with CONFIG_FTRACE=y");
}

TEST(nothing_at_all)
{
	put("/sys/module/sunrpc/initstate", "live\n");
	assert_false(report_tried("4.4.0", PRINTK_NOT_SHOWN, false));
	assert_has(text, "source   none: ");
	expect_levels("missing bpf, missing permission, missing tracefs, unknown sunrpc_events, "
		      "missing mountstats, missing authority, missing kernel_log");
	assert_lacks(text, "until it is loaded");
}

TEST(localio_is_reported)
{
	put_machine();
	report("6.12.0", false);
	assert_has(text, "LOCALIO is not in use");
	put("/sys/module/nfs/parameters/localio_enabled", "Y\n");
	assert_true(report("6.12.0", false));
	assert_has(text, "LOCALIO is possible");
	put("/sys/fs/nfs/server-3/localio", "1\n");
	assert_true(report("6.17.0", false));
	expect_levels("note localio");
	assert_has(text, "no source can observe them");
}

TEST(the_gpu_driver)
{
	put_machine();
	report("6.1.0-test", false);
	assert_has(text, "the NVIDIA driver is not loaded");
	put("/sys/module/nvidia/initstate", "live\n");
	put("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n");
	assert_true(report("6.1.0-test", false));
	assert_has(text, "loaded, version 550.54.15\n");
	expect_levels("note nvidia_dev_xid");
	assert_has(text, "the driver has no tracepoint");
	assert_int_equal(rename("sys/kernel/tracing/instances", "instances"), 0);
	report("6.1.0-test", false);
	assert_has_all(text, "it is unknown whether the driver has", "fix: see tracefs");
	assert_int_equal(rename("instances", "sys/kernel/tracing/instances"), 0);
	put("/sys/module/nvidia/version", "580.65.06\n");
	put("/sys/kernel/tracing/events/nvidia/nvidia_dev_xid/id", "2\n");
	report("6.1.0-test", false);
	assert_has(text, "loaded, version 580.65.06\n");
	expect_levels("ok nvidia_dev_xid");
	assert_int_equal(rename("sys/module/nvidia", "sys/module/other"), 0);
	report("6.1.0-test", false);
	expect_levels("note nvidia, ok nvidia_dev_xid");
}

TEST(who_prints_a_message)
{
	put_machine();
	report("6.1.0-test", false);
	expect_levels("ok authority, ok printk_console");
	assert_has(text, "hook: ");
	report("5.10.0-test", false);
	expect_levels("note authority, note printk_console");
	assert_has(text, "log: ");
	report_tried("5.15.0-test", PRINTK_NOT_ASKED, false);
	expect_levels("note authority, note printk_console");
	assert_has(text, "the driver's first message will show");
	put("/sys/kernel/tracing/events/nvidia/nvidia_dev_xid/id", "2\n");
	report("5.10.0-test", false);
	expect_levels("ok authority");
	assert_has(text, "driver: Xids count by its tracepoint, others by the form");
	assert_int_equal(rename("sys/kernel/btf/vmlinux", "vmlinux"), 0);
	report("5.10.0-test", false);
	expect_levels("note authority");
	assert_has(text, "no program can be attached where the driver reports");
	assert_int_equal(rename("vmlinux", "sys/kernel/btf/vmlinux"), 0);
	report("5.10.0-test", false);
	for (int other = 0; other < 2; other++) { /* no device, or another */
		unlink("dev/kmsg");
		assert_true(!other || !symlink("/dev/null", "dev/kmsg"));
		report("5.10.0-test", false);
		assert_has(text, "driver: Xids count by its tracepoint, others are not observed");
	}
}

TEST(what_was_tried_and_refused_is_not_ok)
{
	const struct log silent = { .quiet = true };

	put_machine();
	unlink("dev/kmsg");
	/* A filter of system calls may say that there is no bpf(). */
	assert_false(report_tried("6.1.0-test", -ENOSYS, false));
	expect_levels("missing permission");
	/* Or the kernel has none. */
	assert_int_equal(rename("sys/fs/bpf", "sys/fs/none"), 0);
	assert_false(report_tried("6.1.0-test", -ENOSYS, false));
	expect_levels("missing bpf, ok permission");
	assert_int_equal(rename("sys/fs/none", "sys/fs/bpf"), 0);
	assert_false(report_tried("6.1.0-test", -EPERM, false));
	expect_levels("missing permission, missing module_types, note owners, missing authority");
	assert_has_all(text, "source   mountstats: ", "fix: run it outside of user namespaces",
		       "no fault is observed", "fix: run it as root, outside of user namespaces",
		       "\n2 to fix: ");
	assert_lacks(text, "fix: run it as root (in a container: privileged)");
	put("/proc/sys/kernel/printk_devkmsg", "off\n");
	report_tried("6.1.0-test", -EPERM, false);
	assert_has(text, "fix: sysctl kernel.printk_devkmsg=ratelimit");
	/* Lockdown, as the verifier's messages show it. libbpf prints this name. */
	bpf_messages_init(&silent);
	btf__free(btf__parse_elf("func bpf_probe_read", NULL));
	report_tried("6.1.0-test", -EINVAL, false);
	expect_levels("missing lockdown, ok permission, note owners");
	assert_has(strstr(text, "refuses the hook"), "fix: see lockdown");
	bpf_error_log_clear();
}

TEST(what_is_not_shown_is_not_called_absent)
{
	put_machine();
	report("6.1.0-test", false);
	assert_has(text, "the lockdown mode is unknown");
	put("/sys/kernel/security/lsm", "capability");
	report("6.1.0-test", false);
	assert_has(text, "the kernel is not locked down");
}

TEST(the_folder_of_bpf_is_for_root_alone)
{
	put_machine();
	assert_int_equal(chmod("sys/fs/bpf", 0700), 0);
	assert_int_equal(chmod(root, 0755), 0);
	if (!geteuid()) /* otherwise it is the user's own */
		assert_int_equal(setresuid(65534, 65534, 0), 0);
	report("6.1.0-test", false);
	setresuid(0, 0, 0);
	expect_levels("ok bpf");
}

TEST(json_has_the_same)
{
	put_machine();
	assert_true(report("6.1.0-test", true));
	assert_has_all(
		text, "{\"kernel\":\"6.1.0-test\",", "\"source\":\"btf\"", "\"healthy\":true",
		"{\"group\":\"nfs\",\"name\":\"bpf\",\"level\":\"ok\",\"text\":\"the kernel runs BPF programs\"}");
}
