// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a look-up gives the right entry or a harmless one, and that every entry has advice. */
#include "unit.h"
#include "xid/xid_catalog.h"

#define HIGHEST (xid_catalog_end() - 1) /* of xid_catalog.tsv, which has no gaps */

TEST(known_codes_give_their_entry)
{
	const struct xid_catalog_entry *entry = xid_catalog_find(79);

	assert_int_equal(entry->xid, 79);
	assert_string_equal(entry->mnemonic, "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS");
	assert_string_equal(entry->category, "hw");
	assert_string_equal(entry->action, "restart_bm");
	assert_string_equal(entry->severity, "fatal");
	assert_string_equal(entry->source,
			    "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html");
	assert_null(entry->documented);
	assert_string_equal(xid_catalog_find(165)->mnemonic, "ISINK_ZERO_LIFETIME");
	assert_string_equal(xid_catalog_find(165)->documented, "PSHC_ZERO_LIFETIME");
	for (unsigned int xid = 1; xid <= HIGHEST; xid++)
		assert_int_equal(xid_catalog_find(xid)->xid, xid);
}

TEST(unknown_codes_give_a_whole_entry)
{
	const unsigned int codes[] = { 0, HIGHEST + 1, 9999, UINT32_MAX };

	for (size_t i = 0; i < COUNT(codes); i++) {
		const struct xid_catalog_entry *entry = xid_catalog_find(codes[i]);

		assert_int_equal(entry->xid, 0);
		assert_string_equal(entry->severity, "unknown");
		assert_string_equal(entry->action, "none_given");
		assert_string_equal(entry->category, "unknown");
		assert_non_null(entry->mnemonic);
		assert_non_null(entry->description);
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

	assert_non_null(entry);
	assert_int_equal(entry->sxid, 12028);
	assert_string_equal(entry->mnemonic, "HW_NPORT_EGRESS_PRIVRSPERR");
	assert_string_equal(entry->action, "reset_fabric");
	assert_string_equal(entry->severity, "fatal");
	assert_true(entry->always);
	assert_int_equal(sxid_catalog_find(10001)->sxid, 10001);
	assert_int_equal(sxid_catalog_find(30006)->sxid, 30006);
	assert_null(sxid_catalog_find(0));
	assert_null(sxid_catalog_find(79));
	assert_null(sxid_catalog_find(12000));
	assert_null(sxid_catalog_find(UINT32_MAX));
}
