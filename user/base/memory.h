/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#pragma once

/* Gives back the pages of the program itself, code and constants, most of which serve the start alone: libbpf, BPF objects.
 * The kernel maps those that are used again from its page cache. */
void memory_drop_program(void);
