// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope xid`: explains Xids and SXids, by their codes or by lines of the kernel log, or lists all. */
#include "base/json.h"

#include <time.h>

#include "base/safe_text.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "faults/fault_authority.h"
#include "health/health.h"
#include "xid/xid_catalog.h"
#include "xid/xid_policy.h"

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
	const char *text; /* words of its message that decided; NULL: none */
};

/* Explains when a fault of this code has another severity; NULL: never. @overridden: the policy has a severity. */
static const char *note_of(bool nvswitch, unsigned int code, bool overridden)
{
	const struct sxid_catalog_entry *sxid = nvswitch ? sxid_catalog_find(code) : NULL;

	if (nvswitch)
		return overridden ? NULL :
		       sxid && sxid->always ?
				    "The text understates it: this severity counts." :
				    "A severity in the text counts.";
	/* A policy decides the severity, except of an Xid that goes back to None. */
	if (overridden && xid_text_decides(code))
		return code == XID_RECOVERY_ACTION ? "A change back to None is always info." :
						     NULL;
	if (code == XID_CHANNEL_REMOVED)
		return "One that names a previous Xid as its cause is a warning if that is fatal, otherwise info.";
	if (code == XID_RECOVERY_ACTION)
		return "The text decides by the action that it names; info if that is None.";
	if (code == XID_NVLINK_ERROR)
		return "The text decides: some bits of the link's registers are harmless.";
	if (xid_text_decides(code) && (code < XID_NVLINK5_FIRST || code > XID_NVLINK5_LAST))
		return "The text decides: fatal if it says that the GPU is marked for a reset.";
	if (xid_text_decides(code) && strcmp(xid_catalog_find(code)->severity, "fatal") != 0)
		return "The text decides the severity: fatal if it says Fatal, warning if it says Nonfatal.";
	return NULL;
}

static struct explained explain_code(const struct xid_policy *p, bool nvswitch, unsigned int code)
{
	static const struct sxid_catalog_entry unknown = { .mnemonic = "",
							   .action = "none_given",
							   .severity = "unknown" };
	const struct xid_policy_entry *e = xid_policy_find(p, nvswitch, code);
	const struct sxid_catalog_entry *sxid = nvswitch ? sxid_catalog_find(code) : NULL;
	const struct xid_catalog_entry *xid = nvswitch ? NULL : xid_catalog_find(code);
	struct explained x = { .nvswitch = nvswitch, .code = code, .entry = xid };

	x.known = xid ? xid->xid : sxid != NULL;
	sxid = sxid ?: &unknown;
	x.name = xid ? xid->mnemonic : sxid->mnemonic;
	x.severity = e && e->severity ? e->severity : xid ? xid->severity : sxid->severity;
	x.action = e && *e->action ? e->action : xid ? xid->action : sxid->action;
	x.overridden = e && (e->severity || *e->action);
	x.note = note_of(nvswitch, code, e && e->severity);
	return x;
}

static struct explained explain_line(const struct xid_policy *p, const struct xid_line *line)
{
	struct explained x = explain_code(p, line->kind == XID_LINE_SXID, line->code);
	struct xid_rating rating = xid_policy_rating(p, line);

