// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves the rules of docs/VERDICT.md on set-ups whose limit is known by construction: clients that call in a loop,
 * slots, and a server that serves some calls at once, simulated call by call into snapshots. The gain that is
 * predicted is compared with that of the same set-up with the slots that were proposed. */
#include "unit.h"
#include "limits/headline.h"
#include "snapshot.h"

#define SERVER "nas"
#define CALLERS 512

static struct limit_sums sums;
static struct verdict verdict;
static double cpu_waiting; /* share of the time in which a task waits for a CPU */

/* A set-up, and the calls in it. */
struct setup {
	unsigned int slots, servers; /* how many calls are served at once */
	uint64_t service_ns, delay_ns, think_ns, send_ns, finish_ns, setup_ns;
	uint64_t uneven_ns; /* calls take so much longer and so much shorter in turn */
	uint64_t tick_ns; /* answers come at its multiples, all of them before the next call */
	enum rpc_phase waits; /* what waiting for slots is */
	const char *op, *protocol; /* NULL: tcp */
	uint64_t bytes;
	struct rpc_transport_state
		path; /* what TCP knows of the connection; its bytes are those of a second */
	/* State, which a set-up that goes on keeps. @at: when the caller's present step ends. */
	enum { THINKS, WAITS, SERVED } step[CALLERS];
	uint64_t at[CALLERS], begun[CALLERS], sent[CALLERS];
	uint64_t queue[CALLERS]; /* order of arrival */
	uint64_t free_at[CALLERS]; /* of each of the server's workers */
	uint64_t order, calls, time_ns, replied;
	unsigned int in_use, known; /* as many have called */
};

/* How many slots, how many calls are served at once, how long each takes; calls wait for RPC slots. */
#define SETUP_OF(waits_, slots_, servers_, service_, op_, ...)                                   \
	{                                                                                        \
		.slots = (slots_), .servers = (servers_), .service_ns = (service_), .op = (op_), \
		.waits = (waits_), __VA_ARGS__                                                   \
	}

#define SETUP(...) SETUP_OF(RPC_PHASE_SLOT, __VA_ARGS__)
#define SESSION_SETUP(...) SETUP_OF(RPC_PHASE_SESSION, __VA_ARGS__)

AFTER_EACH()
{
	limit_sums_free(&sums);
	cpu_waiting = 0;
}

BEFORE_EACH()
{
	before.time_ns = 1; /* 0 is no snapshot */
}

static struct rpc_op *op_of(const char *name)
{
	return not_null(snapshot_op(&now.calls, SERVER, name));
}

static struct rpc_server_state *server(void)
{
	return not_null(snapshot_server(&now.calls, SERVER));
}

static struct rpc_transport_state *transport(void)
{
	struct rpc_transport_state *t = not_null(snapshot_transport(&now.calls, SERVER, "tcp/0"));

	if (!*t->protocol)
		strcpy(t->protocol, "tcp");
	t->alive = true;
	return t;
}

static const char *headline(void)
{
	static struct headline h;

	h = (struct headline){};
	headline_add_server(&h, &sums, &now.calls, SERVER, now.wall);
	assert_true(h.count);
	return h.items[0].text;
}

/* A reply has come, as bpf/rpc_phases.bpf.h records it. */
static void reply(struct setup *u, uint64_t when)
{
	uint64_t gap = (when - u->replied) >> RPC_GAP_SHIFT;

	if (u->replied) {
		server()->gaps.count++;
		server()->gaps.sum += gap;
		server()->gaps.squares += gap * gap;
	}
	u->replied = when;
}

/* The call of @c ends. */
static void finish(struct setup *u, unsigned int c)
{
	struct rpc_op *op = op_of(u->op);
	struct rpc_server_state *s = server();
	uint64_t waited = u->sent[c] - u->begun[c], rtt = u->at[c] - u->sent[c] - u->finish_ns;
	uint64_t send = u->send_ns;

	histogram_record(&op->total, 1, u->at[c] - u->begun[c]);
	for (int p = 0; p < RPC_PHASES; p++)
		histogram_record(&op->phase[p], 1,
				 p == (int)u->waits    ? waited :
				 p == RPC_PHASE_SEND   ? send :
				 p == RPC_PHASE_SETUP  ? u->setup_ns :
				 p == RPC_PHASE_RTT    ? rtt - send - u->setup_ns :
				 p == RPC_PHASE_FINISH ? u->finish_ns :
							 0);
	op->received_bytes += u->bytes;
	s->depth[RPC_QUEUE_PENDING].sum += u->in_use - 1;
	s->depth[RPC_QUEUE_PENDING].bucket[0]++;
	if (s->depth_max[RPC_QUEUE_PENDING] < u->in_use - 1)
		s->depth_max[RPC_QUEUE_PENDING] = u->in_use - 1;
	transport()->replies++;
	transport()->rtt_ns += rtt;
	if (waited)
		reply(u, u->at[c] - u->finish_ns);
	u->in_use--;
	u->calls++;
	u->step[c] = THINKS;
	u->at[c] += u->think_ns;
}

/* A slot is free for @c from @when on: the server's first free worker takes the call. */
static void send_call(struct setup *u, unsigned int c, uint64_t when)
{
	unsigned int worker = 0;
	uint64_t begin;

	for (unsigned int i = 1; i < u->servers; i++)
		if (u->free_at[i] < u->free_at[worker])
			worker = i;
	begin = u->free_at[worker] > when ? u->free_at[worker] : when;
	u->free_at[worker] =
		begin + u->service_ns + (u->order % 2 ? 2 * u->uneven_ns : 0) - u->uneven_ns;
	u->sent[c] = when;
	u->step[c] = SERVED;
	u->at[c] = u->free_at[worker] + u->delay_ns + u->finish_ns + u->send_ns + u->setup_ns;
	if (u->tick_ns)
		u->at[c] = (u->at[c] + u->tick_ns - 1) / u->tick_ns * u->tick_ns;
	u->in_use++;
}

static unsigned int first_waiter(const struct setup *u)
{
	unsigned int first = CALLERS;

	for (unsigned int c = 0; c < u->known; c++)
		if (u->step[c] == WAITS && (first == CALLERS || u->queue[c] < u->queue[first]))
			first = c;
	return first;
}

/* The last of those who wait for a slot finds the others. */
static void join_queue(const struct setup *u)
{
	unsigned int limit = u->waits == RPC_PHASE_SLOT ? RPC_QUEUE_SLOT : RPC_QUEUE_SESSION;
	struct rpc_server_state *s = server();
	uint32_t waiting = 0;

	for (unsigned int c = 0; c < u->known; c++)
		waiting += u->step[c] == WAITS;
	s->depth[limit].sum += waiting;
	s->depth[limit].bucket[0]++;
	if (s->depth_max[limit] < waiting)
		s->depth_max[limit] = waiting;
}

static bool answers_at(const struct setup *u, uint64_t when)
{
	for (unsigned int c = 0; c < u->known; c++)
		if (u->step[c] == SERVED && u->at[c] == when)
			return true;
	return false;
}

/* @callers call until @until. Those beyond end what they do. */
static void simulate(struct setup *u, unsigned int callers, uint64_t until)
{
	u->known = callers > u->known ? callers : u->known;
	for (unsigned int c = 0; c < callers; c++)
		if (u->step[c] == THINKS && u->at[c] < u->time_ns)
			u->at[c] = u->time_ns;
	u->time_ns = until;
	for (;;) {
		unsigned int next = CALLERS, waiter;
		uint64_t when;

		for (unsigned int c = 0; c < u->known; c++)
			if (u->step[c] != WAITS && (c < callers || u->step[c] == SERVED) &&
			    (next == CALLERS || u->at[c] < u->at[next]))
				next = c;
		if (next == CALLERS || u->at[next] > until)
			return;
		when = u->at[next];
		if (u->step[next] == SERVED) {
			finish(u, next);
		} else {
			u->begun[next] = when;
			u->step[next] = WAITS;
			u->queue[next] = u->order++;
		}
		if (u->tick_ns && answers_at(u, when))
			continue;
		while ((waiter = first_waiter(u)) < CALLERS && u->in_use < u->slots)
			send_call(u, waiter, when > u->begun[waiter] ? when : u->begun[waiter]);
		if (u->step[next] == WAITS)
			join_queue(u);
	}
}

/* One interval ends: judges what happened in it, with what was before. */
static void end_interval(uint64_t ns)
{
	now.time_ns = before.time_ns + ns;
	now.calls.cpu_waiting_ns += (uint64_t)((double)ns * cpu_waiting);
	limit_sums_add(&sums, subtract());
	assert_int_equal(snapshot_copy(&before, &now), 0);
}

static void assert_bound(enum bound bound, enum confidence confidence)
{
	assert_string_equal(bound_names[verdict.bound_by], bound_names[bound]);
	assert_string_equal(confidence_names[verdict.confidence], confidence_names[confidence]);
}

/* The verdict on what the sums have. */
static void judge(enum bound bound, enum confidence confidence)
{
	verdict = verdict_of(&sums, SERVER);
	assert_bound(bound, confidence);
	assert_int_not_equal(verdict.sentence[strlen(verdict.sentence) - 1], ' ');
}

/* Calls of @op that took @total_ns each, @ns of it in @phase. */
static void record(const char *op, uint64_t calls, uint64_t total_ns, enum rpc_phase phase,
		   uint64_t ns)
{
	histogram_record(&op_of(op)->total, calls, total_ns);
	histogram_record(&op_of(op)->phase[phase], calls, ns);
}

/* More of the calls of @op end so. */
static void add_errors(const char *op, const char *status, uint64_t count)
{
	snapshot_error(&now.calls, SERVER, op, status)->count += count;
}

/* An interval of a second, at whose end the oldest call waits for so long. */
static void wait_on(uint64_t oldest_ns)
{
	server()->oldest_ns[RPC_QUEUE_PENDING] = oldest_ns;
	transport()->oldest_ns = oldest_ns;
	now.wall++;
	end_interval(SECOND);
}

/* The server answers nothing for so long. */
static void be_silent(unsigned int seconds)
{
	for (unsigned int i = 1; i <= seconds; i++)
		wait_on(i * SECOND);
}

/* Intervals of one second, with as many callers as the list says, which ends with 0. */
static void run_list(struct setup *u, const unsigned int *callers)
{
	op_of(u->op);
	for (; *callers; callers++) {
		uint64_t waited = 0;

		if (u->protocol)
			strcpy(transport()->protocol, u->protocol);
		transport()->received_bytes += u->path.received_bytes;
		transport()->carries = u->path.carries;
		transport()->rcv_wnd = u->path.rcv_wnd;
		transport()->min_rtt_ns = u->path.min_rtt_ns;
		transport()->srtt_ns = u->path.srtt_ns;
		transport()->slots_max = u->waits == RPC_PHASE_SLOT ? u->slots : 65536;
		server()->session_slots = u->waits == RPC_PHASE_SESSION ? u->slots : 0;
		simulate(u, *callers, before.time_ns + SECOND);
		if (*callers > u->slots)
			waited = SECOND;
		transport()->saturated_ns[u->waits == RPC_PHASE_SLOT ? RPC_LIMIT_SLOT :
								       RPC_LIMIT_SESSION] += waited;
		end_interval(SECOND);
	}
	verdict = verdict_of(&sums, SERVER);
	print_message("# %s, %s, gain %.2f to %.2f, %s=%s: %s\n", bound_names[verdict.bound_by],
		      confidence_names[verdict.confidence], verdict.gain_expected,
		      verdict.gain_at_most, verdict.setting, verdict.value, verdict.sentence);
}

#define RUN(u, ...) run_list(u, (const unsigned int[]){ __VA_ARGS__, 0 })

/* Calls per second of @callers with @slots of such a set-up, after a while. */
static double throughput(const struct setup *like, unsigned int slots, unsigned int callers)
{
	struct setup u = *like;
	uint64_t calls;

	memset(u.step, 0, sizeof(u.step));
	memset(u.at, 0, sizeof(u.at));
	memset(u.free_at, 0, sizeof(u.free_at));
	u.time_ns = 0;
	u.in_use = 0;
	u.slots = slots;
	simulate(&u, callers, 2 * SECOND);
	calls = u.calls;
	simulate(&u, callers, 12 * SECOND);
	return (double)(u.calls - calls) / 10;
}

/* The set-up with the slots that were proposed gains what was predicted. */
static void assert_gain(const struct setup *u, unsigned int callers, double width)
{
	unsigned int slots = (unsigned int)strtoul(verdict.value, NULL, 10);
	double gain;

	assert_true(slots > u->slots);
	gain = throughput(u, slots, callers) / throughput(u, u->slots, callers);
	print_message("# measured with %u slots: %.2f\n", slots, gain);
	assert_true(gain <= verdict.gain_at_most * 1.05);
	assert_true(gain >= verdict.gain_expected / 1.3);
	if (verdict.gain_expected > 0)
		assert_true(verdict.gain_at_most <= verdict.gain_expected * width);
}

/* ---- one set-up, and the verdict on it ---- */

#define STEADY 32, 32, 32, 32, 32, 32
#define VARIED 1, 1, 2, 2, 4, 4, 32, 32, 32, 32
#define ALTERNATED 1, 1, 2, 2, 32, 32, 1, 1, 2, 2, 32, 32
#define TCP_SLOTS "sunrpc.tcp_max_slot_table_entries"

#define PATH(bytes_, window_, min_, now_, carries_) \
	.path = { .received_bytes = (bytes_),       \
		  .rcv_wnd = (window_),             \
		  .min_rtt_ns = (min_),             \
		  .srtt_ns = (now_),                \
		  .carries = (carries_) }

