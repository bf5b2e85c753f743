// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a policy file is read as documented or refused with its line and the reason, and that an event is rated
 * by its own text where that decides, then by the policy, then by the catalog. tests/data/xid_ratings.tsv has many more events. */
#include <unistd.h>

#include "golden.h"
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

static const char *mistake_in_policy(const char *text)
{
	struct xid_policy p;

	assert_int_equal(xid_policy_parse(&p, text, strlen(text), error, sizeof(error)), -EINVAL);
	assert_int_equal(p.count, 0);
	assert_null(p.entries);
	return error;
}

TEST(what_is_wrong_is_reported_with_its_line)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "mistakes in a policy", mistake_in_policy);
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

/* Severity and action of the event in a text; those with the policy, if they are others; and what it shows of a reset. */
static const char *rating_of(const char *text)
{
	const struct xid_policy none = {};
	struct xid_policy p =
		parse("79 info\n31 - page_me\n999 fatal reset_gpu\n149 info\n45 fatal reset_gpu\n"
		      "154 warning page_me\nsxid:20034 warning\n");
	struct xid_rating catalog, policy;
	struct xid_line line;
	static char rating[200];
	size_t offset = 0;

	assert_true(xid_line_next(text, strlen(text), &offset, &line));
	catalog = xid_policy_rating(&none, &line);
	policy = xid_policy_rating(&p, &line);
	if (*catalog.action)
		assert_string_not_equal(xid_action_advice(catalog.action), xid_action_advice(NULL));
	snprintf(rating, sizeof(rating), "%s %s", catalog.severity, catalog.action);
	if (strcmp(catalog.severity, policy.severity) != 0 ||
	    strcmp(catalog.action, policy.action) != 0)
		append_text(rating, ", by the policy %s %s", policy.severity, policy.action);
	append_text(rating, "%s%s", xid_asks_no_more(&line) ? ", asks no more" : "",
		    xid_reset_is_done(&line) ? ", reset is done" : "");
	xid_policy_free(&p);
	return rating;
}

TEST(the_text_decides_then_the_policy_and_the_catalog)
{
	assert_golden(TEST_DATA "/xid_rated.tsv", rating_of);
}
