// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a printk call is the driver's only if its immediate caller lies in the text of a module of the driver
 * that was loaded at the time; and that nothing is decided where stack or addresses are missing. */
#include "unit.h"
#include "made_up_tree.h"
#include "faults/printk_hook.h"
#include "faults/printk_origin.h"

#define KALLSYMS                                  \
	"ffffffff81000000 T _stext\n"             \
	"ffffffff81001000 t printk_sprint\n"      \
	"ffffffff81001100 T vprintk_store\n"      \
	"ffffffff81001400 T vprintk_emit\n"       \
	"ffffffff81001600 t devkmsg_emit\n"       \
	"ffffffff81001680 T vprintk_emitter\n"    \
	"ffffffff81001700 T vprintk_default\n"    \
	"ffffffff81001780 T vprintk\n"            \
	"ffffffff81001800 T other\n"              \
	"ffffffff81002000 t vprintk_store.cold\n" \
	"ffffffff81002010 T _printk\n"            \
	"ffffffff81002080 T more\n"               \
	"ffffffff81003000 T return_to_handler\n"  \
	"ffffffff81003080 T more\n"               \
	"ffffffff82000000 T _etext\n"             \
	"ffffffffc0000000 t vprintk_store\t[nvidia]\n"

#define OVERLAY "overlay 16384 0 - Live 0xffffffffc0004000\n"
#define NVIDIA "nvidia 65536 1 nvidia_uvm, Live 0xffffffffc0000000 (POE)\n"
#define TOOLS "nvidia_tools 4096 0 - Live 0xffffffffc0100000\n"

/* Each ends with a caller: addresses are of instructions behind a call. */
#define TRACE 0xffffffffc0aaaaaa, 0xffffffff81000100
#define PRINTK 0xffffffff81001050, 0xffffffff81001200, 0xffffffff81001450, 0xffffffff81002050

static struct printk_origins o; /* of the test that runs */

AFTER_EACH()
{
	printk_origins_free(&o);
}

static enum printk_origin origin_at(uint64_t caller, uint64_t time_ns)
{
	const uint64_t stack[] = { TRACE, PRINTK, caller, 0xffffffff81800000, 0xffffffffc0000100 };

	return printk_origin(&o, stack, COUNT(stack), time_ns);
}

/* Of a call with this stack. */
#define STACK(...) (const uint64_t[]){ __VA_ARGS__ }, COUNT(((const uint64_t[]){ __VA_ARGS__ }))
#define ORIGIN_OF(...) printk_origin(&o, STACK(__VA_ARGS__), SECOND)

/* The modules are these from @time_ns on. */
static void load_at(const char *modules, uint64_t time_ns)
{
	put("/proc/modules", modules);
	assert_int_equal(printk_origins_read(&o, root, time_ns), 0);
}

static void load(const char *modules)
{
	put("/proc/kallsyms", KALLSYMS);
	load_at(modules, SECOND);
}

TEST(the_modules_of_the_driver_are_known_by_name)
{
	/* The first six are its. */
	static const char *const names[] = { "nvidia",     "nvidia_modeset", "nvidia_uvm",
					     "nvidia_drm", "nvidia_peermem", "nvswitch",
					     "nvidia_fs",  "nvidiafb" };

	for (size_t i = 0; i < COUNT(names); i++) {
		print_message("# %s\n", names[i]);
		load(formatted("%s%s 4096 0 - Live 0xffffffffc0200000\n", NVIDIA, names[i]));
		assert_int_equal(origin_at(0xffffffffc0200010, 2 * SECOND),
				 i < 6 ? PRINTK_ORIGIN_DRIVER : PRINTK_ORIGIN_OTHER);
		printk_origins_free(&o);
	}
}

TEST(the_immediate_caller_decides)
{
	static const uint64_t others[] = {
		/* The kernel itself, though the driver is further up the stack. */
		0xffffffff81000500,
		/* A function whose name begins like printk's. */
		0xffffffff810016a0,
		/* Another module within the driver's size, and one whose name begins alike. */
		0xffffffffc0004100,
		0xffffffffc0100100,
		/* No module at all. */
		0xffffffffc0800100,
	};

	load(OVERLAY NVIDIA TOOLS);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_DRIVER);
	for (size_t i = 0; i < COUNT(others); i++)
		if (origin_at(others[i], SECOND) != PRINTK_ORIGIN_OTHER)
			fail_msg("%lx", others[i]);
}

/* Else a user whose messages come from such a module could fill the room that is kept for the driver's. */
TEST(the_drivers_range_ends_where_another_modules_begins)
{
	struct printk_range ranges[2];

	load(OVERLAY NVIDIA TOOLS);
	assert_int_equal(printk_origins_driver(&o, ranges, COUNT(ranges)), 1);
	assert_int_equal(ranges[0].begin, 0xffffffffc0000000);
	assert_int_equal(ranges[0].end, 0xffffffffc0004000);
	/* The other one has gone. */
	load_at(NVIDIA "nvidia_uvm 4096 0 - Live 0xffffffffc0008000\n", 5 * SECOND);
	assert_int_equal(printk_origins_driver(&o, ranges, COUNT(ranges)), 2);
	assert_int_equal(ranges[0].end, 0xffffffffc0008000);
	assert_int_equal(ranges[1].end, 0xffffffffc0009000);
	assert_int_equal(printk_origins_driver(&o, ranges, 1), 1);
}