/* clang-format off */
static const struct {
	const char *name;
	struct setup u;
	unsigned int callers[16]; /* of each interval of a second */
	enum bound bound;
	enum confidence confidence;
	const char *setting, *value, *sentence; /* a part of it; NULL: any */
	double gain; /* the bracket is no wider, and the gain that was measured is in it; 0: there is none */
	double most[2]; /* gain_at_most, from and to */
	uint32_t wanted, wanted_tcp; /* slots, session's and of TCP */
	double cpu_waiting;
	uint64_t unknown;
	bool goes_on; /* from the case before */
} cases[] = {
	{ "calls in flight varied, and answers took as long", SETUP(4, 500, 20 * MS, "READ", .bytes = 4096), {
	  VARIED }, BOUND_SLOT, CONFIDENCE_MEDIUM, .setting = TCP_SLOTS, .gain = 1.5 },
	{ "and the server would have less than one", SETUP(4, 500, 20 * MS, "READ", .bytes = 4096, PATH(400000, 90000, 19 * MS,
	  19 * MS, false)), { VARIED }, BOUND_SLOT, CONFIDENCE_HIGH, .setting = TCP_SLOTS, .gain = 1.5 },
	{ "or so with the slots before they are rounded up", SETUP(6, 500, 20 * MS, "READ", .bytes = 4096, PATH(400000, 90000,
	  19250000, 19250000, false)), { VARIED }, BOUND_SLOT, CONFIDENCE_MEDIUM, .value = "32", .gain = 1.5 },
	{ "or three at once", SETUP(4, 500, 20 * MS, "READ", .bytes = 4096, PATH(400000, 90000, 16 * MS, 16 * MS, false)), {
	  VARIED }, BOUND_SLOT, CONFIDENCE_MEDIUM, .setting = TCP_SLOTS, .gain = 1.5 },
	/* The last interval has all of the load, whose calls have hardly waited yet. */
	{ "a load that has just begun", SETUP(3, 500, 400 * MS, "READ", .bytes = 4096), { 1, 1, 1, 64 }, BOUND_SLOT,
	  CONFIDENCE_LOW, .setting = TCP_SLOTS, .gain = 9, .most = { 21, 21.4 } },
	/* Each finds half of the slots in use as it ends, although all are in use all the time. */
	{ "calls end together", SETUP(16, 500, 40 * MS, "WRITE", .tick_ns = 4 * MS, .bytes = 4096), { 2, 2, 4, 4, 6,
	  6, 64, 64, 64, 64 }, BOUND_SLOT, CONFIDENCE_MEDIUM, .gain = 1.5 },
	/* The first ones to wait in a burst of long calls wait less than those after them. */
	{ "first calls of a burst", SESSION_SETUP(4, 500, 200 * MS, "READ", .bytes = 4096), { 16, 16, 16, 16 },
	  BOUND_SESSION, CONFIDENCE_LOW, .gain = 4.5, .wanted = 4 },
	/* Some calls more than slots wait for a small part of their time, and not at all before. */
	{ "slots bind in half of the session", SETUP(64, 500, 100 * MS, "READ", .bytes = 4096), { 32, 32, 32, 32,
	  32, 32, 32, 32, 76, 76, 76, 76 }, BOUND_SLOT, CONFIDENCE_MEDIUM, .gain = 1.5 },
	{ "the load that wants most counts", SETUP(6, 500, 20 * MS, "READ", .bytes = 4096), { 1, 1, 2, 2, 8, 8, 8, 8,
	  40, 40, 40, 40 }, BOUND_SLOT, CONFIDENCE_MEDIUM, .setting = TCP_SLOTS, .gain = 1.5, .most = { 5.3, 5.4 } },
	{ "without variation the bracket is wide", SETUP(4, 500, 20 * MS, "READ"), { STEADY }, BOUND_SLOT,
	  CONFIDENCE_LOW, .sentence = "cannot be decided", .gain = 9, .most = { 7.5, 8.1 } },
	{ "a serial server behind few slots", SETUP(4, 1, 5 * MS, "WRITE", .bytes = 4096), { ALTERNATED }, BOUND_SERVER,
	  CONFIDENCE_MEDIUM, .setting = "", .most = { 1, 1.1 } },
	{ "which was busy before", SETUP(4, 1, 5 * MS, "WRITE"), { STEADY }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "",
	  .sentence = "at equal distances, every 5 ms", .most = { 1, 1.001 } },
	{ "behind slots of the session", SESSION_SETUP(4, 1, 5 * MS, "WRITE"), { STEADY }, BOUND_SERVER, CONFIDENCE_MEDIUM,
	  .setting = "", .wanted = 64 },
	{ "too few slots", SETUP(3, 1, 5 * MS, "WRITE"), { STEADY }, BOUND_SLOT, CONFIDENCE_LOW, .setting = TCP_SLOTS },
	{ "too few replies", SETUP(4, 1, 55 * MS, "WRITE"), { STEADY }, BOUND_SLOT, CONFIDENCE_LOW, .setting = TCP_SLOTS },
	{ "just enough of them", SETUP(4, 1, 45 * MS, "WRITE"), { STEADY }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "distances that are nearly equal", SETUP(4, 1, 5 * MS, "WRITE", .uneven_ns = 1100000), { STEADY }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "distances that are not", SETUP(4, 1, 5 * MS, "WRITE", .uneven_ns = 1200000), { STEADY }, BOUND_SLOT, CONFIDENCE_LOW, .setting = TCP_SLOTS },
	{ "then equal ones in less than half of the time", SETUP(4, 1, 5 * MS, "WRITE"), { 32, 32, 32, 32, 32 }, BOUND_SLOT,
	  CONFIDENCE_LOW, .setting = TCP_SLOTS, .goes_on = true },
	{ "then in most of it", SETUP(4, 1, 5 * MS, "WRITE"), { 32, 32 }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "",
	  .goes_on = true },
	{ "a serial server that is busy from five slots on", SETUP(6, 1, 4 * MS, "WRITE", .delay_ns = 14 * MS), { VARIED },
	  BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "", .sentence = "at equal distances" },
	{ "a link that brings parts of replies", SETUP(4, 1, 5 * MS, "READ", PATH(5000000, 700000, MS / 5, MS, true)), {
	  ALTERNATED }, BOUND_SERVER, CONFIDENCE_MEDIUM, .sentence = "A link at its rate looks the same." },
	{ "two workers behind four slots", SETUP(4, 2, 5 * MS, "WRITE"), { ALTERNATED }, BOUND_SERVER, CONFIDENCE_MEDIUM,
	  .most = { 0, 1.1 } },
	/* An answer takes longer only with more calls in flight than the server has workers. So the line from
	 * one call to all slots is not as steep as it is beyond. */
	{ "six workers behind eight slots make no promise", SETUP(8, 6, 20 * MS, "WRITE"), { 1, 1, 1, 1, 64, 64, 64,
	  64 }, BOUND_SLOT, CONFIDENCE_LOW, .setting = NULL },
	{ "session slots", SESSION_SETUP(4, 500, 30 * MS, "READ"), { VARIED }, BOUND_SESSION, CONFIDENCE_MEDIUM,
	  .setting = "nfs.max_session_slots", .gain = 1.5, .wanted = 4 },
	{ "session slots that the server limits", SESSION_SETUP(4, 500, 30 * MS, "READ"), { STEADY }, BOUND_SESSION,
	  CONFIDENCE_LOW, .setting = "", .sentence = "The session has 4 slots", .wanted = 64 },
	{ "slots that were raised since the mount", SETUP(4, 500, 30 * MS, "READ"), { STEADY }, BOUND_SLOT,
	  CONFIDENCE_LOW, .setting = "", .sentence = "sunrpc.tcp_max_slot_table_entries is 64: mount again", .wanted_tcp = 64 },
	{ "slots of rdma", SETUP(128, 500, 54 * MS, "WRITE", .protocol = "rdma"), { 16, 16, 32, 64, 256, 256, 256 },
	  BOUND_SLOT, CONFIDENCE_MEDIUM, .setting = "sunrpc.rdma_slot_table_entries", .gain = 1.5 },
	{ "one call after the other", SETUP(64, 8, MS / 2, "READ", .think_ns = MS / 10), { 1, 1, 1 },
	  BOUND_APPLICATION, CONFIDENCE_MEDIUM, .most = { 0, 0.001 } },
	{ "long answers", SETUP(64, 64, 80 * MS, "READ"), { 1, 1, 1, 16, 16 }, BOUND_SERVER, CONFIDENCE_MEDIUM,
	  .setting = NULL },
	{ "a full receive window", SETUP(64, 500, 290 * MS, "READ", PATH(2000000, 44000, 20 * MS, 20 * MS, true)), {
	  8, 8, 8, 8 }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "net.ipv4.tcp_rmem[2]", .value = "1048576",
	  .sentence = "43 KiB under way, and a round trip takes 20 ms: 2.2 MB/s", .most = { 14, 15 } },
	{ "whose calls are rarely as many", SETUP(64, 500, 290 * MS, "READ", PATH(2000000, 44000, 20 * MS, 20 * MS, true)), {
	  1, 1, 1, 8 }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "net.ipv4.tcp_rmem[2]", .most = { 35, 36 } },
	{ "a full receive window, and few slots", SETUP(4, 500, 290 * MS, "READ", PATH(2000000, 44000, 20 * MS,
	  20 * MS, true)), { STEADY }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "net.ipv4.tcp_rmem[2]" },
	{ "a window that grows beyond the need", SETUP(64, 500, 290 * MS, "READ", PATH(2000000, 60000, 20 * MS,
	  20 * MS, true)), { 8, 8, 8, 8 }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "a link at its rate", SETUP(64, 500, 80 * MS, "READ", PATH(5000000, 700000, MS / 5, 14 * MS, true)), { 1,
	  1, 1, 1 }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "", .sentence = "takes 14 ms, 0.2 ms without" },
	/* Who has to mount again all mounts of a server wants more than a tenth. */
	{ "a window that gains a tenth", SETUP(64, 64, 43 * MS, "READ", .bytes = 1 << 20, PATH(170 << 20, 7 << 20, 40 * MS,
	  41 * MS, false)), { 8, 8, 8, 8 }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "" },
	/* Small replies, of which hardly ever a part has come: what they queue shows in the round trip. */
	{ "a link at its rate with small replies", SETUP(8, 1, 40 * MS, "READ", PATH(120000, 90000, 2 * MS, 310 * MS, false)), {
	  1, 1, 2, 32, 32, 32, 32 }, BOUND_NETWORK, CONFIDENCE_MEDIUM, .setting = "", .sentence = "wait in queues" },
	{ "a server that acknowledges late", SETUP(8, 1, 40 * MS, "READ", PATH(120000, 90000, 2 * MS, 90 * MS, false)), {
	  ALTERNATED }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "or with the next reply", SETUP(8, 1, 300 * MS, "READ", PATH(16000, 90000, 2 * MS, 310 * MS, false)), { STEADY },
	  BOUND_SLOT, CONFIDENCE_LOW, .setting = NULL },
	{ "too few looks at it", SETUP(64, 500, 80 * MS, "READ", PATH(5000000, 700000, MS / 5, 14 * MS, true)), { 1,
	  1 }, BOUND_SERVER, CONFIDENCE_LOW, .setting = "" },
	{ "replies that come late, but at once", SETUP(64, 500, 80 * MS, "READ", PATH(5000000, 700000, MS / 5,
	  80 * MS, false)), { 1, 1, 1, 1 }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "waiting to transmit, and for slots behind it", SETUP(4, 500, 2 * MS, "WRITE", .send_ns = 40 * MS,
	  PATH(2000, 90000, MS, 50 * MS, true)), { VARIED }, BOUND_SEND, CONFIDENCE_HIGH, .setting = "nconnect", .value = "2" },
	{ "and nothing waits on the way", SETUP(4, 500, 2 * MS, "WRITE", .send_ns = 40 * MS, PATH(2000, 90000, MS, MS, true)), {
	  VARIED }, BOUND_SEND, CONFIDENCE_MEDIUM, .sentence = "a server that does not take data faster looks the same" },
	{ "one call at a time waits to transmit", SETUP(64, 500, 2 * MS, "WRITE", .send_ns = 40 * MS), { 1, 1, 1 }, BOUND_SEND,
	  CONFIDENCE_MEDIUM, .setting = "" },
	{ "nconnect for rdma", SETUP(64, 500, 2 * MS, "WRITE", .send_ns = 40 * MS, .protocol = "rdma"), { 8, 8, 8 }, BOUND_SEND,
	  CONFIDENCE_MEDIUM, .setting = "" },
	{ "more than half of the time waiting to transmit", SETUP(64, 500, 2 * MS, "WRITE", .send_ns = 3 * MS), { STEADY },
	  BOUND_SEND, CONFIDENCE_MEDIUM, .most = { 2, 2.001 } },
	{ "the client's own work", SETUP(64, 64, MS, "READ", .finish_ns = 12 * MS), { STEADY }, BOUND_CLIENT_CPU,
	  CONFIDENCE_HIGH, .setting = NULL },
	/* What waits for slots would wait for them with more CPUs as well. */
	{ "waiting for slots with few CPUs", SETUP(4, 64, 2 * MS, "READ", .finish_ns = MS), { STEADY }, BOUND_SLOT,
	  CONFIDENCE_LOW, .cpu_waiting = 1 },
	{ "a few calls", SETUP(64, 8, MS, "GETATTR", .think_ns = 100 * MS), { 1, 1, 1 }, BOUND_NONE,
	  CONFIDENCE_MEDIUM, .setting = "", .sentence = "idle 99 % of the time; NFS does not limit." },
	{ "one call after the other, far away", SETUP(64, 8, 20 * MS + MS / 2, "GETATTR", PATH(2000, 90000, 20 * MS, 20 * MS, false)), {
	  1, 1, 1 }, BOUND_LATENCY, CONFIDENCE_MEDIUM, .setting = "", .sentence = "an answer takes 20.5 ms, of which TCP's round "
	  "trip is 20 ms. More concurrent calls (1 now)" },
	{ "some calls at once, not so far away", SETUP(64, 64, 3 * MS, "READ", PATH(2000, 90000, 2700000, 2700000, false)), {
	  1, 1, 8, 8 }, BOUND_LATENCY, CONFIDENCE_HIGH, .setting = "", .sentence = "Changes of the server do not help." },
	{ "of which the server may have as many threads", SETUP(64, 8, 5 * MS, "READ", .delay_ns = 10 * MS, PATH(2000, 90000, 10 * MS,
	  10 * MS, false)), { 4, 4, 20, 20 }, BOUND_LATENCY, CONFIDENCE_MEDIUM, .sentence = "more read ahead. A server that serves no "
	  "more at once looks the same." },
	{ "a near one that may have as many threads as callers", SETUP(64, 8, 10 * MS, "READ", PATH(2000, 90000, MS / 5, MS / 5, false)),
	  { 4, 4, 8, 8 }, BOUND_APPLICATION, CONFIDENCE_MEDIUM, .sentence = "the throughput. A server that serves no more at once" },
	{ "a slow server that is not far away", SETUP(64, 64, 30 * MS, "READ", PATH(2000, 90000, 10 * MS, 10 * MS, false)), {
	  1, 1, 1 }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = "" },
	{ "a near one", SETUP(64, 64, MS, "READ", PATH(2000, 90000, MS * 9 / 10, MS * 9 / 10, false)), {
	  1, 1, 1 }, BOUND_APPLICATION, CONFIDENCE_MEDIUM, .setting = "" },
	/* One call at a time that takes 2 ms, of which the client has most: it is short of CPU time if tasks wait for it. */
	{ "few tasks wait for a CPU", SETUP(64, 64, MS / 2, "READ", .finish_ns = MS * 3 / 2), { 1, 1, 1 },
	  BOUND_APPLICATION, CONFIDENCE_MEDIUM, .setting = NULL, .cpu_waiting = 0.2 },
	{ "then most do", SETUP(64, 64, MS / 2, "READ", .finish_ns = MS * 3 / 2), { 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	  BOUND_CLIENT_CPU, CONFIDENCE_HIGH, .setting = NULL, .cpu_waiting = 0.9, .goes_on = true },
	/* What receives the answers waits for a CPU, too: most of the time seems to be the server's. */
	{ "answers wait for a CPU now and then", SETUP(64, 64, 20 * MS, "READ", .finish_ns = 4 * MS), { STEADY },
	  BOUND_SERVER, CONFIDENCE_MEDIUM, .setting = NULL, .cpu_waiting = 0.5 },
	{ "then all the time", SETUP(64, 64, 20 * MS, "READ", .finish_ns = 4 * MS), { STEADY }, BOUND_CLIENT_CPU,
	  CONFIDENCE_LOW, .setting = NULL, .cpu_waiting = 1, .goes_on = true },
	/* What a call waits for before it is sent may be in no queue that is watched: NFSv4.0 opens one file after the other. */
	{ "setup while few tasks wait for a CPU", SETUP(64, 500, 80 * MS, "OPEN", .setup_ns = 900 * MS), { STEADY },
	  BOUND_CLIENT_CPU, CONFIDENCE_LOW, .cpu_waiting = 0.1 },
	{ "setup while most do", SETUP(64, 500, 80 * MS, "OPEN", .setup_ns = 900 * MS), { STEADY },
	  BOUND_CLIENT_CPU, CONFIDENCE_HIGH, .cpu_waiting = 0.7, .sentence = "waited for a CPU for 58 % of the time" },
	/* Each call is served faster once the server's cache is warm, although two workers are too few for four calls. */
	{ "a cold server", SETUP(4, 2, 60 * MS, "READ"), { 1, 1, 2, 2 }, BOUND_SERVER, CONFIDENCE_MEDIUM, .setting =
	  NULL },
	{ "that has warmed up makes no promise", SETUP(4, 2, 20 * MS, "READ"), { STEADY }, BOUND_SLOT,
	  CONFIDENCE_LOW, .gain = 9, .goes_on = true },
	{ "more workers than a low load has calls, fewer than a high one", SETUP(64, 9, 2 * MS, "READ"), { 4, 16, 4, 16 },
	  BOUND_APPLICATION, CONFIDENCE_MEDIUM, .setting = "" },
	{ "small calls", SETUP(3, 1, 5 * MS, "WRITE", .bytes = 4096), { 1, 1, 2 }, BOUND_SERVER, CONFIDENCE_MEDIUM,
	  .setting = NULL },
	{ "are not compared with large ones", SETUP(3, 1, 5 * MS, "WRITE", .bytes = 1 << 20), { STEADY }, BOUND_SLOT,
	  CONFIDENCE_LOW, .goes_on = true },
	{ "without phases", SETUP(4, 1, 5 * MS, "WRITE"), { VARIED }, BOUND_NONE, CONFIDENCE_LOW, .sentence =
	  "cannot be decided", .unknown = RPC_ALL_FACTS },
};
/* clang-format on */

TEST(each_set_up_has_its_verdict)
{
	static struct setup u;

	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned int most = 0;

		print_message("# %s\n", cases[i].name);
		if (!cases[i].goes_on)
			fresh();
		memcpy(&u, &cases[i].u,
		       cases[i].goes_on ? offsetof(struct setup, step) : sizeof(u));
		cpu_waiting = cases[i].cpu_waiting;
		now.calls.slots_wanted[SLOTS_SESSION] = cases[i].wanted;
		now.calls.slots_wanted[SLOTS_TCP] = cases[i].wanted_tcp;
		now.calls.unknown = cases[i].unknown;
		run_list(&u, cases[i].callers);
		assert_bound(cases[i].bound, cases[i].confidence);
		if (cases[i].setting) {
			assert_string_equal(verdict.setting, cases[i].setting);
			assert_int_equal(verdict.remount, *cases[i].setting != 0);
		}
		if (cases[i].value)
			assert_string_equal(verdict.value, cases[i].value);
		if (cases[i].sentence)
			assert_has(verdict.sentence, cases[i].sentence);
		assert_true((verdict.gain_expected > 0) ==
			    (cases[i].confidence != CONFIDENCE_LOW && cases[i].gain > 0));
		if (cases[i].most[1] > 0)
			assert_true(verdict.gain_at_most >= cases[i].most[0] &&
				    verdict.gain_at_most < cases[i].most[1]);
		for (const unsigned int *c = cases[i].callers; *c; c++)
			most = *c > most ? *c : most;
		if (cases[i].gain > 0)
			assert_gain(&u, most, cases[i].gain);
	}
}

