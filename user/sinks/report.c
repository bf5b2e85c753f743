// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sink for people: snapshots as lines, tables and sentences. */
#include "sinks/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/safe_text.h"
#include "sinks/report_connections.h"
#include "xid/xid_catalog.h"

/* The calls of all ops together. */
struct sums {
	uint64_t calls;
	uint64_t total_ns;
	uint64_t phase_ns[RPC_PHASES];
	uint64_t sent_bytes;
	uint64_t received_bytes;
};

/* @server: NULL for all servers. */
static struct sums sum_up(const struct snapshot *s, const char *server)
{
	struct sums sums = {};

	for (const struct rpc_op *o = s->ops; o < s->ops + s->op_count; o++) {
		if (server && strcmp(o->server, server) != 0)
			continue;
		sums.calls += time_histogram_count(&o->total);
		sums.total_ns += o->total.sum_ns;
		for (int p = 0; p < RPC_PHASES; p++)
			sums.phase_ns[p] += o->phase[p].sum_ns;
		sums.sent_bytes += o->sent_bytes;
		sums.received_bytes += o->received_bytes;
	}
	return sums;
}

static uint64_t count_faults(const struct snapshot *s)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->fault_count; i++)
		count += s->faults[i].count;
	return count;
}

void format_duration(char *text, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	int unit = 0;

	if (ns == UINT64_MAX) {
		snprintf(text, DURATION_SIZE, ">275 s");
		return;
	}
	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, DURATION_SIZE, "%.*f %s",
		 !unit || value >= 99.95 ? 0 :
		 value >= 9.995          ? 1 :
					   2,
		 value, units[unit]);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void report_head(FILE *out)
{
	fputs("    time  calls/s  MB/s in  MB/s out  mean call  in flight", out);
	for (int p = 0; p < RPC_PHASES; p++)
		fprintf(out, " %7s", rpc_phase_names[p]);
	fputs("  faults\n", out);
}

