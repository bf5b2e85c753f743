/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the programs on sunrpc's tracepoints read its structs. If the kernel has the types of the module, its verifier knows
 * what the arguments point to: a read is one instruction. Otherwise (RPC_PROBE_READ) the verifier takes the arguments for
 * numbers: a read is a call. */
#pragma once

#include "sunrpc.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* Whether the kernel's type has this field. */
#define HAS(type, field) bpf_core_field_exists(((struct type *)0)->field)

#ifdef RPC_PROBE_READ

#define TRACEPOINT(name) SEC("raw_tp/" name)

/* Fills the lower bytes if the field is smaller in this kernel. The conditional operator removes const from the type. */
#define FIELD(pointer, field)                                                                    \
	({                                                                                       \
		typeof(1 ? (pointer)->field : (pointer)->field) read_ = 0;                       \
		bpf_core_read(&read_, bpf_core_field_size((pointer)->field), &(pointer)->field); \
		read_;                                                                           \
	})

#else

#define TRACEPOINT(name) SEC("tp_btf/" name)
#define FIELD(pointer, field) ((pointer)->field)

#endif
