// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaches the best source of NFS calls, follows the module sunrpc, and reads what the source has counted.
 *
 *   offer.c: what the kernel offers  ->  choice.c: the best source  ->  here: try, attach  ->  read at each snapshot
 *
 * When to attach. A module cannot be unloaded while a BPF link of any kind is attached to one of its tracepoints. Therefore
 * the hooks are attached only while another module uses sunrpc, and there is no NFS without one: nfs is unloaded first, the
 * source ends, then sunrpc can be unloaded. When nfs is loaded again, a source is attached anew.
 *
 * Which source. The best of those that choice.c finds possible. If the kernel refuses it, the next one. While the source
 * in use is not the best that the options allow, a better one is tried now and then (see rpc_observer_poll()): tracefs
 * may have been mounted, or a file of types installed. It replaces the other one only once it is attached.
 *
 * Counts. Each source counts from 0. When it ends, its counts end: nothing is carried over to the next one, as after a
 * restart of the agent. Two sources that run at the same moment do not see the same calls, so counts could be joined only
 * while no call ends. Each source has a number, by which delta.c knows that all counts have begun anew, also those that
 * did not fall: 1,000 READs by `mountstats`, then 1,200 by `btf` are 1,200 more, not 200. */
#include "rpc/rpc_observer.h"

#include "base/clock.h"
#include "base/file_text.h"
#include "base/process.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "rpc/choice.h"
#include "rpc/polled/polled.h"
#include "rpc/slow_calls.h"

#define HOLDERS "/sys/module/sunrpc/holders"

/* How often to look whether a better source is worth a try: the look takes a few system calls. A try takes some 0.1 s of
 * CPU: the time to the next one doubles, up to the maximum. */
#define LOOK_NS 20000000000
#define MAX_WAIT_NS 3600000000000

/* How often to read the settings of slots. */
#define SETTINGS_NS 60000000000

static const struct source_ops *const sources[RPC_SOURCES] = {
	[RPC_SOURCE_BTF] = &btf_source,
	[RPC_SOURCE_TRACEPOINTS] = &tracepoints_source,
	[RPC_SOURCE_MOUNTSTATS] = &mountstats_source,
};

enum sunrpc_use {
	USE_UNKNOWN, /* before the first look */
	SUNRPC_NOT_LOADED,
	SUNRPC_NOT_USED, /* by another module */
	SUNRPC_USED,
};

struct rpc_observer {
	struct log log;
	struct rpc_options options;
	enum sunrpc_use use; /* at the last look */
	int error;
	enum rpc_source source; /* in use */
	void *source_state; /* NULL: none is in use */
	uint64_t source_number;
	uint32_t slots_wanted[SLOT_SETTINGS];
	uint64_t settings_due_ns; /* when to read these next */
	struct nfs_mounts mounts;
	struct mount_calls_state mount_calls;

	/* For another try: */
	bool changed; /* modules, since the last look */
	enum tracefs_state tracefs; /* at the last try */
	uint64_t types_version; /* at the last look, of the file of types */
	uint64_t look_ns, try_ns; /* when the next look, and the next try, is due */
	uint64_t wait_ns; /* from that try to the next one */
};

struct rpc_observer *rpc_observer_new(const struct log *log, const struct rpc_options *options)
{
	struct rpc_observer *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->log = *log;
	o->options = *options;
	o->mount_calls.max_owners = options->max_owners;
	o->mount_calls.owner_mounts = options->owner_mounts;
	o->mounts.changes = -1;
	return o;
}

/* Ends the source in use, and its counts. */
static void end_source(struct rpc_observer *o)
{
	if (o->source_state)
		sources[o->source]->detach(o->source_state);
	o->source_state = NULL;
	o->source = RPC_SOURCE_NONE;
	mount_calls_free(&o->mount_calls);
}

void rpc_observer_free(struct rpc_observer *o)
{
	if (!o)
		return;
	end_source(o);
	nfs_mounts_free(&o->mounts);
	free(o);
}

/* ---- to attach ---- */

/* Whether another module uses sunrpc. It is asked each second. */
static bool has_holder(void)
{
	OPEN_FOLDER *folder = opendir(HOLDERS);

	return !folder || folder_next(folder); /* without a folder it is not known */
}

