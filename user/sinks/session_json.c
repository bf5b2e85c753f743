// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A session as JSON. */
#include "sinks/report.h"

#include "base/json.h"

static void write_phases(struct json *j, const uint64_t *phase_ns)
{
	json_object(j, "phases");
	for (int p = 0; p < RPC_PHASES; p++)
		json_nanoseconds(j, rpc_phase_names[p], phase_ns[p]);
	json_object_end(j);
}

static void write_shares(struct json *j, const double *share)
{
	json_object(j, "shares");
	for (int p = 0; p < RPC_PHASES; p++)
		json_fraction(j, rpc_phase_names[p], share[p], 4);
	json_object_end(j);
}

/* ---- verdict ---- */

static void write_load(struct json *j, const char *name, const struct verdict_load *load)
{
	json_object(j, name);
	json_unsigned(j, "calls", load->calls);
	json_fraction(j, "in_flight", load->in_flight, 2);
	json_fraction(j, "rtt_seconds", load->rtt_ns / 1e9, 9);
	json_object_end(j);
}

static void write_numbers(struct json *j, const struct verdict_numbers *n)
{
	json_object(j, "numbers");
#define TABLE_ROW(name, type, member, unit, digits, value) \
	json_fraction(j, name, (double)n->member / (unit), digits);
#include "verdict_numbers.inc"
	write_shares(j, n->share);
	json_object(j, "saturated_shares");
	for (int l = 0; l < RPC_LIMITS; l++)
		json_fraction(j, rpc_limit_names[l], n->saturated_share[l], 4);
	json_object_end(j);
	write_load(j, "low", &n->low);
	write_load(j, "high", &n->high);
	json_object_end(j);
}

static void write_verdict(struct json *j, const struct verdict *v)
{
	char text[ADVICE_SIZE];

	json_object(j, "verdict");
	json_text(j, "bound_by", bound_names[v->bound_by]);
	json_text(j, "confidence", confidence_names[v->confidence]);
	json_fraction(j, "gain_expected", v->gain_expected, 3);
	json_fraction(j, "gain_at_most", v->gain_at_most, 3);
	json_text(j, "setting", v->setting);
	json_text(j, "value", v->value);
	json_text(j, "mountpoint", v->mountpoint);
	json_bool(j, "remount", v->remount);
	json_text(j, "sentence", v->sentence);
	json_text(j, "advice", advice_text(text, v));
	write_numbers(j, &v->numbers);
	json_object_end(j);
}

/* ---- servers ---- */

/* Pairs of a bucket's number and its count. */
static void write_buckets(struct json *j, const char *name, const struct time_histogram *h)
{
	json_array(j, name);
	for (uint64_t b = 0; b < TIME_BUCKETS; b++) {
		if (!h->bucket[b])
			continue;
		json_array(j, NULL);
		json_unsigned(j, NULL, b);
		json_unsigned(j, NULL, h->bucket[b]);
		json_array_end(j);
	}
	json_array_end(j);
}

/* For a value above all bounds: the last bound. */
static void write_quantile(struct json *j, const char *name, const struct time_histogram *h,
			   double q)
{
	uint64_t ns = time_histogram_quantile(h, q);

	json_nanoseconds(j, name,
			 ns == UINT64_MAX ? histogram_bound(TIME_OVERFLOW - 1, TIME_SHIFT) : ns);
}

static void write_times(struct json *j, const struct snapshot *s, const struct time_histogram *h)
{
	uint64_t calls = time_histogram_count(h);

	json_unsigned(j, "calls", calls);
	json_nanoseconds(j, "seconds", h->sum_ns);
	json_nanoseconds(j, "mean", calls ? h->sum_ns / calls : 0);
	if (!snapshot_knows(&s->calls, RPC_FACT_DISTRIBUTION))
		return;
	write_quantile(j, "p50", h, 0.5);
	write_quantile(j, "p90", h, 0.9);
	write_quantile(j, "p99", h, 0.99);
	write_quantile(j, "max", h, 1);
	write_buckets(j, "buckets", h);
}

static void write_point(struct json *j, const struct session *t, const struct session_point *p)
{
	write_times(j, &t->last, &p->total);
	json_unsigned(j, "sent_bytes", p->sent_bytes);
	json_unsigned(j, "received_bytes", p->received_bytes);
	write_phases(j, p->phase_ns);
}

static void write_ops(struct json *j, const struct session *t, const char *server)
{
	FREED const struct rpc_op **ops = NULL;
	size_t count = session_ops(t, server, &ops);

	JSON_ROWS(j, "ops", o, ops, count, true) {
		struct session_point p = {};

		session_add_op(&p, *o);
		json_text(j, "op", (*o)->op);
		write_point(j, t, &p);
	}
}

