// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that mountstats, mountinfo and xprt_info are read as kernels write them; that the source mountstats counts from
 * its own start, continues when mounts end, return or share a superblock, and assigns each server its transports. */
#include "made_up_tree.h"
#include "rpc/polled/polled.h"
#include "rpc/rpc_observer.h"
#include "snapshot.h"
#include "unit.h"

/* A mount point with one op. */
struct made_up_mount {
	const char *server;
	unsigned int device;
	unsigned int age, calls, connects, port;
};

/* Of each mount, NULL: those of one address; kept until the next OPTIONS. And its connections. */
static const char *options[4];
static unsigned int transports = 1;

#define OPTIONS(...) memcpy(options, (const char *[4]){ __VA_ARGS__ }, sizeof(options))

/* Calls whose other figures have not been counted yet; transmits besides three. */
static unsigned int behind, more;

#define BY_PROCESS_1 "/proc/1/"

/* Writes both files; ends with an entry without server. */
static void put_mounts(const struct made_up_mount *mount)
{
	static char stats[1 << 19], infos[1 << 17];

	*stats = *infos = 0;

	for (unsigned int i = 0; mount->server; mount++, i++) {
		unsigned int whole = mount->calls - behind;

		append_text(
			stats,
			"device %s:/x mounted on /m%u with fstype nfs4 statvers=1.1\n\tage:\t%u\n",
			mount->server, i, mount->age);
		for (unsigned int n = 0; n < transports; n++)
			append_text(stats, "\txprt:\ttcp %u 1 %u 0 0 0 0 0 0 0 0 0 0\n",
				    mount->port, mount->connects);
		append_text(stats, "\tper-op statistics\n\tREAD: %u %u %u %u %u 5 %u %u 1\n",
			    mount->calls, whole + 3 + more, 2 * whole, 100 * whole, 200 * whole,
			    3 * whole, 4 * whole);
		append_text(infos, "%u 1 0:%u / /m%u rw - nfs4 %s:/x rw,%s\n", i, mount->device, i,
			    mount->server,
			    i < 4 && options[i] ? options[i] : "vers=4.2,addr=10.0.0.1");
	}
	put(BY_PROCESS_1 "mountstats", stats);
	put(BY_PROCESS_1 "mountinfo", infos);
}

#define MOUNTS(...) put_mounts((const struct made_up_mount[]){ __VA_ARGS__ __VA_OPT__(, ){} })

static void *source; /* of a test that starts one */
static struct client_list clients; /* of the last poll */

AFTER_EACH()
{
	if (source)
		mountstats_source.detach(source);
	free(clients.list);
	clients = (struct client_list){};
	source = NULL;
	transports = 1;
	OPTIONS(NULL);
}

/* Starts the source with the mounts that are there. */
static void start(void)
{
	source = mountstats_source.try(&(struct source_setup){ .root = root });
	assert_non_null(source);
}

/* The same without any mount. */
static void start_empty(void)
{
	MOUNTS();
	start();
}

/* @now becomes what the source has counted. */
static void poll(void)
{
	snapshot_free(&now);
	now = (struct snapshot){};
	clients.count = 0;
	assert_int_equal(mountstats_source.read(source, &now, &clients), 0);
}

/* The calls of the only mount, at /m0; @id becomes its id. */
static uint64_t calls_of_mount(uint64_t *id)
{
	assert_int_equal(clients.count, 1);
	assert_string_equal(clients.list[0].mount.mountpoint, "/m0");
	assert_string_equal(clients.list[0].mount.export, "/x");
	*id = clients.list[0].id;
	return rpc_kinds_sum(clients.list[0].sums.calls);
}

static uint64_t reads(const char *server)
{
	for (size_t i = 0; i < now.calls.op_count; i++)
		if (!strcmp(now.calls.ops[i].server, server))
			return time_histogram_count(&now.calls.ops[i].total);
	return 0;
}

/* Polls and returns how many READs @server has had. */
static uint64_t polled(const char *server)
{
	poll();
	return reads(server);
}

static const struct rpc_transport_state *transport_of(const char *server)
{
	for (size_t i = 0; i < now.calls.transport_count; i++)
		if (!strcmp(now.calls.transports[i].server, server))
			return &now.calls.transports[i];
	fail_msg("no transport of %s", server);
	return NULL;
}

