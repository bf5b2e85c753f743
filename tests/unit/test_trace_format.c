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

static struct trace_format f; /* of the test that runs */

static void parse(const char *text)
{
	assert_true(trace_format_parse(&f, text, strlen(text)));
}

/* Where the field lies, and whether it is dynamic. */
static void assert_field(const char *name, const char *expected)
{
	const struct trace_field *field = not_null(trace_field_find(&f, name));

	assert_printed(expected, "%u %u %d", field->offset, field->size, field->dynamic);
}

TEST(a_field_is_found_by_its_name)
{
	parse(xid_format);
	assert_int_equal(f.field_count, 7);
	assert_field("common_pid", "4 4 0");
	assert_field("dev", "8 4 1");
	assert_field("error_code", "12 4 0");
	parse(victim_format);
	assert_field("total_vm", "16 8 0");
	assert_field("comm", "12 4 1");
	assert_null(trace_field_find(&f, "com"));
	assert_null(trace_field_find(&f, ""));
	parse("\tfield:__rel_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n"
	      "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	      "\tfield:const char * pointer;\toffset:32;\tsize:8;\tsigned:0;\n");
	assert_null(trace_field_find(&f, "msg"));
	assert_field("comm", "12 16 0");
	assert_field("pointer", "32 8 0");
}

TEST(what_is_no_format_is_refused)
{
	NONE_ACCEPTED(text, trace_format_parse(&f, text, strlen(text)), "", "\n", "ID: 1\n",
		      "ID: 1\n\tfield:int x\n", "ID: 1\n\tfield:int x;\toffset:;\tsize:4;\n",
		      "ID: 1\n\tfield:int x;\toffset:4294967296;\tsize:4;\n",
		      "ID: 1\n\tfield:int x;\toffset:0;\n");
	/* Not terminated, and at its end. */
	assert_true(trace_format_parse(&f, "ID: 1\nfield:int x;offset:0;size:4junk", 34));
	assert_int_equal(f.fields[0].size, 4);
}

TEST(too_many_fields_and_too_long_names)
{
	char text[8192] = "ID: 1\n";

	for (int i = 0; i < 2 * TRACE_FIELDS; i++)
		sprintf(text + strlen(text),
			"\tfield:int a_name_that_is_longer_than_any_that_we_ask_for_%d;"
			"\toffset:%d;\tsize:4;\tsigned:0;\n",
			i, 4 * i);
	parse(text);
	assert_int_equal(f.field_count, TRACE_FIELDS);
	assert_int_equal(strlen(f.fields[0].name), sizeof(f.fields[0].name) - 1);
}
