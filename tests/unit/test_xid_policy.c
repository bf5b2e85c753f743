// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a policy file is read as documented or refused with its line and the reason, and that a rating is the
 * operator's where the policy may set it. */
#include <unistd.h>

#include "made_up_tree.h"
#include "xid/xid_line.h"

static char error[160];

static struct xid_policy parse(const char *text)
{
	struct xid_policy p;

	memset(&p, 0xff, sizeof(p));
	error[0] = 0;
	if (xid_policy_parse(&p, text, strlen(text), error, sizeof(error)))
		fail_msg("%s", error);
	return p;
}

/* "severity action" of an entry, as the file has them. */
static void assert_entry(const struct xid_policy *p, bool nvswitch, unsigned int code,
			 const char *expected)
{
	const struct xid_policy_entry *e = not_null(xid_policy_find(p, nvswitch, code));

	assert_int_equal(e->code, code);
	assert_int_equal(e->nvswitch, nvswitch);
	assert_printed(expected, "%s %s", e->severity ?: "-", *e->action ? e->action : "-");
}

TEST(lines_are_read_in_any_order_and_spacing)
{
	struct xid_policy p = parse("# of our site\n"
				    "\n"
				    "79 warning reset_gpu\n"
				    "  13\tfatal\r\n"
				    "sxid:20034 info\n"
				    "\t \n"
				    "31 - page_2  # on call\n"
				    "43 unknown -#x\n"
				    "4294967295 - -\n"
				    "sxid:79 fatal -\n"
				    "0 info aaaaaaaaaabbbbbbbbbbccccccccccddddddddd");

	assert_int_equal(p.count, 8);
	assert_entry(&p, false, 79, "warning reset_gpu");
	assert_entry(&p, false, 13, "fatal -");
	assert_entry(&p, true, 20034, "info -");
	assert_entry(&p, false, 31, "- page_2");
	assert_entry(&p, false, 43, "unknown -");
	assert_entry(&p, false, 4294967295, "- -");
	assert_entry(&p, true, 79, "fatal -");
	assert_entry(&p, false, 0, "info aaaaaaaaaabbbbbbbbbbccccccccccddddddddd");
	assert_null(xid_policy_find(&p, false, 20034));
	assert_null(xid_policy_find(&p, true, 13));
	assert_null(xid_policy_find(&p, false, 1));
	xid_policy_free(&p);
	assert_int_equal(p.count, 0);
	xid_policy_free(&p);
}

TEST(nothing_is_a_policy_too)
{
	static const char *const texts[] = { "", "\n", "# only this", "\n\n \t\n" };
	const struct xid_policy zero = {};

	assert_null(xid_policy_find(&zero, false, 79));
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct xid_policy p = parse(texts[i]);

		assert_int_equal(p.count, 0);
		assert_null(xid_policy_find(&p, false, 79));
		xid_policy_free(&p);
	}
}

