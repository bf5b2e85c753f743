// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that every form of the driver's fault lines is read exactly, that each event is reported once, and that text
 * that only mentions Xid is no event. Real lines come from TEST_DATA/xid_lines.tsv. */
#include "unit.h"
#include "lines.h"
#include "xid/xid_line.h"

static struct xid_line next(const char *text, size_t len, size_t *offset)
{
	char *copy = exact_copy(text, len);
	struct xid_line line;

	xid_line_next(copy, len, offset, &line);
	if (line.message)
		line.message = text + (line.message - copy);
	free(copy);
	return line;
}

static struct xid_line first(const char *text)
{
	size_t offset = 0;

	return next(text, strlen(text), &offset);
}

static struct xid_line joined(const char *head, const char *rest)
{
	return first(formatted("%s%s", head, rest));
}

#define XID(rest) joined("NVRM: Xid (PCI:0018:01:00): ", rest)

static size_t count_events(const char *text, size_t len)
{
	size_t offset = 0, events = 0;

	while (next(text, len, &offset).kind != XID_LINE_NONE)
		events++;
	return events;
}

static void assert_message(const struct xid_line *line, const char *expected)
{
	assert_printed(expected, "%.*s", (int)line->message_len, line->message);
}

TEST(address_is_named_as_sysfs_does)
{
	static const char *const cases[][2] = {
		{ "PCI:0000:c1:00", "0000:c1:00.0" },
		{ "PCI:0000:C1:00.0", "0000:c1:00.0" },
		{ "PCI:0000:c1:00.3", "0000:c1:00.3" },
		{ "PCI:0000:10:1c", "0000:10:1c.0" },
		{ "PCI:000d:00:00", "000d:00:00.0" },
		{ "PCI:10000:e1:00", "10000:e1:00.0" },
		{ "PCI:00000000:3b:00.0", "0000:3b:00.0" },
		{ "PCI:ffffffff:ff:ff.7", "ffffffff:ff:ff.7" },
		{ "0001:02:00", "0001:02:00.0" },
		{ "0003:00", "0000:03:00.0" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = first(formatted("NVRM: Xid (%s): 79, gone", cases[i][0]));

		assert_int_equal(line.kind, XID_LINE_XID);
		assert_printed(formatted("%s 79", cases[i][1]), "%s %u", line.pci, line.code);
	}
}

TEST(text_without_a_whole_header_is_no_event)
{
	struct xid_line line;

	NONE_ACCEPTED(
		text, (line = first(text)).kind != XID_LINE_NONE || line.pid != -1 || *line.process,
		"", "N", "NVRM: Xid (", "NVRM: Xid (PCI:0000:c1:00", "NVRM: Xid (PCI:0000:c1:00)",
		"NVRM: Xid (PCI:0000:c1:00): ", "NVRM: Xid (PCI:0000:c1:00): xyz",
		"NVRM: Xid (PCI:0000:c1:00): 79th", "NVRM: Xid (PCI:0000:c1:00): 79_000",
		"NVRM: Xid (PCI:0000:c1:00): 0x4f", "NVRM: Xid (PCI:0000:c1:00): -79",
		"NVRM: Xid (PCI:0000:c1:00): 4294967296, beyond 32 bits",
		"NVRM: Xid (PCI:0000:c1:00)\n: 79", "NVRM: Xid (PCI:0000:c1:00 x\ny): 79, text",
		"NVRM: Xid (PCI:0000:100:00): 79, no such bus",
		"NVRM: Xid (PCI:0100:00): 79, no such bus",
		"NVRM: Xid (PCI:0001:100): 79, no such slot",
		"NVRM: Xid (PCI:0000:c1:00.8): 79, no such function",
		"NVRM: Xid (PCI:100000000:c1:00): 79, no such domain",
		"NVRM: Xid (PCI:0000:c1:00x): 79, unit", "NVRM: Xid (PCI:): 79, unit",
		"NVRM: Xid (): 79, unit", "NVRM: Xid : 32, pid=1",
		"NVRM: Xid PCI:0000:c1:00: 43, pid=1",
		"NVRM: GPU at PCI:0000:c1:00: GPU-00000000-1111-2222-3333-444444444444",
		"NVRM: RC all channels for critical error 79.",
		"SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63",
		"nvidia-nvswitch: SXid (PCI:0000:05:00.0): 20034, Fatal",
		"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): xyz, Fatal",
		"app[7]: saw Xid (PCI:0000:c1:00): 79 in the log",
		"oxide[12]: segfault at 0 ip 0 sp 0 error 4",
		"nvrm: xid (pci:0000:c1:00): 79, wrong case");
}

TEST(a_header_is_short_text)
{
	char text[200];
	size_t offset = 0;

	for (int room = 90; room < 120; room++) {
		int len = snprintf(text, sizeof(text), "NVRM: Xid (PCI:0000:c1:00 %0*d): 79", room,
				   0);

		assert_int_equal(first(text).kind, len > 128 ? XID_LINE_NONE : XID_LINE_XID);
	}
	memcpy(text, "NVRM: Xid (PCI:0000:c1:00 \0): 79", 32);
	assert_int_equal(next(text, 32, &offset).kind, XID_LINE_NONE);
}

TEST(process_is_read_or_unknown)
{
	/* With process id, name and message. */
	static const char *const cases[][2] = {
		{ "pid=1234, name=python3, Ch 00000008", "1234|python3|Ch 00000008" },
		{ "pid='<unknown>', name=<unknown>, Ch 1", "-1||Ch 1" },
		{ "pid=<unknown>, name='<unknown>', Ch 1", "-1||Ch 1" },
		{ "pid=729, Ch 00000003", "729||Ch 00000003" },
		{ "Ch 00000003", "-1||Ch 00000003" },
		{ "pid=0, name=swapper/0, x", "0|swapper/0|x" },
		{ "pid=2147483647, name=a, x", "2147483647|a|x" },
		{ "pid=2147483648, name=a, x", "-1|a|x" },
		{ "pid=12x, name=a, x", "-1|a|x" },
		{ "pid=, name=, x", "-1||x" },
		{ "pid=7, name=nvc:[driver], x", "7|nvc:[driver]|x" },
		{ "pid=7, name=[pytest-xdist r, x", "7|[pytest-xdist r|x" },
		{ "pid=7, name=ray::WorkerDict, x", "7|ray::WorkerDict|x" },
		{ "pid=7, name=a,b=c (d): 9, x", "7|a,b=c (d): 9|x" },
		{ "pid=7, name=Xid 79, x", "7|Xid 79|x" },
		{ "pid='12', name=a, x", "12|a|x" },
		{ "pid='12, name=a, x", "-1|a|x" },
		{ "pid=<n/a>, name=a, x", "-1|a|x" },
		/* "a, b": what follows ", " may be the message, */
		{ "pid=7, name=a, b, x", "7|a|b, x" },
		/* unless a message of the driver begins later in what can be a name. */
		{ "pid=7, name=a, b, Ch 00000008", "7|a, b|Ch 00000008" },
		{ "pid=7, name=a, , channel 0x1, intr", "7|a, |channel 0x1, intr" },
		{ "pid=7, name=123456789, 1234, GPU has", "7|123456789, 1234|GPU has" },
		{ "pid=7, name=123456789, 12345, GPU has", "7|123456789|12345, GPU has" },
		{ "pid=7, name=py, Ch 00000008, Ch 9", "7|py|Ch 00000008, Ch 9" },
		{ "pid=7, name=tab\there\x7f, x", "7|tab?here?|x" },
		{ "pid=7, name=caf\xc3\xa9, x", "7|caf\xc3\xa9|x" },
		/* torn at the end */
		{ "pid=12", "12||" },
		{ "pid=12,", "12||" },
		{ "pid=12, na", "12||na" },
		{ "pid=12, name=pyth", "12|pyth|" },
		{ "pid=12, name=python3,", "12|python3|" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = joined("NVRM: Xid (PCI:0000:c1:00): 31, ", cases[i][0]);

		assert_int_equal(line.kind, XID_LINE_XID);
		assert_printed(formatted("31|%s", cases[i][1]), "%u|%d|%s|%.*s", line.code,
			       line.pid, line.process, (int)line.message_len, line.message);
	}
}

TEST(long_process_name_is_cut_to_fit)
{
	const size_t longest = sizeof(first("").process) - 1;

	for (size_t len = longest - 1; len < longest + 3; len++) {
		char name[128] = "";
		struct xid_line line;

		memset(name, 'p', len);
		line = first(
			formatted("NVRM: Xid (PCI:0000:c1:00): 31, pid=1, name=%s, end", name));
		assert_int_equal(strlen(line.process), len < longest ? len : longest);
		assert_int_equal(line.fatality, XID_FATALITY_UNSTATED);
		assert_message(&line, "end");
	}
}

TEST(an_empty_text_has_no_event_and_a_number_may_end_one)
{
	struct xid_line line = { .kind = XID_LINE_XID };
	size_t offset = 0;

	assert_false(xid_line_next(NULL, 0, &offset, &line));
	assert_printed("0 0", "%d %zu", line.kind, offset);
	line = first("NVRM: Xid (PCI:0000:3f:00): 4294967295");
	assert_int_equal(line.kind, XID_LINE_XID);
	assert_true(line.code == UINT32_MAX);
	assert_message(&line, "");
}

TEST(mig_instances_are_read_inside_the_parentheses_and_an_event_inside_a_line)
{
	/* With code, GPU, instances of GPU and of compute, process id. */
	static const char *const cases[][2] = {
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-I:05): 31, pid=7, name=a, x",
		  "31 0000:c1:00.0 5 -1 7" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-I:13 GPU-CI:02): 31, pid=7, name=a, x",
		  "31 0000:c1:00.0 13 2 7" },
		{ "NVRM: Xid (PCI:0000:c1:00): 31, pid=7, name=GPU-I:05, x",
		  "31 0000:c1:00.0 -1 -1 7" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-X:new thing): 31, x", "31 0000:c1:00.0 -1 -1 -1" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-I:new thing): 31, x", "31 0000:c1:00.0 -1 -1 -1" },
		{ "usb 1-1: new deviceNVRM: Xid (PCI:0000:c1:00): 79, gone",
		  "79 0000:c1:00.0 -1 -1 -1" },
		{ "NVRM: Xid (PCI:0000:c1NVRM: Xid (PCI:0000:c2:00): 79, gone",
		  "79 0000:c2:00.0 -1 -1 -1" },
		{ "NVRM: Xid (PCI:0000:c1:00 GPU-INVRM: Xid (PCI:0000:c2:00): 79, gone",
		  "79 0000:c2:00.0 -1 -1 -1" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = first(cases[i][0]);

		print_message("# %s\n", cases[i][0]);
		assert_int_equal(line.kind, XID_LINE_XID);
		assert_printed(cases[i][1], "%u %s %d %d %d", line.code, line.pci,
			       line.gpu_instance, line.compute_instance, line.pid);
	}
	assert_int_equal(
		first("[38889.018130] nvidia-nvidia-nvswitch12: SXid (PCI:0000:05:00.0): 20034, Fatal, x")
			.kind,
		XID_LINE_SXID);
}

