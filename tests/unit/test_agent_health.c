// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which finding is the first sentence of the agent's status and journal. */
#include "unit.h"

#include "commands/agent_health.c"

/* The subject of the first sentence, beside a silence of nas-2 that is over, if calls to nas-1 fail so, and the kernel has said
 * that. */
static const char *first(const char *failure, const char *kernel_event)
{
	static const struct options options = { .log.quiet = true };
	static struct headline servers;
	static struct agent_health h;
	struct nfs_span span = {};
	struct health_report report = {};
	struct snapshot s = {};

	servers = (struct headline){};
	headline_add(&servers, (struct headline_rank){ HEADLINE_WARN, HEADLINE_SILENT, 40 },
		     "nas-2", "nas-2 did not answer for 40 s.");
	h = (struct agent_health){ .options = &options, .servers = &servers };
	health_defaults(&h.rules);
	strcpy(h.node.node.nfs_errors[0].server, "nas-1");
	h.node.node.nfs_error_count = 1;
	strcpy(span.text, failure);
	add_errors_text(&h.node.node.nfs_errors[0], &span);
	not_null(snapshot_kernel_event(&s.faults, false, kernel_event, "nas-3"))->last =
		wall_seconds();
	judge(&h, &s, &report);
	assert_int_equal(h.findings, report.total);
	assert_true(h.findings > 0);
	snapshot_free(&s);
	return h.headline.subject;
}

TEST(what_is_lost_comes_before_a_silence_that_is_over)
{
	assert_string_equal(first("2 of 9 OPENs fail.", "nfs_ok"), "nas-2");
	assert_string_equal(first("2 of 9 WRITEs fail: data were not written.", "nfs_ok"), "nas-1");
	assert_string_equal(first("2 of 9 OPENs fail.", "nfs_state_lost"), "nas-3");
}
