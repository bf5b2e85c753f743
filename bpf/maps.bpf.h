/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declarations of maps, one a line. Keys of arrays and values of queues are numbers. */
#pragma once

#include "kernel.h"
#include <bpf/bpf_helpers.h>

#define BPF_TABLE(name, kind, count, ...)   \
	struct {                            \
		__uint(type, kind);         \
		__uint(max_entries, count); \
		__VA_ARGS__                 \
	} name SEC(".maps")

#define BPF_HASH(name, count, key_type, value_type) \
	BPF_TABLE(name, BPF_MAP_TYPE_HASH, count, __type(key, key_type); __type(value, value_type);)
#define BPF_QUEUE(name, count) BPF_TABLE(name, BPF_MAP_TYPE_QUEUE, count, __type(value, __u32);)
/* Free numbers, last in, first out: high ones are rarely used. */
#define BPF_STACK(name, count) BPF_TABLE(name, BPF_MAP_TYPE_STACK, count, __type(value, __u32);)
#define BPF_RINGBUF(name, bytes) BPF_TABLE(name, BPF_MAP_TYPE_RINGBUF, bytes)
#define BPF_ARRAY(name, count, value_type) \
	BPF_TABLE(name, BPF_MAP_TYPE_ARRAY, count, __type(key, __u32); __type(value, value_type);)
/* One that user space reads in place. */
#define BPF_MAPPED_ARRAY(name, count, value_type)                                     \
	BPF_TABLE(name, BPF_MAP_TYPE_ARRAY, count, __uint(map_flags, BPF_F_MMAPABLE); \
		  __type(key, __u32); __type(value, value_type);)
