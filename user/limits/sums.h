/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums over intervals from which the verdict on a server is made: sums.c says what they contain, and why. */
#pragma once

#include "limits/verdict.h"

/* Calls whose times may be compared with each other. */
enum call_kind { CALL_READ, CALL_WRITE, CALL_OTHER, CALL_KINDS };

/* Calls of one kind, from intervals with about as many calls in flight. */
struct load_sums {
	uint64_t calls;
	double in_flight; /* on the call's transport as it ended; the sum over the calls */
	uint64_t rtt_ns;
	uint64_t bytes;
};

/* From a quarter of a call in flight to 2^18, in the steps of depth histograms. */
#define LOADS DEPTH_BUCKETS

/* A queue for slots, RPC's or the session's. A call's depth is the length that it finds as it joins, itself included. */
struct slot_queue {
	uint64_t joined, depth; /* calls that joined; the sum of their depths */
	double most; /* largest mean depth of an interval that counts, see slots.c; 0: none counts */
	uint32_t peak;
	bool full; /* in some interval the queue was never empty */
};

/* Waits for slots since the server last granted the session more of them. */
struct slot_waits {
	/* From the intervals in which calls waited: the calls' time, and that time without these waits. */
	uint64_t total_ns, hold_ns;
	struct slot_queue queue[RPC_LIMITS]; /* RPC_LIMIT_SLOT and RPC_LIMIT_SESSION */
	/* Distances between replies (struct rpc_gaps): how many; how many in intervals where they are equal; the sum of those. */
	uint64_t gaps, even, even_sum;
};

/* TCP sends a segment again after this time or more, if nothing came after it (TCP_RTO_MIN). */
#define LATE_NS UINT64_C(200000000)

/* A connection is closed repeatedly. An idle one is closed after 5 minutes. */
#define CLOSINGS 5

/* The slots of a transport without a limit: RPC_MAX_SLOT_TABLE_LIMIT. */
#define RPC_SLOTS_UNLIMITED 65536

/* The server hangs if it answers no call for this time although one waits. */
#define HUNG_NS UINT64_C(5000000000)

/* With fewer concurrent calls on average NFS does not limit the programs: they do something else for most of the time. */
#define BUSY 0.5

/* Sums over the intervals in which calls ended or waited. */
struct active_time {
	uint64_t ns;
	uint64_t cpu_waiting_ns; /* a task waited for a CPU */
	uint64_t saturated_ns[RPC_LIMITS]; /* of the worst transport in each interval */
};

/* Operations that above.c distinguishes. */
enum above_op {
	ABOVE_READ,
	ABOVE_WRITE,
	ABOVE_COMMIT,
	ABOVE_LOOKUP,
	ABOVE_ATTRIBUTES, /* GETATTR, ACCESS */
	ABOVE_OPEN,
	ABOVE_FILES, /* CLOSE, CREATE, REMOVE */
	ABOVE_DELEGRETURN,
	ABOVE_NAMES, /* other metadata */
	ABOVE_STATE, /* for the client's lease, session and stateids */
	ABOVE_OTHER,
	ABOVE_OPS,
};

struct above_sums {
	struct op_sums {
		uint64_t calls, ns, rtt_ns, bytes;
		uint64_t delayed; /* answered NFS4ERR_DELAY, EJUKEBOX or NFS4ERR_GRACE */
		char op[RPC_OP_LEN]; /* had the most time of these in an interval, */
		uint64_t most_ns; /* which is this */
	} ops[ABOVE_OPS];
	uint64_t delayed; /* all of those */
	struct rpc_error delay; /* the last one */
	uint64_t jukebox, grace; /* calls for metadata answered EJUKEBOX, NFS4ERR_GRACE */
	/* Time between OPENs that were answered NFS4ERR_DELAY, if no other OPEN was answered; since the last OPEN answered so. */
	uint64_t retry_ns, since_delay_ns;
	bool opens_wait; /* the last OPEN was answered so */
	uint64_t denied; /* calls answered NFS4ERR_DENIED: another has the lock */
	uint64_t lock_ns; /* of LOCKs */
	uint64_t refused; /* calls that ended with EACCES, EPERM, EROFS or NFS4ERR_ACCESS */
	struct rpc_error refusal; /* the last one of them */
	uint64_t held_up_ns; /* of the intervals that ended with dirty pages at their limit */
	uint64_t dirty_limit_bytes; /* at the end; 0: unknown */
	/* Tasks that waited for files' locks at the end of an interval, times its length; the last mount that had some. */
	uint64_t lock_wait_ns;
	char locked[LABEL_SIZE];
	/* The mount with most of the time of these calls, in the last interval that was at least half as busy as the busiest:
	 * a load's last calls prove little. No mount point: unknown. */
	struct nfs_mount mount[RPC_KINDS];
	uint64_t most_ns[RPC_KINDS]; /* the most that a mount has had in an interval */
};

