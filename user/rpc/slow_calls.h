/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the slow calls that bpf/slow_calls.bpf.h reports, and the calls by file; finds out whose they were. */
#pragma once

#include "rpc.h"
#include "snapshot/snapshot.h"

struct bpf_map;
struct btf;
struct ring_buffer;
struct share_reader;

/* The number of calls that a session keeps. When it has so many, only slower calls are reported. */
#define SLOW_CALLS_KEPT 100

struct slow_calls {
	struct ring_buffer *ring; /* NULL: none are wanted */
	volatile __u64 *threshold; /* ns, of the program */
	struct rpc_slow_call *taken; /* since the last snapshot */
	size_t taken_count;
	uint64_t slowest[SLOW_CALLS_KEPT]; /* the longest so far, ns, descending; 0: no more */
};

/* @map: descriptor of the ring buffer; @threshold: the program's variable, which is already set. Returns 0 or
 * -errno; call slow_calls_close() in either case. */
int slow_calls_open(struct slow_calls *c, int map, volatile __u64 *threshold);
void slow_calls_close(struct slow_calls *c);

/* Takes what the ring buffer has into .taken, which stays until the next time. */
void slow_calls_take(struct slow_calls *c);

/* Adds one call to @s; @server: its label; @files: with the name of its file. Its phases add up to its duration, as those of
 * waits_record() in bpf/rpc_phases.bpf.h. */
void slow_calls_add(struct snapshot *s, const struct rpc_slow_call *from, const char *server,
		    const char *owner, const struct bpf_map *files);

struct mount_calls_state;

/* Finds the mounts of the slow calls and files of @s: those of their clients; for a slow call also the only one of its server. */
void calls_find_mounts(struct snapshot *s, const struct mount_calls_state *mounts);

/* ---- calls by file and directory, and the choice of those to be shown ---- */

/* The ops that count, for the program. */
void file_calls_ops(volatile struct rpc_file_op *ops);

/* Sets what these types, of the module nfs or of a version of it, say about where a file handle is. @inode: rpc_nfs_inode. */
void file_calls_types(const struct btf *types, volatile struct rpc_file_op *ops,
		      volatile __s64 *inode);

/* Writes the path on the server, ".../a" of one that has more levels, "" if it is not known. @path has FILE_PATH_SIZE bytes;
 * @directory: of the directory that contains the file. */
void file_calls_path(char *path, const struct rpc_file *f, bool directory);

/* Leaves of a path on the server what is below @export, and sets its @mount, of LABEL_SIZE bytes. Otherwise both stay. */
void file_calls_place(const char *export, const char *mountpoint, char *mount, char *path);

/* Adds to @s the files with the most calls, bytes and time, @shown by each, and as many directories. */
void file_calls_add(struct snapshot *s, const struct bpf_map *files, unsigned int shown,
		    struct share_reader *owners);
