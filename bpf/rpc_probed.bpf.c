// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The same programs for a kernel that has not the types of the loaded sunrpc: they are in a file. */
#define RPC_PROBE_READ
#include "rpc.bpf.c"
