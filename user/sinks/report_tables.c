// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's tables. */
#include "sinks/report.h"

#include "base/safe_text.h"
#include "base/time_text.h"

/* ---- ops ---- */

static int by_cost(const void *a, const void *b)
{
	const struct rpc_op *x = *(const struct rpc_op *const *)a,
			    *y = *(const struct rpc_op *const *)b;

	return ORDER(y->total.sum_ns, x->total.sum_ns) ?: strcmp(x->op, y->op);
}

size_t session_ops(const struct session *t, const char *server, const struct rpc_op ***ops)
{
	const struct delta *d = &t->total;
	size_t count = 0;

	*ops = NULL;
	CALLS_EACH(o, &d->calls, op, server)
		if (time_histogram_count(&o->total))
			*ARRAY_APPEND(*ops, count) = o;
	if (count)
		qsort(*ops, count, sizeof(struct rpc_op *), by_cost);
	return count;
}

const char *format_phases(char text[PHASES_SIZE], const uint64_t *phase_ns, uint64_t total_ns)
{
	enum rpc_phase largest[RPC_PHASES];
	size_t count = session_largest_phases(phase_ns, largest), len = 0;

	*text = 0;
	for (size_t i = 0; i < count && i < 2; i++) {
		double share = percent_of(phase_ns[largest[i]], total_ns);

		if (share >= 0.5)
			len += (size_t)snprintf(text + len, PHASES_SIZE - len, "%s%s %.0f",
						len ? " " : "", rpc_phase_names[largest[i]],
						share > 100 ? 100 : share);
	}
	return text;
}

static void write_op(FILE *out, const struct session *t, const struct rpc_op *o)
{
	static const double quantiles[] = { 0.5, 0.99, 1 };
	struct session_point p = {};
	char times[3][DURATION_SIZE];

	session_add_op(&p, o);
	for (int i = 0; i < 3; i++)
		if (snapshot_knows(&t->last.calls, RPC_FACT_DISTRIBUTION))
			format_duration(times[i], time_histogram_quantile(&o->total, quantiles[i]));
		else
			strcpy(times[i], "-");
	safe_line(out, "%-12s %7" PRIu64 " %7.1f %7s %7s %7s %7s %s", o->op, p.calls,
		  (double)(p.sent_bytes + p.received_bytes) / 1e6,
		  DURATION(p.total.sum_ns / p.calls), times[0], times[1], times[2],
		  PHASES(p.phase_ns, p.total.sum_ns));
}

void report_ops(FILE *out, const struct session *t)
{
	bool any = false;

	/* By mount, only kinds of ops are known. report_shares() shows them. */
	if (t->filter.mount && snapshot_knows(&t->last.calls, RPC_FACT_MOUNTS))
		return;
	ARRAY_EACH(v, t->servers, t->server_count) {
		FREED const struct rpc_op **ops = NULL;
		size_t count = session_ops(t, v->name, &ops);

		if (count) {
			fputc('\n', out);
			safe_line(out, "Calls to %s, the costliest first", v->name);
			fprintf(out, "%-12s %7s %7s %7s %7s %7s %7s %s\n", "op", "calls", "MB",
				"mean", "p50", "p99", "max", "most time in, %");
			any = true;
		}
		for (size_t o = 0; o < count; o++)
			write_op(out, t, ops[o]);
	}
	if (any && snapshot_knows(&t->last.calls, RPC_FACT_DISTRIBUTION))
		fputs("p50 to max are upper bounds of buckets: the true time is at most a fifth less.\n",
		      out);
}

/* ---- mounts and owners ---- */

static int by_time(const void *a, const void *b)
{
	const struct calls_share *x = a, *y = b;

	return ORDER(y->total_ns, x->total_ns)  ?:
		       strcmp(x->name, y->name) ?:
						  strcmp(x->of->owner, y->of->owner);
}

static void add_sums(struct calls_share *to, const struct rpc_sums *sums)
{
	uint64_t total = rpc_kinds_sum(sums->total_ns);

	to->calls += rpc_kinds_sum(sums->calls);
	to->sent_bytes += rpc_kinds_sum(sums->sent_bytes);
	to->received_bytes += rpc_kinds_sum(sums->received_bytes);
	to->errors += rpc_kinds_sum(sums->errors);
	to->total_ns += total;
	to->held_ns += total;
	for (int p = 0; p < RPC_WAITS; p++) {
		if (limit_of(p) < RPC_LIMITS)
			to->waited_ns += sums->phase_ns[p];
		if (p != RPC_PHASE_SEND)
			to->held_ns -= sums->phase_ns[p];
	}
}

