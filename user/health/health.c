// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a snapshot to a verdict on the node. */
#include "health/health.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_text.h"
#include "model/fault_group.h"
#include "xid/xid_catalog.h"

#define MAX_LIMIT 1e9

const char *const health_level_names[HEALTH_FAIL + 1] = {
	[HEALTH_OK] = "off",
	[HEALTH_WARN] = "warn",
	[HEALTH_FAIL] = "fail",
};

struct health_evaluation {
	const struct snapshot *s;
	const struct health_options *o;
	double now;
	struct health_report *report;
};

/* Driver errors that leave the GPU or the driver unusable; other kinds are only
 * counted. */
static const struct {
	const char *kind;
	const char *meaning;
} driver_failures[] = {
	{ "rm_init_adapter_failed", "the driver cannot initialise the GPU" },
	{ "fallen_off_bus", "the GPU no longer answers on the PCIe bus" },
	{ "gsp_heartbeat_timeout", "the GPU's system processor has stopped" },
	{ "uvm_fatal", "unified memory has failed for all processes" },
};

/* ---- findings ---- */

static void take_text(char *to, size_t size, const char *format, va_list args)
{
	char text[1024];
	int len = vsnprintf(text, sizeof(text), format, args);

	if (len < 0)
		len = 0;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	label_from_bytes(to, size, text, (size_t)len);
	text_to_one_line(to);
}

/* One more finding, whose texts are still to be written. NULL: no room. */
static struct health_finding *add(struct health_evaluation *e, enum health_rule_id rule)
{
	struct health_report *r = e->report;
	enum health_level level = e->o->rules[rule].level;
	struct health_finding *f;

	r->rules[rule] = level;
	if (level > r->level)
		r->level = level;
	r->total++;
	if (r->count == HEALTH_MAX_FINDINGS)
		return NULL;
	f = &r->findings[r->count++];
	*f = (struct health_finding){ .rule = rule, .level = level };
	return f;
}

static void __attribute__((format(printf, 2, 3)))
set_reason(struct health_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	take_text(f->reason, sizeof(f->reason), format, args);
	va_end(args);
}

static void __attribute__((format(printf, 2, 3)))
set_brief(struct health_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	take_text(f->brief, sizeof(f->brief), format, args);
	va_end(args);
}

/* ---- what is over ---- */

/* @device is as good as new since then; 0: never. */
static double recovered(const struct snapshot *s, const char *device)
{
	double time = 0;

	for (size_t i = 0; i < s->recovery_count; i++) {
		const struct gpu_recovery *r = &s->recoveries[i];

		if ((!strcmp(r->gpu, device) || !strcmp(r->gpu, "all")) && r->time > time)
			time = r->time;
	}
	return time;
}

/* @last: when it last happened; 0: not known, then nothing shows it is over. */
static bool is_over(const struct health_evaluation *e, const char *device, const char *what,
		    double last)
{
	if (!(last > 0))
		return false;
	return last <= recovered(e->s, device) || last < e->o->since ||
	       (e->o->window > 0 && last < e->now - e->o->window) ||
	       (e->o->acks && ack_covers(e->o->acks, device, what, last));
}

/* ---- Xids and SXids ---- */

static bool group_is_over(const struct health_evaluation *e, const struct fault *f,
			  const struct fault_group *g)
{
	char what[32];

	xid_code_text(what, sizeof(what), f->nvswitch, f->code);
	return is_over(e, f->device, what, g->last);
}

/* @number of @unit ("times", "incidents"). */
static void describe(struct health_evaluation *e, enum health_rule_id rule, const struct fault *f,
		     uint64_t number, const char *unit, double last)
{
	const char *kind = f->nvswitch ? "SXid" : "Xid";
	struct health_finding *finding = add(e, rule);
	const char *advice = "Drain the node and reset its GPUs and switches.";
	char when[40] = "", text[TIME_TEXT_SIZE];

	if (!finding)
		return;
	if (last > 0) {
		time_to_text(text, sizeof(text), last);
		snprintf(when, sizeof(when), ", last %s", text);
	}
	if (!f->nvswitch)
		advice = xid_action_advice(f->action);
	set_reason(finding, "%s %s: %s %u (%s) %" PRIu64 " %s%s: %s",
		   f->nvswitch ? "NVSwitch" : "GPU", f->device, kind, f->code,
		   f->nvswitch ? f->severity : xid_catalog_find(f->code)->description, number, unit,
		   when, advice);
	set_brief(finding, "%s %u on %s, %" PRIu64 " %s%s", kind, f->code, f->device, number, unit,
		  when);
}

/* Every fault that is not over and that @matches. */
static void find_faults(struct health_evaluation *e, enum health_rule_id rule,
			bool (*matches)(const struct fault *f))
{
	const struct fault *end = e->s->faults + e->s->fault_count;
	struct fault_group g;

	for (const struct fault *f = e->s->faults; f < end; f++) {
		if (!matches(f) || !f->count)
			continue;
		fault_group_sum(e->s, f, &g);
		if (!group_is_over(e, f, &g))
			describe(e, rule, f, f->count, f->count == 1 ? "time" : "times", g.last);
	}
}

