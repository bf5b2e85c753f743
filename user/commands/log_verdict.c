// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verdict on a kernel log that was saved as text, by the agent's rules for faults. Where its lines have times ("[ 12.345678]",
 * "[Thu Nov 26 10:00:00 2026]" or "[  +0.000012]" of dmesg, "Nov 26 10:00:00" of syslog, or ISO 8601), they decide about bursts
 * and repeats; otherwise all is one moment. */
#include "commands/log_verdict.h"

#include <time.h>

#include "base/terminal.h"
#include "faults/fault_authority.h"
#include "health/health.h"
#include "xid/xid_catalog.h"

#define DAY 86400.0

struct log_verdict {
	struct faults faults;
	struct fault_events events;
	struct fault_authority *authority;
	double now; /* of the last line that had a time; seconds since an unknown moment */
	size_t counted; /* faults, failures and other events of devices */
};

static void count_event(void *context, const struct event *event)
{
	struct log_verdict *v = context;

	(void)event;
	v->counted++;
}

static void drain_nothing(void *context)
{
	(void)context;
}

struct log_verdict *log_verdict_new(const struct xid_policy *policy)
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
	for (int i = 0; i < SIGNALS; i++)
		v->events.enabled_ns[i] = UINT64_MAX;
	v->authority = fault_authority_new(&v->events, true, drain_nothing, NULL);
	if (v->authority)
		return v;
	free(v);
	return NULL;
}

void log_verdict_free(struct log_verdict *v)
{
	if (!v)
		return;
	fault_authority_free(v->authority);
	faults_free(&v->faults);
	free(v);
}

/* The time that the line begins with, in seconds; 0: it has none. A log without years is of one year. Of what dmesg prints for
 * people, and of ISO 8601, moves @line behind the time: the recogniser knows only the kernel's own times. */
static double take_time(const char **line, double now)
{
	static const char *const formats[] = { "%b %d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
					       "[%a %b %d %H:%M:%S %Y]" };
	double seconds;
	int end = 0;

	if (!strncmp(*line, "kern  :", 7)) /* of dmesg -x: "kern  :err   : [" */
		*line += strcspn(*line, "[");
	if (sscanf(*line, "[ +%lf] %n", &seconds, &end) == 1 && end) {
		*line += end;
		return now + seconds;
	}
	if (sscanf(*line, "[%lf]", &seconds) == 1)
		return seconds + DAY;
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct tm tm = { .tm_year = 100, .tm_mday = 1 };
		const char *rest = strptime(*line, formats[i], &tm);

		if (rest && i > 0 && strchr(rest, ' '))
			*line = strchr(rest, ' ') + 1;
		if (rest)
			return (double)timegm(&tm);
	}
	return 0;
}

void log_verdict_add(struct log_verdict *v, const char *line)
{
	struct kmsg_record record = { .facility = 1 };
	double time = take_time(&line, v->now);
	const char *kernel = strstr(line, " kernel: ");
	uint64_t ns;

	RAISE(v->now, time);
	line = kernel ? kernel + strlen(" kernel: ") : line;
	record.text_len = strcspn(line, "\n");
	ns = (uint64_t)(v->now * 1e9);
	record.time_us = ns / 1000;
	fault_authority_record(v->authority, &record, line, RECORD_BEFORE_START, ns);
}

static void print_finding(const struct health_finding *f)
{
	const char *level = health_level_names[f->level], *rule = health_rules[f->rule].name;

	if (!f->count)
		terminal_line(stdout, 4, "  %s by %s: %s", level, rule, f->reason);
	else
		terminal_line(stdout, 4, "  %s by %s: %s%s of %s, %" PRIu64 " %s. %s", level, rule,
			      f->code && !f->nvswitch ? "Xid " : "", f->what, f->device, f->count,
			      f->count == 1 ? "time" : "times", xid_action_advice(f->action));
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
	json_object_end(j);
}

bool log_verdict_print(struct log_verdict *v, bool as_json)
{
	static const char *const levels[] = { "ok", "warning", "critical" };
	static struct health_report report;
	struct snapshot s = { .faults.gpu_watched = true };
	struct json j = { .out = stdout };
	struct health_options o;

	fault_authority_expire(v->authority, 0, true);
	if (faults_snapshot(&v->faults, &(struct fault_clock){ .now = v->now }, &s.faults))
		return false;
	health_defaults(&o);
	health_evaluate(&s, &o, v->now, &report);
	snapshot_free(&s);
	if (!v->counted && !report.total)
		return false;
	if (!as_json) {
		printf("health: %s\n", levels[report.level]);
		ARRAY_EACH(f, report.findings, report.count)
			print_finding(f);
		return true;
	}
	json_object(&j, NULL);
	json_text(&j, "health", levels[report.level]);
	json_array(&j, "findings");
	ARRAY_EACH(f, report.findings, report.count)
		write_finding(&j, f);
	json_array_end(&j);
	json_object_end(&j);
	putchar('\n');
	return true;
}
