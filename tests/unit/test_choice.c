// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the source is chosen by what the kernel offers, and that each thing that is missing is found in the
 * kernel's files and named with its fix. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"
#include "made_up_module.h"
#include "rpc/choice.h"

#define ALL_CAPABILITIES 0x1ffffffffffu

/* A machine on which all is well: sunrpc is a module with types. */
static const struct rpc_offer well = {
	.sunrpc = SUNRPC_LIVE,
	.bpf = true,
	.kernel_btf = true,
	.sunrpc_btf = true,
	.capabilities = ALL_CAPABILITIES,
	.tracefs = TRACEFS_MOUNTED,
	.sunrpc_events = true,
	.debugfs = DEBUGFS_CLIENTS,
	.memory_groups = true,
	.transports = true,
	.mountstats = true,
};

/* What is found out about @offer under that name; valid until the next call. */
static const struct source_check *check_of(const struct rpc_offer *offer, const char *name)
{
	static struct source_choice c;

	source_choose(&c, offer, RPC_SOURCES_ALL);
	for (size_t i = 0; i < c.check_count; i++)
		if (!strcmp(c.checks[i].name, name))
			return &c.checks[i];
	fail_msg("no check %s", name);
	return NULL;
}

/* That @offer gives @source, and that all reasons for it are @reasons: names that
 * are separated by blanks. Each has a fix. */
static void expect(const struct rpc_offer *offer, unsigned int allowed, enum rpc_source source,
		   const char *reasons)
{
	char got[256] = "";
	struct source_choice c;

	source_choose(&c, offer, allowed);
	assert_int_equal(c.source, source);
	for (size_t i = 0; i < c.check_count; i++) {
		const struct source_check *check = &c.checks[i];

		assert_non_null(check->text);
		if (check->result == SOURCE_CHECK_MISSING)
			assert_true(*check->fix);
		if (!source_check_is_reason(check, source))
			continue;
		append_text(got, "%s%s", *got ? " " : "", check->name);
	}
	assert_string_equal(got, reasons);
}

TEST(test_no_sunrpc)
{
	/* What may come with the module is unknown, not missing. */
	static const char *const unknown[] = { "sunrpc_types", "sunrpc_events", "transports",
					       "rpc_clients" };
	struct rpc_offer f = well;
	struct source_choice c;

	f.sunrpc_btf = f.sunrpc_events = f.transports = false;
	f.debugfs = DEBUGFS_NO_CLIENTS;
	f.sunrpc = SUNRPC_ABSENT;
	expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_NONE, "");
	source_choose(&c, &f, RPC_SOURCES_ALL);
	assert_int_equal(c.best, RPC_SOURCE_BTF);
	f.sunrpc = SUNRPC_LOADING;
	expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_NONE, "");
	for (size_t i = 0; i < COUNT(unknown); i++)
		assert_int_equal(check_of(&f, unknown[i])->result, SOURCE_CHECK_UNKNOWN);
}

/* The same of the machine on which all is well but for these changes of @f, by any source. */
#define EXPECT(source, reasons, ...)                                       \
	do {                                                               \
		struct rpc_offer f = well;                                 \
                                                                           \
		__VA_ARGS__;                                               \
		expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_##source, reasons); \
	} while (0)

TEST(test_each_missing_thing)
{
	EXPECT(BTF, "");
	EXPECT(TRACEPOINTS, "sunrpc_types", f.sunrpc_btf = false);
	EXPECT(MOUNTSTATS, "sunrpc_types tracefs", f.sunrpc_btf = f.sunrpc_events = false,
	       f.tracefs = TRACEFS_UNMOUNTED);
	EXPECT(MOUNTSTATS, "sunrpc_types sunrpc_events", f.sunrpc_btf = f.sunrpc_events = false);
	EXPECT(TRACEPOINTS, "kernel_types", f.kernel_btf = false);
	EXPECT(MOUNTSTATS, "bpf", f.bpf = false);
	EXPECT(BTF, "", f.lockdown = LOCKDOWN_INTEGRITY);
	EXPECT(MOUNTSTATS, "lockdown", f.lockdown = LOCKDOWN_CONFIDENTIALITY);
	EXPECT(NONE, "lockdown mountstats", f.lockdown = LOCKDOWN_CONFIDENTIALITY,
	       f.mountstats = false);
}