TEST(several_events_in_one_text_come_out_once_each)
{
	static const char text[] =
		"first line, no event\n"
		"NVRM: Xid (PCI:0000:01:00): 13, pid=1, name=a, one\r\n"
		"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63 LTSSM\n"
		"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Data {0x1}\n\n"
		"NVRM: Xid (PCI:0000:02:00): 45, pid=2, name=fooNVRM: Xid (PCI:0000:03:00): 79, three\n"
		"NVRM: Xid (PCI:0000:04:00): 31\n, pid=4";
	static const struct {
		enum xid_line_kind kind;
		const char *read; /* code, process, message */
	} expected[] = {
		{ XID_LINE_XID, "13 a one" }, { XID_LINE_SXID, "20034  Fatal, Link 63 LTSSM" },
		{ XID_LINE_XID, "45 foo " },  { XID_LINE_XID, "79  three" },
		{ XID_LINE_XID, "31  " },
	};
	size_t offset = 0;

	for (size_t i = 0; i < COUNT(expected); i++) {
		struct xid_line line = next(text, sizeof(text) - 1, &offset);

		assert_int_equal(line.kind, expected[i].kind);
		assert_printed(expected[i].read, "%u %s %.*s", line.code, line.process,
			       (int)line.message_len, line.message);
	}
	for (int again = 0; again < 2; again++) {
		assert_int_equal(next(text, sizeof(text) - 1, &offset).kind, XID_LINE_NONE);
		assert_int_equal(offset, sizeof(text) - 1);
	}
}

