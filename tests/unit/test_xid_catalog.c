// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a look-up gives the right entry or a harmless one, that every entry has advice; that an event's own text
 * decides where it can, and the catalog where the text says less; and which messages show that a reset is done.
 * tests/data/xid_ratings.tsv has many more. */
#include "unit.h"
#include "xid/xid_line.h"

#define HIGHEST (xid_catalog_end() - 1) /* of xid_catalog.tsv, which has no gaps */

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

#define XID "NVRM: Xid (PCI:0000:c1:00): "
#define SXID "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "
#define CHANGED XID "154, GPU recovery action changed from "

static struct xid_line read_line(const char *text)
{
	struct xid_line line;
	size_t offset = 0;

	assert_true(xid_line_next(text, strlen(text), &offset, &line));
	return line;
}

TEST(the_text_decides_then_the_catalog)
{
	/* With severity and action. */
	static const char *const cases[][3] = {
		{ XID "79, gone", "fatal", "restart_bm" },
		{ XID "31, x", "warning", "restart_app" },
		{ XID "45, x", "info", "workflow_xid_45" },
		{ XID "45, x caused by previous Xid 31", "info", "workflow_xid_45" },
		{ XID "45, x caused by previous Xid 145", "info", "workflow_xid_45" },
		{ XID "45, x caused by previous Xid 79", "warning", "restart_bm" },
		{ XID "999, x", "unknown", "none_given" },
		{ XID "74, x", "fatal", "workflow_nvlink_err" },
		{ XID
		  "74, NVLink: fatal error detected on link 1(0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
		  "info", "ignore" },
		{ XID
		  "74, NVLink: fatal error detected on link 1(0x1, 0x0, 0x0, 0x0, 0x100000, 0x0, 0x0)",
		  "warning", "ignore" },
		{ XID "149, NETIR Fatal XC0 (0x1)", "fatal", "reset_gpu" },
		{ XID "149, NETIR Nonfatal XC0 (0x1)", "warning", "xid_154_eval" },
		{ XID "149, NETIR_LINK_EVT Fatal XC0 (0x02600000 0x0)", "warning", "ignore" },
		/* cut within the word that would decide */
		{ XID "149, NETIR_LINK_EVT Fatal XC0 (0x02600000", "fatal", "reset_gpu" },
		{ XID "149, Link 1 : Link Down While Active.", "warning", "workflow_nvlink5_err" },
		{ XID "150", "fatal", "reset_gpu" },
		{ CHANGED "0x0 (None) to 0x1 (GPU Reset Required)", "fatal", "reset_gpu" },
		{ CHANGED "0x0 (None) to 0x2 (OS Reboot)", "fatal", "restart_bm" },
		{ CHANGED "0x0 (None) to 0x5 (Recover IMEX Domain)", "warning",
		  "recover_imex_domain" },
		{ CHANGED "0x0 (None) to 0x9 (Some New Action)", "fatal", "xid_154" },
		{ CHANGED "0x1 (GPU Reset Required) to 0x0 (None)", "info", "xid_154" },
		{ XID "154, GPU recovery act", "warning", "xid_154" },
		{ CHANGED "0x0 (None) to 0x4 (Drain and Re", "fatal", "reset_gpu" },
		{ CHANGED "0x4 (Drain and Reset) to 0x0 (No", "warning", "xid_154" },
		{ SXID "20034, Fatal, x", "fatal", "" },
		{ SXID "20001, Non-fatal, x", "warning", "" },
		{ SXID "20001, Fatal, x", "fatal", "reset_fabric" },
		{ SXID "15008, Correctable, x", "info", "" },
		{ SXID "12028, Non-fatal, x", "fatal", "" },
		{ SXID "26006, SOE HALTED", "fatal", "" },
		{ SXID "26008, SOE Watchdog error", "info", "" },
		/* an older release's number of another error */
		{ SXID "28001, Non-fatal, Link 46 x", "warning", "" },
		/* numbers of switches are not looked up among those of GPUs */
		{ SXID "00079, x", "unknown", "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = read_line(cases[i][0]);
		struct xid_rating v = xid_line_rating(&line);

		if (strcmp(v.severity, cases[i][1]) || strcmp(v.action, cases[i][2]))
			fail_msg("%s: %s, %s", cases[i][0], v.severity, v.action);
		if (*v.action)
			assert_string_not_equal(xid_action_advice(v.action),
						xid_action_advice(NULL));
	}
}

TEST(a_reset_is_done_if_the_action_before_none_was_one)
{
	static const struct {
		const char *text;
		bool no_more, done;
	} cases[] = {
		{ CHANGED "0x1 (GPU Reset Required) to 0x0 (None)", true, true },
		{ CHANGED "0x2 (Node Reboot Required) to 0x0 (None)", true, true },
		{ CHANGED "0x4 (Drain and Reset) to 0x0 (None)", true, true },
		{ CHANGED "0x2 (OS Reboot) to 0x0 (None)", true, true },
		{ CHANGED "0x3 (Drain P2P) to 0x0 (None)", true, false },
		{ CHANGED "0x5 (Recover IMEX Domain) to 0x0 (None)", true, false },
		{ CHANGED "0x9 (Some New Action) to 0x0 (None)", true, false },
		{ CHANGED "0x0 (None) to 0x0 (None)", true, false },
		{ CHANGED "0x4 (Drain and Reset) to 0x1 (GPU Reset Required)", false, false },
		{ CHANGED "0x1 (GPU Reset Required) to 0x0 (", false, false },
		{ XID "79, recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
		  false, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct xid_line line = read_line(cases[i].text);

		assert_int_equal(xid_asks_no_more(&line), cases[i].no_more);
		assert_int_equal(xid_reset_is_done(&line), cases[i].done);
	}
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
