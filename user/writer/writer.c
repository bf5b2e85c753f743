// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's side of a file that another process writes. */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/output_file.h"
#include "writer/writer_child.h"
#include "writer/writer_report.h"

/* How often the start looks for signals, and how much longer it takes if the processes have no CPU. */
#define SLICE_NS 100000000ull
#define STARVED_NS 15000000000ull

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- requests ---- */

static void end_process(struct writer *w)
{
	close_fd(&w->socket);
	close_fd(&w->lock); /* another process takes its own */
	w->work = WORK_NONE;
}

static int start_process(struct writer *w)
{
	struct epoll_event event = { .events = EPOLLIN };
	char name[16];

	/* Which file a process that hangs writes is seen by its name. */
	snprintf(name, sizeof(name), "xidscope-%s", w->role->option + strlen("--"));
	w->socket = writer_child_start(w->path, w->role->append, name);
	if (w->socket < 0)
		return w->socket;
	/* request() ends a process whose answers nobody would wait for. */
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->socket, &event) ? -errno : 0;
}

static int request(struct writer *w, const struct work_request *r, int fd)
{
	int err = w->socket < 0 ? start_process(w) : 0;

	if (!err)
		err = channel_send(w->socket, r, sizeof(*r), fd);
	if (err) {
		end_process(w);
		return err;
	}
	w->work = r->work;
	w->since_ns = monotonic_ns();
	return 0;
}

static int request_write(struct writer *w)
{
	struct work_request r = { .work = WORK_WRITE,
				  .from = w->from,
				  .size = w->text_size - w->from };

	if (w->aside)
		strncpy(r.aside, w->aside, sizeof(r.aside) - 1);
	return request(w, &r, w->text);
}

/* Gives the process what waits, if it does nothing. Returns 0 or -errno. */
static int write_next(struct writer *w)
{
	if (w->work)
		return 0;
	if (w->text < 0) {
		if (w->next < 0)
			return 0;
		w->text = w->next;
		w->text_size = w->next_size;
		w->from = 0;
		w->next = -1;
		w->next_size = 0;
	}
	return request_write(w);
}

/* ---- answers ---- */

static void opened(struct writer *w, const struct work_answer *a)
{
	w->opened = true;
	w->open_error = -a->error;
	w->open_part = a->part;
	if (*a->network)
		log_warn(
			w->log,
			"%s is on %s: while that does not answer, it is not written%s; name another "
			"%s on a local file system",
			w->path, a->network,
			w->role->append ? "" :
					  ", and nothing prevents a second agent from writing it",
			w->role->option);
	if (!w->role->reads || w->read || writer_refused(w) || w->open_error == -EBUSY ||
	    request(w, &(struct work_request){ .work = WORK_READ }, -1))
		w->read = true;
}

/* Takes the content of the file, unless that is late. */
static void read_content(struct writer *w, const struct work_answer *a, int fd)
{
	if (w->read) {
		close_fd(&fd);
		return;
	}
	w->read = true;
	w->content = fd;
	w->read_error = -a->error;
}

/* A text was written, up to @a->done if lines were, or not. */
static void written(struct writer *w, const struct work_answer *a)
{
	w->took_ns = monotonic_ns() - w->since_ns;
	w->from += a->done;
	w->written |= !a->error;
	if (!a->error)
		w->aside = NULL;
	/* The lines that were not written are tried again. */
	if (!w->role->append || !a->error || w->from >= w->text_size)
		close_fd(&w->text);
	writer_report(w, -a->error, a->part);
}

static void set_lock(struct writer *w, int fd)
{
	if (fd < 0)
		return;
	close_fd(&w->lock);
	w->lock = fd;
}

