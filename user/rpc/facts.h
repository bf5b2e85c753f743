/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the running kernel offers to an observer of sunrpc, from its own files.
 */
#ifndef XIDSCOPE_FACTS_H
#define XIDSCOPE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/tracefs.h"

enum sunrpc_state {
	SUNRPC_ABSENT,
	SUNRPC_LOADING, /* or going: its types and events come and go */
	SUNRPC_LIVE, /* a module */
	SUNRPC_BUILT_IN,
};

/* Of /sys/kernel/security/lockdown. */
enum lockdown { LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

#define SRCVERSION_SIZE 40

struct rpc_facts {
	enum sunrpc_state sunrpc;
	/* Of the loaded module; "" if it has none. */
	char srcversion[SRCVERSION_SIZE];
	bool out_of_tree; /* tainted the kernel as such */
	/* Of the module that modprobe would load: its path below
	 * /lib/modules/RELEASE, or "", and its srcversion, or "" if that is not
	 * known (a compressed file). It may be another one than is loaded. */
	char disk_path[128];
	char disk_srcversion[SRCVERSION_SIZE];

	bool bpf; /* the kernel has BPF programs */
	bool kernel_btf; /* its types are known */
	bool sunrpc_btf; /* sunrpc's are known, too */
	enum lockdown lockdown;
	uint64_t capabilities; /* the process's effective ones: bits */
	enum tracefs_state tracefs;
	char tracefs_path[64];
	bool sunrpc_events; /* tracefs has them */
	bool debugfs; /* sunrpc's clients are listed there */
	bool transports; /* sysfs has sunrpc's (from 5.14) */
	bool mountstats;
};

/* Paths of the system have @root before them: "", or a folder of a test. */

/* Whether sunrpc is loaded. Cheap: can be called many times a second. */
enum sunrpc_state sunrpc_look(const char *root);

/* All facts that the choice of a source depends on; takes up to 0.1 s where sunrpc
 * is built in. The module on disk is left out. */
void rpc_facts_look(struct rpc_facts *f, const char *root);

/* For reports: adds the module on disk, which is read whole. @release is the
 * kernel's, as printed by uname -r. */
void rpc_facts_look_on_disk(struct rpc_facts *f, const char *root, const char *release);

#endif
