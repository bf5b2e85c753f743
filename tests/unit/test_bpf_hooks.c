// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the kernel's counts of each program's runs are reported, and that misses are those of all programs but the
 * excepted hooks'. The programs are made up here, in place of libbpf's. */
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

static void add_line(void *context, const char *program, uint64_t runs, uint64_t ns)
{
	char *lines = context;

	sprintf(lines + strlen(lines), "%s %lu %lu\n", program, runs, ns);
}

TEST(runs_and_misses_of_programs_are_counted)
{
	struct skeleton {
		struct bpf_object_skeleton *skeleton;
		struct bpf_object *object;
		struct {
			struct bpf_program *second, *third;
		} progs;
		struct {
			struct bpf_link *second, *third;
		} links;
	} skeleton = { .progs = { program_at(1), program_at(2) } };
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
