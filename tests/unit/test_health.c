// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each rule finds what it is for and nothing else, that a fault is over by evidence, time or
 * acknowledgement and not otherwise, that findings are bounded and the worst come first, and that acknowledgements
 * and times are read as documented. */
#include <time.h>

#include "golden.h"
#include "health/health.h"
#include "base/time_text.h"

#define NOW 1700000000.0
#define GPU "0000:c1:00.0"
#define UUID "GPU-11111111-2222-3333-4444-555555555555"

static struct health_report report;
/* Each test begins with the defaults and an empty snapshot. */
static struct health_options o;
static struct snapshot s;

BEFORE_EACH()
{
	health_defaults(&o);
}

AFTER_EACH()
{
	snapshot_free(&s);
}

static struct fault *add_fault(unsigned int code, bool nvswitch, const char *severity,
			       const char *action, double last)
{
	struct fault like = { .device = GPU, .code = code, .nvswitch = nvswitch }, *f;

	snprintf(like.severity, sizeof(like.severity), "%s", severity);
	snprintf(like.action, sizeof(like.action), "%s", action);
	f = not_null(snapshot_fault(&s.faults, &like));
	f->count = 1;
	f->incidents = 1;
	f->recent = 1;
	f->last = last;
	return f;
}

static struct fault *add_79(double last)
{
	return add_fault(79, false, "fatal", "restart_bm", last);
}

static struct kernel_event *add_event(bool gpu_driver, const char *kind, const char *device,
				      double last)
{
	struct kernel_event *e =
		not_null(snapshot_kernel_event(&s.faults, gpu_driver, kind, device));

	e->count = 1;
	e->last = last;
	return e;
}

static struct kernel_event *add_driver_error(const char *kind, double last)
{
	return add_event(true, kind, GPU, last);
}

/* The third last was 28 s before the second last. */
static struct kernel_event *add_stalls(const char *kind, uint64_t count, double last, double before)
{
	struct kernel_event *e = add_event(false, kind, "cpu3", last);

	e->count = count;
	e->before[0] = before;
	e->before[1] = before - 28;
	return e;
}

/* Evaluates the rules. A fault is open in the list if, and only if, a rule finds it. */
static void evaluate(void)
{
	size_t count, found = 0, open = 0;
	struct known_fault *faults;

	memset(&report, 0xff, sizeof(report));
	health_evaluate(&s, &o, NOW, &report);
	faults = health_list(&s, &o, NOW, &count);
	for (const struct known_fault *f = faults; f < faults + count; f++)
		open += f->standing == STANDING_OPEN;
	free(faults);
	for (size_t i = 0; i < report.count; i++)
		found += report.findings[i].rule <= HEALTH_DRIVER_ASSERTION;
	assert_true((open && found) || (!open && !found));
}

/* Only this rule has findings, all of that level. */
static void assert_only(enum health_rule_id rule, enum health_level level)
{
	evaluate();
	for (int r = 0; r < HEALTH_RULES; r++)
		if (report.rules[r] != (r == (int)rule ? level : HEALTH_OK))
			fail_msg("%s: %d", health_rules[r].name, (int)report.rules[r]);
	assert_int_equal(report.level, level);
}

/* It finds one thing, for a reason with this part. */
static void assert_finding(enum health_rule_id rule, enum health_level level, const char *reason)
{
	assert_only(rule, level);
	assert_int_equal(report.total, 1);
	assert_has(report.findings[0].reason, reason);
}

static void assert_found(size_t count)
{
	evaluate();
	assert_int_equal(report.total, count);
}

static void assert_ok(void)
{
	assert_only(HEALTH_RULES, HEALTH_OK);
	assert_int_equal(report.total, 0);
	assert_int_equal(report.count, 0);
}

TEST(the_table_is_whole)
{
	for (int r = 0; r < HEALTH_RULES; r++) {
		assert_true(*health_rules[r].name && health_rules[r].find);
		assert_int_equal(health_rules[r].help[strlen(health_rules[r].help) - 1], '.');
		assert_int_equal(health_rules[r].clears[strlen(health_rules[r].clears) - 1], '.');
		assert_int_equal(*health_rules[r].unit != 0, health_rules[r].limit > 0);
		assert_int_equal(o.rules[r].level, health_rules[r].level);
		assert_true(o.rules[r].limit == health_rules[r].limit);
	}
	/* A node without faults is ok. */
	assert_ok();
}

/* A node that is as it should be. */
static struct node_state node;

