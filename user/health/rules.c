// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of the health rules, and what those about faults find in a snapshot. */
#include "health/health.h"

#include "base/time_text.h"
#include "xid/xid_line.h"

/* What the driver and the switches' driver say without an Xid. */
static const struct driver_message {
	enum health_rule_id rule;
	const char *kind;
	const char *meaning;
	const char *action; /* of the catalog */
	bool of_one; /* if it does not name the GPU, the reset of any is taken for that of this one */
} driver_messages[] = {
#define TABLE_ROW(rule, kind, meaning, action, of_one) \
	{ HEALTH_##rule, kind, meaning, action, of_one },
#include "driver_errors.inc"
};

/* ---- findings ---- */

/* The texts of a finding, cut to their sizes and safe to print. */
#define SET(to, ...) safe_format(to, sizeof(to), __VA_ARGS__)

/* Whether findings of this standing are looked for now. */
static bool is_wanted(const struct health_evaluation *e, enum fault_standing standing)
{
	return e->acknowledged ? standing == STANDING_ACKNOWLEDGED || standing == STANDING_SNOOZED :
				 standing == STANDING_OPEN;
}

/* Counts a finding and returns it; the caller writes its texts. All findings beyond the list share one entry behind it. */
static struct health_finding *add_finding(struct health_evaluation *e, enum health_rule_id rule,
					  enum fault_standing standing)
{
	struct health_report *r = e->report;
	enum health_level level = e->o->rules[rule].level;
	struct health_finding *f = &r->findings[r->listed];
	bool fits = r->listed < HEALTH_MAX_FINDINGS;

	if (standing == STANDING_OPEN) {
		r->rules[rule] = level;
		RAISE(r->level, level);
		r->open[rule]++;
		r->total++;
		r->count += fits;
	}
	r->listed += fits;
	*f = (struct health_finding){ .rule = rule, .level = level, .standing = standing };
	return f;
}

/* The address of @device without the domain 0000. */
static const char *short_device(const char *device)
{
	return strncmp(device, "0000:", 5) != 0 ? device : device + 5;
}

/* ---- cleared faults ---- */

/* What is known of a GPU, or all zeros. */
static const struct gpu_info *gpu_of(const struct snapshot *s, const char *device)
{
	static const struct gpu_info none;

	return ARRAY_FIND(g, s->faults.gpus, s->faults.gpu_count, !strcmp(g->gpu, device)) ?: &none;
}

static const struct ack *find_ack(const struct health_evaluation *e, const char *device,
				  const char *what, double last)
{
	return !e->o->acks ?
		       NULL :
		       ack_find(e->o->acks, device, gpu_of(e->s, device)->uuid, what, last, e->now);
}

/* Adds a finding about a state of @device, for the reason @format, if its standing is the one that is looked for. Its head is
 * @head and the device. Returns it, or else room that nobody reads. */
static struct health_finding *__attribute__((format(printf, 5, 6)))
add_state(struct health_evaluation *e, enum health_rule_id rule, const char *device,
	  const char *head, const char *format, ...)
{
	bool snoozed = find_ack(e, device, health_rules[rule].name, e->now);
	enum fault_standing standing = snoozed ? STANDING_SNOOZED : STANDING_OPEN;
	struct health_finding *f = is_wanted(e, standing) ? add_finding(e, rule, standing) :
							    &e->report->findings[e->report->listed];
	va_list args;

	SET(f->device, "%s", device);
	SET(f->what, "%s", health_rules[rule].name);
	SET(f->head, "%s%s%s", head, *device ? " " : "", short_device(device));
	va_start(args, format);
	safe_vformat(f->reason, sizeof(f->reason), format, args);
	va_end(args);
	return f;
}

#define RECOVERY_XID "154" /* see RECOVERY_WITHDRAWN */

/* The standing of what a rule finds. @last: when it last happened; 0: not known, then only an acknowledgement ends it. */
static enum fault_standing standing_of(const struct health_evaluation *e, const char *device,
				       const char *what, double last)
{
	const struct ack *ack;

	if (last > 0 &&
	    (last <= fault_last_recovery(&e->s->faults, device, !strcmp(what, RECOVERY_XID)) ||
	     (e->o->window > 0 && last < e->now - e->o->window)))
		return STANDING_OVER;
	ack = find_ack(e, device, what, last > 0 ? last : e->now);
	return !ack ? STANDING_OPEN : ack->snooze ? STANDING_SNOOZED : STANDING_ACKNOWLEDGED;
}

/* ---- Xids and SXids ---- */

/* The code of an entry that merges faults of different codes: it may be any of them. */
#define FOLDED_CODE 0

/* So many fatal incidents of a GPU within the window: it must be replaced. */
#define REPLACE_FAILURES 5
/* A fatal Xid in so many boots: two reboots did not help. */
#define REPLACE_BOOTS 3

static enum fault_standing group_standing(const struct health_evaluation *e, const struct fault *f,
					  const struct fault_group *g)
{
	char what[32];

	xid_code_text(what, sizeof(what), f->nvswitch, f->code);
	return standing_of(e, f->device, what, g->last);
}

static bool is_fatal_xid(const struct fault *f)
{
	return !f->nvswitch && !strcmp(f->severity, "fatal");
}

/* Whether @f is the first fault of its device and code that the rule matches. */
static bool is_first_match(const struct snapshot *s, const struct fault *f,
			   bool (*matches)(const struct fault *f))
{
	for (struct fault *x = fault_group_next(s, s->faults.faults, f); x != f;
	     x = fault_group_next(s, x + 1, f))
		if (matches(x))
			return false;
	return true;
}

/* How often @device has failed recently. An Xid 154 only comes with another. */
static uint64_t recent_failures(const struct snapshot *s, const char *device)
{
	uint64_t number = gpu_of(s, device)->past_failures;
	struct fault_group g;

	ARRAY_EACH(f, s->faults.faults, s->faults.fault_count) {
		if (strcmp(f->device, device) != 0 || f->code == XID_RECOVERY_ACTION ||
		    !is_fatal_xid(f) || !is_first_match(s, f, is_fatal_xid))
			continue;
		fault_group_sum(s, f, &g);
		number += g.recent;
	}
	return number;
}

/* What is known of @f, but for its standing and level. */
static struct known_fault known_of_fault(const struct health_evaluation *e, const struct fault *f,
					 const struct fault_group *g)
{
	const struct sxid_catalog_entry *sxid = f->nvswitch ? sxid_catalog_find(f->code) : NULL;
	struct known_fault k = { .kind = f->nvswitch ? "sxid" : "xid",
				 .device = f->device,
				 .severity = f->severity,
				 .action = sxid && !*f->action ? sxid->action : f->action,
				 .meaning = xid_meaning(f->nvswitch, f->code),
				 .count = f->count,
				 .first = f->first,
				 .last = f->last };

	xid_code_text(k.what, sizeof(k.what), f->nvswitch, f->code);
	k.advice = f->nvswitch && !sxid ? "Drain the node and reset its GPUs and switches." :
					  xid_action_advice(k.action);
	if (!is_fatal_xid(f))
		return k;
	if (g->boots >= REPLACE_BOOTS)
		k.advice = "Drain the node and replace the GPU: reboots have not helped.";
	else if (recent_failures(e->s, f->device) >= REPLACE_FAILURES)
		k.advice = "Drain the node and replace the GPU: resets have not helped.";
	else
		return k;
	k.action = "replace_gpu";
	return k;
}

/* Writes the texts of a finding: @number of @unit of a fault. */
static void describe(const struct health_evaluation *e, struct health_finding *to,
		     const struct known_fault *k, uint64_t number, const char *unit)
{
	const char *name = FAULT_NAME(k->kind, k->what), *device = *k->device ? k->device : "all";
	bool nvswitch = !strcmp(k->kind, "sxid") || !strncmp(device, "nvidia-nvswitch", 15);
	char when[40] = "";

	SET(to->device, "%s", device);
	SET(to->what, "%s", k->what);
	to->count = number;
	to->first = k->first;
	to->last = k->last;
	SET(to->action, "%s", k->action);
	to->advice = k->advice;
	SET(to->head, "%.20s %s", name, short_device(device));
	if (k->last > 0)
		snprintf(when, sizeof(when), ", last %s", UTC_TIME(k->last));
	SET(to->reason, "%s %s: %s%s (%s) %" PRIu64 " %s%s. %s",
	    nvswitch                                                            ? "NVSwitch" :
	    !strcmp(k->what, "pcie_unrecovered") && !*gpu_of(e->s, device)->gpu ? "PCIe port" :
										  "GPU",
	    device, !strcmp(k->kind, "gpu_driver_error") ? "driver error " : "", name,
	    *k->meaning ? k->meaning : k->severity, number, unit, when, k->advice);
}

static const char *times(uint64_t number)
{
	return number == 1 ? "time" : "times";
}

/* Whether another GPU also had this Xid within the window, which makes it the application's. */
static bool is_elsewhere(const struct health_evaluation *e, const struct fault *like)
{
	return ARRAY_FIND(f, e->s->faults.faults, e->s->faults.fault_count,
			  !f->nvswitch && f->code == like->code &&
				  strcmp(f->device, like->device) != 0 && f->recent);
}

/* What a rule counts of @f: its reports; with a limit, reports or incidents of its device and code if they reach it, else 0. */
static uint64_t count(const struct health_evaluation *e, enum health_rule_id rule,
		      const struct fault *f, const struct fault_group *g)
{
	bool repeats = rule == HEALTH_XID_REPEAT;
	uint64_t number = repeats ? g->recent : g->count;

	if (!*health_rules[rule].unit)
		return f->count;
	if ((double)number < e->o->rules[rule].limit ||
	    (repeats && f->code == XID_MMU_FAULT && is_elsewhere(e, f)))
		return 0;
	return number;
}

/* Finds every open fault that the rule matches; with a limit, every device and code. */
static void find_faults(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct health_rule *r = &health_rules[rule];
	enum fault_standing standing;
	struct health_finding *to;
	struct known_fault known;
	struct fault_group g;
	uint64_t number;

	ARRAY_EACH(f, e->s->faults.faults, e->s->faults.fault_count) {
		if (!r->matches(f) || (*r->unit && !is_first_match(e->s, f, r->matches)))
			continue;
		fault_group_sum(e->s, f, &g);
		number = count(e, rule, f, &g);
		standing = group_standing(e, f, &g);
		if (!number || !is_wanted(e, standing))
			continue;
		known = known_of_fault(e, f, &g);
		known.first = g.first;
		known.last = g.last;
		to = add_finding(e, rule, standing);
		to->nvswitch = f->nvswitch;
		to->code = f->code;
		describe(e, to, &known, number,
			 rule == HEALTH_XID_REPEAT ? "recent incidents" :
			 *r->unit                  ? "times" :
						     times(number));
	}
}

/* Whether repeats of the Xid matter. They do not if it only follows another, such as 45, or if the vendor says to ignore it. */
static bool is_xid_error(const struct fault *f)
{
	return !f->nvswitch && strcmp(f->action, "ignore") != 0 &&
	       strcmp(xid_catalog_find(f->code)->category, "info") != 0;
}

/* The same, but not for an application's own error, which the driver prints once for each part of the GPU. */
static bool is_machine_error(const struct fault *f)
{
	return is_xid_error(f) && strcmp(xid_catalog_find(f->code)->category, "app") != 0;
}

static bool is_fatal_sxid(const struct fault *f)
{
	return f->nvswitch && !strcmp(f->severity, "fatal");
}

/* A warning of the catalog, not one that was only printed as Non-fatal. */
static bool is_hardware_sxid(const struct fault *f)
{
	const struct sxid_catalog_entry *e = sxid_catalog_find(f->code);

	if (!f->nvswitch || strcmp(f->severity, "warning") != 0)
		return false;
	return f->code == FOLDED_CODE || (e && !strcmp(e->severity, "warning"));
}

static bool is_unknown(const struct fault *f)
{
	return !strcmp(f->severity, "unknown");
}

/* A warning caused by the machine, not by the job. */
static bool is_hardware_xid(const struct fault *f)
{
	static const char *const harmless[] = { "restart_app", "ignore", "workflow_xid_45",
						"xid_154_eval" };
	const char *category = xid_catalog_find(f->code)->category;

	if (f->nvswitch || strcmp(f->severity, "warning") != 0 || !strcmp(category, "app"))
		return false;
	/* Without the vendor's advice it is at least as grave as an unknown Xid. */
	if (!strcmp(f->action, "none_given"))
		return f->code == FOLDED_CODE || !strcmp(category, "hw");
	return !ARRAY_FIND(action, harmless, COUNT(harmless), !strcmp(f->action, *action));
}

/* ---- the driver ---- */

static enum fault_standing message_standing(const struct health_evaluation *e,
					    const struct driver_message *m,
					    const struct kernel_event *v)
{
	const struct node_state *node = e->o->node;

	/* A node without GPUs; one that had some before has gpu_gone. Or whose GPUs are given to guests; one without a driver is unused. */
	if (node && (!node->bus_count || node->guests) &&
	    !strcmp(v->kind, node->bus_count ? "none_probed" : "none_found"))
		return STANDING_OVER;
	/* What needs a restart is not over with the reset of a GPU that may be another. */
	if (m->of_one && !*v->device &&
	    (!node || node->bus_count <= 1 || strcmp(m->action, "restart_bm") != 0))
		ARRAY_EACH(r, e->s->faults.recoveries, e->s->faults.recovery_count)
			if (strcmp(r->evidence, RECOVERY_WITHDRAWN) != 0 && v->last <= r->time)
				return STANDING_OVER;
	return standing_of(e, v->device, v->kind, v->last);
}

/* NULL: it has no meaning for a rule. */
static const struct driver_message *find_message(const char *kind)
{
	return ARRAY_FIND(m, driver_messages, COUNT(driver_messages), !strcmp(kind, m->kind));
}

static struct known_fault known_of_message(const struct driver_message *m,
					   const struct kernel_event *v)
{
	struct known_fault k = { .kind = "gpu_driver_error",
				 .device = v->device,
				 .severity = "",
				 .action = m ? m->action : "",
				 .meaning = m ? m->meaning : "",
				 .advice = m ? xid_action_advice(m->action) : "",
				 .count = v->count,
				 .last = v->last };

	SET(k.what, "%s", v->kind);
	return k;
}

static void find_driver_messages(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(v, e->s->faults.kernel_events, e->s->faults.kernel_event_count) {
		const struct driver_message *m = find_message(v->kind);
		enum fault_standing standing;
		struct known_fault known;

		if (!m || m->rule != rule || !v->gpu_driver || !v->count ||
		    (double)v->count < e->o->rules[rule].limit)
			continue;
		standing = message_standing(e, m, v);
		known = known_of_message(m, v);
		if (is_wanted(e, standing))
			describe(e, add_finding(e, rule, standing), &known, v->count,
				 times(v->count));
	}
}

static void find_rate_limit(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(g, e->s->faults.gpus, e->s->faults.gpu_count) {
		struct health_finding *f;

		if (!g->rate_limited)
			continue;
		f = add_state(
			e, rule, g->gpu, "GSP errors",
			"GPU %s: the driver limits its reports of GSP errors. Drain the node and reset the GPU.",
			g->gpu);
		SET(f->action, "%s", "reset_gpu");
	}
}

/* ---- the kernel ---- */

/* So many reports within STALL_SECONDS: the CPU is stuck. */
#define STALLS 3

/* The reports of @v's CPU within STALL_SECONDS, of each kind at most three; 0 unless @v has the last one. A task that no watchdog
 * reports, because it gives up its CPU, counts as one at most: others can run there, and a task that pins or frees terabytes of
 * memory looks the same. Reports that name no CPU, or have merged, count as one: they are of several. */
static unsigned int recent_stalls(const struct health_evaluation *e, const struct kernel_event *v)
{
	double since = e->now - STALL_SECONDS;
	unsigned int number = 0;
	bool spins = false;

	ARRAY_EACH(x, e->s->faults.kernel_events, e->s->faults.kernel_event_count) {
		if (!kernel_event_is_stall(x->kind) || strcmp(x->device, v->device) != 0)
			continue;
		if (x->last > v->last || (x->last == v->last && x < v))
			return 0;
		if (!strcmp(x->kind, "kernel_spin")) {
			spins = x->last > since;
			continue;
		}
		number += (x->last > since) + (x->count > 1 && x->before[0] > since) +
			  (x->count > 2 && x->before[1] > since);
	}
	if (!*v->device || !strcmp(v->device, LABEL_OTHER))
		LOWER(number, 1);
	return number ?: spins;
}

static bool is_kernel_finding(const struct health_evaluation *e, enum health_rule_id rule,
			      const struct kernel_event *v)
{
	bool oops = !strcmp(v->kind, "kernel_oops"),
	     corruption = !strcmp(v->kind, "kernel_corruption");
	unsigned int stalls;

	switch (rule) {
	case HEALTH_KERNEL_OOPS:
		return oops && fault_module_is_watched(v->device);
	case HEALTH_KERNEL_DAMAGED:
		return corruption || (oops && !fault_module_is_watched(v->device));
	case HEALTH_GPU_STUCK:
		return !strcmp(v->kind, "gpu_hang") && v->last > e->now - STALL_SECONDS;
	default:
		stalls = kernel_event_is_stall(v->kind) ? recent_stalls(e, v) : 0;
		return rule == HEALTH_CPU_STUCK ? stalls >= STALLS : stalls && stalls < STALLS;
	}
}

static void find_kernel_events(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(v, e->s->faults.kernel_events, e->s->faults.kernel_event_count) {
		const char *device = *v->device ? v->device : "kernel";
		struct health_finding *f;

		if (v->gpu_driver || !v->count || !is_kernel_finding(e, rule, v))
			continue;
		f = add_state(e, rule, device, "",
			      "%s of %s%s%s, %" PRIu64 " %s. %srain the node and restart it.",
			      v->kind, device, *v->about ? ": " : "", v->about, v->count,
			      times(v->count),
			      rule == HEALTH_CPU_STALL ? "If it continues, d" : "D");
		SET(f->head, "%.20s %.16s", v->kind, v->device);
		f->last = v->last;
		SET(f->action, "%s", "restart_bm");
	}
}

/* ---- NFS ---- */

static void find_nfs_waiter(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(v, e->s->calls.servers, e->s->calls.server_count) {
		enum rpc_queue worst = server_oldest(v);
		double age = (double)v->oldest_ns[worst] / 1e9;
		struct health_finding *f;

		if (!(age > e->o->rules[rule].limit))
			continue;
		f = add_state(e, rule, v->server, "NFS waits",
			      "NFS server %s%s: a call has been waiting %s for "
			      "%.0f s. Check the server and the network to it.",
			      v->server, VICTIMS(&e->s->calls, v->server, true),
			      rpc_queue_wait(span_of(rpc_queue_names[worst])), age);
		f->first = e->now - age;
	}
}

/* How long a lost file or lock is a finding: there is no message of an end. */
#define LOST_SECONDS 3600

static void find_nfs_errors(struct health_evaluation *e, enum health_rule_id rule)
{
	struct health_finding *f;

	ARRAY_EACH(n, e->o->node->nfs_errors, e->o->node->nfs_error_count) {
		f = add_state(e, rule, n->server, "NFS fails", "NFS server %s: %s", n->server,
			      n->text);
		f->first = n->first;
		f->lost = n->lost;
	}
	ARRAY_EACH(v, e->s->faults.kernel_events, e->s->faults.kernel_event_count) {
		if (strcmp(v->kind, "nfs_state_lost") != 0 || e->now - v->last > LOST_SECONDS)
			continue;
		f = add_state(e, rule, v->device, "NFS lost state",
			      "NFS server %s: open files or locks were lost, %" PRIu64
			      " %s. Jobs that use them may have wrong data; see the kernel log.",
			      *v->device ? v->device : "(not named)", v->count, times(v->count));
		f->last = v->last;
		f->lost = true;
	}
}

static void find_stuck_tasks(struct health_evaluation *e, enum health_rule_id rule)
{
	static const char *const causes[] = {
#define TABLE_ROW(cause, event, finding) [STUCK_##cause] = finding,
#include "stuck_causes.inc"
	};
	const bool lost = rule == HEALTH_NFS_STUCK_NO_RPC;
	const __typeof__(e->o->rules[0]) *graver = &e->o->rules[HEALTH_NFS_STUCK_NO_RPC];

	ARRAY_EACH(t, e->s->calls.stuck, e->s->calls.stuck_count) {
		const char *mount = *t->mountpoint ? t->mountpoint : "an unknown mount";
		double age = (double)t->oldest_ns / 1e9;
		struct health_finding *f;

		if (!t->tasks || !(age > e->o->rules[rule].limit) || (lost && t->rpc) ||
		    (!lost && !t->rpc && graver->level != HEALTH_OK && age > graver->limit))
			continue;
		f = add_state(e, rule, t->mountpoint, "",
			      "NFS on %s: tasks that hang: %" PRIu32 ", the oldest for %.0f s, %s",
			      mount, t->tasks, age, causes[t->cause]);
		SET(f->head, "NFS hangs %s", mount);
		f->first = e->now - age;
	}
}

/* ---- the node itself ---- */

static void find_mounts(struct health_evaluation *e, enum health_rule_id rule)
{
	static const char *const states[] = {
		[MOUNT_FINE] = NULL,
		[MOUNT_ABSENT] = "is not mounted",
		[MOUNT_READ_ONLY] = "is read-only",
		[MOUNT_STALE] = "is stale: the server no longer knows it",
		[MOUNT_HUNG] = "hangs: the server does not answer",
	};

	ARRAY_EACH(m, e->o->node->mounts, e->o->node->mount_count) {
		enum mount_state state = m->state != MOUNT_FINE ? m->state : m->answer;

		if (state != MOUNT_FINE && (state == MOUNT_HUNG) == (rule == HEALTH_MOUNT_HUNG))
			add_state(
				e, rule, m->path, state == MOUNT_HUNG ? "Mount hung" : "Mount bad",
				"Mount %s %s. Check the server, the network to it, and the mount.",
				m->path, states[state]);
	}
}

static void find_missing_gpus(struct health_evaluation *e, enum health_rule_id rule)
{
	const struct node_state *node = e->o->node;
	char head[40];

	snprintf(head, sizeof(head), "GPUs %u of %u", node->gpus, node->gpus_wanted);
	if (node->gpus < node->gpus_wanted)
		add_state(e, rule, "", head,
			  "The driver has %u of %u GPUs. Drain the node and restart it; if they do "
			  "not come back, look for them with lspci.",
			  node->gpus, node->gpus_wanted);
}

static void find_unused_gpus(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(gpu, e->o->node->unused, e->o->node->unused_count)
		add_state(
			e, rule, *gpu, "No driver",
			"GPU %s has no driver. Drain the node and restart it; if that does not help, look "
			"for its address in the kernel log.",
			*gpu);
}

static void find_narrow_links(struct health_evaluation *e, enum health_rule_id rule)
{
	char head[40];

	ARRAY_EACH(l, e->o->node->links, e->o->node->link_count) {
		if (!l->lanes || l->lanes * 100.0 >= l->lanes_possible * e->o->rules[rule].limit)
			continue;
		snprintf(head, sizeof(head), "PCIe x%u of x%u", l->lanes, l->lanes_possible);
		add_state(
			e, rule, l->gpu, head,
			"GPU %s: its PCIe link has %u of %u lanes. Drain the node and restart it; if "
			"the link stays narrow, reseat the GPU and its riser.",
			l->gpu, l->lanes, l->lanes_possible);
	}
}

static void find_corrected_errors(struct health_evaluation *e, enum health_rule_id rule)
{
	ARRAY_EACH(l, e->o->node->links, e->o->node->link_count)
		if (l->corrected_in_hour && (double)l->corrected_in_hour >= e->o->rules[rule].limit)
			add_state(
				e, rule, l->gpu, "PCIe errors",
				"GPU %s: %" PRIu64
				" corrected errors of its PCIe link in an hour. Drain the node, "
				"reseat the GPU and its riser, and replace them if errors continue.",
				l->gpu, l->corrected_in_hour);
}

static void find_clock(struct health_evaluation *e, enum health_rule_id rule)
{
	if (e->o->node->clock_unsynchronised)
		add_state(e, rule, "", "Clock",
			  "The kernel's clock is not synchronised. Check the time service.");
}

/* ---- the list of all ---- */

/* Of what is not over, if no rule finds it. */
static enum fault_standing unless_harmless(enum fault_standing standing, enum health_level level)
{
	return standing != STANDING_OVER && level == HEALTH_OK ? STANDING_HARMLESS : standing;
}

static struct known_fault list_fault(const struct health_evaluation *e, const struct fault *f)
{
	struct known_fault h;
	struct fault_group g;

	fault_group_sum(e->s, f, &g);
	h = known_of_fault(e, f, &g);
	for (int rule = 0; rule < HEALTH_RULES; rule++) {
		const struct health_rule *r = &health_rules[rule];

		if (r->matches && r->matches(f) && e->o->rules[rule].level > h.level &&
		    count(e, (enum health_rule_id)rule, f, &g))
			h.level = e->o->rules[rule].level;
	}
	if (h.level == HEALTH_OK && !*h.action)
		h.advice = "";
	h.standing = unless_harmless(group_standing(e, f, &g), h.level);
	return h;
}

static struct known_fault list_message(const struct health_evaluation *e,
				       const struct kernel_event *v)
{
	const struct driver_message *m = find_message(v->kind);
	struct known_fault h = known_of_message(m, v);

	if (m && (double)v->count >= e->o->rules[m->rule].limit)
		h.level = e->o->rules[m->rule].level;
	h.standing = m ? unless_harmless(message_standing(e, m, v), h.level) : STANDING_HARMLESS;
	return h;
}

static int compare_faults(const void *left, const void *right)
{
	const struct known_fault *a = left, *b = right;

	return ORDER(a->standing, b->standing)   ?:
		       ORDER(b->level, a->level) ?:
						   ORDER(b->last, a->last);
}

struct known_fault *health_list(const struct snapshot *s, const struct health_options *o,
				double now, size_t *count)
{
	const struct health_evaluation e = { .s = s, .o = o, .now = now };
	const struct fault_counts *f = &s->faults;
	struct known_fault *list = NULL;

	*count = 0;
	ARRAY_EACH(fault, f->faults, f->fault_count)
		if (fault->count)
			*ARRAY_APPEND(list, *count) = list_fault(&e, fault);
	ARRAY_EACH(v, f->kernel_events, f->kernel_event_count)
		if (v->gpu_driver && v->count)
			*ARRAY_APPEND(list, *count) = list_message(&e, v);
	if (*count)
		qsort(list, *count, sizeof(*list), compare_faults);
	return list;
}

/* ---- the table ---- */

#define GPU_CLEARS                                                                               \
	"A reset of the GPU that ends in an Xid 154 back to None, a new probe of the device, a " \
	"new load of the driver, a reboot, xidscope ack, or the end of run --window."
#define SWITCH_CLEARS                                                                          \
	"A new load of the driver, a new probe of the device, a reboot, xidscope ack, or the " \
	"end of run --window."

const struct health_rule health_rules[HEALTH_RULES] = {
#define TABLE_ROW(id, name, level, limit, unit, help, find, matches, local, clears) \
	{ name, HEALTH_##level, limit, unit, help, find, matches, local, clears },
#include "health_rules.inc"
};

enum health_what health_what(const char *what)
{
	if (*what < 'a' || *what > 'z' || !strncmp(what, "sxid:", 5) || find_message(what))
		return HEALTH_FAULT;
	return ARRAY_FIND(r, health_rules, HEALTH_RULES,
			  !r->matches && r->find != find_driver_messages &&
				  !strcmp(what, r->name)) ?
		       HEALTH_STATE :
		       HEALTH_NOTHING;
}
