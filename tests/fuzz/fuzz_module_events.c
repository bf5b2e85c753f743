// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for uevents: whatever packets come, all are read, and only one that names a module makes a look. */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "kernel/module_events.h"

/* Packets end with a newline. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool named = false;
	int ends[2], sent = 0;

	require(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
	while (size && sent < 8) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t len = newline ? (size_t)(newline - data) : size;

		require(send(ends[0], data, len, 0) == (ssize_t)len);
		named |= memmem(data, len, "@/module/", 9) != NULL;
		sent++;
		data += len + (newline != NULL);
		size -= len + (newline != NULL);
	}
	if (module_events_read(ends[1]))
		require(named);
	require(recv(ends[1], &named, 1, 0) < 0);
	close(ends[0]);
	close(ends[1]);
	return 0;
}
