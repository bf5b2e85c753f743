// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Of the source tracepoints: proves that TCP's figures are those of the connections to the servers, each of which keeps its
 * number, and that new ones are looked for when that is due. */
#include "unit.h"
#include "snapshot.h"

#include "kernel/bpf_support.h"

static uint32_t run_of_kernel(const struct bpf_program *program, const void *arguments,
			      size_t size);
#define bpf_run run_of_kernel
#include "rpc/tracepoints/tcp.c"

/* The sockets that there are; sk 0: none. */
static struct {
	uint64_t sk;
	struct tcp_socket now;
} sockets[4];
static unsigned int looks;
static struct tcp_sockets_bpf__bss bss;
static struct tcp_sockets_bpf bpf = { .bss = &bss };
static struct tracepoint_maps m;
static struct tcp_connections t;

static uint32_t run_of_kernel(const struct bpf_program *program, const void *arguments, size_t size)
{
	uint64_t argument = *(const uint64_t *)arguments;
	uint32_t result = 0;

	(void)program;
	assert_int_equal(size, sizeof(argument));
	looks += !argument;
	for (size_t i = 0; i < COUNT(sockets); i++) {
		if (argument ? sockets[i].sk != argument : !sockets[i].sk)
			continue;
		if (!argument) {
			bss.tcp_found[bss.tcp_count++] = sockets[i].sk;
			continue;
		}
		bss.tcp_socket = sockets[i].now;
		result = 1;
	}
	return result;
}

/* From @port to 10.0.0.@host. */
static void put(size_t i, uint64_t sk, uint16_t port, uint8_t host, uint64_t received)
{
	sockets[i].sk = sk;
	sockets[i].now = (struct tcp_socket){
		.ends = { .local = { { 10, 0, 0, 9 }, AF_INET, port },
			  .remote = { { 10, 0, 0, host }, AF_INET, 2049 } },
		.tcp = { .received_bytes = received, .rcv_wnd = 65536, .min_rtt = 20 },
	};
}

BEFORE_EACH()
{
	static const char *const names[] = { "nas", "nas", "other" };

	m = (struct tracepoint_maps){ .named = 1 };
	for (size_t i = 0; i < COUNT(names); i++) {
		strcpy(m.labels[i].server, names[i]);
		strcpy(m.labels[i].address, formatted("10.0.0.%zu", i + 1));
		m.labels[i].port = 2049;
	}
	memset(sockets, 0, sizeof(sockets));
	t = (struct tcp_connections){ .bpf = &bpf };
	looks = 0;
}

AFTER_EACH()
{
	free(t.list);
}

/* A snapshot has these connections, each "SERVER NAME LOCAL-PORT BYTES;". */
static void expect(const char *expected)
{
	char *text = strdup("");

	snapshot_free(&now);
	now = (struct snapshot){ .time_ns = now.time_ns + 1 };
	assert_int_equal(tcp_connections_add(&t, &m, NULL, &now), 0);
	for (size_t i = 0; i < now.calls.transport_count; i++) {
		const struct rpc_transport_state *c = &now.calls.transports[i];
		char *longer;

		assert_true(c->named_only && c->rcv_wnd == 65536 && c->min_rtt_ns == 20000);
		assert_string_equal(c->local.address, "10.0.0.9");
		assert_true(asprintf(&longer, "%s%s %s %u %lu;", text, c->server, c->name,
				     c->local.port, c->received_bytes) > 0);
		free(text);
		text = longer;
	}
	assert_string_equal(text, expected);
	free(text);
}

TEST(each_connection_keeps_its_number)
{
	put(0, 0x1000, 800, 1, 5);
	put(1, 0x2000, 801, 2, 6); /* the same server */
	put(2, 0x3000, 802, 3, 7);
	put(3, 0x4000, 803, 4, 7); /* to the port of another program's server */
	expect("nas tcp/0 800 0;nas tcp/1 801 0;other tcp/0 802 0;");
	sockets[0].sk = 0;
	sockets[1].now.tcp.received_bytes = 16;
	expect("nas tcp/1 801 10;other tcp/0 802 0;");
	t.due_ns = 0;
	put(0, 0x5000, 804, 1, 1); /* in its place */
	expect("nas tcp/0 804 0;nas tcp/1 801 10;other tcp/0 802 0;");
}

TEST(memory_that_another_socket_uses_is_not_the_connection)
{
	static const struct {
		uint16_t port;
		uint64_t received;
	} cases[] = { { 900, 9 }, { 800, 4 } /* the same once more */ };

	for (size_t i = 0; i < COUNT(cases); i++) {
		t.due_ns = 0;
		put(0, 0x1000, 800, 1, 5);
		expect("nas tcp/0 800 0;");
		put(0, 0x1000, cases[i].port, 1, cases[i].received);
		t.due_ns = UINT64_MAX;
		expect("");
		t.due_ns = 0;
		expect(formatted("nas tcp/0 %u 0;", cases[i].port));
		sockets[0].sk = 0;
		expect("");
	}
}

TEST(new_ones_are_looked_for_when_it_is_due_or_a_server_is_new)
{
	m.named = 0;
	expect("");
	assert_int_equal(looks, 0);
	m.named = 1;
	put(0, 0x1000, 800, 1, 5);
	expect("nas tcp/0 800 0;");
	assert_int_equal(looks, 1);
	t.due_ns = UINT64_MAX;
	sockets[0].now.tcp.received_bytes = 50;
	expect("nas tcp/0 800 45;");
	assert_int_equal(looks, 1);
	m.named++;
	put(1, 0x2000, 801, 1, 6);
	expect("nas tcp/0 800 45;nas tcp/1 801 0;");
	assert_int_equal(looks, 2);
	assert_true(t.due_ns < UINT64_MAX);
}

TEST(looks_are_as_far_apart_as_their_cost_allows)
{
	assert_int_equal(apart_ns(thread_cpu_ns(), 0, 5, 9), 5);
	assert_int_equal(apart_ns(0, UINT64_MAX / thread_cpu_ns() / 2, 5, 9), 9);
	assert_true(apart_ns(0, 2, 5, UINT64_MAX) > thread_cpu_ns());
}
