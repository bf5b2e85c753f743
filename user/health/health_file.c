// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The health file.
 *
 * The agent alone judges the node's health. All others, which are Slurm's script, node-problem-detector's plugin, Nagios
 * and people, read what it found. There is one evaluation by one set of rules: when a site changes a rule of the agent,
 * everything follows.
 *
 * The file is one JSON object:
 *
 * 	{"format":"xidscope health 1","time":"2026-11-21T10:00:03Z","boot":"6d1c...","monotonic_seconds":8123.250,
 * 	 "source":"btf","output":"/var/lib/...","level":"fail","xids":2,"oldest_waiter_seconds":0.000,
 * 	 "servers":[{"server":"nas-1","bound_by":"slot"}],
 * 	 "rules":[{"rule":"xid_fatal","setting":"fail","level":"fail","open":1},
 * 	          {"rule":"nfs_waiter","setting":"warn","limit":60,"level":"ok","open":0}, ...],
 * 	 "findings":[{"rule":"xid_fatal","level":"fail","state":"open","device":"0000:c1:00.0","xid":79, ...}],
 * 	 "faults":[{"state":"open","kind":"xid","fault":"79","device":"0000:c1:00.0", ...}],
 * 	 "gpus":[{"device":"0000:c1:00.0","uuid":"GPU-..."}]}
 *
 * - `rules` has each rule with its setting and its result. A reader that ignores a rule takes the worst result of the others.
 * - `findings` has at most 32 of what the rules find: open ones first, the worst first, then those that are acknowledged or
 *   snoozed.
 * - `faults` has all faults since the boot, whether a rule finds them or not.
 *
 * The age is the difference of CLOCK_MONOTONIC in the same boot. Neither the time of the file, which a file server may
 * give, nor the wall clock, which may be set, counts. A file of another boot says nothing of this one.
 *
 * A reader skips members that it does not know and takes missing ones as unknown. Anything else is refused: a file that
 * is cut is no JSON text. Only commands that list faults read `faults`. */
#include "health/health_file.h"

#include <math.h>

#include "base/clock.h"
#include "base/pci_address.h"
#include "base/time_text.h"

#define NOT_RUNNING "check that 'xidscope run' is running"

/* ---- writing ---- */

static const char *const level_names[] = { "ok", "warn", "fail" };

static void write_rules(struct json *j, const struct health_content *c)
{
	JSON_ROWS(j, "rules", rule, health_rules, HEALTH_RULES, true) {
		size_t r = (size_t)(rule - health_rules);

		json_text(j, "rule", rule->name);
		json_text(j, "setting", health_level_names[c->options->rules[r].level]);
		if (*rule->unit)
			json_fraction(j, "limit", c->options->rules[r].limit, 3);
		json_text(j, "level", level_names[c->report->rules[r]]);
		json_unsigned(j, "open", c->report->open[r]);
	}
}

/* The command that acknowledges the finding. A device without an address, such as a server or a mount, can be acknowledged only
 * together with all others. A state continues, therefore only a snooze acknowledges it. */
static void write_command(struct json *j, const struct health_finding *f)
{
	struct ack ignored;
	char text[128];

	safe_format(text, sizeof(text), "xidscope ack %s %s%s",
		    ack_read_device(span_of(f->device), &ignored) ? f->device : "'*'", f->what,
		    f->count ? "" : " --until TIME");
	json_text(j, "acknowledge", text);
}

static void write_finding(struct json *j, const struct health_finding *f)
{
	json_text(j, "rule", health_rules[f->rule].name);
	json_text(j, "level", level_names[f->level]);
	json_text(j, "state", fault_standing_names[f->standing]);
	json_known(j, "device", f->device);
	if (f->code)
		json_unsigned(j, f->nvswitch ? "sxid" : "xid", f->code);
	json_text(j, "what", f->what);
	if (f->count)
		json_unsigned(j, "count", f->count);
	if (f->first > 0)
		json_text(j, "first", UTC_TIME(f->first));
	if (f->last > 0)
		json_text(j, "last", UTC_TIME(f->last));
	json_known(j, "action", f->action);
	json_text(j, "head", f->head);
	json_text(j, "reason", f->reason);
	json_text(j, "clears", health_rules[f->rule].clears);
	write_command(j, f);
}