/* Brings about what @rule is for, or if not @bad what is closest to it. */
static void arrange(enum health_rule_id rule, bool bad)
{
	static const char *const messages[] = { [HEALTH_DRIVER_ERROR] = "uvm_fatal",
						[HEALTH_DRIVER_WARNING] = "gsp_heartbeat_timeout",
						[HEALTH_RESET_REQUIRED] = "reset_required",
						[HEALTH_NVLINK_ERROR] = "nvlink_detect_failed" };
	struct fault *f;

	switch ((int)rule) {
	case HEALTH_XID_FATAL:
		add_fault(43, false, bad ? "fatal" : "info", "ignore", NOW);
		break;
	case HEALTH_XID_HARDWARE:
		add_fault(62, false, "warning", bad ? "reset_gpu" : "restart_app", NOW);
		break;
	case HEALTH_XID_STORM:
	case HEALTH_XID_REPEAT:
		f = add_fault(94, false, "warning", "restart_app", NOW);
		f->count = rule == HEALTH_XID_STORM ? 999 + bad : 1;
		f->recent = rule == HEALTH_XID_REPEAT ? 2 + bad : 1;
		break;
	case HEALTH_UNKNOWN_XID:
		add_fault(999, false, bad ? "unknown" : "info", "none_given", NOW);
		break;
	case HEALTH_SXID_FATAL:
		add_fault(20001, true, bad ? "fatal" : "info", "", NOW);
		break;
	case HEALTH_SXID_HARDWARE:
		add_fault(bad ? 20009 : 20001, true, "warning", "", NOW);
		break;
	case HEALTH_DRIVER_ERROR ... HEALTH_NVLINK_ERROR:
		add_driver_error(bad ? messages[rule] : "assert_failed", NOW);
		break;
	case HEALTH_DRIVER_ASSERTION:
		add_driver_error("assert_failed", NOW)->count = bad ? 1000 : 999;
		break;
	case HEALTH_GSP_RATE_LIMITED:
		snapshot_gpu(&s.faults, GPU)->rate_limited = bad;
		break;
	case HEALTH_KERNEL_OOPS:
		add_event(false, "kernel_oops", bad ? "nvidia_uvm" : "ext4", NOW - 1e5);
		break;
	case HEALTH_KERNEL_DAMAGED:
		add_event(false, bad ? "kernel_oops" : "kernel_warning", "", 0);
		break;
	case HEALTH_CPU_STUCK: /* what all kinds report of one CPU counts */
		add_event(false, "rcu_stall", bad ? "cpu3" : "cpu4", NOW - 20);
		add_stalls("soft_lockup", 2, NOW - 10, NOW - 38);
		break;
	case HEALTH_CPU_STALL:
		add_event(false, "soft_lockup", "cpu3", NOW - (bad ? 10 : 300));
		break;
	case HEALTH_GPU_STUCK:
		add_event(false, "gpu_hang", "nvidia_uvm", NOW - (bad ? 299 : 300));
		break;
	case HEALTH_NFS_WAITER:
		snapshot_server(&s.calls, "nas")->oldest_ns[RPC_QUEUE_SEND] = 60000000000 + bad;
		break;
	case HEALTH_NFS_ERRORS:
		add_event(false, bad ? "nfs_state_lost" : "nfs_ok", "nas", NOW);
		break;
	case HEALTH_NFS_STUCK:
		snapshot_stuck(&s.calls, "/data", true)->tasks = 2;
		s.calls.stuck[0].oldest_ns = 60000000000 + bad;
		break;
	case HEALTH_NFS_STUCK_NO_RPC:
		snapshot_stuck(&s.calls, "/data", false)->tasks = 2;
		s.calls.stuck[0].oldest_ns = 600000000000 + bad;
		break;
	case HEALTH_MOUNT_UNUSABLE:
		node.mounts[0].state = bad ? MOUNT_STALE : MOUNT_FINE;
		break;
	case HEALTH_MOUNT_HUNG:
		node.mounts[0].answer = bad ? MOUNT_HUNG : MOUNT_FINE;
		break;
	case HEALTH_GPUS_MISSING:
		node.gpus = bad ? 7 : 8;
		break;
	case HEALTH_GPU_UNUSED:
		snprintf(node.unused[0], sizeof(node.unused[0]), "%s", GPU);
		node.unused_count = bad;
		break;
	case HEALTH_PCIE_WIDTH:
		node.links[0].lanes = bad ? 15 : 16;
		break;
	case HEALTH_PCIE_CORRECTED:
		node.links[0].corrected_in_hour = bad ? 480 : 479;
		break;
	case HEALTH_CLOCK_UNSYNCHRONISED:
		node.clock_unsynchronised = bad;
		break;
	default:
		fail_msg("the rule %s has no case in tests/unit/test_health.c",
			 health_rules[rule].name);
	}
}

TEST(each_rule_finds_what_it_is_for_and_nothing_less)
{
	for (int rule = 0; rule < HEALTH_RULES; rule++)
		for (int bad = 0; bad <= 1; bad++) {
			node = (struct node_state){
				.mounts = { { "/a", false, MOUNT_FINE } },
				.mount_count = 1,
				.gpus = 8,
				.gpus_wanted = 8,
				.links = { { .gpu = GPU, .lanes = 16, .lanes_possible = 16 } },
				.link_count = 1
			};
			health_defaults(&o);
			o.node = &node;
			for (int r = 0; r < HEALTH_RULES; r++)
				o.rules[r].level = r == rule ? HEALTH_FAIL : HEALTH_OK;
			arrange((enum health_rule_id)rule, bad);
			evaluate();
			if (report.rules[rule] != (bad ? HEALTH_FAIL : HEALTH_OK))
				fail_msg("the rule %s finds %zu", health_rules[rule].name,
					 report.total);
			snapshot_free(&s);
		}
}

