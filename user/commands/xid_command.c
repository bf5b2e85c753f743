// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope xid`: explains Xids and SXids, by their codes or by lines of the kernel log, or lists all. */
#include "base/json.h"

#include "base/safe_text.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "faults/fault_authority.h"
#include "health/health.h"
#include "kernel/kernel_log.h"
#include "limits/headline.h"
#include "xid/xid_line.h"

/* An Xid or SXid, with severity and action: of a fault whose text does not change them, or of one line. */
struct explained {
	bool nvswitch;
	unsigned int code;
	bool known;
	const struct xid_catalog_entry *entry; /* of an Xid */
	const char *name, *severity, *action;
	bool overridden; /* by the policy file */
	const char *note; /* NULL: none */
	const struct xid_line *line; /* NULL: none */
	const char *device; /* of the line */
	const char *text; /* words of its message that decided; NULL: none */
	const char *time; /* when it was written; "": not known */
};

/* Explains when a fault of this code has another severity; NULL: never. @overridden: the policy has a severity. */
static const char *note_of(bool nvswitch, unsigned int code, bool overridden)
{
	const struct sxid_catalog_entry *sxid = nvswitch ? sxid_catalog_find(code) : NULL;

	if (nvswitch)
		return overridden           ? NULL :
		       sxid && sxid->always ? "The text understates it: this severity counts." :
					      "A severity in the text counts.";
	/* A policy decides the severity, except of an Xid that goes back to None. */
	if (overridden && xid_text_decides(code))
		return code == XID_RECOVERY_ACTION ? "A change back to None is always info." : NULL;
	if (code == XID_CHANNEL_REMOVED)
		return "One that names a previous Xid as its cause is a warning if that is fatal or 149, otherwise info.";
	if (code == XID_RECOVERY_ACTION)
		return "The text decides by the action that it names; info if that is None.";
	if (code == XID_NVLINK_ERROR)
		return "The text decides: some bits of the link's registers are harmless.";
	if (xid_text_decides(code) && (code < XID_NVLINK5_FIRST || code > XID_NVLINK5_LAST))
		return "The text decides: fatal if its words mean that the GPU needs a reset.";
	if (xid_text_decides(code) && strcmp(xid_catalog_find(code)->severity, "fatal") != 0)
		return "The text decides the severity: fatal if it says Fatal, warning if it says Nonfatal.";
	return NULL;
}

/* @line: NULL: what the code alone says. */
static struct explained explain(const struct xid_policy *p, bool nvswitch, unsigned int code,
				const struct xid_line *line)
{
	const struct xid_line none = { .kind = nvswitch ? XID_LINE_SXID : XID_LINE_XID,
				       .code = code,
				       .message = "" };
	const struct xid_policy_entry *e = xid_policy_find(p, nvswitch, code);
	const struct sxid_catalog_entry *sxid = nvswitch ? sxid_catalog_find(code) : NULL;
	const struct xid_catalog_entry *xid = nvswitch ? NULL : xid_catalog_find(code);
	struct xid_rating rating = xid_policy_rating(p, line ?: &none);

	return (struct explained){
		.nvswitch = nvswitch,
		.code = code,
		.known = xid ? xid->xid : sxid != NULL,
		.entry = xid,
		.name = xid  ? xid->mnemonic :
			sxid ? sxid->mnemonic :
			       "",
		.severity = rating.severity,
		.action = *rating.action ? rating.action :
			  sxid           ? sxid->action :
					   "none_given",
		.overridden = e && (e->severity || *e->action),
		.note = line ? NULL : note_of(nvswitch, code, e && e->severity),
		.line = line,
		.device = line && *line->pci ? line->pci : "not named",
		.text = rating.text,
		.time = "",
	};
}

