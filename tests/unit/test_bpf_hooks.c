// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the kernel's counts of each program's runs are reported, and that misses are those of all programs but the
 * excepted hooks'; that a hook is missing if one that it needs is, and which end the attachment. The programs are made up here, in place of libbpf's. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/bpf_support.h"
#include "unit.h"

static struct {
	const char *name;
	uint64_t runs, misses;
} programs[] = { { "first", 5, 1 }, { "second", 0, 20 }, { "third", 7, 300 } };

static struct bpf_program *program_at(size_t i)
{
	return i < COUNT(programs) ? (struct bpf_program *)&programs[i] : NULL;
}

static size_t index_of(const struct bpf_program *program)
{
	for (size_t i = 0; i < COUNT(programs); i++)
		if (program == program_at(i))
			return i;
	fail();
	return 0;
}

struct bpf_program *bpf_object__next_program(const struct bpf_object *object,
					     struct bpf_program *program)
{
	(void)object;
	return program_at(program ? index_of(program) + 1 : 0);
}

const char *bpf_program__name(const struct bpf_program *program)
{
	return programs[index_of(program)].name;
}

int bpf_program__fd(const struct bpf_program *program)
{
	return (int)index_of(program);
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	struct bpf_prog_info *to = info;

	(void)size;
	to->run_cnt = programs[fd].runs;
	to->run_time_ns = 10 * programs[fd].runs;
	to->recursion_misses = programs[fd].misses;
	return 0;
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *program)
{
	return index_of(program) ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_RAW_TRACEPOINT;
}

static bool refuses;

struct bpf_link *bpf_program__attach_trace(const struct bpf_program *program)
{
	errno = EINVAL;
	return refuses && index_of(program) == 1 ? NULL : (struct bpf_link *)program;
}

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	return (struct bpf_link *)program;
}

static void add_line(void *context, const char *program, uint64_t runs, uint64_t ns)
{
	char *lines = context;

	sprintf(lines + strlen(lines), "%s %lu %lu\n", program, runs, ns);
}

static struct skeleton {
	struct bpf_object_skeleton *skeleton;
	struct bpf_object *object;
	struct {
		struct bpf_program *first, *second, *third;
	} progs;
	struct {
		struct bpf_link *first, *second, *third;
	} links;
} skeleton;

BEFORE_EACH()
{
	skeleton = (struct skeleton){ .progs = { program_at(0), program_at(1), program_at(2) } };
}

TEST(runs_and_misses_of_programs_are_counted)
{
	static const struct bpf_hook table[] = { BPF_HOOK("a", skeleton, second, 0, 0),
						 BPF_HOOK("b", skeleton, third, 0, 0) };
	struct bpf_hooks hooks = { .table = table, .count = COUNT(table), .skeleton = &skeleton };
	static const uint64_t misses[] = { 321, 301, 21,
					   1 }; /* by the hooks that are excepted, bits */

	for (unsigned int except = 0; except < COUNT(misses); except++) {
		char lines[100] = "";

		assert_int_equal(bpf_hooks_count(&hooks, except, add_line, lines), misses[except]);
		assert_string_equal(lines, "first 5 50\nthird 7 70\n");
	}
}

TEST(a_hook_is_missing_without_one_that_it_needs)
{
	static const struct bpf_hook table[] = { BPF_HOOK("a", skeleton, first, 0, 0),
						 BPF_HOOK("b", skeleton, second, 0, 0),
						 BPF_HOOK("c", skeleton, third, 2, 0) };
	static const struct {
		bool refuses;
		unsigned int essential, unused, missing, attached;
		int err;
	} cases[] = {
		{ false, 7, 0, 0, 7, 0 }, /* all */
		{ true, 1, 0, 6, 1, 0 }, /* "c" needs "b", which is refused */
		{ true, 4, 0, 6, 1, -ENOENT }, /* an essential one needs it */
		{ true, 2, 0, 2, 1, -EINVAL }, /* an essential one is refused */
		{ true, 4, 2, 0, 5, 0 }, /* "b" is not needed here */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct log log = { .quiet = true };
		struct bpf_hooks hooks = { .log = &log,
					   .user = "it",
					   .table = table,
					   .count = COUNT(table),
					   .essential = cases[i].essential,
					   .unused = cases[i].unused,
					   .skeleton = &skeleton };

		memset(&skeleton.links, 0, sizeof(skeleton.links));
		refuses = cases[i].refuses;
		assert_int_equal(bpf_hooks_attach(&hooks, 0, COUNT(table)), cases[i].err);
		assert_int_equal(hooks.missing, cases[i].missing);
		for (size_t hook = 0; hook < COUNT(table); hook++)
			assert_int_equal(bpf_hook_attached(&hooks, hook),
					 cases[i].attached >> hook & 1);
	}
}
