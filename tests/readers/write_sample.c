// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a metrics file with all that is hard to read: every family, servers with hostile names, 200 ops, counters at
 * their ends. For the real readers.
 *
 * Usage: write_sample openmetrics|prometheus node|op   the file
 *        write_sample FORMAT DETAIL unknown            as of a source that
 *                                                      measures almost nothing
 *        write_sample facts DETAIL                     what a reader must find
 *                                                      in it */
#include <stdio.h>
#include <string.h>

#include "../calls.h"
#include "base/safe_text.h"
#include "health/health.h"
#include "limits/verdict.h"
#include "sinks/metrics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OPS_PER_SERVER 40

#define BYTES(literal)                       \
	{                                    \
		literal, sizeof(literal) - 1 \
	}

/* As a mount may have them: none of them has to be a name. */
static const struct {
	const char *bytes;
	size_t len;
} servers[] = {
	BYTES("nas-1.example.com"),
	BYTES("quote\" backslash\\ newline\n tab\t return\r end"),
	BYTES("\\n is no newline, \\\" no quote, \\"),
	BYTES("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xff\xfe \xc0\x80 \xed\xa0\x80 \xe2\x82"),
	BYTES("twin\\xff"),
	BYTES("twin\xff"),
	BYTES("\x1b[31mred\x1b[0m \x9b \xe2\x80\xaeside"),
	BYTES("{server=\"x\",op=\"y\"} 1 # {} 2\0 \x01\x7f\xc2\x85\xe2\x80\xa8"),
};

/* Op number n has FIRST_COUNT + n calls. */
#define FIRST_COUNT 1000

static void add_server(struct snapshot *s, size_t number, uint64_t *seed)
{
	static const char *const statuses[] = { "EIO", "NFS4ERR_CONN_NOT_BOUND_TO_SESSION",
						"12345" };
	struct nfs_mount mount = { .export = "/\\ \n\"", .version = "4.2" };
	struct rpc_transport_state *t;
	struct calls_by *owner;
	struct episode_stats *episodes;
	struct rpc_server_state *v;
	char server[LABEL_SIZE], op[RPC_OP_LEN];

	label_from_bytes(server, sizeof(server), servers[number].bytes, servers[number].len);
	for (unsigned int i = 0; i < OPS_PER_SERVER; i++) {
		unsigned int n = (unsigned int)number * OPS_PER_SERVER + i;
		struct rpc_op *o;

		snprintf(op, sizeof(op), "OP_%u", i);
		o = snapshot_op(&s->calls, server, op);
		for (unsigned int call = 0; call < FIRST_COUNT + n; call++)
			add_random_call(o, seed);
		o->sent_bytes = n;
		o->received_bytes = UINT64_MAX;
		for (size_t e = 0; e < COUNT(statuses); e++)
			snapshot_error(&s->calls, server, op, statuses[e])->count = n + e;
	}
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(op, sizeof(op), "%s/%u", i % 2 ? "rdma" : "tcp", i / 2);
		t = snapshot_transport(&s->calls, server, op);
		t->alive = i != 3;
		snprintf(t->protocol, sizeof(t->protocol), "%s", i % 2 ? "rdma" : "tcp");
		strcpy(t->remote.address, i % 2 ? "fd00::1" : "10.0.0.1");
		strcpy(t->local.address, i ? "10.0.0.2" : "");
		t->remote.port = t->local.port = i;
		t->replies = t->rtt_ns = UINT64_MAX;
		t->connects = i;
		t->saturated_ns[RPC_LIMIT_SEND] = UINT64_MAX;
		t->slots_max = UINT32_MAX;
	}
	snprintf(mount.server, sizeof(mount.server), "%s", server);
	snprintf(mount.mountpoint, sizeof(mount.mountpoint), "/mnt/%s", op);
	snapshot_mount(&s->calls, &mount);
	s->calls.mounts[s->calls.mount_count - 1].readahead_known = true;
	snapshot_module(&s->calls, "sunrpc");
	s->calls.slots_wanted[SLOTS_TCP] = 65536;
	snapshot_stuck(&s->calls, mount.mountpoint, number % 2)->oldest_ns = UINT64_MAX;
	memset(&snapshot_mount_calls(&s->calls, server, mount.export, mount.mountpoint)->sums, 0xff,
	       sizeof(struct rpc_sums));
	owner = snapshot_owner_calls(&s->calls, server, op);
	memset(&owner->sums, 0xff, sizeof(owner->sums));
	owner->oldest_ns = UINT64_MAX;
	snprintf(snapshot_storage(&s->calls, server)->storage, LABEL_SIZE, "scratch %zu \"\\",
		 number % 2);
	episodes = snapshot_episodes(&s->calls, server, "save");
	episodes->seconds.bucket[TIME_OVERFLOW] = number;
	episodes->seconds.sum_ns = number * 300000000000ull;
	episodes->bytes.bucket[0] = UINT32_MAX;
	episodes->bytes.sum = UINT64_MAX;
	v = snapshot_server(&s->calls, server);
	v->lock_calls = 1;
	v->slowest_rtt_ns = UINT64_MAX;
	v->bound_by = bound_names[number % BOUNDS];
	for (unsigned int q = 0; q < RPC_QUEUES; q++) {
		v->depth[q].bucket[q] = 1000000;
		v->depth[q].bucket[DEPTH_OVERFLOW] = 1;
		v->depth[q].sum = 5000000;
		v->depth_max[q] = UINT32_MAX;
		v->oldest_ns[q] = q;
	}
	strcpy(v->oldest_op, "ACCESS");
}