/* Appends the words and registers of a line that can decide, with a blank before each. */
static void describe_words(char *text, size_t size, const struct explained *x)
{
	const struct xid_line *l = x->line;
	static const char *const printed[] = {
		[XID_FATALITY_UNSTATED] = "",
		[XID_CORRECTABLE] = " Correctable",
		[XID_NONFATAL] = " Nonfatal",
		[XID_FATAL] = " Fatal",
	};
	int len = snprintf(text, size, "%s%s%s%s%s%s%s", *l->nvlink.unit ? " " : "", l->nvlink.unit,
			   printed[l->fatality], *l->recovery ? " " : "", l->recovery,
			   x->text ? " " : "", x->text ?: "");

	if (l->caused_by)
		len += snprintf(text + len, size - (size_t)len, " caused by Xid %u", l->caused_by);
	for (int i = 0; i < l->nvlink.word_count && (size_t)len < size; i++)
		len += snprintf(text + len, size - (size_t)len, " 0x%08x", l->nvlink.words[i]);
}

/* Whether the words of the line could change the catalog's rating. */
static bool is_by_text(const struct explained *x, const char *words)
{
	const struct sxid_catalog_entry *c = x->nvswitch ? sxid_catalog_find(x->code) : NULL;

	return *words && !(c && c->always);
}

static void print_line(const struct explained *x)
{
	char words[160];

	describe_words(words, sizeof(words), x);
	printf("  device    %s\n", x->device);
	if (*x->line->process)
		safe_line(stdout, "  process   %s, pid %d", x->line->process, x->line->pid);
	printf("  decided   by %s%s\n",
	       x->overridden        ? "the policy file" :
	       is_by_text(x, words) ? "the text:" :
				      "the catalog alone",
	       x->overridden || !is_by_text(x, words) ? "" : words);
}

static void print_text(const struct explained *x)
{
	const struct xid_catalog_entry *e = x->entry;

	terminal_line(stdout, 4, "%s %u: %s", x->nvswitch ? "SXid" : "Xid", x->code,
		      e        ? e->description :
		      x->known ? x->name :
				 "code not in the catalog");
	if (e)
		printf("  mnemonic  %s\n", e->mnemonic);
	if (e && *e->documented)
		printf("            documented as %s\n", e->documented);
	if (e)
		printf("  category  %s\n", e->category);
	printf("  severity  %s\n  action    %s\n", x->severity, x->action);
	terminal_line(stdout, 12, "  advice    %s", xid_action_advice(x->action));
	if (x->line)
		print_line(x);
	if (e && x->overridden)
		printf("  policy    The catalog has %s, %s.\n", e->severity, e->action);
	if (x->note)
		terminal_line(stdout, 12, "  note      %s", x->note);
	if (e && *e->source)
		printf("  source    %s\n", e->source);
}

static void print_json(struct json *j, const struct explained *x)
{
	const struct xid_catalog_entry *e = x->entry;
	char words[160];

	json_object(j, NULL);
	json_unsigned(j, x->nvswitch ? "sxid" : "xid", x->code);
	json_bool(j, "known", x->known);
	json_text(j, "mnemonic", x->name);
	if (e) {
		json_known(j, "documented", e->documented);
		json_text(j, "description", e->description);
		json_text(j, "category", e->category);
	}
	json_text(j, "severity", x->severity);
	json_text(j, "action", x->action);
	json_text(j, "advice", xid_action_advice(x->action));
	json_bool(j, "overridden", x->overridden);
	if (x->line) {
		describe_words(words, sizeof(words), x);
		json_text(j, "device", x->device);
		json_known(j, "time", x->time);
		json_text(j, "decided_by", is_by_text(x, words) ? words + 1 : "catalog");
	}
	if (x->note && e)
		json_text(j, "note", x->note);
	if (e && *e->source)
		json_text(j, "source", e->source);
	json_object_end(j);
}

