/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compiles BPF programs for this machine, so that a unit test can call their functions: what they use of libbpf's
 * headers, with maps in plain memory. At each helper and each read of the kernel's memory, a test can have something
 * else happen first, as if another CPU were between the two. Include it before all else, then bpf/NAME.bpf.c, then
 * unit.h. */
#pragma once

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* Instead of libbpf's headers. */
#define __BPF_HELPERS__
#define __BPF_TRACING_H__
#define __BPF_CORE_READ_H__
#define __BPF_ENDIAN__

#include "kernel.h"

/* What the compiler has; <stdlib.h> and <string.h> would bring a second `bool`. */
#define zeros(count, size) __builtin_calloc(count, size)
#define copy(to, from, size) __builtin_memcpy(to, from, size)
#define differ(one, other, size) __builtin_memcmp(one, other, size)

/* BPF's own assembler does nothing here that the compiler does not do. */
#define asm
#define volatile(...)

#define SEC(name)
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __uint(name, value) int(*name)[value]
#define __type(name, type) typeof(type) *name
#define barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define barrier_var(variable) barrier()
#define BPF_PROG(name, ...) name(__VA_ARGS__)

/* ---- what happens in between ---- */

static unsigned int steps; /* helpers called and values read, since the test has set it to 0 */
static unsigned int meanwhile_at; /* before which of them meanwhile() is called, from 1 */
static void (*meanwhile)(void);

static void step(void)
{
	if (++steps == meanwhile_at)
		meanwhile();
}

/* ---- reads of the kernel's memory ---- */

static const void *unreadable; /* this address */

static long probe_read(void *to, __u32 size, const void *from)
{
	step();
	if (!from || from == unreadable) {
		__builtin_memset(to, 0, size);
		return -14;
	}
	copy(to, from, size);
	return 0;
}

static long probe_read_text(void *to, __u32 size, const void *from)
{
	long len;

	step();
	if (!from)
		return -14;
	len = __builtin_snprintf(to, size, "%s", (const char *)from) + 1;
	return len < size ? len : size;
}

#define bpf_probe_read_kernel(to, size, from) probe_read(to, size, from)
#define bpf_probe_read_kernel_str(to, size, from) probe_read_text(to, size, from)
#define bpf_core_read(to, size, from) probe_read(to, size, from)
#define bpf_core_field_exists(field) 1
#define bpf_core_type_exists(type) 1
#define bpf_core_field_size(type, field) sizeof(((type *)0)->field)
#define bpf_core_field_offset(type, field) __builtin_offsetof(type, field)
#define bpf_ntohs(x) __builtin_bswap16(x)

/* 0 of what cannot be read, as BPF_CORE_READ() has it. */
#define READ_FIELD(pointer, field)                       \
	({                                               \
		typeof((pointer)->field + 0) value_ = 0; \
		__auto_type from_ = pointer;             \
		step();                                  \
		if (from_)                               \
			value_ = from_->field;           \
		value_;                                  \
	})
#define READ_1(pointer, field) READ_FIELD(pointer, field)
#define READ_2(pointer, first, field) READ_FIELD(READ_FIELD(pointer, first), field)
#define READ_OF(_1, _2, read, ...) read
#define BPF_CORE_READ(pointer, ...) READ_OF(__VA_ARGS__, READ_2, READ_1, )(pointer, __VA_ARGS__)

/* ---- maps ---- */

struct native_map {
	const void *map;
	unsigned int max_entries, key_size, value_size;
	unsigned char *keys, *values, *used; /* an array needs only values */
	unsigned int count; /* of a hash map or a queue */
};

static struct native_map native_maps[32];

#define MAP(m)                                                                                   \
	native_map(m, sizeof(*(m)->type) / sizeof(int), sizeof(*(m)->max_entries) / sizeof(int), \
		   sizeof(*(m)->key), sizeof(*(m)->value))

static struct native_map *native_map(const void *map, unsigned int type, unsigned int max_entries,
				     unsigned int key_size, unsigned int value_size)
{
	struct native_map *m = native_maps;

	step();
	while (m->map && m->map != map)
		m++;
	if (m->map)
		return m;
	*m = (struct native_map){ .map = map, .max_entries = max_entries };
	m->key_size = key_size;
	m->value_size = value_size;
	m->values = zeros(max_entries, value_size);
	if (type == BPF_MAP_TYPE_HASH) {
		m->keys = zeros(max_entries, key_size);
		m->used = zeros(max_entries, 1);
	}
	return m;
}

