// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that what the rules find survives the way through the health file, that a reader skips what it does not know and
 * takes what is missing as unknown, and that a file which is cut, of another boot or of another format is refused. */
#include <math.h>

#include "printed.h"
#include "base/clock.h"
#include "health/health_file.h"
#include "snapshot.h"

#define GPU "0000:c1:00.0"
#define UUID "GPU-11111111-2222-3333-4444-555555555555"

static struct health_options o;
static struct health_report report;
static struct health_file file;
static const char *wrong;
static char boot[64];

BEFORE_EACH()
{
	health_defaults(&o);
	file_first_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
}

AFTER_EACH()
{
	health_file_free(&file);
}

/* Writes @now as @text, with an acknowledgement of all SXids. */
static void write_text(const char *trouble)
{
	struct ack ack = { "*", "sxid:20034", wall_seconds() + 60, true };
	struct ack_list acks = { &ack, 1 };
	FILE *out = text_begin();

	o.acks = &acks;
	health_evaluate(&now, &o, wall_seconds(), &report);
	health_file_write(
		out, &(struct health_content){ &now, &o, &report, "All is well.", "-", trouble });
	text_end(out);
}

static bool faults_wanted = true;

static bool parses(const char *json, size_t len)
{
	struct file_text copy = { strndup(json, len), len };

	health_file_free(&file);
	wrong = health_file_parse(&file, copy, boot, monotonic_ns(), faults_wanted);
	return !wrong;
}

static void refuses(const char *json, const char *reason)
{
	assert_false(parses(json, strlen(json)));
	assert_has(wrong, reason);
}

static void fill(void)
{
	struct fault xid = { GPU, .code = 79, .severity = "fatal", .action = "restart_bm" };
	struct fault sxid = { GPU, .code = 20034, .nvswitch = true, .severity = "fatal" };

	snapshot_fault(&now.faults, &xid)->count = 2;
	now.faults.faults[0].last = 1795255200;
	snapshot_fault(&now.faults, &sxid)->count = 1;
	now.faults.faults[1].last = 1795255200;
	strcpy(snapshot_gpu(&now.faults, GPU)->uuid, UUID);
	snapshot_server(&now.calls, "q\"uo\\te\xc3\xa9")->oldest_ns[RPC_QUEUE_PENDING] =
		75500000000;
	now.calls.source = RPC_SOURCE_BTF;
}

TEST(findings_survive)
{
	const struct health_item *x;

	fill();
	write_text(NULL);
	assert_true(parses(text, text_len));
	assert_printed("btf 2 75.5 ''", "%s %g %g '%s'", file.source, file.xids, file.oldest_waiter,
		       file.trouble);
	assert_true(file.age >= 0 && file.age < 60);
	assert_int_equal(file.rules.count, HEALTH_RULES);
	x = file.rules.items;
	assert_printed("xid_fatal fail fail 1 nan", "%s %s %s %g %g", x->rule, x->setting, x->level,
		       x->open, x->limit);
	x = &file.rules.items[HEALTH_NFS_WAITER];
	assert_printed("nfs_waiter warn warn 1 60", "%s %s %s %g %g", x->rule, x->setting, x->level,
		       x->open, x->limit);
	assert_int_equal(file.findings.count, 3);
	x = file.findings.items;
	assert_printed("xid_fatal fail open " GPU " 79 2 1795255200 restart_bm Xid 79 c1:00.0",
		       "%s %s %s %s %s %g %.10g %s %s", x->rule, x->level, x->state, x->device,
		       x->what, x->count, x->last, x->action, x->head);
	assert_true(isnan(x->first));
	assert_string_equal(x->acknowledge, "xidscope ack " GPU " 79");
	assert_string_equal(x->reason, report.findings[0].reason);
	assert_string_equal(x[1].device, "q\"uo\\te\xc3\xa9");
	assert_string_equal(x[1].acknowledge, "xidscope ack '*' nfs_waiter --until TIME");
	assert_printed("sxid_fatal snoozed", "%s %s", x[2].rule, x[2].state);
	x = file.faults.items;
	assert_int_equal(file.faults.count, 2);
	assert_printed("open xid 79 fatal, snoozed sxid sxid:20034", "%s %s %s %s, %s %s %s",
		       x->state, x->kind, x->what, x->severity, x[1].state, x[1].kind, x[1].what);
	assert_int_equal(file.gpus.count, 1);
	assert_printed(GPU " " UUID, "%s %s", file.gpus.items->device, file.gpus.items->uuid);
	write_text("why");
	assert_true(parses(text, text_len));
	assert_string_equal(file.trouble, "why");
}

