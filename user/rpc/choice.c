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
 * vendors replace sunrpc. Each row of `checks` looks at one thing, by a field of struct rpc_offer. A row names the sources
 * that cannot do without it; if it is missing, they are out. The best of the others is chosen. A row that no source needs
 * is about figures that would be missing.
 *
 * A choice is a plan. The kernel may still refuse a program, for its verifier or a security module decides when it is
 * loaded. Then the caller leaves that source out of @allowed and chooses again.
 *
 * Example: Debian 11, Linux 5.10, has the kernel's types but none of modules. `sunrpc_types` is missing, which `btf` needs.
 * tracefs is mounted and has the events: `tracepoints`. In a container without tracefs, `tracefs` is missing as well:
 * `mountstats`. doctor prints these rows, each with what to do. */
#include "rpc/choice.h"

#include "kernel/capabilities.h"

static bool has(const struct rpc_offer *f, int capability)
{
	return f->capabilities >> capability & 1;
}

static bool is_there(const struct rpc_offer *f)
{
	return f->sunrpc >= SUNRPC_LIVE;
}

#define IN_A_CONTAINER " (in a container: restart it with the node's folder)"

static const char unlock[] = "boot with lockdown=integrity, or without lockdown";
static const char source_btf[] = "see what the source btf lacks, above";
static const char needs_sunrpc[] = "unknown until sunrpc is loaded";
static const char needs_events[] = "unknown until sunrpc is loaded and tracefs is mounted";

static void unknown(struct source_check *c, const char *text)
{
	c->result = SOURCE_CHECK_UNKNOWN;
	c->text = text;
}

/* @fix: what to do if @ok is false. */
static void decide(struct source_check *c, bool ok, const char *text_ok, const char *text_missing,
		   const char *fix)
{
	c->result = ok ? SOURCE_CHECK_OK : SOURCE_CHECK_MISSING;
	c->text = ok ? text_ok : text_missing;
	c->fix = ok ? NULL : fix;
}

static bool is_permitted(const struct rpc_offer *f)
{
	return has(f, CAP_SYS_ADMIN) || (has(f, CAP_BPF) && has(f, CAP_PERFMON));
}

static void check_lockdown(struct source_check *c, const struct rpc_offer *f)
{
	decide(c, f->lockdown != LOCKDOWN_CONFIDENTIALITY,
	       f->lockdown == LOCKDOWN_INTEGRITY ?
		       "lockdown mode 'integrity' allows BPF programs to read kernel memory" :
	       f->lockdown == LOCKDOWN_NONE ?
		       "the kernel is not locked down" :
		       "the lockdown mode is unknown: /sys/kernel/security/lockdown is missing",
	       "lockdown mode 'confidentiality' forbids BPF programs to read kernel memory",
	       unlock);
}

