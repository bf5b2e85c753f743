/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/mount_clients.bpf.c and user/owners/mount_clients.c share. */
#pragma once

/* The most clients of one reading, in which bind mounts show theirs again, and the kernel may show a mount several times, until
 * its text fits. 128 kB for that moment. */
#define MOUNT_CLIENTS_MAX 32768

/* Offset in bytes of cl_clid in struct rpc_clnt (include/linux/sunrpc/clnt.h): from 3.9 to 7.3 the second member, after a count
 * of 4 bytes. A number is used only if calls have shown such a client. */
#define RPC_CLNT_NUMBER_AT 4
