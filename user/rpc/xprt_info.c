// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of one of sunrpc's transports as sysfs shows it. */
#include "rpc/xprt_info.h"

#include <string.h>

/* The number after "NAME=" at @at; false if that is not there. */
static bool value_of(const char *at, const char *end, const char *name, uint32_t *value)
{
	size_t len = strlen(name);
	uint64_t sum = 0;

	if ((size_t)(end - at) <= len || memcmp(at, name, len) != 0 || at[len] != '=')
		return false;
	at += len + 1;
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		sum = sum * 10 + (uint64_t)(*at - '0');
		if (sum > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)sum;
	return true;
}

bool xprt_info_parse(struct xprt_info *info, const char *text, size_t len)
{
	const char *const end = text + len;
	unsigned int found = 0;

	*info = (struct xprt_info){};
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		if (value_of(text, stop, "max_num_slots", &info->slots_max))
			found |= 1;
		if (value_of(text, stop, "num_reqs", &info->slots_allocated))
			found |= 2;
		if (value_of(text, stop, "pending_q_len", &info->pending))
			found |= 4;
		info->has_port |= value_of(text, stop, "dst_port", &info->port);
		text = newline ? newline + 1 : end;
	}
	return found == 7;
}
