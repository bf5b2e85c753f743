/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of one of sunrpc's transports as sysfs shows it: the file xprt_info
 * of net/sunrpc/sysfs.c (from 5.14).
 */
#ifndef XIDSCOPE_XPRT_INFO_H
#define XIDSCOPE_XPRT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xprt_info {
	uint32_t slots_max;
	uint32_t slots_allocated;
	uint32_t pending; /* calls that wait for their reply */
	uint32_t port; /* the peer's; 0 if there is none (a backchannel) */
	bool has_port; /* the file shows the port (from 5.18) */
	uint32_t local_port; /* 0 if it is not known */
};

/* @text holds @len bytes, lines "name=number". False if one of the first three
 * is missing. */
bool xprt_info_parse(struct xprt_info *info, const char *text, size_t len);

#endif