TEST(cause_of_an_xid_is_not_its_code)
{
	static const char text[] =
		"NVRM: Xid (PCI:0000:ed:00): 45, pid=7, name=a, Ch 00000001 caused by previous Xid 145";
	struct xid_line line = first(text);

	assert_int_equal(line.code, 45);
	assert_int_equal(line.caused_by, 145);
	assert_int_equal(count_events(text, sizeof(text) - 1), 1);
	assert_int_equal(first("NVRM: Xid (PCI:0000:ed:00): 45, Ch 1").caused_by, 0);
	assert_int_equal(first("NVRM: Xid (PCI:0000:ed:00): 45, caused by previous Xid ").caused_by,
			 0);
}

TEST(sxid_details_are_no_events)
{
	static const struct {
		const char *text;
		enum xid_line_kind kind;
		enum xid_fatality fatality;
	} cases[] = {
		{ "20034, Fatal, Link 63 LTSSM Fault Up", XID_LINE_SXID, XID_FATAL },
		{ "12028, Non-fatal, Link 32 egress", XID_LINE_SXID, XID_NONFATAL },
		{ "20012, Correctable, Link 02 x", XID_LINE_SXID, XID_CORRECTABLE },
		{ "00010, Fatal, x", XID_LINE_SXID, XID_FATAL }, /* decimal */
		{ "20009, Non-fatal, Li", XID_LINE_SXID, XID_NONFATAL },
		{ "10005, Fatality, x", XID_LINE_SXID, XID_FATALITY_UNSTATED },
		{ "10005, Non-fa", XID_LINE_SXID, XID_FATALITY_UNSTATED },
		{ "26006, SOE HALTED", XID_LINE_SXID, XID_FATALITY_UNSTATED },
		{ "26006, SOE HALT data[0] = 0x0", XID_LINE_NONE, XID_FATALITY_UNSTATED },
		{ "20034, Severity 1 Engine instance 60", XID_LINE_NONE, XID_FATALITY_UNSTATED },
		{ "20034, Data {0x10000000, 0x1}", XID_LINE_NONE, XID_FATALITY_UNSTATED },
		{ "20034, Fatal, Link 1 Data {", XID_LINE_SXID, XID_FATAL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line =
			joined("nvidia-nvswitch3: SXid (PCI:0000:08:00.0): ", cases[i].text);

		assert_int_equal(line.kind, cases[i].kind);
		if (line.kind == XID_LINE_NONE)
			continue;
		assert_int_equal(line.fatality, cases[i].fatality);
		assert_string_equal(line.pci, "0000:08:00.0");
		assert_int_equal(line.code, atoi(cases[i].text));
	}
}

TEST(nvlink5_fatality_is_the_printed_one)
{
	static const struct {
		const char *text;
		enum xid_fatality fatality;
	} cases[] = {
		{ "149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x1)", XID_FATAL },
		{ "145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x1)", XID_NONFATAL },
		{ "145, pid=7, name=a, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x1)", XID_NONFATAL },
		{ "145, pid=7, name=a, Fatal b, RLW_RXPIPE Nonfatal XC0 i0 (0x1)", XID_NONFATAL },
		{ "144, SAW Fatal", XID_FATAL },
		{ "150, MSE Fatal", XID_FATAL },
		{ "150, MSE Fata", XID_FATALITY_UNSTATED },
		{ "150, MSE NonFatal_x Fatality XC0 (Fatal )", XID_FATALITY_UNSTATED },
		{ "149, Link 03 : Link Down While Active.", XID_FATALITY_UNSTATED },
		{ "143, Fatal", XID_FATALITY_UNSTATED },
		{ "151, Fatal", XID_FATALITY_UNSTATED },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(XID(cases[i].text).fatality, cases[i].fatality);
}

TEST(nvlink5_fields_are_read)
{
	static const struct {
		const char *text;
		struct nvlink n;
	} cases[] = {
		{ "145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x1 0x0 0x00100000 0x4)",
		  { "RLW_RXPIPE", 0, 0, 13, { 0x409a0c2, 8, 1, 0, 0x100000, 4 }, 6 } },
		{ "149, NETIR_LINK_EVT  Fatal   XC1 i2 Link 01 (0x021425c6 0xffffffff)",
		  { "NETIR_LINK_EVT", 1, 2, 1, { 0x21425c6, 0xffffffff }, 2 } },
		{ "149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x0)",
		  { "NETIR", 0, 0, -1, { 0xfe406, 0 }, 2 } },
		{ "149, NETIR_LINK_EVT Fatal XC0 i0 Link 03 : Link Down While Active.",
		  { "NETIR_LINK_EVT", 0, 0, 3, { 0 }, 0 } },
		{ "149, Link 03 : Link Down While Active.", { "", -1, -1, 3, { 0 }, 0 } },
		{ "145, RLW, nonfatal, cross-contain=1, injected=0, Link 3 (0x4 0x1 0x0 0x0 0x0 0x5 0x6)",
		  { "RLW", 1, -1, 3, { 4, 1, 0, 0, 0, 5, 6 }, 7 } },
		{ "145, pid=7, name=a, Fatal XC9 i9 Link 9, MSE Nonfatal XC0 i0 Link 2 (0x1)",
		  { "MSE", 0, 0, 2, { 1 }, 1 } },
		{ "146, A_UNIT_OF_MORE_THAN_TWENTY_THREE_BYTES Fatal XC0 i0 Link 2 (0x1)",
		  { "A_UNIT_OF_MORE_THAN_TWE", 0, 0, 2, { 1 }, 1 } },
		{ "150, MSE Fatal XC99999999999 i99999999999 Link 99999999999 (0x1ffffffff 0x1)",
		  { "MSE", -1, -1, -2, { 0 }, 0 } },
		{ "150, Fatal", { "", -1, -1, -2, { 0 }, 0 } },
		{ "150, Something else", { "", -1, -1, -2, { 0 }, 0 } },
		/* torn: the last number may have gone on */
		{ "145, MSE Fatal XC0 i0 Link 13 (0x0409a0c2 0x0000",
		  { "MSE", 0, 0, 13, { 0x409a0c2 }, 1 } },
		{ "145, MSE Fatal XC0 i0 Link 1", { "MSE", 0, 0, -2, { 0 }, 0 } },
		{ "145, MSE Fatal XC0 i0 Link -", { "MSE", 0, 0, -2, { 0 }, 0 } },
		{ "145, MSE Fatal XC0 i0", { "MSE", 0, -1, -2, { 0 }, 0 } },
		{ "145, MSE Fatal XC0", { "MSE", -1, -1, -2, { 0 }, 0 } },
		{ "74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0xffffffff)",
		  { "", -1, -1, 14, { 0, 0, 0x10000, 0, 0, 0, 0xffffffff }, 7 } },
		{ "74, NVLink: fatal error detected on link 6(0x10000, 0x1",
		  { "", -1, -1, 6, { 0x10000 }, 1 } },
		{ "74, NVLink: fatal error detected on link 2", { "", -1, -1, -2, { 0 }, 0 } },
		{ "74, NVLink: fatal error detected on link 2(x)", { "", -1, -1, 2, { 0 }, 0 } },
		/* others have no such fields */
		{ "143, MSE Fatal XC0 i0 Link 2 (0x1 0x2)", { "", -1, -1, -2, { 0 }, 0 } },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct nvlink *n = &cases[i].n;
		struct nvlink read = XID(cases[i].text).nvlink;

		if (strcmp(read.unit, n->unit) != 0 || read.xc != n->xc ||
		    read.instance != n->instance || read.link != n->link ||
		    read.word_count != n->word_count ||
		    memcmp(read.words, n->words, sizeof(n->words)) != 0)
			fail_msg("read as '%s' XC%d i%d link %d, %d words: %s", read.unit, read.xc,
				 read.instance, read.link, read.word_count, cases[i].text);
	}
}

TEST(the_place_of_an_exception_is_read)
{
	static const struct {
		const char *text;
		unsigned int place;
	} cases[] = {
		{ "13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): Out Of Range Address",
		  0x10901 },
		{ "13, Graphics SM Global Exception on (GPC 0, TPC 0, SM 0): Multiple Warp Errors",
		  0x10000 },
		{ "13, Graphics Exception: ESR 0x54cfb0=0x11f000e 0x54cfb4=0x24", 0 },
		{ "13, Graphics SM Warp Exception on (GPC 9, TPC 1", 0 }, /* may be 12 */
		{ "13, Graphics SM Warp Exception on (GPC 999, TPC 1, SM 1): x", 0 },
		{ "31, Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): x", 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(XID(cases[i].text).place, cases[i].place);
}

TEST(recovery_is_the_action_changed_to)
{
#define CHANGED "154, GPU recovery action changed from "
	/* With both actions. */
	static const char *const cases[][2] = {
		{ CHANGED "0x0 (None) to 0x1 (GPU Reset Required)", "None|GPU Reset Required" },
		{ CHANGED "0x4 (Drain and Reset) to 0x0 (None)", "Drain and Reset|None" },
		{ "154, pid=1, name=a, GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)",
		  "None|Drain P2P" },
		{ CHANGED "0x0 (None) to 0x1 (GPU Res", "None|GPU Reset Required" },
		{ CHANGED "0x0 (None) to 0x2", "None|Node Reboot Required" },
		{ CHANGED "0x2 (OS Reboot) to 0x6 (A new name)", "Node Reboot Required|Bus Reset" },
		{ CHANGED "0x0 (None) to 0x9 (Some", "None|0x9 (Some" },
		{ CHANGED "0x4 (Drain and Reset) to 0x0 (No", "Drain and Reset|" },
		{ CHANGED "0x0 (None", "|" },
		{ "154, something else", "|" },
		{ "13, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
		  "|" },
		{ CHANGED "0x0 (None) to 0x9 (A name of more than thirty-one bytes)",
		  "None|A name of more than thirty-one " },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = XID(cases[i][0]);

		assert_printed(cases[i][1], "%s|%s", line.recovery_from, line.recovery);
	}
}

TEST(message_alone_completes_an_event)
{
	struct xid_line line = { .kind = XID_LINE_XID, .code = 149 };
	const char *text = "NETIR Fatal XC0 i0 Link -1 (0x1)\n";

	xid_line_read_message(&line, text, strlen(text));
	assert_int_equal(line.fatality, XID_FATAL);
	assert_message(&line, "NETIR Fatal XC0 i0 Link -1 (0x1)");

	xid_line_read_message(&line, NULL, 0);
	assert_int_equal(line.fatality, XID_FATALITY_UNSTATED);
	assert_int_equal(line.message_len, 0);

	line = (struct xid_line){ .kind = XID_LINE_SXID, .code = 20034 };
	xid_line_read_message(&line, "Data {0x1}", 10);
	assert_int_equal(line.kind, XID_LINE_NONE);
}

/* Cut anywhere, a line is the same event or none: never another GPU or process id. */
TEST(torn_line_never_names_another_gpu)
{
	static const char text[] =
		"NVRM: Xid (PCI:000d:c1:1c.1 GPU-I:05 GPU-CI:02): 145, pid=77, name=python3, RLW Fatal XC0";
	size_t whole = (size_t)(strstr(text, ": 145") + 2 - text);

	for (size_t len = 0; len < sizeof(text); len++) {
		size_t offset = 0;
		struct xid_line line = next(text, len, &offset);

		assert_int_equal(offset, len);
		assert_int_equal(line.kind, len > whole ? XID_LINE_XID : XID_LINE_NONE);
		if (line.kind == XID_LINE_NONE)
			continue;
		assert_printed("000d:c1:1c.1 5 2", "%s %d %d", line.pci, line.gpu_instance,
			       line.compute_instance);
		if (len >= whole + 3)
			assert_int_equal(line.code, 145);
	}
}

/* The file has addresses as printed, without function. */
static void to_sysfs(const char *printed, char *pci, size_t size)
{
	unsigned int bus, slot;
	int end = 0;

	if (sscanf(printed, "%x:%x%n", &bus, &slot, &end) == 2 && printed[end] == '\0')
		snprintf(pci, size, "0000:%02x:%02x.0", bus & 0xff, slot & 0xff);
	else
		snprintf(pci, size, "%s.0", printed);
}

static void check_row(const struct line_row *row)
{
	const char *source = row->field[0], *text = row->field[1], *code = row->field[3],
		   *pid = row->field[4], *process = row->field[5], *expected = row->field[6];
	size_t len = strlen(text), offset = 0;
	struct xid_line line = next(text, len, &offset);
	enum xid_line_kind kind = XID_LINE_NONE;
	char pci[32];

	if (strcmp(expected, "xid") == 0)
		kind = XID_LINE_XID;
	else if (strcmp(expected, "sxid") == 0 && !strstr(source, "#detail"))
		kind = XID_LINE_SXID;

	if (line.kind != kind)
		fail_msg("line %u: kind %d, not %d: %s", row->number, line.kind, kind, text);
	if (kind == XID_LINE_NONE)
		return;
	to_sysfs(row->field[2], pci, sizeof(pci));
	if (strcmp(line.pci, pci) != 0 || line.code != strtoul(code, NULL, 10) ||
	    line.pid != (*pid ? atoi(pid) : -1) || strcmp(line.process, process) != 0)
		fail_msg("line %u: read as %s %u pid %d '%s': %s", row->number, line.pci, line.code,
			 line.pid, line.process, text);
	line = next(text, len, &offset);
	if (line.kind != XID_LINE_NONE)
		fail_msg("line %u: two events: %s", row->number, text);
}

TEST(real_lines_are_read_exactly)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/xid_lines.tsv", &row);
	unsigned int events = 0;

	while (lines_next(file, &row)) {
		check_row(&row);
		events += strcmp(row.field[6], "other") != 0;
	}
	assert_true(events >= 150);
}

/* ---- names that users choose ---- */

/* Up to 15 bytes, as many as the kernel has for a process' name. */
static void make_name(char *name, uint32_t *random)
{
	static const char parts[] =
		"\n|, |,|(|)| |'|=|:|Fatal|Nonfatal|fatal|(0x1|Link 1|XC0|i0|NVRM: Xid (|NVRM: |0:0|):|"
		"79|154|Xid 79|caused by|pid=|name=|GPU |Ch |Timeout |None|nvidia-nvswitch|SXid (|a|\x1b[|\xff|\t|PCI:";

	*name = 0;
	do {
		const char *part = parts;
		size_t room = 15 - strlen(name), len;

		*random = *random * 1664525 + 1013904223;
		for (uint32_t skip = (*random >> 8) % 37; skip; skip--)
			part = strchr(part, '|') + 1;
		len = strcspn(part, "|");
		snprintf(name + 15 - room, room + 1, "%.*s", (int)len, part);
	} while (strlen(name) < 15 && *random >> 29);
}

static void compare(const char *text, const struct xid_line *a, const struct xid_line *b)
{
	if (a->kind != b->kind || a->code != b->code || strcmp(a->pci, b->pci) != 0 ||
	    a->pid != b->pid || a->gpu_instance != b->gpu_instance ||
	    a->compute_instance != b->compute_instance || a->fatality != b->fatality ||
	    a->caused_by != b->caused_by || strcmp(a->recovery_from, b->recovery_from) != 0 ||
	    strcmp(a->recovery, b->recovery) != 0 ||
	    memcmp(&a->nvlink, &b->nvlink, sizeof(a->nvlink)) != 0)
		fail_msg("the name changes it: %s", text);
}

/* Replaces the name in a line by others: it stays one event, of the same device, code, severity and action. */
static void check_names(const char *line)
{
	const char *begin = strstr(line, "name="), *rest;
	struct xid_line expected;
	uint32_t random = 1;

	if (!begin || !strstr(begin, ", "))
		return;
	begin += strlen("name=");
	rest = strstr(begin, ", ");
	expected = first(line);
	for (int i = 0; i < 300; i++) {
		char name[16], text[2200];
		struct xid_line found;

		make_name(name, &random);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(begin - line), line, name, rest);
		found = first(text);
		compare(text, &expected, &found);
		if (count_events(text, strlen(text)) != 1)
			fail_msg("the name is an event: %s", text);
	}
}

TEST(a_process_name_changes_nothing)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/xid_lines.tsv", &row);

	while (lines_next(file, &row))
		if (!strcmp(row.field[6], "xid"))
			check_names(row.field[1]);
	check_names(
		"NVRM: Xid (PCI:0000:c1:00): 149, pid=7, name=py, NETIR_LINK_EVT Fatal XC0 i0 Link 00 "
		"(0x004505c6 0x00000000)");
	check_names(
		"NVRM: Xid (PCI:0000:c1:00): 145, pid=7, name=py, RLW_RXPIPE Nonfatal XC0 i0 Link 13 "
		"(0x0409a0c2 0x00000008)");
	check_names(
		"NVRM: Xid (PCI:0000:c1:00): 154, pid=7, name=py, GPU recovery action changed from "
		"0x0 (None) to 0x1 (GPU Reset Required)");
	check_names(
		"NVRM: Xid (PCI:0000:c1:00): 45, pid=7, name=py, Ch 00000008 caused by previous Xid 31");
}

/* Nor can it hold a header of its own. */
TEST(no_name_holds_a_header)
{
	assert_int_equal(first("NVRM: Xid (0:0):1").kind, XID_LINE_XID); /* 17 bytes, the least */
	assert_int_equal(first("NVRM: Xid (0:)1").kind, XID_LINE_NONE);
}
