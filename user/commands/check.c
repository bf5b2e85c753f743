// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope check`: reports the node's health from the agent's metrics file. */
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "base/time_text.h"
#include "commands/commands.h"
#include "commands/agent.h"
#include "commands/options.h"
#include "health/health.h"
#include "health/node.h"
#include "health/metrics_file.h"

#define REASON_SIZE 640
#define MAX_ASK_SECONDS 10.0 /* whatever the limit of the rule is */

struct result {
	enum check_exit exit;
	char trouble[512]; /* why it is unknown: a line of safe text */
	double age; /* of the file, seconds, below 0 if it is from the future; NAN: not known */
	uint64_t xids; /* Xid errors, with the ignored ones */
	double oldest_waiter; /* seconds */
	struct health_report report;
};

static const char *const names[] = {
	[CHECK_OK] = "OK",
	[CHECK_WARNING] = "WARNING",
	[CHECK_CRITICAL] = "CRITICAL",
	[CHECK_UNKNOWN] = "UNKNOWN",
};

_Static_assert(CHECK_OK == (int)HEALTH_OK && CHECK_WARNING == (int)HEALTH_WARN &&
		       CHECK_CRITICAL == (int)HEALTH_FAIL,
	       "a level is its exit code");

static void __attribute__((format(printf, 2, 3)))
set_unknown(struct result *v, const char *format, ...)
{
	va_list args;

	v->exit = CHECK_UNKNOWN;
	va_start(args, format);
	safe_vformat(v->trouble, sizeof(v->trouble), format, args);
	va_end(args);
}

/* Adds the figures that do not depend on the rules. */
static void add_figures(struct result *v, const struct snapshot *s)
{
	for (size_t i = 0; i < s->faults.fault_count; i++)
		if (!s->faults.faults[i].nvswitch)
			v->xids += s->faults.faults[i].count;
	for (size_t i = 0; i < s->calls.server_count; i++)
		for (int q = 0; q < RPC_QUEUES; q++)
			RAISE(v->oldest_waiter, (double)s->calls.servers[i].oldest_ns[q] / 1e9);
}

/* ---- what is true of the node now ---- */

static void look_at_node(struct node_state *node, const struct options *o)
{
	double limit = o->health.rules[HEALTH_MOUNT_HUNG].limit;
	const char *own = getenv("XDG_RUNTIME_DIR");
	struct timex clock = {};
	char folder[256], counts[300];
	bool corrected = o->health.rules[HEALTH_PCIE_CORRECTED].level != HEALTH_OK;

	*node = (struct node_state){ .gpus_wanted = (unsigned int)o->gpus };
	/* For locks of processes that ask for a mount, and for what is counted in an hour. */
	snprintf(folder, sizeof(folder), "%s/xidscope",
		 !geteuid() ? "/run" :
		 own        ? own :
			      "/nonexistent");
	pcie_links_read(node, "",
			corrected || o->health.rules[HEALTH_PCIE_WIDTH].level != HEALTH_OK);
	if (o->health.rules[HEALTH_GPU_UNUSED].level != HEALTH_OK)
		pcie_gpus_read(node, &(struct node_state){}, "");
	snprintf(counts, sizeof(counts), "%s/pcie", folder);
	if (corrected && node->link_count && (!mkdir(folder, 0700) || errno == EEXIST))
		pcie_links_count(node, counts, (double)monotonic_ns() / 1e9);
	node->clock_unsynchronised = adjtimex(&clock) == TIME_ERROR || clock.status & STA_UNSYNC;
	if (o->health.rules[HEALTH_MOUNT_HUNG].level == HEALTH_OK &&
	    o->health.rules[HEALTH_MOUNT_UNUSABLE].level == HEALTH_OK)
		return;
	for (size_t i = 0; i < o->mount_count; i++)
		node_mounts_add(node, o->mounts[i]);
	node_mounts_read_fstab(node, "/etc/fstab");
	if (node->mounts_left_out)
		log_warn(&o->log, "%zu NFS mounts of /etc/fstab are not checked: at most %d are",
			 node->mounts_left_out, NODE_MOUNTS_MAX);
	if (node->mount_count)
		node_mounts_ask(node, folder, limit < MAX_ASK_SECONDS ? limit : MAX_ASK_SECONDS);
}

