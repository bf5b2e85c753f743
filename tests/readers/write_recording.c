// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a recording to standard output: three minutes of two servers, whose slots bind in two saves and a load; one
 * stops answering for a while, and a GPU fails. Names try to break out of a page and a terminal, unless it is called as
 * `write_recording incident`, for pictures: that recording ends with an interval of 3.7 ms, as real ones do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../calls.h"
#include "session/session.h"
#include "version.h"

#define SECONDS 180
#define MS UINT64_C(1000000)

static const char *other = "nas-2</script><script>document.title='broken out'</script><!--";
static const char *pod = "pod:train/loader\x1b[2J-0";
static const char *home = "/mnt/home</title>", *checkpoint = "/mnt/checkpoint</title>";

static uint64_t random_state = 7;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

/* One call whose phases take those times. */
static void add_call(struct rpc_op *o, uint64_t slot, uint64_t rtt)
{
	uint64_t ns[RPC_PHASES] = { [RPC_PHASE_SLOT] = slot,
				    [RPC_PHASE_SEND] = random_below(3) ? 0 : rtt / 9,
				    [RPC_PHASE_SETUP] = 40000 + random_below(50000),
				    [RPC_PHASE_RTT] = rtt,
				    [RPC_PHASE_FINISH] = 20000 + random_below(90000) };
	uint64_t total = 0;

	for (int p = 0; p < RPC_PHASES; p++) {
		histogram_record(&o->phase[p], 1, ns[p]);
		total += ns[p];
	}
	histogram_record(&o->total, 1, total);
}

static void add_calls(struct snapshot *s, const char *server, const char *op, unsigned int calls,
		      uint64_t slot, uint64_t rtt, uint64_t sent, uint64_t received)
{
	struct rpc_op *o = snapshot_op(&s->calls, server, op);

	for (unsigned int i = 0; o && i < calls; i++)
		add_call(o, slot ? slot / 2 + random_below(slot) : 0, rtt / 2 + random_below(rtt));
	o->sent_bytes += calls * sent;
	o->received_bytes += calls * received;
}

static bool between(int second, int begin, int end)
{
	return second >= begin && second < end;
}

static void second_of_first(struct snapshot *s, int second)
{
	struct rpc_transport_state *t = snapshot_transport(&s->calls, "nas-1", "tcp/0");
	bool save = between(second, 20, 50) || between(second, 95, 125),
	     load = between(second, 140, 165);
	unsigned int calls = save ? 900 + (unsigned int)random_below(200) : load ? 1500 : 0;

	snapshot_server(&s->calls, "nas-1");
	snprintf(t->protocol, sizeof(t->protocol), "tcp");
	t->alive = true;
	t->slots_max = 128;
	t->remote = (struct endpoint){ "10.0.0.1", 2049 };
	t->local = (struct endpoint){ "10.0.0.2", 801 };
	t->slots_in_flight = save || load ? 128 : 2 + (unsigned int)random_below(9);
	add_calls(s, "nas-1", "GETATTR", 40 + (unsigned int)random_below(20), 0, MS / 3, 200, 160);
	add_calls(s, "nas-1", "LOOKUP", 8, 0, MS / 2, 220, 280);
	if (save)
		add_calls(s, "nas-1", "WRITE", calls, 110 * MS, 54 * MS, 1048576 + 200, 160);
	if (load)
		add_calls(s, "nas-1", "READ", calls, 30 * MS, 40 * MS, 200, 1048576 + 130);
	t->replies += calls + 50;
	t->rtt_ns += (calls + 50) * 50 * MS;
	t->saturated_ns[RPC_LIMIT_SLOT] += (save || load ? 970 : 3) * MS;
	snapshot_error(&s->calls, "nas-1", "LOOKUP", "ENOENT")->count += 2;
}

static void second_of_other(struct snapshot *s, int second)
{
	struct rpc_transport_state *t = snapshot_transport(&s->calls, other, "tcp/0");
	struct rpc_server_state *v = snapshot_server(&s->calls, other);
	bool hung = between(second, 60, 84);

	snprintf(t->protocol, sizeof(t->protocol), "tcp");
	t->alive = true;
	t->slots_max = 64;
	t->remote = (struct endpoint){ "fd00::7", 2049 };
	t->local = (struct endpoint){ "fd00::1", 802 };
	t->oldest_ns = hung ? (uint64_t)(second - 59) * 1000 * MS : 0;
	v->oldest_ns[RPC_QUEUE_PENDING] = t->oldest_ns;
	snprintf(v->oldest_op, sizeof(v->oldest_op), "%s", hung ? "ACCESS" : "");
	snprintf(v->oldest_comm, sizeof(v->oldest_comm), "%s", hung ? "python3" : "");
	v->oldest_pid = hung ? 4711 : 0;
	t->slots_in_flight = hung ? 64 : 3;
	if (!hung)
		add_calls(s, other, "ACCESS", 300 + (unsigned int)random_below(60), 0, 2 * MS, 190,
			  130);
	t->replies += !hung;
	if (second == 62 || second == 75)
		t->retransmits += 64;
	t->timeouts += second == 75 ? 64 : 0;
	t->disconnects += second == 76;
	t->connects += second == 84;
}