size_t session_shares(const struct session *t, const char *server, enum share_by by,
		      struct calls_share **shares, struct calls_share *sum)
{
	const struct delta *d = &t->total;
	const struct calls_by *const lists[] = { d->calls.mount_calls, d->calls.owner_calls,
						 d->calls.owner_mounts };
	const size_t entries[] = { d->calls.mount_call_count, d->calls.owner_call_count,
				   d->calls.owner_mount_count };
	struct calls_share *share;
	size_t count = 0;

	*sum = (struct calls_share){};
	*shares = NULL;
	if ((by != SHARE_BY_OWNER && !snapshot_knows(&t->last.calls, RPC_FACT_MOUNTS)) ||
	    (by != SHARE_BY_MOUNT && !snapshot_knows(&t->last.calls, RPC_FACT_OWNERS)))
		return 0;
	ARRAY_EACH(e, lists[by], entries[by]) {
		if (strcmp(e->server, server) != 0 || !rpc_kinds_sum(e->sums.calls))
			continue;
		add_sums(sum, &e->sums);
		if (by != SHARE_BY_OWNER && !session_wants_mount(t, e->mountpoint))
			continue;
		share = ARRAY_APPEND(*shares, count);
		*share = (struct calls_share){ .of = e };
		share->name = by == SHARE_BY_OWNER ? e->owner : e->mountpoint;
		add_sums(share, &e->sums);
	}
	if (count)
		qsort(*shares, count, sizeof(**shares), by_time);
	return count;
}

const char *mount_name(const char *mountpoint)
{
	return *mountpoint ? mountpoint : "no mount";
}

/* 0 bytes are unknown, because each call has some. */
static const char *megabytes_text(char text[16], uint64_t bytes)
{
	snprintf(text, 16, bytes ? "%.1f" : "-", (double)bytes / 1e6);
	return text;
}

#define SHARE_NAME 26 /* width of a name */

static void write_share(FILE *out, const struct calls_share *s, const struct calls_share *sum,
			enum share_by by)
{
	char sent[16], received[16], name[2 * LABEL_SIZE + 4];

	snprintf(name, sizeof(name), "%s%s%s", by == SHARE_BY_BOTH ? s->of->owner : "",
		 by == SHARE_BY_BOTH ? ", " : "", mount_name(s->name));
	if (strlen(name) > SHARE_NAME) { /* for which there is no room in 80 columns */
		safe_line(out, "%s", name);
		*name = 0;
	}
	safe_line(out, "%-*s %8" PRIu64 " %9s %9s %7s %6.0f %8.0f", SHARE_NAME, name, s->calls,
		  megabytes_text(sent, s->sent_bytes), megabytes_text(received, s->received_bytes),
		  DURATION(s->total_ns / s->calls), percent_of(s->held_ns, sum->held_ns),
		  percent_of(s->waited_ns, sum->waited_ns));
}

/* The calls of a mount by kind, below its line. */
static void write_kinds(FILE *out, const struct rpc_sums *sums)
{
	for (int k = 0; k < RPC_KINDS; k++)
		if (sums->calls[k])
			fprintf(out, "  %-24s %8" PRIu64 " %9.1f %9.1f %7s\n", rpc_kind_names[k],
				(uint64_t)sums->calls[k], (double)sums->sent_bytes[k] / 1e6,
				(double)sums->received_bytes[k] / 1e6,
				DURATION(sums->total_ns[k] / sums->calls[k]));
}

static const struct {
	const char *heading, *column;
} share_words[] = {
	[SHARE_BY_MOUNT] = { "Mounts of %s, the one with the most time first", "mount point" },
	[SHARE_BY_OWNER] = { "Owners of the calls to %s, the one with the most time first",
			     "owner" },
	[SHARE_BY_BOTH] = { "Calls of each owner on each mount of %s, the most time first",
			    "owner, mount point" },
};

#define PAIRS_SHOWN 10

/* Whether a table above has the same as that of both: there is one owner, or one mount. */
static bool is_said_above(const struct session *t, const struct calls_share *shares, size_t count)
{
	bool owners = false, mounts = t->filter.mount;

	ARRAY_EACH(s, shares, count) {
		owners |= strcmp(s->of->owner, shares->of->owner) != 0;
		mounts |= strcmp(s->name, shares->name) != 0;
	}
	return !owners || !mounts;
}

static void report_server_shares(FILE *out, const struct session *t, const char *server,
				 enum share_by by)
{
	struct calls_share *shares, sum;
	size_t count = session_shares(t, server, by, &shares, &sum);

