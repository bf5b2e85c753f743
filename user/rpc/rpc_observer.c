// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses, attaches and detaches the source. A module cannot be unloaded while a BPF link of any kind is attached to
 * one of its tracepoints. So the hooks are attached only while another module uses sunrpc; without one there is no
 * NFS. Then, once nfs is unloaded, sunrpc can also be unloaded. */
#include "rpc/rpc_observer.h"

#include <malloc.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/process.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"
#include "kernel/types_file.h"
#include "rpc/choice.h"
#include "owners/mount_calls.h"
#include "rpc/polled/polled.h"
#include "rpc/rpc_series.h"
#include "rpc/slow_calls.h"
#include "rpc/source.h"

#define HOLDERS "/sys/module/sunrpc/holders"

/* How often to look after a failure whether another try is worth it: that takes a few system calls.
 * A try takes some 0.1 s of CPU, so the time to the next one doubles, up to this. */
#define LOOK_NS 20000000000
#define MAX_WAIT_NS 3600000000000

/* How often to read the settings of slots. */
#define SETTINGS_NS 60000000000

/* With more calls than this between two looks, it is unlikely that none ends while a source is attached. */
#define QUIET_CALLS 20

static const struct source_ops *const sources[RPC_SOURCES] = {
	[RPC_SOURCE_BTF] = &btf_source,
	[RPC_SOURCE_TRACEPOINTS] = &tracepoints_source,
	[RPC_SOURCE_MOUNTSTATS] = &mountstats_source,
};

struct rpc_observer {
	struct log log;
	struct rpc_options options;
	bool types_unfit; /* it does not fit the loaded sunrpc */
	unsigned int tried; /* sources: each is in use or has failed */
	enum rpc_observer_state state;
	bool logged; /* the state is in the log */
	int error;
	enum rpc_source source; /* in use */
	void *source_state; /* NULL: none is in use */
	struct snapshot past; /* what earlier sources have counted */
	struct snapshot connected; /* connects that the source in use leaves out */
	uint32_t slots_wanted[SLOT_SETTINGS];
	uint64_t settings_due_ns; /* when to read these next */
	struct nfs_mounts mounts;
	struct mount_calls_state mount_calls;

	/* After a failure: */
	bool changed; /* modules, since the last look */
	enum tracefs_state tracefs; /* at the last look */
	uint64_t types_version; /* likewise, of the file of types */
	bool types_changed; /* it was another one at the look before */
	bool better_seen; /* a better source seems to be available: it waits for a quiet moment */
	uint64_t calls; /* at the last look */
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
	o->mounts.changes = -1;
	return o;
}

static void detach(struct rpc_observer *o)
{
	if (o->source_state)
		sources[o->source]->detach(o->source_state);
	o->source_state = NULL;
	o->source = RPC_SOURCE_NONE;
	snapshot_free(&o->connected);
	o->connected = (struct snapshot){};
	malloc_trim(0);
}

void rpc_observer_free(struct rpc_observer *o)
{
	if (!o)
		return;
	detach(o);
	snapshot_free(&o->past);
	nfs_mounts_free(&o->mounts);
	mount_calls_free(&o->mount_calls);
	free(o);
}

/* Whether another module uses sunrpc. */
static bool is_used(void)
{
	OPEN_FOLDER *folder = opendir(HOLDERS);
	const char *name;

	if (!folder)
		return true; /* unknown */
	while ((name = folder_next(folder)))
		if (*name != '.')
			return true;
	return false;
}

/* Whether hooks can be attached now; if not, *@reason is why. */
static bool can_attach(enum rpc_observer_state *reason)
{
	enum sunrpc_state sunrpc = sunrpc_look("");

	*reason = sunrpc == SUNRPC_LIVE ? RPC_OBSERVER_UNUSED : RPC_OBSERVER_ABSENT;
	return sunrpc == SUNRPC_BUILT_IN || (sunrpc == SUNRPC_LIVE && is_used());
}

/* Looks at what the kernel offers, and chooses one of the sources @allowed. */
static enum rpc_source choose(struct rpc_observer *o, struct rpc_offer *offer, unsigned int allowed)
{
	struct source_choice choice;

	rpc_offer_look(offer, "", o->options.types_file);
	if (o->types_unfit)
		offer->types_file = TYPES_FILE_NONE;
	o->tracefs = offer->tracefs;
	source_choose(&choice, offer, allowed);
	return choice.source;
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
		.connected = &o->connected,
		.slower_ns = o->options.slower_ns,
		.owners = o->options.max_owners > 0 && offer->kernel_btf,
	};
}

static void log_refused_types(const struct rpc_observer *o, const struct rpc_offer *offer,
			      unsigned int sources_left)
{
	if (offer->types_file == TYPES_FILE_REFUSED &&
	    sources_left & RPC_SOURCE_BIT(RPC_SOURCE_BTF))
		log_warn(&o->log, "%s", offer->types_refused);
}