TEST(test_capabilities)
{
	const uint64_t bpf = (uint64_t)1 << 39 | (uint64_t)1 << 38, admin = 1u << 21;

	EXPECT(MOUNTSTATS, "permission module_types", f.capabilities = 0);
	EXPECT(MOUNTSTATS, "permission module_types", f.capabilities = (uint64_t)1 << 39);
	/* A module's types are read with CAP_SYS_ADMIN only. */
	EXPECT(TRACEPOINTS, "module_types", f.capabilities = bpf);
	/* With Debian's perf_event_paranoid. */
	EXPECT(MOUNTSTATS, "module_types perf_events", f.capabilities = bpf, f.perf_error = EACCES);
	EXPECT(BTF, "", f.capabilities = bpf, f.perf_error = EACCES, f.sunrpc = SUNRPC_BUILT_IN);
	EXPECT(BTF, "", f.capabilities = admin);
	/* Not honoured, as in a user namespace. */
	EXPECT(MOUNTSTATS, "permission module_types", f.refused = true);
	EXPECT(MOUNTSTATS, "permission", f.refused = true, f.sunrpc = SUNRPC_BUILT_IN);
}

/* Who made a call: as the source knows it, not as it would be known by a better one. */
TEST(owners_depend_on_the_chosen_source)
{
	static const char none[] = "it is not known which job", pages[] = "who dirtied a page";
	struct rpc_offer f = well;

	f.sunrpc_btf = false;
	assert_has(check_of(&f, "owners")->text, pages);
	f.misses_events = true;
	assert_has(check_of(&f, "owners")->text, none);
	f.misses_events = false;
	f.perf_error = EPERM;
	assert_has(check_of(&f, "owners")->text, none);
	f = well;
	f.kernel_btf = false;
	assert_has(check_of(&f, "owners")->text, none);
	f.mountstats = f.bpf = false;
	assert_has(check_of(&f, "owners")->text, none);
}

TEST(each_error_of_an_event_has_its_fix)
{
	static const struct {
		int error;
		const char *fix;
	} errors[] = { { EACCES, "CAP_PERFMON" },
		       { EPERM, "seccomp" },
		       { ENODEV, "CPU 0" },
		       { ENOSYS, "CONFIG_PERF_EVENTS" } };

	for (size_t i = 0; i < COUNT(errors); i++) {
		struct rpc_offer f = well;

		f.perf_error = errors[i].error;
		assert_has(check_of(&f, "perf_events")->fix, errors[i].fix);
		assert_has(check_of(&f, "perf_events")->text, "which mount");
		/* Mountstats has the mounts. */
		f.kernel_btf = f.sunrpc_btf = false;
		assert_lacks(check_of(&f, "perf_events")->text, "which mount");
	}
}

TEST(what_hides_tracefs_or_lacks_types_is_named)
{
	struct rpc_offer f = well;

	f.lockdown = LOCKDOWN_CONFIDENTIALITY;
	f.tracefs = TRACEFS_UNMOUNTED;
	assert_string_equal(check_of(&f, "tracefs")->fix, "see lockdown");
	f = well;
	f.sunrpc = SUNRPC_BUILT_IN;
	f.kernel_btf = f.sunrpc_btf = false;
	assert_string_equal(check_of(&f, "sunrpc_types")->fix, "see kernel_types");
}

/* A forced source is that one or none; a refused one is left out. */
TEST(test_allowed)
{
	struct rpc_offer f = well;

	expect(&f, RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), RPC_SOURCE_TRACEPOINTS, "");
	expect(&f, RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS), RPC_SOURCE_MOUNTSTATS, "");
	expect(&f, RPC_SOURCES_ALL & ~RPC_SOURCE_BIT(RPC_SOURCE_BTF), RPC_SOURCE_TRACEPOINTS, "");
	f.sunrpc_btf = false;
	expect(&f, RPC_SOURCE_BIT(RPC_SOURCE_BTF), RPC_SOURCE_NONE, "sunrpc_types");
}

TEST(test_out_of_tree_fix)
{
	struct rpc_offer f = well;

	f.sunrpc_btf = false;
	f.out_of_tree = true;
	assert_has(check_of(&f, "sunrpc_types")->fix, "debug information and a build id");
	strcpy(f.types_fix, "pahole");
	assert_string_equal(check_of(&f, "sunrpc_types")->fix, "pahole");
}

TEST(a_file_of_types_replaces_those_of_the_kernel)
{
	struct rpc_offer f = well;

	f.sunrpc_btf = false;
	f.types_file = TYPES_FILE_GOOD;
	f.capabilities &= ~((uint64_t)1 << 21); /* CAP_SYS_ADMIN reads the types of modules */
	expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_BTF, "");
	f.types_file = TYPES_FILE_REFUSED;
	strcpy(f.types_refused, "the file is refused");
	expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_TRACEPOINTS, "sunrpc_types module_types");
	assert_int_equal(check_of(&f, "types_file")->result, SOURCE_CHECK_MISSING);
	assert_string_equal(check_of(&f, "types_file")->text, "the file is refused");
	/* It is told, too, if the file is not needed. */
	f = well;
	f.types_file = TYPES_FILE_REFUSED;
	expect(&f, RPC_SOURCES_ALL, RPC_SOURCE_BTF, "");
	assert_int_equal(check_of(&f, "types_file")->result, SOURCE_CHECK_MISSING);
}

