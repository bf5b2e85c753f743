// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that of a refused BPF program, what libbpf and the verifier wrote is turned into the kernel feature that is
 * missing, and that this is not lost however much they wrote. */
#include "unit.h"
#include "kernel/bpf_support.h"
#include "kernel/bpf_hooks.h"
#include "kernel/bpf_support.h"

static void expect(const char *words, const char *feature)
{
	char got[512] = "";

	assert_true(bpf_refusal_explain(got, sizeof(got), words));
	assert_string_equal(got, feature);
}

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
		"%s\n"
		"processed 61 insns (limit 1000000) max_states_per_insn 0 total_states 5 peak_states 5 mark_read 4\n"
		"-- END PROG LOAD LOG --\n"
		"libbpf: prog 'rpc_stats_latency': failed to load: -22\n"
		"libbpf: failed to load object 'rpc_bpf'\n"
		"libbpf: failed to load BPF skeleton 'rpc_bpf': -22\n",
		reason);
	return words;
}

TEST(a_member_of_a_type)
{
	expect(refused("73: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <byte_off> [38] struct rpc_rqst.rq_xmit_bytes_sent (0:4 @ offset 48)"),
	       "in this kernel's types, struct rpc_rqst has no member rq_xmit_bytes_sent, or one of another type");
	expect(refused("73: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <byte_off> [19] struct rpc_xprt.address_strings[0] (0:11:0 @ offset 96)"),
	       "in this kernel's types, struct rpc_xprt has no member address_strings[0], or one of another type");
	expect(refused("73: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <byte_off> [19] struct rpc_xprt.stat.connect_count (0:9:0 @ offset 88)"),
	       "in this kernel's types, struct rpc_xprt has no member stat.connect_count, or one of another type");
}

TEST(an_instruction)
{
	expect("libbpf: prog 'rpc_probe': BPF program load failed: Invalid argument\n"
	       "libbpf: prog 'rpc_probe': -- BEGIN PROG LOAD LOG --\n"
	       "BPF_STX uses reserved fields\n"
	       "processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n"
	       "-- END PROG LOAD LOG --\n",
	       "the kernel has no atomic instructions that return a value (from 5.12)");
}

TEST(a_type)
{
	expect(refused("4: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <type_size> [38] struct rpc_rqst"),
	       "this kernel's types have no struct rpc_rqst");
	expect(refused("4: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <enumval_value> [7] enum rpc_display_format_t::RPC_DISPLAY_NETID = 5"),
	       "this kernel's types have no enum rpc_display_format_t::RPC_DISPLAY_NETID");
	/* The verifier's message, if libbpf has none of its own. */
	expect(refused("4: (85) call unknown#195896080\n"
		       "invalid func unknown#195896080"),
	       "this kernel's types lack something that the program reads");
}

TEST(a_tracepoint)
{
	expect("libbpf: prog 'rpc_task_sleep': failed to find kernel BTF type ID of 'rpc_task_sleep': -3\n"
	       "libbpf: prog 'rpc_task_sleep': failed to prepare load attributes: -3\n"
	       "libbpf: prog 'rpc_task_sleep': failed to load: -3\n"
	       "libbpf: failed to load object 'rpc_bpf'\n"
	       "libbpf: failed to load BPF skeleton 'rpc_bpf': -3\n",
	       "this kernel's types have no tracepoint rpc_task_sleep");
	expect(refused("func 'rpc_stats_latency' doesn't have 4-th argument\n"
		       "invalid bpf_context access off=24 size=8"),
	       "the tracepoint rpc_stats_latency has no argument 4");
}

TEST(a_function)
{
	/* To 6.12, and later. */
	expect(refused("9: (85) call bpf_ringbuf_reserve#131\n"
		       "unknown func bpf_ringbuf_reserve#131"),
	       "on this kernel, this type of program may not call the helper bpf_ringbuf_reserve");
	expect(refused("9: (85) call bpf_ringbuf_reserve#131\n"
		       "program of this type cannot use helper bpf_ringbuf_reserve#131"),
	       "on this kernel, this type of program may not call the helper bpf_ringbuf_reserve");
	expect(refused("9: (85) call unknown#181\n"
		       "invalid func unknown#181"),
	       "the kernel has no helper of number 181");
	expect(refused("9: (85) call bpf_rcu_read_lock#21345\n"
		       "calling kernel function bpf_rcu_read_lock is not allowed"),
	       "on this kernel, this type of program may not call the kernel's function bpf_rcu_read_lock");
}

