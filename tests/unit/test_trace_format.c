// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that fields are found by the `format` files of real kernels, in each form in which a text may stand in a
 * record, and that a record that is too short for what its format promises gives nothing. */
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

static const char hang_format[] = "name: sched_process_hang\nID: 310\nformat:\n" COMMON
				  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
				  "print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";

static const char victim_format[] =
	"name: mark_victim\nID: 533\nformat:\n" COMMON
	"\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] comm;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long total_vm;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:64;\tsize:2;\tsigned:1;\n\n"
	"print fmt: \"pid=%d comm=%s\", REC->pid, __get_str(comm)\n";

static const char relative_format[] =
	"name: relative\nID: 1\nformat:\n" COMMON
	"\tfield:__rel_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * pointer;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:short negative;\toffset:24;\tsize:2;\tsigned:1;\n";

/* The format and the record of the test that runs. */
static struct trace_format f;
static unsigned char record[80];

static void parse(const char *text)
{
	memset(record, 0, sizeof(record));
	assert_true(trace_format_parse(&f, text, strlen(text)));
}

static void put32(size_t offset, uint32_t value)
{
	memcpy(record + offset, &value, sizeof(value));
}

/* What a record of @len bytes has; NULL: it has none. */
static void assert_text(size_t len, const char *name, const char *expected)
{
	size_t size = 0;
	const char *text = trace_string(&f, record, len, name, &size);

	assert_int_equal(!text, !expected);
	if (expected)
		assert_printed(expected, "%.*s", (int)size, text);
}

/* The number, or 5 if there is none. */
static void assert_number(size_t len, const char *name, uint64_t expected)
{
	assert_int_equal(trace_number(&f, record, len, name, 5), expected);
}

TEST(the_drivers_tracepoint)
{
	parse(xid_format);
	assert_printed("2042 7", "%u %zu", f.id, f.field_count);
	memcpy(record, "\xfa\7", 2);
	put32(4, 4711);
	put32(8, 13u << 16 | 20);
	put32(12, 79);
	put32(16, 28u << 16 | 33);
	memcpy(record + 20, "0000:c1:00.0", 13);
	memcpy(record + 33, "GPU has fallen off the bus.", 28);
	assert_text(64, "dev", "0000:c1:00.0");
	assert_text(64, "msg", "GPU has fallen off the bus.");
	assert_number(64, "error_code", 79);
	assert_number(64, "common_type", 2042);
	assert_number(64, "common_pid", 4711);
	assert_number(64, "nothing", 5);
	assert_text(64, "nothing", NULL);
	/* Cut: what does not lie in the record is not there. */
	assert_text(61, "msg", "GPU has fallen off the bus.");
	assert_text(60, "msg", NULL);
	assert_text(33, "dev", "0000:c1:00.0");
	assert_text(32, "dev", NULL);
	assert_text(11, "dev", NULL);
	assert_number(16, "error_code", 79);
	assert_number(15, "error_code", 5);
	/* A place outside it. */
	put32(8, 0xffffffff);
	assert_text(64, "dev", NULL);
	put32(8, 1u << 16 | 64);
	assert_text(64, "dev", NULL);
	put32(8, 64);
	assert_text(64, "dev", "");
}

/* A name of all its 16 bytes has no NUL. */
TEST(a_name_in_an_array)
{
	parse(hang_format);
	put32(24, 1234);
	memcpy(record + 8, "python3", 7);
	assert_text(28, "comm", "python3");
	memcpy(record + 8, "0123456789abcdef", 16);
	assert_text(28, "comm", "0123456789abcdef");
	assert_number(28, "pid", 1234);
	assert_text(23, "comm", NULL);
	/* An array is no number. */
	assert_number(28, "comm", 5);
}

TEST(a_place_relative_to_its_field_is_not_read)
{
	parse(relative_format);
	put32(8, 3u << 16 | 12);
	assert_text(32, "msg", NULL);
	assert_number(32, "pointer", 0);
	memcpy(record + 24, "\xe8\3", 2);
	assert_number(32, "negative", 1000);
}

TEST(a_field_is_found_by_its_name)
{
	const struct trace_field *field;

	parse(victim_format);
	field = not_null(trace_field_find(&f, "total_vm"));
	assert_printed("16 8 0", "%u %u %d", field->offset, field->size, field->dynamic);
	assert_true(trace_field_find(&f, "comm")->dynamic);
	assert_null(trace_field_find(&f, "com"));
	assert_null(trace_field_find(&f, ""));
}

TEST(what_is_no_format_is_refused)
{
	NONE_ACCEPTED(text, trace_format_parse(&f, text, strlen(text)), "", "\n",
		      "name: x\nformat:\n" COMMON, "ID: 1\n", "ID: 65536\n" COMMON,
		      "ID: x\n" COMMON, "ID: 4294967297\n" COMMON, "ID: 1\n\tfield:int x\n",
		      "ID: 1\n\tfield:int x;\toffset:;\tsize:4;\n",
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
