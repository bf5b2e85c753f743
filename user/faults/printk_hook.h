/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hook on the kernel's printk: see printk_hook.c. */
#pragma once

#include "base/log.h"
#include "base/std.h"
#include "faults/fault_authority.h"
#include "printk.h"
#include "snapshot/snapshot.h"

struct printk_hook;

/* Loads and attaches, which may take seconds on a busy node. @log and @authority must outlive it. @quiet: a failure is not
 * logged. @epoll is readable when messages wait; -1: none. Returns NULL with errno set; ENOTSUP: the kernel does not show who
 * prints. */
struct printk_hook *printk_hook_new(const struct log *log, bool quiet,
				    struct fault_authority *authority, int epoll);

/* The following functions do nothing if @h is NULL. */
void printk_hook_free(struct printk_hook *h);

/* Passes on the messages that wait. */
void printk_hook_consume(struct printk_hook *h);

/* Finds out whether the kernel shows who prints, if need be by a line in the kernel log. 0: it does, or is not yet known
 * because no line could be printed. -ENOTSUP: it does not, and the hook proves nothing. */
int printk_hook_ask(struct printk_hook *h);

/* Whether the hook proves who prints, as far as is known: by a message, or else by the kernel's release. */
bool printk_hook_shows(const struct printk_hook *h);

/* Whether all kernels of this release show who prints. Some distributions' older ones do as well. @root is put before the path. */
bool printk_release_shows(const char *root);

/* Whether printk_hook_ask() has not yet been called, and no message has come. */
bool printk_hook_undecided(const struct printk_hook *h);

/* When the record with this sequence number was printed. Without a hook it is RECORD_NEW. */
enum record_age printk_hook_age(struct printk_hook *h, uint64_t sequence);

/* Adds messages that it has dropped, its programs and their memory. */
void printk_hook_snapshot(const struct printk_hook *h, struct self *self);

/* Whether a text has one of the marks that the hook looks for. */
bool printk_marked(const char *text, size_t len);

/* Loads the hook for a moment and prints a message. Returns -errno if the kernel refuses the hook. */
enum {
	PRINTK_NOT_SHOWN, /* who prints */
	PRINTK_SHOWN,
	PRINTK_NOT_ASKED, /* /dev/kmsg cannot be written, and the kernel's release decides nothing */
};
int printk_hook_try(void);