static void assert_slots(const char *server, unsigned int transports)
{
	assert_int_equal(transport_of(server)->slots_max, 100 * transports);
	assert_int_equal(transport_of(server)->slots_in_flight, transports);
}

/* Polls and returns the connects of @server's transport. */
static uint64_t connects(const char *server)
{
	poll();
	return transport_of(server)->connects;
}

TEST(what_was_before_is_left_out)
{
	MOUNTS({ "nas", 45, 10, 1000, 1, 880 });
	start();
	assert_int_equal(polled("nas"), 0);
	MOUNTS({ "nas", 45, 11, 1007, 1, 880 });
	assert_int_equal(polled("nas"), 7);
	assert_int_equal(polled("nas"), 7);
	/* a mount that is new has all its calls since */
	MOUNTS({ "nas", 45, 11, 1007, 1, 880 }, { "nas-2", 46, 0, 5, 1, 881 });
	assert_int_equal(polled("nas-2"), 5);
}

TEST(counters_never_fall)
{
	uint64_t ids[3];

	start_empty();
	MOUNTS({ "nas", 45, 10, 100, 1, 880 });
	assert_int_equal(polled("nas"), 100);
	assert_int_equal(calls_of_mount(&ids[0]), 100);
	MOUNTS();
	assert_int_equal(polled("nas"), 100);
	assert_int_equal(clients.count, 0);
	MOUNTS({ "nas", 45, 1, 3, 1, 880 }); /* mounted again */
	assert_int_equal(polled("nas"), 103);
	assert_int_equal(calls_of_mount(&ids[1]), 3);
	MOUNTS({ "nas", 45, 0, 50, 1, 880 }); /* again, between two polls */
	assert_int_equal(polled("nas"), 153);
	assert_int_equal(calls_of_mount(&ids[2]), 50);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2]);
	MOUNTS({ "nas", 45, 0, 4, 1, 880 }); /* likewise, within a second */
	assert_int_equal(polled("nas"), 157);
}

/* In a container, the agent's own files have other mounts than those of process 1. */
TEST(what_process_1_hides_for_a_while_does_not_count_twice)
{
	MOUNTS();
	put("/proc/self/mountstats", "");
	put("/proc/self/mountinfo", "");
	start();
	MOUNTS({ "nas", 45, 10, 100, 3, 880 });
	assert_int_equal(polled("nas"), 100);
	unlink("." BY_PROCESS_1 "mountstats");
	assert_int_equal(polled("nas"), 100);
	MOUNTS({ "nas", 45, 11, 107, 3, 880 });
	assert_int_equal(polled("nas"), 107);
	assert_int_equal(now.calls.transports[0].connects, 3);
	unlink("." BY_PROCESS_1 "mountstats");
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(polled("nas"), 107);
	MOUNTS({ "nas", 45, 12, 110, 3, 880 });
	assert_int_equal(polled("nas"), 107);
	MOUNTS({ "nas", 45, 13, 111, 4, 880 });
	assert_int_equal(polled("nas"), 108);
	assert_int_equal(now.calls.transports[0].connects, 4);
}

/* Polls after so many calls, the last @unfinished of which are being counted, and @again
 * transmits besides three. Expects that many resent and bytes sent. */
static void polls(unsigned int calls, unsigned int unfinished, unsigned int again, uint64_t resent,
		  uint64_t sent_bytes)
{
	behind = unfinished;
	more = again;
	MOUNTS({ "nas", 45, 10, calls, 1, 880 });
	behind = more = 0;
	poll();
	assert_int_equal(reads("nas"), calls);
	assert_int_equal(now.calls.transports[0].retransmits, resent);
	assert_int_equal(now.calls.ops[0].sent_bytes, sent_bytes);
	assert_int_equal(now.calls.ops[0].total.sum_ns, sent_bytes / 100 * 4 * MS);
}

/* The kernel counts a call before its transmits, and prints without waiting for them. */
TEST(a_poll_in_the_middle_of_a_call_loses_and_adds_nothing)
{
	start_empty();
	polls(5, 5, 0, 0, 0);
	polls(5, 0, 0, 3, 500);
	polls(6, 1, 0, 3, 500);
	polls(6, 0, 0, 3, 600);
	polls(11, 5, 1, 3, 600);
	polls(11, 0, 1, 4, 1100);
}