/* ---- slots ---- */

/* It may have answered at equal distances by chance. */
TEST(an_answer_that_takes_no_longer_outweighs_equal_distances)
{
	struct setup u = SETUP(4, 1, 4900000, "WRITE", .delay_ns = 15100000);

	RUN(&u, VARIED);
	assert_bound(BOUND_SLOT, CONFIDENCE_MEDIUM);
}

/* The callers pause within the interval: on average few calls are in flight, although all slots
 * are in use whenever there are calls. */
TEST(a_burst_that_fills_half_an_interval_is_no_variation)
{
	struct setup u = SETUP(4, 1, 5 * MS, "WRITE");
	uint64_t at = 0;

	op_of(u.op);
	transport()->slots_max = 4;
	for (int i = 0; i < 6; i++) {
		uint64_t busy = i % 2 ? SECOND : SECOND / 2;

		simulate(&u, 32, at + busy);
		simulate(&u, 0, at + SECOND);
		at += SECOND;
		transport()->saturated_ns[RPC_LIMIT_SLOT] += busy;
		end_interval(SECOND);
	}
	verdict = verdict_of(&sums, SERVER);
	assert_true(verdict.gain_expected == 0);
}

/* Otherwise the callers may make calls at equal distances. */
TEST(equal_distances_prove_nothing_unless_slots_are_full)
{
	struct setup u = SETUP(4, 1, 5 * MS, "WRITE");

	op_of(u.op);
	transport()->slots_max = 4;
	for (int i = 0; i < 4; i++) {
		simulate(&u, 32, before.time_ns + SECOND);
		transport()->saturated_ns[RPC_LIMIT_SLOT] += SECOND * 9 / 10;
		end_interval(SECOND);
	}
	judge(BOUND_SLOT, CONFIDENCE_LOW);
}

/* What runs in the rest of each interval waits for no slot, and says nothing about those that do. */
TEST(bursts_shorter_than_an_interval_do_not_lower_the_upper_bound)
{
	struct setup u = SETUP(16, 500, 50 * MS, "WRITE");

	RUN(&u, 2, 2, 4, 4);
	for (int i = 0; i < 6; i++) {
		simulate(&u, 32, before.time_ns + SECOND / 2);
		simulate(&u, 12, before.time_ns + SECOND);
		/* Those that wait then get slots one call later, and of the twelve some must wait for these. */
		transport()->saturated_ns[RPC_LIMIT_SLOT] += SECOND / 2 + 2 * u.service_ns;
		end_interval(SECOND);
	}
	judge(BOUND_SLOT, CONFIDENCE_MEDIUM);
	assert_in_range(strtoul(verdict.value, NULL, 10), 31, 33);
	assert_gain(&u, 32, 1.5);
}

/* As knfsd does from Linux 6.14 on: what waited before says nothing of the slots that there are. */
TEST(a_session_that_the_server_has_enlarged_does_not_bind)
{
	struct setup u = SESSION_SETUP(0, 500, 50 * MS, "READ");

	now.calls.slots_wanted[SLOTS_SESSION] = 4;
	for (u.slots = 4; u.slots < 64; u.slots *= 2)
		RUN(&u, 32);
	assert_bound(BOUND_SERVER, CONFIDENCE_MEDIUM);
	RUN(&u, STEADY);
	assert_bound(BOUND_SERVER, CONFIDENCE_MEDIUM);
	assert_true(verdict.gain_expected == 0);
	assert_has(verdict.sentence, "until the server granted 64");
}

/* Answers that wait for a CPU look like a server that is slow. Calls that wait for slots would do so with more CPUs as well: they
 * must be half of all, by the time of the intervals in which calls waited. */
TEST(a_lack_of_cpu_is_said_unless_calls_wait_for_slots_half_of_the_time)
{
	cpu_waiting = 1;
	for (int waiting = 4; waiting <= 5; waiting++) {
		for (int i = 0; i < 10; i++) {
			uint64_t slot_ns = i < waiting ? 3 * MS : 0;

			histogram_record(&op_of("READ")->total, 1000, 25 * MS);
			histogram_record(&op_of("READ")->phase[RPC_PHASE_SLOT], 1000, slot_ns);
			histogram_record(&op_of("READ")->phase[RPC_PHASE_RTT], 1000,
					 20 * MS - slot_ns);
			histogram_record(&op_of("READ")->phase[RPC_PHASE_FINISH], 1000, 5 * MS);
			transport()->replies += 1000;
			transport()->rtt_ns += 1000 * (20 * MS - slot_ns);
			server();
			end_interval(SECOND);
		}
		verdict = verdict_of(&sums, SERVER);
		assert_string_equal(bound_names[verdict.bound_by],
				    waiting == 4 ? "client_cpu" : "slot");
		limit_sums_free(&sums);
	}
}

/* ---- the other limits ---- */

/* What is in the socket's buffer waits there, too, but counts as sent. */
TEST(a_connection_that_takes_no_more_data_is_send_although_answers_take_longer)
{
	struct setup u = SETUP(64, 64, 50 * MS, "WRITE", .send_ns = 40 * MS);

	for (int i = 0; i < 16; i++) {
		transport()->saturated_ns[RPC_LIMIT_SEND] += SECOND / 4 * (i < 4 ? 1 : 3);
		RUN(&u, 8);
		if (i == 3)
			assert_bound(BOUND_SERVER, CONFIDENCE_MEDIUM);
	}
	assert_bound(BOUND_SEND, CONFIDENCE_LOW);
}

/* Its mounts of other addresses and versions have connections of their own. */
TEST(nconnect_doubles_the_connections_of_a_mount)
{
	struct setup u = SETUP(4, 500, 2 * MS, "WRITE", .send_ns = 40 * MS);
	struct nfs_mount m = { .server = SERVER, .options = { [NFS_NCONNECT] = "4" } };

	assert_non_null(snapshot_mount(&now.calls, &m));
	for (int i = 0; i < 12; i++)
		snapshot_transport(&now.calls, SERVER, formatted("tcp/%d", i))->alive = true;
	for (int i = 0; i < 12; i++)
		RUN(&u, 8);
	assert_string_equal(verdict.setting, "nconnect");
	assert_string_equal(verdict.value, "8");
}

/* It is spent on upcalls, or the mount has Kerberos: synchronous calls wait for upcalls in no queue. */
TEST(a_long_setup_is_credentials)
{
	struct nfs_mount mount = { .server = SERVER, .kerberos = true };

	for (int kerberos = 0; kerberos < 2; kerberos++) {
		struct setup u = SETUP(64, 64, MS, "READ", .setup_ns = 50 * MS);

		fresh();
		op_of(u.op);
		simulate(&u, 8, SECOND);
		if (kerberos)
			assert_non_null(snapshot_mount(&now.calls, &mount));
		else
			server()->credentials_ns = op_of(u.op)->phase[RPC_PHASE_SETUP].sum_ns;
		server();
		end_interval(SECOND);
		judge(BOUND_CREDENTIALS, kerberos ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH);
	}
}

/* Six intervals with 1.2 % of the segments lost, in @losing of them. */
static void lose_in(unsigned int losing)
{
	struct setup u = SETUP(64, 8, 20 * MS, "READ");

	fresh();
	transport()->segments = 1000000;
	transport()->segments_lost = 70000;
	end_interval(SECOND);
	limit_sums_free(&sums);
	for (unsigned int i = 0; i < 6; i++) {
		transport()->segments += 20000;
		transport()->segments_lost += i < losing ? 1440 / losing : 0;
		RUN(&u, 32);
	}
}

TEST(a_network_that_loses_packets_is_resend)
{
	lose_in(1); /* the path changed */
	assert_bound(BOUND_SERVER, CONFIDENCE_MEDIUM);
	lose_in(2);
	assert_bound(BOUND_RESEND, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, "The network loses packets: 1.2 % of TCP's segments");
}

/* Few slots and small replies, first over 60 ms; then a round trip takes 200 ms, and @bytes arrive in a second. */
static void lengthen(uint64_t bytes)
{
	struct setup before =
		SETUP(8, 500, 60 * MS, "READ", PATH(540000, 90000, 60 * MS, 61 * MS, false));
	struct setup after =
		SETUP(8, 500, 200 * MS, "READ", PATH(bytes, 90000, 60 * MS, 200 * MS, false));

	fresh();
	RUN(&before, STEADY);
	RUN(&after, STEADY, STEADY);
}

