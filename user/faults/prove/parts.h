/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of this folder share, and nobody else uses. */
#pragma once

#include <sys/types.h>

#include "faults/prove/prove.h"
#include "printk.h"

/* ---- the two reports of one fault ----
 *
 * A text is followed at once by the driver's own report, which may be read earlier or later. Each waits for the other
 * for a while. An unproven text is paired when its wait or the report's has ended: it must not take the place of the
 * driver's text. */

#define FAULT_PAIR_WAIT_NS (2 * 1000000000ull)
#define FAULT_PAIR_ALIKE_NS 100000000ull /* equal reports wait as one */
#define MAX_WAITING 512

struct fault_pairs {
	struct fault_report *list; /* room for twice MAX_WAITING */
	size_t first; /* index of the oldest: all follow it */
	size_t count;
	struct fault_report taken; /* what fault_pairs_take() has removed last */
};

/* Removes the other report of the same fault if it waits; returns whether it did.
 * @doubtful: also if one of the two is an unproven text. */
bool fault_pairs_take(struct fault_pairs *p, const struct fault_report *report, bool doubtful);

/* The same without @doubtful; if there is none, the report waits. Returns 1 if there was one,
 * 0 if the report waits, -ENOSPC if MAX_WAITING do already, or -ENOMEM. */
int fault_pairs_add(struct fault_pairs *p, const struct fault_report *report);

/* Removes the oldest unproven text. Returns whether there was one. */
bool fault_pairs_take_doubtful(struct fault_pairs *p, struct fault_report *report);

/* Whether a text of that Xid that looks like the driver's waits for its report. */
bool fault_pairs_pending(const struct fault_pairs *p, const char *device, unsigned int code);

/* Removes the oldest report if it has waited FAULT_PAIR_WAIT_NS, or in any case if
 * @all. Returns whether one was removed. */
bool fault_pairs_expire(struct fault_pairs *p, uint64_t now_ns, bool all,
			struct fault_report *report);

void fault_pairs_free(struct fault_pairs *p);

/* ---- who called printk ----
 *
 * Finds in a kernel stack the first return address beyond printk's functions, and whether it lies in a module of the
 * NVIDIA driver: only the driver's own calls are proof of a fault.
 *
 * printk's functions and the limits of the kernel's text come from /proc/kallsyms, which is large and is read once,
 * when the driver is found; modules come from /proc/modules. An address in neither is code that the kernel has made,
 * such as a trampoline: the next address counts. Ranges of modules that have gone are kept for a minute, for stacks
 * that were taken before. */

enum printk_origin {
	PRINTK_ORIGIN_UNKNOWN, /* the stack or the addresses are missing */
	PRINTK_ORIGIN_DRIVER,
	PRINTK_ORIGIN_OTHER,
};

struct printk_function {
	uint64_t begin, end;
	enum printk_function_kind {
		PRINTK_INNER, /* it calls the tracepoint: a stack that was taken there begins with it */
		PRINTK_OUTER,
		PRINTK_LOST, /* no function of printk: it stands for a return address that is hidden */
	} kind;
};

struct module_range {
	uint64_t begin, end; /* its text, and what follows up to its whole size */
	bool driver;
	uint64_t from_ns, until_ns; /* CLOCK_MONOTONIC: it was loaded at most that long */
	bool found; /* in the reading of /proc/modules that is in progress */
};

/* Begin with an empty struct. */
struct printk_origins {
	struct printk_function *functions;
	size_t function_count;
	uint64_t text_begin, text_end; /* of the kernel; both 0: unknown */
	struct module_range *modules;
	size_t module_count;
	uint64_t read_ns; /* when /proc/modules was read; 0: never */
	ino_t driver; /* module_number() of nvidia, before that */
	int error; /* of the last reading, -errno; -EPERM: addresses are hidden */
	int functions_error; /* of the reading of printk's functions alone */
};

/* Whether a stack was taken by who prints: of printk's functions on it, the first one calls the tracepoint. */
bool printk_origins_inner(const struct printk_origins *o, const uint64_t *stack, size_t depth);

/* Reads /proc/modules and, once the driver is loaded, printk's functions. @root is put before the
 * paths. Returns 0 or -errno, which is kept as o->error: then all origins are unknown. */
int printk_origins_read(struct printk_origins *o, const char *root, uint64_t now_ns);

/* Whether the modules must be read again before printk_origin() is asked: they were read before
 * the call, and that was a while ago, or the call would be the driver's (another module may
 * have its range now), or the driver has been loaded since, which sysfs shows at less cost. */
bool printk_origins_stale(const struct printk_origins *o, const char *root, const uint64_t *stack,
			  size_t depth, uint64_t time_ns, uint64_t now_ns);