static const char *label(void *context, const char *address, uint32_t port)
{
	(void)context;
	return strcmp(address, "10.0.0.1") || port != 2049 ? NULL : "known";
}

/* A source that counts calls itself has the bytes from here, for the ops that it has. */
TEST(the_rest_of_a_source_is_its_bytes_under_its_own_labels)
{
	const uint64_t bytes = RPC_FACT_BIT(RPC_FACT_SENT_BYTES);
	struct mountstats *m;

	MOUNTS({ "nas", 45, 10, 100, 1, 880 });
	m = not_null(mountstats_open(root, label, NULL));
	now.calls.unknown = RPC_ALL_FACTS;
	MOUNTS({ "nas", 45, 10, 107, 1, 880 });
	mountstats_add_rest(m, &now, &clients);
	assert_int_equal(now.calls.op_count, 0);
	assert_int_equal(now.calls.unknown & bytes, 0);
	assert_true(now.calls.unknown & RPC_FACT_BIT(RPC_FACT_CONNECTS));
	snapshot_op(&now.calls, "known", "READ")->received_bytes = 1000; /* of an earlier source */
	snapshot_op(&now.calls, "known", "WRITE");
	mountstats_add_rest(m, &now, &clients);
	assert_int_equal(now.calls.op_count, 2);
	assert_int_equal(now.calls.ops[0].sent_bytes, 700);
	assert_int_equal(now.calls.ops[0].received_bytes, 2400);
	assert_int_equal(now.calls.ops[1].sent_bytes, 0);
	mountstats_close(m);
	/* not readable: not known */
	snapshot_free(&now);
	now = (struct snapshot){};
	m = mountstats_open("/absent", NULL, NULL);
	mountstats_add_rest(m, &now, &clients);
	assert_true(now.calls.unknown & bytes);
	mountstats_close(m);
}

TEST(a_superblock_counts_once)
{
	start_empty();
	MOUNTS({ "nas", 45, 10, 100, 1, 880 }, { "nas", 45, 10, 100, 1, 880 });
	assert_int_equal(polled("nas"), 100);
	/* two superblocks of one server add up */
	MOUNTS({ "nas", 45, 11, 101, 1, 880 }, { "nas", 46, 0, 10, 1, 880 });
	assert_int_equal(polled("nas"), 111);
}

TEST(mounts_of_one_superblock_are_named_anew_at_each_poll)
{
#define MOUNT(number, export) \
	number " 1 0:45 / /m" number " rw - nfs4 nas:" export " rw,vers=4.2,addr=10.0.0.1\n"
	start_empty();
	MOUNTS({ "nas", 45, 10, 100, 1, 880 }, { "nas", 45, 10, 100, 1, 880 });
	put(BY_PROCESS_1 "mountinfo", MOUNT("0", "/x/a") MOUNT("1", "/x/b"));
	assert_int_equal(polled("nas"), 100);
	assert_string_equal(clients.list[0].mount.export, "/x");
	assert_string_equal(clients.list[0].mount.mountpoint, "");
	MOUNTS({ "nas", 45, 11, 101, 1, 880 });
	put(BY_PROCESS_1 "mountinfo", MOUNT("0", "/x/b"));
	assert_int_equal(polled("nas"), 101);
	assert_int_equal(clients.count, 1);
	assert_string_equal(clients.list[0].mount.export, "/x/b");
	assert_string_equal(clients.list[0].mount.mountpoint, "/m0");
}

/* Each mount may have another server: the name of a referral, of an automounter's map. */
TEST(servers_without_end_do_not_fill_the_memory)
{
	static char names[1000][16];
	struct made_up_mount mounts[101] = {};
	uint64_t calls = 0, connects = 0;

	start_empty();
	for (unsigned int n = 0; n < COUNT(names); n++) {
		snprintf(names[n], sizeof(names[n]), "nas-%u", n);
		mounts[n % 100] = (struct made_up_mount){ names[n], n, 1, n, 1, n };
		if (n % 100 < 99)
			continue;
		put_mounts(mounts);
		assert_int_equal(polled("nas-3"), 3);
	}
	poll();
	assert_true(now.calls.op_count <= RPC_MAX_SERIES &&
		    now.calls.error_count <= RPC_MAX_SERIES);
	assert_true(now.calls.server_count <= RPC_MAX_SERVERS + 1 &&
		    now.calls.transport_count <= RPC_MAX_SERVERS + 1);
	for (size_t i = 0; i < now.calls.op_count; i++)
		calls += time_histogram_count(&now.calls.ops[i].total);
	for (size_t i = 0; i < now.calls.transport_count; i++)
		connects += now.calls.transports[i].connects;
	assert_int_equal(calls, 999 * 1000 / 2);
	assert_true(connects >= 64 + 36);
	assert_int_equal(reads("other"), calls - 63 * 64 / 2);
}