TEST(a_path_that_became_longer_is_no_link_at_its_rate)
{
	lengthen(160000);
	assert_bound(BOUND_NETWORK, CONFIDENCE_LOW);
	assert_has(verdict.sentence, "it took 60 ms before, and less arrives than then");
	lengthen(540000);
	assert_bound(BOUND_NETWORK, CONFIDENCE_MEDIUM);
}

/* The agent judges each interval alone. */
TEST(the_agent_remembers_what_arrived_before_the_path_became_longer)
{
	struct setup before =
		SETUP(8, 500, 60 * MS, "READ", PATH(540000, 90000, 60 * MS, 61 * MS, false));
	struct setup after =
		SETUP(8, 500, 200 * MS, "READ", PATH(160000, 90000, 60 * MS, 200 * MS, false));

	fresh();
	RUN(&before, 32, 32);
	for (int i = 0; i < 5; i++) {
		limit_sums_next(&sums);
		RUN(&after, 32);
	}
	assert_bound(BOUND_NETWORK, CONFIDENCE_LOW);
}

/* Calls of 3 ms, one after the other, and of 14 segments that are lost or late. @late calls took as long as it takes TCP to
 * send one again. */
static void lose(unsigned int late)
{
	struct setup u = SETUP(64, 8, 3 * MS, "READ", .think_ns = MS * 28 / 10);

	fresh();
	transport();
	end_interval(SECOND);
	transport()->segments = 4000;
	transport()->segments_lost = 14;
	record("READ", late, 203 * MS, RPC_PHASE_RTT, 203 * MS);
	RUN(&u, 1, 1, 1, 1);
}

TEST(few_lost_packets_are_resend_only_if_calls_took_as_long)
{
	lose(14);
	assert_bound(BOUND_RESEND, CONFIDENCE_MEDIUM);
	lose(13);
	assert_string_equal(bound_names[verdict.bound_by], "application");
	lose(0);
	assert_string_equal(bound_names[verdict.bound_by], "application");
}

/* What a call does before it is sent is the client's own work, also after a connection was lost that it did not use; but not beside
 * calls that are sent again, nor if a server closes one connection again and again. If each is closed now and then, they are idle. */
TEST(setup_is_resend_beside_connections_that_are_lost)
{
	static const struct {
		uint64_t resent; /* ms, beside 160 s of setup */
		unsigned int closings, connections;
		const char *bound, *said;
	} rows[] = {
		{ 0, 1, 1, "client_cpu", "" },
		{ 1, 1, 1, "client_cpu", "" },
		{ 17000, 1, 1, "resend", "" },
		{ 0, 12, 1, "resend", "closed tcp/0 12 times" },
		{ 0, 12, 4, "client_cpu", "" },
		{ 0, 24, 4, "resend", "closed each connection 6 times" },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct setup u = SETUP(64, 500, 2 * MS, "READ", .setup_ns = 10 * MS);

		fresh();
		for (unsigned int i = 0; i < rows[r].closings; i++) {
			struct rpc_transport_state *t = snapshot_transport(
				&now.calls, SERVER, formatted("tcp/%u", i % rows[r].connections));

			t->alive = true;
			t->disconnects++;
		}
		histogram_record(&op_of("READ")->phase[RPC_PHASE_RESEND], 1, rows[r].resent * MS);
		RUN(&u, STEADY);
		assert_string_equal(bound_names[verdict.bound_by], rows[r].bound);
		assert_has(verdict.sentence, rows[r].said);
		assert_int_equal(!strstr(verdict.sentence, " closed "), !*rows[r].said);
	}
}

/* A new mount does not help while they are. */
TEST(no_setting_is_proposed_while_connections_are_closed)
{
	for (uint64_t closings = 4; closings <= 5; closings++) {
		struct setup u = SETUP(4, 500, 20 * MS, "READ", .bytes = 4096);

		fresh();
		transport();
		end_interval(SECOND);
		transport()->disconnects = closings;
		RUN(&u, VARIED);
		assert_bound(BOUND_SLOT, CONFIDENCE_MEDIUM);
		assert_string_equal(verdict.setting, closings < 5 ? TCP_SLOTS : "");
	}
}

/* @calls of @op that wait @waited for a slot, are answered after @rtt, and find @depth others in flight. */
static void add_calls(const char *op, unsigned int calls, uint64_t waited, uint64_t rtt,
		      unsigned int depth)
{
	record(op, calls, waited + rtt, RPC_PHASE_SLOT, waited);
	histogram_record(&op_of(op)->phase[RPC_PHASE_RTT], calls, rtt);
	server()->depth[RPC_QUEUE_PENDING].sum += (uint64_t)calls * depth;
	server()->depth[RPC_QUEUE_PENDING].bucket[0] += calls;
	transport()->replies += calls;
	transport()->slots_max = 4;
}

/* A server that does WRITEs one by one, 5 ms each. Beside single READs their interval has few calls in flight, which says
 * nothing about the WRITEs in it. */
TEST(kinds_that_mix_in_an_interval_are_not_compared)
{
	for (unsigned int reads = 0; reads <= 900; reads += 900) {
		fresh();
		add_calls("WRITE", 50, 0, 20 * MS, reads ? 3 : 0);
		add_calls("READ", reads, 0, MS / 2, 0);
		end_interval(SECOND);
		for (int i = 0; i < 4; i++) {
			add_calls("WRITE", 200, 220 * MS, 20 * MS, 3);
			transport()->saturated_ns[RPC_LIMIT_SLOT] += SECOND;
			end_interval(SECOND);
		}
		judge(BOUND_SLOT, reads ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	}
}

/* So do operations of other kinds: each takes its own time. */
TEST(operations_are_compared_with_their_own_kind)
{
	static const char *const low[] = { "GETATTR", "REMOVE" };

	for (size_t i = 0; i < COUNT(low); i++) {
		fresh();
		add_calls("LOOKUP", 30, 0, MS, 0);
		end_interval(SECOND);
		for (int k = 0; k < 6; k++) {
			bool many = k % 3;

			add_calls(many ? "REMOVE" : low[i], 200, many * 220 * MS,
				  (many ? 20 : 5) * MS, 3 * many);
			transport()->saturated_ns[RPC_LIMIT_SLOT] += many * SECOND;
			end_interval(SECOND);
		}
		judge(i ? BOUND_SERVER : BOUND_SLOT, i ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	}
}

/* Eight slots, and a way to the server that becomes longer while more is wanted: with more calls in flight fewer are
 * answered, which is no proof that the server has enough of them. */
TEST(a_server_that_becomes_slower_is_not_compared_with_itself)
{
	struct setup u = SETUP(8, 500, 10 * MS, "READ", .bytes = 4096);

	RUN(&u, 2, 2, 2);
	u.service_ns = 90 * MS;
	RUN(&u, 40, 40, 40, 40);
	assert_bound(BOUND_SLOT, CONFIDENCE_LOW);
	assert_gain(&u, 40, 0);
}

/* One reads what the server has in memory, then many read what is on its disk, again and again. */
TEST(calls_that_cost_the_server_more_are_not_certain)
{
	struct setup u = SETUP(4, 500, 6 * MS, "READ", .bytes = 4096);

	for (int i = 0; i < 8; i++) {
		u.service_ns = (i % 2 ? 20 : 6) * MS;
		RUN(&u, i % 2 ? 24 : 1);
	}
	assert_bound(BOUND_SERVER, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, "calls that cost it more, look the same");
}

/* The server answers "later": one process makes a call, which sleeps 5 s. */
TEST(calls_that_only_sleep_are_active)
{
	for (int i = 0; i < 3; i++) {
		server();
		for (int s = 0; s < 4; s++)
			end_interval(SECOND);
		record("READ", 1, 5 * SECOND, RPC_PHASE_DELAY, 5 * SECOND);
		transport()->replies++;
		end_interval(SECOND);
	}
	judge(BOUND_DELAY, CONFIDENCE_HIGH);
	assert_true(verdict.numbers.concurrency > 0.99 && verdict.numbers.concurrency < 1.01);
}

TEST(a_commit_that_takes_long_may_be_the_disks)
{
	for (uint32_t unacked = 0; unacked <= 100; unacked += 100) {
		fresh();
		transport()->acked = 1000;
		for (uint64_t i = 1; i <= 30; i++) {
			strcpy(server()->oldest_op, "COMMIT");
			transport()->unacked = unacked;
			wait_on(i * SECOND);
		}
		judge(BOUND_HUNG, unacked ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		assert_int_equal(!strstr(verdict.sentence, "writes to its disks"), unacked > 0);
	}
}

/* Soft mounts: each call ends within 2 s, and none is answered. */
TEST(a_server_whose_calls_all_time_out_hangs)
{
	for (int mountstats = 0; mountstats < 2; mountstats++) {
		fresh();
		now.calls.unknown = mountstats ? RPC_FACT_BIT(RPC_FACT_REPLIES) : 0;
		for (int i = 0; i < 7; i++) {
			histogram_record(&op_of("READ")->total, 1, 2 * SECOND);
			transport()->timeouts++;
			wait_on(i % 2 ? SECOND : 0);
		}
		judge(BOUND_HUNG, CONFIDENCE_HIGH);
		assert_has(verdict.sentence, "they time out");
	}
}

/* The same by a source that counts neither: calls end with EIO. Where they were sent once, the server has answered so; not where they
 * could not be sent. */
TEST(calls_that_end_with_an_error_after_they_were_sent_again_time_out)
{
	static const enum rpc_phase phases[] = { RPC_PHASE_RTT, RPC_PHASE_RESEND, RPC_PHASE_SEND };

	for (size_t i = 0; i < COUNT(phases); i++) {
		fresh();
		now.calls.unknown =
			RPC_FACT_BIT(RPC_FACT_REPLIES) | RPC_FACT_BIT(RPC_FACT_TIMEOUTS);
		for (int j = 0; j < 7; j++) {
			record("READ", 1, 2 * SECOND, phases[i], 2 * SECOND);
			add_errors("READ", "EIO", 1);
			wait_on(SECOND);
		}
		judge(i ? BOUND_HUNG : BOUND_ERRORS, CONFIDENCE_HIGH);
	}
	/* Short calls were answered so, although another was sent again. */
	fresh();
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES) | RPC_FACT_BIT(RPC_FACT_TIMEOUTS);
	for (int j = 0; j < 7; j++) {
		record("WRITE", 300, 8 * MS, RPC_PHASE_SEND, 4 * MS);
		record("WRITE", 1, 2 * SECOND, RPC_PHASE_RESEND, 2 * SECOND);
		add_errors("WRITE", "EIO", 300);
		wait_on(0);
	}
	judge(BOUND_ERRORS, CONFIDENCE_HIGH);
}

/* One call hangs, and others are rare. The client renews its lease. */
TEST(a_server_that_answers_other_calls_now_and_then_does_not_hang)
{
	now.wall = 1000;
	for (unsigned int i = 1; i <= 140; i++) {
		histogram_record(&op_of("GETATTR")->total, i <= 40 && i % 10 == 0, MS);
		transport()->replies += i <= 40 && i % 10 == 0;
		wait_on(i * SECOND);
		assert_int_equal(server_hangs(&sums, SERVER), i < 5   ? 0 :
							      i < 10  ? i * SECOND :
							      i < 129 ? 0 :
									(i - 39) * SECOND);
		if (i == 128)
			assert_has(headline(),
				   "answers other calls, but the oldest has waited for 128 s");
	}
	judge(BOUND_HUNG, CONFIDENCE_MEDIUM);
	assert_lacks(headline(), "such times");
	fresh(); /* each call took as long, as the server is slow */
	for (unsigned int i = 1; i <= 26; i++) {
		histogram_record(&op_of("READ")->total, i <= 20, 8 * SECOND);
		transport()->replies += i <= 20;
		wait_on((i <= 20 ? 8 : i - 12) * SECOND);
	}
	judge(BOUND_HUNG, CONFIDENCE_HIGH);
	fresh(); /* the agent judges each interval by itself */
	for (unsigned int i = 1; i <= 5; i++) {
		histogram_record(&op_of("GETATTR")->total, i % 2, MS);
		transport()->replies += i % 2;
		server()->oldest_ns[RPC_QUEUE_PENDING] = i * 15 * SECOND;
		end_interval(15 * SECOND);
		assert_int_equal(server_hangs(&sums, SERVER), i == 2 ? 30 * SECOND : 0);
		limit_sums_next(&sums);
	}
}

/* Once is a restart of the server; again and again another client has this one's identity. */
TEST(a_client_that_makes_itself_known_again_and_again_recovers_state)
{
	static const struct {
		int times;
		const char *op, *said;
	} rows[] = {
		{ 1, "EXCHANGE_ID", "200 of 1000 READs end with NFS4ERR_BADSESSION" },
		{ 5, "EXCHANGE_ID", "registered again 4 times" },
		{ 5, "CREATE_SESSION", "created its session again 4 times" },
	};

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
		for (int i = 0; i < 10; i++) {
			record("READ", 100, MS, RPC_PHASE_RTT, MS);
			add_errors("READ", "NFS4ERR_BADSESSION", 20);
			if (i < row->times)
				record(row->op, 1, MS, RPC_PHASE_RTT, MS);
			wait_on(SECOND);
		}
		verdict = verdict_of(&sums, SERVER);
		assert_int_equal(verdict.bound_by == BOUND_STATE_RECOVERY, row->times > 1);
		assert_has(verdict.sentence, row->said);
		assert_has(headline(), row->times > 1 ? "nas: bound by state_recovery" :
							"nas: 200 of 1000 READs end with ");
	}
	server()->draining_now_ns = 40 * SECOND; /* in vain */
	wait_on(SECOND);
	verdict = verdict_of(&sums, SERVER);
	assert_has(verdict.sentence, " or the server drops it. Calls waited for 40 s until the ");
}

/* After one restart, each client of the server does so: of three minor versions at two addresses. */
TEST(several_clients_that_make_themselves_known_once_are_no_service)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct nfs_mount m = { .server = SERVER, .version = "4.1" };

		m.version[2] = (char)('0' + i);
		snprintf(m.mountpoint, sizeof(m.mountpoint), "/%u", i);
		assert_non_null(snapshot_mount(&now.calls, &m));
		snprintf(snapshot_transport(&now.calls, SERVER, formatted("tcp/%u", i))
				 ->remote.address,
			 RPC_ADDRESS_LEN, "10.0.0.%u", i % 2);
		snapshot_transport(&now.calls, SERVER, formatted("tcp/%u", i))->alive = true;
	}
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
	for (unsigned int clients = 12; clients <= 24; clients += 12) {
		record("READ", 100, MS, RPC_PHASE_RTT, MS);
		record("EXCHANGE_ID", 12, MS, RPC_PHASE_RTT, MS);
		add_errors("READ", "NFS4ERR_BADSESSION", 20);
		wait_on(0);
		verdict = verdict_of(&sums, SERVER);
		assert_int_equal(verdict.bound_by == BOUND_STATE_RECOVERY, clients == 24);
	}
}

