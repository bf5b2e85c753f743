/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the negative status with which an RPC task of the NFS client ends. */
#ifndef XIDSCOPE_NFS_STATUS_H
#define XIDSCOPE_NFS_STATUS_H

#include <stddef.h>

/* Writes the name of @status (tk_status, negative) to @name of @size bytes:
 * an errno ("EIO"), one of the kernel's internal ones ("EJUKEBOX"), an NFSv4
 * error ("NFS4ERR_DELAY", RFC 8881 section 15.1), or the number. */
void nfs_status_name(int status, char *name, size_t size);

#endif
