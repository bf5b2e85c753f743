// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the policy file: any bytes give either an error of one line or well-formed entries that are
 * found by their codes. */
#include "fuzz.h"
#include "xid/xid_policy.h"

static void require_entry(const struct xid_policy *p, size_t i)
{
	const struct xid_policy_entry *e = &p->entries[i];
	const char *s = e->severity;

	require(xid_policy_find(p, e->nvswitch, e->code) == e);
	require(!s || !strcmp(s, "fatal") || !strcmp(s, "warning") || !strcmp(s, "info") ||
		!strcmp(s, "unknown"));
	if (*e->action) {
		require(!e->nvswitch);
		require_string(e->action);
		require(!e->action[strspn(e->action, "abcdefghijklmnopqrstuvwxyz_0123456789")]);
	}
	if (i)
		require(e[-1].nvswitch < e->nvswitch ||
			(e[-1].nvswitch == e->nvswitch && e[-1].code < e->code));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xid_policy p;
	char error[160];

	memset(error, 'x', sizeof(error));
	if (xid_policy_parse(&p, (const char *)data, size, error, sizeof(error))) {
		require(!strncmp(error, "line ", 5));
		require_safe(error, sizeof(error));
		require(!p.entries && !p.count);
		return 0;
	}
	require(p.count <= XID_POLICY_MAX_LINES);
	for (size_t i = 0; i < p.count; i++)
		require_entry(&p, i);
	xid_policy_free(&p);
	return 0;
}