static void evaluate_text(struct result *v, const struct options *o, const struct file_text *file,
			  double now)
{
	struct health_options health = o->health;
	struct ack_list acks = {};
	struct node_state node;
	struct snapshot s = {};
	char error[512];

	if (o->ack && ack_load(&acks, o->ack, error, sizeof(error))) {
		set_unknown(v, "the acknowledgements: %s", error);
		return;
	}
	if (metrics_file_parse(&s, file->bytes, file->len, error, sizeof(error))) {
		set_unknown(v, "%s: %s", o->file, error);
	} else {
		look_at_node(&node, o);
		health.acks = &acks;
		health.node = &node;
		/* What a person reads, not a monitoring system. */
		health.local_times =
			!o->json &&
			(o->explain || (o->style == CHECK_NAGIOS && isatty(STDOUT_FILENO)));
		health_evaluate(&s, &health, now, &v->report);
		v->exit = (enum check_exit)v->report.level;
		add_figures(v, &s);
	}
	snapshot_free(&s);
	ack_free(&acks);
}

static void evaluate(struct result *v, const struct options *o)
{
	double now = wall_seconds();
	FILE_TEXT file = {};
	int err;

	*v = (struct result){ .age = NAN };
	err = file_text_read_no_link(&file, o->file, METRICS_FILE_MAX_BYTES);
	if (err) {
		set_unknown(v,
			    "cannot read %s: %s; is 'xidscope run' running, and is this its file?",
			    o->file, file_text_error(err));
		return;
	}
	v->age = now - file.modified;
	if (v->age < 0 && v->age >= -CLOCK_SLACK_SECONDS)
		v->age = 0;
	if (!metrics_file_is(file.bytes, file.len))
		set_unknown(v,
			    "%s is no metrics file of xidscope: name the one that 'xidscope run' "
			    "writes by --file",
			    o->file);
	else if (v->age < 0)
		set_unknown(v,
			    "%s is from the future, by %.0f s: the clock was put back since it was "
			    "written; check that 'xidscope run' is running, and the clocks of this "
			    "node and of the file's server",
			    o->file, -v->age);
	else if (v->age > o->max_age)
		set_unknown(v,
			    "%s is %.0f s old: check that 'xidscope run' is "
			    "running and can write it",
			    o->file, v->age);
	else
		evaluate_text(v, o, &file, now);
}

/* ---- output for each caller ---- */

/* Replaces bars: to Nagios a bar begins the performance data. */
static void print_without_bar(const char *text)
{
	for (; *text; text++)
		putchar(*text == '|' ? '/' : *text);
}

/* label=value[unit];warning;critical */
static void print_performance(const struct result *v, const struct options *o)
{
	double limit = o->health.rules[HEALTH_NFS_WAITER].limit;

	printf(" | xids=%" PRIu64 " oldest_waiter=%.1fs", v->xids, v->oldest_waiter);
	switch (o->health.rules[HEALTH_NFS_WAITER].level) {
	case HEALTH_WARN:
		printf(";%g", limit);
		break;
	case HEALTH_FAIL:
		printf(";;%g", limit);
		break;
	case HEALTH_OK:
		break;
	}
}

/* The worst finding on the first line, and a line for each other one. */
static void print_nagios(const struct result *v, const struct options *o)
{
	const struct health_report *r = &v->report;

	printf("XIDSCOPE %s: ", names[v->exit]);
	if (v->exit == CHECK_UNKNOWN) {
		print_without_bar(v->trouble);
		putchar('\n');
		return;
	}
	print_without_bar(r->count ? r->findings[0].reason : "no open fault");
	if (r->total > 1)
		printf(" (%zu more)", r->total - 1);
	print_performance(v, o);
	putchar('\n');
	for (size_t i = 1; i < r->count; i++) {
		printf("%s: ", names[r->findings[i].level]);
		print_without_bar(r->findings[i].reason);
		putchar('\n');
	}
}

/* The reason for draining the node, of which `sinfo -R` shows the first 20 characters. By
 * what stands in brackets a later check knows its own drains. "": there is none. */
