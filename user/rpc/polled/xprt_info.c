// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of one of sunrpc's transports as sysfs shows it. */
#include "rpc/polled/xprt_info.h"

#include "base/span.h"

/* Reads "NAME=NUMBER" from @line; false if the line has another form. */
static bool value_of(struct span line, const char *name, uint32_t *value)
{
	uint64_t number;

	if (!span_take(&line, name) || !span_take(&line, "=") ||
	    !span_number(line, UINT32_MAX, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

bool xprt_info_parse(struct xprt_info *info, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line;
	unsigned int found = 0;

	*info = (struct xprt_info){};
	while (span_left(rest)) {
		line = span_take_line(&rest);
		if (value_of(line, "max_num_slots", &info->slots_max))
			found |= 1;
		if (value_of(line, "num_reqs", &info->slots_allocated))
			found |= 2;
		if (value_of(line, "pending_q_len", &info->pending))
			found |= 4;
		info->has_port |= value_of(line, "dst_port", &info->port);
		value_of(line, "src_port", &info->local_port);
	}
	return found == 7;
}