/* Lists the code, if the catalogs have it (@known) or have it not. */
static void list_code(const struct xid_policy *p, struct json *j, bool nvswitch, unsigned int code,
		      bool known)
{
	const struct explained x = explain(p, nvswitch, code, NULL);
	char text[16];

	if (x.known != known)
		return;
	if (j) {
		if (j->comma)
			json_newline(j);
		print_json(j, &x);
		return;
	}
	xid_code_text(text, sizeof(text), nvswitch, code);
	printf("%-10s %-8s %-8s %-20s  %s\n", text, x.severity,
	       nvswitch ? "nvswitch" : x.entry->category, x.action,
	       nvswitch ? x.name : x.entry->description);
}

/* Lists the catalogs' codes, and those that only the policy has: Xids, then SXids, those of the catalog first. */
static void list_codes(const struct xid_policy *p, bool json)
{
	struct json array = { .out = stdout }, *j = json ? &array : NULL;

	if (j)
		json_array(j, NULL);
	for (unsigned int i = 0; i < HIGH_XID; i++)
		list_code(p, j, false, i, true);
	for (size_t i = 0; sxid_catalog_entry(i); i++)
		list_code(p, j, true, sxid_catalog_entry(i)->sxid, true);
	ARRAY_EACH(e, p->entries, p->count)
		list_code(p, j, e->nvswitch, e->code, false);
	if (j) {
		json_array_end(j);
		putchar('\n');
	}
}

/* ---- a log: the verdict on it, by the agent's rules for faults ---- */

#define DAY 86400.0

struct log_verdict {
	struct faults faults;
	struct fault_events events;
	struct fault_authority authority;
	struct saved_log log;
	size_t counted; /* faults, failures and other events of devices */
	/* When the lines were written that counted, or began a report. */
	struct counted_line {
		double now;
		struct saved_time time;
	} * lines;
	size_t line_count;
};

static void count_event(void *context, const struct event *event)
{
	struct log_verdict *v = context;

	(void)event;
	v->counted++;
}

/* @policy must outlive it. NULL: no memory. */
static struct log_verdict *log_verdict_new(const struct xid_policy *policy, FILE *in)
{
	static const struct log silent = { .quiet = true };
	struct log_verdict *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->log = (struct saved_log){ .in = in, .now = DAY };
	v->events = (struct fault_events){ .faults = &v->faults,
					   .handle = count_event,
					   .context = v,
					   .policy = policy,
					   .log = &silent,
					   .started_ns = UINT64_MAX };
	v->authority = (struct fault_authority){ .events = &v->events, .accept_user_kmsg = true };
	return v;
}

static void log_verdict_free(struct log_verdict *v)
{
	if (!v)
		return;
	fault_authority_free(&v->authority);
	faults_free(&v->faults);
	free(v->log.line);
	free(v->lines);
	free(v);
}

/* Of an earlier boot only what outlives it counts. */
static void begin_boot(struct log_verdict *v)
{
	struct faults next = {};

	fault_authority_expire(&v->authority, UINT64_MAX);
	faults_outlive(&next, &v->faults, 0);
	faults_free(&v->faults);
	v->faults = next;
}

static void log_verdict_add(struct log_verdict *v, const char *text)
{
	struct kmsg_record record = { .facility = 1, .text_len = strcspn(text, "\n") };
	uint64_t ns = (uint64_t)(v->log.now * 1e6 + 0.5) * 1000; /* as a record's */
	size_t before = v->counted;

	if (sscanf(text, "Linux version %*u.%*u.%u", &(unsigned int){ 0 }) == 1)
		begin_boot(v);
	record.time_us = ns / 1000;
	fault_authority_record(&v->authority, &record, text, RECORD_BEFORE_START, ns);
	if (v->counted > before || v->events.report.time_ns == ns)
		*ARRAY_APPEND(v->lines, v->line_count) =
			(struct counted_line){ v->log.now, v->log.time };
}

/* Writes when a line was written, if it is known. */
static void write_time(struct json *j, const struct log_verdict *v, double last)
{
	const struct counted_line *line =
		ARRAY_FIND(x, v->lines, v->line_count, last > 0 && x->now > last - 5e-7);

	if (line)
		json_known(j, "last", line->time.text);
}