/* New mounts also make the client known, and end no call with an error. */
TEST(mounts_that_come_and_go_recover_nothing)
{
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
	for (int i = 0; i < 10; i++) {
		record("READ", 100, MS, RPC_PHASE_RTT, MS);
		record("EXCHANGE_ID", 2, MS, RPC_PHASE_RTT, MS);
		end_interval(SECOND);
	}
	verdict = verdict_of(&sums, SERVER);
	assert_int_not_equal(verdict.bound_by, BOUND_STATE_RECOVERY);
}

/* What another client does to this one is over, and other calls show their own limit. */
TEST(a_fight_for_an_identity_that_is_over_is_no_limit)
{
	server();
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
	for (int i = 0; i < 300; i++) {
		record("READ", 600, 2 * MS, RPC_PHASE_RTT, 2 * MS);
		if (i < 30) {
			record("EXCHANGE_ID", 1, MS, RPC_PHASE_RTT, MS);
			record("SEQUENCE", 2, MS, RPC_PHASE_RTT, MS);
			add_errors("SEQUENCE", "NFS4ERR_BADSESSION", 1);
		}
		now.wall++;
		end_interval(SECOND);
		if (i == 29)
			judge(BOUND_STATE_RECOVERY, CONFIDENCE_HIGH);
	}
	judge(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	assert_has(headline(), "nas: 30 of 60 SEQUENCEs ended with NFS4ERR_BADSESSION (from ");
}

TEST(one_recovery_in_a_long_session_is_no_limit)
{
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
	for (uint64_t i = 1; i <= 70; i++) {
		record("READ", i == 1, MS, RPC_PHASE_RTT, MS);
		server()->draining_ns += i > 35 ? 0 : SECOND;
		end_interval(SECOND);
	}
	judge(BOUND_STATE_RECOVERY, CONFIDENCE_MEDIUM);
	end_interval(SECOND);
	judge(BOUND_NONE, CONFIDENCE_MEDIUM);
}

TEST(a_recovery_that_does_not_end_is_named_without_a_call)
{
	for (uint64_t i = 1; i <= 12; i++) {
		server()->draining_ns += SECOND;
		server()->draining_now_ns = server()->draining_ns;
		end_interval(SECOND);
	}
	judge(BOUND_STATE_RECOVERY, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, "Calls waited for 12 s");
}

/* The machine's own calls go on while a user's wait for credentials. */
TEST(waits_for_credentials_are_named_whatever_other_calls_do)
{
	for (uint64_t waited = 4; waited <= 6; waited += 2) {
		fresh();
		now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
		for (uint64_t i = 0; i < 10; i++) {
			record("SEQUENCE", 1, MS, RPC_PHASE_RTT, MS);
			server()->upcall_ns = i < waited ? (i + 1) * SECOND : 3 * MS;
			strcpy(server()->upcall_by, "python3 (71)");
			end_interval(SECOND);
		}
		judge(waited > 5 ? BOUND_CREDENTIALS : BOUND_NONE,
		      waited > 5 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	}
	assert_has(verdict.sentence, "python3 (71) waited for 6 s for credentials");
	assert_false(*verdict.setting);
	/* Calls end, because rpc.gssd says that the ticket has expired. */
	for (uint64_t i = 0; i < 10; i++) {
		record("GETATTR", 1, SECOND / 2, RPC_PHASE_SETUP, SECOND / 2);
		add_errors("GETATTR", "EKEYEXPIRED", 1);
		server()->upcall_ns = SECOND;
		end_interval(SECOND);
	}
	judge(BOUND_ERRORS, CONFIDENCE_HIGH);
	assert_lacks(verdict.sentence, "does not answer");
	fresh(); /* the agent judges each interval by itself */
	server()->upcall_ns = 20 * SECOND;
	end_interval(SECOND);
	judge(BOUND_CREDENTIALS, CONFIDENCE_HIGH);
	assert_has(verdict.sentence, "waited for 20 s for credentials");
}

/* By a source that does not know how many replies each connection has had, nor how many calls are in flight as one ends. */
TEST(the_source_tracepoints_knows_tcp)
{
	/* clang-format off */
	static const struct {
		const char *name, *sentence; /* a part of it */
		uint64_t received_bytes[2], min_rtt_ns, srtt_ns; /* of both connections */
		enum bound bound;
		enum confidence confidence;
	} cases[] = {
		{ "a full window", "64 KiB under way", { 3000000, 0 }, 20 * MS, 21 * MS, BOUND_NETWORK, CONFIDENCE_MEDIUM },
		{ "two", "64 KiB under way", { 3000000, 3000000 }, 20 * MS, 21 * MS, BOUND_NETWORK, CONFIDENCE_MEDIUM },
		{ "half of it", "", { 1500000, 1500000 }, 20 * MS, 21 * MS, BOUND_SERVER, CONFIDENCE_MEDIUM },
		{ "replies queue", "wait in queues", { 50000, 0 }, 1 * MS, 111 * MS, BOUND_NETWORK, CONFIDENCE_MEDIUM },
		{ "half of them", "whether replies are on the network", { 50000, 50000 }, 1 * MS, 111 * MS, BOUND_SERVER, CONFIDENCE_LOW },
		{ "none does", "", { 50000, 0 }, 1 * MS, 3 * MS, BOUND_SERVER, CONFIDENCE_MEDIUM },
		{ "tcp is not seen", "does not see TCP", { 0, 0 }, 0, 0, BOUND_SERVER, CONFIDENCE_LOW },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT(cases); i++) {
		fresh();
		now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
		server();
		for (int interval = 0; interval < 4; interval++) {
			record("READ", 50, 160 * MS, RPC_PHASE_RTT, 160 * MS);
			for (int c = 0; c < 2; c++) {
				struct rpc_transport_state *t = snapshot_transport(
					&now.calls, SERVER, c ? "tcp/1" : "tcp/0");

				t->received_bytes += cases[i].received_bytes[c];
				t->rcv_wnd = 65536;
				t->min_rtt_ns = cases[i].min_rtt_ns;
				t->srtt_ns = cases[i].srtt_ns;
			}
			end_interval(SECOND);
		}
		print_message("# %s\n", cases[i].name);
		judge(cases[i].bound, cases[i].confidence);
		assert_has(verdict.sentence, cases[i].sentence);
	}
}

/* @earlier of @second seconds of calls that began before, in setup; and half as much of waits for slots. */
static void begin_before(uint64_t seconds, uint64_t earlier, unsigned int intervals)
{
	fresh();
	for (unsigned int i = 0; i < intervals; i++) {
		record("READ", 30, seconds * SECOND, RPC_PHASE_SETUP, earlier * SECOND);
		histogram_record(&op_of("READ")->phase[RPC_PHASE_SLOT], 30,
				 (seconds - earlier) * SECOND);
		server()->earlier_ns += 30 * earlier * SECOND;
		transport()->slots_max = 2;
		transport()->saturated_ns[RPC_LIMIT_SLOT] += SECOND;
		transport()->replies += 30;
		end_interval(SECOND);
	}
	verdict = verdict_of(&sums, SERVER);
}

TEST(what_was_before_the_session_is_no_setup)
{
	begin_before(40, 38, 2);
	assert_bound(BOUND_SLOT, CONFIDENCE_LOW);
	assert_true(verdict.numbers.share[RPC_PHASE_SETUP] == 0);
	assert_true(verdict.numbers.earlier_share > 0.94 && verdict.numbers.earlier_share < 0.96);
	assert_has(verdict.sentence, "95 % of the calls' time was before the observation");
	begin_before(40, 38, 12);
	assert_bound(BOUND_SLOT, CONFIDENCE_LOW); /* the number in flight did not vary */
	assert_lacks(verdict.sentence, "before the observation");
	begin_before(40, 3, 2);
	assert_lacks(verdict.sentence, "before the observation");
}

TEST(no_more_session_slots_are_proposed_than_there_can_be)
{
	for (int i = 0; i < 4; i++) {
		record("READ", 1000, 2 * SECOND, RPC_PHASE_SESSION, SECOND);
		histogram_record(&op_of("READ")->phase[RPC_PHASE_RTT], 1000, SECOND);
		server()->session_slots = 1024;
		server()->depth[RPC_QUEUE_SESSION].sum += 1024000;
		server()->depth[RPC_QUEUE_SESSION].bucket[0] += 1000;
		transport()->saturated_ns[RPC_LIMIT_SESSION] += SECOND;
		transport()->replies += 1000;
		end_interval(SECOND);
	}
	judge(BOUND_SESSION, CONFIDENCE_LOW);
	assert_string_equal(verdict.setting, "");
}

/* A transport without a limit of slots, as NFSv4.1 has, and an idle one with other slots are beside the one that calls wait
 * for. */
TEST(slots_are_those_that_calls_wait_for)
{
	struct setup u = SETUP(4, 500, 20 * MS, "READ", .bytes = 4096);
	static const uint32_t others[] = { 65536, 128 };

	for (size_t i = 0; i < COUNT(others); i++) {
		struct rpc_transport_state *other =
			snapshot_transport(&now.calls, SERVER, i ? "tcp/2" : "tcp/1");

		other->alive = true;
		strcpy(other->protocol, "tcp");
		other->slots_max = others[i];
	}
	RUN(&u, VARIED);
	end_interval(SECOND); /* no call waits in it */
	judge(BOUND_SLOT, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, "All 4 RPC slots");
	assert_gain(&u, 32, 1.5);
}

/* 6 s without answers, then the calls that waited end, and others as before. */
TEST(a_stall_that_ended_is_told_and_not_judged)
{
	struct setup u = SETUP(64, 8, MS, "READ");
	struct verdict before_it;

	now.wall = 1000;
	RUN(&u, 4, 4, 4, 4);
	before_it = verdict;
	be_silent(6);
	record("READ", 30, 6 * SECOND, RPC_PHASE_RESEND, 6 * SECOND);
	transport()->replies += 30;
	transport()->connects++;
	wait_on(0);
	assert_has(headline(), "nas did not answer for 7.0 s, from ");
	assert_has(headline(), ", until the client had reconnected. Its own log");
	histogram_record(&op_of("EXCHANGE_ID")->total, 1, MS);
	wait_on(0);
	judge(before_it.bound_by, before_it.confidence);
	assert_has(headline(), ", until the client had registered again: the server has restarted");
	assert_true(verdict.numbers.calls == before_it.numbers.calls);
	assert_true(verdict.numbers.concurrency == before_it.numbers.concurrency);
	assert_true(verdict.numbers.share[RPC_PHASE_RESEND] == 0);
	assert_true(verdict.numbers.stall_seconds == 6);
	u.time_ns = now.time_ns;
	RUN(&u, 4, 4, 4, 4);
	assert_true(verdict.numbers.calls > before_it.numbers.calls);
}

/* From half a second after a snapshot on. */
TEST(a_stall_counts_from_its_begin)
{
	struct setup u = SETUP(64, 8, MS, "READ");

	RUN(&u, 4, 4, 4);
	for (unsigned int i = 0; i < 5; i++) {
		assert_false(server_hangs(&sums, SERVER));
		server()->oldest_ns[RPC_QUEUE_PENDING] = (i + 1) * SECOND + SECOND / 2;
		end_interval(i < 4 ? SECOND : SECOND / 2);
	}
	assert_true(server_hangs(&sums, SERVER));
}

/* Intervals of a second, in each of which calls are answered at once. */
static void go_on(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		record("READ", 8, MS, RPC_PHASE_RTT, MS);
		transport()->replies += 8;
		wait_on(0);
	}
}

/* A stall, which ends in the second after these. */
static void stall(unsigned int seconds)
{
	be_silent(seconds);
	record("READ", 3, seconds * SECOND, RPC_PHASE_RESEND, seconds * SECOND);
	transport()->replies += 3;
	transport()->connects++;
	wait_on(0);
}

TEST(a_server_that_restarts_again_and_again_has_one_client)
{
	now.wall = 1000;
	for (int i = 0; i < 5; i++) {
		go_on(30);
		stall(12);
		record("EXCHANGE_ID", 2, MS, RPC_PHASE_RTT, MS);
		add_errors("READ", "NFS4ERR_BADSESSION", 3);
		go_on(1);
	}
	verdict = verdict_of(&sums, SERVER);
	assert_string_equal(bound_names[verdict.bound_by], "none");
}

/* Only an OPEN waited in the stall, and waits on for the end of the grace period. */
TEST(a_client_that_registers_again_was_not_answered_though_its_call_waits_on)
{
	now.wall = 1000;
	go_on(4);
	be_silent(17);
	record("EXCHANGE_ID", 1, MS, RPC_PHASE_RTT, MS);
	for (int i = 1; i <= 6; i++) {
		record("READ", 3, MS, RPC_PHASE_RTT, MS);
		transport()->replies += 3;
		wait_on((17 + (unsigned int)i) * SECOND);
	}
	go_on(5);
	assert_has(headline(), "nas did not answer for 18.0 s, from ");
	assert_has(headline(), ", until the client had registered again");
}

/* The agent's journal would have a line for each interval with calls. */
TEST(an_outage_that_is_over_is_named_while_no_call_is_made)
{
	now.wall = 1000;
	go_on(4);
	stall(12);
	for (int i = 0; i < 20; i++) {
		limit_sums_next(&sums);
		go_on(i % 5 == 0);
		wait_on(0);
		assert_has(headline(), "nas did not answer for 13.0 s, from ");
	}
}

/* The call was sent again before the interval in which it ends. */
TEST(resend_is_not_sure_where_neither_call_nor_connection_was_seen_lost)
{
	for (uint64_t again = 0; again < 2; again++) {
		fresh();
		record("READ", 30, 50 * MS, RPC_PHASE_RTT, 50 * MS);
		record("OPEN", 1, 23 * SECOND, RPC_PHASE_RESEND, 22 * SECOND);
		transport()->replies += 31;
		transport()->retransmits += again;
		wait_on(0);
		judge(BOUND_RESEND, again ? CONFIDENCE_HIGH : CONFIDENCE_LOW);
	}
}

/* A call ended late, and the client made itself known late in the grace period. */
TEST(what_follows_a_stall_belongs_to_it)
{
	now.wall = 1000;
	go_on(4);
	stall(15);
	go_on(8);
	record("OPEN", 1, 21 * SECOND, RPC_PHASE_RESEND, 21 * SECOND);
	go_on(1);
	verdict = verdict_of(&sums, SERVER);
	assert_true(verdict.numbers.share[RPC_PHASE_RESEND] == 0);
	assert_has(headline(), "nas did not answer for 16.0 s, from ");
	assert_has(headline(), ", until the client had reconnected, and some of its calls "
			       "ended 9 s later");
	go_on(10);
	histogram_record(&op_of("EXCHANGE_ID")->total, 1, MS);
	go_on(1);
	verdict = verdict_of(&sums, SERVER);
	assert_has(headline(), ", until the client had registered again: the server has restarted");
	/* A call that began after the stall does not belong to it. */
	record("OPEN", 1, 15 * SECOND, RPC_PHASE_RESEND, 15 * SECOND);
	go_on(1);
	verdict = verdict_of(&sums, SERVER);
	assert_true(verdict.numbers.share[RPC_PHASE_RESEND] > 0.5);
}

/* A call of the mount ends, one of v3 at /three or of v4.2 at /four. */
static void use_mount(const char *mountpoint)
{
	struct nfs_mount m = { .server = SERVER, .export = "/x" };

	strcpy(m.mountpoint, mountpoint);
	strcpy(m.version, !strcmp(mountpoint, "/three") ? "3" : "4.2");
	assert_non_null(snapshot_mount(&now.calls, &m));
	snapshot_mount_calls(&now.calls, SERVER, m.export, mountpoint)->sums.calls[0]++;
}

TEST(a_version_that_comes_back_late_is_named)
{
	now.wall = 1000;
	go_on(4);
	use_mount("/four");
	stall(15);
	for (int i = 0; i < 9; i++) {
		use_mount("/four");
		go_on(1);
	}
	assert_null(strstr(headline(), " later"));
	use_mount("/three");
	record("WRITE", 1, 23 * SECOND, RPC_PHASE_RESEND, 23 * SECOND);
	go_on(1);
	assert_has(headline(), ", and its NFSv3 calls ended 10 s later");
	/* Another one that waited, of either. */
	use_mount("/four");
	record("OPEN", 1, 28 * SECOND, RPC_PHASE_RESEND, 28 * SECOND);
	go_on(1);
	assert_has(headline(), ", and its NFSv3 calls ended 10 s later");
	verdict = verdict_of(&sums, SERVER);
	assert_true(verdict.numbers.share[RPC_PHASE_RESEND] == 0);
}

/* Both were used at once again: a call that waited longer says nothing of its version. */
TEST(a_late_call_of_a_version_that_is_back_is_some_call)
{
	now.wall = 1000;
	go_on(4);
	use_mount("/four");
	use_mount("/three");
	stall(15);
	go_on(8);
	use_mount("/three");
	record("OPEN", 1, 21 * SECOND, RPC_PHASE_RESEND, 21 * SECOND);
	go_on(1);
	assert_has(headline(), ", and some of its calls ended 9 s later");
}

TEST(calls_that_wait_for_the_end_of_the_grace_period_belong_to_the_restart)
{
	now.wall = 1000;
	go_on(4);
	stall(15);
	for (int i = 0; i < 6; i++) {
		add_errors("OPEN", "NFS4ERR_GRACE", 1);
		go_on(5);
	}
	record("OPEN", 1, 8 * SECOND, RPC_PHASE_DELAY, 8 * SECOND);
	go_on(1);
	verdict = verdict_of(&sums, SERVER);
	assert_true(verdict.numbers.share[RPC_PHASE_DELAY] == 0);
	assert_has(headline(), ", until the client had registered again: the server has restarted");
}

TEST(a_short_silence_with_a_new_connection_is_a_stall)
{
	now.wall = 1000;
	strcpy(transport()->remote.address, "10.0.0.1");
	go_on(4);
	strcpy(transport()->remote.address, "10.0.0.2");
	stall(2);
	go_on(5);
	verdict = verdict_of(&sums, SERVER);
	assert_has(headline(), "nas did not answer for 3.0 s, from ");
	assert_has(headline(), ", until the client had connected to 10.0.0.2");
	assert_true(verdict.numbers.share[RPC_PHASE_RESEND] == 0);
	/* Again and again: it is the limit. */
	for (int i = 0; i < 5; i++) {
		stall(2);
		go_on(3);
	}
	verdict = verdict_of(&sums, SERVER);
	assert_int_equal(verdict.bound_by, BOUND_RESEND);
}

TEST(a_server_that_hung_before_the_session_hangs)
{
	for (unsigned int i = 1; i <= 5; i++) {
		wait_on((90 + i) * SECOND);
		judge(BOUND_HUNG, i < 5 ? CONFIDENCE_LOW : CONFIDENCE_HIGH);
	}
	assert_has(verdict.sentence, "the oldest waits for 95 s, and nothing came for 5 s");
}

TEST(connecting_that_fails_is_named_with_its_error)
{
	transport()->connect_error = EHOSTUNREACH;
	be_silent(8);
	judge(BOUND_HUNG, CONFIDENCE_HIGH);
	assert_has(verdict.sentence, "Connecting fails (No route to host).");
	assert_has(headline(), ": connecting fails (No route to host). Look at the server");
	transport()->connect_error = 0;
	wait_on(9 * SECOND);
	assert_lacks(headline(), "connecting fails");
}

TEST(the_mtu_is_likely_if_no_large_packet_ever_passed)
{
	transport()->replies++;
	wait_on(0);
	transport()->unacked = 1448;
	transport()->acked = 150;
	be_silent(8);
	assert_has(headline(), ": small packets pass, large ones are lost");
	transport()->acked = 1300;
	wait_on(9 * SECOND);
	assert_has(headline(), "or only small packets pass (MTU)");
}

TEST(the_mtu_is_named_if_small_packets_pass)
{
	transport()->unacked = 1448;
	be_silent(8);
	judge(BOUND_HUNG, CONFIDENCE_HIGH);
	assert_has(verdict.sentence, "or only small packets pass (MTU).");
	transport()->behind = true;
	wait_on(9 * SECOND);
	assert_has(headline(),
		   ": small packets pass, large ones are lost: the likely reason is the MTU");
	transport()->unacked = 0; /* the client connects anew */
	transport()->behind = false;
	wait_on(10 * SECOND);
	assert_has(headline(), "the likely reason is the MTU");
	transport()->unacked = 150;
	wait_on(11 * SECOND);
	assert_has(headline(), "the host or the network is down. Look at");
	transport()->unacked = 1448;
	transport()->connects++; /* a handshake passes */
	wait_on(12 * SECOND);
	wait_on(13 * SECOND);
	assert_has(headline(), ": small packets pass, large ones are lost");
}

TEST(a_server_that_was_not_seen_has_no_verdict)
{
	verdict = verdict_of(&sums, "other");
	assert_bound(BOUND_NONE, CONFIDENCE_LOW);
	assert_string_equal(verdict.server, "other");
}

/* ---- limits above the calls: readahead, dirty pages, syncs, attributes, files' locks, delegations ---- */

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* In one second: calls that take so long each, and their bytes. */
static void add_bytes(const char *op, uint64_t calls, uint64_t ns, uint64_t bytes)
{
	struct rpc_op *o = op_of(op);
	struct rpc_server_state *s = server();
	struct calls_by *m = not_null(snapshot_mount_calls(&now.calls, SERVER, "/x", "/mnt"));

	histogram_record(&o->total, calls, ns);
	for (int p = 0; p < RPC_PHASES; p++)
		histogram_record(&o->phase[p], calls, p == RPC_PHASE_RTT ? ns : 0);
	o->received_bytes += calls * bytes;
	m->sums.calls[rpc_kind_of(op)] += calls;
	m->sums.total_ns[rpc_kind_of(op)] += calls * ns;
	s->depth[RPC_QUEUE_PENDING].bucket[0] += calls;
	s->depth[RPC_QUEUE_PENDING].sum += calls * (calls * ns / SECOND);
}

static struct nfs_mount *mount(void)
{
	static const struct nfs_mount like = { .server = SERVER,
					       .export = "/x",
					       .mountpoint = "/mnt" };
	return not_null(snapshot_mount(&now.calls, &like));
}

static void read_ahead(uint64_t set, uint64_t window)
{
	mount()->readahead_known = true;
	mount()->readahead_bytes = set;
	mount()->window_bytes = window;
}

/* The verdict on all that was added, as if within one second. */
static void expect(enum bound bound, enum confidence confidence)
{
	limit_sums_free(&sums);
	snapshot_free(&before);
	before.time_ns = 1;
	end_interval(SECOND);
	judge(bound, confidence);
}

TEST(a_buffered_reader_with_two_windows_in_flight_is_limited_by_readahead)
{
	add_bytes("READ", 400, 5 * MS, 128 * KIB); /* two at once */
	read_ahead(128 * KIB, 128 * KIB);
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(verdict.setting, "read_ahead_kb");
	assert_string_equal(verdict.value, "512");
	assert_string_equal(verdict.mountpoint, "/mnt");
	assert_false(verdict.remount);
	assert_true(verdict.gain_expected == 0 && verdict.gain_at_most == 4);
	mount()->window_bytes = 256 * KIB; /* half of it is in flight, as after posix_fadvise() */
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_true(verdict.gain_at_most == 8);
	mount()->window_bytes = 128 * KIB;
	/* A slow server makes no difference. */
	add_bytes("READ", 40, 50 * MS, 128 * KIB);
	expect(BOUND_READAHEAD, CONFIDENCE_LOW); /* four at once: several readers */
}

TEST(a_reader_that_does_not_wait_or_is_direct_or_reads_at_random_is_not)
{
	add_bytes("READ", 100, 5 * MS, 128 * KIB); /* half a window */
	read_ahead(128 * KIB, 128 * KIB);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	add_bytes("READ", 280, 5 * MS, 128 * KIB);
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	mount()->window_bytes = 0;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	mount()->window_bytes = 64 * KIB;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	read_ahead(128 * KIB, 128 * KIB);
	mount()->readahead_known = false;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
}

TEST(the_last_calls_of_a_load_do_not_hide_its_readahead)
{
	for (int i = 0; i < 2; i++) {
		add_bytes("READ", 400, 5 * MS, 128 * KIB);
		read_ahead(128 * KIB, 128 * KIB);
		end_interval(SECOND);
	}
	add_bytes("READ", 1, 5 * MS, 128 * KIB);
	read_ahead(128 * KIB, 0);
	end_interval(20 * MS);
	judge(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	/* But its reads may have become others. */
	add_bytes("READ", 400, 5 * MS, 128 * KIB);
	end_interval(SECOND);
	assert_true(verdict_of(&sums, SERVER).bound_by != BOUND_READAHEAD);
}

TEST(more_readahead_than_16_mib_is_not_proposed)
{
	add_bytes("READ", 500, 50 * MS, MIB);
	read_ahead(8 * MIB, 15 * MIB); /* posix_fadvise() doubles it */
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(verdict.value, "16384");
	assert_true(verdict.gain_at_most > 2.3 && verdict.gain_at_most < 2.5);
	read_ahead(16 * MIB, 15 * MIB);
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(verdict.setting, "");
	assert_has(verdict.sentence, "A larger value costs memory");
}

TEST(dirty_pages_at_a_limit_that_is_in_flight_are_writeback)
{
	add_bytes("WRITE", 100, 50 * MS, MIB); /* 5 MiB in flight */
	now.calls.dirty_limit_bytes = 16 * MIB;
	now.calls.dirty_bytes = 12 * MIB;
	expect(BOUND_WRITEBACK, CONFIDENCE_MEDIUM);
	assert_string_equal(verdict.setting, "vm.dirty_bytes");
	assert_string_equal(verdict.value, "67108864");
	assert_true(verdict.gain_expected == 0 && verdict.gain_at_most == 4);
	mount()->direct_writes = true;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
	mount()->direct_writes = false;
	now.calls.dirty_bytes = 4 * MIB;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
	now.calls.dirty_limit_bytes = 1024 * MIB; /* a writer faster than the server */
	now.calls.dirty_bytes = 1000 * MIB;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
}

TEST(one_sync_after_the_other_is_writeback)
{
	add_bytes("WRITE", 120, 5 * MS, 64 * KIB);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM); /* of which mount is not known */
	assert_false(mount()->direct_writes);
	add_bytes("COMMIT", 50, 12 * MS, 0);
	expect(BOUND_WRITEBACK, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, " one by one, 5 ms each, and COMMITs take 12 ms: ");
	assert_string_equal(verdict.setting, "");
	add_bytes("WRITE", 250, 5 * MS, 64 * KIB); /* more than one at once */
	expect(BOUND_SERVER, CONFIDENCE_LOW);
}

TEST(calls_for_attributes_are_metadata)
{
	static const struct {
		const char *ac, *cache, *sentence;
		uint64_t lookups; /* more */
	} rows[] = {
		{ "3,60,30,60", "all", "/mnt has actimeo 3,60,30,60. A larger one, or nocto,", 0 },
		{ "3,60,30,60", "all", "safe only for data that no client changes", 0 },
		{ "600,600,600,600", "all", "GETATTR, ACCESS and LOOKUP 80 %.", 0 },
		{ "noac", "all", "/mnt has noac. Without it, ", 0 },
		{ "noac", "none", "/mnt has lookupcache=none. With `all`, ", 400 },
	};

	add_bytes("GETATTR", 500, MS, 100);
	add_bytes("LOOKUP", 300, MS, 100);
	add_bytes("READ", 20, 10 * MS, 100);
	ARRAY_EACH(row, rows, COUNT(rows)) {
		strcpy(mount()->options[NFS_AC], row->ac);
		strcpy(mount()->options[NFS_LOOKUPCACHE], row->cache);
		add_bytes("LOOKUP", row->lookups, MS, 100);
		expect(BOUND_METADATA, CONFIDENCE_HIGH);
		assert_has(verdict.sentence, row->sentence);
		assert_int_equal(!!strstr(verdict.sentence, "actimeo"), row->ac[1] == ',');
		assert_true(!*verdict.setting && !verdict.remount && verdict.gain_at_most == 0);
	}
	add_bytes("READ", 100, 10 * MS, 100);
	expect(BOUND_SERVER, CONFIDENCE_LOW);
	add_bytes("OPEN", 2000, MS, 100); /* attributes are less than half of it */
	expect(BOUND_METADATA, CONFIDENCE_HIGH);
	assert_string_equal(verdict.setting, "");
}

TEST(fewer_files_are_advised_only_if_calls_are_made_for_files)
{
	static const struct {
		const char *op, *said;
		enum bound bound;
	} rows[] = {
		{ "CLOSE", "kept open", BOUND_METADATA },
		{ "LOCK", "LOOKUP 0 %.", BOUND_METADATA },
		{ "READDIR", "LOOKUP 0 %.", BOUND_METADATA },
		{ "TEST_STATEID", "for the client's own state", BOUND_STATE_RECOVERY },
	};

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		add_bytes(row->op, 2000, MS, 100);
		expect(row->bound,
		       row->bound == BOUND_METADATA ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		assert_has(verdict.sentence, row->said);
		assert_int_equal(!strstr(verdict.sentence, "larger files"), row != rows);
	}
}

TEST(tasks_that_wait_for_a_files_lock_need_more_files_and_not_more_threads)
{
	static const struct {
		uint32_t waiters;
		uint64_t dirty, calls, ns;
		enum bound bound;
		bool lock;
	} rows[] = {
		{ 31, 0, 190, 5 * MS, BOUND_APPLICATION, true },
		{ 2, 0, 190, 5 * MS, BOUND_APPLICATION, true },
		{ 1, 0, 190, 5 * MS, BOUND_APPLICATION, false },
		{ 31, 0, 32, 30 * MS, BOUND_APPLICATION, true }, /* a slow server */
		{ 31, 12 * MIB, 190, 5 * MS, BOUND_APPLICATION,
		  false }, /* dirty pages are at their limit */
		{ 31, 0, 800, 30 * MS, BOUND_APPLICATION, true },
		{ 23, 0, 800, 30 * MS, BOUND_SERVER, false }, /* as many calls are in flight */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fresh();
		add_bytes("READ", rows[i].calls, rows[i].ns, 4 * KIB);
		mount()->lock_waiters = rows[i].waiters;
		now.calls.dirty_limit_bytes = 16 * MIB;
		now.calls.dirty_bytes = rows[i].dirty;
		expect(rows[i].bound, CONFIDENCE_MEDIUM);
		assert_int_equal(!!strstr(verdict.sentence, "the lock of a file in /mnt"),
				 rows[i].lock);
		assert_int_equal(!strstr(verdict.sentence, "more concurrent requests"),
				 rows[i].lock || rows[i].bound != BOUND_APPLICATION);
		assert_int_equal(verdict.gain_at_most > 1, rows[i].lock);
	}
	/* Buffered writes with syncs. */
	fresh();
	add_bytes("WRITE", 190, 5 * MS, 4 * KIB);
	mount()->lock_waiters = 19;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	assert_true(verdict.gain_at_most > 20.9 && verdict.gain_at_most < 21.1);
	/* What is written back meanwhile may wait to be transmitted. */
	fresh();
	add_bytes("WRITE", 10, MS, 4 * KIB);
	record("WRITE", 700, 50 * MS, RPC_PHASE_SEND, 40 * MS);
	mount()->lock_waiters = 36;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	mount()->lock_waiters = 34;
	expect(BOUND_SEND, CONFIDENCE_MEDIUM);
}

TEST(the_waiting_tasks_are_an_average_over_looks)
{
	mount();
	for (uint64_t i = 1; i <= 4; i++) {
		add_bytes("READ", 190, 5 * MS, 4 * KIB);
		mount()->lock_waiters = i == 3 ? 16 : 0;
		end_interval(SECOND);
	}
	judge(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, "On average 4 tasks");
}

TEST(delegations_that_are_given_back_are_named)
{
	static const struct {
		uint64_t opens, returned;
		bool named;
	} rows[] = { { 100, 50, true }, { 100, 49, false }, { 30, 19, false }, { 30, 20, true } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		fresh();
		add_bytes("OPEN", rows[i].opens, 14 * MS, 100);
		add_bytes("DELEGRETURN", rows[i].returned, 14 * MS, 100);
		add_bytes("GETATTR", 100, MS, 100);
		expect(BOUND_METADATA, CONFIDENCE_HIGH);
		assert_int_equal(!!strstr(verdict.sentence, "delegations were given back"),
				 rows[i].named);
		assert_int_equal(!strstr(verdict.sentence, "kept open"), rows[i].named);
	}
}

/* The mean of all calls hides them: it is below 15 ms. */
TEST(slow_calls_among_many_short_ones_are_named)
{
	static const struct {
		const char *op, *other;
		uint64_t slow_ms;
		const char *bound, *said;
	} rows[] = {
		{ "READ", "GETATTR", 1000, "server",
		  "takes 1000 ms for an answer to calls such as READ." },
		{ "WRITE", "READ", 1000, "server",
		  "takes 1000 ms for an answer to calls such as WRITE." },
		{ "OPEN", "READ", 1000, "server",
		  "takes 1000 ms for an answer to calls such as OPEN." },
		{ "OPEN", "GETATTR", 1000, "server",
		  "takes 1000 ms for an answer to calls such as OPEN." },
		{ "REMOVE", "READ", 1000, "server",
		  "takes 1000 ms for an answer to calls such as REMOVE." },
		{ "OPEN", "GETATTR", 14, "metadata", "GETATTR, ACCESS and LOOKUP 2 %." },
	};

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		add_bytes(row->op, 100, row->slow_ms * MS, 4096);
		add_bytes(row->other, 20000, row->slow_ms * 100, 4096);
		end_interval(SECOND);
		verdict = verdict_of(&sums, SERVER);
		assert_string_equal(bound_names[verdict.bound_by], row->bound);
		assert_has(verdict.sentence, row->said);
	}
	/* What a call waits for in the client is no answer: 9 ms, and 8 ms of setup. */
	fresh();
	add_bytes("OPEN", 1000, 9 * MS, 4096);
	op_of("OPEN")->total.sum_ns += 1000 * 8 * MS;
	op_of("OPEN")->phase[RPC_PHASE_SETUP].sum_ns += 1000 * 8 * MS;
	add_bytes("GETATTR", 20000, MS / 10, 4096);
	end_interval(SECOND);
	verdict = verdict_of(&sums, SERVER);
	assert_string_equal(bound_names[verdict.bound_by], "metadata");
}

