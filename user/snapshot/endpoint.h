/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One end of a connection: address and port, as people write them.
 */
#ifndef XIDSCOPE_ENDPOINT_H
#define XIDSCOPE_ENDPOINT_H

#include <stdint.h>

#include "rpc.h"

struct endpoint {
	char address[RPC_ADDRESS_LEN]; /* "10.0.0.1", "fd00::1"; "": unknown */
	uint32_t port; /* 0: unknown */
};

/* Room for an address with its brackets, a colon, a port and a NUL. */
#define ENDPOINT_SIZE (RPC_ADDRESS_LEN + 2 + 1 + 10)

/* Writes "10.0.0.1:2049" or "[fd00::1]:2049" to @text of ENDPOINT_SIZE bytes, which it
 * returns; without the part that is unknown. */
const char *endpoint_text(char *text, const struct endpoint *e);

#endif
