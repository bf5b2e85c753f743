// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A security module that refuses one BPF program, by name, after the verifier has passed it: for tests/vm/refuse.c. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define EACCES 13

struct bpf_prog_aux {
	char name[16];
} __attribute__((preserve_access_index));

struct bpf_prog {
	struct bpf_prog_aux *aux;
} __attribute__((preserve_access_index));

/* Set before loading: as the kernel keeps it, cut, and filled with zeros. */
const volatile __u64 name_to_refuse[2] = {};

SEC("fmod_ret/security_bpf_prog")
int BPF_PROG(refuse, struct bpf_prog *program, int ret)
{
	__u64 name[2] = {};

	BPF_CORE_READ_INTO(&name, program, aux, name);
	return name[0] == name_to_refuse[0] && name[1] == name_to_refuse[1] ? -EACCES : ret;
}
