/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hook on the kernel's printk: loads bpf/printk.bpf.c and passes its
 * messages to a handler.
 */
#ifndef XIDSCOPE_PRINTK_HOOK_H
#define XIDSCOPE_PRINTK_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_log.h"
#include "faults/prove/printk_origin.h"
#include "printk.h"

struct printk_hook;

/* Whether the tracepoint of the kernel @release (as uname -r prints it) is called for
 * each message, by who prints it; before 5.19 it is called by the consoles. */
bool printk_hook_has_every_message(const char *release);

/* Takes a message, which is valid during the call. */
typedef void printk_handler(void *context, const struct printk_event *event);

/* Loads and attaches, which may take seconds on a busy node; the records before *@begin were
 * printed before. Returns NULL with errno set after logging the reason. */
struct printk_hook *printk_hook_new(const struct log *log, struct kernel_log_mark *begin,
				    printk_handler *handle, void *context);
void printk_hook_free(struct printk_hook *h);

/* Readable when messages wait. */
int printk_hook_fd(const struct printk_hook *h);

/* Passes the messages that wait to the handler. */
void printk_hook_consume(struct printk_hook *h);

/* Messages that found the buffer full, or the program running already. */
uint64_t printk_hook_dropped(const struct printk_hook *h);
/* Messages that were dropped though there was room, which is kept for the driver's: none
 * of its modules was on their stack. */
uint64_t printk_hook_others_dropped(const struct printk_hook *h);

/* Keeps room in the buffer for messages of the driver's modules; NULL: they are not known,
 * so no message is treated as another's. Returns whether that has changed. */
bool printk_hook_protect(struct printk_hook *h, const struct printk_origins *o);

/* What it has loaded, and the memory of that. */
const struct bpf_object *printk_hook_object(const struct printk_hook *h);
const struct bpf_memory *printk_hook_memory(const struct printk_hook *h);

#endif
