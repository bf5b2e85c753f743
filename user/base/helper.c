// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that do what may block.
 *
 * The event loop must never wait: while it does, no fault is read and no file is written. Some calls can block for ever:
 * attributes of a file whose NFS server is dead; a file of a disk that hangs; /proc/PID/cmdline while the process maps a file of
 * a silent server; the driver's files in proc while it hangs. No timer ends such a call; only another process can be left alone.
 *
 * Invariant: `run` and `trace` themselves read only the text of sysfs, tracefs, cgroupfs, debugfs and proc; of other
 * processes only `stat`, `comm`, `cgroup`, `ns`, and of process 1 `mountinfo`, `mountstats` and `net`, for which the kernel
 * takes no lock of a process's memory or files. Everything else, and who reads or writes it:
 *
 *   what                                          who              without an answer
 *   /proc/PID/{status,cmdline} of slurmstepd      xidscope-names   the job is named by its SLUID
 *   /proc/PID/environ, for --owner-env            xidscope-names   the owner is named as without it
 *   files of container runtimes                   xidscope-names   the container is named by its ID
 *   /var/log/pods, also below /proc/1/root        xidscope-names   the pod is named by its UID
 *   /proc/PID/fd, /proc/driver/nvidia/gpus        xidscope-gpus    the event lacks who holds the GPU
 *   /proc/PID/{maps,fd,exe,cwd,root} for trace    xidscope-file    a remedy lacks who uses the mounts
 *   attributes of a mount                         xidscope-mount   mount_hung
 *   --sunrpc-btf, /usr/lib/debug/.build-id        xidscope-file    another source
 *   /etc/fstab, also below /proc/1/root           xidscope-file    its mounts are not checked
 *   --xid-policy, --ack of trace                  xidscope-file    the start fails; none counts
 *   --ack                                         xidscope-acks    the last ones count
 *   --output, --state, --events                   the writer       see writer.c
 *   standard error of run, if it is a file        xidscope-log     messages are lost and counted
 *   --health                                      the event loop   refused where a server may be below it
 *   --json, --html, --record of trace             trace            it waits: its user has named them
 *   /etc/localtime                                trace            it waits, before it blocks SIGINT
 *   units of mounts, in folders of systemd        trace            it waits, at its end
 *   kernel types below /boot or /lib/modules      libbpf           only kernels without /sys/kernel/btf
 *
 * Three waits are left. The lists of mounts: btrfs reads its disk for the name of a subvolume, with the lock of all mounts. And
 * memory: who reclaims it may wait for a server to commit a page (nfs_release_folio() from 6.3 on, without nfs_wb_folio_reclaim())
 * or to take back a delegation (nfs4_evict_inode()). PR_SET_IO_FLUSHER prevents it, but then the kernel refuses per-CPU maps.
 * And `stat`: if the process ends while its text is made, some microseconds, the reader frees its memory and closes what was mapped.
 *
 * Each question has a process of its own, forked when it is asked, some 0.3 ms: there is nothing to keep, to feed or to replace. The
 * answer comes through a pipe. When the deadline is over the caller kills the process. One that cannot be killed keeps the pipe
 * open, and while it does, the same question is not asked again: a dead server holds one process for each mount.
 *
 * Example: a new job calls at 10:00:07. At the write of 10:00:15 its name is not known. xidscope-names is started and answers
 * within 40 ms. If a slurmstepd holds its memory, the write is 300 ms late once, and the name comes with a later write.
 *
 * A late answer says nothing if the process had no CPU. At the deadline the caller therefore looks whether it sleeps. */
#include "base/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"

/* In the new process. */
static void run_work(const char *name, helper_work *work, const void *context)
{
	FILE *out;

	/* All else is the caller's, and would outlive it if this process hangs. */
	closefrom(STDIN_FILENO + 1);
	prctl(PR_SET_NAME, name);
	fcntl(STDIN_FILENO, F_SETFL, 0); /* here it blocks */
	out = fdopen(STDIN_FILENO, "w");
	if (!out)
		return;
	work(context, out);
	fputc(0, out);
	fflush(out);
}