/* tests/data/xid_ratings.tsv has most; here is what no real line has. */
TEST(each_xid_meets_its_rule)
{
	static const struct {
		unsigned int code;
		bool nvswitch;
		const char *severity, *action;
		enum health_rule_id rule;
	} cases[] = {
		{ 13, false, "fatal", "restart_app", HEALTH_XID_FATAL }, /* a policy's word */
		{ 62, false, "warning", "reset_gpu", HEALTH_XID_HARDWARE },
		{ 58, false, "warning", "contact_support", HEALTH_XID_HARDWARE },
		{ 163, false, "warning", "none_given", HEALTH_RULES }, /* category info */
		{ 154, false, "warning", "recover_imex_domain", HEALTH_XID_HARDWARE },
		{ 31, false, "warning", "reset_gpu", HEALTH_RULES }, /* category app */
		{ 62, false, "info", "reset_gpu", HEALTH_RULES },
		{ 999, false, "unknown", "none_given", HEALTH_UNKNOWN_XID },
		{ 28001, true, "warning", "", HEALTH_RULES }, /* printed as Non-fatal */
		/* folded: which codes these are is not known */
		{ 0, true, "warning", "", HEALTH_SXID_HARDWARE },
		{ 0, false, "warning", "none_given", HEALTH_XID_HARDWARE },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		add_fault(cases[i].code, cases[i].nvswitch, cases[i].severity, cases[i].action,
			  NOW - 10);
		print_message("# %u, %s, %s\n", cases[i].code, cases[i].severity, cases[i].action);
		assert_only(cases[i].rule, cases[i].rule == HEALTH_RULES ?
						   HEALTH_OK :
						   health_rules[cases[i].rule].level);
		assert_int_equal(report.total, cases[i].rule != HEALTH_RULES);
		if (report.total)
			assert_int_equal(report.findings[0].rule, cases[i].rule);
		snapshot_free(&s);
	}
}

TEST(storms_and_repeats_are_counted_over_severities)
{
	struct fault *a, *b;

	add_fault(68, false, "warning", "restart_app", NOW - 10)->count = 499;
	b = add_fault(68, false, "info", "x", NOW - 10);
	a = s.faults.faults;
	b->count = 500;
	assert_ok();
	b->count = 501;
	assert_finding(HEALTH_XID_STORM, HEALTH_WARN, " 1000 times");
	a->count = b->count = 1;
	a->recent = 2;
	b->recent = 0;
	a->incidents = 50; /* since boot */
	assert_ok();
	b->recent = 1;
	assert_finding(HEALTH_XID_REPEAT, HEALTH_WARN, " 3 recent incidents");
	/* what only informs may come as often as it likes */
	a->code = b->code = 93;
	assert_ok();
	/* nor what the vendor says to ignore; but then all of it must be that */
	a->code = b->code = 145;
	strcpy(a->action, "ignore");
	strcpy(b->action, "ignore");
	assert_ok();
	strcpy(b->action, "xid_154_eval");
	assert_finding(HEALTH_XID_REPEAT, HEALTH_WARN, "");
	strcpy(a->action, "restart_app");
	/* another GPU's do not add up with these */
	a->code = b->code = 31;
	strcpy(b->device, "0000:c2:00.0");
	assert_ok();
	/* these rules do not apply to switches */
	a->nvswitch = true;
	a->count = a->recent = 5000;
	assert_ok();
}

TEST(memory_faults_on_several_gpus_are_the_applications)
{
	struct fault *a = add_fault(31, false, "warning", "restart_app", NOW - 10), *b;

	a->recent = 3;
	assert_only(HEALTH_XID_REPEAT, HEALTH_WARN);
	add_fault(31, false, "warning", "restart_app", NOW - 86399);
	strcpy(s.faults.faults[0].device, "0000:c2:00.0");
	b = add_fault(31, false, "warning", "restart_app", NOW - 86399);
	s.faults.faults[0].recent = 3;
	assert_ok();
	/* that was too long ago */
	b->recent = 0;
	assert_only(HEALTH_XID_REPEAT, HEALTH_WARN);
	/* other codes are each GPU's own */
	b->recent = 1;
	s.faults.faults[0].code = b->code = 94;
	assert_only(HEALTH_XID_REPEAT, HEALTH_WARN);
}

/* The list advises what the first finding does. */
static void assert_list_agrees(void)
{
	size_t count;
	struct known_fault *faults = not_null(health_list(&s, &o, NOW, &count));

	assert_string_equal(faults->what, report.findings[0].what);
	assert_string_equal(faults->action, report.findings[0].action);
	assert_has(report.findings[0].reason, faults->advice);
	free(faults);
}

TEST(a_gpu_that_fails_five_times_a_day_is_to_be_replaced)
{
	add_79(NOW - 10)->recent = 2;
	add_fault(62, false, "fatal", "reset_gpu", NOW - 5000)->recent = 2;
	add_fault(154, false, "fatal", "reset_gpu", NOW - 10)->recent = 4;
	add_fault(31, false, "warning", "restart_app", NOW - 10)->recent = 2;
	evaluate();
	for (size_t i = 0; i < report.count; i++)
		assert_lacks(report.findings[i].reason, "resets have not helped");
	/* those that are over count, too */
	snapshot_recovery(&s.faults, GPU, "action_none")->time = NOW - 4000;
	s.faults.faults[1].recent = 3;
	evaluate();
	assert_int_equal(report.findings[0].rule, HEALTH_XID_FATAL);
	assert_has(report.findings[0].reason, "Xid 79");
	assert_has(report.findings[0].reason,
		   ". Drain the node and replace the GPU: resets have not helped.");
	assert_list_agrees();
	/* another GPU's do not */
	strcpy(s.faults.faults[1].device, "0000:c2:00.0");
	evaluate();
	assert_lacks(report.findings[0].reason, "resets have not helped");
}

