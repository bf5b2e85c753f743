// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that lines which come with GPU failures are recognised, each failure reported once with its device, and that
 * no other line is taken for one. Real lines come from TEST_DATA/kernel_lines.tsv. */
#include <fnmatch.h>

#include "golden.h"
#include "lines.h"
#include "faults/recognise/kernel_line.c" /* for its table of patterns */

static struct kernel_line next(const char *text, size_t len, size_t *offset)
{
	char *copy = exact_copy(text, len);
	struct kernel_line line;
	bool found = kernel_line_next(copy, len, offset, &line);

	assert_int_equal(found, line.kind != KERNEL_LINE_NONE);
	if (line.text)
		line.text = text + (line.text - copy);
	free(copy);
	return line;
}

static struct kernel_line first(const char *text)
{
	size_t offset = 0;

	return next(text, strlen(text), &offset);
}

static const char *kind_name(const struct kernel_line *line)
{
	switch (line->kind) {
	case KERNEL_LINE_NONE:
		return "other";
	case KERNEL_LINE_GPU_UUID:
		return "gpu_uuid";
	case KERNEL_LINE_GPU_SERIAL:
		return "gpu_serial";
	case KERNEL_LINE_GPU_RATE_LIMITED:
		return "gpu_rate_limited";
	default:
		return line->name;
	}
}

/* The first line of the kernel in a text: what is not stated is left out. */
static const char *described(const char *text)
{
	const struct kernel_line line = first(text);
	static char d[600];

	snprintf(d, sizeof(d), "%s", kind_name(&line));
	if (*line.device)
		append_text(d, " of %s", line.device);
	if (*line.uuid || *line.serial)
		append_text(d, " identity %s%s", line.uuid, line.serial);
	if (*line.severity)
		append_text(d, " severity %s", line.severity);
	if (line.follows_xid)
		append_text(d, " follows Xid %u", line.follows_xid);
	if (line.kind != KERNEL_LINE_NONE)
		append_text(d, ": %.*s", (int)line.text_len, line.text);
	return d;
}

TEST(each_form_is_read_exactly)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "lines of the kernel", described);
}

TEST(a_device_fits)
{
	char name[300];
	struct kernel_line line;

	memset(name, 's', sizeof(name));
	line = first(formatted("nfs: server %.255s OK", name));
	assert_int_equal(line.kind, KERNEL_LINE_EVENT);
	assert_int_equal(strlen(line.device), sizeof(line.device) - 1);
	assert_memory_equal(line.device + sizeof(line.device) - 12, "...", 3);
	assert_int_equal(first(formatted("nfs: server %.256s OK", name)).kind, KERNEL_LINE_NONE);
}

TEST(empty_text_has_none)
{
	struct kernel_line line = { .kind = KERNEL_LINE_EVENT };
	size_t offset = 0;

	assert_false(kernel_line_next(NULL, 0, &offset, &line));
	assert_printed("0 '' 0", "%d '%s' %zu", line.kind, line.name, offset);
}

TEST(real_lines_are_recognised)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/kernel_lines.tsv", &row);

	while (lines_next(file, &row)) {
		const char *text = row.field[1], *kind = row.field[2], *device = row.field[3];
		size_t offset = 0;
		struct kernel_line line = next(text, strlen(text), &offset);

		if (strcmp(kind_name(&line), kind) != 0 || strcmp(line.device, device) != 0)
			fail_msg("line %u: read as %s of '%s': %s", row.number, kind_name(&line),
				 line.device, text);
		line = next(text, strlen(text), &offset);
		if (line.kind != KERNEL_LINE_NONE)
			fail_msg("line %u: reported twice: %s", row.number, text);
	}
	assert_true(row.number >= 120);
}

/* The column "versions" says which releases of the driver, or of the kernel (RHEL's in brackets), print a line so: by their
 * sources, from 515 and from 4.18 on. */
TEST(each_pattern_has_a_line_of_known_versions)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/kernel_lines.tsv", &row);
	bool seen[COUNT(patterns)] = {};

	while (lines_next(file, &row)) {
		struct span text = { row.field[1], row.field[1] + strlen(row.field[1]) };

		assert_int_equal(!*row.field[4], !strcmp(row.field[2], "other"));
		while (span_left(text)) {
			struct span rest, line = span_take_line(&text);
			struct kernel_line ignored;
			bool found = false;

			for (size_t i = 0; i < COUNT(patterns) && !found; i++) {
				rest = line;
				found = match_line(&rest, patterns[i].pattern, &ignored);
				seen[i] = seen[i] || found;
			}
		}
	}
	for (size_t i = 0; i < COUNT(patterns); i++)
		if (!seen[i])
			fail_msg("no line of this pattern: %s", patterns[i].pattern);
}