/* Handles one answer, or the end of the process. Returns 0, or -EAGAIN if there is none. */
static int take_answer(struct writer *w, bool *wrote, int *error)
{
	struct work_answer a = {};
	enum work work = w->work;
	int fd, err;

	if (w->socket < 0)
		return -EAGAIN;
	err = channel_receive(w->socket, &a, sizeof(a), &fd, MSG_DONTWAIT);
	if (err == -EAGAIN)
		return err;
	if (err) {
		a = (struct work_answer){ .error = ECHILD };
		end_process(w);
	}
	a.network[sizeof(a.network) - 1] = 0;
	w->work = WORK_NONE;
	if (work == WORK_READ)
		read_content(w, &a, fd);
	else
		set_lock(w, fd);
	if (work == WORK_OPEN) {
		opened(w, &a);
	} else if (work == WORK_WRITE) {
		written(w, &a);
		*wrote = true;
		*error = -a.error;
	} else if (work == WORK_CLOSE) {
		w->closed = true;
	}
	return 0;
}

bool writer_serve(struct writer *w, int *error)
{
	bool wrote = false;
	int err;

	if (!w->path)
		return false;
	while (!take_answer(w, &wrote, error))
		;
	if (writer_hangs(w))
		writer_report(w, -ETIMEDOUT, OUTPUT_FILE);
	/* What was refused is tried again when this is called next, not at once. */
	if (wrote && *error && w->text >= 0)
		return wrote;
	err = w->closed ? 0 : write_next(w);
	if (err)
		writer_report(w, err, OUTPUT_FILE);
	return wrote;
}

bool writer_hangs(const struct writer *w)
{
	return w->work && monotonic_ns() - w->since_ns > WRITER_HANG_NS;
}

/* ---- texts ---- */