TEST(a_server_without_a_mount_for_an_hour_ends_with_its_counts)
{
	start_empty();
	for (uint64_t t = 0; t <= 3600 + 30; t += 15) {
		snapshot_free(&now);
		now = (struct snapshot){ .time_ns = (1 + t) * SECOND };
		clients.count = 0;
		if (!t)
			MOUNTS({ "nas", 1, 1, 5, 1, 1 }, { "stays", 2, 1, 7, 1, 1 });
		else
			MOUNTS({ "stays", 2, 1, 7, 1, 1 });
		assert_int_equal(mountstats_source.read(source, &now, &clients), 0);
		assert_int_equal(reads("nas"), t < 3600 + 15 ? 5 : 0);
		assert_int_equal(now.calls.server_count, t < 3600 + 15 ? 2 : 1);
		assert_int_equal(reads("stays"), 7);
	}
	MOUNTS({ "nas", 3, 1, 6, 1, 1 });
	poll();
	assert_int_equal(reads("nas"), 6);
}

/* Likewise its ops. */
TEST(ops_without_end_do_not_fill_the_memory)
{
	static char stats[1 << 19], infos[1 << 16];
	uint64_t calls = 0;

	start_empty();
	for (unsigned int i = 0; i < 40; i++) {
		append_text(stats,
			    "device nas-%u:/x mounted on /m%u with fstype nfs4 statvers=1.1\n"
			    "\tage:\t1\n\tper-op statistics\n",
			    i, i);
		for (unsigned int op = 0; op < RPC_MAX_OP; op++)
			append_text(stats, "\tOP%u: 1 1 0 1 1 1 1 1 1\n", op);
		append_text(infos, "%u 1 0:%u / /m%u rw - nfs4 nas-%u:/x rw,addr=10.0.0.1\n", i,
			    45 + i, i, i);
	}
	put(BY_PROCESS_1 "mountstats", stats);
	put(BY_PROCESS_1 "mountinfo", infos);
	poll();
	/* Two servers have all of their ops, and the others one for the rest of them. */
	assert_int_equal(now.calls.op_count, RPC_OP_SERIES - 1 + 38);
	assert_int_equal(now.calls.error_count, RPC_OP_SERIES - 1 + 38);
	for (size_t i = 0; i < now.calls.op_count; i++)
		calls += time_histogram_count(&now.calls.ops[i].total);
	assert_int_equal(calls, 40 * RPC_MAX_OP);
	assert_printed("nas-3 other rpc_series", "%s %s %s", now.calls.ops[RPC_OP_SERIES].server,
		       now.calls.ops[RPC_OP_SERIES].op, now.self.drops[0].reason);
	assert_int_equal(now.self.drops[0].count, 40 * RPC_MAX_OP - (RPC_OP_SERIES - 1));
}

TEST(figures_are_the_kernels)
{
	const struct rpc_transport_state *t;
	const struct rpc_op *op;

	start_empty();
	MOUNTS({ "nas", 45, 10, 100, 2, 880 }, { "nas", 46, 10, 0, 2, 880 });
	poll();
	assert_printed("1 op, 1 error, 1 transport", "%zu op, %zu error, %zu transport",
		       now.calls.op_count, now.calls.error_count, now.calls.transport_count);
	op = now.calls.ops;
	assert_printed("400 300 0 of 0, 10000 20000 bytes", "%lu %lu %lu of %lu, %lu %lu bytes",
		       op->total.sum_ns / MS, op->phase[RPC_PHASE_RTT].sum_ns / MS,
		       op->phase[RPC_PHASE_SETUP].sum_ns / MS,
		       time_histogram_count(&op->phase[RPC_PHASE_SETUP]), op->sent_bytes,
		       op->received_bytes);
	assert_printed("1 unknown", "%lu %s", now.calls.errors[0].count,
		       now.calls.errors[0].status);
	t = now.calls.transports;
	/* one transport, shown by both */
	assert_printed("tcp 3 200 2 0", "%s %lu %lu %lu %d", t->name, t->retransmits, t->timeouts,
		       t->connects, t->alive);
	assert_false(snapshot_knows(&now.calls, RPC_FACT_DISTRIBUTION));
	assert_false(snapshot_knows(&now.calls, RPC_FACT_PHASE + RPC_PHASE_SETUP));
	assert_true(snapshot_knows(&now.calls, RPC_FACT_PHASE + RPC_PHASE_RTT));
}