TEST(a_gpu_that_fails_again_after_two_reboots_is_to_be_replaced)
{
	struct fault *f = add_79(NOW - 10);

	f->boots = 2;
	evaluate();
	assert_string_equal(report.findings[0].action, "restart_bm");
	f->boots = 3;
	evaluate();
	assert_has(report.findings[0].reason,
		   ". Drain the node and replace the GPU: reboots have not helped.");
	assert_string_equal(report.findings[0].action, "replace_gpu");
	assert_list_agrees();
	/* failures of earlier boots count with those of this one */
	f->boots = 1;
	snapshot_gpu(&s.faults, GPU)->past_failures = 3;
	evaluate();
	assert_string_equal(report.findings[0].action, "restart_bm");
	f->recent = 2;
	evaluate();
	assert_has(report.findings[0].reason, "resets have not helped");
	assert_string_equal(report.findings[0].action, "replace_gpu");
}

/* One crash prints an Xid 13 for each part of the GPU. */
TEST(what_only_follows_or_is_the_applications_may_storm)
{
	struct fault *f = add_fault(45, false, "info", "workflow_xid_45", NOW - 10);

	f->count = 13104;
	assert_ok();
	f->code = 43;
	strcpy(f->action, "ignore");
	assert_ok();
	f->code = 13;
	strcpy(f->action, "restart_app");
	assert_ok();
	f->recent = 3;
	assert_only(HEALTH_XID_REPEAT, HEALTH_WARN);
	f->recent = 0;
	f->code = 94;
	assert_only(HEALTH_XID_STORM, HEALTH_WARN);
}

TEST(only_failures_of_the_driver_count_and_only_the_drivers)
{
	static const char *const kinds[] = {
		"rm_init_adapter_failed", "fallen_off_bus", "gsp_stopped", "uvm_fatal",
		"gsp_boot_failed",        "assert_failed",  "check_failed"
	};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		add_event(false, kinds[i], GPU, NOW - 10);
		snapshot_kernel_event(&s.faults, true, kinds[i], "0000:c2:00.0");
		assert_ok();
		add_driver_error(kinds[i], NOW - 10);
		assert_only(HEALTH_DRIVER_ERROR, i < 5 ? HEALTH_FAIL : HEALTH_OK);
		snapshot_free(&s);
	}
}

TEST(a_node_whose_gpus_the_driver_need_not_take_is_fine)
{
	struct node_state guests = { .bus_count = 8 };

	o.node = &guests;
	add_event(true, "none_probed", "", NOW - 10);
	assert_only(HEALTH_DRIVER_ERROR, HEALTH_FAIL);
	guests.guests = 7; /* and one is given back */
	assert_ok();
	add_event(true, "none_found", "", NOW - 10);
	assert_only(HEALTH_DRIVER_ERROR, HEALTH_FAIL);
	guests = (struct node_state){};
	assert_finding(HEALTH_DRIVER_ERROR, HEALTH_FAIL, "the driver takes no GPU");
}

/* Until 4.19 the line is of the device with the error. */
TEST(the_device_that_does_not_recover_is_a_port_or_the_gpu)
{
	add_driver_error("pcie_unrecovered", NOW - 10);
	assert_only(HEALTH_DRIVER_WARNING, HEALTH_WARN);
	assert_has(report.findings[0].reason, "PCIe port " GPU);
	snapshot_gpu(&s.faults, GPU);
	assert_only(HEALTH_DRIVER_WARNING, HEALTH_WARN);
	assert_int_equal(strncmp(report.findings[0].reason, "GPU " GPU, strlen("GPU " GPU)), 0);
}

TEST(other_messages_of_the_driver_have_rules_of_their_own)
{
	add_event(true, "reset_required", "", NOW - 10);
	assert_only(HEALTH_RESET_REQUIRED, HEALTH_FAIL);
	assert_string_equal(report.findings[0].action, "reset_gpu");
	assert_string_equal(report.findings[0].head, "reset_required all");
	health_set_rule(&o, "reset_required=fail:2");
	assert_ok();
	health_set_rule(&o, "reset_required=fail:1");
	/* It names no GPU, and one has been reset since. */
	snapshot_recovery(&s.faults, GPU, RECOVERY_WITHDRAWN)->time = NOW - 5;
	assert_only(HEALTH_RESET_REQUIRED, HEALTH_FAIL);
	snapshot_recovery(&s.faults, GPU, "action_none")->time = NOW - 5;
	assert_ok();
	/* One that does is not over by the reset of another. */
	add_event(true, "reset_required", "0000:c2:00.0", NOW - 10);
	assert_only(HEALTH_RESET_REQUIRED, HEALTH_FAIL);
	fresh();
	add_driver_error("nvlink_detect_failed", NOW - 10);
	assert_only(HEALTH_NVLINK_ERROR, HEALTH_WARN);
	fresh();
	add_event(true, "nvswitch_failed", "nvidia-nvswitch3", NOW - 10);
	assert_finding(HEALTH_NVLINK_ERROR, HEALTH_WARN, "NVSwitch nvidia-nvswitch3: ");
	fresh();
	add_driver_error("assert_failed", NOW - 10)->count = 1000;
	health_set_rule(&o, "driver_assertion=warn");
	assert_only(HEALTH_DRIVER_ASSERTION, HEALTH_WARN);
	assert_string_equal(report.findings[0].head, "assert_failed c1:00.0");
}