static int make_memory(void)
{
	int fd = memfd_create("xidscope", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

FILE *writer_begin(struct writer *w)
{
	int fd = make_memory();
	FILE *text = fd < 0 ? NULL : fdopen(fd, "w");
	int err = fd < 0 ? fd : -errno;

	if (text)
		return text;
	close_fd(&fd);
	writer_report(w, err, OUTPUT_FILE);
	return NULL;
}

int writer_end(struct writer *w, FILE *text)
{
	int fd = -1, err = 0;
	long size = 0;

	if (fflush(text) || (size = ftell(text)) < 0 ||
	    (fd = fcntl(fileno(text), F_DUPFD_CLOEXEC, 0)) < 0)
		err = -errno;
	/* What stdio could not write earlier it does not try again. */
	if (!err && ferror(text))
		err = -ENOMEM;
	fclose(text);
	if (err) {
		close_fd(&fd);
	} else {
		close_fd(&w->next);
		w->next = fd;
		w->next_size = (uint64_t)size;
		err = write_next(w);
	}
	if (err)
		writer_report(w, err, OUTPUT_FILE);
	return err;
}

/* The bytes of the lines that have not been written. */
static uint64_t waiting(const struct writer *w)
{
	return w->next_size + (w->text >= 0 ? w->text_size - w->from : 0);
}

bool writer_append(struct writer *w, const char *line, size_t size)
{
	bool logged;
	int err = 0;

	if (w->error)
		writer_log_line(w, line, size);
	if (waiting(w) + size > WRITER_LINES_MAX)
		writer_serve(w, &err);
	if (waiting(w) + size > WRITER_LINES_MAX)
		return false;
	err = 0;
	if (w->next < 0) {
		w->next = make_memory();
		w->next_size = 0;
	}
	if (w->next < 0)
		err = w->next;
	else
		err = output_write_all(w->next, line, size);
	if (err) {
		/* A part of the line may be there: the next one takes its place. */
		if (w->next >= 0)
			lseek(w->next, (off_t)w->next_size, SEEK_SET);
		logged = w->error;
		writer_report(w, err, OUTPUT_FILE);
		if (!logged)
			writer_log_line(w, line, size);
		return false;
	}
	w->next_size += size;
	/* While the file cannot be written, each poll tries again: that is often enough. */
	if (!w->error)
		err = write_next(w);
	if (err)
		writer_report(w, err, OUTPUT_FILE);
	return true;
}

/* ---- beginning and end ---- */

void writer_start(struct writer *w, const struct log *log, const struct writer_role *role,
		  const char *path, int epoll)
{
	*w = (struct writer){ .role = role,
			      .log = log,
			      .path = path,
			      .epoll = epoll,
			      .socket = -1,
			      .lock = -1,
			      .content = -1,
			      .text = -1,
			      .next = -1 };
	if (path && request(w, &(struct work_request){ .work = WORK_OPEN }, -1))
		w->opened = w->read = true; /* the first text tries again, and reports it */
}

bool writer_ready(const struct writer *w)
{
	return !w->path || (w->opened && w->read);
}

int writer_refused(const struct writer *w)
{
	return output_is_refused(w->open_error) && w->open_part == OUTPUT_FILE ? w->open_error : 0;
}

void writer_give_up_start(struct writer *w)
{
	if (writer_ready(w))
		return;
	writer_report(w, -ETIMEDOUT, OUTPUT_FILE);
	if (!w->read && w->role->reads) {
		w->aside = "late";
		log_warn(
			w->log,
			"%s could not be read: what is counted begins with the kernel log. When it "
			"answers again, what it has is kept as %s.late",
			w->path, w->path);
	}
	w->read = true;
}

/* Waits until one of the processes answers, for @most_ns, until @deadline_ns. Returns
 * whether that is still to come. */
static bool wait_answer(struct writer *w, size_t count, uint64_t deadline_ns, uint64_t most_ns)
{
	struct pollfd sockets[8] = {};
	uint64_t now = monotonic_ns(), left = deadline_ns - now;

	if (now >= deadline_ns)
		return false;
	if (left > most_ns)
		left = most_ns;
	for (size_t i = 0; i < count && i < 8; i++)
		sockets[i] =
			(struct pollfd){ .fd = w[i].path ? w[i].socket : -1, .events = POLLIN };
	poll(sockets, count, (int)(left / 1000000 + 1));
	return true;
}

/* The signals are blocked: the loop handles them. */
static bool end_is_pending(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

void writers_wait_ready(struct writer *w, size_t count, uint64_t most_ns)
{
	struct waited waited = wait_begin();
	bool ready = false;
	int err;

	while (!ready && !end_is_pending() && waited.sum_ns < most_ns &&
	       wait_answer(w, count, waited.begin_ns + most_ns + STARVED_NS, SLICE_NS)) {
		wait_turn(&waited, SLICE_NS);
		ready = true;
		for (size_t i = 0; i < count; i++) {
			writer_serve(&w[i], &err);
			ready &= writer_ready(&w[i]);
		}
	}
}

/* Goes on with the end as far as it can without waiting. Returns whether it is reached. */
static bool finish(struct writer *w, bool keep)
{
	struct work_request close = { .work = WORK_CLOSE, .keep = keep };
	int err = 0;

	if (!w->path)
		return true;
	/* Lines that cannot be written are not tried again, so that those behind them are. */
	if (writer_serve(w, &err) && err && w->text >= 0) {
		close_fd(&w->text);
		writer_serve(w, &err);
	}
	if (w->work || w->text >= 0 || w->next >= 0)
		return w->socket < 0;
	if (w->closed)
		return true;
	return w->role->append || request(w, &close, -1);
}

void writers_finish(struct writer *w, size_t count, bool keep, uint64_t deadline_ns)
{
	bool done;

	do {
		done = true;
		for (size_t i = 0; i < count; i++)
			done &= finish(&w[i], keep || i > 0);
	} while (!done && wait_answer(w, count, deadline_ns, UINT64_MAX));
	for (size_t i = 0; i < count; i++) {
		if (!w[i].path)
			continue;
		if (w[i].work)
			writer_report(&w[i], -ETIMEDOUT, OUTPUT_FILE);
		end_process(&w[i]);
		close_fd(&w[i].content);
		close_fd(&w[i].text);
		close_fd(&w[i].next);
	}
}
