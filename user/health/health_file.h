/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The health file: what the agent's rules find, for the commands that evaluate nothing. JSON; its members are those of
 * struct health_file. */
#pragma once

#include "base/file_text.h"
#include "base/json.h"
#include "health/health.h"

#define HEALTH_DEFAULT_FILE "/run/xidscope/health.json"
#define HEALTH_FILE_FORMAT "xidscope health 1"
/* A longer file is not read. */
#define HEALTH_FILE_MAX_BYTES (4 << 20)

/* ---- written by the agent ---- */

struct health_content {
	const struct snapshot *s;
	const struct health_options *options;
	const struct health_report *report;
	const char *headline; /* what matters most */
	const char *output; /* where the metrics go */
	const char *trouble; /* why the health is unknown all the same; NULL: it is known */
};

/* Writes the file's text. The clocks are read now. */
void health_file_write(FILE *out, const struct health_content *c);

/* ---- read by the commands ---- */

/* An element of one of the file's lists. If the file lacks a member, its text is "" or its number NAN. */
struct health_item {
	const char *rule, *setting, *level, *state, *kind, *what, *device, *uuid;
	const char *severity, *action, *meaning, *advice, *head, *reason, *clears, *acknowledge;
	double limit, open, count;
	double first, last; /* seconds since the epoch */
	struct span json; /* as it stands in the file */
};

/* Initialise with {}, free with health_file_free(). */
struct health_file {
	const char *format, *boot, *source, *level, *output, *headline, *trouble;
	double monotonic, xids, oldest_waiter;
	double age; /* seconds; NAN: not known */
	char error[640]; /* by health_file_read(): a line of safe text */
	struct health_list {
		struct health_item *items;
		size_t count;
	} rules, servers, findings,
		gpus; /* of a server .device and .what: its name, what limits it */
	struct span faults_text; /* a list as it stands in the file, */
	struct health_list faults; /* and as it was read */
	struct file_text text;
	char *decoded, *next; /* the texts; room for the next */
};

/* Reads the file @path, which must be root's or this user's, and not a link. Unknown members are skipped. Returns false if
 * nothing is known: the file is missing, another's, damaged, in another format or older than @max_age seconds; @error says why.
 * If the agent could not judge, @trouble says why. @faults: read these as well, of which there may be thousands. */
bool health_file_read(struct health_file *f, const char *path, double max_age, bool faults);

/* The same for a text, which the file takes over and frees; pure. Age and trouble are only read. Returns NULL, or what is wrong
 * with it. @now_ns: CLOCK_MONOTONIC, of the boot @boot. */
const char *health_file_parse(struct health_file *f, struct file_text text, const char *boot,
			      uint64_t now_ns, bool faults);

void health_file_free(struct health_file *f);

/* Writes an array of the elements as they stand in the file. */
void health_list_write(struct json *j, const char *name, const struct health_list *list);
