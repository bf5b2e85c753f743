// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "xid/xid_line.h"

#include "base/helper.h"
#include "base/span.h"

static const char *const severities[] = { "fatal", "warning", "info", "unknown" };

static bool read_severity(struct span field, struct xid_policy_entry *e)
{
	if (span_is(field, "-"))
		return true;
	for (size_t i = 0; i < COUNT(severities); i++)
		if (span_is(field, severities[i]))
			e->severity = severities[i];
	return e->severity;
}

static bool read_action(struct span field, struct xid_policy_entry *e)
{
	if (span_is(field, "-"))
		return true;
	return span_copy(field, e->action, sizeof(e->action)) &&
	       !e->action[strspn(e->action, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static int read_line(struct xid_policy *p, const struct fields *f)
{
	/* Without memory its line is refused below. */
	struct xid_policy_entry *e = ARRAY_APPEND(p->entries, p->count);

	if (!xid_code_read(f->field[0], &e->nvswitch, &e->code))
		return fields_refuse(f, 0, "is not an Xid number or sxid:NUMBER");
	if (xid_policy_find(p, e->nvswitch, e->code) != e)
		return fields_refuse(f, 0, "has more than one line: keep one");
	if (f->count < 2 || f->count > 3)
		return fields_refuse(f, 0,
				     "must be followed by SEVERITY, or by SEVERITY and ACTION");
	if (!read_severity(f->field[1], e))
		return fields_refuse(f, 1, "is not fatal, warning, info, unknown or -");
	if (f->count == 3 && !read_action(f->field[2], e))
		return fields_refuse(f, 2, "is not an action: at most 39 of a-z, 0-9 and _, or -");
	if (e->nvswitch && *e->action)
		return fields_refuse(f, 2, "cannot be given: SXids have no action");
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct xid_policy_entry *x = a, *y = b;

	return ORDER(x->nvswitch, y->nvswitch) ?: ORDER(x->code, y->code);
}

int xid_policy_parse(struct xid_policy *p, const char *text, size_t len, char *error,
		     size_t error_size)
{
	struct fields f = { .rest = { text, text + len },
			    .error = error,
			    .error_size = error_size };
	int err = 0;

	*p = (struct xid_policy){};
	while (!err && f.line <= XID_POLICY_MAX_LINES && fields_next(&f))
		err = read_line(p, &f);
	if (!err && f.line > XID_POLICY_MAX_LINES) {
		snprintf(error, error_size, "line %d: at most %d lines are read",
			 XID_POLICY_MAX_LINES + 1, XID_POLICY_MAX_LINES);
		err = -EINVAL;
	}
	if (err)
		xid_policy_free(p);
	else if (p->count)
		qsort(p->entries, p->count, sizeof(*p->entries), compare_entries);
	return err;
}

int xid_policy_load(struct xid_policy *p, const char *path, const struct log *log)
{
	FILE_TEXT file = {};
	char error[160];
	int err;

	*p = (struct xid_policy){};
	err = helper_read_file(&file, path, false);
	if (err) {
		log_error(log, "cannot read the policy file %s: %s", path, file_text_error(err));
		return err;
	}
	err = xid_policy_parse(p, file.bytes, file.len, error, sizeof(error));
	if (err)
		log_error(log, "the policy file %s: %s", path, error);
	return err;
}

void xid_policy_free(struct xid_policy *p)
{
	free(p->entries);
	*p = (struct xid_policy){};
}

const struct xid_policy_entry *xid_policy_find(const struct xid_policy *p, bool nvswitch,
					       unsigned int code)
{
	return ARRAY_FIND(e, p->entries, p->count, e->nvswitch == nvswitch && e->code == code);
}

struct xid_rating xid_policy_rating(const struct xid_policy *p, const struct xid_line *line)
{
	bool nvswitch = line->kind != XID_LINE_XID;
	const struct xid_policy_entry *e;
	struct xid_rating v = xid_line_rating(line);

	if (xid_asks_no_more(line))
		return v;
	/* It is no fault of its own; its cause counts. */
	if (!nvswitch && line->code == XID_CHANNEL_REMOVED && line->caused_by) {
		e = xid_policy_find(p, false, line->caused_by);
		if (e && e->severity && strcmp(e->severity, "fatal") != 0)
			v.severity = "info";
		return v;
	}
	e = xid_policy_find(p, nvswitch, line->code);
	if (e && e->severity)
		v.severity = e->severity;
	if (e && *e->action)
		v.action = e->action;
	return v;
}

/* How grave one event is and what to do about it, by its text and by the catalogs. */

/* A rule applies to an event if all that it states is true. The first that applies counts. */
struct rule {
	unsigned int xid;
	/* Unit or recovery action, several with '/' between; "*": any; "-": any or none; "~TEXT": the message has TEXT. */
	const char *name;
	enum xid_fatality printed; /* XID_FATALITY_UNSTATED: any or none */
	struct {
		unsigned int care, value; /* these bits have this value */
	} words[NVLINK_WORDS];
	const char *severity;
	const char *action;
};

static const struct rule rules[] = {
#define ONLY(word, mask) [word - 1] = { ~mask##u, 0 },
#define BITS(word, mask, value) [word - 1] = { mask, value },
#define TABLE_ROW(xid, name, printed, words, severity, action) \
	{ xid, name, XID_##printed, { words }, severity, action },
#include "xid_text.inc"
};

static bool has_name(const char *names, const char *name, struct span message)
{
	struct span rest = span_of(names);

	if (*names == '~')
		return span_left(message) &&
		       memmem(message.at, span_left(message), names + 1, strlen(names + 1));
	if (!strcmp(names, "-") || (!strcmp(names, "*") && *name))
		return true;
	while (span_left(rest))
		if (span_is(span_take_field(&rest, "/"), name))
			return true;
	return false;
}

static bool has_words(const struct rule *r, const struct nvlink *n)
{
	for (int i = 0; i < NVLINK_WORDS; i++)
		if (r->words[i].care &&
		    (i >= n->word_count || (n->words[i] & r->words[i].care) != r->words[i].value))
			return false;
	return true;
}

static const struct rule *find_rule(const struct xid_line *line, const char *name)
{
	const struct span message = { line->message + line->name_left,
				      line->message + line->message_len };

	return ARRAY_FIND(
		r, rules, COUNT(rules),
		r->xid == line->code && has_name(r->name, name, message) &&
			(r->printed == XID_FATALITY_UNSTATED || r->printed == line->fatality) &&
			has_words(r, &line->nvlink));
}

static struct xid_rating of_sxid(const struct xid_line *line)
{
	static const char *const stated[] = {
		[XID_FATALITY_UNSTATED] = "unknown",
		[XID_FATAL] = "fatal",
		[XID_NONFATAL] = "warning",
		[XID_CORRECTABLE] = "info",
	};
	const struct sxid_catalog_entry *e = sxid_catalog_find(line->code);
	bool by_catalog = e && (e->always || line->fatality == XID_FATALITY_UNSTATED);
	struct xid_rating rating = { by_catalog ? e->severity : stated[line->fatality], "", NULL };

	if (e && !strcmp(e->action, "ignore") && !strcmp(rating.severity, "fatal"))
		rating.action = "reset_fabric"; /* the driver knows better */
	return rating;
}

/* The cause decides, because its own line may be gone. Of the causes of NVLink 5 only 149 counts: the severity of the others
 * depends on their text, which is not here. */
static struct xid_rating of_removed_channel(const struct xid_line *line)
{
	const struct xid_catalog_entry *cause = xid_catalog_find(line->caused_by);

	if (!strcmp(cause->severity, "fatal") || line->caused_by == XID_NVLINK_NETIR)
		return (struct xid_rating){ "warning", cause->action, NULL };
	return (struct xid_rating){ "info", xid_catalog_find(line->code)->action, NULL };
}

struct xid_rating xid_line_rating(const struct xid_line *line)
{
	const struct xid_catalog_entry *e = xid_catalog_find(line->code);
	const struct rule *r;

	if (line->kind != XID_LINE_XID)
		return of_sxid(line);
	if (line->code == XID_CHANNEL_REMOVED && line->caused_by)
		return of_removed_channel(line);
	r = find_rule(line, line->code == XID_RECOVERY_ACTION ? line->recovery : line->nvlink.unit);
	if (r)
		return (struct xid_rating){ r->severity, r->action,
					    *r->name == '~' ? r->name + 1 : NULL };
	return (struct xid_rating){ e->severity, e->action, NULL };
}

bool xid_text_decides(unsigned int xid)
{
	return ARRAY_FIND(r, rules, COUNT(rules), r->xid == xid);
}

bool xid_asks_no_more(const struct xid_line *line)
{
	return line->kind == XID_LINE_XID && line->code == XID_RECOVERY_ACTION &&
	       !strcmp(line->recovery, "None");
}

bool xid_reset_is_done(const struct xid_line *line)
{
	const struct rule *left;

	if (!xid_asks_no_more(line))
		return false;
	left = find_rule(line, line->recovery_from);
	return left && (!strcmp(left->action, "reset_gpu") || !strcmp(left->action, "restart_bm"));
}
