// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's messages in a file, which another process writes: the disk may hang. */
#include "writer/writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

#define TURN_MS 10

/* The file, by its path alone: closing that waits for nothing. Static, because the process has one standard error; -1: it is none. */
static int file = -1;

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

static void relay_messages(int socket, bool again)
{
	char part[8192];
	ssize_t n;

	dup2(socket, STDIN_FILENO);
	dup2(STDIN_FILENO,
	     STDOUT_FILENO); /* the old one is the agent's, and its reader may wait for its end */
	if (again)
		dup2(file, STDERR_FILENO);
	closefrom(STDERR_FILENO + 1); /* what follows may hang */
	prctl(PR_SET_NAME, "xidscope-log");
	if (again && dup2(open("/proc/self/fd/2", O_WRONLY | O_APPEND), STDERR_FILENO) < 0)
		return;
	memory_drop_program(false);
	while ((n = TEMP_FAILURE_RETRY(read(STDIN_FILENO, part, sizeof(part)))) > 0)
		write_messages(part, (size_t)n);
}

static int start_process(bool again)
{
	int ends[2], err = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		relay_messages(ends[1], again);
		_exit(0);
	}
	if (pid < 0 || dup2(ends[0], STDERR_FILENO) < 0)
		err = -errno;
	close(ends[0]);
	close(ends[1]);
	return err;
}

int messages_start(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st) || !S_ISREG(st.st_mode))
		return 0;
	file = open("/proc/self/fd/2", O_PATH | O_CLOEXEC);
	return file < 0 ? -errno : start_process(false);
}

void messages_serve(void)
{
	if (file >= 0 && poll(&(struct pollfd){ STDERR_FILENO, 0, 0 }, 1, 0) > 0)
		start_process(true);
}

void messages_finish(uint64_t most_ns)
{
	struct waited waited = wait_begin();
	struct pollfd end = { STDERR_FILENO, POLLIN, 0 };

	if (file >= 0)
		shutdown(STDERR_FILENO, SHUT_WR);
	/* The other process closes its end when it has written all. */
	while (file >= 0 && waited.sum_ns < most_ns && poll(&end, 1, TURN_MS) == 0)
		wait_turn(&waited, TURN_MS * 2000000ull);
}
