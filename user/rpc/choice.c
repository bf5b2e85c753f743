// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The decision about the source: from facts to a choice, and its reasons. */
#include "rpc/choice.h"

#include <string.h>

#include "kernel/capabilities.h"

static bool has(const struct rpc_facts *f, int capability)
{
	return f->capabilities >> capability & 1;
}

static bool is_there(const struct rpc_facts *f)
{
	return f->sunrpc == SUNRPC_LIVE || f->sunrpc == SUNRPC_BUILT_IN;
}

static void found(struct source_check *c, const char *text)
{
	c->verdict = SOURCE_CHECK_OK;
	c->text = text;
}

static void missing(struct source_check *c, const char *text, const char *fix)
{
	c->verdict = SOURCE_CHECK_MISSING;
	c->text = text;
	c->fix = fix;
}

static void unknown_until(struct source_check *c, const char *text)
{
	c->verdict = SOURCE_CHECK_UNKNOWN;
	c->text = text;
}

static void unknown_until_loaded(struct source_check *c)
{
	unknown_until(c, "known when sunrpc is loaded");
}

static void check_bpf(struct source_check *c, const struct rpc_facts *f)
{
	if (f->bpf)
		found(c, "the kernel runs BPF programs");
	else
		missing(c, "the kernel does not run BPF programs",
			"boot a kernel with CONFIG_BPF_SYSCALL=y");
}

static void check_lockdown(struct source_check *c, const struct rpc_facts *f)
{
	if (f->lockdown == LOCKDOWN_CONFIDENTIALITY)
		missing(c,
			"lockdown mode 'confidentiality' keeps BPF programs "
			"from reading kernel memory",
			"boot with lockdown=integrity, or without lockdown");
	else if (f->lockdown == LOCKDOWN_INTEGRITY)
		found(c, "lockdown mode 'integrity' allows BPF programs to "
			 "read kernel memory");
	else
		found(c, "the kernel is not locked down");
}