static void drain_reason(const struct result *v, char *to, size_t size)
{
	const struct health_report *r = &v->report;
	const struct health_finding *f = r->findings;
	size_t count = r->total;
	char more[32] = "";

	*to = 0;
	if (v->exit == CHECK_UNKNOWN || !r->count)
		return;
	if (v->exit == CHECK_CRITICAL)
		for (count = 0; count < r->count && f[count].level == HEALTH_FAIL;)
			count++;
	if (count > 1)
		snprintf(more, sizeof(more), " (%zu more)", count - 1);
	safe_format(to, size, "%s [xidscope %s] %s%s", f->head, health_level_names[f->level],
		    f->reason, more);
}

static void print_slurm(const struct result *v)
{
	char reason[REASON_SIZE];

	if (v->exit == CHECK_UNKNOWN)
		safe_line(stderr, "xidscope: %s", v->trouble);
	drain_reason(v, reason, sizeof(reason));
	if (*reason)
		puts(reason);
}

/* One line of at most 80 bytes. */
static void print_npd(const struct result *v)
{
	char line[81];

	safe_format(line, sizeof(line), "%s",
		    v->exit == CHECK_UNKNOWN ? v->trouble :
		    v->report.count          ? v->report.findings[0].brief :
					       "no open fault");
	puts(line);
}

/* The command that acknowledges it. What is not named by an address, as a server, a mount or a switch, can be only
 * with all others. A state goes on, so nothing but a snooze ends it. */
static void ack_command(const struct health_finding *f, char *text, size_t size)
{
	struct span device = span_of(f->device);
	struct ack ignored;

	safe_format(text, size, "xidscope ack %s %s%s",
		    ack_read_device(device, &ignored) ? f->device : "'*'", f->what,
		    f->count ? "" : " --until TIME");
}

/* Members that are not known are left out. */
static void print_finding(struct json *j, const struct health_finding *f)
{
	char command[128];

	json_object(j, NULL);
	json_text(j, "rule", health_rules[f->rule].name);
	json_text(j, "level", health_level_names[f->level]);
	json_known(j, "device", f->device);
	if (f->code)
		json_unsigned(j, f->nvswitch ? "sxid" : "xid", f->code);
	json_text(j, "what", f->what);
	if (f->count)
		json_unsigned(j, "count", f->count);
	if (f->first > 0)
		json_whole_seconds(j, "first", f->first);
	if (f->last > 0)
		json_whole_seconds(j, "last", f->last);
	json_known(j, "action", f->action);
	json_text(j, "reason", f->reason);
	json_text(j, "brief", f->brief);
	json_text(j, "clears", health_rules[f->rule].clears);
	ack_command(f, command, sizeof(command));
	json_text(j, "acknowledge", command);
	json_object_end(j);
}

static void print_json(const struct result *v, const struct options *o, int code)
{
	static const char *const words[] = {
		[CHECK_OK] = "ok",
		[CHECK_WARNING] = "warning",
		[CHECK_CRITICAL] = "critical",
		[CHECK_UNKNOWN] = "unknown",
	};
	const struct health_report *r = &v->report;
	struct json j = { .out = stdout };
	char reason[REASON_SIZE];

	drain_reason(v, reason, sizeof(reason));
	json_object(&j, NULL);
	json_text(&j, "health", words[v->exit]);
	json_signed(&j, "exit_code", code);
	json_text(&j, "file", o->file);
	if (!isnan(v->age))
		json_fraction(&j, "age_seconds", v->age, 3);
	if (v->exit == CHECK_UNKNOWN) {
		json_text(&j, "trouble", v->trouble);
	} else {
		json_unsigned(&j, "xids", v->xids);
		json_fraction(&j, "oldest_waiter_seconds", v->oldest_waiter, 3);
		json_text(&j, "drain_reason", reason);
	}
	json_array(&j, "findings");
	for (size_t i = 0; i < r->count; i++)
		print_finding(&j, &r->findings[i]);
	json_array_end(&j);
	json_unsigned(&j, "left_out", r->total - r->count);
	json_object_end(&j);
	putchar('\n');
}

/* ---- for people ---- */

static void explain_time(const char *name, double seconds)
{
	char text[TIME_LOCAL_SIZE];

	printf("  %s%s\n", name, seconds > 0 ? time_to_local(text, seconds) : "not known");
}

