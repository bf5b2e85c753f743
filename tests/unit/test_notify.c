// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves, with real sockets, that the service manager gets the program's messages, the watchdog's twice per interval, and
 * that children inherit nothing of its address. */
#include <poll.h>
#include <sys/wait.h>

#include "made_up_tree.h"
#include "commands/agent.h"
#include "plants.h"

static const struct log text_log = { .format = LOG_TEXT };
static char path[64];
static int fd; /* the manager's socket */
static struct notify n = { .fd = -1 };

BEFORE_EACH()
{
	snprintf(path, sizeof(path), "%s/socket", root);
	fd = -1;
}

AFTER_EACH()
{
	file_close(&n.fd);
	close(fd);
	unsetenv("NOTIFY_SOCKET");
}

/* Makes the manager's socket, with this name in NOTIFY_SOCKET. */
static void listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	memcpy(address.sun_path, name, len);
	if (*name == '@')
		address.sun_path[0] = 0;
	else
		unlink(name);
	assert_return_code(bind(fd, (struct sockaddr *)&address,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
			   errno);
	setenv("NOTIFY_SOCKET", name, 1);
}

/* Opens @n with a manager at @path. */
static void start(void)
{
	listen_at(path);
	notify_open(&n, &text_log);
}

static void expect_message(const char *expected)
{
	char message[500];
	ssize_t len = recv(fd, message, sizeof(message) - 1, 0);

	assert_true(len >= 0);
	message[len] = 0;
	assert_string_equal(message, expected);
}

static void expect_nothing(void)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void expect_sent(const char *name)
{
	fresh();
	listen_at(name);
	notify_open(&n, &text_log);
	notify_send(&n, "STATUS=%s %d", "faults", 2);
	expect_message("STATUS=faults 2");
	expect_nothing();
	assert_null(getenv("NOTIFY_SOCKET"));
}

TEST(a_socket_has_a_path_or_an_abstract_name)
{
	char longest[sizeof(((struct sockaddr_un *)0)->sun_path)];

	expect_sent(path);
	expect_sent("@xidscope/test");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '@';
	longest[sizeof(longest) - 1] = 0;
	expect_sent(longest);
}

TEST(without_a_manager_nothing_is_sent)
{
	char too_long[200] = "/";
	const char *const names[] = { NULL, "", "@", "/", "relative", "vsock:2:1", too_long };

	memset(too_long + 1, 'x', sizeof(too_long) - 2);
	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i])
			setenv("NOTIFY_SOCKET", names[i], 1);
		notify_open(&n, &text_log);
		assert_int_equal(n.fd, -1);
		notify_send(&n, "READY=1");
		file_close(&n.fd);
	}
}

TEST(the_watchdog_hears_twice_per_interval)
{
	setenv("WATCHDOG_USEC", "4000000", 1);
	setenv("WATCHDOG_PID", formatted("%d", getpid()), 1);
	start();
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
	for (uint64_t s = 100; s < 106; s++)
		notify_alive(&n, s * 1000000000);
	for (int i = 0; i < 3; i++)
		expect_message("WATCHDOG=1");
	expect_nothing();
	/* Another process's watchdog is left alone. */
	fresh();
	setenv("WATCHDOG_USEC", "4000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	start();
	notify_alive(&n, 1000000000);
	expect_nothing();
}

TEST(a_message_that_the_manager_did_not_get_is_due_again)
{
	setenv("WATCHDOG_USEC", "4000000", 1);
	start();
	close(fd);
	notify_alive(&n, 100000000000);
	assert_true(n.failed);
	listen_at(path);
	notify_alive(&n, 101000000000);
	assert_false(n.failed);
	expect_message("WATCHDOG=1");
}

TEST(a_full_queue_does_not_block)
{
	start();
	for (int i = 0; i < 100000 && !n.failed; i++)
		notify_send(&n, "STATUS=x");
	assert_true(n.failed);
}