static void check_permission(struct source_check *c, const struct rpc_offer *f)
{
	decide(c, is_permitted(f) && !f->refused,
	       "this process has the capabilities to load BPF programs",
	       "this process may not load BPF programs",
	       is_permitted(f) ?
		       "run it outside of user namespaces (hostUsers: true), and with a seccomp profile that "
		       "allows bpf(); before Linux 5.11 also with CAP_SYS_RESOURCE" :
		       "run it as root (in a container: privileged), or give it CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
}

static void check_sunrpc_types(struct source_check *c, const struct rpc_offer *f)
{
	bool built_in = f->sunrpc == SUNRPC_BUILT_IN;

	decide(c, f->sunrpc_btf || f->types_file == TYPES_FILE_GOOD,
	       f->sunrpc_btf ? "sunrpc has BTF" : "sunrpc has no BTF, and a file has its types",
	       built_in       ? "the kernel has no types of sunrpc, which is built in" :
	       f->out_of_tree ? "sunrpc is an out-of-tree module without BTF" :
				"sunrpc has no BTF: /sys/kernel/btf/sunrpc is missing",
	       built_in        ? "see kernel_types" :
	       !f->out_of_tree ? "boot a kernel with CONFIG_DEBUG_INFO_BTF_MODULES=y (5.11 and "
				 "later); or use --sunrpc-btf, or the source tracepoints" :
	       *f->types_fix   ? f->types_fix :
				 "build the module with debug information and a build id, for "
				 "--sunrpc-btf; or use the source tracepoints");
}

static void check_types_file(struct source_check *c, const struct rpc_offer *f)
{
	decide(c, f->types_file != TYPES_FILE_REFUSED,
	       f->types_file == TYPES_FILE_GOOD ? "the file of types is that of the loaded sunrpc" :
	       f->sunrpc_btf                    ? "no file of types is needed" :
						  "there is no file of types",
	       f->types_refused, *f->types_fix ? f->types_fix : "leave out --sunrpc-btf");
}

/* The system call that returns a module's BTF needs CAP_SYS_ADMIN. */
static void check_module_types(struct source_check *c, const struct rpc_offer *f)
{
	bool built_in = f->sunrpc == SUNRPC_BUILT_IN;
	bool file = !f->sunrpc_btf && f->types_file == TYPES_FILE_GOOD;

	decide(c, built_in || file || (has(f, CAP_SYS_ADMIN) && !f->refused),
	       built_in ? "sunrpc is built in: its BTF is the kernel's" :
	       file     ? "the types are in a file" :
			  "this process may read the BTF of modules",
	       "this process may not read the BTF of modules",
	       f->refused ? "see permission" : "give it CAP_SYS_ADMIN");
}

static void check_tracefs(struct source_check *c, const struct rpc_offer *f)
{
	static const struct {
		const char *text, *fix;
	} missing[] = {
		[TRACEFS_FORBIDDEN] = { "this process may not read tracefs", "run it as root" },
		[TRACEFS_UNMOUNTED] = { "tracefs is not mounted",
					"mount -t tracefs tracefs /sys/kernel/tracing" IN_A_CONTAINER },
		[TRACEFS_EMPTY] = { "tracefs is mounted, and lockdown hides its files", unlock },
		[TRACEFS_ABSENT] = { "the kernel has no tracefs",
				     "boot a kernel with CONFIG_FTRACE=y and CONFIG_EVENT_TRACING=y" },
		[TRACEFS_MOUNTED] = {},
	};

	bool hidden = f->tracefs == TRACEFS_UNMOUNTED && f->lockdown == LOCKDOWN_CONFIDENTIALITY;

	decide(c, f->tracefs == TRACEFS_MOUNTED, "tracefs is mounted", missing[f->tracefs].text,
	       hidden ? unlock : missing[f->tracefs].fix);
}

static void check_sunrpc_events(struct source_check *c, const struct rpc_offer *f)
{
	if (f->tracefs != TRACEFS_MOUNTED)
		unknown(c, "unknown until tracefs can be read");
	else
		decide(c, f->sunrpc_events, "tracefs has sunrpc's events",
		       "tracefs has no events of sunrpc",
		       "use a sunrpc that is built with its tracepoints (CONFIG_TRACEPOINTS=y)");
}

#define NO_MOUNTS " (perf_event_open): it is not known which mount a call belongs to"

/* Debian's level 3 of perf_event_paranoid forbids them to all but CAP_SYS_ADMIN, profiles of seccomp to all. */
static void check_perf_events(struct source_check *c, const struct rpc_offer *f)
{
	decide(c, !f->perf_error, "this process may open trace events",
	       f->perf_error == EACCES || f->perf_error == EPERM ?
		       "this process may not open trace events" NO_MOUNTS :
		       "the kernel opens no trace events" NO_MOUNTS,
	       f->refused ?
		       "see permission" :
	       f->perf_error == EACCES ?
		       "give it CAP_SYS_ADMIN, or CAP_PERFMON where kernel.perf_event_paranoid is at most 2" :
	       f->perf_error == EPERM  ? "use a seccomp profile that allows perf_event_open()" :
	       f->perf_error == ENODEV ? "put CPU 0 online" :
					 "boot a kernel with CONFIG_PERF_EVENTS=y");
}

static void check_rpc_clients(struct source_check *c, const struct rpc_offer *f)
{
	static const char *const fixes[] = {
		[DEBUGFS_ABSENT] = "boot a kernel with CONFIG_DEBUG_FS=y, and without debugfs=off",
		[DEBUGFS_UNMOUNTED] = "mount -t debugfs debugfs /sys/kernel/debug" IN_A_CONTAINER,
		[DEBUGFS_NO_CLIENTS] = "boot a kernel with CONFIG_SUNRPC_DEBUG=y",
		[DEBUGFS_FORBIDDEN] = "run it as root",
		[DEBUGFS_CLIENTS] = NULL,
	};

	decide(c, f->debugfs == DEBUGFS_CLIENTS, "debugfs lists sunrpc's clients",
	       "debugfs does not list sunrpc's clients: the source tracepoints cannot name all servers",
	       fixes[f->debugfs]);
}

/* By the source @best. */
static void check_owners(struct source_check *c, const struct rpc_offer *f, enum rpc_source best)
{
	bool btf = best == RPC_SOURCE_BTF;
	bool readable = f->nfs_types != TYPES_MODULE || has(f, CAP_SYS_ADMIN);
	bool types = btf && readable && (f->nfs_types || !f->nfs);

	if (!btf && (best != RPC_SOURCE_TRACEPOINTS || !f->kernel_btf || f->misses_events))
		decide(c, false, NULL, "it is not known which job, pod or user makes a call",
		       source_btf);
	else if (types && !f->memory_groups)
		decide(c, false, NULL,
		       "the kernel does not charge pages to control groups: WRITEs of dirty pages by the kernel count as the kernel's",
		       "boot a kernel with CONFIG_MEMCG=y, and without cgroup_disable=memory");
	else
		decide(c, types,
		       "it is known which job, pod or user makes a call; run --owner-env adds what processes say",
		       "types of sunrpc or nfs are missing: WRITEs of dirty pages by the kernel count as the kernel's",
		       !btf      ? source_btf :
		       !readable ? "give it CAP_SYS_ADMIN, to read the BTF of modules" :
				   "make a file of the types of nfs.ko: deploy/dkms/README.md");
}

#define OFFERED(member) offsetof(struct rpc_offer, member)

/* What is checked: by a function, or whether a member of the offer is true. */
static const struct {
	const char *name;
	unsigned int sources;
	const char *needs; /* what is unknown without sunrpc; NULL: known without it */
	void (*check)(struct source_check *c, const struct rpc_offer *f);
	size_t offered; /* without a function: where this bool is */
	const char *ok, *missing, *fix;
} checks[] = {
	{ "bpf", RPC_SOURCES_BPF, NULL, NULL, OFFERED(bpf), "the kernel runs BPF programs",
	  "the kernel does not run BPF programs", "boot a kernel with CONFIG_BPF_SYSCALL=y" },
	{ "lockdown", RPC_SOURCES_BPF, .check = check_lockdown },
	{ "permission", RPC_SOURCES_BPF, .check = check_permission },
	{ "kernel_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), NULL, NULL, OFFERED(kernel_btf),
	  "the kernel has BTF, which describes its types",
	  "the kernel has no BTF: /sys/kernel/btf/vmlinux is missing",
	  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y" },
	{ "sunrpc_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), .needs = needs_sunrpc,
	  .check = check_sunrpc_types },
	{ "types_file", 0, .needs = needs_sunrpc, .check = check_types_file },
	{ "module_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), .check = check_module_types },
	{ "tracefs", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), .check = check_tracefs },
	{ "sunrpc_events", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), .needs = needs_events,
	  .check = check_sunrpc_events },
	{ "perf_events", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), .check = check_perf_events },
	{ "rpc_clients", 0, .needs = needs_sunrpc, .check = check_rpc_clients },
	{ "mountstats", RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS), NULL, NULL, OFFERED(mountstats),
	  "mountstats can be read", "/proc/self/mountstats cannot be read",
	  "mount -t proc proc /proc" },
	{ "transports", 0, needs_sunrpc, NULL, OFFERED(transports),
	  "sysfs lists sunrpc's transports",
	  "sysfs does not list sunrpc's transports: the source mountstats has no figures of their slots",
	  "boot Linux 5.14 or later" },
};