TEST(tasks_that_hang_in_nfs_are_found_once_and_are_grave_without_a_call)
{
	struct stuck_state *t = snapshot_stuck(&s.calls, "/data", true);

	t->oldest_ns = 3600 * SECOND;
	assert_ok(); /* there is none */
	t->tasks = 3;
	t->cause = STUCK_RPC;
	assert_finding(HEALTH_NFS_STUCK, HEALTH_WARN,
		       "NFS on /data: tasks that hang: 3, the oldest for 3600 s, behind a call. "
		       "Check the server and the network to it.");
	assert_string_equal(report.findings[0].device, "/data");
	t->cause = STUCK_DELAYED;
	assert_finding(HEALTH_NFS_STUCK, HEALTH_WARN, "the server asks to make again later");
	t->cause = STUCK_LOCKD;
	assert_finding(HEALTH_NFS_STUCK, HEALTH_WARN, "the server's lock manager");
	fresh();
	t = snapshot_stuck(&s.calls, "", false);
	t->tasks = 1;
	t->oldest_ns = 599 * SECOND;
	assert_only(HEALTH_NFS_STUCK, HEALTH_WARN);
	t->oldest_ns = 601 * SECOND;
	assert_finding(
		HEALTH_NFS_STUCK_NO_RPC, HEALTH_FAIL,
		"NFS on an unknown mount: tasks that hang: 1, the oldest for 601 s, and no call is outstanding");
	health_set_rule(&o, "nfs_stuck_no_rpc=off");
	assert_only(HEALTH_NFS_STUCK, HEALTH_WARN);
}

/* Those that are not off, as far as the node is known. */
static size_t rules_in_force(void)
{
	size_t count = 0;

	for (int r = 0; r < HEALTH_RULES; r++)
		count += (o.node || !health_rules[r].local) && o.rules[r].level != HEALTH_OK;
	return count;
}

/* A healthy node's pins terabytes for so long. */
TEST(a_task_that_no_watchdog_reports_only_warns)
{
	add_stalls("kernel_spin", 9, NOW - 10, NOW - 70);
	assert_finding(HEALTH_CPU_STALL, HEALTH_WARN, ". If it continues, drain");
	/* The watchdog's reports count as always. */
	add_stalls("soft_lockup", 2, NOW - 5, NOW - 33);
	assert_only(HEALTH_CPU_STALL, HEALTH_WARN);
	add_stalls("soft_lockup", 3, NOW - 5, NOW - 33);
	assert_finding(HEALTH_CPU_STUCK, HEALTH_FAIL, ". Drain");
}

/* A machine that was paused: each CPU has one lockup. */
TEST(stalls_that_name_no_cpu_are_of_several)
{
	static const char *const devices[] = { "", "other" };

	for (size_t i = 0; i < COUNT(devices); i++) {
		struct kernel_event *v = add_event(false, "soft_lockup", devices[i], NOW - 1);

		v->count = 192;
		v->before[0] = v->before[1] = NOW - 2;
	}
	assert_only(HEALTH_CPU_STALL, HEALTH_WARN);
}

TEST(the_state_of_the_node_is_found)
{
	struct node_state f = { .mounts = { { "/a", false, MOUNT_FINE },
					    { "/b", false, MOUNT_ABSENT },
					    { "/c", false, MOUNT_FINE, MOUNT_HUNG } },
				.mount_count = 3,
				.gpus = 7,
				.gpus_wanted = 8,
				.clock_unsynchronised = true };
	const struct health_finding *x = report.findings;

	assert_ok();
	o.node = &f;
	assert_found(3); /* the clock's rule is off */
	assert_printed("/b: Mount bad /b, Mount hung /c, GPUs 7 of 8", "%s: %s, %s, %s", x->device,
		       x->head, x[1].head, x[2].head);
	assert_int_equal(report.level, HEALTH_FAIL);
	assert_true(health_set_rule(&o, "clock_unsynchronised=warn"));
	assert_found(4);
	f = (struct node_state){
		.gpus = 8,
		.gpus_wanted = 8,
		.links = { { .gpu = GPU, .lanes = 8, .lanes_possible = 16 },
			   { .gpu = GPU, .corrected_in_hour = 480, .lanes_possible = 16 } }
	};
	assert_ok();
	f.link_count = 2;
	assert_found(2);
	assert_int_equal(report.level, HEALTH_WARN);
	assert_printed("PCIe x8 of x16 c1:00.0, PCIe errors c1:00.0", "%s, %s", x->head, x[1].head);
	assert_true(health_set_rule(&o, "pcie_width=warn:50"));
	f.links[1].corrected_in_hour = 479;
	assert_ok();
	f.links[0].lanes = 4;
	assert_only(HEALTH_PCIE_WIDTH, HEALTH_WARN);
	/* only what is known is exported */
	for (int known = 0; known < 2; known++) {
		o.node = known ? &f : NULL;
		s.self.health_count = 0;
		health_to_snapshot(&report, &o, &s);
		assert_int_equal(s.self.health_count, rules_in_force());
	}
}

