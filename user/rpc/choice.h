/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the running kernel offers to an observer of sunrpc, which source it chooses by that, and what a better source lacks. */
#pragma once

#include <limits.h>

#include "kernel/kernel_types.h"
#include "kernel/trace.h"
#include "snapshot/snapshot.h"

/* ---- offer.c: read from the kernel's own files ---- */

enum sunrpc_state {
	SUNRPC_ABSENT,
	SUNRPC_LOADING, /* or being unloaded: its types and events may be incomplete */
	SUNRPC_LIVE, /* a module */
	SUNRPC_BUILT_IN,
};

/* From /sys/kernel/security/lockdown; containers lack it. */
enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

/* Whether debugfs lists sunrpc's clients, or why not. */
enum debugfs_state {
	DEBUGFS_ABSENT, /* the kernel has none, or debugfs=off */
	DEBUGFS_UNMOUNTED,
	DEBUGFS_NO_CLIENTS, /* sunrpc has no files there: it is built without CONFIG_SUNRPC_DEBUG */
	DEBUGFS_FORBIDDEN, /* this process may not look */
	DEBUGFS_CLIENTS,
};

#define SRCVERSION_SIZE 40

enum types_file { TYPES_FILE_NONE, TYPES_FILE_GOOD, TYPES_FILE_REFUSED };

struct rpc_offer {
	enum sunrpc_state sunrpc;
	/* The loaded module's; "" if it has none. */
	char srcversion[SRCVERSION_SIZE];
	bool out_of_tree; /* the kernel marks the module as such (taint O) */

	bool bpf; /* the kernel has BPF programs */
	bool kernel_btf; /* its types are known */
	bool sunrpc_btf; /* it also has sunrpc's types */
	/* The file that the option names. Without the option, and if the kernel lacks the types: the file at the module's own place. */
	enum types_file types_file;
	char types_path[PATH_MAX]; /* of the file, or of its place if there is no file; or "" */
	char types_refused[400]; /* why the file is refused, with its name */
	char types_fix[700]; /* how to make such a file; "": the loaded module can have none */
	enum lockdown lockdown;
	uint64_t capabilities; /* the process's effective ones: bits */
	bool refused; /* a program was tried, and this process may load none */
	enum tracefs_state tracefs;
	char tracefs_path[64];
	bool sunrpc_events; /* tracefs has them */
	enum debugfs_state debugfs;
	int perf_error; /* errno of perf_event_open(); 0: events can be opened */
	bool misses_events; /* kernel_misses_events(), if the caller has set it */
	bool memory_groups; /* the kernel charges pages to control groups */
	bool transports; /* sysfs lists sunrpc's transports (from 5.14) */
	bool mountstats;
	bool nfs; /* is loaded, or built in */
	enum types_place nfs_types; /* they show who dirtied a page */
};

/* @root is put before the system's paths: "", or a folder of a test. */

/* Whether sunrpc is loaded. Cheap: can be called many times a second. */
enum sunrpc_state sunrpc_look(const char *root);

/* Reads what the choice of a source depends on. @types_file: NULL, or a file with the types of
 * the loaded sunrpc. Takes up to 0.1 s if sunrpc is built in. */
void rpc_offer_look(struct rpc_offer *f, const char *root, const char *types_file);

/* Adds what a try to load a program has shown, which failed with error number @error. */
void rpc_offer_add_refusal(struct rpc_offer *f, int error);

/* ---- choice.c ---- */

/* Sets of sources. */
#define RPC_SOURCE_BIT(source) (1u << (source))
#define RPC_SOURCES_BPF (RPC_SOURCE_BIT(RPC_SOURCE_BTF) | RPC_SOURCE_BIT(RPC_SOURCE_TRACEPOINTS))
#define RPC_SOURCES_ALL (RPC_SOURCES_BPF | RPC_SOURCE_BIT(RPC_SOURCE_MOUNTSTATS))

/* The sources that are better than @source; all if it is RPC_SOURCE_NONE. */
unsigned int rpc_sources_better(enum rpc_source source);

enum source_check_result {
	SOURCE_CHECK_OK,
	SOURCE_CHECK_MISSING,
	SOURCE_CHECK_UNKNOWN, /* until sunrpc is loaded */
};

/* One thing that some sources need. Text is static, or part of the offer. */
struct source_check {
	const char *name;
	unsigned int sources; /* the sources that need it; 0: it only adds figures */
	enum source_check_result result;
	const char *text; /* what was found */
	const char *fix; /* what to do; NULL if nothing is missing */
};

struct source_choice {
	enum rpc_source source; /* RPC_SOURCE_NONE: none is available now */
	enum rpc_source best; /* the likely choice once sunrpc is loaded */
	struct source_check checks[16];
	size_t check_count;
};

/* Chooses the best of the sources @allowed, from the offer alone: none if sunrpc is not loaded. After the kernel has
 * refused a source, leave it out of @allowed to get the next one. */
void source_choose(struct source_choice *c, const struct rpc_offer *f, unsigned int allowed);

/* Whether @check is a reason why no better source than @source is chosen. */
bool source_check_is_reason(const struct source_check *check, enum rpc_source source);
