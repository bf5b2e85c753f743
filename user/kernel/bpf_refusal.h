/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why the kernel refused a BPF program: from what libbpf and the verifier wrote
 * to the kernel feature that is missing.
 */
#ifndef XIDSCOPE_BPF_REFUSAL_H
#define XIDSCOPE_BPF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names in @feature, of @size bytes, the kernel feature that is missing or
 * refused by @words: libbpf's messages of one failure, of which the beginning may
 * be lost. Knows those of libbpf 1.1 and of kernels from 5.10 on; of another
 * refusal by the verifier, its verdict is given. Returns whether anything could
 * be told.
 */
bool bpf_refusal_explain(char *feature, size_t size, const char *words);

#endif