TEST(waits_between_calls_that_were_delayed_are_delay)
{
	static const struct {
		const char *op, *status;
		uint64_t count, seconds;
		enum bound bound;
	} rows[] = {
		{ "OPEN", "NFS4ERR_DELAY", 6, 1, BOUND_DELAY },
		{ "RENAME", "NFS4ERR_DELAY", 6, 1, BOUND_DELAY },
		{ "GETATTR", "NFS4ERR_DELAY", 6, 1, BOUND_DELAY },
		{ "LOOKUP", "NFS4ERR_DELAY", 6, 1, BOUND_DELAY },
		{ "LOOKUP", "EJUKEBOX", 1, 1, BOUND_DELAY }, /* 5 s each */
		{ "READ", "EJUKEBOX", 6, 1, BOUND_METADATA },
		{ "OPEN", "NFS4ERR_GRACE", 6, 1, BOUND_DELAY },
		{ "OPEN", "NFS4ERR_DELAY", 4, 1, BOUND_METADATA }, /* less than in calls */
		{ "READ", "NFS4ERR_DELAY", 6, 1, BOUND_METADATA }, /* waits in the call */
		{ "OPEN", "NFS4ERR_DELAY", 6, 20, BOUND_NONE }, /* seldom */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fresh();
		add_bytes("OPEN", 100, 5 * MS, 100);
		add_errors(rows[i].op, rows[i].status, rows[i].count);
		end_interval(rows[i].seconds * SECOND);
		judge(rows[i].bound, rows[i].bound == BOUND_METADATA || *rows[i].status == 'E' ?
					     CONFIDENCE_HIGH :
					     CONFIDENCE_MEDIUM);
	}
	/* Of some the wait is a part of the call. */
	fresh();
	add_bytes("OPEN", 20, 5 * MS, 100);
	record("RENAME", 9, 200 * MS, RPC_PHASE_DELAY, 190 * MS);
	add_errors("OPEN", "NFS4ERR_DELAY", 5);
	add_errors("RENAME", "NFS4ERR_DELAY", 9);
	expect(BOUND_DELAY, CONFIDENCE_HIGH);
	assert_has(verdict.sentence, " Such answers: 14, the last NFS4ERR_DELAY to ");
}

