// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Look-ups in the catalogs, and advice. The table of Xids is indexed by the code;
 * codes that it lacks are all zero. Severities and actions are table rows because they change with each driver release. Rejected:
 * conditions in C; trusting the printed word, as the driver prints "Non-fatal" where the vendor asks for a reset. */
#include "xid/xid_line.h"

#include <ctype.h>
#include <limits.h>

#define SXID "sxid:"
#define BETWEEN_CODES " \t\r\n,"

static const struct xid_catalog_entry catalog[] = {
#define TABLE_ROW(xid, ...) [xid] = { xid, __VA_ARGS__ },
#include "xid_catalog.inc"
};

static const struct sxid_catalog_entry sxids[] = {
#define TABLE_ROW(action, severity, always, sxid, mnemonic) \
	{ sxid, #mnemonic, action, severity, always },
#include "sxid_catalog.inc"
};

static const struct xid_catalog_entry unknown = {
	.mnemonic = "UNKNOWN",
	.documented = "",
	.description = "code not in the catalog",
	.category = "unknown",
	.action = "none_given",
	.severity = "unknown",
	.source = "",
};

static const struct {
	const char *action;
	const char *sentence;
} advice[] = {
#define TABLE_ROW(...) { __VA_ARGS__ },
#include "action_advice.inc"
};

bool xid_code_read(struct span text, bool *nvswitch, unsigned int *code)
{
	uint64_t number;

	*nvswitch = span_take(&text, SXID);
	if (!span_number(text, UINT_MAX, &number))
		return false;
	*code = (unsigned int)number;
	return true;
}

static bool take_letter(struct span *s, char lower)
{
	if (!span_left(*s) || tolower((unsigned char)*s->at) != lower)
		return false;
	s->at++;
	return true;
}

bool xid_code_next(struct span *text, bool *nvswitch, unsigned int *code)
{
	struct span rest = *text;
	uint64_t number;

	span_take_run(&rest, BETWEEN_CODES);
	*nvswitch = take_letter(&rest, 's');
	if (take_letter(&rest, 'x')) {
		if (!take_letter(&rest, 'i') || !take_letter(&rest, 'd'))
			return false;
		span_take(&rest, ":");
		span_take_run(&rest, " ");
	} else if (*nvswitch) {
		return false;
	}
	if (!span_number(span_take_until(&rest, BETWEEN_CODES), UINT_MAX, &number))
		return false;
	*code = (unsigned int)number;
	*text = rest;
	return true;
}

bool xid_codes_only(struct span text)
{
	bool nvswitch, any = false;
	unsigned int code;

	while (xid_code_next(&text, &nvswitch, &code))
		any = true;
	span_take_run(&text, BETWEEN_CODES);
	return any && !span_left(text);
}

void xid_code_text(char *text, size_t size, bool nvswitch, unsigned int code)
{
	snprintf(text, size, "%s%u", nvswitch ? SXID : "", code);
}

const struct xid_catalog_entry *xid_catalog_find(unsigned int xid)
{
	return xid < COUNT(catalog) && catalog[xid].mnemonic ? &catalog[xid] : &unknown;
}

const struct sxid_catalog_entry *sxid_catalog_find(unsigned int sxid)
{
	return ARRAY_FIND(e, sxids, COUNT(sxids), e->sxid == sxid);
}

const char *xid_meaning(bool nvswitch, unsigned int code)
{
	const struct sxid_catalog_entry *sxid = nvswitch ? sxid_catalog_find(code) : NULL;

	return sxid ? sxid->mnemonic : nvswitch ? "" : xid_catalog_find(code)->description;
}

const struct sxid_catalog_entry *sxid_catalog_entry(size_t number)
{
	return number < COUNT(sxids) ? &sxids[number] : NULL;
}

const char *xid_action_advice(const char *action)
{
	for (size_t i = 0; action && i < COUNT(advice); i++)
		if (!strcmp(action, advice[i].action))
			return advice[i].sentence;
	return "Look the code up in the vendor's Xid documentation.";
}
