// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses the source of NFS calls: from what the kernel offers to a source, and to the reasons why it is no better one.
 *
 * Three sources can count calls. They are in order, the best first, and have that order as numbers and bits:
 *
 *   btf           needs the types of the loaded sunrpc, in the kernel or in a file
 *   tracepoints   needs sunrpc's events in tracefs, whose format files have the places of their fields
 *   mountstats    needs nothing but /proc; it has counts and sums, and no waits
 *
 * The choice rests on what is there now, never on the kernel's version: distributions move changes to older kernels, and
 * vendors replace sunrpc. Each check of source_checks.tsv looks at one thing, by the fields of struct rpc_offer: of its rows the first
 * one counts whose condition holds. A check names the sources that cannot do without the thing; if it is missing, they are out. The
 * best of the others is chosen. A check that no source needs is about figures that would be missing.
 *
 * A choice is a plan. The kernel may still refuse a program, for its verifier or a security module decides when it is
 * loaded. Then the caller leaves that source out of @allowed and chooses again.
 *
 * Example: Debian 11, Linux 5.10, has the kernel's types but none of modules. `sunrpc_types` is missing, which `btf` needs.
 * tracefs is mounted and has the events: `tracepoints`. In a container without tracefs, `tracefs` is missing as well:
 * `mountstats`. doctor prints these checks, each with what to do. */
#include "rpc/choice.h"

#include "base/process.h"

static bool has(const struct rpc_offer *f, int capability)
{
	return f->capabilities >> capability & 1;
}

static bool is_there(const struct rpc_offer *f)
{
	return f->sunrpc >= SUNRPC_LIVE;
}

static bool is_built_in(const struct rpc_offer *f)
{
	return f->sunrpc == SUNRPC_BUILT_IN;
}

static bool is_permitted(const struct rpc_offer *f)
{
	return has(f, CAP_SYS_ADMIN) || (has(f, CAP_BPF) && has(f, CAP_PERFMON));
}

static bool has_file(const struct rpc_offer *f)
{
	return f->types_file == TYPES_FILE_GOOD;
}

/* Where to see why programs cannot look at all tasks; NULL: they can. */
static const char *lacks_tasks(const struct rpc_offer *f)
{
	return !f->bpf                                 ? "see bpf" :
	       f->lockdown == LOCKDOWN_CONFIDENTIALITY ? "see lockdown" :
	       f->refused || !is_permitted(f)          ? "see permission" :
	       !f->kernel_btf                          ? "see kernel_types" :
							 NULL;
}

/* Texts of several rows. */
#define NEEDS_SUNRPC "unknown until sunrpc is loaded"
#define NO_EVENTS(text)                                              \
	(best == RPC_SOURCE_MOUNTSTATS ? text " (perf_event_open)" : \
					 text                        \
		 " (perf_event_open): it is not known which mount a call belongs to")
#define NO_CLIENTS \
	"debugfs does not list sunrpc's clients: the source tracepoints cannot name all servers"
#define NO_PAGES "WRITEs of dirty pages by the kernel count as the kernel's"
#define MOUNT(type, folder)                              \
	"mount -t " type " " type " /sys/kernel/" folder \
	" (in a container: restart it with the node's folder)"

/* Sets of sources. */
#define NEEDED_BPF RPC_SOURCES_BPF
#define NEEDED_BTF RPC_SOURCE_BIT(RPC_SOURCE_BTF)
#define NEEDED_TRACEPOINTS RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS)
#define NEEDED_MOUNTSTATS RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS)
#define NEEDED_NO 0

/* @best: who makes a call is known as well as that source shows it. Returns the sources that lack something. */
static unsigned int make_checks(struct source_choice *c, const struct rpc_offer *f,
				enum rpc_source best)
{
	/* In the order of struct source_check; the first that is @when of those with a name counts. */
	const struct {
		struct source_check check;
		bool when;
	} rows[] = {
#define TABLE_ROW(name, sources, when, result, text, fix) \
	{ { name, NEEDED_##sources, SOURCE_CHECK_##result, text, fix }, when },
#include "source_checks.inc"
	};
	const char *last = "";
	unsigned int lacking = 0;

	c->check_count = 0;
	ARRAY_EACH(row, rows, COUNT(rows)) {
		if (!row->when || !strcmp(row->check.name, last) ||
		    c->check_count == COUNT(c->checks))
			continue;
		last = row->check.name;
		c->checks[c->check_count++] = row->check;
		if (row->check.result == SOURCE_CHECK_MISSING)
			lacking |= row->check.sources;
	}
	return lacking;
}

void source_choose(struct source_choice *c, const struct rpc_offer *f, unsigned int allowed)
{
	*c = (struct source_choice){ .source = RPC_SOURCE_NONE, .best = RPC_SOURCE_NONE };
	allowed &= ~make_checks(c, f, RPC_SOURCE_NONE);
	for (enum rpc_source source = RPC_SOURCES - 1; source > RPC_SOURCE_NONE; source--)
		if (allowed & RPC_SOURCE_BIT(source))
			c->best = source;
	make_checks(c, f, c->best);
	if (is_there(f))
		c->source = c->best;
}

unsigned int rpc_sources_better(enum rpc_source source)
{
	return source ? RPC_SOURCES_ALL & (RPC_SOURCE_BIT(source) - 1) : RPC_SOURCES_ALL;
}

bool source_check_is_reason(const struct source_check *check, enum rpc_source source)
{
	return check->result == SOURCE_CHECK_MISSING && check->sources & rpc_sources_better(source);
}
