/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What texts of the system say of mounts: which are wanted, which are there, and whether their
 * servers answer anybody. Pure functions, which ask no server.
 */
#ifndef XIDSCOPE_MOUNT_TEXT_H
#define XIDSCOPE_MOUNT_TEXT_H

#include "base/mountinfo.h"
#include "health/node_facts.h"

/* Adds the NFS mounts of the text of a file like /etc/fstab that are there since the boot: not
 * those with noauto or x-systemd.automount. */
void mount_facts_add_fstab(struct node_facts *facts, const char *text, size_t len);

/* Adds a mount, unless it is there; counts it if there is no room. "PATH,ro" may be read-only. */
void mount_facts_add(struct node_facts *facts, const char *path);

#define MOUNT_DEVICE_SIZE 32

/* Takes in one mount of mountinfo, in its order. Sets @fact->state, which begins as MOUNT_ABSENT, and
 * @device ("0:52"; "": no server is asked) if it is this mount or lies over it. */
void mount_fact_look(struct mount_fact *fact, char device[MOUNT_DEVICE_SIZE],
		     const struct mountinfo_line *m);

/* The replies that the transports of the NFS mount at @path have brought, by the text of mountstats
 * (net/sunrpc/xprtsock.c, xs_tcp_print_stats() and its like). */
uint64_t mount_replies(struct span mountstats, const char *path);

#endif