TEST(a_reason_has_what_when_and_what_to_do)
{
	add_79(1795255200.9)->count = 2;
	evaluate();
	assert_string_equal(
		report.findings[0].reason,
		"GPU 0000:c1:00.0: Xid 79 (GPU no longer answers on the PCIe bus) 2 times, last "
		"2026-11-21T10:00:00Z. Drain the node and restart it; if the error returns, replace the GPU.");
}

TEST(texts_are_one_line_and_fit)
{
	char name[LABEL_SIZE];

	memset(name, 'x', sizeof(name));
	name[0] = '\n';
	name[1] = '\x1b';
	memcpy(name + 40, "\xf0\x9f\x98\x80", 4);
	name[LABEL_SIZE - 1] = 0;
	snapshot_server(&s.calls, name)->oldest_ns[RPC_QUEUE_SLOT] = UINT64_MAX;
	evaluate();
	assert_int_equal(report.count, 1);
	for (const char *c = formatted("%s%s", report.findings[0].reason, report.findings[0].head);
	     *c; c++)
		assert_true((unsigned char)*c >= ' ');
	assert_string_equal(report.findings[0].head + strlen(report.findings[0].head) - 3, "...");
}

/* What makes a fault at NOW - 100 be over, at its edges. */
TEST(a_fault_is_over_by_evidence)
{
	static const struct {
		const char *gpu;
		double time;
		bool over;
	} cases[] = {
		{ GPU, NOW - 100, true },
		{ GPU, NOW - 99, true },
		{ GPU, NOW - 100.001, false },
		{ "all", NOW - 100, true },
		{ "all", NOW - 101, false },
		{ "0000:c2:00.0", NOW, false },
		{ "", NOW, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fault *f = add_79(NOW - 100);

		f->count = 5000;
		f->recent = 8;
		add_fault(20034, true, "fatal", "", NOW - 100);
		add_driver_error("fallen_off_bus", NOW - 100);
		/* older recoveries change nothing */
		snapshot_recovery(&s.faults, "all", "driver_loaded")->time = NOW - 1000;
		snapshot_recovery(&s.faults, cases[i].gpu, "action_none")->time = cases[i].time;
		snapshot_recovery(&s.faults, "all", "device_probed")->time = NOW - 1000;
		assert_found(cases[i].over ? 0 : 5); /* fatal, storm, repeat, SXid, driver */
		snapshot_free(&s);
	}
}

/* An action that was no reset is over by that for Xid 154 only. */
TEST(an_action_withdrawn_clears_only_what_asked_for_it)
{
	add_fault(154, false, "fatal", "drain_p2p", NOW - 100);
	snapshot_gpu(&s.faults, GPU)->rate_limited = false;
	snapshot_recovery(&s.faults, GPU, RECOVERY_WITHDRAWN)->time = NOW - 90;
	assert_ok();
	add_fault(119, false, "fatal", "reset_gpu", NOW - 100);
	add_driver_error("fallen_off_bus", NOW - 100);
	assert_found(2);
	snapshot_recovery(&s.faults, GPU, "action_none")->time = NOW - 80;
	assert_ok();
}

TEST(a_fault_is_over_by_time)
{
	add_79(NOW - 100);
	o.window = 100;
	assert_only(HEALTH_XID_FATAL, HEALTH_FAIL);
	o.window = 99;
	assert_ok();
	health_defaults(&o);
	/* when it was is not known: nothing shows that it is over */
	s.faults.faults[0].last = 0;
	snapshot_recovery(&s.faults, "all", "driver_loaded")->time = NOW;
	assert_only(HEALTH_XID_FATAL, HEALTH_FAIL);
}

TEST(faults_of_one_code_are_over_together)
{
	add_fault(149, false, "fatal", "x", NOW - 100);
	add_fault(149, false, "warning", "ignore", NOW - 50);
	snapshot_recovery(&s.faults, GPU, "device_probed")->time = NOW - 60;
	assert_only(HEALTH_XID_FATAL, HEALTH_FAIL);
	snapshot_recovery(&s.faults, GPU, "device_probed")->time = NOW - 50;
	assert_ok();
}

static struct ack_list list;

AFTER_EACH()
{
	ack_free(&list);
}

/* These are in force. */
static void acknowledge(const char *text)
{
	char error[160] = "";

	ack_free(&list);
	memset(&list, 0xff, sizeof(list));
	if (ack_parse(&list, text, strlen(text), error, sizeof(error)))
		fail_msg("%s", error);
	o.acks = &list;
}

static const char *acknowledged_by(const char *text)
{
	static const enum health_rule_id rules[] = { HEALTH_XID_FATAL, HEALTH_SXID_FATAL,
						     HEALTH_DRIVER_ERROR };
	static char over[100];

	add_79(NOW - 99.5);
	add_fault(20034, true, "fatal", "", NOW - 99.5);
	add_driver_error("fallen_off_bus", NOW - 99.5);
	strcpy(snapshot_gpu(&s.faults, GPU)->uuid, UUID);
	acknowledge(text);
	evaluate();
	*over = 0;
	ARRAY_EACH(rule, rules, COUNT(rules))
		if (report.rules[*rule] == HEALTH_OK)
			append_text(over, "%s%s", *over ? " " : "", health_rules[*rule].name);
		else
			assert_int_equal(report.rules[*rule], HEALTH_FAIL);
	snapshot_free(&s);
	return *over ? over : "nothing";
}

TEST(a_fault_is_over_by_acknowledgement)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "acknowledgements", acknowledged_by);
}

