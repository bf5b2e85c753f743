// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a look-up gives the right entry or a harmless one, and that every entry has advice.
 * How events are rated is proved by test_xid_policy.c and test_xid_ratings.c. */
#include "unit.h"
#include "xid/xid_line.h"

/* Of xid_catalog.tsv, which has no gaps. */
enum { HIGHEST = 182 };

TEST(known_codes_give_their_entry)
{
	const struct xid_catalog_entry *entry = xid_catalog_find(79);

	assert_printed("79 ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS hw restart_bm fatal "
		       "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html",
		       "%u %s %s %s %s %s", entry->xid, entry->mnemonic, entry->category,
		       entry->action, entry->severity, entry->source);
	assert_string_equal(entry->documented, "");
	entry = xid_catalog_find(165);
	assert_printed("ISINK_ZERO_LIFETIME PSHC_ZERO_LIFETIME", "%s %s", entry->mnemonic,
		       entry->documented);
	for (unsigned int xid = 1; xid <= HIGHEST; xid++)
		assert_int_equal(xid_catalog_find(xid)->xid, xid);
}

TEST(unknown_codes_give_a_whole_entry)
{
	const unsigned int codes[] = { 0, HIGHEST + 1, 9999, UINT32_MAX };

	for (size_t i = 0; i < COUNT(codes); i++) {
		const struct xid_catalog_entry *entry = xid_catalog_find(codes[i]);

		assert_printed("0 unknown none_given unknown", "%u %s %s %s", entry->xid,
			       entry->severity, entry->action, entry->category);
		assert_true(entry->mnemonic && entry->description);
	}
}

static bool is_one_of(const char *words, const char *word)
{
	return *word && strstr(words, formatted(" %s ", word));
}

/* Actions, categories and severities are values of labels. */
static void assert_labels(unsigned int code, const char *action, const char *severity)
{
	if (!*action || action[strspn(action, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
	    !is_one_of(" fatal warning info ", severity))
		fail_msg("%u has the action %s, severity %s", code, action, severity);
}

TEST(each_entry_is_whole_and_there_once)
{
	const struct sxid_catalog_entry *s;

	for (unsigned int xid = 1; xid <= HIGHEST; xid++) {
		const struct xid_catalog_entry *e = xid_catalog_find(xid);

		assert_labels(xid, e->action, e->severity);
		if (!is_one_of(" app driver fabric hw info unused ", e->category) ||
		    !*e->mnemonic || !*e->description || !*e->source)
			fail_msg("the entry of Xid %u lacks something", xid);
	}
	for (size_t i = 0; (s = sxid_catalog_entry(i)); i++) {
		assert_labels(s->sxid, s->action, s->severity);
		assert_ptr_equal(sxid_catalog_find(s->sxid), s);
	}
}

static void assert_advice(const char *action)
{
	const char *advice = xid_action_advice(action);

	if (strcmp(advice, xid_action_advice(NULL)) == 0)
		fail_msg("no advice for %s", action);
	assert_int_equal(advice[strlen(advice) - 1], '.');
}

TEST(every_action_has_its_own_advice)
{
	const char *fallback = xid_action_advice(NULL);

	assert_string_equal(xid_action_advice("no such action"), fallback);
	assert_string_equal(xid_action_advice(""), fallback);
	for (unsigned int xid = 0; xid <= HIGHEST; xid++)
		assert_advice(xid_catalog_find(xid)->action);
	for (unsigned int sxid = 10000; sxid < 40000; sxid++)
		if (sxid_catalog_find(sxid))
			assert_advice(sxid_catalog_find(sxid)->action);
}

TEST(sxids_are_found_among_switches_codes_only)
{
	const struct sxid_catalog_entry *entry = sxid_catalog_find(12028);

	static const unsigned int unknown[] = { 0, 79, 12000, UINT32_MAX };

	assert_non_null(entry);
	assert_printed("12028 HW_NPORT_EGRESS_PRIVRSPERR reset_fabric fatal 1", "%u %s %s %s %d",
		       entry->sxid, entry->mnemonic, entry->action, entry->severity, entry->always);
	assert_int_equal(sxid_catalog_find(10001)->sxid, 10001);
	assert_int_equal(sxid_catalog_find(30006)->sxid, 30006);
	for (size_t i = 0; i < COUNT(unknown); i++)
		assert_null(sxid_catalog_find(unknown[i]));
}

TEST(the_text_decides_of_some_codes_only)
{
	static const unsigned int codes[] = {
		1, 74, 94, 144, 145, 146, 147, 148, 149, 150, 154, 182
	};
	size_t found = 0;

	for (unsigned int xid = 0; xid < 1000; xid++)
		if (xid_text_decides(xid))
			assert_int_equal(xid, codes[found++]);
	assert_int_equal(found, COUNT(codes));
}