/* For each finding its evidence, when it began and what ends it. */
static void print_explained(const struct result *v)
{
	const struct health_report *r = &v->report;
	char command[128];

	printf("%s: ", names[v->exit]);
	if (v->exit == CHECK_UNKNOWN)
		puts(v->trouble);
	else
		printf("%zu finding%s\n", r->total, r->total == 1 ? "" : "s");
	ARRAY_EACH(f, r->findings, r->count) {
		putchar('\n');
		terminal_line(stdout, 2, "%s: %s", names[f->level], f->reason);
		terminal_line(stdout, 12, "  rule      %s: %s", health_rules[f->rule].name,
			      health_rules[f->rule].help);
		if (f->count)
			printf("  evidence  %" PRIu64 " of %s on %s, action %s\n", f->count,
			       f->what, f->device, *f->action ? f->action : "none");
		else
			puts("  evidence  the present state");
		explain_time("began     ", f->first);
		if (f->count)
			explain_time("last      ", f->last);
		terminal_line(stdout, 12, "  cleared   by: %s", health_rules[f->rule].clears);
		ack_command(f, command, sizeof(command));
		printf("  to acknowledge it: %s\n", command);
	}
	if (r->total > r->count)
		printf("\nand %zu more\n", r->total - r->count);
}

/* A line per rule, fields separated by tabs; or JSON. */
static int list_rules(bool json)
{
	struct json j = { .out = stdout };

	if (json)
		json_array(&j, NULL);
	ARRAY_EACH(r, health_rules, HEALTH_RULES) {
		if (!json) {
			printf("%s\t%s\t", r->name, health_level_names[r->level]);
			if (*r->unit)
				printf("%g", r->limit);
			printf("\t%s\t%s\n", r->unit, r->help);
			continue;
		}
		json_object(&j, NULL);
		json_text(&j, "rule", r->name);
		json_text(&j, "level", health_level_names[r->level]);
		if (*r->unit) {
			json_fraction(&j, "limit", r->limit, 0);
			json_text(&j, "unit", r->unit);
		}
		json_text(&j, "help", r->help);
		json_text(&j, "clears", r->clears);
		json_object_end(&j);
	}
	if (json) {
		json_array_end(&j);
		putchar('\n');
	}
	return CHECK_OK;
}

/* The exit code of @result in this style. Slurm drains a node whose prolog fails, so there only a failure is one. */
static int exit_code(enum check_exit result, enum check_style style)
{
	if (style == CHECK_SLURM)
		return result == CHECK_CRITICAL ? CHECK_CRITICAL : CHECK_OK;
	if (style != CHECK_NPD)
		return result;
	return result == CHECK_UNKNOWN  ? NPD_UNKNOWN :
	       result == CHECK_CRITICAL ? NPD_PROBLEM :
					  NPD_OK;
}

/* Whether the agent works, whatever the node's state is: for liveness probes. */
static int check_heartbeat(const struct options *o)
{
	double age;
	int err = heartbeat_age(o->heartbeat, &age);

	if (err)
		safe_line(stdout, "unknown: %s: %s; is 'xidscope run --heartbeat' running?",
			  o->heartbeat,
			  err == -ENODATA ? "no heartbeat since boot" : file_text_error(err));
	else
		printf("%s: the agent's last heartbeat was %.0f s ago\n",
		       age > o->max_age ? "stuck" : "alive", age);
	return exit_code(!err && age <= o->max_age ? CHECK_OK : CHECK_UNKNOWN,
			 o->style == CHECK_NPD ? CHECK_NPD : CHECK_NAGIOS);
}

int cmd_check(const struct options *o)
{
	struct result v;
	int code;

	if (o->list_rules)
		return list_rules(o->json);
	if (o->heartbeat)
		return check_heartbeat(o);
	evaluate(&v, o);
	code = exit_code(v.exit, o->style);
	if (o->json)
		print_json(&v, o, code);
	else if (o->explain)
		print_explained(&v);
	else if (o->style == CHECK_SLURM)
		print_slurm(&v);
	else if (o->style == CHECK_NPD)
		print_npd(&v);
	else
		print_nagios(&v, o);
	return code;
}