	x.severity = rating.severity;
	if (*rating.action)
		x.action = rating.action;
	x.note = NULL;
	x.line = line;
	x.text = rating.text;
	return x;
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

static const char *device_of(const struct explained *x)
{
	return *x->line->pci ? x->line->pci : "not named";
}

static void print_line(const struct explained *x)
{
	char words[160];

	describe_words(words, sizeof(words), x);
	printf("  device    %s\n", device_of(x));
	if (*x->line->process) {
		char process[4 * sizeof(x->line->process)];

		safe_format(process, sizeof(process), "%s", x->line->process);
		printf("  process   %s, pid %d\n", process, x->line->pid);
	}
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
	if (e && e->documented)
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
	if (e && e->documented)
		json_text(j, "documented", e->documented);
	if (e)
		json_text(j, "description", e->description);
	if (e)
		json_text(j, "category", e->category);
	json_text(j, "severity", x->severity);
	json_text(j, "action", x->action);
	json_text(j, "advice", xid_action_advice(x->action));
	json_bool(j, "overridden", x->overridden);
	if (x->line) {
		describe_words(words, sizeof(words), x);
		json_text(j, "device", device_of(x));
		json_text(j, "decided_by", is_by_text(x, words) ? words + 1 : "catalog");
	}
	if (x->note && e)
		json_text(j, "note", x->note);
	if (e && *e->source)
		json_text(j, "source", e->source);
	json_object_end(j);
}

static void list_one(const struct explained *x, struct json *j)
{
	char code[16];

	if (j) {
		if (j->comma)
			json_newline(j);
		print_json(j, x);
		return;
	}
	xid_code_text(code, sizeof(code), x->nvswitch, x->code);
	printf("%-10s %-8s %-8s %-20s  %s\n", code, x->severity,
	       x->nvswitch ? "nvswitch" : x->entry->category, x->action,
	       x->nvswitch ? x->name : x->entry->description);
}

/* Lists the catalogs' codes, and those that only the policy has: Xids, then SXids, those of the catalog first. */
static void list_codes(const struct xid_policy *p, bool json)
{
	struct json array = { .out = stdout }, *j = json ? &array : NULL;
	struct explained x;

	if (j)
		json_array(j, NULL);
	for (unsigned int i = 0; i < xid_catalog_end(); i++) {
		x = explain_code(p, false, i);
		if (x.known)
			list_one(&x, j);
	}
	for (size_t i = 0; sxid_catalog_entry(i); i++) {
		x = explain_code(p, true, sxid_catalog_entry(i)->sxid);
		list_one(&x, j);
	}
	for (size_t i = 0; i < p->count; i++) {
		x = explain_code(p, p->entries[i].nvswitch, p->entries[i].code);
		if (!x.known)
			list_one(&x, j);
	}
	if (j) {
		json_array_end(j);
		putchar('\n');
	}
}

/* ---- a log ----
 *
 * The verdict on a kernel log that was saved as text, by the agent's rules for faults. Lines count in their order. The times that
 * they begin with decide about bursts and repeats; one that goes back begins another boot or year. Of a log that has the lines
 * of others, too, only the kernel's count: what others write, a user may have chosen. */

#define DAY 86400.0

struct log_verdict {
	struct faults faults;
	struct fault_events events;
	struct fault_authority authority;
	double now; /* seconds since an unknown moment */
	double time; /* of the last line that had one, as it was written */
	bool timed; /* a line had one */
	bool of_others; /* the last line that began with a prefix */
	size_t passed_over; /* lines of others */
	size_t counted; /* faults, failures and other events of devices */
};

static void count_event(void *context, const struct event *event)
{
	struct log_verdict *v = context;

	(void)event;
	v->counted++;
}

/* @policy must outlive it. NULL: no memory. */
static struct log_verdict *log_verdict_new(const struct xid_policy *policy)
{
	static const struct log silent = { .quiet = true };
	struct log_verdict *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->now = DAY;
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
	free(v);
}

/* Without what colours it. */
static void remove_colours(char *line)
{
	char *to = line;

	for (const char *at = line; (*to = *at); at++) {
		if (at[0] != '\033' || at[1] != '[') {
			to++;
			continue;
		}
		at += strcspn(at, "mK\n");
		if (!*at || *at == '\n')
			at--;
	}
}

/* Moves past who wrote the line, as dmesg -r and -x and the syslog protocol have it, or as the JSON of the journal. False: not the
 * kernel. */
static bool take_facility(const char **line)
{
	const char *transport = **line == '{' ? strstr(*line, "\"_TRANSPORT\":") : NULL;
	unsigned int priority;
	int end = 0;

	if (sscanf(*line, "<%u>%n", &priority, &end) == 1 && end) {
		*line += end + (strncmp(*line + end, "1 ", 2) ? 0 : 2); /* RFC 5424 */
		return priority < 8;
	}
	sscanf(*line, "%*6[a-z ]:%*1[a-z]%*5[a-z ]: %n", &end); /* "kern  :err   : [" */
	if (end >= 15) {
		*line += end;
		return !strncmp(*line - end, "kern ", 5);
	}
	return !transport || strstr(transport, "\"kernel\"");
}

/* Takes the time that the line begins with, in seconds since an unknown moment; a log without years is of one year. The kernel's
 * own times stay. *@host: as for kernel_text(). False: it begins with none of these. */
static bool take_time(const char **line, double last, double *time, int *host)
{
	static const struct {
		const char *form;
		int host;
	} forms[] = {
		{ "%b %d %H:%M:%S", 1 }, /* syslog, journalctl */
		{ "%Y-%m-%dT%H:%M:%S", 1 }, /* journalctl -o short-iso; dmesg has a comma */
		{ "%Y-%m-%d %H:%M:%S", 1 },
		{ "%a %Y-%m-%d %H:%M:%S", 2 }, /* journalctl -o short-full */
		{ "[%a %b %d %H:%M:%S %Y]", 0 }, /* dmesg -T */
		{ "[%b%d %H:%M]", 0 }, /* dmesg -e */
	};
	int end = 0;

	*host = 0;
	if (sscanf(*line, "[ +%lf]%n", time, &end) == 1 && end) {
		*time += last;
		*line += end + ((*line)[end] == ' ');
		return true;
	}
	if (sscanf(*line, "[%lf]", time) == 1)
		return true;
	if (strspn(*line, "0123456789") == 10 &&
	    (*line)[10] == '.') { /* journalctl -o short-unix */
		*time = strtod(*line, NULL);
		*line += strcspn(*line, " ");
		*host = 1;
		return true;
	}
	ARRAY_EACH(f, forms, COUNT(forms)) {
		struct tm tm = { .tm_year = 100, .tm_mday = 1 };
		const char *rest = strptime(*line, f->form, &tm);
		double digit = 1;

		if (!rest)
			continue;
		*time = (double)timegm(&tm);
		*host = *rest != ',' ? f->host : 0;
		if (*rest == '.' || *rest == ',')
			while (span_digit(*++rest) < 10)
				*time += (digit /= 10) * (int)span_digit(*rest);
		*line = rest + strcspn(rest, " "); /* the zone */
		*line += **line == ' ';
		return true;
	}
	return false;
}

/* "sshd[99]:" */
static bool is_process(const char *word, size_t len)
{
	const char *open = memrchr(word, '[', len);

	return open && open > word && word[len - 2] == ']' &&
	       strspn(open + 1, "0123456789") == (size_t)(word + len - open) - 3;
}

/* Where the kernel's text begins in a line, behind "HOST kernel: "; NULL: another has written it. @host: the number of words
 * before the name of who has; 0: the line has no such name, or it is not known. Not @timed: the first words may be a time. */
static const char *kernel_text(const char *line, int host, bool timed)
{
	const char *word = line;
	int last = host ? host : timed ? 1 : 6;

	if (*word == '[' && strchr(word, ']'))
		word = strchr(word, ']') + 1; /* the kernel's time; a name may follow, too */
	for (int i = 0; i <= last; i++) {
		size_t len;

		word += strspn(word, " ");
		len = strcspn(word, " \n");
		if (!strncmp(word, "kernel:", 7))
			return word + 7 + (word[7] == ' ');
		if (!strncmp(word, "kernel - - - ", 13)) /* RFC 5424 */
			return word + 13;
		if (len > 3 && word[len - 1] == ':') {
			if (is_process(word, len) || (host && i))
				return NULL;
			return line;
		}
		word += len;
	}
	return host ? NULL : line;
}

/* Moves past the kernel's time, "[   12.345678] " or "[   12.345678 <    0.000011>] ", and the task that some kernels print,
 * "[ T123] ". */
static const char *skip_prefix(const char *text)
{
	int time = 0, task = 0;

	sscanf(text, "[%*[ 0-9.<>]]%n", &time);
	if (!time)
		return text;
	text += time;
	sscanf(text, " [ %*[TC]%*u]%n", &task);
	text += task;
	return text + (*text == ' ');
}

/* Ends @line before a line of the driver that @text, a part of it, quotes: the driver's own begin with their mark. */
static bool cut_quoted(char *line, const char *text)
{
	const char *at[] = { strstr(text, "NVRM: "), strstr(text, "nvidia-nvswitch") };

	if (at[0] == text || at[1] == text)
		return false;
	for (size_t i = 0; i < COUNT(at); i++)
		if (at[i])
			line[at[i] - line] = 0;
	return at[0] || at[1];
}

/* The kernel's text of the next line; NULL: it has none. */
static const char *log_verdict_text(struct log_verdict *v, char *line)
{
	const char *text = line;
	double time, before = v->now;
	bool by_kernel, timed;
	int host;

	remove_colours(line);
	v->now += 1e-6; /* the order counts */
	by_kernel = take_facility(&text);
	timed = take_time(&text, v->time, &time, &host);
	if (timed) {
		if (v->timed && time > v->time)
			RAISE(v->now, before + time - v->time);
		v->time = time;
		v->timed = true;
	}
	/* The message before it has more lines. */
	by_kernel = by_kernel && (timed || !v->of_others || !strchr(" \t", *line));
	text = by_kernel ? kernel_text(text, host, timed) : NULL;
	v->of_others = !text;
	v->passed_over += !text;
	if (!text)
		return NULL;
	text = skip_prefix(text);
	/* A text without a prefix may be part of a line. */
	v->passed_over += text != line && cut_quoted(line, text);
	return text;
}

/* Of an earlier boot only what outlives it counts. */
static void begin_boot(struct log_verdict *v)
{
	struct faults next = {};

	fault_authority_expire(&v->authority, UINT64_MAX);
	if (!faults_outlive(&next, &v->faults, 0)) {
		faults_free(&v->faults);
		v->faults = next;
	}
}

/* It may end with a newline. */
static void log_verdict_add(struct log_verdict *v, const char *text)
{
	struct kmsg_record record = { .facility = 1, .text_len = strcspn(text, "\n") };
	uint64_t ns = (uint64_t)(v->now * 1e9);

	if (sscanf(text, "Linux version %*u.%*u.%u", &(unsigned int){ 0 }) == 1)
		begin_boot(v);
	record.time_us = ns / 1000;
	fault_authority_record(&v->authority, &record, text, RECORD_BEFORE_START, ns);
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

static void write_finding(struct json *j, const struct health_finding *f)
{
	json_object(j, NULL);
	json_text(j, "rule", health_rules[f->rule].name);
	json_text(j, "level", health_level_names[f->level]);
	json_text(j, "device", f->device);
	json_text(j, "what", f->what);
	json_text(j, "action", f->action);
	json_unsigned(j, "count", f->count);
	json_text(j, "advice", f->advice ?: f->reason);
	json_object_end(j);
}

static const char *const levels[] = { "ok", "warning", "critical" };

static void print_verdict(const struct health_report *report, const struct fault_counts *c)
{
	printf("health: %s\n", levels[report->level]);
	ARRAY_EACH(f, report->findings, report->count)
		print_finding(f);
	ARRAY_EACH(v, c->kernel_events, c->kernel_event_count)
		if (is_seen(v, report))
			terminal_line(stdout, 4, "  seen: %s%s%s, %" PRIu64 " %s", v->kind,
				      *v->device ? " of " : "", v->device, v->count,
				      v->count == 1 ? "time" : "times");
}

static void write_verdict(const struct health_report *report, const struct fault_counts *c)
{
	struct json j = { .out = stdout };

	json_object(&j, NULL);
	json_text(&j, "health", levels[report->level]);
	json_array(&j, "findings");
	ARRAY_EACH(f, report->findings, report->count)
		write_finding(&j, f);
	json_array_end(&j);
	json_array(&j, "seen");
	ARRAY_EACH(v, c->kernel_events, c->kernel_event_count) {
		if (!is_seen(v, report))
			continue;
		json_object(&j, NULL);
		json_text(&j, "kind", v->kind);
		json_text(&j, "device", v->device);
		json_unsigned(&j, "count", v->count);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_end(&j);
}

/* Prints the health that the lines lead to, each finding, and what was seen besides. Returns false, and prints nothing, if no
 * line counted. */
static bool log_verdict_print(struct log_verdict *v, bool as_json)
{
	static struct health_report report;
	struct snapshot s = { .faults.gpu_watched = true };
	struct health_options o;
	bool counted;

	fault_authority_expire(&v->authority, UINT64_MAX);
	if (faults_snapshot(&v->faults, &(struct fault_clock){ .now = v->now }, &s.faults))
		return false;
	health_defaults(&o);
	health_evaluate(&s, &o, v->now, &report);
	counted = v->counted || report.total;
	if (counted)
		(as_json ? write_verdict : print_verdict)(&report, &s.faults);
	if (counted && !v->timed && !as_json)
		puts("  The lines have no known times: bursts and repeats are not found.");
	snapshot_free(&s);
	return counted;
}

/* ---- what was asked for ---- */

struct answers {
	const struct xid_policy *policy;
	bool json;
	size_t count;
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
		if (line.kind == XID_LINE_SXID_DETAIL)
			continue;
		x = explain_line(a->policy, &line);
		answer_one(a, &x);
	}
	if (a->count > before || !xid_codes_only(rest))
		return;
	while (xid_code_next(&rest, &nvswitch, &code)) {
		x = explain_code(a->policy, nvswitch, code);
		answer_one(a, &x);
	}
}

/* The longest line: twice a record's. */
#define LINE_BYTES 4096

/* Explains the faults of each line, then prints what the lines lead to. */
static void answer_log(struct answers *a, FILE *log)
{
	struct log_verdict *verdict = log_verdict_new(a->policy);
	size_t size = 0, before = a->count;
	FREED char *line = NULL;
	const char *text;

	while (verdict && getline(&line, &size, log) > 0) {
		line[strnlen(line, LINE_BYTES)] = 0;
		text = log_verdict_text(verdict, line);
		if (!text)
			continue;
		answer_text(a, text, strlen(text));
		log_verdict_add(verdict, text);
	}
	if (a->count > before && !a->json)
		putchar('\n');
	if (!(verdict && log_verdict_print(verdict, a->json)) && a->count == before) {
		fprintf(stderr,
			"xidscope: the input has no Xid, no SXid and no driver error of the kernel; lines of others: %zu\n",
			verdict ? verdict->passed_over : 0);
		a->good = false;
	}
	log_verdict_free(verdict);
}

int cmd_xid(const struct options *o)
{
	struct xid_policy policy = {};
	struct answers a = { .policy = &policy, .json = o->json, .good = true };

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
	return a.good ? EXIT_OK : EXIT_TROUBLE;
}