/* Tries the best source that seems possible. Returns false if there is none. */
static bool try_best(struct rpc_observer *o)
{
	unsigned int left = o->options.sources & ~o->tried;
	struct source_setup setup;
	struct rpc_offer offer;
	enum rpc_source source = choose(o, &offer, left);

	if (!source)
		return false;
	log_refused_types(o, &offer, left);
	o->tried |= RPC_SOURCE_BIT(source);
	setup = setup_of(o, &offer, o->options.sources & ~o->tried);
	o->error = -attach_source(o, source, &setup);
	return true;
}

static void log_attached(const struct rpc_observer *o)
{
	log_info(&o->log, "attached to sunrpc, source %s", rpc_source_names[o->source]);
}

static void attach(struct rpc_observer *o)
{
	o->tried = 0;
	o->error = 0;
	o->mount_calls.error = 0;
	do {
		if (!try_best(o)) {
			o->state = o->error ? RPC_OBSERVER_FAILED : RPC_OBSERVER_NO_SOURCE;
			log_error(&o->log, "NFS is not observed: %s. Will try again",
				  o->error ? "the kernel has refused each source that may be "
					     "used, see above" :
					     "no permitted source is available; for the "
					     "reasons, run xidscope doctor");
			return;
		}
	} while (!o->source_state);
	o->state = RPC_OBSERVER_ATTACHED;
}

/* Gives the source up if what it reads is not what the kernel passes. Its counts are not kept. */
static void give_up_misread(struct rpc_observer *o)
{
	const struct source_ops *ops = sources[o->source];
	uint64_t count = o->source_state && ops->misread ? ops->misread(o->source_state) : 0;

	if (!count)
		return;
	log_error(&o->log, "the file of types does not fit the loaded sunrpc, although it has the "
			   "same build id: it is not used. Make it again, see xidscope doctor");
	snapshot_drop(&o->past.self, "rpc_layout", count);
	o->types_unfit = true;
	detach(o);
	o->state = RPC_OBSERVER_UNUSED; /* the next poll attaches another one */
}

/* Saves the counts, so that they continue after sunrpc is loaded again. */
static void keep_counts(struct rpc_observer *o)
{
	struct snapshot s = { .time_ns = monotonic_ns() };

	if (rpc_observer_snapshot(o, &s)) {
		log_error(&o->log, "cannot read the counts before sunrpc is unloaded: "
				   "they restart from 0");
		snapshot_free(&s);
		return;
	}
	snapshot_free(&o->past);
	rpc_series_complete(&s);
	o->past = s;
}

/* ---- after a failure ---- */

/* Reads all counts so far to @s. Returns how many calls these are, or UINT64_MAX. */
static uint64_t count_calls(struct rpc_observer *o, struct snapshot *s)
{
	uint64_t calls = 0;

	s->time_ns = monotonic_ns();
	if (rpc_observer_snapshot(o, s))
		return UINT64_MAX;
	for (size_t i = 0; i < s->calls.op_count; i++)
		calls += time_histogram_count(&s->calls.ops[i].total);
	return calls;
}

/* Whether few calls have ended since the last look. */
static bool is_quiet(struct rpc_observer *o)
{
	struct snapshot s = {};
	uint64_t before = o->calls;

	o->calls = count_calls(o, &s);
	snapshot_free(&s);
	return o->calls - before <= QUIET_CALLS;
}

/* The sources that are better than the one in force, and may be used. */
static unsigned int better_sources(const struct rpc_observer *o)
{
	/* A better source has a lower bit. */
	return o->options.sources & (RPC_SOURCE_BIT(o->source) - 1);
}

/* Replaces the source in force by a better one, if no call ends meanwhile. The count of calls before is taken first
 * of all: a call is in mountstats a moment before its event comes, and loading the programs takes much longer than
 * that. */
static bool replace_source(struct rpc_observer *o, enum rpc_source source,
			   const struct source_setup *setup)
{
	const struct source_ops *ops = sources[source];
	struct snapshot before = {}, now = {};
	uint64_t calls = count_calls(o, &before);
	void *state;
	bool good;

	snapshot_free(&before);
	state = calls == UINT64_MAX ? NULL : ops->try(setup);
	if (!state)
		return false;
	good = !ops->attach(state) && count_calls(o, &now) == calls;
	if (good) {
		detach(o);
		snapshot_free(&o->past);
		rpc_series_complete(&now);
		o->past = now;
		o->source = source;
		o->source_state = state;
		/* After the count of calls: a connect in between is not counted, rather than twice.
		 * If mountstats cannot be read, no source has counted connects. */
		mountstats_connects("", &o->connected);
	} else {
		snapshot_free(&now);
		ops->detach(state);
		malloc_trim(0);
		o->try_ns = 0; /* another moment will do */
	}
	return good;
}

/* Tries the sources that are better than the one in force, the best one first, if few calls end.
 * Not before it seems that there is one: to count the calls takes as long as a write. */
