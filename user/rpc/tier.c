// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The decision about the tier: from facts to a choice, and its reasons. */
#include "rpc/tier.h"

#include <linux/capability.h>
#include <string.h>

/* From 5.8; the headers that we build with may be older. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

static bool has(const struct tier_facts *f, int capability)
{
	return f->capabilities >> capability & 1;
}

static bool is_there(const struct tier_facts *f)
{
	return f->sunrpc == SUNRPC_LIVE || f->sunrpc == SUNRPC_BUILT_IN;
}

static void found(struct tier_check *c, const char *text)
{
	c->verdict = TIER_CHECK_OK;
	c->text = text;
}

static void missing(struct tier_check *c, const char *text, const char *mend)
{
	c->verdict = TIER_CHECK_MISSING;
	c->text = text;
	c->mend = mend;
}

static void open_until(struct tier_check *c, const char *text)
{
	c->verdict = TIER_CHECK_OPEN;
	c->text = text;
}

static void open_until_loaded(struct tier_check *c)
{
	open_until(c, "known when sunrpc is loaded");
}

static void check_bpf(struct tier_check *c, const struct tier_facts *f)
{
	if (f->bpf)
		found(c, "the kernel runs BPF programs");
	else
		missing(c, "the kernel does not run BPF programs",
			"boot a kernel with CONFIG_BPF_SYSCALL=y");
}

static void check_lockdown(struct tier_check *c, const struct tier_facts *f)
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

static void check_permission(struct tier_check *c, const struct tier_facts *f)
{
	if (has(f, CAP_SYS_ADMIN) || (has(f, CAP_BPF) && has(f, CAP_PERFMON)))
		found(c, "this process may load BPF programs");
	else
		missing(c, "this process may not load BPF programs",
			"run it as root (in a container: privileged), or give "
			"it CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
}

static void check_kernel_types(struct tier_check *c, const struct tier_facts *f)
{
	if (f->kernel_btf)
		found(c, "the kernel describes its types (BTF)");
	else
		missing(c,
			"the kernel does not describe its types: no "
			"/sys/kernel/btf/vmlinux",
			"boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static void check_sunrpc_types(struct tier_check *c, const struct tier_facts *f)
{
	if (!is_there(f))
		open_until_loaded(c);
	else if (f->sunrpc_btf)
		found(c, "sunrpc's types are described (BTF)");
	else if (f->out_of_tree)
		missing(c,
			"sunrpc is an out-of-tree module without a "
			"description of its types (BTF)",
			"build the module where the kernel's build tree has "
			"its vmlinux, pahole is installed and "
			"CONFIG_DEBUG_INFO_BTF_MODULES=y; or stay with tier B");
	else
		missing(c,
			"sunrpc's types are not described: no "
			"/sys/kernel/btf/sunrpc",
			"boot a kernel with CONFIG_DEBUG_INFO_BTF_MODULES=y "
			"(5.11 and later); or stay with tier B");
}

/* The kernel hands out a module's types by a call that wants this. */
static void check_module_types(struct tier_check *c, const struct tier_facts *f)
{
	if (f->sunrpc == SUNRPC_BUILT_IN)
		found(c, "sunrpc is built in: its types are the kernel's");
	else if (has(f, CAP_SYS_ADMIN))
		found(c, "this process may read the types of modules");
	else
		missing(c, "this process may not read the types of modules",
			"give it CAP_SYS_ADMIN");
}

static void check_tracefs(struct tier_check *c, const struct tier_facts *f)
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

static void check_sunrpc_events(struct tier_check *c, const struct tier_facts *f)
{
	if (!is_there(f) || f->tracefs != TRACEFS_MOUNTED)
		open_until(c, "known when sunrpc is loaded and tracefs is "
			      "mounted");
	else if (f->sunrpc_events)
		found(c, "tracefs has sunrpc's events");
	else
		missing(c, "tracefs has no events of sunrpc",
			"use a sunrpc that is built with its tracepoints "
			"(CONFIG_TRACEPOINTS=y)");
}

static void check_mountstats(struct tier_check *c, const struct tier_facts *f)
{
	if (f->mountstats)
		found(c, "mountstats can be read");
	else
		missing(c, "/proc/self/mountstats cannot be read", "mount -t proc proc /proc");
}

static void check_transports(struct tier_check *c, const struct tier_facts *f)
{
	if (!is_there(f))
		open_until_loaded(c);
	else if (f->transports)
		found(c, "sysfs lists sunrpc's transports");
	else
		missing(c,
			"sysfs does not list sunrpc's transports: tier C "
			"cannot tell their slots",
			"boot a kernel from 5.14 on");
}

static void check_clients(struct tier_check *c, const struct tier_facts *f)
{
	if (!is_there(f))
		open_until_loaded(c);
	else if (f->debugfs)
		found(c, "debugfs lists sunrpc's clients");
	else
		missing(c,
			"debugfs does not list sunrpc's clients: tier B "
			"cannot name all servers",
			"mount -t debugfs debugfs /sys/kernel/debug");
}

static const struct {
	const char *name;
	unsigned int tiers;
	void (*check)(struct tier_check *c, const struct tier_facts *f);
} checks[] = {
	{ "bpf", TIER_A | TIER_B, check_bpf },
	{ "lockdown", TIER_A | TIER_B, check_lockdown },
	{ "permission", TIER_A | TIER_B, check_permission },
	{ "kernel_types", TIER_A, check_kernel_types },
	{ "sunrpc_types", TIER_A, check_sunrpc_types },
	{ "module_types", TIER_A, check_module_types },
	{ "tracefs", TIER_B, check_tracefs },
	{ "sunrpc_events", TIER_B, check_sunrpc_events },
	{ "rpc_clients", 0, check_clients },
	{ "mountstats", TIER_C, check_mountstats },
	{ "transports", 0, check_transports },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

_Static_assert(CHECKS <= sizeof(((struct tier_choice *)0)->checks) / sizeof(struct tier_check),
	       "all checks have room");

void tier_choose(struct tier_choice *c, const struct tier_facts *f, unsigned int allowed)
{
	*c = (struct tier_choice){ .tier = '-', .best = '-' };
	for (size_t i = 0; i < CHECKS; i++) {
		struct tier_check *check = &c->checks[c->check_count++];

		check->name = checks[i].name;
		check->tiers = checks[i].tiers;
		checks[i].check(check, f);
		if (check->verdict == TIER_CHECK_MISSING)
			allowed &= ~check->tiers;
	}
	for (const char *tier = "CBA"; *tier; tier++)
		if (allowed & tier_set(*tier))
			c->best = *tier;
	if (is_there(f))
		c->tier = c->best;
}

unsigned int tier_set(char tier)
{
	switch (tier) {
	case 'A':
		return TIER_A;
	case 'B':
		return TIER_B;
	case 'C':
		return TIER_C;
	}
	return 0;
}

bool tier_check_is_reason(const struct tier_check *check, char tier)
{
	/* Better tiers are lower bits. Of none, all are better. */
	unsigned int better = tier_set(tier) ? tier_set(tier) - 1 : TIERS_ALL;

	return check->verdict == TIER_CHECK_MISSING && check->tiers & better;
}
