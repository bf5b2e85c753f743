/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent's judgement: the rules with the site's settings, acknowledgements, the node, and the health file. */
#pragma once

#include "base/output_file.h"
#include "commands/observer.h"
#include "commands/options.h"
#include "health/health.h"
#include "limits/headline.h"
#include "limits/nfs_watch.h"

struct agent_health {
	const struct options *options;
	struct health_options rules;
	struct ack_file acks;
	uint64_t acks_due_ns; /* CLOCK_MONOTONIC: when they are read again without a reason */
	int mounts; /* open mountinfo: shows whether anything has been mounted */
	struct node_watch node;
	struct output_file file;
	bool wanted; /* the file is to be written */
	bool mounted; /* something was mounted or unmounted since @remote was found out */
	bool remote; /* it is not written now: its folder may be on a server */
	int error; /* of its last write; logged when it changes */
	int written; /* the file as last written, or -1: a look at it each second needs no path */
	struct timespec time; /* of @written, as last seen */
	size_t findings; /* open ones, at the last judgement */
	const struct headline *servers; /* items about NFS servers */
	struct headline_item headline; /* at the last judgement */
};

/* Takes the health file. @servers must outlive it. Returns 0, or the exit code of a failure after a message. Call agent_health_close() in any case. */
int agent_health_open(struct agent_health *h, const struct options *o,
		      const struct headline *servers);

/* Judges the snapshot @s, adds the result to it, and writes the file. */
void agent_health_add(struct agent_health *h, struct observer *observer, struct snapshot *s);

/* Takes the servers whose calls end with errors. */
void agent_health_errors(struct agent_health *h, struct nfs_watch *w);

/* Judges again and writes the file if faults, acknowledgements or mounts changed, with the calls of @last. Call it every second. */
void agent_health_poll(struct agent_health *h, struct observer *observer, struct snapshot *last);

/* Removes the file. */
void agent_health_close(struct agent_health *h);

/* Whether @path, NULL or of @option, is on a local file system; otherwise logs an error. @lower: an overlay counts by all its layers. */
bool is_local(const struct options *o, const char *option, const char *path, bool lower);

/* Returns EXIT_USAGE after a message if @err, 0 or -errno, shows that @path of @option must not be written; otherwise 0. */
int check_refused(const struct options *o, const char *option, const char *path, int err);
