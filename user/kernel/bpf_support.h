/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libbpf's messages, what a loaded BPF object costs, and its maps in memory. */
#pragma once

#include <bpf/libbpf.h>

#include "base/log.h"

/* Receives libbpf's messages. They are shown only with @log->verbose, and the last lines are kept in the error log. @log must
 * outlive all use of libbpf. */
void bpf_messages_init(const struct log *log);

/* Removes the limit of locked memory, against which kernels before 5.11 count maps. */
void bpf_remove_memory_limit(void);

/* The last lines that libbpf wrote, the verifier's included, since the last bpf_error_log_clear(), each with its newline. Static storage. */
const char *bpf_error_log(void);
void bpf_error_log_clear(void);

/* The function name of the program that failed to load since then; "" if none did. */
extern char bpf_refused_program[64];

/* Why a call failed: the kernel feature that is missing or refused, if the error log shows it; otherwise the text of error number
 * @error. Static storage. */
const char *bpf_reason(int error);

/* Writes the kernel feature that is missing or refused to @feature, of @size bytes. @words: libbpf's messages of one failure; their
 * beginning may be lost. It understands libbpf 1.1 and kernels from 5.10 on. For any other refusal by the verifier it gives the
 * verifier's last line. Returns false if there is nothing to report. */
bool bpf_refusal_explain(char *feature, size_t size, const char *words);

/* With --verbose: makes the kernel report the number of verified instructions of each program that is loaded. */
void bpf_report_verified(const struct bpf_object *object);

/* What to do about error number @error of a bpf() call, for a person. */
const char *bpf_advice(int error);

/* Kernel memory of a loaded object in bytes. It does not change. */
struct bpf_memory {
	uint64_t maps;
	uint64_t programs;
};

void bpf_object_memory(const struct bpf_object *object, struct bpf_memory *m);

/* What the kernel keeps for all trace events and kprobes that programs are attached to, whoever attached them: four buffers of 8 kB for
 * each CPU that can be (of 2 kB before 5.12). */
uint64_t bpf_event_memory(void);

/* The kernel's information about a program. False, and zeros: it is not loaded. */
bool bpf_program_info(const struct bpf_program *program, struct bpf_prog_info *info);

/* Runs a loaded program of type raw_tp with @arguments, of @size bytes. Returns the program's result, or 0 if it did not run. */
uint32_t bpf_run(const struct bpf_program *program, const void *arguments, size_t size);

/* The number of copies of a hot map: one for each possible CPU, rounded up to a power of two; at most @max, itself a power of two. */
uint32_t bpf_shards(uint32_t max);

/* Passes the records in ring buffer @map to @take, until it returns a negative number. The buffer is mapped only while there are
 * any: its pages, each of them twice, count as resident memory. Without memory the records stay for the next time. */
void bpf_ring_read(const struct bpf_map *map, ring_buffer_sample_fn take, void *context);

/* Maps the values of @map, which has BPF_F_MMAPABLE; @protection as for mmap(). NULL with
 * errno. bpf_values_unmap() also takes NULL, then @map may be NULL. */
void *bpf_values_map(const struct bpf_map *map, int protection);
void bpf_values_unmap(const struct bpf_map *map, const void *values);
/* The same for the first @count values. */
void *bpf_values_map_first(const struct bpf_map *map, size_t count, int protection);
void bpf_values_unmap_first(const struct bpf_map *map, size_t count, const void *values);

/* Takes whole pages of @values, a part of a mapped value, out of this process, which must not use them any more. */
void bpf_values_drop(volatile void *values, size_t size);

/* Reads element @index, in range, of a map that is an array. The kernel may only lack the memory for it: then *@value is zeros, and
 * memory_failed() grows. */
void bpf_array_read(const struct bpf_map *map, uint32_t index, void *value);

/* A value in a map that programs write at any time. A program counts *started before it writes and *finished after it. */
struct bpf_value {
	const volatile void *bytes;
	size_t size;
	const volatile __u64 *started, *finished; /* in the value */
};

/* Copies @from to @to. While a program writes the value it tries again, then waits 1 ms at a time, at most *@pauses_left times,
 * which it counts down. *@before: *finished before the copy. Returns whether the copy is consistent. */
bool bpf_copy(void *to, const struct bpf_value *from, unsigned int *pauses_left, uint64_t *before);

/* How often one snapshot may wait. An interrupt takes less than one pause; a virtual CPU that does not run may take many. */
#define BPF_COPY_PAUSES 500

/* ---- bpf_hooks.c: loads a skeleton and attaches it, without the programs that this kernel does not accept ---- */

/* One program of a skeleton, and the tracepoint to which it is attached. */
struct bpf_hook {
	const char *name; /* the tracepoint's, in messages and metrics */
	const char *function; /* the program's */
	size_t program; /* this and link: offsets in the generated skeleton */
	size_t link;
	unsigned int needs; /* this hook is attached only with these (bits) */
	unsigned int facts; /* the caller's set of what it does not know without this hook */
};

#define BPF_HOOK(name, skeleton, function, needs, facts)                        \
	{                                                                       \
		name, #function, offsetof(struct skeleton, progs.function),     \
			offsetof(struct skeleton, links.function), needs, facts \
	}

/* All hooks of one skeleton. Sets of hooks are bits: 1u << index into the table. */
struct bpf_hooks {
	/* The caller's: */
	const struct log *log;
	const char *user; /* the part that needs the hooks, for messages: "source btf" */
	const struct bpf_hook *table; /* in order of attachment */
	size_t count;
	unsigned int essential; /* without one of these, loading or attaching fails */
	unsigned int unused; /* not needed on this kernel; `needs` ignores them */
	/* Set by the functions below: */
	unsigned int missing; /* not available on this kernel; the log has the reason */
	void *skeleton; /* as generated by bpftool; NULL until it is loaded */
	struct bpf_memory memory;
};

/* Marks the hook of index @hook as missing, and logs @reason: as a warning, or as an error if the hook is essential. */
void bpf_hooks_miss(struct bpf_hooks *h, size_t hook, const char *reason, int error);

/* Loads the programs that the kernel accepts. @open opens the skeleton and sets its variables and map sizes. If the kernel refuses
 * a program, @open is called again with that hook in @h->missing. Returns 0; or -errno after logging the reason, if the kernel
 * refuses an essential program or a map. */
int bpf_hooks_load(struct bpf_hooks *h, void *(*open)(void *context), void *context);

/* After a load failed with @err (-errno): the hook whose program the kernel has refused since the last bpf_error_log_clear(). The
 * caller can retry without it. @count: no single program was the cause. */
size_t bpf_hooks_refused(const struct bpf_hook *table, size_t count, int err);

/* Attaches the available hooks from index @begin up to @end. Returns 0; or -errno after logging the reason, if an essential hook is
 * not available. */
int bpf_hooks_attach(struct bpf_hooks *h, size_t begin, size_t end);

bool bpf_hook_attached(const struct bpf_hooks *h, size_t hook);

/* Calls @add for each program that has run while the kernel counted runs (kernel.bpf_stats_enabled), with the number and the total
 * time of its runs. Returns how often the kernel skipped a program because it was already running on that CPU (from 5.12).
 * Programs of the hooks @except do not count. */
uint64_t bpf_hooks_count(const struct bpf_hooks *h, unsigned int except,
			 void (*add)(void *context, const char *program, uint64_t runs,
				     uint64_t ns),
			 void *context);

/* Detaches and unloads. @h may be all zero. */
void bpf_hooks_close(struct bpf_hooks *h);
