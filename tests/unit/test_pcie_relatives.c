// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that an Xid and a PCIe error are told of each other within the window
 * and not beyond it, whichever came first, and that a storm of one neither
 * pushes out the other nor writes beyond its room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults/pcie_relatives.h"

#define SECOND 1000000000ull
#define T0 (10000 * SECOND)

/* What is told of an Xid (or error, 0) at @time_ns; valid until the next call. */
static const char *tell(struct pcie_relatives *r, const char *device, unsigned int xid,
			uint64_t time_ns)
{
	static char json[1024];

	memset(json, 'x', sizeof(json));
	pcie_relatives_add(r, device, xid, time_ns, json, sizeof(json));
	return json;
}

static void the_error_tells_of_xids_before(void **state)
{
	struct pcie_relatives r = {};

	(void)state;
	assert_string_equal(tell(&r, "a", 79, T0), "");
	assert_string_equal(tell(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS),
			    ",\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":600.000}]");
	assert_string_equal(tell(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS + 5 * SECOND), "");
}

static void the_xid_tells_of_errors_before(void **state)
{
	struct pcie_relatives r = {};

	(void)state;
	assert_string_equal(tell(&r, "a", 0, T0), "");
	assert_string_equal(tell(&r, "a", 79, T0 + XID_AFTER_PCIE_NS),
			    ",\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":300.000}]");
	assert_string_equal(tell(&r, "a", 31, T0 + XID_AFTER_PCIE_NS + 1), "");
}

/* Reports may be read in another order than they were made in. */
static void what_is_read_late_counts_by_its_time(void **state)
{
	struct pcie_relatives r = {};

	(void)state;
	tell(&r, "a", 0, T0);
	assert_string_equal(tell(&r, "a", 79, T0 - XID_BEFORE_PCIE_NS),
			    ",\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":-600.000}]");
	assert_string_equal(tell(&r, "a", 31, T0 - XID_BEFORE_PCIE_NS - 1), "");
	assert_string_equal(tell(&r, "b", 31, T0), "");
	assert_string_equal(
		tell(&r, "b", 0, T0 - XID_AFTER_PCIE_NS),
		",\"xids\":[{\"device\":\"b\",\"xid\":31,\"seconds_before\":-300.000}]");
	assert_string_equal(tell(&r, "b", 0, T0 - XID_AFTER_PCIE_NS - 5 * SECOND), "");
}

static void other_devices_are_no_relatives(void **state)
{
	struct pcie_relatives r = {};

	(void)state;
	tell(&r, "a", 79, T0);
	assert_string_equal(tell(&r, "b", 0, T0), "");
	assert_string_equal(tell(&r, "", 0, T0), "");
	assert_string_equal(tell(&r, "", 79, T0), "");
	/* Nor are two of a kind. */
	assert_string_equal(tell(&r, "a", 31, T0), "");
	assert_string_equal(tell(&r, "b", 0, T0 + 9 * SECOND), "");
}

static void a_storm_pushes_nothing_out(void **state)
{
	struct pcie_relatives r = {};
	const char *json = "";

	(void)state;
	tell(&r, "a", 79, T0);
	for (uint64_t i = 0; i < 100000; i++)
		json = tell(&r, "a", 0, T0 + i * SECOND / 1000);
	assert_string_equal(json,
			    ",\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":99.999}]");
	/* The errors are one, and as late as the last. */
	assert_string_equal(tell(&r, "a", 31, T0 + 100 * SECOND),
			    ",\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":0.001}]");
}

static void the_oldest_gives_way(void **state)
{
	struct pcie_relatives r = {};
	const char *json;

	(void)state;
	for (unsigned int i = 1; i <= PCIE_RELATIVES + 3; i++)
		tell(&r, "a", i, T0);
	json = tell(&r, "a", 0, T0);
	assert_null(strstr(json, "\"xid\":4,"));
	assert_non_null(strstr(json, "\"xid\":5,"));
}

/* What does not fit is left out whole. */
static void the_list_keeps_to_its_room(void **state)
{
	const char entry[] = "{\"device\":\"a\",\"xid\":1000,\"seconds_before\":0.000}";
	char json[700];

	(void)state;
	for (size_t size = 1; size <= sizeof(json); size++) {
		struct pcie_relatives r = {};
		size_t len;

		for (unsigned int i = 0; i < PCIE_RELATIVES - 1; i++)
			tell(&r, "a", 1000 + i, T0);
		memset(json, 'x', sizeof(json));
		pcie_relatives_add(&r, "a", 0, T0, json, size);
		len = strlen(json);
		assert_true(len < size);
		for (size_t i = size; i < sizeof(json); i++)
			assert_int_equal(json[i], 'x');
		if (len) {
			assert_memory_equal(json, ",\"xids\":[", 9);
			assert_memory_equal(json + len - 2, "}]", 2);
			assert_int_equal((len - 9) % sizeof(entry), 0);
		}
		assert_true(size - len <= 9 + sizeof(entry) + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_error_tells_of_xids_before),
		cmocka_unit_test(the_xid_tells_of_errors_before),
		cmocka_unit_test(what_is_read_late_counts_by_its_time),
		cmocka_unit_test(other_devices_are_no_relatives),
		cmocka_unit_test(a_storm_pushes_nothing_out),
		cmocka_unit_test(the_oldest_gives_way),
		cmocka_unit_test(the_list_keeps_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