/* @name: "switch-0/xprt-1-tcp" */
static void put_transport(const char *name, const char *address, unsigned int port)
{
	put(formatted("/sys/kernel/sunrpc/xprt-switches/%s/dstaddr", name), address);
	put(formatted("/sys/kernel/sunrpc/xprt-switches/%s/xprt_info", name),
	    formatted("max_num_slots=100\nnum_reqs=10\npending_q_len=1\nsrc_port=1\ndst_port=%u\n",
		      port));
}

TEST(slots_are_those_of_the_mounts_transports)
{
	start_empty();
	MOUNTS({ "nas", 45, 10, 1, 1, 880 }, { "nas", 46, 10, 1, 1, 881 });
	put_transport("switch-0/xprt-1-tcp", "10.0.0.1\n", 2049);
	put_transport("switch-0/xprt-2-tcp", "10.0.0.1\n", 2049);
	put_transport("switch-1/xprt-3-tcp", "10.0.0.1\n", 999); /* lockd's */
	put_transport("switch-2/xprt-6-tcp", "10.0.0.1\n", 0); /* a backchannel */
	put_transport("switch-3/xprt-4-tcp", "10.0.0.2\n", 2049); /* another server's */
	put_transport("switch-4/xprt-5-udp", "10.0.0.1\n", 2049); /* mountd's */
	poll();
	assert_slots("nas", 2);
	assert_printed("1 1 20", "%zu %d %u", now.calls.transport_count,
		       now.calls.transports[0].alive, now.calls.transports[0].slots_allocated);
	/* and are gone with the mounts */
	MOUNTS();
	poll();
	assert_int_equal(now.calls.transport_count, 1);
	assert_false(now.calls.transports[0].alive);
}

TEST(versions_share_no_transport_and_names_do)
{
	start_empty();
	OPTIONS("vers=4.1,addr=10.0.0.1", "vers=4.2,addr=10.0.0.1");
	MOUNTS({ "nas", 45, 1, 1, 1, 0 }, { "nas", 46, 1, 1, 3, 0 });
	assert_int_equal(connects("nas"), 4);
	MOUNTS({ "nas", 45, 2, 1, 3, 0 }, { "nas", 46, 2, 1, 3, 0 });
	assert_int_equal(connects("nas"), 6);
	OPTIONS("vers=4.1,addr=10.0.0.1", "vers=4.2,addr=10.0.0.1", "vers=3,addr=10.0.0.4",
		"vers=3,addr=10.0.0.4");
	MOUNTS({ "nas", 45, 3, 1, 4, 0 }, { "nas", 46, 3, 1, 3, 0 }, { "one", 47, 1, 1, 2, 700 },
	       { "two", 48, 1, 1, 2, 700 });
	assert_int_equal(connects("nas"), 7);
	assert_int_equal(transport_of("one")->connects, 2);
	/* it connects again, from another port */
	OPTIONS("vers=3,addr=10.0.0.4", "vers=3,addr=10.0.0.4");
	MOUNTS({ "one", 47, 2, 1, 3, 701 }, { "two", 48, 2, 1, 3, 701 });
	assert_int_equal(connects("one"), 3);
}