static bool try_better(struct rpc_observer *o)
{
	unsigned int left = better_sources(o), in_force = RPC_SOURCE_BIT(o->source);
	struct source_setup setup;
	struct rpc_offer offer;
	enum rpc_source source;

	if (!o->better_seen) {
		source = choose(o, &offer, left);
		log_refused_types(o, &offer, left);
		if (!source)
			return false;
	}
	o->better_seen = !is_quiet(o);
	if (o->better_seen) {
		o->try_ns = 0;
		return false;
	}
	while ((source = choose(o, &offer, left))) {
		left &= ~RPC_SOURCE_BIT(source);
		setup = setup_of(o, &offer, left | in_force);
		if (replace_source(o, source, &setup))
			return true;
	}
	return false;
}

/* Tries what is better than the present state. Does not log again why it fails, unless there is another
 * file of types. */
static bool try_again(struct rpc_observer *o)
{
	bool better;

	o->log.quiet = !o->types_changed;
	if (o->source_state) {
		better = try_better(o);
	} else {
		attach(o);
		better = o->source_state;
	}
	kernel_types_forget();
	o->log.quiet = false;
	if (better)
		log_attached(o);
	return better;
}

/* Whether files show that a source may have become possible, or may be so again. */
static bool has_changed(struct rpc_observer *o)
{
	uint64_t version = types_file_version(o->options.types_file, "sunrpc");
	bool changed = o->changed;
	char path[64];

	o->changed = false;
	o->types_changed = version != o->types_version;
	o->types_version = version;
	o->types_unfit &= !o->types_changed;
	return changed || o->types_changed || tracefs_find("", path, sizeof(path)) != o->tracefs;
}

/* Looks, now and then, whether a better source may be available by now, and tries it. */
static bool look_again(struct rpc_observer *o)
{
	uint64_t now = monotonic_ns();

	if (now < o->look_ns || (o->source_state && !better_sources(o)))
		return false;
	o->look_ns = now + LOOK_NS;
	if (has_changed(o))
		o->wait_ns = LOOK_NS;
	else if (now < o->try_ns)
		return false;
	o->try_ns = now + o->wait_ns;
	o->wait_ns = 2 * o->wait_ns < MAX_WAIT_NS ? 2 * o->wait_ns : MAX_WAIT_NS;
	return try_again(o);
}

bool rpc_observer_poll(struct rpc_observer *o, bool changed)
{
	enum rpc_observer_state reason;

	o->changed |= changed;
	give_up_misread(o);
	if (can_attach(&reason)) {
		if (o->state >= RPC_OBSERVER_NO_SOURCE)
			return look_again(o);
		attach(o);
		if (o->source_state)
			log_attached(o);
		o->changed = false;
		o->types_version = types_file_version(o->options.types_file, "sunrpc");
		o->wait_ns = LOOK_NS;
		o->look_ns = o->try_ns = monotonic_ns() + LOOK_NS;
		return true;
	}
	if (reason == o->state && o->logged)
		return false;
	if (o->source_state) {
		keep_counts(o);
		detach(o);
	}
	o->error = 0;
	o->types_unfit = false;
	o->state = reason;
	o->logged = true;
	log_info(&o->log, o->state == RPC_OBSERVER_ABSENT ?
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
	return o->state == RPC_OBSERVER_ATTACHED ? NULL :
	       o->state == RPC_OBSERVER_ABSENT   ? "sunrpc is not loaded" :
	       o->state == RPC_OBSERVER_UNUSED   ? "no module uses sunrpc" :
						   "no source is available; see xidscope doctor";
}

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

static int add_mount_calls(struct rpc_observer *o, const struct client_list *clients,
			   struct snapshot *s)
{
	const struct mount_list mounts = { o->mounts.process, &o->mounts.seen, o->mounts.devices,
					   o->mounts.device_count, o->mounts.read };
	int before = o->mount_calls.error, err;

	err = mount_calls_add(&o->mount_calls, clients, &mounts, s);
	if (o->mount_calls.error != before)
		log_info(&o->log, "cannot tell which mount a call belongs to: %s",
			 bpf_reason(o->mount_calls.error));
	if (!err)
		slow_calls_find_mounts(s, &o->mount_calls);
	return err;
}

int rpc_observer_snapshot(struct rpc_observer *o, struct snapshot *s)
{
	struct client_list clients = {};
	const struct source_ops *ops;
	int err;

	give_up_misread(o);
	ops = sources[o->source];
	err = calls_add(&s->calls, &o->past.calls);
	self_add(&s->self, &o->past.self);
	s->calls.source = o->source;
	read_slot_settings(o, s->time_ns);
	memcpy(s->calls.slots_wanted, o->slots_wanted, sizeof(o->slots_wanted));
	s->calls.cpu_waiting_ns = cpu_pressure_waiting_ns("");
	s->calls.unknown = ops ? 0 : o->past.calls.unknown;
	if (!err && ops)
		err = ops->read(o->source_state, s, &clients);
	err = err ?: nfs_mounts_add(&o->mounts, "", s) ?: add_mount_calls(o, &clients, s);
	free(clients.list);
	/* The source btf finds connections itself. */
	if (!err && ops && o->source != RPC_SOURCE_BTF)
		err = xprt_files_add("", s);
	/* Without a BPF source, list btf's hooks as not attached. */
	if (!(RPC_SOURCES_BPF & RPC_SOURCE_BIT(o->source)))
		btf_source.missing(s);
	return err;
}
