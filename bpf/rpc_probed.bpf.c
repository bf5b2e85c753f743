// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The same programs for a kernel without the types of the loaded sunrpc: a file has them. */
#define RPC_PROBE_READ
#include "rpc.bpf.c"
