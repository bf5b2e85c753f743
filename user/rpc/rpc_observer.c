// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sunrpc's observer: chooses the source, and follows the module as it comes and
 * goes.
 *
 * A BPF link on a module's tracepoint, of whatever kind, keeps the module from
 * being unloaded. So the hooks are in place only while another module uses
 * sunrpc, without which there is no NFS to be seen: whoever unloads nfs finds
 * that sunrpc can be unloaded, too.
 */
#include "rpc/rpc_observer.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/merge.h"
#include "rpc/tracepoints.h"
#include "rpc/mountstats.h"
#include "rpc/btf.h"
#include "rpc/choice.h"

#define HOLDERS "/sys/module/sunrpc/holders"

struct rpc_hooks {
	const struct log *log;
	unsigned int sources; /* that may be used */
	unsigned int refused; /* by this sunrpc, though they seemed possible */
	enum rpc_hooks_state state;
	bool told; /* the state is in the log */
	int error;
	/* At most one of these: the source in force. */
	struct rpc_typed *typed;
	struct rpc_events *events;
	struct rpc_poll *poll;
	struct snapshot past; /* what those before it have counted */
};

struct rpc_hooks *rpc_hooks_new(const struct log *log, unsigned int sources)
{
	struct rpc_hooks *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->log = log;
	h->sources = sources;
	return h;
}

static void detach(struct rpc_hooks *h)
{
	rpc_typed_free(h->typed);
	rpc_events_free(h->events);
	rpc_poll_free(h->poll);
	h->typed = NULL;
	h->events = NULL;
	h->poll = NULL;
	malloc_trim(0);
}

void rpc_hooks_free(struct rpc_hooks *h)
{
	if (!h)
		return;
	detach(h);
	snapshot_free(&h->past);
	free(h);
}

static enum rpc_source source_in_force(const struct rpc_hooks *h)
{
	if (h->typed)
		return RPC_SOURCE_BTF;
	if (h->events)
		return RPC_SOURCE_TRACEPOINTS;
	if (h->poll)
		return RPC_SOURCE_MOUNTSTATS;
	return RPC_SOURCE_NONE;
}

/* Whether another module uses sunrpc. */
static bool is_used(void)
{
	DIR *folder = opendir(HOLDERS);
	struct dirent *entry;
	bool used = false;

	if (!folder)
		return true; /* the kernel does not tell */
	while (!used && (entry = readdir(folder)))
		used = entry->d_name[0] != '.';
	closedir(folder);
	return used;
}

/* RPC_HOOKS_ATTACHED stands for: can be attached. */
static enum rpc_hooks_state look(void)
{
	switch (sunrpc_look("")) {
	case SUNRPC_BUILT_IN:
		return RPC_HOOKS_ATTACHED;
	case SUNRPC_LIVE:
		return is_used() ? RPC_HOOKS_ATTACHED : RPC_HOOKS_UNUSED;
	case SUNRPC_LOADING:
	case SUNRPC_ABSENT:
		break;
	}
	return RPC_HOOKS_ABSENT;
}

/* Tries the best source that seems possible. Returns whether there was one to
 * try. */
static bool try_best(struct rpc_hooks *h)
{
	unsigned int left = h->sources & ~h->refused;
	struct source_choice choice, next;
	struct rpc_facts facts;

	rpc_facts_look(&facts, "");
	source_choose(&choice, &facts, left);
	switch (choice.source) {
	case RPC_SOURCE_BTF:
		/* Even without waits it tells more than source mountstats. */
		source_choose(&next, &facts, left & ~RPC_SOURCE_BIT(RPC_SOURCE_BTF));
		h->typed = rpc_typed_new(h->log, next.source != RPC_SOURCE_TRACEPOINTS);
		break;
	case RPC_SOURCE_TRACEPOINTS:
		h->events = rpc_events_new(h->log, facts.tracefs_path);
		break;
	case RPC_SOURCE_MOUNTSTATS:
		h->poll = rpc_poll_new("");
		break;
	default:
		return false;
	}
	h->error = !source_in_force(h) ? errno : 0;
	h->refused |= RPC_SOURCE_BIT(choice.source);
	return true;
}

static void attach(struct rpc_hooks *h)
{
	do {
		if (!try_best(h)) {
			h->state = h->error ? RPC_HOOKS_FAILED : RPC_HOOKS_NO_TIER;
			log_error(h->log, "sunrpc is not observed: %s",
				  h->error ? "the kernel has refused every "
					     "source that may be used, see above" :
					     "see xidscope doctor for the "
					     "sources that can be had");
			return;
		}
	} while (!source_in_force(h));
	h->state = RPC_HOOKS_ATTACHED;
	log_info(h->log, "attached to sunrpc, source %s", rpc_source_names[source_in_force(h)]);
}

/* The counts go on from where they are when the module comes again. */
static void keep_counts(struct rpc_hooks *h)
{
	struct snapshot s = { .time_ns = monotonic_ns() };

	if (rpc_hooks_snapshot(h, &s)) {
		log_error(h->log, "cannot read the counts before sunrpc goes: "
				  "they begin again");
		snapshot_free(&s);
		return;
	}
	snapshot_free(&h->past);
	h->past = s;
}

static void tell(const struct rpc_hooks *h)
{
	if (h->state == RPC_HOOKS_ABSENT)
		log_info(h->log, "sunrpc is not loaded: there is no NFS to "
				 "watch; will attach when it comes");
	else if (h->state == RPC_HOOKS_UNUSED)
		log_info(h->log, "no module uses sunrpc: will attach when one "
				 "comes");
}

bool rpc_hooks_poll(struct rpc_hooks *h)
{
	enum rpc_hooks_state seen = look();

	if (seen == RPC_HOOKS_ATTACHED) {
		if (h->state >= RPC_HOOKS_NO_TIER)
			return false;
		attach(h);
		return true;
	}
	if (seen == h->state && h->told)
		return false;
	if (source_in_force(h)) {
		keep_counts(h);
		detach(h);
	}
	h->refused = 0;
	h->error = 0;
	h->state = seen;
	h->told = true;
	tell(h);
	return true;
}

int rpc_hooks_error(const struct rpc_hooks *h)
{
	return h->error;
}

const char *rpc_hooks_missing(const struct rpc_hooks *h)
{
	switch (h->state) {
	case RPC_HOOKS_ATTACHED:
		return NULL;
	case RPC_HOOKS_ABSENT:
		return "sunrpc is not loaded";
	case RPC_HOOKS_UNUSED:
		return "no module uses sunrpc";
	default:
		return "no source is available; see xidscope doctor";
	}
}

int rpc_hooks_snapshot(struct rpc_hooks *h, struct snapshot *s)
{
	int err = snapshot_add_calls(s, &h->past);

	s->source = source_in_force(h);
	s->unknown = s->source == RPC_SOURCE_NONE ? h->past.unknown : 0;
	if (err)
		return err;
	if (h->typed)
		return rpc_typed_snapshot(h->typed, s);
	if (h->events)
		return rpc_events_snapshot(h->events, s);
	if (h->poll)
		err = rpc_poll_snapshot(h->poll, s);
	rpc_typed_absent(s);
	return err;
}