TEST(servers_behind_one_address_have_their_ports)
{
	start_empty();
	OPTIONS("vers=4.1,port=20127,addr=127.0.0.1", "vers=4.1,port=20449,addr=127.0.0.1",
		"vers=4.1,port=2050,addr=fd00::1", "vers=4.1,proto=rdma,port=20049,addr=10.0.0.5");
	MOUNTS({ "127.0.0.1", 45, 1, 3, 4, 0 }, { "127.0.0.1", 46, 1, 5, 4, 0 },
	       { "[fd00::1]", 47, 1, 7, 1, 0 }, { "fast", 48, 1, 2, 1, 0 });
	put_transport("switch-0/xprt-1-tcp", "127.0.0.1\n", 20127);
	put_transport("switch-1/xprt-2-tcp", "127.0.0.1\n", 20449);
	put_transport("switch-1/xprt-3-tcp", "127.0.0.1\n", 20449);
	poll();
	assert_int_equal(reads("127.0.0.1:20127"), 3);
	assert_int_equal(reads("127.0.0.1:20449"), 5);
	assert_int_equal(reads("[fd00::1]:2050"), 7);
	assert_int_equal(reads("fast"), 2);
	assert_int_equal(transport_of("127.0.0.1:20449")->connects, 4);
	assert_slots("127.0.0.1:20127", 1);
	assert_slots("127.0.0.1:20449", 2);
}

/* As max_connect makes them, and other clients' remoteports. */
TEST(a_client_has_transports_at_several_addresses)
{
	start_empty();
	OPTIONS("vers=4.1,addr=10.0.0.1");
	transports = 4;
	MOUNTS({ "nas", 45, 1, 1, 1, 0 });
	for (unsigned int i = 0; i < 4; i++)
		put_transport(formatted("switch-7/xprt-%u-tcp", 9 + i),
			      formatted("10.0.0.%u\n", 1 + i), 2049);
	put_transport("switch-70/xprt-20-tcp", "10.0.0.2\n", 2049); /* another client's */
	assert_int_equal(connects("nas"), 4);
	assert_slots("nas", 4);
}

TEST(without_proc_nothing_is_counted)
{
	start();
	poll();
	assert_int_equal(now.calls.op_count, 0);
	/* what it finds first is from before */
	MOUNTS({ "nas", 45, 10, 1000, 1, 880 });
	assert_int_equal(polled("nas"), 0);
}

/* The kernel writes all ops, also those without calls. */
#define OPS_4                                                                    \
	"\t LAYOUTSTATS: 0 0 0 0 0 0 0 0 0\n\t       CLONE: 0 0 0 0 0 0 0 0 0\n" \
	"\t        COPY: 0 0 0 0 0 0 0 0 0\n\t        SEEK: 0 0 0 0 0 0 0 0 0\n"
#define OPS_64                                                                                    \
	OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 \
		OPS_4

/* As Debian's 6.1 writes them. */
static const char stats[] =
	"device sysfs mounted on /sys with fstype sysfs\n"
	"no device mounted on /odd with fstype autofs\n"
	"device nas-1:/srv/a\\040b mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n"
	"\topts:\trw,vers=4.2,rsize=524288,proto=tcp,nconnect=2\n"
	"\tage:\t17\n"
	"\timpl_id:\tname='',domain='',date='0,0'\n"
	"\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=524288\n"
	"\tsec:\tflavor=1,pseudoflavor=1\n"
	"\tevents:\t1 2 3 \n"
	"\tbytes:\t1 2 3 \n"
	"\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
	"\txprt:\ttcp 880 1 2 0 4 42 42 0 42 0 2 0 0\n"
	"\txprt:\ttcp 693 1 3 0 4 30 30 0 30 0 2 0 0\n"
	"\tper-op statistics\n"
	"\t        NULL: 3 3 0 132 72 0 1 2 0\n"
	"\t        READ: 100 103 1 20000 412800 12 345 400 2\n"
	"\t       WRITE: 0 0 0 0 0 0 0 0 0\n" OPS_64 "\n"
	"device [fd00::1]:/ mounted on /v6 with fstype nfs statvers=1.1\n"
	"\tage:\t1\n"
	"\txprt:\tudp 1023 1 7 7 0 7 0\n"
	"\tper-op statistics\n"
	"\t        READ: 1 1 0 200 300 0 0 1\n"
	"device proc mounted on /proc with fstype proc\n";

