// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that of a refused BPF program, what libbpf and the verifier wrote is turned into the kernel feature that is
 * missing, and that this is not lost however much they wrote. */
#include "golden.h"
#include "kernel/bpf_support.h"
#include "unit.h"

/* Messages of one attempt to load: @reason is what the verifier's log ends with before its figures. */
static const char *refused(const char *reason)
{
	static char words[2048];

	snprintf(
		words, sizeof(words),
		"libbpf: prog 'rpc_stats_latency': BPF program load failed: Invalid argument\n"
		"libbpf: prog 'rpc_stats_latency': -- BEGIN PROG LOAD LOG --\n"
		"reg type unsupported for arg#0 function rpc_stats_latency#33\n"
		"0: R1=ctx(off=0,imm=0) R10=fp0\n"
		"; int BPF_PROG(rpc_stats_latency, const struct rpc_task *task, ktime_t backlog,\n"
		"0: (79) r6 = *(u64 *)(r1 +0)\n"
		"func 'rpc_stats_latency' arg0 has btf_id 99133 type STRUCT 'rpc_task'\n"
		"1: R1=ctx(off=0,imm=0) R6_w=ptr_rpc_task(off=0,imm=0)\n"
		"%s"
		"verification time 602 usec\n"
		"stack depth 56+0\n"
		"processed 61 insns (limit 1000000) max_states_per_insn 0 total_states 5 peak_states 5 mark_read 4\n"
		"-- END PROG LOAD LOG --\n"
		"libbpf: prog 'rpc_stats_latency': failed to load: -22\n"
		"libbpf: failed to load object 'rpc_bpf'\n"
		"libbpf: failed to load BPF skeleton 'rpc_bpf': -22\n",
		reason);
	return words;
}

/* Of lines of libbpf, or of what the verifier's log ends with. */
static const char *explained(const char *words)
{
	static char got[512];

	*got = 0;
	assert_true(bpf_refusal_explain(got, sizeof(got),
					strncmp(words, "libbpf", 6) != 0 ? refused(words) : words));
	return got;
}

TEST(each_refusal_names_what_the_kernel_lacks)
{
	assert_golden(TEST_DATA "/bpf_refusals.txt", explained);
}

TEST(other_texts_are_no_refusal)
{
	char got[512] = "";

	assert_false(bpf_refusal_explain(got, sizeof(got), ""));
	assert_false(bpf_refusal_explain(got, sizeof(got),
					 "libbpf: failed to open /proc/kallsyms: -2\n"));
	assert_string_equal(got, "");
}

/* As libbpf does it. */
static void __attribute__((format(printf, 2, 3)))
say(libbpf_print_fn_t print, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(LIBBPF_WARN, format, args);
	va_end(args);
}

TEST(long_logs_lose_their_beginning_only)
{
	static const struct bpf_hook hooks[] = { { .function = "rpc_task_wakeup" },
						 { .function = "rpc_task_sleep" },
						 { .function = "rpc_task" } };
	static const struct log quiet;
	static char log[100000];
	libbpf_print_fn_t print;
	size_t len = 0;

	bpf_messages_init(&quiet);
	print = libbpf_set_print(NULL);
	while (len < sizeof(log) - 100)
		len += (size_t)sprintf(log + len, "%zu: (79) r6 = *(u64 *)(r1 +0)\n", len);
	for (int attempt = 0; attempt < 2; attempt++) {
		bpf_error_log_clear();
		say(print, "libbpf: prog '%s': BPF program load failed: %s\n", "rpc_task_sleep",
		    "Invalid argument");
		say(print,
		    "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s%s-- END PROG LOAD LOG --\n",
		    "rpc_task_sleep", log,
		    "73: <invalid CO-RE relocation>\n"
		    "failed to resolve CO-RE relocation <byte_off> [38] struct rpc_rqst.rq_xtime (0:4 @ offset 48)\n"
		    "processed 61 insns (limit 1000000) max_states_per_insn 0 total_states 5 peak_states 5 mark_read 4\n");
		say(print, "libbpf: prog '%s': failed to load: %d\n", "rpc_task_sleep", -22);
		say(print, "libbpf: failed to load object '%s'\n", "rpc_bpf");
		assert_string_equal(
			bpf_reason(EINVAL),
			"in this kernel's types, struct rpc_rqst has no member rq_xtime, or one of another type");
		assert_int_equal(bpf_hooks_refused(hooks, 3, -EINVAL), 1);
		assert_int_equal(bpf_hooks_refused(hooks, 1, -EINVAL), 1);
		assert_int_equal(bpf_hooks_refused(hooks, 3, -EPERM), 3);
		/* Whole lines, the last ones: their numbers have five digits. */
		assert_ptr_equal(strstr(bpf_error_log(), ": (79) r6"), bpf_error_log() + 5);
		assert_non_null(
			strstr(bpf_error_log(), "libbpf: failed to load object 'rpc_bpf'\n"));
		assert_in_range(strlen(bpf_error_log()), 1000, 1535);
	}
	bpf_error_log_clear();
	assert_int_equal(bpf_hooks_refused(hooks, 3, -EINVAL), 3);
	assert_string_equal(bpf_error_log(), "");
	assert_string_equal(bpf_reason(EPERM), "Operation not permitted");
}
