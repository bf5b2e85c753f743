// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a text has the form of who it names. */
#include "base/span.h"
#include "faults/recognise/recognise.h"
#include "kernel/kernel_log.h"

/* The messages of the driver that quote more than the name of a process: up to 63 bytes that a process calls its
 * version, through /dev/nvidiactl or /dev/nvidia-nvswitchctl, which everyone may open. */
static const char *const quoting[] = { "NVRM: API mismatch", "nvidia-nvswitch: Version mismatch" };

bool form_of_call(const char *text, size_t len, const char *at)
{
	struct span call = { text, text + len };

	return at == text || (at[-1] == '\n' && !span_starts_with(call, quoting[0]) &&
			      !span_starts_with(call, quoting[1]));
}

static bool begins_record(const struct kmsg_record *record, const char *text, const char *at)
{
	return !record->facility && at == text;
}

bool form_of_fault(const struct kmsg_record *record, const char *text, const struct xid_line *line)
{
	return begins_record(record, text, line->header) &&
	       (line->kind != XID_LINE_XID || record->continued);
}

/* Who may set its rules chooses up to 127 bytes before what it prints: nf_log_*() in net/netfilter/nf_log_syslog.c.
 * Not for lines that quote a name, as an Xid's: whoever chooses that could hide them. */
static bool is_of_packet_filter(const struct kmsg_record *record, const char *text)
{
	return memmem(text, record->text_len, "OUT=", 4) ||
	       memmem(text, record->text_len, "HTYPE=", 6);
}

bool form_of_line(const struct kmsg_record *record, const char *text,
		  const struct kernel_line *line)
{
	if (!begins_record(record, text, line->text))
		return false;
	switch (line->proof) {
	case KERNEL_LINE_BY_DRIVER:
		/* The driver's resource manager prints without a level, as if it continued a line; nv_printf() of its
		 * kernel interface has one, as in "loading". No name of a process is as long as these lines. */
		return !is_of_packet_filter(record, text);
	case KERNEL_LINE_FOR_PCI:
		return !strncmp(record->device, "+pci:", 5) &&
		       !strcmp(record->device + 5, line->device);
	case KERNEL_LINE_FOR_DEVICE:
		return *record->device;
	case KERNEL_LINE_BY_KERNEL:
		break;
	}
	return !record->continued;
}
