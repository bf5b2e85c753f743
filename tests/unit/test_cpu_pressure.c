// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the time for which tasks waited for a CPU is read, and that anything else is unknown. */
#include "made_up_tree.h"
#include "base/process.h"

#define FILE_OF_CPU "/proc/pressure/cpu"

TEST(the_total_of_some_is_read_in_nanoseconds)
{
	put(FILE_OF_CPU, "some avg10=0.00 avg60=1.25 avg300=12.50 total=123456789012\n"
			 "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
	assert_int_equal(cpu_pressure_waiting_ns(root), UINT64_C(123456789012000));
}

TEST(a_kernel_without_it_says_nothing)
{
	assert_int_equal(cpu_pressure_waiting_ns(root), 0);
	put(FILE_OF_CPU, "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
	assert_int_equal(cpu_pressure_waiting_ns(root), 0);
	put(FILE_OF_CPU, "some avg10=0.00\n");
	assert_int_equal(cpu_pressure_waiting_ns(root), 0);
}
