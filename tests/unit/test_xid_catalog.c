// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that a look-up gives the right entry or a harmless one, that every
 * entry has advice, and that an event's own words win over the catalog.
 */
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

TEST(every_action_has_its_own_advice)
{
	const char *fallback = xid_action_advice("no such action");

	assert_string_equal(xid_action_advice(NULL), fallback);
	assert_string_equal(xid_action_advice(""), fallback);
	for (unsigned int xid = 0; xid <= HIGHEST; xid++) {
		const char *action = xid_catalog_find(xid)->action;
		const char *advice = xid_action_advice(action);

		if (strcmp(advice, fallback) == 0)
			fail_msg("no advice for %s", action);
		assert_int_equal(advice[strlen(advice) - 1], '.');
	}
}

TEST(severity_follows_the_text_then_the_catalog)
{
	static const struct {
		const char *text;
		const char *severity;
	} cases[] = {
		{ "NVRM: Xid (PCI:0000:c1:00): 79, gone", "fatal" },
		{ "NVRM: Xid (PCI:0000:c1:00): 31, x", "warning" },
		{ "NVRM: Xid (PCI:0000:c1:00): 45, x", "info" },
		{ "NVRM: Xid (PCI:0000:c1:00): 45, x caused by previous Xid 79", "info" },
		{ "NVRM: Xid (PCI:0000:c1:00): 999, x", "unknown" },
		{ "NVRM: Xid (PCI:0000:c1:00): 149, NETIR Fatal XC0 (0x1)", "fatal" },
		{ "NVRM: Xid (PCI:0000:c1:00): 149, NETIR Nonfatal XC0 (0x1)", "warning" },
		{ "NVRM: Xid (PCI:0000:c1:00): 149, Link 1 : Link Down While Active.", "warning" },
		{ "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
		  "fatal" },
		{ "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
		  "info" },
		{ "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery act", "warning" },
		{ "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, x", "fatal" },
		{ "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20009, Non-fatal, x", "warning" },
		{ "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20012, Correctable, x", "info" },
		/* numbers of switches are not looked up among those of GPUs */
		{ "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 00079, x", "unknown" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line;
		size_t offset = 0;

		assert_true(xid_line_next(cases[i].text, strlen(cases[i].text), &offset, &line));
		assert_string_equal(xid_line_severity(&line), cases[i].severity);
	}
}
