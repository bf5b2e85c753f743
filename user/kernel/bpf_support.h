/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every BPF object of the program needs around libbpf.
 */
#ifndef XIDSCOPE_BPF_SUPPORT_H
#define XIDSCOPE_BPF_SUPPORT_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "model/snapshot.h"

/* Takes over libbpf's messages: shown only with @log->verbose, and the last
 * lines are kept for bpf_last_words(). @log must live on. */
void bpf_messages_init(const struct log *log);

/* The last lines that libbpf (and through it the verifier) wrote since the
 * last bpf_messages_forget(). Static storage. */
const char *bpf_last_words(void);
void bpf_messages_forget(void);

/* Why something failed, since the last bpf_messages_forget(): the kernel feature
 * that is missing or refused, if libbpf's words tell, else what error number
 * @error says. Static storage. */
const char *bpf_reason(int error);

/* A program of a skeleton, and where it is attached. */
struct bpf_hook {
	const char *name; /* of what it is attached to, as told to the user */
	const char *function; /* the program's own */
	size_t program; /* these two: offsets into what bpftool has made */
	size_t link;
};

#define BPF_HOOK(name, skeleton, function)                                  \
	{                                                                   \
		name, #function, offsetof(struct skeleton, progs.function), \
			offsetof(struct skeleton, links.function)           \
	}

struct bpf_program *bpf_hook_program(void *skeleton, const struct bpf_hook *hook);

/* Has an opened skeleton loaded without those of its @n hooks whose bits are set
 * in @out. */
void bpf_hooks_leave_out(void *skeleton, const struct bpf_hook *hooks, size_t n, unsigned int out);

/* Which of @n hooks is why a load has failed with @err (-errno) since the last
 * bpf_messages_forget(): the others may be accepted without it. @n: it was not
 * that. */
size_t bpf_hooks_refused(const struct bpf_hook *hooks, size_t n, int err);

/* Warns that @hook, a @kind in words, will tell nothing, for its program has been
 * refused with @err (-errno). */
void bpf_hook_warn_refused(const struct log *log, const char *kind, const struct bpf_hook *hook,
			   int err);

bool bpf_hook_attached(void *skeleton, const struct bpf_hook *hook);

/* Returns 0 or -errno, then with libbpf's words of this attempt alone. The
 * skeleton owns the link. */
int bpf_hook_attach(void *skeleton, const struct bpf_hook *hook);

/* Kernel memory of a loaded object in bytes, as the kernel accounts it. It does
 * not change. */
struct bpf_memory {
	uint64_t maps;
	uint64_t programs;
};

void bpf_object_memory(const struct bpf_object *object, struct bpf_memory *m);

/* Adds @object's memory @m to @s, and how often and how long each of its programs
 * has run if the kernel counts that. */
void bpf_object_snapshot(const struct bpf_object *object, const struct bpf_memory *m,
			 struct snapshot *s);

/* Has the kernel count runs of all BPF programs until the returned descriptor
 * is closed (from 5.8). Each run then costs two looks at the clock more.
 * Returns -errno if it does not. */
int bpf_statistics_on(void);

/* How often the kernel did not run a loaded program because it was running
 * already on that CPU (recursion_misses, from 5.12). */
uint64_t bpf_program_misses(const struct bpf_program *program);

/* How many copies of hot maps to have: one for each possible CPU, up to @max, a
 * power of two. */
uint32_t bpf_shards(uint32_t max);

/* What to do about error number @error of a bpf() call, for a person. */
const char *bpf_advice(int error);

#endif
