// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that do what may block.
 *
 * The event loop must never wait: while it does, no fault is read and no file is written. Some calls can block for ever:
 * attributes of a file whose NFS server is dead; a file of a disk that hangs; the memory of a process, which /proc/PID/cmdline
 * reads, while this process maps a file of a silent server and holds its lock; the driver's files in proc while the driver
 * hangs. No timer ends such a call; only another process can be left alone with it.
 *
 * Invariant: `run` and `trace` themselves read only the text of sysfs, tracefs, cgroupfs, debugfs and proc, of other
 * processes `stat`, `status`, `comm`, `cgroup`, `mountinfo` and `mountstats`, for which no lock of a process's memory or
 * files is taken. All else is here:
 *
 *   what                                         who reads it            without an answer
 *   /proc/PID/cmdline of slurmstepd              xidscope-jobs           the job has its SLUID as name
 *   /var/log/pods, also below /proc/1/root       xidscope-pods           the pod has its UID as name
 *   /proc/PID/fd, /proc/driver/nvidia            xidscope-gpus           the event lacks who holds the GPU
 *   attributes of a mount                        xidscope-mount          mount_hung
 *   --sunrpc-btf, /usr/lib/debug/.build-id       xidscope-types          another source
 *   /etc/fstab, below /proc/1/root; --xid-policy xidscope-file           no mounts of fstab; the start fails
 *   --output, --state, --events                  the writer              see writer.c
 *   --health, --heartbeat, --ack                 the event loop          refused on network file systems
 *   --json, --html, --record, --ack of trace     trace                   they are its user's
 *   /etc/localtime                               trace, at its start     SIGINT still ends it
 *
 * Each question has a process of its own, forked when it is asked: there is nothing to keep, to feed or to replace. Asking
 * a mount costs a fork of some 0.3 ms every half minute. The answer comes through a pipe. When the deadline is over the
 * caller kills the process. NFS calls can be killed; a process that cannot be keeps the pipe open, and while it does, the
 * same question is not asked again: a dead server holds one process for each mount, not one more each minute.
 *
 * Example: a new job calls at 10:00:07. At the write of 10:00:15 its name is not known. xidscope-jobs is started and
 * answers within 40 ms. If a slurmstepd holds its memory, it does not: the write is 300 ms late once, and the name comes
 * with a write after the lock is free.
 *
 * A late answer says nothing if the process had no CPU. At the deadline the caller therefore looks whether it sleeps. */
#include "base/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"

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
		fcntl(STDIN_FILENO, F_SETFL, 0); /* here it blocks */
		work(context, STDIN_FILENO);
		_exit(0);
	}
	close(ends[1]);
	h->pipe = file_unless(ends[0], h->pid < 0 ? -1 : 0);
	h->begun_ns = monotonic_ns();
	h->len = 0;
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

/* Returns as helper_read(). Without memory the rest is dropped. */
static ssize_t read_part(struct helper *h)
{
	char part[16384], *grown;
	ssize_t n = helper_read(h, part, sizeof(part));

	if (n <= 0)
		return n;
	grown = realloc(h->text, h->len + (size_t)n + 1);
	if (!grown)
		return n;
	h->text = grown;
	memcpy(h->text + h->len, part, (size_t)n);
	h->len += (size_t)n;
	h->text[h->len] = 0;
	return n;
}

void helper_collect(struct helper *h, uint64_t deadline_ns)
{
	uint64_t now;

	while (h->pipe >= 0) {
		if (read_part(h) >= 0)
			continue;
		now = monotonic_ns();
		if (now >= deadline_ns)
			return;
		poll(&(struct pollfd){ h->pipe, POLLIN, 0 }, 1,
		     (int)((deadline_ns - now) / 1000000 + 1));
	}
}

bool helper_ask(struct helper *h, const char *name, void (*work)(const void *context, int out),
		const void *context, uint64_t wait_ns)
{
	helper_collect(h, 0);
	if (!h->begun_ns || monotonic_ns() >= h->begun_ns + HELPER_AGE_NS) {
		helper_kill(h);
		helper_start(h, name, work, context);
	}
	helper_collect(h, h->begun_ns + wait_ns);
	return h->begun_ns && h->pipe < 0;
}

void helper_write(int out, const void *bytes, size_t size)
{
	for (ssize_t n; size; bytes = (const char *)bytes + n, size -= (size_t)n) {
		n = TEMP_FAILURE_RETRY(write(out, bytes, size));
		if (n < 0)
			_exit(1);
	}
}

/* ---- a file ---- */

struct wanted_file {
	const char *path;
	size_t max;
};

/* The error comes first. */
static void send_file(const void *context, int out)
{
	const struct wanted_file *wanted = context;
	FILE_TEXT text = {};
	int err = file_text_read(&text, wanted->path, wanted->max);

	helper_write(out, &err, sizeof(err));
	helper_write(out, text.bytes, text.len);
}

int helper_read_file(struct file_text *f, const char *path, size_t max)
{
	const struct wanted_file wanted = { path, max };
	struct helper h = { .pipe = -1 };
	bool whole = helper_ask(&h, "xidscope-file", send_file, &wanted, HELPER_START_NS);
	int err = whole ? -ENOMEM : -ETIMEDOUT;

	*f = (struct file_text){};
	if (whole && h.len >= sizeof(err))
		memcpy(&err, h.text, sizeof(err));
	if (!err) {
		f->bytes = h.text;
		f->len = h.len - sizeof(err);
		memmove(f->bytes, f->bytes + sizeof(err), f->len + 1);
		h.text = NULL;
	}
	helper_free(&h);
	return err;
}

/* ---- */

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
	h->begun_ns = 0; /* what it has written is not all */
}

void helper_free(struct helper *h)
{
	helper_kill(h);
	file_close(&h->pipe);
	free(h->text);
	*h = (struct helper){ .pipe = -1 };
}