static void write_transports(struct json *j, const struct delta *d, const char *server)
{
	JSON_ROWS(j, "transports", t, d->calls.transports, d->calls.transport_count,
		  !strcmp(t->server, server)) {
		json_text(j, "name", t->name);
		json_text(j, "protocol", t->protocol);
		json_text(j, "local", ENDPOINT(&t->local));
		json_text(j, "remote", ENDPOINT(&t->remote));
		json_unsigned(j, "slots", t->slots_max);
		json_unsigned(j, "in_flight", t->slots_in_flight);
		json_unsigned(j, "replies", t->replies);
		json_nanoseconds(j, "rtt_seconds", t->rtt_ns);
		json_nanoseconds(j, "oldest_seconds", t->oldest_ns);
		json_object(j, "saturated_seconds");
		for (int l = 0; l < RPC_LIMITS; l++)
			json_nanoseconds(j, rpc_limit_names[l], t->saturated_ns[l]);
		json_object_end(j);
	}
}

static void write_mounts(struct json *j, const struct snapshot *s, const char *server)
{
	JSON_ROWS(j, "mounts", m, s->calls.mounts, s->calls.mount_count,
		  !strcmp(m->server, server)) {
		json_text(j, "export", m->export);
		json_text(j, "mountpoint", m->mountpoint);
		json_text(j, "version", m->version);
	}
}

static void write_share(struct json *j, const char *name, uint64_t part, uint64_t all)
{
	json_fraction(j, name, all ? (double)part / (double)all : 0, 4);
}

/* No call sends nothing: then they are not known. */
static void write_bytes(struct json *j, uint64_t sent, uint64_t received)
{
	if (!sent)
		return;
	json_unsigned(j, "sent_bytes", sent);
	json_unsigned(j, "received_bytes", received);
}

static void write_kinds(struct json *j, const struct rpc_sums *sums)
{
	json_object(j, "kinds");
	for (int k = 0; k < RPC_KINDS; k++) {
		if (!sums->calls[k])
			continue;
		json_object(j, rpc_kind_names[k]);
		json_unsigned(j, "calls", sums->calls[k]);
		json_nanoseconds(j, "seconds", sums->total_ns[k]);
		write_bytes(j, sums->sent_bytes[k], sums->received_bytes[k]);
		json_unsigned(j, "errors", sums->errors[k]);
		json_object_end(j);
	}
	json_object_end(j);
}

static void write_parts(struct json *j, const struct session *t, const char *server,
			enum share_by by)
{
	static const char *const names[] = { "mount_calls", "owner_calls", "owner_mount_calls" };
	struct calls_share *shares, sum;
	size_t count = session_shares(t, server, by, &shares, &sum);

	JSON_ROWS(j, names[by], s, shares, count, true) {
		if (by != SHARE_BY_OWNER) {
			json_text(j, "export", s->of->export);
			json_text(j, "mountpoint", s->of->mountpoint);
		}
		if (by != SHARE_BY_MOUNT)
			json_text(j, "owner", s->of->owner);
		json_unsigned(j, "calls", s->calls);
		json_nanoseconds(j, "seconds", s->total_ns);
		write_bytes(j, s->sent_bytes, s->received_bytes);
		json_unsigned(j, "errors", s->errors);
		write_share(j, "held_share", s->held_ns, sum.held_ns);
		write_share(j, "waited_share", s->waited_ns, sum.waited_ns);
		write_phases(j, (const uint64_t *)s->of->sums.phase_ns);
		write_kinds(j, &s->of->sums);
	}
	free(shares);
}

/* ---- timelines: an array for each figure, with a value for each interval ---- */

#define COLUMN(j, t, number, name, write, value)                                        \
	do {                                                                            \
		json_array(j, name);                                                    \
		for (size_t i_ = 0; i_ < (t)->interval_count; i_++) {                   \
			const struct session_interval *i = &(t)->intervals[i_];         \
			const struct session_point *p =                                 \
				(number) < i->count ? &i->points[number] : &none_there; \
			write(j, NULL, value);                                          \
		}                                                                       \
		json_array_end(j);                                                      \
	} while (0)

static const struct session_point none_there;

