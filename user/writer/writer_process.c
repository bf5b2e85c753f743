// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The process that writes the agent's files. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/output_file.h"
#include "kernel/capabilities.h"
#include "kernel/mounts.h"
#include "writer/writer.h"

/* How long to wait for the lock, which a process that is about to end may still hold. */
#define LOCK_MS 500

struct process {
	int mounts; /* the list, to know when it changes */
	struct {
		struct output_file output;
		char *texts[2];
		bool local; /* the folder was local, and no mount has changed since */
	} files[WRITER_FILES];
};

/* Returns 0, or -EREMOTE if the folder is on a network file system. */
static int check_mount(struct process *p, int file)
{
	struct output_file *f = &p->files[file].output;
	OPEN_FILE folder = -1;
	char source[160];

	if (mounts_changed(p->mounts))
		for (int i = 0; i < WRITER_FILES; i++)
			p->files[i].local = false;
	if (p->files[file].local || !f->folder)
		return 0;
	folder = output_file_folder(f);
	if (folder < 0)
		return folder;
	p->files[file].local =
		!mounts_find_network("", mounts_number(folder), NULL, source, sizeof(source));
	return p->files[file].local ? 0 : -EREMOTE;
}

/* Reads the state, the file of the first text. */
static void read_state(struct process *p, struct writer_answer *a)
{
	int fd = output_file_open(&p->files[WRITER_STATE].output);
	ssize_t n =
		fd < 0 ? fd :
			 file_read_and_close(fd, p->files[WRITER_STATE].texts[0], WRITER_TEXT_MAX);

	a->done = n < 0 ? 0 : (size_t)n;
	a->read_error = n < 0 ? (int)n : n == WRITER_TEXT_MAX - 1 ? -EFBIG : 0;
}

static void open_file(struct process *p, int file, struct writer_answer *a)
{
	struct output_file *f = &p->files[file].output;

	a->error = check_mount(p, file)         ?:
			   output_file_check(f) ?:
			   f->append            ? 0 :
						  output_file_lock(f, LOCK_MS);
	if (file == WRITER_STATE && a->error != -EREMOTE)
		read_state(p, a);
}

static void write_text(struct process *p, const struct writer_request *r, struct writer_answer *a)
{
	const char *text = p->files[r->file].texts[r->text];
	struct output_file *f = &p->files[r->file].output;

	a->error = check_mount(p, r->file);
	/* The process before this one may not have ended. */
	if (!a->error && !f->append && f->lock < 0)
		a->error = output_file_lock(f, LOCK_MS);
	if (!a->error && f->append)
		a->error = output_file_append(f, text + r->done, r->size - r->done, &a->done);
	else if (!a->error)
		a->error = output_file_write(f, text, r->size, *r->aside ? r->aside : NULL);
	a->done += r->done;
	/* After a failure the folder may be another one. */
	p->files[r->file].local &= !a->error;
}

static void serve(struct process *p, bool keep)
{
	struct writer_request r;

	while (TEMP_FAILURE_RETRY(recv(STDIN_FILENO, &r, sizeof(r), 0)) == sizeof(r) &&
	       r.work != WRITER_END) {
		struct writer_answer a = {};

		if (r.work == WRITER_OPEN)
			open_file(p, r.file, &a);
		else
			write_text(p, &r, &a);
		if (TEMP_FAILURE_RETRY(send(STDIN_FILENO, &a, sizeof(a), MSG_NOSIGNAL)) < 0)
			return;
	}
	for (int i = 0; r.work == WRITER_END && i < WRITER_FILES; i++)
		output_file_close(&p->files[i].output, keep || i != WRITER_OUTPUT);
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

static void run(const struct writer *w, int socket, pid_t agent)
{
	struct process p = {};
	bool keep_stdout = false;

	for (int i = 0; i < WRITER_FILES; i++) {
		struct output_file *f = &p.files[i].output;
		const char *path = w->files[i].path ?: "-";

		if (output_file_init(f, path))
			return;
		f->append = i == WRITER_EVENTS;
		f->owner = agent;
		keep_stdout |= w->files[i].path && !strcmp(path, "-");
		for (int t = 0; t < 2; t++) {
			p.files[i].texts[t] =
				mmap(NULL, WRITER_TEXT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED,
				     fileno(w->files[i].texts[t].memory), 0);
			if (p.files[i].texts[t] == MAP_FAILED)
				return;
		}
	}
	close_others(socket, keep_stdout);
	p.mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	/* A folder may belong to another user. Capabilities that stay do no harm. */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	umask(0); /* output_file.c sets the modes */
	serve(&p, w->keep);
}

int writer_process_start(const struct writer *w)
{
	pid_t agent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "xidscope-writer");
		if (getppid() == agent) /* otherwise it has ended before */
			run(w, ends[1], agent);
		_exit(0);
	}
	close(ends[1]);
	return file_unless(ends[0], pid < 0 ? -errno : 0);
}