/* Each attempt waits for longer, up to 15 s; meanwhile only the lease is renewed. */
TEST(a_delegation_that_is_not_given_back_is_delay)
{
	server();
	for (uint64_t i = 0; i < 60; i++) {
		record("SEQUENCE", 1, MS, RPC_PHASE_RTT, MS);
		if (i == 1 || i == 3 || i == 7 || i == 15 || i == 30 || i == 45) {
			record("OPEN", 1, MS, RPC_PHASE_RTT, MS);
			add_errors("OPEN", "NFS4ERR_DELAY", 1);
		}
		end_interval(SECOND);
	}
	judge(BOUND_DELAY, CONFIDENCE_MEDIUM);
	assert_has(verdict.sentence, " Such answers: 6, the last NFS4ERR_DELAY to OPEN.");
	assert_has(verdict.sentence, "retries wait for 44 s at least");
	assert_has(verdict.sentence, "That client does not return it: check whether it is down.");
	fresh();
	server();
	for (uint64_t i = 0; i < 60; i++) { /* others' OPENs are answered between these */
		record("OPEN", 1, MS, RPC_PHASE_RTT, MS);
		add_errors("OPEN", "NFS4ERR_DELAY", i == 1 || i == 9);
		end_interval(SECOND);
	}
	judge(BOUND_NONE, CONFIDENCE_MEDIUM);
}

/* The lock manager does not answer, while other calls are answered. */
TEST(a_wait_for_the_lock_manager_is_named)
{
	now.wall = 1000;
	strcpy(server()->lock_wait_by, "flock (71)");
	for (uint64_t i = 0; i < 20; i++) {
		server()->lock_wait_ns = i < 5 ? 0 : i * SECOND;
		go_on(1);
	}
	judge(BOUND_HUNG, CONFIDENCE_MEDIUM);
	assert_has(headline(), "nas: flock (71) waited for 19 s for the server's lock manager: ");
	server()->lock_wait_ns = 0;
	go_on(1);
	judge(BOUND_NONE, CONFIDENCE_MEDIUM);
	go_on(29);
	judge(BOUND_NONE, CONFIDENCE_MEDIUM);
	assert_has(headline(), "nas: flock (71) waited for 19 s for the server's lock manager: ");
}

/* 20 tasks that want one lock, each of which asks once a second or less often. */
TEST(waits_for_fcntl_locks_are_the_applications)
{
	snapshot_mount_calls(&now.calls, SERVER, "/export", "/data");
	strcpy(mount()->mountpoint, "/data");
	add_bytes("LOCK", 200, 5 * MS, 100);
	add_errors("LOCK", "NFS4ERR_DENIED", 180);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM); /* or one task asks again and again */
	assert_has(verdict.sentence, "Tasks wait for locks (fcntl) of files");
	assert_has(verdict.sentence, "180 calls were answered NFS4ERR_DENIED");
	/* The kernel repeats a LOCK in a loop, while the others wait. */
	fresh();
	add_bytes("LOCK", 6600, 5 * MS / 3, 100);
	add_errors("LOCK", "NFS4ERR_DENIED", 7);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	/* Others read, from a slow server. */
	fresh();
	add_bytes("LOCK", 20, MS, 100);
	add_bytes("READ", 250, 40 * MS, 100);
	add_errors("LOCK", "NFS4ERR_DENIED", 20);
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
	/* For most of the time nobody waits. */
	fresh();
	server();
	for (int i = 0; i < 60; i++) {
		record("LOCK", i % 5 == 0, MS, RPC_PHASE_RTT, MS);
		add_errors("LOCK", "NFS4ERR_DENIED", i % 5 == 0);
		end_interval(SECOND);
	}
	judge(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	/* A few do not explain what takes the time. */
	fresh();
	add_bytes("OPEN", 4000, 5 * MS, 100);
	add_errors("LOCK", "NFS4ERR_DENIED", 6);
	expect(BOUND_METADATA, CONFIDENCE_HIGH);
}

/* So have those that may read. */
TEST(refused_calls_hide_no_limit_of_others)
{
	add_bytes("ACCESS", 60, MS, 100);
	add_bytes("READ", 100, 100 * MS, 100);
	add_errors("ACCESS", "EACCES", 60);
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
}