static void add_faults(struct snapshot *s)
{
	static const struct fault like[] = {
		{ .device = "0000:c1:00.0",
		  .code = 79,
		  .severity = "fatal",
		  .action = "restart_bm" },
		{ .device = "ffffffff:ff:ff.7",
		  .code = 4294967295,
		  .severity = "unknown",
		  .action = "none_given" },
		{ .device = "0000:c1:00.0",
		  .code = 154,
		  .severity = "warning",
		  .action = "xid_154" },
		{ .device = "0000:c1:00.0", .code = 154, .severity = "info", .action = "xid_154" },
		{ .device = "0000:05:00.0", .code = 20034, .nvswitch = true, .severity = "fatal" },
	};

	for (size_t i = 0; i < COUNT(like); i++) {
		struct fault *f = snapshot_fault(&s->faults, &like[i]);

		f->count = i + 1;
		f->boots = i ? 0 : UINT32_MAX;
		f->incidents = UINT64_MAX;
		f->first = 1600000000.25;
		f->last = 1700000000.25;
	}
	s->faults.gpu_watched = true;
	s->faults.authority = AUTHORITY_HOOK;
	s->faults.log_lost = UINT64_MAX;
}

/* Kinds are ours, devices come from the kernel's text. */
static void add_events(struct snapshot *s)
{
	char device[LABEL_SIZE];
	struct gpu_info *gpu;

	for (size_t i = 0; i < COUNT(servers); i++) {
		label_from_bytes(device, sizeof(device), servers[i].bytes, servers[i].len);
		snapshot_kernel_event(&s->faults, false, "nfs_server_not_responding", device)
			->count = i;
	}
	snapshot_kernel_event(&s->faults, false, "oom_kill", "")->count = UINT64_MAX;
	snapshot_kernel_event(&s->faults, true, "fallen_off_bus", "0000:c1:00.0")->last =
		1700000000.25;
	snapshot_unverified(&s->faults, "0000:c1:00.0", 79)->count = 3;
	snapshot_recovery(&s->faults, "0000:c1:00.0", "action_none")->time = 1700000000.25;
	snapshot_recovery(&s->faults, "all", "driver_loaded")->time = 1700000000;
	snapshot_gpu(&s->faults, "0000:c2:00.0");
	gpu = snapshot_gpu(&s->faults, "0000:c1:00.0");
	label_from_bytes(gpu->uuid, sizeof(gpu->uuid), "GPU-\"\\\n\xff", 8);
	gpu->rate_limited = true;
	gpu->past_failures = UINT64_MAX;
	for (int r = 0; r < HEALTH_RULES; r++)
		snapshot_health(&s->self, health_rules[r].name, r % 3);
	snapshot_finding(&s->self, "xid_fatal", "0000:c1:00.0", "79");
}

/* Lines that Python reads without a thought: words parted by tabs, names of servers in hex. */
static void write_facts(enum metric_detail detail)
{
	for (int m = 0; m < METRICS; m++) {
		if (metrics[m].least > detail)
			continue;
		printf("family\t%s%s\t%s\t%s\t%s\n", METRIC_PREFIX, metrics[m].name,
		       metric_type_names[metrics[m].type], metrics[m].unit, metrics[m].labels);
	}
	for (size_t i = 0; i < COUNT(servers); i++) {
		printf("server\t");
		for (size_t b = 0; b < servers[i].len; b++)
			printf("%02x", (unsigned char)servers[i].bytes[b]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct snapshot s = { .calls.source = RPC_SOURCE_BTF, .self.export_seconds = 0.001 };
	enum metric_detail detail = DETAIL_NODE;
	enum metrics_format format;
	uint64_t seed = 1;

	if (argc == 4 && !strcmp(argv[3], "unknown")) {
		s.calls.unknown = RPC_ALL_FACTS & ~RPC_FACT_BIT(RPC_FACT_PHASE + RPC_PHASE_RTT);
		argc--;
	}
	if (argc == 3 && !strcmp(argv[2], "op"))
		detail = DETAIL_OP;
	else if (argc != 3 || strcmp(argv[2], "node") != 0)
		argc = 0;
	if (argc && !strcmp(argv[1], "facts")) {
		write_facts(detail);
		return 0;
	}
	if (argc && !strcmp(argv[1], "openmetrics")) {
		format = FORMAT_OPENMETRICS;
	} else if (argc && !strcmp(argv[1], "prometheus")) {
		format = FORMAT_PROMETHEUS;
	} else {
		fprintf(stderr, "usage: write_sample openmetrics|prometheus|facts node|op\n");
		return 2;
	}
	for (size_t i = 0; i < COUNT(servers); i++)
		add_server(&s, i, &seed);
	add_faults(&s);
	add_events(&s);
	snapshot_hook(&s.self, "xprt_transmit", true);
	snapshot_hook(&s.self, "printk", false);
	snapshot_drop(&s.self, "rpc_waiter", UINT64_MAX);
	snapshot_drop(&s.self, "rpc_waiter", 0);
	snapshot_program(&s.self, "rpc_task_sleep", 7, 1000000042);
	openmetrics_write(stdout, &s, format, detail);
	snapshot_free(&s);
	return fflush(stdout) || ferror(stdout);
}