TEST(a_limit_of_the_verifier)
{
	expect(refused("BPF program is too large. Processed 1000001 insn"),
	       "the program is too long for this kernel's verifier, which followed 1000001 instructions");
	expect(refused("The sequence of 8193 jumps is too complex."),
	       "the program is too complex for this kernel's verifier, which followed 8193 jumps");
}

TEST(a_map)
{
	expect("libbpf: Error in bpf_create_map_xattr(free_series):Invalid argument(-22). Retrying without BTF.\n"
	       "libbpf: map 'free_series': failed to create: Invalid argument(-22)\n"
	       "libbpf: failed to load object 'rpc_tracepoints_bpf'\n"
	       "libbpf: failed to load BPF skeleton 'rpc_tracepoints_bpf': -22\n",
	       "the kernel cannot create the BPF map free_series: Invalid argument");
}

TEST(an_event)
{
	expect("libbpf: failed to determine tracepoint 'sunrpc/rpc_stats_latency' perf event ID: No such file or directory\n"
	       "libbpf: prog 'tp_latency': failed to create tracepoint 'sunrpc/rpc_stats_latency' perf event: No such file or directory\n",
	       "tracefs does not have the event sunrpc/rpc_stats_latency: No such file or directory");
	expect("libbpf: tracepoint 'sunrpc/rpc_stats_latency' perf_event_open() failed: Permission denied\n"
	       "libbpf: prog 'tp_latency': failed to create tracepoint 'sunrpc/rpc_stats_latency' perf event: Permission denied\n",
	       "this process may not open events (perf_event_open): it needs CAP_PERFMON, or where "
	       "kernel.perf_event_paranoid is above 2, as on Debian, CAP_SYS_ADMIN");
	expect("libbpf: tracepoint 'sunrpc/rpc_stats_latency' perf_event_open() failed: No such device\n",
	       "the kernel cannot open the event sunrpc/rpc_stats_latency (perf_event_open): No such device");
	expect("libbpf: prog 'tp_latency': failed to attach to perf_event FD 41: Argument list too long\n"
	       "libbpf: prog 'tp_latency': failed to attach to tracepoint 'sunrpc/rpc_stats_latency': Argument list too long\n",
	       "the kernel cannot attach programs to the event sunrpc/rpc_stats_latency: Argument list too long");
	expect("libbpf: prog 'printk_console': failed to attach to raw tracepoint 'console': No such file or directory\n",
	       "the kernel cannot attach programs to the raw tracepoint console: No such file or directory");
}

TEST(no_programs_at_all)
{
	expect("libbpf: Error in bpf_object__probe_loading():Operation not permitted(1). Couldn't load trivial BPF program. Make sure your kernel supports BPF (CONFIG_BPF_SYSCALL=y) and/or that RLIMIT_MEMLOCK is set to big enough value.\n"
	       "libbpf: failed to load object 'rpc_bpf'\n",
	       "this process may not load any BPF program");
	expect("libbpf: failed to find valid kernel BTF\n"
	       "libbpf: Error loading vmlinux BTF: -3\n"
	       "libbpf: failed to load object 'rpc_bpf'\n",
	       "this kernel's types (BTF) cannot be read");
	expect("libbpf: prog 'tp_sleep': BPF program load failed: Invalid argument\n"
	       "libbpf: prog 'tp_sleep': failed to load: -22\n",
	       "the kernel gives no reason; it may not support programs of this type");
}

/* The verifier has accepted the program: it prints only its figures. */
TEST(a_security_module)
{
	expect("libbpf: prog 'tp_disconnect': BPF program load failed: Permission denied\n"
	       "libbpf: prog 'tp_disconnect': -- BEGIN PROG LOAD LOG --\n"
	       "processed 41 insns (limit 1000000) max_states_per_insn 0 total_states 2 peak_states 2 mark_read 1\n"
	       "-- END PROG LOAD LOG --\n"
	       "libbpf: prog 'tp_disconnect': failed to load: -13\n",
	       "the kernel's verifier accepts the program, but something else in the kernel refuses it, such as a security module");
}

/* A message without a row is printed as it is. */
TEST(another_verdict)
{
	char got[512] = "";

	expect(refused("12: (07) r6 += 96\n"
		       "R6 pointer arithmetic on trusted_ptr_or_null_ prohibited, null-check it first"),
	       "the kernel's verifier reports: R6 pointer arithmetic on trusted_ptr_or_null_ prohibited, null-check it first");
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