bool helper_start(struct helper *h, const char *name, helper_work *work, const void *context)
{
	pid_t parent = getpid();
	int ends[2];

	if (h->running || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return false;
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* where a late answer waits for the next question */
	h->pid = fork();
	if (!h->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || dup2(ends[1], STDIN_FILENO) < 0)
			_exit(1);
		run_work(name, work, context);
		_exit(0);
	}
	close(ends[1]);
	h->running = h->pid >= 0;
	h->pipe = file_unless(ends[0], h->running ? 0 : -1);
	h->begun_ns = h->running ? monotonic_ns() : 0;
	h->len = 0;
	h->whole = false;
	return h->running;
}

/* Returns how much was read, 0 at the end, negative if nothing has come. Without memory the rest is dropped. */
static ssize_t read_part(struct helper *h)
{
	char part[16384], *grown;
	ssize_t n = TEMP_FAILURE_RETRY(read(h->pipe, part, sizeof(part)));

	if (n < 0 && errno == EAGAIN)
		return -1;
	grown = n > 0 ? realloc(h->text, h->len + (size_t)n + 1) : NULL;
	if (!grown) {
		close(h->pipe);
		h->running = false;
		/* A NUL ends the answer: without it the process was killed. */
		h->whole = !n && h->len && !h->text[h->len - 1];
		h->len -= h->whole;
		return 0;
	}
	h->text = grown;
	memcpy(h->text + h->len, part, (size_t)n);
	h->len += (size_t)n;
	h->text[h->len] = 0;
	return n;
}

void helper_collect(struct helper *h, uint64_t deadline_ns)
{
	uint64_t now;

	while (h->running) {
		if (read_part(h) >= 0)
			continue;
		now = monotonic_ns();
		if (now >= deadline_ns)
			return;
		poll(&(struct pollfd){ h->pipe, POLLIN, 0 }, 1,
		     (int)((deadline_ns - now) / 1000000 + 1));
	}
}

bool helper_ask(struct helper *h, const char *name, helper_work *work, const void *context)
{
	helper_collect(h, 0);
	if (!h->begun_ns || monotonic_ns() >= h->begun_ns + HELPER_AGE_NS) {
		helper_kill(h);
		helper_start(h, name, work, context);
	}
	helper_collect(h, h->begun_ns + HELPER_WAIT_NS);
	if (h->running && !helper_sleeps(h))
		helper_collect(h, h->begun_ns + HELPER_ONCE_NS);
	return h->whole;
}

int helper_ask_once(struct file_text *f, helper_work *work, const void *context)
{
	static struct helper h = {};

	*f = (struct file_text){};
	helper_collect(&h, 0);
	if (!helper_start(&h, "xidscope-file", work, context))
		return h.running ? -ETIMEDOUT : -EAGAIN;
	do
		helper_collect(&h, monotonic_ns() + HELPER_ONCE_NS);
	while (h.running && !helper_sleeps(&h) && monotonic_ns() < h.begun_ns + HELPER_STARVED_NS);
	if (h.running || !h.whole)
		return h.running ? -ETIMEDOUT : -EAGAIN;
	*f = (struct file_text){ .bytes = h.text, .len = h.len };
	h.text = NULL;
	h.len = 0;
	return 0;
}

/* The error comes first. */
void helper_send_file(const void *file, FILE *out)
{
	const struct helper_file *f = file;
	FILE_TEXT text = {};

	fputc(-file_text_read_as(&text, f->path, 1 << 20, f->own), out);
	if (text.bytes)
		fwrite(text.bytes, 1, text.len, out);
}

int helper_open_file(struct file_text *f)
{
	int err = f->len ? -(unsigned char)*f->bytes : -EAGAIN;

	if (err)
		file_text_free(f);
	else
		memmove(f->bytes, f->bytes + 1, f->len--);
	return err;
}

int helper_read_file(struct file_text *f, const char *path, bool own)
{
	const struct helper_file file = { path, own };

	return helper_ask_once(f, helper_send_file, &file) ?: helper_open_file(f);
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
	if (h->running && h->pid > 0)
		kill(h->pid, SIGKILL);
	h->begun_ns = 0;
	h->whole = false;
}

void helper_free(struct helper *h)
{
	helper_kill(h);
	if (h->running)
		close(h->pipe);
	free(h->text);
	*h = (struct helper){};
}
