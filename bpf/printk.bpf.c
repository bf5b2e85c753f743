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

/* How the names of the driver's modules begin: " [nvidia" and " [nvswit", little-endian. */
#define NAME_NVIDIA 0x61696469766e5b20
#define NAME_NVSWITCH 0x74697773766e5b20

/* Messages with a mark for which the ring buffer had no room: the driver's, and others'. The first also counts those
 * whose text or callers could not be read. */
__u64 printk_dropped = 0;
__u64 printk_others_dropped = 0;

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

/* Whether a module of the driver is among @names. A flood of other messages must leave room for the driver's. A global
 * function for the same reason. */
__noinline int has_driver(const struct printk_names *names)
{
	__u64 window = 0, found = 0, x, y;

	if (!names)
		return 0;
	for (__u32 i = 0; i < PRINTK_NAMES; i++) {
		window = window >> 8 | (__u64)(__u8)names->text[i] << 56;
		x = window ^ NAME_NVIDIA;
		y = window ^ NAME_NVSWITCH;
		found |= ((x - 1) & ~x) | ((y - 1) & ~y);
	}
	return (int)(found >> 63);
}

/* Names who called: user space would be late, as modules come and go. False: the kernel does not show it, for example
 * because too many programs on this CPU print names. */
static __always_inline bool name_callers(void *ctx, struct printk_names *names)
{
	static const char line[] = "%ps\n";
	__u64 stack[PRINTK_STACK] = {};
	__u32 at = 0;

	/* Without send(). This program's name comes first. */
	if (bpf_get_stack(ctx, stack, sizeof(stack), 1) <= 0)
		return false;
	for (__u32 i = 0; i < PRINTK_STACK && stack[i] && at <= PRINTK_NAMES - PRINTK_NAME; i++) {
		__s64 size = bpf_snprintf(names->text + at, PRINTK_NAME, line, &stack[i],
					  sizeof(stack[i]));

		if (size < 3)
			return false;
		if (size > PRINTK_NAME)
			break;
		at += size - 1;
		if (names->text[at - 2] == ']')
			break;
	}
	return true;
}

/* @room is a constant, at least @len. */
static __noinline int send(void *ctx, const char *text, __u64 len, __u64 room)
{
	struct printk_event *event = NULL;
	struct printk_names names = {};
	bool driver;

	if (!name_callers(ctx, &names)) {
		__sync_fetch_and_add(&printk_dropped, 1);
		return 0;
	}
	driver = has_driver(&names);
	if (driver || bpf_ringbuf_query(&printk_ring, BPF_RB_AVAIL_DATA) < PRINTK_OTHERS_BYTES)
		event = bpf_ringbuf_reserve(&printk_ring, sizeof(*event) + room, 0);
	if (!event) {
		__sync_fetch_and_add(driver ? &printk_dropped : &printk_others_dropped, 1);
		return 0;
	}
	event->len = len;
	if (bpf_probe_read_kernel(event->text, len, text) ||
	    bpf_probe_read_kernel(&event->names, sizeof(names), &names)) {
		__sync_fetch_and_add(&printk_dropped, 1);
		bpf_ringbuf_discard(event, 0);
		return 0;
	}
	event->time = bpf_ktime_get_ns();
	event->pid = bpf_get_current_pid_tgid() >> 32;
	if (bpf_get_current_comm(event->comm, sizeof(event->comm)))
		event->comm[0] = 0;
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
