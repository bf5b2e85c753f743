// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the event log: whatever names and texts an event has, its line is JSON of a bounded length. */
#include <limits.h>

#include "base/safe_text.h"
#include "fuzz.h"
#include "sinks/event_log.h"

/* Up to the next zero byte. */
static void take(char *to, size_t size, const char **at, const char *end)
{
	size_t len = strnlen(*at, (size_t)(end - *at));

	label_from_bytes(to, size, *at, len);
	*at += len;
	if (*at < end)
		(*at)++;
}

static bool keep_line(void *context, const char *line, size_t size)
{
	(void)context;
	require(size > 0 && size <= PIPE_BUF);
	require(memchr(line, '\n', size) == line + size - 1 && json_valid(line, size - 1));
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_sink sink = { .pipe = true, .write = keep_line };
	const char *at = (const char *)data, *end = at + size;
	struct event event = { .pid = -1, .time = 1700000000.25, .members = "" };
	struct event_log *log = event_log_new(&sink);

	require(log != NULL);
	event.kind = (enum event_kind)(size % EVENT_KINDS);
	event.code = (unsigned int)size;
	take(event.name, sizeof(event.name), &at, end);
	take(event.device, sizeof(event.device), &at, end);
	take(event.comm, sizeof(event.comm), &at, end);
	take(event.uuid, sizeof(event.uuid), &at, end);
	take(event.printed_by, sizeof(event.printed_by), &at, end);
	event.text = at;
	event.text_len = (size_t)(end - at);
	event_log_add(log, &event);
	event_log_free(log);
	return 0;
}