/* What does not arrive, as TCP sees it. */
enum lost_packets {
	LOST_NONE, /* or not known */
	LOST_ALL, /* small segments: perhaps all */
	LOST_LARGE, /* a large segment: perhaps all, or only such */
	LOST_ONLY_LARGE, /* large ones, while small ones arrive */
};

#define CONNECTION_SIZE (32 + ENDPOINT_SIZE)

/* A time without an answer: see silence.c. */
struct stall {
	uint64_t ns; /* 0: there was none */
	double begin, end; /* end 0: it lasts */
	double unsure; /* it may have ended so much earlier: its last interval */
	double last; /* when the last call that had waited in it ended; 0: none after its end */
	double over; /* its end, or the last time when the server answered NFS4ERR_GRACE */
	unsigned int intervals_left; /* intervals that are still to be left out */
	unsigned int back; /* versions of NFS, as bits: their calls have ended since */
	unsigned int late; /* one that came back after the others, at late_end */
	double late_end;
	enum lost_packets lost;
	bool reconnected;
	bool restarted; /* the client has registered again (NFSv4) */
	char moved_to[RPC_ADDRESS_LEN]; /* the new address of all connections; "": the old one */
	char victims[VICTIMS_TEXT]; /* from calls_victims() */
	char waits_on[CONNECTION_SIZE]; /* the only one of several with such calls; else "" */
};