static bool is_fatal_xid(const struct fault *f)
{
	return !f->nvswitch && !strcmp(f->severity, "fatal");
}

static bool is_fatal_sxid(const struct fault *f)
{
	return f->nvswitch && !strcmp(f->severity, "fatal");
}

static bool is_unknown(const struct fault *f)
{
	return !strcmp(f->severity, "unknown");
}

/* A warning that points at the machine, neither at the job nor at nothing. */
static bool is_hardware_xid(const struct fault *f)
{
	static const char *const harmless[] = { "restart_app", "ignore", "none_given",
						"workflow_xid_45" };

	if (f->nvswitch || strcmp(f->severity, "warning") != 0 ||
	    !strcmp(xid_catalog_find(f->code)->category, "app"))
		return false;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (!strcmp(f->action, harmless[i]))
			return false;
	return true;
}

static void find_xid_fatal(struct health_evaluation *e, enum health_rule_id rule)
{
	find_faults(e, rule, is_fatal_xid);
}

static void find_xid_hardware(struct health_evaluation *e, enum health_rule_id rule)
{
	find_faults(e, rule, is_hardware_xid);
}

static void find_unknown_xid(struct health_evaluation *e, enum health_rule_id rule)
{
	find_faults(e, rule, is_unknown);
}

static void find_sxid_fatal(struct health_evaluation *e, enum health_rule_id rule)
{
	find_faults(e, rule, is_fatal_sxid);
}

static void find_xid_storm(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct fault *end = e->s->faults + e->s->fault_count;
	struct fault_group g;

	for (const struct fault *f = e->s->faults; f < end; f++)
		if (!f->nvswitch && fault_group_sum(e->s, f, &g) &&
		    (double)g.count >= e->o->rules[rule].limit && !group_is_over(e, f, &g))
			describe(e, rule, f, g.count, "times", g.last);
}

static void find_xid_repeat(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct fault *end = e->s->faults + e->s->fault_count;
	struct fault_group g;

	for (const struct fault *f = e->s->faults; f < end; f++)
		if (!f->nvswitch && fault_group_sum(e->s, f, &g) &&
		    strcmp(xid_catalog_find(f->code)->category, "info") != 0 &&
		    (double)g.incidents >= e->o->rules[rule].limit && !group_is_over(e, f, &g))
			describe(e, rule, f, g.incidents, "incidents", g.last);
}

/* ---- the driver ---- */

static const char *driver_failure(const char *kind)
{
	for (size_t i = 0; i < sizeof(driver_failures) / sizeof(driver_failures[0]); i++)
		if (!strcmp(kind, driver_failures[i].kind))
			return driver_failures[i].meaning;
	return NULL;
}

static void find_driver_error(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct snapshot *s = e->s;

	for (size_t i = 0; i < s->kernel_event_count; i++) {
		const struct kernel_event *v = &s->kernel_events[i];
		const char *meaning = driver_failure(v->kind);
		const char *device = *v->device ? v->device : "all";
		struct health_finding *f;
		char when[TIME_TEXT_SIZE];

		if (!v->gpu_driver || !v->count || !meaning ||
		    is_over(e, v->device, v->kind, v->last))
			continue;
		f = add(e, rule);
		if (!f)
			continue;
		time_to_text(when, sizeof(when), v->last);
		set_reason(f,
			   "GPU %s: driver error %s (%s) %" PRIu64
			   " %s, last %s: Drain the node and restart it; if "
			   "the error returns, replace the GPU.",
			   device, v->kind, meaning, v->count, v->count == 1 ? "time" : "times",
			   when);
		set_brief(f, "%s on %s, last %s", v->kind, device, when);
	}
}

static void find_rate_limit(struct health_evaluation *e, enum health_rule_id rule)
{
	for (size_t i = 0; i < e->s->gpu_count; i++) {
		const struct gpu_info *g = &e->s->gpus[i];
		struct health_finding *f;

		if (!g->rate_limited)
			continue;
		f = add(e, rule);
		if (!f)
			continue;
		set_reason(f,
			   "GPU %s: the driver holds back reports of errors of "
			   "the GPU's system processor, as there are so many: "
			   "Drain the node and reset the GPU.",
			   g->gpu);
		set_brief(f, "GSP errors of %s are rate limited", g->gpu);
	}
}

/* ---- NFS ---- */

/* NULL: nobody measures how long it takes there. */
static const char *const waits_for[RPC_QUEUES] = {
	[RPC_QUEUE_SLOT] = "for an RPC slot",
	[RPC_QUEUE_SESSION] = "for a session slot",
	[RPC_QUEUE_SEND] = "to be sent",
	[RPC_QUEUE_PENDING] = "for its reply",
};