/* Open ones first, of these the gravest. */
TEST(each_fault_has_its_standing)
{
	static const struct {
		enum fault_standing standing;
		enum health_level level;
		const char *what;
	} expected[] = {
		{ STANDING_OPEN, HEALTH_FAIL, "fallen_off_bus" },
		{ STANDING_OPEN, HEALTH_WARN, "48" },
		{ STANDING_SNOOZED, HEALTH_FAIL, "95" },
		{ STANDING_ACKNOWLEDGED, HEALTH_FAIL, "sxid:20034" },
		{ STANDING_HARMLESS, HEALTH_OK, "31" },
		{ STANDING_HARMLESS, HEALTH_OK, "check_failed" },
		{ STANDING_OVER, HEALTH_FAIL, "79" },
	};
	struct known_fault *faults;
	size_t count;

	add_79(NOW - 500);
	snapshot_recovery(&s.faults, GPU, "device_probe")->time = NOW - 400;
	add_fault(31, false, "warning", "restart_app", NOW - 30);
	add_fault(48, false, "warning", "reset_gpu", NOW - 20);
	add_fault(95, false, "fatal", "reset_gpu", NOW - 100);
	add_fault(20034, true, "fatal", "", NOW - 100);
	add_driver_error("fallen_off_bus", NOW - 90);
	add_driver_error("check_failed", NOW - 90);
	acknowledge("* 95 until:2023-11-15\n* sxid:20034 2023-11-14T22:13:00Z\n");
	evaluate();
	faults = health_list(&s, &o, NOW, &count);
	assert_int_equal(count, COUNT(expected));
	for (size_t i = 0; i < count; i++)
		assert_printed(formatted("%s %d %d", expected[i].what, expected[i].standing,
					 expected[i].level),
			       "%s %d %d", faults[i].what, faults[i].standing, faults[i].level);
	assert_string_equal(faults[0].meaning, "the GPU no longer answers on the PCIe bus");
	assert_string_equal(faults[3].kind, "sxid");
	assert_true(*faults[3].meaning && *faults[3].action);
	free(faults);
}

/* A state has no time: only a snooze is later than it. */
TEST(a_state_is_snoozed_by_its_rule)
{
	snapshot_gpu(&s.faults, GPU)->rate_limited = true;
	snapshot_server(&s.calls, "nas-1")->oldest_ns[RPC_QUEUE_PENDING] = 61000000000;
	assert_found(2);
	acknowledge(GPU " gsp_rate_limited until:1700000060\n* nfs_waiter 1699999999");
	assert_only(HEALTH_NFS_WAITER, HEALTH_WARN);
	/* what is acknowledged follows, and does not count */
	assert_printed("1 1 2 gsp_rate_limited 1", "%zu %zu %zu %s %d", report.total, report.count,
		       report.listed, report.findings[1].what,
		       report.findings[1].standing == STANDING_SNOOZED);
}

TEST(a_finding_has_its_fields)
{
	struct fault *f = add_79(1795255200.9);
	const struct health_finding *x = report.findings;

	f->count = 2;
	f->first = 1795255100;
	add_fault(20034, true, "fatal", "", NOW - 10);
	evaluate();
	assert_printed(GPU ": 79 0 79 2 1795255100.0 1795255200.9 restart_bm Xid 79 c1:00.0",
		       "%s: %s %d %u %lu %.1f %.1f %s %s", x->device, x->what, x->nvswitch, x->code,
		       x->count, x->first, x->last, x->action, x->head);
	assert_printed("sxid:20034 1 20034 reset_gpu SXid 20034 c1:00.0", "%s %d %u %s %s",
		       x[1].what, x[1].nvswitch, x[1].code, x[1].action, x[1].head);
	/* another domain is shown */
	strcpy(s.faults.faults[0].device, "0001:c1:00.0");
	evaluate();
	assert_string_equal(x->head, "Xid 79 0001:c1:00.0");
}

static const char *mistake_in_acks(const char *text)
{
	static char error[160];

	assert_int_equal(ack_parse(&list, text, strlen(text), error, sizeof(error)), -EINVAL);
	assert_null(list.acks);
	return error;
}

