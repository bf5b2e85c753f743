// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's messages in a file, which another process writes: the disk may hang. */
#include "writer/writer.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

#define TURN_MS 10

static bool relayed; /* static, because the process has one standard error */

/* Writes until the file takes all, or the agent is gone. Meanwhile the socket fills, and the agent counts what it loses. */
static void write_messages(const char *text, size_t size)
{
	ssize_t n;

	while (size) {
		n = TEMP_FAILURE_RETRY(write(STDERR_FILENO, text, size));
		if (n <= 0 && poll(&(struct pollfd){ STDIN_FILENO, POLLRDHUP, 0 }, 1, 1000))
			return;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

static void relay_messages(int socket)
{
	char part[8192];
	ssize_t n;

	dup2(socket, STDIN_FILENO);
	dup2(STDIN_FILENO,
	     STDOUT_FILENO); /* the old one is the agent's, and its reader may wait for its end */
	closefrom(STDERR_FILENO + 1);
	prctl(PR_SET_NAME, "xidscope-log");
	memory_drop_program();
	while ((n = TEMP_FAILURE_RETRY(read(STDIN_FILENO, part, sizeof(part)))) > 0)
		write_messages(part, (size_t)n);
}

int messages_start(void)
{
	int ends[2], err = 0;
	struct stat st;
	pid_t pid;

	if (fstat(STDERR_FILENO, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		relay_messages(ends[1]);
		_exit(0);
	}
	if (pid < 0 || dup2(ends[0], STDERR_FILENO) < 0)
		err = -errno;
	relayed = !err;
	close(ends[0]);
	close(ends[1]);
	return err;
}

void messages_finish(uint64_t most_ns)
{
	struct waited waited = wait_begin();
	struct pollfd end = { STDERR_FILENO, POLLIN, 0 };

	if (relayed)
		shutdown(STDERR_FILENO, SHUT_WR);
	/* The other process closes its end when it has written all. */
	while (relayed && waited.sum_ns < most_ns && poll(&end, 1, TURN_MS) == 0)
		wait_turn(&waited, TURN_MS * 2000000ull);
}