static void write_timeline(struct json *j, const struct session *t, size_t number)
{
	json_object(j, "timeline");
	COLUMN(j, t, number, "calls", json_unsigned, p->calls);
	COLUMN(j, t, number, "sent_bytes", json_unsigned, p->sent_bytes);
	COLUMN(j, t, number, "received_bytes", json_unsigned, p->received_bytes);
	COLUMN(j, t, number, "call_seconds", json_nanoseconds, p->total.sum_ns);
	json_object(j, "phases");
	for (int phase = 0; phase < RPC_PHASES; phase++)
		COLUMN(j, t, number, rpc_phase_names[phase], json_nanoseconds, p->phase_ns[phase]);
	json_object_end(j);
	COLUMN(j, t, number, "in_flight", json_unsigned, p->in_flight);
	COLUMN(j, t, number, "slots", json_unsigned, p->slots);
	COLUMN(j, t, number, "saturated_seconds", json_nanoseconds, p->saturated_ns);
	COLUMN(j, t, number, "oldest_seconds", json_nanoseconds, p->oldest_ns);
#define COUNTS(name, ...) COLUMN(j, t, number, #name, json_unsigned, p->name);
	TRANSPORT_COUNTS(COUNTS)
	COLUMN(j, t, number, "errors", json_unsigned, p->errors);
	if (snapshot_knows(&t->last.calls, RPC_FACT_DISTRIBUTION))
		COLUMN(j, t, number, "buckets", write_buckets, &p->total);
	json_object_end(j);
}

/* The begin of each interval after that of the session, and its length. */
static void write_intervals(struct json *j, const struct session *t)
{
	uint64_t start_ns = 0;

	json_object(j, "intervals");
	json_array(j, "start");
	for (size_t i = 0; i < t->interval_count; i++) {
		json_nanoseconds(j, NULL, start_ns);
		start_ns += t->intervals[i].ns;
	}
	json_array_end(j);
	json_array(j, "seconds");
	for (size_t i = 0; i < t->interval_count; i++)
		json_nanoseconds(j, NULL, t->intervals[i].ns);
	json_array_end(j);
	json_object_end(j);
}

static void write_commands(struct json *j, const char *remedy)
{
	struct span lines = span_of(remedy ? remedy : ""), line;

	json_array(j, "commands");
	while (span_next_line(&lines, &line))
		json_bytes(j, NULL, line.at, span_left(line));
	json_array_end(j);
}

static void write_server(struct json *j, const struct session *t, const struct session_server *v)
{
	struct verdict verdict = verdict_of(&t->limits, v->name);

	json_row(j);
	json_text(j, "name", v->name);
	write_verdict(j, &verdict);
	write_commands(j, v->remedy);
	write_point(j, t, &v->sums);
#define COUNT_OF(name, ...) json_unsigned(j, #name, v->sums.name);
	TRANSPORT_COUNTS(COUNT_OF)
	json_unsigned(j, "errors", v->sums.errors);
	write_mounts(j, &t->last, v->name);
	for (int by = 0; by < SHARE_BYS; by++)
		write_parts(j, t, v->name, (enum share_by)by);
	write_transports(j, &t->total, v->name);
	write_ops(j, t, v->name);
	write_timeline(j, t, v->number);
	json_object_end(j);
}

/* ---- what happened ---- */

static void write_episodes(struct json *j, const struct session *t)
{
	JSON_ROWS(j, "episodes", e, t->episodes.list, t->episodes.count,
		  session_wants_server(t, e->server)) {
		json_text(j, "kind", episode_kind_names[e->kind]);
		json_text(j, "server", e->server);
		json_fraction(j, "start", session_wall(t, e->start_ns), 3);
		json_fraction(j, "seconds", e->seconds, 3);
		json_unsigned(j, "bytes", e->bytes);
		json_fraction(j, "mean_rate", e->mean_rate, 0);
		json_fraction(j, "peak_rate", e->peak_rate, 0);
		write_shares(j, e->share);
		json_text(j, "bound_by", bound_names[e->bound_by]);
	}
}

static void write_events(struct json *j, const struct session *t)
{
	JSON_ROWS(j, "events", e, t->events, t->event_count, true) {
		json_text(j, "kind", session_event_names[e->kind]);
		json_fraction(j, "time", e->time, 3);
		json_text(j, "name", e->name);
		if (e->kind == SESSION_FAULT) {
			json_unsigned(j, e->nvswitch ? "sxid" : "xid", e->code);
			json_text(j, "severity", e->what);
		}
		json_unsigned(j, "count", e->count);
		json_text(j, "text", EVENT_OF_SESSION(e));
	}
	json_unsigned(j, "events_left_out", t->events_left_out);
}

static void write_slow_calls(struct json *j, const struct session *t)
{
	JSON_ROWS(j, "slow_calls", c, t->slow, t->slow_count, true) {
		json_fraction(j, "end", c->time, 3);
		json_nanoseconds(j, "seconds", c->total_ns);
		json_text(j, "server", c->server);
		json_text(j, "op", c->op);
		json_text(j, "mount", c->mount);
		json_known(j, "file", c->file);
		json_known(j, "owner", c->owner);
		json_unsigned(j, "pid", c->pid);
		json_text(j, "comm", c->comm);
		json_unsigned(j, "status", c->status);
		write_phases(j, c->phase_ns);
	}
	json_unsigned(j, "slow_calls_in_all", t->slow_calls);
}

