// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bpf/printk.bpf.c counts each message that may be the driver's and does not reach user space. */
#include "bpf_natively.h"
#include "printk.bpf.c"
#include "unit.h"

#define LINE "NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus."

#define EVENT ((struct printk_event *)ring_record)

static char text[PRINTK_TEXT + 1];

BEFORE_EACH()
{
	memset(text, 'x', sizeof(text));
	printk_dropped = printk_others_dropped = 0;
	stack_now[0] = "printk_sprint";
	stack_now[1] = "nv_printf [nvidia]";
	stack_now[2] = NULL;
	naming_fails = 0;
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
	assert_memory_equal(EVENT->text, LINE, strlen(LINE));
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

/* @names are those that user space gets. */
static void assert_names(const char *names)
{
	memset(ring_record, 'x', sizeof(ring_record));
	message(0, strlen(LINE));
	assert_int_equal(EVENT->len, strlen(LINE));
	assert_string_equal(EVENT->names.text, names);
}

TEST(who_called_is_named_up_to_the_first_module)
{
	char name[PRINTK_NAME + 1] = "";

	assert_names("printk_sprint\nnv_printf [nvidia]\n");
	stack_now[2] = "rm_isr [nvidia]";
	assert_names("printk_sprint\nnv_printf [nvidia]\n");
	stack_now[1] = "mount_fs";
	assert_names("printk_sprint\nmount_fs\nrm_isr [nvidia]\n");
	/* One that has no room is cut, and is the last. */
	memset(name, 'y', PRINTK_NAME - 2);
	stack_now[1] = name;
	assert_names(formatted("printk_sprint\n%s\nrm_isr [nvidia]\n", name));
	name[PRINTK_NAME - 2] = 'y';
	assert_names(formatted("printk_sprint\n%s", name));
	name[PRINTK_NAME - 1] = 'y';
	assert_names(formatted("printk_sprint\n%.*s", PRINTK_NAME - 1, name));
	/* There is room for three of them. */
	name[PRINTK_NAME - 2] = name[PRINTK_NAME - 1] = '\0';
	stack_now[0] = stack_now[1] = stack_now[2] = name;
	assert_names(formatted("%s\n%s\n%s\n", name, name, name));
}

TEST(a_message_whose_callers_have_no_names_is_counted)
{
	naming_fails = -16; /* too many programs print at once on this CPU */
	message(0, strlen(LINE));
	assert_counts(0, 1, 0);
}

TEST(a_full_ring_buffer_is_counted_by_whose_message_it_was)
{
	static const struct {
		const char *caller;
		bool driver;
	} callers[] = {
		{ "nv_printf [nvidia]", true }, { "uvm_hal [nvidia_uvm]", true },
		{ "print [nvswitch]", true },   { "mount_fs", false },
		{ "nvme_reset [nvme]", false }, { "nvidia", false },
	};

	for (size_t i = 0; i < COUNT(callers); i++) {
		fresh();
		ring_room = 0;
		stack_now[1] = callers[i].caller;
		message(0, strlen(LINE));
		assert_counts(0, callers[i].driver, !callers[i].driver);
	}
}

TEST(others_leave_room_for_the_driver)
{
	ring_filled = PRINTK_OTHERS_BYTES;
	message(0, strlen(LINE));
	assert_counts(1, 0, 0);
	stack_now[1] = "mount_fs";
	message(0, strlen(LINE));
	assert_counts(1, 0, 1);
	ring_filled--;
	message(0, strlen(LINE));
	assert_counts(2, 0, 1);
}