static enum sunrpc_use look_at_sunrpc(void)
{
	enum sunrpc_state sunrpc = sunrpc_look("");

	if (sunrpc == SUNRPC_BUILT_IN || (sunrpc == SUNRPC_LIVE && has_holder()))
		return SUNRPC_USED;
	return sunrpc == SUNRPC_LIVE ? SUNRPC_NOT_USED : SUNRPC_NOT_LOADED;
}

/* @others: sources that may be used instead. */
static struct source_setup setup_of(const struct rpc_observer *o, const struct rpc_offer *offer,
				    unsigned int others)
{
	struct source_choice next;

	source_choose(&next, offer, others);
	return (struct source_setup){
		.log = &o->log,
		.root = "",
		.tracefs = offer->tracefs_path,
		.types_file = !offer->sunrpc_btf && offer->types_file == TYPES_FILE_GOOD ?
				      offer->types_path :
				      NULL,
		/* Accept btf without waits only if tracepoints is not the next choice. */
		.accept_no_waits = next.source != RPC_SOURCE_TRACEPOINTS,
		.options = &o->options,
		.owners = o->options.max_owners > 0 && offer->kernel_btf,
	};
}

/* Why no better source than the chosen one; but for a file that is refused, which has been logged. */
static void log_reasons(const struct rpc_observer *o, const struct source_choice *c,
			const struct rpc_offer *offer)
{
	ARRAY_EACH(x, c->checks, c->check_count)
		if (source_check_is_reason(x, c->source) && x->sources & o->options.sources &&
		    x->text != offer->types_refused)
			log_info(&o->log, "no better source than %s: %s (fix: %s)",
				 rpc_source_names[c->source], x->text, x->fix);
}

/* Attaches the best source that is better than the one in use, and ends that one. Returns whether there was one. */
static bool attach_best(struct rpc_observer *o)
{
	unsigned int left = o->options.sources & rpc_sources_better(o->source);
	unsigned int in_use = RPC_SOURCE_BIT(o->source);
	struct source_choice choice;
	struct source_setup setup;
	struct rpc_offer offer;
	void *state = NULL;

	rpc_offer_look(&offer, "", o->options.types_file);
	o->tracefs = offer.tracefs;
	if (offer.types_file == TYPES_FILE_REFUSED && left & RPC_SOURCE_BIT(RPC_SOURCE_BTF))
		log_warn(&o->log, "%s", offer.types_refused);
	o->error = 0;
	while (!state) {
		source_choose(&choice, &offer, left);
		if (!choice.source)
			return false;
		left &= ~RPC_SOURCE_BIT(choice.source);
		setup = setup_of(o, &offer, left | in_use);
		state = sources[choice.source]->try(&setup);
		o->error = state ? 0 : errno;
	}
	log_reasons(o, &choice, &offer);
	end_source(o);
	o->source = choice.source;
	o->source_state = state;
	o->source_number++;
	return true;
}

/* Tries it, and logs what comes of it; @quiet: only a success. */
static bool try_sources(struct rpc_observer *o, bool quiet)
{
	bool attached;

	o->log.quiet = quiet;
	attached = attach_best(o);
	kernel_types_forget();
	if (!o->source_state)
		log_error(&o->log, "NFS is not observed: %s. Will try again",
			  o->error ? "the kernel has refused each source that may be "
				     "used, see above" :
				     "no permitted source is available; for the "
				     "reasons, run xidscope doctor");
	o->log.quiet = false;
	if (attached)
		log_info(&o->log, "attached to sunrpc, source %s: its counts begin at 0",
			 rpc_source_names[o->source]);
	return attached;
}

/* ---- when to attach ---- */

/* Whether files show that a source may have become possible. *@types: the file of types is another one. */
static bool has_changed(struct rpc_observer *o, bool *types)
{
	uint64_t version = types_file_version(o->options.types_file, "sunrpc");
	bool changed = o->changed;
	char path[64];

	*types = version != o->types_version;
	o->types_version = version;
	o->changed = false;
	return changed || *types || tracefs_find("", path, sizeof(path)) != o->tracefs;
}

