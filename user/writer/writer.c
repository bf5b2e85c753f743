// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's side of a file that another process writes. */
#include "writer/writer.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/output_file.h"

/* A turn of waiting, and how much longer the start and the end take if the processes have no CPU. */
#define SLICE_NS 100000000ull
#define STARVED_NS 15000000000ull

/* The part of a text's memory that is kept for the next one: to have it again costs a tenth of a write. */
#define KEPT (512u << 10)

/* Pause after a lack of memory for an answer: it stays readable, and the loop comes back at once. */
#define NO_MEMORY_US 20000

#define ALONE ", and nothing prevents a second agent from writing it"

/* ---- messages ---- */

static void log_lines(const struct writer *w, const char *line, size_t size)
{
	const char *end = line + size, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
		log_warn(w->log, "not in %s: %.*s", w->path, (int)(newline - line), line);
}

/* Logs @err, 0 or -errno, if it differs from the last one, and lines that wait. Returns @err. */
static int report(struct writer *w, int err, const char *beside)
{
	const struct writer_shared *s = w->shared;
	bool unread = err == -ETIMEDOUT && !strcmp(w->path, "-");
	int before = w->error;

	w->error = err;
	if (err == before)
		return err;
	if (!err)
		log_info(w->log, "%s is written again", w->path);
	else
		log_error(w->log, "cannot write %s: %s%s; %s, or name another %s. %s", w->path,
			  beside, unread ? "nobody reads it" : output_error(err),
			  unread ? "see who reads standard output" : output_advice(err),
			  w->role->option, w->role->meanwhile);
	if (!before && w->role->append) {
		log_lines(w, s->texts[s->current] + s->from, s->size - s->from);
		log_lines(w, s->texts[!s->current], w->next_size);
	}
	return err;
}

/* ---- requests ---- */

/* Returns -errno. */
static int end_process(struct writer *w)
{
	int err = -errno;

	close(w->socket);
	close(w->lock); /* another process takes its own */
	w->socket = w->lock = -1;
	w->work = WRITER_IDLE;
	return err;
}

static int start_process(struct writer *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	w->socket = writer_process_start(w);
	w->work = WRITER_OPENS;
	w->waited = wait_begin();
	if (w->socket < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->socket, &event))
		return end_process(w);
	return 0;
}

