// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The process that writes one file for the agent. */
#include "writer/writer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/append_file.h"
#include "base/output_file.h"
#include "writer/writer_channel.h"
#include "kernel/capabilities.h"
#include "kernel/mounts.h"

/* A state file is no longer than this. */
#define READ_MAX (4 << 20)

/* At the start, a lock is tried again for half a second. */
#define LOCK_TRIES 10
#define LOCK_US 50000

struct child {
	bool append;
	struct append_file lines;
	struct output_file file;
	bool looked; /* at what is mounted there */
};

/* A lock on a server's file system would have to be released there before the agent can
 * end: none is taken. */
static void look_at_mount(struct child *c, struct work_answer *answer)
{
	int folder = c->file.folder ? output_file_folder(&c->file) : -1;

	if (folder < 0)
		return;
	c->file.unlocked = mounts_find_network("", mounts_number(folder), answer->network,
					       sizeof(answer->network));
	c->looked = true;
	close(folder);
}

static int open_path(struct child *c)
{
	int err;

	if (c->append)
		return append_file_check(&c->lines);
	err = output_file_check(&c->file);
	if (!err)
		err = output_file_lock(&c->file);
	/* A process of an agent that has just ended may still hold it. */
	for (int i = 0; i < LOCK_TRIES && err == -EBUSY; i++) {
		usleep(LOCK_US);
		err = output_file_lock(&c->file);
	}
	return err;
}

static int copy(int from, int to)
{
	char bytes[16384];
	size_t total = 0;
	ssize_t n;
	int err;

	while ((n = read(from, bytes, sizeof(bytes)))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		total += (size_t)n;
		if (total > READ_MAX)
			return -EFBIG;
		err = output_write_all(to, bytes, (size_t)n);
		if (err)
			return err;
	}
	return 0;
}

/* Returns a descriptor of memory with the file's content, or -errno. */
static int read_file(struct child *c)
{
	int file = output_file_open(&c->file), memory, err;

	if (file < 0)
		return file;
	memory = memfd_create("xidscope-state", MFD_CLOEXEC);
	err = memory < 0 ? -errno : copy(file, memory);
	close(file);
	if (!err)
		return memory;
	if (memory >= 0)
		close(memory);
	return err;
}

static int write_text(struct child *c, const struct work_request *r, int text, uint64_t *done)
{
	size_t size = r->from + r->size, appended = 0;
	char *bytes = "";
	int err;

	if (size)
		bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, text, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	if (c->append)
		err = append_file_write(&c->lines, bytes + r->from, r->size, &appended);
	else
		err = output_file_write(&c->file, bytes, size, *r->aside ? r->aside : NULL);
	*done = appended;
	if (size)
		munmap(bytes, size);
	return err;
}

/* Does the work. Returns a descriptor to pass on, or -1. */
static int work(struct child *c, const struct work_request *r, int text, struct work_answer *answer)
{
	int err = 0, fd = -1;

	c->file.part = OUTPUT_FILE;
	if (!c->looked || r->work == WORK_OPEN)
		look_at_mount(c, answer);
	switch (r->work) {
	case WORK_OPEN:
		err = open_path(c);
		break;
	case WORK_READ:
		fd = read_file(c);
		err = fd < 0 ? fd : 0;
		break;
	case WORK_WRITE:
		err = write_text(c, r, text, &answer->done);
		break;
	default:
		output_file_close(&c->file, r->keep);
		break;
	}
	if (fd < 0)
		fd = output_file_give_lock(&c->file);
	/* The folder may be on another mount next time. */
	c->looked &= !err;
	answer->error = -err;
	answer->part = c->file.part;
	return fd;
}

static void serve(struct child *c, int socket)
{
	struct work_request request = {};
	struct work_answer answer;
	int text, fd, err;

	while (!channel_receive(socket, &request, sizeof(request), &text, 0)) {
		memset(&answer, 0, sizeof(answer));
		fd = work(c, &request, text, &answer);
		err = channel_send(socket, &answer, sizeof(answer), fd);
		if (fd >= 0)
			close(fd);
		if (text >= 0)
			close(text);
		if (err)
			break;
	}
}

/* Keeps the socket as descriptor 0, and standard output if it is written to. All else is
 * the agent's, and would outlive it if this process hangs. */
static void close_others(int socket, bool keep_stdout)
{
	int null;

	dup2(socket, STDIN_FILENO);
	/* Closes them one by one where a filter of system calls forbids close_range(). */
	closefrom(keep_stdout ? STDERR_FILENO : STDOUT_FILENO);
	/* So that no file gets their numbers. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null < STDERR_FILENO)
		null = dup(null);
}

static void __attribute__((noreturn))
child_main(const char *path, bool append, const char *name, int socket, pid_t parent)
{
	bool to_stdout = !strcmp(path, "-");
	struct child c = { .append = append, .lines.path = path };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it has ended before */
	prctl(PR_SET_NAME, name);
	close_others(socket, to_stdout);
	/* A directory may belong to another user. What cannot be given up does no harm. */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	umask(0); /* modes are as they are given */
	if (output_file_init(&c.file, path))
		_exit(1);
	serve(&c, STDIN_FILENO);
	_exit(0);
}

int writer_child_start(const char *path, bool append, const char *name)
{
	pid_t parent = getpid(), pid;
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid)
		child_main(path, append, name, ends[1], parent);
	err = -errno;
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return err;
}
