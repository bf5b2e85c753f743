// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that an Xid and a PCIe error list each other within the window and not beyond it, whichever came first, and
 * that a storm of one does not displace the other. */
#include "unit.h"
#include "faults/recognise/recognise.h"

#define T0 (10000 * SECOND)

/* The member of an Xid (or error, 0) at @time_ns; valid until the next call. */
static const char *add(struct pcie_relatives *r, const char *device, unsigned int xid,
		       uint64_t time_ns)
{
	static char text[8192];
	struct json j = { .out = fmemopen(text, sizeof(text), "w") };

	assert_non_null(j.out);
	text[0] = 0;
	pcie_relatives_add(r, device, xid, time_ns, &j);
	assert_int_equal(fclose(j.out), 0);
	return text;
}

TEST(an_error_lists_xids_before)
{
	struct pcie_relatives r = {};

	assert_string_equal(add(&r, "a", 79, T0), "");
	assert_string_equal(add(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS),
			    "\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":600.000}]");
	assert_string_equal(add(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS + 5 * SECOND), "");
}

TEST(an_xid_lists_errors_before)
{
	struct pcie_relatives r = {};

	assert_string_equal(add(&r, "a", 0, T0), "");
	assert_string_equal(add(&r, "a", 79, T0 + XID_AFTER_PCIE_NS),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":300.000}]");
	assert_string_equal(add(&r, "a", 31, T0 + XID_AFTER_PCIE_NS + 1), "");
}

/* Reports may be read in another order than they were made in. */
TEST(what_is_read_late_counts_by_its_time)
{
	struct pcie_relatives r = {};

	add(&r, "a", 0, T0);
	assert_string_equal(add(&r, "a", 79, T0 - XID_BEFORE_PCIE_NS),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":-600.000}]");
	assert_string_equal(add(&r, "a", 31, T0 - XID_BEFORE_PCIE_NS - 1), "");
	assert_string_equal(add(&r, "b", 31, T0), "");
	assert_string_equal(add(&r, "b", 0, T0 - XID_AFTER_PCIE_NS),
			    "\"xids\":[{\"device\":\"b\",\"xid\":31,\"seconds_before\":-300.000}]");
	assert_string_equal(add(&r, "b", 0, T0 - XID_AFTER_PCIE_NS - 5 * SECOND), "");
}

TEST(other_devices_are_no_relatives)
{
	struct pcie_relatives r = {};

	add(&r, "a", 79, T0);
	assert_string_equal(add(&r, "b", 0, T0), "");
	assert_string_equal(add(&r, "", 0, T0), "");
	assert_string_equal(add(&r, "", 79, T0), "");
	/* Nor are two of a kind. */
	assert_string_equal(add(&r, "a", 31, T0), "");
	assert_string_equal(add(&r, "b", 0, T0 + 9 * SECOND), "");
}

TEST(a_storm_displaces_nothing)
{
	struct pcie_relatives r = {};
	const char *json = "";

	add(&r, "a", 79, T0);
	for (uint64_t i = 0; i < 100000; i++)
		json = add(&r, "a", 0, T0 + i * SECOND / 1000);
	assert_string_equal(json,
			    "\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":99.999}]");
	/* The errors are one, and as late as the last. */
	assert_string_equal(add(&r, "a", 31, T0 + 100 * SECOND),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":0.001}]");
}

TEST(the_oldest_is_replaced)
{
	struct pcie_relatives r = {};
	const char *json;

	for (unsigned int i = 1; i <= PCIE_RELATIVES + 3; i++)
		add(&r, "a", i, T0);
	json = add(&r, "a", 0, T0);
	assert_lacks(json, "\"xid\":4,");
	assert_has(json, "\"xid\":5,");
}
