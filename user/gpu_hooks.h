/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel log's hook: loads bpf/printk.bpf.c and hands its messages on.
 */
#ifndef XIDSCOPE_GPU_HOOKS_H
#define XIDSCOPE_GPU_HOOKS_H

#include "faults.h"
#include "log.h"
#include "snapshot.h"

struct gpu_hooks;

/* Loads and attaches; what it finds is counted in @faults. Both arguments must
 * outlive it. Returns NULL with errno set after saying why in the log. */
struct gpu_hooks *gpu_hooks_new(const struct log *log, struct faults *faults);
void gpu_hooks_free(struct gpu_hooks *g);

/* Readable when messages wait. */
int gpu_hooks_fd(const struct gpu_hooks *g);

/* Takes all messages that wait. Returns how many, or -errno. */
int gpu_hooks_consume(struct gpu_hooks *g);

/* Adds the hook's state to @s; @g may be NULL. */
void gpu_hooks_snapshot(const struct gpu_hooks *g, struct snapshot *s);

#endif