/* Tasks that try without an end what they may not do: fewer and larger files would not help. */
TEST(calls_that_the_server_refuses_show_no_limit)
{
	static const struct {
		const char *status;
		uint64_t count;
		enum bound bound;
	} rows[] = {
		{ "EACCES", 900, BOUND_ERRORS },
		{ "NFS4ERR_ACCESS", 700, BOUND_ERRORS },
		{ "EACCES", 300, BOUND_METADATA },
		{ "ENOENT", 900, BOUND_METADATA },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rpc_error *e;

		fresh();
		add_bytes("LOOKUP", 1000, 5 * MS, 100);
		add_bytes("OPEN", 1000, 5 * MS, 100);
		mount()->kerberos = i == 1;
		e = snapshot_error(&now.calls, SERVER, "OPEN", rows[i].status);
		e->count = rows[i].count;
		strcpy(e->mountpoint, "/data");
		strcpy(e->owner, "slurm:7");
		end_interval(2 * SECOND);
		judge(rows[i].bound,
		      rows[i].bound == BOUND_ERRORS ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH);
		assert_int_equal(!!strstr(verdict.sentence, "(kinit)"), i == 1);
		if (!i)
			assert_has(headline(),
				   "900 of 2000 calls are refused, the last one OPEN to /data with "
				   "EACCES (slurm:7): permissions, root_squash, ");
	}
}

TEST(calls_as_large_as_a_small_rsize_allows_get_a_larger_one)
{
	static const struct {
		const char *rsize, *setting;
	} rows[] = { { "4096", "rsize" },
		     { "4500", "rsize" },
		     { "8192", "" },
		     { "65536", "" },
		     { "", "" } };

	add_bytes("READ", 100, 5 * MS, 4 * KIB);
	for (size_t i = 0; i < COUNT(rows); i++) {
		strcpy(mount()->options[NFS_RSIZE], rows[i].rsize);
		expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
		assert_string_equal(verdict.setting, rows[i].setting);
		assert_int_equal(verdict.remount, *rows[i].setting != 0);
	}
	strcpy(mount()->options[NFS_WSIZE], "32768");
	add_bytes("WRITE", 400, 5 * MS, 32 * KIB);
	mount()->direct_writes = true;
	expect(BOUND_SERVER, CONFIDENCE_LOW);
	assert_string_equal(verdict.setting, "wsize");
	assert_has(verdict.sentence, "as large as wsize of /mnt allows, 32 KiB");
}

/* Three seconds with 50 calls of 40 ms each, on two transports, of which one waits for slots, and a third of a mount without
 * RPC slots. What is known of TCP is of the last two: before, there was no connection. */
TEST(each_figure_is_the_sum_or_mean_of_its_intervals)
{
	static const uint64_t ms[RPC_PHASES] = {
		[RPC_PHASE_SETUP] = 3, [RPC_PHASE_SESSION] = 1, [RPC_PHASE_SLOT] = 5,
		[RPC_PHASE_SEND] = 4,  [RPC_PHASE_RTT] = 6,     [RPC_PHASE_RESEND] = 18,
		[RPC_PHASE_DELAY] = 2, [RPC_PHASE_FINISH] = 1
	};
	const struct verdict_numbers *n = &verdict.numbers;

	now.calls.cpu_waiting_ns = 1;
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int k = 0; k < 3; k++) {
			struct rpc_transport_state *t =
				snapshot_transport(&now.calls, SERVER, formatted("tcp/%u", k));

			assert_non_null(t);
			t->alive = true;
			t->slots_max = k < 2 ? 16 + k : 65536;
			t->segments += 1000;
			t->segments_lost += k;
			t->retransmits += 1 + k;
			t->disconnects += k == 1;
			t->saturated_ns[RPC_LIMIT_SLOT] += k == 1 ? SECOND / 4 : 0;
			t->replies += k ? 0 : 100;
			t->rtt_ns += k ? 0 : SECOND * (1 + i);
			t->received_bytes += k ? 0 : 1000000;
			t->rcv_wnd = 100000 * (1 + i);
			t->min_rtt_ns = 2 * MS;
			t->srtt_ns = 3 * MS + i * 3 * MS;
			t->carries = i == 2;
		}
		histogram_record(&op_of("READ")->total, 50, 40 * MS);
		for (int p = 0; p < RPC_PHASES; p++)
			histogram_record(&op_of("READ")->phase[p], 50, ms[p] * MS);
		server()->credentials_ns += 40 * MS;
		server()->earlier_ns += 20 * MS;
		server()->depth[RPC_QUEUE_PENDING].bucket[0] += 50;
		server()->depth[RPC_QUEUE_PENDING].sum += 75 + 50 * i;
		wait_on(1500 * MS);
		before.calls.cpu_waiting_ns = now.calls.cpu_waiting_ns;
		cpu_waiting = 0.3;
	}
	verdict = verdict_of(&sums, SERVER);
	assert_printed("3 0 3", "%g %g %g", n->seconds, n->stall_seconds, n->active_seconds);
	assert_printed("150 1.98 3.5 17 3", "%lu %g %g %u %u", n->calls, n->concurrency,
		       n->in_flight, n->slots, n->transports);
	assert_printed("3.36e+07 6e+06 0.0202 0.01", "%.4g %.4g %.4g %.4g", n->hold_ns, n->rtt_ns,
		       n->credentials_share, n->earlier_share);
	for (int p = 0; p < RPC_PHASES; p++)
		if (p != RPC_PHASE_SETUP)
			assert_float_equal(n->share[p], (double)ms[p] * 100 / 3960, 1e-9);
	assert_printed("0.25 0.001 0.2", "%.4g %.4g %.4g", n->saturated_share[RPC_LIMIT_SLOT],
		       n->lost_share, n->cpu_waiting_share);
	assert_printed("260000 0.008 0.6 2e+06 7.8e+06", "%.6g %.4g %.4g %.4g %.4g",
		       n->window_bytes, n->window_share, n->carrying_share, n->min_rtt_ns,
		       n->srtt_ns);
	assert_int_equal(n->oldest_ns, 1500 * MS);
	assert_string_equal(
		verdict.sentence,
		"59 % of the time that calls have a slot is spent sending again (times: 18, disconnects: 3): "
		"calls or connections are lost.");
}

/* Whatever the calls of a mount that is used little: nothing is proposed, and nothing is sure. */
TEST(an_idle_mount_gets_no_advice)
{
	static const char *const ops[] = { "GETATTR", "LOOKUP", "OPEN", "READ", "WRITE", "COMMIT" };
	static const uint64_t each_ms[] = { 1, 4, 20, 90 };

	for (size_t o = 0; o < COUNT(ops) * COUNT(each_ms) * 2; o++) {
		uint64_t ms = each_ms[o / 2 % COUNT(each_ms)];
		bool burst = o & 1; /* in one second of five */

		fresh();
		strcpy(mount()->options[NFS_AC], "3,60,30,60");
		strcpy(mount()->options[NFS_RSIZE], "4096");
		server();
		for (int i = 0; i < 20; i++) {
			uint64_t busy = o % 3       ? burst ? i % 5 ? 0 : 2200 : 440 :
					i % 20 < 17 ? 550 :
						      0;

			record(ops[o / 2 / COUNT(each_ms)], (unsigned int)(busy / ms), ms * MS,
			       o % 4 ? RPC_PHASE_RTT : RPC_PHASE_SLOT, ms * MS * 9 / 10);
			op_of(ops[o / 2 / COUNT(each_ms)])->received_bytes += busy / ms * 4096;
			transport()->slots_max = 2;
			if (o % 5 == 0) {
				record("OPEN", 20, MS, RPC_PHASE_RTT, MS);
				add_errors("OPEN", "NFS4ERR_DELAY", 12);
			}
			end_interval(SECOND);
		}
		verdict = verdict_of(&sums, SERVER);
		assert_true(verdict.numbers.calls > 0);
		if (*verdict.setting || *verdict.value || verdict.remount ||
		    verdict.gain_at_most > 0 || verdict.confidence == CONFIDENCE_HIGH ||
		    strstr(verdict.sentence, "mount again") ||
		    strstr(verdict.sentence, "nconnect") || strstr(verdict.sentence, "actimeo") ||
		    strstr(verdict.sentence, "fs.leases"))
			fail_msg("%zu: %s, %s: %s %s", o, bound_names[verdict.bound_by],
				 confidence_names[verdict.confidence], verdict.setting,
				 verdict.sentence);
	}
}

/* A remount loses more if state is lost, and what is delayed or fails has no speed. */
TEST(nothing_is_proposed_from_calls_that_fail)
{
	static const char *const statuses[] = { "", "NFS4ERR_BAD_STATEID", "NFS4ERR_DELAY" };

	ARRAY_EACH(status, statuses, COUNT(statuses)) {
		struct setup u = SETUP(4, 64, 20 * MS, "READ");

		fresh();
		run_list(&u, (const unsigned int[]){ 2, 32, 32, 32, 32, 0 });
		if (**status)
			add_errors("READ", *status, 45 * u.calls / 100);
		end_interval(1);
		verdict = verdict_of(&sums, SERVER);
		assert_int_equal(verdict.bound_by, BOUND_SLOT);
		assert_int_equal(*verdict.setting != 0, !**status);
		assert_int_equal(verdict.gain_at_most > 0, !**status);
	}
}

TEST(a_delay_names_the_answers)
{
	add_bytes("GETATTR", 200, MS, 100);
	record("WRITE", 20, 5000 * MS, RPC_PHASE_DELAY, 4990 * MS);
	struct rpc_error *e = snapshot_error(&now.calls, SERVER, "WRITE", "EJUKEBOX");
	e->count = 20;
	strcpy(e->mountpoint, "/arch");
	strcpy(e->owner, "slurm:3");
	expect(BOUND_DELAY, CONFIDENCE_HIGH);
	assert_has(
		verdict.sentence,
		"the server asks for it. Such answers: 20, the last EJUKEBOX to WRITE on /arch of slurm:3.");
}

/* A server has no row before its first call. */
TEST(a_server_that_is_first_used_late_was_idle_until_then)
{
	for (int known = 0; known < 2; known++) {
		fresh();
		snapshot_server(&now.calls, "other");
		for (int i = 0; i < 60; i++) {
			if (known || i >= 54)
				record("GETATTR", i < 54 ? 0 : 1500, MS, RPC_PHASE_RTT, MS);
			if (known || i >= 54)
				server();
			end_interval(SECOND);
		}
		judge(BOUND_METADATA, CONFIDENCE_LOW);
		assert_has(verdict.sentence, " Idle 8");
		assert_true(verdict.numbers.seconds == 60);
		assert_true(verdict.numbers.idle_share > 0.8);
	}
}

/* 1e+03 and 2e+04 are no figures for people. */
TEST(figures_have_no_exponent)
{
	struct setup far = SETUP(512, 512, 43 * MS, "READ", .bytes = 4096,
				 PATH(400000, 9000000, 40 * MS, 40 * MS, false));
	static const struct {
		uint64_t ms;
		const char *said;
	} rows[] = { { 20, " 20 ms" },
		     { 123, " 123 ms" },
		     { 1500, " 1500 ms" },
		     { 23456, " 23456 ms" },
		     { 120000, " 120000 ms" } };

	ARRAY_EACH(row, rows, COUNT(rows)) {
		fresh();
		add_bytes("READ", 40, row->ms * MS, 4096);
		expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
		assert_has(verdict.sentence, row->said);
	}
	fresh();
	RUN(&far, 150, 150, 150, 150);
	assert_has(verdict.sentence, "More concurrent calls (150 now)");
}

TEST(a_call_that_waits_for_seconds_does_not_time_out)
{
	server();
	end_interval(SECOND);
	be_silent(4);
	wait_on(4900 * MS);
	judge(BOUND_HUNG, CONFIDENCE_HIGH);
	assert_has(verdict.sentence, "No call is answered: the oldest waits for 5 s, and ");
}

TEST(a_slow_renewal_of_the_lease_is_the_servers)
{
	add_bytes("SEQUENCE", 20, 200 * MS, 100);
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
}

TEST(sixteen_connections_are_the_most)
{
	struct setup u = SETUP(64, 500, 2 * MS, "WRITE", .send_ns = 40 * MS);

	strcpy(snapshot_mount(&now.calls,
			      &(struct nfs_mount){ .server = SERVER, .mountpoint = "/ckpt" })
		       ->options[NFS_NCONNECT],
	       "16");
	RUN(&u, 8, 8, 8);
	judge(BOUND_SEND, CONFIDENCE_MEDIUM);
	assert_lacks(verdict.sentence, "More connections");
	assert_true(verdict.gain_at_most == 0);
}

TEST(one_slot_is_not_many)
{
	struct setup u = SESSION_SETUP(1, 1, 2 * MS, "WRITE", .uneven_ns = MS);

	now.calls.slots_wanted[SLOTS_SESSION] = 64;
	server()->session_slots = 1;
	RUN(&u, 64, 64, 64);
	judge(BOUND_SESSION, CONFIDENCE_LOW);
	assert_has(verdict.sentence, "The 1 session slot is in use while ");
	assert_has(verdict.sentence, " The session has 1 slot, and nfs.max_session_slots is 64: ");
}

/* Each such answer delays some program for 0.1 s. */
TEST(delays_of_an_idle_server_are_no_trouble)
{
	server();
	now.calls.unknown = RPC_FACT_BIT(RPC_FACT_REPLIES);
	for (int i = 0; i < 600; i++) {
		record("SETATTR", i % 100 == 3, 2 * MS, RPC_PHASE_RTT, 2 * MS);
		if (i % 100 == 3)
			add_errors("SETATTR", "NFS4ERR_DELAY", 1);
		strcpy(snapshot_error(&now.calls, SERVER, "SETATTR", "NFS4ERR_DELAY")->mountpoint,
		       "/home");
		end_interval(SECOND);
	}
	judge(BOUND_DELAY, CONFIDENCE_LOW);
	assert_has(verdict.sentence, "Calls for metadata had to be made again, ");
	assert_has(verdict.sentence,
		   " Such answers: 6, the last NFS4ERR_DELAY to SETATTR on /home.");
}

/* docs/VERDICT.md has a row for each. */
TEST(the_page_has_every_limit)
{
	static char page[1 << 16];
	FILE *file = not_null(fopen("docs/VERDICT.md", "r"));

	assert_true(fread(page, 1, sizeof(page) - 1, file) > 0);
	fclose(file);
	for (int b = 0; b < BOUNDS; b++)
		if (!strstr(page, formatted("\n| `%s` | ", bound_names[b])))
			fail_msg("no row for %s", bound_names[b]);
}