static struct rpc_offer look(void)
{
	struct rpc_offer f;

	rpc_offer_look(&f, root, NULL);
	return f;
}

TEST(test_empty_tree)
{
	struct rpc_offer f = look();

	assert_printed("0 0", "%d %lu", f.lockdown, f.capabilities);
	assert_int_equal(f.sunrpc, SUNRPC_ABSENT);
	assert_int_equal(f.tracefs, TRACEFS_ABSENT);
	assert_false(f.bpf || f.kernel_btf || f.sunrpc_btf || f.sunrpc_events || f.debugfs ||
		     f.transports || f.mountstats || f.out_of_tree || *f.srcversion);
}

TEST(test_module_states)
{
	put("/sys/module/sunrpc/initstate", "coming\n");
	assert_int_equal(sunrpc_look(root), SUNRPC_LOADING);
	put("/sys/module/sunrpc/initstate", "live\n");
	assert_int_equal(sunrpc_look(root), SUNRPC_LIVE);
	put("/sys/module/sunrpc/initstate", "going\n");
	assert_int_equal(sunrpc_look(root), SUNRPC_LOADING);
	/* One that cannot be looked at is not absent, or the hooks would be detached while it is in use. */
	fresh();
	put("/sys/module/other", "");
	assert_int_equal(symlink("sunrpc", "sys/module/sunrpc"), 0); /* ELOOP */
	assert_int_not_equal(sunrpc_look(root), SUNRPC_ABSENT);
}

TEST(test_live_module)
{
	struct rpc_offer f;

	put_machine();
	put("/sys/module/sunrpc/taint", "OE\n");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	put("/proc/self/status", "Name:\tx\nCapInh:\t0000000000000000\n"
				 "CapEff:\t000000c000200000\n");
	f = look();
	assert_true(f.bpf && f.kernel_btf && f.sunrpc_btf && f.sunrpc_events &&
		    f.debugfs == DEBUGFS_CLIENTS && f.transports && f.mountstats && !f.nfs &&
		    f.out_of_tree);
	assert_int_equal(f.sunrpc, SUNRPC_LIVE);
	assert_int_equal(f.lockdown, LOCKDOWN_CONFIDENTIALITY);
	assert_int_equal(f.tracefs, TRACEFS_MOUNTED);
	assert_printed("0123ABCD c000200000", "%s %lx", f.srcversion, f.capabilities);
	put("/sys/module/nfs/initstate", "live\n");
	f = look();
	assert_true(f.nfs);
	assert_int_equal(f.nfs_types, TYPES_NOWHERE);
	put("/sys/kernel/btf/nfs", "");
	assert_int_equal(look().nfs_types, TYPES_MODULE);
}

TEST(a_file_of_types_is_found_at_the_modules_place)
{
	struct btf *types = btf__new_empty();
	struct rpc_offer f;

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	put("/sys/module/sunrpc/initstate", "live\n");
	put_types("task_struct");
	assert_string_equal(look().types_path, "");
	load_module();
	f = look();
	assert_int_equal(f.types_file, TYPES_FILE_NONE);
	assert_string_equal(f.types_path, PLACE);
	put(PLACE, "");
	put_module(PLACE, NOTE, types);
	assert_int_equal(look().types_file, TYPES_FILE_GOOD);
	/* That of sunrpc alone does not lead to who dirtied a page. */
	put("/sys/module/nfs/initstate", "live\n");
	put_bytes("/sys/module/nfs/notes/.note.gnu.build-id", OTHER_NOTE, sizeof(OTHER_NOTE) - 1);
	assert_int_equal(look().nfs_types, TYPES_NOWHERE);
	put("/usr/lib/debug/.build-id/61/626365.debug", "types");
	assert_int_equal(look().nfs_types, TYPES_FILE);
	put_module(PLACE, OTHER_NOTE, types);
	f = look();
	assert_int_equal(f.types_file, TYPES_FILE_REFUSED);
	assert_string_equal(f.types_refused,
			    "the file of types " PLACE " is refused: its build id is "
			    "not that of the loaded module: it is another build");
	/* A file that the option names comes before, also where the kernel has the types. */
	put_module("/mine", NOTE, types);
	rpc_offer_look(&f, root, formatted("%s/mine", root));
	assert_int_equal(f.types_file, TYPES_FILE_GOOD);
	put("/sys/kernel/btf/sunrpc", "");
	assert_int_equal(look().types_file, TYPES_FILE_NONE);
	rpc_offer_look(&f, root, "/absent");
	assert_int_equal(f.types_file, TYPES_FILE_REFUSED);
	btf__free(types);
}