/* Reads printk's functions, even if no module of the driver is loaded. Returns 0 or -errno. */
int printk_origins_read_functions(struct printk_origins *o, const char *root);

/* The origin of a call whose stack of @depth return addresses, the innermost first, was taken at @time_ns. */
enum printk_origin printk_origin(const struct printk_origins *o, const uint64_t *stack,
				 size_t depth, uint64_t time_ns);

/* The text of the driver's modules that are loaded, up to another module's. Returns how many, at most @max. */
size_t printk_origins_driver(const struct printk_origins *o, struct printk_range *ranges,
			     size_t max);

void printk_origins_free(struct printk_origins *o);

/* ---- messages of the printk hook that wait for their record; begin with an empty struct ---- */

#define MAX_PRINTK_WAITING 2048 /* twice what the hook's buffer holds */
#define MAX_OTHERS_WAITING 64 /* of those, messages that are not the driver's */

struct printk_queue {
	struct printk_waiting {
		uint64_t arrived_ns; /* CLOCK_MONOTONIC */
		enum printk_origin origin;
		struct printk_event *event;
	} * list; /* the oldest first */
	size_t count;
};

/* Appends a copy of @event. False: no memory. The caller keeps the count within MAX_PRINTK_WAITING. */
bool printk_queue_add(struct printk_queue *q, const struct printk_event *event,
		      enum printk_origin origin, uint64_t now_ns);

#define MAX_PRINTK_PIECES 16

/* The parts of a record's text that are known to be one printk call each. Messages beyond their
 * number stay in the queue. */
struct printk_pieces {
	struct printk_piece {
		size_t at, len; /* in the record's text */
		enum printk_origin origin;
	} list[MAX_PRINTK_PIECES];
	size_t count;
};

/* Removes the messages that make up a record's text: one that is all of it, else several in their
 * order; none of the driver's if the record was written @by_process. Returns the first, which
 * the caller frees, and each one's part in @pieces; NULL: there is none. */
struct printk_event *printk_queue_take(struct printk_queue *q, const char *text, size_t len,
				       bool by_process, struct printk_pieces *pieces);

/* Removes one message. */
void printk_queue_remove(struct printk_queue *q, size_t i);

void printk_queue_free(struct printk_queue *q);

/* ---- whether a line was printed by who its text names ----
 *
 * Users can make the kernel print their text within its messages, with newlines. The best proof is the printk call's
 * origin; if that is not known, the form of the text. Pure functions. */

/* What is known of a text. */
struct provenance {
	const char *text; /* @len bytes, not terminated */
	size_t len;
	const struct kmsg_record *record; /* NULL: the log has lost it */
	const struct printk_pieces *pieces; /* the printk calls that are known */
	bool all_known; /* any other part with a mark is not the driver's */
};

/* Who printed the @len bytes at @at, which must be one call. In a call of the driver
 * only the beginning of a line is its own: it prints names that users choose. */
enum printk_origin provenance_origin(const struct provenance *p, const char *at, size_t len);

/* Whether the call that printed it begins at @at. */
bool provenance_begins_call(const struct provenance *p, const char *at);

/* The next offset behind @at at which a call of the driver begins or ends; the text's end if there is none. */
size_t provenance_next_call(const struct provenance *p, size_t at);

/* Whether a header at @at stands where the driver's do: at the beginning of a record
 * of the kernel, which is a continuation (KERN_CONT) if it is not the switch's. */
bool provenance_likely(const struct provenance *p, const char *at, bool nvswitch);

/* Whether a line of that text was printed by who it names. */
bool provenance_accepts(const struct provenance *p, const struct kernel_line *line);

/* ---- the stream ---- */

/* How long a message of the printk hook waits for its record. */
#define PRINTK_WAIT_NS (2 * 1000000000ull)

struct fault_stream {
	struct fault_events *events; /* where all is counted */
	bool accept_user_kmsg;
	int64_t log_offset_ns; /* from the log's clock to CLOCK_MONOTONIC */
	uint64_t all_read_ns; /* all that the log had until then has been read */
	uint64_t read_to_ns; /* time of the last record; 0: none was read */
	/* since when all messages and their origins are known; UINT64_MAX: not */
	uint64_t origins_ns;
	uint64_t gap_ns; /* but of those up to then the hook may have lost some */
	bool reports_expected; /* the driver that is loaded reports each Xid ... */
	uint64_t reports_lost_ns; /* ... but those up to then may have been lost */
	struct fault_pairs pairs;
	struct printk_queue printk;
	/* Messages that were removed because too many waited, or there was no memory for them; of
	 * the driver or of unknown origin, and of others. */
	uint64_t crowded, others_crowded;
};

/* A message of the printk hook. */
void fault_stream_message(struct fault_stream *s, const struct printk_event *event,
			  enum printk_origin origin, uint64_t now_ns);