/* Whether the event is listed as seen. An error of the driver or an oops is not, if it is a finding. */
static bool is_seen(const struct kernel_event *v, const struct health_report *report)
{
	if (v->gpu_driver)
		return !ARRAY_FIND(f, report->findings, report->count, !strcmp(f->what, v->kind));
	return strncmp(v->kind, "kernel_", 7) != 0 || !strcmp(v->kind, "kernel_warning");
}

static void print_finding(const struct health_finding *f)
{
	const char *level = health_level_names[f->level], *rule = health_rules[f->rule].name;

	if (!f->count)
		terminal_line(stdout, 4, "  %s by %s: %s", level, rule, f->reason);
	else
		terminal_line(stdout, 4, "  %s by %s: %s%s of %s, %" PRIu64 " %s. %s", level, rule,
			      f->code && !f->nvswitch ? "Xid " : "", f->what, f->device, f->count,
			      f->count == 1 ? "time" : "times", f->advice);
}

static void write_finding(struct json *j, const struct log_verdict *v,
			  const struct health_finding *f)
{
	json_object(j, NULL);
	json_text(j, "rule", health_rules[f->rule].name);
	json_text(j, "level", health_level_names[f->level]);
	json_text(j, "device", f->device);
	json_text(j, "what", f->what);
	json_text(j, "action", f->action);
	json_unsigned(j, "count", f->count);
	write_time(j, v, f->last);
	json_text(j, "advice", f->advice ?: f->reason);
	json_object_end(j);
}

/* In lines with an unknown prefix a fault may be missed. */
static const char *level_name(const struct log_verdict *v, const struct health_report *report)
{
	return report->level == HEALTH_OK && v->log.odd ? "unknown" :
							  headline_level_names[report->level];
}

static void print_verdict(const struct log_verdict *v, const struct health_report *report,
			  const struct fault_counts *c)
{
	printf("health: %s\n", level_name(v, report));
	ARRAY_EACH(f, report->findings, report->count)
		print_finding(f);
	ARRAY_EACH(x, c->kernel_events, c->kernel_event_count)
		if (is_seen(x, report))
			terminal_line(stdout, 4, "  seen: %s%s%s, %" PRIu64 " %s", x->kind,
				      *x->device ? " of " : "", x->device, x->count,
				      x->count == 1 ? "time" : "times");
	if (!v->log.time.known)
		puts("  The lines have no known times: bursts and repeats are not found.");
	if (v->log.odd)
		printf("  Lines with an unknown prefix: %zu. Only errors of the GPU driver are found there.\n",
		       v->log.odd);
}

static void write_verdict(const struct log_verdict *v, const struct health_report *report,
			  const struct fault_counts *c)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	json_text(&j, "health", level_name(v, report));
	json_array(&j, "findings");
	ARRAY_EACH(f, report->findings, report->count)
		write_finding(&j, v, f);
	json_array_end(&j);
	json_array(&j, "seen");
	ARRAY_EACH(x, c->kernel_events, c->kernel_event_count) {
		if (!is_seen(x, report))
			continue;
		json_object(&j, NULL);
		json_text(&j, "kind", x->kind);
		json_text(&j, "device", x->device);
		json_unsigned(&j, "count", x->count);
		write_time(&j, v, x->last);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_end(&j);
}

/* Prints the health that the lines lead to, each finding, and what was seen besides. Returns false, and prints nothing, if no line counted. */
static bool log_verdict_print(struct log_verdict *v, bool as_json)
{
	static struct health_report report;
	struct snapshot s = { .faults.gpu_watched = true };
	struct health_options o;
	bool counted;

	fault_authority_expire(&v->authority, UINT64_MAX);
	faults_snapshot(&v->faults, &(struct fault_clock){ .now = v->log.now }, &s.faults);
	health_defaults(&o);
	health_evaluate(&s, &o, v->log.now, &report);
	counted = v->counted || report.total;
	if (counted)
		(as_json ? write_verdict : print_verdict)(v, &report, &s.faults);
	snapshot_free(&s);
	return counted;
}