/* Each server with what limited its calls in the last interval. */
static void write_servers(struct json *j, const struct snapshot *s)
{
	JSON_ROWS(j, "servers", v, s->calls.servers, s->calls.server_count, true) {
		json_text(j, "server", v->server);
		json_text(j, "bound_by", v->bound_by ? v->bound_by : "none");
	}
}

/* The UUID is a text of the driver's, which `ack` puts into its file: anything else could be a whole entry. */
static void write_gpus(struct json *j, const struct snapshot *s)
{
	JSON_ROWS(j, "gpus", g, s->faults.gpus, s->faults.gpu_count,
		  is_gpu_uuid(span_of(g->uuid))) {
		json_text(j, "device", g->gpu);
		json_text(j, "uuid", g->uuid);
	}
}

void health_file_write(FILE *out, const struct health_content *c)
{
	struct json j = { .out = out };
	uint64_t xids = 0, oldest = 0;
	size_t count;
	FREED struct known_fault *faults = health_list(c->s, c->options, wall_seconds(), &count);

	ARRAY_EACH(f, c->s->faults.faults, c->s->faults.fault_count)
		if (!f->nvswitch)
			xids += f->count;
	ARRAY_EACH(v, c->s->calls.servers, c->s->calls.server_count)
		RAISE(oldest, v->oldest_ns[server_oldest(v)]);
	json_object(&j, NULL);
	json_text(&j, "format", HEALTH_FILE_FORMAT);
	json_text(&j, "time", UTC_TIME(wall_seconds()));
	json_text(&j, "boot", boot_id());
	json_fraction(&j, "monotonic_seconds", (double)monotonic_ns() / 1e9, 3);
	json_text(&j, "source", rpc_source_names[c->s->calls.source]);
	json_text(&j, "output", c->output);
	json_text(&j, "level", c->trouble ? "unknown" : level_names[c->report->level]);
	json_known(&j, "headline", c->headline ? c->headline : "");
	if (c->trouble)
		json_text(&j, "trouble", c->trouble);
	json_unsigned(&j, "xids", xids);
	json_fraction(&j, "oldest_waiter_seconds", (double)oldest / 1e9, 3);
	write_servers(&j, c->s);
	write_rules(&j, c);
	JSON_ROWS(&j, "findings", f, c->report->findings, c->report->listed, true)
		write_finding(&j, f);
	known_faults_write(&j, faults, count);
	write_gpus(&j, c->s);
	json_end(&j);
}

/* ---- reading ---- */

struct member {
	const char *name;
	enum { MEMBER_TEXT, MEMBER_NUMBER, MEMBER_TIME, MEMBER_LIST, MEMBER_LATER } type;
	size_t offset;
};

static const struct member item_members[] = {
#define TABLE_ROW(name, type, to) { name, MEMBER_##type, offsetof(struct health_item, to) },
#include "item_members.inc"
};
static const struct member file_members[] = {
#define TABLE_ROW(name, type, to) { name, MEMBER_##type, offsetof(struct health_file, to) },
#include "file_members.inc"
};

/* Where the members of one object go. */
struct target {
	struct health_file *file;
	const struct member *members;
	size_t count;
	void *to;
	struct health_list *list; /* of an array: what takes its elements */
	bool failed;
};

/* The agent's texts have no control bytes; a reader does not depend on that. */
static const char *decode_text(struct health_file *f, struct span value)
{
	char *text = f->next;
	struct span inside;

	if (!json_inside(value, &inside))
		return "";
	/* None is longer than it is in the file. */
	json_decode(inside, text, span_left(inside) + 1);
	for (; *f->next; f->next++)
		if ((unsigned char)*f->next < ' ' || *f->next == 0x7f)
			*f->next = '?';
	f->next++;
	return text;
}

static void read_item(void *context, struct span name, struct span value);