/* Other messages begin with a name of 15 bytes: "NAME[4711]: segfault at". */
TEST(no_name_of_a_process_is_a_line_of_the_kernel)
{
	ARRAY_EACH(p, patterns, COUNT(patterns)) {
		size_t shortest = 0;

		for (const char *at = p->pattern; *at; at++) {
			if (at[0] == '%' && at[1] == '(')
				at = optional_end(at + 1);
			else
				shortest += *at != '%'   ? 1 :
					    *++at == 'T' ? strlen("PID: 1 Comm: ") :
					    *at == 'X'   ? strlen("x: 0000 [#1] SMP") :
							   !strchr("et$", *at);
		}
		if (p->kind >= KERNEL_LINE_EVENT && proof_of(p) == KERNEL_LINE_BY_KERNEL &&
		    shortest <= 15 && !strstr(p->pattern, "%$"))
			fail_msg("a name can be as long: %s", p->pattern);
	}
}

/* A printk() format as a pattern of fnmatch(3). */
static const char *glob_of(const char *format)
{
	static char glob[512];
	char *to = glob;

	for (; *format && to < glob + sizeof(glob) - 2; format++) {
		if (*format != '%') {
			if (strchr("[]*?", *format))
				*to++ = '\\';
			*to++ = *format;
			continue;
		}
		format += strcspn(format + 1, "cdisupxX") + 1;
		if (*format == 'p') /* as %pISpc, %pd2 and %*phN */
			format += strspn(format + 1, "ISpcdD2hN");
		*to++ = '*';
	}
	*to = 0;
	return glob;
}

/* Whether TEST_DATA/kernel_lines.tsv has a line of the @format that counts as @kind. */
static bool has_line(const char *format, const char *kind)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/kernel_lines.tsv", &row);
	bool found = false;

	while (lines_next(file, &row))
		found |= !strcmp(row.field[2], kind) && !fnmatch(glob_of(format), row.field[1], 0);
	return found;
}

TEST(each_format_that_counts_has_a_line)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/nfs_formats.tsv", &row);

	while (lines_next(file, &row))
		if (*row.field[0] && !has_line(row.field[1], row.field[0]))
			fail_msg("no line of %s: %s", row.field[0], row.field[1]);
	assert_true(row.number >= 150);
}

/* Whether TEST_DATA/nfs_formats.tsv has a format of the @line that counts. */
static bool has_format(const char *line)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/nfs_formats.tsv", &row);
	bool found = false;

	while (lines_next(file, &row))
		found |=
			*row.field[0] && !fnmatch(formatted("%s*", glob_of(row.field[1])), line, 0);
	return found;
}

TEST(each_line_of_the_nfs_client_has_a_format)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/kernel_lines.tsv", &row);

	while (lines_next(file, &row)) {
		const char *kind = row.field[2];

		if ((!strncmp(kind, "nfs_", 4) || !strncmp(kind, "lockd_", 6) ||
		     !strncmp(kind, "pnfs_", 5) || !strncmp(kind, "rpc_", 4)) &&
		    !has_format(row.field[1]))
			fail_msg("tests/data/nfs_formats.tsv has no format of %s: %s", kind,
				 row.field[1]);
	}
}

/* Whether it counts where nothing but its form says who has printed it. */
static bool has_form(const char *text)
{
	const struct kmsg_record record = { .text_len = strlen(text) };
	struct kernel_line line = first(text);

	assert_int_not_equal(line.kind, KERNEL_LINE_NONE);
	return form_of_line(&record, text, &line);
}

TEST(what_the_packet_filter_prints_is_no_line_of_the_kernel)
{
	static const char *const lines[] = {
		"nvidia-nvlink: Nvlink Core is being initialized, major device number 1",
		"nvidia-nvlink: Unregistered Nvlink Core, major device number 1",
		"BUG: kernel NULL pointer dereference, address: 0",
		"---[ end trace 0000000000000000 ]---",
		"CPU: 1 PID: 7 Comm: x Tainted: G",
		"Out of memory: Killed process 1 (IN=OUT=SRC=DST=)",
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		assert_true(has_form(lines[i]));
		assert_false(has_form(
			formatted("%s IN= OUT=lo SRC=127.0.0.1 DST=127.0.0.1 LEN=30", lines[i])));
	}
}

/* What user/xid/xid_line.c reports must not be reported here as well. */
TEST(xids_are_none)
{
	struct line_row row;
	FILE *file = lines_open(TEST_DATA "/xid_lines.tsv", &row);
	unsigned int checked = 0;

	while (lines_next(file, &row)) {
		const char *kind = row.field[6];

		if (strcmp(kind, "xid") != 0 && strcmp(kind, "sxid") != 0)
			continue;
		if (first(row.field[1]).kind != KERNEL_LINE_NONE)
			fail_msg("reported here, too: %s", row.field[1]);
		checked++;
	}
	assert_true(checked >= 150);
}