TEST(faults_are_read_where_they_are_wanted)
{
	fill();
	write_text(NULL);
	strcpy(strstr(text, "\"faults\":["), "\"faults\":[7]}");
	assert_false(parses(text, strlen(text)));
	faults_wanted = false;
	assert_true(parses(text, strlen(text)));
	faults_wanted = true;
	assert_int_equal(file.faults.count, 0);
	assert_int_equal(file.findings.count, 3);
}

TEST(what_is_not_a_uuid_is_not_written)
{
	strcpy(snapshot_gpu(&now.faults, GPU)->uuid, "GPU-x * 2026-11-21");
	write_text(NULL);
	assert_true(parses(text, text_len));
	assert_int_equal(file.gpus.count, 0);
}

TEST(a_file_that_is_cut_is_refused)
{
	fill();
	write_text(NULL);
	for (size_t len = 0; len < text_len - 1; len++)
		if (parses(text, len))
			fail_msg("%zu of %zu bytes are taken for a file", len, text_len);
	assert_true(parses(text, text_len - 1)); /* without the newline alone */
}

static const char *made_up(const char *format, const char *members)
{
	static char json[512];

	snprintf(json, sizeof(json),
		 "{\"format\":\"%s\",\"boot\":\"%s\",\"monotonic_seconds\":1%s}", format, boot,
		 members);
	return json;
}

#define RULE ",\"rules\":[{\"rule\":\"x\",\"level\":\"ok\"}]"

TEST(unknown_members_are_skipped_and_missing_ones_unknown)
{
	const char *json = made_up(HEALTH_FILE_FORMAT,
				   RULE ",\"new\":{\"rules\":[1]},\"xids\":\"many\","
					"\"findings\":[{\"rule\":\"x\",\"colour\":[{}],\"last\":7,"
					"\"reason\":\"a\\nb\"}]");

	assert_true(parses(json, strlen(json)));
	assert_true(isnan(file.xids) && isnan(file.oldest_waiter));
	assert_printed("'' x '' a?b 1", "'%s' %s '%s' %s %d", file.source,
		       file.findings.items->rule, file.findings.items->level,
		       file.findings.items->reason, isnan(file.findings.items->last));
}

TEST(anything_else_is_refused)
{
	char other[512];

	refuses("", "damaged");
	refuses("[]", "damaged");
	refuses("\"x\"", "damaged");
	refuses("{}", "no health file of this version");
	refuses(made_up("xidscope health 2", RULE), "no health file of this version");
	refuses(made_up(HEALTH_FILE_FORMAT, ""), "it has no rules");
	refuses(made_up(HEALTH_FILE_FORMAT, ",\"rules\":[1]"), "damaged");
	refuses(made_up(HEALTH_FILE_FORMAT, ",\"rules\":7"), "damaged");
	refuses(made_up(HEALTH_FILE_FORMAT, RULE ",\"monotonic_seconds\":1e12"), "another boot");
	refuses(made_up(HEALTH_FILE_FORMAT, RULE ",\"monotonic_seconds\":\"now\""), "another boot");
	snprintf(other, sizeof(other), "%s", made_up(HEALTH_FILE_FORMAT, RULE));
	strcpy(boot, "another");
	refuses(other, "another boot");
}