static void add_op(struct rpc_sums *sums, const struct rpc_op *o, enum rpc_kind kind)
{
	sums->calls[kind] += time_histogram_count(&o->total);
	sums->total_ns[kind] += o->total.sum_ns;
	sums->sent_bytes[kind] += o->sent_bytes;
	sums->received_bytes[kind] += o->received_bytes;
	for (int p = 0; p < RPC_PHASES; p++)
		sums->phase_ns[p] += o->phase[p].sum_ns;
}

/* Reads and writes are of one mount and job, all else is of another mount and a pod. */
static void add_mounts(struct snapshot *s)
{
	s->calls.mount_call_count = s->calls.owner_call_count = s->calls.owner_mount_count = 0;
	for (size_t i = 0; i < s->calls.op_count; i++) {
		const struct rpc_op *o = &s->calls.ops[i];
		enum rpc_kind kind = rpc_kind_of(o->op);
		bool metadata = kind == RPC_KIND_METADATA;
		const char *labels[] = { o->server, "/export", metadata ? home : "/mnt/checkpoint",
					 metadata ? pod : "slurm:4711" };
		struct calls_by *both =
			table_get(TABLE_OWNER_MOUNTS, &s->calls, (const void *const *)labels);

		add_op(&both->sums, o, kind);
		add_op(&snapshot_mount_calls(&s->calls, o->server, "/export", labels[2])->sums, o,
		       kind);
		add_op(&snapshot_owner_calls(&s->calls, o->server, labels[3])->sums, o, kind);
	}
	snapshot_owner_calls(&s->calls, other, pod)->oldest_ns =
		snapshot_server(&s->calls, other)->oldest_ns[RPC_QUEUE_PENDING];
}

static void add_faults(struct snapshot *s, int second)
{
	struct fault xid = {
		.device = "0000:c1:00.0", .code = 79, .severity = "fatal", .action = "restart_bm"
	};
	struct kernel_event *e;
	struct fault *f;

	s->faults.gpu_watched = true;
	if (second >= 112) {
		f = snapshot_fault(&s->faults, &xid);
		f->count = 1;
		f->first = f->last = s->wall - 0.4 - (second - 112);
	}
	if (second < 66)
		return;
	e = snapshot_kernel_event(&s->faults, false, "nfs_not_responding", "nas-2");
	e->count = 1;
	e->last = s->wall;
}

static void add_slow(struct snapshot *s)
{
	struct slow_call *c = calloc(1, sizeof(*c));

	if (!c)
		exit(1);
	*c = (struct slow_call){ .time = s->wall - 0.2,
				 .server = "nas-1",
				 .op = "WRITE",
				 .comm = "python3",
				 .pid = 4711,
				 .total_ns = 240 * MS + random_below(90 * MS) };
	snprintf(c->mount, sizeof(c->mount), "%s", checkpoint);
	c->phase_ns[RPC_PHASE_SLOT] = c->total_ns / 3 * 2;
	c->phase_ns[RPC_PHASE_RTT] = c->total_ns - c->phase_ns[RPC_PHASE_SLOT];
	s->calls.slow = c;
	s->calls.slow_count = 1;
}

int main(int argc, char **argv)
{
	bool incident = argc > 1 && !strcmp(argv[1], "incident");
	struct nfs_mount mount = { .server = "nas-1",
				   .export = "/export",
				   .mountpoint = "/mnt/checkpoint",
				   .version = "3" };
	struct nfs_mount second = {
		.server = "nas-2", .export = "/export", .mountpoint = "/mnt/home", .version = "3"
	};
	const struct session_origin origin = { "node-17", "6.1.0-50-cloud-amd64", XIDSCOPE_VERSION,
					       3600 };
	struct recorder *r = recorder_new(STDOUT_FILENO, &origin);
	struct snapshot s = { .calls.source = RPC_SOURCE_BTF,
			      .time_ns = 5000 * MS,
			      .wall = 1795368827 };

	if (!r)
		return 1;
	if (incident) {
		other = "nas-2";
		home = "/mnt/home";
		pod = "pod:train/loader-0";
		checkpoint = "/mnt/checkpoint";
	}
	snapshot_mount(&s.calls, &mount);
	if (incident)
		snapshot_mount(&s.calls, &second);
	for (int second = 0; second <= SECONDS; second++) {
		second_of_first(&s, second);
		second_of_other(&s, second);
		add_mounts(&s);
		add_faults(&s, second);
		if (second % 11 == 5)
			add_slow(&s);
		if (recorder_add(r, &s))
			return 1;
		free(s.calls.slow);
		s.calls.slow = NULL;
		s.calls.slow_count = 0;
		s.time_ns += 1000 * MS;
		s.wall += 1;
	}
	s.time_ns -= 1000 * MS - 3700000;
	s.wall -= 0.9963;
	if (incident && recorder_add(r, &s))
		return 1;
	snapshot_free(&s);
	return recorder_end(r) != 0;
}