static void write_file_calls(struct json *j, const struct session *t, bool directory)
{
	struct file_calls rest = session_files_rest(t, directory);

	JSON_ROWS(j, directory ? "directories" : "files", f, t->last.calls.files,
		  t->last.calls.file_count, session_wants_file(t, f, directory)) {
		json_text(j, "op", f->op);
		json_text(j, "server", f->server);
		json_text(j, "mount", f->mount);
		json_text(j, "path", f->path);
		if (directory)
			json_unsigned(j, "files", f->files);
		json_unsigned(j, "calls", f->calls);
		json_unsigned(j, "bytes", f->bytes);
		json_nanoseconds(j, "seconds", f->total_ns);
		json_known(j, "owner", f->owner);
		json_unsigned(j, "pid", f->pid);
		json_text(j, "comm", f->comm);
	}
	json_object(j, directory ? "other_directories" : "other_files");
	json_unsigned(j, "calls", rest.calls);
	json_unsigned(j, "bytes", rest.bytes);
	json_nanoseconds(j, "seconds", rest.total_ns);
	json_object_end(j);
}

static void write_headline(struct json *j, const struct session *t)
{
	struct headline h;

	session_headline(t, &h);
	json_text(j, "headline", h.items[0].text);
	JSON_ROWS(j, "findings", item, h.items, h.count, true) {
		json_text(j, "level", headline_level_names[item->rank.level]);
		json_text(j, "kind", headline_kind_names[item->rank.kind]);
		json_known(j, "subject", item->subject);
		json_text(j, "text", item->text);
	}
}

static void write_losses(struct json *j, const struct snapshot *s)
{
	JSON_ROWS(j, "lost", d, s->self.drops, s->self.drop_count, d->count) {
		json_text(j, "reason", d->reason);
		json_unsigned(j, "count", d->count);
	}
}

void session_json_write(FILE *out, const struct session *t)
{
	struct json j = { .out = out };

	json_object(&j, NULL);
	json_unsigned(&j, "version", SESSION_JSON_VERSION);
	json_text(&j, "host", t->origin.host);
	json_text(&j, "kernel", t->origin.kernel);
	json_text(&j, "xidscope", t->origin.version);
	json_signed(&j, "utc_offset_seconds", t->origin.utc_offset);
	json_text(&j, "source", rpc_source_names[t->last.calls.source]);
	json_fraction(&j, "start", t->first.wall, 3);
	json_fraction(&j, "seconds", session_seconds(t), 3);
	json_known(&j, "not_observed", t->last.calls.rpc_missing);
	write_headline(&j, t);
	json_bool(&j, "gpu_faults_observed", t->last.faults.gpu_watched);
	json_unsigned(&j, "open_faults_before", session_open_before(t));
	json_array(&j, "servers");
	ARRAY_EACH(v, t->servers, t->server_count)
		write_server(&j, t, v);
	json_array_end(&j);
	json_newline(&j);
	write_episodes(&j, t);
	known_faults_write(&j, t->faults, t->fault_count);
	write_events(&j, t);
	write_slow_calls(&j, t);
	for (int d = 0; d < 2 && t->last.calls.file_count; d++)
		write_file_calls(&j, t, d);
	write_losses(&j, &t->last);
	json_newline(&j);
	json_array(&j, "bucket_bounds");
	for (uint32_t b = 0; b < TIME_OVERFLOW; b++)
		json_nanoseconds(&j, NULL, histogram_bound(b, TIME_SHIFT));
	json_array_end(&j);
	write_intervals(&j, t);
	json_end(&j);
}

/* ---- the page: the template with the JSON in it ---- */

/* build/gen/page.html, which the Makefile makes of user/sinks/page/: PAGE_TEMPLATE is its path. */
__asm__(".section once, \"a\"\n" /* see memory_drop_program() */
	"page_template:\n"
	".incbin \"" PAGE_TEMPLATE "\"\n"
	".byte 0\n"
	".previous\n");
extern const char page_template[];

/* What the JSON replaces. */
#define MARK "@SESSION@"

void page_write(FILE *out, const char *json, size_t size)
{
	const char *mark = strstr(page_template, MARK);
	size_t len;

	fwrite(page_template, 1, (size_t)(mark - page_template), out);
	for (; size; json += len, size -= len) {
		len = *json == '<' ? 1 : strcspn(json, "<");
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fwrite(json, 1, len, out);
	}
	fputs(mark + strlen(MARK), out);
}
