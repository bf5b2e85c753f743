// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the hook proves nothing where the first message hides who prints, that a message whose caller
 * has no name is not the driver's while no module of the driver is loaded, and that a cut message is not taken. */
#include <sys/stat.h>

#include "unit.h"
#include "faults/fault_authority.h"

#define PRINTK "printk_sprint\n_printk\n"

static enum printk_origin passed;
static bool loaded;
static unsigned int messages, offers;

/* Of a module of the driver. */
#define stat(path, st) ((void)(path), (st)->st_ino = 1, loaded ? 0 : -1)
#define fault_authority_message(authority, event, from) \
	((void)(authority), (void)(event), messages++, passed = (from))
#define fault_authority_offer(authority, who, here, ns) ((void)(authority), (void)(ns), offers++)
#include "faults/printk_hook.c"

static struct fault_authority authority;

static int take(struct printk_hook *h, const char *names)
{
	struct printk_event event = {};

	snprintf(event.names.text, sizeof(event.names.text), "%s", names);
	return on_event(h, &event, sizeof(event));
}

BEFORE_EACH()
{
	messages = offers = 0;
}

TEST(without_a_module_of_the_driver_no_message_is_unnamed)
{
	static const struct {
		const char *names;
		bool loaded;
		enum printk_origin origin;
	} cases[] = {
		{ PRINTK "nv_printf [nvidia]\n", false, PRINTK_ORIGIN_DRIVER },
		{ PRINTK "mount_fs\n", false, PRINTK_ORIGIN_OTHER },
		{ PRINTK "0xffffffffc0900010\n", false, PRINTK_ORIGIN_OTHER },
		{ PRINTK "0xffffffffc0900010\n", true, PRINTK_ORIGIN_UNKNOWN },
	};
	struct printk_hook h = { .authority = &authority };

	for (size_t i = 0; i < COUNT(cases); i++) {
		loaded = cases[i].loaded;
		assert_int_equal(take(&h, cases[i].names), 0);
		assert_int_equal(messages, i + 1);
		assert_int_equal(passed, cases[i].origin);
		assert_int_equal(h.unnamed, loaded);
	}
	assert_int_equal(offers, 1);
}

TEST(where_the_first_message_hides_who_prints_none_counts)
{
	struct printk_hook h = { .authority = &authority };

	take(&h, "console_unlock\nvprintk_emit\nvprintk_store\n");
	take(&h, PRINTK "nv_printf [nvidia]\n");
	assert_int_equal(messages + offers, 0);
	assert_false(printk_hook_shows(&h));
}

TEST(a_cut_message_is_not_taken_and_a_flood_ends)
{
	struct printk_event event = { .len = 1 };
	struct printk_hook h = { .authority = &authority, .callers = CALLERS_KNOWN };

	on_event(&h, &event, sizeof(event));
	event.len = 0;
	on_event(&h, &event, sizeof(event) - 1);
	assert_int_equal(messages, 0);
	h.read = READ_MAX - 2;
	assert_int_equal(take(&h, PRINTK), 0);
	assert_int_equal(take(&h, PRINTK), -1);
}