/* Gives the text to an idle process. Returns 0 or -errno after a message. */
static int write_next(struct writer *w)
{
	struct writer_shared *s = w->shared;
	int err;

	if (w->work != WRITER_IDLE || !(w->text || w->next))
		return 0;
	if (w->socket < 0) {
		err = start_process(w); /* its answer leads here again */
		return err ? report(w, err, "") : 0;
	}
	if (!w->text) {
		s->current ^= 1;
		s->size = w->next_size;
		s->from = w->next_size = 0;
		w->text = true;
		w->next = false;
	}
	strncpy(s->aside, w->aside ? w->aside : "", sizeof(s->aside) - 1);
	w->work = WRITER_WRITES;
	w->waited = wait_begin();
	if (send(w->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return report(w, end_process(w), "");
	return 0;
}

/* ---- answers ---- */

/* Returns 0, -EAGAIN: there is none, or -ECHILD: the process has ended. */
static int receive(struct writer *w)
{
	union {
		struct cmsghdr header; /* for its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr m = { NULL, 0, &data, 1, &control, sizeof(control), 0 };
	ssize_t n = recvmsg(w->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == ENOMEM || errno == ENOBUFS))
		usleep(NO_MEMORY_US);
	if (n < 0)
		return errno == ECONNRESET ? -ECHILD : -EAGAIN;
	if (n && CMSG_FIRSTHDR(&m)) {
		close(w->lock);
		memcpy(&w->lock, CMSG_DATA(&control.header), sizeof(w->lock));
	}
	return n ? 0 : -ECHILD;
}

static void opened(struct writer *w, int err)
{
	const struct writer_shared *s = w->shared;
	bool first = !w->open_error;

	w->open_error = err;
	if (err == -ECHILD && first && !start_process(w))
		return;
	w->refused = output_is_refused(err) && !*s->beside ? err : 0;
	if (*s->network)
		log_warn(
			w->log,
			"%s is on %s: while that does not answer, it is not written%s; name another "
			"%s on a local file system",
			w->path, s->network, w->role->append ? "" : ALONE, w->role->option);
	w->read_error = err == -ECHILD ? err : s->read_error;
	if (w->role->reads && !w->read_error)
		w->content = s->texts[s->current];
	w->ready = true;
}

static void drop_text(struct writer *w)
{
	if (w->shared->size > KEPT)
		madvise(w->shared->texts[w->shared->current] + KEPT, w->shared->size - KEPT,
			MADV_REMOVE);
	w->shared->from = w->shared->size = 0;
	w->text = false;
}

static void written(struct writer *w, int err, bool *wrote)
{
	*wrote = true;
	w->took_ns = monotonic_ns() - w->waited.begin_ns;
	w->written |= !err;
	if (!err && *w->shared->aside)
		w->aside = NULL;
	/* Lines that were not written are tried again. */
	if (!err || !w->role->append || w->shared->from >= w->shared->size)
		drop_text(w);
	report(w, err, w->shared->beside);
}

bool writer_serve(struct writer *w, int *error)
{
	bool wrote = false;
	int err = 0;

	wait_turn(&w->waited, WRITER_HANG_NS / 2);
	while (w->socket >= 0 && (err = receive(w)) != -EAGAIN) {
		bool opens = w->work == WRITER_OPENS, writes = w->work == WRITER_WRITES;
		bool ended = err;

		w->work = WRITER_IDLE;
		if (ended)
			end_process(w);
		else
			err = w->shared->error;
		if (opens && !w->ready)
			opened(w, err);
		else if (writes || (opens && ended))
			written(w, *error = err, &wrote);
	}
	if (writer_hangs(w))
		report(w, -ETIMEDOUT, "");
	/* After a failure the next call goes on, not this one. */
	if (!wrote || !*error)
		write_next(w);
	return wrote;
}

bool writer_is_idle(const struct writer *w)
{
	return w->work == WRITER_IDLE && !w->text && !w->next;
}

bool writer_hangs(const struct writer *w)
{
	return w->work != WRITER_IDLE && w->waited.sum_ns > WRITER_HANG_NS;
}

/* ---- texts ---- */

FILE *writer_begin(struct writer *w)
{
	FILE *text = fmemopen(w->shared->texts[!w->shared->current], WRITER_TEXT_MAX, "w");

	w->next = false;
	if (!text)
		report(w, -errno, "");
	return text;
}

int writer_end(struct writer *w, FILE *text)
{
	w->next = !fflush(text) && !ferror(text);
	w->next_size = (size_t)ftell(text);
	fclose(text);
	return w->next ? write_next(w) : report(w, -EFBIG, "");
}

static bool has_room(const struct writer *w, size_t size)
{
	return w->next_size + w->shared->size - w->shared->from + size <= WRITER_LINES_MAX;
}

bool writer_append(struct writer *w, const char *line, size_t size)
{
	bool room = has_room(w, size);
	int err;

	if (!room) {
		writer_serve(w, &err);
		room = has_room(w, size);
	}
	if (w->error || !room)
		log_lines(w, line, size);
	if (room) {
		memcpy(w->shared->texts[!w->shared->current] + w->next_size, line, size);
		w->next_size += size;
		w->next = true;
	}
	/* While the file cannot be written, each poll tries again: that is often enough. */
	if (!w->error)
		write_next(w);
	return room;
}

/* ---- beginning and end ---- */

void writer_start(struct writer *w, const struct log *log, const struct writer_role *role,
		  const char *path, int epoll)
{
	*w = (struct writer){ .role = role, .log = log, .path = path, .epoll = epoll };
	w->socket = w->lock = -1;
	if (path)
		w->shared = mmap(NULL, sizeof(*w->shared), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->shared == MAP_FAILED) {
		w->refused = -errno;
		w->shared = NULL;
	}
	/* If the start fails, the first text tries again, and reports it. */
	w->ready = !w->shared || start_process(w);
}

/* Takes all writers on until @step says of each that it is done: for at most @most_ns with a CPU, or much longer
 * without. */
static void wait_all(struct writer *w, size_t count, uint64_t most_ns,
		     bool (*step)(struct writer *w))
{
	struct waited waited = wait_begin();
	struct epoll_event event;
	bool over = !most_ns, done;

	while (!over) {
		done = true;
		for (size_t i = 0; i < count; i++)
			done &= step(&w[i]);
		over = done || waited.sum_ns >= most_ns ||
		       waited.last_ns >= waited.begin_ns + most_ns + STARVED_NS;
		if (!over) {
			epoll_wait(w->epoll, &event, 1, (int)(SLICE_NS / 1000000));
			wait_turn(&waited, SLICE_NS);
		}
	}
}

/* From now on a file that is read is set aside. */
static void give_up_start(struct writer *w)
{
	report(w, -ETIMEDOUT, "");
	w->ready = true;
	if (!w->role->reads)
		return;
	w->aside = "late";
	log_warn(
		w->log,
		"%s could not be read: what is counted begins with the kernel log. When it answers "
		"again, what it has is kept as %s.late",
		w->path, w->path);
}

static bool is_ready(struct writer *w)
{
	sigset_t set;
	int err;

	writer_serve(w, &err);
	sigpending(&set); /* blocked: the loop handles them */
	return w->ready || sigismember(&set, SIGTERM) || sigismember(&set, SIGINT);
}

void writers_wait_ready(struct writer *w, size_t count, uint64_t most_ns)
{
	wait_all(w, count, most_ns, is_ready);
	for (; count; count--, w++)
		if (!w->ready)
			give_up_start(w);
}

/* Goes on with the end as far as it can without waiting. Returns whether it is reached. */
static bool finish(struct writer *w)
{
	int err = 0;

	if (!w->shared)
		return true;
	/* Lines that cannot be written are not tried again, and the next ones are. */
	if (writer_serve(w, &err) && err) {
		if (w->text)
			drop_text(w);
		write_next(w);
	}
	if (w->work == WRITER_IDLE && !w->shared->end) {
		if (w->socket < 0)
			return start_process(w);
		w->shared->end = true;
		shutdown(w->socket, SHUT_WR);
	}
	return w->socket < 0;
}

void writers_finish(struct writer *w, size_t count, bool keep, uint64_t most_ns)
{
	for (size_t i = 0; i < count; i++)
		if (w[i].shared)
			w[i].shared->keep = keep || i > 0;
	wait_all(w, count, most_ns, finish);
	for (; count; count--, w++) {
		if (!w->shared)
			continue;
		if (w->socket >= 0)
			report(w, -ETIMEDOUT, "");
		end_process(w);
		munmap(w->shared, sizeof(*w->shared));
	}
}
