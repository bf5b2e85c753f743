/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source btf: the maps of bpf/rpc.bpf.c, and the types with which its programs are loaded. */
#pragma once

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "owners/mount_calls.h"
#include "rpc/rpc_series.h"
#include "rpc/slow_calls.h"
#include "snapshot/snapshot.h"

/* ---- btf_maps.c ---- */

struct rpc_bpf;

struct btf_maps {
	struct rpc_bpf *bpf;
	uint32_t own_netns;
	struct rpc_series_reader reader;
	struct share_reader shares; /* of clients and owners */
	struct server_numbers servers;
	struct slow_calls slow; /* the caller opens it if slow calls are wanted */
	unsigned int files; /* to be shown by each measure; 0: none are wanted */
	struct btf_transport {
		uint32_t number; /* 1 + that among those of its server and protocol; 0: none yet */
		/* Last reported values. */
		uint64_t saturated_ns[RPC_PERIODS];
		uint64_t connects;
		uint64_t replies;
		uint64_t answered_ns; /* the snapshot that saw the last reply */
		uint64_t unconnected_since; /* connecting fails; 0: it does not */
	} transports[RPC_MAX_TRANSPORTS];
};

/* *@m is all zeros. @bpf must be loaded and outlive it. Returns 0 or -errno; call btf_maps_close() in either case. */
int btf_maps_open(struct btf_maps *m, struct rpc_bpf *bpf);
void btf_maps_close(struct btf_maps *m);

/* Adds all that the maps hold to @s and @clients, and begins a new interval for the peak depths. Returns 0 or -errno. */
int btf_maps_read(struct btf_maps *m, struct snapshot *s, struct client_list *clients);

/* ---- module_types.c ----
 * libbpf looks for a type by its name, and looks into the kernel first, whose built-in code may use a module's headers. If
 * the loaded module was built from other headers, that type is not the one in memory. Therefore the module's types are
 * copied, and of the kernel only those that the module shares with it. */

/* Initialise with { .fd = -1 }. */
struct module_types {
	int fd; /* of a file in memory */
	char path[32]; /* for bpf_object_open_opts.btf_custom_path */
};

/* Copies each struct that the programs of @object, which is open, name: the module's own, else the kernel's. @from: the types of
 * both. Returns NULL with errno set, or types to be freed by btf__free(). */
struct btf *module_types_select(const struct btf *from, const struct bpf_object *object);

/* Makes the file of @types, and frees them; NULL: errno says why there are none. Returns 0 or -errno. Call module_types_close()
 * in either case. */
int module_types_write(struct module_types *t, struct btf *types);
void module_types_close(struct module_types *t);