/* The number of @key's entry, or max_entries. */
static unsigned int native_find(const struct native_map *m, const void *key)
{
	unsigned int i;

	if (!m->keys)
		return *(const __u32 *)key;
	for (i = 0; i < m->max_entries; i++)
		if (m->used[i] && !differ(m->keys + (__u64)i * m->key_size, key, m->key_size))
			break;
	return i;
}

static void *native_lookup(struct native_map *m, const void *key)
{
	unsigned int i = native_find(m, key);

	return i < m->max_entries ? m->values + (__u64)i * m->value_size : NULL;
}

static long native_update(struct native_map *m, const void *key, const void *value, __u64 flags)
{
	unsigned int i = native_find(m, key);

	if (i < m->max_entries && flags == BPF_NOEXIST)
		return -17;
	for (i = i < m->max_entries || !m->keys ? i : 0; m->keys && i < m->max_entries; i++)
		if (!m->used[i] || !differ(m->keys + (__u64)i * m->key_size, key, m->key_size))
			break;
	if (i >= m->max_entries)
		return -7;
	copy(m->values + (__u64)i * m->value_size, value, m->value_size);
	if (m->keys) {
		copy(m->keys + (__u64)i * m->key_size, key, m->key_size);
		m->count += !m->used[i];
		m->used[i] = 1;
	}
	return 0;
}

static long native_delete(struct native_map *m, const void *key)
{
	unsigned int i = native_find(m, key);

	if (i >= m->max_entries)
		return -2;
	m->used[i] = 0;
	m->count--;
	return 0;
}

#define bpf_map_lookup_elem(map, key) native_lookup(MAP(map), key)
#define bpf_map_update_elem(map, key, value, flags) native_update(MAP(map), key, value, flags)
#define bpf_map_delete_elem(map, key) native_delete(MAP(map), key)

/* A queue has no keys, and here no order. */
#define QUEUE(m) native_map(m, 0, sizeof(*(m)->max_entries) / sizeof(int), 0, sizeof(*(m)->value))

static long native_pop(struct native_map *m, void *value)
{
	if (!m->count)
		return -2;
	copy(value, m->values + (__u64)--m->count * m->value_size, m->value_size);
	return 0;
}

static long native_push(struct native_map *m, const void *value)
{
	if (m->count == m->max_entries)
		return -7;
	copy(m->values + (__u64)m->count++ * m->value_size, value, m->value_size);
	return 0;
}

#define bpf_map_pop_elem(map, value) native_pop(QUEUE(map), value)
#define bpf_map_peek_elem(map, value) (QUEUE(map)->count ? 0 : -2)
#define bpf_map_push_elem(map, value, flags) native_push(QUEUE(map), value)

/* Empties all maps. */
static void maps_clear(void)
{
	for (struct native_map *m = native_maps; m->map; m++) {
		__builtin_free(m->keys);
		__builtin_free(m->values);
		__builtin_free(m->used);
		m->map = NULL;
	}
}

/* ---- ring buffers: one record at a time ---- */

static unsigned char ring_record[4096] __attribute__((aligned(8)));
static __u64 ring_room = sizeof(ring_record); /* bytes that are free */
static __u64 ring_filled; /* bytes that are taken */
static unsigned int ring_submitted, ring_discarded;

static void *ring_reserve(__u64 size)
{
	step();
	return size <= ring_room && size <= sizeof(ring_record) ? ring_record : NULL;
}

#define bpf_ringbuf_reserve(ring, size, flags) ring_reserve(size)
#define bpf_ringbuf_submit(record, flags) ((void)(record), ring_submitted++)
#define bpf_ringbuf_discard(record, flags) ((void)(record), ring_discarded++)
#define bpf_ringbuf_query(ring, what) (ring_filled)

/* ---- other helpers ---- */

static __u64 now_ns = 1000;
static const char
	*stack_now[4]; /* the addresses of those who called, which here are those of their names */
static long naming_fails; /* what bpf_snprintf() returns; 0: it does not fail */
static const void *self_now; /* the struct task_struct that runs */

#define bpf_ktime_get_ns() (now_ns)
#define bpf_get_smp_processor_id() 0u
#define bpf_get_current_task() ((__u64)self_now)
#define bpf_get_current_pid_tgid() ((__u64)7 << 32)
#define bpf_get_current_comm(to, size) (__builtin_memset(to, 0, size), 0)
#define bpf_get_stack(ctx, to, size, flags) \
	((long)(copy(to, stack_now, sizeof(stack_now)), sizeof(stack_now)))
#define bpf_snprintf(to, size, format, values, values_size) \
	(naming_fails ?: __builtin_snprintf(to, size, "%s\n", *(const char **)(values)) + 1)
