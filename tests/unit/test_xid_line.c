// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that every form of the driver's fault lines is read exactly, that each event is reported once, and that text
 * that only mentions Xid is no event. Forms come from TEST_DATA/xid_forms.tsv, real lines from xid_lines.tsv. */
#include "golden.h"
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

static size_t count_events(const char *text, size_t len)
{
	size_t offset = 0, events = 0;

	while (next(text, len, &offset).kind != XID_LINE_NONE)
		events++;
	return events;
}

/* The first event of a text: what is not stated is left out. */
static const char *described(const char *text)
{
	static const char *const fatalities[] = { "", " correctable", " nonfatal", " fatal" };
	struct xid_line line = first(text);
	const struct nvlink *n = &line.nvlink;
	static char d[500];

	if (line.kind == XID_LINE_NONE && line.pid == -1 && !*line.process)
		return "none";
	snprintf(d, sizeof(d), "%s %u %s", line.kind == XID_LINE_XID ? "xid" : "sxid", line.code,
		 line.pci);
	if (line.gpu_instance >= 0)
		append_text(d, " instance %d %d", line.gpu_instance, line.compute_instance);
	if (line.pid >= 0 || *line.process)
		append_text(d, " pid %d name '%s'", line.pid, line.process);
	append_text(d, "%s", fatalities[line.fatality]);
	if (*n->unit || n->xc >= 0 || n->instance >= 0 || n->link > -2 || n->word_count)
		append_text(d, " nvlink '%s' xc %d instance %d link %d words", n->unit, n->xc,
			    n->instance, n->link);
	for (int i = 0; i < n->word_count; i++)
		append_text(d, " %x", n->words[i]);
	if (line.place)
		append_text(d, " place %x", line.place);
	if (line.caused_by)
		append_text(d, " caused by %u", line.caused_by);
	if (*line.recovery_from || *line.recovery)
		append_text(d, " from '%s' to '%s'", line.recovery_from, line.recovery);
	if (count_events(text, strlen(text)) > 1)
		append_text(d, " and others");
	append_text(d, ": %.*s", (int)line.message_len, line.message);
	return d;
}

static void assert_message(const struct xid_line *line, const char *expected)
{
	assert_printed(expected, "%.*s", (int)line->message_len, line->message);
}

TEST(each_form_is_read_exactly)
{
	assert_golden(TEST_DATA "/xid_forms.tsv", described);
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

TEST(an_empty_text_has_no_event)
{
	struct xid_line line = { .kind = XID_LINE_XID };
	size_t offset = 0;

	assert_false(xid_line_next(NULL, 0, &offset, &line));
	assert_printed("0 0", "%d %zu", line.kind, offset);
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
