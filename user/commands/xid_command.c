// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope xid`: explains an Xid, or lists them all. */
#include "commands/xid_command.h"

#include <stdio.h>
#include <string.h>

#include "commands/options.h"
#include "xid/xid_catalog.h"
#include "xid/xid_policy.h"

/* An Xid as a fault of it would be judged, if its text says no more. */
struct explained {
	unsigned int xid;
	const struct xid_catalog_entry *entry;
	const char *severity, *action;
	bool overridden; /* by the policy file */
	const char *note; /* NULL: none */
};

/* Why an event of this code may be judged otherwise. */
static const char *note_of(unsigned int xid)
{
	if (xid == XID_CHANNEL_REMOVED)
		return "One that names a previous Xid as its cause is always of "
		       "severity info.";
	if (xid == XID_RECOVERY_ACTION)
		return "The text decides the severity: fatal if it names an "
		       "action, info if the action is None.";
	if (xid_text_decides(xid))
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
	/* Of the policy's two exceptions only one can still happen. */
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
	printf("  category  %s\n", x->entry->category);
	printf("  severity  %s\n", x->severity);
	printf("  action    %s\n", x->action);
	printf("  advice    %s\n", xid_action_advice(x->action));
	if (x->overridden)
		printf("  policy    The catalog has %s, %s.\n", x->entry->severity,
		       x->entry->action);
	if (x->note)
		printf("  note      %s\n", x->note);
}

static void print_field(const char *name, const char *value)
{
	printf(",\"%s\":", name);
	json_string(stdout, value, strlen(value));
}

static void print_json(const struct explained *x)
{
	printf("{\"xid\":%u,\"known\":%s", x->xid, x->entry->xid ? "true" : "false");
	print_field("mnemonic", x->entry->mnemonic);
	print_field("description", x->entry->description);
	print_field("category", x->entry->category);
	print_field("severity", x->severity);
	print_field("action", x->action);
	print_field("advice", xid_action_advice(x->action));
	printf(",\"overridden\":%s", x->overridden ? "true" : "false");
	if (x->note)
		print_field("note", x->note);
	putchar('}');
}

/* The catalog's codes, then what the policy has beyond them, ascending. */
static void list(const struct xid_policy *p, bool json)
{
	unsigned int end = xid_catalog_end();
	const char *between = "";
	struct explained x;

	if (json)
		putchar('[');
	for (size_t i = 0; i < end + p->count; i++) {
		const struct xid_policy_entry *e = i < end ? NULL : &p->entries[i - end];

		if (e && (e->nvswitch || xid_catalog_find(e->code)->xid))
			continue;
		x = explain(p, e ? e->code : (unsigned int)i);
		if (!e && !x.entry->xid)
			continue;
		if (json) {
			fputs(between, stdout);
			print_json(&x);
		} else {
			printf("%-5u %-8s %-8s %-20s  %s\n", x.xid, x.severity, x.entry->category,
			       x.action, x.entry->description);
		}
		between = ",\n";
	}
	if (json)
		puts("]");
}

/* False: the catalog does not have it. */
static bool print_one(const struct xid_policy *p, const struct options *o)
{
	struct explained x = explain(p, o->xid);

	if (o->json) {
		print_json(&x);
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

int xid_command(const struct options *o)
{
	struct xid_policy policy = {};
	bool good = true;

	if (o->xid_policy && xid_policy_load(&policy, o->xid_policy, &o->log))
		return EXIT_TROUBLE;
	if (o->list)
		list(&policy, o->json);
	else
		good = print_one(&policy, o);
	xid_policy_free(&policy);
	return good ? EXIT_OK : EXIT_TROUBLE;
}