/* By its record that is known as well: it counts there, whether the driver is loaded or not. */
TEST(what_a_process_wrote_to_the_log)
{
	put("/proc/kallsyms", KALLSYMS);
	assert_int_equal(printk_origins_read_functions(&o, root), 0);
	load_at(OVERLAY, SECOND);
	assert_int_equal(origin_at(0xffffffff81001650, SECOND), PRINTK_ORIGIN_PROCESS);
	assert_int_equal(ORIGIN_OF(TRACE, PRINTK), PRINTK_ORIGIN_OTHER);
	load_at(OVERLAY NVIDIA, SECOND);
	assert_int_equal(origin_at(0xffffffff81001650, SECOND), PRINTK_ORIGIN_PROCESS);
}

TEST(a_call_at_the_end_of_a_function_belongs_to_it)
{
	load(OVERLAY NVIDIA);
	assert_int_equal(ORIGIN_OF(0xffffffff81001100, 0xffffffff81002080, 0xffffffffc0000100),
			 PRINTK_ORIGIN_DRIVER);
	/* The first address of another module is the end of the driver. */
	assert_int_equal(origin_at(0xffffffffc0004000, SECOND), PRINTK_ORIGIN_DRIVER);
}

TEST(a_stack_that_proves_nothing)
{
	load(NVIDIA);
	/* A console prints what anybody has logged: kernels before 5.19. */
	assert_int_equal(
		ORIGIN_OF(TRACE, 0xffffffff81001450, 0xffffffff81002050, 0xffffffffc0000100),
		PRINTK_ORIGIN_UNKNOWN);
	assert_int_equal(ORIGIN_OF(TRACE, PRINTK), PRINTK_ORIGIN_UNKNOWN);
	assert_int_equal(ORIGIN_OF(TRACE), PRINTK_ORIGIN_UNKNOWN);
	assert_int_equal(printk_origin(&o, NULL, 0, SECOND), PRINTK_ORIGIN_UNKNOWN);
}

/* Functions that are traced are called by code that lies in neither text nor module. */
TEST(code_that_the_kernel_has_made_is_no_caller)
{
	const uint64_t made = 0xffffffffc0900010;

	load(OVERLAY NVIDIA TOOLS);
	assert_int_equal(ORIGIN_OF(TRACE, 0xffffffff81001050, made, 0xffffffff81001200, made,
				   0xffffffff81002050, made, 0xffffffffc0000100),
			 PRINTK_ORIGIN_DRIVER);
	/* A function of the kernel, and of another module. */
	assert_int_equal(ORIGIN_OF(TRACE, PRINTK, made, 0xffffffff81800000, 0xffffffffc0000100),
			 PRINTK_ORIGIN_OTHER);
	assert_int_equal(ORIGIN_OF(TRACE, PRINTK, made, 0xffffffffc0100100, 0xffffffffc0000100),
			 PRINTK_ORIGIN_OTHER);
	/* Whose return address is hidden, if it is not printk's. */
	assert_int_equal(
		ORIGIN_OF(TRACE, 0xffffffff81001050, 0xffffffff81003000, 0xffffffffc0000100),
		PRINTK_ORIGIN_UNKNOWN);
	assert_int_equal(ORIGIN_OF(TRACE, PRINTK, made), PRINTK_ORIGIN_UNKNOWN);
}

#define STALE(now_ns, ...) printk_origins_stale(&o, root, STACK(__VA_ARGS__), SECOND + 1, now_ns)
#define OF_KERNEL TRACE, PRINTK, 0xffffffff81800000

/* A user can have the kernel load a module, perhaps to where the driver's data lies. */
TEST(the_driver_needs_modules_read_after_the_call)
{
	load(NVIDIA);
	assert_false(printk_origins_stale(&o, root, STACK(TRACE, PRINTK, 0xffffffffc0004100),
					  SECOND, 9 * SECOND));
	assert_true(STALE(SECOND + 2, TRACE, PRINTK, 0xffffffffc0004100));
	assert_false(STALE(SECOND + 2, OF_KERNEL));
	assert_true(STALE(2 * SECOND, OF_KERNEL));
	load_at(OVERLAY NVIDIA, SECOND + 3);
	assert_int_equal(origin_at(0xffffffffc0004100, SECOND + 1), PRINTK_ORIGIN_OTHER);
}

/* Its first messages may come before the next reading is due, even if a flood of a user's messages
 * has just caused one. */