struct server_sums {
	char server[LABEL_SIZE];
	char protocol[RPC_PROTO_LEN]; /* of its transports */
	uint64_t ns; /* of all intervals */
	uint64_t judged_ns; /* of those that are not left out with a stall */
	uint64_t busy_ns; /* of those with at least BUSY concurrent calls on average */
	uint64_t quiet_ns; /* of the last intervals, if nothing happened in them */
	struct active_time active, silent; /* silent: the part of active that is in silent_ns */
	uint64_t silent_ns; /* of the last intervals, if a call waited and none was answered */
	double clock; /* of the end, since the epoch, as if nobody had set the clock since the server's first interval */
	double silent_since; /* by it, as all times of stalls */
	char victims[VICTIMS_TEXT]; /* of this silence or recovery, or of the last one */
	uint64_t unheard_ns; /* time since the last interval with an answer; 0: no answer yet */
	uint64_t served_ns; /* of the longest call that ended in that one */
	uint64_t silent_connects; /* connections made in that time */
	struct stall stall, longest_stall; /* the last one; of those that ended the longest */
	unsigned int stalls; /* that ended */
	char address[RPC_ADDRESS_LEN]; /* of a connection before the stall; "": not known */
	uint64_t calls_ended; /* also those that are left out */
	uint64_t longest_ns; /* the longest of them took at least so long; 0: not known */
	uint64_t late_calls; /* that took LATE_NS or more */
	uint64_t calls, total_ns, phase_ns[RPC_PHASES], credentials_ns;
	uint64_t earlier_ns; /* in none of these: setup of calls from before the observation */
	struct slot_waits waits;
	uint64_t outgrown_ns; /* of phase_ns: waits for fewer session slots than there are now */
	/* Calls whose end shows how many were in flight on their transport; the sum of these, without the call itself. */
	uint64_t depth_calls, depth;
	uint32_t most_in_flight; /* on a transport, as a call ended */
	uint64_t segments, segments_lost; /* TCP's */
	uint64_t losing_ns; /* of the intervals in which some were lost */
	double received_bytes; /* by TCP */
	/* From network.c: the time until replies; the other sums are weighted by it. */
	double path_ns, carrying, window_filled, min_rtt_ns, srtt_ns, rcv_wnd;
	double queued_ns,
		queued_bytes; /* of the intervals in which data waited in queues on the way */
	double clear_rate; /* bytes a second, the most in an interval in which they did not */
	unsigned int looks; /* at connections that had received data; see limit_sums_next() */
	uint64_t retransmits, disconnects;
	char closed[32]; /* the transport that is closed repeatedly, such as "tcp/0" */
	char closed_text[CONNECTION_SIZE];
	uint64_t closings; /* of it, less those of others: 0 if all are closed now and then */
	uint32_t connect_error; /* at the end: connecting fails with this errno; 0: it does not */
	enum lost_packets lost; /* at the end, on a connection with a call that waits for long */
	uint64_t oldest_ns; /* at the end */
	uint64_t unanswered_ns; /* the same, of calls that were sent */
	char oldest_op[RPC_OP_LEN]; /* of the oldest of them; "": not known */
	bool acknowledges; /* at the end: TCP knows of acknowledged segments */
	/* The connection of several on which the oldest one waits for HUNG_NS or more; else "". */
	char waits_on[CONNECTION_SIZE];
	bool waits_silent; /* it carried no reply in the last interval, and others many */
	uint32_t waiting_transports; /* with an unanswered call, at the end */
	uint64_t unanswered_most_ns; /* the same at its longest, while other calls ended */
	char waited_on[CONNECTION_SIZE]; /* then waits_on, if it carried no reply meanwhile */
	uint64_t unknown; /* facts that were unknown in some interval */
	bool kerberos; /* one of its mounts uses it, at the end */
	uint32_t nconnect; /* the most of its mounts; 0: not known */
	uint32_t session_slots, transports, slots_wanted[SLOT_SETTINGS]; /* at the end */
	/* At the end: the transports whose slots limit calls. If no slots do: RPC_SLOTS_UNLIMITED, and all transports. */
	uint32_t slots_max, slot_transports;
	struct load_sums loads[CALL_KINDS][LOADS];
	char op[RPC_OP_LEN]; /* the one operation in CALL_OTHER, see loads.c */
	uint64_t op_rtt_ns;
	struct above_sums above;
	struct failures failures;
	/* Of stalls as well: */
	uint64_t clients, sessions; /* calls that made these known; not after stalls */
	uint64_t unregistered_ns; /* time since the last of them */
	uint64_t identities; /* the most of its clients that did so each */
	uint64_t draining_ns, draining_now_ns; /* as in struct rpc_server_state */
	uint64_t upcall_ns; /* longest wait for credentials, or all intervals with one */
	char upcall_by[LABEL_SIZE]; /* by whom, if it is known */
	uint64_t lock_wait_now_ns; /* for the lock manager, at the end */
	uint64_t lock_wait_ns; /* the longest such wait, and by whom */
	char lock_wait_by[LABEL_SIZE];
};

enum call_kind call_kind_of(const char *op);

void above_add(struct above_sums *a, const struct delta *d, const char *server);

/* Adds an interval of one server. */
void limit_sums_add_server(struct limit_sums *h, const struct delta *d,
			   const struct rpc_server_state *server);

/* What the connections show of the reason why calls are not answered: "connecting fails (No route to host)"; "": nothing.
 * @lost: of a stall that has ended, or v->lost. @silent: no call is answered. Returns @text. */
#define SILENCE_REASON_SIZE (256 + CONNECTION_SIZE)
const char *silence_reason(char *text, const struct server_sums *v, enum lost_packets lost,
			   bool silent);

/* Whether others have been answered for HUNG_NS since the oldest call began. */
bool was_passed_by(const struct server_sums *v);

/* Whether the oldest call is a COMMIT, and the host acknowledges all that is sent. */
bool waits_for_disks(const struct server_sums *v);

const struct server_sums *server_sums_of(const struct limit_sums *h,
					 const char *server); /* or NULL */

/* "tcp/7 from 10.0.0.2:871"; if the transport stands for several: "a connection". Returns @text, of CONNECTION_SIZE bytes. */
const char *connection_text(char *text, const struct rpc_transport_state *t);

/* "The server, or a device on the network, closed CONNECTION 8 times; ...". Returns @text, of SILENCE_REASON_SIZE bytes. */
const char *closings_text(char *text, const char *connection, uint64_t times);

/* "flock (71) waited for 58 s for the server's lock manager: ...". Returns @text, of FAILURE_TEXT_SIZE bytes. */
enum wait_for { WAIT_LOCKD, WAIT_GSSD };
const char *wait_text(char *text, const char *by, uint64_t ns, enum wait_for what);
