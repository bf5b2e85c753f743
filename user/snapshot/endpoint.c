// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end of a connection. */
#include "snapshot/endpoint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *endpoint_text(char *text, const struct endpoint *e)
{
	bool brackets = e->port && strchr(e->address, ':');
	int len = snprintf(text, ENDPOINT_SIZE, "%s%s%s", brackets ? "[" : "", e->address,
			   brackets ? "]" : "");

	if (e->port)
		snprintf(text + len, ENDPOINT_SIZE - (size_t)len, ":%u", e->port);
	return text;
}
