// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that fields are found by the `format` files of real kernels, and that no other text is taken for one. */
#include "unit.h"
#include "kernel/trace.h"

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char xid_format[] =
	"name: nvidia_dev_xid\nID: 2042\nformat:\n" COMMON
	"\tfield:__data_loc char[] dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 error_code;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] msg;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"Xid (PCI:%s): %u, %s\", __get_str(dev), REC->error_code, __get_str(msg)\n";

static const char victim_format[] =
	"name: mark_victim\nID: 533\nformat:\n" COMMON
	"\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] comm;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long total_vm;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:64;\tsize:2;\tsigned:1;\n\n"
	"print fmt: \"pid=%d comm=%s\", REC->pid, __get_str(comm)\n";

/* Where the field of the event lies, and whether it is dynamic. */
static void assert_field(const char *format, const char *name, const char *expected)
{
	struct trace_field field;

	assert_true(trace_field_find(span_of(format), name, &field));
	assert_printed(expected, "%u %u %d", field.offset, field.size, field.dynamic);
}

TEST(a_field_is_found_by_its_name)
{
	static const char others[] =
		"\tfield:__rel_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
		"\tfield:const char * pointer;\toffset:32;\tsize:8;\tsigned:0;\n";
	struct trace_field field;

	assert_field(xid_format, "common_pid", "4 4 0");
	assert_field(xid_format, "dev", "8 4 1");
	assert_field(xid_format, "error_code", "12 4 0");
	assert_field(victim_format, "total_vm", "16 8 0");
	assert_field(victim_format, "comm", "12 4 1");
	assert_field(others, "comm", "12 16 0");
	assert_field(others, "pointer", "32 8 0");
	assert_false(trace_field_find(span_of(others), "msg", &field));
	assert_false(trace_field_find(span_of(victim_format), "com", &field));
	assert_false(trace_field_find(span_of(victim_format), "", &field));
}

TEST(what_is_no_field_is_refused)
{
	struct trace_field field;

	NONE_ACCEPTED(text, trace_field_find(span_of(text), "x", &field), "", "\n", "x", "field:x",
		      "\tfield:int x\n", "\tfield:int x;\toffset:;\tsize:4;\n",
		      "\tfield:int x;\toffset:4294967296;\tsize:4;\n",
		      "\tfield:int x;\toffset:0;\n");
	/* Not terminated, and at its end. */
	assert_true(trace_field_find(span_cut(span_of("field:int x;offset:0;size:45"), 27), "x",
				     &field));
	assert_int_equal(field.size, 4);
}