TEST(test_lockdown_of_integrity)
{
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	assert_int_equal(look().lockdown, LOCKDOWN_INTEGRITY);
}

TEST(test_built_in)
{
	struct rpc_offer f;

	put("/sys/module/sunrpc/parameters/pool_mode", "global\n");
	put_types("task_struct");
	f = look();
	assert_int_equal(f.sunrpc, SUNRPC_BUILT_IN);
	assert_true(f.kernel_btf);
	assert_false(f.sunrpc_btf);
	put_types("rpc_task");
	f = look();
	assert_true(f.sunrpc_btf);
	assert_false(f.nfs);
	/* In the kernel is also what has no folder in sysfs. */
	put_types("nfs4_slot_table");
	assert_int_equal(types_place_find(root, "nfsv4"), TYPES_KERNEL);
	assert_int_equal(types_place_find(root, "rpcrdma"), TYPES_NOWHERE);
	/* A module of a sunrpc that is built in, and a module sunrpc. */
	put_types("nfs_pgio_header");
	assert_int_equal(look().nfs_types, TYPES_KERNEL);
	put("/sys/module/nfs/initstate", "live\n");
	assert_int_equal(look().nfs_types, TYPES_NOWHERE);
	put("/sys/kernel/btf/nfs", "");
	assert_int_equal(look().nfs_types, TYPES_MODULE);
	put_types("nfs4_slot_table");
	put("/sys/module/sunrpc/initstate", "live\n");
	assert_int_equal(types_place_find(root, "nfsv4"), TYPES_NOWHERE);
}

TEST(built_in_types_that_are_only_named_do_not_count)
{
	struct btf *types = btf__new_empty();
	const void *bytes;
	__u32 size;

	put("/sys/module/sunrpc/parameters/pool_mode", "global\n");
	assert_true(btf__add_fwd(types, "nfs_pgio_header", BTF_FWD_STRUCT) > 0);
	bytes = btf__raw_data(types, &size);
	put_bytes("/sys/kernel/btf/vmlinux", bytes, size);
	btf__free(types);
	assert_int_equal(types_place_find(root, "nfs"), TYPES_NOWHERE);
}

/* Everybody may read them in sysfs. */
TEST(the_types_of_a_module_beside_a_built_in_sunrpc_need_no_capability)
{
	struct rpc_offer f = well;

	f.sunrpc = SUNRPC_BUILT_IN;
	f.nfs = true;
	f.nfs_types = TYPES_MODULE;
	f.capabilities &= ~((uint64_t)1 << 21); /* CAP_SYS_ADMIN */
	assert_int_equal(check_of(&f, "owners")->result, SOURCE_CHECK_OK);
	f.nfs_types = TYPES_NOWHERE;
	assert_int_equal(check_of(&f, "owners")->result, SOURCE_CHECK_MISSING);
}

TEST(test_tracefs_places)
{
	struct rpc_offer f;

	mkdir("sys", 0755);
	mkdir("sys/kernel", 0755);
	mkdir("sys/kernel/tracing", 0755);
	assert_int_equal(look().tracefs, TRACEFS_UNMOUNTED);
	put("/sys/kernel/debug/tracing/instances/x", "");
	f = look();
	assert_int_equal(f.tracefs, TRACEFS_MOUNTED);
	assert_string_equal(f.tracefs_path, formatted("%s/sys/kernel/debug/tracing", root));
}

static bool locked; /* after the boot: tracefs has files, which nobody may open */

int open(const char *path, int flags, ...)
{
	if (!locked || !strstr(path, "/tracing/"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
	errno = EPERM;
	return -1;
}

TEST(lockdown_after_the_boot_is_found_by_tracefs)
{
	put("/sys/kernel/tracing/instances/x", "");
	put("/sys/kernel/tracing/tracing_on", "1\n");
	assert_int_equal(look().tracefs, TRACEFS_MOUNTED);
	locked = true;
	assert_int_equal(look().tracefs, TRACEFS_EMPTY);
	assert_int_equal(look().lockdown, LOCKDOWN_CONFIDENTIALITY);
	locked = false;
}