static void attach_first(struct rpc_observer *o)
{
	bool types;

	has_changed(o, &types);
	try_sources(o, false);
	o->wait_ns = LOOK_NS;
	o->look_ns = o->try_ns = monotonic_ns() + LOOK_NS;
}

/* Looks, now and then, whether a better source may be available by now, and tries it. Messages were logged at the first
 * try; another file of types may have a new one. */
static bool attach_better(struct rpc_observer *o)
{
	uint64_t now = monotonic_ns();
	bool types;

	if (now < o->look_ns || !(o->options.sources & rpc_sources_better(o->source)))
		return false;
	o->look_ns = now + LOOK_NS;
	if (has_changed(o, &types))
		o->wait_ns = LOOK_NS;
	else if (now < o->try_ns)
		return false;
	o->try_ns = now + o->wait_ns;
	o->wait_ns = 2 * o->wait_ns < MAX_WAIT_NS ? 2 * o->wait_ns : MAX_WAIT_NS;
	return try_sources(o, !types);
}

bool rpc_observer_poll(struct rpc_observer *o, bool changed)
{
	enum sunrpc_use use = look_at_sunrpc(), before = o->use;

	o->changed |= changed;
	o->use = use;
	if (use == before)
		return use == SUNRPC_USED && attach_better(o);
	if (use == SUNRPC_USED) {
		attach_first(o);
		return true;
	}
	end_source(o);
	o->error = 0;
	log_info(&o->log, use == SUNRPC_NOT_LOADED ?
				  "sunrpc is not loaded: xidscope attaches when it is loaded" :
				  "no module uses sunrpc: xidscope attaches when one does");
	return true;
}

int rpc_observer_error(const struct rpc_observer *o)
{
	return o->error;
}

const char *rpc_observer_missing(const struct rpc_observer *o)
{
	return o->source_state             ? "" :
	       o->use == SUNRPC_NOT_LOADED ? "sunrpc is not loaded" :
	       o->use == SUNRPC_NOT_USED   ? "no module uses sunrpc" :
					     "no source is available; see xidscope doctor";
}

/* ---- a snapshot ---- */

static void read_slot_settings(struct rpc_observer *o, uint64_t now_ns)
{
	char line[16];

	if (now_ns < o->settings_due_ns)
		return;
	o->settings_due_ns = now_ns + SETTINGS_NS;
	for (int i = 0; i < SLOT_SETTINGS; i++)
		o->slots_wanted[i] = file_first_line(slot_settings[i].path, line, sizeof(line)) ?
					     (uint32_t)strtoul(line, NULL, 10) :
					     0;
}

static void add_mount_calls(struct rpc_observer *o, struct client_list *clients, struct snapshot *s)
{
	int before = o->mount_calls.error;

	mount_calls_add(&o->mount_calls, clients, &o->mounts.list, s);
	if (o->mount_calls.error != before)
		log_info(&o->log, "cannot tell which mount a call belongs to: %s",
			 bpf_reason(o->mount_calls.error));
	calls_find_mounts(s, &o->mount_calls);
}

int rpc_observer_snapshot(struct rpc_observer *o, struct snapshot *s)
{
	const struct source_ops *ops = sources[o->source];
	struct client_list clients = {};
	uint64_t failed = memory_failed();
	int err = 0;

	s->calls.source = o->source;
	s->calls.source_number = o->source_number;
	read_slot_settings(o, s->time_ns);
	memcpy(s->calls.slots_wanted, o->slots_wanted, sizeof(o->slots_wanted));
	s->calls.cpu_waiting_ns = cpu_pressure_waiting_ns("");
	if (ops)
		err = ops->read(o->source_state, s, &clients);
	err = err ?: memory_error(failed);
	if (!err) {
		nfs_mounts_add(&o->mounts, "", s);
		add_mount_calls(o, &clients, s);
		nfs_mounts_limit(s);
	}
	free(clients.list);
	/* Without a BPF source, list btf's hooks as not attached. */
	if (!(RPC_SOURCES_BPF & RPC_SOURCE_BIT(o->source)))
		btf_hooks_missing(s);
	return err;
}
