// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope xid`: explains an Xid or SXid, or lists all Xids. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "commands/commands.h"
#include "commands/exit_codes.h"
#include "commands/options.h"
#include "xid/xid_catalog.h"
#include "xid/xid_policy.h"
#include "xid/xid_rating.h"

/* An Xid, with severity and action of a fault whose text does not change them. */
struct explained {
	unsigned int xid;
	const struct xid_catalog_entry *entry;
	const char *severity, *action;
	bool overridden; /* by the policy file */
	const char *note; /* NULL: none */
};

/* Explains when a fault of this code has another severity; NULL: never. */
static const char *note_of(unsigned int xid)
{
	if (xid == XID_CHANNEL_REMOVED)
		return "One that names a previous Xid as its cause is always of "
		       "severity info.";
	if (xid == XID_RECOVERY_ACTION)
		return "The text decides by the action that it names; info if that is None.";
	if (xid == XID_NVLINK_ERROR)
		return "The text decides: some bits of the link's registers mean nothing.";
	if (xid_text_decides(xid) && strcmp(xid_catalog_find(xid)->severity, "fatal") != 0)
		return "The text decides the severity: fatal if it says Fatal, "
		       "warning if it says Nonfatal.";
	return NULL;
}

static struct explained explain(const struct xid_policy *p, unsigned int xid)
{
	const struct xid_policy_entry *e = xid_policy_find(p, false, xid);
	struct explained x = { .xid = xid, .entry = xid_catalog_find(xid) };

	x.severity = e && e->severity ? e->severity : x.entry->severity;
	x.action = e && *e->action ? e->action : x.entry->action;
	x.overridden = e && (e->severity || *e->action);
	x.note = note_of(xid);
	/* A policy decides the severity, except of an Xid that goes back to None. */
	if (e && e->severity && xid_text_decides(xid))
		x.note = xid == XID_RECOVERY_ACTION ? "One that goes back to the action None is "
						      "always of severity info." :
						      NULL;
	return x;
}

static void print_text(const struct explained *x)
{
	printf("Xid %u: %s\n", x->xid, x->entry->description);
	printf("  mnemonic  %s\n", x->entry->mnemonic);
	if (x->entry->documented)
		printf("            documented as %s\n", x->entry->documented);
	printf("  category  %s\n", x->entry->category);
	printf("  severity  %s\n", x->severity);
	printf("  action    %s\n", x->action);
	printf("  advice    %s\n", xid_action_advice(x->action));
	if (x->overridden)
		printf("  policy    The catalog has %s, %s.\n", x->entry->severity,
		       x->entry->action);
	if (x->note)
		printf("  note      %s\n", x->note);
	if (*x->entry->source)
		printf("  source    %s\n", x->entry->source);
}

static void print_json(struct json *j, const struct explained *x)
{
	json_object(j, NULL);
	json_unsigned(j, "xid", x->xid);
	json_bool(j, "known", x->entry->xid);
	json_text(j, "mnemonic", x->entry->mnemonic);
	if (x->entry->documented)
		json_text(j, "documented", x->entry->documented);
	json_text(j, "description", x->entry->description);
	json_text(j, "category", x->entry->category);
	json_text(j, "severity", x->severity);
	json_text(j, "action", x->action);
	json_text(j, "advice", xid_action_advice(x->action));
	json_bool(j, "overridden", x->overridden);
	if (x->note)
		json_text(j, "note", x->note);
	if (*x->entry->source)
		json_text(j, "source", x->entry->source);
	json_object_end(j);
}

/* Lists the catalog's codes, then those that only the policy has, both ascending. */
static void list(const struct xid_policy *p, bool json)
{
	unsigned int end = xid_catalog_end();
	struct json j = { .out = stdout };
	struct explained x;

	if (json)
		json_array(&j, NULL);
	for (size_t i = 0; i < end + p->count; i++) {
		const struct xid_policy_entry *e = i < end ? NULL : &p->entries[i - end];

		if (e && (e->nvswitch || xid_catalog_find(e->code)->xid))
			continue;
		x = explain(p, e ? e->code : (unsigned int)i);
		if (!e && !x.entry->xid)
			continue;
		if (json) {
			if (j.comma)
				json_newline(&j);
			print_json(&j, &x);
		} else {
			printf("%-5u %-8s %-8s %-20s  %s\n", x.xid, x.severity, x.entry->category,
			       x.action, x.entry->description);
		}
	}
	if (json) {
		json_array_end(&j);
		putchar('\n');
	}
}

/* The same of an SXid. */
static bool print_sxid(const struct xid_policy *p, const struct options *o)
{
	const struct xid_policy_entry *e = xid_policy_find(p, true, o->xid);
	const struct sxid_catalog_entry *c = sxid_catalog_find(o->xid);
	const char *severity = e && e->severity ? e->severity : c ? c->severity : "unknown";
	const char *action = c ? c->action : "none_given";
	const char *note = c && c->always ? "The text says less than it is: this severity counts." :
					    "A severity in the text counts.";
	struct json j = { .out = stdout };

	if (!o->json) {
		printf("SXid %u: %s\n  severity  %s\n  action    %s\n  advice    %s\n", o->xid,
		       c ? c->mnemonic : "code not in the catalog", severity, action,
		       xid_action_advice(action));
		if (!e || !e->severity)
			printf("  note      %s\n", note);
	} else {
		json_object(&j, NULL);
		json_unsigned(&j, "sxid", o->xid);
		json_bool(&j, "known", c);
		json_text(&j, "mnemonic", c ? c->mnemonic : "");
		json_text(&j, "severity", severity);
		json_text(&j, "action", action);
		json_text(&j, "advice", xid_action_advice(action));
		json_bool(&j, "overridden", e && e->severity);
		json_object_end(&j);
		putchar('\n');
	}
	if (!c)
		fprintf(stderr,
			"xidscope: SXid %u is not in the catalog: look it up in the vendor's "
			"Fabric Manager documentation\n",
			o->xid);
	return c;
}

/* Returns whether the catalog has it. */
static bool print_one(const struct xid_policy *p, const struct options *o)
{
	struct explained x = explain(p, o->xid);

	if (o->json) {
		print_json(&(struct json){ .out = stdout }, &x);
		putchar('\n');
	} else {
		print_text(&x);
	}
	if (!x.entry->xid)
		fprintf(stderr,
			"xidscope: Xid %u is not in the catalog: look it up in "
			"the vendor's Xid documentation\n",
			o->xid);
	return x.entry->xid;
}

int cmd_xid(const struct options *o)
{
	struct xid_policy policy = {};
	bool good = true;

	if (o->xid_policy && xid_policy_load(&policy, o->xid_policy, &o->log))
		return EXIT_TROUBLE;
	if (o->list)
		list(&policy, o->json);
	else
		good = o->nvswitch ? print_sxid(&policy, o) : print_one(&policy, o);
	xid_policy_free(&policy);
	return good ? EXIT_OK : EXIT_TROUBLE;
}