/* ---- what was asked for ---- */

struct answers {
	const struct xid_policy *policy;
	bool json;
	size_t count;
	const char *time; /* when the line was written; "": not known */
	bool good; /* the catalogs have all */
};

static void answer_one(struct answers *a, const struct explained *x)
{
	if (a->json) {
		print_json(&(struct json){ .out = stdout }, x);
		putchar('\n');
	} else {
		if (a->count)
			putchar('\n');
		print_text(x);
	}
	a->count++;
	if (x->known)
		return;
	a->good = false;
	fprintf(stderr, "xidscope: %s %u is not in the catalog: look it up in the vendor's %s\n",
		x->nvswitch ? "SXid" : "Xid", x->code,
		x->nvswitch ? "Fabric Manager documentation" : "Xid documentation");
}

/* Explains each fault of the text; or each code, if it has nothing else. */
static void answer_text(struct answers *a, const char *text, size_t size)
{
	struct span rest = { text, text + size };
	size_t offset = 0, before = a->count;
	struct xid_line line;
	struct explained x;
	unsigned int code;
	bool nvswitch;

	while (xid_line_next(text, size, &offset, &line)) {
		x = explain(a->policy, line.kind == XID_LINE_SXID, line.code, &line);
		x.time = a->time;
		answer_one(a, &x);
	}
	if (a->count > before || !xid_codes_only(rest))
		return;
	while (xid_code_next(&rest, &nvswitch, &code)) {
		x = explain(a->policy, nvswitch, code, NULL);
		answer_one(a, &x);
	}
}

/* Explains the faults of each line, then prints what the lines lead to. */
static void answer_log(struct answers *a, FILE *log)
{
	struct log_verdict *verdict = log_verdict_new(a->policy, log);
	size_t before = a->count;
	const char *text;

	while (verdict && (text = saved_log_next(&verdict->log))) {
		a->time = verdict->log.timed ? verdict->log.time.text : "";
		answer_text(a, text, strlen(text));
		log_verdict_add(verdict, text);
	}
	a->time = "";
	if (a->count > before && !a->json)
		putchar('\n');
	if (verdict && (verdict->log.fields || verdict->log.newest_first)) {
		fputs(verdict->log.fields ?
			      "xidscope: journalctl -o verbose and -o export are not read: use -o json\n" :
			      "xidscope: the log begins with its newest line: for a verdict, reverse it with tac, or leave out -r of journalctl\n",
		      stderr);
		a->good = false;
	} else if (!(verdict && log_verdict_print(verdict, a->json)) && a->count == before) {
		fprintf(stderr,
			"xidscope: the input has no Xid, no SXid and no driver error of the kernel; lines that are not known to be the kernel's: %zu\n",
			verdict ? verdict->log.passed_over : 0);
		a->good = false;
	}
	log_verdict_free(verdict);
}

int cmd_xid(const struct options *o)
{
	struct xid_policy policy = {};
	struct answers a = { .policy = &policy, .json = o->json, .time = "", .good = true };

	if (o->xid_policy && xid_policy_load(&policy, o->xid_policy, &o->log))
		return EXIT_TROUBLE;
	if (o->list)
		list_codes(&policy, o->json);
	for (size_t i = 0; i < o->text_count; i++) {
		size_t before = a.count, size = strlen(o->texts[i]);
		FILE *log = strcmp(o->texts[i], "-") ? NULL : stdin;

		if (!log)
			answer_text(&a, o->texts[i], size);
		if (!log && a.count == before) /* another line of the kernel log */
			log = fmemopen((void *)o->texts[i], size, "r");
		if (log)
			answer_log(&a, log);
		if (log && log != stdin)
			fclose(log);
	}
	xid_policy_free(&policy);
	if (memory_failed())
		return trouble("there was not enough memory: the answer is not whole");
	return a.good ? EXIT_OK : EXIT_TROUBLE;
}