TEST(mounts_are_read_one_by_one)
{
	static struct mountstats_mount mount;
	struct span m = span_of(stats);
	const struct mountstats_op *op = &mount.ops[1];

	assert_true(mountstats_next(&m, &mount));
	/* WRITE has not been called */
	assert_printed("nas-1 '/mnt/a b' 17: 2 of tcp 880, 3; 2 ops",
		       "%s '%s' %lu: %zu of %s %u, %lu; %zu ops", mount.server, mount.mountpoint,
		       mount.age, mount.transport_count, mount.transports[0].protocol,
		       mount.transports[0].port, mount.transports[1].connects, mount.op_count);
	assert_printed("READ 100 103 1 20000 412800 345 400 2",
		       "%s %lu %lu %lu %lu %lu %lu %lu %lu", op->name, op->calls, op->transmits,
		       op->timeouts, op->sent_bytes, op->received_bytes, op->rtt_ms, op->total_ms,
		       op->errors);
	assert_true(mountstats_next(&m, &mount));
	/* no errors before 5.3 */
	assert_printed("fd00::1 1 0 1 0", "%s %zu %lu %zu %lu", mount.server, mount.transport_count,
		       mount.transports[0].connects, mount.op_count, mount.ops[0].errors);
	assert_false(mountstats_next(&m, &mount));
}

/* The longest that a server can choose, with the begin of another mount at its end. */
TEST(the_devices_of_the_volumes_are_read)
{
	struct span text =
		span_of("NV SERVER   PORT DEV          FSID                              FSC\n"
			"v4 0a000901  801 0:53         1:0                               no \n"
			"v3 0a000902  801 1:1048575    2:0                               no \n");
	uint64_t device;

	assert_true(nfs_volumes_next(&text, &device));
	assert_int_equal(device, 53);
	assert_true(nfs_volumes_next(&text, &device));
	assert_int_equal(device, 1ull << 32 | 1048575);
	assert_false(nfs_volumes_next(&text, &device));
}

TEST(the_text_of_a_server_begins_no_mount)
{
	static const char forged[] =
		"\n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\tevil 1 1 1\n"
		"\tper-op statistics\n\tEVIL: 1 1 0 1 1 1 1 1 0\n\n"
		"device nas-2:/ mounted on /two with fstype nfs statvers=1.1\n\timpl_id:\tname='";
	static struct mountstats_mount mount;
	char text[3 * sizeof(stats)], name[1025];
	struct span m;

	snprintf(name, sizeof(name), "%*s%s", (int)(sizeof(name) - sizeof(forged)), "", forged);
	snprintf(text, sizeof(text),
		 "device nas-1:/ mounted on /one with fstype nfs4 statvers=1.1\n\tage:\t17\n"
		 "\timpl_id:\tname='%s',domain='%s',date='18446744073709551615,4294967295'\n"
		 "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\ttcp 880 1 2 0 4\n"
		 "\tper-op statistics\n\tREAD: 100 103 1 20000 412800 12 345 400 2\n" OPS_64
		 "\ndevice nas-2:/ mounted on /two with fstype nfs statvers=1.1\n\tage:\t1\n",
		 name, name);
	m = span_of(text);
	assert_true(mountstats_next(&m, &mount));
	assert_printed("/one 1 READ 1 tcp", "%s %zu %s %zu %s", mount.mountpoint, mount.op_count,
		       mount.ops[0].name, mount.transport_count, mount.transports[0].protocol);
	assert_true(mountstats_next(&m, &mount));
	assert_printed("/two 0 0", "%s %zu %zu", mount.mountpoint, mount.op_count,
		       mount.transport_count);
	assert_false(mountstats_next(&m, &mount));
}

/* Up to 5.14 it ends before the port. */
TEST(a_transport_of_sysfs_has_all_three_figures)
{
	static const char whole[] = "max_num_slots=1\nnum_reqs=2\npending_q_len=3\n";
	struct xprt_file info = {};

	assert_true(xprt_info_parse(&info, whole));
	assert_printed("1 2 3 0", "%u %u %u %d", info.slots_max, info.slots_allocated, info.pending,
		       info.has_port);
	NONE_ACCEPTED(text, xprt_info_parse(&info, text), "", "num_reqs=2\npending_q_len=3\n",
		      "max_num_slots=1\npending_q_len=3\n", "max_num_slots=1\nnum_reqs=2\n",
		      "max_num_slots=x\nnum_reqs=2\npending_q_len=3\n");
}