TEST(what_is_wrong_is_reported_with_its_line)
{
	static const char *const cases[][2] = {
		{ "xid79 fatal", "line 1: 'xid79' is not an Xid number or sxid:NUMBER" },
		{ "\n\n-1 fatal", "line 3: '-1' is not an Xid number or sxid:NUMBER" },
		{ "4294967296 info", "line 1: '4294967296' is not an Xid number or sxid:NUMBER" },
		{ "sxid: fatal", "line 1: 'sxid:' is not an Xid number or sxid:NUMBER" },
		{ "sxid:x fatal", "line 1: 'sxid:x' is not an Xid number or sxid:NUMBER" },
		{ "0x4f fatal", "line 1: '0x4f' is not an Xid number or sxid:NUMBER" },
		{ "79", "line 1: '79' must be followed by SEVERITY, or by SEVERITY and ACTION" },
		{ "79 fatal reset_gpu now",
		  "line 1: '79' must be followed by SEVERITY, or by SEVERITY and ACTION" },
		{ "# x\n79 Fatal", "line 2: 'Fatal' is not fatal, warning, info, unknown or -" },
		{ "79 fata", "line 1: 'fata' is not fatal, warning, info, unknown or -" },
		{ "79 fatal Reset",
		  "line 1: 'Reset' is not an action: at most 39 of a-z, 0-9 and _, or -" },
		{ "79 fatal a-b",
		  "line 1: 'a-b' is not an action: at most 39 of a-z, 0-9 and _, or -" },
		{ "79 - aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd",
		  "line 1: 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd' is not an action: at most 39 of a-z, 0-9 and _, or -" },
		{ "79 fatal\n13 info\n79 info\n", "line 3: '79' has more than one line: keep one" },
		{ "sxid:1 fatal\n1 info\nsxid:01 -\n",
		  "line 3: 'sxid:01' has more than one line: keep one" },
		{ "sxid:1 fatal reset_gpu",
		  "line 1: 'reset_gpu' cannot be given: SXids have no action" },
		{ "79 \x1b[1m", "line 1: '\\x1b[1m' is not fatal, warning, info, unknown or -" },
		{ "79 \xff\xfe", "line 1: '\\xff\\xfe' is not fatal, warning, info, unknown or -" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_policy p;

		assert_int_equal(xid_policy_parse(&p, cases[i][0], strlen(cases[i][0]), error,
						  sizeof(error)),
				 -EINVAL);
		assert_string_equal(error, cases[i][1]);
		assert_int_equal(p.count, 0);
		assert_null(p.entries);
	}
}

TEST(zero_bytes_are_refused_not_cut_at)
{
	static const char text[] = "79 fatal reset\0gpu";
	struct xid_policy p;

	assert_int_equal(xid_policy_parse(&p, text, sizeof(text) - 1, error, sizeof(error)),
			 -EINVAL);
	assert_string_equal(
		error,
		"line 1: 'reset\\x00gpu' is not an action: at most 39 of a-z, 0-9 and _, or -");
}

TEST(at_most_2048_lines_are_read)
{
	size_t size = 2050 * 12, len = 0;
	char *text = malloc(size);
	struct xid_policy p;

	assert_non_null(text);
	for (unsigned int i = 0; i < 2048; i++)
		len += (size_t)snprintf(text + len, size - len, "%u info\n", 5000 - i);
	assert_int_equal(xid_policy_parse(&p, text, len, error, sizeof(error)), 0);
	assert_int_equal(p.count, 2048);
	for (unsigned int i = 0; i < 2048; i++)
		assert_entry(&p, false, 5000 - i, "info -");
	xid_policy_free(&p);
	text[len++] = '#';
	assert_int_equal(xid_policy_parse(&p, text, len, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "line 2049: at most 2048 lines are read");
	free(text);
}

TEST(a_file_is_loaded_or_refused)
{
	const struct log quiet = {};
	struct xid_policy p;

	put("/policy", "79 info\n");
	assert_int_equal(xid_policy_load(&p, "policy", &quiet), 0);
	assert_entry(&p, false, 79, "info -");
	xid_policy_free(&p);
	put("/policy", "79 info\nx\n");
	assert_int_equal(xid_policy_load(&p, "policy", &quiet), -EINVAL);
	assert_null(p.entries);
	unlink("policy");
	assert_int_equal(xid_policy_load(&p, "policy", &quiet), -ENOENT);
	assert_int_equal(xid_policy_load(&p, "/tmp", &quiet), -EINVAL);
	assert_null(p.entries);
}

TEST(the_policy_has_the_last_word_but_for_two_events)
{
#define GPU "NVRM: Xid (PCI:0000:c1:00): "
#define SWITCH "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "
	/* With the rating without a policy, and with it. */
	static const char *const cases[][3] = {
		{ GPU "79, x", "fatal restart_bm", "info restart_bm" },
		{ GPU "31, x", "warning restart_app", "warning page_me" },
		{ GPU "13, x", "warning restart_app", "warning restart_app" },
		{ GPU "999, x", "unknown none_given", "fatal reset_gpu" },
		{ GPU "149, NETIR Fatal XC0 (0x1)", "fatal reset_gpu", "info reset_gpu" },
		{ GPU "45, x", "info workflow_xid_45", "fatal reset_gpu" },
		{ GPU "45, x caused by previous Xid 79", "warning restart_bm", "info restart_bm" },
		{ GPU "45, x caused by previous Xid 48", "warning workflow_xid_48",
		  "warning workflow_xid_48" },
		{ GPU
		  "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
		  "fatal reset_gpu", "warning page_me" },
		{ GPU
		  "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
		  "info xid_154", "info xid_154" },
		{ SWITCH "20034, Fatal, x", "fatal ", "warning " },
		/* a GPU's codes are no switch's */
		{ SWITCH "00079, Non-fatal, x", "warning ", "warning " },
	};
	const struct xid_policy none = {};
	struct xid_policy p =
		parse("79 info\n31 - page_me\n999 fatal reset_gpu\n149 info\n45 fatal reset_gpu\n"
		      "154 warning page_me\nsxid:20034 warning\n");

	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		const char *text = cases[i / 2][0];
		struct xid_rating v;
		struct xid_line line;
		size_t offset = 0;

		assert_true(xid_line_next(text, strlen(text), &offset, &line));
		v = xid_policy_rating(i % 2 ? &p : &none, &line);
		if (strcmp(formatted("%s %s", v.severity, v.action), cases[i / 2][1 + i % 2]))
			fail_msg("%s: %s %s", text, v.severity, v.action);
	}
	xid_policy_free(&p);
}
