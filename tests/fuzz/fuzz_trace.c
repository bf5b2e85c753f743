// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the lines of a trace pipe, and the `format` files that describe the fields of records: whatever they
 * contain, a text lies within the line, and nothing beyond the file is read. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kernel/trace.h"

static bool on_event(void *context, uint64_t time_ns, struct span text)
{
	(void)context;
	require(text.at <= text.end && !memchr(text.at, '\n', span_left(text)));
	require(time_ns % 1000 == 0);
	return span_left(text);
}

/* Two bytes: how long the format is; the rest is text of the pipe. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_instance t = { .event = "x" };
	struct trace_field field;
	size_t len;
	char *text;

	if (size < 2)
		return 0;
	len = data[0] | (size_t)data[1] << 8;
	if (len > size - 2)
		len = size - 2;
	text = copy_of(data + 2, len);
	trace_field_find((struct span){ text, text + len }, "dev", &field);
	free(text);
	t.pipe = memfd_create("pipe", MFD_CLOEXEC);
	require(pwrite(t.pipe, data + 2 + len, size - 2 - len, 0) == (ssize_t)(size - 2 - len));
	trace_instance_consume(&t, on_event, NULL);
	close(t.pipe);
	return 0;
}