	if (by == SHARE_BY_BOTH)
		count = is_said_above(t, shares, count) ? 0 :
			count < PAIRS_SHOWN             ? count :
							  PAIRS_SHOWN;
	if (count) {
		fputc('\n', out);
		safe_line(out, share_words[by].heading, server);
		fprintf(out, "%-*s %8s %9s %9s %7s %6s %8s\n", SHARE_NAME, share_words[by].column,
			"calls", "MB sent", "MB recvd", "mean", "held %", "waited %");
	}
	for (size_t i = 0; i < count; i++) {
		write_share(out, &shares[i], &sum, by);
		if (by == SHARE_BY_MOUNT && t->filter.mount)
			write_kinds(out, &shares[i].of->sums);
	}
	free(shares);
}

void report_shares(FILE *out, const struct session *t)
{
	ARRAY_EACH(v, t->servers, t->server_count)
		for (int by = 0; by < SHARE_BYS; by++)
			report_server_shares(out, t, v->name, (enum share_by)by);
}

void summarise_shares(FILE *out, const struct session *t, const char *server, enum share_by by)
{
	struct calls_share *shares, sum;
	size_t count = session_shares(t, server, by, &shares, &sum);
	const struct calls_share *holder = shares, *waiter = shares;

	for (size_t i = 1; i < count; i++) {
		if (shares[i].held_ns > holder->held_ns)
			holder = &shares[i];
		if (shares[i].waited_ns > waiter->waited_ns)
			waiter = &shares[i];
	}
	/* If hardly any call waits, it does not matter whose. */
	if (count > 1 && sum.waited_ns > sum.total_ns / 20)
		safe_line(
			out,
			"- Slots of %s: calls of %s hold them for %.0f %% of the time; of the waits, %.0f %% are of %s.",
			server, mount_name(holder->name), percent_of(holder->held_ns, sum.held_ns),
			percent_of(waiter->waited_ns, sum.waited_ns), mount_name(waiter->name));
	free(shares);
}

/* ---- the others ---- */

void report_episodes(FILE *out, const struct session *t)
{
	uint64_t share[RPC_PHASES];
	const char *server = NULL;

	ARRAY_EACH(e, t->episodes.list, t->episodes.count) {
		if (!session_wants_server(t, e->server))
			continue;
		if (!server || strcmp(server, e->server) != 0) {
			fputc('\n', out);
			safe_line(out, "Episodes on %s", e->server);
			fprintf(out, "%-8s %-4s %8s %9s %7s %7s %-11s %s\n", "start", "kind",
				"seconds", "MB", "MB/s", "peak", "bound by", "most time in, %");
		}
		server = e->server;
		for (int p = 0; p < RPC_PHASES; p++)
			share[p] = e->share[p] > 0 ? (uint64_t)(e->share[p] * 1e6) : 0;
		safe_line(out, "%s %-4s %8.1f %9.1f %7.1f %7.1f %-11s %s",
			  CLOCK_TIME(session_wall(t, e->start_ns)), episode_kind_names[e->kind],
			  e->seconds, (double)e->bytes / 1e6, e->mean_rate / 1e6,
			  e->peak_rate / 1e6, bound_names[e->bound_by], PHASES(share, 1000000));
	}
}

/* A path whose begin is not known stands apart from its mount. */
static const char *before_path(const char *mount, const char *path)
{
	return *path && (!*mount || *path != '/') ? ":" : "";
}

void report_slow_calls(FILE *out, const struct session *t)
{
	size_t count = t->slow_count < SESSION_SLOW_SHOWN ? t->slow_count : SESSION_SLOW_SHOWN;

	if (count)
		fprintf(out, "\nSlowest calls: %zu of %" PRIu64 "\n%-8s %7s %-12s %-24s %s\n",
			count, t->slow_calls, "end", "took", "op", "process", "most time in, %");
	ARRAY_EACH(c, t->slow, count) {
		char process[SLOW_COMM_LEN + 16];

		snprintf(process, sizeof(process), "%s %" PRIu32, *c->comm ? c->comm : "(ended)",
			 c->pid);
		safe_line(out, "%s %7s %-12s %-24s %s", CLOCK_TIME(c->time), DURATION(c->total_ns),
			  c->op, process, PHASES(c->phase_ns, c->total_ns));
		safe_line(out, "         %s%s%s%s%s%s%s", c->server, *c->mount ? ", " : "",
			  c->mount, before_path(c->mount, c->file), c->file, *c->owner ? ", " : "",
			  c->owner);
	}
}

/* ---- files and directories ---- */

static void write_file_sums(FILE *out, const char *op, const struct file_calls *f,
			    const char *whose)
{
	safe_line(out, "%-12s %8" PRIu64 " %9.1f %7s %s", op, f->calls, (double)f->bytes / 1e6,
		  DURATION(f->total_ns), whose);
}