static void find_nfs_waiter(struct health_evaluation *e, enum health_rule_id rule)
{
	for (size_t i = 0; i < e->s->server_count; i++) {
		const struct rpc_server_state *v = &e->s->servers[i];
		struct health_finding *f;
		int worst = 0;
		double age;

		for (int q = 0; q < RPC_QUEUES; q++)
			if (waits_for[q] && v->oldest_ns[q] > v->oldest_ns[worst])
				worst = q;
		age = (double)v->oldest_ns[worst] / 1e9;
		if (!(age > e->o->rules[rule].limit))
			continue;
		f = add(e, rule);
		if (!f)
			continue;
		set_reason(f,
			   "NFS server %s: a call has been waiting %s for "
			   "%.0f s: See whether the server and the network to "
			   "it are well.",
			   v->server, waits_for[worst], age);
		set_brief(f, "NFS call waits %s for %.0f s: %s", waits_for[worst], age, v->server);
	}
}

/* ---- rules ---- */

const struct health_rule health_rules[HEALTH_RULES] = {
	[HEALTH_XID_FATAL] = { "xid_fatal", HEALTH_FAIL, 0, "", "An Xid of severity fatal.",
			       find_xid_fatal },
	[HEALTH_XID_HARDWARE] = { "xid_hardware", HEALTH_WARN, 0, "",
				  "An Xid of severity warning that asks for more than a restart "
				  "of the job.",
				  find_xid_hardware },
	[HEALTH_XID_STORM] = { "xid_storm", HEALTH_WARN, 1000, "reports",
			       "At least so many reports of the same Xid of one GPU.",
			       find_xid_storm },
	[HEALTH_XID_REPEAT] = { "xid_repeat", HEALTH_WARN, 3, "incidents",
				"The same Xid of one GPU in at least so many incidents.",
				find_xid_repeat },
	[HEALTH_UNKNOWN_XID] = { "unknown_xid", HEALTH_WARN, 0, "",
				 "An Xid or SXid of severity unknown.", find_unknown_xid },
	[HEALTH_SXID_FATAL] = { "sxid_fatal", HEALTH_FAIL, 0, "", "An SXid of severity fatal.",
				find_sxid_fatal },
	[HEALTH_DRIVER_ERROR] = { "driver_error", HEALTH_FAIL, 0, "",
				  "A driver error that leaves a GPU or the driver unusable.",
				  find_driver_error },
	[HEALTH_GSP_RATE_LIMITED] = { "gsp_rate_limited", HEALTH_WARN, 0, "",
				      "The driver holds back reports of GSP errors.",
				      find_rate_limit },
	[HEALTH_NFS_WAITER] = { "nfs_waiter", HEALTH_WARN, 60, "seconds",
				"An NFS call has been waiting for longer than this.",
				find_nfs_waiter },
};

void health_defaults(struct health_options *o)
{
	*o = (struct health_options){};
	for (int i = 0; i < HEALTH_RULES; i++) {
		o->rules[i].level = health_rules[i].level;
		o->rules[i].limit = health_rules[i].limit;
	}
}

/* The digits after the colon; a fraction is allowed. */
static bool read_limit(const char *text, double *limit)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.")])
		return false;
	*limit = strtod(text, &end);
	return !*end && *limit > 0 && *limit <= MAX_LIMIT;
}

bool health_set_rule(struct health_options *o, const char *text)
{
	const char *level = strchr(text, '=');
	size_t len, rule, l;
	double limit;

	if (!level)
		return false;
	len = (size_t)(level++ - text);
	for (rule = 0; rule < HEALTH_RULES; rule++)
		if (strlen(health_rules[rule].name) == len &&
		    !strncmp(health_rules[rule].name, text, len))
			break;
	if (rule == HEALTH_RULES)
		return false;
	len = strcspn(level, ":");
	for (l = 0; l <= HEALTH_FAIL; l++)
		if (strlen(health_level_names[l]) == len &&
		    !strncmp(health_level_names[l], level, len))
			break;
	if (l > HEALTH_FAIL)
		return false;
	limit = o->rules[rule].limit;
	if (level[len] && (!*health_rules[rule].unit || !read_limit(level + len + 1, &limit)))
		return false;
	o->rules[rule].level = (enum health_level)l;
	o->rules[rule].limit = limit;
	return true;
}

void health_evaluate(const struct snapshot *s, const struct health_options *o, double now,
		     struct health_report *report)
{
	/* The report is filled below: nobody has to before. */
	/* cppcheck-suppress ctuuninitvar */
	struct health_evaluation e = { s, o, now, report };

	report->level = HEALTH_OK;
	report->total = 0;
	report->count = 0;
	memset(report->rules, 0, sizeof(report->rules));
	for (int level = HEALTH_FAIL; level > HEALTH_OK; level--)
		for (int rule = 0; rule < HEALTH_RULES; rule++)
			if (o->rules[rule].level == (enum health_level)level)
				health_rules[rule].find(&e, (enum health_rule_id)rule);
}

void health_to_snapshot(const struct health_report *report, const struct health_options *o,
			struct snapshot *s)
{
	for (int rule = 0; rule < HEALTH_RULES; rule++)
		if (o->rules[rule].level != HEALTH_OK)
			snapshot_health(s, health_rules[rule].name, (int)report->rules[rule]);
}