static void check_permission(struct source_check *c, const struct rpc_facts *f)
{
	if (has(f, CAP_SYS_ADMIN) || (has(f, CAP_BPF) && has(f, CAP_PERFMON)))
		found(c, "this process may load BPF programs");
	else
		missing(c, "this process may not load BPF programs",
			"run it as root (in a container: privileged), or give "
			"it CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
}

static void check_kernel_types(struct source_check *c, const struct rpc_facts *f)
{
	if (f->kernel_btf)
		found(c, "the kernel describes its types (BTF)");
	else
		missing(c,
			"the kernel does not describe its types: no "
			"/sys/kernel/btf/vmlinux",
			"boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static void check_sunrpc_types(struct source_check *c, const struct rpc_facts *f)
{
	if (!is_there(f))
		unknown_until_loaded(c);
	else if (f->sunrpc_btf)
		found(c, "sunrpc's types are described (BTF)");
	else if (f->out_of_tree)
		missing(c,
			"sunrpc is an out-of-tree module without a "
			"description of its types (BTF)",
			"build the module where the kernel's build tree has "
			"its vmlinux, pahole is installed and "
			"CONFIG_DEBUG_INFO_BTF_MODULES=y; or stay with the source tracepoints");
	else
		missing(c,
			"sunrpc's types are not described: no "
			"/sys/kernel/btf/sunrpc",
			"boot a kernel with CONFIG_DEBUG_INFO_BTF_MODULES=y "
			"(5.11 and later); or stay with the source tracepoints");
}

/* The kernel hands out a module's types by a call that wants this. */
static void check_module_types(struct source_check *c, const struct rpc_facts *f)
{
	if (f->sunrpc == SUNRPC_BUILT_IN)
		found(c, "sunrpc is built in: its types are the kernel's");
	else if (has(f, CAP_SYS_ADMIN))
		found(c, "this process may read the types of modules");
	else
		missing(c, "this process may not read the types of modules",
			"give it CAP_SYS_ADMIN");
}

static void check_tracefs(struct source_check *c, const struct rpc_facts *f)
{
	switch (f->tracefs) {
	case TRACEFS_MOUNTED:
		found(c, "tracefs is mounted");
		break;
	case TRACEFS_FORBIDDEN:
		missing(c, "this process may not look into tracefs", "run it as root");
		break;
	case TRACEFS_UNMOUNTED:
		missing(c, "tracefs is not mounted",
			"mount -t tracefs tracefs /sys/kernel/tracing");
		break;
	case TRACEFS_ABSENT:
		missing(c, "the kernel has no tracefs",
			"boot a kernel with CONFIG_FTRACE=y and "
			"CONFIG_EVENT_TRACING=y");
		break;
	}
}

static void check_sunrpc_events(struct source_check *c, const struct rpc_facts *f)
{
	if (!is_there(f) || f->tracefs != TRACEFS_MOUNTED)
		unknown_until(c, "known when sunrpc is loaded and tracefs is "
				 "mounted");
	else if (f->sunrpc_events)
		found(c, "tracefs has sunrpc's events");
	else
		missing(c, "tracefs has no events of sunrpc",
			"use a sunrpc that is built with its tracepoints "
			"(CONFIG_TRACEPOINTS=y)");
}

static void check_mountstats(struct source_check *c, const struct rpc_facts *f)
{
	if (f->mountstats)
		found(c, "mountstats can be read");
	else
		missing(c, "/proc/self/mountstats cannot be read", "mount -t proc proc /proc");
}

static void check_transports(struct source_check *c, const struct rpc_facts *f)
{
	if (!is_there(f))
		unknown_until_loaded(c);
	else if (f->transports)
		found(c, "sysfs lists sunrpc's transports");
	else
		missing(c,
			"sysfs does not list sunrpc's transports: the source mountstats "
			"cannot tell their slots",
			"boot a kernel from 5.14 on");
}

static void check_clients(struct source_check *c, const struct rpc_facts *f)
{
	if (!is_there(f))
		unknown_until_loaded(c);
	else if (f->debugfs)
		found(c, "debugfs lists sunrpc's clients");
	else
		missing(c,
			"debugfs does not list sunrpc's clients: the source tracepoints "
			"cannot name all servers",
			"mount -t debugfs debugfs /sys/kernel/debug");
}

static const struct {
	const char *name;
	unsigned int sources;
	void (*check)(struct source_check *c, const struct rpc_facts *f);
} checks[] = {
	{ "bpf", RPC_SOURCES_BPF, check_bpf },
	{ "lockdown", RPC_SOURCES_BPF, check_lockdown },
	{ "permission", RPC_SOURCES_BPF, check_permission },
	{ "kernel_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), check_kernel_types },
	{ "sunrpc_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), check_sunrpc_types },
	{ "module_types", RPC_SOURCE_BIT(RPC_SOURCE_BTF), check_module_types },
	{ "tracefs", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), check_tracefs },
	{ "sunrpc_events", RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS), check_sunrpc_events },
	{ "rpc_clients", 0, check_clients },
	{ "mountstats", RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS), check_mountstats },
	{ "transports", 0, check_transports },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

_Static_assert(CHECKS <= sizeof(((struct source_choice *)0)->checks) / sizeof(struct source_check),
	       "all checks have room");

void source_choose(struct source_choice *c, const struct rpc_facts *f, unsigned int allowed)
{
	*c = (struct source_choice){ .source = RPC_SOURCE_NONE, .best = RPC_SOURCE_NONE };
	for (size_t i = 0; i < CHECKS; i++) {
		struct source_check *check = &c->checks[c->check_count++];

		check->name = checks[i].name;
		check->sources = checks[i].sources;
		checks[i].check(check, f);
		if (check->verdict == SOURCE_CHECK_MISSING)
			allowed &= ~check->sources;
	}
	for (enum rpc_source source = RPC_SOURCES - 1; source > RPC_SOURCE_NONE; source--)
		if (allowed & RPC_SOURCE_BIT(source))
			c->best = source;
	if (is_there(f))
		c->source = c->best;
}

bool source_check_is_reason(const struct source_check *check, enum rpc_source source)
{
	/* Better sources are lower bits. Of none, all are better. */
	unsigned int better = source ? RPC_SOURCE_BIT(source) - 1 : RPC_SOURCES_ALL;

	return check->verdict == SOURCE_CHECK_MISSING && check->sources & better;
}
