// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The process that writes the agent's files. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mountinfo.h"
#include "base/output_file.h"
#include "base/process.h"
#include "writer/writer.h"

/* How long to wait for the lock, which a process that is about to end may still hold. */
#define LOCK_MS 500

struct process {
	int mounts; /* the list, to know when it changes */
	struct {
		const char *path;
		struct output_file output;
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
	p->files[file].local = !mounts_find_network("", mounts_number(folder), NULL, false, source,
						    sizeof(source));
	return p->files[file].local ? 0 : -EREMOTE;
}

static void open_file(struct process *p, int file, struct writer_answer *a,
		      struct file_text *content)
{
	a->error = check_mount(p, file) ?: output_file_check(&p->files[file].output);
	if (file != WRITER_STATE || a->error == -EREMOTE)
		return;
	a->read_error = file_text_read_own(content, p->files[file].path, WRITER_STATE_MAX);
	a->size = content->len;
}

static void write_text(struct process *p, const struct writer_request *r,
		       const struct file_text *text, struct writer_answer *a)
{
	struct output_file *f = &p->files[r->file].output;

	a->done = r->file == WRITER_EVENTS ? 0 : r->size;
	a->error = check_mount(p, r->file);
	if (!a->error && r->file == WRITER_EVENTS)
		a->error = output_file_append(f, text->bytes, r->size, &a->done);
	else if (!a->error)
		a->error = output_file_lock(f, LOCK_MS) ?:
							  output_file_write(f, text->bytes, r->size,
                                                     *r->aside ? r->aside : NULL);
	/* After a failure the folder may be another one. */
	p->files[r->file].local &= !a->error;
}

static bool receive_all(void *to, size_t size)
{
	/* Without bytes to receive recv() waits for some. */
	return !size ||
	       TEMP_FAILURE_RETRY(recv(STDIN_FILENO, to, size, MSG_WAITALL)) == (ssize_t)size;
}

static bool send_all(const void *from, size_t size)
{
	return TEMP_FAILURE_RETRY(send(STDIN_FILENO, from, size, MSG_NOSIGNAL)) == (ssize_t)size;
}

/* Does what one request says. False: it is the last one. */
static bool serve_request(struct process *p, struct writer_request *r)
{
	struct writer_answer a = {};
	FILE_TEXT text = {}, content = {};

	if (!receive_all(r, sizeof(*r)) || r->work == WRITER_END)
		return false;
	text = (struct file_text){ .bytes = malloc(r->size + 1), .len = r->size };
	if (!text.bytes || !receive_all(text.bytes, text.len))
		return false;
	if (r->work == WRITER_OPEN)
		open_file(p, r->file, &a, &content);
	else
		write_text(p, r, &text, &a);
	return send_all(&a, sizeof(a)) && send_all(content.bytes, content.len);
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

static void run(const struct writer *w, int socket)
{
	struct writer_request r = {};
	struct process p = {};
	bool keep_stdout = false;

	for (int i = 0; i < WRITER_FILES; i++) {
		p.files[i].path = w->files[i].path;
		if (output_file_init(&p.files[i].output, p.files[i].path ?: "-"))
			return;
		p.files[i].output.durable = i == WRITER_STATE;
		keep_stdout |= p.files[i].path && !strcmp(p.files[i].path, "-");
	}
	close_others(socket, keep_stdout);
	p.mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	/* A folder may belong to another user. Capabilities that stay do no harm. */
	capabilities_keep(CAPABILITY(CAP_DAC_OVERRIDE));
	umask(0); /* output_file.c sets the modes */
	while (serve_request(&p, &r))
		memory_drop_program(false);
	for (int i = 0; r.work == WRITER_END && i < WRITER_FILES; i++)
		output_file_close(&p.files[i].output, w->keep || i != WRITER_OUTPUT);
}

int writer_process_start(const struct writer *w)
{
	pid_t agent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "xidscope-writer");
		if (getppid() == agent) /* otherwise it has ended before */
			run(w, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	return file_unless(ends[0], pid < 0 ? -EUSERS : 0);
}
