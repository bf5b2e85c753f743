/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/mount_clients.bpf.c and user/owners/mount_clients.c share. */
#pragma once

/* Clients of one reading: the kernel may show a mount several times, until its text fits. */
#define MOUNT_CLIENTS_MAX 2048

/* Offset in bytes of cl_clid in struct rpc_clnt (include/linux/sunrpc/clnt.h): the second member, behind a count of 4 bytes,
 * from 3.9 to 7.3. A client that no call has shown is not believed. */
#define RPC_CLNT_NUMBER_AT 4
