// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bpf/printk.bpf.c counts each message that may be the driver's and does not reach user space. */
#include "bpf_natively.h"
#include "printk.bpf.c"
#include "unit.h"

#define LINE "NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus."

static char text[PRINTK_TEXT + 1];

BEFORE_EACH()
{
	memset(text, 'x', sizeof(text));
	printk_dropped = printk_others_dropped = 0;
	printk_driver_known = false;
	memset(printk_driver, 0, sizeof(printk_driver));
	ring_submitted = ring_discarded = 0;
	ring_room = sizeof(ring_record);
	ring_filled = 0;
	unreadable = NULL;
	meanwhile_at = 0;
}

/* A message of @len bytes with a mark at @at. */
static void message(size_t at, __u64 len)
{
	__u64 ctx[2] = { (__u64)text, len };

	memcpy(text + at, LINE, strlen(LINE));
	printk_console(ctx);
}

static void assert_counts(unsigned int submitted, __u64 dropped, __u64 others)
{
	assert_int_equal(ring_submitted, submitted);
	assert_int_equal(printk_dropped, dropped);
	assert_int_equal(printk_others_dropped, others);
}

TEST(a_mark_is_found_wherever_it_is)
{
	for (size_t at = 0; at + strlen(LINE) <= PRINTK_TEXT; at++) {
		fresh();
		message(at, PRINTK_TEXT);
		assert_counts(1, 0, 0);
	}
	fresh();
	message(0, strlen(LINE));
	assert_counts(1, 0, 0);
	assert_memory_equal(((struct printk_event *)ring_record)->text, LINE, strlen(LINE));
}

TEST(what_has_no_mark_is_no_loss)
{
	__u64 ctx[2] = { (__u64)text, PRINTK_TEXT };

	ring_room = 0;
	printk_console(ctx);
	assert_counts(0, 0, 0);
}

TEST(a_message_that_cannot_be_read_is_counted)
{
	unreadable = text;
	message(0, strlen(LINE));
	assert_counts(0, 1, 0);
	/* Nor can its rest. */
	fresh();
	unreadable = text + CHUNK - OVERLAP;
	message(CHUNK, 2 * CHUNK);
	assert_counts(0, 1, 0);
}

static void text_goes_away(void)
{
	unreadable = text;
}

TEST(a_message_that_cannot_be_copied_is_counted)
{
	steps = 0;
	meanwhile_at = 3; /* searched, reserved, copied */
	meanwhile = text_goes_away;
	message(0, strlen(LINE));
	assert_counts(0, 1, 0);
	assert_int_equal(ring_discarded, 1);
}

TEST(a_full_ring_buffer_is_counted_by_whose_message_it_was)
{
	ring_room = 0;
	message(0, strlen(LINE));
	assert_counts(0, 1, 0); /* it may be the driver's */
	printk_driver_known = true;
	printk_driver[3] = (struct printk_range){ 4096, 8192 };
	stack_now[0] = 100;
	stack_now[1] = 8192;
	message(0, strlen(LINE));
	assert_counts(0, 1, 1);
	stack_now[1] = 8191;
	message(0, strlen(LINE));
	assert_counts(0, 2, 1);
}

TEST(others_leave_room_for_the_driver)
{
	printk_driver_known = true;
	printk_driver[0] = (struct printk_range){ 4096, 8192 };
	ring_filled = PRINTK_OTHERS_BYTES;
	stack_now[0] = 5000; /* this program itself */
	stack_now[1] = 100;
	message(0, strlen(LINE));
	assert_counts(0, 0, 1);
	stack_now[1] = 5000;
	message(0, strlen(LINE));
	assert_counts(1, 0, 1);
}
