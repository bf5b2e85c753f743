// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel log as it is written: messages that may be the NVIDIA driver's go to user space, which decides what they are.
 *
 * From 5.19 (commit 5aa7eea9316c) the kernel calls printk:console in the context of the code that prints, which may be an
 * NMI, and the text has no NUL; before that, only when a console prints. Nothing here may sleep or wait: if the ring buffer
 * is full, the message is counted and dropped. */
#include "maps.bpf.h"
#include "printk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Marks of the driver's lines: the first four bytes of "NVRM:" and of "SXid", and those of "nvswitch".
 * The rest of the kernel does not print them. */
#define MARK_NVRM 0x4d52564e /* little-endian "NVRM" */
#define MARK_SXID 0x64695853 /* little-endian "SXid" */
#define MARK_NVSW 0x7773766e /* little-endian "nvsw" */

/* Messages with a mark for which the ring buffer had no room: they may be the driver's, or no module of the driver is
 * on their stack. The first also counts those that could not be read, whose origin is not known. */
__u64 printk_dropped = 0;
__u64 printk_others_dropped = 0;

/* Set by user space. A flood of other messages must leave room for the driver's. */
struct printk_range printk_driver[PRINTK_DRIVER_RANGES] = {};
bool printk_driver_known = false; /* false: each message may be its */

BPF_RINGBUF(printk_ring, PRINTK_RING_BYTES);

#define CHUNK 128
#define OVERLAP 3 /* a mark may begin at a chunk's end */

/* 0x80000000 if @x is 0. The search has no branches, because the verifier would follow
 * each of them through the rest of the program. */
static __always_inline __u32 is_zero(__u32 x)
{
	return (x - 1) & ~x & 0x80000000;
}

/* Whether there is a mark in the @size bytes (1 to CHUNK) at @address; -1: they cannot be read. They are copied to the
 * stack: an NMI that interrupts this program would use the same scratch map. It is a global function because the verifier
 * checks that once, not once per call. */
__noinline int chunk_has_mark(__u64 address, __u64 size)
{
	__u32 window = 0, found = 0;
	char chunk[CHUNK] = {};

	if (!size || size > CHUNK)
		return 0;
	if (bpf_probe_read_kernel(chunk, size, (const void *)address))
		return -1;
	for (__u32 i = 0; i < CHUNK; i++) {
		window = window >> 8 | (__u32)(__u8)chunk[i] << 24;
		found |= is_zero(window ^ MARK_NVRM) | is_zero(window ^ MARK_SXID) |
			 is_zero(window ^ MARK_NVSW);
	}
	return found != 0;
}

/* Searches the whole message: the mark need not be at its beginning, because a message
 * without a level is appended to an unfinished line. A global function for the same reason. */
__noinline int has_mark(__u64 address, __u64 len)
{
	__u64 size;
	int found;

	for (__u32 start = 0; start < PRINTK_TEXT; start += CHUNK - OVERLAP) {
		if (start >= len)
			break;
		size = len - start;
		if (size > CHUNK)
			size = CHUNK;
		found = chunk_has_mark(address + start, size);
		if (found < 0)
			__sync_fetch_and_add(&printk_dropped, 1);
		if (found)
			return found > 0;
	}
	return 0;
}

/* 1 if @a < @b, else 0, without a branch. */
static __always_inline __u64 is_below(__u64 a, __u64 b)
{
	return ((~a & b) | ((~a | b) & (a - b))) >> 63;
}

/* Whether @address lies in the driver. A global function for the same reason. It has no branch: verifiers before 6.2 compare
 * all scalars of a program that has functions, and followed the 16 branches through more than a million instructions. */
__noinline int is_in_driver(__u64 address)
{
	__u64 found = 0;

	for (__u32 i = 0; i < PRINTK_DRIVER_RANGES; i++)
		found |= is_below(address - printk_driver[i].begin,
				  printk_driver[i].end - printk_driver[i].begin);
	return (int)found;
}

/* Whether the driver is on the stack, or may be. The first address is this program's own, which may lie within the
 * size of a module of the driver. */
static __always_inline bool may_be_driver(const __u64 *stack, long size)
{
	int found = size <= 0 || !printk_driver_known;

	for (__u32 i = 1; i < PRINTK_STACK; i++)
		found |= is_in_driver(stack[i]);
	return found;
}

/* @room is a constant, at least @len. */
static __always_inline int send(void *ctx, const char *text, __u32 len, __u32 room)
{
	__u64 stack[PRINTK_STACK] = {};
	struct printk_event *event = NULL;
	bool driver;
	long size;

	size = bpf_get_stack(ctx, stack, sizeof(stack), 0);
	driver = may_be_driver(stack, size);
	if (driver || bpf_ringbuf_query(&printk_ring, BPF_RB_AVAIL_DATA) < PRINTK_OTHERS_BYTES)
		event = bpf_ringbuf_reserve(&printk_ring, sizeof(*event) + room, 0);
	if (!event) {
		__sync_fetch_and_add(driver ? &printk_dropped : &printk_others_dropped, 1);
		return 0;
	}
	event->len = len;
	if (bpf_probe_read_kernel(event->text, len, text)) {
		__sync_fetch_and_add(&printk_dropped, 1);
		bpf_ringbuf_discard(event, 0);
		return 0;
	}
	event->time = bpf_ktime_get_ns();
	event->pid = bpf_get_current_pid_tgid() >> 32;
	if (bpf_get_current_comm(event->comm, sizeof(event->comm)))
		event->comm[0] = 0;
	__builtin_memcpy(event->stack, stack, sizeof(stack));
	event->depth = size > 0 ? (__u32)size / sizeof(stack[0]) : 0;
	bpf_ringbuf_submit(event, 0);
	return 0;
}

/* Reads the raw arguments, const char *text and size_t len, and needs no BTF. */
SEC("raw_tp/console")
int printk_console(__u64 *ctx)
{
	const char *text = (const char *)ctx[0];
	__u64 len = ctx[1];

	if (len > PRINTK_TEXT)
		len = PRINTK_TEXT;
	if (!has_mark((__u64)text, len))
		return 0;
	if (len <= PRINTK_SHORT)
		return send(ctx, text, len, PRINTK_SHORT);
	return send(ctx, text, len, PRINTK_TEXT);
}
