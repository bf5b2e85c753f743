/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why the kernel refused a BPF program: finds the kernel feature that is missing in
 * the messages of libbpf and the verifier.
 */
#ifndef XIDSCOPE_BPF_REFUSAL_H
#define XIDSCOPE_BPF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes to @feature, of @size bytes, the kernel feature that is missing or
 * refused according to @words: libbpf's messages of one failure, whose beginning
 * may be lost. Understands those of libbpf 1.1 and of kernels from 5.10 on; of any
 * other refusal by the verifier it gives the verdict. Returns false if there is
 * nothing to report.
 */
bool bpf_refusal_explain(char *feature, size_t size, const char *words);

#endif
