// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves what the records of bpf/kernel_events.bpf.c become: signals with their device, severity and text, reports of the driver, and
 * loads of its module. That the kernel gives such records is proved in guests. */
#include "unit.h"
#include "faults/fault_observer.h"

static char told[400];
static struct driver_report reported;
static uint64_t load_began;
static int gaps;

static void tell(const struct fault_signal_report *s)
{
	snprintf(told, sizeof(told), "%s %s %s %d %s %s %lu", s->kind, s->device ?: "-",
		 s->severity ?: "-", s->pid, s->comm ?: "-", s->text, s->time_ns);
}

#define fault_events_add_signal(events, signal) ((void)(events), tell(signal))
#define fault_events_load_begins(events, time) ((void)(events), load_began = (time))
#define fault_authority_report(authority, report) ((void)(authority), reported = *(report))
#define fault_authority_gap(authority, kind, time) \
	((void)(authority), (void)(time), gaps += (kind) == AUTHORITY_DRIVER)
#include "faults/trace_events.c"

static const char *signal_of(struct traced_event e, const char *name)
{
	static struct fault_events counted;
	static struct trace_events t;

	t.counted = &counted;
	counted.load_begin_ns = 9;
	e.time = 42;
	strcpy(e.name, name);
	*told = 0;
	assert_int_equal(on_event(&t, &e, sizeof(e)), 0);
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s",
		 t.modules_changed ? "modules" : "", counted.load_begin_ns ? "" : " gone");
	t.modules_changed = false;
	return told;
}

TEST(a_signal_has_its_device_severity_and_text)
{
	static const char *const severities[] = { "warning PCIe error: severity nonfatal",
						  "fatal PCIe error: severity fatal",
						  "info PCIe error: severity corrected",
						  "unknown PCIe error: severity unknown",
						  "unknown PCIe error: severity unknown" };

	for (unsigned int i = 0; i < COUNT(severities); i++) {
		char severity[16], text[64];

		assert_int_equal(sscanf(severities[i], "%15s %63[^\n]", severity, text), 2);
		assert_string_equal(
			signal_of((struct traced_event){ .event = EVENT_AER,
							 .status = 0x4000,
							 .severity = i },
				  "0000:c1:00.0"),
			formatted("pcie_aer 0000:c1:00.0 %s -1 - %s, status 0x00004000 42",
				  severity, text));
	}
	assert_string_equal(
		signal_of((struct traced_event){ .event = EVENT_MCE,
						 .status = 1ull << 61 | 5,
						 .address = 0xabc,
						 .cpu = 3,
						 .bank = 7 },
			  ""),
		"mce cpu3 warning -1 - machine check: bank 7, status 0x2000000000000005, address 0xabc 42");
	assert_has(signal_of((struct traced_event){ .event = EVENT_MCE }, ""), "mce cpu0 info ");
	assert_string_equal(
		signal_of((struct traced_event){ .event = EVENT_OOM, .pid = 4711 }, "python"),
		"oom_kill - - 4711 python killed because memory ran out: python, pid 4711 42");
	assert_string_equal(
		signal_of((struct traced_event){ .event = EVENT_HANG, .pid = 4712 }, "dd"),
		"hung_task - - 4712 dd task hangs: dd, pid 4712 42");
}

TEST(a_report_of_the_driver_has_its_gpu)
{
	signal_of((struct traced_event){ .event = EVENT_XID, .status = 79 }, "0000:c1:00.0");
	assert_printed("0000:c1:00.0 79 42 0", "%s %u %lu %d", reported.device, reported.code,
		       reported.time_ns, gaps);
	signal_of((struct traced_event){ .event = EVENT_XID, .status = 79 }, "");
	assert_int_equal(gaps, 1);
}

TEST(the_drivers_module_comes_and_goes)
{
	assert_string_equal(signal_of((struct traced_event){ .event = EVENT_MODULE_LOAD }, "nfs"),
			    "modules");
	assert_int_equal(load_began, 0);
	signal_of((struct traced_event){ .event = EVENT_MODULE_LOAD }, "nvidia");
	assert_int_equal(load_began, 42);
	assert_string_equal(
		signal_of((struct traced_event){ .event = EVENT_MODULE_FREE }, "nvidia"),
		"modules gone");
	assert_string_equal(signal_of((struct traced_event){ .event = 99 }, "nvidia"), "");
}
