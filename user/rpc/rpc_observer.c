// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Observes sunrpc: chooses the source, attaches it when the module is loaded, and
 * detaches it when the module is to be unloaded.
 *
 * A module cannot be unloaded while a BPF link of any kind is attached to one of
 * its tracepoints. So the hooks are attached only while another module uses sunrpc;
 * without one there is no NFS. Then, once nfs is unloaded, sunrpc can be unloaded too.
 */
#include "rpc/rpc_observer.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/clock.h"
#include "model/merge.h"
#include "rpc/choice.h"
#include "rpc/source.h"

#define HOLDERS "/sys/module/sunrpc/holders"

static const struct source_ops *const sources[RPC_SOURCES] = {
	[RPC_SOURCE_BTF] = &btf_source,
	[RPC_SOURCE_TRACEPOINTS] = &tracepoints_source,
	[RPC_SOURCE_MOUNTSTATS] = &mountstats_source,
};

struct rpc_observer {
	const struct log *log;
	unsigned int allowed; /* sources */
	unsigned int tried; /* sources, since sunrpc was loaded: each is in use or has failed */
	enum rpc_observer_state state;
	bool logged; /* the state is in the log */
	int error;
	enum rpc_source source; /* in use */
	void *source_state; /* NULL: none is in use */
	struct snapshot past; /* what earlier sources have counted */
};

struct rpc_observer *rpc_observer_new(const struct log *log, unsigned int allowed)
{
	struct rpc_observer *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->log = log;
	o->allowed = allowed;
	return o;
}

static void detach(struct rpc_observer *o)
{
	if (o->source_state)
		sources[o->source]->detach(o->source_state);
	o->source_state = NULL;
	o->source = RPC_SOURCE_NONE;
	malloc_trim(0);
}

void rpc_observer_free(struct rpc_observer *o)
{
	if (!o)
		return;
	detach(o);
	snapshot_free(&o->past);
	free(o);
}

/* Whether another module uses sunrpc. */
static bool is_used(void)
{
	DIR *folder = opendir(HOLDERS);
	struct dirent *entry;
	bool used = false;

	if (!folder)
		return true; /* unknown */
	while (!used && (entry = readdir(folder)))
		used = entry->d_name[0] != '.';
	closedir(folder);
	return used;
}

/* Whether hooks can be attached now; if not, *@reason is why. */
static bool can_attach(enum rpc_observer_state *reason)
{
	enum sunrpc_state sunrpc = sunrpc_look("");

	*reason = sunrpc == SUNRPC_LIVE ? RPC_OBSERVER_UNUSED : RPC_OBSERVER_ABSENT;
	return sunrpc == SUNRPC_BUILT_IN || (sunrpc == SUNRPC_LIVE && is_used());
}

static int attach_source(struct rpc_observer *o, enum rpc_source source,
			 const struct source_setup *setup)
{
	const struct source_ops *ops = sources[source];
	int err;

	o->source = source;
	o->source_state = ops->try(setup);
	err = !o->source_state ? -errno : ops->attach ? ops->attach(o->source_state) : 0;
	if (err)
		detach(o);
	return err;
}

/* Tries the best source that seems possible. Returns false if there is none. */
static bool try_best(struct rpc_observer *o)
{
	unsigned int left = o->allowed & ~o->tried;
	struct source_choice choice, next;
	struct rpc_facts facts;

	rpc_facts_look(&facts, "");
	source_choose(&choice, &facts, left);
	if (!choice.source)
		return false;
	o->tried |= RPC_SOURCE_BIT(choice.source);
	/* Accept btf without waits only if tracepoints is not the next choice. */
	source_choose(&next, &facts, o->allowed & ~o->tried);
	o->error = -attach_source(o, choice.source,
				  &(struct source_setup){
					  .log = o->log,
					  .root = "",
					  .tracefs = facts.tracefs_path,
					  .accept_no_waits = next.source != RPC_SOURCE_TRACEPOINTS,
				  });
	return true;
}

static void attach(struct rpc_observer *o)
{
	do {
		if (!try_best(o)) {
			o->state = o->error ? RPC_OBSERVER_FAILED : RPC_OBSERVER_NO_SOURCE;
			log_error(o->log, "NFS is not observed: %s",
				  o->error ? "the kernel has refused each source that may be "
					     "used, see above" :
					     "no source that may be used is available; for the "
					     "reasons, run xidscope doctor");
			return;
		}
	} while (!o->source_state);
	o->state = RPC_OBSERVER_ATTACHED;
	log_info(o->log, "attached to sunrpc, source %s", rpc_source_names[o->source]);
}

/* Saves the counts, so that they continue after sunrpc is loaded again. */
static void keep_counts(struct rpc_observer *o)
{
	struct snapshot s = { .time_ns = monotonic_ns() };

	if (rpc_observer_snapshot(o, &s)) {
		log_error(o->log, "cannot read the counts before sunrpc is unloaded: "
				  "they restart from 0");
		snapshot_free(&s);
		return;
	}
	snapshot_free(&o->past);
	o->past = s;
}

static void log_state(const struct rpc_observer *o)
{
	if (o->state == RPC_OBSERVER_ABSENT)
		log_info(o->log, "sunrpc is not loaded: xidscope attaches when it is loaded");
	else if (o->state == RPC_OBSERVER_UNUSED)
		log_info(o->log, "no module uses sunrpc: xidscope attaches when one does");
}

bool rpc_observer_poll(struct rpc_observer *o)
{
	enum rpc_observer_state reason;

	if (can_attach(&reason)) {
		if (o->state >= RPC_OBSERVER_NO_SOURCE)
			return false;
		attach(o);
		return true;
	}
	if (reason == o->state && o->logged)
		return false;
	if (o->source_state) {
		keep_counts(o);
		detach(o);
	}
	o->tried = 0;
	o->error = 0;
	o->state = reason;
	o->logged = true;
	log_state(o);
	return true;
}

int rpc_observer_error(const struct rpc_observer *o)
{
	return o->error;
}

const char *rpc_observer_missing(const struct rpc_observer *o)
{
	switch (o->state) {
	case RPC_OBSERVER_ATTACHED:
		return NULL;
	case RPC_OBSERVER_ABSENT:
		return "sunrpc is not loaded";
	case RPC_OBSERVER_UNUSED:
		return "no module uses sunrpc";
	default:
		return "no source is available; see xidscope doctor";
	}
}

int rpc_observer_snapshot(struct rpc_observer *o, struct snapshot *s)
{
	const struct source_ops *ops = sources[o->source];
	int err = snapshot_add_calls(s, &o->past);

	s->source = o->source;
	s->unknown = ops ? 0 : o->past.unknown;
	if (!err && ops)
		err = ops->read(o->source_state, s);
	/* Without a BPF source, list btf's hooks as not attached. */
	if (!(RPC_SOURCES_BPF & RPC_SOURCE_BIT(o->source)))
		btf_source.missing(s);
	return err;
}
