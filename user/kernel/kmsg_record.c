// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parser of a record of /dev/kmsg:
 *
 * 	4,1339,5140900,c,caller=T77;NVRM: loading\x0a\n SUBSYSTEM=pci\n ... */
#include "kernel/kernel_log.h"

#include <limits.h>

#include "base/span.h"

static bool take_number(struct span *s, uint64_t max, uint64_t *value)
{
	return span_take_number(s, 10, max, value) && span_take(s, ",");
}

static bool take_header(struct span *s, struct kmsg_record *out)
{
	uint64_t priority;
	struct span flags;

	if (!take_number(s, UINT_MAX, &priority) || !take_number(s, UINT64_MAX, &out->sequence) ||
	    !take_number(s, UINT64_MAX, &out->time_us))
		return false;
	out->facility = (unsigned int)(priority >> 3);
	/* One flag, then fields such as the caller. */
	flags = span_take_until(s, ";\n");
	if (!span_take(s, ";") || !span_left(flags) || *flags.at == ',' ||
	    (span_left(flags) > 1 && flags.at[1] != ','))
		return false;
	out->continued = *flags.at == 'c' || *flags.at == '+';
	if (span_take_through(&flags, ",caller="))
		span_copy(span_take_until(&flags, ","), out->caller, sizeof(out->caller));
	return true;
}

bool kmsg_record_parse(const char *record, size_t len, struct kmsg_record *out, char *text,
		       size_t size)
{
	struct span rest = { record, record + len }, s;

	*out = (struct kmsg_record){};
	if (!take_header(&rest, out)) {
		*out = (struct kmsg_record){};
		return false;
	}
	s = span_take_line(&rest);
	while (span_left(s) && out->text_len < size)
		text[out->text_len++] = span_take_byte(&s, "\\x", 16, 2);
	while (span_next_line(&rest, &s)) {
		if (span_take(&s, " DEVICE="))
			span_copy(s, out->device, sizeof(out->device));
	}
	return true;
}
