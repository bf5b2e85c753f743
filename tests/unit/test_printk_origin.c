// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a printk call is the driver's only if its immediate caller is a function of a module of the driver, and
 * that nothing is decided where a name is missing. */
#include "faults/fault_authority.h"
#include "made_up_tree.h"
#include "unit.h"

#define TRACE "bpf_trace_run2\n"
#define PRINTK TRACE "printk_sprint\nvprintk_store\nvprintk_emit\n_printk\n"
#define DRIVER "nv_printf [nvidia]\n"

static struct printk_names names_of(const char *text)
{
	struct printk_names names = {};

	assert_true(strlen(text) < sizeof(names.text));
	memcpy(names.text, text, strlen(text));
	return names;
}

static void expect(enum printk_origin origin, const char *text)
{
	const struct printk_names names = names_of(text);

	if (printk_origin(&names) != origin)
		fail_msg("%d, not %d: %s", printk_origin(&names), origin, text);
}

TEST(the_modules_of_the_driver_are_known_by_name)
{
	/* The first six are its. */
	static const char *const names[] = { "nvidia",     "nvidia_modeset", "nvidia_uvm",
					     "nvidia_drm", "nvidia_peermem", "nvswitch",
					     "nvidia_fs",  "nvidiafb",       "nvidi",
					     "xnvidia",    "nvidia ",        "" };

	for (size_t i = 0; i < COUNT(names); i++)
		expect(i < 6 ? PRINTK_ORIGIN_DRIVER : PRINTK_ORIGIN_OTHER,
		       formatted(PRINTK "print [%s]\n", names[i]));
}

TEST(the_immediate_caller_decides)
{
	static const char *const others[] = {
		/* The kernel itself, though the driver is further up the stack. */
		"mount_fs\n",
		/* Functions whose names begin like printk's. */
		"vprintk_emitter\n",
		"bpf_trampoline_link_prog\n",
		"bpf_trampoline_\n",
		/* One of a module is none of printk's, nor code that the kernel has made. */
		"_printk [other]\n",
		"bpf_trampoline_7 [other]\n",
		/* A name that holds a bracket, which a module's file may have. */
		"nv_printf [nvidia] [other]\n",
		"[nvidia] [other]\n",
		"nvidia]\n",
		"x[nvidia]\n",
		" [nvidia]x\n",
	};

	expect(PRINTK_ORIGIN_DRIVER, PRINTK DRIVER);
	expect(PRINTK_ORIGIN_DRIVER, PRINTK "a name [other] [nvidia]\n");
	for (size_t i = 0; i < COUNT(others); i++)
		expect(PRINTK_ORIGIN_OTHER, formatted(PRINTK "%s" DRIVER, others[i]));
}

TEST(parts_of_functions_belong_to_them)
{
	expect(PRINTK_ORIGIN_DRIVER,
	       TRACE "printk_sprint.isra.0\nvprintk_store.cold\nvprintk_emit\n_printk\n" DRIVER);
}

TEST(what_a_process_wrote_to_the_log)
{
	expect(PRINTK_ORIGIN_PROCESS, TRACE "printk_sprint\nvprintk_emit\ndevkmsg_emit\n" DRIVER);
}

TEST(a_stack_that_proves_nothing)
{
	static const char *const stacks[] = {
		"",
		TRACE,
		PRINTK,
		/* Before 5.19 a console prints the lines of any process. */
		TRACE "console_unlock\nvprintk_emit\n_printk\n" DRIVER,
		/* A kernel without symbols. */
		"0xffffffff81000100\n0xffffffff81001050\n0xffffffffc0000100\n",
		/* A hidden return address, and code without a symbol. */
		PRINTK "return_to_handler\n" DRIVER,
		PRINTK "0xffffffffc0900010\n" DRIVER,
		/* Names that are cut. */
		PRINTK "nv_printf [nvidia]",
		PRINTK "nv_printf [nvid",
	};

	for (size_t i = 0; i < COUNT(stacks); i++)
		expect(PRINTK_ORIGIN_UNKNOWN, stacks[i]);
}

/* The functions are called by such code while a program is attached to their returns. */
TEST(code_that_the_kernel_has_made_is_no_caller)
{
#define MADE "bpf_trampoline_6442480563\n"
	expect(PRINTK_ORIGIN_DRIVER,
	       MADE "printk_sprint\n" MADE "vprintk_store\nvprintk_emit\n_printk\n" MADE DRIVER);
	expect(PRINTK_ORIGIN_OTHER, PRINTK MADE "mount_fs\n" DRIVER);
}

TEST(names_may_fill_their_room)
{
	struct printk_names names;

	memset(&names, 'x', sizeof(names));
	memcpy(names.text, PRINTK, strlen(PRINTK));
	assert_int_equal(printk_origin(&names), PRINTK_ORIGIN_UNKNOWN);
	memcpy(names.text + sizeof(names.text) - strlen(DRIVER) - 1, "\n" DRIVER,
	       strlen(DRIVER) + 1);
	assert_int_equal(printk_origin(&names), PRINTK_ORIGIN_OTHER);
	memcpy(names.text + sizeof(names.text) - strlen(DRIVER), DRIVER, strlen(DRIVER));
	names.text[strlen(PRINTK)] = '\0';
	assert_int_equal(printk_origin(&names), PRINTK_ORIGIN_UNKNOWN);
}

TEST(whether_the_kernel_shows_who_prints)
{
	static const struct {
		const char *text;
		bool shown;
	} stacks[] = {
		{ PRINTK, true },
		{ TRACE "vprintk_store\nvprintk_emit\n", true },
		{ "return_to_handler\nprintk_sprint\n", true },
		{ TRACE "console_unlock\nvprintk_emit\nvprintk_store\n", false },
		{ TRACE "printk_sprint [other]\nvprintk_emit\n", false },
		{ "0xffffffff81000100\n", false },
	};

	for (size_t i = 0; i < COUNT(stacks); i++) {
		const struct printk_names names = names_of(stacks[i].text);

		if (printk_origin_shown(&names) != stacks[i].shown)
			fail_msg("%s", stacks[i].text);
	}
}

TEST(a_load_of_the_driver_changes_its_number)
{
	uint64_t first;

	assert_int_equal(printk_driver_modules(root), 0);
	put("/sys/module/nvidia/initstate", "live\n");
	first = printk_driver_modules(root);
	assert_int_not_equal(first, 0);
	put("/sys/module/nvidia_uvm/initstate", "live\n");
	assert_int_not_equal(printk_driver_modules(root), first);
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