void report_interval(FILE *out, const struct snapshot *before, const struct snapshot *now)
{
	struct sums a = sum_up(before, NULL), b = sum_up(now, NULL);
	/* If no time has passed, the differences are 0: divides them by 1. */
	double seconds =
		now->time_ns > before->time_ns ? (double)(now->time_ns - before->time_ns) / 1e9 : 1;
	uint64_t calls = b.calls - a.calls, in_flight = 0;
	uint64_t total = b.total_ns - a.total_ns;
	time_t wall = time(NULL);
	char mean[DURATION_SIZE], clock[16];
	struct tm local;

	for (size_t i = 0; i < now->transport_count; i++)
		in_flight += now->transports[i].slots_in_flight;
	localtime_r(&wall, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	format_duration(mean, calls ? total / calls : 0);
	fprintf(out, "%s  %7.0f  %7.1f  %8.1f  %9s  %9" PRIu64, clock, (double)calls / seconds,
		(double)(b.received_bytes - a.received_bytes) / 1e6 / seconds,
		(double)(b.sent_bytes - a.sent_bytes) / 1e6 / seconds, mean, in_flight);
	for (int p = 0; p < RPC_PHASES; p++)
		if (snapshot_knows(now, RPC_FACT_PHASE + p))
			fprintf(out, " %5.1f %%", percent(b.phase_ns[p] - a.phase_ns[p], total));
		else
			fprintf(out, " %7s", "-");
	fprintf(out, "  %6" PRIu64 "\n", count_faults(now) - count_faults(before));
	report_connections_interval(out, before, now);
	fflush(out);
}

static void format_quantile(char *text, const struct snapshot *s, const struct time_histogram *h,
			    double q)
{
	if (snapshot_knows(s, RPC_FACT_DISTRIBUTION))
		format_duration(text, time_histogram_quantile(h, q));
	else
		snprintf(text, DURATION_SIZE, "-");
}

static void report_op(FILE *out, const struct snapshot *s, const struct rpc_op *o)
{
	char mean[DURATION_SIZE], p50[DURATION_SIZE], p99[DURATION_SIZE];
	uint64_t calls = time_histogram_count(&o->total);

	if (!calls)
		return;
	format_duration(mean, o->total.sum_ns / calls);
	format_quantile(p50, s, &o->total, 0.50);
	format_quantile(p99, s, &o->total, 0.99);
	fputc('\n', out);
	safe_line(out,
		  "%s %s: %" PRIu64 " calls, mean %s, p50 %s, p99 %s, "
		  "sent %.1f MB, received %.1f MB",
		  o->server, o->op, calls, mean, p50, p99, (double)o->sent_bytes / 1e6,
		  (double)o->received_bytes / 1e6);
	fprintf(out, "  %-8s %8s %10s %10s\n", "phase", "share", "p50", "p99");
	for (int p = 0; p < RPC_PHASES; p++) {
		if (!o->phase[p].sum_ns)
			continue;
		format_quantile(p50, s, &o->phase[p], 0.50);
		format_quantile(p99, s, &o->phase[p], 0.99);
		fprintf(out, "  %-8s %6.1f %% %10s %10s\n", rpc_phase_names[p],
			percent(o->phase[p].sum_ns, o->total.sum_ns), p50, p99);
	}
}

/* The limit where most of the time is spent in that phase, and what to do about it. */
static const char *const phase_limits[RPC_PHASES] = {
	[RPC_PHASE_SESSION] = "waiting for NFSv4 session slots: the session allows too few "
			      "calls at once; see nfs.max_session_slots and the server's own limit",
	[RPC_PHASE_SLOT] = "waiting for RPC slots: the client allows too few calls in flight; "
			   "raise sunrpc.tcp_max_slot_table_entries (RDMA: "
			   "rdma_slot_table_entries) or nconnect, then mount again",
	[RPC_PHASE_SEND] = "waiting to transmit: the connection does not accept data faster; "
			   "check the network path, or use more connections (nconnect)",
	[RPC_PHASE_DELAY] = "waiting before a retry: the server reports that it is busy, "
			    "connecting fails, or (RDMA) no slot is free",
	[RPC_PHASE_RESEND] = "sending again: calls or connections are lost; check the "
			     "network, and whether the server restarts",
	[RPC_PHASE_SETUP] = "work before the transmit: credentials, connecting, encoding on the "
			    "client",
	[RPC_PHASE_RTT] = "waiting for the reply: the server and the network",
	[RPC_PHASE_FINISH] = "work after the reply: the client's own CPU is slow to process it",
};

static const char *const limit_texts[RPC_LIMITS] = {
	[RPC_LIMIT_SLOT] = "RPC slots",
	[RPC_LIMIT_SESSION] = "session slots",
	[RPC_LIMIT_SEND] = "the transmit queue",
};

static bool knows_all_phases(const struct snapshot *s)
{
	const uint64_t phases = RPC_FACT_BIT(RPC_PHASES) - 1;

	return !(s->unknown >> RPC_FACT_PHASE & phases);
}

/* The phase with the largest sum, except @except (-1: none); -1 if all are 0. */
static int largest_phase(const struct sums *sums, int except)
{
	int largest = -1;

	for (int p = 0; p < RPC_PHASES; p++)
		if (p != except && sums->phase_ns[p] &&
		    (largest < 0 || sums->phase_ns[p] > sums->phase_ns[largest]))
			largest = p;
	return largest;
}

static void summarise_phases(FILE *out, const struct snapshot *s, const struct sums *sums)
{
	int first = largest_phase(sums, -1), second = largest_phase(sums, first);

	if (first < 0)
		first = 0;
	fprintf(out, "- Time by phase: %.0f %% %s", percent(sums->phase_ns[first], sums->total_ns),
		rpc_phase_names[first]);
	if (second >= 0)
		fprintf(out, ", %.0f %% %s", percent(sums->phase_ns[second], sums->total_ns),
			rpc_phase_names[second]);
	fputs(".\n", out);
	if (knows_all_phases(s))
		fprintf(out, "- Limit: %s.\n", phase_limits[first]);
	else
		fprintf(out,
			"- Limit unknown: the source %s does not measure all phases; see "
			"xidscope doctor.\n",
			rpc_source_names[s->source]);
}

static void summarise_server(FILE *out, const struct snapshot *s, const char *server,
			     double seconds)
{
	struct sums sums = sum_up(s, server);
	char mean[DURATION_SIZE];

	if (!sums.calls) {
		/* All of its calls may be stuck. */
		report_connections(out, s, server);
		return;
	}
	format_duration(mean, sums.total_ns / sums.calls);
	safe_line(out,
		  "- %s: %" PRIu64 " NFS calls in %.0f s (%.0f/s), mean %s, on "
		  "average %.1f calls at once.",
		  server, sums.calls, seconds, (double)sums.calls / seconds, mean,
		  (double)sums.total_ns / 1e9 / seconds);
	summarise_phases(out, s, &sums);
	for (size_t i = 0; i < s->transport_count; i++) {
		const struct rpc_transport_state *t = &s->transports[i];

		if (strcmp(t->server, server) != 0)
			continue;
		for (int l = 0; l < RPC_LIMITS; l++)
			if ((double)t->saturated_ns[l] > seconds * 1e9 / 100)
				safe_line(out,
					  "- Transport %s to %s: at least one call waited for %s "
					  "during %.1f s of %.1f s.",
					  t->name, server, limit_texts[l],
					  (double)t->saturated_ns[l] / 1e9, seconds);
	}
	report_connections(out, s, server);
}

static void report_faults(FILE *out, const struct snapshot *s)
{
	bool headed = false;

	for (size_t i = 0; i < s->fault_count; i++) {
		const struct fault *f = &s->faults[i];

		if (!f->count)
			continue;
		if (!headed)
			fputs("\nGPU faults\n", out);
		safe_line(out, "  %s %s %u: %" PRIu64 " (%s) %s", f->device,
			  f->nvswitch ? "SXid" : "Xid", f->code, f->count, f->severity,
			  f->nvswitch ? "" : xid_catalog_find(f->code)->description);
		headed = true;
	}
}

static void summarise_faults(FILE *out, const struct snapshot *s, size_t open_before)
{
	bool any = false;

	for (size_t i = 0; i < s->fault_count; i++) {
		const struct fault *f = &s->faults[i];

		if (!f->count)
			continue;
		any = true;
		safe_line(out, "- %s %s: %s %u (%s), %" PRIu64 " %s.%s%s",
			  f->nvswitch ? "NVSwitch" : "GPU", f->device, f->nvswitch ? "SXid" : "Xid",
			  f->code, f->severity, f->count, f->count == 1 ? "time" : "times",
			  f->nvswitch ? "" : " ", f->nvswitch ? "" : xid_action_advice(f->action));
	}
	if (!s->gpu_watched)
		fputs("- GPU faults not observed.\n", out);
	else if (!any)
		fprintf(out,
			"- No GPU reported a fault during this session; %zu open since boot "
			"(from the kernel log).\n",
			open_before);
}

/* Without a BPF source all hooks on sunrpc are missing: they are left out, because
 * another line has the reason. */
static void report_losses(FILE *out, const struct snapshot *s)
{
	bool hooked = s->source == RPC_SOURCE_BTF || s->source == RPC_SOURCE_TRACEPOINTS;

	for (size_t i = 0; i < s->drop_count; i++)
		if (s->drops[i].count)
			safe_line(out, "- Incomplete: %" PRIu64 " records lost (%s).",
				  s->drops[i].count, s->drops[i].reason);
	for (size_t i = hooked ? 0 : s->rpc_hook_count; i < s->hook_count; i++)
		if (!s->hooks[i].attached)
			safe_line(out, "- Not observed: hook %s is not attached.",
				  s->hooks[i].name);
}

void report_session(FILE *out, const struct snapshot *s, double seconds, size_t open_before)
{
	uint64_t calls = sum_up(s, NULL).calls;

	for (size_t i = 0; i < s->op_count; i++)
		report_op(out, s, &s->ops[i]);
	report_faults(out, s);
	fputs("\nSummary\n", out);
	if (s->rpc_missing)
		safe_line(out, "- NFS not observed%s: %s.",
			  calls ? " at the end of the session" : "", s->rpc_missing);
	else if (!calls)
		fputs("- No NFS call ended.\n", out);
	for (size_t i = 0; i < s->server_count; i++)
		summarise_server(out, s, s->servers[i].server, seconds);
	summarise_faults(out, s, open_before);
	report_losses(out, s);
}