TEST(wrong_acknowledgements_are_refused_with_their_line)
{
	char error[160], *many;

	assert_golden_in(TEST_DATA "/texts.tsv", "mistakes in acknowledgements", mistake_in_acks);
	many = not_null(malloc(5000));
	memset(many, '\n', 5000);
	assert_int_equal(ack_parse(&list, many, 4095, error, sizeof(error)), 0);
	ack_free(&list);
	assert_int_equal(ack_parse(&list, many, 4096, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "at most 4095 lines are read");
	free(many);
	assert_int_equal(ack_take(&list, NULL, -ENOENT, "acks", error, sizeof(error)), 0);
	assert_int_equal(list.count, 0);
	assert_int_equal(ack_take(&list, NULL, -EINVAL, "acks", error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "cannot read acks: it is not a regular file");
}

/* 2026-11-25T11:00:00Z */
#define NOW_UTC 1795604400.0

/* The time of a text in a file, of a person who means the past, and the future; "-": it is none. As on 2026-11-25, a Wednesday,
 * at 12:00 in a zone one hour east of UTC, two in summer. */
static const char *times_of(const char *text)
{
	static char times[200];
	double seconds;

	strcpy(times, "-");
	if (time_from_text(text, &seconds))
		snprintf(times, sizeof(times), "%.12g", seconds);
	for (int future = 0; future < 2; future++) {
		char written[TIME_TEXT_SIZE] = "-";

		if (time_from_person(text, NOW_UTC, future ? TIME_FUTURE : TIME_PAST, &seconds))
			time_to_text(written, sizeof(written), seconds);
		append_text(times, " %s", written);
	}
	return times;
}

TEST(times_are_read_and_written)
{
	static const struct {
		const char *text;
		double seconds;
	} written[] = { { "2026-11-21T10:00:00Z", 1795255200.999 },
			{ "1970-01-01T00:00:00Z", -5 },
			{ "9999-12-31T23:59:59Z", 1e300 } };
	char text[TIME_TEXT_SIZE];

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_golden(TEST_DATA "/times.tsv", times_of);
	assert_string_equal(LOCAL_TIME(NOW_UTC), "2026-11-25 12:00:00 +0100");
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < COUNT(written); i++) {
		time_to_text(text, sizeof(text), written[i].seconds);
		assert_string_equal(text, written[i].text);
	}
}

TEST(rules_are_set_by_name)
{
	const struct health_options before = o;

	NONE_ACCEPTED(text, health_set_rule(&o, text) || memcmp(&o, &before, sizeof(o)) != 0, "",
		      "xid_fatal", "xid_fatal=", "xid_fatal=OFF", "xid_fatal=fail:1", "xid_fat=off",
		      "xid_fatals=off", "nfs_waiter=warn:", "nfs_waiter=warn:0",
		      "nfs_waiter=warn:-1", "nfs_waiter=warn:x", "nfs_waiter=warn:1.2.3",
		      "nfs_waiter=warn:1e99", "=off", "nfs_waiter=warning");
	assert_true(health_set_rule(&o, "nfs_waiter=fail:7.5"));
	assert_int_equal(o.rules[HEALTH_NFS_WAITER].level, HEALTH_FAIL);
	assert_true(o.rules[HEALTH_NFS_WAITER].limit == 7.5);
	assert_true(health_set_rule(&o, "nfs_waiter=warn"));
	assert_int_equal(o.rules[HEALTH_NFS_WAITER].level, HEALTH_WARN);
	assert_true(o.rules[HEALTH_NFS_WAITER].limit == 7.5);
	assert_true(health_set_rule(&o, "xid_fatal=off"));
	assert_int_equal(o.rules[HEALTH_XID_FATAL].level, HEALTH_OK);
}

TEST(the_worst_come_first_and_all_are_counted)
{
	for (unsigned int i = 0; i < 100; i++)
		add_fault(1000 + i, false, "unknown", "none_given", NOW);
	add_79(NOW);
	snapshot_server(&s.calls, "nas")->oldest_ns[RPC_QUEUE_SLOT] = 100000000000;
	evaluate();
	assert_int_equal(report.level, HEALTH_FAIL);
	assert_int_equal(report.total, 102);
	assert_int_equal(report.count, HEALTH_MAX_FINDINGS);
	assert_int_equal(report.findings[0].rule, HEALTH_XID_FATAL);
	for (size_t i = 1; i < report.count; i++)
		assert_int_equal(report.findings[i].level, HEALTH_WARN);
	/* what the list has no room for still has its level */
	assert_int_equal(report.rules[HEALTH_NFS_WAITER], HEALTH_WARN);
	health_set_rule(&o, "nfs_waiter=fail");
	health_set_rule(&o, "xid_fatal=warn");
	evaluate();
	assert_int_equal(report.findings[0].rule, HEALTH_NFS_WAITER);
	assert_int_equal(report.findings[1].rule, HEALTH_XID_FATAL);
	health_to_snapshot(&report, &o, &s);
	assert_int_equal(s.self.health_count, rules_in_force());
	for (size_t i = 0; i < s.self.health_count; i++)
		if (!strcmp(s.self.health[i].check, "nfs_waiter"))
			assert_int_equal(s.self.health[i].level, 2);
}