static void read_member(void *context, struct span name, struct span value)
{
	struct target *t = context, list = { .file = t->file };
	const struct member *m = ARRAY_FIND(x, t->members, t->count, span_is(name, x->name));
	void *to = m ? (char *)t->to + m->offset : NULL;

	if (!m)
		return;
	switch (m->type) {
	case MEMBER_TEXT:
		*(const char **)to = decode_text(t->file, value);
		break;
	case MEMBER_NUMBER:
		if (!json_read_number(value, to))
			*(double *)to = NAN;
		break;
	case MEMBER_TIME:
		if (!time_from_text(decode_text(t->file, value), to))
			*(double *)to = NAN;
		break;
	case MEMBER_LIST:
		list.list = to;
		t->failed |= !json_read(value, read_item, &list) || list.failed;
		break;
	case MEMBER_LATER:
		*(struct span *)to = value;
		break;
	}
}

/* Reads the object @value. False: it is none, or there is no memory. */
static bool read_object(struct health_file *f, const struct member *members, size_t count, void *to,
			struct span value)
{
	struct target t = { f, members, count, to, NULL, false };

	for (size_t i = 0; i < count; i++)
		if (members[i].type == MEMBER_TEXT)
			*(const char **)((char *)to + members[i].offset) = "";
		else if (members[i].type < MEMBER_LIST)
			*(double *)((char *)to + members[i].offset) = NAN;
	return span_left(value) && *value.at == '{' && json_read(value, read_member, &t) &&
	       !t.failed;
}

static void read_item(void *context, struct span name, struct span value)
{
	struct target *t = context;
	struct health_item *item = ARRAY_APPEND(t->list->items, t->list->count);

	(void)name;
	item->json = value;
	t->failed |= !read_object(t->file, item_members, COUNT(item_members), item, value);
}

static bool read_faults(struct health_file *f)
{
	struct target list = { .file = f, .list = &f->faults };

	return !span_left(f->faults_text) ||
	       (json_read(f->faults_text, read_item, &list) && !list.failed);
}

const char *health_file_parse(struct health_file *f, struct file_text text, const char *boot,
			      uint64_t now_ns, bool faults)
{
	uint64_t failed = memory_failed();
	bool whole;

	*f = (struct health_file){ .text = text, .decoded = malloc(text.len + 1) };
	f->next = f->decoded;
	whole = f->decoded &&
		read_object(f, file_members, COUNT(file_members), f, file_text_span(&text)) &&
		(!faults || read_faults(f));
	if (!f->decoded || memory_error(failed))
		return "no memory";
	if (!whole)
		return "it is damaged, or no health file of xidscope";
	if (strcmp(f->format, HEALTH_FILE_FORMAT) != 0)
		return "it is no health file of this version of xidscope";
	if (!f->rules.count)
		return "it has no rules";
	if (strcmp(f->boot, boot) != 0 || !(f->monotonic <= (double)now_ns / 1e9 + 1))
		return "it is of another boot: " NOT_RUNNING;
	/* The time is rounded in the file. */
	f->age = fmax(0, (double)now_ns / 1e9 - f->monotonic);
	return NULL;
}

bool health_file_read(struct health_file *f, const char *path, double max_age, bool faults)
{
	struct file_text text;
	int err = file_text_read_own(&text, path, HEALTH_FILE_MAX_BYTES);
	const char *wrong = err ? file_text_error(err) :
				  health_file_parse(f, text, boot_id(), monotonic_ns(), faults);

	if (err)
		*f = (struct health_file){ .age = NAN };
	if (wrong)
		safe_format(f->error, sizeof(f->error), "cannot read %s: %s%s", path, wrong,
			    err == -ENOENT ? ": " NOT_RUNNING ", and writes this file" : "");
	else if (f->age > max_age)
		safe_format(f->error, sizeof(f->error), "%s is %.0f s old: " NOT_RUNNING, path,
			    f->age);
	return !*f->error;
}

void health_list_write(struct json *j, const char *name, const struct health_list *list)
{
	json_array(j, name);
	ARRAY_EACH(item, list->items, list->count) {
		json_newline(j);
		json_raw(j, NULL, item->json.at, span_left(item->json));
	}
	json_array_end(j);
}

void health_file_free(struct health_file *f)
{
	free(f->rules.items);
	free(f->servers.items);
	free(f->findings.items);
	free(f->faults.items);
	free(f->gpus.items);
	free(f->decoded);
	file_text_free(&f->text);
	*f = (struct health_file){};
}
