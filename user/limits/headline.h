/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a person must know first: the first sentence of each output. headline.c has the order. */
#pragma once

#include "limits/verdict.h"
#include "snapshot/fault_counts.h"

enum headline_level { HEADLINE_GOOD, HEADLINE_WARN, HEADLINE_FAIL, HEADLINE_LEVELS };

/* The gravest first. */
enum headline_kind {
	HEADLINE_GPU,
	HEADLINE_LOST, /* data, open files or locks, where that only warns */
	HEADLINE_SILENT, /* a server does not answer, or did not */
	HEADLINE_ERRORS, /* calls fail */
	HEADLINE_OVER, /* a server did not answer, and now calls fail */
	HEADLINE_LIMIT, /* what limits a server's calls */
	HEADLINE_WELL, /* nothing of the others */
	HEADLINE_KINDS,
};

extern const char *const headline_level_names[HEADLINE_LEVELS]; /* "ok", "warning", "critical" */
extern const char *const headline_kind_names[HEADLINE_KINDS]; /* "gpu", "silent", ... */

struct headline_rank {
	enum headline_level level;
	enum headline_kind kind;
	double weight; /* of two with the same level and kind, the larger one is first */
};
#define HEADLINE_RANK(...) ((struct headline_rank){ __VA_ARGS__ })

struct headline_item {
	struct headline_rank rank;
	char subject[LABEL_SIZE]; /* a device or a server; "": none */
	char text[1024]; /* one line of safe text */
};

#define HEADLINE_ITEMS 32 /* that are kept */

/* Initialise with {}. After headline_end() there is at least one item. The first one is the headline. */
struct headline {
	size_t count;
	size_t left_out; /* the least grave ones, for which there was no room */
	char quiet[96]; /* faults that need nothing now: " (acknowledged: Xid 79 on ...)" */
	struct headline_item items[HEADLINE_ITEMS]; /* last: those in use are few */
};

/* Adds an item. */
void headline_add(struct headline *h, struct headline_rank rank, const char *subject,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds the open ones of @faults, which are in the order of their gravity. */
void headline_add_faults(struct headline *h, const struct known_fault *faults, size_t count);

/* The sentence that all is well then also names @first, the first of @count faults that are @state (acknowledged, snoozed). */
void headline_note_quiet(struct headline *h, const char *state, const char *first, size_t count);

/* The rank of an event of the kernel; false: it is no trouble. */
bool headline_rank_kernel(struct headline_rank *rank, struct span kind, const char *device,
			  const char *grade);

/* Adds what is wrong with a server: silence, calls that fail, a limit. @c is the last snapshot, of the time @now (seconds since the epoch). */
void headline_add_server(struct headline *h, const struct limit_sums *sums, const struct calls *c,
			 const char *server, double now);

/* Call it last. If nothing is wrong, says that all is well, or what was not looked at. */
void headline_end(struct headline *h, bool gpu_watched, const struct calls *c, bool calls_ended);
