/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hook on the kernel's printk: loads bpf/printk.bpf.c and hands its
 * messages on.
 */
#ifndef XIDSCOPE_PRINTK_HOOK_H
#define XIDSCOPE_PRINTK_HOOK_H

#include <stdint.h>

#include "base/log.h"
#include "printk.h"
#include "model/snapshot.h"

struct printk_hook;

/* Gets each message. */
typedef void printk_handler(void *context, const struct printk_event *event);

/* Loads and attaches. Returns NULL with errno set after saying why in the log. */
struct printk_hook *printk_hook_new(const struct log *log, printk_handler *handle, void *context);
void printk_hook_free(struct printk_hook *h);

/* Readable when messages wait. */
int printk_hook_fd(const struct printk_hook *h);

/* Hands on the messages that wait. */
void printk_hook_consume(struct printk_hook *h);

/* Messages that found the buffer full, or the program running already. */
uint64_t printk_hook_dropped(const struct printk_hook *h);
/* Adds the memory of its maps and programs, and the programs' runs, to @s. */
void printk_hook_snapshot(const struct printk_hook *h, struct snapshot *s);

#endif
