// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that an address and a port are written so that they can be told apart. */
#include "unit.h"
#include "snapshot/calls.h"

TEST(ipv6_is_in_brackets_if_there_is_a_port)
{
	static const struct {
		struct endpoint e;
		const char *text;
	} cases[] = {
		{ { "10.0.0.1", 2049 }, "10.0.0.1:2049" },
		{ { "fe80::1", 2049 }, "[fe80::1]:2049" },
		{ { "fe80::1%2", 1 }, "[fe80::1%2]:1" },
		{ { "fe80::1", 0 }, "fe80::1" },
		{ { "10.0.0.1", 0 }, "10.0.0.1" },
		{ { "", 801 }, ":801" },
		{ { "", 0 }, "" },
		{ { "1234:1234:1234:1234:1234:1234:1234:1234%12345678", 4294967295 },
		  "[1234:1234:1234:1234:1234:1234:1234:1234%1234567]:4294967295" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct endpoint e = cases[i].e;
		char text[ENDPOINT_SIZE];

		e.address[sizeof(e.address) - 1] = 0;
		assert_string_equal(endpoint_text(text, &e), cases[i].text);
	}
}