TEST(a_driver_that_has_just_been_loaded_needs_them_too)
{
	load(OVERLAY);
	assert_false(STALE(SECOND + 2, TRACE, PRINTK, 0xffffffffc0000100));
	put("/sys/module/nvidia/initstate", "coming\n");
	assert_true(STALE(SECOND + 2, TRACE, PRINTK, 0xffffffffc0000100));
	load_at(OVERLAY NVIDIA, SECOND + 2);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND + 1), PRINTK_ORIGIN_DRIVER);
	/* Once. */
	assert_false(printk_origins_stale(&o, root, STACK(OF_KERNEL), SECOND + 3, SECOND + 4));
}

TEST(without_the_driver_nothing_is_its)
{
	load(OVERLAY);

	/* Nor is the large file read. */
	assert_int_equal(o.function_count, 0);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_OTHER);
	assert_int_equal(origin_at(0xffffffffc0004100, SECOND), PRINTK_ORIGIN_OTHER);
	load_at(OVERLAY NVIDIA, 2 * SECOND);
	assert_int_equal(o.function_count, 9);
	assert_int_equal(origin_at(0xffffffffc0000100, 2 * SECOND), PRINTK_ORIGIN_DRIVER);
}

TEST(ranges_of_the_time_of_the_call)
{
	load(NVIDIA);
	/* Its text is another module's now. */
	load_at("other 65536 0 - Live 0xffffffffc0000000\n", 5 * SECOND);
	assert_int_equal(origin_at(0xffffffffc0000100, 2 * SECOND), PRINTK_ORIGIN_DRIVER);
	assert_int_equal(origin_at(0xffffffffc0000100, 6 * SECOND), PRINTK_ORIGIN_OTHER);
	/* It is back at another address. */
	load_at("nvidia 65536 0 - Live 0xffffffffc0200000\n", 9 * SECOND);
	assert_int_equal(origin_at(0xffffffffc0200100, 4 * SECOND), PRINTK_ORIGIN_OTHER);
	assert_int_equal(origin_at(0xffffffffc0200100, 9 * SECOND), PRINTK_ORIGIN_DRIVER);
	assert_int_equal(o.module_count, 3);
	/* A minute later the first two are forgotten. */
	assert_int_equal(printk_origins_read(&o, root, 100 * SECOND), 0);
	assert_int_equal(o.module_count, 1);
}

/* A user can have the kernel load such a module, the data of a cipher. */
TEST(a_module_without_text_hides_no_address)
{
	load("cast_common 20480 2 cast5_avx_x86_64,cast5_generic, Live 0x0000000000000000\n" NVIDIA);

	assert_int_equal(o.module_count, 1);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_DRIVER);
	assert_int_equal(origin_at(0xffffffff81000500, SECOND), PRINTK_ORIGIN_OTHER);
}

/* A module that many others use. */
TEST(a_line_may_be_long)
{
	char modules[9000] = "x_tables 65536 500 ";

	for (int i = 0; i < 500; i++)
		append_text(modules, "xt_module_%d,", i);
	append_text(modules, " Live 0xffffffffc0300000\n" NVIDIA);
	load(modules);
	assert_int_equal(o.module_count, 2);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_DRIVER);
}

/* As those of Rust are. */
TEST(a_symbol_may_be_long)
{
	put("/proc/kallsyms", formatted("ffffffff80ffff00 T %0511d\n" KALLSYMS, 0));
	assert_int_equal(printk_origins_read_functions(&o, root), 0);
	assert_int_equal(o.function_count, 9);
}

TEST(hidden_or_missing_addresses)
{
	assert_int_equal(printk_origins_read(&o, root, SECOND), -ENOENT);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_UNKNOWN);
	put("/proc/modules", "nvidia 65536 0 - Live 0x0000000000000000 (POE)\n");
	assert_int_equal(printk_origins_read(&o, root, SECOND), -EPERM);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_UNKNOWN);
	put("/proc/modules", NVIDIA);
	put("/proc/kallsyms", "0000000000000000 t printk_sprint\n0000000000000000 T _printk\n");
	assert_int_equal(printk_origins_read(&o, root, SECOND), -EPERM);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_UNKNOWN);
	put("/proc/kallsyms", "ffffffff81000000 T _stext\n");
	assert_int_equal(printk_origins_read(&o, root, SECOND), -ENOENT);
	put("/proc/kallsyms", KALLSYMS);
	assert_int_equal(printk_origins_read(&o, root, SECOND), 0);
	assert_int_equal(origin_at(0xffffffffc0000100, SECOND), PRINTK_ORIGIN_DRIVER);
	put("/proc/modules", "nonsense\n");
	assert_int_equal(printk_origins_read(&o, root, SECOND), -EINVAL);
}

TEST(releases_that_show_who_prints)
{
	static const char *const releases[] = { "5.19.0-1", "6.1.0", "10.0-rc1" };
	static const char *const earlier[] = { "4.18.0-553", "5.10.0", "5.18.19", "" };

	for (size_t i = 0; i < COUNT(releases); i++) {
		put("/proc/sys/kernel/osrelease", releases[i]);
		assert_true(printk_release_shows(root));
	}
	for (size_t i = 0; i < COUNT(earlier); i++) {
		put("/proc/sys/kernel/osrelease", earlier[i]);
		assert_false(printk_release_shows(root));
	}
}
