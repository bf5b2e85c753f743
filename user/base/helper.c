// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that do what may block.
 *
 * The agent's event loop must never wait: while it does, no fault is read and no file is written. Some questions can
 * block for ever: attributes of a file whose NFS server is dead, and the driver's files in proc while the driver hangs.
 * No timer ends such a call; only another process can be left alone with it.
 *
 * Each question has a process of its own, forked when it is asked: there is nothing to keep, to feed or to replace. Asking
 * a mount costs a fork of some 0.3 ms every half minute. The answer comes through a pipe. When the deadline is over the
 * caller kills the process. NFS calls can be killed; a process that cannot be keeps the pipe open, and while it does, the
 * same question is not asked again: a dead server holds one process for each mount, not one more each minute.
 *
 * A late answer says nothing if the process had no CPU. At the deadline the caller therefore looks whether it sleeps. */
#include "base/helper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"

bool helper_start(struct helper *h, const char *name, void (*work)(const void *context, int out),
		  const void *context)
{
	pid_t parent = getpid();
	int ends[2];

	if (h->pipe >= 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	h->pid = fork();
	if (!h->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || dup2(ends[1], STDIN_FILENO) < 0)
			_exit(1);
		/* All else is the caller's, and would outlive it if this process hangs. */
		closefrom(STDIN_FILENO + 1);
		prctl(PR_SET_NAME, name);
		work(context, STDIN_FILENO);
		_exit(0);
	}
	close(ends[1]);
	h->pipe = file_unless(ends[0], h->pid < 0 ? -1 : 0);
	h->begun_ns = monotonic_ns();
	return h->pipe >= 0;
}

ssize_t helper_read(struct helper *h, void *to, size_t size)
{
	ssize_t n = TEMP_FAILURE_RETRY(read(h->pipe, to, size));

	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (n <= 0) {
		close(h->pipe);
		h->pipe = -1;
	}
	return n < 0 ? 0 : n;
}

/* "4711 (xidscope-mount) D 4700 ..." */
bool helper_sleeps(const struct helper *h)
{
	char stat[128];
	const char *state;

	file_first_line(PATHF("/proc/%d/stat", (int)h->pid), stat, sizeof(stat));
	state = strrchr(stat, ')');
	return state && (!strncmp(state, ") D", 3) || !strncmp(state, ") S", 3));
}

void helper_kill(struct helper *h)
{
	/* While it has the pipe open, the number is its own. */
	if (h->pipe >= 0 && h->pid > 0)
		kill(h->pid, SIGKILL);
}

void helper_free(struct helper *h)
{
	helper_kill(h);
	file_close(&h->pipe);
	h->pipe = -1;
}