static void write_file(FILE *out, const struct file_calls *f)
{
	char whose[SLOW_COMM_LEN + LABEL_SIZE + 40];
	int len =
		f->files > 1 ? snprintf(whose, sizeof(whose), "%" PRIu64 " files, ", f->files) : 0;

	snprintf(whose + len, sizeof(whose) - (size_t)len, "%s %" PRIu32 "%s%s",
		 *f->comm ? f->comm : "(ended)", f->pid, *f->owner ? ", " : "", f->owner);
	write_file_sums(out, f->op, f, whose);
	safe_line(out, "    %s%s%s", *f->mount ? f->mount : f->server,
		  before_path(f->mount, f->path), *f->path ? f->path : ", no name");
}

void report_files(FILE *out, const struct session *t)
{
	for (int directory = 0; directory < 2; directory++) {
		struct file_calls rest = session_files_rest(t, directory);
		bool any = false;

		ARRAY_EACH(f, t->last.calls.files, t->last.calls.file_count) {
			if (!session_wants_file(t, f, directory))
				continue;
			if (!any)
				fprintf(out, "\n%s\n%-12s %8s %9s %7s %s\n",
					directory ? "Directories" : "Files", "op", "calls", "MB",
					"took", "first process, owner");
			any = true;
			write_file(out, f);
		}
		if (any && !t->filter.mount)
			write_file_sums(out, "others", &rest, "");
	}
}

void report_events(FILE *out, const struct session *t)
{
	if (t->event_count)
		fputs("\nEvents\n", out);
	ARRAY_EACH(e, t->events, t->event_count)
		safe_line(out, "%s %s", CLOCK_TIME(e->time), EVENT_OF_SESSION(e));
	if (t->events_left_out)
		fprintf(out, "and %" PRIu64 " more\n", t->events_left_out);
}

/* The report's part on connections. */

#define BAD_CONNECTIONS 4 /* that are named */

/* "- Slow connection to nas: tcp/3, 10.0.0.2:801 to 10.0.0.1:2049: 2.1 ms to a reply, on the median connection ..." */
static void write_connection(FILE *out, const char *server, const struct connections *all,
			     const struct connection *c)
{
	const struct rpc_transport_state *t = c->transport;
	const char *local = ENDPOINT(&t->local);
	char share[48] = "", how[96];

	if (all->count > 1 && c->share >= 0.0005)
		snprintf(share, sizeof(share), "; %.1f %% of the server's calls", c->share * 100);
	if (c->stuck && !t->slots_in_flight)
		snprintf(how, sizeof(how), "calls unanswered, the oldest for %s",
			 DURATION(t->oldest_ns));
	else if (c->stuck)
		snprintf(how, sizeof(how), "%" PRIu32 " call%s unanswered, the oldest for %s",
			 t->slots_in_flight, t->slots_in_flight == 1 ? "" : "s",
			 DURATION(t->oldest_ns));
	else
		snprintf(how, sizeof(how), "%s to a reply, on the median connection %s",
			 DURATION(c->mean_ns), DURATION(all->median_ns));
	safe_line(out, "- %s connection to %s: %s, %s to %s: %s%s.", c->stuck ? "Stuck" : "Slow",
		  server, t->name, *local ? local : "not connected", ENDPOINT(&t->remote), how,
		  share);
}

void report_connections(FILE *out, const struct delta *d, const char *server)
{
	struct connections all = connections_of(d, server);
	size_t bad = 0;
	double least = 1, most = 0;

	for (size_t i = 0; i < all.count; i++) {
		LOWER(least, all.list[i].share);
		RAISE(most, all.list[i].share);
	}
	/* Those of several mounts have other calls. */
	if (all.count > 1 && most > 0 &&
	    CALLS_FIND(m, &d->end->calls, mount, server,
		       strtoul(m->options[NFS_NCONNECT], NULL, 10) == all.count))
		safe_line(out,
			  "- %s has %zu connections: each had %.1f %% to %.1f %% of its calls, "
			  "where equal parts are %.1f %%.",
			  server, all.count, least * 100, most * 100, 100 / (double)all.count);
	for (size_t i = all.count; i-- > 0;)
		if ((all.list[i].slow || all.list[i].stuck) && bad++ < BAD_CONNECTIONS)
			write_connection(out, server, &all, &all.list[i]);
	if (bad > BAD_CONNECTIONS)
		fprintf(out, "- %zu more of its %zu connections are slow or stuck.\n",
			bad - BAD_CONNECTIONS, all.count);
	free(all.list);
}
