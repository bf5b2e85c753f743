// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The process that writes one file for the agent. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/output_file.h"
#include "kernel/capabilities.h"
#include "kernel/mounts.h"
#include "writer/writer.h"

/* How long to wait at the start for the lock, which a process of an agent that has just ended may still hold. */
#define LOCK_MS 500

/* Takes no lock on a server's file system: the agent could not end before the server released
 * it. Returns whether the mount is known. */
static bool look_at_mount(struct output_file *f, struct writer_shared *s)
{
	OPEN_FILE folder = f->folder ? output_file_folder(f) : -1;

	if (folder >= 0)
		f->unlocked = mounts_find_network("", mounts_number(folder), NULL, s->network,
						  sizeof(s->network));
	return folder >= 0;
}

static int read_file(struct output_file *f, char *text, size_t *size)
{
	int file = output_file_open(f);
	ssize_t n = file < 0 ? file : file_read_and_close(file, text, WRITER_TEXT_MAX);

	*size = n < 0 ? 0 : (size_t)n;
	return n < 0 ? (int)n : n == WRITER_TEXT_MAX - 1 ? -EFBIG : 0;
}

static int write_text(struct output_file *f, struct writer_shared *s)
{
	const char *text = s->texts[s->current];
	size_t done;
	int err;

	if (!f->append)
		return output_file_write(f, text, s->size, *s->aside ? s->aside : NULL);
	err = output_file_append(f, text + s->from, s->size - s->from, &done);
	s->from += done;
	return err;
}

/* Sends a byte, with the lock that was taken, if any. */
static bool answer(struct output_file *f, int socket)
{
	union {
		struct cmsghdr header; /* for its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	int lock = output_file_give_lock(f);
	struct iovec data = { "", 1 };
	struct msghdr m = { NULL, 0, &data, 1, &control, lock < 0 ? 0 : sizeof(control), 0 };
	bool sent;

	memcpy(CMSG_DATA(&control.header), &lock, sizeof(lock));
	sent = TEMP_FAILURE_RETRY(sendmsg(socket, &m, MSG_NOSIGNAL)) == 1;
	file_close(&lock);
	return sent;
}

static void serve(struct output_file *f, struct writer_shared *s, bool reads, int socket)
{
	bool looked = look_at_mount(f, s);
	char byte;

	s->error = output_file_check(f) ?: f->append ? 0 : output_file_wait_lock(f, LOCK_MS);
	do {
		if (f->part != OUTPUT_FILE && output_is_refused(s->error))
			snprintf(s->beside, sizeof(s->beside), "%s: ", f->names[f->part]);
		if (reads)
			s->read_error = read_file(f, s->texts[s->current], &s->size);
		reads = false;
		if (!answer(f, socket) || TEMP_FAILURE_RETRY(recv(socket, &byte, 1, 0)) != 1)
			break;
		*s->beside = 0;
		f->part = OUTPUT_FILE;
		/* After a failure the folder may be on another mount. */
		looked = (looked && !s->error) || look_at_mount(f, s);
		s->error = write_text(f, s);
	} while (true);
	if (s->end)
		output_file_close(f, s->keep);
}

/* Keeps the socket as descriptor 0, and standard output if it is written to. All others are
 * the agent's, and would outlive it if this process hangs. */
static void close_others(int socket, bool keep_stdout)
{
	int null;

	dup2(socket, STDIN_FILENO);
	/* Closes them one by one where a filter of system calls forbids close_range(). */
	closefrom(keep_stdout ? STDERR_FILENO : STDOUT_FILENO);
	/* No file gets their numbers. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null < STDERR_FILENO)
		null = dup(null);
}

int writer_process_start(const struct writer *w)
{
	pid_t parent = getpid(), pid;
	struct output_file f;
	char name[16];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	*w->shared->beside = *w->shared->network = 0;
	pid = fork();
	if (pid) {
		close(ends[1]);
		if (pid < 0)
			close(ends[0]);
		return pid < 0 ? -1 : ends[0];
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it has ended before */
	/* The name says which file a process that hangs writes. */
	snprintf(name, sizeof(name), "xidscope-%s", w->role->option + strlen("--"));
	prctl(PR_SET_NAME, name);
	close_others(ends[1], !strcmp(w->path, "-"));
	/* A directory may belong to another user. Capabilities that stay do no harm. */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	umask(0); /* output_file sets the modes */
	if (output_file_init(&f, w->path))
		_exit(1);
	f.append = w->role->append;
	serve(&f, w->shared, w->role->reads && !w->ready, STDIN_FILENO);
	_exit(0);
}
