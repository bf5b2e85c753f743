// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages to the service manager. */
#include "commands/agent.h"

#include <stdarg.h>
#include <unistd.h>

#define MESSAGE_SIZE 400

/* "/path" or "@abstract". Returns whether it is one of the two. */
static bool read_address(struct notify *n, const char *text)
{
	size_t len = strlen(text);

	if (!strchr("/@", *text) || len < 2 || len >= sizeof(n->address.sun_path))
		return false;
	n->address.sun_family = AF_UNIX;
	memcpy(n->address.sun_path, text, len + 1);
	/* An abstract name begins with a NUL and has none at its end. */
	if (*text == '@')
		n->address.sun_path[0] = 0;
	n->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	return true;
}

/* The interval in microseconds, if it is for this process. */
static uint64_t read_watchdog(void)
{
	const char *interval = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!interval || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(interval, NULL, 10);
}

void notify_open(struct notify *n, const struct log *log)
{
	const char *address = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .log = log, .fd = -1 };
	if (address && !read_address(n, address))
		log_warn(log, "NOTIFY_SOCKET is neither a path nor an abstract name: %s", address);
	if (n->address_size)
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->address_size && n->fd < 0)
		log_warn(log,
			 "cannot report to the service manager: %s; allow AF_UNIX in "
			 "RestrictAddressFamilies= of the unit",
			 strerror(errno));
	n->alive_every_ns = read_watchdog() * 1000 / 2;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_send(struct notify *n, const char *format, ...)
{
	char message[MESSAGE_SIZE];
	va_list args;
	ssize_t sent;

	if (n->fd < 0)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	sent = sendto(n->fd, message, strlen(message), MSG_NOSIGNAL,
		      (const struct sockaddr *)&n->address, n->address_size);
	if (sent < 0 && !n->failed)
		log_warn(n->log, "cannot report to the service manager: %s", strerror(errno));
	n->failed = sent < 0;
}

void notify_alive(struct notify *n, uint64_t now_ns)
{
	if (!n->alive_every_ns || now_ns < n->alive_due_ns)
		return;
	notify_send(n, "WATCHDOG=1");
	if (!n->failed)
		n->alive_due_ns = now_ns + n->alive_every_ns;
}