#define CHECKS (COUNT(checks) + 1) /* and the owners */

_Static_assert(CHECKS <= sizeof(((struct source_choice *)0)->checks) / sizeof(struct source_check),
	       "there is room for all checks");

void source_choose(struct source_choice *c, const struct rpc_offer *f, unsigned int allowed)
{
	struct source_check *check = c->checks;

	*c = (struct source_choice){ .source = RPC_SOURCE_NONE, .best = RPC_SOURCE_NONE };
	for (size_t i = 0; i < COUNT(checks); i++, check++) {
		check->name = checks[i].name;
		check->sources = checks[i].sources;
		if (checks[i].needs && !is_there(f))
			unknown(check, checks[i].needs);
		else if (checks[i].check)
			checks[i].check(check, f);
		else
			decide(check, *((const bool *)f + checks[i].offered), checks[i].ok,
			       checks[i].missing, checks[i].fix);
		if (check->result == SOURCE_CHECK_MISSING)
			allowed &= ~check->sources;
	}
	for (enum rpc_source source = RPC_SOURCES - 1; source > RPC_SOURCE_NONE; source--)
		if (allowed & RPC_SOURCE_BIT(source))
			c->best = source;
	check->name = "owners";
	if (is_there(f))
		check_owners(check, f, c->best);
	else
		unknown(check, needs_sunrpc);
	c->check_count = CHECKS;
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
